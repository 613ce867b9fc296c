/* query_text.h - queries as one writes them at a prompt (private to command). */
#ifndef STA_SERVER_COMMAND_QUERY_TEXT_H
#define STA_SERVER_COMMAND_QUERY_TEXT_H

#include "common/buffer.h"
#include "common/error.h"

/**
 * sta_query_text_rewrite - clauses to the JSON of a request
 * @text: "filter cat == 'posix' group by func_name aggregate n = count(), time = sum(time) order by -time"
 *
 * A clause is the name of a member of the request, with a blank for an underscore, and its items with commas
 * between; expressions are taken as they are.  STA_EINPUT with a sentence for what is no clause.
 */
STA_MUSTCHECK int sta_query_text_rewrite(const char *text, struct sta_buffer *json, struct sta_error *err);

#endif

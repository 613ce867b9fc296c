/* codes.h - codes of texts that are the trace's, whichever rank met them first (private to cluster).
 *
 * A rank interns the texts of a unit into tables of its own.  Before rows are sealed it sends those that are
 * new to it to rank 0, which interns them into the trace's tables and replies with their codes; then the rows
 * get these.  So segments hold final codes, and readers map nothing. */
#ifndef STA_CLUSTER_CODES_H
#define STA_CLUSTER_CODES_H

#include "common/buffer.h"
#include "common/event.h"

struct sta_codes;

/** Rank 0, as the codes of a unit reach it: one request at a time. */
struct sta_codes_calls {
    void *context;
    int (*send)(void *context, const struct sta_buffer *request, struct sta_error *err);
    /** What it has replied, to be freed by free().  @wait: until it does; else *reply may be NULL. */
    int (*take)(void *context, bool wait, unsigned char **reply, size_t *size, struct sta_error *err);
};

/** @tables: of the unit; borrowed, as @calls are. */
struct sta_codes *sta_codes_create(struct sta_tables *tables, const struct sta_codes_calls *calls);
/** Waits for what is under way. */
void sta_codes_destroy(struct sta_codes *codes);
/** Asks for what has become new, so that it is there when rows are translated.  Context: any thread. */
STA_MUSTCHECK int sta_codes_send_ahead(struct sta_codes *codes, struct sta_error *err);
/** Gives the rows of a batch the trace's codes.  Context: any thread. */
STA_MUSTCHECK int sta_codes_translate(struct sta_codes *codes, struct sta_batch *batch,
                                      struct sta_error *err);
/** The same of a chunk of counter records (common/counters.h), which is written anew to @out. */
STA_MUSTCHECK int sta_codes_translate_counters(struct sta_codes *codes, const char *chunks, size_t size,
                                               struct sta_buffer *out, struct sta_error *err);

/** Rank 0: responds to a request out of the trace's tables. */
STA_MUSTCHECK int sta_codes_grant(struct sta_tables *tables, struct sta_cursor *request,
                                  struct sta_buffer *reply, struct sta_error *err);

#endif

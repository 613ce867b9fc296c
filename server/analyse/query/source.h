/* source.h - the events of one trace or several under one schema (private to query). */
#ifndef STA_ANALYSE_QUERY_SOURCE_H
#define STA_ANALYSE_QUERY_SOURCE_H

#include "analyse/columns.h"
#include "analyse/facade/query.h"

struct sta_source; /* immutable; borrows snapshots and presets */

/**
 * sta_source_create - bind the traces of a query
 * @preset: cat is refined by it and, with @filters, what it drops is not there; NULL: events as they are
 * The schema is enum sta_logical, then args.<key> of all traces by key; a key whose type differs between traces: integer and number make
 * number, anything else makes text.  Return: 0, STA_EINPUT (/preset), STA_ECORRUPT, STA_ENOMEM.
 */
STA_MUSTCHECK int sta_source_create(const struct sta_query *query, const char *preset, bool filters,
                                    struct sta_source **source, struct sta_error *err);
void sta_source_destroy(struct sta_source *source); /* NULL allowed */
const struct sta_schema *sta_source_schema(const struct sta_source *source);

#endif

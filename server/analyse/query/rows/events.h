/* events.h - the events of one trace or several under one schema (private to query/rows).
 *
 * A column of the schema is a column of each trace that has it.  Where the types of an args column differ,
 * integer and number make number and anything else makes text: a trace whose own type is another one is read
 * through a cast. */
#ifndef STA_ANALYSE_QUERY_EVENTS_H
#define STA_ANALYSE_QUERY_EVENTS_H

#include "analyse/sources/columns.h"
#include "analyse/query/plan.h"
#include "analyse/sources/scan.h"

#define STA_NO_COLUMN UINT32_MAX

struct sta_events_column {
    uint32_t column;             /* of the trace's columns, or STA_NO_COLUMN: missing in every event */
    struct sta_program *program; /* of the cast, over the trace's schema; NULL: as it is */
};

struct sta_events_trace {
    char *label;
    struct sta_snapshot *snapshot; /* held */
    struct sta_columns *columns;
    struct sta_classes *classes;        /* NULL: nothing is dropped */
    struct sta_events_column *map;      /* by column of the schema */
    struct sta_scan scan;               /* window and classes; no filter */
    const uint32_t *const *chunk_ranks; /* sta_snapshot_chunk_ranks, once they are asked for */
    size_t chunk_count;                 /* of all segments, likewise */
};

struct sta_events {
    struct sta_presets *presets; /* held */
    struct sta_events_trace *traces;
    size_t trace_count;
    struct sta_schema schema;
    struct sta_schema_column *schema_columns;
};

/**
 * sta_events_create - bind the traces of a query
 * @plan: as begun.  Its preset refines cat and, with filters, what that drops is not there; without a preset
 * events are as traced.  Its window keeps from <= time_start < to
 * The schema is enum sta_logical, then args.<key> of all traces by key.  Return: 0, STA_EINPUT (/preset),
 * STA_ECORRUPT, STA_ENOMEM.
 */
STA_MUSTCHECK int sta_events_create(const struct sta_query *query, const struct sta_plan *plan,
                                    struct sta_events **events, struct sta_error *err);
void sta_events_destroy(struct sta_events *events); /* NULL allowed */

/** Finds the order of all chunks, on which the order of rows of equal time rests.  Return: 0 or STA_ENOMEM.
 * Context: one thread, before any sta_events_place. */
STA_MUSTCHECK int sta_events_rank_chunks(struct sta_events *events, struct sta_error *err);

/** The place of a row among those of equal ts: they come in the order of file, line. */
static inline uint64_t sta_events_place(const uint32_t *chunk_ranks, const struct sta_row_group *row_group,
                                        uint32_t chunk, uint32_t row)
{
    return (uint64_t)chunk_ranks[chunk] << 32 | (row_group->index * (uint32_t)STA_ROW_GROUP_ROWS + row);
}

#endif

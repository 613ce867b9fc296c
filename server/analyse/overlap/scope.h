/* scope.h - which unit each event belongs to: its thread, process, rank group, host, the job, or values of
 * expressions (private to overlap).
 *
 * overlap.md section 1.  Units are numbered as they are first seen, so numbers depend on thread timing;
 * results list them by their keys. */
#ifndef STA_ANALYSE_OVERLAP_SCOPE_H
#define STA_ANALYSE_OVERLAP_SCOPE_H

#include "analyse/sources/columns.h"
#include "analyse/expression/expression.h"
#include "analyse/operators/numbering.h"
#include "common/document.h"

#define STA_KEY_COLUMNS STA_NUMBERING_KEYS

enum sta_scope_kind {
    STA_SCOPE_THREAD,
    STA_SCOPE_PROCESS,
    STA_SCOPE_RANK_GROUP,
    STA_SCOPE_HOST,
    STA_SCOPE_JOB,
    STA_SCOPE_KEYS, /* a list of expressions */
    STA_SCOPE_BIN   /* the bin of time that the event starts in */
};

struct sta_scope_request {
    enum sta_scope_kind kind;
    struct sta_expression **keys; /* KEYS: over the columns' schema */
    const char **key_names;
    size_t key_count;
    int64_t bin;                            /* BIN: width in ticks */
    const struct sta_document *rank_groups; /* RANK_GROUP: checked; or NULL */
};

/** Names of the key columns, as results have them. */
const char *const *sta_scope_names(const struct sta_scope_request *request, size_t *count);

struct sta_scope;

/** @columns, @request: borrowed.  Return: 0; as finding the rank groups and binding the keys. */
STA_MUSTCHECK int sta_scope_create(const struct sta_columns *columns, const struct sta_scope_request *request,
                                   const struct sta_budget *budget, struct sta_scope **scope,
                                   struct sta_error *err);
void sta_scope_destroy(struct sta_scope *scope); /* NULL allowed */

/**
 * sta_scope_units - the unit of each row of the reader's present row group
 * @units: STA_ROW_GROUP_ROWS of them, by row.  Rows that are not @selected (NULL: all are) may be left out
 * The row group's thread codes have been checked to be below the count of the entities.
 * Context: worker @worker, one call at a time each.
 */
STA_MUSTCHECK int sta_scope_units(struct sta_scope *scope, unsigned worker, struct sta_column_reader *reader,
                                  const uint32_t *selected, uint32_t count, uint32_t *units,
                                  struct sta_error *err);

/** How many units there are; those that a worker was given are among them.  Context: any thread. */
uint32_t sta_scope_unit_count(const struct sta_scope *scope);

/* ---- after the pass */

/** The unit of a thread code; for scopes from THREAD to JOB. */
uint32_t sta_scope_unit_of_thread(const struct sta_scope *scope, uint32_t code);
/** Compares two units by their keys.  Also during the pass; context: any thread. */
int sta_scope_compare_units(const struct sta_scope *scope, uint32_t a, uint32_t b);
/** Puts units in the order of their keys, missing last. */
STA_MUSTCHECK int sta_scope_sort(const struct sta_scope *scope, uint32_t *units, size_t count,
                                 const struct sta_budget *budget, struct sta_error *err);
/** Compares two units by one of their keys; missing last, also when @descending. */
int sta_scope_compare(const struct sta_scope *scope, uint32_t a, uint32_t b, size_t key, bool descending);
/** Key columns of a table: one row for each of @units. */
void sta_scope_put_keys(const struct sta_scope *scope, struct sta_table *table, const uint32_t *units);
/** Whether the first key of a unit is missing. */
bool sta_scope_is_missing(const struct sta_scope *scope, uint32_t unit);
/** A value as JSON. */
void sta_overlap_put_value(enum sta_type type, struct sta_key_value value, const struct sta_dictionary *texts,
                           struct sta_buffer *out);
/** One key of a unit as JSON. */
void sta_scope_put_json(const struct sta_scope *scope, uint32_t unit, size_t key, struct sta_buffer *out);

/* ---- the rank group of each process, as found or as a request gives it */

/* What a group is named by: usually its root process; a request may name one that has no events. */
struct sta_group_key {
    uint32_t host; /* code in the entities' hosts, or STA_NO_CODE */
    int64_t pid;   /* STA_NO_ID when missing */
};

/** A member `rank_groups` of a request, as overlap.md section 1 has it.  STA_EINPUT with a parameter below
 * /rank_groups. */
STA_MUSTCHECK int sta_given_groups_check(const struct sta_document *rank_groups, struct sta_error *err);

/**
 * sta_given_groups - the group of each process
 * @rank_groups: checked; or NULL
 * @groups: by index of sta_entities.processes; of the budget's account
 * Return: 0, or what finding the parents failed with.
 */
STA_MUSTCHECK int sta_given_groups(const struct sta_snapshot *snapshot,
                                   const struct sta_document *rank_groups, const struct sta_budget *budget,
                                   struct sta_group_key **groups, struct sta_error *err);

#endif

/* conditions.h - conditions of presets, which may name args columns that a trace does not have (private to
 * analyse).
 *
 * A preset is written for many traces.  A query that misspells args.ret should hear so, but a preset's
 * condition on args.queue_depth must also work on a trace without it: the column is then missing in every
 * event.  Nor is its type known, and conditions are typed; so the types for which the condition makes sense
 * are searched, and the first that fit are taken. */
#ifndef STA_ANALYSE_LAYERS_CONDITIONS_H
#define STA_ANALYSE_LAYERS_CONDITIONS_H

#include "analyse/expression/expression.h"
#include "common/error.h"

/* A parsed condition together with the schema that it was parsed against. */
struct sta_open_condition {
    struct sta_expression *expression;
    struct sta_schema schema; /* the one given, then the columns that it lacks */
    struct sta_schema_column *columns;
    size_t added; /* columns: the last ones; their names are its own */
};

/**
 * sta_open_condition_parse - parse a condition whose unknown args columns are taken as missing
 * @schema: its names are borrowed while the condition lives
 * STA_EINPUT and STA_ELIMIT as sta_condition_parse; @condition needs no fini then.
 */
STA_MUSTCHECK int sta_open_condition_parse(const char *text, const struct sta_schema *schema,
                                           struct sta_open_condition *condition, struct sta_error *err);
void sta_open_condition_fini(struct sta_open_condition *condition);

/** Whether an aggregate of a query can be parsed, unknown args columns taken as missing.  Return as above. */
STA_MUSTCHECK int sta_open_aggregate_check(const char *text, const struct sta_schema *schema,
                                           struct sta_error *err);

/** Whether it reads nothing but function and (refined) category and what follows from them, so that it holds
 * for all events that agree on these. */
bool sta_open_condition_is_fixed(const struct sta_open_condition *condition);

/** The columns of every trace, without args: what a preset is checked against when it is loaded. */
extern const struct sta_schema sta_standard_schema;

#endif

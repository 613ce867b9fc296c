/* executor.h - the expressions of a stage over one batch of rows, each computed at most once and when it is
 * asked for (private to query/rows).
 *
 * A struct sta_stage_programs is a stage's expressions as programs of one trace (texts live in dictionaries
 * of the trace, and programs remember by dictionary); all threads share it.  A struct sta_executor is one
 * thread's view.  Frames of stages that only pass rows on are stacked: the columns of an upper one are the
 * outputs of the one below, over the same rows. */
#ifndef STA_ANALYSE_QUERY_EXECUTOR_H
#define STA_ANALYSE_QUERY_EXECUTOR_H

#include "analyse/expression/expression.h"

struct sta_budget;
struct sta_plan_stage;

enum sta_part { /* what the expressions of a stage are for */
                STA_PART_DERIVED,
                STA_PART_FILTER,
                STA_PART_KEYS,
                STA_PART_ARGUMENTS,
                STA_PART_HISTOGRAM,
                STA_PART_OUTPUTS, /* of rows over the schema */
                STA_PARTS
};

struct sta_stage_programs;
/** @text_bytes: of memory for the distinct texts that they make; more lies in files in @spill_folder. */
struct sta_stage_programs *sta_stage_programs_create(const struct sta_plan_stage *stage, size_t text_bytes,
                                                     const char *spill_folder);
void sta_stage_programs_destroy(struct sta_stage_programs *programs); /* NULL allowed */

struct sta_executor;
/** @below: the executor whose outputs are the columns; NULL: @base gives them.  @budget: asked before each
 * expression, since many long ones over one batch take seconds; borrowed. */
struct sta_executor *sta_executor_create(struct sta_stage_programs *programs, struct sta_executor *below,
                                         sta_column_source base, void *base_context,
                                         const struct sta_budget *budget);
void sta_executor_destroy(struct sta_executor *executor); /* NULL allowed */
/** Goes to other rows: vectors handed out before are void. */
void sta_executor_seek(struct sta_executor *executor, uint32_t rows);
/** A column of the stage's schema.  @executor: a struct sta_executor *, so that this is a sta_column_source.
 */
STA_MUSTCHECK int sta_executor_column(void *executor, uint32_t column, struct sta_vector *vector,
                                      struct sta_error *err);
/** The values of expression @index of a part; valid until the next seek. */
STA_MUSTCHECK int sta_executor_part(struct sta_executor *executor, enum sta_part part, size_t index,
                                    struct sta_vector *vector, struct sta_error *err);

#endif

/* frame.h - the expressions of a stage over one batch of rows, each computed at most once and when it is
 * asked for (private to query/rows).
 *
 * A struct sta_stage_programs is a stage's expressions as programs of one trace (texts live in dictionaries
 * of the trace, and programs remember by dictionary); all threads share it.  A struct sta_frame is one
 * thread's view.  Frames of stages that only pass rows on are stacked: the columns of an upper one are the
 * outputs of the one below, over the same rows. */
#ifndef STA_ANALYSE_QUERY_FRAME_H
#define STA_ANALYSE_QUERY_FRAME_H

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
STA_MUSTCHECK int sta_stage_programs_create(const struct sta_plan_stage *stage,
                                            struct sta_stage_programs **programs, struct sta_error *err);
void sta_stage_programs_destroy(struct sta_stage_programs *programs); /* NULL allowed */
/** How many expressions of a part there are. */
size_t sta_stage_programs_count(const struct sta_stage_programs *programs, enum sta_part part);

struct sta_frame;
/** @below: the frame whose outputs are the columns; NULL: @base gives them.  @budget: asked before each
 * expression, since many long ones over one batch take seconds; borrowed. */
struct sta_frame *sta_frame_create(struct sta_stage_programs *programs, struct sta_frame *below,
                                   sta_column_source base, void *base_context,
                                   const struct sta_budget *budget);
void sta_frame_destroy(struct sta_frame *frame); /* NULL allowed */
/** Goes to other rows: vectors handed out before are void. */
void sta_frame_seek(struct sta_frame *frame, uint32_t rows);
/** A column of the stage's schema.  @frame: a struct sta_frame *, so that this is a sta_column_source. */
STA_MUSTCHECK int sta_frame_column(void *frame, uint32_t column, struct sta_vector *vector,
                                   struct sta_error *err);
/** The values of expression @index of a part; valid until the next seek. */
STA_MUSTCHECK int sta_frame_part(struct sta_frame *frame, enum sta_part part, size_t index,
                                 struct sta_vector *vector, struct sta_error *err);

#endif

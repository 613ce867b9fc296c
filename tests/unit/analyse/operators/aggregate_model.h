/* aggregate_model.h - rows for tests of the grouping, what a plain computation makes of them, and the
 * grouping's answer beside it. */
#ifndef STA_TEST_GROUPING_MODEL_H
#define STA_TEST_GROUPING_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/operators/aggregate.h"
#include "common/buffer.h"

/* Columns of a row; each can be a key and an argument.  Neighbours serve aggregates of two arguments. */
enum model_column { FLAG, SMALL, WIDE, NUMBER, NAME, OTHER, START, END, MODEL_COLUMNS };
extern const enum sta_type model_types[MODEL_COLUMNS];

struct model_value {
    bool missing;
    int64_t integer; /* BOOL, INT */
    double number;
    const char *text; /* one of a few, so pointers may be compared */
};

struct model_row {
    struct model_value values[MODEL_COLUMNS];
    uint32_t source;
    int64_t at;
    uint64_t place;
};

struct model_options {
    uint64_t seed;
    size_t rows;
    unsigned names;   /* distinct texts */
    unsigned missing; /* of a hundred values */
    unsigned spread;  /* distinct small integers */
    bool extremes;    /* WIDE has the ends of 64 bits */
    bool few;         /* aggregates: a count and sums, so that records are small */
};

struct model {
    struct model_row *rows;
    size_t count;
    const enum model_column *keys;
    size_t key_count;
    bool keep_missing;
    struct sta_primitive *primitives; /* all aggregates of all types */
    size_t primitive_count;
};

void model_init(struct model *model, const struct model_options *options);
void model_fini(struct model *model);

struct model_run {
    uint64_t seed; /* of how rows are dealt out */
    unsigned workers, dictionaries;
    size_t memory;
    size_t account;    /* bytes that may be charged; 0: any number */
    bool in_order;     /* rows are not shuffled */
    bool read_at_once; /* taking the rows is said to have taken no time; else any time, so that a state is
                          written whatever its size */
    unsigned shards;   /* the rows are dealt out to so many groupings, whose states are written and united; 0:
                          to one, which gives the answer itself */
};
/** Groups the rows; the answer's bytes go to @answer, one line a group, in the manner of model_expect. */
void model_group(const struct model *model, const struct model_run *run, struct sta_buffer *answer,
                 struct sta_aggregation_figures *figures);
/** A grouping for the model's rows. */
struct sta_aggregation *model_create(const struct model *model, const struct sta_budget *budget);
/** The state of one shard of the rows, as bytes; and such bytes into a grouping. */
int model_write_state(const struct model *model, const struct model_run *run, size_t shard,
                      struct sta_buffer *bytes, struct sta_error *err);
int model_read_state(struct sta_aggregation *grouping, const char *bytes, size_t size, struct sta_error *err);
/** What the answer must be, computed group by group and value by value. */
void model_expect(const struct model *model, struct sta_buffer *answer);

uint64_t model_random(uint64_t *state);

#endif

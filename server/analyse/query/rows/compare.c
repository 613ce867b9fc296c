/* Runs beside a baseline: rows are brought in the order of the other keys, and each combination of them is
 * given out run by run. */
#include "analyse/query/rows/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/operators/keys.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

struct comparison {
    struct sta_arena memory; /* of cells, vectors and their space */
    const struct sta_plan *plan;
    const struct sta_materialized *sorted;
    const struct sta_column_info *info; /* of the result */
    size_t columns;
    const struct sta_events *events;
    size_t label_count;
    struct sta_dictionary *label_texts;
    struct sta_key_value *cells;    /* by run, then column: of the present combination */
    bool *there;                    /* by run */
    bool open;                      /* there is a present combination */
    struct sta_vector *vectors;     /* by column of the result */
    struct sta_vector_space *space; /* of them */
    uint32_t rows;                  /* in the space */
    struct sta_materialized *compared;
};

/* ---- one combination */

static bool same_value(enum sta_type type, const struct sta_key_value *a, const struct sta_key_value *b)
{
    if (a->missing || b->missing)
        return a->missing && b->missing;
    return type == STA_TYPE_FLOAT ? sta_number_of(a->bits) == sta_number_of(b->bits) : a->bits == b->bits;
}

static const struct sta_key_value nothing = {.missing = true};

/* x - baseline, of integers when it fits. */
static struct sta_key_value delta_of(enum sta_type type, const struct sta_key_value *own,
                                     const struct sta_key_value *base)
{
    int64_t delta = 0;
    if (own->missing || base->missing)
        return nothing;
    if (type == STA_TYPE_FLOAT)
        return (struct sta_key_value){sta_bits_of(sta_number_of(own->bits) - sta_number_of(base->bits)),
                                      false};
    const bool overflows = __builtin_sub_overflow((int64_t)own->bits, (int64_t)base->bits, &delta);
    return (struct sta_key_value){(uint64_t)delta, overflows};
}

static double number_of(enum sta_type type, uint64_t bits)
{
    return type == STA_TYPE_INT ? (double)(int64_t)bits : sta_number_of(bits);
}

static struct sta_key_value ratio_of(enum sta_type type, const struct sta_key_value *own,
                                     const struct sta_key_value *base)
{
    if (own->missing || base->missing)
        return nothing;
    const double ratio = number_of(type, own->bits) / number_of(type, base->bits);
    return (struct sta_key_value){sta_bits_of(ratio), !isfinite(ratio)};
}

/* ---- rows of the result */

static int flush(struct comparison *c, struct sta_error *err)
{
    for (size_t i = 0; i < c->plan->column_count; i++) {
        struct sta_vector *vector = &c->vectors[i];
        *vector = (struct sta_vector){.type = c->plan->columns[i].type, .missing = c->space[i].missing};
        sta_vector_point(vector, c->space[i].integers);
        if (sta_vector_is_codes(vector))
            vector->texts = i == c->plan->compare.trace_key ? c->label_texts
                                                            : sta_materialized_texts(c->sorted, (uint32_t)i);
    }
    uint32_t rows = c->rows;
    c->rows = 0;
    return sta_materialized_append(c->compared, c->vectors, NULL, rows, err);
}

static void put(struct comparison *c, size_t column, struct sta_key_value value)
{
    const enum sta_type type = c->plan->columns[column].type;
    const size_t width = sta_vector_width(type);
    if (value.missing && (type == STA_TYPE_TEXT || type == STA_TYPE_LIST))
        value.bits = STA_NO_CODE;
    memcpy((char *)c->space[column].integers + c->rows * width, &value.bits, width);
    c->space[column].missing[c->rows] = value.missing;
}

static void put_compared(struct comparison *c, size_t run)
{
    const struct sta_plan_compare *compare = &c->plan->compare;
    const struct sta_key_value *own = c->cells + run * c->columns,
                               *base = c->cells + compare->baseline * c->columns;
    for (size_t i = 0; i < compare->column_count; i++) {
        uint32_t column = compare->columns[i];
        const struct sta_key_value *x = c->there[run] ? &own[column] : &nothing;
        const struct sta_key_value *b = c->there[compare->baseline] ? &base[column] : &nothing;
        put(c, c->columns + 3 * i, *b);
        put(c, c->columns + 3 * i + 1, delta_of(c->info[column].type, x, b));
        put(c, c->columns + 3 * i + 2, ratio_of(c->info[column].type, x, b));
    }
}

static int give_run(struct comparison *c, size_t run, const struct sta_key_value *keys, struct sta_error *err)
{
    const struct sta_plan_compare *compare = &c->plan->compare;
    for (size_t i = 0; i < c->columns; i++)
        put(c, i, c->there[run] ? c->cells[run * c->columns + i] : nothing);
    for (size_t i = 0; i < compare->key_count; i++)
        put(c, compare->keys[i], keys[compare->keys[i]]);
    put(c, compare->trace_key, (struct sta_key_value){run, false});
    put_compared(c, run);
    return ++c->rows == STA_VECTOR_ROWS ? flush(c, err) : 0;
}

/* The present combination, for every run. */
static int close_combination(struct comparison *c, const struct sta_key_value *keys, struct sta_error *err)
{
    int rc = 0;
    for (size_t run = 0; rc == 0 && c->open && run < c->label_count; run++)
        rc = give_run(c, run, keys, err);
    memset(c->there, 0, c->label_count * sizeof *c->there);
    c->open = false;
    return rc;
}

/* ---- rows of the result, by their other keys */

static size_t run_of(const struct comparison *c, const struct sta_vector *trace, uint32_t row)
{
    if (trace->type != STA_TYPE_TEXT || sta_vector_is_missing(trace, row))
        return c->label_count;
    struct sta_text text = sta_dictionary_text(trace->texts, trace->codes[trace->constant ? 0 : row]);
    uint32_t code = sta_dictionary_find(c->label_texts, text.bytes, text.length);
    return code == STA_NO_CODE ? c->label_count : code;
}

static int take_row(struct comparison *c, const struct sta_vector *vectors, uint32_t row,
                    struct sta_key_value *keys, struct sta_error *err)
{
    const struct sta_plan_compare *compare = &c->plan->compare;
    bool same = c->open;
    int rc = 0;
    for (size_t i = 0; i < compare->key_count; i++) {
        uint32_t column = compare->keys[i];
        const struct sta_key_value value = sta_vector_value(&vectors[column], row);
        same = same && same_value(c->info[column].type, &keys[column], &value);
    }
    if (!same) {
        rc = close_combination(c, keys, err);
        for (size_t i = 0; i < compare->key_count; i++)
            keys[compare->keys[i]] = sta_vector_value(&vectors[compare->keys[i]], row);
        c->open = true;
    }
    size_t run = run_of(c, &vectors[compare->trace_key], row);
    if (run == c->label_count)
        return rc;
    c->there[run] = true;
    for (size_t i = 0; i < c->columns; i++)
        c->cells[run * c->columns + i] = sta_vector_value(&vectors[i], row);
    return rc;
}

static int take_all(struct comparison *c, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_materialized_batch *batch = sta_materialized_batch_create(c->sorted);
    struct sta_vector *vectors = sta_arena_array(&c->memory, c->columns, sizeof *vectors);
    struct sta_key_value *keys = sta_arena_array(&c->memory, c->columns, sizeof *keys);
    uint32_t rows = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sta_materialized_batch_count(c->sorted); i++) {
        rc = sta_budget_check(budget, err);
        rows = sta_materialized_batch_seek(batch, i);
        for (uint32_t k = 0; rc == 0 && k < c->columns; k++)
            rc = sta_materialized_batch_get(batch, k, &vectors[k], err);
        for (uint32_t row = 0; rc == 0 && row < rows; row++)
            rc = take_row(c, vectors, row, keys, err);
    }
    if (rc == 0)
        rc = close_combination(c, keys, err);
    if (rc == 0)
        rc = flush(c, err);
    sta_materialized_batch_destroy(batch);
    return rc != 0 ? rc : sta_materialized_seal(c->compared, err);
}

/* ---- start and end */

static void reserve_space(struct comparison *c)
{
    size_t all = c->plan->column_count;
    c->label_texts = sta_dictionary_create();
    for (size_t i = 0; i < c->label_count; i++)
        sta_dictionary_intern(c->label_texts, c->events->traces[i].label, strlen(c->events->traces[i].label));
    c->cells = sta_arena_array(&c->memory, c->label_count * c->columns, sizeof *c->cells);
    c->there = sta_arena_array(&c->memory, c->label_count, sizeof *c->there);
    c->vectors = sta_arena_array(&c->memory, all, sizeof *c->vectors);
    c->space = sta_arena_array(&c->memory, all, sizeof *c->space);
}

static int sort_by_keys(const struct sta_plan_compare *compare, const struct sta_materialized *result,
                        size_t columns, struct sta_query_context *context, struct sta_materialized **sorted,
                        struct sta_error *err)
{
    struct sta_plan_order *by = sta_alloc_array(compare->key_count + 1, sizeof *by);
    for (size_t i = 0; i < compare->key_count; i++)
        by[i] = (struct sta_plan_order){.column = compare->keys[i]};
    int rc =
        sta_materialized_order(result, by, compare->key_count, UINT64_MAX, columns, context, sorted, err);
    free(by);
    return rc;
}

int sta_compare_run(const struct sta_plan *plan, const struct sta_materialized *result,
                    const struct sta_events *events, struct sta_query_context *context,
                    struct sta_materialized **compared, struct sta_error *err)
{
    struct comparison c = {.plan = plan, .events = events, .label_count = events->trace_count};
    struct sta_materialized *sorted;
    c.info = sta_materialized_columns(result, &c.columns);
    int rc = sort_by_keys(&plan->compare, result, c.columns, context, &sorted, err);
    if (rc != 0)
        return rc;
    c.sorted = sorted;
    c.compared = sta_query_context_rows(context, plan->columns, plan->column_count);
    reserve_space(&c);
    rc = take_all(&c, context->budget, err);
    sta_dictionary_destroy(c.label_texts);
    sta_arena_fini(&c.memory);
    sta_materialized_destroy(sorted);
    if (rc != 0)
        sta_materialized_destroy(c.compared);
    *compared = rc == 0 ? c.compared : NULL;
    return rc;
}

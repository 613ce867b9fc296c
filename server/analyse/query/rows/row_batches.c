/* Rows taken out of their row groups; see row_batches.h. */
#include "analyse/query/rows/row_batches.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

void sta_shown_init(struct sta_shown *shown, const struct sta_plan_stage *stage)
{
    *shown = (struct sta_shown){.stage = stage, .row_bytes = 2 * sizeof(uint64_t)};
    shown->keys = sta_alloc_array(stage->output_count + 1, sizeof *shown->keys);
    for (size_t i = 0; i < stage->output_count; i++) {
        shown->keys[i] = -1;
        if (stage->outputs[i].unused)
            continue;
        shown->row_bytes += sta_vector_width(stage->result[i].type) + 1;
        shown->any = true;
    }
}

void sta_shown_fini(struct sta_shown *shown)
{
    free(shown->keys);
}

static bool is_held(const struct sta_shown *shown, size_t output)
{
    return !shown->stage->outputs[output].unused && shown->keys[output] < 0;
}

/* ---- batches */

static int copy_order(struct sta_row_batch *batch, struct sta_pipeline_state *state, struct sta_error *err)
{
    struct sta_pipeline_state_order order;
    int rc = sta_pipeline_state_order(state, &order, err);
    if (rc != 0)
        return rc;
    batch->at = sta_try_alloc_array(batch->rows, sizeof *batch->at);
    batch->place = sta_try_alloc_array(batch->rows, sizeof *batch->place);
    if (batch->at == NULL || batch->place == NULL)
        return sta_fail(err, STA_ENOMEM, "memory ran out while rows were read");
    memcpy(batch->at, order.at, batch->rows * sizeof *batch->at);
    memcpy(batch->place, order.place, batch->rows * sizeof *batch->place);
    return 0;
}

/* The values of a column, copied: behind them the marks of what is missing. */
static int keep_column(struct sta_vector *kept, const struct sta_vector *vector, uint32_t rows,
                       struct sta_error *err)
{
    size_t width = sta_vector_width(vector->type);
    char *values = sta_try_alloc_array(rows, width + 1);
    if (values == NULL)
        return sta_fail(err, STA_ENOMEM, "memory ran out while rows were read");
    uint8_t *missing = (uint8_t *)values + rows * width;
    bool any = sta_vector_gather(vector, NULL, rows, values, missing);
    *kept = (struct sta_vector){.type = vector->type, .texts = vector->texts};
    sta_vector_point(kept, values);
    kept->missing = any ? missing : NULL;
    return 0;
}

int sta_row_batch_take(struct sta_row_batch *batch, const struct sta_shown *shown,
                       struct sta_pipeline_state *state, bool ordered, struct sta_error *err)
{
    sta_pipeline_state_compact(state);
    batch->rows = state->count;
    batch->columns = sta_alloc_array(shown->stage->output_count + 1, sizeof *batch->columns);
    int rc = ordered ? copy_order(batch, state, err) : 0;
    for (size_t i = 0; rc == 0 && i < shown->stage->output_count; i++) {
        struct sta_vector vector;
        if (!is_held(shown, i))
            continue;
        rc = sta_executor_part(state->top, STA_PART_OUTPUTS, i, &vector, err);
        if (rc == 0)
            rc = keep_column(&batch->columns[i], &vector, batch->rows, err);
    }
    return rc;
}

void sta_row_batch_fini(struct sta_row_batch *batch, const struct sta_shown *shown)
{
    for (size_t i = 0; batch->columns != NULL && i < shown->stage->output_count; i++)
        free((void *)sta_vector_values(&batch->columns[i]));
    free(batch->columns);
    free(batch->at);
    free(batch->place);
    *batch = (struct sta_row_batch){0};
}

/* ---- rows in their order */

void sta_gathered_rows_init(struct sta_gathered_rows *to, const struct sta_shown *shown)
{
    const struct sta_plan_stage *stage = shown->stage;
    *to = (struct sta_gathered_rows){.shown = shown};
    to->vectors = sta_alloc_array(stage->output_count + 1, sizeof *to->vectors);
    to->space = sta_alloc_array(stage->output_count + 1, sizeof *to->space);
    to->merged = sta_alloc_array(stage->output_count + 1, sizeof(struct sta_dictionary_cache *));
    for (size_t i = 0; i < stage->output_count; i++)
        to->vectors[i] = sta_vector_nothing(stage->result[i].type, NULL);
}

void sta_gathered_rows_fini(struct sta_gathered_rows *to)
{
    for (size_t i = 0; to->shown != NULL && i < to->shown->stage->output_count; i++) {
        if (to->merged[i] != NULL)
            sta_dictionary_destroy(to->merged[i]->dictionary);
        free(to->merged[i]);
    }
    free(to->vectors);
    free(to->space);
    free(to->merged);
}

/* A loop for each width: values lie anywhere, and the time goes to finding them. */
#define FETCH(type, out)                                                                                     \
    for (size_t r = 0; r < count; r++)                                                                       \
    ((type *)(out))[r] = ((const type *)bases[rows[r].batch])[rows[r].row]

static void fetch_values(size_t width, const void *const *bases, const struct sta_batch_row *rows,
                         size_t count, void *out)
{
    if (width == 8)
        FETCH(uint64_t, out);
    else if (width == 4)
        FETCH(uint32_t, out);
    else
        FETCH(uint8_t, out);
}

static bool fetch_missing(const struct sta_row_batch *batches, size_t output,
                          const struct sta_batch_row *rows, size_t count, uint8_t *missing)
{
    uint8_t any = 0;
    for (size_t r = 0; r < count; r++) {
        const uint8_t *marks = batches[rows[r].batch].columns[output].missing;
        missing[r] = marks != NULL && marks[rows[r].row];
        any |= missing[r];
    }
    return any;
}

/* The dictionary of all batches, or NULL when they differ. */
static const struct sta_dictionary *common_texts(const struct sta_row_batch *batches, size_t batch_count,
                                                 size_t output)
{
    const struct sta_dictionary *texts = NULL;
    for (size_t p = 0; p < batch_count; p++) {
        const struct sta_dictionary *own = batches[p].rows > 0 ? batches[p].columns[output].texts : NULL;
        if (own != NULL && texts != NULL && own != texts)
            return NULL;
        texts = own != NULL ? own : texts;
    }
    return texts;
}

/* Codes of several dictionaries as codes of one. */
static void merge_texts(struct sta_gathered_rows *to, const struct sta_row_batch *batches, size_t output,
                        const struct sta_batch_row *rows, size_t count)
{
    uint32_t *codes = to->space[output].codes;
    if (to->merged[output] == NULL) {
        to->merged[output] = sta_alloc(sizeof *to->merged[output]);
        sta_dictionary_cache_init(to->merged[output], sta_dictionary_create());
    }
    for (size_t r = 0; r < count; r++) {
        if (codes[r] == STA_NO_CODE)
            continue;
        const struct sta_text text =
            sta_dictionary_text(batches[rows[r].batch].columns[output].texts, codes[r]);
        codes[r] = sta_dictionary_cache_intern(to->merged[output], text.bytes, text.length);
    }
    to->vectors[output].texts = to->merged[output]->dictionary;
}

static void gather_output(struct sta_gathered_rows *to, const struct sta_row_batch *batches,
                          size_t batch_count, size_t output, const struct sta_batch_row *rows, size_t count,
                          const void **bases)
{
    struct sta_vector *vector = &to->vectors[output];
    const enum sta_type type = to->shown->stage->result[output].type;
    for (size_t p = 0; p < batch_count; p++)
        bases[p] = batches[p].rows > 0 ? sta_vector_values(&batches[p].columns[output]) : NULL;
    fetch_values(sta_vector_width(type), bases, rows, count, to->space[output].integers);
    *vector = (struct sta_vector){.type = type};
    sta_vector_point(vector, to->space[output].integers);
    if (!sta_vector_is_codes(vector)) {
        bool any = fetch_missing(batches, output, rows, count, to->space[output].missing);
        vector->missing = any ? to->space[output].missing : NULL;
        return;
    }
    vector->texts = common_texts(batches, batch_count, output);
    if (vector->texts == NULL)
        merge_texts(to, batches, output, rows, count);
}

void sta_gathered_rows_take(struct sta_gathered_rows *to, const struct sta_row_batch *batches,
                            size_t batch_count, const struct sta_batch_row *rows, size_t count)
{
    const void **bases = sta_alloc_array(batch_count + 1, sizeof *bases);
    STA_ASSERT(count <= STA_VECTOR_ROWS);
    for (size_t i = 0; count > 0 && i < to->shown->stage->output_count; i++)
        if (is_held(to->shown, i))
            gather_output(to, batches, batch_count, i, rows, count, bases);
    free(bases);
}

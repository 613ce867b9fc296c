/* Plain rows: what readers share, and reading. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/plain_private.h"
#include "analyse/operators/vectors.h"
#include "analyse/sources/shared.h"
#include "common/memory.h"

/* ---- order: the texts that sort keys take */

static bool is_text(const struct sta_sort_key *key)
{
    return key->type == STA_TYPE_TEXT;
}

int sta_plain_key_vector(const struct sta_plain *plain, struct sta_pipeline_state *state, size_t key,
                         struct sta_vector *vector, struct sta_error *err)
{
    const struct sta_plan_stage *stage = plain->stage;
    uint32_t column = stage->order[key].column;
    return column < stage->output_count
               ? sta_executor_part(state->top, STA_PART_OUTPUTS, column, vector, err)
               : sta_executor_column(state->top, column - (uint32_t)stage->output_count, vector, err);
}

static int meet_texts(void *self, unsigned worker, struct sta_pipeline_state *state, struct sta_error *err)
{
    const struct sta_plain *plain = self;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < plain->stage->order_count; i++) {
        struct sta_vector vector;
        if (plain->texts[i] == NULL)
            continue;
        rc = sta_plain_key_vector(plain, state, i, &vector, err);
        if (rc == 0 && vector.texts != NULL)
            sta_texts_dictionary(plain->texts[i], vector.texts);
    }
    return rc;
}

/* All texts must be in their dictionaries before the first record is made: a pass that makes them. */
static int rank_texts(struct sta_plain *plain, struct sta_sort_key *keys, struct sta_query_context *context,
                      struct sta_error *err)
{
    struct sta_pipeline_visitor visitor = {.self = plain, .visit = meet_texts};
    for (size_t i = 0; i < plain->stage->order_count; i++)
        if (is_text(&keys[i]))
            plain->texts[i] = sta_texts_create(&plain->kept);
    if (plain->pipeline->events != NULL)
        sta_pipeline_step(plain->pipeline, context, "rank");
    int rc = sta_pipeline_run(plain->pipeline, &visitor, NULL, context->budget, err);
    for (size_t i = 0; rc == 0 && i < plain->stage->order_count; i++) {
        if (plain->texts[i] == NULL)
            continue;
        rc = sta_ranks_init(&plain->ranks[i], plain->texts[i], err);
        if (rc == 0) {
            sta_ranks_mark_all(&plain->ranks[i]);
            rc = sta_ranks_finalize(&plain->ranks[i], context->budget, err);
        }
        keys[i].ranks = &plain->ranks[i];
    }
    if (plain->pipeline->events != NULL)
        sta_query_context_end_step(context);
    return rc;
}

/* ---- order: keys */

static enum sta_type order_type(const struct sta_plan_stage *stage, size_t key)
{
    uint32_t column = stage->order[key].column;
    return column < stage->output_count ? stage->result[column].type
                                        : stage->schema.columns[column - stage->output_count].type;
}

int sta_plain_key_column(const struct sta_plain *plain, size_t key)
{
    const struct sta_plan_stage *stage = plain->stage;
    uint32_t column = stage->order[key].column;
    return column >= stage->output_count ? (int)(column - stage->output_count)
                                         : stage->outputs[column].expression->column;
}

/* What statistics say of the values of a key of integers. */
static struct sta_key_range range_of(const struct sta_pipeline *pipeline, int column)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t part = 0; column >= 0 && part < pipeline->part_count; part++) {
        double least, most;
        if (!sta_pipeline_range(pipeline, part, (uint32_t)column, &least, &most))
            return sta_key_range_any_integer();
        low = fmin(low, least);
        high = fmax(high, most);
    }
    if (low > high && column >= 0)
        return (struct sta_key_range){.any = false};
    if (column < 0 || !(low > -0x1p53 && high < 0x1p53))
        return sta_key_range_any_integer();
    return (struct sta_key_range){.any = true, .low = (int64_t)low, .high = (int64_t)high};
}

static void init_key(struct sta_plain *plain, size_t number, struct sta_sort_key *key)
{
    const int column = sta_plain_key_column(plain, number);
    const bool required = column >= 0 && sta_pipeline_never_misses(plain->pipeline, (uint32_t)column);
    *key = (struct sta_sort_key){.type = order_type(plain->stage, number),
                                 .descending = plain->stage->order[number].descending,
                                 .required = required};
    if (key->type == STA_TYPE_INT)
        key->range = range_of(plain->pipeline, column);
    plain->without_at |= column >= 0 && sta_pipeline_is_ticks(plain->pipeline, (uint32_t)column);
}

/* The times of all parts. */
static struct sta_key_range times_of(const struct sta_pipeline *pipeline)
{
    struct sta_key_range range = {.any = false};
    for (size_t i = 0; i < pipeline->part_count; i++) {
        const struct sta_row_group *row_group = sta_pipeline_row_group(pipeline, i);
        const struct sta_key_range own = {.any = true, .low = row_group->ts_min, .high = row_group->ts_max};
        sta_key_range_unite(&range, &own);
    }
    range.any = true;
    return range;
}

static void init_place_keys(const struct sta_plain *plain, struct sta_sort_key *keys)
{
    const struct sta_events *events = plain->pipeline->events;
    int64_t high[STA_PLACE_FIELDS] = {
        [STA_PLACE_PART] = (int64_t)plain->pipeline->part_count, [STA_PLACE_ROW] = STA_ROW_GROUP_ROWS - 1};
    for (size_t i = 0; events != NULL && i < events->trace_count; i++) {
        high[STA_PLACE_TRACE]++;
        high[STA_PLACE_CHUNK] = STA_MAX(high[STA_PLACE_CHUNK], (int64_t)events->traces[i].chunk_count);
    }
    for (size_t f = 0; f < STA_PLACE_FIELDS; f++)
        keys[f] = (struct sta_sort_key){
            .type = STA_TYPE_INT, .required = true, .range = {.any = true, .high = high[f]}};
    if (!plain->without_at)
        keys[STA_PLACE_AT].range = times_of(plain->pipeline);
}

/* Outputs whose values keys tell need not be read again. */
static void find_shown_keys(struct sta_plain *plain)
{
    const struct sta_plan_stage *stage = plain->stage;
    plain->shown.any = false;
    for (size_t i = 0; i < stage->output_count; i++) {
        const int column = stage->outputs[i].expression->column;
        for (size_t k = 0; k < stage->order_count && stage->result[i].type == STA_TYPE_INT; k++)
            if (stage->order[k].column == i || (column >= 0 && column == sta_plain_key_column(plain, k)))
                plain->shown.keys[i] = stage->outputs[i].unused ? -1 : (int)k;
        plain->shown.any |= !stage->outputs[i].unused && plain->shown.keys[i] < 0;
    }
}

int sta_plain_init(struct sta_plain *plain, const struct sta_pipeline *pipeline, struct sta_account *account,
                   struct sta_query_context *context, struct sta_error *err)
{
    const struct sta_plan_stage *stage = &pipeline->stages[pipeline->stage_count - 1];
    *plain = (struct sta_plain){.pipeline = pipeline,
                                .stage = stage,
                                .sorted = stage->order_count > 0,
                                .without_at = pipeline->events == NULL};
    STA_ASSERT(plain->sorted || pipeline->events != NULL);
    sta_shown_init(&plain->shown, stage);
    sta_account_init_texts(&plain->kept, sta_query_context_texts_memory(context),
                           context->budget->spill_folder, account);
    sta_share_put_query(&plain->query, pipeline, context);
    int rc = pipeline->events != NULL ? sta_events_rank_chunks(pipeline->events, err) : STA_OK;
    if (rc != 0 || !plain->sorted)
        return rc;
    struct sta_sort_key *keys = sta_alloc_array(stage->order_count + STA_PLACE_FIELDS, sizeof *keys);
    plain->texts = sta_alloc_array(stage->order_count, sizeof(struct sta_texts *));
    plain->ranks = sta_alloc_array(stage->order_count, sizeof *plain->ranks);
    bool texts = false;
    for (size_t i = 0; i < stage->order_count; i++) {
        init_key(plain, i, &keys[i]);
        texts |= is_text(&keys[i]);
    }
    init_place_keys(plain, keys + stage->order_count);
    find_shown_keys(plain);
    rc = texts ? rank_texts(plain, keys, context, err) : STA_OK;
    if (rc == 0)
        sta_sort_layout_init(&plain->layout, keys, stage->order_count + STA_PLACE_FIELDS);
    free(keys);
    return rc;
}

void sta_plain_fini(struct sta_plain *plain)
{
    for (size_t i = 0; plain->texts != NULL && i < plain->stage->order_count; i++) {
        sta_ranks_fini(&plain->ranks[i]);
        sta_texts_destroy(plain->texts[i]);
    }
    sta_account_close(&plain->kept);
    sta_buffer_fini(&plain->query);
    free(plain->ranks);
    free(plain->texts);
    sta_sort_layout_fini(&plain->layout);
    sta_shown_fini(&plain->shown);
    *plain = (struct sta_plain){0};
}

/* ---- counting */

static int count_rows(void *self, unsigned worker, struct sta_pipeline_state *state, struct sta_error *err)
{
    _Atomic uint64_t *count = self;
    atomic_fetch_add_explicit(count, state->count, memory_order_relaxed);
    return 0;
}

struct counting {
    const struct sta_plain *plain;
    const struct sta_budget *budget;
    _Atomic uint64_t count;
};

static int count_stripe(void *self, const struct sta_stripe *stripe, struct sta_error *err)
{
    struct counting *counting = self;
    const struct sta_pipeline_visitor visitor = {
        .self = &counting->count, .visit = count_rows, .takes_marks = true};
    return sta_pipeline_run(counting->plain->pipeline, &visitor, stripe, counting->budget, err);
}

static int add_count(void *self, struct sta_cursor *state, struct sta_error *err)
{
    struct counting *counting = self;
    counting->count += sta_get_u64(state);
    return state->failed ? sta_shared_fail(err) : STA_OK;
}

int sta_plain_put_count(const struct sta_plain *plain, const struct sta_budget *budget,
                        const struct sta_stripe *stripe, const struct sta_byte_sink *sink,
                        struct sta_error *err)
{
    struct counting counting = {.plain = plain, .budget = budget};
    int rc = count_stripe(&counting, stripe, err);
    const uint64_t count = counting.count;
    return rc == STA_OK ? sink->write(sink->self, &count, sizeof count, err) : rc;
}

static bool keeps_all(const struct sta_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->stage_count; i++)
        if (pipeline->stages[i].filter != NULL)
            return false;
    for (size_t i = 0; i < pipeline->events->trace_count; i++) {
        const struct sta_scan *scan = &pipeline->events->traces[i].scan;
        if (scan->classes != NULL || scan->from != INT64_MIN || scan->to != INT64_MAX)
            return false;
    }
    return true;
}

int sta_plain_count(const struct sta_plain *plain, const struct sta_budget *budget, uint64_t *count,
                    struct sta_error *err)
{
    const struct sta_share_wanted wanted = {.rows = true, .most = 0};
    struct counting counting = {.plain = plain, .budget = budget};
    const struct sta_stripe_work work = {&counting, count_stripe, add_count};
    if (keeps_all(plain->pipeline)) {
        *count = plain->pipeline->part_rows;
        return STA_OK;
    }
    int rc = sta_share_stripes(&plain->query, &wanted, &work, budget, err);
    *count = counting.count;
    return rc;
}

/* ---- reading */

#define EVENT_KEY_WORDS 3u /* of a row in event order: trace, at, place */

uint32_t sta_plain_key_words(const struct sta_plain *plain)
{
    return plain->sorted ? plain->layout.words : EVENT_KEY_WORDS;
}

/* Bytes that a row of a batch takes: with its record, and what sorting that takes in event order. */
static size_t row_bytes(const struct sta_plain *plain)
{
    size_t record = plain->sorted
                        ? plain->layout.words * sizeof(uint64_t) + sizeof(uint32_t) + 2 * sizeof(int64_t)
                        : 2 * EVENT_KEY_WORDS * sizeof(uint64_t);
    return plain->shown.row_bytes + sizeof(struct sta_batch_row) + record;
}

struct sta_plain_reader *sta_plain_reader_create(const struct sta_plain *plain,
                                                 const struct sta_budget *budget, uint64_t wanted,
                                                 const uint64_t *after)
{
    struct sta_plain_reader *reader = sta_alloc(sizeof *reader);
    uint32_t words = sta_plain_key_words(plain);
    reader->plain = plain;
    reader->budget = *budget;
    reader->key = sta_alloc_array(words, sizeof *reader->key);
    reader->most_rows = STA_MAX(budget->memory / 4 / row_bytes(plain), (size_t)STA_ROW_GROUP_ROWS);
    reader->from = INT64_MIN;
    reader->wanted = wanted;
    sta_gathered_rows_init(&reader->gathered, &plain->shown);
    if (after != NULL) {
        memcpy(reader->key, after, words * sizeof *after);
        reader->started = true;
    }
    return reader;
}

static void free_batches(struct sta_plain_reader *reader)
{
    for (size_t i = 0; i < reader->batch_count; i++)
        sta_row_batch_fini(&reader->batches[i], &reader->plain->shown);
    free(reader->batches);
    reader->batches = NULL;
    reader->batch_count = 0;
}

void sta_plain_reader_destroy(struct sta_plain_reader *reader)
{
    if (reader == NULL)
        return;
    free_batches(reader);
    sta_gathered_rows_fini(&reader->gathered);
    sta_sorter_destroy(reader->sorter);
    free(reader->records);
    free(reader->rows);
    free(reader->key);
    free(reader);
}

void sta_plain_begin_batches(struct sta_plain_reader *reader, size_t batches)
{
    free_batches(reader);
    reader->batches = sta_alloc_array(batches + 1, sizeof *reader->batches);
    reader->batch_count = batches;
    reader->row_count = 0;
    reader->at = 0;
}

void sta_plain_add_row(struct sta_plain_reader *reader, uint32_t batch, uint32_t row)
{
    STA_GROW(reader->rows, reader->row_capacity, reader->row_count + 1);
    reader->rows[reader->row_count++] = (struct sta_batch_row){batch, row};
}

static int next_batches(struct sta_plain_reader *reader, size_t most, struct sta_error *err)
{
    int rc = STA_OK;
    do {
        rc = reader->plain->sorted ? sta_plain_next_sorted(reader, most, err)
                                   : sta_plain_next_slice(reader, most, err);
        if (rc != 0)
            return rc;
        reader->at = (size_t)STA_MIN(reader->skip, (uint64_t)reader->row_count);
        reader->skip -= reader->at;
    } while (reader->row_count > 0 && reader->at == reader->row_count);
    return rc;
}

void sta_plain_skip(struct sta_plain_reader *reader, uint64_t rows)
{
    reader->skip = rows;
}

static void note_key(struct sta_plain_reader *reader, size_t number)
{
    uint32_t words = sta_plain_key_words(reader->plain);
    reader->started = true;
    if (reader->plain->sorted) {
        memcpy(reader->key, reader->records + number * words, words * sizeof *reader->key);
        return;
    }
    const struct sta_batch_row *row = &reader->rows[number];
    reader->key[0] = reader->trace;
    reader->key[1] = sta_order_integer(reader->batches[row->batch].at[row->row]);
    reader->key[2] = reader->batches[row->batch].place[row->row];
}

/* Outputs that are keys of the order: their values come from the keys of the next rows. */
static void decode_keys(struct sta_plain_reader *reader, size_t count)
{
    const struct sta_plain *plain = reader->plain;
    const uint64_t *records = reader->records + reader->at * plain->layout.words;
    struct sta_gathered_rows *gathered = &reader->gathered;
    for (size_t i = 0; i < plain->stage->output_count; i++) {
        const int key = plain->shown.keys[i];
        if (key < 0)
            continue;
        const bool missing =
            sta_sort_layout_integers(&plain->layout, (size_t)key, records, plain->layout.words, count,
                                     gathered->space[i].integers, gathered->space[i].missing);
        gathered->vectors[i] = (struct sta_vector){.type = STA_TYPE_INT,
                                                   .integers = gathered->space[i].integers,
                                                   .missing = missing ? gathered->space[i].missing : NULL};
    }
}

int sta_plain_next(struct sta_plain_reader *reader, size_t most, const struct sta_vector **vectors,
                   uint32_t *rows, struct sta_error *err)
{
    int rc = STA_OK;
    *rows = 0;
    *vectors = reader->gathered.vectors;
    if (reader->at == reader->row_count)
        rc = next_batches(reader, most, err);
    const size_t now =
        rc == 0 ? STA_MIN(STA_MIN(most, (size_t)STA_VECTOR_ROWS), reader->row_count - reader->at) : 0;
    if (now == 0)
        return rc;
    if (reader->plain->shown.any)
        sta_gathered_rows_take(&reader->gathered, reader->batches, reader->batch_count,
                               reader->rows + reader->at, now);
    decode_keys(reader, now);
    reader->at += now;
    note_key(reader, reader->at - 1);
    *rows = (uint32_t)now;
    return STA_OK;
}

static void init_table(const struct sta_plan_stage *stage, size_t rows, struct sta_table *table)
{
    sta_table_init(table, rows);
    for (size_t i = 0; i < stage->output_count; i++)
        sta_table_add(table, stage->result[i].name, stage->result[i].type, stage->result[i].unit);
}

/* Puts the rows that were read last into a column of a table.  Texts are those of the pipeline, which outlive
 * the reader. */
static void put_column(const struct sta_plain_reader *reader, size_t output, const struct sta_vector *vector,
                       uint32_t count, struct sta_table_column *column, size_t at)
{
    const struct sta_batch_row *rows = reader->rows + reader->at - count;
    const bool texts = sta_vector_is_codes(vector) && !vector->constant;
    for (uint32_t r = 0; r < count; r++)
        if (texts)
            sta_table_put(column, at + r, &reader->batches[rows[r].batch].columns[output], rows[r].row);
        else
            sta_table_put(column, at + r, vector, r);
}

int sta_plain_read(struct sta_plain_reader *reader, size_t most, struct sta_table *table,
                   struct sta_error *err)
{
    const struct sta_vector *vectors;
    size_t filled = 0;
    uint32_t rows = 1;
    int rc = 0;
    init_table(reader->plain->stage, most, table);
    while (rc == 0 && rows > 0 && filled < most) {
        rc = sta_plain_next(reader, most - filled, &vectors, &rows, err);
        for (size_t i = 0; i < table->column_count; i++)
            put_column(reader, i, &vectors[i], rows, &table->columns[i], filled);
        filled += rows;
    }
    table->rows = filled;
    if (rc == 0 && filled > 0 && reader->at == reader->row_count)
        rc = next_batches(reader, most, err); /* does a row follow? */
    return rc;
}

const uint64_t *sta_plain_position(const struct sta_plain_reader *reader)
{
    return reader->at < reader->row_count ? reader->key : NULL;
}

/* Random rows, dealt out to a grouping in batches as a scan does. */
#include "aggregate_model.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "aggregate_print.h"

const enum sta_type model_types[MODEL_COLUMNS] = {
    [FLAG] = STA_TYPE_BOOL, [SMALL] = STA_TYPE_INT,  [WIDE] = STA_TYPE_INT,  [NUMBER] = STA_TYPE_FLOAT,
    [NAME] = STA_TYPE_TEXT, [OTHER] = STA_TYPE_TEXT, [START] = STA_TYPE_INT, [END] = STA_TYPE_INT};

#define MOST_NAMES 2000
static char names[MOST_NAMES][24];

uint64_t model_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = *state ^ *state >> 29;
    return x * UINT64_C(0xBF58476D1CE4E5B9) >> 16;
}

static void make_names(void)
{
    static const char *const forms[] = {"/data/set/img_%u", "r%u", "read%u", "\xc3\xa9%u", "%u"};
    for (unsigned i = 0; i < MOST_NAMES && names[i][0] == '\0'; i++)
        snprintf(names[i], sizeof names[i], forms[i % STA_COUNT_OF(forms)], i / 3);
    names[3][0] = '\0'; /* an empty text is a text */
}

/* ---- rows */

static int64_t wide_value(const struct model_options *options, uint64_t *state)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, INT64_MAX - 1, 0, -1};
    uint64_t r = model_random(state);
    if (options->extremes && r % 4 == 0)
        return ends[(r >> 8) % STA_COUNT_OF(ends)];
    return (int64_t)(r << 20 ^ model_random(state)) >> (r % 60);
}

/* Magnitudes that fit a window, and some that do not. */
static double number_value(uint64_t *state)
{
    static const double few[] = {0.1, 0.2, 1e9, -1e9, 0.5, 3, 1e-9, 0};
    uint64_t r = model_random(state);
    if (r % 3 == 0)
        return few[(r >> 8) % STA_COUNT_OF(few)];
    if (r % 64 == 1)
        return (double)(r >> 8) * 1e60;
    return (double)(int64_t)(r >> 10) / 1048576 - 1000;
}

static void make_row(struct model_row *row, size_t number, const struct model_options *options,
                     uint64_t *state)
{
    struct model_value *values = row->values;
    values[FLAG].integer = (int64_t)(model_random(state) % 2);
    values[SMALL].integer = (int64_t)(model_random(state) % options->spread) - 3;
    values[WIDE].integer = wide_value(options, state);
    values[NUMBER].number = number_value(state);
    values[NAME].text = names[model_random(state) % options->names];
    values[OTHER].text = names[model_random(state) % 7];
    values[START].integer = (int64_t)(number * 10 + model_random(state) % 100);
    values[END].integer = values[START].integer + (int64_t)(model_random(state) % 60);
    for (size_t c = 0; c < MODEL_COLUMNS; c++)
        values[c].missing = model_types[c] != STA_TYPE_BOOL && model_random(state) % 100 < options->missing;
    row->source = number % 97 == 0;
    row->at = (int64_t)(number / 8);
    row->place = number;
}

/* ---- all aggregates */

static void add(struct model *model, enum sta_aggregate aggregate, enum model_column column, double quantile)
{
    model->primitives =
        sta_realloc_array(model->primitives, model->primitive_count + 1, sizeof *model->primitives);
    model->primitives[model->primitive_count++] =
        (struct sta_primitive){.aggregate = aggregate,
                               .types = {model_types[column], model_types[(column + 1) % MODEL_COLUMNS]},
                               .quantile = quantile,
                               .first_argument = column};
}

static void add_few(struct model *model)
{
    add(model, STA_AGGREGATE_ROWS, FLAG, 0);
    add(model, STA_AGGREGATE_SUM, START, 0);
    add(model, STA_AGGREGATE_SUM, WIDE, 0);
}

static void add_all(struct model *model)
{
    static const enum sta_aggregate of_any[] = {
        STA_AGGREGATE_COUNT, STA_AGGREGATE_NUNIQUE, STA_AGGREGATE_MIN,   STA_AGGREGATE_MAX,
        STA_AGGREGATE_FIRST, STA_AGGREGATE_LAST,    STA_AGGREGATE_UNIQUE};
    static const enum sta_aggregate of_numbers[] = {STA_AGGREGATE_SUM, STA_AGGREGATE_MEAN, STA_AGGREGATE_STD,
                                                    STA_AGGREGATE_VAR, STA_AGGREGATE_MEDIAN};
    add(model, STA_AGGREGATE_ROWS, FLAG, 0);
    for (enum model_column c = FLAG; c < MODEL_COLUMNS; c++) {
        for (size_t a = 0; a < STA_COUNT_OF(of_any); a++)
            add(model, of_any[a], c, 0);
        for (size_t a = 0; model_types[c] != STA_TYPE_TEXT && a < STA_COUNT_OF(of_numbers); a++)
            add(model, of_numbers[a], c, 0);
        if (model_types[c] != STA_TYPE_TEXT) {
            add(model, STA_AGGREGATE_QUANTILE, c, 0.1);
            add(model, STA_AGGREGATE_QUANTILE, c, 1);
        }
        if (c + 1 < MODEL_COLUMNS)
            add(model, STA_AGGREGATE_ARGMAX, c, 0);
    }
    add(model, STA_AGGREGATE_BUSY, START, 0);
}

void model_init(struct model *model, const struct model_options *options)
{
    uint64_t state = options->seed;
    *model = (struct model){.count = options->rows};
    make_names();
    model->rows = sta_alloc_array(options->rows, sizeof *model->rows);
    for (size_t i = 0; i < options->rows; i++)
        make_row(&model->rows[i], i, options, &state);
    if (options->few)
        add_few(model);
    else
        add_all(model);
}

void model_fini(struct model *model)
{
    free(model->rows);
    free(model->primitives);
}

/* ---- batches */

#define BATCH_ROWS 3000
#define MOST_DICTIONARIES 4

struct batch {
    struct sta_vector vectors[MODEL_COLUMNS];
    int64_t integers[MODEL_COLUMNS][2 * BATCH_ROWS];
    double numbers[MODEL_COLUMNS][2 * BATCH_ROWS];
    uint8_t bools[MODEL_COLUMNS][2 * BATCH_ROWS], missing[MODEL_COLUMNS][2 * BATCH_ROWS];
    uint8_t marks[2 * BATCH_ROWS];
    uint32_t codes[MODEL_COLUMNS][2 * BATCH_ROWS], selected[2 * BATCH_ROWS];
    int64_t at[2 * BATCH_ROWS];
    uint64_t place[2 * BATCH_ROWS];
};

static bool same_value(const struct model_value *a, const struct model_value *b)
{
    return a->missing == b->missing && a->integer == b->integer && a->number == b->number &&
           a->text == b->text;
}

static void fill_column(struct batch *batch, enum model_column c, const struct model_row *const *rows,
                        uint32_t count, const uint32_t *slots, struct sta_dictionary *texts)
{
    bool any_missing = false;
    bool constant = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct model_value *value = &rows[i]->values[c];
        uint32_t at = slots[i];
        batch->integers[c][at] = value->missing ? -77 : value->integer;
        batch->numbers[c][at] = value->missing ? -77 : value->number;
        batch->bools[c][at] = (uint8_t)(value->integer != 0);
        batch->missing[c][at] = value->missing;
        batch->codes[c][at] = STA_NO_CODE;
        if (model_types[c] == STA_TYPE_TEXT && !value->missing)
            batch->codes[c][at] = sta_dictionary_intern(texts, value->text, strlen(value->text));
        any_missing = any_missing || value->missing;
        constant = constant && same_value(value, &rows[0]->values[c]);
    }
    uint32_t first = constant ? slots[0] : 0;
    batch->vectors[c] = (struct sta_vector){.type = model_types[c],
                                            .constant = constant,
                                            .integers = batch->integers[c] + first,
                                            .numbers = batch->numbers[c] + first,
                                            .bools = batch->bools[c] + first,
                                            .codes = batch->codes[c] + first,
                                            .texts = texts,
                                            .missing = any_missing ? batch->missing[c] + first : NULL};
}

struct dealing {
    const struct model *model;
    const struct model_run *run;
    struct sta_aggregation *grouping;
    struct sta_dictionary *texts[MOST_DICTIONARIES];
    const struct model_row **rows;
    size_t row_count;
    uint64_t state;
    struct batch batch;
};

/* Rows of one source; now and then with gaps between them, which a selection leaves out, or marks. */
static void deal(struct dealing *dealing, const struct model_row *const *rows, uint32_t count)
{
    struct batch *batch = &dealing->batch;
    struct sta_vector keys[MODEL_COLUMNS];
    struct sta_error err = STA_ERROR_INIT;
    bool gaps = model_random(&dealing->state) % 2 == 0;
    bool marked = gaps && sta_aggregation_takes_marks(dealing->grouping);
    for (size_t c = 0; c < MODEL_COLUMNS; c++) /* of no dictionary */
        memset(batch->codes[c], 0x33, 2 * count * sizeof batch->codes[c][0]);
    for (uint32_t i = 0; i < count; i++) {
        batch->selected[i] = gaps ? 2 * i + 1 : i;
        batch->marks[2 * i] = 0;
        batch->marks[2 * i + 1] = 1;
        batch->at[batch->selected[i]] = rows[i]->at;
        batch->place[batch->selected[i]] = rows[i]->place;
    }
    for (enum model_column c = FLAG; c < MODEL_COLUMNS; c++) {
        uint64_t dictionary = model_random(&dealing->state) % dealing->run->dictionaries;
        fill_column(batch, c, rows, count, batch->selected, dealing->texts[dictionary]);
    }
    for (size_t k = 0; k < dealing->model->key_count; k++)
        keys[k] = batch->vectors[dealing->model->keys[k]];
    struct sta_aggregation_input given = {.count = count,
                                          .selected = gaps && !marked ? batch->selected : NULL,
                                          .marks = marked ? batch->marks : NULL,
                                          .marked_rows = 2 * count,
                                          .keys = keys,
                                          .arguments = batch->vectors,
                                          .source = rows[0]->source,
                                          .at = batch->at,
                                          .place = batch->place};
    unsigned worker = (unsigned)(model_random(&dealing->state) % dealing->run->workers);
    cr_assert_eq(sta_aggregation_consume(dealing->grouping, worker, &given, &err), 0, "%s", err.text);
}

static void shuffle(struct dealing *dealing)
{
    for (size_t i = dealing->row_count; i > 1; i--) {
        size_t other = model_random(&dealing->state) % i;
        const struct model_row *held = dealing->rows[i - 1];
        dealing->rows[i - 1] = dealing->rows[other];
        dealing->rows[other] = held;
    }
}

/* Every @step-th row, from @first_row on. */
static void deal_all(struct dealing *dealing, size_t first_row, size_t step)
{
    size_t count = 0;
    for (size_t i = first_row; i < dealing->model->count; i += step)
        dealing->rows[count++] = &dealing->model->rows[i];
    dealing->row_count = count;
    if (!dealing->run->in_order)
        shuffle(dealing);
    for (size_t first = 0, end; first < count; first = end) {
        static const size_t sizes[] = {1, 2, 700, BATCH_ROWS};
        size_t most = sizes[model_random(&dealing->state) % STA_COUNT_OF(sizes)];
        const struct model_row **rows = dealing->rows + first;
        for (end = first; end < count && end - first < most && dealing->rows[end]->source == rows[0]->source;)
            end++;
        deal(dealing, rows, (uint32_t)(end - first));
    }
}

static int take(void *self, const struct sta_vector *keys, const struct sta_vector *values, uint32_t rows,
                struct sta_error *err)
{
    struct model_printer *printer = self;
    cr_assert_leq(rows, STA_VECTOR_ROWS);
    for (uint32_t row = 0; row < rows; row++)
        model_print_group(printer, keys, values, row);
    return 0;
}

/* ---- states as bytes */

static int write_bytes(void *self, const void *bytes, size_t size, struct sta_error *err)
{
    sta_put(self, bytes, size);
    return 0;
}

int model_read_state(struct sta_aggregation *grouping, const char *bytes, size_t size, struct sta_error *err)
{
    struct sta_cursor from = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    return sta_aggregation_deserialize(grouping, &from, err);
}

struct sta_aggregation *model_create(const struct model *model, const struct sta_budget *budget)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_aggregation *grouping;
    enum sta_type key_types[MODEL_COLUMNS];
    for (size_t k = 0; k < model->key_count; k++)
        key_types[k] = model_types[model->keys[k]];
    struct sta_aggregation_spec spec = {.keys = key_types,
                                        .key_count = model->key_count,
                                        .keep_missing = model->keep_missing,
                                        .primitives = model->primitives,
                                        .primitive_count = model->primitive_count};
    cr_assert_eq(sta_aggregation_create(&spec, budget, ".", &grouping, &err), 0, "%s", err.text);
    return grouping;
}

static void init_dealing(struct dealing *dealing)
{
    dealing->rows = sta_alloc_array(dealing->model->count, sizeof *dealing->rows);
    for (unsigned d = 0; d < dealing->run->dictionaries; d++)
        dealing->texts[d] = sta_dictionary_create();
}

static void fini_dealing(struct dealing *dealing)
{
    sta_aggregation_destroy(dealing->grouping);
    for (unsigned d = 0; d < dealing->run->dictionaries; d++)
        sta_dictionary_destroy(dealing->texts[d]);
    free(dealing->rows);
    free(dealing);
}

int model_write_state(const struct model *model, const struct model_run *run, size_t shard,
                      struct sta_buffer *bytes, struct sta_error *err)
{
    struct sta_budget budget = {.workers = run->workers, .memory = run->memory};
    const struct sta_byte_sink sink = {bytes, write_bytes};
    struct dealing *dealing = sta_alloc(sizeof *dealing);
    dealing->model = model;
    dealing->run = run;
    dealing->state = run->seed + shard;
    init_dealing(dealing);
    dealing->grouping = model_create(model, &budget);
    deal_all(dealing, shard, run->shards);
    const int rc =
        sta_aggregation_serialize(dealing->grouping, run->read_at_once ? 0 : UINT64_MAX, &sink, err);
    fini_dealing(dealing);
    return rc;
}

static void unite_shards(struct dealing *dealing)
{
    for (size_t shard = 0; shard < dealing->run->shards; shard++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_buffer bytes;
        sta_buffer_init(&bytes);
        cr_assert_eq(model_write_state(dealing->model, dealing->run, shard, &bytes, &err), 0, "%s", err.text);
        cr_assert_eq(model_read_state(dealing->grouping, bytes.data, bytes.size, &err), 0, "%s", err.text);
        sta_buffer_fini(&bytes);
    }
}

void model_group(const struct model *model, const struct model_run *run, struct sta_buffer *answer,
                 struct sta_aggregation_figures *figures)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    struct sta_budget budget = {.workers = run->workers, .memory = run->memory, .account = &account};
    struct dealing *dealing = sta_alloc(sizeof *dealing);
    sta_account_init(&account, run->account > 0 ? run->account : SIZE_MAX / 2, "query_memory", NULL);
    dealing->model = model;
    dealing->run = run;
    dealing->state = run->seed;
    init_dealing(dealing);
    dealing->grouping = model_create(model, &budget);
    if (run->shards > 0)
        unite_shards(dealing);
    else
        deal_all(dealing, 0, 1);
    struct model_printer printer = {.model = model, .text = answer};
    struct sta_aggregation_output sink = {.self = &printer, .take = take};
    cr_assert_eq(sta_aggregation_finish(dealing->grouping, &sink, &err), 0, "%s", err.text);
    *figures = sta_aggregation_figures(dealing->grouping);
    fini_dealing(dealing);
    cr_assert_eq(account.used, 0, "%zu bytes are left", account.used);
    cr_assert(account.peak <= account.limit && (figures->rows == 0 || account.peak > 0));
    sta_account_fini(&account);
}

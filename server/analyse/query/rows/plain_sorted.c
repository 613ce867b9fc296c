/* Plain rows, sorted.
 *
 * DESIGN.  A pass over the rows makes a record of each: its sort keys, then what tells its place among rows
 * that agree in them, of which the last two, the part and the row in it, tell where it lies.  For the first
 * rows that a reader asks for the sorter keeps only so many, and row groups and rows that cannot be among
 * them are left out early (top.h); a reader that goes on has all rows sorted, by way of the disk when they
 * are many.  What is shown is read late: the next records are put in the order of the parts, and each part is
 * read once for all of its rows. */
#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/plain_private.h"
#include "analyse/query/rows/top.h"
#include "analyse/sources/shared.h"
#include "common/memory.h"

#define TILE 1024u /* records that are worked on at once */

/* ---- records */

struct recording {
    const struct sta_plain_reader *reader;
    struct sta_sorter *sorter;
    const struct sta_stripe *stripe; /* NULL: all parts */
    struct sta_top top;
    struct recorder { /* by worker */
        struct sta_arena memory;
        struct sta_sort_encoder *encoder;
        struct sta_top_local *top;
        struct sta_vector *vectors;
        uint64_t *records;
        uint32_t *kept;
        int64_t *places[STA_PLACE_FIELDS];
    } * recorders;
};

static struct recorder *recorder_of(struct recording *recording, unsigned worker)
{
    struct recorder *recorder = &recording->recorders[worker];
    const struct sta_plain *plain = recording->reader->plain;
    if (recorder->records != NULL)
        return recorder;
    recorder->encoder = sta_sort_encoder_create(&plain->layout);
    recorder->top = sta_top_local_create(&recording->top);
    recorder->vectors = sta_arena_array(&recorder->memory, plain->layout.count, sizeof *recorder->vectors);
    recorder->records = sta_arena_array(&recorder->memory, TILE, plain->layout.words * sizeof(uint64_t));
    recorder->kept = sta_arena_array(&recorder->memory, STA_VECTOR_ROWS, sizeof *recorder->kept);
    for (size_t f = 0; f < STA_PLACE_FIELDS; f++)
        recorder->places[f] = sta_arena_array(
            &recorder->memory, f == STA_PLACE_CHUNK || f == STA_PLACE_ROW ? STA_VECTOR_ROWS : 1,
            sizeof(int64_t));
    return recorder;
}

static void recorder_fini(struct recorder *recorder)
{
    sta_sort_encoder_destroy(recorder->encoder);
    sta_top_local_destroy(recorder->top);
    sta_arena_fini(&recorder->memory);
}

/* Where the rows stand that agree in all keys, as further keys. */
static int fetch_places(const struct sta_plain *plain, struct recorder *recorder,
                        struct sta_pipeline_state *state, size_t part, struct sta_error *err)
{
    struct sta_vector *vectors = recorder->vectors + plain->stage->order_count;
    int64_t *chunks = recorder->places[STA_PLACE_CHUNK], *part_rows = recorder->places[STA_PLACE_ROW];
    struct sta_pipeline_state_order order;
    int rc = sta_pipeline_state_order(state, &order, err);
    if (rc != 0)
        return rc;
    const uint64_t *numbers = plain->pipeline->events != NULL ? order.place : (const uint64_t *)order.at;
    for (uint32_t i = 0; i < state->count; i++) {
        const uint32_t row = state->selected != NULL ? state->selected[i] : i;
        chunks[row] = (int64_t)(order.place[row] >> 32);
        part_rows[row] = (int64_t)(numbers[row] % STA_VECTOR_ROWS); /* all parts but the last are full */
    }
    recorder->places[STA_PLACE_TRACE][0] = state->trace;
    recorder->places[STA_PLACE_PART][0] = (int64_t)part;
    for (size_t f = 0; f < STA_PLACE_FIELDS; f++)
        vectors[f] = (struct sta_vector){.type = STA_TYPE_INT,
                                         .constant = f == STA_PLACE_TRACE || f == STA_PLACE_PART,
                                         .integers = recorder->places[f]};
    if (plain->without_at)
        vectors[STA_PLACE_AT].constant = true; /* of 0, which is never written to */
    else
        vectors[STA_PLACE_AT].integers = order.at;
    return STA_OK;
}

/* Drops the records that do not come behind the last row that was given out. */
static uint32_t drop_given(const struct sta_plain_reader *reader, uint64_t *records, uint32_t count)
{
    const unsigned words = reader->plain->layout.words;
    uint32_t kept = 0;
    if (!reader->started)
        return count;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *record = records + (size_t)i * words;
        memmove(records + (size_t)kept * words, record, words * sizeof *record);
        kept += sta_record_compare(record, reader->key, words) > 0;
    }
    return kept;
}

static int record_part(void *self, unsigned worker, struct sta_pipeline_state *state, size_t number,
                       struct sta_error *err)
{
    struct recording *recording = self;
    const struct sta_plain *plain = recording->reader->plain;
    struct recorder *recorder = recorder_of(recording, worker);
    size_t part;
    if (!sta_top_part(&recording->top, recorder->top, number, &part) ||
        (recording->stripe != NULL &&
         !sta_stripe_has(recording->stripe, plain->pipeline->parts[part].row_group)))
        return STA_OK;
    state->required = sta_top_tests(&recording->top, recorder->top, part);
    int rc = sta_pipeline_state_load(state, plain->pipeline->parts[part], err);
    if (rc == 0 && state->count > 0)
        rc = sta_plain_key_vector(plain, state, 0, &recorder->vectors[0], err);
    if (rc == 0 && state->count > 0)
        rc =
            sta_top_narrow(&recording->top, recorder->top, state, &recorder->vectors[0], recorder->kept, err);
    for (size_t i = 0; rc == 0 && state->count > 0 && i < plain->stage->order_count; i++)
        rc = sta_plain_key_vector(plain, state, i, &recorder->vectors[i], err);
    if (rc == 0 && state->count > 0)
        rc = fetch_places(plain, recorder, state, part, err);
    if (rc != 0 || state->count == 0)
        return rc;
    for (uint32_t first = 0; rc == 0 && first < state->count; first += TILE) {
        const uint32_t *rows = state->selected != NULL ? state->selected + first : NULL;
        uint32_t count = STA_MIN(state->count - first, TILE);
        rc = sta_sort_pack(recorder->encoder, recorder->vectors, rows, first, count, recorder->records,
                           plain->layout.words, err);
        if (rc != 0)
            break;
        count = drop_given(recording->reader, recorder->records, count);
        rc = sta_sorter_consume(recording->sorter, worker, recorder->records, count, err);
    }
    return rc;
}

static void create_sorter(struct sta_plain_reader *reader, uint64_t most)
{
    const struct sta_sorter_spec spec = {.words = reader->plain->layout.words,
                                         .limit = most,
                                         .memory = reader->budget.memory / 2,
                                         .spill_folder = reader->budget.spill_folder,
                                         .budget = &reader->budget};
    sta_sorter_destroy(reader->sorter);
    reader->sorter = sta_sorter_create(&spec);
    reader->whole = most == UINT64_MAX;
    reader->sorted_left = most;
}

/* Gives the sorter the rows of a stripe. */
static int record_stripe(void *self, const struct sta_stripe *stripe, struct sta_error *err)
{
    struct sta_plain_reader *reader = self;
    const struct sta_pipeline *pipeline = reader->plain->pipeline;
    unsigned workers = sta_budget_workers(&reader->budget);
    struct recording recording = {.reader = reader, .sorter = reader->sorter, .stripe = stripe};
    struct sta_pipeline_work work = {&recording, pipeline->part_count, record_part};
    recording.recorders = sta_alloc_array(workers, sizeof *recording.recorders);
    int rc = sta_top_init(&recording.top, reader->plain, recording.sorter,
                          reader->started ? reader->key : NULL, err);
    if (rc == 0)
        rc = sta_pipeline_work(pipeline, &work, &reader->budget, err);
    for (unsigned i = 0; i < workers; i++)
        recorder_fini(&recording.recorders[i]);
    sta_top_fini(&recording.top);
    free(recording.recorders);
    return rc;
}

/* ---- records of other ranks */

#define MOST_SHARED 100000u /* records that a rank sends at most */

/* Where the rows of some records lie. */
static void find_places(const struct sta_plain *plain, const uint64_t *records, size_t count, int64_t *parts,
                        int64_t *rows)
{
    const size_t keys = plain->stage->order_count, words = plain->layout.words;
    sta_sort_layout_integers(&plain->layout, keys + STA_PLACE_PART, records, words, count, parts, NULL);
    sta_sort_layout_integers(&plain->layout, keys + STA_PLACE_ROW, records, words, count, rows, NULL);
}

/* Whether a record names a row that there is. */
static bool has_place(const struct sta_plain *plain, const uint64_t *record)
{
    int64_t part, row;
    find_places(plain, record, 1, &part, &row);
    if (part < 0 || (uint64_t)part >= plain->pipeline->part_count)
        return false;
    return row >= 0 && row < (int64_t)sta_pipeline_row_group(plain->pipeline, (size_t)part)->rows;
}

static int take_records_of_rank(void *self, struct sta_cursor *state, struct sta_error *err)
{
    struct sta_plain_reader *reader = self;
    const size_t words = reader->plain->layout.words, bytes = words * sizeof(uint64_t);
    uint64_t *record = sta_alloc_array(words, sizeof *record);
    int rc = (size_t)(state->end - state->at) % bytes == 0 ? STA_OK : sta_shared_fail(err);
    while (rc == STA_OK && state->at < state->end) {
        memcpy(record, sta_get_bytes(state, bytes), bytes);
        rc = has_place(reader->plain, record) ? sta_sorter_consume(reader->sorter, 0, record, 1, err)
                                              : sta_shared_fail(err);
    }
    free(record);
    return rc;
}

/* Orders of texts that are made are known to the rank that has made them all. */
static bool may_share(const struct sta_plain *plain, uint64_t most)
{
    bool texts = false;
    for (size_t i = 0; i < plain->stage->order_count; i++)
        texts |= plain->texts[i] != NULL;
    return !texts && most <= MOST_SHARED;
}

static int put_records(struct sta_plain_reader *reader, const struct sta_byte_sink *sink,
                       struct sta_error *err)
{
    const uint64_t *records = NULL;
    size_t count = 1;
    int rc = sta_sorter_finish(reader->sorter, err);
    while (rc == STA_OK && count > 0) {
        rc = sta_sorter_next(reader->sorter, TILE, &records, &count, err);
        if (rc == STA_OK && count > 0)
            rc = sink->write(sink->self, records, count * reader->plain->layout.words * sizeof *records, err);
    }
    return rc;
}

int sta_plain_work(const struct sta_plain *plain, const struct sta_query_context *context,
                   const struct sta_share_wanted *wanted, const struct sta_stripe *stripe,
                   const struct sta_byte_sink *sink, struct sta_error *err)
{
    if (wanted->most == 0)
        return sta_plain_put_count(plain, context->budget, stripe, sink, err);
    if (!plain->sorted || (wanted->after != NULL && wanted->words != plain->layout.words))
        return sta_shared_fail(err);
    struct sta_plain_reader *reader = sta_plain_reader_create(plain, context->budget, 0, wanted->after);
    create_sorter(reader, wanted->most);
    int rc = record_stripe(reader, stripe, err);
    if (rc == STA_OK)
        rc = put_records(reader, sink, err);
    sta_plain_reader_destroy(reader);
    return rc;
}

/* Sorts the rows behind the reader, at least the first @most of them. */
static int sort_rows(struct sta_plain_reader *reader, uint64_t most, struct sta_error *err)
{
    const struct sta_plain *plain = reader->plain;
    const struct sta_stripe_work work = {reader, record_stripe, take_records_of_rank};
    const struct sta_share_wanted wanted = {.rows = true,
                                            .most = most,
                                            .after = reader->started ? reader->key : NULL,
                                            .words = plain->layout.words};
    create_sorter(reader, most);
    int rc = sta_share_stripes(may_share(plain, most) ? &plain->query : NULL, &wanted, &work, &reader->budget,
                               err);
    return rc != 0 ? rc : sta_sorter_finish(reader->sorter, err);
}

/* ---- rows of records */

/* The rows of all batches by the parts that they lie in: those of batch p are number first[p] .. first[p + 1]
 * - 1. */
struct fetching {
    struct sta_arena memory;
    struct sta_plain_reader *reader;
    size_t *first;
    uint32_t *rows;  /* in the part */
    uint32_t *parts; /* by batch */
};

static int fetch_batch(void *self, unsigned worker, struct sta_pipeline_state *state, size_t number,
                       struct sta_error *err)
{
    struct fetching *fetching = self;
    struct sta_plain_reader *reader = fetching->reader;
    size_t first = fetching->first[number], count = fetching->first[number + 1] - first;
    sta_pipeline_state_load_rows(state, reader->plain->pipeline->parts[fetching->parts[number]],
                                 fetching->rows + first, (uint32_t)count);
    return sta_row_batch_take(&reader->batches[number], &reader->plain->shown, state, false, err);
}

/* Counts the rows of each part: gives the parts that have any a batch each.  Return: how many. */
static size_t count_batches(struct fetching *fetching, const int64_t *parts, size_t count,
                            uint32_t *batch_of_part)
{
    size_t part_count = fetching->reader->plain->pipeline->part_count, batches = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        batch_of_part[parts[i]]++;
    for (size_t part = 0; part < part_count; part++) {
        size_t rows = batch_of_part[part];
        if (rows == 0)
            continue;
        batch_of_part[part] = (uint32_t)batches;
        fetching->parts[batches] = (uint32_t)part;
        fetching->first[batches++] = sum;
        sum += rows;
    }
    fetching->first[batches] = sum;
    return batches;
}

/* Lists the rows of the batches in the order of the records, and those of each batch. */
static void list_rows(struct fetching *fetching, const int64_t *parts, const int64_t *rows, size_t count,
                      size_t batches, const uint32_t *batch_of_part)
{
    size_t *next = sta_arena_array(&fetching->memory, batches, sizeof *next);
    memcpy(next, fetching->first, batches * sizeof *next);
    for (size_t i = 0; i < count; i++) {
        uint32_t batch = batch_of_part[parts[i]];
        sta_plain_add_row(fetching->reader, batch, (uint32_t)(next[batch] - fetching->first[batch]));
        fetching->rows[next[batch]++] = (uint32_t)rows[i];
    }
}

/* Reads what is shown of @count records. */
static int fetch_rows(struct sta_plain_reader *reader, size_t count, struct sta_error *err)
{
    const struct sta_plain *plain = reader->plain;
    size_t part_count = plain->pipeline->part_count;
    struct fetching fetching = {.reader = reader};
    if (!plain->shown.any) { /* keys tell everything */
        sta_plain_begin_batches(reader, 0);
        reader->row_count = count;
        return STA_OK;
    }
    struct sta_arena *memory = &fetching.memory;
    uint32_t *batch_of_part = sta_arena_array(memory, part_count, sizeof *batch_of_part);
    int64_t *parts = sta_arena_alloc(memory, count * sizeof *parts, sizeof *parts);
    int64_t *rows = sta_arena_alloc(memory, count * sizeof *rows, sizeof *rows);
    fetching.first = sta_arena_array(memory, part_count + 1, sizeof *fetching.first);
    fetching.parts = sta_arena_array(memory, part_count, sizeof *fetching.parts);
    fetching.rows = sta_arena_alloc(memory, count * sizeof *fetching.rows, sizeof *fetching.rows);
    find_places(plain, reader->records, count, parts, rows);
    size_t batches = count_batches(&fetching, parts, count, batch_of_part);
    sta_plain_begin_batches(reader, batches);
    list_rows(&fetching, parts, rows, count, batches, batch_of_part);
    struct sta_pipeline_work work = {&fetching, batches, fetch_batch};
    int rc = sta_pipeline_work(plain->pipeline, &work, &reader->budget, err);
    sta_arena_fini(memory);
    return rc;
}

/* Sorts for the first time, or all rows once the first ones are given out. */
static int sort_for(struct sta_plain_reader *reader, size_t most, struct sta_error *err)
{
    uint64_t wanted = reader->wanted != 0 ? reader->wanted : most;
    wanted =
        wanted < UINT64_MAX - reader->skip ? wanted + reader->skip + 1 : UINT64_MAX; /* does a row follow? */
    if (reader->sorter == NULL)
        return sort_rows(reader, wanted, err);
    return reader->sorted_left == 0 && !reader->whole ? sort_rows(reader, UINT64_MAX, err) : STA_OK;
}

#define KEY_ROWS 65536u

/* Takes up to @most records from the sorter. */
static int take_records(struct sta_plain_reader *reader, size_t most, size_t *taken, struct sta_error *err)
{
    const size_t words = reader->plain->layout.words;
    size_t now = 1;
    int rc = STA_OK;
    *taken = 0;
    while (rc == 0 && now > 0 && *taken < most) {
        const uint64_t *records = NULL;
        rc = sta_budget_check(&reader->budget, err);
        if (rc == 0)
            rc = sta_sorter_next(reader->sorter, most - *taken, &records, &now, err);
        if (rc != 0 || now == 0)
            break;
        if (*taken + now > reader->record_capacity) {
            const size_t capacity = STA_MAX(2 * reader->record_capacity, *taken + now);
            uint64_t *buffer = reallocarray(reader->records, capacity, words * sizeof *buffer);
            if (buffer == NULL)
                return sta_fail(err, STA_ENOMEM, "memory ran out while rows were sorted");
            reader->records = buffer;
            reader->record_capacity = capacity;
        }
        memcpy(reader->records + *taken * words, records, now * words * sizeof *records);
        *taken += now;
    }
    return rc;
}

/* Records of rows that are passed over: what those show is not read. */
static int skip_records(struct sta_plain_reader *reader, struct sta_error *err)
{
    size_t count = 1;
    int rc = STA_OK;
    while (rc == 0 && count > 0 && reader->skip > 0) {
        rc = take_records(reader, STA_MIN(STA_MIN(reader->skip, reader->sorted_left), KEY_ROWS), &count, err);
        reader->skip -= count;
        reader->sorted_left -= count;
    }
    return rc;
}

int sta_plain_next_sorted(struct sta_plain_reader *reader, size_t most, struct sta_error *err)
{
    size_t count;
    /* Many rows at once spare reading parts again; when nothing is read, few stay in the cache. */
    const uint64_t most_rows =
        reader->plain->shown.any ? reader->most_rows : STA_MIN(reader->most_rows, (size_t)KEY_ROWS);
    int rc = sort_for(reader, most, err);
    if (rc == 0)
        rc = skip_records(reader, err);
    if (rc == 0)
        rc = take_records(reader, STA_MIN(reader->sorted_left, most_rows), &count, err);
    if (rc != 0)
        return rc;
    reader->sorted_left -= count;
    return fetch_rows(reader, count, err);
}

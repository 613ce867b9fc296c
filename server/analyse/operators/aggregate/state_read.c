/* A partial state from a stream into a worker's table: some groups at a time, as if they were rows.
 * Nothing that is read is believed: it may come from another process. */
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate/aggregation.h"
#include "common/memory.h"

#define GROUPS_AT_ONCE 256u
#define MOST_TEXT ((uint32_t)1 << 26) /* bytes of one text */

/* Entries of one list, of the groups at hand. */
struct entries {
    uint32_t groups[STA_STATE_PIECE];
    uint64_t words[STA_STATE_PIECE * 2];
    uint32_t count;
};

/* A key of the groups at hand. */
struct key_column {
    struct sta_vector vector;        /* of .. */
    uint64_t values[GROUPS_AT_ONCE]; /* of the type's width */
    uint8_t missing[GROUPS_AT_ONCE];
};

struct reading {
    const struct sta_shape *shape;
    struct sta_group_worker *worker;
    struct sta_account *account;
    struct sta_dictionary *texts; /* of all streams that the aggregation reads */
    uint32_t *codes;              /* by number in the stream */
    size_t text_count, text_capacity;
    char *text;
    size_t bytes_capacity;
    struct key_column *keys;
    uint8_t *records;
    uint32_t count; /* of the groups at hand */
    struct entries *lists;
    struct sta_frame_reader reader;
};

/* ---- texts */

static int define_text(struct reading *reading)
{
    struct sta_frame_reader *reader = &reading->reader;
    const uint32_t length = sta_frame_get_u32(reader);
    if (length > MOST_TEXT)
        return sta_frame_refuse(reader, "a text has no end");
    int rc = STA_ACCOUNT_GROW(reading->account, reading->text, reading->bytes_capacity, (size_t)length + 1,
                              "the texts of a partial state", reader->err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(reading->account, reading->codes, reading->text_capacity,
                              reading->text_count + 1, "the texts of a partial state", reader->err);
    if (rc != 0)
        return reader->status = rc;
    rc = sta_frame_get(reader, reading->text, length);
    if (rc == 0)
        reading->codes[reading->text_count++] = sta_dictionary_intern(reading->texts, reading->text, length);
    return rc;
}

/* Return: the code among the aggregation's texts; 0 after a failure. */
static uint32_t get_text(struct reading *reading)
{
    const uint32_t number = sta_frame_get_u32(&reading->reader);
    if (reading->reader.status == STA_OK && number == reading->text_count)
        (void)define_text(reading);
    if (reading->reader.status == STA_OK && number >= reading->text_count)
        sta_frame_refuse(&reading->reader, "a text is not there");
    return reading->reader.status == STA_OK ? reading->codes[number] : 0;
}

static uint64_t number_among(struct reading *reading, struct sta_texts *texts, uint32_t code)
{
    return (uint64_t)sta_texts_dictionary(texts, reading->texts) << 32 | code;
}

static void get_text_of_state(void *self, struct sta_texts *texts, uint64_t *number)
{
    struct reading *reading = self;
    *number = number_among(reading, texts, get_text(reading));
}

/* ---- what is read goes into the table */

/* Brings the groups at hand into the worker's table; the last one, should it go on, stays with states in
 * which nothing was seen. */
static int unite(struct reading *reading, struct sta_error *err)
{
    const struct sta_shape *shape = reading->shape;
    struct sta_vector keys[STA_MOST_KEY_FIELDS];
    const struct sta_aggregation_input batch = {.count = reading->count, .keys = keys};
    uint32_t most = batch.count;
    if (batch.count == 0)
        return STA_OK;
    for (size_t k = 0; k < shape->key_count; k++)
        keys[k] = reading->keys[k].vector;
    sta_group_worker_see(reading->worker, &batch);
    for (size_t l = 0; l < shape->list_count; l++)
        most = STA_MAX(most, reading->lists[l].count);
    int rc = sta_group_worker_unite(reading->worker, &batch, reading->records, most, err);
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++) {
        struct entries *list = &reading->lists[l];
        struct sta_list_log *log = &reading->worker->table.logs[l];
        for (uint32_t i = 0; i < list->count; i++)
            list->groups[i] = reading->worker->groups[list->groups[i]];
        rc = sta_list_log_reserve(log, list->count, err);
        if (rc == 0)
            sta_list_log_add_words(log, list->groups, list->words, list->count);
        list->count = 0;
    }
    return rc;
}

static void *place_of(struct key_column *column, uint32_t group)
{
    return (char *)column->values + group * sta_vector_width(column->vector.type);
}

/* The last group alone stays. */
static void keep_last(struct reading *reading)
{
    const uint32_t last = reading->count - 1;
    for (size_t k = 0; k < reading->shape->key_count; k++) {
        struct key_column *column = &reading->keys[k];
        memcpy(column->values, place_of(column, last), sta_vector_width(column->vector.type));
        column->missing[0] = column->missing[last];
    }
    memset(reading->records, 0, reading->shape->record);
    reading->count = 1;
}

/* ---- one group */

/* A value as a vector has it. */
static uint64_t get_value(struct reading *reading, enum sta_type type)
{
    if (type == STA_TYPE_TEXT)
        return get_text(reading);
    const uint64_t word = sta_frame_get_u64(&reading->reader);
    const uint64_t value = type == STA_TYPE_FLOAT ? sta_bits_of(sta_unorder_number(word)) : word;
    if (type == STA_TYPE_NULL || !sta_agg_is_value(type, value))
        sta_frame_refuse(&reading->reader, "a key has no such value");
    return value;
}

static void get_keys(struct reading *reading)
{
    for (size_t k = 0; k < reading->shape->key_count; k++) {
        struct key_column *column = &reading->keys[k];
        const enum sta_type type = column->vector.type;
        uint64_t value = type == STA_TYPE_TEXT ? STA_NO_CODE : 0;
        uint8_t present;
        (void)sta_frame_get(&reading->reader, &present, 1);
        if (!present && !reading->shape->keep_missing)
            sta_frame_refuse(&reading->reader, "a key is missing");
        else if (present)
            value = get_value(reading, type);
        memcpy(place_of(column, reading->count), &value, sta_vector_width(type));
        column->missing[reading->count] = !present;
    }
}

static void get_record(struct reading *reading)
{
    const struct sta_shape *shape = reading->shape;
    const struct sta_text_visitor visitor = {reading, get_text_of_state};
    uint8_t *record = reading->records + reading->count * shape->record;
    (void)sta_frame_get(&reading->reader, record, shape->record);
    for (size_t f = 0; f < shape->call_count; f++) {
        const struct sta_agg_call *call = &shape->calls[f];
        if (call->function->is_sound != NULL && !call->function->is_sound(call, record + call->offset))
            sta_frame_refuse(&reading->reader, "a state holds no such value");
    }
    if (reading->reader.status == STA_OK)
        sta_state_visit_texts(shape, record, &visitor);
}

static bool is_entry(const struct sta_list_shape *list, uint64_t word)
{
    if (list->kind == STA_LIST_TERMS)
        return sta_exact_is_term(word);
    return sta_agg_is_value(list->type,
                            list->type == STA_TYPE_FLOAT ? sta_bits_of(sta_unorder_number(word)) : word);
}

static void get_entries(struct reading *reading, size_t number, uint32_t count)
{
    const struct sta_list_shape *list = &reading->shape->lists[number];
    struct entries *entries = &reading->lists[number];
    const unsigned width = sta_list_width(list);
    uint64_t *words = &entries->words[entries->count * width];
    if (list->texts == NULL)
        (void)sta_frame_get(&reading->reader, words, count * width * sizeof *words);
    for (uint32_t i = 0; i < count && reading->reader.status == STA_OK; i++, words += width) {
        if (list->texts != NULL)
            *words = number_among(reading, list->texts, get_text(reading));
        else if (!is_entry(list, *words))
            sta_frame_refuse(&reading->reader, "a list holds no such value");
        entries->groups[entries->count++] = reading->count - 1;
    }
}

static int get_list(struct reading *reading, size_t number, struct sta_error *err)
{
    uint32_t count;
    while ((count = sta_frame_get_u32(&reading->reader)) > 0) {
        if (count > STA_STATE_PIECE)
            return sta_frame_refuse(&reading->reader, "a list has no end");
        if (reading->lists[number].count + count > STA_STATE_PIECE) {
            int rc = unite(reading, err);
            if (rc != 0)
                return rc;
            keep_last(reading);
        }
        get_entries(reading, number, count);
        if (reading->reader.status != STA_OK)
            break;
    }
    return reading->reader.status;
}

static int get_group(struct reading *reading, struct sta_error *err)
{
    int rc = reading->count == GROUPS_AT_ONCE ? unite(reading, err) : STA_OK;
    if (rc != 0)
        return rc;
    if (reading->count == GROUPS_AT_ONCE)
        reading->count = 0;
    get_keys(reading);
    get_record(reading);
    rc = reading->reader.status;
    reading->count++;
    for (size_t l = 0; rc == 0 && l < reading->shape->list_count; l++)
        rc = get_list(reading, l, err);
    return rc;
}

/* ---- all of it */

/* The queries must be the same. */
static int get_head(struct reading *reading)
{
    struct sta_buffer own;
    sta_buffer_init(&own);
    sta_state_put_head(reading->shape, &own);
    char *head = sta_alloc(own.size);
    (void)sta_frame_get(&reading->reader, head, own.size);
    const bool same = memcmp(head, own.data, own.size) == 0;
    sta_buffer_fini(&own);
    free(head);
    return same ? reading->reader.status : sta_frame_refuse(&reading->reader, "it is that of another query");
}

static void init_buffers(struct reading *reading)
{
    const struct sta_shape *shape = reading->shape;
    reading->keys = sta_alloc_array(shape->key_count + 1, sizeof *reading->keys);
    for (size_t k = 0; k < shape->key_count; k++) {
        struct key_column *column = &reading->keys[k];
        column->vector = (struct sta_vector){.type = shape->key_types[k], .missing = column->missing};
        sta_vector_point(&column->vector, column->values);
        if (column->vector.type == STA_TYPE_TEXT) {
            column->vector.texts = reading->texts;
            column->vector.missing = NULL;
        }
    }
    reading->records = sta_alloc_array(GROUPS_AT_ONCE, shape->record);
    reading->lists = sta_alloc_array(shape->list_count + 1, sizeof *reading->lists);
}

static void free_buffers(struct reading *reading)
{
    free(reading->keys);
    free(reading->records);
    free(reading->lists);
    sta_account_free(reading->account, reading->codes);
    sta_account_free(reading->account, reading->text);
}

int sta_aggregation_deserialize(struct sta_aggregation *grouping, struct sta_cursor *from,
                                struct sta_error *err)
{
    struct reading *reading = sta_alloc(sizeof *reading);
    if (grouping->read_texts == NULL)
        grouping->read_texts = sta_dictionary_create_in(&grouping->texts);
    reading->shape = &grouping->shape;
    reading->worker = grouping->workers[0];
    reading->account = &grouping->texts;
    reading->texts = grouping->read_texts;
    sta_frame_reader_init(&reading->reader, from, err);
    init_buffers(reading);
    uint8_t more = 0;
    int rc = get_head(reading);
    for (size_t groups = 0; rc == 0; groups++) {
        rc = sta_frame_get(&reading->reader, &more, 1);
        if (rc != 0 || more == 0)
            break;
        rc = sta_budget_check_step(&grouping->budget, groups, err);
        if (rc == 0)
            rc = get_group(reading, err);
    }
    const uint64_t rows = sta_frame_get_u64(&reading->reader);
    rc = rc == 0 ? reading->reader.status : rc;
    if (rc == 0)
        rc = unite(reading, err);
    reading->worker->rows += rc == 0 ? rows : 0;
    free_buffers(reading);
    free(reading);
    return rc;
}

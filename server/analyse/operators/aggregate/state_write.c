/* A partial state to a stream: groups one after another, texts where they first occur.
 *
 * FORMAT, in frames (frames.h).  Magic and version; the keys and aggregates, which must be those of who reads
 * it; then for each group a byte 1, its keys (a byte: present or not; INT as it is, FLOAT as bits that order
 * like it, BOOL 0 or 1, or a text), its states, the texts that these hold, and the values of each list (in
 * pieces: u32 how many, then as many entries; none at the end); then a byte 0 and how many rows it is made
 * of.  A text is a u32, its number in the stream; the first time a number occurs, which is that of the texts
 * before it, u32 length and the bytes follow.  Groups of several tables are not united: who reads them does
 * that. */
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate/cursor.h"
#include "analyse/operators/aggregate/aggregation.h"
#include "common/memory.h"

#define MAGIC UINT64_C(0x3152474753415453) /* how a stream begins: "STASGGR1", last the version */
#define RUN_BUFFER ((size_t)64 << 10)
#define IN_STREAM (UINT64_C(1) << 63) /* set in a number of a rank: the rest is the text's in the stream */

struct writing {
    const struct sta_shape *shape;
    const struct sta_budget *budget;
    const struct sta_group_order *order;
    struct sta_dictionary *texts; /* by number in the stream */
    uint8_t *record;              /* of the present group */
    uint64_t groups;
    struct sta_frame_writer writer;
};

void sta_state_put_head(const struct sta_shape *shape, struct sta_buffer *head)
{
    sta_put_u64(head, MAGIC);
    sta_put_u32(head, (uint32_t)shape->key_count);
    sta_put_u32(head, shape->keep_missing);
    for (size_t k = 0; k < shape->key_count; k++)
        sta_put_u32(head, shape->key_types[k]);
    sta_put_u32(head, (uint32_t)shape->call_count);
    sta_put_u32(head, (uint32_t)shape->record);
    for (size_t f = 0; f < shape->call_count; f++) {
        const struct sta_primitive *primitive = &shape->calls[f].primitive;
        sta_put_u32(head, primitive->aggregate);
        sta_put_u32(head, primitive->types[0]);
        sta_put_u32(head, primitive->types[1]);
        sta_put_u32(head, primitive->first_argument);
        sta_put_u64(head, sta_bits_of(primitive->quantile));
    }
}

/* ---- texts */

void sta_state_visit_texts(const struct sta_shape *shape, uint8_t *record,
                           const struct sta_text_visitor *visitor)
{
    for (size_t f = 0; f < shape->call_count; f++) {
        const struct sta_agg_call *call = &shape->calls[f];
        if (call->function->texts != NULL)
            call->function->texts(call, record + call->offset, visitor);
    }
}

/* Return: its number in the stream. */
static uint32_t put_text(struct writing *writing, struct sta_text text)
{
    const uint32_t known = sta_dictionary_count(writing->texts);
    const uint32_t number = sta_dictionary_intern(writing->texts, text.bytes, text.length);
    sta_frame_put_u32(&writing->writer, number);
    if (number == known) {
        sta_frame_put_u32(&writing->writer, text.length);
        sta_frame_put(&writing->writer, text.bytes, text.length);
    }
    return number;
}

/* Of a key or a list: each text is looked up once. */
static void put_ranked_text(struct writing *writing, const struct sta_ranks *ranks, uint64_t rank)
{
    uint64_t *number = &ranks->numbers[rank];
    if (*number & IN_STREAM)
        sta_frame_put_u32(&writing->writer, (uint32_t)*number);
    else
        *number = IN_STREAM | put_text(writing, sta_texts_get(ranks->texts, *number));
}

static void put_text_of_state(void *self, struct sta_texts *texts, uint64_t *number)
{
    put_text(self, sta_texts_get(texts, *number));
}

/* Numbers of this process mean nothing to another. */
static void clear_text_of_state(void *self, struct sta_texts *texts, uint64_t *number)
{
    *number = 0;
}

/* ---- groups */

static void put_keys(struct writing *writing, const uint64_t *words)
{
    for (size_t k = 0; k < writing->shape->key_count; k++) {
        const struct sta_key_field *field = &writing->order->layout.fields[k];
        uint64_t value;
        const uint8_t present = sta_key_get(field, words, &value);
        sta_frame_put(&writing->writer, &present, 1);
        if (present && field->type == STA_TYPE_TEXT)
            put_ranked_text(writing, &writing->order->key_ranks[k], value);
        else if (present)
            sta_frame_put_u64(&writing->writer, value);
    }
}

static void put_record(struct writing *writing, const uint8_t *record)
{
    const size_t size = writing->shape->record;
    const struct sta_text_visitor clear = {writing, clear_text_of_state}, put = {writing, put_text_of_state};
    memcpy(writing->record, record, size);
    sta_state_visit_texts(writing->shape, writing->record, &clear);
    sta_frame_put(&writing->writer, writing->record, size);
    memcpy(writing->record, record, size);
    sta_state_visit_texts(writing->shape, writing->record, &put);
}

static void put_words(struct writing *writing, size_t number, const uint64_t *words, size_t count)
{
    const struct sta_list_shape *list = &writing->shape->lists[number];
    for (size_t first = 0; first < count; first += STA_STATE_PIECE) {
        const size_t part = STA_MIN(count - first, (size_t)STA_STATE_PIECE);
        sta_frame_put_u32(&writing->writer, (uint32_t)part);
        if (list->texts == NULL)
            sta_frame_put(&writing->writer, words + first * sta_list_width(list),
                          part * sta_list_width(list) * sizeof *words);
        for (size_t i = first; list->texts != NULL && i < first + part; i++)
            put_ranked_text(writing, &writing->order->list_ranks[number], words[i]);
    }
}

static int put_group(struct writing *writing, struct sta_group_cursor *cursor, const uint64_t *words,
                     struct sta_error *err)
{
    static const uint8_t group = 1;
    int rc = sta_budget_check_step(writing->budget, writing->groups++, err);
    sta_frame_put(&writing->writer, &group, 1);
    put_keys(writing, words);
    put_record(writing, cursor->record);
    for (size_t l = 0; rc == 0 && l < writing->shape->list_count; l++) {
        struct sta_list_view *view = &cursor->lists[l];
        put_words(writing, l, view->words, view->count);
        while (rc == 0 && view->later > 0) {
            rc = sta_group_cursor_more(cursor, l, err);
            put_words(writing, l, view->words, rc == 0 ? view->count : 0);
        }
        sta_frame_put_u32(&writing->writer, 0);
    }
    return rc != 0 ? rc : writing->writer.status;
}

static int put_groups(struct writing *writing, struct sta_group_cursor *cursor, struct sta_error *err)
{
    int rc = sta_group_cursor_fill(cursor, err);
    while (rc == 0 && cursor->taken < cursor->at_hand) {
        rc = sta_group_cursor_go(cursor, cursor->taken, err);
        if (rc == 0)
            rc = put_group(writing, cursor, sta_group_cursor_words(cursor, cursor->taken), err);
        if (rc == 0 && ++cursor->taken == cursor->at_hand)
            rc = sta_group_cursor_fill(cursor, err);
    }
    sta_group_cursor_fini(cursor);
    return rc;
}

static int put_table(struct writing *writing, struct sta_group_table *table, struct sta_error *err)
{
    struct sta_sorted_table sorted = {0};
    struct sta_group_cursor cursor;
    int rc = sta_sorted_table_init(&sorted, table, writing->order, err);
    if (rc == 0) {
        sta_group_cursor_init_table(&cursor, writing->order, &sorted, 0, sorted.count);
        rc = put_groups(writing, &cursor, err);
    }
    sta_sorted_table_fini(&sorted);
    return rc;
}

static int put_run(struct writing *writing, const struct sta_group_run *run, struct sta_error *err)
{
    struct sta_group_cursor cursor;
    sta_group_cursor_init_run(&cursor, writing->order, run, RUN_BUFFER);
    return put_groups(writing, &cursor, err);
}

/* ---- all of it */

/* What it takes to write, send, read and unite them; measured. */
#define GROUP_NS 190
#define ENTRY_NS 16
#define LITTLE_NS UINT64_C(10000000) /* is always spent */

/* What is on disk is not counted. */
static int check_worth(struct sta_group_table *const *tables, size_t count, uint64_t reading_ns,
                       struct sta_error *err)
{
    uint64_t groups = 0, entries = 0;
    for (size_t t = 0; t < count; t++) {
        groups += tables[t]->count;
        for (size_t l = 0; l < tables[t]->shape->list_count; l++)
            entries += tables[t]->logs[l].count;
    }
    const uint64_t sending_ns = groups * GROUP_NS + entries * ENTRY_NS;
    if (sending_ns <= STA_MAX(reading_ns, LITTLE_NS))
        return STA_OK;
    return sta_fail(err, STA_EOUTDATED, "%llu groups with %llu values are not worth sending",
                    (unsigned long long)groups, (unsigned long long)entries);
}

static void writing_init(struct writing *writing, struct sta_aggregation *grouping,
                         const struct sta_byte_sink *sink, struct sta_error *err)
{
    const struct sta_shape *shape = &grouping->shape;
    writing->shape = shape;
    writing->budget = &grouping->budget;
    writing->order = &grouping->order;
    writing->texts = sta_dictionary_create_in(shape->texts);
    writing->record = sta_alloc(shape->record);
    sta_frame_writer_init(&writing->writer, sink, err);
}

static void writing_fini(struct writing *writing)
{
    sta_dictionary_destroy(writing->texts);
    free(writing->record);
}

static int put_all(struct writing *writing, const struct sta_aggregation *grouping,
                   struct sta_group_table **tables, size_t count, struct sta_error *err)
{
    static const uint8_t end = 0;
    struct sta_buffer head;
    uint64_t rows = 0;
    int rc = STA_OK;
    sta_buffer_init(&head);
    sta_state_put_head(writing->shape, &head);
    sta_frame_put(&writing->writer, head.data, head.size);
    sta_buffer_fini(&head);
    for (size_t t = 0; rc == 0 && t < count; t++)
        rc = put_table(writing, tables[t], err);
    for (unsigned w = 0; w < grouping->worker_count; w++) {
        for (size_t r = 0; rc == 0 && r < grouping->workers[w]->run_count; r++)
            rc = put_run(writing, grouping->workers[w]->runs[r], err);
        rows += grouping->workers[w]->rows;
    }
    if (rc == 0)
        rc = sta_account_failure(writing->shape->texts, err);
    sta_frame_put(&writing->writer, &end, 1);
    sta_frame_put_u64(&writing->writer, rows);
    return rc == 0 ? sta_frame_writer_finish(&writing->writer) : rc;
}

int sta_aggregation_serialize(struct sta_aggregation *grouping, uint64_t reading_ns,
                              const struct sta_byte_sink *sink, struct sta_error *err)
{
    size_t count;
    struct sta_group_table **tables = sta_group_tables(grouping, &count);
    int rc = check_worth(tables, count, reading_ns, err);
    if (rc == 0)
        rc = sta_group_make_order(grouping, tables, count, err);
    if (rc == 0) {
        struct writing *writing = sta_alloc(sizeof *writing);
        grouping->order.sorts_nothing = true;
        writing_init(writing, grouping, sink, err);
        rc = put_all(writing, grouping, tables, count, err);
        writing_fini(writing);
        free(writing);
    }
    free(tables);
    return rc;
}

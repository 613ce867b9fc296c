/* Partial states of another process: refused, or united and finished; never a crash or a hang.
 *
 * Checksums would stop nearly every input at the door, so the target puts the right ones in, as someone would
 * who means harm. */
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate.h"
#include "common/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum sta_type keys[] = {STA_TYPE_TEXT, STA_TYPE_INT, STA_TYPE_FLOAT, STA_TYPE_BOOL};
/* Arguments: an integer, a number, a text, two ends of a span. */
static const struct sta_primitive aggregates[] = {
    {.aggregate = STA_AGGREGATE_ROWS},
    {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_INT}},
    {.aggregate = STA_AGGREGATE_VAR, .types = {STA_TYPE_INT}},
    {.aggregate = STA_AGGREGATE_SUM, .types = {STA_TYPE_FLOAT}, .first_argument = 1},
    {.aggregate = STA_AGGREGATE_STD, .types = {STA_TYPE_FLOAT}, .first_argument = 1},
    {.aggregate = STA_AGGREGATE_MAX, .types = {STA_TYPE_FLOAT}, .first_argument = 1},
    {.aggregate = STA_AGGREGATE_MEDIAN, .types = {STA_TYPE_FLOAT}, .first_argument = 1},
    {.aggregate = STA_AGGREGATE_MIN, .types = {STA_TYPE_TEXT}, .first_argument = 2},
    {.aggregate = STA_AGGREGATE_FIRST, .types = {STA_TYPE_TEXT}, .first_argument = 2},
    {.aggregate = STA_AGGREGATE_UNIQUE, .types = {STA_TYPE_TEXT}, .first_argument = 2},
    {.aggregate = STA_AGGREGATE_ARGMAX, .types = {STA_TYPE_TEXT, STA_TYPE_INT}, .first_argument = 2},
    {.aggregate = STA_AGGREGATE_NUNIQUE, .types = {STA_TYPE_INT}},
    {.aggregate = STA_AGGREGATE_BUSY, .types = {STA_TYPE_INT, STA_TYPE_INT}, .first_argument = 3}};

static const struct sta_budget budget = {.workers = 1, .memory = (size_t)64 << 20};

static struct sta_aggregation *create(void)
{
    const struct sta_aggregation_spec spec = {.keys = keys,
                                              .key_count = STA_COUNT_OF(keys),
                                              .keep_missing = true,
                                              .primitives = aggregates,
                                              .primitive_count = STA_COUNT_OF(aggregates)};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_aggregation *grouping;
    STA_ASSERT(sta_aggregation_create(&spec, &budget, NULL, &grouping, &err) == 0);
    return grouping;
}

/* ---- a good state, which inputs change */

struct bytes {
    uint8_t *data;
    size_t size;
};

static int append(void *self, const void *bytes, size_t size, struct sta_error *err)
{
    struct bytes *to = self;
    to->data = sta_realloc_array(to->data, to->size + size + 1, 1);
    memcpy(to->data + to->size, bytes, size);
    to->size += size;
    return 0;
}

static void make_good(struct bytes *good)
{
    enum { ROWS = 12 };
    static const char *const names[] = {"read", "write", ""};
    int64_t integers[ROWS], starts[ROWS], ends[ROWS];
    double numbers[ROWS];
    uint8_t bools[ROWS], missing[ROWS];
    uint32_t codes[ROWS];
    uint64_t place[ROWS];
    struct sta_dictionary *texts = sta_dictionary_create();
    for (unsigned i = 0; i < ROWS; i++) {
        integers[i] = (int64_t)i * 1000 - 3000;
        starts[i] = i * 10;
        ends[i] = i * 10 + 15;
        numbers[i] = i % 4 == 0 ? 1e300 : 0.1 * i;
        bools[i] = i % 2;
        missing[i] = i == 5;
        place[i] = i;
        codes[i] = i == 7 ? STA_NO_CODE : sta_dictionary_intern(texts, names[i % 3], strlen(names[i % 3]));
    }
    const struct sta_vector integer = {.type = STA_TYPE_INT, .integers = integers, .missing = missing};
    const struct sta_vector number = {.type = STA_TYPE_FLOAT, .numbers = numbers};
    const struct sta_vector text = {.type = STA_TYPE_TEXT, .codes = codes, .texts = texts};
    const struct sta_vector key[] = {text, integer, number, {.type = STA_TYPE_BOOL, .bools = bools}};
    const struct sta_vector arguments[] = {integer,
                                           number,
                                           text,
                                           {.type = STA_TYPE_INT, .integers = starts},
                                           {.type = STA_TYPE_INT, .integers = ends}};
    const struct sta_aggregation_input rows = {
        .count = ROWS, .keys = key, .arguments = arguments, .at = starts, .place = place};
    struct sta_aggregation *grouping = create();
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_byte_sink sink = {good, append};
    STA_ASSERT(sta_aggregation_consume(grouping, 0, &rows, &err) == 0);
    STA_ASSERT(sta_aggregation_serialize(grouping, UINT64_MAX, &sink, &err) == 0);
    sta_aggregation_destroy(grouping);
    sta_dictionary_destroy(texts);
}

/* ---- inputs */

/* Headers that fit what follows them, as far as there is space. */
static void seal(struct bytes *bytes)
{
    uint64_t number = 0;
    for (size_t at = 0; at + sizeof(struct sta_frame_header) <= bytes->size; number++) {
        const size_t payload = at + sizeof(struct sta_frame_header);
        const uint32_t size = (uint32_t)STA_MIN(bytes->size - payload, (size_t)STA_FRAME_PAYLOAD);
        const struct sta_frame_header header = sta_frame_header_of(number, bytes->data + payload, size);
        memcpy(bytes->data + at, &header, sizeof header);
        at = payload + size;
    }
}

static int take(void *self, const struct sta_vector *key, const struct sta_vector *values, uint32_t rows,
                struct sta_error *err)
{
    for (size_t v = 0; v < STA_COUNT_OF(aggregates); v++)
        for (uint32_t i = 0; i < rows; i++)
            if ((values[v].type == STA_TYPE_TEXT || values[v].type == STA_TYPE_LIST) &&
                values[v].codes[i] != STA_NO_CODE)
                *(size_t *)self += sta_dictionary_text(values[v].texts, values[v].codes[i]).length;
    return 0;
}

static void read_state(struct bytes *bytes)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_aggregation *grouping = create();
    struct sta_cursor from = {.at = (const unsigned char *)bytes->data,
                              .end = (const unsigned char *)bytes->data + bytes->size};
    size_t length = 0;
    const struct sta_aggregation_output output = {&length, take};
    int rc = sta_aggregation_deserialize(grouping, &from, &err);
    if (rc == 0)
        rc = sta_aggregation_finish(grouping, &output, &err);
    STA_ASSERT(rc == 0 || err.text[0] != 0);
    sta_aggregation_destroy(grouping);
}

/* The first byte: 0 takes the rest as a whole stream, 1 as changes of the good one, three bytes each: where,
 * and the byte that is put there. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bytes good;
    struct bytes bytes = {0};
    struct sta_error err = STA_ERROR_INIT;
    if (good.data == NULL)
        make_good(&good);
    if (size == 0)
        return 0;
    const bool changes = data[0] % 2 == 1;
    (void)append(&bytes, changes ? good.data : data + 1, changes ? good.size : size - 1, &err);
    for (size_t i = 1; changes && i + 3 <= size; i += 3)
        bytes.data[(data[i] | (size_t)data[i + 1] << 8) % bytes.size] = data[i + 2];
    seal(&bytes);
    read_state(&bytes);
    free(bytes.data);
    return 0;
}

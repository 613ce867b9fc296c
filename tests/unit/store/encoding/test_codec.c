/* Streams: whatever integers go in come out, by every transform and layout. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/encoding/bitpack.h"
#include "store/encoding/codec.h"
#include "store/encoding/distinct.h"
#include "store/encoding/kernels.h"

#define BASE 77 /* of packed words */

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ state >> 29;
}

struct fixture {
    struct sta_encoder *encoder;
    struct sta_decoder *decoder;
    struct sta_buffer bytes;
    int64_t *in, *out;
    uint32_t *narrow;
    uint16_t *name, *thread;
    struct sta_both_keys keys;
};

static void fixture_init(struct fixture *fixture)
{
    *fixture = (struct fixture){.encoder = sta_encoder_create(STA_EFFORT_FAST),
                                .decoder = sta_decoder_create(),
                                .in = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t)),
                                .out = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t)),
                                .narrow = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint32_t)),
                                .name = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint16_t)),
                                .thread = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint16_t))};
    for (uint32_t i = 0; i < STA_ROW_GROUP_ROWS; i++) {
        fixture->name[i] = (uint16_t)(random_bits() % 12);
        fixture->thread[i] = (uint16_t)(random_bits() % 40);
    }
    fixture->keys = (struct sta_both_keys){.name = {.index = fixture->name, .count = 12},
                                           .thread = {.index = fixture->thread, .count = 40}};
}

static void fixture_fini(struct fixture *fixture)
{
    sta_encoder_destroy(fixture->encoder);
    sta_decoder_destroy(fixture->decoder);
    sta_buffer_fini(&fixture->bytes);
    free(fixture->in);
    free(fixture->out);
    free(fixture->narrow);
    free(fixture->name);
    free(fixture->thread);
}

static void encode(struct fixture *fixture, struct sta_encoding_plan *plan, uint32_t count)
{
    struct sta_values values = sta_values_of(fixture->in, count, fixture->narrow);
    sta_buffer_clear(&fixture->bytes);
    sta_encode_stream(fixture->encoder, plan, &values, &fixture->keys, &fixture->bytes);
}

static const struct sta_distinct *encode_keys(struct fixture *fixture, struct sta_encoding_plan *plan)
{
    struct sta_values values = sta_values_of(fixture->in, STA_ROW_GROUP_ROWS, fixture->narrow);
    sta_buffer_clear(&fixture->bytes);
    return sta_encode_key_stream(fixture->encoder, plan, &values, &fixture->bytes);
}

/* Return: size of the stream; its transform in *transform. */
static size_t there_and_back(struct fixture *fixture, uint32_t count, unsigned *transform)
{
    struct sta_encoding_plan plan = {0};
    encode(fixture, &plan, count);
    const unsigned char *data = (const unsigned char *)fixture->bytes.data;
    struct sta_cursor in = {.at = data, .end = data + fixture->bytes.size};
    memset(fixture->out, 0xa5, STA_ROW_GROUP_ROWS * sizeof *fixture->out);
    cr_assert(sta_decode_stream(fixture->decoder, &in, count, &fixture->keys, fixture->out));
    cr_assert_eq(in.at, in.end);
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(fixture->in[i], fixture->out[i], "value %u of %u", i, count);
    *transform = data[0];
    return fixture->bytes.size;
}

static const uint32_t counts[] = {
    1, 2, 7, 8, 9, 511, 512, 513, 1000, 4096, STA_ROW_GROUP_ROWS - 1, STA_ROW_GROUP_ROWS};

/* X(name, value of row i, transform expected for a full row group, largest size for it) */
#define CASES(X)                                                                                             \
    X(one_value_takes_no_space, -77, STA_TRANSFORM_CONSTANT, 12)                                             \
    X(extremes, i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : (int64_t)random_bits(), -1, 140000)        \
    X(small_range_of_large_numbers, INT64_MAX - (int64_t)(random_bits() % 200), STA_TRANSFORM_PLAIN, 16600)  \
    X(multiples_lose_their_zeros, (int64_t)(random_bits() % 256) << 40, -1, 17200)                           \
    X(rising_times, (int64_t)i * 1000 + (int64_t)(random_bits() % 8), STA_TRANSFORM_DELTA, 9000)             \
    X(just_close_enough_for_32_bits,                                                                         \
      i == 0  ? 0                                                                                            \
      : i % 2 ? -(1 << 30) + (int64_t)i                                                                      \
              : (1 << 30) - 1 - (int64_t)i,                                                                  \
      -1, 66100)                                                                                             \
    X(just_too_far_for_32_bits, i % 3 ? INT64_C(1) << 30 : -(INT64_C(1) << 30) - 1 - i % 2, -1, 17200)       \
    X(few_far_values, (int64_t)(random_bits() % 4) * INT64_C(0x1234567890123), STA_TRANSFORM_DICTIONARY,     \
      4300)                                                                                                  \
    X(few_large_values, i % 50 == 7 ? (int64_t)(random_bits() % 1000000) : (int64_t)(random_bits() % 128),   \
      STA_TRANSFORM_PLAIN, 17000)                                                                            \
    X(few_values_of_64_bits, i % 97 == 7 ? (int64_t)(random_bits() >> 1) : (int64_t)(random_bits() % 4000),  \
      STA_TRANSFORM_PLAIN, 27000)                                                                            \
    X(follows_the_name, fixture.name[i] * INT64_C(7919) - 5, STA_TRANSFORM_BY_NAME, 60)                      \
    X(counts_up_in_each_thread, fixture.thread[i] * INT64_C(1000000) + i / 4000, STA_TRANSFORM_BY_THREAD,    \
      800)                                                                                                   \
    X(noise, (int64_t)random_bits(), STA_TRANSFORM_PLAIN, 131700)

#define X(test, value, expected, largest)                                                                    \
    Test(codec, test)                                                                                        \
    {                                                                                                        \
        struct fixture fixture;                                                                              \
        unsigned transform;                                                                                  \
        fixture_init(&fixture);                                                                              \
        for (size_t c = 0; c < STA_COUNT_OF(counts); c++) {                                                  \
            for (uint32_t i = 0; i < counts[c]; i++)                                                         \
                fixture.in[i] = value;                                                                       \
            size_t size = there_and_back(&fixture, counts[c], &transform);                                   \
            if (counts[c] < STA_ROW_GROUP_ROWS)                                                              \
                continue;                                                                                    \
            cr_assert_leq(size, largest, "%zu bytes", size);                                                 \
            cr_assert(expected < 0 || (int)transform == expected, "transform %u", transform);                \
        }                                                                                                    \
        fixture_fini(&fixture);                                                                              \
    }
CASES(X)
#undef X

Test(codec, a_plan_that_stops_fitting_is_given_up)
{
    struct fixture fixture;
    struct sta_encoding_plan plan = {0};
    fixture_init(&fixture);
    for (int row_group = 0; row_group < 20; row_group++) {
        for (uint32_t i = 0; i < STA_ROW_GROUP_ROWS; i++)
            fixture.in[i] = row_group % 3 == 2 ? (int64_t)random_bits() : fixture.name[i];
        encode(&fixture, &plan, STA_ROW_GROUP_ROWS);
        const unsigned char *data = (const unsigned char *)fixture.bytes.data;
        struct sta_cursor in = {.at = data, .end = data + fixture.bytes.size};
        cr_assert(sta_decode_stream(fixture.decoder, &in, STA_ROW_GROUP_ROWS, &fixture.keys, fixture.out));
        cr_assert_arr_eq(fixture.in, fixture.out, STA_ROW_GROUP_ROWS * sizeof(int64_t));
    }
    fixture_fini(&fixture);
}

Test(codec, keys_come_back_as_places_in_the_dictionary)
{
    struct fixture fixture;
    struct sta_encoding_plan plan = {0};
    const struct sta_distinct *keys;
    uint16_t *index = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *index),
             *made = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *made);
    int64_t *values = sta_alloc_array(STA_KEYS_MAX, sizeof *values);
    uint32_t count;
    fixture_init(&fixture);
    for (uint32_t distinct = 1; distinct < STA_KEYS_LIMIT; distinct = distinct * 3 + 1) {
        for (uint32_t i = 0; i < STA_ROW_GROUP_ROWS; i++)
            fixture.in[i] = 10 + (int64_t)(random_bits() % distinct) * 3;
        keys = encode_keys(&fixture, &plan);
        cr_assert_not_null(keys);
        memcpy(made, keys->index, STA_ROW_GROUP_ROWS * sizeof *made);
        const unsigned char *data = (const unsigned char *)fixture.bytes.data;
        struct sta_cursor in = {.at = data, .end = data + fixture.bytes.size};
        cr_assert(sta_decode_key_stream(fixture.decoder, &in, STA_ROW_GROUP_ROWS, index, values, &count));
        cr_assert_eq(count, keys->count);
        for (uint32_t i = 0; i < STA_ROW_GROUP_ROWS; i++)
            cr_assert_eq(values[index[i]], fixture.in[i]);
        cr_assert_arr_eq(index, made, STA_ROW_GROUP_ROWS * sizeof *index);
    }
    for (uint32_t i = 0; i < STA_ROW_GROUP_ROWS; i++)
        fixture.in[i] = i;
    keys = encode_keys(&fixture, &plan);
    cr_assert_null(keys, "more names than the limit are no keys");
    free(index);
    free(made);
    free(values);
    fixture_fini(&fixture);
}

static void check_width(const struct sta_word_kernels *kernels, const void *in, const uint64_t *expected,
                        uint32_t count, unsigned width)
{
    unsigned char bytes[STA_PACK_FRAME * 8];
    uint64_t out[STA_PACK_FRAME];
    kernels->pack(in, count, BASE, width, bytes);
    sta_unpack(bytes, count, width, out);
    cr_assert_arr_eq(expected, out, count * sizeof *out, "width %u", width);
}

Test(codec, values_that_are_near_only_across_the_end_of_64_bits_have_the_whole_range)
{
    const int64_t values[] = {INT64_MAX - 1, INT64_MIN, INT64_MAX};
    for (uint32_t first = 0; first < 2; first++) {
        uint32_t narrow[STA_ROW_GROUP_ROWS];
        struct sta_values of = sta_values_of(values + first, 3 - first, narrow);
        cr_expect_eq(of.range.min, INT64_MIN);
        cr_expect_eq(of.range.max, INT64_MAX);
    }
}

Test(codec, every_width_packs_and_unpacks)
{
    uint64_t expected[STA_PACK_FRAME], wide[STA_PACK_FRAME];
    uint32_t narrow[STA_PACK_FRAME];
    for (unsigned width = 1; width <= 64; width++)
        for (uint32_t count = 1; count <= STA_PACK_FRAME; count = count * 2 + 1) {
            for (uint32_t i = 0; i < count; i++) {
                expected[i] = random_bits() >> (64 - width);
                wide[i] = expected[i] + BASE;
                narrow[i] = (uint32_t)wide[i];
            }
            check_width(sta_kernels()->words64, wide, expected, count, width);
            if (width <= 32)
                check_width(sta_kernels()->words32, narrow, expected, count, width);
        }
}

Test(codec, damaged_streams_are_refused_or_decoded_but_never_more)
{
    struct fixture fixture;
    unsigned transform;
    fixture_init(&fixture);
    for (unsigned round = 0; round < 3000; round++) {
        uint32_t count = 1 + (uint32_t)(random_bits() % 2000);
        for (uint32_t i = 0; i < count; i++)
            fixture.in[i] = round % 3 == 0   ? (int64_t)i * 64
                            : round % 3 == 1 ? (int64_t)(random_bits() % 50) * 999983
                                             : (int64_t)(random_bits() % 100 << (i % 30 ? 0 : 20));
        there_and_back(&fixture, count, &transform);
        for (unsigned flips = 1 + (unsigned)(random_bits() % 3); flips > 0; flips--)
            fixture.bytes.data[random_bits() % fixture.bytes.size] ^= (char)(1 << random_bits() % 8);
        unsigned char *exact = sta_alloc(fixture.bytes.size); /* so that a read past the end is seen */
        memcpy(exact, fixture.bytes.data, fixture.bytes.size);
        struct sta_cursor in = {.at = exact, .end = exact + random_bits() % (fixture.bytes.size + 1)};
        bool whole = sta_decode_stream(fixture.decoder, &in, count, &fixture.keys, fixture.out);
        cr_assert(!whole || in.at <= in.end);
        free(exact);
    }
    fixture_fini(&fixture);
}

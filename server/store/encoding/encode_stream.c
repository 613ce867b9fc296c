/* encode_stream.c - integers to streams.
 *
 * DESIGN: a transform turns values into residuals that are small or few; a layout writes the residuals.
 * Trying all pairs costs several times what writing one does, so the first of some row groups is tried (on
 * its first rows) and the winner kept as the column's plan for the next row groups.  zstd costs more than all
 * else, here and again at each read: it must save two fifths of the bytes that it is given; and two thirds of
 * what packed residuals of one byte take, half of those of two, less of wider ones, whose upper bytes are
 * nearly empty and quickly done.  A thorough encoder tries all pairs on all rows of each row group, and takes
 * zstd where it saves a fifth. */
#include "store/encoding/codec.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "common/memory.h"
#include "store/encoding/bitpack.h"
#include "store/encoding/distinct.h"
#include "store/encoding/frames.h"
#include "store/encoding/kernels.h"

#define PLAN_ROW_GROUPS 32 /* a plan serves so many row groups */
#define SAMPLE_ROWS 4096   /* .. and is made from so many rows */
#define THOROUGH_LEVEL 3   /* of zstd */
#define NAME_TRIAL 512     /* rows that decide early against a table by name */
#define DICTIONARY_LIMIT 1024
#define ZSTD_LEVEL (-1)

/* A stream about to be written. */
struct candidate {
    enum sta_transform transform;
    const struct sta_values *values;
    const struct sta_both_keys *keys;
    const void *residuals; /* as many as values; NULL: none */
    bool wide;             /* the residuals (and words) have 64 bits, else 32 */
    int64_t base;          /* smallest residual; CONSTANT: the value */
    int64_t start;         /* DELTA: the first value */
    unsigned shift;        /* low bits that are zero in every residual - base */
    uint64_t largest;      /* word: (residual - base) >> shift */
    const int64_t *table;
    uint32_t table_count;
};

struct sta_encoder {
    bool thorough;
    ZSTD_CCtx *zstd;
    union numbers {
        uint32_t narrow[STA_ROW_GROUP_ROWS];
        uint64_t wide[STA_ROW_GROUP_ROWS];
    } residuals, words;
    uint32_t sample[STA_ROW_GROUP_ROWS];
    unsigned char byte_streams[STA_ROW_GROUP_ROWS * 8];
    unsigned char compressed[ZSTD_COMPRESSBOUND(STA_ROW_GROUP_ROWS * 8)];
    int64_t table[STA_KEYS_MAX];
    int64_t last[STA_KEYS_MAX];
    uint8_t seen[STA_KEYS_MAX];
    struct sta_frames frames;
    struct sta_distinct distinct;
    const struct sta_values *distinct_of; /* the values that they were found of for the caller; NULL: none */
};

struct sta_encoder *sta_encoder_create(enum sta_effort effort)
{
    struct sta_encoder *encoder = sta_alloc(sizeof *encoder);
    while ((encoder->zstd = ZSTD_createCCtx()) == NULL)
        sta_memory_open_reserve(sizeof *encoder);
    encoder->thorough = effort == STA_EFFORT_THOROUGH;
    return encoder;
}

void sta_encoder_destroy(struct sta_encoder *encoder)
{
    if (encoder == NULL)
        return;
    ZSTD_freeCCtx(encoder->zstd);
    free(encoder);
}

struct sta_values sta_values_of(const int64_t *values, uint32_t count, uint32_t *buffer)
{
    uint32_t min, max;
    struct sta_values of = {
        .wide = values, .narrow = buffer, .origin = (uint64_t)values[0] - (1U << 30), .count = count};
    if (sta_kernels()->offsets(values, count, of.origin, buffer, &min, &max)) {
        of.range = (struct sta_range){(int64_t)(of.origin + min), (int64_t)(of.origin + max)};
        if (of.range.min <= of.range.max) /* else they are near each other only across the end of 64 bits */
            return of;
    }
    of.narrow = NULL;
    sta_kernels()->words64->residual_range(values, count, &of.range.min, &of.range.max);
    return of;
}

const struct sta_distinct *sta_encoder_distinct(struct sta_encoder *encoder, const struct sta_values *values,
                                                uint32_t limit)
{
    encoder->distinct_of = sta_distinct_find(&encoder->distinct, values, limit) ? values : NULL;
    return encoder->distinct_of != NULL ? &encoder->distinct : NULL;
}

/* ---- transforms: values to residuals.  Return: false where one does not apply */

static bool plain_residuals(struct sta_encoder *encoder, struct candidate *candidate)
{
    const struct sta_values *values = candidate->values;
    candidate->residuals = candidate->wide ? (const void *)values->wide : (const void *)values->narrow;
    return true;
}

static bool delta_residuals(struct sta_encoder *encoder, struct candidate *candidate)
{
    const struct sta_values *values = candidate->values;
    if (values->count < 2)
        return false;
    for (uint32_t i = 1; candidate->wide && i < values->count; i++)
        encoder->residuals.wide[i] = (uint64_t)values->wide[i] - (uint64_t)values->wide[i - 1];
    for (uint32_t i = 1; !candidate->wide && i < values->count; i++)
        encoder->residuals.narrow[i] = values->narrow[i] - values->narrow[i - 1];
    /* The first is not used; costs nothing in its frame. */
    if (candidate->wide)
        encoder->residuals.wide[0] = encoder->residuals.wide[1];
    else
        encoder->residuals.narrow[0] = encoder->residuals.narrow[1];
    candidate->start = values->wide[0];
    candidate->residuals = &encoder->residuals;
    return true;
}

static void use_places(struct sta_encoder *encoder, struct candidate *candidate)
{
    const struct sta_distinct *distinct = &encoder->distinct;
    for (uint32_t i = 0; i < candidate->values->count; i++)
        encoder->residuals.narrow[i] = distinct->index[i];
    candidate->wide = false;
    candidate->residuals = &encoder->residuals;
    candidate->table = distinct->values;
    candidate->table_count = distinct->count;
}

static bool dictionary_residuals(struct sta_encoder *encoder, struct candidate *candidate)
{
    const bool found = encoder->distinct_of == candidate->values;
    encoder->distinct_of = NULL;
    if (!found && !sta_distinct_find(&encoder->distinct, candidate->values, DICTIONARY_LIMIT))
        return false;
    sta_distinct_index(&encoder->distinct, candidate->values);
    use_places(encoder, candidate);
    return true;
}

static bool name_table(struct sta_encoder *encoder, struct candidate *candidate)
{
    const struct sta_keys *name = &candidate->keys->name;
    const struct sta_values values = *candidate->values;
    int64_t *table = encoder->table;
    if (name->index == NULL || name->count > values.count / 2)
        return false;
    memset(table, 0, name->count * sizeof *table);
    /* Most columns don't follow the name, and show it soon. */
    for (uint32_t from = 0, to; from < values.count; from = to) {
        to = from == 0 ? STA_MIN(values.count, (uint32_t)NAME_TRIAL) : values.count;
        for (uint32_t i = from; i < to; i++)
            table[name->index[i]] = sta_value_at(&values, i);
        int64_t differs = 0;
        for (uint32_t i = 0; i < to; i++)
            differs |= table[name->index[i]] ^ sta_value_at(&values, i);
        if (differs != 0)
            return false;
    }
    candidate->table = table;
    candidate->table_count = name->count;
    return true;
}

static bool thread_residuals(struct sta_encoder *encoder, struct candidate *candidate)
{
    const struct sta_keys *thread = &candidate->keys->thread;
    const struct sta_values values = *candidate->values;
    if (thread->index == NULL || thread->count < 2 || thread->count > values.count / 2)
        return false;
    memset(encoder->seen, 0, thread->count);
    memset(encoder->table, 0, thread->count * sizeof *encoder->table);
    for (uint32_t i = 0; i < values.count; i++) {
        uint16_t key = thread->index[i];
        int64_t value = sta_value_at(&values, i);
        if (!encoder->seen[key]) {
            encoder->seen[key] = 1;
            encoder->table[key] = encoder->last[key] = value;
        }
        uint64_t residual = (uint64_t)value - (uint64_t)encoder->last[key];
        encoder->last[key] = value;
        if (candidate->wide)
            encoder->residuals.wide[i] = residual;
        else
            encoder->residuals.narrow[i] = (uint32_t)residual;
    }
    candidate->residuals = &encoder->residuals;
    candidate->table = encoder->table;
    candidate->table_count = thread->count;
    return true;
}

/* In the order in which they are tried: cheap to undo first. */
static const struct {
    enum sta_transform transform;
    unsigned needs; /* keys for decoding */
    bool (*residuals)(struct sta_encoder *encoder, struct candidate *candidate);
} transforms[] = {
    {STA_TRANSFORM_BY_NAME, STA_COLUMN_CHUNK_NEEDS_NAME, name_table},
    {STA_TRANSFORM_PLAIN, 0, plain_residuals},
    {STA_TRANSFORM_DICTIONARY, 0, dictionary_residuals},
    {STA_TRANSFORM_DELTA, 0, delta_residuals},
    {STA_TRANSFORM_BY_THREAD, STA_COLUMN_CHUNK_NEEDS_THREAD, thread_residuals},
};

static const struct sta_word_kernels *kernels_of(const struct candidate *candidate)
{
    return candidate->wide ? sta_kernels()->words64 : sta_kernels()->words32;
}

/* Words of the candidate's residuals, with as few bits as one base and shift for all can bring. */
static void make_words(struct sta_encoder *encoder, struct candidate *candidate)
{
    const struct sta_word_kernels *kernels = kernels_of(candidate);
    uint32_t count = candidate->values->count;
    int64_t min, max;
    kernels->residual_range(candidate->residuals, count, &min, &max);
    uint64_t bits = kernels->subtract(candidate->residuals, count, min, &encoder->words);
    candidate->base = min;
    if (candidate->transform == STA_TRANSFORM_PLAIN && !candidate->wide)
        candidate->base = (int64_t)(candidate->values->origin + (uint64_t)min);
    candidate->shift = bits ? (unsigned)__builtin_ctzll(bits) : 0;
    candidate->largest = ((uint64_t)max - (uint64_t)min) >> candidate->shift;
    if (candidate->shift != 0)
        kernels->shift(&encoder->words, count, candidate->shift);
}

/* Tries a transform on the candidate's values.  Return: false where it does not apply. */
static bool make_candidate(struct sta_encoder *encoder, struct candidate *candidate, size_t number)
{
    candidate->transform = transforms[number].transform;
    candidate->wide = candidate->values->narrow == NULL;
    candidate->residuals = NULL;
    candidate->table_count = 0;
    if (!transforms[number].residuals(encoder, candidate))
        return false;
    if (candidate->residuals != NULL)
        make_words(encoder, candidate);
    return true;
}

/* ---- layouts: residuals to bytes */

static unsigned byte_count_of(const struct candidate *candidate)
{
    return STA_MAX((sta_bit_width(candidate->largest) + 7) / 8, 1U);
}

static void make_byte_split(struct sta_encoder *encoder, const struct candidate *candidate)
{
    kernels_of(candidate)->split_bytes(&encoder->words, candidate->values->count, byte_count_of(candidate),
                                       encoder->byte_streams);
}

/* Return: size, or SIZE_MAX when zstd fails. */
static size_t compress_byte_split(struct sta_encoder *encoder, const struct candidate *candidate)
{
    make_byte_split(encoder, candidate);
    size_t size =
        ZSTD_compressCCtx(encoder->zstd, encoder->compressed, sizeof encoder->compressed,
                          encoder->byte_streams, (size_t)byte_count_of(candidate) * candidate->values->count,
                          encoder->thorough ? THOROUGH_LEVEL : ZSTD_LEVEL);
    return ZSTD_isError(size) ? SIZE_MAX : size;
}

static struct sta_words words_of(const struct sta_encoder *encoder, const struct candidate *candidate)
{
    return (struct sta_words){&encoder->words, candidate->values->count, candidate->wide};
}

/* Return: bytes of the words in frames. */
static size_t choose_frames(struct sta_encoder *encoder, const struct candidate *candidate)
{
    const struct sta_words words = words_of(encoder, candidate);
    return sta_frames_choose(&encoder->frames, &words);
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static size_t table_size(const struct candidate *candidate)
{
    size_t size = sta_varint_size(candidate->table_count);
    uint64_t before = 0;
    for (uint32_t i = 0; i < candidate->table_count; i++) {
        size += sta_varint_size(zigzag((uint64_t)candidate->table[i] - before));
        before = (uint64_t)candidate->table[i];
    }
    return size;
}

static void put_head(const struct candidate *candidate, enum sta_layout layout, struct sta_buffer *out)
{
    sta_put_char(out, (char)candidate->transform);
    sta_put_char(out, (char)layout);
    sta_put_char(out, (char)(candidate->residuals ? byte_count_of(candidate) : 1));
    sta_put_char(out, (char)candidate->shift);
    sta_put_u64(out, (uint64_t)candidate->base);
    if (candidate->transform == STA_TRANSFORM_DELTA)
        sta_put_u64(out, (uint64_t)candidate->start);
    if (candidate->table_count == 0)
        return;
    uint64_t before = 0;
    sta_put_varint(out, candidate->table_count);
    for (uint32_t i = 0; i < candidate->table_count; i++) {
        sta_put_varint(out, zigzag((uint64_t)candidate->table[i] - before));
        before = (uint64_t)candidate->table[i];
    }
}

static void put_stream(struct sta_encoder *encoder, struct candidate *candidate, bool try_zstd,
                       struct sta_buffer *out)
{
    encoder->distinct_of = NULL; /* the next stream is of other values, though they may lie there too */
    if (candidate->residuals == NULL) {
        put_head(candidate, STA_LAYOUT_PACKED, out);
        return;
    }
    size_t split_size = (size_t)byte_count_of(candidate) * candidate->values->count;
    size_t compressed = try_zstd ? compress_byte_split(encoder, candidate) : SIZE_MAX;
    if (compressed < split_size) {
        put_head(candidate, STA_LAYOUT_ZSTD, out);
        sta_put_block(out, encoder->compressed, compressed);
    } else if (split_size < choose_frames(encoder, candidate)) {
        put_head(candidate, STA_LAYOUT_BYTE_SPLIT, out);
        make_byte_split(encoder, candidate);
        sta_put(out, encoder->byte_streams, split_size);
    } else {
        const struct sta_words words = words_of(encoder, candidate);
        put_head(candidate, encoder->frames.patched ? STA_LAYOUT_PATCHED : STA_LAYOUT_PACKED, out);
        sta_frames_put(&encoder->frames, &words, out);
    }
}

/* ---- plans */

struct score {
    size_t bytes;
    bool zstd;
};

/* @best: bytes of the best one so far.  zstd is not tried where it could not win. */
static struct score score_of(struct sta_encoder *encoder, const struct candidate *candidate, size_t best)
{
    const size_t table = candidate->table_count ? table_size(candidate) : 0;
    if (candidate->residuals == NULL)
        return (struct score){table, false};
    const size_t packed = choose_frames(encoder, candidate);
    const size_t split_size = (size_t)byte_count_of(candidate) * candidate->values->count;
    const size_t time = encoder->thorough ? 0 : split_size * 2 / 5;
    if (time >= packed || table + time >= best)
        return (struct score){table + packed, false};
    const size_t compressed = compress_byte_split(encoder, candidate);
    const size_t for_reading =
        encoder->thorough ? compressed / 4 : STA_MAX(time, 2 * compressed / byte_count_of(candidate));
    const size_t charged = compressed == SIZE_MAX ? SIZE_MAX : compressed + for_reading + 16;
    return charged < packed ? (struct score){table + charged, true} : (struct score){table + packed, false};
}

/* Return: number of the transform in the list. */
static size_t make_plan(struct sta_encoder *encoder, struct sta_encoding_plan *plan,
                        const struct candidate *whole)
{
    size_t best = 0, best_bytes = SIZE_MAX;
    const uint32_t rows = encoder->thorough ? STA_ROW_GROUP_ROWS : SAMPLE_ROWS;
    struct sta_values sample =
        sta_values_of(whole->values->wide, STA_MIN(whole->values->count, rows), encoder->sample);
    struct candidate candidate = {.values = &sample, .keys = whole->keys};
    for (size_t t = 0; t < STA_COUNT_OF(transforms); t++) {
        if (plan->excluded >> transforms[t].transform & 1 || !make_candidate(encoder, &candidate, t))
            continue;
        struct score score = score_of(encoder, &candidate, best_bytes);
        if (score.bytes >= best_bytes - best_bytes / 32)
            continue;
        best = t;
        best_bytes = score.bytes;
        plan->zstd = score.zstd;
        if (candidate.residuals == NULL)
            break;
    }
    plan->transform = (uint8_t)transforms[best].transform;
    plan->row_groups_left = encoder->thorough ? 1 : PLAN_ROW_GROUPS;
    return best;
}

static size_t planned(const struct sta_encoding_plan *plan)
{
    size_t t = 0;
    while (transforms[t].transform != plan->transform)
        t++;
    return t;
}

#define NUMBER_OF_PLAIN 1

unsigned sta_plan_needs(const struct sta_encoding_plan *plan)
{
    return plan->row_groups_left == 0 ? STA_COLUMN_CHUNK_NEEDS_NAME | STA_COLUMN_CHUNK_NEEDS_THREAD
                                      : transforms[planned(plan)].needs;
}

static void put_constant(struct sta_encoder *encoder, struct candidate *candidate, struct sta_buffer *out)
{
    candidate->transform = STA_TRANSFORM_CONSTANT;
    candidate->base = candidate->values->range.min;
    put_stream(encoder, candidate, false, out);
}

unsigned sta_encode_stream(struct sta_encoder *encoder, struct sta_encoding_plan *plan,
                           const struct sta_values *values, const struct sta_both_keys *keys,
                           struct sta_buffer *out)
{
    STA_ASSERT(values->count > 0 && values->count <= STA_ROW_GROUP_ROWS);
    struct candidate candidate = {.values = values, .keys = keys};
    if (values->range.min == values->range.max) {
        put_constant(encoder, &candidate, out);
        return 0;
    }
    bool fresh = plan->row_groups_left == 0;
    size_t number = fresh ? make_plan(encoder, plan, &candidate) : planned(plan);
    plan->row_groups_left--;
    if (!make_candidate(encoder, &candidate, number)) {
        plan->row_groups_left = 0; /* the next row group looks again, among the others */
        plan->excluded |= (uint8_t)(1u << plan->transform);
        number = NUMBER_OF_PLAIN;
        make_candidate(encoder, &candidate, number);
    }
    put_stream(encoder, &candidate, plan->zstd, out);
    return transforms[number].needs;
}

const struct sta_distinct *sta_encode_key_stream(struct sta_encoder *encoder, struct sta_encoding_plan *plan,
                                                 const struct sta_values *values, struct sta_buffer *out)
{
    struct candidate candidate = {.transform = STA_TRANSFORM_DICTIONARY, .values = values};
    if (!sta_distinct_find(&encoder->distinct, values, STA_KEYS_LIMIT)) {
        sta_encode_stream(encoder, plan, values, &(struct sta_both_keys){0}, out);
        return NULL;
    }
    sta_distinct_index(&encoder->distinct, values);
    if (encoder->distinct.count == 1) {
        put_constant(encoder, &candidate, out);
        return &encoder->distinct;
    }
    use_places(encoder, &candidate);
    make_words(encoder, &candidate);
    if (plan->row_groups_left == 0) {
        plan->transform = STA_TRANSFORM_DICTIONARY;
        plan->zstd = score_of(encoder, &candidate, SIZE_MAX).zstd;
        plan->row_groups_left = encoder->thorough ? 1 : PLAN_ROW_GROUPS;
    }
    plan->row_groups_left--;
    put_stream(encoder, &candidate, plan->zstd, out);
    return &encoder->distinct;
}

/* column_decode.c - a payload back to the values of a row group's rows.
 *
 * Values are held against the range or the codes that the (checksummed, checked) directory gives, so that
 * whoever uses them may index with them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "store/encoding/column.h"
#include "store/encoding/kernels.h"

/* ---- scratch */

static pthread_key_t scratch_key;
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;

static void scratch_destroy(void *argument)
{
    struct sta_scratch *scratch = argument;
    sta_decoder_destroy(scratch->decoder);
    free(scratch->payload);
    free(scratch);
}

static void scratch_key_create(void)
{
    STA_ASSERT(pthread_key_create(&scratch_key, scratch_destroy) == 0);
}

struct sta_scratch *sta_scratch_of_thread(void)
{
    pthread_once(&scratch_once, scratch_key_create);
    struct sta_scratch *scratch = pthread_getspecific(scratch_key);
    if (scratch != NULL)
        return scratch;
    scratch = sta_alloc(sizeof *scratch);
    scratch->decoder = sta_decoder_create();
    STA_ASSERT(pthread_setspecific(scratch_key, scratch) == 0);
    return scratch;
}

unsigned char *sta_scratch_payload(struct sta_scratch *scratch, size_t size)
{
    if (size <= scratch->payload_capacity && scratch->payload != NULL)
        return scratch->payload;
    free(scratch->payload);
    scratch->payload_capacity = STA_MAX(size, (size_t)STA_ROW_GROUP_ROWS);
    scratch->payload = sta_try_alloc(scratch->payload_capacity);
    scratch->short_of_memory = scratch->payload == NULL;
    return scratch->payload;
}

/* ---- validity */

static bool valid_by_name(struct sta_validity *validity, struct sta_cursor *in, const struct sta_keys *name)
{
    const unsigned char *has = name->index != NULL ? sta_get_bytes(in, (name->count + 7) / 8) : NULL;
    if (has != NULL)
        sta_validity_by_key(validity, has, name->count, name->index);
    return has != NULL;
}

static bool valid_by_bits(struct sta_scratch *scratch, struct sta_cursor *in)
{
    struct sta_validity *validity = &scratch->validity;
    const uint32_t bytes = (validity->rows + 7) / 8;
    if (!sta_decode_stream(scratch->decoder, in, bytes, &(struct sta_both_keys){0}, scratch->wide))
        return false;
    for (uint32_t i = 0; i < bytes; i++)
        validity->bits[i / 4] |= (uint32_t)(uint8_t)scratch->wide[i] << (i % 4 * 8);
    if (validity->rows % 32 != 0)
        validity->bits[validity->rows / 32] &= (UINT32_C(1) << validity->rows % 32) - 1;
    return true;
}

static bool valid_by_rows(struct sta_scratch *scratch, struct sta_cursor *in)
{
    struct sta_validity *validity = &scratch->validity;
    if (!sta_decode_stream(scratch->decoder, in, validity->count, &(struct sta_both_keys){0}, scratch->wide))
        return false;
    for (uint32_t i = 0; i < validity->count; i++) {
        const uint64_t row = (uint64_t)scratch->wide[i];
        if (row >= validity->rows)
            return false;
        validity->bits[row / 32] |= UINT32_C(1) << row % 32;
    }
    return true;
}

static bool is_as_stated(const struct sta_validity *validity)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w * 32 < validity->rows; w++)
        count += (uint32_t)__builtin_popcount(validity->bits[w]);
    return count == validity->count;
}

/* Fills scratch->validity; its bits only when some row has no value. */
static bool get_validity(struct sta_scratch *scratch, struct sta_cursor *in, uint32_t rows, uint32_t count,
                         const struct sta_keys *name)
{
    struct sta_validity *validity = &scratch->validity;
    const unsigned char *mode = sta_get_bytes(in, 1);
    if (mode == NULL)
        return false;
    validity->rows = rows;
    validity->count = count;
    if (*mode == STA_VALIDITY_ALL)
        return count == rows;
    memset(validity->bits, 0, sizeof validity->bits);
    switch ((enum sta_validity_encoding) * mode) {
    case STA_VALIDITY_BY_NAME:
        return count < rows && valid_by_name(validity, in, name) && is_as_stated(validity);
    case STA_VALIDITY_BITS:
        return count < rows && valid_by_bits(scratch, in) && is_as_stated(validity);
    case STA_VALIDITY_ROWS:
        return count < rows && valid_by_rows(scratch, in) && is_as_stated(validity);
    default:
        return false;
    }
}

/* The keys that the stream of values at the cursor builds on, of the rows that have a value. */
static struct sta_both_keys keys_of_values(struct sta_scratch *scratch, const struct sta_cursor *in,
                                           const struct sta_both_keys *keys)
{
    const struct sta_validity *validity = &scratch->validity;
    struct sta_both_keys kept = *keys;
    unsigned transform = in->at < in->end ? *in->at : STA_TRANSFORM_CONSTANT;
    if (validity->count == validity->rows)
        return kept;
    if (transform == STA_TRANSFORM_BY_NAME && keys->name.index != NULL) {
        sta_validity_compact_keys(validity, keys->name.index, scratch->name_keys);
        kept.name.index = scratch->name_keys;
    }
    if (transform == STA_TRANSFORM_BY_THREAD && keys->thread.index != NULL) {
        sta_validity_compact_keys(validity, keys->thread.index, scratch->thread_keys);
        kept.thread.index = scratch->thread_keys;
    }
    return kept;
}

/* ---- checks and moves */

static bool mixed_as_said(const uint8_t *kinds, const int64_t *values, uint32_t count, int64_t largest_code)
{
    bool past = false;
    for (uint32_t i = 0; i < count; i++) {
        past |= kinds[i] == STA_VALUE_TEXT && (values[i] < 0 || values[i] > largest_code);
        past |= kinds[i] == STA_VALUE_BOOL && (values[i] & ~INT64_C(1)) != 0;
    }
    return !past;
}

static bool get_kinds(struct sta_scratch *scratch, struct sta_cursor *in, uint32_t validity, uint8_t *kinds)
{
    if (!sta_decode_stream(scratch->decoder, in, validity, &(struct sta_both_keys){0}, scratch->wide) ||
        !sta_kernels()->within(scratch->wide, validity, 0, STA_VALUE_KINDS - 1))
        return false;
    for (uint32_t i = 0; i < validity; i++)
        kinds[i] = (uint8_t)scratch->wide[i];
    return true;
}

/* In place, and so backwards. */
static void spread_kinds(const struct sta_validity *validity, uint8_t *kinds)
{
    for (uint32_t i = validity->rows, n = validity->count; i-- > 0;) {
        n -= sta_validity_has(validity, i);
        kinds[i] = kinds[n] & (uint8_t)-sta_validity_has(validity, i);
    }
}

/* From side by side, in scratch->wide, to the rows they belong to. */
static void spread_values(const struct sta_scratch *scratch, struct sta_column_values *values)
{
    const struct sta_validity *validity = &scratch->validity;
    if (values->kind == STA_KIND_CODE) {
        sta_validity_spread_codes(validity, scratch->wide, values->codes);
        return;
    }
    sta_validity_spread(validity, scratch->wide, values->integers);
    sta_validity_missing(validity, values->missing);
    if (values->kind == STA_KIND_MIXED)
        spread_kinds(validity, values->kinds);
}

/* Reads the values that are there, frame by frame: to @codes when that is not NULL, else to @wide. */
static bool get_values(struct sta_scratch *scratch, const struct sta_disk_column_chunk *column_chunk,
                       struct sta_cursor *in, uint32_t validity, const struct sta_both_keys *keys,
                       int64_t *wide, uint32_t *codes)
{
    int64_t frame[STA_PACK_FRAME];
    struct sta_range range;
    if (!sta_stream_open(scratch->decoder, in, validity, keys, &range))
        return false;
    bool check = column_chunk->flags & STA_COLUMN_CHUNK_BOUNDED &&
                 (range.min < column_chunk->min || range.max > column_chunk->max);
    for (uint32_t at = 0; at < validity; at += STA_PACK_FRAME) {
        uint32_t part = STA_MIN(validity - at, (uint32_t)STA_PACK_FRAME);
        int64_t *values = codes != NULL ? frame : wide + at;
        if (!sta_stream_next(scratch->decoder, part, values) ||
            (check && !sta_kernels()->within(values, part, column_chunk->min, column_chunk->max)))
            return false;
        if (codes != NULL)
            sta_kernels()->narrow(values, part, codes + at);
    }
    return true;
}

bool sta_decode_column(struct sta_scratch *scratch, const struct sta_disk_column_chunk *column_chunk,
                       const unsigned char *payload, uint32_t rows, const struct sta_both_keys *keys,
                       struct sta_column_values *values)
{
    struct sta_cursor in = {.at = payload, .end = payload + column_chunk->payload_size};
    uint32_t validity = rows - column_chunk->missing;
    values->kind = column_chunk->kind;
    if (!get_validity(scratch, &in, rows, validity, &keys->name))
        return false;
    if (column_chunk->kind == STA_KIND_MIXED && !get_kinds(scratch, &in, validity, values->kinds))
        return false;
    struct sta_both_keys validity_keys = keys_of_values(scratch, &in, keys);
    values->any_missing = validity < rows;
    int64_t *wide = values->any_missing ? scratch->wide : values->integers;
    uint32_t *codes = values->any_missing || column_chunk->kind != STA_KIND_CODE ? NULL : values->codes;
    if (!get_values(scratch, column_chunk, &in, validity, &validity_keys, wide, codes) || in.at != in.end)
        return false;
    if (column_chunk->kind == STA_KIND_MIXED &&
        !mixed_as_said(values->kinds, wide, validity, column_chunk->max))
        return false;
    if (values->any_missing)
        spread_values(scratch, values);
    if (column_chunk->kind == STA_KIND_FLOAT && (void *)values->numbers != (void *)values->integers)
        memcpy(values->numbers, values->integers, rows * sizeof *values->numbers);
    return true;
}

/* Codes of the keys, those of rows without a value among them. */
static bool get_codes(const struct sta_disk_column_chunk *column_chunk, const int64_t *values,
                      struct sta_cached_keys *keys)
{
    if (!sta_kernels()->within(values, keys->count, column_chunk->min, column_chunk->max))
        return false;
    sta_kernels()->narrow(values, keys->count, keys->codes);
    return true;
}

bool sta_decode_column_keys(struct sta_scratch *scratch, const struct sta_disk_column_chunk *column_chunk,
                            const unsigned char *payload, uint32_t rows, struct sta_cached_keys *keys)
{
    struct sta_cursor in = {.at = payload, .end = payload + column_chunk->payload_size};
    uint32_t validity = rows - column_chunk->missing;
    uint16_t *index = validity < rows ? scratch->name_keys : keys->index;
    if (!get_validity(scratch, &in, rows, validity, &(struct sta_keys){0}) ||
        !sta_decode_key_stream(scratch->decoder, &in, validity, index, scratch->wide, &keys->count) ||
        in.at != in.end || !get_codes(column_chunk, scratch->wide, keys))
        return false;
    if (validity == rows)
        return true;
    for (uint32_t i = 0, n = 0; i < rows; i++)
        keys->index[i] = sta_validity_has(&scratch->validity, i) ? index[n++] : (uint16_t)keys->count;
    keys->codes[keys->count++] = STA_NO_CODE;
    return true;
}

void sta_codes_of_keys(const struct sta_cached_keys *keys, uint32_t rows, uint32_t *codes)
{
    for (uint32_t i = 0; i < rows; i++)
        codes[i] = keys->codes[keys->index[i]];
}

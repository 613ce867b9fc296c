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

static bool valid_by_name(struct sta_scratch *scratch, struct sta_cursor *in, uint32_t rows,
                          const struct sta_keys *name)
{
    if (name->index == NULL)
        return false;
    const unsigned char *bits = sta_get_bytes(in, (name->count + 7) / 8);
    if (bits == NULL)
        return false;
    uint8_t has[STA_KEYS_MAX], *validity = scratch->validity;
    const uint16_t *index = name->index; /* in a local: a byte written may be anything's, to the compiler */
    for (uint32_t n = 0; n < name->count; n++)
        has[n] = bits[n / 8] >> (n % 8) & 1;
    for (uint32_t i = 0; i < rows; i++)
        validity[i] = has[index[i]];
    return true;
}

static bool valid_by_bits(struct sta_scratch *scratch, struct sta_cursor *in, uint32_t rows)
{
    if (!sta_decode_stream(scratch->decoder, in, (rows + 7) / 8, &(struct sta_both_keys){0}, scratch->wide))
        return false;
    for (uint32_t i = 0; i < rows; i++)
        scratch->validity[i] = scratch->wide[i / 8] >> (i % 8) & 1;
    return true;
}

static bool valid_by_rows(struct sta_scratch *scratch, struct sta_cursor *in, uint32_t rows,
                          uint32_t validity)
{
    if (!sta_decode_stream(scratch->decoder, in, validity, &(struct sta_both_keys){0}, scratch->wide))
        return false;
    memset(scratch->validity, 0, rows);
    for (uint32_t i = 0; i < validity; i++) {
        if ((uint64_t)scratch->wide[i] >= rows)
            return false;
        scratch->validity[scratch->wide[i]] = 1;
    }
    return true;
}

static bool validity_as_stated(const struct sta_scratch *scratch, uint32_t rows, uint32_t validity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows; i++)
        count += scratch->validity[i];
    return count == validity;
}

/* Fills scratch->validity unless every row has a value. */
static bool get_presence(struct sta_scratch *scratch, struct sta_cursor *in, uint32_t rows, uint32_t validity,
                         const struct sta_keys *name)
{
    const unsigned char *mode = sta_get_bytes(in, 1);
    if (mode == NULL)
        return false;
    switch ((enum sta_validity_encoding) * mode) {
    case STA_VALIDITY_ALL:
        return validity == rows;
    case STA_VALIDITY_BY_NAME:
        return validity < rows && valid_by_name(scratch, in, rows, name) &&
               validity_as_stated(scratch, rows, validity);
    case STA_VALIDITY_BITS:
        return validity < rows && valid_by_bits(scratch, in, rows) &&
               validity_as_stated(scratch, rows, validity);
    case STA_VALIDITY_ROWS:
        return validity < rows && valid_by_rows(scratch, in, rows, validity) &&
               validity_as_stated(scratch, rows, validity);
    default:
        return false;
    }
}

/* Keys of the rows that have a value. */
static void move_keys(const uint8_t *validity, uint32_t rows, const uint16_t *from, uint16_t *to)
{
    for (uint32_t i = 0, n = 0; i < rows; n += validity[i++])
        to[n] = from[i];
}

/* The keys that the stream of values at the cursor builds on. */
static struct sta_both_keys keys_of_values(struct sta_scratch *scratch, const struct sta_cursor *in,
                                           uint32_t rows, uint32_t validity, const struct sta_both_keys *keys)
{
    struct sta_both_keys moved = *keys;
    unsigned transform = in->at < in->end ? *in->at : STA_TRANSFORM_CONSTANT;
    if (validity == rows)
        return moved;
    if (transform == STA_TRANSFORM_BY_NAME && keys->name.index != NULL) {
        move_keys(scratch->validity, rows, keys->name.index, scratch->validity_of_name);
        moved.name.index = scratch->validity_of_name;
    }
    if (transform == STA_TRANSFORM_BY_THREAD && keys->thread.index != NULL) {
        move_keys(scratch->validity, rows, keys->thread.index, scratch->validity_of_thread);
        moved.thread.index = scratch->validity_of_thread;
    }
    return moved;
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

/* From side by side to the rows they belong to.  Without branches: which rows have a value is hard to
 * predict. */
static void spread(const uint8_t *has, uint32_t rows, const int64_t *dense, int64_t *values)
{
    for (uint32_t i = 0, n = 0; i < rows; n += has[i++])
        values[i] = dense[n] & -(int64_t)has[i];
}

/* In place, and so backwards. */
static void spread_kinds(const uint8_t *has, uint32_t rows, uint32_t validity, uint8_t *kinds)
{
    for (uint32_t i = rows, n = validity; i-- > 0;) {
        n -= has[i];
        kinds[i] = kinds[n] & (uint8_t)-has[i];
    }
}

static void narrow_and_spread(const uint8_t *has, const int64_t *wide, uint32_t rows, uint32_t *codes)
{
    for (uint32_t i = 0, n = 0; i < rows; n += has[i++])
        codes[i] = (uint32_t)wide[n] | ((uint32_t)has[i] - 1); /* all ones is STA_NO_CODE */
}

/* Where the values of rows that all have one go at once; else side by side to scratch->wide. */
static void spread_values(struct sta_scratch *scratch, uint32_t rows, uint32_t validity,
                          struct sta_column_values *values)
{
    if (values->kind == STA_KIND_CODE) {
        narrow_and_spread(scratch->validity, scratch->wide, rows, values->codes);
        return;
    }
    spread(scratch->validity, rows, scratch->wide, values->integers);
    uint8_t *missing = values->missing;
    for (uint32_t i = 0; i < rows; i++)
        missing[i] = !scratch->validity[i];
    if (values->kind == STA_KIND_MIXED)
        spread_kinds(scratch->validity, rows, validity, values->kinds);
}

/* Reads the values that are there, frame by frame: to @codes when that is not NULL, else to @wide. */
static bool get_values(struct sta_scratch *scratch, const struct sta_disk_entry *entry, struct sta_cursor *in,
                       uint32_t validity, const struct sta_both_keys *keys, int64_t *wide, uint32_t *codes)
{
    int64_t frame[STA_PACK_FRAME];
    struct sta_range range;
    if (!sta_stream_open(scratch->decoder, in, validity, keys, &range))
        return false;
    bool check = entry->flags & STA_ENTRY_BOUNDED && (range.min < entry->min || range.max > entry->max);
    for (uint32_t at = 0; at < validity; at += STA_PACK_FRAME) {
        uint32_t part = STA_MIN(validity - at, (uint32_t)STA_PACK_FRAME);
        int64_t *values = codes != NULL ? frame : wide + at;
        if (!sta_stream_next(scratch->decoder, part, values) ||
            (check && !sta_kernels()->within(values, part, entry->min, entry->max)))
            return false;
        if (codes != NULL)
            sta_kernels()->narrow(values, part, codes + at);
    }
    return true;
}

bool sta_decode_column(struct sta_scratch *scratch, const struct sta_disk_entry *entry,
                       const unsigned char *payload, uint32_t rows, const struct sta_both_keys *keys,
                       struct sta_column_values *values)
{
    struct sta_cursor in = {.at = payload, .end = payload + entry->payload_size};
    uint32_t validity = rows - entry->missing;
    values->kind = entry->kind;
    if (!get_presence(scratch, &in, rows, validity, &keys->name))
        return false;
    if (entry->kind == STA_KIND_MIXED && !get_kinds(scratch, &in, validity, values->kinds))
        return false;
    struct sta_both_keys validity_keys = keys_of_values(scratch, &in, rows, validity, keys);
    values->any_missing = validity < rows;
    int64_t *wide = values->any_missing ? scratch->wide : values->integers;
    uint32_t *codes = values->any_missing || entry->kind != STA_KIND_CODE ? NULL : values->codes;
    if (!get_values(scratch, entry, &in, validity, &validity_keys, wide, codes) || in.at != in.end)
        return false;
    if (entry->kind == STA_KIND_MIXED && !mixed_as_said(values->kinds, wide, validity, entry->max))
        return false;
    if (values->any_missing)
        spread_values(scratch, rows, validity, values);
    if (entry->kind == STA_KIND_FLOAT && (void *)values->numbers != (void *)values->integers)
        memcpy(values->numbers, values->integers, rows * sizeof *values->numbers);
    return true;
}

/* Codes of the keys, those of rows without a value among them. */
static bool get_codes(const struct sta_disk_entry *entry, const int64_t *values, struct sta_cached_keys *keys)
{
    if (!sta_kernels()->within(values, keys->count, entry->min, entry->max))
        return false;
    sta_kernels()->narrow(values, keys->count, keys->codes);
    return true;
}

bool sta_decode_column_keys(struct sta_scratch *scratch, const struct sta_disk_entry *entry,
                            const unsigned char *payload, uint32_t rows, struct sta_cached_keys *keys)
{
    struct sta_cursor in = {.at = payload, .end = payload + entry->payload_size};
    uint32_t validity = rows - entry->missing;
    uint16_t *index = validity < rows ? scratch->validity_of_name : keys->index;
    if (!get_presence(scratch, &in, rows, validity, &(struct sta_keys){0}) ||
        !sta_decode_key_stream(scratch->decoder, &in, validity, index, scratch->wide, &keys->count) ||
        in.at != in.end || !get_codes(entry, scratch->wide, keys))
        return false;
    if (validity == rows)
        return true;
    for (uint32_t i = 0, n = 0; i < rows; n += scratch->validity[i++])
        keys->index[i] = scratch->validity[i] ? scratch->validity_of_name[n] : (uint16_t)keys->count;
    keys->codes[keys->count++] = STA_NO_CODE;
    return true;
}

void sta_codes_of_keys(const struct sta_cached_keys *keys, uint32_t rows, uint32_t *codes)
{
    for (uint32_t i = 0; i < rows; i++)
        codes[i] = keys->codes[keys->index[i]];
}

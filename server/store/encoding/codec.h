/* codec.h - up to STA_ROW_GROUP_ROWS integers as few bytes ("a stream"), and back.
 *
 * Everything a column holds passes through here as int64: times, codes, the bits of doubles, validity.
 * FORMAT.md "Streams" has the bytes. */
#ifndef STA_STORE_CODEC_H
#define STA_STORE_CODEC_H

#include <stdbool.h>
#include <stdint.h>
#include "common/buffer.h"
#include "store/disk.h"
#include "store/store.h"

/* For every value, the number of its row's name (or thread) among those of the row group.  One more than the
 * limit: the rows without a name are a number of their own. */
#define STA_KEYS_MAX (STA_KEYS_LIMIT + 1)
struct sta_keys {
    const uint16_t *index; /* NULL: not to be had in this row group */
    uint32_t count;
    const uint16_t *rows; /* of names, when writing: how many rows of the row group each key has */
};
struct sta_both_keys {
    struct sta_keys name, thread;
};

/* ---- writing */

struct sta_encoder; /* working memory; one thread at a time */
struct sta_distinct;

/* What paid for a column lately, so that not every row group tries everything.  Zeroed at first. */
struct sta_encoding_plan {
    uint8_t transform; /* enum sta_transform */
    bool zstd;
    uint8_t row_groups_left; /* until it is made anew */
    uint8_t excluded;        /* bits by transform: it was the plan, and did not apply to all of a row group */
};

struct sta_range {
    int64_t min, max;
};

/* Values on their way to a stream.  Nearly always they lie close enough together to be held as offsets of 32
 * bits, which move and compare twice as fast. */
struct sta_values {
    const int64_t *wide;    /* the values themselves */
    const uint32_t *narrow; /* value - origin, below 2^31; NULL: they lie too far apart */
    uint64_t origin;
    uint32_t count;
    struct sta_range range;
};
static inline int64_t sta_value_at(const struct sta_values *values, uint32_t i)
{
    return values->narrow != NULL ? (int64_t)(values->origin + values->narrow[i]) : values->wide[i];
}
/** @values: at least one; borrowed like @buffer, which has space for as many. */
struct sta_values sta_values_of(const int64_t *values, uint32_t count, uint32_t *buffer);

/* How much time an encoder may take. */
enum sta_effort {
    STA_EFFORT_FAST,    /* while a trace is read: what was chosen for a column serves its next row groups */
    STA_EFFORT_THOROUGH /* in the background: the best for each row group, which is read many times */
};
struct sta_encoder *sta_encoder_create(enum sta_effort effort);
void sta_encoder_destroy(struct sta_encoder *encoder);
/** Which keys the next stream of this plan can use: STA_COLUMN_CHUNK_NEEDS_NAME |
 * STA_COLUMN_CHUNK_NEEDS_THREAD; the others may be left out. */
unsigned sta_plan_needs(const struct sta_encoding_plan *plan);
/** Appends a stream.  Return: which keys decoding needs, STA_COLUMN_CHUNK_NEEDS_NAME |
 * STA_COLUMN_CHUNK_NEEDS_THREAD. */
unsigned sta_encode_stream(struct sta_encoder *encoder, struct sta_encoding_plan *plan,
                           const struct sta_values *values, const struct sta_both_keys *keys,
                           struct sta_buffer *out);
/** Appends a stream from which keys can be read back: the places of the distinct values, which it returns,
 * borrowed until the next call.  NULL: there are too many, and an ordinary stream was written. */
const struct sta_distinct *sta_encode_key_stream(struct sta_encoder *encoder, struct sta_encoding_plan *plan,
                                                 const struct sta_values *values, struct sta_buffer *out);
/** The distinct values without their index, borrowed until the next call; NULL if there are more than
 * @limit. */
const struct sta_distinct *sta_encoder_distinct(struct sta_encoder *encoder, const struct sta_values *values,
                                                uint32_t limit);

/* ---- reading */

struct sta_decoder; /* working memory; one thread at a time */

struct sta_decoder *sta_decoder_create(void);
void sta_decoder_destroy(struct sta_decoder *decoder);
/**
 * sta_stream_open - begin to read a stream of @count values
 * @in, @keys: borrowed until the last value is read
 * @range: no value lies outside; of all int64 when the stream does not say
 * Return: false if damaged, as with all that follows.
 */
bool sta_stream_open(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                     const struct sta_both_keys *keys, struct sta_range *range);
/** The next @part values: STA_PACK_FRAME, fewer at the end. */
bool sta_stream_next(struct sta_decoder *decoder, uint32_t part, int64_t *values);
/** All values of a stream; @values has space for STA_ROW_GROUP_ROWS. */
bool sta_decode_stream(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                       const struct sta_both_keys *keys, int64_t *values);
/** The keys that a stream of sta_encode_key_stream made, and the value of each (space for STA_KEYS_MAX).
 * False also for other streams. */
bool sta_decode_key_stream(struct sta_decoder *decoder, struct sta_cursor *in, uint32_t count,
                           uint16_t *index, int64_t *values, uint32_t *key_count);

#endif

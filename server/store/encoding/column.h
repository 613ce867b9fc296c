/* column.h - one column of one row group as a payload and its column chunk in the directory, and back. */
#ifndef STA_STORE_COLUMN_H
#define STA_STORE_COLUMN_H

#include <stdbool.h>
#include <stdint.h>
#include "common/buffer.h"
#include "store/encoding/codec.h"
#include "store/disk.h"
#include "store/encoding/validity.h"
#include "store/store.h"

#define STA_LISTED_CODES 512 /* a row group's distinct codes are listed up to so many */

/* ---- writing */

/* The rows of a row group.  kinds: per row 0 (no value) or 1 + enum sta_value_kind; NULL: an integer in every
 * row. */
struct sta_column_rows {
    const int64_t *values;
    const uint8_t *kinds;
    uint32_t count;
};

struct sta_column_plans {
    struct sta_encoding_plan validity, kinds, values;
};

/* Keys that a column (name, thread) is to others: how many, and how many rows each has. */
struct sta_made_keys {
    uint32_t count; /* 0: too many */
    uint16_t rows[STA_KEYS_MAX];
};

struct sta_column_encoder; /* working memory; one thread at a time */
struct sta_column_encoder *sta_column_encoder_create(enum sta_effort effort);
void sta_column_encoder_destroy(struct sta_column_encoder *encoder);

/**
 * sta_encode_column - append a payload to @out and the distinct-code index to @codes
 * @made_index, @made: NULL; or space for the keys that this column is to others, those of every row at
 * @made_index
 * Fills all of *column_chunk but column, payload_at and first_code.  Return: false, and nothing written, when
 * no row has a value.
 */
bool sta_encode_column(struct sta_column_encoder *encoder, struct sta_column_plans *plans,
                       const struct sta_column_rows *rows, const struct sta_both_keys *keys,
                       uint16_t *made_index, struct sta_made_keys *made,
                       struct sta_disk_column_chunk *column_chunk, struct sta_buffer *codes,
                       struct sta_buffer *out);

/* ---- reading */

/* Working memory of the calling thread: made at its first use, freed when the thread ends. */
struct sta_scratch {
    struct sta_decoder *decoder;
    unsigned char *payload; /* a copy of the one in work */
    size_t payload_capacity;
    bool short_of_memory; /* there was no space for it */
    int64_t wide[STA_ROW_GROUP_ROWS + STA_VALIDITY_PADDING];
    struct sta_validity validity;
    uint16_t name_keys[STA_ROW_GROUP_ROWS], thread_keys[STA_ROW_GROUP_ROWS]; /* of the rows with a value */
    /* Keys of the row group looked at last: most columns of a scan need the same. */
    struct sta_cached_keys {
        uint64_t segment_serial; /* 0: none */
        uint32_t row_group;
        uint32_t count;
        uint16_t index[STA_ROW_GROUP_ROWS];
        uint32_t codes[STA_KEYS_MAX]; /* of each key; STA_NO_CODE of rows without a value */
    } name, thread;
};
struct sta_scratch *sta_scratch_of_thread(void);
/** Space for a payload, the one before is gone.  NULL, and short_of_memory: there is no memory for it. */
unsigned char *sta_scratch_payload(struct sta_scratch *scratch, size_t size);

/** Decodes a payload of @rows rows.  Values of missing rows are 0 (STA_NO_CODE for codes).  False:
 * damaged. */
bool sta_decode_column(struct sta_scratch *scratch, const struct sta_disk_column_chunk *column_chunk,
                       const unsigned char *payload, uint32_t rows, const struct sta_both_keys *keys,
                       struct sta_column_values *values);
/** Decodes the keys of a name or thread column.  False also where there are too many. */
bool sta_decode_column_keys(struct sta_scratch *scratch, const struct sta_disk_column_chunk *column_chunk,
                            const unsigned char *payload, uint32_t rows, struct sta_cached_keys *keys);
/** The column itself. */
void sta_codes_of_keys(const struct sta_cached_keys *keys, uint32_t rows, uint32_t *codes);

#endif

/* disk.h - the structs of FORMAT.md as C sees them.
 *
 * Little endian throughout, and only hosts of that order are built for: a mapped file is read as it lies. */
#ifndef STA_STORE_DISK_H
#define STA_STORE_DISK_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "store files are little endian and read in place");

#define STA_DISK_VERSION 2
#define STA_DISK_SEGMENT_MAGIC "STRATSEG"
#define STA_DISK_ENVELOPE_MAGIC "STRATENV"

/* ---- segments */

#define STA_DISK_PATCHES 1 /* a feature: streams may have the layout PATCHED */

struct sta_disk_header {
    unsigned char magic[8];
    uint32_t version;
    uint32_t features; /* bits a reader must know: STA_DISK_PATCHES */
    uint64_t file_size;
    uint64_t directory_at; /* multiple of 8 */
    uint64_t directory_size;
    uint64_t rows;
    uint32_t row_group_count;
    uint32_t column_chunk_count;
    uint32_t code_count;
    uint32_t chunk_count;
    uint32_t used_size;
    uint32_t ticks_per_us; /* 1 or 1000 */
    uint64_t directory_checksum;
    uint64_t header_checksum; /* of the bytes before it */
};
static_assert(sizeof(struct sta_disk_header) == 88, "FORMAT.md: segment header");
static_assert(offsetof(struct sta_disk_header, header_checksum) == 80, "FORMAT.md: segment header");

struct sta_disk_row_group {
    uint32_t rows;
    uint32_t first_column_chunk;
    uint32_t column_chunk_count;
    uint32_t zero;
    int64_t ts_min, ts_max, te_max; /* ticks since 1970 */
};
static_assert(sizeof(struct sta_disk_row_group) == 40, "FORMAT.md: row group");

enum sta_disk_entry_flags {
    STA_COLUMN_CHUNK_BOUNDED = 1,
    STA_COLUMN_CHUNK_LISTED = 2,
    STA_COLUMN_CHUNK_NEEDS_NAME = 4,   /* decoding needs the row group's name keys */
    STA_COLUMN_CHUNK_NEEDS_THREAD = 8, /* .. its thread keys */
    STA_COLUMN_CHUNK_FLAGS = 15
};

struct sta_disk_column_chunk {
    uint32_t column; /* enum sta_column_id */
    uint8_t kind;    /* enum sta_column_kind, never STA_KIND_ABSENT */
    uint8_t flags;
    uint16_t code_count;
    uint64_t payload_at;
    uint32_t payload_size;
    uint32_t payload_checksum; /* low half of the payload's XXH3-64 */
    uint32_t missing;
    uint32_t first_code;
    int64_t min, max;
};
static_assert(sizeof(struct sta_disk_column_chunk) == 48, "FORMAT.md: column chunk");
static_assert(offsetof(struct sta_disk_column_chunk, min) == 32, "FORMAT.md: column chunk");

struct sta_disk_chunk {
    uint32_t source; /* the source's id, which no refresh changes */
    uint32_t zero;
    uint64_t first_line;
};
static_assert(sizeof(struct sta_disk_chunk) == 16, "FORMAT.md: chunk");

/* ---- all other files */

/* X(name, number): what an envelope holds.  5 was counter records without their sources. */
#define STA_ENVELOPE_LIST(X)                                                                                 \
    X(ENTRY, 1) X(MANIFEST, 2) X(TABLES, 3) X(SOURCES, 4) X(KEPT, 6) X(COUNTERS, 7) X(JOURNAL, 8)

enum sta_envelope_kind {
#define X(name, number) STA_ENVELOPE_##name = number,
    STA_ENVELOPE_LIST(X)
#undef X
};

#define STA_DISK_LISTS 1 /* a feature of TABLES: an args key may have lists of values of another one */

struct sta_disk_envelope {
    unsigned char magic[8];
    uint32_t version;
    uint32_t features;
    uint32_t kind;
    uint32_t packed; /* 0: as is, 1: zstd */
    uint64_t content_size;
    uint64_t stored_size;
    uint64_t stored_checksum;
    uint64_t header_checksum; /* of the bytes before it */
};
static_assert(sizeof(struct sta_disk_envelope) == 56, "FORMAT.md: envelope");
static_assert(offsetof(struct sta_disk_envelope, header_checksum) == 48, "FORMAT.md: envelope");

/* ---- the lane file */

#define STA_DISK_LANES_MAGIC "STRATLAN"
#define STA_DISK_LANES_VERSION 1

struct sta_disk_lane_block {
    uint64_t at;
    uint32_t size;
    uint32_t checksum; /* low half of the payload's XXH3-64 */
    uint32_t rows;
    uint32_t columns;
};
static_assert(sizeof(struct sta_disk_lane_block) == 24, "FORMAT.md: lane block");

/* At the end of the file, since it is known last. */
struct sta_disk_lane_footer {
    unsigned char magic[8];
    uint32_t version;
    uint32_t features;
    uint64_t file_size;
    uint64_t trace_version;
    uint64_t build; /* XXH3 of the build id of the program that wrote it */
    uint64_t directory_at;
    uint64_t head_size;
    uint32_t block_count;
    uint32_t zero;
    uint64_t directory_checksum; /* of the blocks and the head */
    uint64_t footer_checksum;    /* of the bytes before it */
};
static_assert(sizeof(struct sta_disk_lane_footer) == 80, "FORMAT.md: lane file");
static_assert(offsetof(struct sta_disk_lane_footer, footer_checksum) == 72, "FORMAT.md: lane file");

/* ---- what a payload is made of */

/* How the residuals of a stream become its values. */
enum sta_transform {
    STA_TRANSFORM_CONSTANT,   /* no residuals: every value is the base */
    STA_TRANSFORM_PLAIN,      /* value = residual */
    STA_TRANSFORM_DELTA,      /* value = the value before it + residual */
    STA_TRANSFORM_DICTIONARY, /* value = table[residual] */
    STA_TRANSFORM_BY_NAME,    /* no residuals: value = table[name key] */
    STA_TRANSFORM_BY_THREAD,  /* value = the thread's value before it + residual; table: the first ones */
    STA_TRANSFORMS
};

/* How the residuals lie in the file. */
enum sta_layout {
    STA_LAYOUT_PACKED,     /* frames of bits */
    STA_LAYOUT_BYTE_SPLIT, /* first bytes of all residuals, then second bytes, .. */
    STA_LAYOUT_ZSTD,       /* STA_LAYOUT_BYTE_SPLIT, compressed */
    STA_LAYOUT_PATCHED,    /* frames of bits, of which the words that have more follow */
    STA_LAYOUTS
};

/* How a payload says which rows have a value. */
enum sta_validity_encoding {
    STA_VALIDITY_ALL,
    STA_VALIDITY_BY_NAME, /* a bit per name key */
    STA_VALIDITY_BITS,    /* a stream of bytes, a bit per row */
    STA_VALIDITY_ROWS,    /* a stream of row numbers */
    STA_VALIDITY_ENCODINGS
};

#define STA_PACK_FRAME 512  /* residuals of a frame */
#define STA_KEYS_LIMIT 4096 /* most distinct names (threads) of a row group that its columns build on */

#endif

/* fuzz_store - damaged bytes of every store file: refused or read, never a crash, a hang or a huge
 * allocation.
 *
 * The first byte says what the rest is taken for.  Checksums would stop nearly every input at the door, so
 * the target puts the right ones in where the rest is long enough to hold them, as someone would who means
 * harm. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "common/memory.h"
#include "store/format/builder.h"
#include "store/format/contents.h"
#include "store/encoding/codec.h"
#include "store/format/envelope.h"
#include "store/versions/lane_file.h"
#include "store/format/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 900, KEYS = 4, FILES = 50 };
enum { LANES = 253 }; /* first byte: changes of a lane file; the next one: a lane file */

/* What segments of the fuzzer are read with, and one good segment that its inputs change. */
static struct sta_tables *tables;
static unsigned char *good;
static size_t good_size;

static void intern_numbers(struct sta_dictionary *dictionary, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[16];
        int length = snprintf(text, sizeof text, "h%u", i);
        sta_dictionary_intern(dictionary, text, (size_t)length);
    }
}

static void make_tables(void)
{
    tables = sta_tables_create(NULL);
    intern_numbers(sta_tables_names(tables), 20);
    intern_numbers(sta_tables_cats(tables), 3);
    intern_numbers(sta_tables_file_refs(tables), FILES);
    for (uint32_t k = 0; k < KEYS; k++) {
        char key[8];
        int length = snprintf(key, sizeof key, "k%u", k);
        sta_tables_intern_key(tables, key, (size_t)length);
        intern_numbers(sta_tables_values(tables, k), 9);
    }
    for (uint32_t t = 0; t < 6; t++)
        sta_tables_intern_thread(tables, (struct sta_thread){.pid = 1, .tid = t, .host = STA_NO_CODE});
}

static void put_args(struct sta_batch *batch, uint32_t key, uint32_t row)
{
    struct sta_args_column *column = &batch->args[key];
    column->rows[column->count] = row;
    column->kinds[column->count] = (uint8_t)(key == 3   ? row % STA_VALUE_KINDS
                                             : key == 2 ? STA_VALUE_TEXT
                                                        : STA_VALUE_INT);
    column->values[column->count++] = (union sta_value){.integer = key == 1 ? row * 4096 : row % 2};
}

static void make_good(void)
{
    struct sta_pending pending = {.path = "a", .source = 1, .first_line = 1};
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_buffer *bytes;
    sta_batch_init(&pending.batch);
    sta_batch_reserve(&pending.batch, ROWS);
    pending.batch.args = sta_alloc_array(KEYS, sizeof *pending.batch.args);
    pending.batch.args_count = pending.batch.args_capacity = KEYS;
    for (uint32_t k = 0; k < KEYS; k++)
        pending.batch.args[k] =
            (struct sta_args_column){.key = k,
                                     .rows = sta_alloc_array(ROWS, sizeof(uint32_t)),
                                     .kinds = sta_alloc(ROWS),
                                     .values = sta_alloc_array(ROWS, sizeof(union sta_value))};
    for (uint32_t i = 0; i < ROWS; i++) {
        pending.batch.ts[i] = 1000000 + i * 7 % 5000;
        pending.batch.dur[i] = i * i % 90000;
        pending.batch.name[i] = i % 9 ? i % 20 : STA_NO_CODE;
        pending.batch.cat[i] = i % 9 ? i % 20 % 3 : STA_NO_CODE;
        pending.batch.file[i] = i % 3 ? i % FILES : STA_NO_CODE;
        pending.batch.thread[i] = i / 100 % 6;
        for (uint32_t k = 0; k < KEYS; k++)
            if (i % (k + 1) == 0)
                put_args(&pending.batch, k, i);
    }
    pending.batch.count = ROWS;
    struct sta_segment_builder *builder = sta_builder_create(STA_EFFORT_FAST, NULL);
    if (sta_builder_build(builder, &pending, 1, &bytes, &err) != STA_OK)
        abort();
    good_size = bytes->size;
    good = malloc(good_size);
    memcpy(good, bytes->data, good_size);
    sta_builder_destroy(builder);
    sta_batch_fini(&pending.batch);
}

/* ---- segments */

static void seal(unsigned char *bytes, size_t size)
{
    struct sta_disk_header header;
    if (size < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    header.file_size = size;
    if (header.directory_at <= size && header.directory_at % 8 == 0) {
        header.directory_size = size - header.directory_at;
        size_t column_chunks_at =
            header.directory_at + header.row_group_count * sizeof(struct sta_disk_row_group);
        for (uint32_t e = 0; e < header.column_chunk_count; e++) {
            struct sta_disk_column_chunk column_chunk;
            size_t at = column_chunks_at + e * sizeof column_chunk;
            if (at > size || size - at < sizeof column_chunk)
                break;
            memcpy(&column_chunk, bytes + at, sizeof column_chunk);
            if (column_chunk.payload_at <= size &&
                column_chunk.payload_size <= size - column_chunk.payload_at)
                column_chunk.payload_checksum =
                    (uint32_t)XXH3_64bits(bytes + column_chunk.payload_at, column_chunk.payload_size);
            memcpy(bytes + at, &column_chunk, sizeof column_chunk);
        }
        header.directory_checksum = XXH3_64bits(bytes + header.directory_at, header.directory_size);
    }
    header.header_checksum = XXH3_64bits(&header, offsetof(struct sta_disk_header, header_checksum));
    memcpy(bytes, &header, sizeof header);
}

/* Reads everything, as a scan would, and uses every code as an index. */
static void read_all(const struct sta_segment *segment)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_column_values values = {.integers = malloc(STA_ROW_GROUP_ROWS * sizeof(int64_t)),
                                       .numbers = malloc(STA_ROW_GROUP_ROWS * sizeof(double)),
                                       .codes = malloc(STA_ROW_GROUP_ROWS * sizeof(uint32_t)),
                                       .kinds = malloc(STA_ROW_GROUP_ROWS),
                                       .missing = malloc(STA_ROW_GROUP_ROWS)};
    uint8_t *files = sta_alloc(FILES), *threads = sta_alloc(6);
    if (!values.integers || !values.numbers || !values.codes || !values.kinds || !values.missing)
        abort();
    for (uint32_t b = 0; b < STA_MIN(segment->header.row_group_count, 8U); b++)
        for (uint32_t column = 0; column < STA_COLUMN_ARGS + KEYS; column++) {
            int status = sta_segment_read(segment, b, column, &values, &err);
            if (status != STA_OK || values.kind != STA_KIND_CODE || column != STA_COLUMN_FILE)
                continue;
            for (uint32_t i = 0; i < segment->row_groups[b].rows; i++)
                if (values.codes[i] != STA_NO_CODE)
                    files[values.codes[i]] = 1;
        }
    (void)sta_segment_mark_used(segment, files, FILES, threads, 6);
    free(files);
    free(threads);
    free(values.integers);
    free(values.numbers);
    free(values.codes);
    free(values.kinds);
    free(values.missing);
}

static void try_segment(const unsigned char *bytes, size_t size)
{
    struct sta_segment segment;
    struct sta_error err = STA_ERROR_INIT;
    if (sta_segment_attach(&segment, bytes, size, tables, &err) != STA_OK)
        return;
    read_all(&segment);
    sta_segment_detach(&segment);
}

/* Pairs of (offset, byte) change the good segment. */
static void change_good(const uint8_t *data, size_t size, bool sealed)
{
    unsigned char *bytes = malloc(good_size);
    if (bytes == NULL)
        abort();
    memcpy(bytes, good, good_size);
    for (; size >= 3; data += 3, size -= 3)
        bytes[(data[0] | (size_t)data[1] << 8) % good_size] ^= data[2];
    if (sealed)
        seal(bytes, good_size);
    try_segment(bytes, good_size);
    free(bytes);
}

static void whole_segment(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    if (bytes == NULL)
        abort();
    memcpy(bytes, data, size);
    seal(bytes, size);
    try_segment(bytes, size);
    free(bytes);
}

/* ---- lane files */

enum { LANE_VERSION = 7, LANE_BLOCKS = 3, LANE_ROWS = 700 };

static struct sta_buffer good_lanes;

static void put_lane_block(struct sta_buffer *directory, uint32_t block)
{
    struct sta_encoder *encoder = sta_encoder_create(STA_EFFORT_FAST);
    struct sta_encoding_plan plan = {0};
    int64_t values[LANE_ROWS];
    uint32_t buffer[LANE_ROWS];
    struct sta_disk_lane_block entry = {
        .at = good_lanes.size, .rows = LANE_ROWS, .columns = STA_LANE_COLUMNS};
    for (uint32_t c = 0; c < STA_LANE_COLUMNS; c++) {
        for (uint32_t i = 0; i < LANE_ROWS; i++)
            values[i] = (int64_t)i * block * (c + 1) % 1000 - 3;
        struct sta_values column = sta_values_of(values, LANE_ROWS, buffer);
        sta_encode_stream(encoder, &plan, &column, &(struct sta_both_keys){0}, &good_lanes);
    }
    entry.size = (uint32_t)(good_lanes.size - entry.at);
    entry.checksum = (uint32_t)XXH3_64bits(good_lanes.data + entry.at, entry.size);
    sta_put(directory, &entry, sizeof entry);
    sta_encoder_destroy(encoder);
}

/* Puts the right checksums and sizes into what may be a lane file. */
static void seal_lanes(unsigned char *bytes, size_t size)
{
    struct sta_disk_lane_footer footer;
    if (size < sizeof footer)
        return;
    unsigned char *end = bytes + size - sizeof footer;
    memcpy(&footer, end, sizeof footer);
    memcpy(footer.magic, STA_DISK_LANES_MAGIC, sizeof footer.magic);
    footer.file_size = size;
    footer.trace_version = LANE_VERSION;
    footer.build = sta_lane_file_build();
    if (footer.directory_at <= size - sizeof footer) {
        const size_t length = size - sizeof footer - footer.directory_at;
        for (size_t at = 0, b = 0;
             b < footer.block_count && length - at >= sizeof(struct sta_disk_lane_block);
             b++, at += sizeof(struct sta_disk_lane_block)) {
            struct sta_disk_lane_block entry;
            memcpy(&entry, bytes + footer.directory_at + at, sizeof entry);
            if (entry.at <= size && entry.size <= size - entry.at)
                entry.checksum = (uint32_t)XXH3_64bits(bytes + entry.at, entry.size);
            memcpy(bytes + footer.directory_at + at, &entry, sizeof entry);
        }
        footer.directory_checksum = XXH3_64bits(bytes + footer.directory_at, length);
    }
    footer.footer_checksum = XXH3_64bits(&footer, offsetof(struct sta_disk_lane_footer, footer_checksum));
    memcpy(end, &footer, sizeof footer);
}

static void make_good_lanes(void)
{
    struct sta_buffer directory;
    sta_buffer_init(&good_lanes);
    sta_buffer_init(&directory);
    sta_put_text(&good_lanes, STA_DISK_LANES_MAGIC);
    for (uint32_t b = 0; b < LANE_BLOCKS; b++)
        put_lane_block(&directory, b);
    struct sta_disk_lane_footer footer = {.version = STA_DISK_LANES_VERSION,
                                          .directory_at = good_lanes.size,
                                          .head_size = 4,
                                          .block_count = LANE_BLOCKS};
    sta_put(&good_lanes, directory.data, directory.size);
    sta_put_text(&good_lanes, "head");
    sta_put(&good_lanes, &footer, sizeof footer);
    sta_buffer_fini(&directory);
    seal_lanes((unsigned char *)good_lanes.data, good_lanes.size);
}

static void try_lanes(const unsigned char *bytes, size_t size)
{
    struct sta_lane_file file;
    struct sta_error err = STA_ERROR_INIT;
    int64_t *columns[STA_LANE_COLUMNS];
    size_t head_size;
    for (unsigned c = 0; c < STA_LANE_COLUMNS; c++)
        columns[c] = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof **columns);
    if (sta_lane_file_attach(&file, bytes, size, LANE_VERSION, &err) == STA_OK) {
        const unsigned char *head = sta_lane_file_head(&file, &head_size);
        if (head_size > 0 && head[0] + head[head_size - 1] > 2 * UINT8_MAX)
            abort();
        for (uint32_t b = 0; b < STA_MIN(sta_lane_file_block_count(&file), 8U); b++)
            if (sta_lane_file_read(&file, b, STA_LANE_COLUMNS, columns, &err) != STA_OK)
                break;
    }
    sta_lane_file_detach(&file);
    for (unsigned c = 0; c < STA_LANE_COLUMNS; c++)
        free(columns[c]);
}

/* Pairs of (offset, byte) change the good lane file; or @data is one. */
static void damaged_lanes(const uint8_t *data, size_t size, bool changes)
{
    if (good_lanes.size == 0)
        make_good_lanes();
    const size_t length = changes ? good_lanes.size : size;
    unsigned char *bytes = malloc(length ? length : 1);
    if (bytes == NULL)
        abort();
    memcpy(bytes, changes ? (const uint8_t *)good_lanes.data : data, length);
    for (; changes && size >= 3; data += 3, size -= 3)
        bytes[(data[0] | (size_t)data[1] << 8) % length] ^= data[2];
    seal_lanes(bytes, length);
    try_lanes(bytes, length);
    free(bytes);
}

/* ---- everything else */

static void try_contents(const char *bytes, size_t size, unsigned kind)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_manifest manifest;
    struct sta_tables *read;
    struct sta_stored_source **sources;
    struct sta_trace_entry entry;
    size_t count;
    if (kind == STA_ENVELOPE_MANIFEST && sta_manifest_get(bytes, size, &manifest, &err) == STA_OK)
        sta_manifest_fini(&manifest);
    if (kind == STA_ENVELOPE_TABLES && sta_tables_get(bytes, size, NULL, NULL, NULL, &read, &err) == STA_OK)
        sta_tables_destroy(read);
    if (kind == STA_ENVELOPE_SOURCES && sta_sources_get(bytes, size, &sources, &count, &err) == STA_OK)
        sta_stored_sources_free(sources, count);
    if (kind == STA_ENVELOPE_ENTRY && sta_entry_get(bytes, size, &entry, &err) == STA_OK)
        sta_trace_entry_fini(&entry);
}

static void try_envelope(const uint8_t *data, size_t size)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_disk_envelope header;
    char *content;
    size_t content_size;
    unsigned char *bytes = malloc(size ? size : 1);
    if (bytes == NULL)
        abort();
    memcpy(bytes, data, size);
    if (size >= sizeof header) {
        memcpy(&header, bytes, sizeof header);
        header.stored_size = size - sizeof header;
        header.stored_checksum = XXH3_64bits(bytes + sizeof header, header.stored_size);
        header.header_checksum = XXH3_64bits(&header, offsetof(struct sta_disk_envelope, header_checksum));
        memcpy(bytes, &header, sizeof header);
        if (sta_envelope_get(bytes, size, header.kind, &content, &content_size, &err) == STA_OK) {
            try_contents(content, content_size, header.kind);
            free(content);
        }
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (tables == NULL) {
        make_tables();
        make_good();
    }
    if (size == 0)
        return 0;
    const unsigned first = data[0], what = first % 8;
    data++;
    size--;
    if (first == LANES || first == LANES + 1)
        damaged_lanes(data, size, first == LANES);
    else if (what <= 1)
        change_good(data, size, what == 1);
    else if (what == 2)
        whole_segment(data, size);
    else if (what == 3)
        try_envelope(data, size);
    else
        try_contents((const char *)data, size,
                     what == 4   ? STA_ENVELOPE_MANIFEST
                     : what == 5 ? STA_ENVELOPE_TABLES
                     : what == 6 ? STA_ENVELOPE_SOURCES
                                 : STA_ENVELOPE_ENTRY);
    return 0;
}

/* Contents that are made piece by piece: the file holds what the joined content is. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../sample.h"
#include "common/event.h"
#include "common/memory.h"
#include "store/format/contents.h"
#include "store/format/envelope.h"
#include "store/format/pieces.h"

enum { ITEMS = 150001 };

/* What the file holds, beside what is joined; *packed: how it is stored. */
static void check_file(struct sta_content *content, uint32_t *packed)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer joined = {0};
    struct sta_disk_envelope header;
    char *read;
    size_t size;
    int fd;
    scratch_open(&scratch);
    char *path = sta_sprintf("%s/content", scratch.folder);
    sta_content_join(content, &joined);
    cr_assert(!joined.failed);
    cr_assert_eq(sta_content_create_file(path, STA_ENVELOPE_TABLES, content, &fd, &err), 0, "%s", err.text);
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(sta_envelope_read(path, STA_ENVELOPE_TABLES, &read, &size, &err), 0, "%s", err.text);
    cr_assert_eq(size, joined.size);
    cr_assert_eq(memcmp(read, joined.data, size), 0);
    free(read);
    FILE *file = fopen(path, "rb");
    cr_assert_eq(fread(&header, sizeof header, 1, file), 1);
    fclose(file);
    *packed = header.packed;
    cr_assert_eq(sta_content_create_file(path, STA_ENVELOPE_TABLES, content, &fd, &err), STA_EIO);
    free(path);
    sta_buffer_fini(&joined);
    scratch_close(&scratch);
}

Test(pieces, tables_of_many_texts_and_lists)
{
    uint32_t packed;
    char text[80];
    struct sta_content content = {0};
    struct sta_tables *tables = sta_tables_create(NULL);
    const uint32_t tasks = sta_tables_intern_key(tables, "key", 3),
                   inputs = sta_tables_intern_key(tables, "dependencies", 12);
    cr_assert(sta_tables_hold_lists(tables, inputs, tasks));
    for (uint32_t i = 0; i < ITEMS; i++) {
        const int length = snprintf(text, sizeof text, "('load-%032x', %u, 0)", i * 2654435761u, i);
        uint32_t task = sta_dictionary_intern(sta_tables_values(tables, tasks), text, (size_t)length), list;
        sta_dictionary_intern_singles(sta_tables_values(tables, inputs), &task, 1, &list);
    }
    sta_tables_put_content(&content, tables);
    cr_assert_gt(content.piece_count, 2);
    check_file(&content, &packed);
    cr_assert_eq(packed, 1);
    sta_content_fini(&content);
    sta_tables_destroy(tables);
}

static void put_noise(struct sta_buffer *out, const void *context, uint32_t first, uint32_t end)
{
    for (uint64_t item = first; item < end; item++)
        sta_put_u64(out, (item + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
                             (item + 1) * item * UINT64_C(0xff51afd7ed558ccd));
}

static void put_zeros(struct sta_buffer *out, const void *context, uint32_t first, uint32_t end)
{
    for (uint32_t item = first; item < end; item++)
        sta_put_u64(out, 0);
}

static void check_as_is(sta_put_items *put)
{
    uint32_t packed;
    struct sta_content content = {0};
    const size_t size = sta_content_begin_size(&content);
    sta_content_put_items(&content, put, NULL, ITEMS);
    sta_content_end_size(&content, size);
    check_file(&content, &packed);
    cr_assert_eq(packed, 0);
    sta_content_fini(&content);
}

Test(pieces, what_does_not_pack_or_packs_too_well_is_stored_as_it_is)
{
    check_as_is(put_noise);
    check_as_is(put_zeros);
}

Test(pieces, sizes_count_the_pieces_between)
{
    struct sta_content content = {0};
    struct sta_buffer joined = {0};
    const size_t outer = sta_content_begin_size(&content);
    sta_put_char(&content.text, 'a');
    sta_content_put_items(&content, put_zeros, NULL, ITEMS);
    const size_t inner = sta_content_begin_size(&content);
    sta_content_put_items(&content, put_zeros, NULL, 2);
    sta_content_put_items(&content, put_zeros, NULL, ITEMS);
    sta_content_end_size(&content, inner);
    sta_content_end_size(&content, outer);
    sta_put_char(&joined, 'x');
    sta_content_join(&content, &joined);
    struct sta_cursor in = {.at = (unsigned char *)joined.data + 1,
                            .end = (unsigned char *)joined.data + joined.size};
    cr_assert_eq(sta_get_u64(&in), 1 + 8 * (2 * ITEMS + 2) + 8);
    in.at += 1 + 8 * ITEMS;
    cr_assert_eq(sta_get_u64(&in), 8 * (ITEMS + 2));
    sta_content_fini(&content);
    sta_buffer_fini(&joined);
}

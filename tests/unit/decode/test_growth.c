/* How far files that are still written are complete: after each write, as far as lines, members, records go.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/files.h"
#include "common/memory.h"
#include "decoded.h"
#include "folder.h"

static uint64_t look(struct sta_growth *growth, const char *name, enum sta_trace_kind kind,
                     const struct sta_source *source)
{
    struct sta_error err = STA_ERROR_INIT;
    uint64_t complete;
    char *file = sta_path_join(folder, name);
    cr_assert_eq(sta_growth_look(growth, whole_disk(), name, file, kind, source, NULL, &complete, &err),
                 STA_OK);
    free(file);
    return complete;
}

/* A gzip member; free() it. */
static unsigned char *pack(const char *text, size_t size, size_t *packed)
{
    z_stream stream = {0};
    cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t buffer = deflateBound(&stream, size) + 64;
    unsigned char *out = sta_alloc(buffer);
    stream.next_in = (unsigned char *)text;
    stream.avail_in = (unsigned)size;
    stream.next_out = out;
    stream.avail_out = (unsigned)buffer;
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *packed = buffer - stream.avail_out;
    deflateEnd(&stream);
    return out;
}

Test(growth, lines_are_complete_up_to_the_last_end, .init = make_folder, .fini = remove_folder)
{
    struct sta_growth *growth = sta_growth_create(NULL);
    struct sta_buffer text = make_lines(0, 3);
    size_t whole = text.size;
    write_file("a.pfw", text.data, whole, "w");
    cr_assert_eq(look(growth, "a.pfw", STA_TRACE_EVENTS, NULL), whole);
    write_file("a.pfw", "{\"name\":", 8, "a");
    cr_assert_eq(look(growth, "a.pfw", STA_TRACE_EVENTS, NULL), whole);
    struct sta_source read = {.size = whole, .counts = {.json_bytes = whole}};
    char *wide = sta_alloc(300000);
    memset(wide, ' ', 300000);
    write_file("a.pfw", wide, 300000, "a");
    cr_assert_eq(look(growth, "a.pfw", STA_TRACE_EVENTS, &read), whole);
    uint64_t before = sta_growth_bytes(growth);
    write_file("a.pfw", "\n{", 2, "a");
    cr_assert_eq(look(growth, "a.pfw", STA_TRACE_EVENTS, &read), whole + 8 + 300000 + 1);
    cr_assert_lt(sta_growth_bytes(growth) - before, 10, "what was looked at is not looked at again");
    free(wide);
    sta_buffer_fini(&text);
    sta_growth_destroy(growth);
}

Test(growth, members_are_complete_when_they_end, .init = make_folder, .fini = remove_folder)
{
    struct sta_growth *growth = sta_growth_create(NULL);
    struct sta_buffer text = make_lines(0, 400);
    size_t size;
    unsigned char *member = pack(text.data, text.size, &size);
    uint64_t whole = 0;
    for (unsigned m = 0; m < 3; m++) {
        for (size_t at = 0; at < size; at += 97) {
            write_file("a.pfw.gz", member + at, STA_MIN(size - at, (size_t)97), "a");
            if (at + 97 < size)
                cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), whole);
        }
        whole += size;
        cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), whole);
    }
    cr_assert_leq(sta_growth_bytes(growth), 4 * whole, "%llu of %llu",
                  (unsigned long long)sta_growth_bytes(growth), (unsigned long long)whole);
    free(member);
    member = pack(text.data, text.size - 5, &size); /* it ends inside a line */
    write_file("a.pfw.gz", member, size, "a");
    cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), whole);
    free(member);
    whole += size;
    member = pack(text.data + text.size - 5, 5, &size);
    write_file("a.pfw.gz", member, size, "a");
    cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), whole + size);
    free(member);
    sta_buffer_fini(&text);
    sta_growth_destroy(growth);
}

/* More files inside a member than inflaters are kept: some begin again, all come to the same. */
Test(growth, many_members_are_open_at_once, .init = make_folder, .fini = remove_folder)
{
    enum { FILES = 300 };
    struct sta_growth *growth = sta_growth_create(NULL);
    struct sta_buffer text = make_lines(0, 40);
    size_t size;
    unsigned char *member = pack(text.data, text.size, &size);
    for (unsigned part = 0; part < 3; part++)
        for (unsigned i = 0; i < FILES; i++) {
            char name[32];
            size_t from = part * (size / 3), to = part == 2 ? size : from + size / 3;
            snprintf(name, sizeof name, "%u.pfw.gz", i);
            write_file(name, member + from, to - from, "a");
            cr_assert_eq(look(growth, name, STA_TRACE_EVENTS, NULL), part == 2 ? size : 0);
        }
    free(member);
    sta_buffer_fini(&text);
    sta_growth_destroy(growth);
}

Test(growth, a_damaged_or_replaced_file_is_looked_at_anew, .init = make_folder, .fini = remove_folder)
{
    struct sta_growth *growth = sta_growth_create(NULL);
    struct sta_buffer text = make_lines(0, 100);
    size_t size;
    unsigned char *member = pack(text.data, text.size, &size);
    write_file("a.pfw.gz", member, size, "w");
    write_file("a.pfw.gz", member, size / 2, "a");
    cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), size);
    write_file("a.pfw.gz", "no more gzip of any kind, but other bytes", 40, "a");
    cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), size);
    write_file("a.pfw.gz", member, size / 2, "w");
    cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), 0);
    write_file("a.pfw.gz", text.data, 10, "w");
    sta_growth_forget(growth, "a.pfw.gz");
    cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), 0);
    write_file("a.pfw.gz", text.data + 10, text.size - 10, "a");
    cr_assert_eq(look(growth, "a.pfw.gz", STA_TRACE_EVENTS, NULL), text.size);
    cr_assert_eq(look(growth, "none.pfw", STA_TRACE_EVENTS, NULL), UINT64_MAX);
    free(member);
    sta_buffer_fini(&text);
    sta_growth_destroy(growth);
}

Test(growth, records_are_complete_when_their_payload_is, .init = make_folder, .fini = remove_folder)
{
    static const char record[] = {0, 0, 0, 0, 0, 0, 0, 3, 'a', 'b', 'c'};
    static const char damage[] = {1, 0, 0, 0, 0, 0, 0, 3, 'a', 'b', 'c'};
    struct sta_growth *growth = sta_growth_create(NULL);
    write_file("a", record, sizeof record, "a");
    write_file("a", record, 9, "a");
    cr_assert_eq(look(growth, "a", STA_TRACE_DASF, NULL), sizeof record);
    write_file("a", record + 9, sizeof record - 9, "a");
    cr_assert_eq(look(growth, "a", STA_TRACE_DASF, NULL), 2 * sizeof record);
    write_file("a", damage, sizeof damage, "a");
    cr_assert_eq(look(growth, "a", STA_TRACE_DASF, NULL), UINT64_MAX);
    sta_growth_destroy(growth);
}

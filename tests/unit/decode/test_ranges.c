/* A file in ranges, each read by itself: together they are the file. */
#include <criterion/criterion.h>
#include <string.h>

#include "common/buffer.h"
#include "common/files.h"
#include "decoded.h"
#include "folder.h"

#define LINES 3000

static char *path;

static void set_up(void)
{
    make_folder();
    path = sta_path_join(folder, "a.pfw");
}

static void tear_down(void)
{
    free(path);
    remove_folder();
}

/* Good lines, a bad one, an empty one, and one without an end at the end. */
static struct sta_buffer make_text(void)
{
    struct sta_buffer text = make_lines(0, LINES);
    sta_put_text(&text, "{\"bad\n\n");
    struct sta_buffer more = make_lines(LINES, LINES);
    sta_put(&text, more.data, more.size);
    sta_put_text(&text, "{\"id\":1,\"name\":\"rea");
    sta_buffer_fini(&more);
    return text;
}

static int count_rows(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    uint64_t *rows = context;
    *rows += batch->count;
    return STA_OK;
}

/* Return: rows. */
static uint64_t read_range(struct sta_source_range range, struct sta_source *source)
{
    uint64_t rows = 0;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_progress progress = {0};
    *source = (struct sta_source){.path = sta_strdup("a.pfw")};
    const struct sta_decode_file file = {.file = path, .source = source, .range = range};
    const struct sta_decode_request request = {.roots = whole_disk(),
                                               .kind = STA_TRACE_EVENTS,
                                               .files = &file,
                                               .file_count = 1,
                                               .tables = sta_tables_create(NULL),
                                               .workers = 1,
                                               .progress = &progress,
                                               .batch = count_rows,
                                               .context = &rows};
    cr_assert_eq(sta_decode_run(&request, &err), STA_OK, "%s", err.text);
    sta_tables_destroy(request.tables);
    return rows;
}

static struct sta_file_ranges find_ranges(uint64_t bytes)
{
    struct sta_file_ranges ranges;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_file_ranges_find(&ranges, whole_disk(), path, bytes, NULL, 0, &err), STA_OK, "%s",
                 err.text);
    return ranges;
}

static struct sta_source_range count_range(const struct sta_file_range *item)
{
    const _Atomic bool never = false;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_source_range range = item->range;
    cr_assert_eq(sta_file_range_count(whole_disk(), path, item->search, &never, &range, &err), STA_OK, "%s",
                 err.text);
    return range;
}

/* All that can be counted at once is, the last one first.  Return: how many were counted more than once. */
static size_t count_backwards(struct sta_file_ranges *ranges)
{
    size_t counted = 0, rounds = 0, first;
    while ((first = sta_file_ranges_to_count(ranges)) < ranges->count) {
        size_t numbers[200], count = 0;
        for (size_t i = first; i < ranges->count; i = sta_file_ranges_to_count(ranges)) {
            ranges->items[i].state = STA_RANGE_BEING_COUNTED;
            numbers[count++] = i;
        }
        for (size_t i = count; i-- > 0; counted++) {
            const struct sta_source_range range = count_range(&ranges->items[numbers[i]]);
            sta_file_ranges_counted(ranges, numbers[i], &range);
        }
        cr_assert_lt(rounds++, 200);
    }
    cr_assert_eq(ranges->known, ranges->count);
    return counted - (ranges->count - 1);
}

/* The ranges from the last to the first. */
static uint64_t read_backwards(struct sta_file_ranges *ranges, struct sta_source *whole)
{
    uint64_t rows = 0;
    for (size_t i = ranges->count; i-- > 0;) {
        struct sta_source range;
        if (ranges->items[i].range.begin == ranges->items[i].range.end)
            continue;
        rows += read_range(ranges->items[i].range, &range);
        sta_source_join(whole, &range);
        sta_source_fini(&range);
    }
    return rows;
}

static void expect_same(const struct sta_source *a, const struct sta_source *b)
{
    cr_assert_eq(memcmp(&a->counts, &b->counts, sizeof a->counts), 0);
    cr_assert_eq(a->state, b->state);
    cr_assert_str_eq(a->reason ? a->reason : "", b->reason ? b->reason : "");
    cr_assert(a->size == b->size && a->mtime_ns == b->mtime_ns && a->fingerprint == b->fingerprint);
    cr_assert(a->resumable == b->resumable && a->resume_fingerprint == b->resume_fingerprint);
    cr_assert_eq(a->malformed.count, b->malformed.count);
    cr_assert(a->malformed.items[0].line == b->malformed.items[0].line &&
              a->malformed.items[0].offset == b->malformed.items[0].offset);
}

Test(ranges, together_they_are_the_file, .init = set_up, .fini = tear_down)
{
    struct sta_buffer text = make_text();
    struct sta_source single, whole = {.path = NULL};
    write_file("a.pfw", text.data, text.size, "w");
    const uint64_t rows = read_range((struct sta_source_range){.end = 0}, &single);
    cr_assert_eq(single.malformed.items[0].line, LINES + 1);
    struct sta_file_ranges ranges = find_ranges(4096);
    cr_assert_gt(ranges.count, 20);
    for (size_t i = 0; i < ranges.count; i++) {
        const struct sta_source_range range = ranges.items[i].range;
        cr_assert_eq(range.begin, i > 0 ? ranges.items[i - 1].range.end : 0);
        cr_assert(range.begin == 0 || text.data[range.begin - 1] == '\n');
    }
    cr_assert_eq(ranges.items[ranges.count - 1].range.end, text.size);
    cr_assert_eq(count_backwards(&ranges), 0);
    cr_assert_eq(read_backwards(&ranges, &whole), rows);
    expect_same(&single, &whole);
    sta_file_ranges_fini(&ranges);
    sta_source_fini(&single);
    sta_source_fini(&whole);
    sta_buffer_fini(&text);
}

/* Members of some hundred bytes of text, most of which do not end a line. */
static void write_members(const struct sta_buffer *text)
{
    write_file("a.pfw", "", 0, "w");
    for (size_t at = 0, i = 0; at < text->size; i++) {
        const size_t most = STA_MIN(text->size - at, (size_t)(300 + 97 * (i % 7)));
        const char *newline = i % 3 == 0 ? memchr(text->data + at, '\n', text->size - at) : NULL;
        const size_t size = newline != NULL ? (size_t)(newline + 1 - text->data) - at : most;
        write_member("a.pfw", text->data + at, size, "a");
        at += size;
    }
}

static void expect_whole(uint64_t bytes, size_t least)
{
    struct sta_source single, whole = {.path = NULL};
    const uint64_t rows = read_range((struct sta_source_range){.end = 0}, &single);
    struct sta_file_ranges ranges = find_ranges(bytes);
    cr_assert_geq(ranges.count, least);
    count_backwards(&ranges);
    cr_assert_eq(read_backwards(&ranges, &whole), rows);
    expect_same(&single, &whole);
    sta_file_ranges_fini(&ranges);
    sta_source_fini(&single);
    sta_source_fini(&whole);
}

Test(ranges, members_of_a_gzip_file_are_read_apart, .init = set_up, .fini = tear_down)
{
    struct sta_buffer text = make_text();
    write_members(&text);
    expect_whole(4096, 20);
    sta_buffer_fini(&text);
}

Test(ranges, behind_a_damaged_member_nothing_is_read, .init = set_up, .fini = tear_down)
{
    struct sta_buffer text = make_text(), packed = {0};
    struct sta_error err = STA_ERROR_INIT;
    write_members(&text);
    cr_assert_eq(sta_file_read(path, 1 << 30, &packed.data, &packed.size, &err), STA_OK, "%s", err.text);
    for (size_t part = 1; part < 8; part++) {
        packed.data[packed.size / 8 * part] ^= 0x55;
        write_file("a.pfw", packed.data, packed.size, "w");
        expect_whole(4096, 20);
        packed.data[packed.size / 8 * part] ^= 0x55;
    }
    write_file("a.pfw", packed.data, packed.size - 5, "w");
    expect_whole(4096, 20);
    sta_buffer_fini(&packed);
    sta_buffer_fini(&text);
}

static void put_stored_block(struct sta_buffer *out, unsigned size)
{
    sta_put_char(out, '\0');
    sta_put_u32(out, (~size & 0xffff) << 16 | size);
}

/* Heads of members, each of which goes on with the same blocks, of which the last is none. */
static struct sta_buffer make_heads(unsigned count)
{
    enum { SIZE = 65535, HEAD = 15, BLOCKS = 5 };
    static const char begin[10] = "\x1f\x8b\x08";
    struct sta_buffer heads = {0};
    for (unsigned i = 1; i <= count; i++) {
        sta_put(&heads, begin, sizeof begin);
        put_stored_block(&heads, (count - i) * HEAD);
    }
    for (unsigned block = 0; block < BLOCKS; block++) {
        put_stored_block(&heads, SIZE);
        for (unsigned i = 0; i < SIZE; i++)
            sta_put_char(&heads, 'x');
    }
    sta_put_char(&heads, '\xff');
    return heads;
}

Test(ranges, a_gzip_file_in_which_much_looks_like_members_is_not_cut, .init = set_up, .fini = tear_down)
{
    for (unsigned count = 10; count <= 400; count += 390) {
        struct sta_buffer text = make_lines(0, 100), heads = make_heads(count);
        write_member("a.pfw", text.data, text.size, "w");
        write_file("a.pfw", heads.data, heads.size, "a");
        write_member("a.pfw", text.data, text.size, "a");
        struct sta_file_ranges ranges = find_ranges(16);
        cr_assert_eq(ranges.count > 0, count == 10);
        sta_file_ranges_fini(&ranges);
        sta_buffer_fini(&heads);
        sta_buffer_fini(&text);
    }
}

Test(ranges, neither_small_files_nor_long_lines_nor_one_member_is_cut, .init = set_up, .fini = tear_down)
{
    struct sta_buffer text = make_lines(0, 100);
    write_file("a.pfw", text.data, text.size, "w");
    cr_assert_leq(find_ranges(text.size).count, 1);
    write_member("a.pfw", text.data, text.size, "w");
    cr_assert_eq(find_ranges(16).count, 0);
    sta_buffer_clear(&text);
    for (size_t i = 0; i < (8u << 20); i++)
        sta_put_char(&text, 'x');
    write_file("a.pfw", text.data, text.size, "w");
    struct sta_file_ranges ranges = find_ranges(1 << 20);
    cr_assert_eq(ranges.count, 1);
    sta_file_ranges_fini(&ranges);
    sta_buffer_fini(&text);
}

Test(ranges, what_is_rewritten_is_told_from_what_grows, .init = set_up, .fini = tear_down)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer text = make_lines(0, LINES);
    const _Atomic bool never = false;
    write_file("a.pfw", text.data, text.size, "w");
    struct sta_file_ranges ranges = find_ranges(4096);
    write_file("a.pfw", "more\n", 5, "a");
    cr_assert_eq(sta_file_ranges_check(&ranges, whole_disk(), path, &err), STA_OK, "%s", err.text);
    write_file("a.pfw", text.data, text.size / 2, "w");
    cr_assert_eq(sta_file_ranges_check(&ranges, whole_disk(), path, &err), STA_EOUTDATED);
    struct sta_source_range *last = &ranges.items[ranges.count - 1].range;
    cr_assert_eq(sta_file_range_count(whole_disk(), path, false, &never, last, &err), STA_EOUTDATED);
    sta_file_ranges_fini(&ranges);
    sta_buffer_fini(&text);
}

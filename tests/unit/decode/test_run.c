/* Whole files: plain and gzip, cut, damaged, grown; the same result for any number of workers. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/files.h"
#include "common/buffer.h"
#include "decoded.h"

#define LINES 60000

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/strata-decode-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
}

static bool anything(void *context, const char *path)
{
    return true;
}

static struct sta_buffer make_lines(unsigned from, unsigned count)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    for (unsigned i = from; i < from + count; i++)
        sta_put_format(&text,
                       "{\"id\":%u,\"name\":\"f%u\",\"cat\":\"posix\",\"pid\":%u,\"tid\":1,\"ts\":%u,\"dur\":"
                       "3,\"ph\":\"X\","
                       "\"args\":{\"ret\":%u%s}}\n",
                       i, i % 7, i % 3, i * 10, i, i % 5 ? "" : ",\"more\":\"text\"");
    return text;
}

static void write_file(const char *name, const void *bytes, size_t size, const char *mode)
{
    char *path = sta_path_join(folder, name);
    FILE *file = fopen(path, mode);
    cr_assert(file != NULL && fwrite(bytes, 1, size, file) == size);
    fclose(file);
    free(path);
}

static void write_member(const char *name, const void *bytes, size_t size, const char *mode)
{
    char *path = sta_path_join(folder, name);
    gzFile file = gzopen(path, mode);
    cr_assert(file != NULL && gzwrite(file, bytes, (unsigned)size) == (int)size);
    gzclose(file);
    free(path);
}

struct totals {
    pthread_mutex_t lock;
    uint64_t rows, ts, ret, batches;
};

static int add_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    struct totals *totals = context;
    pthread_mutex_lock(&totals->lock);
    totals->batches++;
    totals->rows += batch->count;
    for (uint32_t i = 0; i < batch->count; i++)
        totals->ts += (uint64_t)batch->ts[i];
    for (uint32_t c = 0; c < batch->args_count; c++)
        for (uint32_t i = 0; i < batch->args[c].count; i++)
            totals->ret +=
                batch->args[c].kinds[i] == STA_VALUE_INT ? (uint64_t)batch->args[c].values[i].integer : 0;
    pthread_mutex_unlock(&totals->lock);
    return STA_OK;
}

/* Decodes one file of the folder into @source. */
static struct totals run_file(const char *name, struct sta_source *source, bool resume, unsigned workers)
{
    struct totals totals = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_progress progress = {0};
    char *path = sta_path_join(folder, name);
    if (!resume)
        *source = (struct sta_source){.path = sta_strdup(name)};
    struct sta_decode_file file = {path, source, resume};
    struct sta_decode_request request = {.files = &file,
                                         .file_count = 1,
                                         .tables = sta_tables_create(),
                                         .workers = workers,
                                         .progress = &progress,
                                         .batch = add_batch,
                                         .context = &totals};
    cr_assert_eq(sta_decode_run(&request, &err), STA_OK, "%s", err.text);
    sta_tables_destroy(request.tables);
    free(path);
    return totals;
}

static void expect_all(const struct totals *totals, const struct sta_source *source, uint64_t lines)
{
    cr_assert_eq(source->state, STA_SOURCE_COMPLETE);
    cr_assert_eq(totals->rows, lines);
    cr_assert_eq(source->counts.lines, lines);
    cr_assert_eq(totals->ret, lines * (lines - 1) / 2);
    cr_assert_eq(totals->ts, 10 * (lines * (lines - 1) / 2));
}

Test(run, any_number_of_workers_gives_the_same, .init = make_folder, .fini = remove_folder)
{
    struct sta_buffer text = make_lines(0, LINES);
    write_file("a.pfw", text.data, text.size, "w");
    write_member("b.pfw.gz", text.data, text.size, "w");
    for (unsigned workers = 1; workers <= 4; workers++) {
        static const char *const names[] = {"a.pfw", "b.pfw.gz"};
        for (size_t i = 0; i < 2; i++) {
            struct sta_source source;
            struct totals totals = run_file(names[i], &source, false, workers);
            expect_all(&totals, &source, LINES);
            cr_assert_gt(totals.batches, 1, "one file is split");
            cr_assert_eq(source.counts.json_bytes, text.size);
            sta_source_fini(&source);
        }
    }
    sta_buffer_fini(&text);
}

Test(run, gzip_may_have_many_members_and_padding, .init = make_folder, .fini = remove_folder)
{
    char zeros[512] = {0};
    struct sta_source source;
    for (unsigned i = 0; i < 60; i++) {
        struct sta_buffer text = make_lines(i * 1000, 1000);
        write_member("a.pfw.gz", text.data, text.size, i ? "a" : "w");
        sta_buffer_fini(&text);
    }
    write_file("a.pfw.gz", zeros, sizeof zeros, "a");
    struct totals totals = run_file("a.pfw.gz", &source, false, 2);
    expect_all(&totals, &source, 60000);
    sta_source_fini(&source);
}

Test(run, a_cut_gzip_gives_all_before_the_cut, .init = make_folder, .fini = remove_folder)
{
    struct sta_buffer text = make_lines(0, LINES);
    struct sta_source source;
    write_member("a.pfw.gz", text.data, text.size, "w");
    char *path = sta_path_join(folder, "a.pfw.gz");
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
    cr_assert_eq(truncate(path, st.st_size / 2), 0);
    struct totals totals = run_file("a.pfw.gz", &source, false, 2);
    cr_assert_eq(source.state, STA_SOURCE_TRUNCATED);
    cr_assert_not_null(strstr(source.reason, "ends inside a gzip member"), "%s", source.reason);
    cr_assert(totals.rows > LINES / 4 && totals.rows < LINES);
    cr_assert_leq(source.counts.malformed, 1, "the line at the cut");
    cr_assert_eq(source.counts.lines, totals.rows + source.counts.malformed);
    cr_assert_eq(source.resumable, 0);
    sta_source_fini(&source);
    free(path);
    sta_buffer_fini(&text);
}

Test(run, a_damaged_gzip_is_told_from_a_whole_one, .init = make_folder, .fini = remove_folder)
{
    struct sta_buffer text = make_lines(0, 20000);
    struct sta_source source;
    write_member("a.pfw.gz", text.data, text.size, "w");
    char *path = sta_path_join(folder, "a.pfw.gz");
    FILE *file = fopen(path, "r+");
    fseek(file, -6, SEEK_END); /* inside the checksum */
    fputc(0x55, file);
    fclose(file);
    struct totals totals = run_file("a.pfw.gz", &source, false, 2);
    cr_assert_eq(source.state, STA_SOURCE_TRUNCATED);
    cr_assert_not_null(strstr(source.reason, "damaged"), "%s", source.reason);
    cr_assert_eq(totals.rows, 20000, "what was inflated is kept");
    sta_source_fini(&source);
    free(path);
    sta_buffer_fini(&text);
}

Test(run, grown_files_are_read_on, .init = make_folder, .fini = remove_folder)
{
    static const char *const names[] = {"a.pfw", "b.pfw.gz"};
    struct sta_buffer first = make_lines(0, 30000);
    struct sta_buffer second = make_lines(30000, 30000);
    for (size_t i = 0; i < 2; i++) {
        void (*write)(const char *, const void *, size_t, const char *) = i ? write_member : write_file;
        struct sta_source source;
        char *path = sta_path_join(folder, names[i]);
        write(names[i], first.data, first.size, "w");
        struct totals before = run_file(names[i], &source, false, 2);
        cr_assert_eq(sta_source_compare(&source, path), STA_SOURCE_SAME);
        write(names[i], second.data, second.size, "a");
        cr_assert_eq(sta_source_compare(&source, path), STA_SOURCE_GREW);
        struct totals after = run_file(names[i], &source, true, 2);
        cr_assert_eq(after.rows, 30000, "only what is new");
        before.rows += after.rows;
        before.ret += after.ret;
        before.ts += after.ts;
        expect_all(&before, &source, 60000);
        cr_assert_eq(source.counts.json_bytes, first.size + second.size);
        write(names[i], second.data, second.size, "w");
        cr_assert_eq(sta_source_compare(&source, path), STA_SOURCE_CHANGED);
        sta_source_fini(&source);
        free(path);
    }
    sta_buffer_fini(&first);
    sta_buffer_fini(&second);
}

Test(run, cancelling_stops, .init = make_folder, .fini = remove_folder)
{
    struct sta_buffer text = make_lines(0, LINES);
    struct sta_error err = STA_ERROR_INIT;
    struct totals totals = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct sta_decode_progress progress = {.cancel = true};
    write_file("a.pfw", text.data, text.size, "w");
    char *path = sta_path_join(folder, "a.pfw");
    struct sta_source source = {.path = sta_strdup("a.pfw")};
    struct sta_decode_file file = {path, &source, false};
    struct sta_decode_request request = {.files = &file,
                                         .file_count = 1,
                                         .tables = sta_tables_create(),
                                         .workers = 2,
                                         .progress = &progress,
                                         .batch = add_batch,
                                         .context = &totals};
    cr_assert_eq(sta_decode_run(&request, &err), STA_ECANCELLED);
    sta_tables_destroy(request.tables);
    sta_source_fini(&source);
    free(path);
    sta_buffer_fini(&text);
}

Test(run, listings_find_traces_by_content_and_follow_links_only_inside, .init = make_folder,
     .fini = remove_folder)
{
    struct sta_listing listing;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer text = make_lines(0, 3);
    char *below = sta_path_join(folder, "below/deep");
    char *loop = sta_path_join(folder, "below/loop");
    cr_assert_eq(sta_folder_create(below, &err), STA_OK);
    cr_assert_eq(symlink(folder, loop), 0);
    write_file("below/deep/b.pfw", text.data, text.size, "w");
    write_file("a.txt", text.data, text.size, "w");
    write_file("notes.txt", "hello", 5, "w");
    write_member("c.json.gz", text.data, text.size, "w");
    cr_assert_eq(sta_listing_create(&listing, folder, anything, NULL, &err), STA_OK, "%s", err.text);
    cr_assert_eq(listing.count, 3);
    cr_assert_str_eq(listing.files[0].path, "a.txt");
    cr_assert_str_eq(listing.files[1].path, "below/deep/b.pfw");
    cr_assert_str_eq(listing.files[2].path, "c.json.gz");
    sta_listing_fini(&listing);
    free(below);
    free(loop);
    sta_buffer_fini(&text);
}

static int append_once(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    static const char line[] = "{\"ph\":\"X\",\"ts\":1,\"dur\":1}\n";
    bool *done = context;
    if (!*done)
        write_file("a.pfw", line, strlen(line), "a");
    *done = true;
    return STA_OK;
}

Test(run, what_is_written_meanwhile_is_for_the_next_time, .init = make_folder, .fini = remove_folder)
{
    struct sta_buffer text = make_lines(0, LINES);
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_progress progress = {0};
    struct sta_source source = {.path = sta_strdup("a.pfw")};
    bool appended = false;
    write_file("a.pfw", text.data, text.size, "w");
    char *path = sta_path_join(folder, "a.pfw");
    struct sta_decode_file file = {path, &source, false};
    struct sta_decode_request request = {.files = &file,
                                         .file_count = 1,
                                         .tables = sta_tables_create(),
                                         .workers = 1,
                                         .progress = &progress,
                                         .batch = append_once,
                                         .context = &appended};
    cr_assert_eq(sta_decode_run(&request, &err), STA_OK);
    cr_assert_eq(source.counts.events, LINES);
    cr_assert_eq(source.size, text.size);
    cr_assert_eq(sta_source_compare(&source, path), STA_SOURCE_GREW);
    struct totals after = run_file("a.pfw", &source, true, 1);
    cr_assert_eq(after.rows, 1);
    sta_tables_destroy(request.tables);
    sta_source_fini(&source);
    free(path);
    sta_buffer_fini(&text);
}

Test(run, a_file_that_links_show_again_is_listed_once, .init = make_folder, .fini = remove_folder)
{
    static const char *const links[][2] = {
        {"real", "a-folder"}, {"real/t.pfw", "b.pfw"}, {"nowhere", "c.pfw"}};
    struct sta_listing listing;
    struct sta_error err = STA_ERROR_INIT;
    char *real = sta_path_join(folder, "real");
    cr_assert_eq(sta_folder_create(real, &err), STA_OK);
    write_file("real/t.pfw", "[\n", 2, "w");
    for (size_t i = 0; i < STA_COUNT_OF(links); i++) {
        char *target = sta_path_join(folder, links[i][0]);
        char *link = sta_path_join(folder, links[i][1]);
        cr_assert_eq(symlink(target, link), 0);
        free(target);
        free(link);
    }
    cr_assert_eq(sta_listing_create(&listing, folder, anything, NULL, &err), STA_OK);
    cr_assert_eq(listing.count, 1);
    cr_assert_str_eq(listing.files[0].path, "real/t.pfw");
    sta_listing_fini(&listing);
    free(real);
}

Test(run, blanks_without_end_cost_little, .init = make_folder, .fini = remove_folder)
{
    struct sta_source source;
    size_t size = (size_t)64 << 20;
    char *blanks = sta_alloc(size);
    memset(blanks, '\n', size);
    write_member("a.pfw.gz", blanks, size, "w");
    struct totals totals = run_file("a.pfw.gz", &source, false, 2);
    cr_assert(totals.rows == 0 && source.counts.blank == size && source.counts.lines == size);
    sta_source_fini(&source);
    free(blanks);
}

/* Whole files: plain and gzip, cut, damaged, grown; the same result for any number of workers. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/files.h"
#include "common/buffer.h"
#include "decoded.h"
#include "folder.h"

#define LINES 60000

static enum sta_source_change compare(const struct sta_source *source, const char *path)
{
    enum sta_source_change change;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_source_compare(source, whole_disk(), path, &change, &err), STA_OK, "%s", err.text);
    return change;
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

static uint64_t json_limit; /* of run_file */

/* Decodes one file of the folder into @source. */
static struct totals run_file(const char *name, struct sta_source *source, bool resume, unsigned workers)
{
    struct totals totals = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_progress progress = {0};
    char *path = sta_path_join(folder, name);
    if (!resume)
        *source = (struct sta_source){.path = sta_strdup(name)};
    struct sta_decode_file file = {.file = path, .source = source, .resume = resume};
    struct sta_decode_request request = {.roots = whole_disk(),
                                         .kind = STA_TRACE_EVENTS,
                                         .files = &file,
                                         .file_count = 1,
                                         .json_limit = json_limit,
                                         .tables = sta_tables_create(NULL),
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
        cr_assert_eq(compare(&source, path), STA_SOURCE_SAME);
        write(names[i], second.data, second.size, "a");
        cr_assert_eq(compare(&source, path), STA_SOURCE_GREW);
        struct totals after = run_file(names[i], &source, true, 2);
        cr_assert_eq(after.rows, 30000, "only what is new");
        before.rows += after.rows;
        before.ret += after.ret;
        before.ts += after.ts;
        expect_all(&before, &source, 60000);
        cr_assert_eq(source.counts.json_bytes, first.size + second.size);
        write(names[i], second.data, second.size, "w");
        cr_assert_eq(compare(&source, path), STA_SOURCE_CHANGED);
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
    struct sta_decode_file file = {.file = path, .source = &source};
    struct sta_decode_request request = {.roots = whole_disk(),
                                         .kind = STA_TRACE_EVENTS,
                                         .files = &file,
                                         .file_count = 1,
                                         .tables = sta_tables_create(NULL),
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
    struct sta_decode_file file = {.file = path, .source = &source};
    struct sta_decode_request request = {.roots = whole_disk(),
                                         .kind = STA_TRACE_EVENTS,
                                         .files = &file,
                                         .file_count = 1,
                                         .tables = sta_tables_create(NULL),
                                         .workers = 1,
                                         .progress = &progress,
                                         .batch = append_once,
                                         .context = &appended};
    cr_assert_eq(sta_decode_run(&request, &err), STA_OK);
    cr_assert_eq(source.counts.events, LINES);
    cr_assert_eq(source.size, text.size);
    cr_assert_eq(compare(&source, path), STA_SOURCE_GREW);
    struct totals after = run_file("a.pfw", &source, true, 1);
    cr_assert_eq(after.rows, 1);
    sta_tables_destroy(request.tables);
    sta_source_fini(&source);
    free(path);
    sta_buffer_fini(&text);
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

/* ---- last lines, limits, files that change while they are read */

static const char whole[] = "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\"}\n";

Test(run, a_last_line_that_is_not_whole_is_left_for_the_next_time, .init = make_folder, .fini = remove_folder)
{
    char *path = sta_path_join(folder, "a.pfw");
    for (size_t cut = 1; cut < sizeof whole - 1; cut++) { /* the last one lacks only its newline */
        struct sta_source source;
        write_file("a.pfw", whole, sizeof whole - 1, "w");
        write_file("a.pfw", whole, cut, "a");
        struct totals totals = run_file("a.pfw", &source, false, 2);
        bool complete = cut == sizeof whole - 2;
        cr_assert_eq(totals.rows, complete ? 2 : 1, "%zu", cut);
        cr_assert_eq(source.counts.malformed, 0, "%zu", cut);
        cr_assert_eq(source.counts.lines, totals.rows);
        cr_assert_eq(source.counts.bytes, sizeof whole - 1 + cut);
        cr_assert_eq(source.state, complete ? STA_SOURCE_COMPLETE : STA_SOURCE_TRUNCATED);
        cr_assert_eq(compare(&source, path), STA_SOURCE_SAME, "nothing was written since");
        write_file("a.pfw", whole + cut, sizeof whole - 1 - cut, "a");
        cr_assert_eq(compare(&source, path), complete ? STA_SOURCE_CHANGED : STA_SOURCE_GREW, "%zu", cut);
        if (!complete) {
            totals = run_file("a.pfw", &source, true, 2);
            cr_assert_eq(totals.rows, 1, "%zu", cut);
            cr_assert(source.counts.lines == 2 && source.counts.events == 2 &&
                      source.counts.physical_lines == 2);
            cr_assert_eq(source.state, STA_SOURCE_COMPLETE);
            cr_assert_eq(source.counts.json_bytes, 2 * (sizeof whole - 1));
        }
        sta_source_fini(&source);
    }
    free(path);
}

Test(run, a_limit_of_json_truncates, .init = make_folder, .fini = remove_folder)
{
    struct sta_buffer text = make_lines(0, LINES);
    struct sta_source source;
    write_member("a.pfw.gz", text.data, text.size, "w");
    json_limit = text.size;
    struct totals totals = run_file("a.pfw.gz", &source, false, 2);
    expect_all(&totals, &source, LINES);
    sta_source_fini(&source);
    for (uint64_t less = 1; less < 200; less += 40) {
        json_limit = text.size - less;
        totals = run_file("a.pfw.gz", &source, false, 2);
        cr_assert_eq(source.state, STA_SOURCE_TRUNCATED);
        cr_assert_not_null(strstr(source.reason, "json_bytes_per_file"), "%s", source.reason);
        cr_assert(totals.rows < LINES && totals.rows > LINES - 4 && source.counts.malformed == 0);
        cr_assert(source.counts.json_bytes <= json_limit && source.counts.lines == totals.rows);
        sta_source_fini(&source);
    }
    sta_buffer_fini(&text);
}

/* A bomb: one line without end. */
Test(run, a_limit_of_json_ends_a_line_without_end, .init = make_folder, .fini = remove_folder)
{
    struct sta_source source;
    size_t size = (size_t)64 << 20;
    char *text = sta_alloc(size);
    memset(text, 'x', size);
    write_member("a.pfw.gz", text, size, "w");
    json_limit = (uint64_t)20 << 20;
    run_file("a.pfw.gz", &source, false, 2);
    cr_assert_eq(source.state, STA_SOURCE_TRUNCATED);
    cr_assert_not_null(strstr(source.reason, "json_bytes_per_file"), "%s", source.reason);
    cr_assert_leq(source.counts.json_bytes, json_limit);
    cr_assert(source.counts.lines <= 1 && source.counts.malformed == source.counts.lines);
    sta_source_fini(&source);
    free(text);
}

static char changed_path[128];
static void (*change_file)(void);

static int change_once(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    if (change_file != NULL)
        change_file();
    change_file = NULL;
    return STA_OK;
}

/* Reads a.pfw, which changes once the first batch is out. */
static int run_changing(void (*change)(void), bool accept, struct sta_source *source)
{
    struct sta_buffer text = make_lines(0, LINES);
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_progress progress = {0};
    write_file("a.pfw", text.data, text.size, "w");
    snprintf(changed_path, sizeof changed_path, "%s/a.pfw", folder);
    *source = (struct sta_source){.path = sta_strdup("a.pfw")};
    change_file = change;
    struct sta_decode_file file = {.file = changed_path, .source = source};
    struct sta_decode_request request = {.roots = whole_disk(),
                                         .kind = STA_TRACE_EVENTS,
                                         .files = &file,
                                         .file_count = 1,
                                         .accept_rewritten = accept,
                                         .tables = sta_tables_create(NULL),
                                         .workers = 1,
                                         .progress = &progress,
                                         .batch = change_once};
    int status = sta_decode_run(&request, &err);
    cr_assert(status == STA_OK || strstr(err.text, "rewritten while it was read") != NULL, "%s", err.text);
    sta_tables_destroy(request.tables);
    sta_buffer_fini(&text);
    return status;
}

/* In place, with as many bytes, and with the time that the file had. */
static void rewrite_with_the_same_size_and_time(void)
{
    struct stat st;
    cr_assert_eq(stat(changed_path, &st), 0);
    FILE *file = fopen(changed_path, "r+");
    cr_assert_eq(fseek(file, -20, SEEK_END), 0);
    fputs("##", file);
    fclose(file);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    cr_assert_eq(utimensat(AT_FDCWD, changed_path, times, 0), 0);
}

static void rewrite_the_middle(void)
{
    FILE *file = fopen(changed_path, "r+");
    cr_assert_eq(fseek(file, 1000000, SEEK_SET), 0);
    fputs("##", file);
    fclose(file);
}

static void shorten(void)
{
    cr_assert_eq(truncate(changed_path, 100), 0);
}

static void put_another_in_its_place(void)
{
    char *other = sta_path_join(folder, "other");
    write_file("other", whole, sizeof whole - 1, "w");
    cr_assert_eq(rename(other, changed_path), 0);
    free(other);
}

Test(run, a_file_rewritten_while_it_is_read_is_noticed, .init = make_folder, .fini = remove_folder)
{
    void (*const changes[])(void) = {rewrite_with_the_same_size_and_time, rewrite_the_middle, shorten};
    for (size_t i = 0; i < STA_COUNT_OF(changes); i++) {
        struct sta_source source;
        cr_assert_eq(run_changing(changes[i], false, &source), STA_EOUTDATED, "%zu", i);
        sta_source_fini(&source);
        cr_assert_eq(run_changing(changes[i], true, &source), STA_OK, "%zu", i);
        cr_assert_eq(source.state, STA_SOURCE_STALE, "%zu", i);
        cr_assert_eq(compare(&source, changed_path), STA_SOURCE_CHANGED, "it is read again in any case");
        sta_source_fini(&source);
    }
}

/* What was opened is read to its end. */
Test(run, a_file_replaced_while_it_is_read_is_the_old_one, .init = make_folder, .fini = remove_folder)
{
    struct sta_source source;
    cr_assert_eq(run_changing(put_another_in_its_place, false, &source), STA_OK);
    cr_assert(source.state == STA_SOURCE_COMPLETE && source.counts.events == LINES);
    cr_assert_eq(compare(&source, changed_path), STA_SOURCE_CHANGED);
    sta_source_fini(&source);
}

/* ---- what else lies in a folder */

Test(run, what_is_no_file_is_neither_read_nor_waited_for, .init = make_folder, .fini = remove_folder)
{
    struct sta_listing listing;
    struct sta_error err = STA_ERROR_INIT;
    static const char *const odd[] = {"\xff\xfe.pfw", "line\nend.pfw", "-rf.pfw", " .pfw", "a\\b\".pfw"};
    char *fifo = sta_path_join(folder, "fifo.pfw"), *null = sta_path_join(folder, "null.pfw");
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    cr_assert_eq(symlink("/dev/zero", null), 0);
    for (size_t i = 0; i < STA_COUNT_OF(odd); i++)
        write_file(odd[i], whole, sizeof whole - 1, "w");
    cr_assert_eq(sta_listing_create(&listing, whole_disk(), folder, NULL, &err), STA_OK, "%s", err.text);
    cr_assert(listing.count == STA_COUNT_OF(odd) && listing.others == 2 && listing.unlisted_count == 0);
    sta_listing_fini(&listing);
    struct sta_source source;
    struct totals totals = run_file("fifo.pfw", &source, false, 1);
    cr_assert(totals.rows == 0 && source.state == STA_SOURCE_REJECTED);
    sta_source_fini(&source);
    for (size_t i = 0; i < STA_COUNT_OF(odd); i++) {
        totals = run_file(odd[i], &source, false, 1);
        cr_assert(totals.rows == 1 && source.state == STA_SOURCE_COMPLETE);
        sta_source_fini(&source);
    }
    free(fifo);
    free(null);
}

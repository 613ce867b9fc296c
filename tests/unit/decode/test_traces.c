/* Small traces named for what is right or wrong with them, and the real ones where they are at hand: exact
 * counts, for any number of workers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/files.h"
#include "decoded.h"

/* What a file's lines come to. */
struct expected {
    const char *path;
    uint64_t lines, events, metadata, counters, other, framing, blank, malformed, repaired, unstored_args;
};

static const struct expected files[] = {
    {"good/hashed.pfw", .lines = 6, .events = 2, .metadata = 2, .framing = 2},
    {"good/plain-dialect.pfw", .lines = 4, .events = 2, .framing = 2},
    {"good/other-records.pfw", .lines = 4, .events = 1, .counters = 1, .other = 2},
    {"good/line-ends-of-windows.pfw", .lines = 5, .events = 2, .framing = 2, .blank = 1},
    {"good/byte-order-mark.pfw", .lines = 2, .events = 2},
    {"good/last-line-without-end.pfw", .lines = 2, .events = 2},
    {"good/any-order-and-spacing.pfw", .lines = 1, .events = 1},
    {"good/objects-glued.pfw", .lines = 4, .events = 4},
    {"good/empty.pfw", .lines = 0},
    {"good/brackets-beside-objects.pfw", .lines = 2, .events = 2},
    {"good/keys-twice.pfw", .lines = 1, .events = 1},
    {"bad/cut-in-a-string.pfw", .lines = 3, .events = 2, .malformed = 1},
    {"bad/cut-and-glued-to-the-next.pfw", .lines = 3, .events = 2, .malformed = 1},
    {"bad/cut-at-the-end.pfw", .lines = 1, .events = 1},
    {"bad/escape.pfw", .lines = 3, .events = 2, .malformed = 1},
    {"bad/no-object.pfw", .lines = 6, .events = 2, .malformed = 4},
    {"bad/wrong-types.pfw", .lines = 4, .events = 1, .malformed = 3},
    {"bad/out-of-range.pfw", .lines = 5, .events = 1, .malformed = 4},
    {"bad/not-strict.pfw", .lines = 7, .events = 1, .malformed = 6},
    {"good/nested-deep.pfw", .lines = 3, .events = 3, .unstored_args = 1},
    {"bad/control-characters.pfw", .lines = 2, .events = 2, .repaired = 1},
    {"bad/not-utf8.pfw", .lines = 3, .events = 2, .malformed = 1, .repaired = 1},
    {"bad/lone-surrogate.pfw", .lines = 2, .events = 2, .repaired = 1},
    {"bad/blank-lines.pfw", .lines = 8, .events = 2, .blank = 6},
};

static int count_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    atomic_fetch_add((_Atomic uint64_t *)context, batch->count);
    return STA_OK;
}

/* Everything about a trace that must not depend on the workers. */
struct reading {
    int status;
    struct sta_ledger_counts counts;
    uint64_t rows;
    uint32_t threads, file_refs, hosts;
    struct sta_source first;
};

static struct reading read_trace(const char *path, unsigned workers)
{
    struct sta_listing listing;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_decode_progress progress = {0};
    struct reading reading = {0};
    _Atomic uint64_t rows = 0;
    cr_assert_eq(sta_listing_create(&listing, whole_disk(), path, NULL, &err), STA_OK, "%s", err.text);
    cr_assert_gt(listing.count, 0, "%s", path);
    struct sta_decode_file *inputs = sta_alloc_array(listing.count, sizeof *inputs);
    struct sta_source *sources = sta_alloc_array(listing.count, sizeof *sources);
    for (size_t i = 0; i < listing.count; i++) {
        sources[i].path = sta_strdup(listing.files[i].path);
        inputs[i].source = &sources[i];
        inputs[i].file = sta_listing_path(&listing, path, listing.files[i].path);
    }
    struct sta_decode_request request = {.roots = whole_disk(),
                                         .kind = STA_TRACE_EVENTS,
                                         .files = inputs,
                                         .file_count = listing.count,
                                         .tables = sta_tables_create(NULL),
                                         .workers = workers,
                                         .progress = &progress,
                                         .batch = count_batch,
                                         .context = &rows};
    reading.status = sta_decode_run(&request, &err);
    reading.rows = atomic_load(&rows);
    reading.threads = sta_tables_thread_count(request.tables);
    reading.file_refs = sta_dictionary_count(sta_tables_file_refs(request.tables));
    reading.hosts = sta_dictionary_count(sta_tables_host_refs(request.tables));
    for (size_t i = 0; i < listing.count; i++) {
        sta_ledger_add(&reading.counts, &sources[i].counts);
        if (i == 0)
            sta_source_copy(&reading.first, &sources[i]);
        sta_source_fini(&sources[i]);
        free((char *)inputs[i].file);
    }
    sta_tables_destroy(request.tables);
    sta_listing_fini(&listing);
    free(sources);
    free(inputs);
    return reading;
}

static void expect_counts(const struct reading *reading, const struct expected *expected)
{
#define SAME(field)                                                                                          \
    cr_expect_eq(reading->counts.field, expected->field, "%s: %lu " #field, expected->path,                  \
                 reading->counts.field)
    SAME(lines);
    SAME(events);
    SAME(metadata);
    SAME(counters);
    SAME(other);
    SAME(framing);
    SAME(blank);
    SAME(malformed);
    SAME(repaired);
    SAME(unstored_args);
#undef SAME
    cr_expect_eq(reading->rows, expected->events, "%s: rows", expected->path);
}

Test(traces, each_fault_is_counted_as_what_it_is)
{
    for (size_t i = 0; i < STA_COUNT_OF(files); i++) {
        char *path = sta_path_join(STA_TEST_DATA, files[i].path);
        for (unsigned workers = 1; workers <= 4; workers++) {
            struct reading reading = read_trace(path, workers);
            cr_assert_eq(reading.status, STA_OK, "%s", path);
            bool unended = strstr(path, "cut-at-the-end") != NULL;
            cr_expect_eq(reading.first.state, unended ? STA_SOURCE_TRUNCATED : STA_SOURCE_COMPLETE, "%s",
                         path);
            expect_counts(&reading, &files[i]);
            sta_source_fini(&reading.first);
        }
        free(path);
    }
}

Test(traces, what_is_no_text_is_rejected)
{
    char *path = sta_path_join(STA_TEST_DATA, "bad/binary.pfw");
    struct reading reading = read_trace(path, 1);
    cr_assert_eq(reading.status, STA_OK);
    cr_assert_eq(reading.first.state, STA_SOURCE_REJECTED);
    cr_assert_not_null(strstr(reading.first.reason, "neither text nor gzip"), "%s", reading.first.reason);
    sta_source_fini(&reading.first);
    free(path);
    reading = read_trace(STA_TEST_DATA "/bad", 2);
    cr_assert_eq(reading.status, STA_OK, "one bad file does not stop the others");
    sta_source_fini(&reading.first);
}

/* Real traces lie beside the repository, or where STRATA_SHARED says; without them there is nothing to
 * test. */
static char *real_trace(const char *name)
{
    const char *shared = getenv("STRATA_SHARED");
    char *traces = sta_path_join(shared ? shared : STA_TEST_SHARED, "traces");
    char *path = sta_path_join(traces, name);
    struct stat st;
    free(traces);
    if (stat(path, &st) == 0)
        return path;
    free(path);
    cr_skip_test("needs shared: no real traces here");
    return NULL;
}

Test(traces, unet3d_v100_is_read_exactly)
{
    char *path = real_trace("unet3d-v100");
    static const struct expected expected = {"unet3d-v100", .lines = 18295, .events = 18039, .metadata = 240,
                                             .framing = 16};
    for (unsigned workers = 1; workers <= 4; workers++) {
        struct reading reading = read_trace(path, workers);
        expect_counts(&reading, &expected);
        cr_assert(reading.threads == 56 && reading.file_refs == 208 && reading.hosts == 8,
                  "a hash counts by source");
        sta_source_fini(&reading.first);
    }
    free(path);
}

Test(traces, unet3d_plain_dialect_is_read_exactly)
{
    char *path = real_trace("unet3d-plain-dialect");
    static const struct expected expected = {"unet3d-plain-dialect", .lines = 93895, .events = 93894,
                                             .framing = 1};
    for (unsigned workers = 1; workers <= 4; workers++) {
        struct reading reading = read_trace(path, workers);
        expect_counts(&reading, &expected);
        cr_assert(reading.threads == 21 && reading.hosts == 1);
        sta_source_fini(&reading.first);
    }
    free(path);
}

/* Every call that reads or changes files, and every allocation whose failure is a status, fails once, and
 * once for good: while a trace is ingested, refreshed, opened and read, changed and removed.
 *
 * Whatever fails, the step says so or has done its work; nothing crashes or leaks (the sanitizers see to
 * that); and once the calls work again, the store holds the trace as it was before the step or as it is after
 * it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "common/buffer.h"
#include "common/files.h"
#include "common/memory.h"
#include "common/roots.h"
#include "decode/decode.h"
#include "store/store.h"

#define WORKERS 2
#define LINES 300 /* events of each of the two files */

#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                                  \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fputc('\n', stderr);                                                                             \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

static char sources[] = "/tmp/strata-faults-XXXXXX"; /* folder of a.pfw and b.pfw */
static struct sta_roots *roots;

struct scene {
    char folder[32];
    struct sta_store *store;
    char trace[STA_TRACE_ID_SIZE];
    struct sta_growth *growth; /* NULL: files are read to their ends */
    bool partial;              /* the ingest met files that it could not read, and says so */
};

/* ---- a trace of one or two files */

static void write_source(const char *name, unsigned pid)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer text = {0};
    sta_put_text(&text, "[\n");
    for (unsigned i = 0; i < LINES; i++)
        sta_put_format(
            &text,
            "{\"id\":%u,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":%u,\"tid\":1,\"ts\":%u,\"dur\":5,"
            "\"ph\":\"X\",\"args\":{\"ret\":%u,\"fhash\":\"%u\"}}\n",
            i, pid, 1000 + 10 * i, i, i % 7);
    char *path = sta_path_join(sources, name);
    CHECK(sta_file_publish(path, text.data, text.size, &err) == STA_OK, "%s", err.text);
    free(path);
    sta_buffer_fini(&text);
}

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    return sta_writer_add(context, worker, batch->source, batch, err);
}

/* Reads files first .. end - 1. */
static int decode(struct scene *scene, struct sta_writer *writer, const struct sta_listing *listing,
                  size_t first, size_t end, struct sta_error *err)
{
    struct sta_decode_progress progress = {0};
    struct sta_decode_file files[2] = {{0}};
    const size_t count = end - first;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = sta_writer_add_source(writer, listing->files[first + i].path);
        files[i].file = sta_path_join(sources, listing->files[first + i].path);
        files[i].source = sta_writer_source(writer, number);
        uint64_t complete = UINT64_MAX;
        if (scene->growth != NULL &&
            sta_growth_look(scene->growth, roots, listing->files[first + i].path, files[i].file,
                            STA_TRACE_EVENTS, NULL, NULL, &complete, err) == STA_OK &&
            complete != UINT64_MAX)
            files[i].range.end = complete;
    }
    struct sta_decode_request request = {.roots = roots,
                                         .kind = STA_TRACE_EVENTS,
                                         .files = files,
                                         .file_count = count,
                                         .tables = sta_writer_tables(writer),
                                         .workers = WORKERS,
                                         .progress = &progress,
                                         .batch = take_batch,
                                         .context = writer};
    int status = sta_decode_run(&request, err);
    for (size_t i = 0; i < count; i++) {
        scene->partial |= files[i].source->state != STA_SOURCE_COMPLETE;
        free((char *)files[i].file);
    }
    return status;
}

/* A version of files first .. end - 1, on top of what @base has. */
static int ingest_on(struct scene *scene, struct sta_snapshot *base, size_t first, size_t end,
                     struct sta_error *err)
{
    struct sta_listing listing;
    struct sta_writer *writer;
    struct sta_writer_options options = {.workers = WORKERS, .memory = 1 << 20};
    int status = sta_listing_create(&listing, roots, sources, NULL, err);
    if (status != STA_OK)
        return status;
    scene->partial = listing.unlisted_count > 0;
    status = sta_writer_begin(scene->store, scene->trace, base, NULL, &options, &writer, err);
    if (status == STA_OK) {
        end = STA_MIN(end, listing.count);
        status = decode(scene, writer, &listing, STA_MIN(first, end), end, err);
        if (status == STA_OK)
            status = sta_writer_publish(writer, err);
        else
            sta_writer_abort(writer);
    }
    sta_listing_fini(&listing);
    return status;
}

static int ingest(struct scene *scene, size_t count, struct sta_error *err)
{
    return ingest_on(scene, NULL, 0, count, err);
}

/* ---- the steps that calls fail in */

static int step_ingest(struct scene *scene, struct sta_error *err)
{
    return ingest(scene, 2, err);
}

static int step_follow(struct scene *scene, struct sta_error *err)
{
    scene->growth = sta_growth_create(NULL);
    int status = ingest(scene, 2, err);
    sta_growth_destroy(scene->growth);
    scene->growth = NULL;
    return status;
}

/* The rows of the second file leave, so that segments are written again. */
static int step_drop(struct scene *scene, struct sta_error *err)
{
    static const bool drop[] = {false, true};
    struct sta_snapshot *base;
    struct sta_writer *writer;
    struct sta_writer_options options = {.workers = WORKERS, .memory = 1 << 20};
    int status = sta_snapshot_open(scene->store, scene->trace, &base, err);
    if (status != STA_OK)
        return status;
    status = sta_writer_begin(scene->store, scene->trace, base, drop, &options, &writer, err);
    if (status == STA_OK)
        status = sta_writer_publish(writer, err);
    sta_snapshot_release(base);
    return status;
}

static int go_on(void *context, uint64_t rows, uint64_t total, struct sta_error *err)
{
    return STA_OK;
}

/* The second file comes by a refresh, and both segments become one. */
static int step_compact(struct scene *scene, struct sta_error *err)
{
    struct sta_snapshot *base;
    const struct sta_compaction compaction = {.all = true, .step = go_on};
    bool merged;
    int status = sta_snapshot_open(scene->store, scene->trace, &base, err);
    if (status != STA_OK)
        return status;
    status = ingest_on(scene, base, 1, 2, err);
    sta_snapshot_release(base);
    if (status == STA_OK)
        status = sta_snapshot_open(scene->store, scene->trace, &base, err);
    if (status != STA_OK)
        return status;
    status = sta_store_compact(scene->store, scene->trace, base, &compaction, &merged, err);
    CHECK(status != STA_OK || merged || scene->partial, "two segments were left as they are");
    sta_snapshot_release(base);
    return status;
}

static int read_all(const struct sta_snapshot *snapshot, struct sta_error *err)
{
    static int64_t integers[STA_ROW_GROUP_ROWS];
    static uint32_t codes[STA_ROW_GROUP_ROWS];
    static uint8_t kinds[STA_ROW_GROUP_ROWS], missing[STA_ROW_GROUP_ROWS];
    struct sta_column_values values = {.integers = integers,
                                       .numbers = (double *)integers,
                                       .codes = codes,
                                       .kinds = kinds,
                                       .missing = missing};
    for (size_t b = 0; b < sta_snapshot_row_group_count(snapshot); b++)
        for (uint32_t column = 0; column < STA_COLUMN_ARGS + 2; column++) {
            int status =
                sta_row_group_read(snapshot, sta_snapshot_row_group(snapshot, b), column, &values, err);
            if (status != STA_OK)
                return status;
        }
    return sta_snapshot_entities(snapshot)->file_ref_count > 0 || sta_snapshot_info(snapshot)->events == 0
               ? STA_OK
               : sta_fail(err, STA_ECORRUPT, "references are gone");
}

static int step_read(struct scene *scene, struct sta_error *err)
{
    struct sta_snapshot *snapshot;
    int status = sta_snapshot_open(scene->store, scene->trace, &snapshot, err);
    if (status != STA_OK)
        return status;
    CHECK(sta_snapshot_info(snapshot)->damaged == 0, "what cannot be read now is not damaged");
    status = read_all(snapshot, err);
    sta_snapshot_release(snapshot);
    return status;
}

static int step_keep(struct scene *scene, struct sta_error *err)
{
    struct sta_snapshot *snapshot;
    char *bytes;
    size_t size;
    int status = sta_snapshot_open(scene->store, scene->trace, &snapshot, err);
    if (status != STA_OK)
        return status;
    uint64_t version = sta_snapshot_info(snapshot)->version;
    status = sta_store_put_kept(scene->store, scene->trace, version, "name", "value", 5, err);
    if (status == STA_OK)
        status = sta_store_get_kept(scene->store, scene->trace, version, "name", &bytes, &size, err);
    if (status == STA_OK) {
        CHECK(size == 5 && memcmp(bytes, "value", 5) == 0, "another value than was kept");
        free(bytes);
    }
    sta_snapshot_release(snapshot);
    return status;
}

static int write_lanes(const struct sta_snapshot *snapshot, const int64_t *const *columns,
                       struct sta_error *err)
{
    struct sta_lane_file_writer *writer;
    int status = sta_lane_file_begin(snapshot, &writer, err);
    if (status != STA_OK)
        return status;
    for (unsigned block = 0; block < 2 && status == STA_OK; block++)
        status = sta_lane_file_add(writer, 2, columns, LINES, err);
    if (status == STA_OK)
        return sta_lane_file_publish(writer, "head", 4, err);
    sta_lane_file_abort(writer);
    return status;
}

static int read_lanes(const struct sta_snapshot *snapshot, const int64_t *const *columns,
                      struct sta_error *err)
{
    struct sta_lane_file *file;
    size_t size;
    int64_t *read[2] = {sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t)),
                        sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t))};
    int status = sta_lane_file_open(snapshot, &file, err);
    if (status == STA_OK) {
        const char *head = sta_lane_file_head(file, &size);
        CHECK(size == 4 && memcmp(head, "head", 4) == 0, "another head than was kept");
        status = sta_lane_file_read(file, 1, 2, read, err);
        for (unsigned c = 0; c < 2 && status == STA_OK; c++)
            CHECK(memcmp(read[c], columns[c], LINES * sizeof(int64_t)) == 0, "another block than was kept");
        sta_lane_file_close(file);
    }
    free(read[0]);
    free(read[1]);
    return status;
}

static int step_lanes(struct scene *scene, struct sta_error *err)
{
    struct sta_snapshot *snapshot;
    int64_t columns[2][LINES];
    for (unsigned i = 0; i < LINES; i++) {
        columns[0][i] = i * i % 1000;
        columns[1][i] = -1;
    }
    int status = sta_snapshot_open(scene->store, scene->trace, &snapshot, err);
    if (status != STA_OK)
        return status;
    status = write_lanes(snapshot, (const int64_t *const[]){columns[0], columns[1]}, err);
    if (status == STA_OK)
        status = read_lanes(snapshot, (const int64_t *const[]){columns[0], columns[1]}, err);
    CHECK(status != STA_ECORRUPT, "what cannot be read now is not damaged");
    sta_snapshot_release(snapshot);
    return status;
}

static void rename_it(void *context, struct sta_trace_entry *entry)
{
    free(entry->name);
    entry->name = sta_strdup("renamed");
}

static int step_change(struct scene *scene, struct sta_error *err)
{
    return sta_store_update(scene->store, scene->trace, rename_it, NULL, err);
}

static int step_add(struct scene *scene, struct sta_error *err)
{
    struct sta_trace_entry entry = {.path = sta_strdup("/runs/b"), .name = sta_strdup("b")};
    int status = sta_store_add(scene->store, &entry, err);
    sta_trace_entry_fini(&entry);
    return status;
}

static int step_remove(struct scene *scene, struct sta_error *err)
{
    return sta_store_remove(scene->store, scene->trace, err);
}

static int step_open(struct scene *scene, struct sta_error *err)
{
    unsigned cleaned;
    sta_store_close(scene->store);
    scene->store = NULL;
    return sta_store_open(scene->folder, &scene->store, &cleaned, err);
}

static const struct step {
    const char *name;
    int (*run)(struct scene *scene, struct sta_error *err);
    size_t files;         /* of the trace before */
    size_t before, after; /* events */
    bool removes;
} steps[] = {
    {"ingest", step_ingest, 1, LINES, 2 * LINES, false},
    {"drop", step_drop, 2, 2 * LINES, LINES, false},
    {"read", step_read, 1, LINES, LINES, false},
    {"keep", step_keep, 1, LINES, LINES, false},
    {"change", step_change, 1, LINES, LINES, false},
    {"add", step_add, 1, LINES, LINES, false},
    {"remove", step_remove, 1, LINES, 0, true},
    {"open", step_open, 1, LINES, LINES, false},
    {"lanes", step_lanes, 1, LINES, LINES, false},
    {"compact", step_compact, 1, LINES, 2 * LINES, false},
    {"follow", step_follow, 1, LINES, 2 * LINES, false},
};

/* ---- one step with one failure */

static void open_store(struct scene *scene)
{
    struct sta_error err = STA_ERROR_INIT;
    unsigned cleaned;
    CHECK(sta_store_open(scene->folder, &scene->store, &cleaned, &err) == STA_OK, "%s", err.text);
}

static void begin(struct scene *scene, const struct step *step)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry = {.path = sta_strdup(sources), .name = sta_strdup("a")};
    *scene = (struct scene){.folder = "/tmp/strata-store-XXXXXX"};
    CHECK(mkdtemp(scene->folder) != NULL, "%s", strerror(errno));
    open_store(scene);
    CHECK(sta_store_add(scene->store, &entry, &err) == STA_OK, "%s", err.text);
    memcpy(scene->trace, entry.id, sizeof scene->trace);
    sta_trace_entry_fini(&entry);
    CHECK(ingest(scene, step->files, &err) == STA_OK, "%s", err.text);
    scene->partial = false;
}

static void check_trace(struct scene *scene, const struct step *step, int status)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    int opened = sta_snapshot_open(scene->store, scene->trace, &snapshot, &err);
    if (step->removes && opened == STA_ENOTFOUND)
        return;
    CHECK(opened == STA_OK, "%s: the trace is lost: %s", step->name, err.text);
    CHECK(!(step->removes && status == STA_OK), "what was removed is back");
    uint64_t events = sta_snapshot_info(snapshot)->events;
    CHECK(sta_snapshot_info(snapshot)->damaged == 0, "%s", step->name);
    CHECK(events == step->after || (status != STA_OK && events == step->before) || scene->partial,
          "%s: %llu events, status %d", step->name, (unsigned long long)events, status);
    CHECK(read_all(snapshot, &err) == STA_OK, "%s: %s", step->name, err.text);
    sta_snapshot_release(snapshot);
}

/* Return: whether a call failed. */
static bool run_once(const struct step *step, unsigned long n, int errno_value, bool for_good)
{
    struct scene scene;
    struct sta_error err = STA_ERROR_INIT;
    begin(&scene, step);
    calls_fail_from(n, errno_value, for_good);
    int status = step->run(&scene, &err);
    bool failed = calls_work_again();
    CHECK(status == STA_OK || err.text[0] != '\0', "%s: a failure without a sentence", step->name);
    CHECK(failed || status == STA_OK, "%s: %s", step->name, err.text);
    if (scene.store != NULL && step->run != step_open)
        check_trace(&scene, step, status);
    sta_store_close(scene.store);
    open_store(&scene);
    check_trace(&scene, step, status);
    sta_store_close(scene.store);
    CHECK(sta_tree_remove(scene.folder, &err) == STA_OK, "%s", err.text);
    return failed;
}

static unsigned long run_step(const struct step *step)
{
    static const int errnos[] = {EIO, ENOSPC, EMFILE, ENOMEM};
    unsigned long faults = 0;
    for (int for_good = 0; for_good < 2; for_good++)
        for (size_t e = 0; e < STA_COUNT_OF(errnos); e++)
            for (unsigned long n = 0; run_once(step, n, errnos[e], for_good); n++)
                faults++;
    printf("%-8s %6lu faults\n", step->name, faults);
    fflush(stdout);
    return faults;
}

/* Arguments: which of how many shares of the steps; all when there are none. */
int main(int count, char **arguments)
{
    const size_t share = count > 2 ? strtoul(arguments[1], NULL, 10) : 0,
                 shares = count > 2 ? strtoul(arguments[2], NULL, 10) : 1;
    struct sta_error err = STA_ERROR_INIT;
    unsigned long faults = 0;
    CHECK(mkdtemp(sources) != NULL, "%s", strerror(errno));
    write_source("a.pfw", 1);
    write_source("b.pfw", 2);
    CHECK(sta_roots_create((const char *const[]){sources}, 1, &roots, &err) == STA_OK, "%s", err.text);
    for (size_t i = share; i < STA_COUNT_OF(steps); i += shares)
        faults += run_step(&steps[i]);
    sta_roots_destroy(roots);
    CHECK(sta_tree_remove(sources, &err) == STA_OK, "%s", err.text);
    printf("%lu faults\n", faults);
    return faults > 1000 ? 0 : 1; /* else the wrapped calls are not what the program calls any more */
}

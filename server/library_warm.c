/* Warming: after a start, the columns that queries read before it are decoded while nobody asks, so that the
 * first query finds them in memory.  Which these are the store remembers; a store that does not know warms
 * what most queries need of the trace that was ingested last. */
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "server/library_private.h"

#define MOST_THREADS 4
#define KEEP_NS UINT64_C(60000000000) /* between two looks whether other columns are read by now */

struct task {
    struct sta_library *library;
    struct sta_job *job; /* while it runs */
    unsigned use_count;
    struct sta_column_use *uses;
    _Atomic size_t *next; /* of each use: the row group to be decoded next */
    _Atomic bool ends;    /* it is cancelled */
};

/* Decodes row groups of a column that no other thread takes, until none is left or the trace cannot be
 * read. */
static void warm_column(struct task *task, const struct sta_snapshot *snapshot, uint32_t column,
                        _Atomic size_t *next, struct sta_column_values *values)
{
    const size_t count = sta_snapshot_row_group_count(snapshot);
    struct sta_error ignored = STA_ERROR_INIT; /* damage was logged and quarantined */
    uint64_t looked_ns = 0;
    int status = STA_OK;
    for (size_t i; status == STA_OK && (i = atomic_fetch_add(next, 1)) < count;) {
        status = sta_library_give_way(task->library, task->job, &looked_ns, &ignored);
        if (status == STA_OK)
            status =
                sta_row_group_warm(snapshot, sta_snapshot_row_group(snapshot, i), column, values, &ignored);
    }
    if (status == STA_ECANCELLED)
        atomic_store(&task->ends, true);
}

/* What it works with is allocated once: a thread of the least priority that waits for a processor while it
 * holds a lock of the allocator would keep queries waiting. */
static void warm_some(void *context, unsigned worker)
{
    struct task *task = context;
    struct sta_column_values values = {
        .integers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *values.integers),
        .codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *values.codes),
        .missing = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *values.missing),
    };
    for (unsigned i = 0; i < task->use_count && !atomic_load(&task->ends); i++) {
        struct sta_snapshot *snapshot;
        struct sta_error ignored = STA_ERROR_INIT;
        uint32_t column;
        if (worker == 0)
            sta_job_progress(task->job, (double)i / task->use_count, 0, 0, 0);
        if (sta_library_snapshot(task->library, task->uses[i].trace, &snapshot, &ignored) != STA_OK)
            continue; /* the trace has gone since */
        if (sta_snapshot_find_column(snapshot, task->uses[i].column, &column))
            warm_column(task, snapshot, column, &task->next[i], &values);
        sta_snapshot_release(snapshot);
    }
    free(values.integers);
    free(values.codes);
    free(values.missing);
}

/* What most queries need of the trace that was ingested last. */
static struct sta_column_use *usual_uses(struct sta_library *library, size_t *count)
{
    static const char *const columns[] = {"ts", "dur", "thread", "name", "cat"};
    const struct sta_trace_record *last = NULL;
    struct sta_column_use *uses = sta_alloc_array(STA_COUNT_OF(columns), sizeof *uses);
    uv_mutex_lock(&library->lock);
    for (const struct sta_trace_record *record = library->records; record != NULL; record = record->next)
        if (record->published && (last == NULL || record->ingested_us > last->ingested_us))
            last = record;
    *count = last != NULL ? STA_COUNT_OF(columns) : 0;
    for (size_t i = 0; i < *count; i++) {
        uses[i].column = sta_strdup(columns[i]);
        memcpy(uses[i].trace, last->id, sizeof uses[i].trace);
    }
    uv_mutex_unlock(&library->lock);
    return uses;
}

static int run(void *context, struct sta_job *job, struct sta_error *err)
{
    struct task *task = context;
    const uint64_t begin = uv_hrtime();
    size_t count;
    struct sta_column_use *uses = sta_store_column_uses(task->library->store, &count);
    if (count == 0) {
        sta_column_uses_free(uses, count);
        uses = usual_uses(task->library, &count);
    }
    task->job = job;
    task->uses = uses;
    task->use_count = (unsigned)count;
    task->next = sta_alloc_array(count, sizeof *task->next);
    sta_parallel_run(STA_MIN(task->library->workers, MOST_THREADS), warm_some, task);
    free(task->next);
    sta_column_uses_free(uses, count);
    const struct sta_column_figures figures = sta_store_column_figures(task->library->store);
    sta_log(STA_LOG_DEBUG, "Columns were decoded before anyone asks", "columns",
            sta_log_int((int64_t)figures.warmed), "bytes", sta_log_int((int64_t)figures.warmed_bytes),
            "seconds", sta_log_number((double)(uv_hrtime() - begin) / 1e9), NULL);
    return atomic_load(&task->ends) ? sta_fail(err, STA_ECANCELLED, "cancelled") : STA_OK;
}

void sta_library_start_warming(struct sta_library *library)
{
    char job[STA_JOB_ID_SIZE];
    struct sta_error err = STA_ERROR_INIT;
    if (!library->warms)
        return;
    struct task *task = sta_alloc(sizeof *task);
    task->library = library;
    const struct sta_job_request request = {.kind = "warm",
                                            .run = run,
                                            .release = free,
                                            .context = task,
                                            .in_background = true,
                                            .least_priority = true};
    if (sta_jobs_submit(library->jobs, &request, job, &err) != STA_OK)
        sta_log(STA_LOG_DEBUG, "Cannot decode columns before anyone asks", "cause", err.text, NULL);
}

/* ---- remembering */

void sta_library_keep_columns(struct sta_library *library)
{
    struct sta_error err = STA_ERROR_INIT;
    if (library->warms && sta_store_keep_column_uses(library->store, &err) != STA_OK)
        sta_log(STA_LOG_WARNING, "Cannot remember which columns are read", "cause", err.text, NULL);
}

uint64_t sta_library_keep_columns_if_due(struct sta_library *library)
{
    struct sta_keeping *keeping = &library->keeping;
    const uint64_t now = uv_hrtime(), decoded = sta_store_column_figures(library->store).decoded;
    if (now < keeping->due_ns)
        return keeping->due_ns - now;
    if (keeping->due_ns > 0 && decoded != keeping->decoded)
        sta_library_keep_columns(library);
    *keeping = (struct sta_keeping){.due_ns = now + KEEP_NS, .decoded = decoded};
    return KEEP_NS;
}

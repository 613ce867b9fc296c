/* Reads all row groups twice: to count the events of each thread, then to put them where their thread's
 * begin.  Those of a thread keep the order of the store, which is nearly that of lanes.  Threads are sorted
 * and laid out afterwards, each by one worker. */
#include "timeline/lane_index.h"
#include "timeline/density_base.h"
#include "timeline/details.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "common/memory.h"

#define WHAT "the timeline"
#define MOST_MOVES 32u /* of an event, beyond which sorting is cheaper */

struct reading {
    struct sta_lane_index *index;
    const struct sta_budget *budget;
    const uint32_t *const *ranks; /* by segment and code of a source range */
    uint32_t *counts;             /* by thread: events */
    struct share {                /* of a row group */
        struct thread_rows {
            uint32_t thread, rows; /* once all are counted: where the first one goes in the thread */
        } * items;
        size_t count;
    } * shares; /* by row group */
    struct buffers {
        int64_t *integers[2];
        uint32_t *codes[3];
        uint32_t *rows; /* by thread: of a row group, 0 until it is counted; then where the next one goes */
    } * buffers;        /* by worker */
};

/* ---- one row group */

static int read_column(const struct reading *reading, const struct sta_row_group *row_group, uint32_t column,
                       struct sta_column_values *values, struct sta_error *err)
{
    int rc = sta_row_group_read(reading->index->snapshot, row_group, column, values, err);
    return rc;
}

static int read_threads(const struct reading *reading, unsigned worker, const struct sta_row_group *row_group,
                        const uint32_t **threads, struct sta_error *err)
{
    struct sta_column_values values = {.codes = reading->buffers[worker].codes[0]};
    int rc = read_column(reading, row_group, STA_COLUMN_THREAD, &values, err);
    const struct sta_entities *entities = reading->index->tree.entities;
    for (uint32_t row = 0; rc == 0 && row < row_group->rows; row++) {
        if (values.kind != STA_KIND_CODE || values.codes[row] >= entities->thread_code_count)
            return sta_fail(err, STA_ECORRUPT, "a row group of the store has no threads");
        values.codes[row] =
            reading->index->tree.thread_of_entity[entities->thread_of_code[values.codes[row]]];
    }
    *threads = values.codes;
    return rc;
}

static int count_rows(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct reading *reading = context;
    const struct sta_row_group *row_group = sta_snapshot_row_group(reading->index->snapshot, number);
    struct buffers *buffers = &reading->buffers[worker];
    struct share *share = &reading->shares[number];
    uint32_t *found = buffers->codes[1];
    const uint32_t *threads;
    int rc = read_threads(reading, worker, row_group, &threads, err);
    for (uint32_t row = 0; rc == 0 && row < row_group->rows; row++)
        if (buffers->rows[threads[row]]++ == 0)
            found[share->count++] = threads[row];
    share->items =
        sta_account_alloc(reading->budget->account, share->count + 1, sizeof *share->items, WHAT, err);
    if (rc != 0 || share->items == NULL)
        return err->status;
    for (size_t i = 0; i < share->count; i++) {
        share->items[i] = (struct thread_rows){found[i], buffers->rows[found[i]]};
        buffers->rows[found[i]] = 0;
    }
    return 0;
}

/* Where the rows of each row group go: behind those of the row groups before it. */
static void place_shares(struct reading *reading)
{
    for (size_t g = 0; g < sta_snapshot_row_group_count(reading->index->snapshot); g++)
        for (size_t i = 0; i < reading->shares[g].count; i++) {
            struct thread_rows *item = &reading->shares[g].items[i];
            const uint32_t rows = item->rows;
            item->rows = reading->counts[item->thread];
            reading->counts[item->thread] += rows;
        }
}

static int put_rows(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct reading *reading = context;
    struct sta_lane_index *index = reading->index;
    struct buffers *buffers = &reading->buffers[worker];
    const struct sta_row_group *row_group = sta_snapshot_row_group(index->snapshot, number);
    struct sta_column_values ts = {.integers = buffers->integers[0]},
                             dur = {.integers = buffers->integers[1]}, name = {.codes = buffers->codes[1]},
                             chunk = {.codes = buffers->codes[2]};
    const uint32_t *threads;
    int rc = read_threads(reading, worker, row_group, &threads, err);
    if (rc == 0)
        rc = read_column(reading, row_group, STA_COLUMN_TS, &ts, err);
    if (rc == 0)
        rc = read_column(reading, row_group, STA_COLUMN_DUR, &dur, err);
    if (rc == 0)
        rc = read_column(reading, row_group, STA_COLUMN_NAME, &name, err);
    if (rc == 0)
        rc = read_column(reading, row_group, STA_COLUMN_CHUNK, &chunk, err);
    const uint32_t first = index->first_number[number];
    const struct share *share = &reading->shares[number];
    for (size_t i = 0; i < share->count; i++)
        buffers->rows[share->items[i].thread] = share->items[i].rows;
    for (uint32_t row = 0; rc == 0 && row < row_group->rows; row++) {
        struct sta_lane_thread *thread = &index->threads[threads[row]];
        thread->events[buffers->rows[threads[row]]++] =
            (struct sta_lane_event){.start = ts.integers[row],
                                    .dur = STA_MAX(dur.integers[row], 0),
                                    .name = name.kind == STA_KIND_CODE ? name.codes[row] : STA_NO_CODE,
                                    .parent = STA_NO_EVENT,
                                    .number = first + row};
        index->chunk_ranks[first + row] = reading->ranks[row_group->segment][chunk.codes[row]];
    }
    return rc;
}

/* ---- one thread */

static int compare_events(const void *a, const void *b, void *context)
{
    const struct sta_lane_event *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->dur != y->dur)
        return x->dur > y->dur ? -1 : 1;
    return sta_lane_index_order(context, x, y);
}

/* Moves events that are a few places behind where they belong, such as the longer one of two that start
 * together.  *mended: whether all were. */
static int mend_order(const struct reading *reading, const struct sta_lane_thread *thread, bool *mended,
                      struct sta_error *err)
{
    struct sta_lane_event *events = thread->events;
    int rc = 0;
    *mended = true;
    for (uint32_t i = 1; i < thread->count && *mended && rc == 0; i++) {
        const struct sta_lane_event event = events[i];
        uint32_t at = i;
        for (; at > 0 && compare_events(&events[at - 1], &event, reading->index) > 0; at--) {
            *mended = i - at < MOST_MOVES;
            if (!*mended)
                break;
            events[at] = events[at - 1];
        }
        if (at < i)
            events[at] = event;
        rc = sta_budget_check_step(reading->budget, i, err);
    }
    return rc;
}

static int arrange_thread(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    struct reading *reading = context;
    struct sta_lane_index *index = reading->index;
    struct sta_lane_thread *thread = &index->threads[number];
    (void)worker;
    bool mended;
    int rc = mend_order(reading, thread, &mended, err);
    if (rc == 0 && !mended)
        rc = sta_sort(reading->budget, thread->events, thread->count, sizeof *thread->events, compare_events,
                      index, err);
    return rc == 0 ? sta_lane_thread_lay_out(thread, reading->budget, err) : rc;
}

/* ---- all of it */

static int number_rows(struct sta_lane_index *index, struct sta_error *err)
{
    size_t row_groups = sta_snapshot_row_group_count(index->snapshot);
    index->first_number =
        sta_account_alloc(index->account, row_groups + 1, sizeof *index->first_number, WHAT, err);
    if (index->first_number == NULL)
        return err->status;
    uint64_t rows = 0;
    for (size_t i = 0; i < row_groups; i++) {
        index->first_number[i] = (uint32_t)rows;
        rows += sta_snapshot_row_group(index->snapshot, i)->rows;
        if (rows >= STA_NO_EVENT)
            return sta_fail(err, STA_ELIMIT, "the timeline holds at most %u events of a trace", STA_NO_EVENT);
    }
    index->first_number[row_groups] = (uint32_t)rows;
    index->event_count = rows;
    return 0;
}

static int reserve_space(struct sta_lane_index *index, struct reading *reading, struct sta_error *err)
{
    struct sta_account *account = index->account;
    uint32_t threads = index->tree.thread_count;
    size_t strides = 0;
    for (uint32_t t = 0; t < threads; t++)
        strides += reading->counts[t] / STA_LANE_STRIDE + 1;
    index->events = sta_account_alloc(account, index->event_count + 1, sizeof *index->events, WHAT, err);
    index->chunk_ranks =
        sta_account_alloc(account, index->event_count + 1, sizeof *index->chunk_ranks, WHAT, err);
    index->latest = sta_account_alloc(account, strides + 1, sizeof *index->latest, WHAT, err);
    if (index->events == NULL || index->chunk_ranks == NULL || index->latest == NULL)
        return err->status;
    uint64_t first = 0;
    strides = 0;
    for (uint32_t t = 0; t < threads; t++) {
        struct sta_lane_thread *thread = &index->threads[t];
        thread->count = reading->counts[t];
        thread->events = index->events + first;
        thread->latest = index->latest + strides;
        first += thread->count;
        strides += thread->count / STA_LANE_STRIDE + 1;
    }
    return 0;
}

static int read_events(struct sta_lane_index *index, struct reading *reading, struct sta_error *err)
{
    const struct sta_budget *budget = reading->budget;
    size_t row_groups = sta_snapshot_row_group_count(index->snapshot);
    int rc = sta_tasks_run(budget, row_groups, count_rows, reading, err);
    if (rc == 0)
        place_shares(reading);
    if (rc == 0)
        rc = reserve_space(index, reading, err);
    if (rc == 0)
        rc = sta_tasks_run(budget, row_groups, put_rows, reading, err);
    if (rc == 0)
        rc = sta_tasks_run(budget, index->tree.thread_count, arrange_thread, reading, err);
    return rc;
}

static int reading_init(struct reading *reading, struct sta_error *err)
{
    struct sta_account *account = reading->budget->account;
    const size_t threads = (size_t)reading->index->tree.thread_count + 1;
    const unsigned workers = sta_budget_workers(reading->budget);
    reading->buffers = sta_alloc_array(workers, sizeof *reading->buffers);
    reading->counts = sta_account_calloc(account, threads, sizeof *reading->counts, WHAT, err);
    reading->shares = sta_account_calloc(account, sta_snapshot_row_group_count(reading->index->snapshot) + 1,
                                         sizeof *reading->shares, WHAT, err);
    if (reading->counts == NULL || reading->shares == NULL)
        return err->status;
    for (unsigned w = 0; w < workers; w++) {
        struct buffers *buffers = &reading->buffers[w];
        for (size_t i = 0; i < STA_COUNT_OF(buffers->integers); i++)
            buffers->integers[i] = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t));
        for (size_t i = 0; i < STA_COUNT_OF(buffers->codes); i++)
            buffers->codes[i] = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint32_t));
        buffers->rows = sta_account_calloc(account, threads, sizeof *buffers->rows, WHAT, err);
        if (buffers->rows == NULL)
            return err->status;
    }
    return 0;
}

static void reading_fini(struct reading *reading)
{
    struct sta_account *account = reading->budget->account;
    for (unsigned w = 0; w < sta_budget_workers(reading->budget); w++) {
        struct buffers *buffers = &reading->buffers[w];
        for (size_t i = 0; i < STA_COUNT_OF(buffers->integers); i++)
            free(buffers->integers[i]);
        for (size_t i = 0; i < STA_COUNT_OF(buffers->codes); i++)
            free(buffers->codes[i]);
        sta_account_free(account, buffers->rows);
    }
    for (size_t g = 0; reading->shares != NULL && g < sta_snapshot_row_group_count(reading->index->snapshot);
         g++)
        sta_account_free(account, reading->shares[g].items);
    free(reading->buffers);
    sta_account_free(account, reading->shares);
    sta_account_free(account, reading->counts);
}

static int read_index(struct sta_lane_index *index, const struct sta_budget *budget, struct sta_error *err)
{
    struct reading reading = {.index = index, .budget = budget};
    size_t ranges;
    reading.ranks = sta_snapshot_chunk_ranks(index->snapshot, &ranges, err);
    if (reading.ranks == NULL)
        return err->status;
    int rc = reading_init(&reading, err);
    if (rc == 0)
        rc = read_events(index, &reading, err);
    reading_fini(&reading);
    return rc;
}

/* The largest max(end, start + 1). */
static int64_t last_moment(const struct sta_lane_index *index)
{
    int64_t end = 1;
    for (uint32_t t = 0; t < index->tree.thread_count; t++) {
        const struct sta_lane_thread *thread = &index->threads[t];
        end = STA_MAX(end, STA_MAX(thread->last, thread->events[thread->count - 1].start + 1));
    }
    return end;
}

/* Without its events. */
static int begin_index(struct sta_snapshot *snapshot, struct sta_account *account,
                       const struct sta_budget *budget, struct sta_lane_index **index, struct sta_error *err)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(snapshot);
    struct sta_lane_index *made = sta_alloc(sizeof *made);
    made->account = account;
    made->snapshot = sta_snapshot_retain(snapshot);
    made->ticks_per_second = (int64_t)info->ticks_per_us * 1000000;
    made->origin_ns = (__int128)info->origin_ticks * (1000 / info->ticks_per_us);
    pthread_mutex_init(&made->repair, NULL);
    int rc = sta_lane_tree_init(&made->tree, snapshot, account, budget, err);
    if (rc == 0)
        rc = number_rows(made, err);
    if (rc == 0)
        made->threads = sta_account_calloc(account, (size_t)made->tree.thread_count + 1,
                                           sizeof *made->threads, WHAT, err);
    if (rc == 0 && made->threads == NULL)
        rc = err->status;
    if (rc != 0)
        sta_lane_index_destroy(made);
    else
        *index = made;
    return rc;
}

int sta_lane_index_build(struct sta_snapshot *snapshot, struct sta_account *account,
                         const struct sta_budget *budget, struct sta_lane_index **index,
                         struct sta_error *err)
{
    struct sta_lane_index *made;
    struct sta_budget building = *budget; /* what it takes serves all who ask, not this query alone */
    building.account = account;
    int rc = begin_index(snapshot, account, &building, &made, err);
    if (rc != 0)
        return sta_error_wrap(err, "cannot lay out the timeline");
    rc = read_index(made, &building, err);
    if (rc != 0) {
        sta_lane_index_destroy(made);
        return sta_error_wrap(err, "cannot lay out the timeline");
    }
    made->end = last_moment(made);
    *index = made;
    return 0;
}

/* The index of the version's lane file.  STA_ENOTFOUND when there is none of use. */
static int open_index(struct sta_snapshot *snapshot, struct sta_account *account,
                      const struct sta_budget *budget, struct sta_lane_index **index, struct sta_error *err)
{
    struct sta_lane_file *file;
    struct sta_lane_index *made;
    if (sta_lane_file_open(snapshot, &file, err) != 0)
        return STA_ENOTFOUND;
    int rc = begin_index(snapshot, account, budget, &made, err);
    if (rc != 0) {
        sta_lane_file_close(file);
        return rc;
    }
    made->file = file;
    made->chunk_ranks =
        sta_account_alloc(account, made->event_count + 1, sizeof *made->chunk_ranks, WHAT, err);
    rc = made->chunk_ranks == NULL ? err->status : sta_lane_index_attach(made, err);
    if (rc == 0) {
        *index = made;
        return 0;
    }
    if (rc == STA_ECORRUPT)
        sta_lane_file_quarantine(file, err);
    sta_lane_index_destroy(made);
    return rc == STA_ECORRUPT ? STA_ENOTFOUND : rc;
}

int sta_lane_index_create(struct sta_snapshot *snapshot, struct sta_account *account,
                          const struct sta_budget *budget, struct sta_lane_index **index,
                          struct sta_error *err)
{
    int rc = open_index(snapshot, account, budget, index, err);
    if (rc != STA_ENOTFOUND)
        return rc;
    *err = STA_ERROR_INIT;
    return sta_lane_index_build(snapshot, account, budget, index, err);
}

void sta_lane_index_destroy(struct sta_lane_index *index)
{
    if (index == NULL)
        return;
    for (uint32_t e = 0; e < index->extent_count; e++) {
        sta_account_free(index->account, index->extents[e].items);
        sta_account_free(index->account, index->extents[e].latest);
        sta_account_free(index->account, index->extents[e].parts);
    }
    for (uint32_t t = 0; index->threads != NULL && t < index->tree.thread_count; t++)
        if (index->threads[t].firsts != NULL) {
            sta_account_free(index->account, index->threads[t].firsts);
            sta_account_free(index->account, index->threads[t].latest);
        }
    sta_lane_details_fini(index);
    sta_density_base_fini(index);
    sta_lane_index_destroy(index->rebuilt);
    sta_lane_file_close(index->file);
    sta_account_free(index->account, index->extents);
    sta_account_free(index->account, index->firsts);
    sta_account_free(index->account, atomic_load(&index->figures));
    sta_account_free(index->account, index->events);
    sta_account_free(index->account, index->chunk_ranks);
    sta_account_free(index->account, index->latest);
    sta_account_free(index->account, index->threads);
    sta_account_free(index->account, index->first_number);
    sta_lane_tree_fini(&index->tree);
    sta_snapshot_release(index->snapshot);
    pthread_mutex_destroy(&index->repair);
    free(index);
}

size_t sta_lane_index_bytes(const struct sta_lane_index *index)
{
    uint64_t loaded = index->file == NULL ? index->event_count : 0;
    for (uint32_t e = 0; index->file != NULL && e < index->extent_count; e++)
        for (uint32_t part = 0; part < index->extents[e].part_count; part++)
            if (atomic_load(&index->extents[e].parts[part]) == STA_EXTENT_LOADED)
                loaded += index->extents[e].part_count > 1 ? STA_ROW_GROUP_ROWS : index->extents[e].events;
    uint64_t boxes = 0;
    for (size_t i = 0; i < index->detail_count; i++)
        boxes += atomic_load(&index->details[i].state) == STA_EXTENT_LOADED ? index->details[i].count : 0;
    return boxes * sizeof(struct sta_box) + loaded * sizeof *index->events +
           index->event_count * sizeof *index->chunk_ranks +
           (size_t)index->tree.lane_count * (sizeof *index->tree.lanes + 64);
}

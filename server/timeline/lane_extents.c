/* Events of threads, read from the lane file when they are asked for.
 *
 * Who finds an extent absent claims and loads it, others wait.  A loaded extent never changes, so readers
 * need no lock once they have seen it loaded. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyse/exec/tasks.h"
#include "timeline/lane_index.h"
#include "common/memory.h"

#define WHAT "the timeline"
#define MOST_TICKS (INT64_MAX / 4)
#define LOOK_NS 1000000 /* between two looks at an extent that another thread loads */

int sta_lane_extents_make(struct sta_lane_index *index, struct sta_error *err)
{
    size_t capacity = 0;
    uint32_t block = 0;
    for (uint32_t t = 0; t < index->tree.thread_count;) {
        struct sta_lane_extent extent = {.first_thread = t, .first_block = block};
        while (t < index->tree.thread_count && extent.events < STA_BLOCK_ROWS)
            extent.events += index->threads[t++].count;
        extent.end_thread = t;
        block += (uint32_t)((extent.events + STA_BLOCK_ROWS - 1) / STA_BLOCK_ROWS);
        int rc = STA_ACCOUNT_GROW(index->account, index->extents, capacity, (size_t)index->extent_count + 1,
                                  WHAT, err);
        if (rc != 0)
            return rc;
        index->extents[index->extent_count++] = extent;
    }
    return 0;
}

/* ---- an extent */

static int nonsense(struct sta_error *err)
{
    return sta_fail(err, STA_ECORRUPT, "the lane file's events make no sense");
}

/* Reads an extent's events one after the other. */
struct extent_reader {
    struct sta_lane_index *index;
    const struct sta_lane_extent *extent;
    int64_t *columns[STA_LANE_EVENT_COLUMNS];
    uint32_t block, row, rows; /* the next one; of the block that is decoded */
    uint32_t name_count;
};

static int next_row(struct extent_reader *reader, struct sta_error *err)
{
    if (reader->row < reader->rows)
        return 0;
    if (reader->block >= sta_lane_file_block_count(reader->index->file))
        return nonsense(err);
    reader->row = 0;
    reader->rows = sta_lane_file_rows(reader->index->file, reader->block);
    return sta_lane_file_read(reader->index->file, reader->block++, STA_LANE_EVENT_COLUMNS, reader->columns,
                              err);
}

/* Takes an event in.  Return: whether it makes sense. */
static bool read_event(const struct extent_reader *reader, struct sta_lane_thread *thread, uint32_t place,
                       const struct sta_lane_first *first)
{
    const uint32_t at = reader->row;
    struct sta_lane_event *event = &thread->events[place];
    const struct sta_lane_event *before = place > 0 ? event - 1 : NULL;
    const int64_t step = reader->columns[STA_LANE_START][at], dur = reader->columns[STA_LANE_DUR][at],
                  name = reader->columns[STA_LANE_NAME][at], row = reader->columns[STA_LANE_ROW][at],
                  up = reader->columns[STA_LANE_PARENT][at];
    uint32_t *ranks = reader->index->chunk_ranks;
    const int64_t number =
        (int64_t)((uint64_t)reader->columns[STA_LANE_NUMBER][at] + (before ? before->number : first->number));
    if (step < -MOST_TICKS || step > MOST_TICKS || dur < 0 || dur > MOST_TICKS || name < -1 ||
        name >= (int64_t)reader->name_count || row < 0 || row >= (int64_t)thread->rows || up < 0 ||
        up > (int64_t)place || number < 0 || number >= (int64_t)reader->index->event_count)
        return false;
    *event = (struct sta_lane_event){.dur = dur,
                                     .name = name < 0 ? STA_NO_CODE : (uint32_t)name,
                                     .row = (uint32_t)row,
                                     .parent = up > 0 ? place - (uint32_t)up : STA_NO_EVENT,
                                     .number = (uint32_t)number};
    event->start = step + (before ? sta_lane_reference(thread, place, event->parent) : first->start);
    ranks[number] = (uint32_t)((uint64_t)reader->columns[STA_LANE_RANK][at] +
                               (before ? ranks[before->number] : first->rank));
    const int64_t end = sta_lane_event_end(event);
    int64_t *latest = &thread->latest[place / STA_LANE_STRIDE];
    *latest = place % STA_LANE_STRIDE == 0 ? end : STA_MAX(*latest, end);
    const int64_t parent_end = up > 0 ? sta_lane_event_end(&thread->events[event->parent]) : INT64_MAX;
    return event->start >= (before ? before->start : 0) && end <= thread->last && parent_end > event->start &&
           parent_end >= end;
}

static int read_thread(struct extent_reader *reader, uint32_t number, struct sta_error *err)
{
    struct sta_lane_thread *thread = &reader->index->threads[number];
    int rc = 0;
    for (uint32_t place = 0; place < thread->count && rc == 0; place++, reader->row++) {
        rc = next_row(reader, err);
        if (rc == 0 && !read_event(reader, thread, place, &reader->index->firsts[number]))
            rc = nonsense(err);
    }
    return rc;
}

static int read_events(struct sta_lane_index *index, struct sta_lane_extent *extent, struct sta_error *err)
{
    const struct sta_dictionary *names = sta_tables_names(sta_snapshot_tables(index->snapshot));
    struct extent_reader reader = {.index = index,
                                   .extent = extent,
                                   .block = extent->first_block,
                                   .name_count = sta_dictionary_count(names)};
    struct sta_lane_event *events = extent->items;
    int64_t *latest = extent->latest;
    int64_t *buffer = sta_alloc_array((size_t)STA_LANE_EVENT_COLUMNS * STA_BLOCK_ROWS, sizeof *buffer);
    int rc = 0;
    for (unsigned c = 0; c < STA_LANE_EVENT_COLUMNS; c++)
        reader.columns[c] = buffer + (size_t)c * STA_BLOCK_ROWS;
    for (uint32_t t = extent->first_thread; t < extent->end_thread && rc == 0; t++) {
        index->threads[t].events = events;
        index->threads[t].latest = latest;
        events += index->threads[t].count;
        latest += index->threads[t].count / STA_LANE_STRIDE + 1;
        rc = read_thread(&reader, t, err);
    }
    free(buffer);
    return rc;
}

static int load_extent(struct sta_lane_index *index, struct sta_lane_extent *extent, struct sta_error *err)
{
    size_t strides = 0;
    for (uint32_t t = extent->first_thread; t < extent->end_thread; t++)
        strides += index->threads[t].count / STA_LANE_STRIDE + 1;
    extent->items = sta_account_alloc(index->account, extent->events + 1, sizeof *extent->items, WHAT, err);
    extent->latest = sta_account_alloc(index->account, strides + 1, sizeof *extent->latest, WHAT, err);
    int rc = extent->items == NULL || extent->latest == NULL ? err->status : read_events(index, extent, err);
    if (rc != 0) {
        sta_account_free(index->account, extent->items);
        sta_account_free(index->account, extent->latest);
        extent->items = NULL;
        extent->latest = NULL;
    }
    return rc;
}

/* Whether this thread is to load an extent. */
static bool claim(struct sta_lane_extent *extent)
{
    int absent = STA_EXTENT_ABSENT;
    return atomic_compare_exchange_strong(&extent->state, &absent, STA_EXTENT_LOADING);
}

/* ---- the extents that are asked for */

struct loading {
    struct sta_lane_index *index;
    uint32_t *extents; /* numbers */
    size_t count;
};

static int load_one(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct loading *loading = context;
    struct sta_lane_extent *extent = &loading->index->extents[loading->extents[at]];
    (void)worker;
    if (!claim(extent))
        return 0;
    int rc = load_extent(loading->index, extent, err);
    atomic_store(&extent->state, rc == 0 ? STA_EXTENT_LOADED : STA_EXTENT_ABSENT);
    return rc;
}

/* Waits for extents that other requests load, and loads those that they gave up. */
static int wait_for_others(struct loading *loading, const struct sta_budget *budget, struct sta_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < loading->count && rc == 0;) {
        const struct sta_lane_extent *extent = &loading->index->extents[loading->extents[i]];
        switch (atomic_load(&extent->state)) {
        case STA_EXTENT_LOADED:
            i++;
            break;
        case STA_EXTENT_ABSENT:
            rc = load_one(loading, 0, i, err);
            break;
        default:
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
            rc = sta_budget_check(budget, err);
        }
    }
    return rc;
}

/* The extents of threads, none of which is loaded, by number. */
static int list_absent(struct loading *loading, const uint32_t *threads, size_t count,
                       const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_lane_index *index = loading->index;
    loading->extents = sta_account_alloc(budget->account, (size_t)index->extent_count + 1,
                                         sizeof *loading->extents, WHAT, err);
    if (loading->extents == NULL)
        return err->status;
    uint32_t e = 0;
    for (size_t i = 0; i < count; i++) {
        if (e > 0 && threads[i] < index->extents[e - 1].end_thread)
            continue;
        while (index->extents[e].end_thread <= threads[i])
            e++;
        if (atomic_load(&index->extents[e].state) != STA_EXTENT_LOADED)
            loading->extents[loading->count++] = e;
        e++;
    }
    return 0;
}

/* Makes the index of the events, for extents that are not loaded. */
static int rebuild(struct loading *loading, const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_lane_index *index = loading->index;
    struct sta_error why = *err;
    int rc = 0;
    *err = STA_ERROR_INIT;
    pthread_mutex_lock(&index->repair);
    if (index->rebuilt == NULL) {
        sta_lane_file_quarantine(index->file, &why);
        rc = sta_lane_index_build(index->snapshot, index->account, budget, &index->rebuilt, err);
    }
    for (uint32_t e = 0; e < index->extent_count && rc == 0; e++) {
        struct sta_lane_extent *extent = &index->extents[e];
        if (!claim(extent))
            continue;
        for (uint32_t t = extent->first_thread; t < extent->end_thread; t++) {
            index->threads[t] = index->rebuilt->threads[t];
            for (uint32_t i = 0; i < index->threads[t].count; i++) {
                const uint32_t number = index->threads[t].events[i].number;
                index->chunk_ranks[number] = index->rebuilt->chunk_ranks[number];
            }
        }
        atomic_store(&extent->state, STA_EXTENT_LOADED);
    }
    pthread_mutex_unlock(&index->repair);
    return rc;
}

int sta_lane_index_load(struct sta_lane_index *index, const uint32_t *threads, size_t count,
                        const struct sta_budget *budget, struct sta_error *err)
{
    struct loading loading = {.index = index};
    if (index->file == NULL || count == 0)
        return 0;
    int rc = list_absent(&loading, threads, count, budget, err);
    if (rc == 0 && loading.count > 0)
        rc = sta_tasks_run(budget, loading.count, load_one, &loading, err);
    if (rc == 0)
        rc = wait_for_others(&loading, budget, err);
    if (rc == STA_ECORRUPT) {
        rc = rebuild(&loading, budget, err);
        if (rc == 0)
            rc = wait_for_others(&loading, budget, err);
    }
    sta_account_free(budget->account, loading.extents);
    return rc;
}

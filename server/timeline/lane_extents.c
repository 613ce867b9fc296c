/* Events of threads, read from the lane file when they are asked for: extents of small threads as a whole, of
 * large ones the blocks that reach into a window.
 *
 * Who finds a part absent claims and loads it, others wait.  A loaded part never changes, so readers need no
 * lock once they have seen it loaded. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyse/exec/tasks.h"
#include "timeline/lane_index.h"
#include "common/memory.h"

#define WHAT "the timeline"
#define MOST_TICKS (INT64_MAX / 4)
#define LOOK_NS 1000000 /* between two looks at a part that another thread loads */

static int add_extent(struct sta_lane_index *index, struct sta_lane_extent extent, size_t *capacity,
                      struct sta_error *err)
{
    extent.part_count = extent.end_thread - extent.first_thread == 1 &&
                                sta_lane_is_large(&index->threads[extent.first_thread])
                            ? sta_lane_blocks(&index->threads[extent.first_thread])
                            : 1;
    int rc = STA_ACCOUNT_GROW(index->account, index->extents, *capacity, (size_t)index->extent_count + 1,
                              WHAT, err);
    if (rc == 0)
        extent.parts = sta_account_calloc(index->account, extent.part_count, sizeof *extent.parts, WHAT, err);
    if (rc == 0 && extent.parts == NULL)
        rc = err->status;
    if (rc == 0)
        index->extents[index->extent_count++] = extent;
    return rc;
}

int sta_lane_extents_make(struct sta_lane_index *index, struct sta_error *err)
{
    const struct sta_lane_thread *threads = index->threads;
    const uint32_t count = index->tree.thread_count;
    size_t capacity = 0;
    uint32_t block = 0;
    int rc = 0;
    for (uint32_t t = 0; t < count && rc == 0;) {
        struct sta_lane_extent extent = {.first_thread = t, .first_block = block};
        do
            extent.events += threads[t++].count;
        while (t < count && extent.events < STA_ROW_GROUP_ROWS && !sta_lane_is_large(&threads[t]));
        extent.end_thread = t;
        block += (uint32_t)((extent.events + STA_ROW_GROUP_ROWS - 1) / STA_ROW_GROUP_ROWS);
        rc = add_extent(index, extent, &capacity, err);
    }
    return rc;
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

/* Takes an event in.  @first: what goes before it when it is the first of its thread or block.  Return:
 * whether it makes sense. */
static bool read_event(const struct extent_reader *reader, struct sta_lane_thread *thread, uint32_t place,
                       const struct sta_lane_first *first)
{
    const uint32_t at = reader->row, first_place = sta_lane_first_place(thread, place);
    struct sta_lane_event *event = &thread->events[place];
    const struct sta_lane_event *before = place > first_place ? event - 1 : NULL;
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
    const bool above = up > 0 && event->parent >= first_place; /* its parent is there */
    const int64_t parent_end = above ? sta_lane_event_end(&thread->events[event->parent]) : INT64_MAX;
    return event->start >= (before ? before->start : 0) && end <= thread->last && parent_end > event->start &&
           parent_end >= end;
}

/* The largest ends of a small thread's strides are found; those of a large one are in the head. */
static bool note_end(struct sta_lane_thread *thread, uint32_t place)
{
    const int64_t end = sta_lane_event_end(&thread->events[place]);
    int64_t *latest = &thread->latest[place / STA_LANE_STRIDE];
    if (sta_lane_is_large(thread))
        return end <= *latest;
    *latest = place % STA_LANE_STRIDE == 0 ? end : STA_MAX(*latest, end);
    return true;
}

static int read_places(struct extent_reader *reader, uint32_t number, uint32_t from, uint32_t to,
                       struct sta_error *err)
{
    struct sta_lane_thread *thread = &reader->index->threads[number];
    const struct sta_lane_first *first =
        thread->firsts != NULL ? &thread->firsts[from / STA_ROW_GROUP_ROWS] : &reader->index->firsts[number];
    int rc = 0;
    for (uint32_t place = from; place < to && rc == 0; place++, reader->row++) {
        rc = next_row(reader, err);
        if (rc == 0 && !(read_event(reader, thread, place, first) && note_end(thread, place)))
            rc = nonsense(err);
    }
    return rc;
}

/* Reads a block of a large thread.  The next one begins where, or behind where, it ends. */
static int read_block(struct extent_reader *reader, uint32_t block, struct sta_error *err)
{
    const uint32_t number = reader->extent->first_thread;
    const struct sta_lane_thread *thread = &reader->index->threads[number];
    const uint32_t from = block * STA_ROW_GROUP_ROWS, to = STA_MIN(from + STA_ROW_GROUP_ROWS, thread->count);
    int rc = read_places(reader, number, from, to, err);
    if (rc == 0 && to < thread->count &&
        (thread->events[to - 1].start > thread->firsts[block + 1].start ||
         (thread->events[to - 1].start == thread->firsts[block + 1].start) !=
             thread->firsts[block + 1].goes_on))
        rc = nonsense(err);
    return rc;
}

static int read_extent(struct extent_reader *reader, struct sta_error *err)
{
    int rc = 0;
    for (uint32_t t = reader->extent->first_thread; t < reader->extent->end_thread && rc == 0; t++)
        rc = read_places(reader, t, 0, reader->index->threads[t].count, err);
    return rc;
}

static int read_part(struct sta_lane_index *index, const struct sta_lane_extent *extent, uint32_t part,
                     struct sta_error *err)
{
    const struct sta_dictionary *names = sta_tables_names(sta_snapshot_tables(index->snapshot));
    struct extent_reader reader = {.index = index,
                                   .extent = extent,
                                   .block = extent->first_block + part,
                                   .name_count = sta_dictionary_count(names)};
    int64_t *buffer = sta_alloc_array((size_t)STA_LANE_EVENT_COLUMNS * STA_ROW_GROUP_ROWS, sizeof *buffer);
    for (unsigned c = 0; c < STA_LANE_EVENT_COLUMNS; c++)
        reader.columns[c] = buffer + (size_t)c * STA_ROW_GROUP_ROWS;
    int rc = index->threads[extent->first_thread].firsts != NULL ? read_block(&reader, part, err)
                                                                 : read_extent(&reader, err);
    free(buffer);
    return rc;
}

/* ---- arrays of an extent */

/* Space for all of an extent's events, of which those that are never read take no memory of the machine. */
static int make_arrays(struct sta_lane_index *index, struct sta_lane_extent *extent, struct sta_error *err)
{
    const bool large = index->threads[extent->first_thread].firsts != NULL;
    size_t strides = 0;
    for (uint32_t t = extent->first_thread; t < extent->end_thread; t++)
        strides += index->threads[t].count / STA_LANE_STRIDE + 1;
    extent->items = sta_account_alloc(index->account, extent->events + 1, sizeof *extent->items, WHAT, err);
    if (extent->items != NULL && !large)
        extent->latest = sta_account_alloc(index->account, strides + 1, sizeof *extent->latest, WHAT, err);
    if (extent->items == NULL || (!large && extent->latest == NULL)) {
        sta_account_free(index->account, extent->items);
        extent->items = NULL;
        return err->status;
    }
    struct sta_lane_event *events = extent->items;
    int64_t *latest = extent->latest;
    for (uint32_t t = extent->first_thread; t < extent->end_thread; t++) {
        struct sta_lane_thread *thread = &index->threads[t];
        thread->events = events;
        events += thread->count;
        if (large)
            continue;
        thread->latest = latest;
        latest += thread->count / STA_LANE_STRIDE + 1;
    }
    return 0;
}

static int need_arrays(struct sta_lane_index *index, struct sta_lane_extent *extent, struct sta_error *err)
{
    pthread_mutex_lock(&index->repair);
    int rc = extent->items != NULL ? 0 : make_arrays(index, extent, err);
    pthread_mutex_unlock(&index->repair);
    return rc;
}

/* ---- the parts that are asked for */

struct part {
    uint32_t extent, part; /* numbers */
};

struct loading {
    struct sta_lane_index *index;
    struct sta_account *account;
    struct part *parts;
    size_t count, capacity;
};

static _Atomic uint8_t *state_of(const struct loading *loading, size_t at)
{
    return &loading->index->extents[loading->parts[at].extent].parts[loading->parts[at].part];
}

/* Whether this thread is to load a part. */
static bool claim(_Atomic uint8_t *state)
{
    uint8_t absent = STA_EXTENT_ABSENT;
    return atomic_compare_exchange_strong(state, &absent, STA_EXTENT_LOADING);
}

static int load_one(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct loading *loading = context;
    struct sta_lane_extent *extent = &loading->index->extents[loading->parts[at].extent];
    (void)worker;
    if (!claim(state_of(loading, at)))
        return 0;
    int rc = need_arrays(loading->index, extent, err);
    if (rc == 0)
        rc = read_part(loading->index, extent, loading->parts[at].part, err);
    atomic_store(state_of(loading, at), rc == 0 ? STA_EXTENT_LOADED : STA_EXTENT_ABSENT);
    return rc;
}

/* Waits for parts that other requests load, and loads those that they gave up. */
static int wait_for_others(struct loading *loading, const struct sta_budget *budget, struct sta_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < loading->count && rc == 0;) {
        switch (atomic_load(state_of(loading, i))) {
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

static int add_part(struct loading *loading, uint32_t extent, uint32_t part, struct sta_error *err)
{
    if (atomic_load(&loading->index->extents[extent].parts[part]) == STA_EXTENT_LOADED)
        return 0;
    int rc =
        STA_ACCOUNT_GROW(loading->account, loading->parts, loading->capacity, loading->count + 1, WHAT, err);
    if (rc == 0)
        loading->parts[loading->count++] = (struct part){extent, part};
    return rc;
}

/* Whether an event of a block ends behind a moment. */
static bool reaches(const struct sta_lane_thread *thread, uint32_t block, int64_t moment)
{
    const uint32_t strides = STA_ROW_GROUP_ROWS / STA_LANE_STRIDE,
                   count = (thread->count - 1) / STA_LANE_STRIDE + 1;
    for (uint32_t s = block * strides; s < (block + 1) * strides && s < count; s++)
        if (thread->latest[s] > moment)
            return true;
    return false;
}

/* The blocks of a large thread with events that touch [from, to), and those before them whose events start
 * when the first of such a block does. */
static int add_blocks(struct loading *loading, uint32_t number, int64_t from, int64_t to,
                      struct sta_error *err)
{
    const struct sta_lane_extent *extent = &loading->index->extents[number];
    const struct sta_lane_thread *thread = &loading->index->threads[extent->first_thread];
    int rc = 0;
    bool wanted = false;
    for (uint32_t b = extent->part_count; b-- > 0 && rc == 0;) {
        const bool here = thread->firsts[b].start < to &&
                          (b + 1 == extent->part_count || thread->firsts[b + 1].start >= from);
        wanted = here || (thread->firsts[b].start < to && reaches(thread, b, from)) ||
                 (wanted && thread->firsts[b + 1].goes_on);
        if (wanted)
            rc = add_part(loading, number, b, err);
    }
    return rc;
}

/* The parts of threads' extents that are not loaded. */
static int list_absent(struct loading *loading, const uint32_t *threads, size_t count, int64_t from,
                       int64_t to, struct sta_error *err)
{
    const struct sta_lane_index *index = loading->index;
    int rc = 0;
    uint32_t e = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (e > 0 && threads[i] < index->extents[e - 1].end_thread)
            continue;
        while (index->extents[e].end_thread <= threads[i])
            e++;
        rc = index->threads[index->extents[e].first_thread].firsts != NULL
                 ? add_blocks(loading, e, from, to, err)
                 : add_part(loading, e, 0, err);
        e++;
    }
    return rc;
}

/* ---- of a damaged file */

static void copy_ranks(struct sta_lane_index *index, const struct sta_lane_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        index->chunk_ranks[events[i].number] = index->rebuilt->chunk_ranks[events[i].number];
}

static void take_rebuilt(struct sta_lane_index *index, const struct sta_lane_extent *extent, uint32_t part)
{
    for (uint32_t t = extent->first_thread; t < extent->end_thread; t++) {
        struct sta_lane_thread *thread = &index->threads[t];
        const struct sta_lane_thread *made = &index->rebuilt->threads[t];
        const uint32_t first = thread->firsts != NULL ? part * STA_ROW_GROUP_ROWS : 0;
        const uint32_t count =
            thread->firsts != NULL ? STA_MIN(made->count - first, STA_ROW_GROUP_ROWS) : made->count;
        if (thread->firsts != NULL)
            memcpy(thread->events + first, made->events + first, count * sizeof *made->events);
        else
            *thread = *made;
        copy_ranks(index, made->events + first, count);
    }
}

/* Makes the index of the events, for parts that are not loaded. */
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
        const bool large = index->threads[extent->first_thread].firsts != NULL;
        if (large && extent->items == NULL)
            rc = make_arrays(index, extent, err);
        for (uint32_t part = 0; part < extent->part_count && rc == 0; part++) {
            if (!claim(&extent->parts[part]))
                continue;
            take_rebuilt(index, extent, part);
            atomic_store(&extent->parts[part], STA_EXTENT_LOADED);
        }
    }
    pthread_mutex_unlock(&index->repair);
    return rc;
}

int sta_lane_index_load_window(struct sta_lane_index *index, const uint32_t *threads, size_t count,
                               int64_t from, int64_t to, const struct sta_budget *budget,
                               struct sta_error *err)
{
    struct loading loading = {.index = index, .account = budget->account};
    if (index->file == NULL || count == 0)
        return 0;
    int rc = list_absent(&loading, threads, count, from, to, err);
    if (rc == 0 && loading.count > 0)
        rc = sta_tasks_run(budget, loading.count, load_one, &loading, err);
    if (rc == 0)
        rc = wait_for_others(&loading, budget, err);
    if (rc == STA_ECORRUPT) {
        rc = rebuild(&loading, budget, err);
        if (rc == 0)
            rc = wait_for_others(&loading, budget, err);
    }
    sta_account_free(budget->account, loading.parts);
    return rc;
}

int sta_lane_index_load(struct sta_lane_index *index, const uint32_t *threads, size_t count,
                        const struct sta_budget *budget, struct sta_error *err)
{
    return sta_lane_index_load_window(index, threads, count, INT64_MIN, INT64_MAX, budget, err);
}

/* An index as a lane file, and back: the head has the threads and what is known of all lanes, the blocks the
 * events of all extents one after the other.
 *
 * Columns are differences to the event before, which need few bits; what goes before the first event of a
 * thread, and of each block of a large one, is in the head. */
#include <stdlib.h>
#include <string.h>

#include "timeline/lane_figures.h"
#include "timeline/density_base.h"
#include "timeline/details.h"
#include "common/buffer.h"
#include "common/memory.h"

#define WHAT "the lane file"

/* ---- the head */

static void put_figures(struct sta_buffer *out, const struct sta_lane_figures *figures)
{
    sta_put_varint(out, (uint64_t)figures->threads);
    sta_put_varint(out, (uint64_t)figures->events);
    sta_put_varint(out, (uint64_t)figures->busy);
    sta_put_varint(out, (uint64_t)figures->first);
    sta_put_varint(out, (uint64_t)figures->last);
    sta_put_varint(out, (uint64_t)figures->longest);
    sta_put_varint(out, (uint64_t)figures->rows);
}

/* What tells which blocks of a large thread reach into a window, and what their first events differ from. */
static void put_blocks(struct sta_buffer *out, const struct sta_lane_index *index,
                       const struct sta_lane_thread *thread)
{
    for (uint32_t b = 1; b < sta_lane_blocks(thread); b++) {
        const struct sta_lane_event *first = &thread->events[(size_t)b * STA_ROW_GROUP_ROWS];
        sta_put_varint(out, (uint64_t)first->start << 1 | (first[-1].start == first->start));
        sta_put_varint(out, first->number);
        sta_put_varint(out, index->chunk_ranks[first->number]);
    }
    for (uint32_t s = 0; s * STA_LANE_STRIDE < thread->count; s++)
        sta_put_varint(out, (uint64_t)thread->latest[s]);
}

static void put_head(struct sta_buffer *out, const struct sta_lane_index *index,
                     const struct sta_lane_figures *figures)
{
    sta_put_varint(out, index->tree.thread_count);
    sta_put_varint(out, index->tree.lane_count);
    sta_put_varint(out, (uint64_t)index->end);
    for (uint32_t t = 0; t < index->tree.thread_count; t++) {
        const struct sta_lane_thread *thread = &index->threads[t];
        sta_put_varint(out, thread->count);
        sta_put_varint(out, thread->rows);
        sta_put_varint(out, (uint64_t)thread->last);
        sta_put_varint(out, (uint64_t)thread->events[0].start);
        sta_put_varint(out, thread->events[0].number);
        sta_put_varint(out, index->chunk_ranks[thread->events[0].number]);
        if (sta_lane_is_large(thread))
            put_blocks(out, index, thread);
    }
    for (uint32_t lane = 0; lane < index->tree.lane_count; lane++)
        put_figures(out, &figures[lane]);
}

static int64_t get_time(struct sta_cursor *in)
{
    uint64_t ticks = sta_get_varint(in);
    in->failed = in->failed || ticks > INT64_MAX / 4;
    return in->failed ? 0 : (int64_t)ticks;
}

static uint32_t get_number(struct sta_cursor *in)
{
    uint64_t number = sta_get_varint(in);
    in->failed = in->failed || number >= UINT32_MAX;
    return in->failed ? 0 : (uint32_t)number;
}

static struct sta_lane_figures get_figures(struct sta_cursor *in)
{
    struct sta_lane_figures figures;
    figures.threads = get_time(in);
    figures.events = get_time(in);
    figures.busy = get_time(in);
    figures.first = get_time(in);
    figures.last = get_time(in);
    figures.longest = get_time(in);
    figures.rows = get_time(in);
    return figures;
}

static int get_blocks(struct sta_cursor *in, struct sta_lane_index *index, uint32_t number,
                      struct sta_error *err)
{
    struct sta_lane_thread *thread = &index->threads[number];
    const uint32_t blocks = sta_lane_blocks(thread), strides = (thread->count - 1) / STA_LANE_STRIDE + 1;
    if ((uint64_t)(in->end - in->at) < (uint64_t)blocks + strides)
        in->failed = true; /* before so much memory is asked for */
    if (in->failed)
        return 0;
    thread->firsts = sta_account_alloc(index->account, blocks, sizeof *thread->firsts, WHAT, err);
    if (thread->firsts != NULL)
        thread->latest = sta_account_alloc(index->account, strides, sizeof *thread->latest, WHAT, err);
    if (thread->latest == NULL)
        return err->status;
    thread->firsts[0] = index->firsts[number];
    for (uint32_t b = 1; b < blocks; b++) {
        struct sta_lane_first *first = &thread->firsts[b];
        const uint64_t start = sta_get_varint(in);
        *first = (struct sta_lane_first){.start = (int64_t)(start >> 1), .goes_on = start & 1};
        first->number = get_number(in);
        first->rank = get_number(in);
        in->failed = in->failed || first->start < first[-1].start || first->start > INT64_MAX / 4 ||
                     first->number >= index->event_count;
    }
    for (uint32_t s = 0; s < strides; s++)
        thread->latest[s] = get_time(in);
    return 0;
}

static int get_threads(struct sta_cursor *in, struct sta_lane_index *index, bool *sane, struct sta_error *err)
{
    int rc = 0;
    uint64_t events = 0;
    for (uint32_t t = 0; t < index->tree.thread_count && !in->failed && rc == 0; t++) {
        struct sta_lane_thread *thread = &index->threads[t];
        thread->count = get_number(in);
        thread->rows = get_number(in);
        thread->last = get_time(in);
        index->firsts[t] = (struct sta_lane_first){.start = get_time(in)};
        index->firsts[t].number = get_number(in);
        index->firsts[t].rank = get_number(in);
        events += thread->count;
        in->failed = in->failed || thread->count == 0 || thread->rows == 0 || thread->rows > thread->count;
        if (!in->failed && sta_lane_is_large(thread))
            rc = get_blocks(in, index, t, err);
    }
    *sane = !in->failed && events == index->event_count;
    return rc;
}

static uint32_t event_blocks(const struct sta_lane_index *index)
{
    if (index->extent_count == 0)
        return 0;
    const struct sta_lane_extent *last = &index->extents[index->extent_count - 1];
    return last->first_block + (uint32_t)((last->events + STA_ROW_GROUP_ROWS - 1) / STA_ROW_GROUP_ROWS);
}

int sta_lane_index_attach(struct sta_lane_index *index, struct sta_error *err)
{
    size_t size;
    const unsigned char *head = sta_lane_file_head(index->file, &size);
    struct sta_cursor in = {.at = head, .end = head + size};
    const uint32_t lanes = index->tree.lane_count, threads = index->tree.thread_count;
    struct sta_lane_figures *figures =
        sta_account_alloc(index->account, (size_t)lanes + 1, sizeof *figures, WHAT, err);
    index->firsts = sta_account_alloc(index->account, (size_t)threads + 1, sizeof *index->firsts, WHAT, err);
    atomic_store(&index->figures, figures);
    if (figures == NULL || index->firsts == NULL)
        return err->status;
    const bool same = sta_get_varint(&in) == threads && sta_get_varint(&in) == lanes;
    index->end = get_time(&in);
    bool sane = false;
    int rc = same ? get_threads(&in, index, &sane, err) : 0;
    if (rc != 0)
        return rc;
    if (!sane)
        return sta_fail(err, STA_ECORRUPT, "the lane file is of other threads");
    for (uint32_t lane = 0; lane < lanes; lane++)
        figures[lane] = get_figures(&in);
    rc = sta_lane_extents_make(index, err);
    uint32_t block = event_blocks(index);
    if (rc == 0)
        rc = sta_lane_details_attach(index, &in, &block, err);
    if (rc == 0)
        rc = sta_density_base_attach(index, &in, &block, err);
    if (rc == 0 && (in.failed || in.at != in.end || block != sta_lane_file_block_count(index->file)))
        rc = sta_fail(err, STA_ECORRUPT, "the lane file's head makes no sense");
    return rc;
}

/* ---- writing */

int64_t sta_lane_reference(const struct sta_lane_thread *thread, uint32_t place, uint32_t parent)
{
    const struct sta_lane_event *events = thread->events;
    const uint32_t first = sta_lane_first_place(thread, place);
    uint32_t before = place - 1;
    if (parent == before)
        return events[before].start;
    while (events[before].parent != parent && events[before].parent != STA_NO_EVENT &&
           events[before].parent >= first)
        before = events[before].parent;
    return events[before].parent == parent ? sta_lane_event_end(&events[before]) : events[place - 1].start;
}

struct keeping {
    struct sta_timeline *timeline;
    struct sta_presets *presets;
    const char *preset;
    struct sta_lane_index *index;
    const struct sta_budget *budget;
    struct sta_lane_file_writer *writer;
    int64_t *columns[STA_LANE_EVENT_COLUMNS];
    uint32_t rows;
};

static int put_block(struct keeping *keeping, struct sta_error *err)
{
    if (keeping->rows == 0)
        return 0;
    int rc = sta_lane_file_add(keeping->writer, STA_LANE_EVENT_COLUMNS,
                               (const int64_t *const *)keeping->columns, keeping->rows, err);
    keeping->rows = 0;
    return rc == 0 ? sta_budget_check(keeping->budget, err) : rc;
}

static void put_event(struct keeping *keeping, const struct sta_lane_thread *thread, uint32_t place)
{
    const bool first = place == sta_lane_first_place(thread, place);
    const struct sta_lane_event *event = &thread->events[place], *before = first ? event : event - 1;
    const uint32_t *ranks = keeping->index->chunk_ranks, at = keeping->rows++;
    int64_t *const *columns = keeping->columns;
    columns[STA_LANE_START][at] = first ? 0 : event->start - sta_lane_reference(thread, place, event->parent);
    columns[STA_LANE_DUR][at] = event->dur;
    columns[STA_LANE_NAME][at] = event->name == STA_NO_CODE ? -1 : (int64_t)event->name;
    columns[STA_LANE_ROW][at] = event->row;
    columns[STA_LANE_PARENT][at] = event->parent == STA_NO_EVENT ? 0 : (int64_t)place - event->parent;
    columns[STA_LANE_NUMBER][at] = (int64_t)event->number - before->number;
    columns[STA_LANE_RANK][at] = (int64_t)ranks[event->number] - ranks[before->number];
}

static int put_extents(struct keeping *keeping, struct sta_error *err)
{
    const struct sta_lane_index *index = keeping->index;
    int rc = 0;
    sta_budget_expect(keeping->budget, index->extent_count);
    for (uint32_t e = 0; e < index->extent_count && rc == 0; e++) {
        for (uint32_t t = index->extents[e].first_thread; t < index->extents[e].end_thread && rc == 0; t++)
            for (uint32_t place = 0; place < index->threads[t].count && rc == 0; place++) {
                put_event(keeping, &index->threads[t], place);
                rc = keeping->rows == STA_ROW_GROUP_ROWS ? put_block(keeping, err) : 0;
            }
        if (rc == 0)
            rc = put_block(keeping, err);
        sta_budget_step(keeping->budget);
    }
    return rc;
}

/* The figures of all lanes, of all events. */
static int measure_all(struct sta_lane_index *index, const struct sta_budget *budget,
                       struct sta_lane_figures **figures, struct sta_error *err)
{
    const uint32_t threads = index->tree.thread_count;
    struct sta_selection all = {
        .account = budget->account, .index = index, .to = index->end, .thread_count = threads};
    all.threads = sta_account_alloc(budget->account, (size_t)threads + 1, sizeof *all.threads, WHAT, err);
    if (all.threads == NULL)
        return err->status;
    for (uint32_t t = 0; t < threads; t++)
        all.threads[t] = t;
    int rc = sta_lane_figures_measure(&all, budget, figures, err);
    sta_account_free(budget->account, all.threads);
    return rc;
}

static int write_file(struct keeping *keeping, struct sta_error *err)
{
    struct sta_lane_figures *figures = NULL;
    struct sta_buffer head;
    sta_buffer_init(&head);
    int rc = put_extents(keeping, err);
    if (rc == 0)
        rc = measure_all(keeping->index, keeping->budget, &figures, err);
    if (rc == 0) {
        put_head(&head, keeping->index, figures);
        rc = sta_lane_details_keep(keeping->index, keeping->writer, &head, keeping->budget, err);
    }
    if (rc == 0)
        rc = sta_density_base_keep(keeping->timeline, keeping->presets, keeping->preset, keeping->writer,
                                   &head, keeping->budget, err);
    if (rc == 0)
        rc = sta_lane_file_publish(keeping->writer, head.data, head.size, err);
    else
        sta_lane_file_abort(keeping->writer);
    sta_account_free(keeping->budget->account, figures);
    sta_buffer_fini(&head);
    return rc;
}

int sta_lane_index_keep(struct sta_timeline *timeline, struct sta_presets *presets, const char *preset,
                        const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_lane_index *index = timeline->index;
    struct keeping keeping = {
        .timeline = timeline, .presets = presets, .preset = preset, .index = index, .budget = budget};
    if (index->extents == NULL) {
        int rc = sta_lane_extents_make(index, err);
        if (rc != 0)
            return rc;
    }
    int rc = sta_lane_file_begin(index->snapshot, &keeping.writer, err);
    if (rc != 0)
        return rc;
    int64_t *buffer = sta_account_alloc(budget->account, (size_t)STA_LANE_EVENT_COLUMNS * STA_ROW_GROUP_ROWS,
                                        sizeof *buffer, WHAT, err);
    for (unsigned c = 0; c < STA_LANE_EVENT_COLUMNS && buffer != NULL; c++)
        keeping.columns[c] = buffer + (size_t)c * STA_ROW_GROUP_ROWS;
    if (buffer == NULL) {
        sta_lane_file_abort(keeping.writer);
        return err->status;
    }
    rc = write_file(&keeping, err);
    sta_account_free(budget->account, buffer);
    return rc;
}

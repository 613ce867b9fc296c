/* Writes the density of large lanes into the lane file, and reads it. */
#include "timeline/density_cells.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/lane_part.h"
#include "common/memory.h"

#define WHAT "the density of the timeline"
#define LEAST_EVENTS 16384 /* of a lane whose density is kept: the others are measured fast enough */
#define LEAST_SHARE 16     /* what is kept has at most one run for so many events */
#define CELLS 8192         /* of the whole trace, at least: a request has no more pixels */
#define NONSENSE "the lane file's density makes no sense"

static int nonsense(struct sta_error *err)
{
    return sta_fail(err, STA_ECORRUPT, NONSENSE);
}

uint32_t sta_density_base_shift(const struct sta_lane_index *index)
{
    uint32_t shift = 0;
    while (shift < 62 && (INT64_C(1) << (shift + 1)) <= index->end / CELLS)
        shift++;
    return shift;
}

/* ---- the list */

int sta_density_base_attach(struct sta_lane_index *index, struct sta_cursor *head, uint32_t *block,
                            struct sta_error *err)
{
    struct sta_density_base *base = &index->density;
    size_t length;
    const char *preset = sta_get_block(head, &length);
    if (preset == NULL || memchr(preset, '\0', length) != NULL)
        return nonsense(err);
    base->preset = sta_sprintf("%.*s", (int)STA_MIN(length, 4096), preset);
    base->fingerprint = sta_get_u64(head);
    const uint64_t shift = sta_get_varint(head), count = sta_get_varint(head);
    if (head->failed || shift > 62 || count > index->tree.lane_count)
        return nonsense(err);
    base->shift = (uint32_t)shift;
    base->lanes = sta_account_calloc(index->account, count + 1, sizeof *base->lanes, WHAT, err);
    if (base->lanes == NULL)
        return err->status;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t lane = sta_get_varint(head), runs = sta_get_varint(head);
        if (head->failed || lane >= index->tree.lane_count || runs > index->event_count ||
            (i > 0 && lane <= base->lanes[i - 1].lane))
            return nonsense(err);
        base->lanes[i].lane = (uint32_t)lane;
        base->lanes[i].count = (uint32_t)runs;
        base->lanes[i].first_block = *block;
        *block += (uint32_t)((runs + STA_ROW_GROUP_ROWS - 1) / STA_ROW_GROUP_ROWS);
        base->count++;
    }
    return 0;
}

void sta_density_base_fini(struct sta_lane_index *index)
{
    for (size_t i = 0; i < index->density.count; i++)
        sta_account_free(index->account, index->density.lanes[i].runs);
    sta_account_free(index->account, index->density.lanes);
    free(index->density.preset);
}

struct sta_lane_density *sta_density_base_find(const struct sta_selection *selection, uint32_t lane,
                                               int64_t resolution)
{
    const struct sta_density_base *base = &selection->index->density;
    if (base->count == 0 || selection->matches != NULL || resolution >> base->shift == 0 ||
        strcmp(base->preset, selection->view->name) != 0 ||
        base->fingerprint != sta_presets_fingerprint(selection->view->presets))
        return NULL;
    size_t low = 0, high = base->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (base->lanes[middle].lane < lane)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == base->count || base->lanes[low].lane != lane ||
        atomic_load(&base->lanes[low].state) == STA_EXTENT_DAMAGED)
        return NULL;
    return &base->lanes[low];
}

/* ---- loading */

static bool take_rows(void *self, uint32_t first, uint32_t rows, int64_t *const *columns)
{
    struct sta_lane_density *density = self;
    const int64_t most = INT64_MAX / 4;
    for (uint32_t i = 0; i < rows; i++) {
        const int64_t code = columns[STA_DENSITY_CODE][i];
        const struct sta_density_run run = {.code = code < 0 ? STA_NO_LAYER : (uint32_t)code,
                                            .cell = columns[STA_DENSITY_CELL][i],
                                            .cells = columns[STA_DENSITY_CELLS][i],
                                            .time = columns[STA_DENSITY_TIME][i]};
        if (code >= UINT32_MAX || run.cell < 0 || run.cells < 0 || run.cell > 4 * CELLS ||
            run.cells > 4 * CELLS || run.time < 0 || run.time > most)
            return false;
        density->runs[first + i] = run;
    }
    return true;
}

static int load(void *self, struct sta_lane_index *index, struct sta_error *err)
{
    struct sta_lane_density *density = self;
    const struct sta_lane_rows rows = {
        density->first_block, density->count, STA_DENSITY_COLUMNS, take_rows, density, NONSENSE};
    density->runs =
        sta_account_alloc(index->account, (size_t)density->count + 1, sizeof *density->runs, WHAT, err);
    int rc = density->runs == NULL ? err->status : sta_lane_rows_read(index, &rows, err);
    if (rc != 0) {
        sta_account_free(index->account, density->runs);
        density->runs = NULL;
    }
    return rc;
}

int sta_lane_density_load(struct sta_lane_index *index, struct sta_lane_density *density,
                          const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_lane_part part = {&density->state, load, density, NONSENSE};
    return sta_lane_part_need(index, &part, budget, err);
}

/* ---- writing */

static int put_runs(struct sta_lane_file_writer *writer, const struct sta_density_run *runs, size_t count,
                    struct sta_error *err)
{
    int64_t *buffer = sta_alloc_array((size_t)STA_DENSITY_COLUMNS * STA_ROW_GROUP_ROWS, sizeof *buffer);
    int64_t *columns[STA_DENSITY_COLUMNS];
    int rc = 0;
    for (unsigned c = 0; c < STA_DENSITY_COLUMNS; c++)
        columns[c] = buffer + (size_t)c * STA_ROW_GROUP_ROWS;
    for (size_t i = 0, at = 0; i < count && rc == 0; i++) {
        columns[STA_DENSITY_CODE][at] = runs[i].code == STA_NO_LAYER ? -1 : (int64_t)runs[i].code;
        columns[STA_DENSITY_CELL][at] = runs[i].cell;
        columns[STA_DENSITY_CELLS][at] = runs[i].cells;
        columns[STA_DENSITY_TIME][at] = runs[i].time;
        if (++at == STA_ROW_GROUP_ROWS || i + 1 == count) {
            rc = sta_lane_file_add(writer, STA_DENSITY_COLUMNS, (const int64_t *const *)columns, (uint32_t)at,
                                   err);
            at = 0;
        }
    }
    free(buffer);
    return rc;
}

/* The large lanes of an index that is made of the events. */
struct keeping {
    struct sta_density density;
    const struct sta_lane_index *index;
    struct sta_lane_density *made; /* by lane; runs NULL: not kept */
};

/* A lane's cells are the sums of those of the lanes right below it.  These have been measured before, or
 * their threads are: of neighbours together. */
static int add_below(struct keeping *keeping, uint32_t lane, struct sta_error *err)
{
    const struct sta_timeline_lane *lanes = keeping->index->tree.lanes;
    const uint32_t shift = sta_density_base_shift(keeping->index);
    uint32_t thread = lanes[lane].first_thread;
    int rc = 0;
    for (uint32_t below = lane + 1; below < lanes[lane].end && rc == 0; below = lanes[below].end) {
        if (keeping->made[below].runs == NULL)
            continue;
        rc = sta_density_add_threads(&keeping->density, thread, lanes[below].first_thread - thread, err);
        if (rc == 0)
            rc = sta_density_add_runs(&keeping->density, &keeping->made[below], shift, err);
        thread = lanes[below].first_thread + lanes[below].thread_count;
    }
    const uint32_t end = lanes[lane].first_thread + lanes[lane].thread_count;
    return rc == 0 ? sta_density_add_threads(&keeping->density, thread, end - thread, err) : rc;
}

static uint64_t events_below(const struct sta_lane_index *index, uint32_t lane)
{
    const struct sta_timeline_lane *of = &index->tree.lanes[lane];
    uint64_t events = 0;
    for (uint32_t t = 0; t < of->thread_count; t++)
        events += index->threads[of->first_thread + t].count;
    return events;
}

static int make_lane(struct keeping *keeping, uint32_t lane, struct sta_error *err)
{
    struct sta_density *density = &keeping->density;
    struct sta_lane_density *made = &keeping->made[lane];
    const uint64_t events = events_below(keeping->index, lane);
    if (events < LEAST_EVENTS)
        return 0;
    density->run_count = 0;
    sta_density_begin(density);
    int rc = add_below(keeping, lane, err);
    if (rc == 0)
        rc = sta_density_end(density, lane, err);
    if (rc != 0 || density->run_count > events / LEAST_SHARE)
        return rc;
    made->runs =
        sta_account_alloc(density->budget->account, density->run_count + 1, sizeof *made->runs, WHAT, err);
    if (made->runs == NULL)
        return err->status;
    made->count = (uint32_t)density->run_count;
    if (made->count > 0)
        memcpy(made->runs, density->runs, made->count * sizeof *made->runs);
    return 0;
}

static int put_lanes(const struct keeping *keeping, struct sta_lane_file_writer *writer,
                     struct sta_buffer *list, uint64_t *count, struct sta_error *err)
{
    int rc = 0;
    for (uint32_t lane = 0; lane < keeping->index->tree.lane_count && rc == 0; lane++) {
        const struct sta_lane_density *made = &keeping->made[lane];
        if (made->runs == NULL)
            continue;
        sta_put_varint(list, lane);
        sta_put_varint(list, made->count);
        ++*count;
        rc = put_runs(writer, made->runs, made->count, err);
    }
    return rc;
}

/* Lanes come before those below them, so that they are made from the last one to the first. */
static int keep_lanes(struct keeping *keeping, struct sta_lane_file_writer *writer, struct sta_buffer *list,
                      uint64_t *count, struct sta_error *err)
{
    struct sta_account *account = keeping->density.budget->account;
    const uint32_t lanes = keeping->index->tree.lane_count;
    keeping->made = sta_account_calloc(account, (size_t)lanes + 1, sizeof *keeping->made, WHAT, err);
    int rc = keeping->made == NULL ? err->status : 0;
    for (uint32_t lane = lanes; lane-- > 0 && rc == 0;)
        rc = make_lane(keeping, lane, err);
    if (rc == 0)
        rc = put_lanes(keeping, writer, list, count, err);
    for (uint32_t lane = 0; keeping->made != NULL && lane < lanes; lane++)
        sta_account_free(account, keeping->made[lane].runs);
    sta_account_free(account, keeping->made);
    return rc;
}

int sta_density_base_keep(struct sta_timeline *timeline, struct sta_presets *presets, const char *preset,
                          struct sta_lane_file_writer *writer, struct sta_buffer *head,
                          const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_selection selection = {.account = budget->account, .index = timeline->index};
    struct keeping keeping = {.density = {.selection = &selection, .budget = budget},
                              .index = timeline->index};
    const uint32_t shift = sta_density_base_shift(timeline->index);
    struct sta_buffer list;
    uint64_t count = 0;
    sta_buffer_init(&list);
    keeping.density.grid = (struct sta_grid){.resolution = INT64_C(1) << shift,
                                             .to = ((timeline->index->end >> shift) + 1) << shift};
    sta_density_init(&keeping.density);
    int rc = sta_timeline_view(timeline, presets, preset, &selection.view, err);
    if (rc == 0)
        rc = sta_preset_view_classify(selection.view, timeline, NULL, budget, err);
    if (rc == 0)
        rc = keep_lanes(&keeping, writer, &list, &count, err);
    sta_put_block(head, preset, strlen(preset));
    sta_put_u64(head, sta_presets_fingerprint(presets));
    sta_put_varint(head, shift);
    sta_put_varint(head, count);
    sta_put(head, list.data, list.size);
    if (rc == 0 && (list.failed || head->failed))
        rc = sta_fail(err, STA_ENOMEM, "no memory to write " WHAT);
    sta_buffer_fini(&list);
    sta_density_fini(&keeping.density);
    sta_selection_fini(&selection);
    return rc;
}

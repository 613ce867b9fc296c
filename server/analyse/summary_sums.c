/* One pass over rows: what adds up is added per class, what does not becomes a span. */
#include "analyse/summary.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "common/memory.h"

void sta_sums_add(struct sta_sums *sums, const struct sta_sums *part)
{
    sums->count += part->count;
    sums->time += part->time;
    sums->size += part->size;
    for (int i = 0; i < STA_SIZE_BINS; i++)
        sums->bins[i] += part->bins[i];
}

void sta_summary_init(struct sta_summary *summary, const struct sta_shape *shape,
                      const struct sta_summary_entities *entities, const struct sta_rank_groups *groups,
                      const struct sta_memberships *memberships, const struct sta_budget *budget)
{
    unsigned workers = sta_budget_workers(budget);
    *summary = (struct sta_summary){.shape = shape,
                                    .entities = *entities,
                                    .groups = groups,
                                    .memberships = *memberships,
                                    .budget = budget,
                                    .worker_count = workers};
    summary->process_of_code =
        sta_alloc_array((size_t)entities->thread_code_count + 1, sizeof *summary->process_of_code);
    for (uint32_t code = 0; code < entities->thread_code_count; code++)
        if (entities->thread_of_code[code] < entities->thread_count)
            summary->process_of_code[code] = entities->threads[entities->thread_of_code[code]].process;
    summary->cells = sta_cells_create();
    summary->unions = sta_unions_create(summary->cells, workers, NULL, NULL);
    summary->workers = sta_alloc_array(workers, sizeof *summary->workers);
    for (unsigned w = 0; w < workers; w++)
        sta_membership_init(&summary->workers[w].membership, shape);
}

static void class_sums_destroy(struct sta_class_sums *sums)
{
    if (sums == NULL)
        return;
    free(sums->threads);
    free(sums->files);
    free(sums->cells);
    free(sums);
}

static void worker_fini(struct sta_summary_worker *worker)
{
    for (size_t c = 0; c < worker->class_capacity; c++)
        class_sums_destroy(worker->classes[c]);
    free(worker->classes);
    free(worker->keys.items);
    sta_membership_fini(&worker->membership);
}

void sta_summary_fini(struct sta_summary *summary)
{
    for (unsigned w = 0; w < summary->worker_count; w++)
        worker_fini(&summary->workers[w]);
    free(summary->workers);
    free(summary->process_of_code);
    sta_unions_destroy(summary->unions);
    sta_cells_destroy(summary->cells);
    *summary = (struct sta_summary){0};
}

static size_t words(uint32_t bits)
{
    return (size_t)bits / 64 + 1;
}

/* Counts what a worker has taken towards what the whole question may hold. */
static int charge(const struct sta_summary *summary, struct sta_summary_worker *worker, size_t bytes,
                  struct sta_error *err)
{
    worker->bytes += bytes;
    double slots = 32.0 * sta_cells_slot_count(summary->cells); /* running ends, totals and their shares */
    double all = ((double)worker->bytes + slots) * summary->worker_count;
    return sta_budget_memory(summary->budget, all,
                             "the sums of each class of events by thread, process and file", err);
}

static int meet_class(struct sta_summary *summary, struct sta_summary_worker *worker, uint32_t class,
                      struct sta_error *err)
{
    size_t before = worker->class_capacity;
    STA_GROW(worker->classes, worker->class_capacity, (size_t) class + 1);
    if (worker->class_capacity > before)
        memset(worker->classes + before, 0, (worker->class_capacity - before) * sizeof *worker->classes);
    const struct sta_summary_entities *entities = &summary->entities;
    struct sta_class_sums *sums = sta_alloc(sizeof *sums);
    worker->classes[class] = sums;
    summary->memberships.get(summary->memberships.context, class, &worker->membership);
    sums->fate = worker->membership.fate;
    sums->layer_count = worker->membership.layer_count;
    if (sums->layer_count == 0)
        return 0;
    size_t processes = (size_t)entities->process_count + 1;
    size_t bitmaps = words(entities->thread_code_count) + words(entities->file_ref_count);
    int rc = charge(summary, worker, bitmaps * sizeof *sums->threads + processes * sizeof *sums->cells, err);
    if (rc != 0)
        return rc;
    sums->threads = sta_alloc_array(words(entities->thread_code_count), sizeof *sums->threads);
    sums->files = sta_alloc_array(words(entities->file_ref_count), sizeof *sums->files);
    sums->cells = sta_alloc_array(processes, sizeof *sums->cells);
    memset(sums->cells, 0xff, processes * sizeof *sums->cells);
    return 0;
}

static int meet_cell(struct sta_summary *summary, struct sta_summary_worker *worker, uint32_t class,
                     uint32_t process, struct sta_error *err)
{
    uint64_t key = (uint64_t) class << 32 | process;
    uint32_t cell = sta_cells_find(summary->cells, key);
    if (cell == STA_NO_CELL) {
        summary->memberships.get(summary->memberships.context, class, &worker->membership);
        uint32_t group = summary->groups->group_of_process[process];
        sta_summary_slots(summary->shape, &worker->membership, process, group, &worker->keys);
        cell = sta_cells_add(summary->cells, key, worker->keys.items, worker->keys.count);
    }
    worker->classes[class]->cells[process] = cell;
    return charge(summary, worker, 0, err);
}

static inline void set_bit(uint64_t *bits, uint32_t at)
{
    uint64_t bit = UINT64_C(1) << (at % 64);
    if (!(bits[at / 64] & bit)) /* reading alone keeps the line clean */
        bits[at / 64] |= bit;
}

/* What of an event lies in the window: as exact.md section 2 has it for a bin. */
struct part {
    int64_t from, to; /* covered; equal for an event that covers nothing */
    bool starts;      /* the event is counted here */
    bool outside;
};

static inline struct part part_of(const struct sta_summary_rows *rows, uint32_t row)
{
    int64_t ts = rows->ts[row];
    int64_t te = ts + STA_MAX(rows->dur[row], 0);
    struct part part = {
        .from = STA_MAX(ts, rows->from), .to = STA_MIN(te, rows->to), .starts = ts >= rows->from};
    part.outside = ts >= rows->to || (!part.starts && te <= rows->from);
    return part;
}

/* Of the event's bytes those of the part: floor(size y / dur) - floor(size x / dur). */
static inline int64_t size_of_part(const struct sta_summary_rows *rows, uint32_t row, const struct part *part)
{
    int64_t size = rows->sizes[row];
    int64_t dur = rows->dur[row];
    if (part->to - part->from >= dur)
        return size;
    __int128 up_to = (__int128)size * (part->to - rows->ts[row]) / dur;
    __int128 before = (__int128)size * (part->from - rows->ts[row]) / dur;
    return (int64_t)(up_to - before);
}

static inline void add_row(struct sta_class_sums *sums, const struct sta_summary_rows *rows, uint32_t row,
                           const struct part *part)
{
    /* A duration below 0 covers nothing, but adds up as it was traced. */
    sums->sums.time += rows->dur[row] < 0 && part->starts ? rows->dur[row] : part->to - part->from;
    if (rows->sizes != NULL && (rows->no_size == NULL || !rows->no_size[row])) {
        sums->sums.size += size_of_part(rows, row, part);
        sums->sums.bins[sta_size_bin(rows->sizes[row])] += part->starts;
    }
    set_bit(sums->threads, rows->threads[row]);
    if (rows->files != NULL && rows->files[row] != STA_NO_CODE)
        set_bit(sums->files, rows->files[row]);
}

/* The store checks codes against its dictionaries; this one also serves as an index here. */
static int check_threads(const struct sta_summary *summary, const struct sta_summary_rows *rows,
                         struct sta_error *err)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t code = rows->threads[rows->selected != NULL ? rows->selected[i] : i];
        largest = STA_MAX(largest, code);
    }
    if (largest < summary->entities.thread_code_count)
        return 0;
    return sta_fail(err, STA_ECORRUPT, "an event of the store belongs to no thread");
}

int sta_summary_update(struct sta_summary *summary, unsigned worker_number,
                       const struct sta_summary_rows *rows, struct sta_span *spans, uint32_t *span_count,
                       struct sta_error *err)
{
    struct sta_summary_worker *worker = &summary->workers[worker_number];
    int rc = check_threads(summary, rows, err);
    if (rc != 0)
        return rc;
    uint32_t made = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = rows->selected != NULL ? rows->selected[i] : i;
        uint32_t class = rows->classes[row];
        const struct part part = part_of(rows, row);
        if (part.outside)
            continue;
        struct sta_class_sums *sums = class < worker->class_capacity ? worker->classes[class] : NULL;
        if (sums == NULL) {
            rc = meet_class(summary, worker, class, err);
            if (rc != 0)
                return rc;
            sums = worker->classes[class];
        }
        sums->sums.count += part.starts;
        if (sums->layer_count == 0)
            continue;
        add_row(sums, rows, row, &part);
        if (part.from == part.to)
            continue;
        uint32_t process = summary->process_of_code[rows->threads[row]];
        uint32_t cell = sums->cells[process];
        if (cell == STA_NO_CELL) {
            rc = meet_cell(summary, worker, class, process, err);
            if (rc != 0)
                return rc;
            cell = sums->cells[process];
        }
        spans[made++] = (struct sta_span){rows->ts[row], part.to, cell}; /* the unions begin at the window */
    }
    *span_count = made;
    return 0;
}

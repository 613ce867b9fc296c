/* Running ends, carried from slice to slice.
 *
 * DESIGN.  `prepare` notes which cells the slice has and how far each reaches.  `carry`, in the order of slices, takes the ends that earlier
 * slices left for the slots of those cells, and leaves there the slice's own reach.  `measure` then runs on private copies.  So
 * the part that must run in order costs some steps per cell of the slice, and the rest some steps per span. */
#include "analyse/intervals/unions.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define NEVER INT64_MIN

struct running {
    int64_t end; /* of the union so far */
    int64_t total;
};

struct worker_state {
    struct running *slots; /* by slot */
    size_t slot_capacity;
    int64_t *reach; /* by cell: largest te in the slice; NEVER when not in it */
    size_t reach_capacity;
    uint32_t *touched; /* cells of the slice */
    size_t touched_count, touched_capacity;
    char padding[64]; /* a cache line of its own */
};

struct sta_unions {
    struct sta_cells *cells;
    sta_union_piece piece;
    void *context;
    int64_t begin; /* nothing before it is covered */
    int64_t *ends; /* by slot: largest te of all slices that have carried; used in turn only */
    size_t end_capacity;
    unsigned worker_count;
    struct worker_state *workers;
};

struct sta_unions *sta_unions_create(struct sta_cells *cells, unsigned workers, sta_union_piece piece,
                                     void *context)
{
    struct sta_unions *unions = sta_alloc(sizeof *unions);
    unions->cells = cells;
    unions->piece = piece;
    unions->context = context;
    unions->begin = NEVER;
    unions->worker_count = workers;
    unions->workers = sta_alloc_array(workers, sizeof *unions->workers);
    return unions;
}

void sta_unions_set_begin(struct sta_unions *unions, int64_t begin)
{
    unions->begin = begin;
}

void sta_unions_destroy(struct sta_unions *unions)
{
    if (unions == NULL)
        return;
    for (unsigned i = 0; i < unions->worker_count; i++) {
        free(unions->workers[i].slots);
        free(unions->workers[i].reach);
        free(unions->workers[i].touched);
    }
    free(unions->workers);
    free(unions->ends);
    free(unions);
}

static void grow_times(int64_t **times, size_t *capacity, size_t need, int64_t value)
{
    size_t before = *capacity;
    STA_GROW(*times, *capacity, need);
    for (size_t i = before; i < *capacity; i++)
        (*times)[i] = value;
}

static void grow_worker(struct sta_unions *unions, struct worker_state *state)
{
    size_t before = state->slot_capacity;
    STA_GROW(state->slots, state->slot_capacity, sta_cells_slot_count(unions->cells));
    if (state->slot_capacity > before)
        memset(state->slots + before, 0, (state->slot_capacity - before) * sizeof *state->slots);
    grow_times(&state->reach, &state->reach_capacity, sta_cells_count(unions->cells), NEVER);
}

void sta_unions_prepare(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice)
{
    struct worker_state *state = &unions->workers[worker];
    grow_worker(unions, state);
    state->touched_count = 0;
    int64_t *reach = state->reach;
    for (size_t i = 0; i < slice->count; i++) {
        uint32_t cell = slice->spans[i].cell;
        if (reach[cell] == NEVER) {
            STA_GROW(state->touched, state->touched_capacity, state->touched_count + 1);
            state->touched[state->touched_count++] = cell;
        }
        reach[cell] = STA_MAX(reach[cell], slice->spans[i].te);
    }
}

void sta_unions_carry(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice)
{
    (void)slice;
    struct worker_state *state = &unions->workers[worker];
    grow_times(&unions->ends, &unions->end_capacity, state->slot_capacity, unions->begin);
    for (size_t i = 0; i < state->touched_count; i++) {
        struct sta_cell cell = sta_cells_at(unions->cells, state->touched[i]);
        for (uint32_t k = 0; k < cell.count; k++)
            state->slots[cell.slots[k]].end = unions->ends[cell.slots[k]];
    }
    for (size_t i = 0; i < state->touched_count; i++) {
        int64_t reach = state->reach[state->touched[i]];
        state->reach[state->touched[i]] = NEVER;
        struct sta_cell cell = sta_cells_at(unions->cells, state->touched[i]);
        for (uint32_t k = 0; k < cell.count; k++)
            unions->ends[cell.slots[k]] = STA_MAX(unions->ends[cell.slots[k]], reach);
    }
}

static void measure_pieces(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice)
{
    struct running *slots = unions->workers[worker].slots;
    for (size_t i = 0; i < slice->count; i++) {
        const struct sta_span *span = &slice->spans[i];
        struct sta_cell cell = sta_cells_at(unions->cells, span->cell);
        for (uint32_t k = 0; k < cell.count; k++) {
            struct running *slot = &slots[cell.slots[k]];
            int64_t from = STA_MAX(span->ts, slot->end);
            if (from >= span->te)
                continue;
            slot->total += span->te - from;
            slot->end = span->te;
            unions->piece(unions->context, worker, cell.slots[k], from, span->te);
        }
    }
}

static void measure_totals(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice)
{
    struct running *slots = unions->workers[worker].slots;
    for (size_t i = 0; i < slice->count; i++) {
        const int64_t ts = slice->spans[i].ts;
        const int64_t te = slice->spans[i].te;
        const struct sta_cell cell = sta_cells_at(unions->cells, slice->spans[i].cell);
        for (uint32_t k = 0; k < cell.count; k++) {
            struct running *slot = &slots[cell.slots[k]];
            int64_t from = STA_MAX(ts, slot->end);
            int64_t end = STA_MAX(te, slot->end);
            slot->total += end - from;
            slot->end = end;
        }
    }
}

void sta_unions_measure(struct sta_unions *unions, unsigned worker, const struct sta_slice *slice)
{
    if (unions->piece != NULL)
        measure_pieces(unions, worker, slice);
    else
        measure_totals(unions, worker, slice);
}

int64_t sta_unions_total(const struct sta_unions *unions, uint32_t slot)
{
    int64_t total = 0;
    for (unsigned i = 0; i < unions->worker_count; i++)
        if (slot < unions->workers[i].slot_capacity)
            total += unions->workers[i].slots[slot].total;
    return total;
}

int64_t sta_unions_of(struct sta_unions *unions, uint32_t set, uint32_t unit)
{
    uint32_t slot;
    return sta_cells_find_slot(unions->cells, sta_slot_key(set, unit), &slot) ? sta_unions_total(unions, slot)
                                                                              : 0;
}

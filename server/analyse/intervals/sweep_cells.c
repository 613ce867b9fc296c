/* How long each combination of sets was active in each unit: cells by worker, and all of them together. */
#include "analyse/exec/sort.h"
#include "analyse/intervals/sweep_private.h"

static void count_map(struct sta_sweep *sweep, struct sta_sweep_worker *worker)
{
    size_t bytes = worker->cells_by_key.capacity * (sizeof(uint64_t) + sizeof(uint32_t));
    sta_account_overdraw(sweep->account, bytes - worker->map_bytes);
    worker->map_bytes = bytes;
}

static void add_cell(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit, uint32_t mask,
                     uint64_t time)
{
    bool added;
    uint64_t key = (uint64_t)unit << STA_SWEEP_MASK_BITS | mask;
    uint32_t cell = sta_map_intern(&worker->cells_by_key, key, (uint32_t)worker->cell_count, &added);
    if (added) {
        count_map(sweep, worker);
        if (STA_ACCOUNT_GROW(sweep->account, worker->cells, worker->cell_capacity, worker->cell_count + 1,
                             STA_SWEEP_WHAT, &worker->failure) != 0)
            return;
        worker->cells[worker->cell_count++] = (struct sta_sweep_cell){unit, mask, 0};
    }
    if (worker->failure.status == 0)
        worker->cells[cell].time = (int64_t)((uint64_t)worker->cells[cell].time + time);
}

void sta_sweep_empty_slot(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit,
                          uint32_t slot)
{
    struct sta_sweep_recent *recent = &worker->recent;
    if (recent->masks[slot] != 0)
        add_cell(sweep, worker, unit, recent->masks[slot], recent->times[slot]);
    recent->masks[slot] = 0;
    recent->times[slot] = 0;
}

void sta_sweep_put_times(struct sta_sweep *sweep, struct sta_sweep_worker *worker, uint32_t unit)
{
    struct sta_sweep_recent *recent = &worker->recent;
    for (; recent->used != 0; recent->used &= recent->used - 1)
        sta_sweep_empty_slot(sweep, worker, unit, (uint32_t)__builtin_ctzll(recent->used));
}

static int compare_cells(const void *a, const void *b, void *context)
{
    return sta_sweep_compare_cells(a, b);
}

int sta_sweep_cells(const struct sta_sweep *sweep, struct sta_sweep_cell **cells, size_t *count,
                    struct sta_error *err)
{
    size_t all = 0, put = 0, kept = 0;
    for (unsigned w = 0; w < sweep->worker_count; w++)
        all += sweep->workers[w].cell_count;
    struct sta_sweep_cell *items =
        sta_account_alloc(sweep->account, all + 1, sizeof *items, STA_SWEEP_WHAT, err);
    *cells = items;
    if (items == NULL)
        return err->status;
    for (unsigned w = 0; w < sweep->worker_count; w++)
        for (size_t i = 0; i < sweep->workers[w].cell_count; i++)
            if (sweep->workers[w].cells[i].time > 0)
                items[put++] = sweep->workers[w].cells[i];
    int rc = sta_sort(sweep->options.budget, items, put, sizeof *items, compare_cells, NULL, err);
    for (size_t i = 0; i < put && rc == 0; i++) {
        if (kept > 0 && sta_sweep_compare_cells(&items[kept - 1], &items[i]) == 0)
            items[kept - 1].time += items[i].time;
        else
            items[kept++] = items[i];
    }
    *count = kept;
    return rc;
}

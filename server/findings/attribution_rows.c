/* Intervals cut at epochs, steps and bins, and added up by key. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyse/exec/sort.h"
#include "findings/attribution.h"
#include "findings/epochs.h"
#include "common/map.h"
#include "common/memory.h"

#define MOST_ROWS 1000000

static const char WHAT[] = "the rows of an attribution";

enum { KEY_UNIT, KEY_EPOCH, KEY_STEP, KEY_BIN, KEYS };

struct worker {
    struct sta_charged_rows rows;   /* the key of a unit is its number */
    struct sta_map places;          /* hash of the keys, counted up where two share one -> row */
    struct sta_charged_row *recent; /* NULL: none */
    char padding[64];               /* a cache line of its own */
};

struct sta_row_adding {
    const struct sta_phases *phases;
    const struct sta_budget *budget;
    struct worker *workers;
    unsigned worker_count, by;
    int64_t granularity;
};

struct sta_row_adding *sta_row_adding_create(unsigned by, int64_t granularity, uint32_t lists,
                                             const struct sta_phases *phases, const struct sta_budget *budget)
{
    struct sta_row_adding *adding = sta_alloc(sizeof *adding);
    *adding = (struct sta_row_adding){.phases = phases,
                                      .budget = budget,
                                      .worker_count = sta_budget_workers(budget),
                                      .by = by,
                                      .granularity = granularity};
    adding->workers = sta_alloc_array(adding->worker_count, sizeof *adding->workers);
    for (unsigned w = 0; w < adding->worker_count; w++) {
        adding->workers[w].rows = (struct sta_charged_rows){.lists = lists, .account = budget->account};
        sta_map_init(&adding->workers[w].places);
        adding->workers[w].places.account = budget->account;
    }
    return adding;
}

void sta_row_adding_destroy(struct sta_row_adding *adding)
{
    if (adding == NULL)
        return;
    for (unsigned w = 0; w < adding->worker_count; w++) {
        sta_charged_rows_fini(&adding->workers[w].rows);
        sta_map_fini(&adding->workers[w].places);
    }
    free(adding->workers);
    free(adding);
}

/* ---- rows */

static int add_row(struct sta_charged_rows *rows, const int64_t keys[KEYS], struct sta_error *err)
{
    if (rows->count == MOST_ROWS) {
        sta_fail(err, STA_ELIMIT,
                 "an attribution of more than %d rows; take fewer keys or a larger granularity", MOST_ROWS);
        return sta_at(err, "/attribution/granularity", -1);
    }
    int rc = STA_ACCOUNT_GROW(rows->account, rows->items, rows->capacity, rows->count + 1, WHAT, err);
    if (rc != STA_OK)
        return rc;
    const size_t first = rows->count * rows->lists;
    rc = STA_ACCOUNT_GROW(rows->account, rows->times, rows->time_capacity, first + rows->lists, WHAT, err);
    if (rc != STA_OK)
        return rc;
    struct sta_charged_row *row = &rows->items[rows->count++];
    memcpy(row->keys, keys, sizeof row->keys);
    row->first = first;
    memset(rows->times + first, 0, rows->lists * sizeof *rows->times);
    return STA_OK;
}

static int find_row(const struct sta_row_adding *adding, struct worker *worker, const int64_t keys[KEYS],
                    struct sta_error *err)
{
    uint64_t hash = XXH3_64bits(keys, KEYS * sizeof *keys) >> 1; /* none is UINT64_MAX */
    for (;; hash++) {
        bool added;
        const uint32_t place = sta_map_intern(&worker->places, hash, (uint32_t)worker->rows.count, &added);
        /* A map without memory has a sticky failure, and no place to give. */
        int rc = added ? add_row(&worker->rows, keys, err) : sta_budget_check(adding->budget, err);
        if (rc != STA_OK)
            return rc;
        worker->recent = &worker->rows.items[place];
        if (added || memcmp(worker->recent->keys, keys, KEYS * sizeof *keys) == 0)
            return STA_OK;
    }
}

static int add(const struct sta_row_adding *adding, struct worker *worker, const int64_t keys[KEYS],
               uint32_t list, int64_t time, struct sta_error *err)
{
    int rc = STA_OK;
    if (worker->recent == NULL || memcmp(worker->recent->keys, keys, KEYS * sizeof *keys) != 0)
        rc = find_row(adding, worker, keys, err);
    if (rc == STA_OK)
        sta_charged_times(&worker->rows, worker->recent)[list] += time;
    return rc;
}

/* ---- cuts */

static int add_bins(const struct sta_row_adding *adding, struct worker *worker, int64_t keys[KEYS],
                    uint32_t list, int64_t from, int64_t to, struct sta_error *err)
{
    if (from >= to)
        return STA_OK;
    if ((adding->by & STA_BY_BIN) == 0)
        return add(adding, worker, keys, list, to - from, err);
    const int64_t g = adding->granularity;
    int rc = STA_OK;
    for (int64_t bin = from / g; bin <= (to - 1) / g && rc == STA_OK; bin++) {
        keys[KEY_BIN] = bin;
        rc = add(adding, worker, keys, list, STA_MIN(to, (bin + 1) * g) - STA_MAX(from, bin * g), err);
    }
    return rc;
}

/* Windows that cut the intervals of a rank, in order of time. */
struct windows {
    const struct sta_rank *rank;
    bool steps;
    size_t count;
};

static struct windows windows_of(const struct sta_row_adding *adding, uint32_t unit)
{
    struct windows windows = {.steps = (adding->by & STA_BY_STEP) != 0};
    if (adding->phases != NULL) {
        windows.rank = &adding->phases->ranks[unit];
        windows.count = windows.steps ? windows.rank->step_count : windows.rank->epoch_count;
    }
    return windows;
}

static void window_at(const struct windows *windows, size_t at, int64_t keys[KEYS], int64_t *from,
                      int64_t *to)
{
    if (windows->steps) {
        const struct sta_step *step = &windows->rank->steps[at];
        keys[KEY_EPOCH] = step->epoch;
        keys[KEY_STEP] = step->number > 0 ? step->number : STA_NO_NUMBER;
        *from = step->from;
        *to = step->to;
    } else {
        keys[KEY_EPOCH] = windows->rank->epochs[at].number;
        *from = windows->rank->epochs[at].from;
        *to = windows->rank->epochs[at].to;
    }
}

/* The first window that ends behind a moment. */
static size_t window_behind(const struct windows *windows, int64_t moment)
{
    size_t low = 0, high = windows->count;
    int64_t keys[KEYS], from, to;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        window_at(windows, middle, keys, &from, &to);
        if (to <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int sta_row_adding_take(void *context, unsigned number, uint32_t list, uint32_t unit,
                        const struct sta_interval *interval, struct sta_error *err)
{
    const struct sta_row_adding *adding = context;
    struct worker *worker = &adding->workers[number];
    const struct windows windows = windows_of(adding, unit);
    const int64_t key = adding->by & STA_BY_UNIT ? unit : STA_NO_NUMBER;
    int64_t outside[KEYS] = {key, STA_NO_NUMBER, STA_NO_NUMBER, STA_NO_NUMBER};
    int64_t keys[KEYS] = {key, STA_NO_NUMBER, STA_NO_NUMBER, STA_NO_NUMBER};
    int64_t at = interval->from;
    int rc = STA_OK;
    for (size_t w = window_behind(&windows, at); w < windows.count && rc == STA_OK; w++) {
        int64_t from, to;
        window_at(&windows, w, keys, &from, &to);
        if (from >= interval->to)
            break;
        from = STA_MAX(from, at);
        to = STA_MIN(to, interval->to);
        if (from >= to)
            continue;
        rc = add_bins(adding, worker, outside, list, at, from, err);
        if (rc == STA_OK)
            rc = add_bins(adding, worker, keys, list, from, to, err);
        at = to;
    }
    return rc == STA_OK ? add_bins(adding, worker, outside, list, at, interval->to, err) : rc;
}

/* ---- the whole */

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct sta_charged_row *x = a, *y = b;
    (void)context;
    for (size_t k = 0; k < KEYS; k++)
        if (x->keys[k] != y->keys[k])
            return x->keys[k] < y->keys[k] ? -1 : 1;
    return 0;
}

static int merge(const struct sta_row_adding *adding, struct sta_error *err)
{
    struct worker *all = &adding->workers[0];
    int rc = STA_OK;
    for (unsigned w = 1; w < adding->worker_count; w++)
        for (size_t i = 0; i < adding->workers[w].rows.count && rc == STA_OK; i++) {
            const struct sta_charged_row *row = &adding->workers[w].rows.items[i];
            const int64_t *times = sta_charged_times(&adding->workers[w].rows, row);
            for (uint32_t l = 0; l < all->rows.lists && rc == STA_OK; l++)
                rc = add(adding, all, row->keys, l, times[l], err);
            if (rc == STA_OK)
                rc = sta_budget_check_step(adding->budget, i, err);
        }
    return rc;
}

/* Numbers of units become their places among the units that exist. */
static int place_units(const struct sta_overlap_results *results, struct sta_charged_rows *rows,
                       struct sta_error *err)
{
    const uint32_t units = sta_scope_unit_count(results->scope);
    int64_t *places = sta_account_alloc(rows->account, (size_t)units + 1, sizeof *places, WHAT, err);
    if (places == NULL)
        return err->status;
    for (uint32_t i = 0; i < results->unit_count; i++)
        places[results->units[i]] = i;
    for (size_t i = 0; i < rows->count; i++)
        rows->items[i].keys[KEY_UNIT] = places[rows->items[i].keys[KEY_UNIT]];
    sta_account_free(rows->account, places);
    return STA_OK;
}

int sta_row_adding_finish(struct sta_row_adding *adding, const struct sta_overlap_results *results,
                          struct sta_charged_rows *rows, struct sta_error *err)
{
    int rc = merge(adding, err);
    *rows = adding->workers[0].rows;
    adding->workers[0].rows = (struct sta_charged_rows){.lists = rows->lists, .account = rows->account};
    if (rc == STA_OK && adding->by & STA_BY_UNIT)
        rc = place_units(results, rows, err);
    return rc == STA_OK ? sta_sort(adding->budget, rows->items, rows->count, sizeof *rows->items,
                                   compare_rows, NULL, err)
                        : rc;
}

void sta_charged_rows_fini(struct sta_charged_rows *rows)
{
    sta_account_free(rows->account, rows->times);
    sta_account_free(rows->account, rows->items);
    *rows = (struct sta_charged_rows){0};
}

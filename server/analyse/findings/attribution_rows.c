/* Intervals cut at epochs, steps and bins, and added up by key. */
#include <string.h>
#include <xxhash.h>

#include "analyse/exec/sort.h"
#include "analyse/findings/attribution.h"
#include "analyse/findings/epochs.h"
#include "common/map.h"
#include "common/memory.h"

#define MOST_ROWS 1000000

static const char WHAT[] = "the rows of an attribution";

enum { KEY_UNIT, KEY_EPOCH, KEY_STEP, KEY_BIN, KEYS };

struct adding {
    const struct sta_charged *charged;
    struct sta_charged_rows *rows;
    struct sta_map places;          /* hash of the keys, counted up where two share one -> row */
    struct sta_charged_row *recent; /* NULL: none */
    unsigned by;
    int64_t granularity;
};

/* ---- rows */

int sta_charged_rows_add(struct sta_charged_rows *rows, const int64_t keys[KEYS], struct sta_error *err)
{
    if (rows->count == MOST_ROWS) {
        sta_fail(err, STA_ELIMIT,
                 "an attribution of more than %d rows; take fewer keys or a larger granularity", MOST_ROWS);
        return sta_at(err, "/attribution/granularity", -1);
    }
    int rc = STA_ACCOUNT_GROW(rows->account, rows->items, rows->capacity, rows->count + 1, WHAT, err);
    if (rc != STA_OK)
        return rc;
    struct sta_charged_row *row = &rows->items[rows->count++];
    memcpy(row->keys, keys, sizeof row->keys);
    row->time = sta_account_calloc(rows->account, rows->lists, sizeof *row->time, WHAT, err);
    return row->time == NULL ? err->status : STA_OK;
}

static int find_row(struct adding *adding, const int64_t keys[KEYS], struct sta_error *err)
{
    uint64_t hash = XXH3_64bits(keys, KEYS * sizeof *keys) >> 1; /* none is UINT64_MAX */
    for (;; hash++) {
        bool added;
        const uint32_t place = sta_map_intern(&adding->places, hash, (uint32_t)adding->rows->count, &added);
        int rc = added ? sta_charged_rows_add(adding->rows, keys, err) : STA_OK;
        if (rc != STA_OK)
            return rc;
        adding->recent = &adding->rows->items[place];
        if (added || memcmp(adding->recent->keys, keys, KEYS * sizeof *keys) == 0)
            return STA_OK;
    }
}

static int add(struct adding *adding, const int64_t keys[KEYS], uint32_t list, int64_t time,
               struct sta_error *err)
{
    int rc = STA_OK;
    if (adding->recent == NULL || memcmp(adding->recent->keys, keys, KEYS * sizeof *keys) != 0)
        rc = find_row(adding, keys, err);
    if (rc == STA_OK)
        adding->recent->time[list] += time;
    return rc;
}

/* ---- cuts */

static int add_bins(struct adding *adding, int64_t keys[KEYS], uint32_t list, int64_t from, int64_t to,
                    struct sta_error *err)
{
    if (from >= to)
        return STA_OK;
    if ((adding->by & STA_BY_BIN) == 0)
        return add(adding, keys, list, to - from, err);
    const int64_t g = adding->granularity;
    int rc = STA_OK;
    for (int64_t bin = from / g; bin <= (to - 1) / g && rc == STA_OK; bin++) {
        keys[KEY_BIN] = bin;
        rc = add(adding, keys, list, STA_MIN(to, (bin + 1) * g) - STA_MAX(from, bin * g), err);
    }
    return rc;
}

/* Windows that cut the intervals of a rank, in order of time. */
struct windows {
    const struct sta_rank *rank; /* NULL: none */
    bool steps;
    size_t at;
};

static bool window_at(const struct windows *windows, size_t at, int64_t keys[KEYS], int64_t *from,
                      int64_t *to)
{
    const struct sta_rank *rank = windows->rank;
    if (rank == NULL || at >= (windows->steps ? rank->step_count : rank->epoch_count))
        return false;
    if (windows->steps) {
        const struct sta_step *step = &rank->steps[at];
        keys[KEY_EPOCH] = step->epoch;
        keys[KEY_STEP] = step->number > 0 ? step->number : STA_NO_NUMBER;
        *from = step->from;
        *to = step->to;
    } else {
        keys[KEY_EPOCH] = rank->epochs[at].number;
        *from = rank->epochs[at].from;
        *to = rank->epochs[at].to;
    }
    return true;
}

static int add_interval(struct adding *adding, struct windows *windows, int64_t unit, uint32_t list,
                        const struct sta_interval *interval, struct sta_error *err)
{
    int64_t at = interval->from, from, to;
    int rc = STA_OK;
    int64_t keys[KEYS] = {unit, STA_NO_NUMBER, STA_NO_NUMBER, STA_NO_NUMBER};
    while (window_at(windows, windows->at, keys, &from, &to) && to <= at)
        windows->at++;
    for (size_t w = windows->at;
         rc == STA_OK && window_at(windows, w, keys, &from, &to) && from < interval->to; w++) {
        int64_t outside[KEYS] = {unit, STA_NO_NUMBER, STA_NO_NUMBER, STA_NO_NUMBER};
        from = STA_MAX(from, at);
        to = STA_MIN(to, interval->to);
        if (from >= to)
            continue;
        rc = add_bins(adding, outside, list, at, from, err);
        if (rc == STA_OK)
            rc = add_bins(adding, keys, list, from, to, err);
        at = to;
    }
    int64_t outside[KEYS] = {unit, STA_NO_NUMBER, STA_NO_NUMBER, STA_NO_NUMBER};
    return rc == STA_OK ? add_bins(adding, outside, list, at, interval->to, err) : rc;
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

int sta_charged_rows_sort(struct sta_charged_rows *rows, const struct sta_budget *budget,
                          struct sta_error *err)
{
    return sta_sort(budget, rows->items, rows->count, sizeof *rows->items, compare_rows, NULL, err);
}

/* Nothing cuts the intervals: a list comes to one sum. */
static int add_whole(struct adding *adding, int64_t key, uint32_t list, uint32_t unit, struct sta_error *err)
{
    const struct sta_joined *joined = &adding->charged->lists[list];
    const int64_t keys[KEYS] = {key, STA_NO_NUMBER, STA_NO_NUMBER, STA_NO_NUMBER};
    int64_t time = 0;
    for (size_t k = 0; k < joined->counts[unit]; k++)
        time += joined->items[joined->first[unit] + k].to - joined->items[joined->first[unit] + k].from;
    return time > 0 ? add(adding, keys, list, time, err) : STA_OK;
}

static int add_unit(struct adding *adding, uint32_t place, const struct sta_rank *rank,
                    const struct sta_budget *budget, size_t *work, struct sta_error *err)
{
    const struct sta_overlap_results *results = &adding->charged->results;
    const uint32_t unit = results->units[place];
    const int64_t key = adding->by & STA_BY_UNIT ? place : STA_NO_NUMBER;
    int rc = STA_OK;
    for (uint32_t l = 0; l < adding->charged->list_count && rc == STA_OK; l++) {
        const struct sta_joined *list = &adding->charged->lists[l];
        if ((adding->by & ~(unsigned)STA_BY_UNIT) == 0) {
            rc = add_whole(adding, key, l, unit, err);
            continue;
        }
        struct windows windows = {.rank = rank, .steps = (adding->by & STA_BY_STEP) != 0};
        for (size_t k = 0; k < list->counts[unit] && rc == STA_OK; k++) {
            rc = add_interval(adding, &windows, key, l, &list->items[list->first[unit] + k], err);
            if (rc == STA_OK)
                rc = sta_budget_check_work(budget, work, 1, err);
        }
    }
    return rc;
}

int sta_charged_rows(const struct sta_charged *charged, unsigned by, int64_t granularity,
                     const struct sta_phases *phases, const struct sta_budget *budget,
                     struct sta_charged_rows *rows, struct sta_error *err)
{
    struct adding adding = {.charged = charged, .rows = rows, .by = by, .granularity = granularity};
    size_t work = 0;
    int rc = STA_OK;
    *rows = (struct sta_charged_rows){.lists = charged->list_count, .account = budget->account};
    sta_map_init(&adding.places);
    adding.places.account = budget->account;
    for (uint32_t i = 0; i < charged->results.unit_count && rc == STA_OK; i++)
        rc = add_unit(&adding, i, phases != NULL ? &phases->ranks[charged->results.units[i]] : NULL, budget,
                      &work, err);
    sta_map_fini(&adding.places);
    return rc == STA_OK ? sta_charged_rows_sort(rows, budget, err) : rc;
}

void sta_charged_rows_fini(struct sta_charged_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        sta_account_free(rows->account, rows->items[i].time);
    sta_account_free(rows->account, rows->items);
    *rows = (struct sta_charged_rows){0};
}

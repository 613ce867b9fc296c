/* A chain's sums, without its intervals: what findings need of it.
 *
 * Without rows the sweep's cells say all, so it keeps no intervals.  For rows each interval of the sweep is
 * cut at the steps of its rank as it comes, and added where the step is: sums of integers, so that the order
 * in which workers add does not matter. */
#include <stdatomic.h>
#include <stdlib.h>

#include "analyse/findings/attribution.h"
#include "analyse/findings/epochs.h"
#include "common/memory.h"

static const char WHAT[] = "the steps of an attribution";

struct stepping {
    const struct sta_phases *phases;
    const uint8_t *list_of_mask;
    uint32_t lists;
    size_t *first;         /* by rank: its first row in .. */
    _Atomic int64_t *time; /* by step of the rank, one more for what is outside of them, then list */
};

/* ---- rows */

static void add(const struct stepping *stepping, size_t row, uint32_t list, int64_t time)
{
    atomic_fetch_add_explicit(&stepping->time[row * stepping->lists + list], time, memory_order_relaxed);
}

static int take_interval(void *context, unsigned worker, const struct sta_sweep_interval *interval,
                         struct sta_error *err)
{
    const struct stepping *stepping = context;
    const uint8_t list = stepping->list_of_mask[interval->mask];
    const struct sta_rank *rank = &stepping->phases->ranks[interval->unit];
    const size_t first = stepping->first[interval->unit];
    size_t low = 0, high = rank->step_count; /* the first step that ends behind the interval's start */
    int64_t at = interval->from;
    (void)worker, (void)err;
    if (list == STA_CHARGE_NONE)
        return STA_OK;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rank->steps[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < rank->step_count && rank->steps[low].from < interval->to; low++) {
        const int64_t from = STA_MAX(rank->steps[low].from, at),
                      to = STA_MIN(rank->steps[low].to, interval->to);
        if (from >= to)
            continue;
        if (at < from)
            add(stepping, first + rank->step_count, list, from - at);
        add(stepping, first + low, list, to - from);
        at = to;
    }
    if (at < interval->to)
        add(stepping, first + rank->step_count, list, interval->to - at);
    return STA_OK;
}

static int begin_rows(struct stepping *stepping, struct sta_account *account, struct sta_error *err)
{
    const struct sta_phases *phases = stepping->phases;
    size_t rows = 0;
    stepping->first =
        sta_account_alloc(account, (size_t)phases->rank_count + 1, sizeof *stepping->first, WHAT, err);
    if (stepping->first == NULL)
        return err->status;
    for (uint32_t r = 0; r < phases->rank_count; r++) {
        stepping->first[r] = rows;
        rows += phases->ranks[r].step_count + 1;
    }
    stepping->time =
        sta_account_calloc(account, rows * stepping->lists + 1, sizeof *stepping->time, WHAT, err);
    return stepping->time == NULL ? err->status : STA_OK;
}

/* @place: of the rank among the units, which its rows have as key. */
static int put_rank(const struct stepping *stepping, uint32_t number, uint32_t place,
                    struct sta_charged_rows *rows, struct sta_error *err)
{
    const struct sta_rank *rank = &stepping->phases->ranks[number];
    int rc = STA_OK;
    for (size_t s = 0; s <= rank->step_count && rc == STA_OK; s++) {
        const _Atomic int64_t *time = &stepping->time[(stepping->first[number] + s) * stepping->lists];
        int64_t keys[4] = {place, STA_NO_NUMBER, STA_NO_NUMBER, STA_NO_NUMBER};
        bool any = false;
        for (uint32_t l = 0; l < stepping->lists; l++)
            any = any || time[l] > 0;
        if (!any)
            continue;
        if (s < rank->step_count) {
            keys[1] = rank->steps[s].epoch;
            keys[2] = rank->steps[s].number > 0 ? rank->steps[s].number : STA_NO_NUMBER;
        }
        rc = sta_charged_rows_add(rows, keys, err);
        for (uint32_t l = 0; l < stepping->lists && rc == STA_OK; l++)
            rows->items[rows->count - 1].time[l] = time[l];
    }
    return rc;
}

static int put_rows(const struct stepping *stepping, const struct sta_charged *charged,
                    const struct sta_budget *budget, struct sta_charged_rows *rows, struct sta_error *err)
{
    int rc = STA_OK;
    *rows = (struct sta_charged_rows){.lists = stepping->lists, .account = budget->account};
    for (uint32_t i = 0; i < charged->results.unit_count && rc == STA_OK; i++) {
        rc = put_rank(stepping, charged->results.units[i], i, rows, err);
        if (rc == STA_OK)
            rc = sta_budget_check(budget, err);
    }
    return rc == STA_OK ? sta_charged_rows_sort(rows, budget, err) : rc;
}

/* ---- sums */

/* The sweep has no cells of moments in which no set is active: these are what is left of each unit's span. */
static void add_up(const struct sta_attribution *asked, const uint8_t *list_of_mask,
                   struct sta_charged *charged)
{
    const struct sta_overlap_results *results = &charged->results;
    __int128 idle = 0;
    for (uint32_t i = 0; i < results->unit_count; i++)
        idle += results->sums[results->units[i]].end - results->sums[results->units[i]].start;
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct sta_sweep_cell *cell = &results->cells[i];
        const uint8_t list = list_of_mask[cell->mask];
        idle -= cell->time;
        if (list == STA_CHARGE_NONE)
            continue;
        charged->time[list] += cell->time;
        for (uint32_t c = 0; c < asked->cause_count; c++)
            if (cell->mask >> asked->cause_sets[c] & 1)
                charged->active[c] += cell->time;
    }
    if (list_of_mask[0] != STA_CHARGE_NONE)
        charged->time[list_of_mask[0]] += idle;
    for (uint32_t l = 0; l < charged->list_count; l++)
        charged->target += charged->time[l];
    charged->active[asked->cause_count] = charged->time[asked->cause_count];
}

int sta_charge_sums(struct sta_run *run, struct sta_attribution *asked, const struct sta_phases *phases,
                    struct sta_charged *charged, struct sta_charged_rows *rows, struct sta_error *err)
{
    struct sta_account *account = run->budget->account;
    struct stepping stepping = {.phases = phases};
    struct sta_overlap_wants wants = {0};
    uint8_t *list_of_mask;
    int rc = sta_charge_bind(run, asked, NULL, charged, &list_of_mask, err);
    stepping.list_of_mask = list_of_mask;
    stepping.lists = charged->list_count;
    if (rc == STA_OK && rows != NULL && list_of_mask[0] != STA_CHARGE_NONE) {
        /* Idle moments are known only once the units' spans are: from intervals. */
        rc = sta_charge_intervals(list_of_mask, charged->list_count, 0, &charged->binding, &charged->results,
                                  charged->lists, err);
        if (rc == STA_OK)
            rc = sta_charged_rows(charged, STA_BY_UNIT | STA_BY_EPOCH | STA_BY_STEP, 1, phases, run->budget,
                                  rows, err);
    } else if (rc == STA_OK) {
        if (rows != NULL) {
            rc = begin_rows(&stepping, account, err);
            wants.take = take_interval;
            wants.context = &stepping;
        }
        if (rc == STA_OK)
            rc = sta_overlap_pass(&charged->binding, &wants, &charged->results, err);
        if (rc == STA_OK && rows != NULL)
            rc = put_rows(&stepping, charged, run->budget, rows, err);
    }
    if (rc == STA_OK)
        add_up(asked, list_of_mask, charged);
    sta_account_free(account, stepping.first);
    sta_account_free(account, (void *)stepping.time);
    free(list_of_mask);
    return rc;
}

/* Sums by file and rank, then file by file. */
#include "findings/shared.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/sources/scan.h"
#include "common/map.h"
#include "common/memory.h"

static const char WHAT[] = "the files that ranks share";
#define SMALL 1048576
#define UNEVEN_BYTES 0.15
#define UNEVEN_RANKS 0.30

const char *const sta_shared_conditions[2] = {"io_cat == 1", "io_cat == 2"};

/* What a rank moves of a file. */
struct share {
    uint32_t file, rank; /* rank: number, then its place by key */
    uint8_t kind;
    int64_t ops, small;
    __int128 size, time;
};

struct worker {
    struct sta_map places; /* of file, rank, kind */
    struct share *items;
    size_t count, capacity;
    char padding[64]; /* a cache line of its own */
};

struct pass {
    const struct sta_phases *phases;
    struct sta_overlap_request request;
    struct sta_overlap_binding binding; /* files */
    struct sta_account *account;
    struct worker *workers;
    unsigned worker_count;
};

static int take_row(const struct pass *pass, struct worker *worker, uint32_t file, uint32_t rank,
                    uint8_t kind, int64_t size, int64_t time, struct sta_error *err)
{
    bool added;
    const uint64_t key = ((uint64_t)file * (pass->phases->rank_count + 1u) + rank) << 1 | kind;
    const uint32_t place = sta_map_intern(&worker->places, key, (uint32_t)worker->count, &added);
    if (added) {
        int rc =
            STA_ACCOUNT_GROW(pass->account, worker->items, worker->capacity, worker->count + 1, WHAT, err);
        if (rc != STA_OK)
            return rc;
        worker->items[worker->count++] = (struct share){.file = file, .rank = rank, .kind = kind};
    }
    struct share *share = &worker->items[place];
    share->ops++;
    share->small += size < SMALL;
    share->size += size;
    share->time += time;
    return STA_OK;
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct pass *pass = self;
    struct worker *worker = &pass->workers[number];
    const struct sta_time_range window = sta_overlap_window(&pass->request);
    struct sta_overlap_events events;
    struct sta_vector sizes = {0}, files = {0};
    int rc = sta_overlap_read(&pass->binding, number, rows, &events, err);
    if (rc == STA_OK)
        rc = sta_column_reader_get(rows->reader, STA_LOGICAL_size, &sizes, err);
    if (rc == STA_OK)
        rc = sta_column_reader_get(rows->reader, STA_LOGICAL_file_name, &files, err);
    for (uint32_t i = 0; rc == STA_OK && i < events.count; i++) {
        const uint32_t row = sta_overlap_row(&events, i), at = sizes.constant ? 0 : row;
        const uint32_t file = files.codes[files.constant ? 0 : row], mask = events.masks[row];
        if (mask == STA_NOT_THERE || mask == 0 || file == STA_NO_CODE ||
            (sizes.missing != NULL && sizes.missing[at]) || sizes.integers[at] == 0)
            continue;
        const struct sta_overlap_part part = sta_part_of(window, events.ts[row], events.dur[row]);
        if (!part.outside)
            rc = take_row(pass, worker, file,
                          sta_scope_unit_of_thread(pass->phases->binding.scope, events.threads[row]),
                          (uint8_t)(mask >> 1 & 1), sizes.integers[at], part.to - part.from, err);
    }
    return rc;
}

/* ---- file by file */

static int compare_shares(const void *a, const void *b, void *context)
{
    const struct share *x = a, *y = b;
    (void)context;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static double magnitude(__int128 value)
{
    return value < 0 ? -(double)value : (double)value;
}

static void add_file(const struct share *shares, size_t ranks, struct sta_shared_sums *sums)
{
    const struct share *slow = shares, *fast = shares;
    __int128 size = 0, time = 0, most = shares->size, least = shares->size;
    for (size_t i = 0; i < ranks; i++) {
        slow = shares[i].time > slow->time ? &shares[i] : slow;
        fast = shares[i].time < fast->time ? &shares[i] : fast;
        size += shares[i].size;
        time += shares[i].time;
        most = STA_MAX(most, shares[i].size);
        least = STA_MIN(least, shares[i].size);
        sums->ops += shares[i].ops;
        sums->small += shares[i].small;
    }
    const double by_size = magnitude(slow->size - fast->size) / (double)size;
    const double by_time = time > 0 ? (double)(slow->time - fast->time) / (double)time : 0;
    const double spread = (double)(most - least) / (double)most;
    sums->files++;
    sums->uneven_size += by_size > UNEVEN_BYTES;
    sums->uneven_time += by_time > UNEVEN_BYTES;
    sums->uneven += spread > UNEVEN_RANKS;
    sums->worst_size = STA_MAX(sums->worst_size, by_size);
    sums->worst_time = STA_MAX(sums->worst_time, by_time);
    sums->worst = STA_MAX(sums->worst, spread);
}

/* Shares of all workers, those of a file and rank as one, by kind, file, rank in the order of keys. */
static int gather(const struct pass *pass, const struct sta_budget *budget, struct share **items,
                  size_t *count, struct sta_error *err)
{
    const struct sta_phases *phases = pass->phases;
    size_t all = 0, joined = 0;
    for (unsigned w = 0; w < pass->worker_count; w++)
        all += pass->workers[w].count;
    *items = sta_account_alloc(pass->account, all + 1, sizeof **items, WHAT, err);
    uint32_t *place =
        sta_account_calloc(pass->account, (size_t)phases->rank_count + 1, sizeof *place, WHAT, err);
    int rc = *items == NULL || place == NULL ? err->status : STA_OK;
    for (uint32_t i = 0; rc == STA_OK && i < phases->order_count; i++)
        place[phases->order[i]] = i;
    all = 0;
    for (unsigned w = 0; rc == STA_OK && w < pass->worker_count; w++)
        for (size_t i = 0; i < pass->workers[w].count; i++) {
            (*items)[all] = pass->workers[w].items[i];
            (*items)[all].rank = place[(*items)[all].rank];
            all++;
        }
    if (rc == STA_OK)
        rc = sta_sort(budget, *items, all, sizeof **items, compare_shares, NULL, err);
    for (size_t i = 0; rc == STA_OK && i < all; i++) {
        struct share *last = joined > 0 ? &(*items)[joined - 1] : NULL, one = (*items)[i];
        if (last != NULL && compare_shares(last, &one, NULL) == 0) {
            last->ops += one.ops;
            last->small += one.small;
            last->size += one.size;
            last->time += one.time;
        } else {
            (*items)[joined++] = one;
        }
    }
    sta_account_free(pass->account, place);
    *count = joined;
    return rc;
}

static int bind(struct sta_run *run, struct pass *pass, struct sta_error *err)
{
    static char name[] = "calls";
    struct sta_named_expression *sets =
        sta_arena_alloc(&run->memory, 2 * sizeof *sets, _Alignof(max_align_t));
    struct sta_overlap_query *query = sta_arena_alloc(&run->memory, sizeof *query, _Alignof(max_align_t));
    for (size_t i = 0; i < 2; i++)
        sets[i] = (struct sta_named_expression){name, (char *)(uintptr_t)sta_shared_conditions[i]};
    *query = sta_run_query(run, sta_run_request(run), sets, 2);
    int rc = sta_overlap_request_read(&pass->request, query, false, err);
    return rc == STA_OK ? sta_overlap_binding_init(&pass->binding, &pass->request, run->budget, err) : rc;
}

int sta_shared_measure(struct sta_run *run, const struct sta_phases *phases, struct sta_shared_sums sums[2],
                       struct sta_error *err)
{
    struct pass pass = {
        .phases = phases, .account = run->budget->account, .worker_count = sta_budget_workers(run->budget)};
    struct share *items = NULL;
    size_t count = 0;
    memset(sums, 0, 2 * sizeof *sums);
    pass.workers = sta_alloc_array(pass.worker_count, sizeof *pass.workers);
    int rc = bind(run, &pass, err);
    for (unsigned w = 0; rc == STA_OK && w < pass.worker_count; w++) {
        sta_map_init(&pass.workers[w].places);
        pass.workers[w].places.account = pass.account;
    }
    const struct sta_accumulator accumulator = {&pass, take_rows};
    struct sta_scan scan = sta_overlap_scan(&pass.request);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    if (rc == STA_OK)
        rc = sta_scan_run(&scan, run->budget, err);
    if (rc == STA_OK)
        rc = gather(&pass, run->budget, &items, &count, err);
    for (size_t i = 0, end; rc == STA_OK && i < count; i = end) {
        for (end = i + 1;
             end < count && items[end].kind == items[i].kind && items[end].file == items[i].file;)
            end++;
        if (end - i >= 2)
            add_file(items + i, end - i, &sums[items[i].kind]);
    }
    sta_account_free(pass.account, items);
    for (unsigned w = 0; w < pass.worker_count; w++) {
        sta_map_fini(&pass.workers[w].places);
        sta_account_free(pass.account, pass.workers[w].items);
    }
    free(pass.workers);
    sta_overlap_binding_fini(&pass.binding);
    sta_overlap_request_release(&pass.request);
    return rc;
}

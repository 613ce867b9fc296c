/* Parts of an overlap: added up, sent, and made into results. */
#include "analyse/overlap/partial.h"

#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "analyse/sources/shared.h"
#include "common/account.h"
#include "common/memory.h"

#define WHAT STA_OVERLAP_WHAT

static const struct sta_entities *entities_of(const struct sta_overlap_binding *binding)
{
    return sta_snapshot_entities(binding->request->query->snapshot);
}

int sta_overlap_partial_init(struct sta_overlap_partial *partial, const struct sta_overlap_binding *binding,
                             struct sta_error *err)
{
    struct sta_account *account = binding->budget->account;
    const size_t units = sta_scope_unit_count(binding->scope), sets = binding->request->set_count;
    const size_t threads = entities_of(binding)->thread_code_count;
    *partial = (struct sta_overlap_partial){.account = account,
                                            .unit_count = (uint32_t)units,
                                            .set_count = (uint32_t)sets,
                                            .thread_count = (uint32_t)threads};
    partial->threads = sta_account_alloc(account, threads + 1, sizeof *partial->threads, WHAT, err);
    if (partial->threads != NULL)
        partial->units = sta_account_alloc(account, units + 1, sizeof *partial->units, WHAT, err);
    if (partial->units != NULL)
        partial->swept = sta_account_calloc(account, units + 1, sizeof *partial->swept, WHAT, err);
    if (partial->swept != NULL)
        partial->events = sta_account_calloc(account, (units + 1) * sets, sizeof *partial->events, WHAT, err);
    if (partial->events != NULL)
        partial->exposed = sta_account_calloc(account, sets * sets, sizeof *partial->exposed, WHAT, err);
    if (partial->exposed == NULL)
        return err->status;
    sta_host_spans_clear(partial->threads, 0, threads + 1);
    sta_host_spans_clear(partial->units, 0, units + 1);
    return STA_OK;
}

void sta_overlap_partial_fini(struct sta_overlap_partial *partial)
{
    void *const all[] = {partial->threads, partial->units,   partial->swept,    partial->events,
                         partial->cells,   partial->exposed, partial->crossings};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(partial->account, all[i]);
    for (uint32_t s = 0; s < STA_OVERLAP_MASK_BITS; s++)
        sta_account_free(partial->account, partial->concurrency[s]);
    *partial = (struct sta_overlap_partial){.account = partial->account};
}

/* ---- sums */

static int compare_cells(const struct sta_sweep_cell *a, const struct sta_sweep_cell *b)
{
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return (a->mask > b->mask) - (a->mask < b->mask);
}

static int add_cells(struct sta_overlap_partial *partial, const struct sta_overlap_partial *other,
                     struct sta_error *err)
{
    const struct sta_sweep_cell *a = partial->cells, *a_end = a + partial->cell_count;
    const struct sta_sweep_cell *b = other->cells, *b_end = b + other->cell_count;
    struct sta_sweep_cell *cells = sta_account_alloc(
        partial->account, partial->cell_count + other->cell_count + 1, sizeof *cells, WHAT, err);
    if (cells == NULL)
        return err->status;
    size_t count = 0;
    while (a < a_end || b < b_end) {
        const int order = a == a_end ? 1 : b == b_end ? -1 : compare_cells(a, b);
        cells[count] = order <= 0 ? *a : *b;
        cells[count].time += order == 0 ? b->time : 0;
        count++;
        a += order <= 0;
        b += order >= 0;
    }
    sta_account_free(partial->account, partial->cells);
    partial->cells = cells;
    partial->cell_count = count;
    return STA_OK;
}

static int add_concurrency(struct sta_overlap_partial *partial, const struct sta_overlap_partial *other,
                           uint32_t set, struct sta_error *err)
{
    const size_t known = partial->concurrency_counts[set], more = other->concurrency_counts[set];
    if (more > known) {
        __int128 *times = sta_account_calloc(partial->account, more, sizeof *times, WHAT, err);
        if (times == NULL)
            return err->status;
        if (known > 0)
            memcpy(times, partial->concurrency[set], known * sizeof *times);
        sta_account_free(partial->account, partial->concurrency[set]);
        partial->concurrency[set] = times;
        partial->concurrency_counts[set] = more;
    }
    for (size_t k = 0; k < more; k++)
        partial->concurrency[set][k] += other->concurrency[set][k];
    return STA_OK;
}

static int add_exposed(struct sta_overlap_partial *partial, const struct sta_overlap_partial *other,
                       struct sta_error *err)
{
    for (uint32_t i = 0; i < partial->set_count * partial->set_count; i++) {
        struct sta_sweep_exposed *sum = &partial->exposed[i];
        const struct sta_sweep_exposed *more = &other->exposed[i];
        sum->hidden += more->hidden;
        sum->partial += more->partial;
        sum->exposed += more->exposed;
        sum->time += more->time;
        sum->time_exposed += more->time_exposed;
        sum->size += more->size;
        sum->size_exposed += more->size_exposed;
    }
    if (other->crossing_count == 0)
        return STA_OK;
    struct sta_sweep_crossing *crossings =
        sta_account_realloc(partial->account, partial->crossings,
                            partial->crossing_count + other->crossing_count, sizeof *crossings, WHAT, err);
    if (crossings == NULL)
        return err->status;
    memcpy(crossings + partial->crossing_count, other->crossings, other->crossing_count * sizeof *crossings);
    partial->crossings = crossings;
    partial->crossing_count += other->crossing_count;
    return STA_OK;
}

int sta_overlap_partial_add(struct sta_overlap_partial *partial, const struct sta_overlap_partial *other,
                            struct sta_error *err)
{
    const uint32_t sets = partial->set_count;
    for (uint32_t t = 0; t < partial->thread_count; t++)
        sta_host_span_widen(&partial->threads[t], other->threads[t].start, other->threads[t].end);
    for (uint32_t u = 0; u < partial->unit_count; u++) {
        sta_host_span_widen(&partial->units[u], other->units[u].start, other->units[u].end);
        partial->swept[u] = STA_MAX(partial->swept[u], other->swept[u]);
        for (uint32_t s = 0; s < sets; s++)
            partial->events[(size_t)u * sets + s] += other->events[(size_t)u * sets + s];
    }
    int rc = add_cells(partial, other, err);
    if (rc == 0)
        rc = add_exposed(partial, other, err);
    for (uint32_t s = 0; rc == 0 && s < sets; s++) {
        partial->sets[s].instant += other->sets[s].instant;
        partial->sets[s].instant_size += other->sets[s].instant_size;
        rc = add_concurrency(partial, other, s, err);
    }
    return rc;
}

/* ---- bytes */

/* A span that there is none of begins behind its end. */
static void put_spans(struct sta_buffer *out, const struct sta_host_span *spans, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sta_put_u64(out, (uint64_t)spans[i].start);
        sta_put_u64(out, (uint64_t)spans[i].end);
    }
}

static void get_spans(struct sta_cursor *in, struct sta_host_span *spans, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        spans[i].start = (int64_t)sta_get_u64(in);
        spans[i].end = (int64_t)sta_get_u64(in);
    }
}

void sta_overlap_partial_put(const struct sta_overlap_partial *partial, struct sta_buffer *out)
{
    const uint32_t sets = partial->set_count;
    sta_put_varint(out, partial->unit_count);
    put_spans(out, partial->threads, partial->thread_count);
    put_spans(out, partial->units, partial->unit_count);
    for (uint32_t u = 0; u < partial->unit_count; u++)
        sta_put_varint(out, (uint64_t)partial->swept[u]);
    for (size_t i = 0; i < (size_t)partial->unit_count * sets; i++)
        sta_put_varint(out, (uint64_t)partial->events[i]);
    sta_put_varint(out, partial->cell_count);
    for (size_t c = 0; c < partial->cell_count; c++) {
        sta_put_varint(out, partial->cells[c].unit);
        sta_put_varint(out, partial->cells[c].mask);
        sta_put_varint(out, (uint64_t)partial->cells[c].time);
    }
    for (uint32_t s = 0; s < sets; s++) {
        sta_put_varint(out, (uint64_t)partial->sets[s].instant);
        sta_put(out, &partial->sets[s].instant_size, sizeof partial->sets[s].instant_size);
        sta_put_varint(out, partial->concurrency_counts[s]);
        sta_put(out, partial->concurrency[s], partial->concurrency_counts[s] * sizeof(__int128));
    }
    sta_put(out, partial->exposed, (size_t)sets * sets * sizeof *partial->exposed);
    sta_put_varint(out, partial->crossing_count);
    sta_put(out, partial->crossings, partial->crossing_count * sizeof *partial->crossings);
}

static int get_cells(struct sta_overlap_partial *partial, struct sta_cursor *in, struct sta_error *err)
{
    const uint64_t count = sta_get_varint(in);
    if (in->failed || count > (uint64_t)(in->end - in->at))
        return sta_shared_fail(err);
    partial->cells =
        sta_account_alloc(partial->account, (size_t)count + 1, sizeof *partial->cells, WHAT, err);
    if (partial->cells == NULL)
        return err->status;
    for (; partial->cell_count < count; partial->cell_count++) {
        struct sta_sweep_cell *cell = &partial->cells[partial->cell_count];
        cell->unit = (uint32_t)sta_shared_get_index(in, partial->unit_count);
        cell->mask = (uint32_t)sta_shared_get_index(in, UINT64_C(1) << partial->set_count);
        cell->time = (int64_t)sta_shared_get_index(in, (uint64_t)INT64_MAX);
        const bool ascending = partial->cell_count == 0 || compare_cells(cell - 1, cell) < 0;
        if (in->failed || !ascending)
            return sta_shared_fail(err);
    }
    return STA_OK;
}

static int get_set(struct sta_overlap_partial *partial, uint32_t set, struct sta_cursor *in,
                   struct sta_error *err)
{
    partial->sets[set].instant = (int64_t)sta_get_varint(in);
    const void *instant_size = sta_get_bytes(in, sizeof partial->sets[set].instant_size);
    if (instant_size != NULL)
        memcpy(&partial->sets[set].instant_size, instant_size, sizeof partial->sets[set].instant_size);
    const uint64_t count = sta_get_varint(in);
    const void *times = count <= (uint64_t)(in->end - in->at) / sizeof(__int128)
                            ? sta_get_bytes(in, count * sizeof(__int128))
                            : NULL;
    if (in->failed || times == NULL)
        return sta_shared_fail(err);
    partial->concurrency[set] =
        sta_account_alloc(partial->account, (size_t)count + 1, sizeof(__int128), WHAT, err);
    if (partial->concurrency[set] == NULL)
        return err->status;
    memcpy(partial->concurrency[set], times, count * sizeof(__int128));
    partial->concurrency_counts[set] = (size_t)count;
    return STA_OK;
}

static int get_exposed(struct sta_overlap_partial *partial, struct sta_cursor *in, struct sta_error *err)
{
    const size_t pairs = (size_t)partial->set_count * partial->set_count;
    const void *exposed = sta_get_bytes(in, pairs * sizeof *partial->exposed);
    const uint64_t count = sta_get_varint(in);
    const void *crossings = count <= (uint64_t)(in->end - in->at) / sizeof *partial->crossings
                                ? sta_get_bytes(in, count * sizeof *partial->crossings)
                                : NULL;
    if (in->failed || crossings == NULL)
        return sta_shared_fail(err);
    memcpy(partial->exposed, exposed, pairs * sizeof *partial->exposed);
    partial->crossings =
        sta_account_alloc(partial->account, (size_t)count + 1, sizeof *partial->crossings, WHAT, err);
    if (partial->crossings == NULL)
        return err->status;
    memcpy(partial->crossings, crossings, count * sizeof *partial->crossings);
    partial->crossing_count = (size_t)count;
    for (size_t c = 0; c < count; c++)
        if (partial->crossings[c].mask >> partial->set_count != 0 || partial->crossings[c].weight.dur <= 0 ||
            (partial->crossings[c].begins & ~INT64_C(1)) != 0)
            return sta_shared_fail(err);
    return STA_OK;
}

int sta_overlap_partial_get(struct sta_overlap_partial *partial, const struct sta_overlap_binding *binding,
                            struct sta_cursor *in, struct sta_error *err)
{
    int rc = sta_overlap_partial_init(partial, binding, err);
    if (rc == 0 && sta_get_varint(in) != partial->unit_count)
        rc = sta_shared_fail(err);
    if (rc != 0)
        return rc;
    get_spans(in, partial->threads, partial->thread_count);
    get_spans(in, partial->units, partial->unit_count);
    for (uint32_t u = 0; u < partial->unit_count; u++)
        partial->swept[u] = (int64_t)sta_get_varint(in);
    for (size_t i = 0; i < (size_t)partial->unit_count * partial->set_count; i++)
        partial->events[i] = (int64_t)sta_get_varint(in);
    rc = get_cells(partial, in, err);
    for (uint32_t s = 0; rc == 0 && s < partial->set_count; s++)
        rc = get_set(partial, s, in, err);
    return rc == 0 ? get_exposed(partial, in, err) : rc;
}

/* ---- results */

/* From threads to hosts, and to units where these follow from threads. */
static int add_threads(const struct sta_overlap_partial *partial, const struct sta_overlap_binding *binding,
                       struct sta_overlap_results *results, struct sta_error *err)
{
    const struct sta_entities *entities = entities_of(binding);
    const uint32_t host_limit = sta_dictionary_count(entities->hosts);
    uint8_t *met = sta_account_calloc(partial->account, (size_t)entities->process_count + 1, 1, WHAT, err);
    results->hosts =
        sta_account_alloc(partial->account, (size_t)host_limit + 1, sizeof *results->hosts, WHAT, err);
    int rc = met == NULL || results->hosts == NULL ? err->status : 0;
    if (rc == 0)
        sta_host_spans_clear(results->hosts, 0, (size_t)host_limit + 1);
    for (uint32_t code = 0; code < partial->thread_count && rc == 0; code++) {
        const struct sta_host_span span = partial->threads[code];
        if (span.start > span.end)
            continue;
        const struct sta_entity_thread *thread = &entities->threads[entities->thread_of_code[code]];
        sta_host_span_widen(&results->hosts[STA_MIN(thread->host, host_limit)], span.start, span.end);
        if (sta_overlap_follows_threads(binding->request)) {
            struct sta_unit_sums *sums = &results->sums[sta_scope_unit_of_thread(results->scope, code)];
            sums->start = STA_MIN(sums->start, span.start);
            sums->end = STA_MAX(sums->end, span.end);
            sums->processes += !met[thread->process];
        }
        met[thread->process] = 1;
    }
    sta_account_free(partial->account, met);
    return rc;
}

/* Parts of the same event stand together. */
static int compare_crossings(const void *a, const void *b, void *context)
{
    const struct sta_sweep_crossing *x = a, *y = b;
    const int64_t left[] = {x->unit, x->mask, x->ts, x->weight.dur, x->weight.size};
    const int64_t right[] = {y->unit, y->mask, y->ts, y->weight.dur, y->weight.size};
    for (size_t i = 0; i < STA_COUNT_OF(left); i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* @parts: of some events that are the same in all, one for each range that each of them reaches into.  They
 * lie in the same way, and so have equal parts in a range. */
static int count_equal(const struct sta_overlap_partial *partial, const struct sta_sweep_crossing *parts,
                       size_t count, struct sta_error *err)
{
    int64_t events = 0, time = 0, inside[STA_SWEEP_SETS] = {0};
    for (size_t i = 0; i < count; i++) {
        events += parts[i].begins;
        time += parts[i].time;
        for (uint32_t s = 0; s < partial->set_count; s++)
            inside[s] += parts[i].inside[s];
    }
    if (events == 0)
        return sta_shared_fail(err);
    for (uint32_t s = 0; s < partial->set_count; s++)
        inside[s] /= events;
    for (int64_t i = 0; i < events; i++)
        sta_sweep_expose(partial->exposed, partial->set_count, parts->mask, time / events, &parts->weight,
                         inside);
    return STA_OK;
}

/* Events that reach into several ranges. */
static int count_crossings(const struct sta_overlap_partial *partial, const struct sta_budget *budget,
                           struct sta_error *err)
{
    const size_t count = partial->crossing_count;
    struct sta_sweep_crossing *all = partial->crossings;
    int rc = sta_sort(budget, all, count, sizeof *all, compare_crossings, NULL, err);
    for (size_t first = 0, end; rc == 0 && first < count; first = end) {
        for (end = first + 1; end < count && compare_crossings(&all[first], &all[end], NULL) == 0; end++)
            ;
        rc = count_equal(partial, &all[first], end - first, err);
    }
    return rc;
}

static int list_units(struct sta_overlap_results *results, uint32_t count, const struct sta_budget *budget,
                      struct sta_error *err)
{
    results->units =
        sta_account_alloc(results->account, (size_t)count + 1, sizeof *results->units, WHAT, err);
    if (results->units == NULL)
        return err->status;
    for (uint32_t u = 0; u < count; u++)
        if (results->sums[u].start <= results->sums[u].end)
            results->units[results->unit_count++] = u;
    return sta_scope_sort(results->scope, results->units, results->unit_count, budget, err);
}

static void take_sets(struct sta_overlap_partial *partial, struct sta_overlap_results *results)
{
    memcpy(results->sets, partial->sets, sizeof results->sets);
    for (uint32_t s = 0; s < partial->set_count; s++) {
        for (uint32_t u = 0; u < partial->unit_count; u++)
            results->sets[s].events += results->sums[u].events[s];
        results->concurrency[s] = partial->concurrency[s];
        results->concurrency_counts[s] = partial->concurrency_counts[s];
        partial->concurrency[s] = NULL;
        for (size_t k = 1; k < results->concurrency_counts[s]; k++)
            results->sets[s].time += results->concurrency[s][k] * (int64_t)k;
    }
}

int sta_overlap_take_partial(struct sta_overlap_partial *partial, const struct sta_overlap_binding *binding,
                             struct sta_overlap_results *results, struct sta_error *err)
{
    int rc = count_crossings(partial, binding->budget, err);
    if (rc != 0)
        return rc;
    results->sums = sta_account_alloc(partial->account, (size_t)partial->unit_count + 1,
                                      sizeof *results->sums, WHAT, err);
    if (results->sums == NULL)
        return err->status;
    results->counts = partial->events;
    results->cells = partial->cells;
    results->cell_count = partial->cell_count;
    results->exposed = partial->exposed;
    partial->events = NULL;
    partial->cells = NULL;
    partial->exposed = NULL;
    for (uint32_t u = 0; u < partial->unit_count; u++)
        results->sums[u] = (struct sta_unit_sums){.start = partial->units[u].start,
                                                  .end = partial->units[u].end,
                                                  .swept = partial->swept[u],
                                                  .events = results->counts + (size_t)u * partial->set_count};
    take_sets(partial, results);
    rc = add_threads(partial, binding, results, err);
    return rc == 0 ? list_units(results, partial->unit_count, binding->budget, err) : rc;
}

void sta_overlap_results_fini(struct sta_overlap_results *results)
{
    void *const all[] = {results->units, results->sums,  results->counts,
                         results->hosts, results->cells, results->exposed};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(results->account, all[i]);
    for (uint32_t s = 0; s < STA_OVERLAP_MASK_BITS; s++)
        sta_account_free(results->account, results->concurrency[s]);
    *results = (struct sta_overlap_results){0};
}

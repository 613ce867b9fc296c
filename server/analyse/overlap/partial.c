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

int sta_overlap_results_init(struct sta_overlap_results *results, const struct sta_overlap_binding *binding,
                             struct sta_error *err)
{
    struct sta_account *account = binding->budget->account;
    const size_t units = sta_scope_unit_count(binding->scope), sets = binding->request->set_count;
    const size_t threads = entities_of(binding)->thread_code_count;
    *results = (struct sta_overlap_results){.account = account,
                                            .scope = binding->scope,
                                            .unit_limit = (uint32_t)units,
                                            .set_count = (uint32_t)sets,
                                            .thread_count = (uint32_t)threads};
    results->threads = sta_account_alloc(account, threads + 1, sizeof *results->threads, WHAT, err);
    if (results->threads != NULL)
        results->spans = sta_account_alloc(account, units + 1, sizeof *results->spans, WHAT, err);
    if (results->spans != NULL)
        results->swept = sta_account_calloc(account, units + 1, sizeof *results->swept, WHAT, err);
    if (results->swept != NULL)
        results->counts = sta_account_calloc(account, (units + 1) * sets, sizeof *results->counts, WHAT, err);
    if (results->counts != NULL)
        results->exposed = sta_account_calloc(account, sets * sets, sizeof *results->exposed, WHAT, err);
    if (results->exposed == NULL)
        return err->status;
    sta_host_spans_clear(results->threads, 0, threads + 1);
    sta_host_spans_clear(results->spans, 0, units + 1);
    return STA_OK;
}

void sta_overlap_results_fini(struct sta_overlap_results *results)
{
    void *const all[] = {results->threads, results->spans,   results->swept,     results->counts,
                         results->cells,   results->exposed, results->crossings, results->units,
                         results->sums,    results->hosts};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(results->account, all[i]);
    for (uint32_t s = 0; s < STA_OVERLAP_MASK_BITS; s++)
        sta_account_free(results->account, results->concurrency[s]);
    *results = (struct sta_overlap_results){.account = results->account};
}

/* ---- sums */

static int add_cells(struct sta_overlap_results *results, const struct sta_overlap_results *other,
                     struct sta_error *err)
{
    const struct sta_sweep_cell *a = results->cells, *a_end = a + results->cell_count;
    const struct sta_sweep_cell *b = other->cells, *b_end = b + other->cell_count;
    struct sta_sweep_cell *cells = sta_account_alloc(
        results->account, results->cell_count + other->cell_count + 1, sizeof *cells, WHAT, err);
    if (cells == NULL)
        return err->status;
    size_t count = 0;
    while (a < a_end || b < b_end) {
        const int order = a == a_end ? 1 : b == b_end ? -1 : sta_sweep_compare_cells(a, b);
        cells[count] = order <= 0 ? *a : *b;
        cells[count].time += order == 0 ? b->time : 0;
        count++;
        a += order <= 0;
        b += order >= 0;
    }
    sta_account_free(results->account, results->cells);
    results->cells = cells;
    results->cell_count = count;
    return STA_OK;
}

static int add_concurrency(struct sta_overlap_results *results, const struct sta_overlap_results *other,
                           uint32_t set, struct sta_error *err)
{
    const size_t known = results->concurrency_counts[set], more = other->concurrency_counts[set];
    if (more > known) {
        __int128 *times = sta_account_calloc(results->account, more, sizeof *times, WHAT, err);
        if (times == NULL)
            return err->status;
        if (known > 0)
            memcpy(times, results->concurrency[set], known * sizeof *times);
        sta_account_free(results->account, results->concurrency[set]);
        results->concurrency[set] = times;
        results->concurrency_counts[set] = more;
    }
    for (size_t k = 0; k < more; k++)
        results->concurrency[set][k] += other->concurrency[set][k];
    return STA_OK;
}

static int add_exposed(struct sta_overlap_results *results, const struct sta_overlap_results *other,
                       struct sta_error *err)
{
    for (uint32_t i = 0; i < results->set_count * results->set_count; i++)
        sta_sweep_add_exposed(&results->exposed[i], &other->exposed[i]);
    if (other->crossing_count == 0)
        return STA_OK;
    struct sta_sweep_crossing *crossings =
        sta_account_realloc(results->account, results->crossings,
                            results->crossing_count + other->crossing_count, sizeof *crossings, WHAT, err);
    if (crossings == NULL)
        return err->status;
    memcpy(crossings + results->crossing_count, other->crossings, other->crossing_count * sizeof *crossings);
    results->crossings = crossings;
    results->crossing_count += other->crossing_count;
    return STA_OK;
}

int sta_overlap_results_add(struct sta_overlap_results *results, const struct sta_overlap_results *other,
                            struct sta_error *err)
{
    const uint32_t sets = results->set_count;
    for (uint32_t t = 0; t < results->thread_count; t++)
        sta_host_span_widen(&results->threads[t], other->threads[t].start, other->threads[t].end);
    for (uint32_t u = 0; u < results->unit_limit; u++) {
        sta_host_span_widen(&results->spans[u], other->spans[u].start, other->spans[u].end);
        results->swept[u] = STA_MAX(results->swept[u], other->swept[u]);
        for (uint32_t s = 0; s < sets; s++)
            results->counts[(size_t)u * sets + s] += other->counts[(size_t)u * sets + s];
    }
    int rc = add_cells(results, other, err);
    if (rc == 0)
        rc = add_exposed(results, other, err);
    for (uint32_t s = 0; rc == 0 && s < sets; s++) {
        results->sets[s].instant += other->sets[s].instant;
        results->sets[s].instant_size += other->sets[s].instant_size;
        rc = add_concurrency(results, other, s, err);
    }
    return rc;
}

/* ---- bytes */

void sta_overlap_results_put(const struct sta_overlap_results *results, struct sta_buffer *out)
{
    const uint32_t sets = results->set_count;
    sta_put_varint(out, results->unit_limit);
    sta_put(out, results->threads, results->thread_count * sizeof *results->threads);
    sta_put(out, results->spans, results->unit_limit * sizeof *results->spans);
    for (uint32_t u = 0; u < results->unit_limit; u++)
        sta_put_varint(out, (uint64_t)results->swept[u]);
    for (size_t i = 0; i < (size_t)results->unit_limit * sets; i++)
        sta_put_varint(out, (uint64_t)results->counts[i]);
    sta_put_varint(out, results->cell_count);
    for (size_t c = 0; c < results->cell_count; c++) {
        sta_put_varint(out, results->cells[c].unit);
        sta_put_varint(out, results->cells[c].mask);
        sta_put_varint(out, (uint64_t)results->cells[c].time);
    }
    for (uint32_t s = 0; s < sets; s++) {
        sta_put_varint(out, (uint64_t)results->sets[s].instant);
        sta_put(out, &results->sets[s].instant_size, sizeof results->sets[s].instant_size);
        sta_put_varint(out, results->concurrency_counts[s]);
        sta_put(out, results->concurrency[s], results->concurrency_counts[s] * sizeof(__int128));
    }
    sta_put(out, results->exposed, (size_t)sets * sets * sizeof *results->exposed);
    sta_put_varint(out, results->crossing_count);
    sta_put(out, results->crossings, results->crossing_count * sizeof *results->crossings);
}

static int get_cells(struct sta_overlap_results *results, struct sta_cursor *in, struct sta_error *err)
{
    const uint64_t count = sta_get_varint(in);
    if (in->failed || count > (uint64_t)(in->end - in->at))
        return sta_shared_fail(err);
    results->cells =
        sta_account_alloc(results->account, (size_t)count + 1, sizeof *results->cells, WHAT, err);
    if (results->cells == NULL)
        return err->status;
    for (; results->cell_count < count; results->cell_count++) {
        struct sta_sweep_cell *cell = &results->cells[results->cell_count];
        cell->unit = (uint32_t)sta_shared_get_index(in, results->unit_limit);
        cell->mask = (uint32_t)sta_shared_get_index(in, UINT64_C(1) << results->set_count);
        cell->time = (int64_t)sta_shared_get_index(in, (uint64_t)INT64_MAX);
        const bool ascending = results->cell_count == 0 || sta_sweep_compare_cells(cell - 1, cell) < 0;
        if (in->failed || !ascending)
            return sta_shared_fail(err);
    }
    return STA_OK;
}

/* What lies in memory as it was sent; left alone when the bytes are at their end. */
static void get_memory(struct sta_cursor *in, void *to, size_t size)
{
    const void *bytes = sta_get_bytes(in, size);
    if (bytes != NULL)
        memcpy(to, bytes, size);
}

/* A number of items, and these as they lie in memory.  NULL: refused, or no such bytes. */
static void *get_array(struct sta_cursor *in, size_t size, struct sta_account *account, size_t *count,
                       struct sta_error *err)
{
    const uint64_t wanted = sta_get_varint(in);
    const bool fits = wanted <= (uint64_t)(in->end - in->at) / size;
    const void *bytes = fits ? sta_get_bytes(in, wanted * size) : NULL;
    if (in->failed || bytes == NULL) {
        sta_shared_fail(err);
        return NULL;
    }
    void *items = sta_account_alloc(account, (size_t)wanted + 1, size, WHAT, err);
    if (items != NULL)
        memcpy(items, bytes, wanted * size);
    *count = items != NULL ? (size_t)wanted : 0;
    return items;
}

static int get_set(struct sta_overlap_results *results, uint32_t set, struct sta_cursor *in,
                   struct sta_error *err)
{
    results->sets[set].instant = (int64_t)sta_get_varint(in);
    get_memory(in, &results->sets[set].instant_size, sizeof results->sets[set].instant_size);
    results->concurrency[set] =
        get_array(in, sizeof(__int128), results->account, &results->concurrency_counts[set], err);
    return results->concurrency[set] != NULL ? STA_OK : err->status;
}

static int get_exposed(struct sta_overlap_results *results, struct sta_cursor *in, struct sta_error *err)
{
    const size_t pairs = (size_t)results->set_count * results->set_count;
    get_memory(in, results->exposed, pairs * sizeof *results->exposed);
    results->crossings =
        get_array(in, sizeof *results->crossings, results->account, &results->crossing_count, err);
    if (results->crossings == NULL)
        return err->status;
    for (size_t c = 0; c < results->crossing_count; c++)
        if (results->crossings[c].mask >> results->set_count != 0 || results->crossings[c].weight.dur <= 0 ||
            (results->crossings[c].begins & ~INT64_C(1)) != 0)
            return sta_shared_fail(err);
    return STA_OK;
}

int sta_overlap_results_get(struct sta_overlap_results *results, const struct sta_overlap_binding *binding,
                            struct sta_cursor *in, struct sta_error *err)
{
    int rc = sta_overlap_results_init(results, binding, err);
    if (rc == 0 && sta_get_varint(in) != results->unit_limit)
        rc = sta_shared_fail(err);
    if (rc != 0)
        return rc;
    get_memory(in, results->threads, results->thread_count * sizeof *results->threads);
    get_memory(in, results->spans, results->unit_limit * sizeof *results->spans);
    for (uint32_t u = 0; u < results->unit_limit; u++)
        results->swept[u] = (int64_t)sta_get_varint(in);
    for (size_t i = 0; i < (size_t)results->unit_limit * results->set_count; i++)
        results->counts[i] = (int64_t)sta_get_varint(in);
    rc = get_cells(results, in, err);
    for (uint32_t s = 0; rc == 0 && s < results->set_count; s++)
        rc = get_set(results, s, in, err);
    return rc == 0 ? get_exposed(results, in, err) : rc;
}

/* ---- results */

/* From threads to hosts, and to units where these follow from threads. */
static int add_threads(struct sta_overlap_results *results, const struct sta_overlap_binding *binding,
                       struct sta_error *err)
{
    const struct sta_entities *entities = entities_of(binding);
    const uint32_t host_limit = sta_dictionary_count(entities->hosts);
    uint8_t *met = sta_account_calloc(results->account, (size_t)entities->process_count + 1, 1, WHAT, err);
    results->hosts =
        sta_account_alloc(results->account, (size_t)host_limit + 1, sizeof *results->hosts, WHAT, err);
    if (met == NULL || results->hosts == NULL) {
        sta_account_free(results->account, met);
        return err->status;
    }
    sta_host_spans_clear(results->hosts, 0, (size_t)host_limit + 1);
    for (uint32_t code = 0; code < results->thread_count; code++) {
        const struct sta_host_span span = results->threads[code];
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
    sta_account_free(results->account, met);
    return STA_OK;
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
static int count_equal(const struct sta_overlap_results *results, const struct sta_sweep_crossing *parts,
                       size_t count, struct sta_error *err)
{
    int64_t events = 0, time = 0, inside[STA_SWEEP_SETS] = {0};
    for (size_t i = 0; i < count; i++) {
        events += parts[i].begins;
        time += parts[i].time;
        for (uint32_t s = 0; s < results->set_count; s++)
            inside[s] += parts[i].inside[s];
    }
    if (events == 0)
        return sta_shared_fail(err);
    for (uint32_t s = 0; s < results->set_count; s++)
        inside[s] /= events;
    for (int64_t i = 0; i < events; i++)
        sta_sweep_expose(results->exposed, results->set_count, parts->mask, time / events, &parts->weight,
                         inside);
    return STA_OK;
}

/* Events that reach into several ranges. */
static int count_crossings(const struct sta_overlap_results *results, const struct sta_budget *budget,
                           struct sta_error *err)
{
    const size_t count = results->crossing_count;
    struct sta_sweep_crossing *all = results->crossings;
    int rc = sta_sort(budget, all, count, sizeof *all, compare_crossings, NULL, err);
    for (size_t first = 0, end; rc == 0 && first < count; first = end) {
        for (end = first + 1; end < count && compare_crossings(&all[first], &all[end], NULL) == 0; end++)
            ;
        rc = count_equal(results, &all[first], end - first, err);
    }
    return rc;
}

static int list_units(struct sta_overlap_results *results, const struct sta_budget *budget,
                      struct sta_error *err)
{
    const uint32_t count = results->unit_limit;
    results->units =
        sta_account_alloc(results->account, (size_t)count + 1, sizeof *results->units, WHAT, err);
    if (results->units == NULL)
        return err->status;
    for (uint32_t u = 0; u < count; u++)
        if (results->sums[u].start <= results->sums[u].end)
            results->units[results->unit_count++] = u;
    return sta_scope_sort(results->scope, results->units, results->unit_count, budget, err);
}

static void add_up_sets(struct sta_overlap_results *results)
{
    for (uint32_t s = 0; s < results->set_count; s++) {
        for (uint32_t u = 0; u < results->unit_limit; u++)
            results->sets[s].events += results->sums[u].events[s];
        for (size_t k = 1; k < results->concurrency_counts[s]; k++)
            results->sets[s].time += results->concurrency[s][k] * (int64_t)k;
    }
}

/* What nobody asks for once all ranges are together. */
static void drop_parts(struct sta_overlap_results *results)
{
    sta_account_free(results->account, results->threads);
    sta_account_free(results->account, results->spans);
    sta_account_free(results->account, results->swept);
    sta_account_free(results->account, results->crossings);
    results->threads = results->spans = NULL;
    results->swept = NULL;
    results->crossings = NULL;
}

int sta_overlap_results_finish(struct sta_overlap_results *results, const struct sta_overlap_binding *binding,
                               struct sta_error *err)
{
    int rc = count_crossings(results, binding->budget, err);
    if (rc != 0)
        return rc;
    results->sums = sta_account_alloc(results->account, (size_t)results->unit_limit + 1,
                                      sizeof *results->sums, WHAT, err);
    if (results->sums == NULL)
        return err->status;
    for (uint32_t u = 0; u < results->unit_limit; u++)
        results->sums[u] = (struct sta_unit_sums){.start = results->spans[u].start,
                                                  .end = results->spans[u].end,
                                                  .swept = results->swept[u],
                                                  .events = results->counts + (size_t)u * results->set_count};
    add_up_sets(results);
    rc = add_threads(results, binding, err);
    drop_parts(results);
    return rc == 0 ? list_units(results, binding->budget, err) : rc;
}

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
    void *const all[] = {results->threads,   results->spans,   results->swept,     results->counts,
                         results->cells,     results->exposed, results->crossings, results->units,
                         results->processes, results->hosts};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(results->account, all[i]);
    for (uint32_t s = 0; s < STA_SWEEP_SETS; s++)
        sta_account_free(results->account, results->concurrency[s].times);
    *results = (struct sta_overlap_results){.account = results->account};
}

/* ---- sums */

/* Widens spans, of which @more may be NULL, by others. */
static void add_spans(struct sta_host_span *spans, const struct sta_host_span *more, uint32_t count)
{
    for (uint32_t i = 0; more != NULL && i < count; i++)
        sta_host_span_widen(&spans[i], more[i].start, more[i].end);
}

static int add_cells(struct sta_overlap_results *results, const struct sta_overlap_results *other,
                     struct sta_error *err)
{
    const size_t count = results->cell_count, more = other->cell_count;
    size_t capacity = count;
    int rc = STA_ACCOUNT_GROW(results->account, results->cells, capacity, count + more, WHAT, err);
    if (rc == 0 && more > 0)
        memcpy(results->cells + count, other->cells, more * sizeof *results->cells);
    results->cell_count += rc == 0 ? more : 0;
    return rc;
}

static int add_crossings(struct sta_overlap_results *results, const struct sta_overlap_results *other,
                         struct sta_error *err)
{
    const size_t count = results->crossing_count, more = other->crossing_count;
    size_t capacity = count;
    int rc = STA_ACCOUNT_GROW(results->account, results->crossings, capacity, count + more, WHAT, err);
    if (rc == 0 && more > 0)
        memcpy(results->crossings + count, other->crossings, more * sizeof *results->crossings);
    results->crossing_count += rc == 0 ? more : 0;
    return rc;
}

static int add_concurrency(struct sta_account *account, struct sta_sweep_concurrency *sum,
                           const struct sta_sweep_concurrency *more, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW_ZEROED(account, sum->times, sum->count, more->count, WHAT, err);
    for (size_t k = 1; rc == 0 && k < more->count; k++)
        sum->times[k] += more->times[k];
    return rc;
}

static void add_exposed(struct sta_sweep_exposed *sum, const struct sta_sweep_exposed *more)
{
    sum->hidden += more->hidden;
    sum->partial += more->partial;
    sum->exposed += more->exposed;
    sum->time += more->time;
    sum->time_exposed += more->time_exposed;
    sum->size += more->size;
    sum->size_exposed += more->size_exposed;
}

int sta_overlap_results_add(struct sta_overlap_results *results, const struct sta_overlap_results *other,
                            struct sta_error *err)
{
    const uint32_t sets = results->set_count, units = STA_MIN(results->unit_limit, other->unit_limit);
    add_spans(results->threads, other->threads, results->thread_count);
    add_spans(results->spans, other->spans, units);
    for (uint32_t u = 0; other->swept != NULL && u < units; u++)
        results->swept[u] = STA_MAX(results->swept[u], other->swept[u]);
    for (size_t i = 0; other->counts != NULL && i < (size_t)units * sets; i++)
        results->counts[i] += other->counts[i];
    for (uint32_t i = 0; other->exposed != NULL && i < sets * sets; i++)
        add_exposed(&results->exposed[i], &other->exposed[i]);
    int rc = add_cells(results, other, err);
    if (rc == 0)
        rc = add_crossings(results, other, err);
    for (uint32_t s = 0; rc == 0 && s < sets; s++) {
        results->sets[s].instant += other->sets[s].instant;
        results->sets[s].instant_size += other->sets[s].instant_size;
    }
    for (uint32_t s = 0; rc == 0 && s < STA_SWEEP_SETS; s++)
        rc = add_concurrency(results->account, &results->concurrency[s], &other->concurrency[s], err);
    return rc;
}

/* ---- bytes */

/* A number of items, and these as they lie in memory. */
static void put_array(struct sta_buffer *out, const void *items, size_t count, size_t size)
{
    sta_put_varint(out, count);
    sta_put(out, items, count * size);
}

void sta_overlap_results_put(const struct sta_overlap_results *results, struct sta_buffer *out)
{
    const size_t units = results->unit_limit, sets = results->set_count;
    sta_put_varint(out, units);
    sta_put(out, results->threads, results->thread_count * sizeof *results->threads);
    sta_put(out, results->spans, units * sizeof *results->spans);
    sta_put(out, results->swept, units * sizeof *results->swept);
    sta_put(out, results->counts, units * sets * sizeof *results->counts);
    sta_put(out, results->sets, sets * sizeof *results->sets);
    sta_put(out, results->exposed, sets * sets * sizeof *results->exposed);
    put_array(out, results->cells, results->cell_count, sizeof *results->cells);
    put_array(out, results->crossings, results->crossing_count, sizeof *results->crossings);
    for (size_t s = 0; s < sets; s++)
        put_array(out, results->concurrency[s].times, results->concurrency[s].count, sizeof(__int128));
}

/* What lies in memory as it was sent; left alone when the bytes are at their end. */
static void get_memory(struct sta_cursor *in, void *to, size_t size)
{
    const void *bytes = sta_get_bytes(in, size);
    if (bytes != NULL)
        memcpy(to, bytes, size);
}

/* What put_array wrote.  NULL: refused, or no such bytes. */
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

static int get_cells(struct sta_overlap_results *results, struct sta_cursor *in, struct sta_error *err)
{
    results->cells = get_array(in, sizeof *results->cells, results->account, &results->cell_count, err);
    if (results->cells == NULL)
        return err->status;
    for (size_t c = 0; c < results->cell_count; c++)
        if (results->cells[c].unit >= results->unit_limit ||
            results->cells[c].mask >> results->set_count != 0)
            return sta_shared_fail(err);
    return STA_OK;
}

static int get_crossings(struct sta_overlap_results *results, struct sta_cursor *in, struct sta_error *err)
{
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
    const size_t units = results->unit_limit, sets = results->set_count;
    if (rc == 0 && sta_get_varint(in) != units)
        rc = sta_shared_fail(err);
    if (rc != 0)
        return rc;
    get_memory(in, results->threads, results->thread_count * sizeof *results->threads);
    get_memory(in, results->spans, units * sizeof *results->spans);
    get_memory(in, results->swept, units * sizeof *results->swept);
    get_memory(in, results->counts, units * sets * sizeof *results->counts);
    get_memory(in, results->sets, sets * sizeof *results->sets);
    get_memory(in, results->exposed, sets * sets * sizeof *results->exposed);
    rc = get_cells(results, in, err);
    if (rc == 0)
        rc = get_crossings(results, in, err);
    for (size_t s = 0; rc == 0 && s < sets; s++) {
        struct sta_sweep_concurrency *of = &results->concurrency[s];
        of->times = get_array(in, sizeof *of->times, results->account, &of->count, err);
        rc = of->times != NULL ? STA_OK : err->status;
    }
    return rc;
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
    results->processes = sta_account_calloc(results->account, (size_t)results->unit_limit + 1,
                                            sizeof *results->processes, WHAT, err);
    if (met == NULL || results->hosts == NULL || results->processes == NULL) {
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
            const uint32_t unit = sta_scope_unit_of_thread(results->scope, code);
            sta_host_span_widen(&results->spans[unit], span.start, span.end);
            results->processes[unit] += !met[thread->process];
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
        if (results->spans[u].start <= results->spans[u].end)
            results->units[results->unit_count++] = u;
    return sta_scope_sort(results->scope, results->units, results->unit_count, budget, err);
}

static int compare_cells(const void *a, const void *b, void *context)
{
    const struct sta_sweep_cell *x = a, *y = b;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    return (x->mask > y->mask) - (x->mask < y->mask);
}

/* Each combination of a unit once, and only if it lasted. */
static int unite_cells(struct sta_overlap_results *results, const struct sta_budget *budget,
                       struct sta_error *err)
{
    struct sta_sweep_cell *cells = results->cells;
    size_t kept = 0;
    int rc = sta_sort(budget, cells, results->cell_count, sizeof *cells, compare_cells, NULL, err);
    for (size_t i = 0; rc == 0 && i < results->cell_count; i++) {
        if (kept > 0 && compare_cells(&cells[kept - 1], &cells[i], NULL) == 0)
            cells[kept - 1].time += cells[i].time;
        else if (cells[i].time > 0)
            cells[kept++] = cells[i];
    }
    results->cell_count = kept;
    return rc;
}

static void add_up_sets(struct sta_overlap_results *results)
{
    const size_t sets = results->set_count;
    for (size_t i = 0; i < results->unit_limit * sets; i++)
        results->sets[i % sets].events += results->counts[i];
    for (size_t s = 0; s < STA_SWEEP_SETS; s++)
        for (size_t k = 1; k < results->concurrency[s].count; k++)
            results->sets[s].time += results->concurrency[s].times[k] * (int64_t)k;
}

/* What is not needed once all ranges are together. */
static void drop_parts(struct sta_overlap_results *results)
{
    sta_account_free(results->account, results->threads);
    sta_account_free(results->account, results->crossings);
    results->threads = NULL;
    results->crossings = NULL;
}

int sta_overlap_results_finish(struct sta_overlap_results *results, const struct sta_overlap_binding *binding,
                               struct sta_error *err)
{
    int rc = count_crossings(results, binding->budget, err);
    if (rc == 0)
        rc = unite_cells(results, binding->budget, err);
    if (rc != 0)
        return rc;
    add_up_sets(results);
    rc = add_threads(results, binding, err);
    drop_parts(results);
    return rc == 0 ? list_units(results, binding->budget, err) : rc;
}

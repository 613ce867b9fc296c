/* Requests and parts of an overlap as bytes between processes. */
#include "analyse/overlap/partial.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

/* ---- the process that asks */

static void put_request(struct sta_buffer *out, const struct sta_overlap_query *query)
{
    sta_put_u32(out, STA_SHARED_OVERLAP);
    sta_put_u64(out, sta_presets_fingerprint(query->presets));
    sta_shared_put_trace(out, query->snapshot);
    sta_shared_put_text(out, query->label);
    sta_shared_put_text(out, query->trace_preset);
    sta_document_put(out, query->request);
}

static bool can_be_shared(const struct sta_overlap_binding *binding, const struct sta_overlap_wants *wants)
{
    return binding->budget->peers != NULL && wants->take == NULL && wants->see == NULL &&
           binding->request->query->set_count == 0 && binding->request->call == STA_OVERLAP_TOTALS &&
           sta_overlap_follows_threads(binding->request);
}

void sta_overlap_share(struct sta_shared_time *shared, const struct sta_overlap_binding *binding,
                       const struct sta_overlap_wants *wants)
{
    if (!can_be_shared(binding, wants))
        return;
    const struct sta_scan scan = sta_overlap_scan(binding->request);
    struct sta_buffer request;
    sta_buffer_init(&request);
    put_request(&request, binding->request->query);
    sta_shared_time_send(shared, binding->budget, &scan, &request);
    sta_buffer_fini(&request);
}

int sta_overlap_shared_take(const struct sta_shared_time *shared, unsigned rank,
                            const struct sta_overlap_binding *binding, const struct sta_overlap_wants *wants,
                            struct sta_overlap_results *results, struct sta_error *err)
{
    struct sta_cursor state;
    int rc = sta_shared_time_take(shared, rank, &state, err);
    if (rc == 0)
        rc = sta_overlap_results_get(results, binding, &state, err);
    if (rc == 0 && wants->series != NULL)
        rc = sta_overlap_series_get(wants->series, &state, err);
    return rc;
}

/* ---- the others */

struct work {
    struct sta_overlap_query query;
    struct sta_presets *presets;
    struct sta_overlap_request request;
    struct sta_overlap_binding binding;
    struct sta_overlap_results results;
    struct sta_overlap_series *series; /* NULL: none is asked for */
    struct sta_arena memory;
};

static int read_request(const struct sta_share_host *host, struct sta_cursor *in, struct work *work,
                        struct sta_error *err)
{
    struct sta_overlap_query *query = &work->query;
    int rc = host->find_presets(host->context, sta_get_u64(in), &work->presets, err);
    if (rc == 0)
        rc = sta_shared_get_trace(host, in, &query->snapshot, err);
    if (rc != 0)
        return rc;
    query->presets = work->presets;
    query->label = sta_shared_get_text(in, &work->memory);
    query->trace_preset = sta_shared_get_text(in, &work->memory);
    query->request = sta_document_get(in, &work->memory);
    if (in->failed || query->request == NULL)
        return sta_shared_fail(err);
    return sta_overlap_request_read(&work->request, query, false, err);
}

static int gather(struct work *work, const struct sta_stripe *stripe, const struct sta_budget *budget,
                  struct sta_error *err)
{
    const struct sta_scan scan = sta_overlap_scan(&work->request);
    struct sta_time_range range;
    int rc = sta_time_range_of(&scan, stripe, budget->account, &range, err);
    if (rc == 0)
        rc = sta_overlap_binding_init(&work->binding, &work->request, budget, err);
    if (rc == 0 && work->request.granularity > 0)
        rc = sta_overlap_series_create(&work->request, budget, &work->series, err);
    const struct sta_overlap_wants wants = {
        .series = work->series, .exposure = work->request.exposure, .concurrency = true};
    if (rc == 0)
        rc = sta_overlap_gather(&work->binding, &wants, range, &work->results, err);
    return rc;
}

int sta_overlap_share_work(const struct sta_share_host *host, struct sta_cursor *query,
                           const struct sta_stripe *stripe, const struct sta_budget *budget,
                           struct sta_buffer *state, struct sta_error *err)
{
    struct work *work = sta_alloc(sizeof *work);
    work->results.account = budget->account;
    int rc = read_request(host, query, work, err);
    if (rc == 0)
        rc = gather(work, stripe, budget, err);
    if (rc == 0)
        sta_overlap_results_put(&work->results, state);
    if (rc == 0 && work->series != NULL)
        rc = sta_overlap_series_put(work->series, state, err);
    if (rc == 0 && state->failed)
        rc = sta_fail(err, STA_ELIMIT, "what a share of this overlap found does not fit the memory");
    sta_overlap_results_fini(&work->results);
    sta_overlap_series_destroy(work->series);
    sta_overlap_binding_fini(&work->binding);
    sta_overlap_request_release(&work->request);
    sta_snapshot_release(work->query.snapshot);
    if (work->presets != NULL)
        sta_presets_release(work->presets);
    sta_arena_fini(&work->memory);
    free(work);
    return rc;
}

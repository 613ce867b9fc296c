/* Queries that several ranks work on: the query as bytes, and the work on a stripe of it. */
#include "analyse/query/rows/share.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "analyse/query/rows/stages.h"
#include "analyse/sources/shared.h"
#include "common/memory.h"

/* ---- the query as bytes */

static void put_query(struct sta_buffer *out, const struct sta_query *query)
{
    sta_put_u64(out, sta_presets_fingerprint(query->presets));
    sta_put_varint(out, query->trace_count);
    for (size_t i = 0; i < query->trace_count; i++) {
        const char *label = query->traces[i].label != NULL ? query->traces[i].label : "";
        sta_put_block(out, label, strlen(label));
        sta_shared_put_trace(out, query->traces[i].snapshot);
    }
    sta_document_put(out, query->request);
}

/* Whether more than one rank would have parts. */
static bool is_worth_it(const struct sta_pipeline *pipeline, const struct sta_peers *peers)
{
    struct sta_stripe first = {.own = 0, .count = peers->count, .width = peers->width};
    bool any = false, others = false;
    for (size_t i = 0; i < pipeline->part_count && !others; i++) {
        const uint32_t row_group = pipeline->parts[i].row_group;
        if (!any)
            first.own = row_group / peers->width % peers->count;
        any = true;
        others = !sta_stripe_has(&first, row_group);
    }
    return others;
}

void sta_share_put_query(struct sta_buffer *out, const struct sta_pipeline *pipeline,
                         const struct sta_query_context *context)
{
    const struct sta_peers *peers = context->budget->peers;
    if (peers != NULL && context->query != NULL && pipeline->events != NULL && is_worth_it(pipeline, peers))
        put_query(out, context->query);
}

/* NULL: it cannot be shared. */
static struct sta_shared *send_query(const struct sta_buffer *query, const struct sta_share_wanted *wanted,
                                     const struct sta_budget *budget)
{
    const struct sta_peers *peers = budget->peers;
    const size_t words = wanted->after != NULL ? wanted->words : 0;
    struct sta_buffer message;
    if (peers == NULL || query == NULL || query->size == 0 || query->failed)
        return NULL;
    sta_buffer_init(&message);
    sta_put_u32(&message, wanted->rows ? STA_SHARED_ROWS : STA_SHARED_GROUPS);
    sta_put_varint(&message, wanted->range);
    sta_put_varint(&message, wanted->edge_count);
    for (size_t i = 0; i < wanted->edge_count; i++)
        sta_shared_put_number(&message, wanted->edges[i]);
    sta_put_u64(&message, wanted->most);
    sta_put_varint(&message, words);
    for (size_t i = 0; i < words; i++)
        sta_put_u64(&message, wanted->after[i]);
    sta_put(&message, query->data, query->size);
    struct sta_shared *shared = message.failed ? NULL : peers->send(peers->context, &message, budget);
    sta_buffer_fini(&message);
    return shared;
}

int sta_share_stripes(const struct sta_buffer *query, const struct sta_share_wanted *wanted,
                      const struct sta_stripe_work *work, const struct sta_budget *budget,
                      struct sta_error *err)
{
    const struct sta_peers *peers = budget->peers;
    struct sta_shared *shared = send_query(query, wanted, budget);
    int rc = STA_OK;
    if (shared == NULL)
        return work->scan(work->self, NULL, err);
    for (unsigned rank = 0; rc == STA_OK && rank < peers->count; rank++) {
        const struct sta_stripe stripe = {rank, peers->count, peers->width};
        struct sta_cursor state;
        rc = rank == 0 ? STA_EOUTDATED : peers->take(shared, rank, budget, &state, err);
        if (rc == STA_EOUTDATED)
            rc = work->scan(work->self, &stripe, err);
        else if (rc == STA_OK)
            rc = work->take(work->self, &state, err);
    }
    peers->end(shared);
    return rc;
}

/* ---- states */

static int write_state(void *self, const void *bytes, size_t size, struct sta_error *err)
{
    struct sta_buffer *state = self;
    sta_put(state, bytes, size);
    return state->failed ? sta_fail(err, STA_ELIMIT, "the groups of a stripe do not fit the memory") : STA_OK;
}

/* ---- work on a stripe */

struct work {
    struct sta_query query;
    struct sta_query_trace *traces;
    struct sta_arena memory;
};

static int open_trace(const struct sta_share_host *host, struct sta_cursor *in, struct work *work,
                      struct sta_error *err)
{
    size_t length;
    struct sta_query_trace *trace = &work->traces[work->query.trace_count];
    const char *label = sta_get_block(in, &length);
    int status = label != NULL ? sta_shared_get_trace(host, in, &trace->snapshot, err) : sta_shared_fail(err);
    if (status != STA_OK)
        return status;
    trace->label = sta_arena_copy(&work->memory, label, length);
    work->query.trace_count++;
    return STA_OK;
}

static int read_query(const struct sta_share_host *host, struct sta_cursor *in, struct work *work,
                      struct sta_error *err)
{
    int status = host->find_presets(host->context, sta_get_u64(in), &work->query.presets, err);
    const uint64_t count = sta_get_varint(in);
    if (status == STA_OK && count > (uint64_t)(in->end - in->at))
        status = sta_shared_fail(err);
    if (status != STA_OK)
        return status;
    work->traces = sta_alloc_array(count, sizeof *work->traces);
    work->query.traces = work->traces;
    for (uint64_t i = 0; i < count && status == STA_OK; i++)
        status = open_trace(host, in, work, err);
    if (status == STA_OK)
        work->query.request = sta_document_get(in, &work->memory);
    if (status == STA_OK && work->query.request == NULL)
        status = sta_shared_fail(err);
    return status;
}

static void work_fini(struct work *work)
{
    for (size_t i = 0; i < work->query.trace_count; i++)
        sta_snapshot_release(work->traces[i].snapshot);
    if (work->query.presets != NULL)
        sta_presets_release(work->query.presets);
    free(work->traces);
    sta_arena_fini(&work->memory);
}

static int run(const struct work *work, const struct sta_share_wanted *wanted,
               const struct sta_stripe *stripe, const struct sta_budget *budget, struct sta_buffer *state,
               struct sta_error *err)
{
    const struct sta_byte_sink sink = {state, write_state};
    struct sta_query_context context = {.budget = budget, .query = &work->query};
    struct sta_plan plan = {.stages = NULL};
    struct sta_events *events = NULL;
    int status = sta_stages_bind(&work->query, &plan, &events, err);
    if (status == STA_OK)
        status = sta_stages_work(&plan, events, &context, wanted, stripe, &sink, err);
    sta_plan_fini(&plan);
    sta_events_destroy(events);
    sta_query_context_fini(&context);
    return status;
}

#define MOST_WORDS 64 /* of a record: more than all keys of a query can take is not read */

int sta_share_query_work(const struct sta_share_host *host, bool rows, struct sta_cursor *message,
                         const struct sta_stripe *stripe, const struct sta_budget *budget,
                         struct sta_buffer *state, struct sta_error *err)
{
    struct work work = {.query = {.trace_count = 0}};
    struct sta_share_wanted wanted = {.rows = rows, .range = sta_shared_get_index(message, 2) != 0};
    uint64_t after[MOST_WORDS];
    wanted.edge_count = (size_t)sta_shared_get_index(message, (uint64_t)(message->end - message->at) / 8 + 1);
    double *edges = sta_alloc_array(wanted.edge_count, sizeof *edges);
    for (size_t i = 0; i < wanted.edge_count; i++)
        edges[i] = sta_shared_get_number(message);
    wanted.edges = wanted.edge_count > 0 ? edges : NULL;
    wanted.most = sta_get_u64(message);
    wanted.words = (size_t)sta_shared_get_index(message, MOST_WORDS + 1);
    for (size_t i = 0; i < wanted.words; i++)
        after[i] = sta_get_u64(message);
    wanted.after = wanted.words > 0 ? after : NULL;
    int status = message->failed ? sta_shared_fail(err) : read_query(host, message, &work, err);
    if (status == STA_OK)
        status = run(&work, &wanted, stripe, budget, state, err);
    work_fini(&work);
    free(edges);
    return status;
}

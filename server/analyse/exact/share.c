/* Asks and states as bytes.
 *
 * A state is: values of keys; signatures by number; contributions, each with its accumulators; tallies;
 * groups of files; groups of sums.  All are taken at once but the sums, which wait until rows are known. */
#include "analyse/exact/share.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static const char WHAT[] = "the share of another rank";

/* What one of the others has sent, in our terms. */
struct sta_exact_received {
    struct sta_cursor sums; /* at its groups; nothing: it has sent none */
    uint32_t *keys;         /* by key there; NULL: the same */
    uint32_t *signatures;   /* by number there */
    uint32_t key_count, signature_count;
};

/* ---- the ask as bytes */

static void put_query(struct sta_buffer *out, const struct sta_view_query *query)
{
    sta_put_u64(out, sta_presets_fingerprint(query->presets));
    sta_shared_put_trace(out, query->snapshot);
    sta_shared_put_text(out, query->preset);
    sta_shared_put_text(out, query->filter);
    sta_put_varint(out, query->filters);
    sta_put_varint(out, query->has_from);
    sta_shared_put_number(out, query->from);
    sta_put_varint(out, query->has_to);
    sta_shared_put_number(out, query->to);
}

static void put_request(struct sta_buffer *out, const struct sta_exact_request *request)
{
    sta_put_u32(out, STA_SHARED_EXACT);
    put_query(out, request->bound->query);
    sta_shared_put_text(out, request->by);
    sta_put_u64(out, (uint64_t)request->bins.g);
    sta_put_u64(out, (uint64_t)request->bins.first);
    sta_put_u64(out, request->bins.count);
    sta_put_u64(out, (uint64_t)request->bins.from);
    sta_put_u64(out, (uint64_t)request->bins.to);
    sta_put_varint(out, request->wants);
    sta_put_varint(out, request->count_bins);
    sta_put_varint(out, request->layers != NULL);
    for (size_t l = 0; request->layers != NULL && l < request->bound->preset->layer_count; l++)
        sta_put_varint(out, request->layers[l]);
}

void sta_exact_share(struct sta_exact_shared *shared, const struct sta_exact_request *request,
                     const struct sta_budget *budget)
{
    if (budget->peers == NULL)
        return;
    const struct sta_scan scan = sta_exact_scan(request);
    struct sta_buffer query;
    sta_buffer_init(&query);
    put_request(&query, request);
    sta_shared_time_send(&shared->time, budget, &scan, &query);
    sta_buffer_fini(&query);
    shared->parts = sta_alloc_array(budget->peers->count, sizeof *shared->parts);
}

void sta_exact_shared_end(struct sta_exact_shared *shared)
{
    for (unsigned rank = 1; rank < sta_shared_time_count(&shared->time); rank++) {
        sta_account_free(shared->time.budget->account, shared->parts[rank].keys);
        sta_account_free(shared->time.budget->account, shared->parts[rank].signatures);
    }
    sta_shared_time_end(&shared->time);
    free(shared->parts);
}

/* ---- states: what is put and what is taken, one beside the other */

static void put_contributions(const struct sta_intake *intake, struct sta_buffer *out)
{
    const struct sta_contribution_counts counts = sta_contributions_count(intake->contributions);
    sta_put_varint(out, counts.accumulators);
    sta_put_varint(out, counts.contributions);
    for (uint32_t c = 0; c < counts.contributions; c++) {
        const struct sta_contribution *contribution = sta_contributions_at(intake->contributions, c);
        const uint32_t accumulators = sta_contribution_accumulators(contribution);
        sta_put_varint(out, contribution->signature->number);
        sta_put_varint(out, contribution->thread);
        sta_put_varint(out, contribution->key);
        sta_put_varint(out, accumulators);
        for (uint32_t i = 0; i < accumulators; i++)
            sta_put_varint(out, sta_contribution_accumulator(contribution, i));
    }
}

/* A missing key has no value. */
static bool key_of(const void *context, uint32_t theirs, uint32_t *key)
{
    const struct sta_exact_received *part = context;
    const bool mapped = part->keys != NULL && theirs != STA_NO_CODE;
    *key = theirs;
    if (mapped && theirs < part->key_count)
        *key = part->keys[theirs];
    return !mapped || theirs < part->key_count;
}

/* Makes the contribution here, and finds out which accumulators are which. */
static int take_contribution(struct sta_cursor *in, const struct sta_exact_received *part,
                             const struct sta_intake *intake, const struct sta_tally_names *names,
                             struct sta_error *err)
{
    const uint64_t signature = sta_shared_get_index(in, part->signature_count);
    const uint64_t thread = sta_shared_get_index(in, sta_contributions_threads(intake->contributions));
    const uint64_t theirs = sta_shared_get_index(in, (uint64_t)UINT32_MAX + 1);
    const uint64_t count = sta_get_varint(in);
    uint32_t key, number;
    if (in->failed || !key_of(part, (uint32_t)theirs, &key))
        return sta_shared_fail(err);
    int rc = sta_contributions_add(intake->contributions,
                                   sta_event_signatures_at(intake->signatures, part->signatures[signature]),
                                   (uint32_t)thread, key, &number, err);
    if (rc != 0)
        return rc;
    const struct sta_contribution *here = sta_contributions_at(intake->contributions, number);
    if (sta_contribution_accumulators(here) != count)
        return sta_shared_fail(err);
    for (uint32_t i = 0; i < count && !in->failed; i++)
        names->accumulators[sta_shared_get_index(in, names->accumulator_count)] =
            sta_contribution_accumulator(here, i);
    return in->failed ? sta_shared_fail(err) : STA_OK;
}

/* All unknown yet.  NULL: it fails. */
static uint32_t *new_names(const struct sta_cursor *in, uint32_t count, struct sta_account *account,
                           struct sta_error *err)
{
    if (in->failed || count > (size_t)(in->end - in->at)) {
        sta_shared_fail(err);
        return NULL;
    }
    uint32_t *names = sta_account_alloc(account, (size_t)count + 1, sizeof *names, WHAT, err);
    if (names != NULL)
        memset(names, 0xff, ((size_t)count + 1) * sizeof *names);
    return names;
}

/* @names: of the account, also after a failure. */
static int take_contributions(struct sta_cursor *in, const struct sta_exact_received *part,
                              const struct sta_intake *intake, struct sta_tally_names *names,
                              struct sta_error *err)
{
    struct sta_account *account = intake->budget->account;
    names->accumulator_count = (uint32_t)sta_shared_get_index(in, UINT32_MAX);
    const uint64_t count = sta_get_varint(in);
    names->accumulators = new_names(in, names->accumulator_count, account, err);
    if (names->accumulators == NULL)
        return err->status;
    int rc = STA_OK;
    for (uint64_t c = 0; rc == 0 && c < count; c++)
        rc = take_contribution(in, part, intake, names, err);
    return rc;
}

static int take_kinds(struct sta_cursor *in, struct sta_exact_received *part, struct sta_intake *intake,
                      struct sta_error *err)
{
    const uint64_t count = sta_get_varint(in);
    if (in->failed || count > (uint64_t)(in->end - in->at))
        return sta_shared_fail(err);
    part->signatures =
        sta_account_alloc(intake->budget->account, (size_t)count + 1, sizeof *part->signatures, WHAT, err);
    if (part->signatures == NULL)
        return err->status;
    for (; part->signature_count < count; part->signature_count++) {
        const struct sta_event_signature *signature = sta_event_signatures_get(intake->signatures, in, err);
        if (signature == NULL)
            return err->status;
        part->signatures[part->signature_count] = signature->number;
    }
    return STA_OK;
}

static int read_tallies(struct sta_cursor *in, const struct sta_intake *intake, struct sta_tallies *tallies,
                        const struct sta_tally_names *names, struct sta_error *err)
{
    struct sta_account *account = intake->budget->account;
    struct sta_tally_item *items =
        sta_account_alloc(account, (size_t)names->accumulator_count + 1, sizeof *items, WHAT, err);
    struct sta_tally tally = {.items = items};
    int rc = items != NULL ? STA_OK : err->status;
    while (rc == 0 && in->at < in->end) {
        rc = sta_tally_get(in, names, intake->bins, &tally, err);
        if (rc == 0)
            rc = sta_tallies_take(tallies, &tally, err);
        if (rc == 0)
            rc = sta_budget_check(intake->budget, err);
    }
    sta_account_free(account, items);
    return rc;
}

static int take_tallies(struct sta_cursor *in, const struct sta_exact_received *part,
                        const struct sta_intake *intake, struct sta_tallies *tallies, struct sta_error *err)
{
    struct sta_tally_names names = {0};
    size_t size = 0;
    int rc = take_contributions(in, part, intake, &names, err);
    const char *bytes = rc == 0 ? sta_get_block(in, &size) : NULL;
    if (rc == 0 && bytes == NULL)
        rc = sta_shared_fail(err);
    const unsigned char *begin = (const unsigned char *)bytes;
    struct sta_cursor put = {.at = begin, .end = begin + (rc == 0 ? size : 0)};
    if (rc == 0)
        rc = read_tallies(&put, intake, tallies, &names, err);
    sta_account_free(intake->budget->account, names.accumulators);
    return rc;
}

static int take_files(struct sta_cursor *in, struct sta_exact_received *part, struct sta_intake *intake,
                      struct sta_error *err)
{
    if (!(intake->request->wants & STA_WANT_FILES))
        return STA_OK;
    const struct sta_files_names names = {.layer_count =
                                              (uint32_t)intake->request->bound->preset->layer_count,
                                          .file_count = intake->entities->file_count,
                                          .bin_count = intake->bins->count,
                                          .key_of = key_of,
                                          .context = part};
    return sta_files_take_other(&intake->files, in, &names, err);
}

int sta_exact_put_state(struct sta_intake *intake, const struct sta_buffer *tallies, struct sta_buffer *state,
                        struct sta_error *err)
{
    int rc = tallies->failed ? sta_fail(err, STA_ELIMIT, "memory ran out for %s", WHAT) : STA_OK;
    sta_exact_keys_put_values(intake->keys, state);
    sta_event_signatures_put(intake->signatures, state);
    put_contributions(intake, state);
    sta_put_block(state, tallies->data, tallies->size);
    if (rc == 0 && intake->request->wants & STA_WANT_FILES)
        rc = sta_feed_end(&intake->files.feed, err);
    if (rc == 0 && intake->request->wants & STA_WANT_FILES)
        sta_feed_put(&intake->files.feed, state);
    if (rc == 0)
        rc = sta_additive_end(&intake->additive, err);
    if (rc == 0)
        sta_feed_put(&intake->additive.feed, state);
    return rc == 0 && state->failed ? sta_fail(err, STA_ELIMIT, "memory ran out for %s", WHAT) : rc;
}

int sta_exact_shared_take(struct sta_exact_shared *shared, unsigned rank, struct sta_intake *intake,
                          struct sta_tallies *tallies, struct sta_error *err)
{
    struct sta_exact_received *part = &shared->parts[rank];
    struct sta_cursor in;
    int rc = sta_shared_time_take(&shared->time, rank, &in, err);
    if (rc == 0)
        rc = sta_exact_keys_get_values(intake->keys, &in, intake->budget->account, &part->keys,
                                       &part->key_count, err);
    if (rc == 0)
        rc = take_kinds(&in, part, intake, err);
    if (rc == 0)
        rc = take_tallies(&in, part, intake, tallies, err);
    if (rc == 0)
        rc = take_files(&in, part, intake, err);
    if (rc == 0)
        part->sums = in;
    return rc;
}

/* ---- sums */

struct translation {
    const struct sta_exact_received *part;
    sta_additive_add add;
    void *context;
};

static int add_translated(void *context, uint32_t signature, uint32_t key, size_t bin,
                          const struct sta_additive_sums *sums, struct sta_error *err)
{
    const struct translation *to = context;
    uint32_t here;
    if (signature >= to->part->signature_count || !key_of(to->part, key, &here))
        return sta_shared_fail(err);
    return to->add(to->context, to->part->signatures[signature], here, bin, sums, err);
}

int sta_exact_shared_each(const struct sta_exact_shared *shared, const struct sta_additive *additive,
                          sta_additive_add add, void *context, struct sta_error *err)
{
    int rc = STA_OK;
    for (unsigned rank = 1; rc == 0 && rank < sta_shared_time_count(&shared->time); rank++) {
        struct translation to = {&shared->parts[rank], add, context};
        if (to.part->sums.at != NULL)
            rc = sta_additive_each_other(additive, to.part->sums, add_translated, &to, err);
    }
    return rc;
}

/* ---- work for another process */

struct work {
    struct sta_view_query query;
    struct sta_presets *presets;
    struct sta_snapshot *snapshot;
    struct sta_bound_query bound;
    struct sta_exact_request request;
    bool *layers;
    struct sta_arena memory;
};

static int read_query(const struct sta_share_host *host, struct sta_cursor *in, struct work *work,
                      struct sta_error *err)
{
    struct sta_view_query *query = &work->query;
    int rc = host->find_presets(host->context, sta_get_u64(in), &work->presets, err);
    if (rc == 0)
        rc = sta_shared_get_trace(host, in, &work->snapshot, err);
    if (rc != 0)
        return rc;
    query->presets = work->presets;
    query->snapshot = work->snapshot;
    query->preset = sta_shared_get_text(in, &work->memory);
    query->filter = sta_shared_get_text(in, &work->memory);
    query->filters = sta_shared_get_index(in, 2);
    query->has_from = sta_shared_get_index(in, 2);
    query->from = sta_shared_get_number(in);
    query->has_to = sta_shared_get_index(in, 2);
    query->to = sta_shared_get_number(in);
    if (in->failed || query->preset == NULL)
        return sta_shared_fail(err);
    return sta_view_query_bind(&work->bound, query, err);
}

static int read_request(struct sta_cursor *in, struct work *work, struct sta_error *err)
{
    struct sta_exact_request *request = &work->request;
    const size_t layers = work->bound.preset->layer_count;
    request->bound = &work->bound;
    request->by = sta_shared_get_text(in, &work->memory);
    request->bins.g = (int64_t)sta_get_u64(in);
    request->bins.first = (int64_t)sta_get_u64(in);
    request->bins.count = sta_get_u64(in);
    request->bins.from = (int64_t)sta_get_u64(in);
    request->bins.to = (int64_t)sta_get_u64(in);
    request->wants = (unsigned)sta_shared_get_index(in, STA_WANT_ALL + 1);
    request->count_bins = sta_shared_get_index(in, 2);
    if (sta_shared_get_index(in, 2) != 0)
        request->layers = work->layers = sta_alloc_array(layers + 1, sizeof *work->layers);
    for (size_t l = 0; work->layers != NULL && l < layers; l++)
        work->layers[l] = sta_shared_get_index(in, 2);
    const bool sound =
        !in->failed && request->bins.g > 0 && request->bins.count < UINT32_MAX && request->bins.first >= 0;
    return sound ? STA_OK : sta_shared_fail(err);
}

int sta_exact_share_work(const struct sta_share_host *host, struct sta_cursor *query,
                         const struct sta_stripe *stripe, const struct sta_budget *budget,
                         struct sta_buffer *state, struct sta_error *err)
{
    struct work work = {.query = {.snapshot = NULL}};
    int rc = read_query(host, query, &work, err);
    if (rc == 0)
        rc = read_request(query, &work, err);
    if (rc == 0)
        rc = sta_exact_gather(&work.request, stripe, budget, state, err);
    sta_bound_query_release(&work.bound);
    sta_snapshot_release(work.snapshot);
    if (work.presets != NULL)
        sta_presets_release(work.presets);
    free(work.layers);
    sta_arena_fini(&work.memory);
    return rc;
}

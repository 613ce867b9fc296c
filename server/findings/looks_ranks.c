/* What most rules ask of ranks, in one pass: stall by cause, the blocking chain, busy time of conditions.
 *
 * All of these are combinations of conditions that hold at a moment of a rank, and a pass for each would
 * read, classify and order the same events again.  Where that one pass is not possible, because there are too
 * many conditions or combinations or one of them is at fault, each is measured alone. */
#include <stdlib.h>
#include <string.h>

#include "analyse/views/bound_query.h"
#include "common/memory.h"
#include "findings/looks_private.h"

#define NO_CONDITION UINT32_MAX

/* ---- conditions */

/* The place of a condition, @from and behind; NO_CONDITION: there is no room. */
static uint32_t place_of(struct sta_ranks_sweep *sweep, const char *text, uint32_t from)
{
    static char name[] = "condition";
    for (uint32_t c = from; c < sweep->count; c++)
        if (strcmp(sweep->conditions[c].expression, text) == 0)
            return c;
    if (sweep->count == STA_SIGNATURE_CONDITIONS)
        return NO_CONDITION;
    sweep->conditions[sweep->count] = (struct sta_named_expression){name, (char *)(uintptr_t)text};
    return sweep->count++;
}

/* The sets of the stall come first, as they are. */
static bool list_conditions(struct sta_looks *looks, bool stall, bool layers)
{
    struct sta_ranks_sweep *sweep = &looks->ranks;
    const char *compute = looks->run->preset->phases[STA_PHASE_compute];
    bool all = true;
    for (size_t s = 0; stall && s < looks->stall.set_count; s++)
        sweep->conditions[sweep->count++] = looks->stall.sets[s];
    for (size_t s = 0; layers && s < looks->layers.set_count; s++) {
        sweep->of_layer[s] = place_of(sweep, looks->layers.sets[s].expression, 0);
        all = all && sweep->of_layer[s] != NO_CONDITION;
    }
    for (size_t i = 0; i < looks->condition_count; i++) {
        sweep->of_condition[i] = place_of(sweep, looks->conditions[i].text, 0);
        all = all && sweep->of_condition[i] != NO_CONDITION;
    }
    sweep->compute = compute != NULL ? place_of(sweep, compute, 0) : NO_CONDITION;
    return all && (compute == NULL || sweep->compute != NO_CONDITION);
}

/* Whether a rule whose needs are met asks for it. */
static bool is_asked(const struct sta_looks *looks, enum sta_ask_kind kind)
{
    const bool trains = looks->has_stall && strcmp(looks->base_kind, "training") == 0;
    for (size_t r = 0; r < looks->asked_count; r++)
        for (size_t a = 0; a < looks->asked[r]->ask_count; a++)
            if (looks->asked[r]->asks[a].kind == kind && (trains || !looks->asked[r]->needs[STA_NEED_STALL]))
                return true;
    return false;
}

/* ---- what the pass comes to */

static uint32_t layers_of(const struct sta_looks *looks, uint64_t conditions)
{
    uint32_t mask = 0;
    for (size_t s = 0; s < looks->layers.set_count; s++)
        mask |= (uint32_t)(conditions >> looks->ranks.of_layer[s] & 1) << s;
    return mask;
}

/* The cells with masks of other sets; memory of the account. */
static struct sta_sweep_cell *cells_by(const struct sta_looks *looks, bool layers, struct sta_error *err)
{
    const struct sta_overlap_results *results = &looks->charged.results;
    const uint64_t watched = (UINT64_C(1) << looks->ranks.query.watched) - 1;
    struct sta_sweep_cell *cells = sta_account_alloc(looks->run->budget->account, results->cell_count + 1,
                                                     sizeof *cells, "the moments of ranks", err);
    for (size_t i = 0; cells != NULL && i < results->cell_count; i++) {
        const uint64_t conditions =
            sta_set_signatures_conditions(looks->ranks.request.signatures, results->cells[i].mask);
        cells[i] = results->cells[i];
        cells[i].mask = layers ? layers_of(looks, conditions) : (uint32_t)(conditions & watched);
    }
    return cells;
}

static int add_layers(struct sta_looks *looks, struct sta_error *err)
{
    struct sta_charged *blocked = &looks->blocked;
    struct sta_sweep_cell *cells = cells_by(looks, true, err);
    if (cells == NULL)
        return err->status;
    blocked->results = looks->charged.results;
    blocked->results.cells = cells;
    sta_charge_add_up(&looks->layers, blocked);
    blocked->results = (struct sta_overlap_results){0};
    sta_account_free(looks->run->budget->account, cells);
    return STA_OK;
}

static int add_stall(struct sta_looks *looks, struct sta_error *err)
{
    struct sta_sweep_cell *cells = cells_by(looks, false, err);
    if (cells == NULL)
        return err->status;
    sta_account_free(looks->run->budget->account, looks->charged.results.cells);
    looks->charged.results.cells = cells;
    sta_charge_add_up(&looks->stall, &looks->charged);
    return STA_OK;
}

static int add_condition(struct sta_looks *looks, size_t number, struct sta_error *err)
{
    const struct sta_overlap_results *results = &looks->charged.results;
    const struct sta_set_signatures *signatures = looks->ranks.request.signatures;
    const uint32_t own = looks->ranks.of_condition[number], compute = looks->ranks.compute;
    struct sta_condition_look *look = &looks->conditions[number];
    look->measured = true;
    for (uint32_t s = 0; s < signatures->count; s++)
        look->events += signatures->conditions[s] >> own & 1 ? results->sets[s].events : 0;
    if (look->by_rank)
        look->of_rank = sta_account_calloc(looks->run->budget->account, (size_t)looks->phases.rank_count + 1,
                                           sizeof *look->of_rank, "the busy time of ranks", err);
    if (look->by_rank && look->of_rank == NULL)
        return err->status;
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct sta_sweep_cell *cell = &results->cells[i];
        const uint64_t conditions = sta_set_signatures_conditions(signatures, cell->mask);
        if ((conditions >> own & 1) == 0)
            continue;
        look->busy += cell->time;
        look->exposed += compute != NO_CONDITION && (conditions >> compute & 1) ? 0 : cell->time;
        if (look->of_rank != NULL)
            look->of_rank[cell->unit] += cell->time;
    }
    return STA_OK;
}

/* ---- the pass */

static int read_requests(struct sta_looks *looks, bool stall, bool layers, struct sta_error *err)
{
    struct sta_ranks_sweep *sweep = &looks->ranks;
    struct sta_run *run = looks->run;
    sweep->query = sta_run_query(run, sta_run_request(run), sweep->conditions, sweep->count);
    sweep->query.by_signature = true;
    sweep->query.watched = stall ? (uint32_t)looks->stall.set_count : 0;
    int rc = sta_overlap_request_read(&sweep->request, &sweep->query, false, err);
    if (rc == STA_OK && stall)
        rc = sta_charge_read(run, &looks->stall, NULL, &looks->charged, err);
    if (rc == STA_OK && layers)
        rc = sta_charge_read(run, &looks->layers, NULL, &looks->blocked, err);
    return rc == STA_OK ? sta_overlap_binding_init(&looks->charged.binding, &sweep->request, run->budget, err)
                        : rc;
}

static int sweep_ranks(struct sta_looks *looks, bool stall, bool layers, struct sta_error *err)
{
    struct sta_charged_rows *rows = stall && sta_looks_want_rows(looks) ? &looks->stall_rows : NULL;
    int rc = read_requests(looks, stall, layers, err);
    if (rc == STA_OK)
        rc = sta_charge_pass(looks->run, &looks->phases, &looks->charged, rows, err);
    for (size_t i = 0; rc == STA_OK && i < looks->condition_count; i++)
        rc = add_condition(looks, i, err);
    if (rc == STA_OK && layers)
        rc = add_layers(looks, err);
    return rc == STA_OK && stall ? add_stall(looks, err) : rc;
}

/* As if nothing had been measured. */
static void forget(struct sta_looks *looks)
{
    sta_looks_ranks_fini(looks);
    for (size_t i = 0; i < looks->condition_count; i++) {
        struct sta_condition_look *look = &looks->conditions[i];
        sta_account_free(looks->run->budget->account, look->of_rank);
        *look = (struct sta_condition_look){.text = look->text, .by_rank = look->by_rank};
    }
    looks->stall_seen = looks->layers_seen = STA_UNSEEN;
}

int sta_looks_sweep_ranks(struct sta_looks *looks, struct sta_error *err)
{
    const char *chain = sta_looks_chain(looks);
    if (looks->ranks_seen != STA_UNSEEN)
        return STA_OK;
    looks->ranks_seen = STA_ABSENT;
    const bool stall = chain != NULL && is_asked(looks, STA_ASK_attribution) &&
                       sta_attribution_of_chain(looks->run, chain, &looks->stall);
    const bool layers = chain != NULL && is_asked(looks, STA_ASK_blocking) &&
                        sta_attribution_of_chain(looks->run, "layers", &looks->layers);
    if (stall + layers + (looks->condition_count > 0) < 2 || !list_conditions(looks, stall, layers)) {
        forget(looks);
        return STA_OK;
    }
    int rc = sweep_ranks(looks, stall, layers, err);
    if (rc == STA_OK) {
        looks->ranks_seen = STA_SEEN;
        looks->stall_seen = stall ? STA_SEEN : STA_UNSEEN;
        looks->layers_seen = layers ? STA_SEEN : STA_UNSEEN;
        return STA_OK;
    }
    forget(looks);
    struct sta_error passed = STA_ERROR_INIT;
    if ((rc != STA_EINPUT && rc != STA_ELIMIT) || sta_budget_check(looks->run->budget, &passed) != STA_OK)
        return rc;
    *err = (struct sta_error)STA_ERROR_INIT;
    return STA_OK;
}

/* Of the stall and the layers too: the binding and the results are theirs. */
void sta_looks_ranks_fini(struct sta_looks *looks)
{
    sta_charged_rows_fini(&looks->stall_rows);
    sta_charged_fini(&looks->charged);
    sta_charged_fini(&looks->blocked);
    sta_attribution_fini(&looks->stall);
    sta_attribution_fini(&looks->layers);
    sta_overlap_request_release(&looks->ranks.request);
    looks->ranks.count = 0;
}

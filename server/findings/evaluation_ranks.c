/* What most rules ask of ranks, in one pass: stall by cause, the blocking chain, busy time of conditions.
 *
 * All of these are combinations of conditions that hold at a moment of a rank, and a pass for each would
 * read, classify and order the same events again.  Where that one pass is not possible, because there are too
 * many conditions or combinations or one of them is at fault, each is measured alone. */
#include <stdlib.h>
#include <string.h>

#include "analyse/views/bound_query.h"
#include "common/memory.h"
#include "findings/evaluation_private.h"

#define NO_CONDITION UINT32_MAX

/* ---- conditions */

/* The index of a condition, sought from @from on; NO_CONDITION: there is no space. */
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
static bool list_conditions(struct sta_evaluation *evaluation, bool stall, bool layers)
{
    struct sta_ranks_sweep *sweep = &evaluation->ranks;
    const char *compute = evaluation->run->preset->phases[STA_PHASE_compute];
    bool all = true;
    for (size_t s = 0; stall && s < evaluation->stall.set_count; s++)
        sweep->conditions[sweep->count++] = evaluation->stall.sets[s];
    for (size_t s = 0; layers && s < evaluation->layers.set_count; s++) {
        sweep->of_layer[s] = place_of(sweep, evaluation->layers.sets[s].expression, 0);
        all = all && sweep->of_layer[s] != NO_CONDITION;
    }
    for (size_t i = 0; i < evaluation->condition_count; i++) {
        sweep->of_condition[i] = place_of(sweep, evaluation->conditions[i].text, 0);
        all = all && sweep->of_condition[i] != NO_CONDITION;
    }
    sweep->compute = compute != NULL ? place_of(sweep, compute, 0) : NO_CONDITION;
    return all && (compute == NULL || sweep->compute != NO_CONDITION);
}

/* Whether a rule whose needs are met asks for it. */
static bool is_asked(const struct sta_evaluation *evaluation, enum sta_ask_kind kind)
{
    const bool trains = evaluation->has_stall && strcmp(evaluation->base_kind, "training") == 0;
    for (size_t r = 0; r < evaluation->asked_count; r++)
        for (size_t a = 0; a < evaluation->asked[r]->ask_count; a++)
            if (evaluation->asked[r]->asks[a].kind == kind &&
                (trains || !evaluation->asked[r]->needs[STA_NEED_STALL]))
                return true;
    return false;
}

/* ---- what the pass comes to */

static uint32_t layers_of(const struct sta_evaluation *evaluation, uint64_t conditions)
{
    uint32_t mask = 0;
    for (size_t s = 0; s < evaluation->layers.set_count; s++)
        mask |= (uint32_t)(conditions >> evaluation->ranks.of_layer[s] & 1) << s;
    return mask;
}

/* The cells with masks of other sets; memory of the account. */
static struct sta_sweep_cell *cells_by(const struct sta_evaluation *evaluation, bool layers,
                                       struct sta_error *err)
{
    const struct sta_overlap_results *results = &evaluation->charged.results;
    const uint64_t watched = (UINT64_C(1) << evaluation->ranks.query.watched) - 1;
    struct sta_sweep_cell *cells =
        sta_account_alloc(evaluation->run->budget->account, results->cell_count + 1, sizeof *cells,
                          "the moments of ranks", err);
    for (size_t i = 0; cells != NULL && i < results->cell_count; i++) {
        const uint64_t conditions =
            sta_set_signatures_conditions(evaluation->ranks.request.signatures, results->cells[i].mask);
        cells[i] = results->cells[i];
        cells[i].mask = layers ? layers_of(evaluation, conditions) : (uint32_t)(conditions & watched);
    }
    return cells;
}

static int add_layers(struct sta_evaluation *evaluation, struct sta_error *err)
{
    struct sta_charged *blocked = &evaluation->blocked;
    struct sta_sweep_cell *cells = cells_by(evaluation, true, err);
    if (cells == NULL)
        return err->status;
    blocked->results = evaluation->charged.results;
    blocked->results.cells = cells;
    sta_charge_add_up(&evaluation->layers, blocked);
    blocked->results = (struct sta_overlap_results){0};
    sta_account_free(evaluation->run->budget->account, cells);
    return STA_OK;
}

static int add_stall(struct sta_evaluation *evaluation, struct sta_error *err)
{
    struct sta_sweep_cell *cells = cells_by(evaluation, false, err);
    if (cells == NULL)
        return err->status;
    sta_account_free(evaluation->run->budget->account, evaluation->charged.results.cells);
    evaluation->charged.results.cells = cells;
    sta_charge_add_up(&evaluation->stall, &evaluation->charged);
    return STA_OK;
}

static int add_condition(struct sta_evaluation *evaluation, size_t number, struct sta_error *err)
{
    const struct sta_overlap_results *results = &evaluation->charged.results;
    const struct sta_set_signatures *signatures = evaluation->ranks.request.signatures;
    const uint32_t own = evaluation->ranks.of_condition[number], compute = evaluation->ranks.compute;
    struct sta_condition_cost *cost = &evaluation->conditions[number];
    cost->measured = true;
    for (uint32_t s = 0; s < signatures->count; s++)
        cost->events += signatures->conditions[s] >> own & 1 ? results->sets[s].events : 0;
    if (cost->by_rank)
        cost->of_rank =
            sta_account_calloc(evaluation->run->budget->account, (size_t)evaluation->phases.rank_count + 1,
                               sizeof *cost->of_rank, "the busy time of ranks", err);
    if (cost->by_rank && cost->of_rank == NULL)
        return err->status;
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct sta_sweep_cell *cell = &results->cells[i];
        const uint64_t conditions = sta_set_signatures_conditions(signatures, cell->mask);
        if ((conditions >> own & 1) == 0)
            continue;
        cost->busy += cell->time;
        cost->exposed += compute != NO_CONDITION && (conditions >> compute & 1) ? 0 : cell->time;
        if (cost->of_rank != NULL)
            cost->of_rank[cell->unit] += cell->time;
    }
    return STA_OK;
}

/* ---- the pass */

static int read_requests(struct sta_evaluation *evaluation, bool stall, bool layers, struct sta_error *err)
{
    struct sta_ranks_sweep *sweep = &evaluation->ranks;
    struct sta_run *run = evaluation->run;
    sweep->query = sta_run_query(run, sta_run_request(run), sweep->conditions, sweep->count);
    sweep->query.by_signature = true;
    sweep->query.watched = stall ? (uint32_t)evaluation->stall.set_count : 0;
    int rc = sta_overlap_request_read(&sweep->request, &sweep->query, false, err);
    if (rc == STA_OK && stall)
        rc = sta_charge_read(run, &evaluation->stall, NULL, &evaluation->charged, err);
    if (rc == STA_OK && layers)
        rc = sta_charge_read(run, &evaluation->layers, NULL, &evaluation->blocked, err);
    return rc == STA_OK
               ? sta_overlap_binding_init(&evaluation->charged.binding, &sweep->request, run->budget, err)
               : rc;
}

static int sweep_ranks(struct sta_evaluation *evaluation, bool stall, bool layers, struct sta_error *err)
{
    struct sta_charged_rows *rows =
        stall && sta_evaluation_want_rows(evaluation) ? &evaluation->stall_rows : NULL;
    int rc = read_requests(evaluation, stall, layers, err);
    if (rc == STA_OK)
        rc = sta_charge_pass(evaluation->run, &evaluation->phases, &evaluation->charged, rows, err);
    for (size_t i = 0; rc == STA_OK && i < evaluation->condition_count; i++)
        rc = add_condition(evaluation, i, err);
    if (rc == STA_OK && layers)
        rc = add_layers(evaluation, err);
    return rc == STA_OK && stall ? add_stall(evaluation, err) : rc;
}

/* As if nothing had been measured. */
static void forget(struct sta_evaluation *evaluation)
{
    sta_evaluation_ranks_fini(evaluation);
    for (size_t i = 0; i < evaluation->condition_count; i++) {
        struct sta_condition_cost *cost = &evaluation->conditions[i];
        sta_account_free(evaluation->run->budget->account, cost->of_rank);
        *cost = (struct sta_condition_cost){.text = cost->text, .by_rank = cost->by_rank};
    }
    evaluation->stall_measured = evaluation->layers_measured = STA_NOT_MEASURED;
}

int sta_evaluation_sweep_ranks(struct sta_evaluation *evaluation, struct sta_error *err)
{
    const char *chain = sta_evaluation_chain(evaluation);
    if (evaluation->ranks_measured != STA_NOT_MEASURED)
        return STA_OK;
    evaluation->ranks_measured = STA_NOT_APPLICABLE;
    const bool stall = chain != NULL && is_asked(evaluation, STA_ASK_attribution) &&
                       sta_attribution_of_chain(evaluation->run, chain, &evaluation->stall);
    const bool layers = chain != NULL && is_asked(evaluation, STA_ASK_blocking) &&
                        sta_attribution_of_chain(evaluation->run, "layers", &evaluation->layers);
    if (stall + layers + (evaluation->condition_count > 0) < 2 ||
        !list_conditions(evaluation, stall, layers)) {
        forget(evaluation);
        return STA_OK;
    }
    int rc = sweep_ranks(evaluation, stall, layers, err);
    if (rc == STA_OK) {
        evaluation->ranks_measured = STA_MEASURED;
        evaluation->stall_measured = stall ? STA_MEASURED : STA_NOT_MEASURED;
        evaluation->layers_measured = layers ? STA_MEASURED : STA_NOT_MEASURED;
        return STA_OK;
    }
    forget(evaluation);
    struct sta_error passed = STA_ERROR_INIT;
    if ((rc != STA_EINPUT && rc != STA_ELIMIT) ||
        sta_budget_check(evaluation->run->budget, &passed) != STA_OK)
        return rc;
    *err = (struct sta_error)STA_ERROR_INIT;
    return STA_OK;
}

/* Of the stall and the layers too: the binding and the results are theirs. */
void sta_evaluation_ranks_fini(struct sta_evaluation *evaluation)
{
    sta_charged_rows_fini(&evaluation->stall_rows);
    sta_charged_fini(&evaluation->charged);
    sta_charged_fini(&evaluation->blocked);
    sta_attribution_fini(&evaluation->stall);
    sta_attribution_fini(&evaluation->layers);
    sta_overlap_request_release(&evaluation->ranks.request);
    evaluation->ranks.count = 0;
}

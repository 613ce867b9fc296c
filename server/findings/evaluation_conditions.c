/* Busy time of conditions: as many as an overlap has sets go through one pass, with the rank's compute. */
#include <stdlib.h>
#include <string.h>

#include "findings/evaluation.h"
#include "common/memory.h"

static struct sta_condition_cost *find(struct sta_evaluation *evaluation, const char *condition)
{
    for (size_t i = 0; i < evaluation->condition_count; i++)
        if (strcmp(evaluation->conditions[i].text, condition) == 0)
            return &evaluation->conditions[i];
    return NULL;
}

void sta_evaluation_note(struct sta_evaluation *evaluation, const char *condition, bool by_rank)
{
    struct sta_condition_cost *cost = find(evaluation, condition);
    if (cost == NULL && evaluation->condition_count < STA_CONDITIONS) {
        cost = &evaluation->conditions[evaluation->condition_count++];
        *cost = (struct sta_condition_cost){.text = condition};
    }
    if (cost != NULL)
        cost->by_rank |= by_rank;
}

/* ---- a pass */

struct part {
    struct sta_condition_cost *costs[STA_OVERLAP_SETS];
    uint32_t count;
    bool compute; /* the set behind them is the rank's compute */
};

static int add_up(struct sta_evaluation *evaluation, const struct part *part,
                  const struct sta_overlap_results *results, struct sta_error *err)
{
    struct sta_account *account = evaluation->run->budget->account;
    for (uint32_t c = 0; c < part->count; c++) {
        part->costs[c]->measured = true;
        part->costs[c]->events = results->sets[c].events;
        if (!part->costs[c]->by_rank)
            continue;
        part->costs[c]->of_rank = sta_account_calloc(account, (size_t)evaluation->phases.rank_count + 1,
                                                     sizeof(int64_t), "the busy time of ranks", err);
        if (part->costs[c]->of_rank == NULL)
            return err->status;
    }
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct sta_sweep_cell *cell = &results->cells[i];
        const bool computes = part->compute && (cell->mask >> part->count & 1);
        for (uint32_t mask = cell->mask & ((1u << part->count) - 1); mask != 0; mask &= mask - 1) {
            struct sta_condition_cost *cost = part->costs[__builtin_ctz(mask)];
            cost->busy += cell->time;
            cost->exposed += computes ? 0 : cell->time;
            if (cost->of_rank != NULL)
                cost->of_rank[cell->unit] += cell->time;
        }
    }
    return STA_OK;
}

static int measure(struct sta_evaluation *evaluation, const struct part *part, struct sta_error *err)
{
    static char name[] = "set";
    struct sta_run *run = evaluation->run;
    struct sta_named_expression *sets =
        sta_arena_alloc(&run->memory, STA_OVERLAP_SETS * sizeof *sets, _Alignof(max_align_t));
    struct sta_overlap_query *query = sta_arena_alloc(&run->memory, sizeof *query, _Alignof(max_align_t));
    struct sta_overlap_request request;
    struct sta_overlap_binding binding = {0};
    struct sta_overlap_results results = {0};
    const struct sta_overlap_wants wants = {0};
    for (uint32_t c = 0; c < part->count; c++)
        sets[c] = (struct sta_named_expression){name, (char *)(uintptr_t)part->costs[c]->text};
    if (part->compute)
        sets[part->count] = (struct sta_named_expression){name, run->preset->phases[STA_PHASE_compute]};
    *query = sta_run_query(run, sta_run_request(run), sets, part->count + part->compute);
    int rc = sta_overlap_request_read(&request, query, false, err);
    if (rc == STA_OK)
        rc = sta_overlap_binding_init(&binding, &request, run->budget, err);
    if (rc == STA_OK)
        rc = sta_overlap_pass(&binding, &wants, &results, err);
    if (rc == STA_OK)
        rc = add_up(evaluation, part, &results, err);
    sta_overlap_results_fini(&results);
    sta_overlap_binding_fini(&binding);
    sta_overlap_request_release(&request);
    return rc;
}

static int measure_alone(struct sta_evaluation *evaluation, struct sta_condition_cost *cost,
                         struct sta_error *err)
{
    const struct part part = {
        .costs = {cost}, .count = 1, .compute = evaluation->run->preset->phases[STA_PHASE_compute] != NULL};
    return measure(evaluation, &part, err);
}

/* All that were noted and not measured yet, @first among the first of them. */
static int measure_all(struct sta_evaluation *evaluation, struct sta_condition_cost *first,
                       struct sta_error *err)
{
    struct part part = {.costs = {first}, .count = 1};
    int rc = STA_OK;
    part.compute = evaluation->run->preset->phases[STA_PHASE_compute] != NULL;
    for (size_t i = 0; rc == STA_OK && i <= evaluation->condition_count; i++) {
        const bool end = i == evaluation->condition_count;
        if (!end && (evaluation->conditions[i].measured || &evaluation->conditions[i] == first))
            continue;
        if (end || part.count + part.compute == STA_OVERLAP_SETS) {
            rc = part.count > 0 ? measure(evaluation, &part, err) : STA_OK;
            part.count = 0;
        }
        if (!end)
            part.costs[part.count++] = &evaluation->conditions[i];
    }
    return rc;
}

int sta_evaluate_condition(struct sta_evaluation *evaluation, const char *condition, bool by_rank,
                           const struct sta_condition_cost **cost, struct sta_error *err)
{
    sta_evaluation_note(evaluation, condition, by_rank);
    struct sta_condition_cost *found = find(evaluation, condition);
    if (found == NULL)
        return sta_fail(err, STA_ELIMIT, "rules ask for the time of more than %d conditions", STA_CONDITIONS);
    int rc = found->measured ? STA_OK : sta_evaluation_sweep_ranks(evaluation, err);
    if (rc == STA_OK && !found->measured)
        rc = measure_all(evaluation, found, err);
    if (rc == STA_EINPUT && !found->measured) { /* of another one, perhaps: that is no mistake of this rule */
        *err = (struct sta_error)STA_ERROR_INIT;
        rc = measure_alone(evaluation, found, err);
    }
    *cost = found;
    return rc;
}

int sta_evaluate_exposed(struct sta_evaluation *evaluation, const char *condition, __int128 *ticks,
                         struct sta_error *err)
{
    const struct sta_condition_cost *cost = NULL;
    int rc = sta_evaluate_condition(evaluation, condition, false, &cost, err);
    *ticks = rc == STA_OK ? cost->exposed : 0;
    return rc;
}

void sta_evaluation_conditions_fini(struct sta_evaluation *evaluation)
{
    for (size_t i = 0; i < evaluation->condition_count; i++)
        sta_account_free(evaluation->run->budget->account, evaluation->conditions[i].of_rank);
    evaluation->condition_count = 0;
}

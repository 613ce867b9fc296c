/* Busy time of conditions: as many as an overlap has sets go through one pass, with the rank's compute. */
#include <stdlib.h>
#include <string.h>

#include "findings/looks.h"
#include "common/memory.h"

static struct sta_condition_look *find(struct sta_looks *looks, const char *condition)
{
    for (size_t i = 0; i < looks->condition_count; i++)
        if (strcmp(looks->conditions[i].text, condition) == 0)
            return &looks->conditions[i];
    return NULL;
}

void sta_looks_note(struct sta_looks *looks, const char *condition, bool by_rank)
{
    struct sta_condition_look *look = find(looks, condition);
    if (look == NULL && looks->condition_count < STA_CONDITIONS) {
        look = &looks->conditions[looks->condition_count++];
        *look = (struct sta_condition_look){.text = condition};
    }
    if (look != NULL)
        look->by_rank |= by_rank;
}

/* ---- a pass */

struct part {
    struct sta_condition_look *looks[STA_OVERLAP_SETS];
    uint32_t count;
    bool compute; /* the set behind them is the rank's compute */
};

static int add_up(struct sta_looks *looks, const struct part *part, const struct sta_overlap_results *results,
                  struct sta_error *err)
{
    struct sta_account *account = looks->run->budget->account;
    for (uint32_t c = 0; c < part->count; c++) {
        part->looks[c]->measured = true;
        part->looks[c]->events = results->sets[c].events;
        if (!part->looks[c]->by_rank)
            continue;
        part->looks[c]->of_rank = sta_account_calloc(account, (size_t)looks->phases.rank_count + 1,
                                                     sizeof(int64_t), "the busy time of ranks", err);
        if (part->looks[c]->of_rank == NULL)
            return err->status;
    }
    for (size_t i = 0; i < results->cell_count; i++) {
        const struct sta_sweep_cell *cell = &results->cells[i];
        const bool computes = part->compute && (cell->mask >> part->count & 1);
        for (uint32_t mask = cell->mask & ((1u << part->count) - 1); mask != 0; mask &= mask - 1) {
            struct sta_condition_look *look = part->looks[__builtin_ctz(mask)];
            look->busy += cell->time;
            look->exposed += computes ? 0 : cell->time;
            if (look->of_rank != NULL)
                look->of_rank[cell->unit] += cell->time;
        }
    }
    return STA_OK;
}

static int measure(struct sta_looks *looks, const struct part *part, struct sta_error *err)
{
    static char name[] = "set";
    struct sta_run *run = looks->run;
    struct sta_named_expression *sets =
        sta_arena_alloc(&run->memory, STA_OVERLAP_SETS * sizeof *sets, _Alignof(max_align_t));
    struct sta_overlap_query *query = sta_arena_alloc(&run->memory, sizeof *query, _Alignof(max_align_t));
    struct sta_overlap_request request;
    struct sta_overlap_binding binding = {0};
    struct sta_overlap_results results = {0};
    const struct sta_overlap_wants wants = {0};
    for (uint32_t c = 0; c < part->count; c++)
        sets[c] = (struct sta_named_expression){name, (char *)(uintptr_t)part->looks[c]->text};
    if (part->compute)
        sets[part->count] = (struct sta_named_expression){name, run->preset->phases[STA_PHASE_compute]};
    *query = sta_run_query(run, sta_run_request(run), sets, part->count + part->compute);
    int rc = sta_overlap_request_read(&request, query, false, err);
    if (rc == STA_OK)
        rc = sta_overlap_binding_init(&binding, &request, run->budget, err);
    if (rc == STA_OK)
        rc = sta_overlap_pass(&binding, &wants, &results, err);
    if (rc == STA_OK)
        rc = add_up(looks, part, &results, err);
    sta_overlap_results_fini(&results);
    sta_overlap_binding_fini(&binding);
    sta_overlap_request_release(&request);
    return rc;
}

static int measure_alone(struct sta_looks *looks, struct sta_condition_look *look, struct sta_error *err)
{
    const struct part part = {
        .looks = {look}, .count = 1, .compute = looks->run->preset->phases[STA_PHASE_compute] != NULL};
    return measure(looks, &part, err);
}

/* All that were noted and not measured yet, @first among the first of them. */
static int measure_all(struct sta_looks *looks, struct sta_condition_look *first, struct sta_error *err)
{
    struct part part = {.looks = {first}, .count = 1};
    int rc = STA_OK;
    part.compute = looks->run->preset->phases[STA_PHASE_compute] != NULL;
    for (size_t i = 0; rc == STA_OK && i <= looks->condition_count; i++) {
        const bool end = i == looks->condition_count;
        if (!end && (looks->conditions[i].measured || &looks->conditions[i] == first))
            continue;
        if (end || part.count + part.compute == STA_OVERLAP_SETS) {
            rc = part.count > 0 ? measure(looks, &part, err) : STA_OK;
            part.count = 0;
        }
        if (!end)
            part.looks[part.count++] = &looks->conditions[i];
    }
    return rc;
}

int sta_look_condition(struct sta_looks *looks, const char *condition, bool by_rank,
                       const struct sta_condition_look **look, struct sta_error *err)
{
    sta_looks_note(looks, condition, by_rank);
    struct sta_condition_look *found = find(looks, condition);
    if (found == NULL)
        return sta_fail(err, STA_ELIMIT, "rules ask for the time of more than %d conditions", STA_CONDITIONS);
    int rc = found->measured ? STA_OK : sta_looks_sweep_ranks(looks, err);
    if (rc == STA_OK && !found->measured)
        rc = measure_all(looks, found, err);
    if (rc == STA_EINPUT && !found->measured) { /* of another one, perhaps: that is no mistake of this rule */
        *err = (struct sta_error)STA_ERROR_INIT;
        rc = measure_alone(looks, found, err);
    }
    *look = found;
    return rc;
}

int sta_look_exposed(struct sta_looks *looks, const char *condition, __int128 *ticks, struct sta_error *err)
{
    const struct sta_condition_look *look = NULL;
    int rc = sta_look_condition(looks, condition, false, &look, err);
    *ticks = rc == STA_OK ? look->exposed : 0;
    return rc;
}

void sta_looks_conditions_fini(struct sta_looks *looks)
{
    for (size_t i = 0; i < looks->condition_count; i++)
        sta_account_free(looks->run->budget->account, looks->conditions[i].of_rank);
    looks->condition_count = 0;
}

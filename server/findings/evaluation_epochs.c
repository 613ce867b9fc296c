/* Epochs and steps against each other; work on the threads that compute. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/cold.h"
#include "findings/epochs.h"
#include "findings/evaluation_private.h"
#include "findings/robust.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

/* ---- epochs and steps */

int sta_evaluate_cold(struct sta_evaluation *evaluation, const char *ask, struct sta_figure_list *figures,
                      struct sta_table *evidence, struct sta_error *err)
{
    static const char *const names[] = {"epoch", "bw", "size"}, *const units[] = {NULL, "B/s", "B"};
    static const enum sta_type types[] = {STA_TYPE_INT, STA_TYPE_FLOAT, STA_TYPE_INT};
    struct sta_cold cold;
    int rc = sta_cold_measure(evaluation->run, &evaluation->phases, &cold, err);
    if (rc == STA_OK) {
        sta_evidence_begin(evidence, evaluation->phases.number_count, names, types, units,
                           STA_COUNT_OF(names));
        for (size_t e = 0; e < evidence->rows; e++) {
            sta_table_set_int(&evidence->columns[0], e, evaluation->phases.numbers[e]);
            sta_table_set_number(&evidence->columns[1], e, cold.epochs[e].rate);
            sta_table_set_int(&evidence->columns[2], e, cold.epochs[e].size);
        }
        sta_figure_int(figures, ask, "epochs", cold.reading);
        sta_figure_number(figures, ask, "first", cold.first);
        sta_figure_number(figures, ask, "later", cold.later);
        sta_figure_number(figures, ask, "ratio", cold.later / cold.first);
    }
    sta_cold_fini(&cold);
    return rc;
}

/* How much longer an epoch's first step waits than the median of its later ones.  @stalls: scratch. */
static int64_t excess_of(const int64_t *steps, size_t count, double *stalls)
{
    for (size_t k = 1; k < count; k++)
        stalls[k - 1] = (double)steps[k];
    qsort(stalls, count - 1, sizeof *stalls, sta_compare_doubles);
    const int64_t low = (int64_t)stalls[(count - 2) / 2], high = (int64_t)stalls[(count - 1) / 2];
    return STA_MAX(steps[0] - (low + (high - low) / 2), 0);
}

struct first_steps {
    int64_t *stall; /* by step of the epoch */
    double *scratch;
    int64_t epochs;
    __int128 excess;
};

/* Rows are by unit, epoch, step; those of a rank begin at *row. */
static void add_rank(const struct sta_evaluation *evaluation, uint32_t number, uint32_t place, size_t *row,
                     struct first_steps *found)
{
    const struct sta_rank *rank = &evaluation->phases.ranks[number];
    const struct sta_charged_rows *rows = &evaluation->stall_rows;
    size_t end = *row;
    while (end < rows->count && rows->items[end].keys[0] == place)
        end++;
    for (size_t s = 0, next; s < rank->step_count; s = next) {
        for (next = s; next < rank->step_count && rank->steps[next].epoch == rank->steps[s].epoch;)
            next++;
        const size_t count = next - s - 1;
        if (count < 3)
            continue;
        memset(found->stall, 0, count * sizeof *found->stall);
        for (size_t i = *row; i < end; i++) {
            const int64_t step = rows->items[i].keys[2];
            if (rows->items[i].keys[1] != rank->steps[s].epoch || step == STA_NO_NUMBER)
                continue;
            for (uint32_t l = 0; l < rows->lists; l++)
                found->stall[step - 1] += sta_charged_times(rows, &rows->items[i])[l];
        }
        found->epochs++;
        found->excess += excess_of(found->stall, count, found->scratch);
    }
    *row = end;
}

int sta_evaluate_first_steps(struct sta_evaluation *evaluation, const char *ask,
                             struct sta_figure_list *figures, struct sta_error *err)
{
    struct sta_account *account = evaluation->run->budget->account;
    struct first_steps found = {0};
    size_t most = 0, row = 0;
    int rc = sta_evaluate_stall(evaluation, err);
    if (rc != STA_OK || evaluation->stall_measured == STA_NOT_APPLICABLE)
        return rc;
    for (uint32_t r = 0; r < evaluation->phases.rank_count; r++)
        most = STA_MAX(most, evaluation->phases.ranks[r].step_count);
    found.stall = sta_account_alloc(account, most + 1, sizeof *found.stall, "steps", err);
    found.scratch = sta_account_alloc(account, most + 1, sizeof *found.scratch, "steps", err);
    rc = found.stall == NULL || found.scratch == NULL ? err->status : STA_OK;
    for (uint32_t i = 0; rc == STA_OK && i < evaluation->charged.results.unit_count; i++)
        add_rank(evaluation, evaluation->charged.results.units[i], i, &row, &found);
    if (rc == STA_OK) {
        sta_figure_int(figures, ask, "epochs", found.epochs);
        sta_figure_number(figures, ask, "excess", sta_run_seconds(evaluation->run, found.excess));
    }
    sta_account_free(account, found.stall);
    sta_account_free(account, found.scratch);
    return rc;
}

/* Which units, threads, have steps; memory of the account. */
static uint8_t *units_with_steps(const struct sta_evaluation *evaluation, const struct sta_scope *scope,
                                 struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(evaluation->run->query.snapshot);
    uint8_t *steps = sta_account_calloc(evaluation->run->budget->account,
                                        (size_t)sta_scope_unit_count(scope) + 1, 1, "threads", err);
    for (uint32_t code = 0; steps != NULL && code < entities->thread_code_count; code++)
        if (evaluation->phases.has_steps[code])
            steps[sta_scope_unit_of_thread(scope, code)] = 1;
    return steps;
}

/* Busy time of a condition by thread: of all, and of those that have steps. */
static int measure_threads(struct sta_evaluation *evaluation, const char *condition, __int128 *all,
                           __int128 *own, struct sta_error *err)
{
    static char name[] = "input";
    struct sta_run *run = evaluation->run;
    struct sta_document *document = sta_run_request(run);
    const struct sta_named_expression set = {name, condition};
    const struct sta_overlap_query query = sta_run_query(run, document, &set, 1);
    const struct sta_overlap_wants wants = {0};
    struct sta_overlap_request request;
    struct sta_overlap_binding binding = {0};
    struct sta_overlap_results results = {0};
    uint8_t *steps = NULL;
    sta_run_add_text(run, document, "scope", "thread");
    int rc = sta_overlap_request_read(&request, &query, false, err);
    if (rc == STA_OK)
        rc = sta_overlap_binding_init(&binding, &request, run->budget, err);
    if (rc == STA_OK)
        rc = sta_overlap_pass(&binding, &wants, &results, err);
    if (rc == STA_OK) {
        steps = units_with_steps(evaluation, binding.scope, err);
        rc = steps == NULL ? err->status : STA_OK;
    }
    for (size_t i = 0; rc == STA_OK && i < results.cell_count; i++) {
        *all += results.cells[i].time;
        *own += steps[results.cells[i].unit] ? results.cells[i].time : 0;
    }
    sta_account_free(run->budget->account, steps);
    sta_overlap_results_fini(&results);
    sta_overlap_binding_fini(&binding);
    sta_overlap_request_release(&request);
    return rc;
}

/* Work of loader and reader on threads that have steps. */
int sta_evaluate_threads(struct sta_evaluation *evaluation, const char *ask, struct sta_figure_list *figures,
                         struct sta_error *err)
{
    const char *const *phases = evaluation->run->preset->phases;
    __int128 input = 0, own = 0;
    int rc = STA_OK;
    if (phases[STA_PHASE_input] != NULL && phases[STA_PHASE_step] != NULL)
        rc = measure_threads(evaluation, phases[STA_PHASE_input], &input, &own, err);
    if (rc == STA_OK) {
        sta_figure_number(figures, ask, "input", sta_run_seconds(evaluation->run, input));
        sta_figure_number(figures, ask, "inline", sta_run_seconds(evaluation->run, own));
    }
    return rc;
}

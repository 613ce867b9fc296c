/* Stall by cause, the blocking chain, utilisation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/epochs.h"
#include "findings/evaluation_private.h"
#include "findings/robust.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

/* ---- stall */

const char *sta_evaluation_chain(const struct sta_evaluation *evaluation)
{
    const struct sta_preset *preset = evaluation->run->preset;
    return evaluation->has_stall ? "stall" : preset->chain_count > 0 ? preset->chains[0].name : NULL;
}

bool sta_evaluation_want_rows(const struct sta_evaluation *evaluation)
{
    for (size_t r = 0; r < evaluation->asked_count; r++)
        for (size_t a = 0; a < evaluation->asked[r]->ask_count; a++) {
            const struct sta_ask *ask = &evaluation->asked[r]->asks[a];
            if (ask->kind == STA_ASK_first_step ||
                (ask->kind == STA_ASK_stragglers &&
                 strcmp(sta_yaml_find(ask->argument, "of")->text, "stall") == 0))
                return true;
        }
    return false;
}

/* What failed is not seen: the next rule that needs it fails as well, instead of reading sums of 0. */
static void forget_stall(struct sta_evaluation *evaluation)
{
    sta_charged_rows_fini(&evaluation->stall_rows);
    sta_charged_fini(&evaluation->charged);
    sta_attribution_fini(&evaluation->stall);
    evaluation->stall_measured = STA_NOT_MEASURED;
}

int sta_evaluate_stall(struct sta_evaluation *evaluation, struct sta_error *err)
{
    const char *chain = sta_evaluation_chain(evaluation);
    int rc = sta_evaluation_sweep_ranks(evaluation, err);
    if (rc != STA_OK)
        return rc;
    if (evaluation->stall_measured != STA_NOT_MEASURED)
        return STA_OK;
    evaluation->stall_measured = STA_NOT_APPLICABLE;
    if (chain == NULL || !sta_attribution_of_chain(evaluation->run, chain, &evaluation->stall))
        return STA_OK;
    evaluation->stall_measured = STA_MEASURED;
    rc = sta_charge_sums(evaluation->run, &evaluation->stall, &evaluation->phases, &evaluation->charged,
                         sta_evaluation_want_rows(evaluation) ? &evaluation->stall_rows : NULL, err);
    if (rc != STA_OK)
        forget_stall(evaluation);
    return rc;
}

static void put_causes(const struct sta_evaluation *evaluation, struct sta_table *evidence)
{
    static const char *const names[] = {"cause", "time", "share"}, *const units[] = {NULL, "s", NULL};
    static const enum sta_type types[] = {STA_TYPE_TEXT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    const struct sta_charged *charged = &evaluation->charged;
    size_t rows = 0;
    for (uint32_t l = 0; l < charged->list_count; l++)
        rows += charged->time[l] > 0;
    sta_evidence_begin(evidence, rows, names, types, units, STA_COUNT_OF(names));
    for (uint32_t l = 0, row = 0; l < charged->list_count && row < evidence->rows; l++) {
        if (charged->time[l] <= 0)
            continue;
        sta_evidence_name(evidence, 0, row,
                          l < evaluation->stall.cause_count ? evaluation->stall.causes[l] : "untraced");
        sta_table_set_number(&evidence->columns[1], row, sta_run_seconds(evaluation->run, charged->time[l]));
        sta_table_set_number(&evidence->columns[2], row, (double)charged->time[l] / (double)charged->target);
        row++;
    }
}

int sta_evaluate_causes(struct sta_evaluation *evaluation, const char *ask, struct sta_figure_list *figures,
                        struct sta_table *evidence, struct sta_error *err)
{
    int rc = sta_evaluate_stall(evaluation, err);
    if (rc != STA_OK || evaluation->stall_measured == STA_NOT_APPLICABLE)
        return rc;
    const struct sta_charged *charged = &evaluation->charged;
    const struct sta_chain *chain = evaluation->stall.chain;
    __int128 input = 0, storage = 0;
    uint32_t top = 0;
    for (uint32_t l = 0; l < charged->list_count; l++) {
        const bool cause = l < chain->cause_count;
        sta_figure_number(figures, ask, cause ? chain->causes[l].name : "untraced",
                          sta_run_seconds(evaluation->run, charged->time[l]));
        input += cause && chain->causes[l].input ? charged->time[l] : 0;
        storage += cause && chain->causes[l].storage ? charged->time[l] : 0;
        top = charged->time[l] > charged->time[top] ? l : top;
    }
    const char *label = top < chain->cause_count ? chain->causes[top].label : "nothing traced";
    sta_figure_number(figures, ask, "target", sta_run_seconds(evaluation->run, charged->target));
    sta_figure_number(figures, ask, "input", sta_run_seconds(evaluation->run, input));
    sta_figure_number(figures, ask, "storage", sta_run_seconds(evaluation->run, storage));
    sta_figure_text(figures, ask, "top", charged->target > 0 ? label : "");
    sta_figure_number(figures, ask, "top_time",
                      charged->target > 0 ? sta_run_seconds(evaluation->run, charged->time[top]) : 0);
    put_causes(evaluation, evidence);
    return STA_OK;
}

/* ---- the blocking chain */

static void put_nodes(const struct sta_evaluation *evaluation, const __int128 *self, const __int128 *blocked,
                      struct sta_table *evidence)
{
    static const char *const names[] = {"node", "blocked", "self"}, *const units[] = {NULL, "s", "s"};
    static const enum sta_type types[] = {STA_TYPE_TEXT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    const struct sta_blocking_tree *tree = &evaluation->layers.tree;
    size_t rows = 0;
    for (size_t i = 0; i < tree->count; i++)
        rows += blocked[i] > 0;
    sta_evidence_begin(evidence, rows, names, types, units, STA_COUNT_OF(names));
    for (size_t i = 0, row = 0; i < tree->count && row < evidence->rows; i++) {
        if (blocked[i] <= 0)
            continue;
        sta_evidence_name(evidence, 0, row, tree->nodes[i]->name);
        sta_table_set_number(&evidence->columns[1], row, sta_run_seconds(evaluation->run, blocked[i]));
        sta_table_set_number(&evidence->columns[2], row, sta_run_seconds(evaluation->run, self[i]));
        row++;
    }
}

static void put_path(const struct sta_blocking_tree *tree, size_t node, struct sta_buffer *out)
{
    if (tree->parents[node] != STA_TREE_ROOT) {
        put_path(tree, tree->parents[node], out);
        sta_put_text(out, " > ");
    }
    sta_put_text(out, tree->nodes[node]->name);
}

int sta_evaluate_layers(struct sta_evaluation *evaluation, const char *ask, struct sta_figure_list *figures,
                        struct sta_table *evidence, struct sta_error *err)
{
    __int128 self[STA_OVERLAP_SETS] = {0}, blocked[STA_OVERLAP_SETS] = {0};
    const struct sta_blocking_tree *tree = &evaluation->layers.tree;
    if (sta_evaluation_sweep_ranks(evaluation, err) != STA_OK)
        return err->status;
    if (evaluation->layers_measured == STA_NOT_MEASURED) {
        evaluation->layers_measured = sta_attribution_of_chain(evaluation->run, "layers", &evaluation->layers)
                                          ? STA_MEASURED
                                          : STA_NOT_APPLICABLE;
        if (evaluation->layers_measured == STA_MEASURED &&
            sta_charge_sums(evaluation->run, &evaluation->layers, NULL, &evaluation->blocked, NULL, err) !=
                STA_OK) {
            sta_charged_fini(&evaluation->blocked);
            sta_attribution_fini(&evaluation->layers);
            evaluation->layers_measured = STA_NOT_MEASURED;
            return err->status;
        }
    }
    if (evaluation->layers_measured == STA_NOT_APPLICABLE && evaluation->layers.tree.count > 0)
        return sta_attribution_fail_layers(evaluation->run, &evaluation->layers, err);
    if (evaluation->layers_measured == STA_NOT_APPLICABLE)
        return STA_OK;
    size_t best = tree->causes[0];
    for (size_t c = 0; c < tree->count; c++) {
        const size_t node = tree->causes[c];
        self[node] = evaluation->blocked.time[c];
        blocked[node] += self[node];
        if (tree->parents[node] != STA_TREE_ROOT)
            blocked[tree->parents[node]] += blocked[node];
        best = self[node] > self[best] ? node : best;
    }
    struct sta_buffer path;
    sta_buffer_init(&path);
    if (self[best] > 0)
        put_path(tree, best, &path);
    sta_put_char(&path, '\0');
    sta_figure_text(figures, ask, "node", self[best] > 0 ? tree->nodes[best]->name : NULL);
    sta_figure_text(figures, ask, "path", path.data);
    sta_figure_number(figures, ask, "self", sta_run_seconds(evaluation->run, self[best]));
    sta_figure_number(figures, ask, "target", sta_run_seconds(evaluation->run, evaluation->blocked.target));
    sta_figure_number(figures, ask, "untraced",
                      sta_run_seconds(evaluation->run, evaluation->blocked.time[tree->count]));
    sta_buffer_fini(&path);
    put_nodes(evaluation, self, blocked, evidence);
    return STA_OK;
}

/* ---- utilisation */

static void put_epochs(const struct sta_evaluation *evaluation, struct sta_table *evidence)
{
    static const char *const names[] = {"epoch", "au", "au_dlio"}, *const units[] = {NULL, NULL, NULL};
    static const enum sta_type types[] = {STA_TYPE_INT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    sta_evidence_begin(evidence, evaluation->phases.number_count, names, types, units, STA_COUNT_OF(names));
    for (size_t e = 0; e < evidence->rows; e++) {
        sta_table_set_int(&evidence->columns[0], e, evaluation->phases.numbers[e]);
        sta_table_set_number(&evidence->columns[1], e,
                             sta_utilisation_share(&evaluation->utilisation.epochs[e]));
        sta_table_set_number(&evidence->columns[2], e, evaluation->utilisation.epochs[e].au_dlio);
    }
}

int sta_evaluate_utilisation(struct sta_evaluation *evaluation, const char *ask,
                             struct sta_figure_list *figures, struct sta_table *evidence,
                             struct sta_error *err)
{
    const struct sta_utilisation_options options = {evaluation->goal, evaluation->rules->warmup_steps,
                                                    evaluation->rules->end_steps};
    struct sta_utilisation *u = &evaluation->utilisation;
    double worst = NAN;
    int64_t worst_epoch = 0;
    if (evaluation->utilisation_measured == STA_NOT_MEASURED &&
        sta_utilisation_measure(&evaluation->phases, &options, u, err) != STA_OK)
        return err->status;
    evaluation->utilisation_measured = STA_MEASURED;
    for (size_t e = 0; e < evaluation->phases.number_count; e++) {
        const double au = sta_utilisation_share(&u->epochs[e]);
        if (!isnan(au) && !(au >= worst)) {
            worst = au;
            worst_epoch = evaluation->phases.numbers[e];
        }
    }
    const double job = (double)u->job * u->ranks;
    sta_figure_number(figures, ask, "au", sta_utilisation_share(&u->whole));
    sta_figure_number(figures, ask, "dlio", u->whole.au_dlio);
    sta_figure_number(figures, ask, "job", job > 0 ? (double)u->job_compute / job : NAN);
    sta_figure_number(figures, ask, "compute", sta_run_seconds(evaluation->run, u->whole.compute));
    sta_figure_number(figures, ask, "window", sta_run_seconds(evaluation->run, u->whole.window));
    sta_figure_number(figures, ask, "worst", worst);
    if (isnan(worst))
        sta_figure_number(figures, ask, "worst_epoch", NAN);
    else
        sta_figure_int(figures, ask, "worst_epoch", worst_epoch);
    put_epochs(evaluation, evidence);
    return STA_OK;
}

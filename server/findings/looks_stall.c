/* Stall by cause, the blocking chain, utilisation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/epochs.h"
#include "findings/looks_private.h"
#include "findings/robust.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

/* ---- stall */

const char *sta_looks_chain(const struct sta_looks *looks)
{
    const struct sta_preset *preset = looks->run->preset;
    return looks->has_stall ? "stall" : preset->chain_count > 0 ? preset->chains[0].name : NULL;
}

bool sta_looks_want_rows(const struct sta_looks *looks)
{
    for (size_t r = 0; r < looks->asked_count; r++)
        for (size_t a = 0; a < looks->asked[r]->ask_count; a++) {
            const struct sta_ask *ask = &looks->asked[r]->asks[a];
            if (ask->kind == STA_ASK_first_step ||
                (ask->kind == STA_ASK_stragglers &&
                 strcmp(sta_yaml_find(ask->argument, "of")->text, "stall") == 0))
                return true;
        }
    return false;
}

/* What failed is not seen: the next rule that needs it fails as well, instead of reading sums of 0. */
static void forget_stall(struct sta_looks *looks)
{
    sta_charged_rows_fini(&looks->stall_rows);
    sta_charged_fini(&looks->charged);
    sta_attribution_fini(&looks->stall);
    looks->stall_seen = STA_UNSEEN;
}

int sta_look_stall(struct sta_looks *looks, struct sta_error *err)
{
    const char *chain = sta_looks_chain(looks);
    int rc = sta_looks_sweep_ranks(looks, err);
    if (rc != STA_OK)
        return rc;
    if (looks->stall_seen != STA_UNSEEN)
        return STA_OK;
    looks->stall_seen = STA_ABSENT;
    if (chain == NULL || !sta_attribution_of_chain(looks->run, chain, &looks->stall))
        return STA_OK;
    looks->stall_seen = STA_SEEN;
    rc = sta_charge_sums(looks->run, &looks->stall, &looks->phases, &looks->charged,
                         sta_looks_want_rows(looks) ? &looks->stall_rows : NULL, err);
    if (rc != STA_OK)
        forget_stall(looks);
    return rc;
}

static void put_causes(const struct sta_looks *looks, struct sta_table *evidence)
{
    static const char *const names[] = {"cause", "time", "share"}, *const units[] = {NULL, "s", NULL};
    static const enum sta_type types[] = {STA_TYPE_TEXT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    const struct sta_charged *charged = &looks->charged;
    size_t rows = 0;
    for (uint32_t l = 0; l < charged->list_count; l++)
        rows += charged->time[l] > 0;
    sta_evidence_begin(evidence, rows, names, types, units, STA_COUNT_OF(names));
    for (uint32_t l = 0, row = 0; l < charged->list_count && row < evidence->rows; l++) {
        if (charged->time[l] <= 0)
            continue;
        sta_evidence_name(evidence, 0, row,
                          l < looks->stall.cause_count ? looks->stall.causes[l] : "untraced");
        sta_table_set_number(&evidence->columns[1], row, sta_run_seconds(looks->run, charged->time[l]));
        sta_table_set_number(&evidence->columns[2], row, (double)charged->time[l] / (double)charged->target);
        row++;
    }
}

int sta_look_causes(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                    struct sta_table *evidence, struct sta_error *err)
{
    int rc = sta_look_stall(looks, err);
    if (rc != STA_OK || looks->stall_seen == STA_ABSENT)
        return rc;
    const struct sta_charged *charged = &looks->charged;
    const struct sta_chain *chain = looks->stall.chain;
    __int128 input = 0, storage = 0;
    uint32_t top = 0;
    for (uint32_t l = 0; l < charged->list_count; l++) {
        const bool cause = l < chain->cause_count;
        sta_figure_number(figures, ask, cause ? chain->causes[l].name : "untraced",
                          sta_run_seconds(looks->run, charged->time[l]));
        input += cause && chain->causes[l].input ? charged->time[l] : 0;
        storage += cause && chain->causes[l].storage ? charged->time[l] : 0;
        top = charged->time[l] > charged->time[top] ? l : top;
    }
    const char *label = top < chain->cause_count ? chain->causes[top].label : "nothing traced";
    sta_figure_number(figures, ask, "target", sta_run_seconds(looks->run, charged->target));
    sta_figure_number(figures, ask, "input", sta_run_seconds(looks->run, input));
    sta_figure_number(figures, ask, "storage", sta_run_seconds(looks->run, storage));
    sta_figure_text(figures, ask, "top", charged->target > 0 ? label : "");
    sta_figure_number(figures, ask, "top_time",
                      charged->target > 0 ? sta_run_seconds(looks->run, charged->time[top]) : 0);
    put_causes(looks, evidence);
    return STA_OK;
}

/* ---- the blocking chain */

static void put_nodes(const struct sta_looks *looks, const __int128 *self, const __int128 *blocked,
                      struct sta_table *evidence)
{
    static const char *const names[] = {"node", "blocked", "self"}, *const units[] = {NULL, "s", "s"};
    static const enum sta_type types[] = {STA_TYPE_TEXT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    const struct sta_blocking_tree *tree = &looks->layers.tree;
    size_t rows = 0;
    for (size_t i = 0; i < tree->count; i++)
        rows += blocked[i] > 0;
    sta_evidence_begin(evidence, rows, names, types, units, STA_COUNT_OF(names));
    for (size_t i = 0, row = 0; i < tree->count && row < evidence->rows; i++) {
        if (blocked[i] <= 0)
            continue;
        sta_evidence_name(evidence, 0, row, tree->nodes[i]->name);
        sta_table_set_number(&evidence->columns[1], row, sta_run_seconds(looks->run, blocked[i]));
        sta_table_set_number(&evidence->columns[2], row, sta_run_seconds(looks->run, self[i]));
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

int sta_look_layers(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                    struct sta_table *evidence, struct sta_error *err)
{
    __int128 self[STA_OVERLAP_SETS] = {0}, blocked[STA_OVERLAP_SETS] = {0};
    const struct sta_blocking_tree *tree = &looks->layers.tree;
    if (sta_looks_sweep_ranks(looks, err) != STA_OK)
        return err->status;
    if (looks->layers_seen == STA_UNSEEN) {
        looks->layers_seen =
            sta_attribution_of_chain(looks->run, "layers", &looks->layers) ? STA_SEEN : STA_ABSENT;
        if (looks->layers_seen == STA_SEEN &&
            sta_charge_sums(looks->run, &looks->layers, NULL, &looks->blocked, NULL, err) != STA_OK) {
            sta_charged_fini(&looks->blocked);
            sta_attribution_fini(&looks->layers);
            looks->layers_seen = STA_UNSEEN;
            return err->status;
        }
    }
    if (looks->layers_seen == STA_ABSENT && looks->layers.tree.count > 0)
        return sta_attribution_fail_layers(looks->run, &looks->layers, err);
    if (looks->layers_seen == STA_ABSENT)
        return STA_OK;
    size_t best = tree->causes[0];
    for (size_t c = 0; c < tree->count; c++) {
        const size_t node = tree->causes[c];
        self[node] = looks->blocked.time[c];
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
    sta_figure_number(figures, ask, "self", sta_run_seconds(looks->run, self[best]));
    sta_figure_number(figures, ask, "target", sta_run_seconds(looks->run, looks->blocked.target));
    sta_figure_number(figures, ask, "untraced",
                      sta_run_seconds(looks->run, looks->blocked.time[tree->count]));
    sta_buffer_fini(&path);
    put_nodes(looks, self, blocked, evidence);
    return STA_OK;
}

/* ---- utilisation */

static void put_epochs(const struct sta_looks *looks, struct sta_table *evidence)
{
    static const char *const names[] = {"epoch", "au", "au_dlio"}, *const units[] = {NULL, NULL, NULL};
    static const enum sta_type types[] = {STA_TYPE_INT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    sta_evidence_begin(evidence, looks->phases.number_count, names, types, units, STA_COUNT_OF(names));
    for (size_t e = 0; e < evidence->rows; e++) {
        sta_table_set_int(&evidence->columns[0], e, looks->phases.numbers[e]);
        sta_table_set_number(&evidence->columns[1], e, sta_utilisation_share(&looks->utilisation.epochs[e]));
        sta_table_set_number(&evidence->columns[2], e, looks->utilisation.epochs[e].au_dlio);
    }
}

int sta_look_utilisation(struct sta_looks *looks, const char *ask, struct sta_figure_list *figures,
                         struct sta_table *evidence, struct sta_error *err)
{
    const struct sta_utilisation_options options = {looks->goal, looks->rules->warmup_steps,
                                                    looks->rules->end_steps};
    struct sta_utilisation *u = &looks->utilisation;
    double worst = NAN;
    int64_t worst_epoch = 0;
    if (looks->utilisation_seen == STA_UNSEEN &&
        sta_utilisation_measure(&looks->phases, &options, u, err) != STA_OK)
        return err->status;
    looks->utilisation_seen = STA_SEEN;
    for (size_t e = 0; e < looks->phases.number_count; e++) {
        const double au = sta_utilisation_share(&u->epochs[e]);
        if (!isnan(au) && !(au >= worst)) {
            worst = au;
            worst_epoch = looks->phases.numbers[e];
        }
    }
    const double job = (double)u->job * u->ranks;
    sta_figure_number(figures, ask, "au", sta_utilisation_share(&u->whole));
    sta_figure_number(figures, ask, "dlio", u->whole.au_dlio);
    sta_figure_number(figures, ask, "job", job > 0 ? (double)u->job_compute / job : NAN);
    sta_figure_number(figures, ask, "compute", sta_run_seconds(looks->run, u->whole.compute));
    sta_figure_number(figures, ask, "window", sta_run_seconds(looks->run, u->whole.window));
    sta_figure_number(figures, ask, "worst", worst);
    if (isnan(worst))
        sta_figure_number(figures, ask, "worst_epoch", NAN);
    else
        sta_figure_int(figures, ask, "worst_epoch", worst_epoch);
    put_epochs(looks, evidence);
    return STA_OK;
}

/* Stragglers, arrivals, access patterns, shared files, busy time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/epochs.h"
#include "findings/evaluation_private.h"
#include "findings/robust.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

/* ---- stragglers and arrivals */

static size_t word_of(const struct sta_yaml_node *node, const char *const *words, size_t count)
{
    size_t i = 0;
    while (node != NULL && i < count && strcmp(words[i], node->text) != 0)
        i++;
    return node == NULL || i == count ? 0 : i;
}

static void put_members(const struct sta_evaluation *evaluation, const struct sta_straggler_options *options,
                        const struct sta_stragglers *found, struct sta_table *evidence)
{
    const bool time = options->of == NULL || options->measure <= STA_MEASURE_TIME;
    uint32_t units[EVIDENCE_ROWS];
    const size_t rows = STA_MIN(found->count, EVIDENCE_ROWS);
    for (size_t i = 0; i < rows; i++)
        units[i] = found->items[i].unit;
    sta_evidence_units(found->scope, units, rows, evidence);
    const size_t first = evidence->column_count;
    sta_table_add(evidence, "value", STA_TYPE_FLOAT,
                  time                                 ? "s"
                  : options->measure == STA_MEASURE_BW ? "B/s"
                                                       : NULL);
    sta_table_add(evidence, "z", STA_TYPE_FLOAT, NULL);
    sta_table_add(evidence, "slow", STA_TYPE_BOOL, NULL);
    for (size_t i = 0; i < rows; i++) {
        const struct sta_straggler *one = &found->items[i];
        sta_table_set_number(&evidence->columns[first], i,
                             time ? sta_run_seconds(evaluation->run, (__int128)one->value) : one->value);
        sta_table_set_number(&evidence->columns[first + 1], i, one->z);
        sta_table_set_int(&evidence->columns[first + 2], i, one->slow);
    }
}

static void put_slowest(const struct sta_evaluation *evaluation, const struct sta_straggler_options *options,
                        const struct sta_stragglers *found, const char *ask, struct sta_figure_list *figures)
{
    const bool time = options->of == NULL || options->measure <= STA_MEASURE_TIME;
    const double scale = time ? (double)evaluation->run->ticks_per_us * 1e6 : 1;
    const struct sta_straggler *worst = found->count > 0 ? &found->items[0] : NULL;
    char *key = worst != NULL ? sta_unit_key(found->scope, worst->unit, options->kind == STA_BY_FILE) : NULL;
    sta_figure_int(figures, ask, "members", (int64_t)found->member_count);
    sta_figure_int(figures, ask, "slow", (int64_t)found->slow);
    sta_figure_text(figures, ask, "worst", key != NULL ? key : "");
    sta_figure_number(figures, ask, "value", worst != NULL ? worst->value / scale : NAN);
    sta_figure_number(figures, ask, "z", worst != NULL ? worst->z : NAN);
    if (worst != NULL)
        sta_figure_int(figures, ask, "epochs", worst->epochs);
    else
        sta_figure_number(figures, ask, "epochs", NAN);
    sta_figure_number(figures, ask, "median", isnan(found->median) ? 0 : found->median / scale);
    sta_figure_number(figures, ask, "excess", found->excess / ((double)evaluation->run->ticks_per_us * 1e6));
    free(key);
}

int sta_evaluate_stragglers(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                            struct sta_figure_list *figures, struct sta_table *evidence,
                            struct sta_error *err)
{
    static const char *const kinds[] = {"rank", "process", "thread", "host", "file"};
    static const char *const measures[] = {"busy", "exposed", "time", "size", "count", "bw"};
    const struct sta_yaml_node *of = sta_yaml_find(ask->argument, "of"),
                               *least = sta_yaml_find(ask->argument, "least");
    const bool stall = strcmp(of->text, "stall") == 0;
    const struct sta_straggler_options options = {
        .kind = (enum sta_member_kind)word_of(sta_yaml_find(ask->argument, "by"), kinds, STA_COUNT_OF(kinds)),
        .measure = (enum sta_measure)word_of(sta_yaml_find(ask->argument, "measure"), measures,
                                             STA_COUNT_OF(measures)),
        .of = stall ? NULL : of->text,
        .least = least != NULL ? strtoll(least->text, NULL, 10) : 0};
    struct sta_stragglers found;
    int rc = stall ? sta_evaluate_stall(evaluation, err) : STA_OK;
    if (rc != STA_OK || (stall && evaluation->stall_measured == STA_NOT_APPLICABLE))
        return rc;
    rc = sta_stragglers_find(evaluation->run, &evaluation->phases, &options, &evaluation->charged,
                             &evaluation->stall_rows, &found, err);
    if (rc == STA_OK) {
        put_slowest(evaluation, &options, &found, ask->name, figures);
        put_members(evaluation, &options, &found, evidence);
    }
    sta_stragglers_fini(&found);
    return rc;
}

int sta_evaluate_arrivals(struct sta_evaluation *evaluation, const char *ask, struct sta_figure_list *figures,
                          struct sta_table *evidence, struct sta_error *err)
{
    struct sta_arrivals arrivals;
    uint32_t units[EVIDENCE_ROWS];
    int rc = sta_arrivals_find(&evaluation->phases, evaluation->run->budget, &arrivals, err);
    if (rc == STA_OK) {
        const size_t rows = STA_MIN(arrivals.count, EVIDENCE_ROWS);
        const struct sta_scope *ranks = evaluation->phases.binding.scope;
        char *key = arrivals.count > 0 ? sta_unit_key(ranks, arrivals.items[0].rank, false) : NULL;
        const double length = (double)arrivals.length;
        sta_figure_int(figures, ask, "steps", arrivals.steps);
        sta_figure_number(figures, ask, "late", sta_run_seconds(evaluation->run, arrivals.late));
        sta_figure_number(figures, ask, "length", sta_run_seconds(evaluation->run, arrivals.length));
        sta_figure_number(figures, ask, "share", length > 0 ? (double)arrivals.late / length : NAN);
        sta_figure_number(figures, ask, "wait", sta_run_seconds(evaluation->run, arrivals.wait));
        sta_figure_text(figures, ask, "rank", key != NULL ? key : "");
        sta_figure_int(figures, ask, "slowest", arrivals.count > 0 ? arrivals.items[0].slowest : 0);
        free(key);
        for (size_t i = 0; i < rows; i++)
            units[i] = arrivals.items[i].rank;
        sta_evidence_units(ranks, units, rows, evidence);
        const size_t first = evidence->column_count;
        sta_table_add(evidence, "steps", STA_TYPE_INT, NULL);
        sta_table_add(evidence, "slowest", STA_TYPE_INT, NULL);
        sta_table_add(evidence, "late", STA_TYPE_FLOAT, "s");
        for (size_t i = 0; i < rows; i++) {
            sta_table_set_int(&evidence->columns[first], i, arrivals.items[i].steps);
            sta_table_set_int(&evidence->columns[first + 1], i, arrivals.items[i].slowest);
            sta_table_set_number(&evidence->columns[first + 2], i,
                                 sta_run_seconds(evaluation->run, arrivals.items[i].late));
        }
    }
    sta_arrivals_fini(&arrivals);
    return rc;
}

/* ---- access patterns, shared files */

static void put_files(const struct sta_access_patterns *access, size_t kind, struct sta_table *evidence)
{
    static const char *const names[] = {"file_name", "bytes", "distinct"}, *const units[] = {NULL, "B", "B"};
    static const enum sta_type types[] = {STA_TYPE_TEXT, STA_TYPE_INT, STA_TYPE_INT};
    const struct sta_dictionary *texts = sta_columns_texts(access->request.columns, STA_LOGICAL_file_name);
    sta_evidence_begin(evidence, access->file_counts[kind], names, types, units, STA_COUNT_OF(names));
    for (size_t i = 0; i < evidence->rows; i++) {
        const struct sta_access_file *file = &access->files[kind][i];
        if (file->file != STA_NO_CODE)
            sta_evidence_name(evidence, 0, i, sta_dictionary_text(texts, file->file).bytes);
        sta_table_set_int(&evidence->columns[1], i, (int64_t)file->bytes);
        sta_table_set_int(&evidence->columns[2], i, (int64_t)file->distinct);
    }
}

int sta_evaluate_access(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                        struct sta_figure_list *figures, struct sta_table *evidence, struct sta_error *err)
{
    const size_t kind = strcmp(ask->argument->text, "write") == 0;
    if (evaluation->access_measured == STA_NOT_MEASURED &&
        sta_access_measure(evaluation->run, &evaluation->phases, &evaluation->access, err) != STA_OK)
        return err->status;
    evaluation->access_measured = STA_MEASURED;
    const struct sta_access_sums *sums = &evaluation->access.sums[kind];
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"ops", sums->ops},
                  {"unknown", sums->unknown},
                  {"first", sums->first},
                  {"consecutive", sums->consecutive},
                  {"sequential", sums->sequential},
                  {"random", sums->random},
                  {"known", sums->ops - sums->unknown},
                  {"bytes", (int64_t)sums->bytes},
                  {"known_bytes", (int64_t)sums->known_bytes},
                  {"distinct_bytes", (int64_t)sums->distinct_bytes}};
    for (size_t i = 0; i < STA_COUNT_OF(counts); i++)
        sta_figure_int(figures, ask->name, counts[i].name, counts[i].value);
    sta_figure_number(figures, ask->name, "random_time", sta_run_seconds(evaluation->run, sums->random_time));
    sta_figure_number(figures, ask->name, "exposed", sta_run_seconds(evaluation->run, sums->exposed));
    put_files(&evaluation->access, kind, evidence);
    return STA_OK;
}

int sta_evaluate_shared(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                        struct sta_figure_list *figures, struct sta_error *err)
{
    const size_t kind = strcmp(ask->argument->text, "write") == 0;
    if (evaluation->shared_measured == STA_NOT_MEASURED &&
        sta_shared_measure(evaluation->run, &evaluation->phases, evaluation->shared, err) != STA_OK)
        return err->status;
    evaluation->shared_measured = STA_MEASURED;
    const struct sta_shared_sums *sums = &evaluation->shared[kind];
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"files", sums->files},
                  {"ops", sums->ops},
                  {"small", sums->small},
                  {"uneven_size", sums->uneven_size},
                  {"uneven_time", sums->uneven_time},
                  {"uneven", sums->uneven}};
    for (size_t i = 0; i < STA_COUNT_OF(counts); i++)
        sta_figure_int(figures, ask->name, counts[i].name, counts[i].value);
    sta_figure_number(figures, ask->name, "worst_size", sums->worst_size);
    sta_figure_number(figures, ask->name, "worst_time", sums->worst_time);
    sta_figure_number(figures, ask->name, "worst", sums->worst);
    return STA_OK;
}

/* ---- busy time */

int sta_evaluate_busy(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                      struct sta_figure_list *figures, struct sta_error *err)
{
    int rc = STA_OK;
    for (size_t i = 0; i < ask->argument->count && rc == STA_OK; i++) {
        const struct sta_condition_cost *cost = NULL;
        rc = sta_evaluate_condition(evaluation, ask->argument->items[i]->text, false, &cost, err);
        if (rc == STA_OK)
            sta_figure_number(figures, ask->name, ask->argument->keys[i]->text,
                              sta_run_seconds(evaluation->run, cost->busy));
    }
    return rc;
}

int sta_evaluate_slowest_rank(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                              struct sta_figure_list *figures, struct sta_error *err)
{
    const struct sta_condition_cost *cost = NULL;
    const struct sta_yaml_node *seconds = sta_yaml_find(ask->argument, "seconds");
    int rc = sta_evaluate_condition(evaluation, sta_yaml_find(ask->argument, "of")->text, true, &cost, err);
    if (rc != STA_OK)
        return rc;
    const int64_t limit =
        sta_ticks(seconds != NULL ? strtod(seconds->text, NULL) : 0, evaluation->run->ticks_per_us);
    int64_t over = 0, most = 0;
    for (uint32_t r = 0; cost->of_rank != NULL && r < evaluation->phases.rank_count; r++) {
        over += cost->of_rank[r] > limit;
        most = STA_MAX(most, cost->of_rank[r]);
    }
    sta_figure_int(figures, ask->name, "over", over);
    sta_figure_number(figures, ask->name, "max", sta_run_seconds(evaluation->run, most));
    return STA_OK;
}

/* File system calls, and those in no layer of the tree. */
static const char calls[] = "cat.str.contains(\"posix|stdio\") and io_cat in [1, 2, 3, 7]";

void sta_evaluation_note_unmatched(struct sta_evaluation *evaluation)
{
    struct sta_blocking_tree tree;
    struct sta_buffer text;
    sta_tree_init(&tree, evaluation->run->preset);
    sta_buffer_init(&text);
    sta_put_format(&text, "(%s) and not (false", calls);
    for (size_t i = 0; i < tree.count; i++)
        sta_put_format(&text, " or (%s)",
                       tree.nodes[i]->condition != NULL ? tree.nodes[i]->condition : "true");
    sta_put_char(&text, ')');
    if (tree.count > 0) {
        evaluation->unmatched = sta_arena_copy(&evaluation->run->memory, text.data, text.size);
        sta_evaluation_note(evaluation, calls, false);
        sta_evaluation_note(evaluation, evaluation->unmatched, false);
    }
    sta_buffer_fini(&text);
    sta_tree_fini(&tree);
}

int sta_evaluate_unmatched(struct sta_evaluation *evaluation, const char *ask,
                           struct sta_figure_list *figures, struct sta_error *err)
{
    const struct sta_condition_cost *all = NULL, *outside = NULL;
    int rc = STA_OK;
    if (evaluation->unmatched != NULL) {
        rc = sta_evaluate_condition(evaluation, calls, false, &all, err);
        if (rc == STA_OK)
            rc = sta_evaluate_condition(evaluation, evaluation->unmatched, false, &outside, err);
    }
    if (rc == STA_OK) {
        sta_figure_number(figures, ask, "all", all != NULL ? sta_run_seconds(evaluation->run, all->busy) : 0);
        sta_figure_number(figures, ask, "outside",
                          outside != NULL ? sta_run_seconds(evaluation->run, outside->busy) : 0);
        sta_figure_int(figures, ask, "events", outside != NULL ? outside->events : 0);
    }
    return rc;
}

/* The figures of each kind of ask; what several rules ask is measured once. */
#include "findings/evaluation_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/epochs.h"
#include "findings/robust.h"
#include "analyse/overlap/tables.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

/* ---- what all rules have in common */

static int64_t job_of(const struct sta_phases *phases)
{
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (uint32_t i = 0; i < phases->order_count; i++) {
        start = STA_MIN(start, phases->ranks[phases->order[i]].start);
        end = STA_MAX(end, phases->ranks[phases->order[i]].end);
    }
    return start < end ? end - start : 0;
}

static void measure_base(struct sta_evaluation *evaluation)
{
    const struct sta_phases *phases = &evaluation->phases;
    __int128 training = 0, span = 0;
    for (uint32_t i = 0; i < phases->order_count; i++) {
        const struct sta_rank *rank = &phases->ranks[phases->order[i]];
        training += sta_moments_length(&rank->training);
        span += rank->end - rank->start;
    }
    evaluation->base_kind = training > 0 ? "training" : "span";
    evaluation->base = training > 0 ? training : span;
}

static void put_context(struct sta_evaluation *evaluation)
{
    const struct sta_phases *phases = &evaluation->phases;
    struct sta_figure_list *figures = &evaluation->context;
    size_t epochs = 0, steps = 0;
    for (uint32_t i = 0; i < phases->order_count; i++) {
        const struct sta_rank *rank = &phases->ranks[phases->order[i]];
        epochs = STA_MAX(epochs, rank->epoch_count);
        steps = STA_MAX(steps, rank->step_count - rank->epoch_count); /* less what follows the last ones */
    }
    sta_figure_int(figures, NULL, "ranks", phases->order_count);
    sta_figure_int(figures, NULL, "hosts", phases->hosts);
    sta_figure_int(figures, NULL, "processes", phases->processes);
    sta_figure_int(figures, NULL, "events", (int64_t)phases->events);
    sta_figure_int(figures, NULL, "epochs", (int64_t)epochs);
    sta_figure_int(figures, NULL, "steps", (int64_t)steps);
    sta_figure_number(figures, NULL, "base", sta_run_seconds(evaluation->run, evaluation->base));
    sta_figure_text(figures, NULL, "base_kind", evaluation->base_kind);
    sta_figure_text(figures, NULL, "kind",
                    sta_trace_kind_name(sta_snapshot_info(evaluation->run->query.snapshot)->kind));
    sta_figure_text(figures, NULL, "preset", evaluation->run->preset->name);
    sta_figure_number(figures, NULL, "job", sta_run_seconds(evaluation->run, job_of(phases)));
    sta_figure_number(figures, NULL, "goal", evaluation->goal);
    sta_figure_int(figures, NULL, "warmup", evaluation->rules->warmup_steps);
}

/* The conditions of all rules, so that they are measured together. */
static void note_conditions(struct sta_evaluation *evaluation)
{
    for (size_t r = 0; r < evaluation->asked_count; r++) {
        const struct sta_rule *rule = evaluation->asked[r];
        if (rule->stake != NULL)
            sta_evaluation_note(evaluation, rule->stake, false);
        for (size_t a = 0; a < rule->ask_count; a++) {
            const struct sta_yaml_node *argument = rule->asks[a].argument;
            if (rule->asks[a].kind == STA_ASK_slowest_rank_busy)
                sta_evaluation_note(evaluation, sta_yaml_find(argument, "of")->text, true);
            if (rule->asks[a].kind == STA_ASK_unmatched)
                sta_evaluation_note_unmatched(evaluation);
            for (size_t i = 0; rule->asks[a].kind == STA_ASK_busy && i < argument->count; i++)
                sta_evaluation_note(evaluation, argument->items[i]->text, false);
        }
    }
}

int sta_evaluation_init(struct sta_evaluation *evaluation, struct sta_run *run, const struct sta_rules *rules,
                        const struct sta_rule **asked, size_t count, double goal, struct sta_error *err)
{
    *evaluation = (struct sta_evaluation){
        .run = run, .rules = rules, .asked = asked, .asked_count = count, .goal = goal};
    evaluation->has_stall = sta_preset_chain(run->preset, "stall") != NULL;
    note_conditions(evaluation);
    sta_evaluation_bind(evaluation);
    int rc = sta_phases_read(run, &evaluation->phases, err);
    if (rc != STA_OK)
        return rc;
    measure_base(evaluation);
    put_context(evaluation);
    return STA_OK;
}

void sta_evaluation_fini(struct sta_evaluation *evaluation)
{
    sta_evaluation_conditions_fini(evaluation);
    sta_evaluation_queries_fini(evaluation);
    sta_evaluation_ledger_fini(evaluation);
    sta_evaluation_ranks_fini(evaluation);
    sta_utilisation_fini(&evaluation->utilisation);
    sta_access_fini(&evaluation->access);
    sta_phases_fini(&evaluation->phases);
    sta_figures_fini(&evaluation->context);
}

/* ---- evidence */

void sta_evidence_begin(struct sta_table *evidence, size_t rows, const char *const *names,
                        const enum sta_type *types, const char *const *units, size_t columns)
{
    sta_table_init(evidence, STA_MIN(rows, EVIDENCE_ROWS));
    for (size_t c = 0; c < columns; c++)
        sta_table_add(evidence, names[c], types[c], units[c]);
}

void sta_evidence_name(struct sta_table *table, size_t column, size_t row, const char *name)
{
    sta_table_set_text(table, &table->columns[column], row, name, strlen(name));
}

/* The keys of a unit with : between; of a file the last part of its path.  free() it. */
char *sta_unit_key(const struct sta_scope *scope, uint32_t unit, bool file)
{
    struct sta_table keys;
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_table_init(&keys, 1);
    sta_scope_put_keys(scope, &keys, &unit);
    for (size_t c = 0; c < keys.column_count; c++) {
        const struct sta_table_column *column = &keys.columns[c];
        if (c > 0)
            sta_put_char(&out, ':');
        if (column->missing[0])
            sta_put_text(&out, "None");
        else if (column->texts != NULL)
            sta_put(&out, column->texts[0].bytes, column->texts[0].length);
        else
            sta_put_int(&out, column->integers[0]);
    }
    sta_table_fini(&keys);
    char *text = sta_buffer_take_text(&out);
    const char *slash = file ? strrchr(text, '/') : NULL;
    if (slash != NULL)
        memmove(text, slash + 1, strlen(slash));
    return text;
}

void sta_evidence_units(const struct sta_scope *scope, const uint32_t *units, size_t rows,
                        struct sta_table *evidence)
{
    sta_table_init(evidence, rows);
    sta_scope_put_keys(scope, evidence, units);
}

/* ---- the trace itself */

static int measure_order(struct sta_evaluation *evaluation, struct sta_error *err)
{
    if (evaluation->order_measured == STA_MEASURED)
        return STA_OK;
    int rc = sta_event_order_measure(evaluation->run, &evaluation->phases, &evaluation->order, err);
    if (rc == STA_OK)
        evaluation->order_measured = STA_MEASURED;
    return rc;
}

static void put_gap(struct sta_evaluation *evaluation, const char *ask, struct sta_figure_list *figures,
                    struct sta_table *evidence)
{
    const struct sta_event_order *order = &evaluation->order;
    sta_figure_number(figures, ask, "time",
                      sta_run_seconds(evaluation->run, order->gap_to - order->gap_from));
    if (!order->gap)
        return;
    sta_evidence_units(evaluation->phases.binding.scope, &order->gap_rank, 1, evidence);
    const size_t first = evidence->column_count;
    sta_add_seconds(evidence, "start");
    sta_add_seconds(evidence, "end");
    sta_table_set_number(&evidence->columns[first], 0, sta_run_seconds(evaluation->run, order->gap_from));
    sta_table_set_number(&evidence->columns[first + 1], 0, sta_run_seconds(evaluation->run, order->gap_to));
}

static void put_jumps(const struct sta_evaluation *evaluation, const char *ask,
                      struct sta_figure_list *figures, struct sta_table *evidence)
{
    static const char *const names[] = {"host_name", "pid", "tid", "start", "end", "end_around"};
    static const char *const units[] = {NULL, NULL, NULL, "s", "s", "s"};
    static const enum sta_type types[] = {STA_TYPE_TEXT,  STA_TYPE_INT,   STA_TYPE_INT,
                                          STA_TYPE_FLOAT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    const struct sta_entities *entities = sta_snapshot_entities(evaluation->run->query.snapshot);
    sta_figure_int(figures, ask, "jumps", evaluation->order.jumps);
    sta_figure_int(figures, ask, "events", (int64_t)evaluation->phases.events);
    sta_evidence_begin(evidence, evaluation->order.shown_count, names, types, units, STA_COUNT_OF(names));
    for (size_t i = 0; i < evidence->rows; i++) {
        const struct sta_jump *jump = &evaluation->order.shown[i];
        const struct sta_entity_thread *thread = &entities->threads[jump->thread];
        const int64_t times[] = {jump->ts, jump->to, jump->around};
        if (thread->host != STA_NO_CODE)
            sta_evidence_name(evidence, 0, i, sta_dictionary_text(entities->hosts, thread->host).bytes);
        if (thread->pid != STA_NO_ID)
            sta_table_set_int(&evidence->columns[1], i, thread->pid);
        if (thread->tid != STA_NO_ID)
            sta_table_set_int(&evidence->columns[2], i, thread->tid);
        for (size_t t = 0; t < STA_COUNT_OF(times); t++)
            sta_table_set_number(&evidence->columns[3 + t], i, sta_run_seconds(evaluation->run, times[t]));
    }
}

static int evaluate_trace(struct sta_evaluation *evaluation, const struct sta_ask *ask,
                          struct sta_figure_list *figures, struct sta_table *evidence, struct sta_error *err)
{
    int rc = measure_order(evaluation, err);
    if (rc != STA_OK)
        return rc;
    if (ask->kind == STA_ASK_gaps) {
        put_gap(evaluation, ask->name, figures, evidence);
    } else if (ask->kind == STA_ASK_jumps) {
        put_jumps(evaluation, ask->name, figures, evidence);
    } else {
        sta_figure_int(figures, ask->name, "events", evaluation->order.lasting);
        sta_figure_int(figures, ask->name, "repeated", evaluation->order.repeated);
        sta_figure_int(figures, ask->name, "copies", evaluation->order.copies);
    }
    return STA_OK;
}

static int compare_hosts(const void *a, const void *b, void *names)
{
    return sta_text_order(sta_dictionary_text(names, *(const uint32_t *)a),
                          sta_dictionary_text(names, *(const uint32_t *)b));
}

/* The codes of the hosts that have events, by name; at the end the one past all codes: no host name. */
static uint32_t *hosts_by_name(const struct sta_phases *phases, const struct sta_dictionary *names,
                               size_t *count)
{
    uint32_t *hosts = sta_alloc_array((size_t)phases->host_limit + 1, sizeof *hosts);
    *count = 0;
    for (uint32_t h = 0; h < phases->host_limit; h++)
        if (phases->of_host[h].start <= phases->of_host[h].end)
            hosts[(*count)++] = h;
    qsort_r(hosts, *count, sizeof *hosts, compare_hosts, (void *)(uintptr_t)names);
    if (phases->of_host[phases->host_limit].start <= phases->of_host[phases->host_limit].end)
        hosts[(*count)++] = phases->host_limit;
    return hosts;
}

static void put_hosts(const struct sta_evaluation *evaluation, struct sta_table *evidence)
{
    const struct sta_dictionary *names = sta_snapshot_entities(evaluation->run->query.snapshot)->hosts;
    const struct sta_phases *phases = &evaluation->phases;
    size_t count;
    uint32_t *hosts = hosts_by_name(phases, names, &count);
    for (size_t row = 0; row < evidence->rows; row++) {
        const struct sta_host_span span = phases->of_host[hosts[row]];
        if (hosts[row] < phases->host_limit)
            sta_evidence_name(evidence, 0, row, sta_dictionary_text(names, hosts[row]).bytes);
        sta_table_set_number(&evidence->columns[1], row, sta_run_seconds(evaluation->run, span.start));
        sta_table_set_number(&evidence->columns[2], row, sta_run_seconds(evaluation->run, span.end));
    }
    free(hosts);
}

static void evaluate_clocks(const struct sta_evaluation *evaluation, const char *ask,
                            struct sta_figure_list *figures, struct sta_table *evidence)
{
    static const char *const names[] = {"host_name", "start", "end"}, *const units[] = {NULL, "s", "s"};
    static const enum sta_type types[] = {STA_TYPE_TEXT, STA_TYPE_FLOAT, STA_TYPE_FLOAT};
    const struct sta_phases *phases = &evaluation->phases;
    int64_t first = INT64_MAX, last = INT64_MIN, latest = INT64_MIN, earliest = INT64_MAX;
    for (uint32_t h = 0; h <= phases->host_limit; h++) {
        const struct sta_host_span span = phases->of_host[h];
        if (span.start > span.end)
            continue;
        first = STA_MIN(first, span.start);
        last = STA_MAX(last, span.end);
        latest = STA_MAX(latest, span.start);
        earliest = STA_MIN(earliest, span.end);
    }
    sta_evidence_begin(evidence, phases->hosts, names, types, units, STA_COUNT_OF(names));
    put_hosts(evaluation, evidence);
    const double job = last > first ? (double)last - (double)first : 0;
    sta_figure_int(figures, ask, "hosts", phases->hosts);
    sta_figure_number(figures, ask, "common", job > 0 ? (double)STA_MAX(earliest - latest, 0) / job : NAN);
    if (phases->hosts > 0)
        sta_figure_number(figures, ask, "spread", sta_run_seconds(evaluation->run, latest - first));
}

/* ---- all of them */

int sta_evaluate(struct sta_evaluation *evaluation, const struct sta_rule *rule, const struct sta_ask *ask,
                 struct sta_figure_list *figures, struct sta_table *evidence, struct sta_error *err)
{
    switch (ask->kind) {
    case STA_ASK_attribution:
        return sta_evaluate_causes(evaluation, ask->name, figures, evidence, err);
    case STA_ASK_blocking:
        return sta_evaluate_layers(evaluation, ask->name, figures, evidence, err);
    case STA_ASK_utilisation:
        return sta_evaluate_utilisation(evaluation, ask->name, figures, evidence, err);
    case STA_ASK_query:
        return sta_evaluate_query(evaluation, rule, ask, figures, err);
    case STA_ASK_busy:
        return sta_evaluate_busy(evaluation, ask, figures, err);
    case STA_ASK_slowest_rank_busy:
        return sta_evaluate_slowest_rank(evaluation, ask, figures, err);
    case STA_ASK_stragglers:
        return sta_evaluate_stragglers(evaluation, ask, figures, evidence, err);
    case STA_ASK_arrivals:
        return sta_evaluate_arrivals(evaluation, ask->name, figures, evidence, err);
    case STA_ASK_access:
        return sta_evaluate_access(evaluation, ask, figures, evidence, err);
    case STA_ASK_shared:
        return sta_evaluate_shared(evaluation, ask, figures, err);
    case STA_ASK_cold:
        return sta_evaluate_cold(evaluation, ask->name, figures, evidence, err);
    case STA_ASK_first_step:
        return sta_evaluate_first_steps(evaluation, ask->name, figures, err);
    case STA_ASK_same_thread:
        return sta_evaluate_threads(evaluation, ask->name, figures, err);
    case STA_ASK_ledger:
        return sta_evaluate_ledger(evaluation, ask->name, figures, evidence, err);
    case STA_ASK_clocks:
        evaluate_clocks(evaluation, ask->name, figures, evidence);
        return STA_OK;
    case STA_ASK_unmatched:
        return sta_evaluate_unmatched(evaluation, ask->name, figures, err);
    default:
        return evaluate_trace(evaluation, ask, figures, evidence, err);
    }
}

/* One rule to its finding: figures, condition, thresholds, stake, sentence. */
#include "findings/judge.h"

#include <stdlib.h>
#include <string.h>

#include "findings/evaluation_private.h"
#include "analyse/layers/yaml_checks.h"
#include "common/memory.h"
#include "findings/findings.h"

static const char *const need_words[] = {"stall", "epochs", "steps", "ranks", "hosts"};
static const char *const need_texts[] = {"Not applicable: this preset does not know training and compute.",
                                         "Not applicable: no epochs in the trace.",
                                         "Not applicable: no steps in the trace.",
                                         "Not applicable: one rank.", "Not applicable: one host."};

/* ---- figures */

struct judging {
    struct sta_evaluation *evaluation;
    const struct sta_rule *rule;
    struct sta_finding *finding;
    struct sta_figure_list figures;
    size_t context, own; /* figures of these numbers are of all rules, and of the asks */
};

static int64_t integer_of(const struct sta_evaluation *evaluation, const char *name)
{
    return sta_figure_find(&evaluation->context, name, strlen(name))->integer;
}

static bool has(const struct sta_evaluation *evaluation, enum sta_need need)
{
    switch (need) {
    case STA_NEED_STALL:
        return evaluation->has_stall && strcmp(evaluation->base_kind, "training") == 0;
    case STA_NEED_EPOCHS:
        return integer_of(evaluation, "epochs") > 0;
    case STA_NEED_STEPS:
        return integer_of(evaluation, "steps") > 0;
    case STA_NEED_RANKS:
        return integer_of(evaluation, "ranks") > 1;
    default:
        return integer_of(evaluation, "hosts") > 1;
    }
}

static void put_sentence(struct judging *judging, const char *sentence)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_figures_put(&judging->figures, sentence, &out);
    if (judging->finding->capped)
        sta_figures_put(&judging->figures,
                        " It costs {stake:s}, {stake_share:%} of the time, so it matters little.", &out);
    free(judging->finding->text);
    judging->finding->text = sta_buffer_take_text(&out);
}

static int not_applicable(struct judging *judging, const char *reason, const char *sentence)
{
    judging->finding->severity = STA_SEVERITY_NA;
    judging->finding->reason = reason;
    put_sentence(judging, sentence);
    return STA_OK;
}

static int ask_all(struct judging *judging, struct sta_error *err)
{
    int rc = STA_OK;
    for (size_t i = 0; i < judging->evaluation->context.count; i++)
        sta_figure_add(&judging->figures, NULL, judging->evaluation->context.items[i].name,
                       &judging->evaluation->context.items[i]);
    for (size_t a = 0; a < judging->rule->ask_count && rc == STA_OK; a++) {
        struct sta_table rows = {0};
        rc = sta_evaluate(judging->evaluation, judging->rule, &judging->rule->asks[a], &judging->figures,
                          &rows, err);
        if (rc == STA_OK && rows.rows > 0) {
            sta_table_fini(&judging->finding->evidence);
            judging->finding->evidence = rows;
        } else {
            sta_table_fini(&rows);
        }
    }
    return rc;
}

static int add_own(struct judging *judging, struct sta_error *err)
{
    const struct sta_yaml_node *own = judging->rule->figures;
    int rc = STA_OK;
    for (size_t i = 0; own != NULL && i < own->count && rc == STA_OK; i++) {
        struct sta_figure value = {0};
        rc = sta_figures_evaluate(&judging->figures, own->items[i]->text, &value, err);
        if (rc == STA_OK)
            sta_figure_add(&judging->figures, NULL, own->keys[i]->text, &value);
    }
    return rc;
}

/* ---- severity */

static int find_severity(struct judging *judging, struct sta_error *err)
{
    struct sta_finding *finding = judging->finding;
    bool holds = true;
    int rc = judging->rule->when != NULL
                 ? sta_figures_hold(&judging->figures, judging->rule->when, &holds, err)
                 : STA_OK;
    finding->severity = STA_SEVERITY_OK;
    for (size_t level = STA_SEVERITY_INFO + 1; rc == STA_OK && level-- > 0;) {
        finding->levels[level] = (struct sta_figure){.missing = true};
        if (judging->rule->levels[level] == NULL)
            continue;
        rc = sta_figures_evaluate(&judging->figures, judging->rule->levels[level], &finding->levels[level],
                                  err);
        const struct sta_figure *threshold = &finding->levels[level];
        if (rc != STA_OK || !holds || threshold->missing)
            continue;
        const double value = finding->value.number;
        if (finding->low ? value < threshold->number : value >= threshold->number)
            finding->severity = (enum sta_severity)level;
    }
    return rc;
}

static int find_stake(struct judging *judging, struct sta_error *err)
{
    struct sta_finding *finding = judging->finding;
    struct sta_evaluation *evaluation = judging->evaluation;
    int rc = STA_OK;
    finding->stake = finding->stake_share = (struct sta_figure){.type = STA_TYPE_FLOAT, .missing = true};
    if (judging->rule->stake != NULL) {
        __int128 ticks;
        rc = sta_evaluate_exposed(evaluation, judging->rule->stake, &ticks, err);
        finding->stake.number = sta_run_seconds(evaluation->run, ticks);
        finding->stake.missing = false;
    } else if (judging->rule->stake_figure != NULL) {
        rc = sta_figures_evaluate(&judging->figures, judging->rule->stake_figure, &finding->stake, err);
        finding->stake.type = STA_TYPE_FLOAT;
    }
    if (rc != STA_OK || finding->stake.missing || evaluation->base <= 0)
        return rc;
    finding->stake_share.number = finding->stake.number / sta_run_seconds(evaluation->run, evaluation->base);
    finding->stake_share.missing = false;
    if (finding->severity <= STA_SEVERITY_WARNING &&
        finding->stake_share.number < evaluation->rules->stake_floor) {
        finding->capped = true;
        finding->severity = STA_SEVERITY_INFO;
    }
    return STA_OK;
}

/* ---- figures of the sentence */

static void keep_figure(struct judging *judging, const char *name, size_t length, size_t *capacity)
{
    static const char *const after[] = {"value", "stake", "stake_share"};
    struct sta_finding *finding = judging->finding;
    const struct sta_figure *figure = sta_figure_find(&judging->figures, name, length);
    for (size_t i = 0; i < STA_COUNT_OF(after); i++)
        if (strlen(after[i]) == length && strncmp(after[i], name, length) == 0)
            return;
    for (size_t i = 0; i < finding->figure_count; i++)
        if (figure != NULL && strcmp(finding->figures[i].name, figure->name) == 0)
            return;
    if (figure == NULL)
        return;
    STA_GROW(finding->figures, *capacity, finding->figure_count + 1);
    struct sta_figure *kept = &finding->figures[finding->figure_count++];
    *kept = *figure;
    kept->name = sta_arena_copy(&finding->memory, figure->name, strlen(figure->name));
    if (figure->text != NULL)
        kept->text = sta_arena_copy(&finding->memory, figure->text, strlen(figure->text));
}

static void keep_figures(struct judging *judging)
{
    const char *const sentences[] = {judging->rule->say, judging->rule->ok};
    const struct sta_yaml_node *own = judging->rule->figures;
    struct sta_slot slot;
    size_t capacity = 0;
    for (size_t i = 0; own != NULL && i < own->count; i++)
        keep_figure(judging, own->keys[i]->text, own->keys[i]->length, &capacity);
    for (size_t s = 0; s < STA_COUNT_OF(sentences); s++)
        for (const char *at = sentences[s]; (at = sta_next_slot(sentences[s], at, &slot)) != NULL;)
            keep_figure(judging, slot.name, slot.name_length, &capacity);
}

/* ---- the whole rule */

static int judge_value(struct judging *judging, struct sta_error *err)
{
    const struct sta_rule *rule = judging->rule;
    struct sta_finding *finding = judging->finding;
    bool applies = true;
    int rc =
        rule->applies != NULL ? sta_figures_hold(&judging->figures, rule->applies, &applies, err) : STA_OK;
    if (rc == STA_OK && !applies)
        return not_applicable(judging, "applies",
                              rule->otherwise != NULL ? rule->otherwise : "Not applicable.");
    if (rc == STA_OK)
        rc = add_own(judging, err);
    if (rc == STA_OK)
        rc = sta_figures_evaluate(&judging->figures, rule->value, &finding->value, err);
    if (rc == STA_OK && finding->value.missing)
        return not_applicable(judging, "missing",
                              rule->otherwise != NULL ? rule->otherwise
                                                      : "Not applicable: a figure is missing.");
    if (rc == STA_OK)
        rc = find_severity(judging, err);
    if (rc == STA_OK)
        rc = find_stake(judging, err);
    if (rc != STA_OK)
        return rc;
    sta_figure_add(&judging->figures, NULL, "stake", &finding->stake);
    sta_figure_add(&judging->figures, NULL, "stake_share", &finding->stake_share);
    sta_figure_add(&judging->figures, NULL, "value", &finding->value);
    put_sentence(judging, finding->severity == STA_SEVERITY_OK ? rule->ok : rule->say);
    keep_figures(judging);
    return STA_OK;
}

static int judge(struct judging *judging, struct sta_error *err)
{
    for (size_t need = 0; need < STA_NEEDS; need++)
        if (judging->rule->needs[need] && !has(judging->evaluation, (enum sta_need)need))
            return not_applicable(judging, need_words[need], need_texts[need]);
    int rc = ask_all(judging, err);
    if (rc == STA_OK)
        rc = judge_value(judging, err);
    if (rc != STA_EINPUT && rc != STA_ELIMIT)
        return rc;
    struct sta_error passed = STA_ERROR_INIT; /* what one rule asks too much is no failure of the others */
    if (rc == STA_ELIMIT && sta_budget_check(judging->evaluation->run->budget, &passed) != STA_OK)
        return rc;
    not_applicable(judging, "failed", "");
    free(judging->finding->text);
    judging->finding->text = sta_sprintf("Not applicable: %.600s", err->text);
    *err = STA_ERROR_INIT;
    return STA_OK;
}

int sta_judge_rule(struct sta_evaluation *evaluation, const struct sta_rule *rule, size_t place,
                   struct sta_finding *finding, struct sta_error *err)
{
    struct judging *judging = sta_alloc(sizeof *judging);
    *judging = (struct judging){.evaluation = evaluation, .rule = rule, .finding = finding};
    *finding = (struct sta_finding){.rule = rule,
                                    .id = rule->id,
                                    .title = rule->title,
                                    .group = rule->group,
                                    .unit = rule->unit,
                                    .source = rule->source,
                                    .place = place,
                                    .low = rule->low};
    finding->value = finding->stake = finding->stake_share = (struct sta_figure){.missing = true};
    for (size_t level = 0; level < STA_SEVERITIES; level++)
        finding->levels[level] = (struct sta_figure){.missing = true};
    int rc = judge(judging, err);
    sta_evaluate_link(evaluation, finding);
    sta_figures_fini(&judging->figures);
    free(judging);
    return rc;
}

/* Rules to findings: figures, condition, thresholds, stake, sentence; then their order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/findings/looks.h"
#include "analyse/findings/tables.h"
#include "analyse/layers/yaml_checks.h"
#include "analyse/views/members.h"
#include "common/memory.h"

static const char *const need_words[] = {"stall", "epochs", "steps", "ranks", "hosts"};
static const char *const need_texts[] = {"Not applicable: this preset does not know training and compute.",
                                         "Not applicable: no epochs in the trace.",
                                         "Not applicable: no steps in the trace.",
                                         "Not applicable: one rank.", "Not applicable: one host."};

/* ---- one rule */

struct judging {
    struct sta_looks *looks;
    const struct sta_rule *rule;
    struct sta_finding *finding;
    struct sta_figure_list figures;
    size_t context, own; /* figures of these numbers are of all rules, and of the asks */
};

static int64_t integer_of(const struct sta_looks *looks, const char *name)
{
    return sta_figure_find(&looks->context, name, strlen(name))->integer;
}

static bool has(const struct sta_looks *looks, enum sta_need need)
{
    switch (need) {
    case STA_NEED_STALL:
        return looks->has_stall && strcmp(looks->base_kind, "training") == 0;
    case STA_NEED_EPOCHS:
        return integer_of(looks, "epochs") > 0;
    case STA_NEED_STEPS:
        return integer_of(looks, "steps") > 0;
    case STA_NEED_RANKS:
        return integer_of(looks, "ranks") > 1;
    default:
        return integer_of(looks, "hosts") > 1;
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
    for (size_t i = 0; i < judging->looks->context.count; i++)
        sta_figure_add(&judging->figures, NULL, judging->looks->context.items[i].name,
                       &judging->looks->context.items[i]);
    for (size_t a = 0; a < judging->rule->ask_count && rc == STA_OK; a++) {
        struct sta_table rows = {0};
        rc = sta_look(judging->looks, judging->rule, &judging->rule->asks[a], &judging->figures, &rows, err);
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
    struct sta_looks *looks = judging->looks;
    int rc = STA_OK;
    finding->stake = finding->stake_share = (struct sta_figure){.type = STA_TYPE_FLOAT, .missing = true};
    if (judging->rule->stake != NULL) {
        __int128 ticks;
        rc = sta_look_exposed(looks, judging->rule->stake, &ticks, err);
        finding->stake.number = sta_run_seconds(looks->run, ticks);
        finding->stake.missing = false;
    } else if (judging->rule->stake_figure != NULL) {
        rc = sta_figures_evaluate(&judging->figures, judging->rule->stake_figure, &finding->stake, err);
        finding->stake.type = STA_TYPE_FLOAT;
    }
    if (rc != STA_OK || finding->stake.missing || looks->base <= 0)
        return rc;
    finding->stake_share.number = finding->stake.number / sta_run_seconds(looks->run, looks->base);
    finding->stake_share.missing = false;
    if (finding->severity <= STA_SEVERITY_WARNING &&
        finding->stake_share.number < looks->rules->stake_floor) {
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
        if (judging->rule->needs[need] && !has(judging->looks, (enum sta_need)need))
            return not_applicable(judging, need_words[need], need_texts[need]);
    int rc = ask_all(judging, err);
    if (rc == STA_OK)
        rc = judge_value(judging, err);
    if (rc != STA_EINPUT && rc != STA_ELIMIT)
        return rc;
    struct sta_error passed = STA_ERROR_INIT; /* what one rule asks too much is no failure of the others */
    if (rc == STA_ELIMIT && sta_budget_check(judging->looks->run->budget, &passed) != STA_OK)
        return rc;
    not_applicable(judging, "failed", "");
    free(judging->finding->text);
    judging->finding->text = sta_sprintf("Not applicable: %.600s", err->text);
    *err = STA_ERROR_INIT;
    return STA_OK;
}

static int judge_rule(struct sta_looks *looks, const struct sta_rule *rule, size_t place,
                      struct sta_finding *finding, struct sta_error *err)
{
    struct judging *judging = sta_alloc(sizeof *judging);
    *judging = (struct judging){.looks = looks, .rule = rule, .finding = finding};
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
    sta_figures_fini(&judging->figures);
    free(judging);
    return rc;
}

/* ---- which rules, in which order */

/* Whether a list with commas between, of a member of the request, has a name; also when there is none. */
static bool is_listed(const struct sta_document *request, const char *member, const char *name)
{
    const struct sta_document *list = sta_member_given(request, member);
    const size_t length = strlen(name);
    if (list == NULL || list->type != STA_DOCUMENT_TEXT)
        return true;
    for (const char *at = list->text.bytes;; at++) {
        const size_t next = strcspn(at, ",");
        if (next == length && strncmp(at, name, length) == 0)
            return true;
        at += next;
        if (*at == '\0')
            return false;
    }
}

typedef bool (*name_check)(const struct sta_rules *rules, const char *name, size_t length);

static bool is_rule(const struct sta_rules *rules, const char *name, size_t length)
{
    for (size_t i = 0; i < rules->count; i++)
        if (strlen(rules->items[i].id) == length && strncmp(rules->items[i].id, name, length) == 0)
            return true;
    return false;
}

static bool is_severity(const struct sta_rules *rules, const char *name, size_t length)
{
    (void)rules;
    return sta_severity_find(name, length) != STA_SEVERITIES;
}

static bool is_group(const struct sta_rules *rules, const char *name, size_t length)
{
    for (size_t i = 0; i < rules->count; i++)
        if (strlen(rules->items[i].group) == length && strncmp(rules->items[i].group, name, length) == 0)
            return true;
    return false;
}

static int check_list(const struct sta_rules *rules, const struct sta_document *request, const char *member,
                      name_check check, struct sta_error *err)
{
    const struct sta_document *list = sta_member_given(request, member);
    if (list == NULL)
        return STA_OK;
    for (const char *at = list->type == STA_DOCUMENT_TEXT ? list->text.bytes : "";; at++) {
        const size_t length = strcspn(at, ",");
        if (!check(rules, at, length)) {
            sta_fail(err, STA_EINPUT, "there is no %s \"%.*s\"", member, (int)STA_MIN(length, 60), at);
            return sta_at_member(err, member, NULL, -1);
        }
        at += length;
        if (*at == '\0')
            return STA_OK;
    }
}

static int check_lists(const struct sta_rules *rules, const struct sta_document *request,
                       struct sta_error *err)
{
    int rc = check_list(rules, request, "severity", is_severity, err);
    if (rc == STA_OK)
        rc = check_list(rules, request, "group", is_group, err);
    return rc == STA_OK ? check_list(rules, request, "rule", is_rule, err) : rc;
}

static int compare_findings(const void *a, const void *b, void *context)
{
    const struct sta_finding *x = a, *y = b;
    (void)context;
    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if (x->stake_share.missing != y->stake_share.missing)
        return x->stake_share.missing ? 1 : -1;
    if (!x->stake_share.missing && x->stake_share.number != y->stake_share.number)
        return x->stake_share.number > y->stake_share.number ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void finding_fini(struct sta_finding *finding)
{
    free(finding->text);
    free(finding->figures);
    sta_table_fini(&finding->evidence);
    sta_arena_fini(&finding->memory);
}

static void keep_severities(struct sta_findings_answer *answer, const struct sta_document *request)
{
    size_t kept = 0;
    for (size_t i = 0; i < answer->count; i++)
        if (is_listed(request, "severity", sta_severity_name(answer->items[i].severity)))
            answer->items[kept++] = answer->items[i];
        else
            finding_fini(&answer->items[i]);
    answer->count = kept;
}

/* Where the time of the default chain went, when a rule asked for it. */
static void put_causes(const struct sta_looks *looks, struct sta_table *table)
{
    const struct sta_attribution *stall = &looks->stall;
    if (looks->stall_seen != STA_SEEN)
        return;
    sta_table_init(table, looks->charged.list_count);
    sta_table_add(table, "cause", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "label", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "time", STA_TYPE_FLOAT, "s");
    for (uint32_t l = 0; l < looks->charged.list_count; l++) {
        const bool cause = l < stall->cause_count;
        const char *texts[] = {cause ? stall->causes[l] : "untraced",
                               cause ? stall->chain->causes[l].label : "nothing traced"};
        for (size_t c = 0; c < STA_COUNT_OF(texts); c++)
            sta_table_set_text(table, &table->columns[c], l, texts[c], strlen(texts[c]));
        sta_table_set_number(&table->columns[2], l, sta_run_seconds(looks->run, looks->charged.time[l]));
    }
}

static int judge_all(struct sta_looks *looks, struct sta_findings_answer *answer, struct sta_error *err)
{
    int rc = STA_OK;
    answer->items = sta_alloc_array(looks->asked_count + 1, sizeof *answer->items);
    for (size_t i = 0; i < looks->asked_count && rc == STA_OK; i++) {
        rc = judge_rule(looks, looks->asked[i], i, &answer->items[answer->count++], err);
        if (rc == STA_OK)
            rc = sta_budget_check(looks->run->budget, err);
    }
    if (rc == STA_OK)
        rc = sta_sort(looks->run->budget, answer->items, answer->count, sizeof *answer->items,
                      compare_findings, NULL, err);
    for (size_t i = 0; i < answer->count && rc == STA_OK; i++)
        answer->counts[answer->items[i].severity]++;
    put_causes(looks, &answer->causes);
    answer->base_kind = looks->base_kind;
    answer->base_time = sta_run_seconds(looks->run, looks->base);
    answer->ranks = looks->phases.order_count;
    return rc;
}

static int run_rules(const struct sta_overlap_question *question, const struct sta_rules *rules,
                     const struct sta_rule **asked, size_t count, const struct sta_budget *budget,
                     struct sta_findings_answer *answer, struct sta_error *err)
{
    struct sta_run run;
    struct sta_looks *looks = sta_alloc(sizeof *looks);
    double goal = rules->goal;
    int rc = sta_run_open(&run, question, budget, err);
    looks->run = &run;
    looks->phases.account = looks->stall_rows.account = looks->access.account = budget->account;
    if (rc == STA_OK)
        rc = sta_goal_read(question->request, &goal, err);
    if (rc == STA_OK) {
        answer->preset = run.preset->name;
        answer->presets = sta_presets_retain((struct sta_presets *)(uintptr_t)question->presets);
        rc = sta_looks_init(looks, &run, rules, asked, count, goal, err);
    }
    if (rc == STA_OK)
        rc = judge_all(looks, answer, err);
    sta_looks_fini(looks);
    sta_run_fini(&run);
    free(looks);
    return rc;
}

int sta_findings_run(const struct sta_overlap_question *question, const struct sta_budget *budget,
                     struct sta_findings_answer *answer, struct sta_error *err)
{
    static const struct sta_rules none = {.goal = 0.9, .warmup_steps = 1, .stake_floor = 0.01};
    const struct sta_rules *rules = sta_rules_of(question->presets);
    *answer = (struct sta_findings_answer){0};
    rules = rules != NULL ? rules : &none;
    int rc = check_lists(rules, question->request, err);
    if (rc != STA_OK)
        return rc;
    const struct sta_rule **asked = sta_alloc_array(rules->count + 1, sizeof *asked);
    size_t count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct sta_rule *rule = &rules->items[i];
        if (!rule->disabled && is_listed(question->request, "rule", rule->id) &&
            is_listed(question->request, "group", rule->group))
            asked[count++] = rule;
    }
    rc = run_rules(question, rules, asked, count, budget, answer, err);
    if (rc == STA_OK)
        keep_severities(answer, question->request);
    free(asked);
    if (rc != STA_OK)
        sta_findings_answer_fini(answer);
    return rc;
}

int sta_rule_preview(const struct sta_overlap_question *question, const char *text, size_t size,
                     const struct sta_budget *budget, struct sta_findings_answer *answer,
                     struct sta_error *err)
{
    static const struct sta_rules none = {.goal = 0.9, .warmup_steps = 1, .stake_floor = 0.01};
    const struct sta_rules *rules = sta_rules_of(question->presets);
    struct sta_rule rule = {0};
    struct sta_yaml *yaml = NULL;
    *answer = (struct sta_findings_answer){0};
    int rc = sta_yaml_parse("rule", text, size, &yaml, err);
    struct sta_rule_reading reading = {.rules =
                                           (struct sta_rules *)(uintptr_t)(rules != NULL ? rules : &none),
                                       .presets = question->presets,
                                       .yaml = yaml};
    if (rc == STA_OK)
        rc = sta_rule_read(&reading, yaml->root, &rule, err);
    if (rc != STA_OK)
        sta_at(err, reading.pointer, err->position);
    const struct sta_rule *asked = &rule;
    if (rc == STA_OK)
        rc = run_rules(question, reading.rules, &asked, 1, budget, answer, err);
    if (rc == STA_OK) { /* the answer outlives the rule */
        struct sta_finding *finding = &answer->items[0];
        const char **const texts[] = {&finding->id, &finding->title, &finding->group, &finding->unit,
                                      &finding->source};
        for (size_t i = 0; i < STA_COUNT_OF(texts); i++)
            *texts[i] = sta_arena_copy(&finding->memory, *texts[i], strlen(*texts[i]));
        finding->rule = NULL;
    } else {
        sta_findings_answer_fini(answer);
    }
    sta_rule_fini(&rule);
    sta_yaml_destroy(yaml);
    return rc;
}

void sta_findings_answer_fini(struct sta_findings_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++)
        finding_fini(&answer->items[i]);
    sta_table_fini(&answer->causes);
    free(answer->items);
    sta_presets_release(answer->presets);
    *answer = (struct sta_findings_answer){0};
}

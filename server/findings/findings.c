/* Which rules are asked, what they find, and in which order that is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "findings/judge.h"
#include "findings/tables.h"
#include "analyse/layers/yaml_checks.h"
#include "analyse/views/members.h"
#include "common/memory.h"
#include "findings/findings.h"

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

static void keep_severities(struct sta_findings_result *findings, const struct sta_document *request)
{
    size_t kept = 0;
    for (size_t i = 0; i < findings->count; i++)
        if (is_listed(request, "severity", sta_severity_name(findings->items[i].severity)))
            findings->items[kept++] = findings->items[i];
        else
            finding_fini(&findings->items[i]);
    findings->count = kept;
}

/* Where the time of the default chain went, when a rule asked for it. */
static void put_causes(const struct sta_evaluation *evaluation, struct sta_table *table)
{
    const struct sta_attribution *stall = &evaluation->stall;
    if (evaluation->stall_measured != STA_MEASURED)
        return;
    sta_table_init(table, evaluation->charged.list_count);
    sta_table_add(table, "cause", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "label", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "time", STA_TYPE_FLOAT, "s");
    for (uint32_t l = 0; l < evaluation->charged.list_count; l++) {
        const bool cause = l < stall->cause_count;
        const char *texts[] = {cause ? stall->causes[l] : "untraced",
                               cause ? stall->chain->causes[l].label : "nothing traced"};
        for (size_t c = 0; c < STA_COUNT_OF(texts); c++)
            sta_table_set_text(table, &table->columns[c], l, texts[c], strlen(texts[c]));
        sta_table_set_number(&table->columns[2], l,
                             sta_run_seconds(evaluation->run, evaluation->charged.time[l]));
    }
}

static int judge_all(struct sta_evaluation *evaluation, struct sta_findings_result *findings,
                     struct sta_error *err)
{
    int rc = STA_OK;
    findings->items = sta_alloc_array(evaluation->asked_count + 1, sizeof *findings->items);
    for (size_t i = 0; i < evaluation->asked_count && rc == STA_OK; i++) {
        rc = sta_judge_rule(evaluation, evaluation->asked[i], i, &findings->items[findings->count++], err);
        if (rc == STA_OK)
            rc = sta_budget_check(evaluation->run->budget, err);
    }
    if (rc == STA_OK)
        rc = sta_sort(evaluation->run->budget, findings->items, findings->count, sizeof *findings->items,
                      compare_findings, NULL, err);
    for (size_t i = 0; i < findings->count && rc == STA_OK; i++)
        findings->counts[findings->items[i].severity]++;
    put_causes(evaluation, &findings->causes);
    findings->base_kind = evaluation->base_kind;
    findings->base_time = sta_run_seconds(evaluation->run, evaluation->base);
    findings->ranks = evaluation->phases.order_count;
    return rc;
}

static int run_rules(const struct sta_overlap_query *query, const struct sta_rules *rules,
                     const struct sta_rule **asked, size_t count, const struct sta_budget *budget,
                     struct sta_findings_result *findings, struct sta_error *err)
{
    struct sta_run run;
    struct sta_evaluation *evaluation = sta_alloc(sizeof *evaluation);
    double goal = rules->goal;
    int rc = sta_run_open(&run, query, budget, err);
    evaluation->run = &run;
    evaluation->phases.account = evaluation->stall_rows.account = evaluation->access.account =
        budget->account;
    if (rc == STA_OK)
        rc = sta_goal_read(query->request, &goal, err);
    if (rc == STA_OK) {
        findings->preset = run.preset->name;
        findings->presets = sta_presets_retain((struct sta_presets *)(uintptr_t)query->presets);
        rc = sta_evaluation_init(evaluation, &run, rules, asked, count, goal, err);
    }
    if (rc == STA_OK)
        rc = judge_all(evaluation, findings, err);
    sta_evaluation_fini(evaluation);
    sta_run_fini(&run);
    free(evaluation);
    return rc;
}

int sta_findings_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                     struct sta_findings_result *findings, struct sta_error *err)
{
    static const struct sta_rules none = {.goal = 0.9, .warmup_steps = 1, .stake_floor = 0.01};
    const struct sta_rules *rules = sta_rules_of(query->presets);
    *findings = (struct sta_findings_result){0};
    rules = rules != NULL ? rules : &none;
    int rc = check_lists(rules, query->request, err);
    if (rc != STA_OK)
        return rc;
    const struct sta_rule **asked = sta_alloc_array(rules->count + 1, sizeof *asked);
    size_t count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct sta_rule *rule = &rules->items[i];
        if (!rule->disabled && is_listed(query->request, "rule", rule->id) &&
            is_listed(query->request, "group", rule->group))
            asked[count++] = rule;
    }
    rc = run_rules(query, rules, asked, count, budget, findings, err);
    if (rc == STA_OK)
        keep_severities(findings, query->request);
    free(asked);
    if (rc != STA_OK)
        sta_findings_result_fini(findings);
    return rc;
}

int sta_rule_preview(const struct sta_overlap_query *query, const char *text, size_t size,
                     const struct sta_budget *budget, struct sta_findings_result *findings,
                     struct sta_error *err)
{
    static const struct sta_rules none = {.goal = 0.9, .warmup_steps = 1, .stake_floor = 0.01};
    const struct sta_rules *rules = sta_rules_of(query->presets);
    struct sta_rule rule = {0};
    struct sta_yaml *yaml = NULL;
    *findings = (struct sta_findings_result){0};
    int rc = sta_yaml_parse("rule", text, size, &yaml, err);
    struct sta_rule_reading reading = {
        .rules = (struct sta_rules *)(uintptr_t)(rules != NULL ? rules : &none), .presets = query->presets};
    if (rc == STA_OK)
        rc = sta_rule_read(&reading, yaml->root, &rule, err);
    if (rc != STA_OK)
        sta_at(err, reading.pointer, err->position);
    const struct sta_rule *asked = &rule;
    if (rc == STA_OK)
        rc = run_rules(query, reading.rules, &asked, 1, budget, findings, err);
    if (rc == STA_OK) { /* the result outlives the rule */
        struct sta_finding *finding = &findings->items[0];
        const char **const texts[] = {&finding->id, &finding->title, &finding->group, &finding->unit,
                                      &finding->source};
        for (size_t i = 0; i < STA_COUNT_OF(texts); i++)
            *texts[i] = sta_arena_copy(&finding->memory, *texts[i], strlen(*texts[i]));
        finding->rule = NULL;
    } else {
        sta_findings_result_fini(findings);
    }
    sta_rule_fini(&rule);
    sta_yaml_destroy(yaml);
    return rc;
}

void sta_findings_result_fini(struct sta_findings_result *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        finding_fini(&findings->items[i]);
    sta_table_fini(&findings->causes);
    free(findings->items);
    sta_presets_release(findings->presets);
    *findings = (struct sta_findings_result){0};
}

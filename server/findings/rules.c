/* Rules read and checked, one by one; a rule's place among the others by its file. */
#include "findings/rules_private.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/layers/conditions.h"
#include "analyse/layers/presets.h"
#include "analyse/layers/yaml_checks.h"
#include "common/memory.h"
#include "findings/findings.h"

static const char *const rule_keys[] = {
    "id",     "title",     "group", "needs",   "ask",   "applies",      "otherwise", "figures", "value",
    "unit",   "direction", "when",  "levels",  "stake", "stake_figure", "say",       "ok",      "in_order",
    "advice", "source",    "link",  "what_if", "<<"};
static const char *const groups[] = {"stall", "io", "metadata", "balance", "trace"};
static const char *const needs[] = {"stall", "epochs", "steps", "ranks", "hosts"};
static const char *const units[] = {"%", "s", "n", "x", "B", "B/s"};

/* ---- severities */

static const char *const severities[] = {"critical", "warning", "info", "ok", "na"};

const char *sta_severity_name(enum sta_severity severity)
{
    return severities[severity];
}

enum sta_severity sta_severity_find(const char *name, size_t length)
{
    size_t i = 0;
    while (i < STA_SEVERITIES &&
           (strlen(severities[i]) != length || strncmp(severities[i], name, length) != 0))
        i++;
    return (enum sta_severity)i;
}

/* ---- values of a rule */

const struct sta_yaml_node *sta_rule_value(const struct sta_yaml_node *rule, const char *key)
{
    for (size_t depth = 0; rule != NULL && rule->kind == STA_YAML_MAPPING && depth < STA_YAML_DEPTH;
         depth++) {
        const struct sta_yaml_node *node = sta_yaml_find(rule, key);
        if (node != NULL)
            return sta_yaml_is_null(node) ? NULL : node;
        rule = sta_yaml_find(rule, "<<");
    }
    return NULL;
}

void sta_rule_point(struct sta_rule_reading *reading, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reading->pointer, sizeof reading->pointer, format, arguments);
    va_end(arguments);
}

static int text_of(struct sta_rule_reading *reading, const struct sta_yaml_node *rule, const char *key,
                   bool needed, const char **text, struct sta_error *err)
{
    const struct sta_yaml_node *node = sta_rule_value(rule, key);
    sta_rule_point(reading, "/%s", key);
    if (node == NULL && needed)
        return sta_yaml_fail(rule, err, "a rule needs %s", key);
    return node != NULL ? sta_check_text(node, key, text, err) : STA_OK;
}

static int word_of(struct sta_rule_reading *reading, const struct sta_yaml_node *rule, const char *key,
                   const char *const *words, size_t count, const char **text, struct sta_error *err)
{
    int status = text_of(reading, rule, key, true, text, err);
    size_t i = 0;
    while (status == STA_OK && i < count && strcmp(words[i], *text) != 0)
        i++;
    if (status != STA_OK || i < count)
        return status;
    return sta_yaml_fail(sta_rule_value(rule, key), err, "%s cannot be \"%.60s\"", key, *text);
}

int sta_rule_placed(const struct sta_rule_reading *reading, const struct sta_yaml_node *node, int status,
                    struct sta_error *err)
{
    if (status == STA_OK)
        return STA_OK;
    return sta_error_wrap(err, "%s:%u", node->path, node->line);
}

int sta_rule_check_condition(struct sta_rule_reading *reading, const struct sta_yaml_node *node,
                             struct sta_error *err)
{
    struct sta_open_condition condition;
    const char *text;
    int status = sta_check_text(node, "a condition", &text, err);
    if (status != STA_OK)
        return status;
    status = sta_open_condition_parse(text, &sta_standard_schema, &condition, err);
    if (status == STA_OK)
        sta_open_condition_fini(&condition);
    return sta_rule_placed(reading, node, status, err);
}

/* ---- expressions and sentences */

static int check_expression(struct sta_rule_reading *reading, const struct sta_rule *rule, const char *key,
                            const char *text, const struct sta_figure_list *figures, struct sta_error *err)
{
    sta_rule_point(reading, "/%s", key);
    return text == NULL ? STA_OK
                        : sta_rule_placed(reading, sta_rule_value(rule->node, key),
                                          sta_figures_check(figures, text, err), err);
}

static int check_sentence(struct sta_rule_reading *reading, const struct sta_rule *rule, const char *key,
                          const char *text, const struct sta_figure_list *figures, struct sta_error *err)
{
    const struct sta_yaml_node *node = sta_rule_value(rule->node, key);
    const char *from = text;
    struct sta_slot slot;
    sta_rule_point(reading, "/%s", key);
    while (text != NULL && (from = sta_next_slot(text, from, &slot)) != NULL) {
        if (sta_figure_find(figures, slot.name, slot.name_length) == NULL)
            return sta_yaml_fail(node, err, "there is no figure \"%.*s\"", (int)STA_MIN(slot.name_length, 60),
                                 slot.name);
        if (!sta_is_unit(slot.unit, slot.unit_length))
            return sta_yaml_fail(node, err, "there is no unit \"%.*s\"; there are %%, s, n, x, B, B/s",
                                 (int)STA_MIN(slot.unit_length, 60), slot.unit);
    }
    return STA_OK;
}

static int read_figures(struct sta_rule_reading *reading, struct sta_rule *rule,
                        struct sta_figure_list *figures, struct sta_error *err)
{
    rule->figures = sta_rule_value(rule->node, "figures");
    sta_rule_point(reading, "/figures");
    int status = sta_check_kind(&rule->figures, "figures", STA_YAML_MAPPING, err);
    for (size_t i = 0; status == STA_OK && rule->figures != NULL && i < rule->figures->count; i++) {
        const char *text, *name = rule->figures->keys[i]->text;
        sta_rule_point(reading, "/figures/%.60s", name);
        status = sta_check_text(rule->figures->items[i], name, &text, err);
        if (status == STA_OK)
            status =
                sta_rule_placed(reading, rule->figures->items[i], sta_figures_check(figures, text, err), err);
        if (status == STA_OK)
            sta_figure_number(figures, NULL, name, 0);
    }
    return status;
}

static int read_levels(struct sta_rule_reading *reading, struct sta_rule *rule,
                       const struct sta_figure_list *figures, struct sta_error *err)
{
    const struct sta_yaml_node *node = sta_rule_value(rule->node, "levels");
    sta_rule_point(reading, "/levels");
    if (node == NULL || node->kind != STA_YAML_MAPPING || node->count == 0)
        return sta_yaml_fail(rule->node, err, "a rule needs levels: info, warning, critical");
    int status = STA_OK;
    for (size_t i = 0; i < node->count && status == STA_OK; i++) {
        const char *name = node->keys[i]->text;
        const enum sta_severity severity = sta_severity_find(name, strlen(name));
        sta_rule_point(reading, "/levels/%.60s", name);
        if (severity > STA_SEVERITY_INFO)
            return sta_yaml_fail(node->keys[i], err,
                                 "there is no level \"%.60s\"; there are info, warning, critical", name);
        status = sta_check_text(node->items[i], name, &rule->levels[severity], err);
        if (status == STA_OK)
            status = sta_rule_placed(reading, node->items[i],
                                     sta_figures_check(figures, rule->levels[severity], err), err);
    }
    return status;
}

static int read_expressions(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    struct sta_figure_list *figures = sta_alloc(sizeof *figures);
    sta_rule_context_figures(figures);
    for (size_t a = 0; a < rule->ask_count; a++)
        sta_rule_ask_figures(reading, &rule->asks[a], figures);
    int status = check_expression(reading, rule, "applies", rule->applies, figures, err);
    if (status == STA_OK)
        status = read_figures(reading, rule, figures, err);
    if (status == STA_OK)
        status = check_expression(reading, rule, "value", rule->value, figures, err);
    if (status == STA_OK)
        status = check_expression(reading, rule, "when", rule->when, figures, err);
    if (status == STA_OK)
        status = read_levels(reading, rule, figures, err);
    if (status == STA_OK)
        status = check_expression(reading, rule, "stake_figure", rule->stake_figure, figures, err);
    static const char *const after[] = {"value", "stake", "stake_share"};
    for (size_t i = 0; i < STA_COUNT_OF(after); i++)
        sta_figure_number(figures, NULL, after[i], 0);
    if (status == STA_OK)
        status = check_sentence(reading, rule, "say", rule->say, figures, err);
    if (status == STA_OK)
        status = check_sentence(reading, rule, "ok", rule->ok, figures, err);
    if (status == STA_OK)
        status = check_sentence(reading, rule, "otherwise", rule->otherwise, figures, err);
    sta_figures_fini(figures);
    free(figures);
    return status;
}

/* ---- the rest */

static int read_needs(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    const struct sta_yaml_node *node = sta_rule_value(rule->node, "needs");
    sta_rule_point(reading, "/needs");
    int status = sta_check_kind(&node, "needs", STA_YAML_SEQUENCE, err);
    for (size_t i = 0; status == STA_OK && node != NULL && i < node->count; i++) {
        const char *text;
        size_t need = 0;
        status = sta_check_text(node->items[i], "needs", &text, err);
        while (status == STA_OK && need < STA_NEEDS && strcmp(needs[need], text) != 0)
            need++;
        if (status == STA_OK && need == STA_NEEDS)
            status = sta_yaml_fail(node->items[i], err,
                                   "a rule can need stall, epochs, steps, ranks, hosts; not \"%.60s\"", text);
        if (status == STA_OK)
            rule->needs[need] = true;
    }
    return status;
}

static int read_stake(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    int status = text_of(reading, rule->node, "stake", false, &rule->stake, err);
    if (status == STA_OK && rule->stake != NULL)
        status = sta_rule_check_condition(reading, sta_rule_value(rule->node, "stake"), err);
    if (status == STA_OK)
        status = text_of(reading, rule->node, "stake_figure", false, &rule->stake_figure, err);
    return status;
}

static int read_direction(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    const char *text = NULL;
    int status = text_of(reading, rule->node, "direction", false, &text, err);
    rule->low = text != NULL && strcmp(text, "low") == 0;
    if (status == STA_OK && text != NULL && !rule->low && strcmp(text, "high") != 0)
        status = sta_yaml_fail(sta_rule_value(rule->node, "direction"), err,
                               "direction is high or low, not \"%.60s\"", text);
    return status;
}

/* Those of a rule that must be there, and those that may. */
static int read_texts(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    const struct {
        const char *key;
        bool needed;
        const char **text;
    } texts[] = {{"title", true, &rule->title},
                 {"value", true, &rule->value},
                 {"say", true, &rule->say},
                 {"ok", true, &rule->ok},
                 {"source", true, &rule->source},
                 {"applies", false, &rule->applies},
                 {"otherwise", false, &rule->otherwise},
                 {"in_order", false, &rule->in_order},
                 {"when", false, &rule->when}};
    int status = word_of(reading, rule->node, "group", groups, STA_COUNT_OF(groups), &rule->group, err);
    if (status == STA_OK)
        status = word_of(reading, rule->node, "unit", units, STA_COUNT_OF(units), &rule->unit, err);
    for (size_t i = 0; i < STA_COUNT_OF(texts) && status == STA_OK; i++)
        status = text_of(reading, rule->node, texts[i].key, texts[i].needed, texts[i].text, err);
    return status;
}

static int read_lists(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    rule->advice = sta_rule_value(rule->node, "advice");
    rule->link = sta_rule_value(rule->node, "link");
    rule->what_if = sta_rule_value(rule->node, "what_if");
    sta_rule_point(reading, "/advice");
    int status = sta_check_kind(&rule->advice, "advice", STA_YAML_SEQUENCE, err);
    sta_rule_point(reading, "/link");
    if (status == STA_OK)
        status = sta_check_kind(&rule->link, "link", STA_YAML_MAPPING, err);
    sta_rule_point(reading, "/what_if");
    if (status == STA_OK)
        status = sta_check_kind(&rule->what_if, "what_if", STA_YAML_MAPPING, err);
    return status;
}

static int read_id(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    int status = text_of(reading, rule->node, "id", true, &rule->id, err);
    if (status == STA_OK)
        status = sta_check_name(sta_rule_value(rule->node, "id"), "id", &rule->id, err);
    for (size_t i = 0; status == STA_OK && i < reading->rules->count; i++)
        if (strcmp(reading->rules->items[i].id, rule->id) == 0)
            status = sta_yaml_fail(sta_rule_value(rule->node, "id"), err, "there is a rule \"%.60s\" already",
                                   rule->id);
    return status;
}

int sta_rule_read(struct sta_rule_reading *reading, const struct sta_yaml_node *node, struct sta_rule *rule,
                  struct sta_error *err)
{
    static int (*const steps[])(struct sta_rule_reading *, struct sta_rule *, struct sta_error *) = {
        read_id,    read_texts,       read_needs, read_direction, sta_rule_read_asks,
        read_stake, read_expressions, read_lists};
    *rule = (struct sta_rule){.node = node};
    sta_rule_point(reading, "%s", "");
    int status = sta_check_keys(node, "a rule", rule_keys, STA_COUNT_OF(rule_keys), err);
    for (size_t i = 0; i < STA_COUNT_OF(steps) && status == STA_OK; i++)
        status = steps[i](reading, rule, err);
    return status;
}

void sta_rule_fini(struct sta_rule *rule)
{
    free(rule->asks);
    free(rule->text);
    *rule = (struct sta_rule){0};
}

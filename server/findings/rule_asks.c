/* What a rule asks: checked, and the figures that it gives. */
#include <stdlib.h>
#include <string.h>

#include "findings/rules_private.h"
#include "analyse/layers/conditions.h"
#include "analyse/layers/presets.h"
#include "analyse/layers/yaml_checks.h"
#include "common/memory.h"

static const struct {
    const char *name;
    enum { NONE, TEXT, MAPPING } takes;
} asks[] = {
#define X(name, takes) {#name, takes},
    STA_ASK_LIST(X)
#undef X
};

/* ---- figures by ask */

void sta_rule_context_figures(struct sta_figure_list *figures)
{
    static const char *const names[] = {"ranks", "hosts", "processes", "events", "epochs",
                                        "steps", "base",  "job",       "goal",   "warmup"};
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_figure_number(figures, NULL, names[i], 0);
    sta_figure_text(figures, NULL, "base_kind", "");
    sta_figure_text(figures, NULL, "kind", "");
    sta_figure_text(figures, NULL, "preset", "");
}

static void add_numbers(struct sta_figure_list *figures, const char *ask, const char *names)
{
    while (*names != '\0') {
        const size_t length = strcspn(names, " ");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)STA_MIN(length, sizeof name - 1), names);
        sta_figure_number(figures, ask, name, 0);
        names += length + (names[length] == ' ');
    }
}

static void add_causes(const struct sta_rule_reading *reading, struct sta_figure_list *figures,
                       const char *ask)
{
    for (size_t p = 0; p < sta_presets_count(reading->presets); p++) {
        const struct sta_preset *preset = sta_presets_at(reading->presets, p);
        for (size_t c = 0; c < preset->chain_count; c++)
            for (size_t i = 0; i < preset->chains[c].cause_count; i++)
                sta_figure_number(figures, ask, preset->chains[c].causes[i].name, 0);
    }
}

static void add_keys(struct sta_figure_list *figures, const char *ask, const struct sta_yaml_node *mapping)
{
    for (size_t i = 0; mapping != NULL && mapping->kind == STA_YAML_MAPPING && i < mapping->count; i++)
        sta_figure_number(figures, ask, mapping->keys[i]->text, 0);
}

void sta_rule_ask_figures(const struct sta_rule_reading *reading, const struct sta_ask *ask,
                          struct sta_figure_list *figures)
{
    static const struct {
        const char *texts, *numbers;
    } of[STA_ASKS] = {
        [STA_ASK_attribution] = {"top", "untraced target input storage top_time"},
        [STA_ASK_blocking] = {"node path", "self target untraced"},
        [STA_ASK_utilisation] = {"", "au dlio job compute window worst worst_epoch"},
        [STA_ASK_slowest_rank_busy] = {"", "over max"},
        [STA_ASK_stragglers] = {"worst", "members slow value z epochs median excess"},
        [STA_ASK_arrivals] = {"rank", "steps late length share wait slowest"},
        [STA_ASK_access] = {"", "ops unknown first consecutive sequential random known random_time exposed "
                                "known_bytes distinct_bytes bytes"},
        [STA_ASK_shared] = {"", "files ops small uneven_size uneven_time uneven worst_size worst_time worst"},
        [STA_ASK_cold] = {"", "epochs first later ratio"},
        [STA_ASK_first_step] = {"", "epochs excess"},
        [STA_ASK_same_thread] = {"", "input inline"},
        [STA_ASK_ledger] = {"pieces unread_note",
                            "lines malformed truncated unread unresolved unclassified posix functions"},
        [STA_ASK_duplicates] = {"", "events repeated copies"},
        [STA_ASK_clocks] = {"", "hosts common spread"},
        [STA_ASK_gaps] = {"", "time"},
        [STA_ASK_jumps] = {"", "jumps events"},
        [STA_ASK_unmatched] = {"", "all outside events"}};
    const char *texts = of[ask->kind].texts;
    while (texts != NULL && *texts != '\0') {
        const size_t length = strcspn(texts, " ");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)STA_MIN(length, sizeof name - 1), texts);
        sta_figure_text(figures, ask->name, name, "");
        texts += length + (texts[length] == ' ');
    }
    if (of[ask->kind].numbers != NULL)
        add_numbers(figures, ask->name, of[ask->kind].numbers);
    if (ask->kind == STA_ASK_attribution)
        add_causes(reading, figures, ask->name);
    if (ask->kind == STA_ASK_busy)
        add_keys(figures, ask->name, ask->argument);
    if (ask->kind == STA_ASK_query && ask->argument != NULL)
        add_keys(figures, ask->name, sta_yaml_find(ask->argument, "aggregate"));
}

/* ---- asks */

static int check_busy(struct sta_rule_reading *reading, const struct sta_ask *ask, struct sta_error *err)
{
    const struct sta_yaml_node *sets = ask->argument;
    int status = STA_OK;
    for (size_t i = 0; i < sets->count && status == STA_OK; i++) {
        const char *name;
        sta_rule_point(reading, "/ask/%.60s/busy/%.60s", ask->name, sets->keys[i]->text);
        status = sta_check_name(sets->keys[i], "busy", &name, err);
        if (status == STA_OK)
            status = sta_rule_check_condition(reading, sets->items[i], err);
    }
    return status;
}

static int check_member_of(struct sta_rule_reading *reading, const struct sta_ask *ask, const char *what,
                           const char *const *keys, size_t count, struct sta_error *err)
{
    sta_rule_point(reading, "/ask/%.60s/%s", ask->name, what);
    int status = sta_check_keys(ask->argument, what, keys, count, err);
    const struct sta_yaml_node *of = status == STA_OK ? sta_yaml_find(ask->argument, "of") : NULL;
    if (status == STA_OK && of == NULL)
        return sta_yaml_fail(ask->argument, err, "%s needs of: a condition", what);
    if (status != STA_OK)
        return status;
    sta_rule_point(reading, "/ask/%.60s/%s/of", ask->name, what);
    if (of->kind == STA_YAML_SCALAR && strcmp(of->text, "stall") == 0)
        return STA_OK;
    return sta_rule_check_condition(reading, of, err);
}

/* Of a query that names no columns of its own, which aggregates might be about. */
static int check_aggregates(struct sta_rule_reading *reading, const struct sta_ask *ask,
                            const struct sta_yaml_node *aggregate, struct sta_error *err)
{
    static const char *const own[] = {"derive", "group_by", "then"};
    int status = STA_OK;
    for (size_t i = 0; i < STA_COUNT_OF(own); i++)
        if (sta_yaml_find(ask->argument, own[i]) != NULL)
            return STA_OK;
    for (size_t i = 0; i < aggregate->count && status == STA_OK; i++) {
        const char *text;
        sta_rule_point(reading, "/ask/%.60s/query/aggregate/%.60s", ask->name, aggregate->keys[i]->text);
        status = sta_check_text(aggregate->items[i], "an aggregate", &text, err);
        if (status == STA_OK)
            status = sta_rule_placed(reading, aggregate->items[i],
                                     sta_open_aggregate_check(text, &sta_standard_schema, err), err);
    }
    return status;
}

static int check_query(struct sta_rule_reading *reading, const struct sta_ask *ask, struct sta_error *err)
{
    sta_rule_point(reading, "/ask/%.60s/query", ask->name);
    const struct sta_yaml_node *aggregate = sta_yaml_find(ask->argument, "aggregate");
    if (aggregate == NULL || aggregate->kind != STA_YAML_MAPPING || aggregate->count == 0)
        return sta_yaml_fail(ask->argument, err,
                             "a query needs aggregate: a mapping of names to expressions");
    const struct sta_yaml_node *filter = sta_yaml_find(ask->argument, "filter");
    sta_rule_point(reading, "/ask/%.60s/query/filter", ask->name);
    int status = filter != NULL ? sta_rule_check_condition(reading, filter, err) : STA_OK;
    return status == STA_OK ? check_aggregates(reading, ask, aggregate, err) : status;
}

static int check_words(struct sta_rule_reading *reading, const struct sta_ask *ask, struct sta_error *err)
{
    const char *text;
    sta_rule_point(reading, "/ask/%.60s/%s", ask->name, asks[ask->kind].name);
    int status = sta_check_text(ask->argument, asks[ask->kind].name, &text, err);
    if (status == STA_OK && ask->kind != STA_ASK_attribution && strcmp(text, "read") != 0 &&
        strcmp(text, "write") != 0)
        status = sta_yaml_fail(ask->argument, err, "%s is asked of read or write, not \"%.60s\"",
                               asks[ask->kind].name, text);
    return status;
}

static int check_argument(struct sta_rule_reading *reading, const struct sta_ask *ask, struct sta_error *err)
{
    static const char *const slowest_keys[] = {"of", "seconds"};
    static const char *const straggler_keys[] = {"by", "measure", "of", "least"};
    if (asks[ask->kind].takes == TEXT)
        return check_words(reading, ask, err);
    if (asks[ask->kind].takes == MAPPING && ask->argument->kind != STA_YAML_MAPPING)
        return sta_yaml_fail(ask->argument, err, "%s takes a mapping", asks[ask->kind].name);
    switch (ask->kind) {
    case STA_ASK_busy:
        return check_busy(reading, ask, err);
    case STA_ASK_query:
        return check_query(reading, ask, err);
    case STA_ASK_slowest_rank_busy:
        return check_member_of(reading, ask, "slowest_rank_busy", slowest_keys, STA_COUNT_OF(slowest_keys),
                               err);
    case STA_ASK_stragglers:
        return check_member_of(reading, ask, "stragglers", straggler_keys, STA_COUNT_OF(straggler_keys), err);
    default:
        return STA_OK;
    }
}

static int read_ask(struct sta_rule_reading *reading, const struct sta_yaml_node *name,
                    const struct sta_yaml_node *node, struct sta_ask *ask, struct sta_error *err)
{
    int status = sta_check_name(name, "ask", &ask->name, err);
    sta_rule_point(reading, "/ask/%.60s", name->text);
    if (status == STA_OK && (node->kind != STA_YAML_MAPPING || node->count != 1))
        status = sta_yaml_fail(node, err, "an ask is one call: {kind: argument}");
    if (status != STA_OK)
        return status;
    size_t kind = 0;
    while (kind < STA_ASKS && strcmp(asks[kind].name, node->keys[0]->text) != 0)
        kind++;
    if (kind == STA_ASKS)
        return sta_yaml_fail(node->keys[0], err, "there is nothing to ask called \"%.60s\"",
                             node->keys[0]->text);
    ask->kind = (enum sta_ask_kind)kind;
    ask->argument = node->items[0];
    return check_argument(reading, ask, err);
}

int sta_rule_read_asks(struct sta_rule_reading *reading, struct sta_rule *rule, struct sta_error *err)
{
    const struct sta_yaml_node *node = sta_rule_value(rule->node, "ask");
    sta_rule_point(reading, "/ask");
    int status = sta_check_kind(&node, "ask", STA_YAML_MAPPING, err);
    if (status != STA_OK || node == NULL)
        return status;
    rule->asks = sta_alloc_array(node->count, sizeof *rule->asks);
    for (size_t i = 0; i < node->count && status == STA_OK; i++)
        status = read_ask(reading, node->keys[i], node->items[i], &rule->asks[rule->ask_count++], err);
    return status;
}

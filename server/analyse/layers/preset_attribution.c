/* Phases and chains of a preset: which moments are training, epoch, compute, and what stall is split into.
 *
 * Conditions of both are checked like those of layers; the target of a chain is a condition on its own sets
 * and causes, as `where` of the intervals of an overlap. */
#include <stdlib.h>
#include <string.h>

#include "analyse/expression/expression.h"
#include "analyse/layers/preset_build.h"
#include "analyse/layers/yaml_checks.h"
#include "common/memory.h"

#define CHAIN_SETS 16 /* as many as an overlap has */

static const char *const phase_names[] = {
#define X(name, text) #name,
    STA_PHASE_LIST(X)
#undef X
};

/* ---- phases */

static size_t phase_of(const char *name)
{
    size_t i = 0;
    while (i < STA_PHASES && strcmp(phase_names[i], name) != 0)
        i++;
    return i;
}

void sta_preset_build_phases(struct sta_preset_builder *builder)
{
    const struct sta_yaml_node *node = sta_preset_mapping(builder, "phases");
    builder->varying_count = 0;
    if (node == NULL || sta_check_keys(node, "phases", phase_names, STA_PHASES, builder->err) != STA_OK)
        return;
    for (size_t i = 0; i < node->count && sta_preset_note(builder); i++) {
        const size_t phase = phase_of(node->keys[i]->text);
        sta_preset_at(builder, "/phases/%s", phase_names[phase]);
        sta_preset_check_condition(builder, node->items[i], phase_names[phase],
                                   &builder->preset->phases[phase]);
    }
}

/* ---- chains */

struct part {
    struct sta_preset_builder *builder;
    struct sta_chain *chain;
};

static bool is_taken(const struct sta_chain *chain, const char *name)
{
    for (size_t i = 0; i < chain->set_count; i++)
        if (strcmp(chain->sets[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < chain->cause_count; i++)
        if (strcmp(chain->causes[i].name, name) == 0)
            return true;
    return strcmp(name, "idle") == 0 || strcmp(name, "untraced") == 0 || strcmp(name, "target") == 0;
}

/* A name of a set or cause, and what it is the name of. */
static void check_set(const struct part *part, const struct sta_yaml_node *name,
                      const struct sta_yaml_node *condition, const char **text)
{
    struct sta_error *err = part->builder->err;
    const char *called;
    if (sta_check_name(name, "name", &called, err) != STA_OK)
        return;
    if (is_taken(part->chain, called))
        sta_yaml_fail(name, err,
                      "the name \"%s\" is taken: by a set or cause of this chain, or idle, untraced, target",
                      called);
    else if (part->chain->set_count + part->chain->cause_count == CHAIN_SETS)
        sta_yaml_fail(name, err, "a chain may have %d sets and causes together", CHAIN_SETS);
    sta_preset_check_condition(part->builder, condition, "condition", text);
}

static void build_sets(const struct part *part, const struct sta_yaml_node *node)
{
    struct sta_chain *chain = part->chain;
    if (sta_check_kind(&node, "sets", STA_YAML_MAPPING, part->builder->err) != STA_OK || node == NULL)
        return;
    chain->sets = sta_preset_alloc(part->builder, node->count, sizeof *chain->sets);
    for (size_t i = 0; i < node->count && !sta_preset_failed(part->builder); i++) {
        const char *text = NULL;
        check_set(part, node->keys[i], node->items[i], &text);
        chain->sets[chain->set_count++] = (struct sta_named_expression){node->keys[i]->text, text};
    }
}

/* What a cause is beside itself: words of a list. */
static void build_kind(const struct part *part, const struct sta_yaml_node *node, struct sta_cause *cause)
{
    struct sta_preset_builder *builder = part->builder;
    const char **words;
    size_t count;
    sta_check_texts(node, "is", &builder->preset->memory, &words, &count, builder->err);
    for (size_t i = 0; i < count && !sta_preset_failed(builder); i++) {
        if (strcmp(words[i], "input") == 0)
            cause->input = true;
        else if (strcmp(words[i], "storage") == 0)
            cause->storage = true;
        else
            sta_yaml_fail(node->items[i], builder->err, "a cause is input or storage or both, not \"%.80s\"",
                          words[i]);
    }
}

static void build_cause(const struct part *part, const struct sta_yaml_node *node)
{
    static const char *const keys[] = {"name", "label", "condition", "is"};
    struct sta_error *err = part->builder->err;
    struct sta_cause *cause = &part->chain->causes[part->chain->cause_count];
    const struct sta_yaml_node *name, *condition, *label;
    sta_check_keys(node, "a cause", keys, STA_COUNT_OF(keys), err);
    sta_check_member(node, "a cause", "name", &name, err);
    sta_check_member(node, "a cause", "condition", &condition, err);
    check_set(part, name, condition, &cause->condition);
    if (sta_preset_failed(part->builder))
        return;
    cause->name = cause->label = name->text;
    build_kind(part, sta_yaml_find(node, "is"), cause);
    label = sta_yaml_find(node, "label");
    if (!sta_yaml_is_null(label))
        sta_check_text(label, "label", &cause->label, err);
    part->chain->cause_count++;
}

static void build_causes(const struct part *part, const struct sta_yaml_node *of_chain)
{
    struct sta_preset_builder *builder = part->builder;
    const struct sta_yaml_node *node = sta_yaml_find(of_chain, "causes");
    if (sta_check_kind(&node, "causes", STA_YAML_SEQUENCE, builder->err) != STA_OK)
        return;
    if (node == NULL || node->count == 0) {
        sta_yaml_fail(of_chain, builder->err, "a chain needs causes");
        return;
    }
    part->chain->causes = sta_preset_alloc(builder, node->count, sizeof *part->chain->causes);
    for (size_t i = 0; i < node->count && !sta_preset_failed(builder); i++) {
        sta_preset_at(builder, "/attribution/%.60s/causes/%zu", part->chain->name, i);
        build_cause(part, node->items[i]);
    }
}

static void check_target(const struct part *part, const struct sta_yaml_node *node)
{
    const struct sta_chain *chain = part->chain;
    struct sta_schema_column columns[CHAIN_SETS + 1];
    struct sta_schema schema = {.columns = columns};
    struct sta_expression *target;
    for (size_t i = 0; i < chain->set_count; i++)
        columns[schema.count++] =
            (struct sta_schema_column){.name = chain->sets[i].name, .type = STA_TYPE_BOOL};
    for (size_t i = 0; i < chain->cause_count; i++)
        columns[schema.count++] =
            (struct sta_schema_column){.name = chain->causes[i].name, .type = STA_TYPE_BOOL};
    columns[schema.count++] = (struct sta_schema_column){.name = "idle", .type = STA_TYPE_BOOL};
    if (sta_condition_parse(chain->target, strlen(chain->target), &schema, &target, part->builder->err) ==
        STA_OK)
        sta_expression_destroy(target);
    else
        sta_error_wrap(part->builder->err, "%s:%u: target", node->path, node->line);
}

static void build_target(const struct part *part, const struct sta_yaml_node *node)
{
    struct sta_chain *chain = part->chain;
    struct sta_error *err = part->builder->err;
    const struct sta_yaml_node *target, *label = sta_yaml_find(node, "label");
    chain->label = chain->name;
    if (!sta_yaml_is_null(label))
        sta_check_text(label, "label", &chain->label, err);
    sta_check_member(node, "a chain", "target", &target, err);
    if (sta_check_text(target, "target", &chain->target, err) == STA_OK)
        check_target(part, target);
}

static void build_chain(struct sta_preset_builder *builder, const struct sta_yaml_node *name,
                        const struct sta_yaml_node *node)
{
    static const char *const keys[] = {"label", "target", "sets", "causes"};
    struct sta_chain *chain = &builder->preset->chains[builder->preset->chain_count++];
    struct part part = {builder, chain};
    const char *text;
    chain->name = name->text; /* what is said of a mistake has it */
    if (sta_check_name(name, "the name of a chain", &text, builder->err) == STA_OK &&
        strcmp(text, "layers") == 0)
        sta_yaml_fail(name, builder->err, "layers is the chain of the preset's layers");
    if (sta_check_keys(node, "a chain", keys, STA_COUNT_OF(keys), builder->err) != STA_OK)
        return;
    sta_preset_at(builder, "/attribution/%.60s/sets", name->text);
    build_sets(&part, sta_yaml_find(node, "sets"));
    sta_preset_at(builder, "/attribution/%.60s/causes", name->text);
    build_causes(&part, node);
    sta_preset_at(builder, "/attribution/%.60s/target", name->text);
    build_target(&part, node);
}

void sta_preset_build_chains(struct sta_preset_builder *builder)
{
    const struct sta_yaml_node *node = sta_preset_mapping(builder, "attribution");
    builder->varying_count = 0;
    if (node == NULL)
        return;
    builder->preset->chains = sta_preset_alloc(builder, node->count, sizeof *builder->preset->chains);
    for (size_t i = 0; i < node->count && sta_preset_note(builder); i++) {
        sta_preset_at(builder, "/attribution/%.60s", node->keys[i]->text);
        build_chain(builder, node->keys[i], node->items[i]);
    }
}

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

int sta_preset_build_phases(struct sta_preset_builder *builder)
{
    const struct sta_preset_file *owner;
    const struct sta_yaml_node *node = sta_preset_file_value(builder->file, "phases", &owner);
    int status = sta_check_kind(owner->yaml, &node, "phases", STA_YAML_MAPPING, builder->err);
    if (status == STA_OK && node != NULL)
        status = sta_check_keys(owner->yaml, node, "phases", phase_names, STA_PHASES, builder->err);
    builder->varying_count = 0;
    for (size_t i = 0; status == STA_OK && node != NULL && i < node->count; i++) {
        const size_t phase = phase_of(node->keys[i]->text);
        sta_preset_at(builder, "/phases/%s", phase_names[phase]);
        status = sta_preset_check_condition(builder, owner->yaml, node->items[i], phase_names[phase],
                                            &builder->preset->phases[phase]);
        status = sta_preset_note(builder, status);
    }
    return status;
}

/* ---- chains */

struct part {
    struct sta_preset_builder *builder;
    const struct sta_yaml *yaml;
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
static int check_set(const struct part *part, const struct sta_yaml_node *name,
                     const struct sta_yaml_node *condition, const char **text)
{
    const char *called;
    int status = sta_check_name(part->yaml, name, "name", &called, part->builder->err);
    if (status == STA_OK && is_taken(part->chain, called))
        status =
            sta_yaml_fail(part->yaml, name, part->builder->err,
                          "the name \"%s\" is taken: by a set or cause of this chain, or idle, untraced, "
                          "target",
                          called);
    if (status == STA_OK && part->chain->set_count + part->chain->cause_count == CHAIN_SETS)
        status = sta_yaml_fail(part->yaml, name, part->builder->err,
                               "a chain may have %d sets and causes together", CHAIN_SETS);
    return status == STA_OK
               ? sta_preset_check_condition(part->builder, part->yaml, condition, "condition", text)
               : status;
}

static int build_sets(const struct part *part, const struct sta_yaml_node *node)
{
    struct sta_chain *chain = part->chain;
    int status = sta_check_kind(part->yaml, &node, "sets", STA_YAML_MAPPING, part->builder->err);
    if (status != STA_OK || node == NULL)
        return status;
    chain->sets = sta_preset_alloc(part->builder, node->count, sizeof *chain->sets);
    for (size_t i = 0; i < node->count && status == STA_OK; i++) {
        const char *text = NULL;
        status = check_set(part, node->keys[i], node->items[i], &text);
        if (status == STA_OK)
            chain->sets[chain->set_count++] = (struct sta_named_expression){node->keys[i]->text, text};
    }
    return status;
}

/* What a cause is beside itself: words of a list. */
static int build_kind(const struct part *part, const struct sta_yaml_node *node, struct sta_cause *cause)
{
    const char **words;
    size_t count;
    int status = sta_check_texts(part->yaml, node, "is", &part->builder->preset->memory, &words, &count,
                                 part->builder->err);
    for (size_t i = 0; status == STA_OK && i < count; i++) {
        if (strcmp(words[i], "input") == 0)
            cause->input = true;
        else if (strcmp(words[i], "storage") == 0)
            cause->storage = true;
        else
            status = sta_yaml_fail(part->yaml, node->items[i], part->builder->err,
                                   "a cause is input or storage or both, not \"%.80s\"", words[i]);
    }
    return status;
}

static int build_cause(const struct part *part, const struct sta_yaml_node *node)
{
    static const char *const keys[] = {"name", "label", "condition", "is"};
    struct sta_preset_builder *builder = part->builder;
    struct sta_cause cause = {0};
    const struct sta_yaml_node *name, *condition;
    const char *text = NULL, *label;
    int status = sta_check_keys(part->yaml, node, "a cause", keys, STA_COUNT_OF(keys), builder->err);
    if (status == STA_OK)
        status = sta_check_member(part->yaml, node, "a cause", "name", &name, builder->err);
    if (status == STA_OK)
        status = sta_check_member(part->yaml, node, "a cause", "condition", &condition, builder->err);
    if (status == STA_OK)
        status = check_set(part, name, condition, &text);
    if (status == STA_OK)
        status = build_kind(part, sta_yaml_find(node, "is"), &cause);
    if (status != STA_OK)
        return status;
    label = name->text;
    if (!sta_yaml_is_null(sta_yaml_find(node, "label")))
        status = sta_check_text(part->yaml, sta_yaml_find(node, "label"), "label", &label, builder->err);
    if (status != STA_OK)
        return status;
    cause.name = name->text;
    cause.label = label;
    cause.condition = text;
    part->chain->causes[part->chain->cause_count++] = cause;
    return STA_OK;
}

static int build_causes(const struct part *part, const struct sta_yaml_node *node)
{
    int status = sta_check_kind(part->yaml, &node, "causes", STA_YAML_SEQUENCE, part->builder->err);
    if (status == STA_OK && (node == NULL || node->count == 0))
        return sta_yaml_fail(part->yaml, node, part->builder->err, "a chain needs causes");
    if (status != STA_OK)
        return status;
    part->chain->causes = sta_preset_alloc(part->builder, node->count, sizeof *part->chain->causes);
    for (size_t i = 0; i < node->count && status == STA_OK; i++) {
        sta_preset_at(part->builder, "/attribution/%.60s/causes/%zu", part->chain->name, i);
        status = build_cause(part, node->items[i]);
    }
    return status;
}

static int check_target(const struct part *part, const struct sta_yaml_node *node, const char *text)
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
    int status = sta_condition_parse(text, strlen(text), &schema, &target, part->builder->err);
    if (status != STA_OK)
        return sta_error_wrap(part->builder->err, "%s:%u: target", part->yaml->path, node->line);
    sta_expression_destroy(target);
    return STA_OK;
}

static int build_target(const struct part *part, const struct sta_yaml_node *chain)
{
    const struct sta_yaml_node *target, *label = sta_yaml_find(chain, "label");
    const char *text;
    int status = STA_OK;
    part->chain->label = part->chain->name;
    if (!sta_yaml_is_null(label))
        status = sta_check_text(part->yaml, label, "label", &part->chain->label, part->builder->err);
    if (status == STA_OK)
        status = sta_check_member(part->yaml, chain, "a chain", "target", &target, part->builder->err);
    if (status == STA_OK)
        status = sta_check_text(part->yaml, target, "target", &text, part->builder->err);
    if (status == STA_OK)
        status = check_target(part, target, text);
    if (status == STA_OK)
        part->chain->target = text;
    return status;
}

static int build_chain(struct sta_preset_builder *builder, const struct sta_yaml *yaml,
                       const struct sta_yaml_node *name, const struct sta_yaml_node *node)
{
    static const char *const keys[] = {"label", "target", "sets", "causes"};
    struct sta_chain *chain = &builder->preset->chains[builder->preset->chain_count++];
    struct part part = {builder, yaml, chain};
    const char *text;
    chain->name = name->text; /* what is said of a mistake has it */
    int status = sta_check_name(yaml, name, "the name of a chain", &text, builder->err);
    if (status == STA_OK && strcmp(text, "layers") == 0)
        status = sta_yaml_fail(yaml, name, builder->err, "layers is the chain of the preset's layers");
    if (status == STA_OK)
        status = sta_check_keys(yaml, node, "a chain", keys, STA_COUNT_OF(keys), builder->err);
    if (status != STA_OK)
        return status;
    sta_preset_at(builder, "/attribution/%.60s/sets", name->text);
    status = build_sets(&part, sta_yaml_find(node, "sets"));
    if (status == STA_OK)
        status = build_causes(&part, sta_yaml_find(node, "causes"));
    sta_preset_at(builder, "/attribution/%.60s/target", name->text);
    return status == STA_OK ? build_target(&part, node) : status;
}

int sta_preset_build_chains(struct sta_preset_builder *builder)
{
    const struct sta_preset_file *owner;
    const struct sta_yaml_node *node = sta_preset_file_value(builder->file, "attribution", &owner);
    int status = sta_check_kind(owner->yaml, &node, "attribution", STA_YAML_MAPPING, builder->err);
    if (status != STA_OK || node == NULL)
        return status;
    builder->preset->chains = sta_preset_alloc(builder, node->count, sizeof *builder->preset->chains);
    builder->varying_count = 0;
    for (size_t i = 0; i < node->count && status == STA_OK; i++) {
        sta_preset_at(builder, "/attribution/%.60s", node->keys[i]->text);
        status = sta_preset_note(builder, build_chain(builder, owner->yaml, node->keys[i], node->items[i]));
    }
    return status;
}

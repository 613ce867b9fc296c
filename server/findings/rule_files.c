/* The files of rules: built-in ones, then those of one's own, which add rules and change levels, parameters
 * and what is asked at all. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "findings/rules.h"
#include "analyse/layers/preset_build.h"
#include "analyse/layers/presets.h"
#include "analyse/layers/yaml_checks.h"
#include "common/files.h"
#include "common/memory.h"
#include "common/number.h"
#include "findings/findings.h"

struct loading {
    struct sta_rules *rules;
    const struct sta_presets *presets;
    const struct sta_yaml_node *root; /* of the file, .. */
    bool own;
    const char *text; /* .. of `size` bytes */
    size_t size;
    char pointer[sizeof((struct sta_rule_reading *)0)->pointer];
};

/* ---- parameters, levels, disable */

static int read_number(const struct loading *loading, const struct sta_yaml_node *node, const char *key,
                       double low, double high, double *number, struct sta_error *err)
{
    const char *text;
    char *end;
    int status = sta_check_text(node, key, &text, err);
    if (status != STA_OK)
        return status;
    *number = strtod(text, &end);
    if (*end == '\0' && *number >= low && *number <= high)
        return STA_OK;
    return sta_yaml_fail(node, err, "%s must be a number from %g to %g, not \"%.60s\"", key, low, high, text);
}

static int read_parameters(struct loading *loading, struct sta_error *err)
{
    static const char *const keys[] = {"goal", "warmup_steps", "end_steps", "stake_floor"};
    const struct sta_yaml_node *node = sta_yaml_find(loading->root, "parameters");
    struct sta_rules *rules = loading->rules;
    if (sta_yaml_is_null(node))
        return STA_OK;
    double numbers[] = {rules->goal, (double)rules->warmup_steps, (double)rules->end_steps,
                        rules->stake_floor};
    static const double highest[] = {1, 1e9, 1e9, 1};
    int status = sta_check_keys(node, "parameters", keys, STA_COUNT_OF(keys), err);
    for (size_t i = 0; i < STA_COUNT_OF(keys) && status == STA_OK; i++)
        if (sta_yaml_find(node, keys[i]) != NULL)
            status =
                read_number(loading, sta_yaml_find(node, keys[i]), keys[i], 0, highest[i], &numbers[i], err);
    rules->goal = numbers[0];
    rules->warmup_steps = (int64_t)numbers[1];
    rules->end_steps = (int64_t)numbers[2];
    rules->stake_floor = numbers[3];
    return status;
}

static struct sta_rule *find_rule(const struct sta_rules *rules, const char *id)
{
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->items[i].id, id) == 0)
            return &rules->items[i];
    return NULL;
}

static int change_levels(const struct loading *loading, struct sta_rule *rule,
                         const struct sta_yaml_node *node, struct sta_error *err)
{
    int status = sta_check_kind(&node, "levels", STA_YAML_MAPPING, err);
    for (size_t i = 0; status == STA_OK && node != NULL && i < node->count; i++) {
        const char *name = node->keys[i]->text;
        const enum sta_severity severity = sta_severity_find(name, strlen(name));
        double number;
        if (severity > STA_SEVERITY_INFO)
            return sta_yaml_fail(node->keys[i], err,
                                 "there is no level \"%.60s\"; there are info, warning, critical", name);
        status = read_number(loading, node->items[i], name, -1e300, 1e300, &number, err);
        if (status == STA_OK)
            rule->levels[severity] = node->items[i]->text;
    }
    return status;
}

static int read_levels(struct loading *loading, struct sta_error *err)
{
    const struct sta_yaml_node *node = sta_yaml_find(loading->root, "levels");
    int status = sta_check_kind(&node, "levels", STA_YAML_MAPPING, err);
    for (size_t i = 0; status == STA_OK && node != NULL && i < node->count; i++) {
        struct sta_rule *rule = find_rule(loading->rules, node->keys[i]->text);
        status = rule == NULL
                     ? sta_yaml_fail(node->keys[i], err, "there is no rule \"%.60s\"", node->keys[i]->text)
                     : change_levels(loading, rule, node->items[i], err);
    }
    return status;
}

static int read_disable(struct loading *loading, struct sta_error *err)
{
    const struct sta_yaml_node *node = sta_yaml_find(loading->root, "disable");
    int status = sta_check_kind(&node, "disable", STA_YAML_SEQUENCE, err);
    for (size_t i = 0; status == STA_OK && node != NULL && i < node->count; i++) {
        const char *id;
        status = sta_check_text(node->items[i], "disable", &id, err);
        struct sta_rule *rule = status == STA_OK ? find_rule(loading->rules, id) : NULL;
        if (status == STA_OK && rule == NULL)
            status = sta_yaml_fail(node->items[i], err, "there is no rule \"%.60s\"", id);
        if (status == STA_OK)
            rule->disabled = true;
    }
    return status;
}

/* ---- rules */

static int add_rule(struct loading *loading, const struct sta_yaml_node *node, struct sta_error *err)
{
    struct sta_rules *rules = loading->rules;
    struct sta_rule_reading reading = {.rules = rules, .presets = loading->presets};
    struct sta_rule rule;
    int status = sta_rule_read(&reading, node, &rule, err);
    memcpy(loading->pointer, reading.pointer, sizeof loading->pointer);
    if (status != STA_OK) {
        sta_rule_fini(&rule);
        return status;
    }
    rule.own = loading->own;
    rule.text = loading->own ? sta_strndup(loading->text, loading->size) : NULL;
    STA_GROW(rules->items, rules->capacity, rules->count + 1);
    rules->items[rules->count++] = rule;
    return STA_OK;
}

/* A file is a rule, or has lists of rules and changes. */
static int read_root(struct loading *loading, struct sta_error *err)
{
    static const char *const keys[] = {"parameters", "levels", "disable", "rules"};
    const struct sta_yaml_node *root = loading->root;
    if (root->kind == STA_YAML_MAPPING && sta_yaml_find(root, "value") != NULL)
        return add_rule(loading, root, err);
    int status = sta_check_keys(root, "a file of rules", keys, STA_COUNT_OF(keys), err);
    const struct sta_yaml_node *list = status == STA_OK ? sta_yaml_find(root, "rules") : NULL;
    if (status == STA_OK)
        status = sta_check_kind(&list, "rules", STA_YAML_SEQUENCE, err);
    for (size_t i = 0; status == STA_OK && list != NULL && i < list->count; i++)
        status = add_rule(loading, list->items[i], err);
    if (status == STA_OK)
        status = read_parameters(loading, err);
    if (status == STA_OK)
        status = read_levels(loading, err);
    return status == STA_OK ? read_disable(loading, err) : status;
}

static int read_text(struct loading *loading, const char *path, const char *text, size_t size,
                     struct sta_error *err)
{
    struct sta_rules *rules = loading->rules;
    struct sta_yaml *yaml;
    int status = sta_yaml_parse(path, text, size, &yaml, err);
    if (status != STA_OK)
        return status;
    STA_GROW(rules->files, rules->file_capacity, rules->file_count + 1);
    rules->files[rules->file_count++] = yaml;
    rules->fingerprint = XXH64(text, size, rules->fingerprint);
    loading->root = yaml->root;
    loading->text = text;
    loading->size = size;
    return read_root(loading, err);
}

static int read_file(struct loading *loading, const char *path, struct sta_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    int status = sta_file_read(path, STA_YAML_BYTES, &bytes, &size, err);
    if (status == STA_OK)
        status = read_text(loading, path, bytes, size, err);
    free(bytes);
    return status;
}

/* ---- folders */

static int is_rule_file(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_changed(const struct sta_preset_change *change, const char *file)
{
    const size_t length = strlen(file) - 5;
    return change != NULL && strlen(change->name) == length && strncmp(change->name, file, length) == 0;
}

static int read_folder(struct loading *loading, const char *folder, const struct sta_preset_change *change,
                       struct sta_error *err)
{
    struct dirent **entries = NULL;
    int count = access(folder, F_OK) == 0 ? scandir(folder, &entries, is_rule_file, by_bytes) : 0;
    int status =
        count < 0 ? sta_fail_errno(err, errno, "cannot read the folder of rules %s", folder) : STA_OK;
    for (int i = 0; i < count; i++) {
        if (status == STA_OK && !is_changed(change, entries[i]->d_name)) {
            char *path = sta_path_join(folder, entries[i]->d_name);
            status = read_file(loading, path, err);
            free(path);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- the whole */

static void destroy_rules(void *self)
{
    struct sta_rules *rules = self;
    for (size_t i = 0; i < rules->count; i++)
        sta_rule_fini(&rules->items[i]);
    for (size_t i = 0; i < rules->file_count; i++)
        sta_yaml_destroy(rules->files[i]);
    free(rules->items);
    free(rules->files);
    free(rules);
}

const struct sta_rules *sta_rules_of(const struct sta_presets *presets)
{
    return presets->rules;
}

static int read_change(struct loading *loading, const struct sta_preset_change *change,
                       struct sta_preset_mistakes *mistakes, struct sta_error *err)
{
    char *path = sta_sprintf("%s.yaml", change->name);
    loading->pointer[0] = '\0';
    int status = read_text(loading, path, change->text, change->size, err);
    if (status != STA_OK && mistakes != NULL)
        sta_preset_add_mistake(mistakes, path, loading->pointer, err);
    if (status == STA_OK && find_rule(loading->rules, change->name) == NULL) {
        status = sta_fail(err, STA_EINPUT, "%s:1: the rule's id must be \"%.60s\"", path, change->name);
        if (mistakes != NULL)
            sta_preset_add_mistake(mistakes, path, "/id", err);
    }
    free(path);
    return status;
}

int sta_presets_add_rules(struct sta_presets *presets, const char *file, const char *folder,
                          const struct sta_preset_change *change, struct sta_preset_mistakes *mistakes,
                          struct sta_error *err)
{
    *err = STA_ERROR_INIT; /* checks do nothing after a failure */
    struct sta_rules *rules = sta_alloc(sizeof *rules);
    struct loading loading = {.rules = rules, .presets = presets};
    *rules = (struct sta_rules){.goal = 0.9, .stake_floor = 0.01, .warmup_steps = 1};
    presets->rules = rules;
    presets->destroy_rules = destroy_rules;
    int status = read_file(&loading, file, err);
    loading.own = true;
    if (status == STA_OK && folder != NULL)
        status = read_folder(&loading, folder, change, err);
    if (status == STA_OK && change != NULL && change->text != NULL)
        status = read_change(&loading, change, mistakes, err);
    presets->fingerprint = XXH64(&rules->fingerprint, sizeof rules->fingerprint, presets->fingerprint);
    return status;
}

size_t sta_rule_count(const struct sta_presets *presets)
{
    return presets->rules != NULL ? ((const struct sta_rules *)presets->rules)->count : 0;
}

struct sta_rule_info sta_rule_at(const struct sta_presets *presets, size_t number)
{
    const struct sta_rule *rule = &((const struct sta_rules *)presets->rules)->items[number];
    struct sta_rule_info info = {.id = rule->id,
                                 .title = rule->title,
                                 .group = rule->group,
                                 .value = rule->value,
                                 .unit = rule->unit,
                                 .say = rule->say,
                                 .ok = rule->ok,
                                 .source = rule->source,
                                 .own = rule->own,
                                 .disabled = rule->disabled,
                                 .yaml = rule->text};
    memcpy(info.levels, rule->levels, sizeof info.levels);
    return info;
}

/* Values of configuration files, checked one by one. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/yaml_checks.h"
#include "common/buffer.h"
#include "common/memory.h"

#define NAME_LENGTH 64

int sta_check_keys(const struct sta_yaml_node *node, const char *what, const char *const *allowed,
                   size_t count, struct sta_error *err)
{
    if (err->status != STA_OK)
        return err->status;
    if (node == NULL || node->kind != STA_YAML_MAPPING)
        return sta_yaml_fail(node, err, "%s must be a mapping, not %s", what, sta_yaml_describe(node));
    for (size_t i = 0; i < node->count; i++) {
        size_t known = 0;
        while (known < count && strcmp(allowed[known], node->keys[i]->text) != 0)
            known++;
        if (known < count)
            continue;
        char *names = sta_join_names(allowed, sizeof *allowed, count);
        sta_yaml_fail(node->keys[i], err, "unknown key \"%s\"; %s may have: %s", node->keys[i]->text, what,
                      names);
        free(names);
        return err->status;
    }
    return STA_OK;
}

int sta_check_text(const struct sta_yaml_node *node, const char *key, const char **text,
                   struct sta_error *err)
{
    if (err->status != STA_OK)
        return err->status;
    if (sta_yaml_is_null(node) || node->kind != STA_YAML_SCALAR || node->length == 0)
        return sta_yaml_fail(node, err, "%s must be a text, not %s", key,
                             node != NULL && node->kind == STA_YAML_SCALAR ? "an empty one"
                                                                           : sta_yaml_describe(node));
    *text = node->text;
    return STA_OK;
}

int sta_check_name(const struct sta_yaml_node *node, const char *key, const char **text,
                   struct sta_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    int status = sta_check_text(node, key, text, err);
    if (status != STA_OK)
        return status;
    bool digit = (*text)[0] >= '0' && (*text)[0] <= '9';
    if (digit || strspn(*text, letters) != node->length || node->length > NAME_LENGTH)
        return sta_yaml_fail(node, err,
                             "%s \"%.80s\" must be made of letters, digits and _, not begin with a digit, "
                             "and have at most %d characters",
                             key, *text, NAME_LENGTH);
    return STA_OK;
}

int sta_check_member(const struct sta_yaml_node *mapping, const char *what, const char *key,
                     const struct sta_yaml_node **value, struct sta_error *err)
{
    *value = err->status == STA_OK ? sta_yaml_find(mapping, key) : NULL;
    return *value != NULL || err->status != STA_OK ? err->status
                                                   : sta_yaml_fail(mapping, err, "%s needs %s", what, key);
}

int sta_check_kind(const struct sta_yaml_node **node, const char *key, enum sta_yaml_kind kind,
                   struct sta_error *err)
{
    if (sta_yaml_is_null(*node))
        *node = NULL;
    if (*node == NULL || (*node)->kind == kind || err->status != STA_OK)
        return err->status;
    const struct sta_yaml_node wanted = {.kind = kind, .quoted = true};
    return sta_yaml_fail(*node, err, "%s must be %s, not %s", key, sta_yaml_describe(&wanted),
                         sta_yaml_describe(*node));
}

int sta_check_texts(const struct sta_yaml_node *node, const char *key, struct sta_arena *memory,
                    const char ***texts, size_t *count, struct sta_error *err)
{
    *count = 0;
    int status = sta_check_kind(&node, key, STA_YAML_SEQUENCE, err);
    if (status != STA_OK || node == NULL)
        return status;
    *texts = sta_arena_alloc(memory, node->count * sizeof **texts, _Alignof(char *));
    for (; *count < node->count && status == STA_OK; *count += status == STA_OK)
        status = sta_check_text(node->items[*count], key, &(*texts)[*count], err);
    return status;
}

int sta_check_bool(const struct sta_yaml_node *node, const char *key, bool *value, struct sta_error *err)
{
    const char *text = NULL;
    int status = sta_check_text(node, key, &text, err);
    if (status != STA_OK)
        return status;
    *value = strcmp(text, "true") == 0;
    if (!*value && strcmp(text, "false") != 0)
        return sta_yaml_fail(node, err, "%s must be true or false, not \"%.80s\"", key, text);
    return STA_OK;
}

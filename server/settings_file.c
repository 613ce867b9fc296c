/* The configuration file: a YAML mapping from settings to scalars, or to lists of them. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/yaml.h"
#include "server/settings_private.h"

static int give_list(const struct sta_yaml_node *key, const struct sta_yaml_node *value,
                     struct sta_given *given, const char *where, struct sta_error *err)
{
    const char **items = sta_alloc_array(value->count, sizeof *items);
    int status = STA_OK;
    for (size_t i = 0; i < value->count && status == STA_OK; i++) {
        items[i] = value->items[i]->text;
        if (value->items[i]->kind != STA_YAML_SCALAR)
            status = sta_yaml_fail(value->items[i], err, "%s holds %s, expected a list of texts", key->text,
                                   sta_yaml_describe(value->items[i]));
    }
    if (status == STA_OK)
        sta_given_set(given, items, value->count, where);
    free(items);
    return status;
}

static int give_setting(const struct sta_yaml_node *key, const struct sta_yaml_node *value,
                        struct sta_given given[STA_SETTING_COUNT], struct sta_error *err)
{
    size_t index = sta_setting_find(key->text, key->length);
    if (index == STA_SETTING_COUNT) {
        char *names = sta_setting_names();
        int status = sta_yaml_fail(key, err, "unknown setting %s; there are %s", key->text, names);
        free(names);
        return status;
    }
    if (sta_yaml_is_null(value))
        return STA_OK;
    bool list = sta_setting_is_list(index);
    char *where = sta_sprintf("%s:%u", key->path, key->line);
    int status = STA_OK;
    if (value->kind == STA_YAML_SCALAR) {
        const char *text = value->text;
        sta_given_set(&given[index], &text, 1, where);
    } else if (value->kind == STA_YAML_SEQUENCE && list) {
        status = give_list(key, value, &given[index], where, err);
    } else {
        status = sta_yaml_fail(value, err, "%s is %s, expected %s", key->text, sta_yaml_describe(value),
                               list ? "a list of texts" : "one value");
    }
    free(where);
    return status;
}

int sta_settings_read_file(const char *path, struct sta_given given[STA_SETTING_COUNT], struct sta_error *err)
{
    struct sta_yaml *yaml;
    int status = sta_yaml_read(path, &yaml, err);
    if (status != STA_OK)
        return err->status = STA_EINPUT;
    const struct sta_yaml_node *root = yaml->root;
    if (!sta_yaml_is_null(root) && root->kind != STA_YAML_MAPPING)
        status = sta_yaml_fail(root, err, "this is %s, expected settings as \"name: value\"",
                               sta_yaml_describe(root));
    for (size_t i = 0; status == STA_OK && i < root->count; i++)
        status = give_setting(root->keys[i], root->items[i], given, err);
    sta_yaml_destroy(yaml);
    return status;
}

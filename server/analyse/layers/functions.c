/* functions.yaml: the classes of functions. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/presets.h"
#include "analyse/layers/yaml_checks.h"
#include "common/memory.h"

static const struct {
    const char *key;
    enum sta_io_cat class;
} classes[] = {{"read", STA_IO_READ},       {"write", STA_IO_WRITE}, {"metadata", STA_IO_METADATA},
               {"process", STA_IO_PROCESS}, {"ipc", STA_IO_IPC},     {"other", STA_IO_OTHER},
               {"sync", STA_IO_SYNC}};

static int add_class(struct sta_functions *functions, const struct sta_yaml_node *list, const char *key,
                     enum sta_io_cat class, struct sta_error *err)
{
    int status = sta_check_kind(&list, key, STA_YAML_SEQUENCE, err);
    for (size_t i = 0; status == STA_OK && list != NULL && i < list->count; i++) {
        const char *name;
        status = sta_check_text(list->items[i], key, &name, err);
        if (status != STA_OK)
            return status;
        uint32_t next = sta_dictionary_count(functions->names);
        uint32_t code = sta_dictionary_intern(functions->names, name, strlen(name));
        if (code != next)
            return sta_yaml_fail(list->items[i], err,
                                 "function \"%s\" is in a class already; it can be in one only", name);
        STA_GROW(functions->classes, functions->capacity, (size_t)code + 1);
        functions->classes[code] = (uint8_t) class;
    }
    return status;
}

static int add_classes(struct sta_functions *functions, const struct sta_yaml_node *node,
                       struct sta_error *err)
{
    const char *allowed[STA_COUNT_OF(classes)];
    for (size_t i = 0; i < STA_COUNT_OF(classes); i++)
        allowed[i] = classes[i].key;
    int status = sta_check_keys(node, "classes", allowed, STA_COUNT_OF(classes), err);
    for (size_t i = 0; status == STA_OK && i < STA_COUNT_OF(classes); i++)
        status =
            add_class(functions, sta_yaml_find(node, classes[i].key), classes[i].key, classes[i].class, err);
    return status;
}

int sta_functions_init(struct sta_functions *functions, const struct sta_yaml_node *root,
                       struct sta_error *err)
{
    static const char *const keys[] = {"categories", "classes"};
    *functions =
        (struct sta_functions){.categories = sta_dictionary_create(), .names = sta_dictionary_create()};
    int status = sta_check_keys(root, "functions.yaml", keys, STA_COUNT_OF(keys), err);
    if (status != STA_OK)
        return status;
    struct sta_arena memory = {0};
    const char **categories;
    size_t count;
    status =
        sta_check_texts(sta_yaml_find(root, "categories"), "categories", &memory, &categories, &count, err);
    for (size_t i = 0; i < count; i++) {
        char *lower = sta_arena_copy(&memory, categories[i], strlen(categories[i]));
        for (char *c = lower; *c != '\0'; c++)
            *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
        sta_dictionary_intern(functions->categories, lower, strlen(lower));
    }
    sta_arena_fini(&memory);
    const struct sta_yaml_node *all;
    sta_check_member(root, "functions.yaml", "classes", &all, err);
    return add_classes(functions, all, err);
}

void sta_functions_fini(struct sta_functions *functions)
{
    sta_dictionary_destroy(functions->categories);
    sta_dictionary_destroy(functions->names);
    free(functions->classes);
}

unsigned sta_functions_class(const struct sta_functions *functions, const char *name, size_t length)
{
    uint32_t code = sta_dictionary_find(functions->names, name, length);
    return code == STA_NO_CODE ? STA_FUNCTION_UNCLASSIFIED : functions->classes[code];
}

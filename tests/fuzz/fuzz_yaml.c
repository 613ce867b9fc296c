/* Configuration files: any bytes are a tree or a mistake with its place, and a walk over a tree ends. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t walk(const struct sta_yaml_node *node, unsigned depth)
{
    size_t nodes = 1;
    STA_ASSERT(node->line > 0 && depth <= STA_YAML_DEPTH);
    if (node->kind == STA_YAML_SCALAR)
        STA_ASSERT(strlen(node->text) == node->length);
    for (size_t i = 0; i < node->count; i++) {
        nodes += walk(node->items[i], depth + 1);
        if (node->kind == STA_YAML_MAPPING)
            nodes += walk(node->keys[i], depth + 1);
    }
    return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sta_yaml *yaml;
    struct sta_error err = STA_ERROR_INIT;
    int status = sta_yaml_parse("f.yaml", (const char *)data, size, &yaml, &err);
    STA_ASSERT(status == STA_OK ? yaml != NULL : yaml == NULL && strncmp(err.text, "f.yaml:", 7) == 0);
    if (yaml != NULL)
        STA_ASSERT(walk(yaml->root, 0) <= STA_YAML_NODES);
    sta_yaml_destroy(yaml);
    return 0;
}

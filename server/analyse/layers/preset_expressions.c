/* Logical views and additional metrics of a preset.
 *
 * An additional metric is a formula of columns of the flat view, which do not exist yet when a preset is
 * loaded.  It is checked as far as that goes: its syntax, with a column of numbers for every name in it, and
 * that each such name begins with that of a layer, where the slips are. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/conditions.h"
#include "analyse/layers/preset_build.h"
#include "analyse/layers/yaml_checks.h"
#include "common/buffer.h"
#include "common/memory.h"

static void check_view(struct sta_preset_builder *builder, const struct sta_yaml_node *node)
{
    struct sta_expression *expression;
    if (sta_expression_parse(node->text, node->length, &sta_standard_schema, &expression, builder->err) ==
        STA_OK)
        sta_expression_destroy(expression);
    else
        sta_error_wrap(builder->err, "%s:%u: view, character %lld", node->path, node->line,
                       (long long)builder->err->position + 1);
}

/* ---- additional metrics */

char *sta_preset_formula(const char *text, const char *time)
{
    const struct {
        const char *word, *value;
    } words[] = {{"{T}", time}, {"{epsilon}", "1e-9"}};
    struct sta_buffer out;
    sta_buffer_init(&out);
    while (*text != '\0') {
        size_t w = 0;
        while (w < STA_COUNT_OF(words) && strncmp(text, words[w].word, strlen(words[w].word)) != 0)
            w++;
        if (w < STA_COUNT_OF(words)) {
            sta_put_text(&out, words[w].value);
            text += strlen(words[w].word);
        } else if (*text == '{' || *text == '}') {
            sta_buffer_fini(&out);
            return NULL;
        } else {
            sta_put_char(&out, *text++);
        }
    }
    return sta_buffer_take_text(&out);
}

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The next column name of a formula: no call, no part of a number.  Return: its start, or NULL. */
static const char *next_name(const char *at, size_t *length)
{
    while (*at != '\0') {
        *length = 0;
        while (starts_name(at[*length]) || (at[*length] >= '0' && at[*length] <= '9') || at[*length] == '.')
            ++*length;
        if (*length > 0 && starts_name(*at) && at[*length + strspn(at + *length, " ")] != '(')
            return at;
        at += *length > 0 ? *length : 1;
    }
    return NULL;
}

static bool names_layer(const struct sta_preset *preset, const char *name, size_t length)
{
    if (length > 2 && strncmp(name, "u_", 2) == 0 && names_layer(preset, name + 2, length - 2))
        return true;
    for (size_t i = 0; i < preset->layer_count; i++) {
        size_t layer = strlen(preset->layers[i].name);
        if (length > layer + 1 && strncmp(name, preset->layers[i].name, layer) == 0 && name[layer] == '_')
            return true;
    }
    return false;
}

/* Whether the names of a formula are columns of layers, and the rest of it is right. */
static int check_formula(const char *text, const struct sta_preset *preset, struct sta_error *err)
{
    struct sta_schema_column *columns = NULL;
    size_t count = 0, capacity = 0, length;
    int status = STA_OK;
    for (const char *at = text; status == STA_OK && (at = next_name(at, &length)) != NULL; at += length) {
        if (!names_layer(preset, at, length))
            status =
                sta_fail(err, STA_EINPUT, "\"%.*s\" is no column of a layer (LAYER_..)", (int)length, at);
        STA_GROW(columns, capacity, count + 1);
        columns[count++] =
            (struct sta_schema_column){.name = sta_strndup(at, length), .type = STA_TYPE_FLOAT};
    }
    struct sta_expression *expression = NULL;
    struct sta_schema schema = {.columns = columns, .count = count};
    if (status == STA_OK)
        status = sta_expression_parse(text, strlen(text), &schema, &expression, err);
    sta_expression_destroy(expression);
    for (size_t i = 0; i < count; i++)
        free((char *)columns[i].name);
    free(columns);
    return status;
}

static void check_additional(struct sta_preset_builder *builder, const struct sta_yaml_node *node)
{
    char *text = sta_preset_formula(node->text, "time_sum");
    if (text == NULL) {
        sta_yaml_fail(node, builder->err, "additional: only {T} and {epsilon} may stand in braces");
        return;
    }
    if (check_formula(text, builder->preset, builder->err) != STA_OK)
        sta_error_wrap(builder->err, "%s:%u: additional", node->path, node->line);
    free(text);
}

/* ---- both */

typedef void (*expression_check)(struct sta_preset_builder *, const struct sta_yaml_node *);

static void build_named(struct sta_preset_builder *builder, const char *key, expression_check check,
                        struct sta_named_expression **items, size_t *count)
{
    const struct sta_yaml_node *node = sta_preset_mapping(builder, key);
    if (node == NULL)
        return;
    *items = sta_preset_alloc(builder, node->count, sizeof **items);
    for (size_t i = 0; i < node->count && sta_preset_note(builder); i++) {
        const char *name = NULL, *text;
        sta_preset_at(builder, "/%s/%.80s", key, node->keys[i]->text);
        sta_check_name(node->keys[i], key, &name, builder->err);
        sta_check_text(node->items[i], name, &text, builder->err);
        if (!sta_preset_failed(builder))
            check(builder, node->items[i]);
        if (!sta_preset_failed(builder))
            (*items)[(*count)++] = (struct sta_named_expression){name, text};
    }
}

void sta_preset_build_expressions(struct sta_preset_builder *builder)
{
    struct sta_preset *preset = builder->preset;
    build_named(builder, "views", check_view, &preset->views, &preset->view_count);
    sta_preset_note(builder);
    sta_preset_at(builder, "/additional");
    build_named(builder, "additional", check_additional, &preset->additional, &preset->additional_count);
}

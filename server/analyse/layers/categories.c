/* Layers from categories: every dotted prefix of a category that events have is a layer.
 *
 * The order is that of a tree drawn depth first, children by text; it comes from the texts alone, so the same
 * trace always gives the same layers. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/categories.h"
#include "analyse/layers/preset_build.h"
#include "analyse/layers/presets.h"
#include "common/buffer.h"
#include "common/account.h"
#include "common/memory.h"

#define PREFIX_LENGTH 1000 /* longer ones make no layer */
#define APP_COLOR "#263238"

struct prefix {
    struct sta_text text;
    unsigned depth; /* dots in it */
};

struct prefixes {
    struct sta_dictionary *texts; /* each once */
    struct prefix *items;
    size_t count, capacity;
    size_t left_out;
    struct sta_account account; /* of these, within that of the snapshot */
};

#define WHAT "layers of categories"

/* ---- which categories events have */

static int note_row_group(const struct sta_snapshot *snapshot, const struct sta_row_group *row_group,
                          uint32_t *buffer, uint8_t *used, uint32_t count, struct sta_error *err)
{
    struct sta_column_stats stats;
    sta_row_group_stats(snapshot, row_group, STA_COLUMN_CAT, &stats);
    const uint32_t *codes = stats.codes;
    uint32_t code_count = stats.code_count;
    if (stats.kind == STA_KIND_ABSENT)
        return STA_OK;
    if (!stats.listed) {
        struct sta_column_values values = {.codes = buffer};
        int status = sta_row_group_read(snapshot, row_group, STA_COLUMN_CAT, &values, err);
        if (status != STA_OK)
            return status;
        codes = buffer;
        code_count = values.kind == STA_KIND_CODE ? row_group->rows : 0;
    }
    for (uint32_t i = 0; i < code_count; i++) {
        if (codes[i] < count)
            used[codes[i]] = 1;
    }
    return STA_OK;
}

int sta_categories_used(const struct sta_snapshot *snapshot, uint8_t *used, uint32_t count,
                        struct sta_error *err)
{
    uint32_t *buffer = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *buffer);
    int status = STA_OK;
    for (size_t i = 0; i < sta_snapshot_row_group_count(snapshot) && status == STA_OK; i++)
        status = note_row_group(snapshot, sta_snapshot_row_group(snapshot, i), buffer, used, count, err);
    free(buffer);
    return status;
}

/* ---- their prefixes */

static int add_prefix(struct prefixes *prefixes, struct sta_text cat, uint32_t length, unsigned depth,
                      struct sta_error *err)
{
    bool fits = length <= PREFIX_LENGTH && depth < STA_CATEGORY_DEPTH && memchr(cat.bytes, 0, length) == NULL;
    if (length == 0)
        return STA_OK;
    if (!fits) {
        prefixes->left_out += length == cat.length;
        return STA_OK;
    }
    uint32_t next = sta_dictionary_count(prefixes->texts);
    uint32_t code = sta_dictionary_intern(prefixes->texts, cat.bytes, length);
    if (code != next)
        return sta_account_failure(&prefixes->account, err);
    if (STA_ACCOUNT_GROW(&prefixes->account, prefixes->items, prefixes->capacity, prefixes->count + 1, WHAT,
                         err) != STA_OK)
        return err->status;
    prefixes->items[prefixes->count++] = (struct prefix){sta_dictionary_text(prefixes->texts, code), depth};
    return STA_OK;
}

static int add_category(struct prefixes *prefixes, struct sta_text cat, struct sta_error *err)
{
    unsigned depth = 0;
    int status = STA_OK;
    for (uint32_t i = 0; i < cat.length && i <= PREFIX_LENGTH && status == STA_OK; i++) {
        if (cat.bytes[i] != '.')
            continue;
        status = add_prefix(prefixes, cat, i, depth, err);
        depth++;
    }
    return status == STA_OK ? add_prefix(prefixes, cat, cat.length, depth, err) : status;
}

/* By text with the dot before every other character, which puts descendants right behind their ancestor. */
static int by_tree(const void *a, const void *b)
{
    const struct sta_text x = ((const struct prefix *)a)->text, y = ((const struct prefix *)b)->text;
    uint32_t i = 0;
    while (i < x.length && i < y.length && x.bytes[i] == y.bytes[i])
        i++;
    int left = i == x.length ? -1 : x.bytes[i] == '.' ? 0 : (unsigned char)x.bytes[i] + 1;
    int right = i == y.length ? -1 : y.bytes[i] == '.' ? 0 : (unsigned char)y.bytes[i] + 1;
    return left - right;
}

static int by_depth(const void *a, const void *b)
{
    const struct prefix *x = a, *y = b;
    return x->depth != y->depth ? (x->depth < y->depth ? -1 : 1) : by_tree(a, b);
}

/* Keeps the outermost ones when there are too many: a layer's parent is a layer too. */
static void sort_prefixes(struct prefixes *prefixes)
{
    if (prefixes->count == 0) /* a trace without events, or without categories */
        return;
    qsort(prefixes->items, prefixes->count, sizeof *prefixes->items, by_depth);
    if (prefixes->count > STA_LAYER_LIMIT - 1) {
        prefixes->left_out += prefixes->count - (STA_LAYER_LIMIT - 1);
        prefixes->count = STA_LAYER_LIMIT - 1;
    }
    qsort(prefixes->items, prefixes->count, sizeof *prefixes->items, by_tree);
}

static int find_prefixes(const struct sta_snapshot *snapshot, struct prefixes *prefixes,
                         struct sta_error *err)
{
    const struct sta_dictionary *cats = sta_tables_cats(sta_snapshot_tables(snapshot));
    uint32_t count = sta_dictionary_count(cats);
    uint8_t *used = sta_account_calloc(&prefixes->account, count, 1, WHAT, err);
    int status = used != NULL ? sta_categories_used(snapshot, used, count, err) : err->status;
    for (uint32_t code = 0; code < count && status == STA_OK; code++) {
        if (used[code])
            status = add_category(prefixes, sta_dictionary_text(cats, code), err);
    }
    sta_account_free(&prefixes->account, used);
    sort_prefixes(prefixes);
    return status;
}

/* ---- layers */

void sta_put_literal(struct sta_buffer *out, const char *text, size_t length, const char *behind)
{
    sta_put_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ')
            sta_put_format(out, "\\x%02x", c);
        else
            sta_put_format(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    sta_put_format(out, "%s\"", behind);
}

/* A text that was made, kept with the preset. */
static const char *keep(struct sta_preset *bound, char *text)
{
    const char *kept = sta_arena_copy(&bound->memory, text, strlen(text));
    free(text);
    return kept;
}

static char *prefix_condition(struct sta_text text)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_put_text(&out, "cat == ");
    sta_put_literal(&out, text.bytes, text.length, "");
    sta_put_text(&out, " or cat.str.startswith(");
    sta_put_literal(&out, text.bytes, text.length, ".");
    sta_put_text(&out, ")");
    return sta_buffer_take_text(&out);
}

/* The text before the last dot, when that is a layer; else the layer around everything. */
static const char *parent_name(struct sta_preset *bound, const struct prefixes *prefixes,
                               struct sta_text text)
{
    while (text.length > 0 && text.bytes[text.length - 1] != '.')
        text.length--;
    text.length -= text.length > 0;
    bool layer =
        text.length > 0 && sta_dictionary_find(prefixes->texts, text.bytes, text.length) != STA_NO_CODE;
    return layer ? sta_arena_copy(&bound->memory, text.bytes, text.length) : bound->layers[0].name;
}

/* "app", or app_2 .. where a category has that name. */
static const char *outermost_name(struct sta_preset *bound, const struct prefixes *prefixes)
{
    char name[sizeof "app_4294967295"] = "app";
    for (unsigned i = 2; sta_dictionary_find(prefixes->texts, name, strlen(name)) != STA_NO_CODE; i++)
        snprintf(name, sizeof name, "app_%u", i);
    return sta_arena_copy(&bound->memory, name, strlen(name));
}

static void make_layers(struct sta_preset *bound, const struct prefixes *prefixes)
{
    bound->layer_count = prefixes->count + 1;
    bound->layers = sta_arena_alloc(&bound->memory, bound->layer_count * sizeof *bound->layers,
                                    _Alignof(struct sta_layer));
    bound->layers[0] = (struct sta_layer){
        .name = outermost_name(bound, prefixes), .label = "All events", .color = APP_COLOR};
    size_t hue = 0;
    for (size_t i = 0; i < prefixes->count; i++) {
        const struct prefix *prefix = &prefixes->items[i];
        const char *name = sta_arena_copy(&bound->memory, prefix->text.bytes, prefix->text.length);
        hue += prefix->depth == 0 && i > 0;
        bound->layers[i + 1] =
            (struct sta_layer){.name = name,
                               .label = name,
                               .color = sta_palette_color(hue, prefix->depth, &bound->memory),
                               .parent = parent_name(bound, prefixes, prefix->text),
                               .condition = keep(bound, prefix_condition(prefix->text))};
    }
}

int sta_category_layers(const struct sta_preset *preset, const struct sta_snapshot *snapshot,
                        struct sta_preset **bound, struct sta_error *err)
{
    struct prefixes prefixes = {0};
    sta_account_init_part(&prefixes.account, sta_snapshot_account(snapshot));
    prefixes.texts = sta_dictionary_create_in(&prefixes.account);
    int status = find_prefixes(snapshot, &prefixes, err);
    *bound = NULL;
    if (status == STA_OK) {
        *bound = sta_alloc(sizeof **bound);
        **bound = *preset;
        (*bound)->memory = (struct sta_arena){0};
        if (prefixes.left_out > 0)
            (*bound)->description =
                keep(*bound, sta_sprintf("%s; %zu further categories have no layer of their own",
                                         preset->description, prefixes.left_out));
        make_layers(*bound, &prefixes);
    }
    sta_dictionary_destroy(prefixes.texts);
    sta_account_free(&prefixes.account, prefixes.items);
    sta_account_close(&prefixes.account);
    return status;
}

struct sta_dictionary *sta_category_names(const struct sta_preset *bound)
{
    struct sta_dictionary *names = sta_dictionary_create();
    for (uint32_t l = 1; l < bound->layer_count; l++) {
        uint32_t code = sta_dictionary_intern(names, bound->layers[l].name, strlen(bound->layers[l].name));
        STA_ASSERT(code == l - 1);
    }
    return names;
}

unsigned sta_category_find(const struct sta_dictionary *names, struct sta_text cat,
                           uint32_t codes[STA_CATEGORY_DEPTH])
{
    unsigned count = 0;
    for (uint32_t i = 1; i <= cat.length && i <= PREFIX_LENGTH && count < STA_CATEGORY_DEPTH; i++) {
        if (i < cat.length && cat.bytes[i] != '.')
            continue;
        codes[count] = sta_dictionary_find(names, cat.bytes, i);
        count += codes[count] != STA_NO_CODE;
    }
    return count;
}

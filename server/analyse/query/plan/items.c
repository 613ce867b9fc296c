/* Names and expressions as requests have them: "size", {"gib": "size / 1024 ** 3"}, and lists of these. */
#include "analyse/query/plan/maker.h"

#include <string.h>

#include "common/dictionary.h"

/* ---- lists */

static bool is_item(const struct sta_document *value)
{
    return value->type == STA_DOCUMENT_TEXT || (value->type == STA_DOCUMENT_OBJECT && value->count > 0);
}

static size_t count_items(const struct sta_document *list)
{
    size_t count = list->type == STA_DOCUMENT_TEXT;
    for (const struct sta_document *value = list->first; value != NULL; value = value->next)
        count += value->type == STA_DOCUMENT_OBJECT ? value->count : 1;
    return count;
}

static void add_item(struct sta_maker *maker, struct sta_items *items, const struct sta_document *value,
                     const char *pointer)
{
    if (!is_item(value)) {
        sta_refuse(maker, STA_EINPUT, pointer,
                   "expected an expression in a string or {\"name\": \"expression\"}, not %s",
                   sta_document_kind(value));
    } else if (value->type == STA_DOCUMENT_TEXT) {
        items->items[items->count++] = (struct sta_item){value->text.bytes, value, pointer};
    } else {
        for (const struct sta_document *member = value->first; member != NULL; member = member->next)
            items->items[items->count++] =
                (struct sta_item){member->name, member, sta_point(maker, pointer, member->name)};
    }
}

/* @names: of items that may have been given one that another has. */
static void refuse_twins(struct sta_maker *maker, const struct sta_items *items, const char *const *names)
{
    struct sta_dictionary *seen = sta_dictionary_create();
    for (size_t i = 0; i < items->count && !maker->failed; i++)
        if (sta_dictionary_intern(seen, names[i], strlen(names[i])) != i)
            sta_refuse(maker, STA_EINPUT, items->items[i].pointer, "'%.120s' is there twice", names[i]);
    sta_dictionary_destroy(seen);
}

struct sta_items sta_items_read(struct sta_maker *maker, const struct sta_document *list, const char *pointer,
                                bool single)
{
    struct sta_items items = {.count = 0};
    if (maker->failed)
        return items;
    items.items = sta_maker_alloc(maker, count_items(list), sizeof *items.items);
    if (single && is_item(list)) {
        add_item(maker, &items, list, pointer);
    } else if (list->type != STA_DOCUMENT_LIST) {
        sta_refuse(maker, STA_EINPUT, pointer, "expected a list of expressions, not %s",
                   sta_document_kind(list));
    } else {
        size_t index = 0;
        for (const struct sta_document *value = list->first; value != NULL; value = value->next)
            add_item(maker, &items, value, sta_point_at(maker, pointer, index++));
    }
    const char **names = sta_maker_alloc(maker, items.count, sizeof *names);
    for (size_t i = 0; i < items.count; i++)
        names[i] = items.items[i].name;
    refuse_twins(maker, &items, names);
    return items;
}

/* ---- expressions */

bool sta_is_caseless_name(const char *name)
{
    return strcmp(name, "cat") == 0;
}

struct sta_text sta_expression_text(struct sta_maker *maker, const struct sta_document *value,
                                    const char *pointer)
{
    if (value->type == STA_DOCUMENT_TEXT)
        return value->text;
    sta_refuse(maker, STA_EINPUT, pointer, "expected an expression in a string, not %s",
               sta_document_kind(value));
    return (struct sta_text){"", 0};
}

void sta_parser_failed(struct sta_maker *maker, int rc, const char *pointer)
{
    if (rc == 0 || maker->failed)
        return;
    sta_at(maker->err, pointer, maker->err->position);
    maker->failed = true;
}

struct sta_expression *sta_compile(struct sta_maker *maker, sta_parse parse, const struct sta_document *value,
                                   const char *pointer)
{
    struct sta_expression *expression = NULL;
    struct sta_text text = sta_expression_text(maker, value, pointer);
    if (!maker->failed)
        sta_parser_failed(
            maker, parse(text.bytes, text.length, &maker->stage->schema, &expression, maker->err), pointer);
    return expression;
}

/* ---- columns */

/* A bare column that was asked for by an older name is returned under the present one. */
static const char *present_name(const struct sta_maker *maker, const char *name,
                                const struct sta_expression *expression)
{
    const char *present = sta_present_name(sta_text_of(name));
    int column = expression->column;
    bool same =
        present != NULL && column >= 0 && strcmp(maker->stage->schema.columns[column].name, present) == 0;
    return same ? present : name;
}

void sta_make_outputs(struct sta_maker *maker, const struct sta_items *items, struct sta_plan_output **place,
                      size_t *count)
{
    struct sta_plan_output *outputs = sta_maker_alloc(maker, items->count, sizeof *outputs);
    const char **names = sta_maker_alloc(maker, items->count, sizeof *names);
    *place = outputs;
    for (size_t i = 0; i < items->count && !maker->failed; i++) {
        const struct sta_item *item = &items->items[i];
        struct sta_expression *expression =
            sta_compile(maker, sta_expression_parse, item->value, item->pointer);
        if (expression == NULL)
            return;
        names[i] = present_name(maker, item->name, expression);
        outputs[(*count)++] = (struct sta_plan_output){.name = sta_maker_copy(maker, names[i]),
                                                       .unit = sta_static_unit(expression->unit),
                                                       .expression = expression};
    }
    refuse_twins(maker, items, names);
}

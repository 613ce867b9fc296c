/* Labels of events as codes, and codes as texts. */
#include "timeline/labels.h"

#include <string.h>

#include "analyse/views/members.h"
#include "common/buffer.h"

static const char *const label_words[] = {"name", "category", "layer", "category:name"};

int sta_labels_init(struct sta_labels *labels, const struct sta_selection *selection,
                    const struct sta_budget *budget, struct sta_error *err)
{
    size_t kind = STA_LABEL_NAME;
    *labels = (struct sta_labels){.selection = selection};
    int rc = sta_member_word(selection->query->request, "label", label_words, 4, &kind, err);
    labels->kind = (enum sta_label_kind)kind;
    if (rc != 0 || kind == STA_LABEL_NAME)
        return rc;
    if (kind == STA_LABEL_CATEGORY_NAME)
        labels->pairs = sta_dictionary_create_in(budget->account);
    return sta_preset_view_classify(selection->view, selection->query->timeline, NULL, budget, err);
}

void sta_labels_fini(struct sta_labels *labels)
{
    sta_dictionary_destroy(labels->pairs);
}

static uint32_t pair_of(const struct sta_labels *labels, struct sta_map *memo, uint32_t category,
                        uint32_t name)
{
    uint32_t code;
    const uint64_t key = (uint64_t)(uint32_t)(category + 1) << 32 | (uint32_t)(name + 1);
    if (sta_map_find(memo, key, &code))
        return code;
    struct sta_text first = sta_selection_category(labels->selection, category),
                    second = sta_selection_name(labels->selection, name);
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_put(&text, first.bytes != NULL ? first.bytes : "", first.length);
    sta_put_char(&text, ':');
    sta_put(&text, second.bytes != NULL ? second.bytes : "", second.length);
    STA_ASSERT(!text.failed);
    code = sta_dictionary_intern(labels->pairs, text.data, text.size);
    sta_buffer_fini(&text);
    sta_map_put(memo, key, code);
    return code;
}

uint32_t sta_labels_of(const struct sta_labels *labels, struct sta_map *memo,
                       const struct sta_lane_event *event)
{
    if (labels->kind == STA_LABEL_NAME)
        return event->name;
    const struct sta_class_labels *of = sta_selection_labels(labels->selection, event->number);
    if (labels->kind == STA_LABEL_CATEGORY)
        return of->category;
    return labels->kind == STA_LABEL_LAYER ? of->layer : pair_of(labels, memo, of->category, event->name);
}

struct sta_text sta_labels_text(const struct sta_labels *labels, uint32_t code)
{
    if (code == STA_NO_CODE)
        return (struct sta_text){0};
    if (labels->kind == STA_LABEL_NAME)
        return sta_selection_name(labels->selection, code);
    if (labels->kind == STA_LABEL_CATEGORY)
        return sta_selection_category(labels->selection, code);
    if (labels->kind == STA_LABEL_CATEGORY_NAME)
        return sta_dictionary_text(labels->pairs, code);
    const char *name = labels->selection->view->bound.preset->layers[code].name;
    return (struct sta_text){name, (uint32_t)strlen(name)};
}

static uint32_t find_layer(const struct sta_preset *preset, struct sta_text text)
{
    for (uint32_t l = 0; l < preset->layer_count; l++)
        if (strlen(preset->layers[l].name) == text.length &&
            memcmp(preset->layers[l].name, text.bytes, text.length) == 0)
            return l;
    return STA_NO_CODE;
}

uint32_t sta_labels_find(const struct sta_labels *labels, struct sta_text text)
{
    const struct sta_preset_view *view = labels->selection->view;
    switch (labels->kind) {
    case STA_LABEL_NAME:
        return sta_dictionary_find(sta_tables_names(sta_snapshot_tables(labels->selection->index->snapshot)),
                                   text.bytes, text.length);
    case STA_LABEL_CATEGORY:
        return sta_dictionary_find(sta_columns_texts(view->bound.columns, STA_LOGICAL_cat), text.bytes,
                                   text.length);
    case STA_LABEL_LAYER:
        return find_layer(view->bound.preset, text);
    default:
        return sta_dictionary_intern(labels->pairs, text.bytes, text.length);
    }
}

int sta_labels_compare(const struct sta_labels *labels, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    struct sta_text x = sta_labels_text(labels, a), y = sta_labels_text(labels, b);
    if (x.bytes == NULL || y.bytes == NULL)
        return (x.bytes == NULL) - (y.bytes == NULL);
    return sta_text_order(x, y);
}

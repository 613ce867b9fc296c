/* Kinds, by the bits of their classes. */
#include "analyse/exact/kinds.h"

#include <string.h>
#include <uv.h>

#include "analyse/exact/segmented.h"
#include "analyse/sources/shared.h"
#include "common/dictionary.h"

struct sta_kinds {
    const struct sta_classes *classes;
    const struct sta_exact_shape *shape;
    bool unions;
    uv_mutex_t lock;
    struct sta_dictionary *codes; /* of what makes a kind: a class, whatever its category */
    struct sta_segmented items;   /* struct sta_kind, by code */
    struct sta_arena lists;
};

struct sta_kinds *sta_kinds_create(const struct sta_classes *classes, const struct sta_exact_shape *shape,
                                   bool unions, struct sta_account *account)
{
    struct sta_kinds *kinds = sta_alloc(sizeof *kinds);
    kinds->classes = classes;
    kinds->shape = shape;
    kinds->unions = unions;
    kinds->codes = sta_dictionary_create_in(account);
    kinds->items.size = sizeof(struct sta_kind);
    kinds->items.account = account;
    kinds->lists.account = account;
    STA_ASSERT(uv_mutex_init(&kinds->lock) == 0);
    return kinds;
}

void sta_kinds_destroy(struct sta_kinds *kinds)
{
    if (kinds == NULL)
        return;
    uv_mutex_destroy(&kinds->lock);
    sta_dictionary_destroy(kinds->codes);
    sta_segmented_fini(&kinds->items);
    sta_arena_fini(&kinds->lists);
    free(kinds);
}

static uint32_t *new_list(struct sta_kinds *kinds, uint32_t most)
{
    return sta_arena_alloc(&kinds->lists, ((size_t)most + 1) * sizeof(uint32_t), _Alignof(uint32_t));
}

static void add_once(uint32_t *list, uint32_t *count, uint32_t value)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    list[(*count)++] = value;
}

static void list_layers(struct sta_kinds *kinds, const struct sta_class *class, struct sta_kind *kind)
{
    const struct sta_exact_shape *shape = kinds->shape;
    uint32_t *layers = new_list(kinds, shape->layer_count);
    uint32_t *metrics = new_list(kinds, shape->metric_count);
    kind->layers = layers;
    kind->metrics = metrics;
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        const struct sta_exact_shape_layer *layer = &shape->layers[l];
        if (!sta_class_has(class, l))
            continue;
        kind->in_layers++;
        if (!layer->wanted)
            continue;
        layers[kind->layer_count++] = l;
        for (uint32_t m = 0; m < layer->metric_count; m++)
            if (sta_class_has(class, sta_classes_metric_bit(kinds->classes, l, m)))
                metrics[kind->metric_count++] = layer->first_metric + m;
    }
}

static void list_unions(struct sta_kinds *kinds, const struct sta_class *class, struct sta_kind *kind)
{
    const struct sta_exact_shape *shape = kinds->shape;
    uint32_t *unions = new_list(kinds, shape->layer_count + 1);
    kind->unions = unions;
    for (uint32_t l = 0; kinds->unions && l < shape->layer_count; l++) {
        uint32_t parent = shape->layers[l].parent;
        if (!sta_class_has(class, l))
            continue;
        if (parent != STA_NO_LAYER && shape->layers[parent].wanted)
            add_once(unions, &kind->union_count, parent);
        if (l == shape->compute && sta_exact_shape_any_exposed(shape))
            add_once(unions, &kind->union_count, shape->layer_count);
    }
}

static const struct sta_kind *kind_of(struct sta_kinds *kinds, struct sta_class class, struct sta_error *err)
{
    class.cat = STA_NO_CODE;
    uv_mutex_lock(&kinds->lock);
    uint32_t code = sta_dictionary_intern(kinds->codes, (const char *)&class, sizeof class);
    if (code == kinds->items.count) {
        struct sta_kind *fresh = sta_segmented_add(&kinds->items, err);
        if (fresh != NULL) {
            *fresh = (struct sta_kind){.number = code, .fate = class.fate};
            list_layers(kinds, &class, fresh);
            list_unions(kinds, &class, fresh);
        }
    }
    const struct sta_kind *kind = code < kinds->items.count ? sta_segmented_at(&kinds->items, code) : NULL;
    uv_mutex_unlock(&kinds->lock);
    if (kind == NULL && err->status == STA_OK) /* another thread was refused, and says why */
        sta_fail(err, STA_ENOMEM, "memory ran out for the classes of events");
    return kind;
}

const struct sta_kind *sta_kinds_of(struct sta_kinds *kinds, uint32_t class_code, struct sta_error *err)
{
    return kind_of(kinds, sta_classes_get(kinds->classes, class_code), err);
}

const struct sta_kind *sta_kinds_at(const struct sta_kinds *kinds, uint32_t number)
{
    return sta_segmented_at(&kinds->items, number);
}

/* ---- for other processes: what makes a kind is the same in all of them */

void sta_kinds_put(const struct sta_kinds *kinds, struct sta_buffer *out)
{
    sta_put_varint(out, kinds->items.count);
    for (uint32_t k = 0; k < kinds->items.count; k++)
        sta_put(out, sta_dictionary_text(kinds->codes, k).bytes, sizeof(struct sta_class));
}

const struct sta_kind *sta_kinds_get(struct sta_kinds *kinds, struct sta_cursor *in, struct sta_error *err)
{
    struct sta_class class;
    const void *bytes = sta_get_bytes(in, sizeof class);
    if (bytes != NULL)
        memcpy(&class, bytes, sizeof class);
    if (bytes == NULL || class.fate > STA_FATE_FUNCTION) {
        sta_shared_fail(err);
        return NULL;
    }
    return kind_of(kinds, class, err);
}

/* Signatures, by the bits of their classes. */
#include "analyse/exact/signatures.h"

#include <string.h>
#include <uv.h>

#include "analyse/exact/segmented.h"
#include "analyse/sources/shared.h"
#include "common/dictionary.h"

struct sta_event_signatures {
    const struct sta_classes *classes;
    const struct sta_exact_shape *shape;
    bool unions;
    uv_mutex_t lock;
    struct sta_dictionary *codes; /* of what makes a signature: a class, whatever its category */
    struct sta_segmented items;   /* struct sta_event_signature, by code */
    struct sta_arena lists;
};

struct sta_event_signatures *sta_event_signatures_create(const struct sta_classes *classes,
                                                         const struct sta_exact_shape *shape, bool unions,
                                                         struct sta_account *account)
{
    struct sta_event_signatures *all = sta_alloc(sizeof *all);
    all->classes = classes;
    all->shape = shape;
    all->unions = unions;
    all->codes = sta_dictionary_create_in(account);
    all->items.size = sizeof(struct sta_event_signature);
    all->items.account = account;
    all->lists.account = account;
    STA_ASSERT(uv_mutex_init(&all->lock) == 0);
    return all;
}

void sta_event_signatures_destroy(struct sta_event_signatures *all)
{
    if (all == NULL)
        return;
    uv_mutex_destroy(&all->lock);
    sta_dictionary_destroy(all->codes);
    sta_segmented_fini(&all->items);
    sta_arena_fini(&all->lists);
    free(all);
}

static uint32_t *new_list(struct sta_event_signatures *all, uint32_t most)
{
    return sta_arena_alloc(&all->lists, ((size_t)most + 1) * sizeof(uint32_t), _Alignof(uint32_t));
}

static void add_once(uint32_t *list, uint32_t *count, uint32_t value)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    list[(*count)++] = value;
}

static void list_layers(struct sta_event_signatures *all, const struct sta_class *class,
                        struct sta_event_signature *of)
{
    const struct sta_exact_shape *shape = all->shape;
    uint32_t *layers = new_list(all, shape->layer_count);
    uint32_t *metrics = new_list(all, shape->metric_count);
    of->layers = layers;
    of->metrics = metrics;
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        const struct sta_exact_shape_layer *layer = &shape->layers[l];
        if (!sta_class_has(class, l))
            continue;
        of->in_layers++;
        if (!layer->wanted)
            continue;
        layers[of->layer_count++] = l;
        for (uint32_t m = 0; m < layer->metric_count; m++)
            if (sta_class_has(class, sta_classes_metric_bit(all->classes, l, m)))
                metrics[of->metric_count++] = layer->first_metric + m;
    }
}

static void list_unions(struct sta_event_signatures *all, const struct sta_class *class,
                        struct sta_event_signature *of)
{
    const struct sta_exact_shape *shape = all->shape;
    uint32_t *unions = new_list(all, shape->layer_count + 1);
    of->unions = unions;
    for (uint32_t l = 0; all->unions && l < shape->layer_count; l++) {
        uint32_t parent = shape->layers[l].parent;
        if (!sta_class_has(class, l))
            continue;
        if (parent != STA_NO_LAYER && shape->layers[parent].wanted)
            add_once(unions, &of->union_count, parent);
        if (l == shape->compute && sta_exact_shape_any_exposed(shape))
            add_once(unions, &of->union_count, shape->layer_count);
    }
}

static const struct sta_event_signature *signature_of(struct sta_event_signatures *all,
                                                      struct sta_class class, struct sta_error *err)
{
    class.cat = STA_NO_CODE;
    uv_mutex_lock(&all->lock);
    uint32_t code = sta_dictionary_intern(all->codes, (const char *)&class, sizeof class);
    if (code == all->items.count) {
        struct sta_event_signature *fresh = sta_segmented_add(&all->items, err);
        if (fresh != NULL) {
            *fresh = (struct sta_event_signature){.number = code, .fate = class.fate};
            list_layers(all, &class, fresh);
            list_unions(all, &class, fresh);
        }
    }
    const struct sta_event_signature *of =
        code < all->items.count ? sta_segmented_at(&all->items, code) : NULL;
    uv_mutex_unlock(&all->lock);
    if (of == NULL && err->status == STA_OK) /* another thread was refused, and says why */
        sta_fail(err, STA_ENOMEM, "memory ran out for the classes of events");
    return of;
}

const struct sta_event_signature *sta_event_signatures_of(struct sta_event_signatures *all,
                                                          uint32_t class_code, struct sta_error *err)
{
    return signature_of(all, sta_classes_get(all->classes, class_code), err);
}

const struct sta_event_signature *sta_event_signatures_at(const struct sta_event_signatures *all,
                                                          uint32_t number)
{
    return sta_segmented_at(&all->items, number);
}

/* ---- for other processes: what makes a signature is the same in all of them */

void sta_event_signatures_put(const struct sta_event_signatures *all, struct sta_buffer *out)
{
    sta_put_varint(out, all->items.count);
    for (uint32_t k = 0; k < all->items.count; k++)
        sta_put(out, sta_dictionary_text(all->codes, k).bytes, sizeof(struct sta_class));
}

const struct sta_event_signature *sta_event_signatures_get(struct sta_event_signatures *all,
                                                           struct sta_cursor *in, struct sta_error *err)
{
    struct sta_class class;
    const void *bytes = sta_get_bytes(in, sizeof class);
    if (bytes != NULL)
        memcpy(&class, bytes, sizeof class);
    if (bytes == NULL || class.fate > STA_FATE_FUNCTION) {
        sta_shared_fail(err);
        return NULL;
    }
    return signature_of(all, class, err);
}

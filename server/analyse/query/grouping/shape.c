/* From what is asked to folds, lists and the layout of a record. */
#include "analyse/query/grouping/shape.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/query/grouping/folds.h"
#include "common/memory.h"

/* Arguments of each aggregate. */
static const unsigned argument_counts[] = {
#define X(id, name, arguments) [STA_AGGREGATE_##id] = arguments,
    STA_AGGREGATE_LIST(X)
#undef X
};

bool sta_primitive_needs_order(const struct sta_primitive *primitive)
{
    return primitive->aggregate == STA_AGGREGATE_FIRST || primitive->aggregate == STA_AGGREGATE_LAST ||
           primitive->aggregate == STA_AGGREGATE_ARGMAX;
}

/* ---- kinds of folds */

static const struct sta_fold_kind *by_type(enum sta_type type, const struct sta_fold_kind *integer,
                                           const struct sta_fold_kind *number,
                                           const struct sta_fold_kind *text)
{
    if (type == STA_TYPE_TEXT)
        return text;
    return type == STA_TYPE_FLOAT ? number : integer;
}

const struct sta_fold_kind *sta_fold_kind_of(const struct sta_primitive *primitive)
{
    enum sta_type type = primitive->types[0];
    switch (primitive->aggregate) {
    case STA_AGGREGATE_ROWS:
    case STA_AGGREGATE_COUNT:
        return &sta_fold_count;
    case STA_AGGREGATE_SUM:
        return by_type(type, &sta_fold_sum, &sta_fold_exact_sum, NULL);
    case STA_AGGREGATE_MEAN:
        return by_type(type, &sta_fold_mean, &sta_fold_exact_sum, NULL);
    case STA_AGGREGATE_STD:
    case STA_AGGREGATE_VAR:
        return by_type(type, &sta_fold_moments, &sta_fold_exact_moments, NULL);
    case STA_AGGREGATE_MIN:
        return by_type(type, &sta_fold_least_integer, &sta_fold_least_number, &sta_fold_least_text);
    case STA_AGGREGATE_MAX:
        return by_type(type, &sta_fold_greatest_integer, &sta_fold_greatest_number, &sta_fold_greatest_text);
    case STA_AGGREGATE_FIRST:
        return &sta_fold_first;
    case STA_AGGREGATE_LAST:
        return &sta_fold_last;
    case STA_AGGREGATE_ARGMAX:
        return &sta_fold_argmax;
    case STA_AGGREGATE_BUSY:
        return &sta_fold_spans;
    default:
        return &sta_fold_values;
    }
}

/* ---- lists */

static bool list_kind_of(const struct sta_fold *fold, enum sta_list_kind *kind)
{
    if (fold->kind == &sta_fold_exact_sum || fold->kind == &sta_fold_exact_moments)
        *kind = STA_LIST_TERMS;
    else if (fold->kind == &sta_fold_spans)
        *kind = STA_LIST_SPANS;
    else if (fold->kind == &sta_fold_values)
        *kind = fold->primitive.aggregate == STA_AGGREGATE_NUNIQUE ||
                        fold->primitive.aggregate == STA_AGGREGATE_UNIQUE
                    ? STA_LIST_SET
                    : STA_LIST_VALUES;
    else
        return false;
    return true;
}

static uint32_t find_list(const struct sta_shape *shape, enum sta_list_kind kind, uint32_t argument)
{
    uint32_t list = 0;
    while (list < shape->list_count && (kind == STA_LIST_TERMS || shape->lists[list].kind != kind ||
                                        shape->lists[list].argument != argument))
        list++;
    return list;
}

static void join_list(struct sta_shape *shape, uint32_t number)
{
    struct sta_fold *fold = &shape->folds[number];
    enum sta_list_kind kind;
    fold->list = STA_NO_LIST;
    if (!list_kind_of(fold, &kind))
        return;
    fold->list = find_list(shape, kind, fold->leading);
    struct sta_list_shape *list = &shape->lists[fold->list];
    if (fold->list == shape->list_count) {
        *list = (struct sta_list_shape){
            .kind = kind, .argument = fold->leading, .type = fold->primitive.types[0], .texts = fold->texts};
        list->folds = sta_alloc_array(shape->fold_count, sizeof *list->folds);
        shape->list_count++;
    }
    list->folds[list->fold_count++] = number;
}

/* ---- shapes */

static struct sta_texts *argument_texts(struct sta_shape *shape, uint32_t argument, enum sta_type type)
{
    if (type != STA_TYPE_TEXT && type != STA_TYPE_LIST)
        return NULL;
    if (shape->argument_texts[argument] == NULL)
        shape->argument_texts[argument] = sta_texts_create();
    return shape->argument_texts[argument];
}

static void init_fold(struct sta_shape *shape, uint32_t number, const struct sta_primitive *primitive)
{
    struct sta_fold *fold = &shape->folds[number];
    uint32_t first = primitive->first_argument;
    unsigned arguments = argument_counts[primitive->aggregate];
    *fold = (struct sta_fold){
        .primitive = *primitive, .type = sta_primitive_type(primitive), .leading = first, .other = first};
    /* Lists of a stage before pass through like texts. */
    for (unsigned a = 0; a < arguments; a++)
        if (fold->primitive.types[a] == STA_TYPE_LIST)
            fold->primitive.types[a] = STA_TYPE_TEXT;
    if (primitive->aggregate == STA_AGGREGATE_MEDIAN)
        fold->primitive.quantile = 0.5;
    if (arguments > 0)
        fold->texts = argument_texts(shape, first, primitive->types[0]);
    if (primitive->aggregate == STA_AGGREGATE_ARGMAX) {
        fold->leading = first + 1;
        fold->by = argument_texts(shape, first + 1, primitive->types[1]);
    } else if (arguments == 2) {
        fold->other = first + 1;
    }
    fold->kind = sta_fold_kind_of(&fold->primitive);
    STA_ASSERT(fold->kind != NULL); /* nothing adds texts up */
    fold->offset = shape->record;
    shape->record += fold->kind->size;
    join_list(shape, number);
}

void sta_shape_init(struct sta_shape *shape, const struct sta_grouping_shape *asked)
{
    *shape = (struct sta_shape){.key_count = asked->key_count,
                                .keep_missing = asked->keep_missing,
                                .fold_count = asked->primitive_count};
    shape->key_types = sta_alloc_array(asked->key_count, sizeof *shape->key_types);
    shape->key_texts = sta_alloc_array(asked->key_count, sizeof *shape->key_texts);
    for (size_t k = 0; k < asked->key_count; k++) {
        shape->key_types[k] = asked->keys[k];
        shape->key_texts[k] = asked->keys[k] == STA_TYPE_TEXT ? sta_texts_create() : NULL;
    }
    for (size_t p = 0; p < asked->primitive_count; p++)
        shape->argument_count =
            STA_MAX(shape->argument_count,
                    asked->primitives[p].first_argument + argument_counts[asked->primitives[p].aggregate]);
    shape->argument_texts = sta_alloc_array(shape->argument_count, sizeof *shape->argument_texts);
    shape->folds = sta_alloc_array(shape->fold_count, sizeof *shape->folds);
    shape->lists = sta_alloc_array(shape->fold_count, sizeof *shape->lists);
    for (uint32_t p = 0; p < shape->fold_count; p++)
        init_fold(shape, p, &asked->primitives[p]);
}

void sta_shape_fini(struct sta_shape *shape)
{
    for (size_t k = 0; k < shape->key_count; k++)
        sta_texts_destroy(shape->key_texts[k]);
    for (size_t a = 0; a < shape->argument_count; a++)
        sta_texts_destroy(shape->argument_texts[a]);
    for (size_t l = 0; l < shape->list_count; l++)
        free(shape->lists[l].folds);
    free(shape->key_types);
    free(shape->key_texts);
    free(shape->argument_texts);
    free(shape->folds);
    free(shape->lists);
}

/* From what is asked to calls, lists and the layout of a record. */
#include "analyse/operators/aggregate/record.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/aggregate/functions.h"
#include "common/memory.h"

bool sta_primitive_needs_order(const struct sta_primitive *primitive)
{
    return primitive->aggregate == STA_AGGREGATE_FIRST || primitive->aggregate == STA_AGGREGATE_LAST ||
           primitive->aggregate == STA_AGGREGATE_ARGMAX;
}

/* ---- kinds of calls */

static const struct sta_agg_function *by_type(enum sta_type type, const struct sta_agg_function *integer,
                                              const struct sta_agg_function *number,
                                              const struct sta_agg_function *text)
{
    if (type == STA_TYPE_TEXT)
        return text;
    return type == STA_TYPE_FLOAT ? number : integer;
}

static const struct sta_agg_function *function_of(const struct sta_primitive *primitive)
{
    enum sta_type type = primitive->types[0];
    switch (primitive->aggregate) {
    case STA_AGGREGATE_ROWS:
    case STA_AGGREGATE_COUNT:
        return &sta_agg_count;
    case STA_AGGREGATE_SUM:
        return by_type(type, &sta_agg_sum, &sta_agg_exact_sum, NULL);
    case STA_AGGREGATE_MEAN:
        return by_type(type, &sta_agg_mean, &sta_agg_exact_sum, NULL);
    case STA_AGGREGATE_STD:
    case STA_AGGREGATE_VAR:
        return by_type(type, &sta_agg_moments, &sta_agg_exact_moments, NULL);
    case STA_AGGREGATE_MIN:
    case STA_AGGREGATE_MAX:
        return by_type(type, &sta_agg_extreme_integer, &sta_agg_extreme_number, &sta_agg_extreme_text);
    case STA_AGGREGATE_FIRST:
    case STA_AGGREGATE_LAST:
        return &sta_agg_first_or_last;
    case STA_AGGREGATE_ARGMAX:
        return &sta_agg_argmax;
    case STA_AGGREGATE_BUSY:
        return &sta_agg_spans;
    default:
        return &sta_agg_values;
    }
}

/* ---- lists */

static bool list_kind_of(const struct sta_agg_call *call, enum sta_list_kind *kind)
{
    if (call->function == &sta_agg_exact_sum || call->function == &sta_agg_exact_moments)
        *kind = STA_LIST_TERMS;
    else if (call->function == &sta_agg_spans)
        *kind = STA_LIST_SPANS;
    else if (call->function == &sta_agg_values)
        *kind = call->primitive.aggregate == STA_AGGREGATE_NUNIQUE ||
                        call->primitive.aggregate == STA_AGGREGATE_UNIQUE
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
    struct sta_agg_call *call = &shape->calls[number];
    enum sta_list_kind kind;
    call->list = STA_NO_LIST;
    if (!list_kind_of(call, &kind))
        return;
    call->list = find_list(shape, kind, call->leading);
    struct sta_list_shape *list = &shape->lists[call->list];
    if (call->list == shape->list_count) {
        *list = (struct sta_list_shape){
            .kind = kind, .argument = call->leading, .type = call->primitive.types[0], .texts = call->texts};
        list->calls = sta_alloc_array(shape->call_count, sizeof *list->calls);
        shape->list_count++;
    }
    list->calls[list->call_count++] = number;
}

/* ---- shapes */

static struct sta_texts *argument_texts(struct sta_shape *shape, uint32_t argument, enum sta_type type)
{
    if (type != STA_TYPE_TEXT && type != STA_TYPE_LIST)
        return NULL;
    if (shape->argument_texts[argument] == NULL)
        shape->argument_texts[argument] = sta_texts_create(shape->texts);
    return shape->argument_texts[argument];
}

static void init_call(struct sta_shape *shape, uint32_t number, const struct sta_primitive *primitive)
{
    struct sta_agg_call *call = &shape->calls[number];
    uint32_t first = primitive->first_argument;
    unsigned arguments = sta_primitive_arguments(primitive);
    *call = (struct sta_agg_call){
        .primitive = *primitive, .type = sta_primitive_type(primitive), .leading = first, .other = first};
    /* Lists of a stage before pass through like texts. */
    for (unsigned a = 0; a < arguments; a++)
        if (call->primitive.types[a] == STA_TYPE_LIST)
            call->primitive.types[a] = STA_TYPE_TEXT;
    if (primitive->aggregate == STA_AGGREGATE_MEDIAN)
        call->primitive.quantile = 0.5;
    if (arguments > 0)
        call->texts = argument_texts(shape, first, primitive->types[0]);
    if (primitive->aggregate == STA_AGGREGATE_ARGMAX) {
        call->leading = first + 1;
        call->by = argument_texts(shape, first + 1, primitive->types[1]);
    } else if (arguments == 2) {
        call->other = first + 1;
    }
    call->function = function_of(&call->primitive);
    STA_ASSERT(call->function != NULL); /* nothing adds texts up */
    call->offset = shape->record;
    shape->record += call->function->size;
    join_list(shape, number);
}

void sta_shape_init(struct sta_shape *shape, const struct sta_aggregation_spec *asked,
                    struct sta_account *texts)
{
    *shape = (struct sta_shape){.key_count = asked->key_count,
                                .keep_missing = asked->keep_missing,
                                .texts = texts,
                                .call_count = asked->primitive_count};
    shape->key_types = sta_alloc_array(asked->key_count, sizeof *shape->key_types);
    shape->key_texts = sta_alloc_array(asked->key_count, sizeof *shape->key_texts);
    for (size_t k = 0; k < asked->key_count; k++) {
        shape->key_types[k] = asked->keys[k];
        shape->key_texts[k] = asked->keys[k] == STA_TYPE_TEXT ? sta_texts_create(texts) : NULL;
    }
    for (size_t p = 0; p < asked->primitive_count; p++)
        shape->argument_count =
            STA_MAX(shape->argument_count,
                    asked->primitives[p].first_argument + sta_primitive_arguments(&asked->primitives[p]));
    shape->argument_texts = sta_alloc_array(shape->argument_count, sizeof *shape->argument_texts);
    shape->calls = sta_alloc_array(shape->call_count, sizeof *shape->calls);
    shape->lists = sta_alloc_array(shape->call_count, sizeof *shape->lists);
    for (uint32_t p = 0; p < shape->call_count; p++)
        init_call(shape, p, &asked->primitives[p]);
}

void sta_shape_fini(struct sta_shape *shape)
{
    for (size_t k = 0; k < shape->key_count; k++)
        sta_texts_destroy(shape->key_texts[k]);
    for (size_t a = 0; a < shape->argument_count; a++)
        sta_texts_destroy(shape->argument_texts[a]);
    for (size_t l = 0; l < shape->list_count; l++)
        free(shape->lists[l].calls);
    free(shape->key_types);
    free(shape->key_texts);
    free(shape->argument_texts);
    free(shape->calls);
    free(shape->lists);
}

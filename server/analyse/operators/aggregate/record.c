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

/* The function of an aggregate, by the type of what it is of. */
static const struct {
    const struct sta_agg_function *integer, *number, *text;
} functions[] = {
    [STA_AGGREGATE_ROWS] = {&sta_agg_count, &sta_agg_count, &sta_agg_count},
    [STA_AGGREGATE_COUNT] = {&sta_agg_count, &sta_agg_count, &sta_agg_count},
    [STA_AGGREGATE_SUM] = {&sta_agg_sum, &sta_agg_exact_sum, NULL},
    [STA_AGGREGATE_MEAN] = {&sta_agg_mean, &sta_agg_exact_sum, NULL},
    [STA_AGGREGATE_STD] = {&sta_agg_moments, &sta_agg_exact_moments, NULL},
    [STA_AGGREGATE_VAR] = {&sta_agg_moments, &sta_agg_exact_moments, NULL},
    [STA_AGGREGATE_MIN] = {&sta_agg_extreme, &sta_agg_extreme, &sta_agg_extreme_text},
    [STA_AGGREGATE_MAX] = {&sta_agg_extreme, &sta_agg_extreme, &sta_agg_extreme_text},
    [STA_AGGREGATE_FIRST] = {&sta_agg_first_or_last, &sta_agg_first_or_last, &sta_agg_first_or_last},
    [STA_AGGREGATE_LAST] = {&sta_agg_first_or_last, &sta_agg_first_or_last, &sta_agg_first_or_last},
    [STA_AGGREGATE_ARGMAX] = {&sta_agg_argmax, &sta_agg_argmax, &sta_agg_argmax},
    [STA_AGGREGATE_BUSY] = {&sta_agg_spans, &sta_agg_spans, &sta_agg_spans},
    [STA_AGGREGATE_MEDIAN] = {&sta_agg_values, &sta_agg_values, &sta_agg_values},
    [STA_AGGREGATE_QUANTILE] = {&sta_agg_values, &sta_agg_values, &sta_agg_values},
    [STA_AGGREGATE_NUNIQUE] = {&sta_agg_set, &sta_agg_set, &sta_agg_set},
    [STA_AGGREGATE_UNIQUE] = {&sta_agg_set, &sta_agg_set, &sta_agg_set},
};

static const struct sta_agg_function *function_of(const struct sta_primitive *primitive)
{
    const enum sta_type type = primitive->types[0];
    if (type == STA_TYPE_TEXT)
        return functions[primitive->aggregate].text;
    return type == STA_TYPE_FLOAT ? functions[primitive->aggregate].number
                                  : functions[primitive->aggregate].integer;
}

/* ---- lists */

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
    const enum sta_list_kind kind = call->function->list;
    call->list = STA_NO_LIST;
    if (kind == STA_LIST_NONE)
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

/* A preset bound to the columns of a snapshot: its conditions as programs, its bits, the classes seen. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/classify_private.h"
#include "analyse/layers/categories.h"
#include "analyse/layers/presets.h"
#include "common/buffer.h"
#include "common/memory.h"

#define DROP_NAMES_PER_CONDITION 100 /* keeps the texts of conditions short */

/* ---- conditions */

/* The index of a condition, which is made when its text is new. */
static int bind_condition(struct sta_classes *classes, const char *text, uint32_t *index,
                          struct sta_error *err)
{
    *index = sta_dictionary_intern(classes->texts, text, strlen(text));
    if (*index < classes->condition_count)
        return STA_OK;
    STA_GROW(classes->conditions, classes->condition_capacity, classes->condition_count + 1);
    struct sta_class_condition *condition = &classes->conditions[classes->condition_count++];
    *condition = (struct sta_class_condition){0};
    int status = sta_open_condition_parse(text, sta_columns_schema(classes->columns), &condition->open, err);
    if (status != STA_OK)
        return status;
    condition->fixed = sta_open_condition_is_fixed(&condition->open);
    condition->program = sta_program_create(condition->open.expression);
    if (!condition->fixed) {
        STA_ASSERT(classes->varying_count < STA_VARYING_CONDITION_LIMIT);
        classes->varying[classes->varying_count++] = *index;
    }
    return STA_OK;
}

/* ---- functions that are dropped: conditions like others, so that they too are worked out once per
 * function */

static int add_drop(struct sta_classes *classes, struct sta_buffer *text, struct sta_error *err)
{
    char *condition = sta_buffer_take_text(text);
    uint32_t index;
    int status = bind_condition(classes, condition, &index, err);
    classes->conditions[index].drops = true;
    free(condition);
    return status;
}

static int bind_drops(struct sta_classes *classes, struct sta_error *err)
{
    const struct sta_preset *preset = classes->preset;
    struct sta_buffer text;
    sta_buffer_init(&text);
    int status = STA_OK;
    for (size_t i = 0; i < preset->drop_function_count && status == STA_OK; i += DROP_NAMES_PER_CONDITION) {
        size_t end = STA_MIN(i + DROP_NAMES_PER_CONDITION, preset->drop_function_count);
        sta_put_text(&text, "func_name.isin([");
        for (size_t n = i; n < end; n++) {
            sta_put_text(&text, n > i ? ", " : "");
            sta_put_literal(&text, preset->drop_functions[n], strlen(preset->drop_functions[n]), "");
        }
        sta_put_text(&text, "])");
        status = add_drop(classes, &text, err);
    }
    for (size_t i = 0; i < preset->drop_pattern_count && status == STA_OK; i++) {
        sta_put_format(&text, "func_name.str.contains(r\"%s\")", preset->drop_patterns[i]);
        status = add_drop(classes, &text, err);
    }
    sta_buffer_fini(&text);
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "preset %s: drop", preset->name);
}

/* ---- bits */

static int bind_bit(struct sta_classes *classes, const char *condition, uint32_t within,
                    struct sta_error *err)
{
    struct sta_class_bit *bit = &classes->bits[classes->bit_count++];
    *bit = (struct sta_class_bit){STA_NO_CONDITION, within};
    return condition != NULL ? bind_condition(classes, condition, &bit->condition, err) : STA_OK;
}

/* A layer that was made from a category. */
static void bind_category(struct sta_classes *classes, const char *condition)
{
    const uint32_t index = sta_dictionary_intern(classes->texts, condition, strlen(condition));
    STA_ASSERT(index == classes->condition_count);
    STA_GROW(classes->conditions, classes->condition_capacity, classes->condition_count + 1);
    classes->conditions[classes->condition_count++] =
        (struct sta_class_condition){.fixed = true, .by_category = true};
    classes->bits[classes->bit_count++] = (struct sta_class_bit){index, STA_NO_CONDITION};
}

static int bind_metrics(struct sta_classes *classes, uint32_t layer, struct sta_error *err)
{
    const struct sta_layer *of = &classes->preset->layers[layer];
    classes->metric_bit[layer] = classes->bit_count;
    for (size_t i = 0; i < of->metric_count; i++) {
        int status = bind_bit(classes, of->metrics[i].condition, layer, err);
        if (status != STA_OK)
            return sta_error_wrap(err, "preset %s: layer %s: metric %s: \"%s\"", classes->preset->name,
                                  of->name, of->metrics[i].name, of->metrics[i].condition);
    }
    return STA_OK;
}

static int bind_layers(struct sta_classes *classes, struct sta_error *err)
{
    const struct sta_preset *preset = classes->preset;
    classes->bits = sta_alloc_array(STA_CLASS_BITS, sizeof *classes->bits);
    classes->metric_bit = sta_alloc_array(preset->layer_count, sizeof *classes->metric_bit);
    int status = STA_OK;
    for (size_t i = 0; i < preset->layer_count; i++) {
        if (classes->made != NULL && preset->layers[i].condition != NULL) {
            bind_category(classes, preset->layers[i].condition);
            continue;
        }
        status = bind_bit(classes, preset->layers[i].condition, STA_NO_CONDITION, err);
        if (status != STA_OK)
            return sta_error_wrap(err, "preset %s: layer %s: \"%s\"", preset->name, preset->layers[i].name,
                                  preset->layers[i].condition);
    }
    for (size_t i = 0; i < preset->layer_count && status == STA_OK; i++)
        status = bind_metrics(classes, (uint32_t)i, err);
    return status;
}

int sta_classes_create(const struct sta_columns *columns, const struct sta_preset *preset, bool filters,
                       struct sta_classes **classes, struct sta_error *err)
{
    STA_ASSERT(sta_columns_refiner(columns) != NULL && sta_columns_refiner(columns)->preset == preset);
    struct sta_classes *fresh = sta_alloc(sizeof *fresh);
    fresh->columns = columns;
    fresh->preset = preset;
    fresh->texts = sta_dictionary_create();
    fresh->seen = sta_dictionary_create_in(sta_columns_account(columns));
    fresh->drop_files = filters && preset->drop_file_count > 0;
    fresh->uses_files = fresh->drop_files || preset->refinement_count > 0;
    int status = STA_OK;
    if (preset->layers_from_categories) {
        status = sta_category_layers(preset, sta_columns_snapshot(columns), &fresh->made, err);
        fresh->preset = fresh->made;
        fresh->categories = status == STA_OK ? sta_category_names(fresh->made) : NULL;
    }
    if (status == STA_OK)
        status = bind_layers(fresh, err);
    if (status == STA_OK && filters)
        status = bind_drops(fresh, err);
    if (status != STA_OK) {
        sta_classes_destroy(fresh);
        fresh = NULL;
    }
    *classes = fresh;
    return status;
}

static void forget_kept(struct sta_classes *classes)
{
    const size_t row_groups = sta_snapshot_row_group_count(sta_columns_snapshot(classes->columns));
    if (classes->kept == NULL)
        return;
    for (size_t b = 0; b < row_groups; b++)
        sta_free(classes->kept[b]);
    free(classes->kept);
    sta_account_close(&classes->account);
}

void sta_classes_destroy(struct sta_classes *classes)
{
    if (classes == NULL)
        return;
    for (size_t i = 0; i < classes->condition_count; i++) {
        sta_program_destroy(classes->conditions[i].program);
        sta_open_condition_fini(&classes->conditions[i].open);
    }
    free(classes->conditions);
    free(classes->bits);
    free(classes->metric_bit);
    forget_kept(classes);
    sta_dictionary_destroy(classes->texts);
    sta_dictionary_destroy(classes->seen);
    sta_dictionary_destroy(classes->categories);
    sta_preset_destroy(classes->made);
    free(classes);
}

/* ---- classes of whole row groups */

void sta_classes_keep(struct sta_classes *classes)
{
    const size_t row_groups = sta_snapshot_row_group_count(sta_columns_snapshot(classes->columns));
    sta_account_init_part(&classes->account, sta_columns_account(classes->columns));
    if (sta_account_try_charge(&classes->account, (row_groups + 1) * sizeof *classes->kept))
        classes->kept = sta_alloc_array(row_groups + 1, sizeof *classes->kept);
}

bool sta_classes_are_kept(const struct sta_classes *classes)
{
    return classes->kept != NULL;
}

static _Atomic(uint16_t *) *place_of(const struct sta_classes *classes, const struct sta_row_group *row_group)
{
    return &classes->kept[row_group - sta_snapshot_row_group(sta_columns_snapshot(classes->columns), 0)];
}

bool sta_classes_kept(const struct sta_classes *classes, const struct sta_row_group *row_group,
                      uint32_t *codes)
{
    const uint16_t *kept = classes->kept != NULL ? *place_of(classes, row_group) : NULL;
    for (uint32_t row = 0; kept != NULL && row < row_group->rows; row++)
        codes[row] = kept[row];
    return kept != NULL;
}

void sta_classes_put(struct sta_classes *classes, const struct sta_row_group *row_group,
                     const uint32_t *codes)
{
    const size_t bytes = row_group->rows * sizeof(uint16_t);
    if (classes->kept == NULL || *place_of(classes, row_group) != NULL ||
        sta_classes_count(classes) > UINT16_MAX || !sta_account_try_charge(&classes->account, bytes))
        return;
    uint16_t *kept = sta_try_alloc(bytes);
    if (kept == NULL)
        sta_account_release(&classes->account, bytes);
    for (uint32_t row = 0; kept != NULL && row < row_group->rows; row++)
        kept[row] = (uint16_t)codes[row];
    *place_of(classes, row_group) = kept;
}

/* ---- looking */

const struct sta_preset *sta_classes_preset(const struct sta_classes *classes)
{
    return classes->preset;
}

uint32_t sta_classes_metric_bit(const struct sta_classes *classes, size_t layer, size_t metric)
{
    STA_ASSERT(layer < classes->preset->layer_count && metric < classes->preset->layers[layer].metric_count);
    return classes->metric_bit[layer] + (uint32_t)metric;
}

uint32_t sta_classes_count(const struct sta_classes *classes)
{
    return sta_dictionary_count(classes->seen);
}

struct sta_class sta_classes_get(const struct sta_classes *classes, uint32_t code)
{
    struct sta_class class;
    memcpy(&class, sta_dictionary_text(classes->seen, code).bytes, sizeof class);
    return class;
}

static bool holds(const uint64_t *bits, uint32_t bit)
{
    return bits[bit / 64] >> (bit % 64) & 1;
}

uint32_t sta_classes_intern(struct sta_classes *classes, const struct sta_class_base *base, uint64_t pattern)
{
    uint64_t conditions[STA_CLASS_BITS / 64];
    memcpy(conditions, base->conditions, sizeof conditions);
    for (unsigned i = 0; i < classes->varying_count; i++)
        conditions[classes->varying[i] / 64] |= (pattern >> i & 1) << (classes->varying[i] % 64);
    struct sta_class class;
    memset(&class, 0, sizeof class); /* padding takes part in the comparison */
    class.fate = base->fate;
    class.cat = base->cat;
    for (uint32_t b = 0; b < classes->bit_count && base->fate == STA_FATE_KEPT; b++) {
        const struct sta_class_bit *bit = &classes->bits[b];
        bool in = bit->condition == STA_NO_CONDITION || holds(conditions, bit->condition);
        if (in && (bit->within == STA_NO_CONDITION || holds(class.members, bit->within)))
            class.members[b / 64] |= UINT64_C(1) << (b % 64);
    }
    return sta_dictionary_intern(classes->seen, (const char *)&class, sizeof class);
}

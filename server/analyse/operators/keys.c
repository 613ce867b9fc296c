/* Fields of keys: how wide, where, and single values in and out.  key_kernels.c does whole minibatches. */
#include "analyse/operators/keys.h"

#include <string.h>

#include "common/memory.h"

void sta_key_range_unite(struct sta_key_range *range, const struct sta_key_range *other)
{
    if (!other->any)
        return;
    if (!range->any) {
        *range = *other;
        return;
    }
    range->low = STA_MIN(range->low, other->low);
    range->high = STA_MAX(range->high, other->high);
    range->codes = STA_MAX(range->codes, other->codes);
    range->dictionaries = STA_MAX(range->dictionaries, other->dictionaries);
}

/* Bits for the numbers 0 .. @most. */
static uint8_t width_of(uint64_t most)
{
    return most == 0 ? 0 : (uint8_t)(64 - __builtin_clzll(most));
}

/* Bits of a field for 0 .. @most and all ones. */
static uint8_t width_with_missing(uint64_t most)
{
    return most == UINT64_MAX ? 64 : width_of(most + 1);
}

static void measure_field(struct sta_key_field *field, enum sta_type type, const struct sta_key_range *given)
{
    static const struct sta_key_range least = {.any = true, .codes = 1, .dictionaries = 1};
    const struct sta_key_range *range = given->any ? given : &least;
    *field = (struct sta_key_field){.type = type, .bits = 1};
    switch (type) {
    case STA_TYPE_BOOL:
        field->bits = 2;
        break;
    case STA_TYPE_FLOAT: /* no finite number has all bits set */
        field->bits = 64;
        break;
    case STA_TYPE_INT:
        field->base = (uint64_t)range->low;
        field->bits = width_with_missing((uint64_t)range->high - (uint64_t)range->low);
        field->flagged = (uint64_t)range->high - (uint64_t)range->low == UINT64_MAX;
        break;
    case STA_TYPE_TEXT:
        field->code_bits = width_of(range->codes);
        field->bits = field->code_bits + width_of(range->dictionaries - 1);
        break;
    default: /* of NULL every value is missing */
        break;
    }
}

static void take_bits(struct sta_key_layout *layout, unsigned *left, unsigned bits, uint8_t *word,
                      uint8_t *shift)
{
    *word = (uint8_t)(layout->words - 1);
    *shift = 0;
    if (bits == 0)
        return;
    if (bits > *left) {
        layout->words++;
        *left = 64;
    }
    *left -= bits;
    *word = (uint8_t)(layout->words - 1);
    *shift = (uint8_t)*left;
}

/* From the top of the first word on; then the fields of a word move down to its bottom. */
static void place_fields(struct sta_key_layout *layout)
{
    unsigned left = 64;
    unsigned unused[STA_MOST_KEY_FIELDS * 2 + 1] = {0};
    layout->words = 1;
    for (size_t k = 0; k < layout->count; k++) {
        struct sta_key_field *field = &layout->fields[k];
        if (field->flagged) {
            take_bits(layout, &left, 1, &field->flag_word, &field->flag_shift);
            unused[field->flag_word] = left;
        }
        take_bits(layout, &left, field->bits, &field->word, &field->shift);
        unused[layout->words - 1] = left;
    }
    for (size_t k = 0; k < layout->count; k++) {
        struct sta_key_field *field = &layout->fields[k];
        if (field->bits > 0)
            field->shift = (uint8_t)(field->shift - unused[field->word]);
        field->flag_shift = (uint8_t)(field->flagged ? field->flag_shift - unused[field->flag_word] : 0);
    }
    layout->bits = 64 - left;
}

void sta_key_layout_init(struct sta_key_layout *layout, const struct sta_key_order *orders, size_t count)
{
    STA_ASSERT(count <= STA_MOST_KEY_FIELDS);
    layout->count = count;
    for (size_t k = 0; k < count; k++) {
        struct sta_key_field *field = &layout->fields[k];
        const struct sta_key_range *range = &orders[k].range;
        STA_ASSERT(orders[k].type != STA_TYPE_TEXT || !orders[k].descending);
        measure_field(field, orders[k].type, range);
        if (orders[k].required && orders[k].type == STA_TYPE_INT && range->any) {
            field->required = true;
            field->flagged = false;
            field->bits = width_of((uint64_t)range->high - (uint64_t)range->low);
        }
        field->flip = orders[k].descending ? UINT64_MAX : 0;
        if (orders[k].descending) /* high - x is ~x - ~high */
            field->base = ~(range->any ? (uint64_t)range->high : 0);
    }
    place_fields(layout);
}

static void widen(struct sta_key_field *field, unsigned bits, const struct sta_key_range *range,
                  const struct sta_key_field *before)
{
    if (field->type == STA_TYPE_TEXT) {
        unsigned more = STA_MIN(32u - field->code_bits, (bits + 3) / 4);
        field->code_bits = (uint8_t)(field->code_bits + more);
        field->bits = (uint8_t)(field->bits + more);
    }
    if (field->type != STA_TYPE_INT || field->bits + bits > 63)
        return;
    field->bits = (uint8_t)(field->bits + bits);
    bool downwards = before != NULL && range->low < (int64_t)before->base;
    if (downwards) /* wraps below the least integer, which decoding undoes */
        field->base = (uint64_t)range->high - (sta_low_bits(field->bits) - 1);
}

void sta_key_layout_init_widened(struct sta_key_layout *layout, const struct sta_key_order *orders,
                                 size_t count, const struct sta_key_layout *before)
{
    static const unsigned margins[] = {12, 4, 1};
    sta_key_layout_init(layout, orders, count);
    for (size_t r = 0; r < STA_COUNT_OF(margins); r++) {
        struct sta_key_layout widened = *layout;
        for (size_t k = 0; k < count; k++)
            widen(&widened.fields[k], margins[r], &orders[k].range,
                  before != NULL ? &before->fields[k] : NULL);
        place_fields(&widened);
        if (widened.words > layout->words ||
            sta_key_layout_is_direct(&widened) != sta_key_layout_is_direct(layout))
            continue;
        *layout = widened;
        return;
    }
}

struct sta_key_range sta_key_layout_range(const struct sta_key_layout *layout, size_t key)
{
    const struct sta_key_field *field = &layout->fields[key];
    struct sta_key_range range = {.any = true};
    if (field->type == STA_TYPE_INT) {
        uint64_t most = field->flagged ? UINT64_MAX : sta_low_bits(field->bits) - 1;
        uint64_t high = field->base + most;
        bool wraps = (int64_t)high < (int64_t)field->base;
        range.low = wraps ? INT64_MIN : (int64_t)field->base;
        range.high = wraps ? INT64_MAX : (int64_t)high;
    } else if (field->type == STA_TYPE_TEXT) {
        range.codes = (uint32_t)sta_low_bits(field->code_bits);
        range.dictionaries = 1u << (field->bits - field->code_bits);
    }
    return range;
}

void sta_key_put(const struct sta_key_field *field, uint64_t value, bool present, uint64_t *words)
{
    uint64_t ones = sta_low_bits(field->bits);
    uint64_t held = value;
    if (!present)
        held = ones;
    else if (field->type == STA_TYPE_INT)
        held = (value ^ field->flip) - field->base;
    else if (field->type == STA_TYPE_TEXT)
        held = value >> 32 << field->code_bits | (uint32_t)value;
    else if (field->type == STA_TYPE_BOOL)
        held = value ^ (field->flip & 1);
    else
        held = value ^ field->flip;
    words[field->word] |= held << field->shift;
    if (field->flagged)
        words[field->flag_word] |= (uint64_t)!present << field->flag_shift;
}

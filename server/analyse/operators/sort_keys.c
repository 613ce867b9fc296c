/* Keys of an order to records. */
#include "analyse/operators/sort_keys.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/key_kernels.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

struct sta_key_range sta_key_range_any_integer(void)
{
    return (struct sta_key_range){.any = true, .low = INT64_MIN, .high = INT64_MAX};
}

/* Texts are packed as the integers that their ranks are. */
static struct sta_key_order order_of(const struct sta_sort_key *key)
{
    struct sta_key_order order = {
        .type = key->type, .descending = key->descending, .required = key->required, .range = key->range};
    if (key->type == STA_TYPE_TEXT) {
        order.type = STA_TYPE_INT;
        order.range =
            (struct sta_key_range){.any = key->ranks->count > 0, .high = (int64_t)key->ranks->count - 1};
    }
    return order;
}

void sta_sort_layout_init(struct sta_sort_layout *layout, const struct sta_sort_key *keys, size_t count)
{
    *layout = (struct sta_sort_layout){.count = count};
    layout->part_count = (count + STA_SORT_PART_KEYS - 1) / STA_SORT_PART_KEYS;
    layout->keys = sta_alloc_array(count + 1, sizeof *keys);
    memcpy(layout->keys, keys, count * sizeof *keys);
    layout->parts = sta_alloc_array(layout->part_count + 1, sizeof *layout->parts);
    for (size_t p = 0; p < layout->part_count; p++) {
        struct sta_key_order orders[STA_SORT_PART_KEYS];
        const size_t first = p * STA_SORT_PART_KEYS;
        const size_t own = STA_MIN(count - first, (size_t)STA_SORT_PART_KEYS);
        for (size_t k = 0; k < own; k++)
            orders[k] = order_of(&keys[first + k]);
        sta_key_layout_init(&layout->parts[p], orders, own);
        layout->words += layout->parts[p].words;
    }
}

void sta_sort_layout_fini(struct sta_sort_layout *layout)
{
    free(layout->keys);
    free(layout->parts);
    *layout = (struct sta_sort_layout){0};
}

/* The part that a key lies in, and where the words of that begin. */
static const struct sta_key_layout *part_of(const struct sta_sort_layout *layout, size_t key, size_t *word)
{
    *word = 0;
    for (size_t p = 0; p < key / STA_SORT_PART_KEYS; p++)
        *word += layout->parts[p].words;
    return &layout->parts[key / STA_SORT_PART_KEYS];
}

bool sta_sort_layout_integers(const struct sta_sort_layout *layout, size_t key, const uint64_t *records,
                              size_t stride, size_t count, int64_t *values, uint8_t *missing)
{
    size_t word;
    bool any = false;
    const struct sta_key_field field = part_of(layout, key, &word)->fields[key % STA_SORT_PART_KEYS];
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        const bool present = sta_key_get(&field, records + i * stride + word, &value);
        values[i] = (int64_t)value;
        any |= !present;
        if (missing != NULL)
            missing[i] = !present;
    }
    return any;
}

void sta_sort_layout_put(const struct sta_sort_layout *layout, size_t key, uint64_t value, bool present,
                         uint64_t *record)
{
    size_t word;
    const struct sta_key_layout *part = part_of(layout, key, &word);
    sta_key_put(&part->fields[key % STA_SORT_PART_KEYS], value, present, record + word);
}

/* ---- records */

struct sta_sort_encoder {
    const struct sta_sort_layout *layout;
    struct sta_vector_space **ranks; /* of texts, by key; NULL: not needed yet */
    struct sta_vector *vectors;
    uint64_t *words; /* of a minibatch, word by word */
};

struct sta_sort_encoder *sta_sort_encoder_create(const struct sta_sort_layout *layout)
{
    struct sta_sort_encoder *encoder = sta_alloc(sizeof *encoder);
    unsigned words = 1;
    encoder->layout = layout;
    encoder->ranks = sta_alloc_array(layout->count + 1, sizeof(struct sta_vector_space *));
    encoder->vectors = sta_alloc_array(layout->count + 1, sizeof *encoder->vectors);
    for (size_t p = 0; p < layout->part_count; p++)
        words = STA_MAX(words, layout->parts[p].words);
    encoder->words = sta_alloc_array((size_t)words * STA_MINIBATCH_ROWS, sizeof *encoder->words);
    return encoder;
}

void sta_sort_encoder_destroy(struct sta_sort_encoder *encoder)
{
    if (encoder == NULL)
        return;
    for (size_t k = 0; k < encoder->layout->count; k++)
        free(encoder->ranks[k]);
    free(encoder->ranks);
    free(encoder->vectors);
    free(encoder->words);
    free(encoder);
}

static void rank_rows(struct sta_vector_space *space, const struct sta_ranks *ranks,
                      const struct sta_vector *vector, const uint32_t *rows, uint32_t first, uint32_t count)
{
    const uint32_t *of_code =
        vector->texts != NULL ? ranks->of_code[sta_texts_dictionary(ranks->texts, vector->texts)] : NULL;
    const uint32_t *codes = vector->codes;
    int64_t *to = space->integers;
    uint8_t *missing = space->missing;
    for (uint32_t i = 0; i < (vector->constant ? 1 : count); i++) {
        const uint32_t row = vector->constant ? 0 : rows != NULL ? rows[i] : first + i;
        const bool none = codes[row] == STA_NO_CODE;
        missing[row] = none;
        to[row] = none || of_code == NULL ? 0 : of_code[codes[row]];
    }
}

static void rank_texts(struct sta_sort_encoder *encoder, const struct sta_vector *vectors,
                       const uint32_t *rows, uint32_t first, uint32_t count)
{
    for (size_t k = 0; k < encoder->layout->count; k++) {
        encoder->vectors[k] = vectors[k];
        if (vectors[k].type != STA_TYPE_TEXT)
            continue;
        if (encoder->ranks[k] == NULL)
            encoder->ranks[k] = sta_alloc(sizeof **encoder->ranks);
        rank_rows(encoder->ranks[k], encoder->layout->keys[k].ranks, &vectors[k], rows, first, count);
        encoder->vectors[k] = (struct sta_vector){.type = STA_TYPE_INT,
                                                  .constant = vectors[k].constant,
                                                  .integers = encoder->ranks[k]->integers,
                                                  .missing = encoder->ranks[k]->missing};
    }
}

/* Words that lie by word, then row, to records. */
static void interleave(const uint64_t *words, unsigned width, uint32_t count, uint64_t *records,
                       size_t stride)
{
    for (unsigned w = 0; w < width; w++)
        for (uint32_t i = 0; i < count; i++)
            records[i * stride + w] = words[(size_t)w * STA_MINIBATCH_ROWS + i];
}

int sta_sort_pack(struct sta_sort_encoder *encoder, const struct sta_vector *vectors, const uint32_t *rows,
                  uint32_t first, uint32_t count, uint64_t *records, size_t stride, struct sta_error *err)
{
    static const uint32_t dictionaries[STA_MOST_KEY_FIELDS];
    const struct sta_sort_layout *layout = encoder->layout;
    rank_texts(encoder, vectors, rows, first, count);
    for (uint32_t done = 0; done < count; done += STA_MINIBATCH_ROWS) {
        const struct sta_minibatch minibatch = {.count = STA_MIN(STA_MINIBATCH_ROWS, count - done),
                                                .first = first + done,
                                                .rows = rows != NULL ? rows + done : NULL};
        size_t word = 0;
        for (size_t p = 0; p < layout->part_count; p++) {
            const struct sta_key_layout *part = &layout->parts[p];
            if (!sta_key_kernels_here()->pack(part, encoder->vectors + p * STA_SORT_PART_KEYS, dictionaries,
                                              &minibatch, encoder->words))
                return sta_fail(err, STA_ECORRUPT,
                                "a value lies outside of what the statistics of its rows say");
            interleave(encoder->words, part->words, minibatch.count, records + done * stride + word, stride);
            word += part->words;
        }
    }
    return STA_OK;
}

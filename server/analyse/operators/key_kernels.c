/* Loops over the rows of a minibatch: keys into words, values as sums take them.  Compiled once for any
 * processor and once for AVX2.
 *
 * DESIGN.  Column by column, one loop without branches for each type, with and without row numbers.  Whether
 * a key fits is not asked per row: `over` gathers the bits of all, and what lies above the field shows at the
 * end. */
#include "analyse/operators/key_kernels.h"

#include <string.h>

#include "common/memory.h"

#define FAR_BYTES ((size_t)4 << 20) /* a table of so many does not lie near the processor */

#ifdef STA_KEY_KERNELS_AVX2
#define KERNELS sta_key_kernels_avx2
#else
#define KERNELS sta_key_kernels_portable
#endif

/* Runs a statement for all rows of a minibatch; `i` counts them, `row` is where the vectors have them. */
#define FOR_ROWS(minibatch, ...)                                                                             \
    do {                                                                                                     \
        const uint32_t count_ = (minibatch)->count;                                                          \
        const uint32_t *rows_ = (minibatch)->rows;                                                           \
        if (rows_ == NULL)                                                                                   \
            for (size_t i = 0, row = (minibatch)->first; i < count_; i++, row++) {                           \
                __VA_ARGS__                                                                                  \
            }                                                                                                \
        else                                                                                                 \
            for (size_t i = 0; i < count_; i++) {                                                            \
                size_t row = rows_[i];                                                                       \
                __VA_ARGS__                                                                                  \
            }                                                                                                \
    } while (0)

/* The rows of a key's vector: of a constant the first one. */
static struct sta_minibatch rows_of(const struct sta_vector *key, const struct sta_minibatch *minibatch)
{
    return key->constant ? (struct sta_minibatch){.count = 1} : *minibatch;
}

static void put_missing(const struct sta_key_field *field, uint32_t count, uint64_t *words)
{
    uint64_t *column = words + (size_t)field->word * STA_MINIBATCH_ROWS;
    uint64_t *flags = words + (size_t)field->flag_word * STA_MINIBATCH_ROWS;
    for (uint32_t i = 0; i < count; i++) {
        column[i] |= sta_low_bits(field->bits) << field->shift;
        flags[i] |= (uint64_t)field->flagged << field->flag_shift;
    }
}

/* Return: bits that must be 0 above the field for all values to fit. */
static uint64_t pack_integers(const struct sta_key_field *field, const int64_t *values,
                              const struct sta_minibatch *minibatch, uint64_t *column)
{
    const uint64_t base = field->base, flip = field->flip;
    const unsigned shift = field->shift;
    const uint64_t reserved = !field->required;
    uint64_t over = 0;
    FOR_ROWS(minibatch, {
        uint64_t held = ((uint64_t)values[row] ^ flip) - base;
        over |= held | (held + reserved);
        column[i] |= held << shift;
    });
    return over;
}

/* The same where values may be missing or take all bits of a word.  Return: whether all fit. */
static bool pack_any_integers(const struct sta_key_field *field, const struct sta_vector *key,
                              const struct sta_minibatch *minibatch, uint64_t *words)
{
    const uint64_t ones = sta_low_bits(field->bits);
    uint64_t *column = words + (size_t)field->word * STA_MINIBATCH_ROWS;
    uint64_t *flags = words + (size_t)field->flag_word * STA_MINIBATCH_ROWS;
    bool over = false;
    FOR_ROWS(minibatch, {
        bool missing = key->missing != NULL && key->missing[row];
        uint64_t held = missing ? ones : ((uint64_t)key->integers[row] ^ field->flip) - field->base;
        bool fits = field->bits < 64 ? (held | (held + !field->required)) >> field->bits == 0
                                     : held != UINT64_MAX || field->required;
        over |= missing ? field->required : !(field->flagged || fits);
        column[i] |= held << field->shift;
        if (field->flagged)
            flags[i] |= (uint64_t)missing << field->flag_shift;
    });
    return !over;
}

static bool pack_integer_key(const struct sta_key_field *field, const struct sta_vector *key,
                             const struct sta_minibatch *minibatch, uint64_t *words)
{
    if (key->missing != NULL || field->bits == 64)
        return pack_any_integers(field, key, minibatch, words);
    uint64_t *column = words + (size_t)field->word * STA_MINIBATCH_ROWS;
    return pack_integers(field, key->integers, minibatch, column) >> field->bits == 0;
}

static void pack_number_key(const struct sta_key_field *field, const struct sta_vector *key,
                            const struct sta_minibatch *minibatch, uint64_t *words)
{
    uint64_t *column = words + (size_t)field->word * STA_MINIBATCH_ROWS;
    const double *values = key->numbers;
    const uint8_t *missing = key->missing;
    const uint64_t flip = field->flip;
    FOR_ROWS(minibatch, {
        bool absent = missing != NULL && missing[row];
        column[i] = absent ? UINT64_MAX : sta_order_number(values[row]) ^ flip;
    });
}

static void pack_condition_key(const struct sta_key_field *field, const struct sta_vector *key,
                               const struct sta_minibatch *minibatch, uint64_t *words)
{
    uint64_t *column = words + (size_t)field->word * STA_MINIBATCH_ROWS;
    const uint8_t *values = key->bools;
    const uint8_t *missing = key->missing;
    const uint64_t flip = field->flip & 1;
    FOR_ROWS(minibatch, {
        bool absent = missing != NULL && missing[row];
        column[i] |= (absent ? UINT64_C(3) : values[row] ^ flip) << field->shift;
    });
}

/* STA_NO_CODE is all ones in any number of bits, and followed by 0, which fits. */
static bool pack_text_key(const struct sta_key_field *field, const struct sta_vector *key,
                          uint32_t dictionary, const struct sta_minibatch *minibatch, uint64_t *words)
{
    uint64_t *column = words + (size_t)field->word * STA_MINIBATCH_ROWS;
    const uint32_t *codes = key->codes;
    const unsigned shift = field->shift;
    const uint64_t ones = sta_low_bits(field->bits);
    const uint64_t tag = (uint64_t)dictionary << field->code_bits;
    uint32_t over = 0;
    if (dictionary >> (field->bits - field->code_bits) != 0)
        return false;
    FOR_ROWS(minibatch, {
        const int32_t absent = -(codes[row] == STA_NO_CODE);
        over |= codes[row] + 1;
        column[i] |= ((codes[row] | tag | (uint64_t)absent) & ones) << shift;
    });
    return (uint64_t)over >> field->code_bits == 0;
}

static bool pack_rows(const struct sta_key_field *field, const struct sta_vector *key, uint32_t dictionary,
                      const struct sta_minibatch *minibatch, uint64_t *words)
{
    switch (key->type) {
    case STA_TYPE_NULL:
        put_missing(field, minibatch->count, words);
        return true;
    case STA_TYPE_INT:
        return pack_integer_key(field, key, minibatch, words);
    case STA_TYPE_FLOAT:
        pack_number_key(field, key, minibatch, words);
        return true;
    case STA_TYPE_BOOL:
        pack_condition_key(field, key, minibatch, words);
        return true;
    default:
        STA_ASSERT(field->type == STA_TYPE_TEXT);
        return pack_text_key(field, key, dictionary, minibatch, words);
    }
}

/* What @first has and had not @before, for the rows behind it. */
static void spread(uint64_t *first, uint64_t before, uint32_t count)
{
    const uint64_t added = *first & ~before;
    for (uint32_t i = 1; i < count; i++)
        first[i] |= added;
}

/* A constant is packed once. */
static bool pack_key(const struct sta_key_field *field, const struct sta_vector *key, uint32_t dictionary,
                     const struct sta_minibatch *minibatch, uint64_t *words)
{
    const struct sta_minibatch rows = rows_of(key, minibatch);
    uint64_t *column = words + (size_t)field->word * STA_MINIBATCH_ROWS;
    uint64_t *flags = words + (size_t)field->flag_word * STA_MINIBATCH_ROWS;
    const uint64_t before = *column, flags_before = *flags;
    STA_ASSERT(key->type == field->type || key->type == STA_TYPE_NULL);
    const bool fits = pack_rows(field, key, dictionary, &rows, words);
    if (key->constant)
        spread(column, before, minibatch->count);
    if (key->constant && field->flagged)
        spread(flags, flags_before, minibatch->count);
    return fits;
}

static bool pack(const struct sta_key_layout *layout, const struct sta_vector *keys,
                 const uint32_t *dictionaries, const struct sta_minibatch *minibatch, uint64_t *words)
{
    for (unsigned w = 0; w < layout->words; w++)
        memset(words + (size_t)w * STA_MINIBATCH_ROWS, 0, minibatch->count * sizeof *words);
    for (size_t k = 0; k < layout->count; k++)
        if (!pack_key(&layout->fields[k], &keys[k], dictionaries[k], minibatch, words))
            return false;
    return true;
}

/* ---- what a minibatch holds */

static void measure_integers(const struct sta_vector *key, const struct sta_minibatch *minibatch,
                             struct sta_key_range *range)
{
    FOR_ROWS(minibatch, {
        if (key->missing != NULL && key->missing[row])
            continue;
        int64_t value = key->integers[row];
        struct sta_key_range single = {.any = true, .low = value, .high = value};
        sta_key_range_unite(range, &single);
    });
}

static void measure(const struct sta_vector *key, uint32_t dictionary, const struct sta_minibatch *minibatch,
                    struct sta_key_range *range)
{
    const struct sta_minibatch rows = rows_of(key, minibatch);
    if (key->type == STA_TYPE_INT)
        measure_integers(key, &rows, range);
    if (key->type != STA_TYPE_TEXT)
        return;
    struct sta_key_range seen = {.any = true, .codes = 1, .dictionaries = dictionary + 1};
    FOR_ROWS(&rows, {
        uint32_t code = key->codes[row];
        seen.codes = code == STA_NO_CODE ? seen.codes : STA_MAX(seen.codes, code + 1);
    });
    sta_key_range_unite(range, &seen);
}

/* ---- missing keys */

static bool any_missing(const struct sta_vector *key, const struct sta_minibatch *minibatch)
{
    const struct sta_minibatch rows = rows_of(key, minibatch);
    uint32_t any = key->type == STA_TYPE_NULL;
    if (key->type == STA_TYPE_TEXT) {
        const uint32_t *codes = key->codes;
        FOR_ROWS(&rows, any |= codes[row] == STA_NO_CODE;);
    } else if (key->missing != NULL) {
        const uint8_t *missing = key->missing;
        FOR_ROWS(&rows, any |= missing[row];);
    }
    return any != 0;
}

static void keep_present(const struct sta_vector *key, struct sta_minibatch *minibatch, uint32_t *kept)
{
    uint32_t count = 0;
    if (key->constant || key->type == STA_TYPE_NULL) {
        minibatch->count = 0;
        return;
    }
    FOR_ROWS(minibatch, {
        bool missing = key->type == STA_TYPE_TEXT ? key->codes[row] == STA_NO_CODE : key->missing[row];
        kept[count] = row; /* never ahead of where @minibatch->rows is read, should it be the same array */
        count += !missing;
    });
    minibatch->rows = kept;
    minibatch->count = count;
}

static void drop_missing(const struct sta_vector *keys, size_t count, struct sta_minibatch *minibatch,
                         uint32_t *kept)
{
    for (size_t k = 0; k < count; k++)
        if (any_missing(&keys[k], minibatch))
            keep_present(&keys[k], minibatch, kept);
}

/* ---- keys to groups */

static void find_directly(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                          uint32_t *groups)
{
    const uint32_t *direct = table->direct;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t held = direct[words[i]];
        groups[i] = held != 0 ? held - 1 : sta_group_table_add_direct(table, words[i]);
    }
}

/* What the slot with the hash holds; 0 if there is none, undefined if there are several.  Compilers don't
 * find the vectors by themselves. */
static inline uint32_t pick(const struct sta_table_bucket *bucket, uint32_t hash)
{
    typedef uint32_t slots __attribute__((vector_size(16)));
    slots held = {0};
    uint64_t halves[2];
    for (unsigned s = 0; s < STA_BUCKET_SLOTS; s += sizeof held / sizeof hash) {
        slots hashes;
        slots groups;
        memcpy(&hashes, &bucket->hashes[s], sizeof hashes);
        memcpy(&groups, &bucket->groups[s], sizeof groups);
        held |= (slots)(hashes == hash) & groups;
    }
    memcpy(halves, &held, sizeof halves);
    return (uint32_t)((halves[0] | halves[1]) >> 32 | halves[0] | halves[1]);
}

/* Asks for the buckets of a minibatch, then for the records that they most likely lead to. */
STA_PREFETCHES prefetch(const struct sta_group_table *table, const uint32_t *hashes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(sta_group_bucket(table, hashes[i]));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t held = pick(sta_group_bucket(table, hashes[i]), hashes[i]);
        if (held - 1 >= table->count)
            continue;
        __builtin_prefetch(sta_group_key(table, held - 1));
        sta_group_prefetch(table, held - 1);
    }
}

/* @width: words of the key; a constant where this is inlined. */
static inline void find_hashed(struct sta_group_table *table, const uint64_t *words, uint32_t count,
                               uint32_t *groups, const unsigned width)
{
    uint32_t hashes[STA_MINIBATCH_ROWS];
    for (uint32_t i = 0; i < count; i++)
        hashes[i] = sta_group_hash(&words[i], STA_MINIBATCH_ROWS, width);
    if (sta_group_table_working_set(table) > FAR_BYTES)
        prefetch(table, hashes, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t held = pick(sta_group_bucket(table, hashes[i]), hashes[i]);
        groups[i] = held - 1 < table->count && sta_group_has_key(table, held - 1, &words[i], width)
                        ? held - 1
                        : sta_group_table_find(table, &words[i], hashes[i]);
    }
}

static void find(struct sta_group_table *table, const uint64_t *words, uint32_t count, uint32_t *groups)
{
    if (table->direct != NULL)
        find_directly(table, words, count, groups);
    else if (table->layout.words == 1)
        find_hashed(table, words, count, groups, 1);
    else
        find_hashed(table, words, count, groups, table->layout.words);
}

/* ---- groups and values */

static void range(const uint32_t *groups, uint32_t count, uint32_t *low, uint32_t *high)
{
    uint32_t least = groups[0];
    uint32_t most = groups[0];
    for (uint32_t i = 0; i < count; i++) {
        least = STA_MIN(groups[i], least);
        most = STA_MAX(groups[i], most);
    }
    *low = least;
    *high = most;
}

static bool sum(const uint64_t *values, uint32_t count, uint64_t limit, uint64_t *total)
{
    uint64_t sum = 0, over = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
        over |= values[i] + limit;
    }
    *total = sum;
    return over < 2 * limit;
}

static void integers(const int64_t *values, const uint8_t *missing, const struct sta_minibatch *minibatch,
                     uint64_t *words)
{
    if (missing == NULL)
        FOR_ROWS(minibatch, words[i] = (uint64_t)values[row];);
    else
        FOR_ROWS(minibatch, words[i] = (uint64_t)values[row] & ((uint64_t)missing[row] - 1););
}

static bool sum_marked(const int64_t *values, const uint8_t *missing, const uint8_t *marks, uint32_t count,
                       uint64_t limit, uint64_t *total)
{
    uint64_t sum = 0, over = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int8_t taken = (int8_t) - (missing != NULL ? marks[i] & ~missing[i] : marks[i]);
        const uint64_t value = (uint64_t)values[i] & (uint64_t)(int64_t)taken;
        sum += value;
        over |= value + limit;
    }
    *total = sum;
    return over < 2 * limit;
}

const struct sta_key_kernels KERNELS = {.pack = pack,
                                        .measure = measure,
                                        .drop_missing = drop_missing,
                                        .find = find,
                                        .range = range,
                                        .sum = sum,
                                        .integers = integers,
                                        .sum_marked = sum_marked};

/* Quantiles, distinct values, unions and exact sums, from sorted lists that may be longer than memory.
 *
 * DESIGN.  Lists are read once, in pieces, ascending.  Quantiles of long lists that lie in memory are the
 * exception: such lists are not sorted, and the words of the ranks are selected. */
#include "analyse/operators/aggregate/output.h"

#include <math.h>
#include <string.h>

#include "analyse/operators/aggregate/functions.h"
#include "common/memory.h"

/* ---- quantiles */

struct quantile {
    double part;       /* how far between the two values */
    uint64_t rank;     /* of the first value */
    uint64_t words[2]; /* it, and the next if there is one */
    /* while the first is selected */
    unsigned open;          /* its bits that are not found yet; 0 in words[0] */
    bool has_next;          /* the next is known with the last bits */
    uint64_t below, behind; /* values below those that have the found bits, and up to them */
};

static struct quantile quantile_of(double q, uint64_t count)
{
    double place = (double)(count - 1) * q;
    uint64_t rank = STA_MIN((uint64_t)place, count - 1);
    return (struct quantile){.part = place - (double)rank, .rank = rank};
}

/* As the oracle has it: a + (b - a) * part, the difference of integers without rounding. */
static double interpolate(const struct quantile *quantile, enum sta_type type)
{
    uint64_t a = quantile->words[0];
    uint64_t b = quantile->words[1];
    if (type == STA_TYPE_FLOAT) {
        double low = sta_unorder_number(a);
        return low + (sta_unorder_number(b) - low) * quantile->part;
    }
    double low = type == STA_TYPE_INT ? (double)sta_unorder_integer(a) : (double)a;
    return low + (double)(b - a) * quantile->part;
}

static void finalize_quantile(const struct sta_agg_call *call, const struct quantile *quantile,
                              uint8_t *record)
{
    double value = interpolate(quantile, call->primitive.types[0]);
    sta_agg_finalize(call, record, isfinite(value), sta_bits_of(value));
}

/* ---- selecting: bits of the word of a rank are found from the top, by counting the words that have those
 * found so far.  In memory alone; words may lie in any order. */

#define DIGIT 13u /* most bits that are found at a time */

/* All words of a list for the present group. */
struct words {
    const struct sta_group_merge *merge;
    size_t list;
};

#define FOR_WORDS(all, ...)                                                                                  \
    for (size_t t_ = 0; t_ < (all)->merge->together_count; t_++) {                                           \
        const struct sta_list_view *view_ =                                                                  \
            &(all)->merge->cursors[(all)->merge->together[t_]].lists[(all)->list];                           \
        const uint64_t *words_ = view_->words;                                                               \
        for (size_t i_ = 0; i_ < view_->count; i_++) {                                                       \
            const uint64_t word = words_[i_];                                                                \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

static uint64_t differing_bits(const struct words *all, uint64_t first)
{
    uint64_t differing = 0;
    FOR_WORDS(all, differing |= word ^ first;)
    return differing;
}

static uint64_t first_word(const struct words *all)
{
    FOR_WORDS(all, return word;)
    return 0;
}

static void take_digit(struct quantile *quantile, const uint64_t *counts, uint64_t digits, unsigned shift)
{
    const uint64_t found = quantile->words[0];
    uint64_t digit = 0;
    while (quantile->below + counts[digit] <= quantile->rank)
        quantile->below += counts[digit++];
    quantile->behind = quantile->below + counts[digit];
    quantile->words[0] = found | digit << shift;
    quantile->open = shift;
    for (digit++; digit < digits && counts[digit] == 0;)
        digit++;
    quantile->words[1] = found | digit << shift;
    quantile->has_next = digit < digits;
}

/* The next @bits of a quantile, and of all others of which the same bits are found. */
static void select_digit(const struct words *all, struct quantile of, unsigned bits,
                         struct quantile *quantiles, size_t quantile_count)
{
    uint64_t counts[1u << DIGIT];
    const unsigned shift = of.open > bits ? of.open - bits : 0;
    const uint64_t known = ~sta_low_bits(of.open), ones = sta_low_bits(of.open - shift);
    memset(counts, 0, (ones + 1) * sizeof *counts);
    FOR_WORDS(all, counts[word >> shift & ones] += (word & known) == of.words[0];)
    for (size_t i = 0; i < quantile_count; i++)
        if (quantiles[i].open == of.open && quantiles[i].words[0] == of.words[0])
            take_digit(&quantiles[i], counts, ones + 1, shift);
}

static uint64_t least_above(const struct words *all, uint64_t floor)
{
    uint64_t least = UINT64_MAX;
    FOR_WORDS(all, least = word > floor && word < least ? word : least;)
    return least;
}

static void select_quantiles(const struct sta_group_merge *merge, size_t list, struct quantile *quantiles,
                             size_t quantile_count, uint64_t count)
{
    const struct words all = {merge, list};
    const uint64_t first = first_word(&all), differing = differing_bits(&all, first);
    const unsigned open = differing == 0 ? 0 : 64 - (unsigned)__builtin_clzll(differing);
    const unsigned digits = (open + DIGIT - 1) / DIGIT, bits = digits == 0 ? 0 : (open + digits - 1) / digits;
    for (size_t i = 0; i < quantile_count; i++) {
        quantiles[i].words[0] = first & ~sta_low_bits(open);
        quantiles[i].open = open;
        quantiles[i].below = 0;
        quantiles[i].behind = count;
    }
    for (size_t i = 0; i < quantile_count; i++) {
        struct quantile *quantile = &quantiles[i];
        while (quantile->open > 0)
            select_digit(&all, *quantile, bits, quantiles, quantile_count);
        const bool same = quantile->rank + 1 < quantile->behind || quantile->rank + 1 == count;
        if (same || !quantile->has_next)
            quantile->words[1] = same ? quantile->words[0] : least_above(&all, quantile->words[0]);
    }
}

/* Whether a list of the present group was left in any order. */
static bool is_long(const struct sta_group_merge *merge, size_t list)
{
    bool any = false;
    for (size_t i = 0; merge->order->selects && i < merge->together_count; i++)
        any = any || merge->cursors[merge->together[i]].lists[list].count >= STA_LONG_LIST;
    return any;
}

/* ---- reading */

static void note_piece(struct quantile *quantile, const uint64_t *words, uint64_t first, size_t count)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t rank = quantile->rank + i;
        if (rank >= first && rank < first + count)
            quantile->words[i] = words[rank - first];
    }
}

static int read_quantiles(struct sta_group_merge *merge, size_t list, struct quantile *quantiles,
                          size_t quantile_count, struct sta_error *err)
{
    uint64_t first = 0;
    const uint64_t *words;
    size_t count;
    int rc;
    while ((rc = sta_group_merge_piece(merge, list, &words, &count, err)) == 0 && count > 0) {
        for (size_t i = 0; i < quantile_count; i++)
            note_piece(&quantiles[i], words, first, count);
        first += count;
    }
    return rc;
}

static int finalize_values(const struct sta_shape *shape, struct sta_group_merge *merge, size_t number,
                           uint8_t *record, struct sta_error *err)
{
    const struct sta_list_shape *list = &shape->lists[number];
    uint64_t count = sta_group_merge_count(merge, number);
    if (count == 0)
        return STA_OK; /* states without a result, which they are */
    struct quantile *quantiles = sta_alloc_array(list->call_count, sizeof *quantiles);
    for (uint32_t i = 0; i < list->call_count; i++)
        quantiles[i] = quantile_of(shape->calls[list->calls[i]].primitive.quantile, count);
    int rc = STA_OK;
    if (is_long(merge, number))
        select_quantiles(merge, number, quantiles, list->call_count, count);
    else
        rc = read_quantiles(merge, number, quantiles, list->call_count, err);
    for (uint32_t i = 0; rc == 0 && i < list->call_count; i++) {
        if (quantiles[i].rank + 1 == count)
            quantiles[i].words[1] = quantiles[i].words[0];
        finalize_quantile(&shape->calls[list->calls[i]], &quantiles[i], record);
    }
    free(quantiles);
    return rc;
}

/* ---- distinct values */

static void put_value(struct sta_buffer *text, const struct sta_list_shape *list,
                      const struct sta_ranks *ranks, uint64_t word)
{
    struct sta_text value;
    switch (list->type) {
    case STA_TYPE_BOOL:
        sta_put_format(text, "%s", word != 0 ? "true" : "false");
        break;
    case STA_TYPE_FLOAT:
        sta_put_double(text, sta_unorder_number(word));
        break;
    case STA_TYPE_TEXT:
        value = sta_texts_get(list->texts, ranks->numbers[word]);
        sta_put_json_string(text, value.bytes, value.length);
        break;
    default:
        sta_put_int(text, sta_unorder_integer(word));
    }
}

static bool wants_values(const struct sta_shape *shape, const struct sta_list_shape *list)
{
    bool wanted = false;
    for (uint32_t i = 0; i < list->call_count; i++)
        wanted = wanted || shape->calls[list->calls[i]].primitive.aggregate == STA_AGGREGATE_UNIQUE;
    return wanted;
}

static int too_many(struct sta_error *err)
{
    return sta_fail(err, STA_ELIMIT, "unique found more than %d values; nunique counts any number of them",
                    STA_UNIQUE_MOST);
}

/* Counts distinct words; with @text also writes them. */
static int read_set(struct sta_group_merge *merge, size_t number, struct sta_buffer *text, uint64_t *distinct,
                    struct sta_error *err)
{
    const struct sta_list_shape *list = &merge->order->shape->lists[number];
    const struct sta_ranks *ranks = &merge->order->list_ranks[number];
    uint64_t last = 0;
    const uint64_t *words;
    size_t count;
    int rc;
    *distinct = 0;
    while ((rc = sta_group_merge_piece(merge, number, &words, &count, err)) == 0 && count > 0)
        for (size_t i = 0; i < count; i++) {
            if (*distinct > 0 && words[i] == last)
                continue;
            last = words[i];
            if (++*distinct > STA_UNIQUE_MOST && text != NULL)
                return too_many(err);
            if (text != NULL && *distinct > 1)
                sta_put_char(text, ',');
            if (text != NULL)
                put_value(text, list, ranks, words[i]);
        }
    return rc;
}

static int finalize_set(struct sta_group_merge *merge, size_t number, struct sta_dictionary *lists,
                        struct sta_buffer *text, uint8_t *record, struct sta_error *err)
{
    const struct sta_shape *shape = merge->order->shape;
    const struct sta_list_shape *list = &shape->lists[number];
    bool values = wants_values(shape, list);
    uint64_t distinct;
    uint32_t code = 0;
    sta_buffer_clear(text);
    sta_put_char(text, '[');
    int rc = read_set(merge, number, values ? text : NULL, &distinct, err);
    if (rc != 0)
        return rc;
    sta_put_char(text, ']');
    if (text->failed)
        return sta_fail(err, STA_ENOMEM, "no memory for the values of unique");
    if (values)
        code = sta_dictionary_intern(lists, text->data, text->size);
    for (uint32_t i = 0; i < list->call_count; i++) {
        const struct sta_agg_call *call = &shape->calls[list->calls[i]];
        sta_agg_finalize(call, record, true,
                         call->primitive.aggregate == STA_AGGREGATE_UNIQUE ? code : distinct);
    }
    return STA_OK;
}

/* ---- unions of spans */

static int finalize_spans(const struct sta_shape *shape, struct sta_group_merge *merge, size_t number,
                          uint8_t *record, struct sta_error *err)
{
    const struct sta_list_shape *list = &shape->lists[number];
    uint64_t measure = 0;
    uint64_t reach = 0; /* before the first start, which is not below 0 */
    const uint64_t *words;
    size_t count;
    int rc;
    while ((rc = sta_group_merge_piece(merge, number, &words, &count, err)) == 0 && count > 0)
        for (size_t i = 0; i < count; i++) {
            uint64_t from = STA_MAX(words[2 * i], reach);
            uint64_t to = words[2 * i + 1];
            measure += to > from ? to - from : 0;
            reach = STA_MAX(reach, to);
        }
    for (uint32_t i = 0; rc == 0 && i < list->call_count; i++)
        sta_agg_finalize(&shape->calls[list->calls[i]], record, measure <= INT64_MAX, measure);
    return rc;
}

/* ---- exact sums */

static int finalize_terms(const struct sta_shape *shape, struct sta_group_merge *merge, size_t number,
                          uint8_t *record, struct sta_error *err)
{
    const struct sta_agg_call *call = &shape->calls[shape->lists[number].calls[0]];
    const struct sta_exact_terms *united = &merge->terms[number];
    struct sta_exact_total totals[2];
    const uint64_t *words;
    size_t count;
    int rc;
    sta_agg_begin_totals(call, record, totals);
    for (size_t i = 0; i < united->count; i++)
        sta_agg_add_term(totals, united->terms[i]);
    while ((rc = sta_group_merge_piece(merge, number, &words, &count, err)) == 0 && count > 0)
        for (size_t i = 0; i < count; i++)
            sta_agg_add_term(totals, words[i]);
    if (rc == 0)
        sta_agg_end_totals(call, record, totals);
    return rc;
}

int sta_finalize_lists(struct sta_group_merge *merge, struct sta_dictionary *lists, struct sta_buffer *text,
                       uint8_t *record, struct sta_error *err)
{
    const struct sta_shape *shape = merge->order->shape;
    int rc = STA_OK;
    for (size_t l = 0; rc == 0 && l < shape->list_count; l++)
        switch (shape->lists[l].kind) {
        case STA_LIST_VALUES:
            rc = finalize_values(shape, merge, l, record, err);
            break;
        case STA_LIST_SET:
            rc = finalize_set(merge, l, lists, text, record, err);
            break;
        case STA_LIST_SPANS:
            rc = finalize_spans(shape, merge, l, record, err);
            break;
        default:
            STA_ASSERT(shape->lists[l].kind == STA_LIST_TERMS);
            rc = finalize_terms(shape, merge, l, record, err);
        }
    return rc;
}

/* Groups against a plain computation; and the same bytes whatever the workers, the order of rows, the
 * dictionaries and the memory. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "aggregate_model.h"

#define PLENTY ((size_t)1 << 30)

static double read_bits(const char *text)
{
    const uint64_t bits = strtoull(text, NULL, 10);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Lengths of the words at two places, where they say the same; 0 where not. */
static bool say_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
    if (a_length == b_length && memcmp(a, b, a_length) == 0)
        return true;
    if (a[0] != '~' || b[0] != '~')
        return false;
    double x = read_bits(a + 1);
    double y = read_bits(b + 1);
    return fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

/* Words end before a blank or a line's end; so do pieces of texts with blanks. */
static size_t word_length(const struct sta_buffer *text, size_t at)
{
    size_t length = 0;
    while (at + length < text->size && text->data[at + length] != ' ' && text->data[at + length] != '\n')
        length++;
    return length;
}

static void assert_same(struct sta_buffer *got, struct sta_buffer *wanted, const char *what)
{
    size_t g = 0;
    size_t w = 0;
    sta_put_char(got, '\0');
    sta_put_char(wanted, '\0');
    while (g < got->size && w < wanted->size) {
        size_t g_length = word_length(got, g);
        size_t w_length = word_length(wanted, w);
        cr_assert(say_same(got->data + g, g_length, wanted->data + w, w_length),
                  "%s: got \"%.100s\", wanted \"%.100s\"", what, got->data + g, wanted->data + w);
        g += g_length + 1;
        w += w_length + 1;
    }
    cr_assert(g >= got->size && w >= wanted->size, "%s: another number of groups", what);
    got->size--;
    wanted->size--;
}

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN true
#elif defined(__has_feature)
#define UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define UNDER_TSAN false
#endif

static void check(const struct model *model, const char *what)
{
    static const struct model_run runs[] = {
        {.seed = 1, .workers = 1, .dictionaries = 1, .memory = PLENTY, .in_order = true},
        {.seed = 2, .workers = 3, .dictionaries = 1, .memory = PLENTY},
        {.seed = 3, .workers = 2, .dictionaries = 4, .memory = PLENTY},
        {.seed = 4, .workers = 2, .dictionaries = 2, .memory = 64 << 10},
        {.seed = 5, .workers = 1, .dictionaries = 1, .memory = 64 << 10, .in_order = true},
        {.seed = 8, .workers = 2, .dictionaries = 2, .memory = PLENTY, .account = 16 << 20},
        {.seed = 6, .workers = 2, .dictionaries = 2, .memory = PLENTY, .shards = 5},
        {.seed = 7, .workers = 2, .dictionaries = 1, .memory = 64 << 10, .shards = 3},
    };
    struct sta_buffer wanted;
    struct sta_buffer first;
    sta_buffer_init(&wanted);
    sta_buffer_init(&first);
    model_expect(model, &wanted);
    for (size_t r = 0; r < STA_COUNT_OF(runs); r++) {
        struct sta_aggregation_figures figures;
        struct sta_buffer got;
        if (UNDER_TSAN && r > 0 && runs[r].workers == 1) /* it has no races, and takes long there */
            continue;
        sta_buffer_init(&got);
        model_group(model, &runs[r], &got, &figures);
        if (r == 0) {
            assert_same(&got, &wanted, what);
            sta_put(&first, got.data, got.size);
        }
        cr_assert(got.size == first.size && (got.size == 0 || memcmp(got.data, first.data, got.size) == 0),
                  "%s, run %zu: not the bytes of the first run", what, r);
        bool fits = figures.rows < 2000 || (model->primitive_count < 4 && figures.groups < 500);
        cr_assert(runs[r].account > 0 ||
                      (runs[r].memory < PLENTY ? figures.spilled > 0 || fits : figures.spilled == 0),
                  "%s, run %zu: spilled %lu", what, r, (unsigned long)figures.spilled);
        sta_buffer_fini(&got);
    }
    sta_buffer_fini(&first);
    sta_buffer_fini(&wanted);
}

/* @twice: also with groups of what is missing */
static void check_keys_of(const struct model_options *options, const enum model_column *keys, size_t count,
                          bool twice, const char *what)
{
    struct model model;
    model_init(&model, options);
    model.keys = keys;
    model.key_count = count;
    check(&model, what);
    model.keep_missing = true;
    if (twice)
        check(&model, what);
    model_fini(&model);
}

static void check_keys(const struct model_options *options, const enum model_column *keys, size_t count,
                       const char *what)
{
    check_keys_of(options, keys, count, !UNDER_TSAN, what); /* the threads do the same */
}

static const struct model_options ordinary = {
    .seed = 7, .rows = 4000, .names = 60, .missing = 10, .spread = 9};

Test(grouping, no_rows)
{
    static const enum model_column keys[] = {SMALL, NAME};
    struct model_options options = ordinary;
    options.rows = 0;
    check_keys(&options, keys, 2, "no rows");
    check_keys(&options, NULL, 0, "no rows, no keys");
}

Test(grouping, no_keys)
{
    struct model_options options = ordinary;
    check_keys(&options, NULL, 0, "no keys");
    options.rows = 9000; /* quantiles are selected, not sorted: of two workers, too */
    options.missing = 0;
    options.extremes = true;
    check_keys(&options, NULL, 0, "no keys, extremes");
}

/* Rows that are marked are counted and summed as those that are listed, also where sums leave 64 bits. */
Test(grouping, marked_rows)
{
    struct model_options options = ordinary;
    options.few = true;
    check_keys(&options, NULL, 0, "marked rows");
    options.extremes = true;
    check_keys(&options, NULL, 0, "marked rows, extremes");
}

Test(grouping, one_key_of_each_type)
{
    static const enum model_column keys[] = {FLAG, SMALL, WIDE, NUMBER, NAME};
    struct model_options options = ordinary;
    options.extremes = true;
    for (size_t k = 0; k < STA_COUNT_OF(keys); k++)
        check_keys(&options, &keys[k], 1, "one key");
}

Test(grouping, keys_of_few_bits_index)
{
    static const enum model_column keys[] = {NAME, FLAG, SMALL};
    check_keys(&ordinary, keys, 3, "few bits");
}

/* Counts and sums alone, which few groups get by number: of some groups, of hardly any, and of more than are
 * few. */
Test(grouping, few_groups_by_number)
{
    static const enum model_column keys[] = {OTHER, SMALL};
    static const unsigned spreads[] = {9, 1, 200};
    struct model_options options = ordinary;
    options.few = true;
    for (size_t s = 0; s < 2 * STA_COUNT_OF(spreads); s++) {
        options.spread = spreads[s / 2];
        options.extremes = s % 2 == 0;
        check_keys(&options, keys, 2, "few groups");
    }
}

Test(grouping, keys_of_one_word)
{
    static const enum model_column keys[] = {START, NAME, OTHER};
    check_keys(&ordinary, keys, 3, "one word");
}

Test(grouping, keys_of_several_words)
{
    static const enum model_column keys[] = {NAME, WIDE, NUMBER, SMALL};
    struct model_options options = ordinary;
    options.extremes = true;
    check_keys(&options, keys, 4, "several words");
}

Test(grouping, integers_of_all_bits_and_missing)
{
    static const enum model_column keys[] = {WIDE, NAME};
    struct model_options options = ordinary;
    options.extremes = true;
    options.rows = 500;
    options.missing = 40;
    check_keys(&options, keys, 2, "all bits");
}

Test(grouping, many_texts)
{
    static const enum model_column keys[] = {NAME};
    struct model_options options = ordinary;
    options.names = 2000;
    check_keys(&options, keys, 1, "many texts");
}

Test(grouping, nothing_missing)
{
    static const enum model_column keys[] = {SMALL, OTHER};
    struct model_options options = ordinary;
    options.missing = 0;
    check_keys(&options, keys, 2, "nothing missing");
}

Test(grouping, everything_missing)
{
    static const enum model_column keys[] = {SMALL, OTHER};
    struct model_options options = ordinary;
    options.missing = 100;
    check_keys(&options, keys, 2, "everything missing");
    check_keys(&options, NULL, 0, "everything missing, no keys");
}

/* Tables leave the cache: with time in the key they are sealed, else they grow.  That is so whatever becomes
 * of what is missing. */
Test(grouping, groups_that_do_not_come_again)
{
    static const enum model_column keys[] = {START, NAME};
    struct model_options options = ordinary;
    options.rows = 250000;
    options.few = true;
    check_keys_of(&options, keys, 2, false, "moving on");
}

Test(grouping, groups_that_come_again_and_again)
{
    static const enum model_column keys[] = {OTHER, SMALL};
    struct model_options options = ordinary;
    options.rows = 400000;
    options.spread = 30000;
    options.few = true;
    check_keys_of(&options, keys, 2, false, "coming again");
}

Test(grouping, random_shapes)
{
    uint64_t state = 99;
    for (unsigned round = 0; round < 8; round++) {
        enum model_column keys[4];
        size_t count = model_random(&state) % 5;
        for (size_t k = 0; k < count; k++)
            keys[k] = (enum model_column)(model_random(&state) % MODEL_COLUMNS);
        struct model_options options = {.seed = state,
                                        .rows = model_random(&state) % 4000,
                                        .names = 1 + (unsigned)(model_random(&state) % 300),
                                        .missing = (unsigned)(model_random(&state) % 30),
                                        .spread = 1 + (unsigned)(model_random(&state) % 5000),
                                        .extremes = round % 2 == 0};
        check_keys(&options, keys, count, "random");
    }
}

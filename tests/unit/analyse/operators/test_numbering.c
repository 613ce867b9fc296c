/* Tuples as numbers: equal tuples share one, whichever worker, dictionary and batch they come from. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/numbering.h"
#include "common/account.h"
#include "common/memory.h"
#include "common/parallel.h"

#define WORKERS 3
#define ROWS 6000
#define TEXTS 40
#define IDS 900 /* whose values need more bits from batch to batch */

struct tuple {
    int text; /* -1: missing */
    int64_t id;
    bool id_missing;
    double number;
};

static struct tuple tuple_of(unsigned worker, uint32_t row)
{
    uint32_t dice = (row * 2654435761u + worker * 40503u) >> 7;
    struct tuple tuple = {.text = (int)(dice % (TEXTS + 1)) - 1,
                          .id = (int64_t)(dice / 64 % IDS) << (row / 1500 * 9),
                          .id_missing = dice % 13 == 0,
                          .number = dice % 3 == 0   ? -0.0
                                    : dice % 3 == 1 ? 0.0
                                                    : 0.5};
    if (tuple.id_missing)
        tuple.id = dice; /* what a missing value holds does not matter */
    return tuple;
}

struct run {
    struct sta_numbering *numbering;
    uint32_t numbers[WORKERS][ROWS];
    int status[WORKERS];
};

/* Batches of a worker that has a dictionary of its own, with codes of its own. */
static void number_rows(void *context, unsigned worker)
{
    struct run *run = context;
    struct sta_dictionary *texts = sta_dictionary_create();
    uint32_t codes[TEXTS], at[ROWS], selected[ROWS];
    int64_t *ids = sta_alloc_array(ROWS, sizeof *ids);
    double *numbers = sta_alloc_array(ROWS, sizeof *numbers);
    uint8_t *missing = sta_alloc_array(ROWS, 1);
    struct sta_error err = STA_ERROR_INIT;
    char name[16];
    for (unsigned t = 0; t < TEXTS; t++) {
        unsigned text = (t * 7 + worker * 3) % TEXTS;
        snprintf(name, sizeof name, "text %u", text);
        codes[text] = sta_dictionary_intern(texts, name, strlen(name));
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        const struct tuple tuple = tuple_of(worker, row);
        at[row] = tuple.text < 0 ? STA_NO_CODE : codes[tuple.text];
        ids[row] = tuple.id;
        missing[row] = tuple.id_missing;
        numbers[row] = tuple.number;
        selected[row] = row;
    }
    const struct sta_vector keys[] = {{.type = STA_TYPE_TEXT, .codes = at, .texts = texts},
                                      {.type = STA_TYPE_INT, .integers = ids, .missing = missing},
                                      {.type = STA_TYPE_FLOAT, .numbers = numbers}};
    for (uint32_t row = 0, count; row < ROWS && run->status[worker] == 0; row += count) {
        count = STA_MIN(1 + row % 3000, ROWS - row);
        run->status[worker] = sta_numbering_take(run->numbering, worker, keys, selected + row, count,
                                                 run->numbers[worker], &err);
    }
    sta_dictionary_destroy(texts);
    free(ids);
    free(numbers);
    free(missing);
}

static void check_tuple(const struct sta_numbering *numbering, uint32_t number, struct tuple tuple)
{
    const struct sta_key_value text = sta_numbering_value(numbering, number, 0);
    const struct sta_key_value id = sta_numbering_value(numbering, number, 1);
    const struct sta_key_value half = sta_numbering_value(numbering, number, 2);
    char name[16];
    cr_assert_eq(text.missing, tuple.text < 0);
    snprintf(name, sizeof name, "text %d", tuple.text);
    if (!text.missing)
        cr_assert_str_eq(sta_dictionary_text(sta_numbering_texts(numbering, 0), (uint32_t)text.bits).bytes,
                         name);
    cr_assert_eq(id.missing, tuple.id_missing);
    if (!id.missing)
        cr_assert_eq((int64_t)id.bits, tuple.id);
    cr_assert_eq(half.bits == 0, tuple.number == 0.0);
}

Test(numbering, equal_tuples_share_a_number_and_others_have_their_own)
{
    static const enum sta_type types[] = {STA_TYPE_TEXT, STA_TYPE_INT, STA_TYPE_FLOAT};
    static struct run run;
    struct sta_account account;
    sta_account_init(&account, (size_t)1 << 30, "query_memory", NULL);
    struct sta_budget budget = {.workers = WORKERS, .account = &account};
    run.numbering = sta_numbering_create(types, STA_COUNT_OF(types), &budget);
    sta_parallel_run(WORKERS, number_rows, &run);
    const uint32_t count = sta_numbering_count(run.numbering);
    uint8_t *met = sta_alloc_array(count, 1);
    for (unsigned w = 0; w < WORKERS; w++) {
        cr_assert_eq(run.status[w], 0);
        for (uint32_t row = 0; row < ROWS; row++) {
            cr_assert_lt(run.numbers[w][row], count);
            met[run.numbers[w][row]] = 1;
            check_tuple(run.numbering, run.numbers[w][row], tuple_of(w, row));
        }
    }
    cr_assert_null(memchr(met, 0, count), "numbers are dense");
    for (uint32_t a = 0; a < count; a += 37) /* no tuple has two numbers */
        for (uint32_t b = a + 1; b < count; b++) {
            bool same = true;
            for (size_t k = 0; k < STA_COUNT_OF(types); k++) {
                const struct sta_key_value x = sta_numbering_value(run.numbering, a, k);
                const struct sta_key_value y = sta_numbering_value(run.numbering, b, k);
                same = same && x.missing == y.missing && (x.missing || x.bits == y.bits);
            }
            cr_assert(!same, "%u and %u are one tuple", a, b);
        }
    cr_assert_gt(account.used, count * sizeof(struct sta_key_value));
    free(met);
    sta_numbering_destroy(run.numbering);
    cr_assert_eq(account.used, 0);
    sta_account_fini(&account);
}

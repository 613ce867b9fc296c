/* Predicates held against zone maps, and against rows.
 *
 * DESIGN.  A predicate on a text is tested once for each code of the store that its column is made from, when
 * the first row group asks; the outcomes are kept by code, so that a list of codes and a range of codes are
 * both looked up without a look at texts.  A column with more codes than a
 * table is worth is not used.  A test that fails (a pattern past its match limit) admits: whoever evaluates
 * the row says so. */
#include "analyse/sources/predicates.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/sources/column_tests.h"
#include "common/memory.h"

#define MOST_CODES (1u << 18)

struct held_predicate {
    const struct sta_predicate *of;
    uint32_t column;
    uint32_t code_count;
    uint8_t *passing; /* [c + 1]: whether code c passes; [0]: whether no text does.  NULL until asked for */
    bool useless;     /* text column without codes, too many of them, or a test that failed */
    bool testable;    /* rows can be tested, exactly */
    struct sta_column_tests tests;
};

struct sta_predicates {
    const struct sta_columns *columns;
    struct sta_evaluator *evaluator;
    struct held_predicate *items;
    size_t count, capacity;
};

struct sta_predicates *sta_predicates_create(const struct sta_columns *columns)
{
    struct sta_predicates *predicates = sta_alloc(sizeof *predicates);
    predicates->columns = columns;
    return predicates;
}

void sta_predicates_destroy(struct sta_predicates *predicates)
{
    if (predicates == NULL)
        return;
    for (size_t i = 0; i < predicates->count; i++) {
        sta_column_tests_fini(&predicates->items[i].tests);
        free(predicates->items[i].passing);
    }
    sta_evaluator_destroy(predicates->evaluator);
    free(predicates->items);
    free(predicates);
}

void sta_predicates_add(struct sta_predicates *predicates, const struct sta_predicate *predicate,
                        uint32_t column)
{
    STA_GROW(predicates->items, predicates->capacity, predicates->count + 1);
    struct held_predicate *held = &predicates->items[predicates->count++];
    *held = (struct held_predicate){.of = predicate, .column = column};
    if (predicate->kind == STA_PREDICATE_RANGE && predicate->exact)
        held->testable =
            sta_column_tests_of_range(predicates->columns, column, &predicate->range, &held->tests);
}

/* ---- texts */

/* Tests up to a minibatch of entries: the first of all is that of no text, another that of the code before
 * it. */
static int test_entries(struct sta_predicates *predicates, struct held_predicate *held, uint32_t first,
                        uint32_t rows)
{
    struct sta_error ignored = STA_ERROR_INIT;
    uint32_t texts[STA_MINIBATCH_ROWS];
    for (uint32_t i = 0; i < rows; i++)
        texts[i] = first + i == 0
                       ? STA_NO_CODE
                       : sta_columns_text_of_code(predicates->columns, held->column, first + i - 1);
    return sta_predicate_test(held->of, predicates->evaluator,
                              sta_columns_texts(predicates->columns, held->column), texts, rows,
                              &held->passing[first], &ignored);
}

static void make_table(struct sta_predicates *predicates, struct held_predicate *held)
{
    held->code_count = sta_columns_code_count(predicates->columns, held->column);
    held->useless = held->code_count == 0 || held->code_count > MOST_CODES;
    if (held->useless)
        return;
    if (predicates->evaluator == NULL)
        predicates->evaluator = sta_evaluator_create();
    const uint32_t entries = held->code_count + 1;
    held->passing = sta_alloc_array(entries, sizeof *held->passing);
    for (uint32_t at = 0; !held->useless && at < entries; at += STA_MINIBATCH_ROWS)
        held->useless = test_entries(predicates, held, at, STA_MIN(entries - at, STA_MINIBATCH_ROWS)) != 0;
    held->testable = !held->useless && sta_column_tests_of_codes(predicates->columns, held->column,
                                                                 held->passing, &held->tests);
}

static bool passes(const struct held_predicate *held, uint32_t code)
{
    return code >= held->code_count || held->passing[code + 1];
}

static bool text_ruled_out(struct sta_predicates *predicates, struct held_predicate *held,
                           const struct sta_row_group *row_group)
{
    struct sta_row_group_codes codes;
    if (held->useless || !sta_columns_codes(predicates->columns, row_group, held->column, &codes))
        return false;
    if (held->passing == NULL)
        make_table(predicates, held);
    if (held->useless || (codes.missing && held->passing[0]))
        return false;
    if (codes.listed == NULL)
        return codes.first <= codes.last && codes.last < held->code_count &&
               memchr(held->passing + codes.first + 1, 1, codes.last - codes.first + 1) == NULL;
    for (size_t i = 0; i < codes.count; i++)
        if (passes(held, codes.listed[i]))
            return false;
    return true;
}

/* ---- numbers */

static bool range_ruled_out(const struct sta_predicates *predicates, const struct held_predicate *held,
                            const struct sta_row_group *row_group)
{
    double low, high;
    return sta_columns_range(predicates->columns, row_group, held->column, &low, &high) &&
           (low > high || low > held->of->range.high || high < held->of->range.low);
}

bool sta_predicates_rule_out(void *context, const struct sta_row_group *row_group)
{
    struct sta_predicates *predicates = context;
    for (size_t i = 0; i < predicates->count; i++) {
        struct held_predicate *held = &predicates->items[i];
        if (held->of->kind == STA_PREDICATE_RANGE ? range_ruled_out(predicates, held, row_group)
                                                  : text_ruled_out(predicates, held, row_group))
            return true;
    }
    return false;
}

/* ---- rows */

int sta_predicates_test(const struct sta_predicates *predicates, struct sta_column_reader *reader,
                        uint8_t *marks, bool *exact, struct sta_error *err)
{
    int rc = STA_OK;
    *exact = true;
    for (size_t i = 0; rc == STA_OK && i < predicates->count; i++) {
        const struct held_predicate *held = &predicates->items[i];
        bool known = false;
        if (held->testable)
            rc = sta_column_reader_test(reader, &held->tests, marks, &known, err);
        *exact &= known;
    }
    return rc;
}

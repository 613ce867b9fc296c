/* Demands held against the statistics of blocks.
 *
 * DESIGN.  A demand on a text is tested once for each code of the store that its column is made from, when
 * the first block asks; the table of outcomes is kept as running sums, so that a list of codes and a range of
 * codes are both looked up without a loop over texts.  A column with more codes than a table is worth is not
 * used for skipping.  A test that fails (a pattern past its match limit) admits: whoever evaluates the row
 * says so. */
#include "analyse/skipping.h"

#include <stdlib.h>

#include "common/memory.h"

#define MOST_CODES (1u << 18)

struct held_demand {
    const struct sta_demand *demand;
    uint32_t column;
    uint32_t code_count;
    uint32_t *admitted; /* [c]: how many codes below c pass; NULL until asked for */
    bool missing_passes;
    bool useless; /* text column without codes, too many of them, or a test that failed */
};

struct sta_skipping {
    const struct sta_columns *columns;
    struct sta_evaluator *evaluator;
    struct held_demand *demands;
    size_t count, capacity;
};

struct sta_skipping *sta_skipping_create(const struct sta_columns *columns)
{
    struct sta_skipping *skipping = sta_alloc(sizeof *skipping);
    skipping->columns = columns;
    return skipping;
}

void sta_skipping_destroy(struct sta_skipping *skipping)
{
    if (skipping == NULL)
        return;
    for (size_t i = 0; i < skipping->count; i++)
        free(skipping->demands[i].admitted);
    sta_evaluator_destroy(skipping->evaluator);
    free(skipping->demands);
    free(skipping);
}

void sta_skipping_demand(struct sta_skipping *skipping, const struct sta_demand *demand, uint32_t column)
{
    STA_GROW(skipping->demands, skipping->capacity, skipping->count + 1);
    skipping->demands[skipping->count++] = (struct held_demand){.demand = demand, .column = column};
}

/* ---- texts */

struct some_codes {
    const struct sta_dictionary *texts;
    const uint32_t *codes;
};

static int give_codes(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct some_codes *some = context;
    *vector = (struct sta_vector){.type = STA_TYPE_TEXT, .codes = some->codes, .texts = some->texts};
    return 0;
}

/* Tests codes first .. first + rows - 1, and writes the running sums behind them. */
static int test_codes(struct sta_skipping *skipping, struct held_demand *held, uint32_t first, uint32_t rows,
                      uint32_t *texts)
{
    struct sta_error ignored = STA_ERROR_INIT;
    struct some_codes some = {sta_columns_texts(skipping->columns, held->column), texts};
    struct sta_vector holds;
    for (uint32_t i = 0; i < rows; i++)
        texts[i] = sta_columns_text_of_code(skipping->columns, held->column, first + i);
    int rc = sta_program_run(held->demand->program, skipping->evaluator, rows, give_codes, &some, &holds,
                             &ignored);
    for (uint32_t i = 0; rc == 0 && i < rows; i++) {
        uint32_t at = holds.constant ? 0 : i;
        bool passes = holds.bools[at] && !(holds.missing != NULL && holds.missing[at]);
        held->admitted[first + i + 1] = held->admitted[first + i] + passes;
    }
    return rc;
}

static int test_missing(struct sta_skipping *skipping, struct held_demand *held)
{
    static const uint32_t none = STA_NO_CODE;
    struct sta_error ignored = STA_ERROR_INIT;
    return sta_demand_admits(held->demand, skipping->evaluator,
                             sta_columns_texts(skipping->columns, held->column), &none, 1,
                             &held->missing_passes, &ignored);
}

static void make_table(struct sta_skipping *skipping, struct held_demand *held)
{
    held->code_count = sta_columns_code_count(skipping->columns, held->column);
    held->useless = held->code_count == 0 || held->code_count > MOST_CODES;
    if (held->useless)
        return;
    if (skipping->evaluator == NULL)
        skipping->evaluator = sta_evaluator_create();
    held->admitted = sta_alloc_array((size_t)held->code_count + 1, sizeof *held->admitted);
    uint32_t *texts = sta_alloc_array(STA_VECTOR_ROWS, sizeof *texts);
    int rc = test_missing(skipping, held);
    for (uint32_t at = 0; rc == 0 && at < held->code_count; at += STA_VECTOR_ROWS)
        rc = test_codes(skipping, held, at, STA_MIN(held->code_count - at, (uint32_t)STA_VECTOR_ROWS), texts);
    held->useless = rc != 0;
    free(texts);
}

static bool passes(const struct held_demand *held, uint32_t code)
{
    return code >= held->code_count || held->admitted[code + 1] > held->admitted[code];
}

static bool text_ruled_out(struct sta_skipping *skipping, struct held_demand *held,
                           const struct sta_block *block)
{
    struct sta_block_codes codes;
    if (held->useless || !sta_columns_codes(skipping->columns, block, held->column, &codes))
        return false;
    if (held->admitted == NULL)
        make_table(skipping, held);
    if (held->useless || (codes.missing && held->missing_passes))
        return false;
    if (codes.listed == NULL)
        return codes.first <= codes.last && codes.last < held->code_count &&
               held->admitted[codes.last + 1] == held->admitted[codes.first];
    for (size_t i = 0; i < codes.count; i++)
        if (passes(held, codes.listed[i]))
            return false;
    return true;
}

/* ---- numbers */

static bool range_ruled_out(const struct sta_skipping *skipping, const struct held_demand *held,
                            const struct sta_block *block)
{
    double low, high;
    return sta_columns_range(skipping->columns, block, held->column, &low, &high) &&
           (low > high || low > held->demand->high || high < held->demand->low);
}

bool sta_skipping_rules_out(void *context, const struct sta_block *block)
{
    struct sta_skipping *skipping = context;
    for (size_t i = 0; i < skipping->count; i++) {
        struct held_demand *held = &skipping->demands[i];
        if (held->demand->kind == STA_DEMAND_RANGE ? range_ruled_out(skipping, held, block)
                                                   : text_ruled_out(skipping, held, block))
            return true;
    }
    return false;
}

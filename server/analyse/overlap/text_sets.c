/* A table from text to sets, filled as texts are met: most requests name categories and functions, of which a
 * trace has few. */
#include "analyse/overlap/text_sets.h"

#include "common/account.h"

#define UNKNOWN UINT32_MAX

uint32_t sta_text_column(const struct sta_columns *columns, const struct sta_expression *condition)
{
    size_t count;
    const uint32_t *read = sta_expression_columns(condition, &count);
    if (count != 1 || sta_columns_schema(columns)->columns[read[0]].type != STA_TYPE_TEXT)
        return STA_NO_CODE;
    return read[0];
}

/* ---- a text that is met for the first time */

static int one_text(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    (void)column;
    (void)err;
    *vector = *(const struct sta_vector *)context;
    return 0;
}

static int learn(struct sta_text_sets *sets, struct sta_program *const *programs,
                 struct sta_evaluator *evaluator, const struct sta_dictionary *texts, uint32_t code,
                 struct sta_error *err)
{
    struct sta_vector text = {.type = STA_TYPE_TEXT, .codes = &code, .texts = texts};
    uint32_t mask = 0;
    for (uint32_t rest = sets->sets; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        struct sta_vector holds;
        int rc = sta_program_run(programs[s], evaluator, 1, one_text, &text, &holds, err);
        if (rc != 0)
            return rc;
        mask |= (uint32_t)(holds.bools[0] != 0) << s;
    }
    sets->masks[code + 1] = mask;
    return 0;
}

static int grow(struct sta_text_sets *sets, const struct sta_dictionary *texts, struct sta_account *account,
                struct sta_error *err)
{
    size_t before = sets->capacity;
    int rc = STA_ACCOUNT_GROW(account, sets->masks, sets->capacity, (size_t)sta_dictionary_count(texts) + 1,
                              "the sets of an overlap", err);
    for (size_t i = before; i < sets->capacity && rc == 0; i++)
        sets->masks[i] = UNKNOWN;
    return rc;
}

/* ---- rows */

int sta_text_sets_add(struct sta_text_sets *sets, struct sta_program *const *programs,
                      struct sta_evaluator *evaluator, struct sta_column_reader *reader, uint32_t *masks,
                      struct sta_account *account, struct sta_error *err)
{
    struct sta_vector vector;
    uint32_t rows = sta_column_reader_row_group(reader)->rows;
    int rc = sta_column_reader_get(reader, sets->column, &vector, err);
    if (rc == 0)
        rc = grow(sets, vector.texts, account, err);
    if (rc != 0)
        return rc;
    const uint32_t step = vector.constant ? 0 : 1;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t code = vector.codes[row * step];
        uint32_t mask = sets->masks[code + 1];
        if (mask == UNKNOWN) {
            rc = learn(sets, programs, evaluator, vector.texts, code, err);
            if (rc != 0)
                return rc;
            mask = sets->masks[code + 1];
        }
        masks[row] |= mask; /* a mask of STA_NOT_THERE stays */
    }
    return 0;
}

/* One thread's way through the rows of a row group: from codes to classes.
 *
 * The first pass looks up (function, category, file class) and notes rows whose combination is new.  New
 * combinations of a row group are settled together, as vectors, so that even a row group of nothing but new
 * ones costs little per row.  Conditions that read more than the combination are then evaluated for all rows;
 * which of them hold is a pattern, and (combination, pattern) -> class. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/classify_private.h"
#include "analyse/layers/categories.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

#define MOST_BASES 65536 /* before a row group, which may bring as many as it has rows */

struct sta_classifier *sta_classifier_create(struct sta_classes *classes, struct sta_column_reader *reader)
{
    struct sta_classifier *classifier = sta_alloc(sizeof *classifier);
    classifier->classes = classes;
    classifier->reader = reader;
    classifier->evaluator = sta_evaluator_create();
    sta_account_init_part(&classifier->account, sta_columns_account(classes->columns));
    sta_composite_map_init(&classifier->combinations, &classifier->account);
    sta_map_init(&classifier->pattern_codes);
    sta_map_init(&classifier->varying_classes);
    classifier->pattern_codes.account = classifier->varying_classes.account = &classifier->account;
    if (classes->varying_count > 0)
        classifier->patterns = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *classifier->patterns);
    return classifier;
}

void sta_classifier_destroy(struct sta_classifier *classifier)
{
    if (classifier == NULL)
        return;
    sta_evaluator_destroy(classifier->evaluator);
    sta_composite_map_fini(&classifier->combinations);
    sta_map_fini(&classifier->pattern_codes);
    sta_map_fini(&classifier->varying_classes);
    sta_account_free(&classifier->account, classifier->bases);
    sta_account_free(&classifier->account, classifier->code_of_base);
    sta_account_close(&classifier->account);
    free(classifier->patterns);
    free(classifier);
}

/* ---- running a condition */

struct running {
    struct sta_classifier *classifier;
    const struct sta_class_condition *condition;
};

/* The columns of the new combinations, for fixed conditions. */
static int combination_column(void *context, uint32_t column, struct sta_vector *vector,
                              struct sta_error *err)
{
    static const int64_t zero = 0, one = 1;
    const struct sta_classifier *classifier = ((struct running *)context)->classifier;
    *vector = (struct sta_vector){.type = STA_TYPE_INT};
    switch (column) {
    case STA_LOGICAL_func_name:
        vector->codes = classifier->new_names;
        break;
    case STA_LOGICAL_cat:
        vector->codes = classifier->new_cats;
        break;
    case STA_LOGICAL_io_cat:
        vector->integers = classifier->new_io;
        break;
    default: /* acc_pat, count */
        vector->integers = column == STA_LOGICAL_count ? &one : &zero;
        vector->constant = true;
    }
    if (vector->codes != NULL) {
        vector->type = STA_TYPE_TEXT;
        vector->texts = sta_columns_texts(classifier->classes->columns, column);
    }
    return STA_OK;
}

/* The columns of the row group, for the others. */
static int row_group_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct running *running = context;
    const struct sta_columns *columns = running->classifier->classes->columns;
    if (column < sta_columns_schema(columns)->count)
        return sta_column_reader_get(running->classifier->reader, column, vector, err);
    *vector = sta_vector_nothing(running->condition->open.schema.columns[column].type,
                                 sta_columns_texts(columns, STA_LOGICAL_trace));
    return STA_OK;
}

static int run_condition(struct sta_classifier *classifier, const struct sta_class_condition *condition,
                         uint32_t rows, struct sta_vector *result, struct sta_error *err)
{
    struct running running = {classifier, condition};
    int status =
        sta_program_run(condition->program, classifier->evaluator, rows,
                        condition->fixed ? combination_column : row_group_column, &running, result, err);
    STA_ASSERT(status != STA_OK || result->type == STA_TYPE_BOOL);
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "preset %s", classifier->classes->preset->name);
}

static bool is_true(const struct sta_vector *result, uint32_t row)
{
    uint32_t at = result->constant ? 0 : row;
    return result->bools[at] && (result->missing == NULL || !result->missing[at]);
}

/* ---- new combinations */

static uint32_t row_file_class(const struct sta_classifier *classifier, const struct sta_column_values *files,
                               uint32_t row)
{
    return files == NULL
               ? STA_FILE_CLASS_NONE
               : sta_refiner_file_class(sta_columns_refiner(classifier->classes->columns), files->codes[row]);
}

static int add_base(struct sta_classifier *classifier, uint32_t name, uint32_t cat, uint32_t file_class,
                    struct sta_error *err)
{
    const struct sta_columns *columns = classifier->classes->columns;
    uint32_t refined = sta_refiner_cat(sta_columns_refiner(columns), cat, file_class);
    int status = STA_ACCOUNT_GROW(&classifier->account, classifier->bases, classifier->base_capacity,
                                  (size_t)classifier->base_count + 1, "functions and categories", err);
    if (status == STA_OK)
        status = sta_composite_map_add(&classifier->combinations, name, cat, file_class,
                                       classifier->base_count, err);
    if (status != STA_OK)
        return status;
    bool dropped = classifier->classes->drop_files && (file_class & STA_FILE_CLASS_DROPPED) != 0;
    classifier->bases[classifier->base_count++] =
        (struct sta_class_base){.fate = dropped ? STA_FATE_FILE : STA_FATE_KEPT, .cat = refined};
    uint32_t at = classifier->new_count++;
    classifier->new_names[at] = name;
    classifier->new_cats[at] = refined;
    classifier->new_io[at] = sta_columns_class_of(columns, name, cat);
    return STA_OK;
}

static int run_fixed(struct sta_classifier *classifier, struct sta_class_base *first, struct sta_error *err)
{
    const struct sta_classes *classes = classifier->classes;
    for (size_t c = 0; c < classes->condition_count; c++) {
        if (!classes->conditions[c].fixed || classes->conditions[c].by_category)
            continue;
        struct sta_vector result;
        int status = run_condition(classifier, &classes->conditions[c], classifier->new_count, &result, err);
        if (status != STA_OK)
            return status;
        for (uint32_t i = 0; i < classifier->new_count; i++) {
            const bool holds = is_true(&result, i);
            if (c < STA_CLASS_BITS)
                first[i].conditions[c / 64] |= (uint64_t)holds << (c % 64);
            if (holds && classes->conditions[c].drops && first[i].fate == STA_FATE_KEPT)
                first[i].fate = STA_FATE_FUNCTION;
        }
    }
    return STA_OK;
}

/* The layers that were made from categories. */
static void find_categories(struct sta_classifier *classifier, struct sta_class_base *first)
{
    const struct sta_classes *classes = classifier->classes;
    const struct sta_dictionary *cats = sta_columns_texts(classes->columns, STA_LOGICAL_cat);
    uint32_t codes[STA_CATEGORY_DEPTH];
    for (uint32_t i = 0; i < classifier->new_count; i++) {
        if (classifier->new_cats[i] == STA_NO_CODE)
            continue;
        struct sta_text cat = sta_dictionary_text(cats, classifier->new_cats[i]);
        unsigned count = sta_category_find(classes->categories, cat, codes);
        for (unsigned c = 0; c < count; c++) {
            const uint32_t condition = classes->bits[codes[c] + 1].condition;
            first[i].conditions[condition / 64] |= UINT64_C(1) << (condition % 64);
        }
    }
}

/* Works out the combinations that were added since @first. */
static int finalize(struct sta_classifier *classifier, uint32_t first, struct sta_error *err)
{
    int status = run_fixed(classifier, &classifier->bases[first], err);
    if (status == STA_OK && classifier->classes->categories != NULL)
        find_categories(classifier, &classifier->bases[first]);
    if (status == STA_OK)
        status = STA_ACCOUNT_GROW(&classifier->account, classifier->code_of_base, classifier->code_capacity,
                                  classifier->base_count, "functions and categories", err);
    const bool varying = classifier->classes->varying_count > 0;
    for (uint32_t base = first; status == STA_OK && base < classifier->base_count; base++)
        classifier->code_of_base[base] =
            varying ? base : sta_classes_intern(classifier->classes, &classifier->bases[base], 0);
    return status;
}

static uint32_t find_base(const struct sta_classifier *classifier, uint32_t row, const uint32_t *names,
                          const uint32_t *cats, uint32_t file_class)
{
    return sta_composite_map_find(&classifier->combinations, names[row], cats[row], file_class);
}

static int add_pending(struct sta_classifier *classifier, uint32_t pending, const uint32_t *names,
                       const uint32_t *cats, const struct sta_column_values *files, uint32_t *codes,
                       struct sta_error *err)
{
    uint32_t first = classifier->base_count;
    int status = STA_OK;
    classifier->new_count = 0;
    for (uint32_t i = 0; i < pending && status == STA_OK; i++) {
        uint32_t row = classifier->pending[i], file_class = row_file_class(classifier, files, row);
        if (find_base(classifier, row, names, cats, file_class) == STA_NO_CODE)
            status = add_base(classifier, names[row], cats[row], file_class, err);
    }
    if (status == STA_OK)
        status = finalize(classifier, first, err);
    for (uint32_t i = 0; i < pending && status == STA_OK; i++) {
        const uint32_t row = classifier->pending[i];
        codes[row] = classifier->code_of_base[find_base(classifier, row, names, cats,
                                                        row_file_class(classifier, files, row))];
    }
    return status;
}

/* ---- rows */

/* The rows that are classified. */
struct chosen {
    const uint32_t *selected; /* NULL: the first ones */
    uint32_t count;
};

/* The columns that say which combination a row is of. */
struct combined {
    const uint32_t *names, *cats;
    const uint32_t *files; /* NULL: they do not matter */
};

/* The hot loop, on its own: what it reads often is held in locals, since for all the compiler knows codes[]
 * could overwrite it.
 * Return: how many rows have a combination that is not yet known; these are pending. */
__attribute__((noinline)) static uint32_t look_up(struct sta_classifier *classifier,
                                                  const struct chosen *chosen, const struct combined *columns,
                                                  uint32_t *codes)
{
    const struct sta_composite_map combinations = classifier->combinations;
    const _Atomic uint16_t *const file_classes =
        sta_columns_refiner(classifier->classes->columns)->file_classes;
    const struct combined of = *columns;
    const uint32_t *const code_of_base = classifier->code_of_base, *const selected = chosen->selected;
    uint32_t *const waiting = classifier->pending;
    const uint32_t count = chosen->count;
    uint32_t pending = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = selected != NULL ? selected[i] : i;
        const uint32_t file_class =
            of.files != NULL ? sta_file_class_known(file_classes, of.files[row]) : STA_FILE_CLASS_NONE;
        const uint32_t base = sta_composite_map_find(&combinations, of.names[row], of.cats[row], file_class);
        if (__builtin_expect(base != STA_NO_CODE, 1))
            codes[row] = code_of_base[base];
        else
            waiting[pending++] = row;
    }
    return pending;
}

/* codes[row] becomes the code of the row's base. */
static int find_codes(struct sta_classifier *classifier, const struct chosen *chosen, uint32_t *codes,
                      struct sta_error *err)
{
    struct sta_column_reader *reader = classifier->reader;
    const struct sta_column_values *names, *cats = NULL, *files = NULL;
    int status = sta_column_reader_physical(reader, STA_COLUMN_NAME, &names, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(reader, STA_COLUMN_CAT, &cats, err);
    if (status == STA_OK && classifier->classes->uses_files)
        status = sta_column_reader_physical(reader, STA_COLUMN_FILE, &files, err);
    if (status != STA_OK)
        return status;
    const struct combined columns = {names->codes, cats->codes, files != NULL ? files->codes : NULL};
    uint32_t pending = look_up(classifier, chosen, &columns, codes);
    return pending == 0 ? STA_OK
                        : add_pending(classifier, pending, names->codes, cats->codes, files, codes, err);
}

static int find_patterns(struct sta_classifier *classifier, struct sta_error *err)
{
    const struct sta_classes *classes = classifier->classes;
    uint32_t rows = sta_column_reader_row_group(classifier->reader)->rows;
    memset(classifier->patterns, 0, rows * sizeof *classifier->patterns);
    for (unsigned i = 0; i < classes->varying_count; i++) {
        struct sta_vector result;
        int status = run_condition(classifier, &classes->conditions[classes->varying[i]], rows, &result, err);
        if (status != STA_OK)
            return status;
        for (uint32_t row = 0; row < rows; row++)
            classifier->patterns[row] |= (uint64_t)is_true(&result, row) << i;
    }
    return STA_OK;
}

static uint32_t varying_class(struct sta_classifier *classifier, uint32_t base, uint64_t pattern)
{
    bool added;
    uint32_t code = sta_map_intern(&classifier->pattern_codes, pattern, classifier->pattern_count, &added);
    classifier->pattern_count += added;
    uint64_t key = (uint64_t)base << 32 | code;
    uint32_t class;
    if (!sta_map_find(&classifier->varying_classes, key, &class)) {
        class = sta_classes_intern(classifier->classes, &classifier->bases[base], pattern);
        sta_map_put(&classifier->varying_classes, key, class);
    }
    return class;
}

/* What is known of combinations can be found again, and one that comes once, such as that of a category of
 * its own, is not met again: so it is bounded. */
static void forget_bases(struct sta_classifier *classifier)
{
    sta_composite_map_fini(&classifier->combinations);
    sta_composite_map_init(&classifier->combinations, &classifier->account);
    sta_map_fini(&classifier->varying_classes);
    classifier->base_count = 0;
}

int sta_classifier_run(struct sta_classifier *classifier, const uint32_t *selected, uint32_t count,
                       uint32_t *codes, struct sta_error *err)
{
    const struct chosen chosen = {selected, count};
    if (classifier->base_count > MOST_BASES)
        forget_bases(classifier);
    bool varying = classifier->classes->varying_count > 0;
    int status = find_codes(classifier, &chosen, codes, err);
    if (status == STA_OK && varying)
        status = find_patterns(classifier, err);
    if (status != STA_OK)
        return status;
    for (uint32_t i = 0; varying && i < count; i++) {
        uint32_t row = selected != NULL ? selected[i] : i;
        codes[row] = varying_class(classifier, codes[row], classifier->patterns[row]);
    }
    int failed = sta_account_failure(&classifier->account, err);
    return failed != STA_OK ? failed : sta_columns_failure(classifier->classes->columns, err);
}

/* Values of args for the present row group: the columns args.<key>, and the positive integers that standard
 * columns take from them. */
#include <string.h>

#include "analyse/sources/column_kernels.h"
#include "analyse/sources/column_tests.h"
#include "analyse/sources/columns_private.h"
#include "common/memory.h"
#include "common/number.h"

static const struct sta_column_values absent = {.kind = STA_KIND_ABSENT};

struct sta_single_value sta_column_value_at(const struct sta_column_values *values, uint32_t row)
{
    static const struct sta_single_value missing = {.kind = STA_VALUE_KINDS};
    struct sta_single_value out = {.kind = STA_VALUE_KINDS};
    if (values->kind == STA_KIND_ABSENT ||
        (values->kind != STA_KIND_CODE && values->any_missing && values->missing[row]))
        return missing;
    switch (values->kind) {
    case STA_KIND_INT:
    case STA_KIND_BOOL:
        out.kind = values->kind == STA_KIND_INT ? STA_VALUE_INT : STA_VALUE_BOOL;
        out.value.integer = values->integers[row];
        return out;
    case STA_KIND_FLOAT:
        return (struct sta_single_value){.kind = STA_VALUE_FLOAT, .value.number = values->numbers[row]};
    case STA_KIND_CODE:
        if (values->codes[row] == STA_NO_CODE)
            return missing;
        return (struct sta_single_value){.kind = STA_VALUE_TEXT, .value.code = values->codes[row]};
    default: /* MIXED */
        out.kind = (enum sta_value_kind)values->kinds[row];
        memcpy(&out.value, &values->integers[row], sizeof out.value);
        return out.kind < STA_VALUE_KINDS ? out : missing;
    }
}

bool sta_integer_of_text(struct sta_text text, int64_t *integer)
{
    static const char blanks[] = " \t\n\r\v\f";
    const char *start = text.bytes, *end = text.bytes + text.length;
    while (start < end && *start != '\0' && strchr(blanks, *start) != NULL)
        start++;
    while (end > start && end[-1] != '\0' && strchr(blanks, end[-1]) != NULL)
        end--;
    return sta_parse_int(start, (size_t)(end - start), integer);
}

bool sta_integer_of_number(double number, int64_t *integer)
{
    if (!(number >= -0x1p63 && number < 0x1p63) || number != (double)(int64_t)number)
        return false;
    *integer = (int64_t)number;
    return true;
}

/* ---- args.<key> */

/* Any value as text; numbers and conditions as JSON has them. */
static uint32_t text_of(struct sta_args_source *source, struct sta_single_value v)
{
    char text[STA_DOUBLE_TEXT];
    if (v.kind == STA_VALUE_TEXT)
        return v.value.code;
    if (source->own == NULL) /* the table of kinds knows of texts only: a damaged store */
        return STA_NO_CODE;
    switch (v.kind) {
    case STA_VALUE_INT:
        return sta_dictionary_intern(source->own, text, sta_format_int(v.value.integer, text));
    case STA_VALUE_FLOAT:
        return sta_dictionary_intern(source->own, text, sta_format_double(v.value.number, text));
    case STA_VALUE_BOOL:
        return v.value.integer ? sta_dictionary_intern(source->own, "true", 4)
                               : sta_dictionary_intern(source->own, "false", 5);
    default:
        return STA_NO_CODE;
    }
}

static void convert_text(struct sta_column_reader *reader, struct sta_args_source *source,
                         const struct sta_column_values *values, struct sta_logical_slot *slot)
{
    uint32_t *out = sta_logical_values(slot), rows = reader->rows;
    if (values->kind == STA_KIND_CODE)
        memcpy(out, values->codes, rows * sizeof *out);
    else
        for (uint32_t row = 0; row < rows; row++)
            out[row] = text_of(source, sta_column_value_at(values, row));
    slot->vector.codes = out;
}

/* Values of the column's type, or missing: what a kind that is not in the table of kinds (a damaged store)
 * gives. */
static void convert_number(const struct sta_column_reader *reader, const struct sta_args_source *source,
                           const struct sta_column_values *values, struct sta_logical_slot *slot)
{
    uint32_t rows = reader->rows;
    uint8_t *missing = sta_logical_missing(slot, rows);
    int64_t *integers = sta_logical_values(slot);
    double *numbers = (double *)integers;
    uint8_t *bools = (uint8_t *)integers;
    for (uint32_t row = 0; row < rows; row++) {
        struct sta_single_value v = sta_column_value_at(values, row);
        if (source->type == STA_TYPE_INT && v.kind == STA_VALUE_INT)
            integers[row] = v.value.integer;
        else if (source->type == STA_TYPE_FLOAT && (v.kind == STA_VALUE_INT || v.kind == STA_VALUE_FLOAT))
            numbers[row] = v.kind == STA_VALUE_INT ? (double)v.value.integer : v.value.number;
        else if (source->type == STA_TYPE_BOOL && v.kind == STA_VALUE_BOOL)
            bools[row] = v.value.integer != 0;
        else
            missing[row] = 1;
    }
    slot->vector.missing = missing;
}

/* As the store has it, when that is what the column is. */
static bool borrow(const struct sta_args_source *source, const struct sta_column_values *values,
                   struct sta_logical_slot *slot)
{
    if (source->type == STA_TYPE_TEXT && values->kind == STA_KIND_CODE)
        slot->vector.codes = values->codes;
    else if (source->type == STA_TYPE_INT && values->kind == STA_KIND_INT)
        slot->vector.integers = values->integers;
    else if (source->type == STA_TYPE_FLOAT && values->kind == STA_KIND_FLOAT)
        slot->vector.numbers = values->numbers;
    else
        return false;
    slot->vector.missing = source->type != STA_TYPE_TEXT && values->any_missing ? values->missing : NULL;
    return true;
}

static void all_missing(const struct sta_column_reader *reader, struct sta_logical_slot *slot)
{
    uint32_t rows = reader->rows;
    sta_vector_point(&slot->vector, sta_logical_values(slot));
    if (slot->vector.type == STA_TYPE_TEXT) {
        memset(slot->values, 0xff, rows * sizeof(uint32_t));
        return;
    }
    memset(slot->values, 0, rows * sizeof(int64_t));
    memset(sta_logical_missing(slot, rows), 1, rows);
    slot->vector.missing = slot->missing;
}

/* Puts the values that the rows' references are over the stored ones. */
static int put_references(struct sta_column_reader *reader, const struct sta_args_source *source,
                          struct sta_logical_slot *slot, struct sta_error *err)
{
    const struct sta_column_values *codes;
    int status = sta_column_reader_physical(reader, source->of_host ? STA_COLUMN_THREAD : STA_COLUMN_FILE,
                                            &codes, err);
    if (status != STA_OK)
        return status;
    const struct sta_reference_values *values = &source->references;
    const struct sta_entities *entities = reader->columns->entities;
    uint32_t references = source->of_host ? entities->host_ref_count : entities->file_ref_count;
    for (uint32_t row = 0; row < reader->rows; row++) {
        uint32_t code = codes->codes[row];
        if (source->of_host && code != STA_NO_CODE)
            code = sta_tables_thread(reader->columns->tables, code).host;
        if (code >= references)
            continue;
        if (source->type == STA_TYPE_TEXT) {
            if (values->codes[code] != STA_NO_CODE)
                ((uint32_t *)slot->values)[row] = values->codes[code];
        } else if (values->present[code]) {
            slot->missing[row] = 0;
            if (source->type == STA_TYPE_FLOAT)
                ((double *)slot->values)[row] = (double)values->integers[code];
            else
                ((int64_t *)slot->values)[row] = values->integers[code];
        }
    }
    return STA_OK;
}

int sta_column_reader_args(struct sta_column_reader *reader, struct sta_args_source *source,
                           struct sta_logical_slot *slot, struct sta_error *err)
{
    const struct sta_column_values *values = &absent;
    int status = sta_args_source_prepare(reader->columns, source, err);
    if (status == STA_OK && source->key != STA_NO_CODE)
        status = sta_column_reader_physical(reader, STA_COLUMN_ARGS + source->key, &values, err);
    if (status != STA_OK)
        return status;
    bool borrowed = source->kind == 0 && borrow(source, values, slot);
    if (borrowed)
        return STA_OK;
    if (values->kind == STA_KIND_ABSENT) {
        all_missing(reader, slot);
    } else {
        sta_vector_point(&slot->vector, sta_logical_values(slot));
        if (source->type == STA_TYPE_TEXT)
            convert_text(reader, source, values, slot);
        else
            convert_number(reader, source, values, slot);
    }
    return source->kind != 0 ? put_references(reader, source, slot, err) : STA_OK;
}

/* ---- positive integers */

static int64_t positive_of(const struct sta_positive_source *source, struct sta_single_value v)
{
    int64_t whole;
    switch (v.kind) {
    case STA_VALUE_INT:
        return v.value.integer > 0 ? v.value.integer : 0;
    case STA_VALUE_FLOAT:
        return sta_integer_of_number(v.value.number, &whole) && whole > 0 ? whole : 0;
    case STA_VALUE_TEXT:
        return source->of_text[v.value.code];
    default:
        return 0;
    }
}

/* Integers of a key, of which the positive ones count; NULL: no row of the row group has any. */
static int integers_of(struct sta_column_reader *reader, enum sta_positive which, const int64_t **integers,
                       struct sta_error *err)
{
    const struct sta_positive_source *source = &reader->columns->positives[which];
    const struct sta_column_values *values = &absent;
    int status = source->key == STA_NO_CODE
                     ? STA_OK
                     : sta_column_reader_physical(reader, STA_COLUMN_ARGS + source->key, &values, err);
    if (status != STA_OK)
        return status;
    *integers = values->kind == STA_KIND_ABSENT ? NULL : values->integers;
    if (values->kind == STA_KIND_INT ||
        values->kind == STA_KIND_ABSENT) /* nearly always; what is missing is 0 */
        return STA_OK;
    int64_t **buffer = &reader->positives[which];
    if (*buffer == NULL)
        *buffer = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof **buffer);
    for (uint32_t row = 0; row < reader->rows; row++)
        (*buffer)[row] = positive_of(source, sta_column_value_at(values, row));
    *integers = *buffer;
    return STA_OK;
}

/* Marks in reader->keep the rows that the second key of a rule counts for. */
static int mark_rows(struct sta_column_reader *reader, const struct sta_positive_rule *rule,
                     struct sta_error *err)
{
    struct sta_column_tests tests = {.count = 0};
    bool known;
    if (reader->keep == NULL)
        reader->keep = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *reader->keep);
    memset(reader->keep, 1, reader->rows);
    sta_column_tests_of_rule(reader->columns, rule, &tests);
    return sta_column_reader_test(reader, &tests, reader->keep, &known, err);
}

/* Of rows in which the first key has a value, whatever it is, the second does not count. */
static int drop_where_first(struct sta_column_reader *reader, enum sta_positive first, struct sta_error *err)
{
    const struct sta_column_values *values = &absent;
    uint32_t key = reader->columns->positives[first].key, rows = reader->rows;
    int status =
        key == STA_NO_CODE ? STA_OK : sta_column_reader_physical(reader, STA_COLUMN_ARGS + key, &values, err);
    if (status != STA_OK || values->kind == STA_KIND_ABSENT)
        return status;
    for (uint32_t row = 0; row < rows; row++)
        reader->keep[row] &= values->kind == STA_KIND_CODE ? values->codes[row] == STA_NO_CODE
                                                           : values->any_missing && values->missing[row];
    return STA_OK;
}

const struct sta_positive_rule *sta_positive_rule_of(uint32_t column)
{
    static const struct sta_positive_rule rules[] = {
        {STA_LOGICAL_size, STA_POSITIVE_size_sum, STA_POSITIVE_ret, STA_TRANSFERS},
        {STA_LOGICAL_offset, STA_POSITIVE_none, STA_POSITIVE_offset, STA_WITH_CLASSES},
        {STA_LOGICAL_image_id, STA_POSITIVE_none, STA_POSITIVE_image_idx, STA_WITHOUT_CLASSES},
        {STA_LOGICAL_step, STA_POSITIVE_none, STA_POSITIVE_step, STA_ANY_ROW},
        {STA_LOGICAL_epoch, STA_POSITIVE_none, STA_POSITIVE_epoch, STA_ANY_ROW}};
    for (size_t i = 0; i < STA_COUNT_OF(rules); i++)
        if (rules[i].column == column)
            return &rules[i];
    return NULL;
}

int sta_column_reader_positive(struct sta_column_reader *reader, uint32_t column,
                               struct sta_logical_slot *slot, struct sta_error *err)
{
    const int64_t *first, *second;
    const struct sta_positive_rule *rule = sta_positive_rule_of(column);
    int status = integers_of(reader, rule->first, &first, err);
    if (status == STA_OK)
        status = integers_of(reader, rule->second, &second, err);
    if (status == STA_OK && first == NULL && second == NULL) {
        all_missing(reader, slot);
        return STA_OK;
    }
    if (status == STA_OK)
        status = mark_rows(reader, rule, err);
    if (status == STA_OK)
        status = drop_where_first(reader, rule->first, err);
    if (status != STA_OK)
        return status;
    uint8_t *missing = sta_logical_missing(slot, 0);
    slot->vector.integers = first == NULL && reader->columns->unzeroed ? second : sta_logical_values(slot);
    const bool any =
        slot->vector.integers == second
            ? sta_column_kernels()->mark_unkept(second, reader->keep, reader->rows, missing)
            : sta_column_kernels()->pick(first, second, reader->keep, reader->rows, slot->values, missing);
    slot->vector.missing = any ? missing : NULL;
    return STA_OK;
}

/* One worker's view of a row group: decodes what is asked for, once, and derives the standard columns.
 *
 * A slot belongs to the present row group when its serial says so, so a seek only counts up. */
#include <stdlib.h>
#include <string.h>

#include "analyse/sources/column_kernels.h"
#include "analyse/sources/columns_private.h"
#include "common/memory.h"

struct sta_column_reader *sta_column_reader_create(const struct sta_columns *columns)
{
    struct sta_column_reader *reader = sta_alloc(sizeof *reader);
    reader->columns = (struct sta_columns *)columns;
    reader->physical =
        sta_alloc_array(STA_COLUMN_ARGS + (size_t)columns->key_count, sizeof *reader->physical);
    reader->logical = sta_alloc_array(columns->schema.count, sizeof *reader->logical);
    sta_composite_map_init(&reader->refined, &reader->columns->account);
    return reader;
}

static void free_values(struct sta_column_values *values)
{
    free(values->integers);
    free(values->codes);
    free(values->kinds);
    free(values->missing);
    *values = (struct sta_column_values){0};
}

static void free_slot(struct sta_logical_slot *slot)
{
    free(slot->values);
    free(slot->missing);
    *slot = (struct sta_logical_slot){0};
}

void sta_column_reader_destroy(struct sta_column_reader *reader)
{
    if (reader == NULL)
        return;
    for (size_t i = 0; i < STA_COLUMN_ARGS + (size_t)reader->columns->key_count; i++)
        free_values(&reader->physical[i].values);
    for (size_t i = 0; i < reader->columns->schema.count; i++)
        free_slot(&reader->logical[i]);
    free_values(&reader->spare_values);
    free_slot(&reader->spare);
    sta_composite_map_fini(&reader->refined);
    for (size_t i = 0; i < STA_POSITIVES; i++)
        free(reader->positives[i]);
    free(reader->keep);
    free(reader->gathered);
    free(reader->physical);
    free(reader->logical);
    free(reader);
}

void sta_column_reader_seek(struct sta_column_reader *reader, const struct sta_row_group *row_group)
{
    STA_ASSERT(row_group->rows <= STA_ROW_GROUP_ROWS);
    reader->row_group = row_group;
    reader->whole = ++reader->serial;
    reader->narrowed = NULL;
    reader->rows = row_group->rows;
}

void sta_column_reader_narrow(struct sta_column_reader *reader, const uint32_t *rows, uint32_t count)
{
    STA_ASSERT(count <= reader->row_group->rows);
    reader->serial++;
    reader->narrowed = rows;
    reader->rows = count;
}

uint32_t sta_column_reader_rows(const struct sta_column_reader *reader)
{
    return reader->rows;
}

const struct sta_row_group *sta_column_reader_row_group(const struct sta_column_reader *reader)
{
    return reader->row_group;
}

/* ---- memory */

void sta_column_reader_drop(struct sta_column_reader *reader, uint32_t column)
{
    if (column < STA_LOGICAL_ARGS)
        return;
    struct sta_logical_slot *logical = &reader->logical[column];
    uint32_t key = reader->columns->args[column - STA_LOGICAL_ARGS].key;
    free_slot(&reader->spare);
    reader->spare = *logical;
    reader->spare.row_group = 0;
    *logical = (struct sta_logical_slot){0};
    if (key == STA_NO_CODE)
        return;
    struct sta_physical_slot *physical = &reader->physical[STA_COLUMN_ARGS + key];
    free_values(&reader->spare_values);
    reader->spare_values = physical->values;
    *physical = (struct sta_physical_slot){0};
}

void *sta_logical_values(struct sta_logical_slot *slot)
{
    if (slot->values == NULL)
        slot->values = sta_alloc_array(STA_ROW_GROUP_ROWS, 8);
    return slot->values;
}

uint8_t *sta_logical_missing(struct sta_logical_slot *slot, uint32_t rows)
{
    if (slot->missing == NULL)
        slot->missing = sta_alloc_array(STA_ROW_GROUP_ROWS, 1);
    memset(slot->missing, 0, rows);
    return slot->missing;
}

/* ---- the standard columns */

/* The first row of this thread that has it. */
static __attribute__((noinline)) uint32_t refine_cat(struct sta_column_reader *reader, uint32_t cat,
                                                     uint32_t file_class)
{
    struct sta_error ignored = STA_ERROR_INIT;
    const uint32_t refined = sta_refiner_cat(reader->columns->refiner, cat, file_class);
    int rc = sta_composite_map_add(&reader->refined, 0, cat, file_class, refined, &ignored);
    (void)rc; /* refused: the next row that has it asks again */
    return refined;
}

static inline uint32_t refined_cat(struct sta_column_reader *reader, uint32_t cat, uint32_t file_class)
{
    const uint32_t refined = sta_composite_map_find(&reader->refined, 0, cat, file_class);
    return refined != STA_NO_CODE ? refined : refine_cat(reader, cat, file_class);
}

static int derive_cat(struct sta_column_reader *reader, struct sta_logical_slot *slot, struct sta_error *err)
{
    const uint32_t *cat_of, *file_of;
    struct sta_refiner *refiner = reader->columns->refiner;
    const bool refines = refiner != NULL && refiner->preset->refinement_count > 0;
    int status = sta_column_reader_codes(reader, STA_COLUMN_CAT, &cat_of, err);
    if (status == STA_OK && refines)
        status = sta_column_reader_codes(reader, STA_COLUMN_FILE, &file_of, err);
    if (status != STA_OK)
        return status;
    slot->vector.codes = cat_of;
    if (!refines)
        return STA_OK;
    uint32_t *out = sta_logical_values(slot);
    for (uint32_t row = 0; row < reader->rows; row++) {
        const uint32_t cat = cat_of[row];
        out[row] = cat == STA_NO_CODE
                       ? cat
                       : refined_cat(reader, cat, sta_refiner_file_class(refiner, file_of[row]));
    }
    slot->vector.codes = out;
    return STA_OK;
}

/* Without branches: which rows have a file is hard to predict. */
static void translate_files(const struct sta_entities *entities, const uint32_t *codes, uint32_t rows,
                            uint32_t *restrict out)
{
    const uint32_t *file_of_ref = entities->file_of_ref;
    if (entities->file_ref_count == 0) {
        memset(out, 0xff, rows * sizeof *out);
        return;
    }
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t there = codes[row] != STA_NO_CODE ? UINT32_MAX : 0;
        out[row] = file_of_ref[codes[row] & there] | ~there;
    }
}

static int derive_file_name(struct sta_column_reader *reader, struct sta_logical_slot *slot,
                            struct sta_error *err)
{
    const uint32_t *codes;
    int status = sta_column_reader_codes(reader, STA_COLUMN_FILE, &codes, err);
    if (status != STA_OK)
        return status;
    uint32_t *out = sta_logical_values(slot);
    translate_files(reader->columns->entities, codes, reader->rows, out);
    slot->vector.codes = out;
    return STA_OK;
}

/* @table: by thread code + 1 */
static int derive_of_thread(struct sta_column_reader *reader, struct sta_logical_slot *slot,
                            const uint32_t *restrict table, struct sta_error *err)
{
    const uint32_t *codes;
    int status = sta_column_reader_codes(reader, STA_COLUMN_THREAD, &codes, err);
    if (status != STA_OK)
        return status;
    uint32_t *restrict out = sta_logical_values(slot), rows = reader->rows;
    for (uint32_t row = 0; row < rows; row++)
        out[row] = table[codes[row] + 1];
    slot->vector.codes = out;
    return STA_OK;
}

static int derive_proc_name(struct sta_column_reader *reader, struct sta_logical_slot *slot,
                            struct sta_error *err)
{
    const struct sta_proc_names *names = sta_columns_proc_names(reader->columns);
    return names->of_thread != NULL ? derive_of_thread(reader, slot, names->of_thread, err)
                                    : sta_columns_failure(reader->columns, err);
}

static int derive_id(struct sta_column_reader *reader, struct sta_logical_slot *slot,
                     const int64_t *restrict table, struct sta_error *err)
{
    const uint32_t *codes;
    int status = sta_column_reader_codes(reader, STA_COLUMN_THREAD, &codes, err);
    if (status != STA_OK)
        return status;
    uint32_t rows = reader->rows;
    int64_t *restrict out = sta_logical_values(slot);
    uint8_t *missing = sta_logical_missing(slot, rows);
    for (uint32_t row = 0; row < rows; row++)
        out[row] = table[codes[row] + 1];
    bool any = sta_column_kernels()->mark(out, rows, STA_NO_ID, missing);
    slot->vector.integers = out;
    slot->vector.missing = any ? missing : NULL;
    return STA_OK;
}

static int derive_io_cat(struct sta_column_reader *reader, struct sta_logical_slot *slot,
                         struct sta_error *err)
{
    const uint32_t *names, *cats;
    int status = sta_column_reader_codes(reader, STA_COLUMN_NAME, &names, err);
    if (status == STA_OK)
        status = sta_column_reader_codes(reader, STA_COLUMN_CAT, &cats, err);
    if (status != STA_OK)
        return status;
    int64_t *out = sta_logical_values(slot);
    for (uint32_t row = 0; row < reader->rows; row++)
        out[row] = sta_columns_io_cat(reader->columns, names[row], cats[row]);
    slot->vector.integers = out;
    return STA_OK;
}

/* ---- times */

/* @first and, when it is not CHUNK, @second summed. */
static int derive_ticks(struct sta_column_reader *reader, struct sta_logical_slot *slot, uint32_t first,
                        uint32_t second, struct sta_error *err)
{
    const struct sta_column_values *a, *b = NULL;
    int64_t scale = reader->columns->scale;
    uint32_t rows = reader->rows;
    int status = sta_column_reader_physical(reader, first, &a, err);
    if (status == STA_OK && second != STA_COLUMN_CHUNK)
        status = sta_column_reader_physical(reader, second, &b, err);
    slot->vector.integers = a->integers;
    if (status != STA_OK || (b == NULL && scale == 1))
        return status;
    int64_t *out = sta_logical_values(slot);
    for (uint32_t row = 0; row < rows; row++)
        out[row] = a->integers[row] * scale;
    for (uint32_t row = 0; row < rows && b != NULL; row++)
        out[row] = (int64_t)((uint64_t)out[row] + (uint64_t)(b->integers[row] * scale));
    slot->vector.integers = out;
    return STA_OK;
}

/* A column of times: its ticks, as numbers unless each of them is one. */
static int derive_time(struct sta_column_reader *reader, uint32_t column, struct sta_logical_slot *slot,
                       struct sta_error *err)
{
    double per_unit;
    const uint32_t ticks = sta_columns_ticks_of(reader->columns, column, &per_unit);
    struct sta_vector whole;
    int status = sta_column_reader_get(reader, ticks, &whole, err);
    if (status != STA_OK)
        return status;
    if (per_unit == 1) {
        slot->vector = whole;
        return STA_OK;
    }
    double *out = sta_logical_values(slot);
    sta_column_kernels()->divide(whole.integers, reader->rows, per_unit, out);
    slot->vector.numbers = out;
    return STA_OK;
}

static int derive(struct sta_column_reader *reader, uint32_t column, struct sta_logical_slot *slot,
                  struct sta_error *err)
{
    static const int64_t zero = 0, one = 1;
    static const uint32_t label = 0, none = STA_NO_CODE;
    const struct sta_columns *columns = reader->columns;
    const struct sta_entities *entities = columns->entities;
    switch (column) {
    case STA_LOGICAL_func_name:
        return sta_column_reader_codes(reader, STA_COLUMN_NAME, &slot->vector.codes, err);
    case STA_LOGICAL_cat:
        return derive_cat(reader, slot, err);
    case STA_LOGICAL_host_name:
        return derive_of_thread(reader, slot, entities->host_of_thread, err);
    case STA_LOGICAL_file_name:
        return derive_file_name(reader, slot, err);
    case STA_LOGICAL_proc_name:
        return derive_proc_name(reader, slot, err);
    case STA_LOGICAL_trace:
        slot->vector.codes = sta_dictionary_count(columns->trace) > 0 ? &label : &none;
        slot->vector.constant = true;
        return STA_OK;
    case STA_LOGICAL_pid:
        return derive_id(reader, slot, entities->pid_of_thread, err);
    case STA_LOGICAL_tid:
        return derive_id(reader, slot, entities->tid_of_thread, err);
    case STA_LOGICAL_io_cat:
        return derive_io_cat(reader, slot, err);
    case STA_LOGICAL_size:
    case STA_LOGICAL_offset:
    case STA_LOGICAL_image_id:
    case STA_LOGICAL_step:
    case STA_LOGICAL_epoch:
        return sta_column_reader_positive(reader, column, slot, err);
    case STA_LOGICAL_acc_pat:
    case STA_LOGICAL_count:
        slot->vector.integers = column == STA_LOGICAL_count ? &one : &zero;
        slot->vector.constant = true;
        return STA_OK;
    case STA_LOGICAL_ts_ticks:
        return derive_ticks(reader, slot, STA_COLUMN_TS, STA_COLUMN_CHUNK, err);
    case STA_LOGICAL_te_ticks:
        return derive_ticks(reader, slot, STA_COLUMN_TS, STA_COLUMN_DUR, err);
    case STA_LOGICAL_dur_ticks:
        return derive_ticks(reader, slot, STA_COLUMN_DUR, STA_COLUMN_CHUNK, err);
    case STA_LOGICAL_ts:
    case STA_LOGICAL_te:
    case STA_LOGICAL_dur:
    case STA_LOGICAL_time_start:
    case STA_LOGICAL_time_end:
    case STA_LOGICAL_time:
        return derive_time(reader, column, slot, err);
    default:
        return sta_column_reader_args(reader, &reader->columns->args[column - STA_LOGICAL_ARGS], slot, err);
    }
}

int sta_column_reader_get(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct sta_column_reader *reader = context;
    const struct sta_columns *columns = reader->columns;
    STA_ASSERT(reader->row_group != NULL && column < columns->schema.count);
    struct sta_logical_slot *slot = &reader->logical[column];
    if (slot->row_group != reader->serial) {
        if (column >= STA_LOGICAL_ARGS && slot->values == NULL && slot->missing == NULL) {
            *slot = reader->spare;
            reader->spare = (struct sta_logical_slot){0};
        }
        enum sta_type type = columns->schema_columns[column].type;
        slot->vector = (struct sta_vector){.type = type};
        if (type == STA_TYPE_TEXT)
            slot->vector.texts = sta_columns_texts(columns, column);
        int status = derive(reader, column, slot, err);
        if (status == STA_OK)
            status = sta_columns_failure(columns, err);
        if (status != STA_OK)
            return status;
        slot->row_group = reader->serial;
    }
    *vector = slot->vector;
    return STA_OK;
}

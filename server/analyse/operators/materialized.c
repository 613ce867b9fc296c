/* Rows in batches: filling them, and looking at them.
 *
 * DESIGN.  A column of a batch is its integers or codes, narrow (common/narrow.h); or, where that saves
 * nothing, its values side by side, and behind them a byte a row that says which are missing, if some are.
 * The last batch is filled in buffers of full size; a full one is copied to what it takes, or written to the
 * spill file once the memory is used up.  A batch holds codes of the result's own dictionaries, which
 * have each text once. */
#include "analyse/operators/materialized.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/arena.h"
#include "analyse/operators/spill.h"
#include "analyse/operators/vectors.h"
#include "common/account.h"
#include "common/memory.h"
#include "common/narrow.h"

#define SINGLE_BATCHES 8u               /* whose columns are allocated one by one, the others in an arena */
#define LEAST_TEXTS ((uint64_t)1 << 20) /* bytes, however short memory is */
#define LEAST_FILLING ((uint64_t)16 << 20) /* likewise */

/* Codes of another dictionary as codes of ours. */
struct sta_translation {
    const struct sta_dictionary *from;
    uint32_t *codes; /* our code + 1; 0: not met yet */
    size_t capacity;
};

/* A column of a batch that is full. */
struct sta_column_piece {
    char *bytes;              /* NULL: in the spill file at offset */
    uint64_t offset;          /* there */
    struct sta_narrow narrow; /* integers, codes */
    bool plain;               /* else: values, then missing */
};

struct sta_materialized_column {
    struct sta_column_info info;
    size_t width;
    struct sta_dictionary *texts; /* TEXT, LIST */
    struct sta_translation *translations;
    size_t translation_count, translation_capacity, last;
    void *values; /* of the batch being filled */
    uint8_t *missing;
    bool any_missing;
    struct sta_column_piece *pieces; /* by batch */
    size_t piece_capacity;
};

struct sta_materialized {
    struct sta_materialized_column *columns;
    struct sta_column_info *info;
    size_t column_count;
    uint64_t memory, bytes;
    char *spill_folder;
    struct sta_spill *spill;
    size_t batch_count;
    void *packed;               /* space for the narrow values of a column of a batch */
    struct sta_account account; /* of texts, what translates them, and pieces */
    struct sta_state_arena arena;
    uint64_t rows;
    uint32_t filled; /* rows of the batch being filled */
};

/* ---- start and end */

struct sta_materialized *sta_materialized_create(const struct sta_column_info *columns, size_t column_count,
                                                 uint64_t memory, const char *spill_folder,
                                                 struct sta_account *account)
{
    struct sta_materialized *materialized = sta_alloc(sizeof *materialized);
    materialized->columns = sta_alloc_array(column_count + 1, sizeof *materialized->columns);
    materialized->info = sta_alloc_array(column_count + 1, sizeof *materialized->info);
    materialized->column_count = column_count;
    materialized->memory = memory;
    sta_account_init_texts(&materialized->account, STA_MAX(memory, LEAST_TEXTS), spill_folder, account);
    materialized->spill_folder = sta_strdup(spill_folder != NULL ? spill_folder : "");
    for (size_t i = 0; i < column_count; i++) {
        struct sta_materialized_column *column = &materialized->columns[i];
        column->info = materialized->info[i] = columns[i];
        column->info.name = materialized->info[i].name = sta_strdup(columns[i].name);
        column->width = sta_vector_width(columns[i].type);
        if (columns[i].type == STA_TYPE_TEXT || columns[i].type == STA_TYPE_LIST)
            column->texts = sta_dictionary_create_in(&materialized->account);
    }
    return materialized;
}

static void drop_filling(struct sta_materialized *materialized, struct sta_materialized_column *column)
{
    for (size_t i = 0; i < column->translation_count; i++)
        sta_account_free(&materialized->account, column->translations[i].codes);
    free(column->translations);
    free(column->values);
    free(column->missing);
    column->translations = NULL;
    column->translation_count = column->translation_capacity = 0;
    column->values = NULL;
    column->missing = NULL;
}

void sta_materialized_destroy(struct sta_materialized *materialized)
{
    if (materialized == NULL)
        return;
    for (size_t i = 0; i < materialized->column_count; i++) {
        struct sta_materialized_column *column = &materialized->columns[i];
        drop_filling(materialized, column);
        sta_dictionary_destroy(column->texts);
        free((char *)materialized->info[i].name);
        for (size_t b = 0; b < STA_MIN(column->piece_capacity, (size_t)SINGLE_BATCHES); b++)
            free(column->pieces[b].bytes);
        sta_account_free(&materialized->account, column->pieces);
    }
    free(materialized->packed);
    sta_account_close(&materialized->account);
    sta_state_arena_fini(&materialized->arena);
    sta_spill_destroy(materialized->spill);
    free(materialized->spill_folder);
    free(materialized->columns);
    free(materialized->info);
    free(materialized);
}

/* ---- full batches */

static int put_away(struct sta_materialized *materialized, const void *bytes, size_t size,
                    struct sta_column_piece *piece, struct sta_error *err)
{
    if (materialized->bytes + size <= materialized->memory) {
        piece->bytes = materialized->batch_count < SINGLE_BATCHES
                           ? sta_try_alloc(size)
                           : sta_state_arena_take(&materialized->arena, size);
        if (piece->bytes == NULL)
            return sta_fail(err, STA_ENOMEM, "memory ran out while rows were collected");
        memcpy(piece->bytes, bytes, size);
        materialized->bytes += size;
        return 0;
    }
    if (materialized->spill == NULL) {
        int rc = sta_spill_create(materialized->spill_folder, &materialized->spill, err);
        if (rc != 0)
            return rc;
    }
    piece->offset = sta_spill_size(materialized->spill);
    return sta_spill_write(materialized->spill, bytes, size, err);
}

/* Return: whether the values of the batch are narrow, in @packed. */
static bool pack(const struct sta_materialized_column *column, uint32_t rows, struct sta_narrow *narrow,
                 void *packed)
{
    const uint8_t *missing = column->any_missing ? column->missing : NULL;
    const bool codes = column->texts != NULL;
    if (!codes && column->info.type != STA_TYPE_INT)
        return false;
    const bool fits = codes ? sta_narrow_choose_for_codes(column->values, rows, narrow)
                            : sta_narrow_choose_for(column->values, missing, rows, narrow);
    if (!fits || (size_t)1 << narrow->width >= column->width)
        return false;
    if (codes)
        sta_narrow_put_codes(narrow, column->values, rows, packed);
    else
        sta_narrow_put(narrow, column->values, missing, rows, packed);
    return true;
}

static int end_column(struct sta_materialized *materialized, struct sta_materialized_column *column,
                      struct sta_error *err)
{
    const uint32_t rows = materialized->filled;
    if (STA_ACCOUNT_GROW_ZEROED(&materialized->account, column->pieces, column->piece_capacity,
                                materialized->batch_count + 1, "what leads to collected rows", err) != STA_OK)
        return err->status;
    struct sta_column_piece *piece = &column->pieces[materialized->batch_count];
    piece->plain = !pack(column, rows, &piece->narrow, materialized->packed);
    size_t size = rows * column->width;
    if (!piece->plain)
        return put_away(materialized, materialized->packed, (size_t)rows << piece->narrow.width, piece, err);
    piece->narrow.any_missing = column->any_missing;
    if (column->any_missing) { /* behind the values that there are */
        memmove((char *)column->values + size, column->missing, rows);
        size += rows;
    }
    return put_away(materialized, column->values, size, piece, err);
}

static int end_batch(struct sta_materialized *materialized, struct sta_error *err)
{
    int rc = STA_OK;
    if (materialized->packed == NULL)
        materialized->packed = sta_alloc_array(STA_VECTOR_ROWS, sizeof(uint32_t));
    for (size_t i = 0; rc == 0 && i < materialized->column_count; i++) {
        rc = end_column(materialized, &materialized->columns[i], err);
        materialized->columns[i].any_missing = false;
    }
    materialized->batch_count += rc == 0;
    materialized->filled = 0;
    return rc;
}

/* ---- filling */

/* The batch that is being filled has buffers for each column, however few the rows. */
static int check_filling(const struct sta_materialized *materialized, struct sta_error *err)
{
    uint64_t bytes = 0, most = STA_MAX(materialized->memory * 4, LEAST_FILLING);
    for (size_t i = 0; i < materialized->column_count; i++)
        bytes += STA_VECTOR_ROWS * (materialized->columns[i].width + 2);
    if (bytes <= most)
        return 0;
    return sta_fail(err, STA_ELIMIT,
                    "rows of %zu columns take %.0f MiB at a time, more than %.0f MiB (setting query_memory); "
                    "name the columns that are needed",
                    materialized->column_count, (double)bytes / 1048576, (double)most / 1048576);
}

static struct sta_translation *find_translation(struct sta_materialized_column *column,
                                                const struct sta_dictionary *from)
{
    if (column->last < column->translation_count && column->translations[column->last].from == from)
        return &column->translations[column->last];
    size_t i = 0;
    while (i < column->translation_count && column->translations[i].from != from)
        i++;
    if (i == column->translation_count) {
        STA_GROW(column->translations, column->translation_capacity, i + 1);
        column->translations[column->translation_count++] = (struct sta_translation){.from = from};
    }
    column->last = i;
    return &column->translations[i];
}

static int translate(struct sta_account *account, struct sta_materialized_column *column,
                     const struct sta_dictionary *from, uint32_t *codes, uint32_t count,
                     struct sta_error *err)
{
    if (from == NULL) /* of a vector in which every value is missing */
        return STA_OK;
    struct sta_translation *translation = find_translation(column, from);
    if (STA_ACCOUNT_GROW_ZEROED(account, translation->codes, translation->capacity,
                                sta_dictionary_count(from), "the texts of a result", err) != STA_OK)
        return err->status;
    for (uint32_t i = 0; i < count; i++) {
        if (codes[i] == STA_NO_CODE)
            continue;
        uint32_t *known = &translation->codes[codes[i]];
        if (*known == 0) {
            struct sta_text text = sta_dictionary_text(from, codes[i]);
            *known = sta_dictionary_intern(column->texts, text.bytes, text.length) + 1;
        }
        codes[i] = *known - 1;
    }
    return sta_account_failure(account, err);
}

static int append_values(struct sta_account *account, struct sta_materialized_column *column, uint32_t at,
                         const struct sta_vector *vector, const uint32_t *rows, uint32_t count,
                         struct sta_error *err)
{
    if (column->values == NULL) { /* a byte a row beyond the values: space for what is missing, too */
        column->values = sta_alloc_array(STA_VECTOR_ROWS, column->width + 1);
        column->missing = sta_alloc_array(STA_VECTOR_ROWS, 1);
    }
    void *values = (char *)column->values + at * column->width;
    STA_ASSERT(vector->type == column->info.type);
    column->any_missing |= sta_vector_gather(vector, rows, count, values, column->missing + at);
    return column->texts != NULL ? translate(account, column, vector->texts, values, count, err) : STA_OK;
}

int sta_materialized_append(struct sta_materialized *materialized, const struct sta_vector *columns,
                            const uint32_t *selected, uint32_t count, struct sta_error *err)
{
    if (materialized->rows == 0 && count > 0 && check_filling(materialized, err) != 0)
        return err->status;
    for (uint32_t done = 0, now; done < count; done += now) {
        now = STA_MIN(count - done, STA_VECTOR_ROWS - materialized->filled);
        for (size_t i = 0; i < materialized->column_count; i++) {
            const struct sta_vector rest = selected == NULL ? sta_vector_from(columns[i], done) : columns[i];
            if (append_values(&materialized->account, &materialized->columns[i], materialized->filled, &rest,
                              selected != NULL ? selected + done : NULL, now, err) != STA_OK)
                return err->status;
        }
        materialized->filled += now;
        materialized->rows += now;
        if (materialized->filled == STA_VECTOR_ROWS && end_batch(materialized, err) != STA_OK)
            return err->status;
    }
    return 0;
}

int sta_materialized_seal(struct sta_materialized *materialized, struct sta_error *err)
{
    int rc = materialized->filled > 0 ? end_batch(materialized, err) : 0;
    for (size_t i = 0; i < materialized->column_count; i++)
        drop_filling(materialized, &materialized->columns[i]);
    free(materialized->packed);
    materialized->packed = NULL;
    sta_account_detach(&materialized->account); /* results are counted as a whole, and outlive requests */
    return rc;
}

/* ---- what there is */

const struct sta_column_info *sta_materialized_columns(const struct sta_materialized *materialized,
                                                       size_t *count)
{
    *count = materialized->column_count;
    return materialized->info;
}

uint64_t sta_materialized_rows(const struct sta_materialized *materialized)
{
    return materialized->rows;
}

uint64_t sta_materialized_bytes(const struct sta_materialized *materialized)
{
    uint64_t bytes = materialized->bytes;
    for (size_t i = 0; i < materialized->column_count; i++) {
        const struct sta_materialized_column *column = &materialized->columns[i];
        bytes += column->piece_capacity * sizeof *column->pieces;
        bytes += column->texts != NULL ? sta_dictionary_bytes(column->texts) : 0;
    }
    return bytes;
}

uint64_t sta_materialized_spilled(const struct sta_materialized *materialized)
{
    return materialized->spill != NULL ? sta_spill_size(materialized->spill) : 0;
}

size_t sta_materialized_batch_count(const struct sta_materialized *materialized)
{
    return materialized->batch_count;
}

const struct sta_dictionary *sta_materialized_texts(const struct sta_materialized *materialized,
                                                    uint32_t column)
{
    return materialized->columns[column].texts;
}

/* ---- batches */

struct sta_materialized_batch {
    const struct sta_materialized *materialized;
    size_t number;
    uint32_t rows;
    char *stored; /* space for narrow values that lie on disk */
    struct {
        size_t batch; /* number + 1 of the batch that was brought here */
        char *bytes;
    } * read;
};

struct sta_materialized_batch *sta_materialized_batch_create(const struct sta_materialized *materialized)
{
    struct sta_materialized_batch *batch = sta_alloc(sizeof *batch);
    batch->materialized = materialized;
    batch->read = sta_alloc_array(materialized->column_count + 1, sizeof *batch->read);
    return batch;
}

void sta_materialized_batch_destroy(struct sta_materialized_batch *batch)
{
    if (batch == NULL)
        return;
    for (size_t i = 0; i < batch->materialized->column_count; i++)
        free(batch->read[i].bytes);
    free(batch->read);
    free(batch->stored);
    free(batch);
}

uint32_t sta_materialized_batch_seek(struct sta_materialized_batch *batch, size_t number)
{
    STA_ASSERT(number < batch->materialized->batch_count);
    const uint64_t behind = batch->materialized->rows - (uint64_t)number * STA_VECTOR_ROWS;
    batch->number = number;
    batch->rows = (uint32_t)STA_MIN(behind, (uint64_t)STA_VECTOR_ROWS);
    return batch->rows;
}

static int widen_piece(struct sta_materialized_batch *batch, const struct sta_materialized_column *column,
                       const struct sta_column_piece *piece, char *bytes, struct sta_error *err)
{
    const char *stored = piece->bytes;
    int rc = STA_OK;
    if (stored == NULL) {
        if (batch->stored == NULL)
            batch->stored = sta_alloc_array(STA_VECTOR_ROWS, sizeof(uint32_t));
        stored = batch->stored;
        rc = sta_spill_read(batch->materialized->spill, piece->offset, batch->stored,
                            (size_t)batch->rows << piece->narrow.width, err);
    }
    if (rc == 0 && column->texts != NULL)
        sta_narrow_get_codes(&piece->narrow, stored, batch->rows, (uint32_t *)(void *)bytes);
    else if (rc == 0)
        sta_narrow_get(&piece->narrow, stored, batch->rows, (int64_t *)(void *)bytes,
                       (uint8_t *)bytes + batch->rows * column->width);
    return rc;
}

/* Brings values that are narrow, or lie on disk, to the batch's own memory. */
static int bring(struct sta_materialized_batch *batch, uint32_t number, const struct sta_column_piece *piece,
                 const char **bytes, struct sta_error *err)
{
    const struct sta_materialized_column *column = &batch->materialized->columns[number];
    if (batch->read[number].bytes == NULL)
        batch->read[number].bytes = sta_alloc_array(STA_VECTOR_ROWS, column->width + 1);
    *bytes = batch->read[number].bytes;
    if (batch->read[number].batch == batch->number + 1)
        return 0;
    const size_t size = batch->rows * (column->width + piece->narrow.any_missing);
    int rc = piece->plain ? sta_spill_read(batch->materialized->spill, piece->offset,
                                           batch->read[number].bytes, size, err)
                          : widen_piece(batch, column, piece, batch->read[number].bytes, err);
    batch->read[number].batch = rc == 0 ? batch->number + 1 : 0;
    return rc;
}

int sta_materialized_batch_get(void *context, uint32_t column, struct sta_vector *vector,
                               struct sta_error *err)
{
    struct sta_materialized_batch *batch = context;
    const struct sta_materialized *materialized = batch->materialized;
    STA_ASSERT(column < materialized->column_count);
    const struct sta_materialized_column *own = &materialized->columns[column];
    const struct sta_column_piece *piece = &own->pieces[batch->number];
    const char *bytes = piece->bytes;
    int rc = bytes == NULL || !piece->plain ? bring(batch, column, piece, &bytes, err) : 0;
    if (rc != 0)
        return rc;
    *vector = (struct sta_vector){.type = own->info.type, .texts = own->texts};
    sta_vector_point(vector, bytes);
    if (piece->narrow.any_missing && own->texts == NULL)
        vector->missing = (const uint8_t *)bytes + batch->rows * own->width;
    return 0;
}

/* ---- statistics */

bool sta_materialized_range(const struct sta_materialized *materialized, size_t batch, uint32_t number,
                            double *low, double *high)
{
    const struct sta_materialized_column *column = &materialized->columns[number];
    const struct sta_column_piece *piece = &column->pieces[batch];
    if (column->info.type != STA_TYPE_INT || piece->plain)
        return false;
    *low = (double)(int64_t)(piece->narrow.base + piece->narrow.any_missing);
    *high = (double)(int64_t)piece->narrow.base + (double)(UINT32_MAX >> (32 - (8 << piece->narrow.width)));
    return true;
}

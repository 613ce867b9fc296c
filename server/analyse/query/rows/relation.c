/* Rows in batches.
 *
 * DESIGN.  A column of a batch is its values side by side, and behind them a byte a row that says which are
 * missing, if some are.  The last batch is filled in buffers of full size; a full one is copied to what it
 * takes, or written to the spill file once the memory is used up.  Texts stay in memory, once each: a batch
 * holds codes of the relation's own dictionaries. */
#include "analyse/query/rows/relation.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/vectors.h"
#include "analyse/query/spill.h"
#include "common/memory.h"

#define LEAST_TEXTS ((uint64_t)1 << 20) /* bytes, however short memory is */

/* Codes of another dictionary as codes of ours. */
struct translation {
    const struct sta_dictionary *from;
    uint32_t *codes; /* our code + 1; 0: not met yet */
    size_t capacity;
};

struct column {
    struct sta_query_column told;
    size_t width;
    struct sta_dictionary *texts; /* TEXT, LIST */
    struct translation *translations;
    size_t translation_count, translation_capacity, last;
    void *values; /* of the batch being filled */
    uint8_t *missing;
    bool any_missing;
};

/* A column of a batch that is full. */
struct piece {
    char *bytes;     /* values, then missing; NULL: in the spill file at offset */
    uint64_t offset; /* there */
    bool any_missing;
};

struct sta_relation {
    struct column *columns;
    struct sta_query_column *told;
    size_t column_count;
    uint64_t memory, bytes;
    char *spill_folder;
    struct sta_spill *spill;
    struct piece *pieces; /* by batch, then column */
    size_t piece_capacity, batch_count;
    uint64_t rows;
    uint32_t filled; /* rows of the batch being filled */
};

/* ---- start and end */

struct sta_relation *sta_relation_create(const struct sta_query_column *columns, size_t column_count,
                                         uint64_t memory, const char *spill_folder)
{
    struct sta_relation *relation = sta_alloc(sizeof *relation);
    relation->columns = sta_alloc_array(column_count + 1, sizeof *relation->columns);
    relation->told = sta_alloc_array(column_count + 1, sizeof *relation->told);
    relation->column_count = column_count;
    relation->memory = memory;
    relation->spill_folder = sta_strdup(spill_folder != NULL ? spill_folder : "");
    for (size_t i = 0; i < column_count; i++) {
        struct column *column = &relation->columns[i];
        column->told = relation->told[i] = columns[i];
        column->told.name = relation->told[i].name = sta_strdup(columns[i].name);
        column->width = sta_vector_width(columns[i].type);
        if (columns[i].type == STA_TYPE_TEXT || columns[i].type == STA_TYPE_LIST)
            column->texts = sta_dictionary_create();
    }
    return relation;
}

static void drop_filling(struct column *column)
{
    for (size_t i = 0; i < column->translation_count; i++)
        free(column->translations[i].codes);
    free(column->translations);
    free(column->values);
    free(column->missing);
    column->translations = NULL;
    column->translation_count = column->translation_capacity = 0;
    column->values = NULL;
    column->missing = NULL;
}

void sta_relation_destroy(struct sta_relation *relation)
{
    if (relation == NULL)
        return;
    for (size_t i = 0; i < relation->column_count; i++) {
        drop_filling(&relation->columns[i]);
        sta_dictionary_destroy(relation->columns[i].texts);
        free((char *)relation->told[i].name);
    }
    for (size_t i = 0; i < relation->batch_count * relation->column_count; i++)
        free(relation->pieces[i].bytes);
    sta_spill_destroy(relation->spill);
    free(relation->pieces);
    free(relation->spill_folder);
    free(relation->columns);
    free(relation->told);
    free(relation);
}

/* ---- full batches */

static int put_away(struct sta_relation *relation, const void *bytes, size_t size, struct piece *piece,
                    struct sta_error *err)
{
    if (relation->bytes + size <= relation->memory) {
        piece->bytes = sta_try_alloc(size);
        if (piece->bytes == NULL)
            return sta_fail(err, STA_ENOMEM, "memory ran out while rows were collected");
        memcpy(piece->bytes, bytes, size);
        relation->bytes += size;
        return 0;
    }
    if (relation->spill == NULL) {
        int rc = sta_spill_create(relation->spill_folder, &relation->spill, err);
        if (rc != 0)
            return rc;
    }
    piece->offset = sta_spill_size(relation->spill);
    return sta_spill_write(relation->spill, bytes, size, err);
}

/* Texts can't go to the disk: they are bounded by what all rows may take. */
static int check_texts(const struct sta_relation *relation, struct sta_error *err)
{
    uint64_t bytes = 0, most = STA_MAX(relation->memory, LEAST_TEXTS) * 4;
    for (size_t i = 0; i < relation->column_count; i++)
        if (relation->columns[i].texts != NULL)
            bytes += sta_dictionary_bytes(relation->columns[i].texts);
    if (bytes <= most)
        return 0;
    return sta_fail(
        err, STA_ELIMIT,
        "the distinct texts of a result take more than %.0f MiB (setting query_memory); ask for fewer of "
        "them, or for shorter ones",
        (double)most / 1048576);
}

static int end_batch(struct sta_relation *relation, struct sta_error *err)
{
    int rc = check_texts(relation, err);
    if (rc != 0)
        return rc;
    size_t need = (relation->batch_count + 1) * relation->column_count, old = relation->piece_capacity;
    STA_GROW(relation->pieces, relation->piece_capacity, need);
    memset(relation->pieces + old, 0, (relation->piece_capacity - old) * sizeof *relation->pieces);
    struct piece *pieces = relation->pieces + relation->batch_count * relation->column_count;
    relation->batch_count++;
    for (size_t i = 0; i < relation->column_count; i++) {
        struct column *column = &relation->columns[i];
        size_t size = relation->filled * column->width;
        pieces[i].any_missing = column->any_missing;
        if (column->any_missing) { /* behind the values that there are */
            memmove((char *)column->values + size, column->missing, relation->filled);
            size += relation->filled;
        }
        column->any_missing = false;
        rc = put_away(relation, column->values, size, &pieces[i], err);
        if (rc != 0)
            return rc;
    }
    relation->filled = 0;
    return 0;
}

/* ---- filling */

static struct translation *find_translation(struct column *column, const struct sta_dictionary *from)
{
    if (column->last < column->translation_count && column->translations[column->last].from == from)
        return &column->translations[column->last];
    size_t i = 0;
    while (i < column->translation_count && column->translations[i].from != from)
        i++;
    if (i == column->translation_count) {
        STA_GROW(column->translations, column->translation_capacity, i + 1);
        column->translations[column->translation_count++] = (struct translation){.from = from};
    }
    column->last = i;
    return &column->translations[i];
}

static void make_room(struct translation *translation)
{
    size_t count = sta_dictionary_count(translation->from), old = translation->capacity;
    if (count <= old)
        return;
    STA_GROW(translation->codes, translation->capacity, count);
    memset(translation->codes + old, 0, (translation->capacity - old) * sizeof *translation->codes);
}

static void translate(struct column *column, const struct sta_dictionary *from, uint32_t *codes,
                      uint32_t count)
{
    if (from == NULL) /* of a vector in which every value is missing */
        return;
    struct translation *translation = find_translation(column, from);
    make_room(translation);
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
}

static void append_values(struct column *column, uint32_t at, const struct sta_vector *vector,
                          const uint32_t *rows, uint32_t count)
{
    if (column->values == NULL) { /* a byte a row beyond the values: room for what is missing, too */
        column->values = sta_alloc_array(STA_VECTOR_ROWS, column->width + 1);
        column->missing = sta_alloc_array(STA_VECTOR_ROWS, 1);
    }
    void *values = (char *)column->values + at * column->width;
    STA_ASSERT(vector->type == column->told.type);
    column->any_missing |= sta_vector_gather(vector, rows, count, values, column->missing + at);
    if (column->texts != NULL)
        translate(column, vector->texts, values, count);
}

int sta_relation_append(struct sta_relation *relation, const struct sta_vector *columns,
                        const uint32_t *selected, uint32_t count, struct sta_error *err)
{
    static const uint32_t chunk = STA_VECTOR_ROWS;
    uint32_t numbers[256];
    for (uint32_t done = 0; done < count;) {
        uint32_t now = STA_MIN(count - done, chunk - relation->filled);
        const uint32_t *rows = selected != NULL ? selected + done : NULL;
        if (selected == NULL && done > 0) { /* the rest of the vectors: by number */
            now = STA_MIN(now, (uint32_t)STA_COUNT_OF(numbers));
            for (uint32_t i = 0; i < now; i++)
                numbers[i] = done + i;
            rows = numbers;
        }
        for (size_t i = 0; i < relation->column_count; i++)
            append_values(&relation->columns[i], relation->filled, &columns[i], rows, now);
        relation->filled += now;
        relation->rows += now;
        done += now;
        if (relation->filled == chunk) {
            int rc = end_batch(relation, err);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

int sta_relation_seal(struct sta_relation *relation, struct sta_error *err)
{
    int rc = relation->filled > 0 ? end_batch(relation, err) : 0;
    for (size_t i = 0; i < relation->column_count; i++)
        drop_filling(&relation->columns[i]);
    return rc;
}

/* ---- looking at it */

const struct sta_query_column *sta_relation_columns(const struct sta_relation *relation, size_t *count)
{
    *count = relation->column_count;
    return relation->told;
}

uint64_t sta_relation_rows(const struct sta_relation *relation)
{
    return relation->rows;
}

uint64_t sta_relation_bytes(const struct sta_relation *relation)
{
    uint64_t bytes = relation->bytes + relation->piece_capacity * sizeof *relation->pieces;
    for (size_t i = 0; i < relation->column_count; i++)
        if (relation->columns[i].texts != NULL)
            bytes += sta_dictionary_bytes(relation->columns[i].texts);
    return bytes;
}

void sta_relation_tell(const struct sta_relation *relation, struct sta_query_step *step)
{
    step->rows_out = relation->rows;
    step->memory = sta_relation_bytes(relation);
    step->spilled = relation->spill != NULL ? sta_spill_size(relation->spill) : 0;
}

bool sta_relation_lies_on_disk(const struct sta_relation *relation)
{
    return relation->spill != NULL;
}

size_t sta_relation_batch_count(const struct sta_relation *relation)
{
    return relation->batch_count;
}

const struct sta_dictionary *sta_relation_texts(const struct sta_relation *relation, uint32_t column)
{
    return relation->columns[column].texts;
}

/* ---- batches */

struct sta_relation_batch {
    const struct sta_relation *relation;
    size_t number;
    uint32_t rows;
    struct {
        size_t batch; /* number + 1 of the batch that was read back */
        char *bytes;
    } * read;
};

struct sta_relation_batch *sta_relation_batch_create(const struct sta_relation *relation)
{
    struct sta_relation_batch *batch = sta_alloc(sizeof *batch);
    batch->relation = relation;
    batch->read = sta_alloc_array(relation->column_count + 1, sizeof *batch->read);
    return batch;
}

void sta_relation_batch_destroy(struct sta_relation_batch *batch)
{
    if (batch == NULL)
        return;
    for (size_t i = 0; i < batch->relation->column_count; i++)
        free(batch->read[i].bytes);
    free(batch->read);
    free(batch);
}

int sta_relation_batch_seek(struct sta_relation_batch *batch, size_t number, uint32_t *rows,
                            struct sta_error *err)
{
    STA_ASSERT(number < batch->relation->batch_count);
    uint64_t behind = batch->relation->rows - (uint64_t)number * STA_VECTOR_ROWS;
    batch->number = number;
    batch->rows = *rows = (uint32_t)STA_MIN(behind, (uint64_t)STA_VECTOR_ROWS);
    return 0;
}

/* The bytes of a column that lie on disk. */
static int read_back(struct sta_relation_batch *batch, uint32_t column, const struct piece *piece,
                     const char **bytes, struct sta_error *err)
{
    size_t width = batch->relation->columns[column].width;
    if (batch->read[column].bytes == NULL)
        batch->read[column].bytes = sta_alloc_array(STA_VECTOR_ROWS, width + 1);
    *bytes = batch->read[column].bytes;
    if (batch->read[column].batch == batch->number + 1)
        return 0;
    size_t size = batch->rows * (width + piece->any_missing);
    int rc = sta_spill_read(batch->relation->spill, piece->offset, batch->read[column].bytes, size, err);
    batch->read[column].batch = rc == 0 ? batch->number + 1 : 0;
    return rc;
}

int sta_relation_batch_get(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct sta_relation_batch *batch = context;
    const struct sta_relation *relation = batch->relation;
    STA_ASSERT(column < relation->column_count);
    const struct column *own = &relation->columns[column];
    const struct piece *piece = &relation->pieces[batch->number * relation->column_count + column];
    const char *bytes = piece->bytes;
    int rc = bytes == NULL ? read_back(batch, column, piece, &bytes, err) : 0;
    if (rc != 0)
        return rc;
    *vector = (struct sta_vector){.type = own->told.type, .texts = own->texts};
    sta_vector_point(vector, bytes);
    if (piece->any_missing)
        vector->missing = (const uint8_t *)bytes + batch->rows * own->width;
    return 0;
}

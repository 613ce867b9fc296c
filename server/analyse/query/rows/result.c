/* The facade of queries: results, and readers of them.
 *
 * A result is either materialized, read by row number, or plain rows, read by the key of a row.  A position
 * is a few bytes: what the result is made of, so that it fits no other, and that number or key. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <xxhash.h>

#include "analyse/exec/budget.h"
#include "analyse/layers/presets.h"
#include "analyse/query/rows/row_batches.h"
#include "analyse/query/rows/stages.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

#define BINDING_BYTES ((uint64_t)16 << 10)   /* of the traces' columns to a plan, about */
#define EXPRESSION_BYTES ((uint64_t)4 << 10) /* of a plan, with the program that evaluates it, about */

struct sta_query_result {
    _Atomic unsigned references;
    struct sta_events *events; /* this and the plan: of plain rows */
    struct sta_plan plan;
    struct sta_query_context context;
    struct sta_outcome outcome;
    uint64_t fingerprint;
    uv_mutex_t lock; /* over counting */
    bool counted;
    uint64_t row_count;
};

/* ---- what a position belongs to */

static void hash_text(XXH64_state_t *state, const char *text, size_t length)
{
    uint64_t size = length;
    XXH64_update(state, &size, sizeof size);
    XXH64_update(state, text, length);
}

/* @paged: limit says how large pages are, and may change from page to page. */
static void hash_request(XXH64_state_t *state, const struct sta_document *value, bool paged)
{
    XXH64_update(state, &value->type, sizeof value->type);
    if (value->name != NULL)
        hash_text(state, value->name, strlen(value->name));
    if (value->type == STA_DOCUMENT_TEXT)
        hash_text(state, value->text.bytes, value->text.length);
    else if (value->type == STA_DOCUMENT_BOOL)
        XXH64_update(state, &value->truth, sizeof value->truth);
    else if (value->type == STA_DOCUMENT_INT || value->type == STA_DOCUMENT_FLOAT)
        XXH64_update(state, &value->integer, sizeof value->integer);
    for (const struct sta_document *child = value->first; child != NULL; child = child->next) {
        bool then = paged && child->name != NULL && strcmp(child->name, "then") == 0;
        bool page_size = paged && child->name != NULL && strcmp(child->name, "limit") == 0 &&
                         sta_document_member(value, "then") == NULL;
        if (!page_size)
            hash_request(state, child, then);
    }
}

static uint64_t fingerprint_of(const struct sta_query *query)
{
    XXH64_state_t *state = XXH64_createState();
    STA_ASSERT(state != NULL);
    XXH64_reset(state, 0);
    uint64_t presets = sta_presets_fingerprint(query->presets);
    XXH64_update(state, &presets, sizeof presets);
    for (size_t i = 0; i < query->trace_count; i++) {
        const char *label = query->traces[i].label != NULL ? query->traces[i].label : "";
        uint64_t version = sta_snapshot_info(query->traces[i].snapshot)->version;
        hash_text(state, label, strlen(label));
        XXH64_update(state, &version, sizeof version);
    }
    hash_request(state, query->request, true);
    uint64_t hash = XXH64_digest(state);
    XXH64_freeState(state);
    return hash;
}

/* ---- results */

/* A materialized result needs nothing else; what it was made from would be held as long as the result is
 * kept, and takes more than a short result. */
static void drop_sources(struct sta_query_result *result)
{
    sta_plan_fini(&result->plan);
    sta_events_destroy(result->events);
    result->events = NULL;
}

int sta_query_run(const struct sta_query *query, const struct sta_budget *budget,
                  struct sta_query_result **result, struct sta_error *err)
{
    struct sta_query_result *fresh = sta_alloc(sizeof *fresh);
    atomic_init(&fresh->references, 1);
    STA_ASSERT(uv_mutex_init(&fresh->lock) == 0);
    fresh->context = (struct sta_query_context){.budget = budget, .query = query};
    fresh->fingerprint = fingerprint_of(query);
    int rc = sta_stages_bind(query, &fresh->plan, &fresh->events, err);
    if (rc == 0)
        rc = sta_stages_run(&fresh->plan, fresh->events, &fresh->context, &fresh->outcome, err);
    fresh->context.budget = NULL; /* both the caller's */
    fresh->context.query = NULL;
    if (rc != 0) {
        sta_query_result_release(fresh);
        fresh = NULL;
    } else if (fresh->outcome.materialized != NULL) {
        drop_sources(fresh);
    }
    *result = fresh;
    return rc;
}

static struct sta_query_result *retain(struct sta_query_result *result)
{
    atomic_fetch_add(&result->references, 1);
    return result;
}

void sta_query_result_release(struct sta_query_result *result)
{
    if (result == NULL || atomic_fetch_sub(&result->references, 1) != 1)
        return;
    sta_outcome_fini(&result->outcome);
    sta_plan_fini(&result->plan);
    sta_events_destroy(result->events);
    sta_query_context_fini(&result->context);
    uv_mutex_destroy(&result->lock);
    free(result);
}

uint64_t sta_query_sums_too_large(const struct sta_query_result *result)
{
    return result->context.sums_too_large;
}

/* What plain rows are still to be read with, about: most is the expressions' own dictionaries and vectors. */
static uint64_t plan_bytes(const struct sta_plan *plan)
{
    uint64_t expressions = 0;
    for (size_t i = 0; i < plan->stage_count; i++) {
        const struct sta_plan_stage *stage = &plan->stages[i];
        expressions += stage->derived_count + stage->output_count + (stage->filter != NULL);
    }
    return BINDING_BYTES + expressions * EXPRESSION_BYTES;
}

uint64_t sta_query_result_bytes(const struct sta_query_result *result)
{
    const struct sta_materialized *materialized = result->outcome.materialized;
    return sizeof *result +
           (materialized != NULL ? sta_materialized_bytes(materialized) : plan_bytes(&result->plan));
}

int sta_query_row_count(struct sta_query_result *result, const struct sta_budget *budget, uint64_t *count,
                        struct sta_error *err)
{
    int rc = 0;
    if (result->outcome.materialized != NULL) {
        *count = sta_materialized_rows(result->outcome.materialized);
        return 0;
    }
    uv_mutex_lock(&result->lock);
    if (!result->counted)
        rc = sta_plain_count(&result->outcome.plain, budget, &result->row_count, err);
    result->counted = rc == 0;
    *count = result->row_count;
    uv_mutex_unlock(&result->lock);
    return rc;
}

const struct sta_query_step *sta_query_steps(const struct sta_query_result *result, size_t *count)
{
    *count = result->context.step_count;
    return result->context.steps;
}

/* ---- readers */

struct sta_query_reader {
    struct sta_query_result *result; /* held */
    struct sta_plain_reader *plain;  /* NULL: the result is materialized */
    struct sta_materialized_batch *batch;
    const struct sta_column_info *columns; /* of the materialized result */
    size_t column_count;
    uint64_t row;               /* the next one of the materialized result */
    struct sta_vector *vectors; /* of the materialized result */
};

/* Words of a position: the fingerprint, then the number of the next row or the key of the last one. */
static uint32_t position_words(const struct sta_query_result *result)
{
    return result->outcome.materialized != NULL ? 2 : 1 + sta_plain_key_words(&result->outcome.plain);
}

static int read_position(const struct sta_query_result *result, const void *after, size_t size,
                         uint64_t *words, struct sta_error *err)
{
    uint32_t count = position_words(result);
    struct sta_cursor cursor = {.at = after, .end = (const unsigned char *)after + size};
    for (uint32_t i = 0; i < count; i++)
        words[i] = sta_get_u64(&cursor);
    if (cursor.failed || cursor.at != cursor.end || words[0] != result->fingerprint)
        return sta_fail(err, STA_EINPUT, "the position is none of this result's");
    return 0;
}

static void start(struct sta_query_reader *reader, const struct sta_budget *budget, const uint64_t *words)
{
    struct sta_query_result *result = reader->result;
    if (result->outcome.materialized == NULL) {
        reader->plain =
            sta_plain_reader_create(&result->outcome.plain, budget, 0, words != NULL ? words + 1 : NULL);
        return;
    }
    reader->batch = sta_materialized_batch_create(result->outcome.materialized);
    reader->columns = sta_materialized_columns(result->outcome.materialized, &reader->column_count);
    reader->vectors = sta_alloc_array(reader->column_count + 1, sizeof *reader->vectors);
    reader->row = words != NULL ? STA_MIN(words[1], sta_materialized_rows(result->outcome.materialized)) : 0;
}

int sta_query_reader_create(struct sta_query_result *result, const struct sta_budget *budget,
                            const void *after, size_t after_size, struct sta_query_reader **reader,
                            struct sta_error *err)
{
    uint64_t *words = NULL;
    int rc = 0;
    if (after != NULL) {
        words = sta_alloc_array(position_words(result), sizeof *words);
        rc = read_position(result, after, after_size, words, err);
    }
    *reader = NULL;
    if (rc == 0) {
        *reader = sta_alloc(sizeof **reader);
        (*reader)->result = retain(result);
        start(*reader, budget, words);
    }
    free(words);
    return rc;
}

void sta_query_reader_destroy(struct sta_query_reader *reader)
{
    if (reader == NULL)
        return;
    sta_plain_reader_destroy(reader->plain);
    sta_materialized_batch_destroy(reader->batch);
    free(reader->vectors);
    sta_query_result_release(reader->result);
    free(reader);
}

void sta_query_skip(struct sta_query_reader *reader, uint64_t rows)
{
    const struct sta_materialized *materialized = reader->result->outcome.materialized;
    if (reader->plain != NULL)
        sta_plain_skip(reader->plain, rows);
    else
        reader->row += STA_MIN(rows, sta_materialized_rows(materialized) - reader->row);
}

/* The next rows of the materialized result as vectors, at most @most. */
static int next_materialized(struct sta_query_reader *reader, uint64_t most, uint32_t *rows,
                             struct sta_error *err)
{
    const uint32_t first = reader->row % STA_VECTOR_ROWS;
    int rc = STA_OK;
    *rows = 0;
    if (reader->row >= sta_materialized_rows(reader->result->outcome.materialized))
        return STA_OK;
    const uint32_t batch_rows = sta_materialized_batch_seek(reader->batch, reader->row / STA_VECTOR_ROWS);
    for (size_t i = 0; rc == 0 && i < reader->column_count; i++) {
        rc = sta_materialized_batch_get(reader->batch, (uint32_t)i, &reader->vectors[i], err);
        reader->vectors[i] = sta_vector_from(reader->vectors[i], first);
    }
    *rows = rc == 0 ? (uint32_t)STA_MIN(most, (uint64_t)(batch_rows - first)) : 0;
    reader->row += *rows;
    return rc;
}

static int read_materialized(struct sta_query_reader *reader, size_t most, struct sta_table *table,
                             struct sta_error *err)
{
    const uint64_t left = sta_materialized_rows(reader->result->outcome.materialized) - reader->row;
    const size_t rows = STA_MIN(left, (uint64_t)most);
    uint32_t now = 0;
    int rc = 0;
    sta_table_init(table, rows);
    sta_table_add_all(table, reader->columns, reader->column_count);
    for (size_t at = 0; rc == 0 && at < rows; at += now) {
        rc = next_materialized(reader, rows - at, &now, err);
        for (size_t i = 0; i < table->column_count; i++)
            for (uint32_t row = 0; row < now; row++)
                sta_table_put(&table->columns[i], at + row, &reader->vectors[i], row);
    }
    return rc;
}

int sta_query_next_rows(struct sta_query_reader *reader, const struct sta_vector **vectors, uint32_t *rows,
                        struct sta_error *err)
{
    if (reader->plain != NULL)
        return sta_plain_next(reader->plain, STA_VECTOR_ROWS, vectors, rows, err);
    *vectors = reader->vectors;
    return next_materialized(reader, UINT64_MAX, rows, err);
}

int sta_query_read(struct sta_query_reader *reader, size_t most, struct sta_table *table,
                   struct sta_error *err)
{
    return reader->plain != NULL ? sta_plain_read(reader->plain, most, table, err)
                                 : read_materialized(reader, most, table, err);
}

bool sta_query_position(struct sta_query_reader *reader, struct sta_buffer *position)
{
    const struct sta_query_result *result = reader->result;
    const struct sta_materialized *materialized = result->outcome.materialized;
    const uint64_t *words = materialized != NULL ? &reader->row : sta_plain_position(reader->plain);
    if (words == NULL || (materialized != NULL && reader->row >= sta_materialized_rows(materialized)))
        return false;
    sta_put_u64(position, result->fingerprint);
    for (uint32_t i = 0; i + 1 < position_words(result); i++)
        sta_put_u64(position, words[i]);
    return true;
}

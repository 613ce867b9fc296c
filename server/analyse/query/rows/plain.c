/* Rows of events as the answer: what readers share, and reading. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/plain_private.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

/* ---- order: the texts that sort keys take */

struct met {
    const struct sta_dictionary **dictionaries;
    size_t count, capacity;
};

struct meeting {
    const struct sta_plain *plain;
    struct met *met; /* by worker, then key */
};

static bool is_text(const struct sta_plain *plain, size_t key)
{
    return plain->keys[key].type == STA_TYPE_TEXT;
}

int sta_plain_key_vector(const struct sta_plain *plain, struct sta_lane *lane, size_t key,
                         struct sta_vector *vector, struct sta_error *err)
{
    const struct sta_plan_stage *stage = plain->stage;
    uint32_t column = stage->order[key].column;
    return column < stage->output_count
               ? sta_frame_part(lane->top, STA_PART_OUTPUTS, column, vector, err)
               : sta_frame_column(lane->top, column - (uint32_t)stage->output_count, vector, err);
}

static void meet(struct met *met, const struct sta_dictionary *dictionary)
{
    for (size_t i = 0; i < met->count; i++)
        if (met->dictionaries[i] == dictionary)
            return;
    STA_GROW(met->dictionaries, met->capacity, met->count + 1);
    met->dictionaries[met->count++] = dictionary;
}

static int meet_texts(void *self, unsigned worker, struct sta_lane *lane, struct sta_error *err)
{
    struct meeting *meeting = self;
    const struct sta_plain *plain = meeting->plain;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < plain->stage->order_count; i++) {
        struct sta_vector vector;
        if (!is_text(plain, i))
            continue;
        rc = sta_plain_key_vector(plain, lane, i, &vector, err);
        if (rc == 0 && vector.texts != NULL)
            meet(&meeting->met[worker * plain->stage->order_count + i], vector.texts);
    }
    return rc;
}

static void rank_key(struct sta_plain *plain, size_t key, const struct met *met, unsigned workers)
{
    struct met all = {0};
    for (unsigned w = 0; w < workers; w++) {
        const struct met *own = &met[w * plain->stage->order_count + key];
        for (size_t i = 0; i < own->count; i++)
            meet(&all, own->dictionaries[i]);
    }
    plain->ranks[key] = sta_text_ranks_create(all.dictionaries, all.count);
    plain->keys[key].ranks = plain->ranks[key];
    free(all.dictionaries);
}

/* All texts must be in their dictionaries before the first record is made: a pass that makes them. */
static int rank_texts(struct sta_plain *plain, struct sta_workshop *workshop, struct sta_error *err)
{
    unsigned workers = sta_budget_workers(workshop->budget);
    size_t keys = plain->stage->order_count;
    struct meeting meeting = {plain, sta_alloc_array(workers * keys, sizeof(struct met))};
    struct sta_path_visitor visitor = {&meeting, meet_texts};
    sta_path_step(plain->path, workshop, "rank");
    int rc = sta_path_run(plain->path, &visitor, workshop->budget, err);
    for (size_t i = 0; rc == 0 && i < keys; i++)
        if (is_text(plain, i))
            rank_key(plain, i, meeting.met, workers);
    for (size_t i = 0; i < workers * keys; i++)
        free(meeting.met[i].dictionaries);
    free(meeting.met);
    sta_workshop_end_step(workshop);
    return rc;
}

static enum sta_type order_type(const struct sta_plan_stage *stage, size_t key)
{
    uint32_t column = stage->order[key].column;
    return column < stage->output_count ? stage->result[column].type
                                        : stage->schema.columns[column - stage->output_count].type;
}

int sta_plain_key_column(const struct sta_plain *plain, size_t key)
{
    const struct sta_plan_stage *stage = plain->stage;
    uint32_t column = stage->order[key].column;
    return column >= stage->output_count ? (int)(column - stage->output_count)
                                         : sta_expression_column(stage->outputs[column].expression);
}

int sta_plain_init(struct sta_plain *plain, const struct sta_path *path, struct sta_workshop *workshop,
                   struct sta_error *err)
{
    const struct sta_plan_stage *stage = &path->stages[path->stage_count - 1];
    bool texts = false;
    *plain = (struct sta_plain){.path = path, .stage = stage};
    sta_shown_init(&plain->shown, stage);
    sta_events_rank_chunks(path->events);
    plain->keys = sta_alloc_array(stage->order_count + 1, sizeof *plain->keys);
    plain->ranks = sta_alloc_array(stage->order_count + 1, sizeof(struct sta_text_ranks *));
    for (size_t i = 0; i < stage->order_count; i++) {
        int column = sta_plain_key_column(plain, i);
        plain->keys[i] = (struct sta_sort_key){.type = order_type(stage, i),
                                               .descending = stage->order[i].descending,
                                               .never_misses = column >= 0 &&
                                                               sta_path_never_misses(path, (uint32_t)column)};
        plain->sort_words += sta_sort_key_words(&plain->keys[i]);
        texts |= is_text(plain, i);
    }
    return texts ? rank_texts(plain, workshop, err) : 0;
}

void sta_plain_fini(struct sta_plain *plain)
{
    for (size_t i = 0; plain->ranks != NULL && i < plain->stage->order_count; i++)
        sta_text_ranks_destroy(plain->ranks[i]);
    free(plain->ranks);
    free(plain->keys);
    *plain = (struct sta_plain){0};
}

/* ---- counting */

static int count_rows(void *self, unsigned worker, struct sta_lane *lane, struct sta_error *err)
{
    _Atomic uint64_t *count = self;
    atomic_fetch_add_explicit(count, lane->count, memory_order_relaxed);
    return 0;
}

static bool keeps_all(const struct sta_path *path)
{
    for (size_t i = 0; i < path->stage_count; i++)
        if (path->stages[i].filter != NULL)
            return false;
    for (size_t i = 0; i < path->events->trace_count; i++) {
        const struct sta_scan *scan = &path->events->traces[i].scan;
        if (scan->classes != NULL || scan->from != INT64_MIN || scan->to != INT64_MAX)
            return false;
    }
    return true;
}

int sta_plain_count(const struct sta_plain *plain, const struct sta_budget *budget, uint64_t *count,
                    struct sta_error *err)
{
    _Atomic uint64_t counted = 0;
    struct sta_path_visitor visitor = {&counted, count_rows};
    int rc = 0;
    if (keeps_all(plain->path))
        counted = plain->path->part_rows;
    else
        rc = sta_path_run(plain->path, &visitor, budget, err);
    *count = counted;
    return rc;
}

/* ---- reading */

uint32_t sta_plain_key_words(const struct sta_plain *plain)
{
    return plain->sort_words + 3;
}

/* What a row of a chunk takes, with its record when it is sorted. */
static size_t chunk_row_bytes(const struct sta_plain *plain)
{
    size_t record = (sta_plain_key_words(plain) + 1) * sizeof(uint64_t) + sizeof(uint32_t);
    return plain->shown.row_bytes + sizeof(struct sta_chunk_row) + (plain->sort_words > 0 ? record : 0);
}

struct sta_plain_reader *sta_plain_reader_create(const struct sta_plain *plain,
                                                 const struct sta_budget *budget, const char *spill_folder,
                                                 uint64_t wanted, const uint64_t *after)
{
    struct sta_plain_reader *reader = sta_alloc(sizeof *reader);
    uint32_t words = sta_plain_key_words(plain);
    reader->plain = plain;
    reader->budget = *budget;
    reader->spill_folder = sta_strdup(spill_folder != NULL ? spill_folder : "");
    reader->key = sta_alloc_array(words, sizeof *reader->key);
    reader->most_rows = STA_MAX(budget->memory / 4 / chunk_row_bytes(plain), (size_t)STA_BLOCK_ROWS);
    reader->from = INT64_MIN;
    reader->wanted = wanted;
    if (after != NULL) {
        memcpy(reader->key, after, words * sizeof *after);
        reader->started = true;
    }
    return reader;
}

static void free_pieces(struct sta_plain_reader *reader)
{
    for (size_t i = 0; i < reader->piece_count; i++)
        sta_piece_fini(&reader->pieces[i], &reader->plain->shown);
    free(reader->pieces);
    reader->pieces = NULL;
    reader->piece_count = 0;
}

void sta_plain_reader_destroy(struct sta_plain_reader *reader)
{
    if (reader == NULL)
        return;
    free_pieces(reader);
    sta_sorter_destroy(reader->sorter);
    free(reader->where);
    free(reader->records);
    free(reader->rows);
    free(reader->key);
    free(reader->spill_folder);
    free(reader);
}

void sta_plain_begin_chunk(struct sta_plain_reader *reader, size_t pieces)
{
    free_pieces(reader);
    reader->pieces = sta_alloc_array(pieces + 1, sizeof *reader->pieces);
    reader->piece_count = pieces;
    reader->row_count = 0;
    reader->at = 0;
}

void sta_plain_add_row(struct sta_plain_reader *reader, uint32_t piece, uint32_t row)
{
    STA_GROW(reader->rows, reader->row_capacity, reader->row_count + 1);
    reader->rows[reader->row_count++] = (struct sta_chunk_row){piece, row};
}

static int next_chunk(struct sta_plain_reader *reader, size_t most, struct sta_error *err)
{
    return reader->plain->sort_words > 0 ? sta_plain_next_sorted(reader, most, err)
                                         : sta_plain_next_slice(reader, most, err);
}

static void note_key(struct sta_plain_reader *reader, size_t number)
{
    uint32_t words = sta_plain_key_words(reader->plain);
    bool sorted = reader->plain->sort_words > 0;
    if (sorted && reader->records == NULL)
        return;
    reader->started = true;
    if (sorted) {
        memcpy(reader->key, reader->records + number * (words + 1), words * sizeof *reader->key);
        return;
    }
    const struct sta_chunk_row *row = &reader->rows[number];
    reader->key[0] = reader->trace;
    reader->key[1] = sta_sort_word(reader->pieces[row->piece].at[row->row]);
    reader->key[2] = reader->pieces[row->piece].place[row->row];
}

int sta_plain_read(struct sta_plain_reader *reader, size_t most, struct sta_table *table,
                   struct sta_error *err)
{
    size_t filled = 0;
    int rc = 0;
    sta_chunk_table(&reader->plain->shown, most, table);
    while (rc == 0 && filled < most) {
        if (reader->at == reader->row_count)
            rc = next_chunk(reader, most, err);
        size_t now = rc == 0 ? STA_MIN(most - filled, reader->row_count - reader->at) : 0;
        if (now == 0)
            break;
        sta_chunk_put(reader->pieces, &reader->plain->shown, reader->rows + reader->at, now, table, filled);
        filled += now;
        reader->at += now;
        note_key(reader, reader->at - 1);
    }
    table->rows = filled;
    if (rc == 0 && filled > 0 && reader->at == reader->row_count)
        rc = next_chunk(reader, most, err); /* does a row follow? */
    return rc;
}

const uint64_t *sta_plain_position(const struct sta_plain_reader *reader)
{
    return reader->at < reader->row_count ? reader->key : NULL;
}

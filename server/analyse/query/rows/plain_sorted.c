/* Plain rows, sorted.
 *
 * DESIGN.  A pass over the rows makes a record of each: its sort keys, its place in event order, and where it
 * lies.  For the first rows that a reader asks for the sorter keeps only so many, and what cannot be among
 * them is left out early (top.h); a reader that goes on has all rows sorted, by way of the disk when they are
 * many.  What is shown is read late: the next records are put in the order of the blocks, and each block is
 * read once for all of its rows. */
#include <stdlib.h>
#include <string.h>

#include "analyse/query/rows/plain_private.h"
#include "analyse/query/rows/top.h"
#include "common/memory.h"

/* ---- records */

struct recording {
    const struct sta_plain_reader *reader;
    struct sta_sorter *sorter;
    struct sta_top top;
    uint32_t words;             /* of a record */
    struct recorder *recorders; /* by worker */
};

/* Room for a part of one worker. */
struct recorder {
    uint64_t *records;
    uint32_t *kept;
};

static bool is_behind(const struct sta_plain_reader *reader, const uint64_t *record)
{
    uint32_t words = sta_plain_key_words(reader->plain);
    for (uint32_t i = 0; reader->started && i < words; i++)
        if (record[i] != reader->key[i])
            return record[i] < reader->key[i];
    return reader->started;
}

static int put_keys(const struct recording *recording, struct sta_lane *lane, uint64_t *records,
                    struct sta_error *err)
{
    const struct sta_plain *plain = recording->reader->plain;
    uint32_t word = 0;
    for (size_t i = 0; i < plain->stage->order_count; i++) {
        struct sta_vector vector;
        int rc = sta_plain_key_vector(plain, lane, i, &vector, err);
        if (rc != 0)
            return rc;
        sta_sort_key_put(&plain->keys[i], &vector, lane->selected, lane->count, records + word,
                         recording->words);
        word += sta_sort_key_words(&plain->keys[i]);
    }
    return 0;
}

static void put_places(const struct recording *recording, struct sta_lane *lane, size_t part,
                       const struct sta_lane_order *order, uint64_t *record)
{
    uint32_t sort_words = recording->reader->plain->sort_words;
    for (uint32_t i = 0; i < lane->count; i++, record += recording->words) {
        uint32_t row = lane->selected != NULL ? lane->selected[i] : i;
        record[sort_words] = lane->trace;
        record[sort_words + 1] = sta_sort_word(order->at[row]);
        record[sort_words + 2] = order->place[row];
        record[sort_words + 3] = (uint64_t)part << 32 | sta_lane_part_row(lane, row);
    }
}

static struct recorder *recorder_of(struct recording *recording, unsigned worker)
{
    struct recorder *recorder = &recording->recorders[worker];
    if (recorder->records == NULL) {
        recorder->records = sta_alloc_array(STA_VECTOR_ROWS, recording->words * sizeof(uint64_t));
        recorder->kept = sta_alloc_array(STA_VECTOR_ROWS, sizeof *recorder->kept);
    }
    return recorder;
}

static int record_part(void *self, unsigned worker, struct sta_lane *lane, size_t number,
                       struct sta_error *err)
{
    struct recording *recording = self;
    struct recorder *recorder = recorder_of(recording, worker);
    uint64_t *records = recorder->records;
    struct sta_lane_order order;
    size_t part;
    if (!sta_top_part(&recording->top, number, &part))
        return 0;
    int rc = sta_lane_load(lane, recording->reader->plain->path->parts[part], err);
    if (rc == 0)
        rc = sta_top_narrow(&recording->top, lane, recorder->kept, err);
    if (rc != 0 || lane->count == 0)
        return rc;
    rc = put_keys(recording, lane, records, err);
    if (rc == 0)
        rc = sta_lane_order(lane, &order, err);
    if (rc == 0)
        put_places(recording, lane, part, &order, records);
    for (uint32_t i = 0; rc == 0 && i < lane->count; i++)
        if (!is_behind(recording->reader, records + i * recording->words))
            rc = sta_sorter_add(recording->sorter, worker, records + i * recording->words, err);
    const uint64_t *last = sta_sorter_last(recording->sorter, worker);
    if (last != NULL)
        sta_top_lower(&recording->top, last);
    return rc;
}

/* Sorts the rows behind the reader, at least the first @most of them. */
static int sort_rows(struct sta_plain_reader *reader, uint64_t most, struct sta_error *err)
{
    const struct sta_path *path = reader->plain->path;
    unsigned workers = sta_budget_workers(&reader->budget);
    struct recording recording = {.reader = reader, .words = sta_plain_key_words(reader->plain) + 1};
    struct sta_sorter_shape shape = {.words = recording.words,
                                     .keys = recording.words - 1,
                                     .most = most,
                                     .workers = workers,
                                     .memory = reader->budget.memory / 2,
                                     .spill_folder = reader->spill_folder};
    struct sta_path_work work = {&recording, path->part_count, record_part};
    sta_sorter_destroy(reader->sorter);
    reader->sorter = recording.sorter = sta_sorter_create(&shape);
    reader->whole = most == UINT64_MAX;
    reader->sorted_left = most;
    recording.recorders = sta_alloc_array(workers, sizeof *recording.recorders);
    sta_top_init(&recording.top, reader->plain, reader->started ? reader->key : NULL);
    int rc = sta_path_work(path, &work, &reader->budget, err);
    for (unsigned i = 0; i < workers; i++) {
        free(recording.recorders[i].records);
        free(recording.recorders[i].kept);
    }
    sta_top_fini(&recording.top);
    free(recording.recorders);
    return rc != 0 ? rc : sta_sorter_finish(reader->sorter, err);
}

/* ---- rows of records */

/* The rows of a chunk by the parts that they lie in: those of piece p are number first[p] .. first[p + 1] -
 * 1. */
struct fetching {
    struct sta_plain_reader *reader;
    size_t *first;
    uint32_t *rows;  /* in the part */
    uint32_t *parts; /* by piece */
};

static int fetch_piece(void *self, unsigned worker, struct sta_lane *lane, size_t number,
                       struct sta_error *err)
{
    struct fetching *fetching = self;
    struct sta_plain_reader *reader = fetching->reader;
    size_t first = fetching->first[number], count = fetching->first[number + 1] - first;
    sta_lane_load_rows(lane, reader->plain->path->parts[fetching->parts[number]], fetching->rows + first,
                       (uint32_t)count);
    return sta_piece_take(&reader->pieces[number], &reader->plain->shown, lane, false, err);
}

/* Counts the rows of each part: gives the parts that have any a piece each.  Return: how many. */
static size_t count_pieces(struct fetching *fetching, size_t count, uint32_t *piece_of_part)
{
    size_t part_count = fetching->reader->plain->path->part_count, pieces = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        piece_of_part[fetching->reader->where[i] >> 32]++;
    for (size_t part = 0; part < part_count; part++) {
        size_t rows = piece_of_part[part];
        if (rows == 0)
            continue;
        piece_of_part[part] = (uint32_t)pieces;
        fetching->parts[pieces] = (uint32_t)part;
        fetching->first[pieces++] = sum;
        sum += rows;
    }
    fetching->first[pieces] = sum;
    return pieces;
}

/* Lists the rows of the chunk in the order of the records, and those of each piece. */
static void list_rows(struct fetching *fetching, size_t count, size_t pieces, const uint32_t *piece_of_part)
{
    struct sta_plain_reader *reader = fetching->reader;
    size_t *next = sta_alloc_array(pieces + 1, sizeof *next);
    memcpy(next, fetching->first, pieces * sizeof *next);
    for (size_t i = 0; i < count; i++) {
        uint64_t where = reader->where[i];
        uint32_t piece = piece_of_part[where >> 32];
        sta_plain_add_row(reader, piece, (uint32_t)(next[piece] - fetching->first[piece]));
        fetching->rows[next[piece]++] = (uint32_t)where;
    }
    free(next);
}

/* Reads what is shown of @count records. */
static int fetch_rows(struct sta_plain_reader *reader, size_t count, struct sta_error *err)
{
    size_t part_count = reader->plain->path->part_count;
    struct fetching fetching = {.reader = reader};
    uint32_t *piece_of_part = sta_alloc_array(part_count + 1, sizeof *piece_of_part);
    fetching.first = sta_alloc_array(part_count + 1, sizeof *fetching.first);
    fetching.parts = sta_alloc_array(part_count + 1, sizeof *fetching.parts);
    fetching.rows = sta_alloc_array(count + 1, sizeof *fetching.rows);
    size_t pieces = count_pieces(&fetching, count, piece_of_part);
    sta_plain_begin_chunk(reader, pieces);
    list_rows(&fetching, count, pieces, piece_of_part);
    struct sta_path_work work = {&fetching, pieces, fetch_piece};
    int rc = sta_path_work(reader->plain->path, &work, &reader->budget, err);
    free(piece_of_part);
    free(fetching.first);
    free(fetching.parts);
    free(fetching.rows);
    return rc;
}

/* Sorts for the first time, or all rows once the first ones are given out. */
static int sort_for(struct sta_plain_reader *reader, size_t most, struct sta_error *err)
{
    uint64_t wanted = reader->wanted != 0 ? reader->wanted : most;
    if (reader->sorter == NULL)
        return sort_rows(reader, wanted < UINT64_MAX ? wanted + 1 : wanted, err); /* does a row follow? */
    return reader->sorted_left == 0 && !reader->whole ? sort_rows(reader, UINT64_MAX, err) : 0;
}

/* Notes where the rows of some records lie, and the records when somebody may go on from them. */
static void note_records(struct sta_plain_reader *reader, const uint64_t *records, size_t count, size_t at)
{
    uint32_t words = sta_plain_key_words(reader->plain) + 1;
    for (size_t i = 0; i < count; i++)
        reader->where[at + i] = records[i * words + words - 1];
    if (reader->records != NULL)
        memcpy(reader->records + at * words, records, count * words * sizeof *records);
}

/* Takes @count records from the sorter, fewer at the end. */
static int take_records(struct sta_plain_reader *reader, size_t count, size_t *taken, struct sta_error *err)
{
    uint32_t words = sta_plain_key_words(reader->plain) + 1;
    uint64_t *records = sta_alloc_array(STA_MIN(count, (size_t)STA_VECTOR_ROWS), words * sizeof *records);
    size_t now = 1;
    int rc = 0;
    *taken = 0;
    while (rc == 0 && now > 0 && *taken < count) {
        rc = sta_budget_check(&reader->budget, err);
        if (rc == 0)
            rc = sta_sorter_next(reader->sorter, records, STA_MIN(count - *taken, (size_t)STA_VECTOR_ROWS),
                                 &now, err);
        if (rc == 0)
            note_records(reader, records, now, *taken);
        *taken += now;
    }
    free(records);
    return rc;
}

/* Room for what is noted of @count rows.  Return: false when memory is short. */
static bool make_room(struct sta_plain_reader *reader, size_t count)
{
    size_t record = (sta_plain_key_words(reader->plain) + 1) * sizeof(uint64_t);
    bool keeps = reader->wanted == 0;
    free(reader->where);
    free(reader->records);
    reader->where = sta_try_alloc_array(count + 1, sizeof *reader->where);
    reader->records = keeps ? sta_try_alloc_array(count + 1, record) : NULL;
    return reader->where != NULL && (!keeps || reader->records != NULL);
}

int sta_plain_next_sorted(struct sta_plain_reader *reader, size_t most, struct sta_error *err)
{
    int rc = sort_for(reader, most, err);
    if (rc != 0)
        return rc;
    size_t count = STA_MIN(reader->sorted_left, (uint64_t)reader->most_rows);
    if (!make_room(reader, count))
        return sta_fail(err, STA_ENOMEM, "memory ran out while rows were sorted");
    rc = take_records(reader, count, &count, err);
    reader->sorted_left -= count;
    return rc == 0 ? fetch_rows(reader, count, err) : rc;
}

/* plain.h - rows of events as the answer: read block by block, in event order or sorted (private to
 * query/rows).
 *
 * Nothing of the answer is held.  A reader takes a chunk of rows after the other out of their blocks: in
 * event order those of a slice of time, sorted those of the next records of a sorter.  The key of a row, some
 * words, tells its place in the order of all rows, so that a reader starts behind any row without going
 * there. */
#ifndef STA_ANALYSE_QUERY_PLAIN_H
#define STA_ANALYSE_QUERY_PLAIN_H

#include "analyse/query/rows/chunk.h"
#include "analyse/query/rows/sort_keys.h"
#include "analyse/query/rows/workshop.h"

/* What the readers of a result share; immutable. */
struct sta_plain {
    const struct sta_path *path;
    const struct sta_plan_stage *stage; /* the last of the path */
    struct sta_shown shown;
    struct sta_sort_key *keys; /* by order_by */
    struct sta_text_ranks **ranks;
    uint32_t sort_words; /* of keys; behind them in a record: trace, at, place, part and row */
};

/** @path: of events; borrowed.  With an order on texts that are made: reads all rows once, to know them.
 * Fini also after a failure. */
STA_MUSTCHECK int sta_plain_init(struct sta_plain *plain, const struct sta_path *path,
                                 struct sta_workshop *workshop, struct sta_error *err);
void sta_plain_fini(struct sta_plain *plain);
/** Counts the rows, in parallel. */
STA_MUSTCHECK int sta_plain_count(const struct sta_plain *plain, const struct sta_budget *budget,
                                  uint64_t *count, struct sta_error *err);
/** Words of a row's key. */
uint32_t sta_plain_key_words(const struct sta_plain *plain);

struct sta_plain_reader;
/** @budget, @spill_folder: copied.  @wanted: rows that will be read, and that nobody goes on from; 0: as many
 * as the first call asks for, maybe more.  @after: the key of a row, to start behind it; NULL: from the
 * first. */
struct sta_plain_reader *sta_plain_reader_create(const struct sta_plain *plain,
                                                 const struct sta_budget *budget, const char *spill_folder,
                                                 uint64_t wanted, const uint64_t *after);
void sta_plain_reader_destroy(struct sta_plain_reader *reader); /* NULL allowed */
/** The next rows, @most at the most; none at the end.  @table: initialised by this. */
STA_MUSTCHECK int sta_plain_read(struct sta_plain_reader *reader, size_t most, struct sta_table *table,
                                 struct sta_error *err);
/** The key of the last row read; NULL when no row follows. */
const uint64_t *sta_plain_position(const struct sta_plain_reader *reader);

#endif

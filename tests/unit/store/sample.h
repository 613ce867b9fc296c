/* sample.h - made-up traces for the store's tests: rows that are known, written by the store's own calls, and
 * compared with what comes back. */
#ifndef STA_TESTS_STORE_SAMPLE_H
#define STA_TESTS_STORE_SAMPLE_H

#include "store/store.h"

#define SAMPLE_KEYS 9 /* args keys; the first is every row's own number */

struct sample_row {
    uint32_t source; /* number in the sample */
    uint64_t first_line;
    int64_t ts, dur; /* nanoseconds */
    uint32_t name, cat, file, thread;
    uint8_t kinds[SAMPLE_KEYS]; /* 0: none, else 1 + enum sta_value_kind */
    union sta_value values[SAMPLE_KEYS];
};

struct sample {
    struct sample_row *rows;
    size_t count, capacity;
    char **paths; /* of the sources */
    uint32_t source_count;
    uint64_t random;
    bool merged; /* its version was compacted: chunks of a source may have become one */
};

/* What kind of rows to make. */
struct sample_shape {
    uint64_t seed;
    uint32_t rows, sources, chunk_rows;
    bool fractions; /* times have nanoseconds */
    bool wild;      /* extreme numbers, mixed kinds, thousands of names */
};

void sample_init(struct sample *sample, const struct sample_shape *shape);
void sample_fini(struct sample *sample);
uint64_t sample_random(struct sample *sample);

/** Hands the rows of the sources that @wanted (by source; NULL: all) names to a writer, chunk by chunk, in
 * turn to its workers. */
void sample_write(const struct sample *sample, struct sta_writer *writer, unsigned workers,
                  const bool *wanted);
/** The same by one worker, from any thread. */
void sample_write_by(const struct sample *sample, struct sta_writer *writer, unsigned worker,
                     const bool *wanted);
/** Interns what the codes of a sample stand for. */
void sample_fill_tables(struct sta_tables *tables);
/** Fails the test unless the snapshot holds exactly the rows of the sources that are @wanted, in the promised
 * order, with statistics that are true. */
void sample_check(const struct sample *sample, const struct sta_snapshot *snapshot, const bool *wanted);

/* A store in a scratch folder, with one trace. */
struct scratch_store {
    char folder[64];
    struct sta_store *store;
    char trace[STA_TRACE_ID_SIZE];
};
void scratch_open(struct scratch_store *scratch);
/** Closes and opens it again.  Return: how many files were cleaned up. */
unsigned scratch_reopen(struct scratch_store *scratch);
void scratch_close(struct scratch_store *scratch);
/** Path of a trace's file (whose name ends in @suffix, the @number-th by name), or NULL; free() it. */
char *scratch_file(const struct scratch_store *scratch, const char *suffix, unsigned number);
unsigned scratch_file_count(const struct scratch_store *scratch);
/** A writer for the trace, from scratch. */
struct sta_writer *scratch_begin(struct scratch_store *scratch, unsigned workers, size_t memory);
/** Writes and publishes the sample. */
void scratch_publish(struct scratch_store *scratch, const struct sample *sample, unsigned workers,
                     size_t memory);
struct sta_snapshot *scratch_snapshot(struct scratch_store *scratch);

#endif

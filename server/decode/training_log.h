/* training_log.h - the log of a data-parallel training: when loader workers completed batches and how long
 * iterations took (public part of decode.h).
 *
 * Two kinds of lines count; all others are somebody else's.  A worker writes, when batch idx is complete,
 *     2021-09-01 19:48:54.841 DEBUG:  GPU: 0 worker_id: 0, END FETCH at_time 8.112918319180608 data idx0
 * and each process prints, per iteration,
 *     2021-09-01 19:48:55.191641 GPU: 0 Epoch: [1][  0/851]  Time 9.777588 (..)  Data 8.596788 (..)
 * Dates have no zone and are taken as a plain calendar.  Two of the tables that the log's own analyser makes
 * of it hold the same records, a row each (FILE.csv, simp/FILE_simp.csv): their rows are lines of these kinds
 * too.  Two more hold durations and starts of fetches by GPU: training_tables.h. */
#ifndef STA_DECODE_TRAINING_LOG_H
#define STA_DECODE_TRAINING_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/account.h"
#include "common/error.h"
#include "common/ledger.h"

#define STA_LOG_GPUS 4096                /* numbers below this */
#define STA_LOG_SECONDS 1e7              /* longest duration */
#define STA_LOG_INDEX (INT64_C(1) << 40) /* batches, steps and epochs below this */

enum sta_log_line_kind {
    STA_LOG_OTHER,
    STA_LOG_BLANK,
    STA_LOG_HEADING, /* of a table */
    STA_LOG_FETCH,
    STA_LOG_ITERATION,
    STA_LOG_DAMAGED
};

/* Under which name of a file the tables of a trace define the configuration, as JSON. */
#define STA_TRAINING_CONF "sim_conf.json"

/* The same for the duration of a fetch that only a joined table says: epoch, index, GPU. */
#define STA_TRAINING_SECONDS "fetch time %lld %lld %u"

#define STA_NO_EPOCH INT64_C(-1) /* of a fetch whose line does not say it */

/* A fetch: time_us is its end.  An iteration: time_us is when the loader handed the batch over, which is the
 * end of the stall; `seconds` lasts from the end of the iteration before to the end of this one. */
struct sta_log_record {
    int64_t time_us;  /* microseconds since 1970 */
    int64_t start_us; /* of a fetch: time less seconds, rounded */
    int64_t epoch;    /* STA_NO_EPOCH, until sta_training_log_end counts it */
    int64_t index;    /* of the batch in its epoch; the step */
    uint32_t gpu, worker;
    double seconds;
    double stall, throughput; /* of an iteration; throughput NAN when the line has none */
    uint64_t line;            /* from 1 */
};

/** What one line is.  @reason: of a damaged one, a phrase.  @record: of a fetch or an iteration; its line
 * is not set.  Context: any thread. */
enum sta_log_line_kind sta_log_line(const char *line, size_t length, struct sta_log_record *record,
                                    const char **reason);

struct sta_log_records {
    struct sta_log_record *items;
    size_t count, capacity;
};

struct sta_training_log {
    struct sta_account *account; /* what the records take is charged to it */
    struct sta_log_records fetches, iterations;
};

void sta_training_log_init(struct sta_training_log *log, struct sta_account *account);
void sta_training_log_fini(struct sta_training_log *log);

/**
 * sta_training_log_add - take the next lines of a file; a last one without '\n' is a line too
 * @source: what became of the lines is added to its counts (events: fetches and iterations; other, blank,
 * malformed, lines, json_bytes: of the text) and notes
 * Return: 0, or of the account.
 */
STA_MUSTCHECK int sta_training_log_add(struct sta_training_log *log, const char *text, size_t size,
                                       struct sta_source *source, struct sta_error *err);
/** Numbers the epochs of the fetches, which the lines do not say: of each GPU, every (largest index + 1)
 * lines are an epoch, from 0.  Once, behind the last line. */
void sta_training_log_end(struct sta_training_log *log);

/** Whether a line is the heading of one of the tables. */
bool sta_is_training_heading(const char *line, size_t length);
/** Seconds as microseconds, rounded.  @seconds: 0 to STA_LOG_SECONDS */
int64_t sta_log_us(double seconds);
/** "YYYY-MM-DD HH:MM:SS[.f]", years 1900 to 2099, with 1 to 9 digits behind the point: microseconds since
 * 1970 (further digits are cut).  false: none. */
bool sta_log_time(const char *text, size_t length, int64_t *us);

#endif

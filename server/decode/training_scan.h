/* training_scan.h - a chunk of a training log, one of its tables or its configuration, as rows of the store
 * (private to decode). */
#ifndef STA_DECODE_TRAINING_SCAN_H
#define STA_DECODE_TRAINING_SCAN_H

#include "decode/lines.h"

/** Whether a file that begins so is a log, a table or a configuration of the data-loading simulation. */
bool sta_training_begins(const char *text, size_t size);

/** Whether files of a training are called so; what one holds is another matter. */
bool sta_has_training_name(const char *path);

/** By their paths, of files that begin so: whether one is a table, or the configuration; else it is a log. */
bool sta_is_derived_table(const char *path);
bool sta_is_configuration(const char *path);

struct sta_training_scanner; /* one thread's */

struct sta_training_scanner *sta_training_scanner_create(struct sta_tables *tables);
void sta_training_scanner_destroy(struct sta_training_scanner *scanner);

/**
 * sta_training_scan - lines into rows of @batch (appended)
 * A fetch is an event "fetch" of category dataload from its start to its end, pid its GPU and tid its worker;
 * an iteration an event "iteration" from the beginning of its stall.  Values stand in args as they are
 * written.  A configuration becomes the definition STA_TRAINING_CONF of a file, as JSON.  Of the tables that
 * join the GPUs, a start is an event "fetch_start" without duration, and a duration the definition of
 * STA_TRAINING_SECONDS with epoch, index and GPU.
 */
void sta_training_scan(struct sta_training_scanner *scanner, const struct sta_chunk_text *chunk,
                       const char *path, struct sta_batch *batch, struct sta_chunk_outcome *outcome);

#endif

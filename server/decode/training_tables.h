/* training_tables.h - the tables of a training log that join the GPUs in a row: how long each GPU's fetch of
 * a batch took, and when it began (private to decode).
 *
 *     ,Epoch,Index number,Fetch time (sec)_gpu0,Fetch time (sec)_gpu1,..,Batch fetch time diff (sec)
 *     ,Epoch,Index number,Start time_gpu0,Start time_gpu1,..,Batch fetch start time diff (sec)
 */
#ifndef STA_DECODE_TRAINING_TABLES_H
#define STA_DECODE_TRAINING_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/dictionary.h"

enum sta_joined_table { STA_JOINED_NONE, STA_JOINED_SECONDS, STA_JOINED_STARTS };

/** Which of them a file is by its path. */
enum sta_joined_table sta_joined_table_of(const char *path);
/** The path of the table that such a table was made of; free() it.  NULL: it is none. */
char *sta_table_made_of(const char *path);
bool sta_is_joined_heading(const char *line, size_t length);

struct sta_joined_row {
    int64_t epoch, index;
    uint32_t gpus;
    const char *next, *end; /* private */
};
/** Reads the front of a row.  Return: whether it has the form of one, with one GPU at least. */
bool sta_joined_row_begin(const char *line, size_t length, struct sta_joined_row *row);
/** The next GPU's cell; so many times as there are GPUs. */
struct sta_text sta_joined_row_cell(struct sta_joined_row *row);

#endif

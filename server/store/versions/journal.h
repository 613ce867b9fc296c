/* journal.h - what parts of a version to be have given so far, for whoever goes on after a crash (private to
 * the store).  FORMAT.md, "Journal", has the bytes. */
#ifndef STA_STORE_JOURNAL_H
#define STA_STORE_JOURNAL_H

#include "store/versions/writer.h"

/** Whether the folder has a journal of a writer that went on from @last, the published version (0: none).
 * Adds its files to those that @manifest names, so that they are not cleaned. */
void sta_journal_name_files(const char *folder, uint64_t last, struct sta_manifest *manifest);
/** Appends what a part has given.  Nothing without a journal.  @range: that was read of its source; NULL: its
 * sources were read whole. */
STA_MUSTCHECK int sta_journal_append(struct sta_writer *writer, const void *report, size_t size,
                                     const struct sta_source_range *range, struct sta_error *err);

/* How much of the tables the records have, so that each has what is new since the one before. */
struct sta_tables_marks {
    uint32_t threads;
    uint32_t dictionaries[6];
    uint32_t values[STA_ARGS_KEYS_LIMIT]; /* by args key */
};
/** Notes all that is there. */
void sta_tables_mark(const struct sta_tables *tables, struct sta_tables_marks *marks);
/** Appends what has come since the marks, and moves them.  Context: others may intern meanwhile. */
void sta_tables_put_new(struct sta_buffer *out, const struct sta_tables *tables,
                        struct sta_tables_marks *marks);
/** Interns it again.  Return: 0; STA_ECORRUPT when something gets another code; what a charge returns. */
STA_MUSTCHECK int sta_tables_get_new(struct sta_cursor *in, struct sta_tables *tables, struct sta_error *err);

#endif

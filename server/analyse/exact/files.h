/* files.h - how many distinct files the events of each row have, as a plan over the hash aggregation (private
 * to exact).
 *
 * Rows are (layer, key of the view, file, bin).  In a view by time the first bin of an event counts one more
 * event of the file, the bin behind the last one less, so that an event over many bins is two rows. */
#ifndef STA_ANALYSE_EXACT_FILES_H
#define STA_ANALYSE_EXACT_FILES_H

#include "analyse/exact/bins.h"
#include "analyse/exact/feed.h"
#include "analyse/exact/kinds.h"

struct sta_files {
    bool by_time;                     /* several bins */
    struct sta_files_recent **recent; /* by worker: what it took lately; most of it comes again at once */
    struct sta_feed feed;
};

/** @bins, @budget: borrowed.  Fini in any case. */
STA_MUSTCHECK int sta_files_init(struct sta_files *files, const struct sta_exact_bins *bins,
                                 const struct sta_budget *budget, struct sta_error *err);
void sta_files_fini(struct sta_files *files);
/** An event of a signature and key is about @file in the bins of @part. */
STA_MUSTCHECK int sta_files_take(struct sta_files *files, unsigned worker, const struct sta_kind *kind,
                                 uint32_t key, uint32_t file, const struct sta_exact_part *part,
                                 struct sta_error *err);
typedef void (*sta_files_add)(void *context, uint32_t layer, uint32_t key, size_t bin);
/** Calls @add once for each layer, key, bin and file of an event there.  No more events may come. */
STA_MUSTCHECK int sta_files_each(struct sta_files *files, sta_files_add add, void *context,
                                 struct sta_error *err);

/** Puts what has been seen, for another process.  No more events may come. */
STA_MUSTCHECK int sta_files_put(struct sta_files *files, struct sta_buffer *out, struct sta_error *err);
/* What the numbers of another process mean: layers, files and bins are those of the trace and the question.
 */
struct sta_files_names {
    uint32_t layer_count, file_count;
    size_t bin_count;
    /** Return: false: it has none of that number. */
    bool (*key_of)(const void *context, uint32_t theirs, uint32_t *key);
    const void *context;
};
/** Takes what another process has put.  Before sta_files_each.  Return: also STA_ECORRUPT. */
STA_MUSTCHECK int sta_files_take_other(struct sta_files *files, struct sta_cursor *in,
                                       const struct sta_files_names *names, struct sta_error *err);

#endif

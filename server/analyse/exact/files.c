/* Distinct files by layer, key and bin. */
#include "analyse/exact/files.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/sources/shared.h"
#include "common/memory.h"

/* Columns: keys, of which the last and the sum are there where there are several bins. */
enum { KEY_LAYER, KEY_VIEW, KEY_FILE, KEY_BIN, SUM_CHANGE, COLUMNS };

int sta_files_init(struct sta_files *files, const struct sta_exact_bins *bins,
                   const struct sta_budget *budget, struct sta_error *err)
{
    const unsigned workers = sta_budget_workers(budget);
    *files = (struct sta_files){.by_time = bins->count > 1};
    int rc = sta_feed_init(&files->feed, files->by_time ? SUM_CHANGE : KEY_BIN,
                           files->by_time ? COLUMNS - SUM_CHANGE : 0, budget, err);
    files->recent = sta_alloc_array(workers, sizeof *files->recent);
    for (unsigned w = 0; w < workers; w++) {
        files->recent[w] = sta_alloc(sizeof **files->recent);
        memset(files->recent[w], 0xff, sizeof **files->recent); /* no signature has this number */
    }
    return rc;
}

void sta_files_fini(struct sta_files *files)
{
    if (files->recent == NULL)
        return;
    for (unsigned w = 0; w < sta_budget_workers(files->feed.budget); w++)
        free(files->recent[w]);
    free(files->recent);
    sta_feed_fini(&files->feed);
}

/* ---- events */

static int put(struct sta_files *files, unsigned worker, uint32_t layer, uint32_t key, uint32_t file,
               size_t bin, int64_t change, struct sta_error *err)
{
    const int64_t row[STA_FEED_COLUMNS] = {[KEY_LAYER] = layer,
                                           [KEY_VIEW] = (uint32_t)(key + 1), /* a missing one is 0 */
                                           [KEY_FILE] = file,
                                           [KEY_BIN] = (int64_t)bin,
                                           [SUM_CHANGE] = change};
    return sta_feed_add(&files->feed, worker, row, err);
}

int sta_files_take(struct sta_files *files, unsigned worker, const struct sta_event_signature *of,
                   uint32_t key, uint32_t file, size_t low, size_t high, struct sta_error *err)
{
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < of->layer_count; i++) {
        rc = put(files, worker, of->layers[i], key, file, low, 1, err);
        if (rc == 0 && files->by_time)
            rc = put(files, worker, of->layers[i], key, file, high + 1, -1, err);
    }
    return rc;
}

/* ---- groups */

/* Where one goes through the bins of a file. */
struct run {
    int64_t layer, key, file;
    size_t bin;     /* the first that nothing was added for */
    int64_t events; /* of the file in the bins from there on */
};

static int add_bins(const struct sta_files *files, struct run *run, size_t end, sta_files_add add,
                    void *context, struct sta_error *err)
{
    int rc = STA_OK;
    for (; rc == 0 && run->events > 0 && run->bin < end; run->bin++) {
        add(context, (uint32_t)run->layer, (uint32_t)run->key - 1, run->bin);
        rc = sta_budget_check_step(files->feed.budget, run->bin, err);
    }
    run->bin = end;
    return rc;
}

int sta_files_each(struct sta_files *files, sta_files_add add, void *context, struct sta_error *err)
{
    const struct sta_feed *feed = &files->feed;
    struct run run = {0};
    int rc = sta_feed_end(&files->feed, err);
    for (size_t g = 0; rc == 0 && g < feed->groups.rows; g++) {
        const struct sta_feed_group group = sta_feed_group(feed, g);
        const int64_t layer = group.columns[KEY_LAYER], key = group.columns[KEY_VIEW],
                      file = group.columns[KEY_FILE];
        const size_t bin = files->by_time ? (size_t)group.columns[KEY_BIN] : 1;
        if (layer != run.layer || key != run.key || file != run.file || !files->by_time)
            run = (struct run){layer, key, file, files->by_time ? bin : 0, !files->by_time};
        rc = add_bins(files, &run, bin, add, context, err);
        run.events += group.columns[SUM_CHANGE];
        if (rc == 0)
            rc = sta_budget_check_step(feed->budget, g, err);
    }
    return rc;
}

/* ---- groups of other processes */

static int take_group(struct sta_files *files, const struct sta_feed_group *group,
                      const struct sta_files_names *names, struct sta_error *err)
{
    const int64_t layer = group->columns[KEY_LAYER], key = group->columns[KEY_VIEW],
                  file = group->columns[KEY_FILE], bin = group->columns[KEY_BIN];
    const bool known = layer >= 0 && layer < names->layer_count && file >= 0 && file < names->file_count &&
                       key >= 0 && key <= UINT32_MAX && bin >= 0 && bin <= (int64_t)names->bin_count;
    uint32_t here;
    if (!known || !names->key_of(names->context, (uint32_t)key - 1, &here))
        return sta_shared_fail(err);
    return put(files, 0, (uint32_t)layer, here, (uint32_t)file, (size_t)bin, group->columns[SUM_CHANGE], err);
}

int sta_files_take_other(struct sta_files *files, struct sta_cursor *in, const struct sta_files_names *names,
                         struct sta_error *err)
{
    const uint64_t count = sta_get_varint(in);
    int rc = STA_OK;
    for (uint64_t g = 0; rc == 0 && g < count; g++) {
        const struct sta_feed_group group = sta_feed_get(&files->feed, in);
        rc = in->failed ? sta_shared_fail(err) : take_group(files, &group, names, err);
        if (rc == 0)
            rc = sta_budget_check_step(files->feed.budget, g, err);
    }
    return rc;
}

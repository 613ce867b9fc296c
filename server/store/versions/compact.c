/* compact.c - which segments of a version are merged, and publishing the result.
 *
 * DESIGN: a run is a row of segments, in the manifest's order, of which each begins where the one before it
 * ends, and all but the last are at least half full.  Merging makes one run of several, always the newest
 * ones: they keep their place behind the older, on which the order of rows of equal times rests.  A run is
 * taken in unless it is RATIO times as large as all newer ones together, so that a row is written again only
 * when what it is merged with has grown by that: log(rows) times for any number of refreshes.
 *
 * A refresh cancels a compaction of its trace, so that refreshes which follow each other without a pause
 * would keep it from ever ending: then they merge what they find themselves, as long as that is little. */
#include <stdlib.h>
#include "common/memory.h"
#include "store/versions/merge.h"
#include "store/versions/writer.h"

#define COMPACT_ROWS (256 * 1024)       /* of a segment that is made */
#define COMPACT_MOST_ROWS (1024 * 1024) /* .. when many sources share it */
#define ROWS_PER_SOURCE 16              /* so that the list of its chunks stays small beside the rows */
#define RUNS 8                          /* are merged */
#define REFRESH_RUNS 32                 /* .. by a refresh itself, if nothing else came to it */
#define REFRESH_ROWS COMPACT_ROWS       /* that it merges at most */
#define RATIO 4

static int64_t last_ts(const struct sta_open_segment *open)
{
    return open->segment.row_groups[open->segment.header.row_group_count - 1].ts_max * open->factor;
}

static int64_t first_ts(const struct sta_open_segment *open)
{
    return open->segment.ts_min * open->factor;
}

/* First segment of the run that ends before segment @end. */
static uint32_t run_before(const struct sta_snapshot *snapshot, uint32_t end, uint64_t *rows)
{
    uint32_t first = end - 1;
    *rows = snapshot->segments[first].segment.header.rows;
    while (first > 0 && snapshot->segments[first - 1].segment.header.rows >= COMPACT_ROWS / 2 &&
           last_ts(&snapshot->segments[first - 1]) <= first_ts(&snapshot->segments[first])) {
        first--;
        *rows += snapshot->segments[first].segment.header.rows;
    }
    return first;
}

struct rule {
    bool all;           /* whatever the ratio */
    uint32_t least;     /* runs */
    uint64_t most_rows; /* of all together */
};

/* First of the newest segments that the rule merges; as many as there are: none. */
static uint32_t first_by(const struct sta_snapshot *snapshot, struct rule rule)
{
    uint64_t rows, sum = 0;
    uint32_t runs = 0, first = snapshot->segment_count;
    while (first > 0) {
        const uint32_t before = run_before(snapshot, first, &rows);
        if ((!rule.all && runs > 0 && rows > RATIO * sum) || sum + rows > rule.most_rows)
            break;
        first = before;
        sum += rows;
        runs++;
    }
    return runs >= rule.least ? first : snapshot->segment_count;
}

static uint32_t first_to_merge(const struct sta_snapshot *snapshot, bool all)
{
    return first_by(snapshot, (struct rule){.all = all, .least = all ? 2 : RUNS, .most_rows = UINT64_MAX});
}

uint32_t sta_refresh_merges_from(const struct sta_snapshot *snapshot)
{
    return first_by(snapshot, (struct rule){.least = REFRESH_RUNS, .most_rows = REFRESH_ROWS});
}

bool sta_snapshot_is_fragmented(const struct sta_snapshot *snapshot)
{
    return snapshot->info.damaged == 0 && first_to_merge(snapshot, false) < snapshot->segment_count;
}

struct compacting {
    const struct sta_compaction *options;
    struct sta_writer *writer;
    uint64_t total;
};

static int on_step(void *context, uint64_t rows, struct sta_error *err)
{
    const struct compacting *compacting = context;
    return compacting->options->step(compacting->options->context, rows, compacting->total, err);
}

static int on_segment(void *context, const struct sta_buffer *bytes, uint32_t rows, struct sta_error *err)
{
    const struct compacting *compacting = context;
    return sta_writer_put_segment(compacting->writer, bytes, rows, err);
}

static int merge(struct compacting *compacting, struct sta_snapshot *base, uint32_t first,
                 struct sta_error *err)
{
    const size_t for_sources = STA_MIN(base->source_count * ROWS_PER_SOURCE, (size_t)COMPACT_MOST_ROWS);
    const struct sta_merge options = {.base = base,
                                      .first = first,
                                      .count = base->segment_count - first,
                                      .rows = STA_MAX(COMPACT_ROWS, (uint32_t)for_sources),
                                      .account = compacting->options->account,
                                      .step = on_step,
                                      .take = on_segment,
                                      .context = compacting};
    for (uint32_t s = first; s < base->segment_count; s++)
        compacting->total += base->segments[s].segment.header.rows;
    for (uint32_t s = 0; s < first; s++)
        sta_writer_name_segment(compacting->writer, base->segments[s].named);
    return sta_merge_run(&options, err);
}

int sta_store_compact(struct sta_store *store, const char *trace, struct sta_snapshot *base,
                      const struct sta_compaction *compaction, bool *merged, struct sta_error *err)
{
    struct compacting compacting = {.options = compaction};
    const struct sta_writer_options options = {.workers = 1, .account = compaction->account};
    const uint32_t first = first_to_merge(base, compaction->all);
    *merged = false;
    if (base->info.damaged > 0 || first == base->segment_count)
        return STA_OK;
    int status = sta_writer_begin_same(store, trace, base, &options, &compacting.writer, err);
    if (status == STA_OK) {
        status = merge(&compacting, base, first, err);
        if (status == STA_OK)
            status = sta_writer_publish(compacting.writer, err);
        else
            sta_writer_abort(compacting.writer);
    }
    *merged = status == STA_OK;
    return status == STA_OK ? STA_OK : sta_error_wrap(err, "cannot compact trace %s", trace);
}

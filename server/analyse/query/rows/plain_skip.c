/* Going to a row of plain events by its number, without reading what is shown of those before it.
 *
 * DESIGN.  One pass counts the rows of each trace in some thousand bins of time; the bin that the row lies in
 * tells the time to begin at, and how many rows of that bin come first.  Those few are read and passed over.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "analyse/query/rows/plain_private.h"
#include "common/memory.h"

#define BINS 4096u /* of each trace */

struct trace_bins {
    int64_t low, high; /* ticks of its row groups; low > high: it has none */
    _Atomic uint64_t rows[BINS];
};

static uint64_t bin_width(const struct trace_bins *bins)
{
    return ((uint64_t)bins->high - (uint64_t)bins->low) / BINS + 1;
}

static void find_ranges(const struct sta_pipeline *pipeline, struct trace_bins *bins)
{
    for (size_t i = 0; i < pipeline->events->trace_count; i++)
        bins[i].low = INT64_MAX, bins[i].high = INT64_MIN;
    for (size_t i = 0; i < pipeline->part_count; i++) {
        struct trace_bins *of_trace = &bins[pipeline->parts[i].trace];
        const struct sta_row_group *row_group = sta_pipeline_row_group(pipeline, i);
        of_trace->low = STA_MIN(of_trace->low, row_group->ts_min);
        of_trace->high = STA_MAX(of_trace->high, row_group->ts_max);
    }
}

/* Rows that follow each other mostly share a bin: it is added to once for all of them. */
static int count_part(void *self, unsigned worker, struct sta_pipeline_state *state, struct sta_error *err)
{
    struct trace_bins *bins = (struct trace_bins *)self + state->trace;
    const uint64_t width = bin_width(bins);
    struct sta_pipeline_state_order order;
    uint64_t bin = 0, rows = 0;
    int rc = sta_pipeline_state_order(state, &order, err);
    for (uint32_t i = 0; rc == 0 && i < state->count; i++) {
        const uint32_t row = state->selected != NULL ? state->selected[i] : i;
        const uint64_t its = ((uint64_t)order.at[row] - (uint64_t)bins->low) / width;
        if (its != bin) {
            atomic_fetch_add_explicit(&bins->rows[bin], rows, memory_order_relaxed);
            bin = its;
            rows = 0;
        }
        rows++;
    }
    atomic_fetch_add_explicit(&bins->rows[bin], rows, memory_order_relaxed);
    return rc;
}

/* Begins the reader at the bin of row number reader->skip, which is counted from there on afterwards. */
static void begin_at(struct sta_plain_reader *reader, struct trace_bins *bins)
{
    const size_t traces = reader->plain->pipeline->events->trace_count;
    for (size_t trace = 0; trace < traces; trace++)
        for (uint64_t bin = 0; bin < BINS && bins[trace].low <= bins[trace].high; bin++) {
            if (reader->skip < bins[trace].rows[bin]) {
                reader->trace = (uint32_t)trace;
                reader->from = (int64_t)((uint64_t)bins[trace].low + bin * bin_width(&bins[trace]));
                return;
            }
            reader->skip -= bins[trace].rows[bin];
        }
    reader->trace = (uint32_t)traces; /* behind the last row */
}

int sta_plain_seek(struct sta_plain_reader *reader, struct sta_error *err)
{
    const struct sta_pipeline *pipeline = reader->plain->pipeline;
    struct trace_bins *bins = sta_alloc_array(pipeline->events->trace_count, sizeof *bins);
    struct sta_pipeline_visitor visitor = {.self = bins, .visit = count_part};
    find_ranges(pipeline, bins);
    int rc = sta_pipeline_run(pipeline, &visitor, NULL, &reader->budget, err);
    if (rc == 0)
        begin_at(reader, bins);
    free(bins);
    return rc;
}

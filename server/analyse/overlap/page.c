/* The page that DFTracer 1.0.8's analyser prints: the same lines in the same order (overlap.md
 * section 4).  Nodes, processes and files are those of the trace. */
#include <string.h>

#include "analyse/views/bound_query.h"
#include "common/buffer.h"
#include "common/memory.h"

static long long count_of(const struct sta_overlap_result *result, const char *name)
{
    const size_t i = sta_facts_find(&result->facts, name);
    STA_ASSERT(i < result->facts.count);
    return result->facts.items[i].integer;
}

/* 93894 is 94K. */
static void put_rounded(struct sta_buffer *page, int64_t count)
{
    static const char units[] = {'\0', 'K', 'M', 'B', 'T'};
    double value = (double)count;
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < sizeof units) {
        value /= 1000;
        unit++;
    }
    sta_put_format(page, "%.0f", value);
    if (units[unit] != '\0')
        sta_put_char(page, units[unit]);
}

static int64_t threads_of(const struct sta_overlap_result *result, const char *phase)
{
    const struct sta_table_column *names = sta_table_find(&result->phases, "name");
    const struct sta_table_column *threads = sta_table_find(&result->phases, "threads");
    for (size_t row = 0; row < result->phases.rows; row++)
        if (strcmp(names->texts[row].bytes, phase) == 0)
            return threads->integers[row];
    return 0;
}

static void put_allocation(struct sta_buffer *page, const struct sta_overlap_result *result)
{
    sta_put_text(page, "Summary\nAllocation    Scheduler Allocation Details\n");
    sta_put_format(page, "├── Nodes: %lld\n", count_of(result, "hosts"));
    sta_put_format(page, "├── Processes: %lld\n", count_of(result, "processes"));
    sta_put_text(page, "├── Thread allocations across nodes (includes dynamically created threads)\n");
    sta_put_format(page, "│   ├── Compute: %lld\n", (long long)threads_of(result, "compute"));
    sta_put_format(page, "│   └── I/O: %lld\n", (long long)threads_of(result, "io"));
    sta_put_text(page, "└── Events Recorded: ");
    put_rounded(page, count_of(result, "events"));
    sta_put_text(page, "\nDataset       Description of Dataset Used\n");
    sta_put_format(page, "└── Files: %lld\n", count_of(result, "files"));
}

static void put_times(struct sta_buffer *page, const struct sta_overlap_result *result)
{
    const struct sta_table *lines = &result->per_scope;
    const struct sta_table_column *printed = sta_table_find(lines, "printed");
    const struct sta_table_column *time = sta_table_find(lines, "time");
    const struct sta_table_column *shown = sta_table_find(lines, "shown");
    size_t last = 0;
    for (size_t i = 0; i < lines->rows; i++)
        last = shown->integers[i] ? i : last;
    for (size_t i = 0; i <= last; i++)
        if (shown->integers[i])
            sta_put_format(page, "    %s %s: %.3f sec\n", i == last ? "└──" : "├──", printed->texts[i].bytes,
                           time->numbers[i]);
}

char *sta_overlap_page(const struct sta_overlap_result *result)
{
    struct sta_buffer page;
    sta_buffer_init(&page);
    put_allocation(&page, result);
    sta_put_text(&page, "I/O Behavior  Behavior of Application\n└── Split of Time in application\n");
    put_times(&page, result);
    return sta_buffer_take_text(&page);
}

/* What is said of a trace beside every table. */
#include <string.h>

#include "analyse/views/bound_query.h"

#include "common/memory.h"

static struct sta_fact *add_fact(struct sta_facts *facts, const char *name)
{
    STA_ASSERT(facts->count < STA_COUNT_OF(facts->items));
    struct sta_fact *fact = &facts->items[facts->count++];
    *fact = (struct sta_fact){.name = name};
    return fact;
}

void sta_facts_int(struct sta_facts *facts, const char *name, int64_t value)
{
    add_fact(facts, name)->integer = value;
}

void sta_facts_number(struct sta_facts *facts, const char *name, const char *unit, double value)
{
    struct sta_fact *fact = add_fact(facts, name);
    fact->is_number = true;
    fact->number = value;
    fact->unit = unit;
}

size_t sta_facts_find(const struct sta_facts *facts, const char *name)
{
    size_t i = 0;
    while (i < facts->count && strcmp(facts->items[i].name, name) != 0)
        i++;
    return i;
}

void sta_facts_of_sums(struct sta_facts *facts, const struct sta_table *table)
{
    uint64_t cells = 0;
    for (size_t c = 0; c < table->column_count; c++)
        cells += table->columns[c].too_large;
    if (cells == 0)
        return;
    const size_t known = sta_facts_find(facts, "sums_too_large");
    if (known < facts->count)
        facts->items[known].integer += (int64_t)cells;
    else
        sta_facts_int(facts, "sums_too_large", (int64_t)cells);
}

void sta_fate_counts_add(struct sta_fate_counts *counts, enum sta_fate fate, size_t layers, int64_t events)
{
    counts->filtered_by_file += fate == STA_FATE_FILE ? events : 0;
    counts->filtered_by_function += fate == STA_FATE_FUNCTION ? events : 0;
    counts->unmatched += fate == STA_FATE_KEPT && layers == 0 ? events : 0;
    counts->multiple += layers > 1 ? events : 0;
}

void sta_facts_of_fates(struct sta_facts *facts, const struct sta_fate_counts *counts)
{
    sta_facts_int(facts, "filtered", counts->filtered_by_file + counts->filtered_by_function);
    sta_facts_int(facts, "filtered_by_file", counts->filtered_by_file);
    sta_facts_int(facts, "filtered_by_function", counts->filtered_by_function);
    sta_facts_int(facts, "unmatched", counts->unmatched);
    sta_facts_int(facts, "multiple", counts->multiple);
}

double sta_seconds(int64_t ticks, int64_t ticks_per_us)
{
    return (double)ticks / (1e6 * (double)ticks_per_us);
}

int64_t sta_last_start(const struct sta_snapshot *snapshot)
{
    int64_t last = 0;
    for (size_t i = 0; i < sta_snapshot_row_group_count(snapshot); i++)
        last = STA_MAX(last, sta_snapshot_row_group(snapshot, i)->ts_max);
    return last;
}

int64_t sta_job_ticks(const struct sta_snapshot *snapshot)
{
    return sta_snapshot_info(snapshot)->end_ticks;
}

void sta_facts_of_trace(struct sta_facts *facts, const struct sta_snapshot *snapshot)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(snapshot);
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    sta_facts_number(facts, "job_time", "s", sta_seconds(sta_job_ticks(snapshot), info->ticks_per_us));
    sta_facts_int(facts, "events", (int64_t)info->events);
    sta_facts_int(facts, "hosts", entities->host_count);
    sta_facts_int(facts, "processes", entities->process_count);
    sta_facts_int(facts, "threads", entities->thread_count);
    sta_facts_int(facts, "files", entities->file_count);
}

/* What the statistics of a row group say of logical columns: how filters leave out row groups that no row of
 * can satisfy them. */
#include <math.h>

#include "analyse/sources/columns_private.h"
#include "common/memory.h"

struct range {
    double low, high; /* low > high: no row has a value */
};

static const struct range no_value = {INFINITY, -INFINITY};

static void unite(struct range *range, struct range other)
{
    range->low = fmin(range->low, other.low);
    range->high = fmax(range->high, other.high);
}

/* ---- numbers */

/* The integers behind ts, te or dur. */
static bool range_of_ticks(const struct sta_columns *columns, const struct sta_row_group *row_group,
                           uint32_t column, struct range *range)
{
    double scale = (double)columns->scale;
    struct sta_column_stats stats;
    if (column == STA_LOGICAL_ts_ticks) {
        *range = (struct range){(double)row_group->ts_min * scale, (double)row_group->ts_max * scale};
        return true;
    }
    if (column == STA_LOGICAL_te_ticks) {
        *range = (struct range){-INFINITY, (double)row_group->te_max * scale};
        return true;
    }
    sta_row_group_stats(columns->snapshot, row_group, STA_COLUMN_DUR, &stats);
    *range = (struct range){(double)stats.min * scale, (double)stats.max * scale};
    return stats.bounded;
}

/* pid or tid, by the threads that are listed. */
static bool range_of_id(const struct sta_columns *columns, const struct sta_row_group *row_group, bool tid,
                        struct range *range)
{
    const struct sta_entities *entities = columns->entities;
    struct sta_column_stats stats;
    sta_row_group_stats(columns->snapshot, row_group, STA_COLUMN_THREAD, &stats);
    if (!stats.listed)
        return false;
    *range = no_value;
    for (uint32_t i = 0; i < stats.code_count; i++) {
        uint32_t thread =
            stats.codes[i] < entities->thread_code_count ? entities->thread_of_code[stats.codes[i]] : 0;
        if (thread >= entities->thread_count)
            continue;
        int64_t id = tid ? entities->threads[thread].tid : entities->threads[thread].pid;
        if (id != STA_NO_ID)
            unite(range, (struct range){(double)id, (double)id});
    }
    return true;
}

/* Integers of an args key as they are stored. */
static bool range_of_key(const struct sta_columns *columns, const struct sta_row_group *row_group,
                         uint32_t key, struct range *range)
{
    struct sta_column_stats stats;
    *range = no_value;
    if (key == STA_NO_CODE)
        return true;
    sta_row_group_stats(columns->snapshot, row_group, STA_COLUMN_ARGS + key, &stats);
    if (stats.kind == STA_KIND_ABSENT)
        return true;
    *range = (struct range){(double)stats.min, (double)stats.max};
    return stats.kind == STA_KIND_INT && stats.bounded;
}

/* Positive integers of a key: what is not positive counts as missing. */
static bool add_positives(const struct sta_columns *columns, const struct sta_row_group *row_group,
                          enum sta_positive which, struct range *range)
{
    struct range stored;
    if (!range_of_key(columns, row_group, columns->positives[which].key, &stored))
        return false;
    if (stored.high >= 1)
        unite(range, (struct range){fmax(stored.low, 1), stored.high});
    return true;
}

static bool range_of_args(const struct sta_columns *columns, const struct sta_row_group *row_group,
                          uint32_t column, struct range *range)
{
    const struct sta_args_source *source = &columns->args[column - STA_LOGICAL_ARGS];
    return source->kind == 0 && range_of_key(columns, row_group, source->key, range);
}

static bool range_of(const struct sta_columns *columns, const struct sta_row_group *row_group,
                     uint32_t column, struct range *range)
{
    *range = no_value;
    switch (column) {
    case STA_LOGICAL_ts_ticks:
    case STA_LOGICAL_te_ticks:
    case STA_LOGICAL_dur_ticks:
        return range_of_ticks(columns, row_group, column, range);
    case STA_LOGICAL_pid:
    case STA_LOGICAL_tid:
        return range_of_id(columns, row_group, column == STA_LOGICAL_tid, range);
    default:
        if (column >= STA_LOGICAL_ARGS)
            return range_of_args(columns, row_group, column, range);
    }
    const struct sta_positive_rule *rule = sta_positive_rule_of(column);
    return rule != NULL && add_positives(columns, row_group, rule->first, range) &&
           add_positives(columns, row_group, rule->second, range);
}

const struct sta_time_columns sta_time_columns[STA_TIMES] = {
    {STA_LOGICAL_ts, STA_LOGICAL_time_start, STA_LOGICAL_ts_ticks},
    {STA_LOGICAL_te, STA_LOGICAL_time_end, STA_LOGICAL_te_ticks},
    {STA_LOGICAL_dur, STA_LOGICAL_time, STA_LOGICAL_dur_ticks}};

uint32_t sta_columns_ticks_of(const struct sta_columns *columns, uint32_t column, double *per_unit)
{
    const double us = (double)columns->ticks_per_us;
    for (size_t i = 0; i < STA_TIMES; i++) {
        const struct sta_time_columns *time = &sta_time_columns[i];
        if (column != time->us && column != time->s)
            continue;
        *per_unit = column == time->s ? 1e6 * us : us;
        return time->ticks;
    }
    *per_unit = 1;
    return column;
}

bool sta_columns_range(const struct sta_columns *columns, const struct sta_row_group *row_group,
                       uint32_t column, double *low, double *high)
{
    struct range range;
    double per_unit;
    uint32_t counted = sta_columns_ticks_of(columns, column, &per_unit);
    bool known = range_of(columns, row_group, counted, &range);
    *low = range.low / per_unit;
    *high = range.high / per_unit;
    return known;
}

/* ---- texts */

bool sta_columns_physical_of(const struct sta_columns *columns, uint32_t column, uint32_t *physical)
{
    static const uint8_t of_standard[STA_LOGICAL_ARGS] = {
        [STA_LOGICAL_func_name] = STA_COLUMN_NAME,
        [STA_LOGICAL_cat] = STA_COLUMN_CAT,
        [STA_LOGICAL_file_name] = STA_COLUMN_FILE,
        [STA_LOGICAL_host_name] = STA_COLUMN_THREAD,
        [STA_LOGICAL_proc_name] = STA_COLUMN_THREAD}; /* others have 0, of ticks */
    if (column < STA_LOGICAL_ARGS) {
        *physical = of_standard[column];
        return *physical != 0 && (column != STA_LOGICAL_cat || columns->refiner == NULL);
    }
    const struct sta_args_source *source = &columns->args[column - STA_LOGICAL_ARGS];
    *physical = STA_COLUMN_ARGS + source->key;
    return source->kind == 0 && source->own == NULL;
}

bool sta_columns_codes(const struct sta_columns *columns, const struct sta_row_group *row_group,
                       uint32_t column, struct sta_row_group_codes *codes)
{
    static const uint32_t zero; /* the label of the trace; or space for no code at all */
    struct sta_column_stats stats;
    uint32_t physical;
    if (column == STA_LOGICAL_trace) {
        *codes = (struct sta_row_group_codes){.listed = &zero, .count = sta_dictionary_count(columns->trace)};
        return true;
    }
    if (!sta_columns_physical_of(columns, column, &physical))
        return false;
    sta_row_group_stats(columns->snapshot, row_group, physical, &stats);
    *codes = (struct sta_row_group_codes){.listed = stats.codes, .count = stats.code_count};
    codes->missing = stats.missing > 0;
    if (stats.kind == STA_KIND_ABSENT) {
        *codes = (struct sta_row_group_codes){.listed = &zero, .missing = true};
        return true;
    }
    if (stats.listed)
        return true;
    codes->listed = NULL;
    codes->first = (uint32_t)stats.min;
    codes->last = (uint32_t)stats.max;
    return stats.kind == STA_KIND_CODE && stats.bounded;
}

uint32_t sta_columns_code_count(const struct sta_columns *columns, uint32_t column)
{
    uint32_t physical;
    if (column == STA_LOGICAL_trace)
        return sta_dictionary_count(columns->trace);
    if (!sta_columns_physical_of(columns, column, &physical))
        return 0;
    if (physical == STA_COLUMN_FILE)
        return columns->entities->file_ref_count;
    if (physical == STA_COLUMN_THREAD)
        return columns->entities->thread_code_count;
    return sta_dictionary_count(sta_columns_texts(columns, column));
}

uint32_t sta_columns_text_of_code(const struct sta_columns *columns, uint32_t column, uint32_t code)
{
    if (column == STA_LOGICAL_file_name)
        return columns->entities->file_of_ref[code];
    if (column == STA_LOGICAL_host_name)
        return columns->entities->host_of_thread[code + 1];
    if (column != STA_LOGICAL_proc_name)
        return code;
    const struct sta_proc_names *names = sta_columns_proc_names((struct sta_columns *)columns);
    return names->of_thread != NULL ? names->of_thread[code + 1] : STA_NO_CODE;
}

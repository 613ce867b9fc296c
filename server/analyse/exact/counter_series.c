/* Counters as a list, and over bins of time. */
#include "analyse/facade/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exact/counter_samples.h"
#include "analyse/exact/choice.h"
#include "analyse/views/bound_query.h"
#include "common/map.h"
#include "common/memory.h"

#define MOST_NAMES 20 /* that a mistake lists */

/* What samples side by side say. */
struct figures {
    int64_t count;
    double sum, min, max;
};

static void add_figures(struct figures *figures, double value)
{
    figures->min = figures->count == 0 ? value : fmin(figures->min, value);
    figures->max = figures->count == 0 ? value : fmax(figures->max, value);
    figures->sum += value;
    figures->count++;
}

/* ---- the list */

static void put_counter(const struct sta_samples *samples, size_t from, size_t to, double ticks,
                        struct sta_table *table, size_t row)
{
    struct sta_table_column *columns = table->columns;
    const struct sta_text name = sta_dictionary_text(samples->names, samples->items[from].counter);
    struct figures figures = {0};
    struct sta_map processes;
    int64_t process_count = 0;
    uint32_t known;
    sta_map_init(&processes);
    for (size_t i = from; i < to; i++) {
        add_figures(&figures, samples->items[i].value);
        if (!sta_map_find(&processes, samples->items[i].process, &known)) {
            sta_map_put(&processes, samples->items[i].process, 0);
            process_count++;
        }
    }
    sta_map_fini(&processes);
    sta_table_set_text(table, &columns[0], row, name.bytes, name.length);
    sta_table_set_int(&columns[1], row, figures.count);
    sta_table_set_int(&columns[2], row, process_count);
    sta_table_set_number(&columns[3], row, (double)samples->items[from].at / ticks);
    sta_table_set_number(&columns[4], row, (double)samples->items[to - 1].at / ticks);
    sta_table_set_number(&columns[5], row, figures.min);
    sta_table_set_number(&columns[6], row, figures.max);
    sta_table_set_number(&columns[7], row, figures.sum / (double)figures.count);
}

static size_t end_of_counter(const struct sta_samples *samples, size_t from)
{
    size_t to = from;
    while (to < samples->count && samples->items[to].counter == samples->items[from].counter)
        to++;
    return to;
}

static void put_list(const struct sta_samples *samples, double ticks, const struct sta_budget *budget,
                     struct sta_table *table)
{
    static const struct sta_column_info columns[] = {
        {"counter", NULL, STA_TYPE_TEXT}, {"records", NULL, STA_TYPE_INT}, {"processes", NULL, STA_TYPE_INT},
        {"first", "s", STA_TYPE_FLOAT},   {"last", "s", STA_TYPE_FLOAT},   {"min", NULL, STA_TYPE_FLOAT},
        {"max", NULL, STA_TYPE_FLOAT},    {"mean", NULL, STA_TYPE_FLOAT}};
    size_t rows = 0;
    for (size_t at = 0; at < samples->count; at = end_of_counter(samples, at))
        rows++;
    sta_table_init(table, rows);
    sta_table_count_in(table, budget->account);
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
    for (size_t at = 0, row = 0; at < samples->count; row++) {
        const size_t end = end_of_counter(samples, at);
        put_counter(samples, at, end, ticks, table, row);
        at = end;
    }
}

int sta_counters_list(const struct sta_snapshot *snapshot, const struct sta_budget *budget,
                      struct sta_table *table, struct sta_error *err)
{
    struct sta_samples samples;
    int rc = sta_samples_read(&samples, snapshot, INT64_MIN, INT64_MAX, budget, err);
    if (rc == 0)
        put_list(&samples, 1e6 * (double)sta_snapshot_info(snapshot)->ticks_per_us, budget, table);
    sta_samples_fini(&samples);
    return rc;
}

/* ---- the series */

/* The samples of a counter: from .. to; none when there is no such counter. */
static bool find_counter(const struct sta_samples *samples, const char *counter, size_t *from, size_t *to)
{
    const uint32_t code = sta_dictionary_find(samples->names, counter, strlen(counter));
    if (code == STA_NO_CODE)
        return false;
    for (*from = 0; *from < samples->count && samples->items[*from].counter != code;)
        *from = end_of_counter(samples, *from);
    *to = end_of_counter(samples, *from);
    return true;
}

/* Columns of a counter.  Return: false when there is one of such a name already. */
static bool add_columns(const char *counter, struct sta_table *table)
{
    static const char *const suffixes[] = {"", "_min", "_max"};
    bool added = true;
    for (size_t i = 0; i < STA_COUNT_OF(suffixes) && added; i++) {
        char *name = sta_sprintf("%s%s", counter, suffixes[i]);
        added = sta_table_find(table, name) == NULL;
        if (added)
            sta_table_add(table, name, STA_TYPE_FLOAT, NULL);
        free(name);
    }
    return added;
}

/* Fills the last three columns. */
static void put_series(const struct sta_samples *samples, const struct sta_exact_bins *bins, size_t from,
                       size_t to, struct sta_table *table)
{
    const size_t first = table->column_count - 3;
    for (size_t i = from; i < to;) {
        const size_t bin = sta_bin_of(bins, samples->items[i].at);
        struct figures figures = {0};
        for (; i < to && sta_bin_of(bins, samples->items[i].at) == bin; i++)
            add_figures(&figures, samples->items[i].value);
        sta_table_set_number(&table->columns[first], bin, figures.sum / (double)figures.count);
        sta_table_set_number(&table->columns[first + 1], bin, figures.min);
        sta_table_set_number(&table->columns[first + 2], bin, figures.max);
    }
}

static int fail_counter(const struct sta_samples *samples, const char *counter, struct sta_error *err)
{
    struct sta_buffer names;
    uint32_t count;
    uint32_t *order = sta_dictionary_ranks(samples->names, samples->account, &count, err);
    if (order == NULL)
        return err->status;
    sta_buffer_init(&names);
    for (uint32_t rank = 0, code; rank < STA_MIN(count, MOST_NAMES); rank++) {
        for (code = 0; order[code] != rank;)
            code++;
        const struct sta_text name = sta_dictionary_text(samples->names, code);
        sta_put_format(&names, "%s%.*s", rank > 0 ? ", " : "", (int)STA_MIN(name.length, 60), name.bytes);
    }
    sta_account_free(samples->account, order);
    sta_put_char(&names, '\0');
    sta_fail_at(err, STA_EINPUT, "/counter", "The trace has no counter %.60s; %s%s", counter,
                count > 0 ? "it has: " : "it has none at all", names.failed ? "" : names.data);
    sta_buffer_fini(&names);
    return err->status;
}

static int make_series(const struct sta_samples *samples, const struct sta_exact_bins *bins,
                       const char *const *counters, size_t count, struct sta_table *table,
                       struct sta_error *err)
{
    for (size_t c = 0; c < count; c++) {
        size_t from, to;
        if (!find_counter(samples, counters[c], &from, &to))
            return fail_counter(samples, counters[c], err);
        if (!add_columns(counters[c], table))
            return sta_fail_at(err, STA_EINPUT, "/counter",
                               "The counter %.60s is named twice, or like another column", counters[c]);
        put_series(samples, bins, from, to, table);
    }
    return 0;
}

static int run(const struct sta_bound_query *bound, const struct sta_series *asked,
               const char *const *counters, size_t count, const struct sta_budget *budget,
               struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    struct sta_exact_bins bins;
    struct sta_samples samples = {0};
    int rc = sta_exact_series_bins(bound, asked, &bins, err);
    if (rc == 0)
        rc = sta_samples_read(&samples, bound->query->snapshot, bins.from, bins.to, budget, err);
    if (rc == 0) {
        sta_table_init(table, bins.count);
        sta_table_count_in(table, budget->account);
        sta_exact_put_bins(&bins, bound->ticks_per_us, table);
        rc = make_series(&samples, &bins, counters, count, table, err);
        if (rc != 0)
            sta_table_fini(table);
    }
    if (rc == 0) {
        sta_facts_of_trace(facts, bound->query->snapshot);
        sta_facts_number(facts, "granularity", "s", sta_seconds(bins.g, bound->ticks_per_us));
    }
    sta_samples_fini(&samples);
    return rc;
}

int sta_counter_series(const struct sta_view_query *query, const struct sta_series *asked,
                       const char *const *counters, size_t count, const struct sta_budget *budget,
                       struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    struct sta_bound_query bound;
    facts->count = 0;
    int rc = sta_view_query_bind(&bound, query, err);
    if (rc == 0)
        rc = run(&bound, asked, counters, count, budget, table, facts, err);
    sta_bound_query_release(&bound);
    return rc;
}

/* Counters as a list, and over bins of time.
 *
 * All counter records are read.  Which worker wrote them when the trace was read makes no difference: they
 * are sorted, and sums are made in that order. */
#include "analyse/facade/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exact/choice.h"
#include "analyse/exec/sort.h"
#include "analyse/views/bound_query.h"
#include "common/buffer.h"
#include "common/map.h"
#include "common/memory.h"
#include "common/number.h"

#define MOST_NAMES 20 /* that a mistake lists */
#define WHAT "counters"

/* A value of a counter. */
struct sample {
    uint32_t counter; /* code in the names */
    uint32_t process; /* a number; equal for the same host and pid */
    int64_t at;       /* ticks from the origin */
    double value;
};

struct samples {
    struct sta_account *account;
    struct sta_dictionary *names; /* NAME.KEY of all, at whatever time */
    struct sample *items;         /* by name, time, value */
    size_t count, capacity;
};

struct reading {
    struct samples *samples;
    const struct sta_snapshot *snapshot;
    const struct sta_budget *budget;
    int64_t from, to;
    struct sta_dictionary *processes; /* host and pid as text */
    struct sta_dictionary *record_names;
    struct sta_map counters; /* record name and key -> counter */
    size_t work;
};

/* ---- reading: one record */

static uint32_t counter_of(struct reading *reading, struct sta_text name, uint32_t key)
{
    const struct sta_dictionary *keys = sta_tables_keys(sta_snapshot_tables(reading->snapshot));
    const uint32_t of_name = sta_dictionary_intern(reading->record_names, name.bytes, name.length);
    uint32_t counter;
    if (sta_map_find(&reading->counters, (uint64_t)of_name << 32 | key, &counter))
        return counter;
    const struct sta_text of_key = sta_dictionary_text(keys, key);
    char *text = sta_sprintf("%.*s.%.*s", (int)name.length, name.bytes, (int)of_key.length, of_key.bytes);
    counter = sta_dictionary_intern(reading->samples->names, text, strlen(text));
    free(text);
    sta_map_put(&reading->counters, (uint64_t)of_name << 32 | key, counter);
    return counter;
}

/* A host by its name, where the source of a hash, or another one, says what it is. */
static struct sta_text host_of(const struct reading *reading, struct sta_text host, uint32_t source)
{
    const struct sta_tables *tables = sta_snapshot_tables(reading->snapshot);
    struct sta_definition definition;
    if (host.length == 0)
        return host;
    const struct sta_text text = {host.bytes + 1, host.length - 1};
    if (host.bytes[0] != (char)STA_REFERENCE_HASH ||
        !sta_tables_find_definition(tables, STA_DEFINES_HOST, text.bytes, text.length, source, &definition,
                                    NULL) ||
        definition.text == NULL)
        return text;
    return (struct sta_text){definition.text, definition.length};
}

static uint32_t process_of(struct reading *reading, const struct sta_counter_record *record, uint32_t source)
{
    const struct sta_text host = host_of(reading, record->host, source);
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_put(&text, &record->pid, sizeof record->pid);
    sta_put(&text, host.bytes, host.length);
    STA_ASSERT(!text.failed);
    const uint32_t process = sta_dictionary_intern(reading->processes, text.data, text.size);
    sta_buffer_fini(&text);
    return process;
}

static int add_sample(struct reading *reading, struct sample sample, struct sta_error *err)
{
    struct samples *samples = reading->samples;
    int rc =
        STA_ACCOUNT_GROW(samples->account, samples->items, samples->capacity, samples->count + 1, WHAT, err);
    if (rc == 0)
        samples->items[samples->count++] = sample;
    return rc;
}

static int take_record(struct reading *reading, const struct sta_counter_record *record, uint32_t source,
                       struct sta_cursor *records, struct sta_error *err)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(reading->snapshot);
    const uint32_t keys = sta_dictionary_count(sta_tables_keys(sta_snapshot_tables(reading->snapshot)));
    const int64_t tick = 1000 / (int64_t)info->ticks_per_us;
    struct sample sample = {.at = sta_floor_divide(record->ns, tick) - info->origin_ticks};
    const bool wanted = sample.at >= reading->from && sample.at < reading->to;
    int rc = sta_budget_check_work(reading->budget, &reading->work, record->values, err);
    if (rc == 0 && wanted && record->values > 0)
        sample.process = process_of(reading, record, source);
    for (uint64_t v = 0; v < record->values && rc == 0 && !records->failed; v++) {
        uint32_t key;
        sta_counter_get_value(records, &key, &sample.value);
        if (records->failed || key >= keys)
            return sta_fail(err, STA_ECORRUPT, "counter records make no sense");
        sample.counter = counter_of(reading, record->name, key);
        rc = wanted ? add_sample(reading, sample, err) : 0;
    }
    return rc;
}

static int take_chunk(void *context, struct sta_text path, struct sta_cursor *records, struct sta_error *err)
{
    struct reading *reading = context;
    struct sta_counter_record record = {0};
    const uint32_t source = sta_dictionary_find(sta_tables_sources(sta_snapshot_tables(reading->snapshot)),
                                                path.bytes, path.length);
    int rc = 0;
    while (rc == 0 && sta_counter_get(records, &record))
        rc = take_record(reading, &record, source, records, err);
    return rc == 0 && records->failed ? sta_fail(err, STA_ECORRUPT, "counter records make no sense") : rc;
}

/* ---- reading: all of them */

static int compare_samples(const void *a, const void *b, void *context)
{
    const struct sample *x = a, *y = b;
    const uint32_t *ranks = context;
    if (x->counter != y->counter)
        return ranks[x->counter] < ranks[y->counter] ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int sort_samples(struct samples *samples, const struct sta_budget *budget, struct sta_error *err)
{
    uint32_t count;
    uint32_t *ranks = sta_dictionary_ranks(samples->names, samples->account, &count, err);
    if (ranks == NULL)
        return err->status;
    int rc =
        sta_sort(budget, samples->items, samples->count, sizeof *samples->items, compare_samples, ranks, err);
    sta_account_free(samples->account, ranks);
    return rc;
}

/* Reads those in [from, to), ticks from the origin.  Also what failed is to be released. */
static int samples_read(struct samples *samples, const struct sta_snapshot *snapshot, int64_t from,
                        int64_t to, const struct sta_budget *budget, struct sta_error *err)
{
    *samples =
        (struct samples){.account = budget->account, .names = sta_dictionary_create_in(budget->account)};
    struct reading reading = {.samples = samples,
                              .snapshot = snapshot,
                              .budget = budget,
                              .from = from,
                              .to = to,
                              .processes = sta_dictionary_create_in(budget->account),
                              .record_names = sta_dictionary_create_in(budget->account)};
    sta_map_init(&reading.counters);
    reading.counters.account = budget->account;
    int rc = sta_snapshot_counters(snapshot, take_chunk, &reading, err);
    if (rc == 0)
        rc = sort_samples(samples, budget, err);
    sta_map_fini(&reading.counters);
    sta_dictionary_destroy(reading.record_names);
    sta_dictionary_destroy(reading.processes);
    return rc;
}

static void samples_fini(struct samples *samples)
{
    sta_account_free(samples->account, samples->items);
    sta_dictionary_destroy(samples->names);
}

/* ---- figures */

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

static void put_counter(const struct samples *samples, size_t from, size_t to, double ticks,
                        struct sta_table *table, size_t row)
{
    struct sta_table_column *columns = table->columns;
    const struct sta_text name = sta_dictionary_text(samples->names, samples->items[from].counter);
    struct figures figures = {0};
    struct sta_map processes;
    sta_map_init(&processes);
    for (size_t i = from; i < to; i++) {
        add_figures(&figures, samples->items[i].value);
        sta_map_put(&processes, samples->items[i].process, 0);
    }
    const size_t process_count = processes.count;
    sta_map_fini(&processes);
    sta_table_set_text(table, &columns[0], row, name.bytes, name.length);
    sta_table_set_int(&columns[1], row, figures.count);
    sta_table_set_int(&columns[2], row, (int64_t)process_count);
    sta_table_set_number(&columns[3], row, (double)samples->items[from].at / ticks);
    sta_table_set_number(&columns[4], row, (double)samples->items[to - 1].at / ticks);
    sta_table_set_number(&columns[5], row, figures.min);
    sta_table_set_number(&columns[6], row, figures.max);
    sta_table_set_number(&columns[7], row, figures.sum / (double)figures.count);
}

static size_t end_of_counter(const struct samples *samples, size_t from)
{
    size_t to = from;
    while (to < samples->count && samples->items[to].counter == samples->items[from].counter)
        to++;
    return to;
}

static void put_list(const struct samples *samples, double ticks, const struct sta_budget *budget,
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
    struct samples samples;
    int rc = samples_read(&samples, snapshot, INT64_MIN, INT64_MAX, budget, err);
    if (rc == 0)
        put_list(&samples, 1e6 * (double)sta_snapshot_info(snapshot)->ticks_per_us, budget, table);
    samples_fini(&samples);
    return rc;
}

/* ---- the series */

/* The samples of a counter: from .. to; none when there is no such counter. */
static bool find_counter(const struct samples *samples, const char *counter, size_t *from, size_t *to)
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
static void put_series(const struct samples *samples, const struct sta_exact_bins *bins, size_t from,
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

static int fail_counter(const struct samples *samples, const char *counter, struct sta_error *err)
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

static int make_series(const struct samples *samples, const struct sta_exact_bins *bins,
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
    struct samples samples = {0};
    int rc = sta_exact_series_bins(bound, asked, &bins, err);
    if (rc == 0)
        rc = samples_read(&samples, bound->query->snapshot, bins.from, bins.to, budget, err);
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
    samples_fini(&samples);
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

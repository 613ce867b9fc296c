/* The table of a summary: a row per layer, its columns the union of what layers have. */
#include "analyse/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/question.h"
#include "common/memory.h"

const char *const sta_size_bin_names[STA_SIZE_BINS] = {
    "size_bin_0_4kib",       "size_bin_4kib_16kib",  "size_bin_16kib_64kib", "size_bin_64kib_256kib",
    "size_bin_256kib_1mib",  "size_bin_1mib_4mib",   "size_bin_4mib_16mib",  "size_bin_16mib_64mib",
    "size_bin_64mib_256mib", "size_bin_256mib_1gib", "size_bin_1gib_4gib",   "size_bin_4gib_plus"};

#define NAME_SIZE 256

/* What a column needs of the preset to be there at all. */
enum need { NEED_NOTHING, NEED_EXPOSED, NEED_CHILDREN };

static const struct {
    const char *name;
    enum sta_type type;
    const char *unit;
    enum need need;
} after_bins[] = {
    {"bw", STA_TYPE_FLOAT, "B/s", NEED_NOTHING},
    {"ops", STA_TYPE_FLOAT, NULL, NEED_NOTHING},
    {"busy", STA_TYPE_FLOAT, "s", NEED_NOTHING},
    {"bw_busy", STA_TYPE_FLOAT, "B/s", NEED_NOTHING},
    {"busy_process_min", STA_TYPE_FLOAT, "s", NEED_NOTHING},
    {"busy_process_mean", STA_TYPE_FLOAT, "s", NEED_NOTHING},
    {"busy_process_max", STA_TYPE_FLOAT, "s", NEED_NOTHING},
    {"busy_process_sum", STA_TYPE_FLOAT, "s", NEED_NOTHING},
    {"busy_group_sum", STA_TYPE_FLOAT, "s", NEED_NOTHING},
    {"exposed_group_sum", STA_TYPE_FLOAT, "s", NEED_EXPOSED},
    {"exposed_group_max", STA_TYPE_FLOAT, "s", NEED_EXPOSED},
    {"hidden_share", STA_TYPE_FLOAT, NULL, NEED_EXPOSED},
    {"self_group_sum", STA_TYPE_FLOAT, "s", NEED_CHILDREN},
    {"processes", STA_TYPE_INT, NULL, NEED_NOTHING},
    {"threads", STA_TYPE_INT, NULL, NEED_NOTHING},
    {"hosts", STA_TYPE_INT, NULL, NEED_NOTHING},
    {"files", STA_TYPE_INT, NULL, NEED_NOTHING},
};

/* Columns of a derived metric behind its name. */
static const struct {
    const char *suffix;
    enum sta_type type;
    const char *unit;
    bool sized; /* only for data, read, write */
} of_metric[] = {{"count", STA_TYPE_INT, NULL, false},
                 {"time", STA_TYPE_FLOAT, "s", false},
                 {"size", STA_TYPE_INT, "B", true},
                 {"bw", STA_TYPE_FLOAT, "B/s", true},
                 {"busy", STA_TYPE_FLOAT, "s", false}};

static bool is_sized(const char *metric)
{
    return strcmp(metric, "data") == 0 || strcmp(metric, "read") == 0 || strcmp(metric, "write") == 0;
}

/* ---- columns */

static bool any_layer_has(const struct sta_shape *shape, enum need need)
{
    for (uint32_t l = 0; l < shape->layer_count; l++)
        if (need == NEED_NOTHING ||
            (need == NEED_EXPOSED ? shape->layers[l].exposed : shape->layers[l].has_children))
            return true;
    return false;
}

static void add_metric_columns(struct sta_table *table, const char *metric)
{
    char name[NAME_SIZE];
    for (size_t i = 0; i < STA_COUNT_OF(of_metric); i++) {
        snprintf(name, sizeof name, "%s_%s", metric, of_metric[i].suffix);
        if ((!of_metric[i].sized || is_sized(metric)) && sta_table_find(table, name) == NULL)
            sta_table_add(table, name, of_metric[i].type, of_metric[i].unit);
    }
}

static void add_columns(struct sta_table *table, const struct sta_shape *shape,
                        const struct sta_preset *preset)
{
    sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "parent", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "time_share", STA_TYPE_FLOAT, NULL);
    sta_table_add(table, "count", STA_TYPE_INT, NULL);
    sta_table_add(table, "time", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "size", STA_TYPE_INT, "B");
    for (int b = 0; b < STA_SIZE_BINS; b++)
        sta_table_add(table, sta_size_bin_names[b], STA_TYPE_INT, NULL);
    for (size_t i = 0; i < STA_COUNT_OF(after_bins); i++)
        if (any_layer_has(shape, after_bins[i].need))
            sta_table_add(table, after_bins[i].name, after_bins[i].type, after_bins[i].unit);
    for (size_t l = 0; l < preset->layer_count; l++)
        for (size_t m = 0; m < preset->layers[l].metric_count; m++)
            add_metric_columns(table, preset->layers[l].metrics[m].name);
}

/* ---- values */

struct row {
    struct sta_summary *summary;
    struct sta_table *table;
    size_t at;
    double ticks_per_second;
};

static void put_int(const struct row *row, const char *column, int64_t value)
{
    sta_table_set_int(sta_table_find(row->table, column), row->at, value);
}

static void put_number(const struct row *row, const char *column, double value)
{
    sta_table_set_number(sta_table_find(row->table, column), row->at, value);
}

/* Missing where either is 0. */
static void put_ratio(const struct row *row, const char *column, double a, double b)
{
    if (a != 0 && b != 0)
        put_number(row, column, a / b);
}

static void put_text(const struct row *row, const char *column, const char *text)
{
    if (text != NULL)
        sta_table_set_text(row->table, sta_table_find(row->table, column), row->at, text, strlen(text));
}

static double seconds(const struct row *row, int64_t ticks)
{
    return (double)ticks / row->ticks_per_second;
}

static int64_t union_of(const struct row *row, enum sta_summary_set kind, uint32_t index, uint32_t unit)
{
    return sta_unions_of(row->summary->unions, sta_summary_set(row->summary->shape, kind, index), unit);
}

/* Flags of the processes, groups and hosts that have an event of a layer. */
struct presence {
    uint8_t *processes, *groups, *hosts;
    int64_t thread_count, process_count, host_count, file_count;
};

static void mark(uint8_t *flags, uint32_t at, int64_t *count)
{
    *count += !flags[at];
    flags[at] = 1;
}

static void presence_init(struct presence *presence, const struct sta_summary *summary,
                          const struct sta_layer_sums *layer)
{
    const struct sta_summary_entities *entities = &summary->entities;
    *presence = (struct presence){.processes = sta_alloc_array((size_t)entities->process_count + 1, 1),
                                  .groups = sta_alloc_array((size_t)summary->groups->group_count + 1, 1),
                                  .hosts = sta_alloc_array((size_t)entities->host_limit + 1, 1)};
    for (uint32_t t = 0; t < entities->thread_count; t++) {
        if (!(layer->threads[t / 64] >> (t % 64) & 1))
            continue;
        uint32_t process = entities->threads[t].process;
        uint32_t host = entities->processes[process].host;
        presence->thread_count++;
        presence->groups[summary->groups->group_of_process[process]] = 1;
        mark(presence->processes, process, &presence->process_count);
        mark(presence->hosts, STA_MIN(host, entities->host_limit), &presence->host_count);
    }
    for (uint32_t w = 0; w <= entities->file_limit / 64; w++)
        presence->file_count += __builtin_popcountll(layer->files[w]);
}

static void presence_fini(struct presence *presence)
{
    free(presence->processes);
    free(presence->groups);
    free(presence->hosts);
}

static int64_t put_processes(const struct row *row, uint32_t layer, const struct presence *presence)
{
    int64_t sum = 0;
    int64_t low = INT64_MAX;
    int64_t high = 0;
    for (uint32_t p = 0; p < row->summary->entities.process_count; p++) {
        if (!presence->processes[p])
            continue;
        int64_t busy = union_of(row, STA_SET_PROCESS, layer, p);
        sum += busy;
        low = STA_MIN(low, busy);
        high = STA_MAX(high, busy);
    }
    put_number(row, "busy_process_min", seconds(row, low));
    put_number(row, "busy_process_mean",
               (double)sum / (double)presence->process_count / row->ticks_per_second);
    put_number(row, "busy_process_max", seconds(row, high));
    put_number(row, "busy_process_sum", seconds(row, sum));
    return high;
}

static void put_groups(const struct row *row, uint32_t l, const struct presence *presence)
{
    const struct sta_shape *shape = row->summary->shape;
    const struct sta_shape_layer *layer = &shape->layers[l];
    int64_t busy = 0;
    int64_t exposed = 0;
    int64_t most = 0;
    int64_t self = 0;
    for (uint32_t g = 0; g < row->summary->groups->group_count; g++) {
        if (!presence->groups[g])
            continue;
        busy += union_of(row, STA_SET_GROUP, l, g);
        if (layer->exposed) {
            int64_t here =
                union_of(row, STA_SET_COVERED, l, g) - union_of(row, STA_SET_GROUP, shape->compute, g);
            exposed += here;
            most = STA_MAX(most, here);
        }
        if (layer->has_children)
            self += union_of(row, STA_SET_WITH_CHILDREN, l, g) - union_of(row, STA_SET_CHILDREN, l, g);
    }
    put_number(row, "busy_group_sum", seconds(row, busy));
    if (layer->exposed) {
        put_number(row, "exposed_group_sum", seconds(row, exposed));
        put_number(row, "exposed_group_max", seconds(row, most));
        if (busy != 0)
            put_number(row, "hidden_share", 1 - (double)exposed / (double)busy);
    }
    if (layer->has_children)
        put_number(row, "self_group_sum", seconds(row, self));
}

static void put_sums(const struct row *row, uint32_t layer, const struct sta_sums *sums)
{
    double busy = seconds(row, union_of(row, STA_SET_JOB, layer, 0));
    put_number(row, "time", seconds(row, sums->time));
    put_int(row, "size", sums->size);
    for (int b = 0; b < STA_SIZE_BINS; b++)
        put_int(row, sta_size_bin_names[b], sums->bins[b]);
    put_ratio(row, "bw", (double)sums->size, seconds(row, sums->time));
    put_ratio(row, "ops", (double)sums->count, seconds(row, sums->time));
    put_number(row, "busy", busy);
    put_ratio(row, "bw_busy", (double)sums->size, busy);
}

static const char *metric_column(char name[NAME_SIZE], const char *metric, const char *suffix)
{
    snprintf(name, NAME_SIZE, "%s_%s", metric, suffix);
    return name;
}

static void put_metric(const struct row *row, const char *metric, uint32_t index, const struct sta_sums *sums)
{
    char name[NAME_SIZE];
    put_int(row, metric_column(name, metric, "count"), sums->count);
    put_number(row, metric_column(name, metric, "time"), seconds(row, sums->time));
    put_number(row, metric_column(name, metric, "busy"),
               seconds(row, union_of(row, STA_SET_METRIC, index, 0)));
    if (!is_sized(metric))
        return;
    put_int(row, metric_column(name, metric, "size"), sums->size);
    put_ratio(row, metric_column(name, metric, "bw"), (double)sums->size, seconds(row, sums->time));
}

static void put_layer(const struct row *row, const struct sta_preset *preset,
                      const struct sta_layer_sums *layer, const struct sta_sums *metrics, int64_t job_ticks)
{
    uint32_t l = (uint32_t)row->at;
    const struct sta_shape_layer *shape = &row->summary->shape->layers[l];
    struct presence presence;
    presence_init(&presence, row->summary, layer);
    put_sums(row, l, &layer->sums);
    int64_t longest = put_processes(row, l, &presence);
    put_ratio(row, "time_share", seconds(row, longest), seconds(row, job_ticks));
    put_groups(row, l, &presence);
    put_int(row, "processes", presence.process_count);
    put_int(row, "threads", presence.thread_count);
    put_int(row, "hosts", presence.host_count);
    put_int(row, "files", presence.file_count);
    for (uint32_t m = 0; m < shape->metric_count; m++)
        put_metric(row, preset->layers[l].metrics[m].name, shape->first_metric + m,
                   &metrics[shape->first_metric + m]);
    presence_fini(&presence);
}

/* An event that began before the window is there, though it is not counted; each event belongs to some thread. */
static bool has_event(const struct sta_summary *summary, const struct sta_layer_sums *layer)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w <= summary->entities.thread_count / 64; w++)
        any |= layer->threads[w];
    return any != 0;
}

void sta_summary_table(struct sta_summary *summary, const struct sta_preset *preset,
                       const struct sta_time_scale *scale, struct sta_table *table,
                       struct sta_summary_counts *counts)
{
    const struct sta_shape *shape = summary->shape;
    struct sta_sums *metrics;
    struct sta_layer_sums *layers = sta_summary_fold(summary, &metrics, counts);
    sta_table_init(table, shape->layer_count);
    add_columns(table, shape, preset);
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        struct row row = {summary, table, l, 1e6 * (double)scale->ticks_per_us};
        put_text(&row, "name", preset->layers[l].name);
        put_text(&row, "parent", preset->layers[l].parent);
        put_int(&row, "count", layers[l].sums.count);
        if (has_event(summary, &layers[l]))
            put_layer(&row, preset, &layers[l], metrics, scale->job_ticks);
    }
    table->row_count = shape->layer_count;
    sta_layer_sums_destroy(layers, shape->layer_count);
    free(metrics);
}

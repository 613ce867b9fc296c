/* The columns of exact.md section 2. */
#include "analyse/exact/columns.h"

#include <string.h>

#include "analyse/views/bounded_sum.h"
#include "common/memory.h"

#define SIZE_BIN(index, name, limits)                                                                        \
    {name,                                                                                                   \
     NULL,                                                                                                   \
     STA_FORM_NUMBER,                                                                                        \
     STA_FIELD_BIN + (index),                                                                                \
     0,                                                                                                      \
     STA_NEED_NOTHING,                                                                                       \
     STA_WANT_SIZE_BINS,                                                                                     \
     "events with size in " limits,                                                                          \
     "Events that moved so many bytes each; an event without size is in none."},

const struct sta_exact_column sta_exact_columns[] = {
    {"count", NULL, STA_FORM_NUMBER, STA_FIELD_COUNT, 0, STA_NEED_NOTHING, 0, "number of events",
     "Events of the layer. In a view by time an event counts in the bin in which it starts."},
    {"time", "s", STA_FORM_SECONDS, STA_FIELD_TIME, 0, STA_NEED_NOTHING, 0, "sum of durations",
     "Time of all events added up, also where they overlap. In a view by time, the part of each that lies in "
     "the bin."},
    {"size", "B", STA_FORM_NUMBER, STA_FIELD_SIZE, 0, STA_NEED_NOTHING, STA_WANT_SIZES, "sum of sizes",
     "Bytes moved. In a view by time an event's bytes are spread evenly over its time."},
    STA_SIZE_BIN_LIST(SIZE_BIN){"bw", "B/s", STA_FORM_RATE, STA_FIELD_SIZE, STA_FIELD_TIME, STA_NEED_NOTHING,
                                STA_WANT_SIZES, "size / time",
                                "Bandwidth that one stream of calls saw. Missing where size or time is 0."},
    {"ops", NULL, STA_FORM_RATE, STA_FIELD_COUNT, STA_FIELD_TIME, STA_NEED_NOTHING, 0, "count / time",
     "Calls per second that one stream of calls saw. Missing where count or time is 0."},
    {"busy", "s", STA_FORM_SECONDS, STA_FIELD_BUSY, 0, STA_NEED_NOTHING, STA_WANT_BUSY,
     "measure of the union of all events",
     "Time in which at least one event was running, anywhere in the job."},
    {"bw_busy", "B/s", STA_FORM_RATE, STA_FIELD_SIZE, STA_FIELD_BUSY, STA_NEED_NOTHING,
     STA_WANT_SIZES | STA_WANT_BUSY, "size / busy", "Bandwidth that the job got while it was transferring."},
    {"busy_process_min", "s", STA_FORM_SECONDS, STA_FIELD_PROCESS_MIN, 0, STA_NEED_NOTHING, STA_WANT_UNITS,
     "least busy time of a process",
     "Over the processes that have an event here: the measure of the union of the process's events."},
    {"busy_process_mean", "s", STA_FORM_MEAN, STA_FIELD_PROCESS_SUM, STA_FIELD_PROCESSES, STA_NEED_NOTHING,
     STA_WANT_UNITS, "busy_process_sum / processes",
     "Busy time of a process, on average over those that have an event here."},
    {"busy_process_max", "s", STA_FORM_SECONDS, STA_FIELD_PROCESS_MAX, 0, STA_NEED_NOTHING, STA_WANT_UNITS,
     "largest busy time of a process", "Busy time of the process that was longest at it."},
    {"busy_process_sum", "s", STA_FORM_SECONDS, STA_FIELD_PROCESS_SUM, 0, STA_NEED_NOTHING, STA_WANT_UNITS,
     "sum of the busy times of processes", "Busy time of each process, added up."},
    {"busy_group_sum", "s", STA_FORM_SECONDS, STA_FIELD_GROUP_SUM, 0, STA_NEED_NOTHING, STA_WANT_UNITS,
     "sum over rank groups of the measure of the union of the group's events",
     "Busy time of each rank together with the workers it forked, added up."},
    {"exposed_group_sum", "s", STA_FORM_SECONDS, STA_FIELD_EXPOSED_SUM, 0, STA_NEED_EXPOSED, STA_WANT_UNITS,
     "sum over rank groups of |union of the group's events minus union of its compute events|",
     "Time in which a rank or its workers were in this layer while the rank did not compute: what compute "
     "did not hide."},
    {"exposed_group_max", "s", STA_FORM_SECONDS, STA_FIELD_EXPOSED_MAX, 0, STA_NEED_EXPOSED, STA_WANT_UNITS,
     "largest exposed time of a rank group", "Exposed time of the rank that suffered most."},
    {"hidden_share", NULL, STA_FORM_HIDDEN, STA_FIELD_EXPOSED_SUM, STA_FIELD_GROUP_SUM, STA_NEED_EXPOSED,
     STA_WANT_UNITS, "1 - exposed_group_sum / busy_group_sum",
     "How much of the layer's time compute hid, from 0 to 1."},
    {"self_group_sum", "s", STA_FORM_SECONDS, STA_FIELD_SELF_SUM, 0, STA_NEED_CHILDREN, STA_WANT_UNITS,
     "sum over rank groups of |union of the group's events minus union of the events of the layer's "
     "children|",
     "Time that a layer with children spent in none of them."},
    {"processes", NULL, STA_FORM_NUMBER, STA_FIELD_PROCESSES, 0, STA_NEED_NOTHING, STA_WANT_UNITS,
     "distinct (host, pid)", "Processes that have an event here."},
    {"threads", NULL, STA_FORM_NUMBER, STA_FIELD_THREADS, 0, STA_NEED_NOTHING, STA_WANT_UNITS,
     "distinct (host, pid, tid)", "Threads that have an event here."},
    {"hosts", NULL, STA_FORM_NUMBER, STA_FIELD_HOSTS, 0, STA_NEED_NOTHING, STA_WANT_UNITS,
     "distinct host names", "Hosts that have an event here; events without a host count as one."},
    {"files", NULL, STA_FORM_NUMBER, STA_FIELD_FILES, 0, STA_NEED_NOTHING, STA_WANT_FILES,
     "distinct file names", "Files that the events are about; events without one do not count."},
};
const size_t sta_exact_column_count = STA_COUNT_OF(sta_exact_columns);

const struct sta_exact_column sta_exact_metric_columns[] = {
    {"count", NULL, STA_FORM_NUMBER, STA_FIELD_COUNT, 0, STA_NEED_NOTHING, STA_WANT_METRICS,
     "number of events", "Events of the layer that satisfy the metric's condition."},
    {"time", "s", STA_FORM_SECONDS, STA_FIELD_TIME, 0, STA_NEED_NOTHING, STA_WANT_METRICS, "sum of durations",
     "Time of the metric's events added up."},
    {"size", "B", STA_FORM_NUMBER, STA_FIELD_SIZE, 0, STA_NEED_NOTHING, STA_WANT_METRICS | STA_WANT_SIZES,
     "sum of sizes", "Bytes moved by the metric's events."},
    {"bw", "B/s", STA_FORM_RATE, STA_FIELD_SIZE, STA_FIELD_TIME, STA_NEED_NOTHING,
     STA_WANT_METRICS | STA_WANT_SIZES, "size / time",
     "Bandwidth that one stream of the metric's calls saw."},
    {"busy", "s", STA_FORM_SECONDS, STA_FIELD_BUSY, 0, STA_NEED_NOTHING, STA_WANT_METRICS | STA_WANT_BUSY,
     "measure of the union of the metric's events",
     "Time in which at least one of the metric's events was running."},
};
const size_t sta_exact_metric_column_count = STA_COUNT_OF(sta_exact_metric_columns);

enum sta_type sta_exact_column_type(const struct sta_exact_column *column)
{
    return column->form == STA_FORM_NUMBER ? STA_TYPE_INT : STA_TYPE_FLOAT;
}

bool sta_exact_layer_has(const struct sta_exact_shape *shape, uint32_t layer,
                         const struct sta_exact_column *column)
{
    if (column->need == STA_NEED_EXPOSED)
        return shape->layers[layer].exposed;
    return column->need == STA_NEED_NOTHING || shape->layers[layer].has_children;
}

bool sta_exact_metric_has(const char *metric, const struct sta_exact_column *column)
{
    return !(column->wants & STA_WANT_SIZES) || strcmp(metric, "data") == 0 || strcmp(metric, "read") == 0 ||
           strcmp(metric, "write") == 0;
}

void sta_exact_put(const struct sta_exact_column *column, const struct sta_fields *fields, size_t at,
                   double ticks_per_second, struct sta_table_column *to, size_t row)
{
    int64_t value = fields->values[column->field][at];
    bool quotient = column->form != STA_FORM_NUMBER && column->form != STA_FORM_SECONDS;
    if (value == STA_TOO_LARGE || (quotient && fields->values[column->other][at] == STA_TOO_LARGE)) {
        to->too_large += !quotient; /* a quotient is missing for want of what it is made of */
        return;
    }
    switch (column->form) {
    case STA_FORM_NUMBER:
        sta_table_set_int(to, row, value);
        return;
    case STA_FORM_SECONDS:
        sta_table_set_number(to, row, (double)value / ticks_per_second);
        return;
    case STA_FORM_RATE:
        if (value != 0 && fields->values[column->other][at] != 0)
            sta_table_set_number(
                to, row, (double)value / ((double)fields->values[column->other][at] / ticks_per_second));
        return;
    case STA_FORM_MEAN:
        sta_table_set_number(to, row,
                             (double)value / (double)fields->values[column->other][at] / ticks_per_second);
        return;
    case STA_FORM_HIDDEN:
        if (fields->values[column->other][at] != 0)
            sta_table_set_number(to, row, 1 - (double)value / (double)fields->values[column->other][at]);
        return;
    }
}

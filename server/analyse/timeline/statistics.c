/* timeline/statistics: figures of the chosen part of the timeline, by label. */
#include <stdlib.h>

#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "analyse/timeline/forest.h"
#include "analyse/timeline/labels.h"
#include "analyse/timeline/unions.h"
#include "common/memory.h"

#define WHAT "the statistics of the timeline"

struct label_figures {
    uint32_t label;
    int64_t count, min, max;
    __int128 time, self, size;
    struct sta_union spans;
};

/* What a worker has. */
struct tally {
    struct sta_forest forest;
    struct sta_map slots, memo;
    struct label_figures *labels;
    size_t count, capacity;
    int64_t threads;
    struct sta_union all; /* of calls that are in no other one: they cover what these do */
};

struct statistics {
    struct sta_selection selection;
    struct sta_labels labels;
    const struct sta_budget *budget;
    struct tally *tallies; /* by worker */
    unsigned worker_count;
};

static int find_label(const struct statistics *statistics, struct tally *tally, uint32_t label,
                      struct label_figures **figures, struct sta_error *err)
{
    bool added;
    uint32_t slot = sta_map_intern(&tally->slots, label, (uint32_t)tally->count, &added);
    if (added) {
        int rc = STA_ACCOUNT_GROW(statistics->budget->account, tally->labels, tally->capacity,
                                  tally->count + 1, WHAT, err);
        if (rc != 0)
            return rc;
        tally->labels[tally->count++] = (struct label_figures){.label = label, .min = INT64_MAX};
    }
    *figures = &tally->labels[slot];
    return 0;
}

static int add_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct statistics *statistics = context;
    const struct sta_selection *selection = &statistics->selection;
    struct tally *tally = &statistics->tallies[worker];
    const struct sta_lane_thread *thread = &selection->index->threads[selection->threads[at]];
    int rc = sta_forest_grow(&tally->forest, selection->threads[at], err);
    tally->threads += rc == 0 && tally->forest.count > 0;
    for (size_t n = 0; n < tally->forest.count && rc == 0; n++) {
        const struct sta_forest_node *node = &tally->forest.nodes[n];
        const struct sta_lane_event *event = &thread->events[node->place];
        struct label_figures *figures;
        rc = find_label(statistics, tally, sta_labels_of(&statistics->labels, &tally->memo, event), &figures,
                        err);
        if (rc != 0)
            break;
        figures->count++;
        figures->time += node->dur;
        figures->self += sta_forest_self(node);
        figures->size += node->size;
        figures->min = STA_MIN(figures->min, node->dur);
        figures->max = STA_MAX(figures->max, node->dur);
        int64_t from = STA_MAX(event->start, selection->from);
        rc = sta_union_add(&figures->spans, from, from + node->dur, statistics->budget, err);
        if (rc == 0 && node->up == STA_NO_NODE)
            rc = sta_union_add(&tally->all, from, from + node->dur, statistics->budget, err);
    }
    return rc;
}

/* The spans of a label that one worker has. */
static int sort_spans(void *context, unsigned worker, size_t task, struct sta_error *err)
{
    struct statistics *statistics = context;
    struct tally *tally = &statistics->tallies[task % statistics->worker_count];
    const size_t label = task / statistics->worker_count;
    (void)worker;
    if (label < tally->count)
        return sta_union_sort(&tally->labels[label].spans, statistics->budget, err);
    return label == tally->count ? sta_union_sort(&tally->all, statistics->budget, err) : 0;
}

static int sort_tallies(struct statistics *statistics, struct sta_error *err)
{
    size_t labels = 0;
    for (unsigned w = 0; w < statistics->worker_count; w++)
        labels = STA_MAX(labels, statistics->tallies[w].count);
    return sta_tasks_run(statistics->budget, (labels + 1) * statistics->worker_count, sort_spans, statistics,
                         err);
}

static int unite_tallies(struct statistics *statistics, struct sta_error *err)
{
    struct tally *to = &statistics->tallies[0];
    int rc = 0;
    for (unsigned w = 1; w < statistics->worker_count; w++) {
        struct tally *tally = &statistics->tallies[w];
        to->threads += tally->threads;
        for (size_t l = 0; l < tally->count && rc == 0; l++) {
            struct label_figures *from = &tally->labels[l], *sum;
            rc = find_label(statistics, to, from->label, &sum, err);
            if (rc != 0)
                break;
            sum->count += from->count;
            sum->time += from->time;
            sum->self += from->self;
            sum->size += from->size;
            sum->min = STA_MIN(sum->min, from->min);
            sum->max = STA_MAX(sum->max, from->max);
            rc = sta_union_merge(&sum->spans, &from->spans, statistics->budget, err);
            sta_union_fini(&from->spans, statistics->budget->account);
        }
        if (rc == 0)
            rc = sta_union_merge(&to->all, &tally->all, statistics->budget, err);
    }
    return rc;
}

static int compare_labels(const void *a, const void *b, void *context)
{
    const struct label_figures *x = a, *y = b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return sta_labels_compare(context, x->label, y->label);
}

/* ---- the answer */

static void set_wide(struct sta_table_column *column, size_t row, __int128 value)
{
    if (value <= INT64_MAX)
        sta_table_set_int(column, row, (int64_t)value);
    else
        column->too_large++;
}

static double wide_seconds(const struct statistics *statistics, __int128 ticks)
{
    return (double)ticks / (double)statistics->selection.index->ticks_per_second;
}

static void put_table(const struct statistics *statistics, struct sta_table *table)
{
    const struct tally *tally = &statistics->tallies[0];
    struct sta_table_column *columns[8];
    sta_table_init(table, tally->count);
    sta_table_count_in(table, statistics->budget->account);
    static const char *const names[] = {"label", "count", "time", "self", "busy", "size", "min", "max"};
    for (size_t c = 0; c < STA_COUNT_OF(names); c++) {
        bool is_time = c != 0 && c != 1 && c != 5;
        sta_table_add(table, names[c],
                      c == 0    ? STA_TYPE_TEXT
                      : is_time ? STA_TYPE_FLOAT
                                : STA_TYPE_INT,
                      is_time  ? "s"
                      : c == 5 ? "B"
                               : NULL);
    }
    for (size_t c = 0; c < STA_COUNT_OF(names); c++)
        columns[c] = sta_table_find(table, names[c]);
    for (size_t i = 0; i < tally->count; i++) {
        const struct label_figures *f = &tally->labels[i];
        struct sta_text label = sta_labels_text(&statistics->labels, f->label);
        if (label.bytes != NULL)
            sta_table_set_text(table, columns[0], i, label.bytes, label.length);
        sta_table_set_int(columns[1], i, f->count);
        sta_table_set_number(columns[2], i, wide_seconds(statistics, f->time));
        sta_table_set_number(columns[3], i, wide_seconds(statistics, f->self));
        sta_table_set_number(columns[4], i, wide_seconds(statistics, sta_union_measure(&f->spans)));
        set_wide(columns[5], i, f->size);
        sta_table_set_number(columns[6], i, wide_seconds(statistics, f->min));
        sta_table_set_number(columns[7], i, wide_seconds(statistics, f->max));
    }
}

/* Figures of all labels together. */
static void put_facts(const struct statistics *statistics, struct sta_facts *facts)
{
    const struct tally *tally = &statistics->tallies[0];
    __int128 time = 0, self = 0, size = 0;
    int64_t count = 0;
    for (size_t l = 0; l < tally->count; l++) {
        const struct label_figures *f = &tally->labels[l];
        count += f->count;
        time += f->time;
        self += f->self;
        size += f->size;
    }
    sta_facts_int(facts, "count", count);
    sta_facts_number(facts, "time", NULL, wide_seconds(statistics, time));
    sta_facts_number(facts, "self", NULL, wide_seconds(statistics, self));
    sta_facts_number(facts, "busy", NULL, wide_seconds(statistics, sta_union_measure(&tally->all)));
    if (size <= INT64_MAX)
        sta_facts_int(facts, "size", (int64_t)size);
    sta_facts_int(facts, "threads", tally->threads);
}

static int answer(struct statistics *statistics, struct sta_table *table, struct sta_facts *facts,
                  struct sta_error *err)
{
    const struct sta_selection *selection = &statistics->selection;
    const int64_t *sizes;
    int rc = sta_timeline_sizes(selection->query->timeline, selection->view, statistics->budget, &sizes, err);
    if (rc != 0)
        return rc;
    statistics->worker_count = sta_budget_workers(statistics->budget);
    statistics->tallies = sta_alloc_array(statistics->worker_count, sizeof *statistics->tallies);
    for (unsigned w = 0; w < statistics->worker_count; w++) {
        struct tally *tally = &statistics->tallies[w];
        tally->forest =
            (struct sta_forest){.selection = selection, .budget = statistics->budget, .sizes = sizes};
        sta_map_init(&tally->slots);
        sta_map_init(&tally->memo);
        tally->slots.account = tally->memo.account = statistics->budget->account;
    }
    rc = sta_tasks_run(statistics->budget, selection->thread_count, add_thread, statistics, err);
    if (rc == 0)
        rc = sort_tallies(statistics, err);
    if (rc == 0)
        rc = unite_tallies(statistics, err);
    if (rc == 0)
        rc = sta_sort(statistics->budget, statistics->tallies[0].labels, statistics->tallies[0].count,
                      sizeof *statistics->tallies[0].labels, compare_labels, &statistics->labels, err);
    if (rc == 0) {
        put_facts(statistics, facts);
        put_table(statistics, table);
    }
    return rc;
}

static void statistics_fini(struct statistics *statistics)
{
    struct sta_account *account = statistics->budget->account;
    for (unsigned w = 0; w < statistics->worker_count; w++) {
        struct tally *tally = &statistics->tallies[w];
        for (size_t l = 0; l < tally->count; l++)
            sta_union_fini(&tally->labels[l].spans, account);
        sta_union_fini(&tally->all, account);
        sta_account_free(account, tally->labels);
        sta_map_fini(&tally->slots);
        sta_map_fini(&tally->memo);
        sta_forest_fini(&tally->forest);
    }
    free(statistics->tallies);
    sta_labels_fini(&statistics->labels);
    sta_selection_fini(&statistics->selection);
}

int sta_timeline_statistics(const struct sta_timeline_query *query, const struct sta_budget *budget,
                            struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    static const char *const own[] = {"label", NULL};
    struct statistics statistics = {.budget = budget};
    int rc = sta_selection_init(&statistics.selection, query, own, budget, err);
    if (rc == 0)
        rc = sta_labels_init(&statistics.labels, &statistics.selection, budget, err);
    if (rc == 0)
        rc = answer(&statistics, table, facts, err);
    statistics_fini(&statistics);
    return rc;
}

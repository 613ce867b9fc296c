/* timeline/statistics: figures of the chosen part of the timeline, by label. */
#include <stdlib.h>

#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "timeline/forest.h"
#include "timeline/labels.h"
#include "timeline/unions.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the statistics of the timeline"
#define MOST_PART_EVENTS                                                                                     \
    1048576            /* whose intervals are held at a time, about; fewer if the memory is small            \
                        */
#define SPAN_BYTES 256 /* that an event takes in this, at most: in lists that grow and are sorted */
#define SAMPLED 256    /* events for each one that is looked at to find where parts begin */

/* The union of intervals that come part by part of time. */
struct busy {
    struct sta_union spans;          /* of the part that is being looked at */
    struct sta_running_union united; /* of the parts before */
};

struct label_figures {
    uint32_t label;
    int64_t count, min, max;
    __int128 time, self, size;
    struct busy busy;
};

/* What a worker has. */
struct tally {
    const struct statistics *statistics;
    struct sta_forest forest;
    struct sta_map slots, memo;
    struct label_figures *labels;
    size_t count, capacity;
    int64_t threads;
    struct busy all;
};

struct statistics {
    struct sta_selection selection;
    struct sta_labels labels;
    const struct sta_budget *budget;
    struct tally *tallies; /* by worker */
    unsigned worker_count;
    int64_t from, to; /* the part of the window whose intervals are united */
};

static int find_label(struct tally *tally, uint32_t label, struct label_figures **figures,
                      struct sta_error *err)
{
    bool added;
    uint32_t slot = sta_map_intern(&tally->slots, label, (uint32_t)tally->count, &added);
    if (added) {
        int rc = STA_ACCOUNT_GROW(tally->statistics->budget->account, tally->labels, tally->capacity,
                                  tally->count + 1, WHAT, err);
        if (rc != 0)
            return rc;
        tally->labels[tally->count++] = (struct label_figures){.label = label, .min = INT64_MAX};
    }
    *figures = &tally->labels[slot];
    return 0;
}

/* ---- sums */

static int add_event(void *context, const struct sta_forest *forest, const struct sta_lane_event *event,
                     struct sta_error *err)
{
    struct tally *tally = context;
    const struct sta_forest_node *node = &forest->nodes[forest->depth];
    struct label_figures *figures;
    int rc = find_label(tally, sta_labels_of(&tally->statistics->labels, &tally->memo, event), &figures, err);
    if (rc != 0)
        return rc;
    figures->count++;
    figures->time += node->dur;
    figures->self += sta_forest_self(node);
    figures->size += node->size;
    figures->min = STA_MIN(figures->min, node->dur);
    figures->max = STA_MAX(figures->max, node->dur);
    return 0;
}

static int add_thread(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct statistics *statistics = context;
    struct tally *tally = &statistics->tallies[worker];
    const struct sta_forest_visitor visitor = {.context = tally, .leave = add_event};
    size_t count;
    int rc = sta_forest_visit(&tally->forest, statistics->selection.threads[at], &visitor, &count, err);
    tally->threads += rc == 0 && count > 0;
    return rc;
}

static int unite_sums(struct statistics *statistics, struct sta_error *err)
{
    struct tally *to = &statistics->tallies[0];
    int rc = 0;
    for (unsigned w = 1; w < statistics->worker_count; w++) {
        const struct tally *tally = &statistics->tallies[w];
        to->threads += tally->threads;
        for (size_t l = 0; l < tally->count && rc == 0; l++) {
            const struct label_figures *from = &tally->labels[l];
            struct label_figures *sum;
            rc = find_label(to, from->label, &sum, err);
            if (rc != 0)
                break;
            sum->count += from->count;
            sum->time += from->time;
            sum->self += from->self;
            sum->size += from->size;
            sum->min = STA_MIN(sum->min, from->min);
            sum->max = STA_MAX(sum->max, from->max);
        }
    }
    return rc;
}

/* ---- busy time: intervals are united part by part of time, so that only those of one part are held */

/* The events of a thread that begin in the part; in the first one also those that reach into the window. */
static int add_spans(void *context, unsigned worker, size_t at, struct sta_error *err)
{
    struct statistics *statistics = context;
    const struct sta_selection *selection = &statistics->selection;
    struct tally *tally = &statistics->tallies[worker];
    struct sta_thread_walk walk =
        sta_thread_walk(selection, selection->threads[at], statistics->from, statistics->to);
    if (statistics->from > selection->from)
        walk.place = walk.first;
    int rc = 0;
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;) {
        const struct sta_lane_event *event = &walk.thread->events[place];
        const int64_t from = STA_MAX(event->start, selection->from),
                      to = STA_MIN(sta_lane_event_end(event), selection->to);
        struct label_figures *figures;
        rc = find_label(tally, sta_labels_of(&statistics->labels, &tally->memo, event), &figures, err);
        if (rc == 0)
            rc = sta_union_add(&figures->busy.spans, from, to, statistics->budget, err);
        if (rc == 0)
            rc = sta_union_add(&tally->all.spans, from, to, statistics->budget, err);
    }
    return rc;
}

/* Adds a part's intervals, which one worker has, to those of the first one. */
static int unite_spans(const struct statistics *statistics, struct busy *to, struct busy *from,
                       struct sta_error *err)
{
    int rc = sta_union_sort(&from->spans, statistics->budget, err);
    if (rc == 0 && from != to)
        rc = sta_union_merge(&to->spans, &from->spans, statistics->budget, err);
    if (from != to)
        from->spans.count = 0;
    return rc;
}

static void measure_spans(struct busy *busy)
{
    for (size_t i = 0; i < busy->spans.count; i++) {
        const struct sta_interval *span = &busy->spans.items[i];
        sta_running_union_add(&busy->united, span->from, span->to);
    }
    busy->spans.count = 0;
}

/* Task 0: all labels together; 1 ..: a label. */
static int measure_label(void *context, unsigned worker, size_t task, struct sta_error *err)
{
    const struct statistics *statistics = context;
    struct tally *first = &statistics->tallies[0];
    struct busy *busy = task == 0 ? &first->all : &first->labels[task - 1].busy;
    int rc = 0;
    (void)worker;
    for (unsigned w = 0; w < statistics->worker_count && rc == 0; w++) {
        struct tally *tally = &statistics->tallies[w];
        uint32_t slot = 0;
        if (task == 0)
            rc = unite_spans(statistics, busy, &tally->all, err);
        else if (sta_map_find(&tally->slots, first->labels[task - 1].label, &slot))
            rc = unite_spans(statistics, busy, &tally->labels[slot].busy, err);
    }
    if (rc == 0)
        measure_spans(busy);
    return rc;
}

static int measure_part(struct statistics *statistics, int64_t from, int64_t to, struct sta_error *err)
{
    statistics->from = from;
    statistics->to = to;
    int rc =
        sta_tasks_run(statistics->budget, statistics->selection.thread_count, add_spans, statistics, err);
    return rc == 0 ? sta_tasks_run(statistics->budget, statistics->tallies[0].count + 1, measure_label,
                                   statistics, err)
                   : rc;
}

static int compare_moments(const void *a, const void *b, void *context)
{
    const int64_t *x = a, *y = b;
    (void)context;
    return *x < *y ? -1 : *x > *y;
}

/* Every so many events' start, ascending: between any two of them begin about as many. */
static int sample_starts(const struct statistics *statistics, int64_t **starts, size_t *count,
                         struct sta_error *err)
{
    const struct sta_selection *selection = &statistics->selection;
    size_t capacity = 0;
    for (uint32_t t = 0; t < selection->thread_count; t++) {
        const struct sta_lane_thread *thread = &selection->index->threads[selection->threads[t]];
        for (uint32_t place = SAMPLED / 2; place < thread->count; place += SAMPLED) {
            const int64_t start = thread->events[place].start;
            if (start <= selection->from || start >= selection->to)
                continue;
            int rc = STA_ACCOUNT_GROW(statistics->budget->account, *starts, capacity, *count + 1, WHAT, err);
            if (rc != 0)
                return rc;
            (*starts)[(*count)++] = start;
        }
    }
    return sta_sort(statistics->budget, *starts, *count, sizeof **starts, compare_moments, NULL, err);
}

static int measure_busy(struct statistics *statistics, struct sta_error *err)
{
    const size_t events = STA_MIN(statistics->budget->memory / SPAN_BYTES, (size_t)MOST_PART_EVENTS);
    const size_t step = STA_MAX(events / SAMPLED, (size_t)1);
    int64_t *starts = NULL, from = statistics->selection.from;
    size_t count = 0;
    int rc = sample_starts(statistics, &starts, &count, err);
    for (size_t i = step; i < count && rc == 0; i += step)
        if (starts[i] > from) {
            rc = measure_part(statistics, from, starts[i], err);
            from = starts[i];
        }
    sta_account_free(statistics->budget->account, starts);
    return rc == 0 ? measure_part(statistics, from, statistics->selection.to, err) : rc;
}

static int compare_labels(const void *a, const void *b, void *context)
{
    const struct label_figures *x = a, *y = b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return sta_labels_compare(context, x->label, y->label);
}

/* ---- the result */

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
        sta_table_set_number(columns[4], i,
                             wide_seconds(statistics, sta_running_union_total(&f->busy.united)));
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
    sta_facts_number(facts, "busy", NULL,
                     wide_seconds(statistics, sta_running_union_total(&tally->all.united)));
    if (size <= INT64_MAX)
        sta_facts_int(facts, "size", (int64_t)size);
    sta_facts_int(facts, "threads", tally->threads);
}

static int fill_result(struct statistics *statistics, struct sta_table *table, struct sta_facts *facts,
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
        tally->statistics = statistics;
        tally->forest =
            (struct sta_forest){.selection = selection, .budget = statistics->budget, .sizes = sizes};
        sta_map_init(&tally->slots);
        sta_map_init(&tally->memo);
        tally->slots.account = tally->memo.account = statistics->budget->account;
    }
    rc = sta_tasks_run(statistics->budget, selection->thread_count, add_thread, statistics, err);
    if (rc == 0)
        rc = unite_sums(statistics, err);
    if (rc == 0)
        rc = measure_busy(statistics, err);
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
            sta_union_fini(&tally->labels[l].busy.spans, account);
        sta_union_fini(&tally->all.spans, account);
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
        rc = fill_result(&statistics, table, facts, err);
    statistics_fini(&statistics);
    return rc;
}

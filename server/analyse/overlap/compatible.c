/* What DFTracer 1.0.8's analyser computes, in two variants.  `approximate` is the bucket method.  `intervals`
 * takes unions within each bin, over all processes: that is the exact sweep with bins for units, since an
 * event is whole in the bin that it starts in. */

#include <string.h>

#include "analyse/overlap/tables.h"
#include "analyse/views/bound_query.h"

/* Of a phase: how long it was, and how long without another.  The bucket method's, or of unions likewise. */
static __int128 time_of(const struct sta_overlap_request *request, const struct sta_buckets *times,
                        const char *phase, const char *other)
{
    const uint32_t sets = request->set_count, a = sta_overlap_find_set(request, phase),
                   b = other != NULL ? sta_overlap_find_set(request, other) : sets;
    if (a == sets)
        return 0;
    return b == sets ? times->total[a] : times->minus[a][b]; /* a set that is not there takes nothing away */
}

static void take_figures(const struct sta_overlap_request *request, const struct sta_figures *figures,
                         struct sta_buckets *times)
{
    for (uint32_t a = 0; a < request->set_count; a++) {
        times->total[a] = figures->busy[a];
        for (uint32_t b = a + 1; b < request->set_count; b++) {
            times->minus[a][b] = sta_figures_pair(figures, a, b, STA_PAIR_FIRST);
            times->minus[b][a] = sta_figures_pair(figures, a, b, STA_PAIR_SECOND);
        }
    }
}

static int measure_unions(const struct sta_overlap_request *request, const struct sta_budget *budget,
                          struct sta_buckets *times, struct sta_error *err)
{
    struct sta_overlap_binding binding;
    struct sta_overlap_results results = {0};
    struct sta_overlap_wants none = {0};
    int rc = sta_overlap_binding_init(&binding, request, budget, err);
    if (rc == 0)
        rc = sta_overlap_pass(&binding, &none, &results, err);
    if (rc == 0) {
        static const struct sta_host_span no_span;
        struct sta_figures figures = {0};
        sta_figures_add(&figures, &no_span, results.cells, results.cell_count);
        take_figures(request, &figures, times);
    }
    sta_overlap_results_fini(&results);
    sta_overlap_binding_fini(&binding);
    return rc;
}

static void put_facts(const struct sta_overlap_request *request, const struct sta_buckets *times,
                      struct sta_facts *facts)
{
    static const struct {
        const char *name, *phase, *other;
    } said[] = {{"io", "io", NULL},
                {"compute", "compute", NULL},
                {"app_io", "app_io", NULL},
                {"only_io", "io", "compute"},
                {"only_compute", "compute", "io"},
                {"only_app_io", "app_io", "compute"},
                {"only_app_compute", "compute", "app_io"}};
    sta_facts_number(facts, "granularity", "s", sta_overlap_seconds(request, request->granularity));
    sta_facts_number(facts, "total", "s",
                     sta_overlap_seconds(request, sta_snapshot_info(request->query->snapshot)->end_ticks));
    for (size_t i = 0; i < STA_COUNT_OF(said); i++)
        sta_facts_number(facts, said[i].name, "s",
                         sta_overlap_seconds(request, time_of(request, times, said[i].phase, said[i].other)));
}

/* ---- the printed lines (overlap.md section 4, its table) */

enum shown { ALWAYS, WHEN_POSITIVE, WHEN_COMPUTE_IS_LEFT };

static const struct {
    const char *printed, *value;
    enum shown shown;
} lines[] = {{"Total Time", "total", ALWAYS},
             {"Overall App Level I/O", "app_io", WHEN_POSITIVE},
             {"Unoverlapped App I/O", "only_app_io", WHEN_POSITIVE},
             {"Unoverlapped App Compute", "only_app_compute", WHEN_POSITIVE},
             {"Compute", "compute", WHEN_POSITIVE},
             {"Overall I/O", "io", ALWAYS},
             {"Unoverlapped I/O", "only_io", WHEN_COMPUTE_IS_LEFT},
             {"Unoverlapped Compute", "only_compute", WHEN_COMPUTE_IS_LEFT}};

static double fact_of(const struct sta_facts *facts, const char *name)
{
    return facts->items[sta_facts_find(facts, name)].number;
}

static void put_lines(const struct sta_facts *facts, struct sta_table *table)
{
    enum { PRINTED, VALUE, TIME, SHOWN };
    static const struct sta_column_info columns[] = {{"printed", NULL, STA_TYPE_TEXT},
                                                     {"value", NULL, STA_TYPE_TEXT},
                                                     {"time", "s", STA_TYPE_FLOAT},
                                                     {"shown", NULL, STA_TYPE_BOOL}};
    sta_table_init(table, STA_COUNT_OF(lines));
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
    for (size_t i = 0; i < STA_COUNT_OF(lines); i++) {
        double time = fact_of(facts, lines[i].value);
        bool shown = lines[i].shown == ALWAYS || time > 0;
        if (lines[i].shown == WHEN_COMPUTE_IS_LEFT)
            shown = fact_of(facts, "only_compute") > 0;
        sta_table_set_string(table, &table->columns[PRINTED], i, lines[i].printed);
        sta_table_set_string(table, &table->columns[VALUE], i, lines[i].value);
        sta_table_set_number(&table->columns[TIME], i, time);
        sta_table_set_int(&table->columns[SHOWN], i, shown);
    }
}

static void put_phases(const struct sta_overlap_request *request, const struct sta_buckets *buckets,
                       struct sta_table *table)
{
    enum { NAME, EVENTS, TIME, THREADS };
    static const struct sta_column_info columns[] = {{"name", NULL, STA_TYPE_TEXT},
                                                     {"events", NULL, STA_TYPE_INT},
                                                     {"time", "s", STA_TYPE_FLOAT},
                                                     {"threads", NULL, STA_TYPE_INT}};
    sta_table_init(table, (size_t)request->set_count + 1);
    sta_table_add_all(table, columns, STA_COUNT_OF(columns));
    for (uint32_t s = 0; s <= request->set_count; s++) {
        bool none = s == request->set_count;
        sta_table_set_string(table, &table->columns[NAME], s, none ? "none" : request->sets[s].name);
        sta_table_set_int(&table->columns[EVENTS], s, buckets->events[s]);
        sta_table_set_number(&table->columns[TIME], s, sta_overlap_seconds(request, buckets->time[s]));
        if (!none)
            sta_table_set_int(&table->columns[THREADS], s, buckets->threads[s]);
    }
}

int sta_overlap_compatible(const struct sta_overlap_request *request, const struct sta_budget *budget,
                           struct sta_overlap_result *result, struct sta_error *err)
{
    struct sta_buckets times;
    result->semantics = "compatible";
    result->variant = request->intervals ? "intervals" : "approximate";
    int rc = sta_buckets_measure(request, budget, &times, err);
    if (rc == 0 && request->intervals)
        rc = measure_unions(request, budget, &times, err);
    if (rc != 0)
        return rc;
    put_facts(request, &times, &result->facts);
    sta_facts_of_trace(&result->facts, request->query->snapshot);
    put_lines(&result->facts, &result->per_scope);
    put_phases(request, &times, &result->phases);
    return 0;
}

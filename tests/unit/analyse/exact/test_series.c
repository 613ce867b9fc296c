/* Time series: from the base they are what a scan gives, however bins and windows lie; a damaged base does no
 * harm. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "scene.h"

/* What is kept, in memory. */
struct cache {
    char *names[SCENE_LAYERS + 1], *bytes[SCENE_LAYERS + 1];
    size_t sizes[SCENE_LAYERS + 1], count;
    unsigned got, kept;
};

static bool get(void *context, const char *name, char **bytes, size_t *size)
{
    struct cache *cache = context;
    for (size_t i = 0; i < cache->count; i++) {
        if (strcmp(cache->names[i], name) != 0)
            continue;
        cache->got++;
        *size = cache->sizes[i];
        *bytes = sta_alloc(*size + 1);
        memcpy(*bytes, cache->bytes[i], *size);
        return true;
    }
    return false;
}

static void put(void *context, const char *name, const void *bytes, size_t size)
{
    struct cache *cache = context;
    size_t i = 0;
    while (i < cache->count && strcmp(cache->names[i], name) != 0)
        i++;
    if (i == cache->count)
        cache->names[cache->count++] = sta_strdup(name);
    free(cache->bytes[i]);
    cache->bytes[i] = sta_alloc(size + 1);
    memcpy(cache->bytes[i], bytes, size);
    cache->sizes[i] = size;
    cache->kept++;
}

static void cache_fini(struct cache *cache)
{
    for (size_t i = 0; i < cache->count; i++) {
        free(cache->names[i]);
        free(cache->bytes[i]);
    }
}

static const char *const metrics[] = {"count",
                                      "time",
                                      "size",
                                      "bw",
                                      "ops",
                                      "busy",
                                      "bw_busy",
                                      "busy_process_sum",
                                      "busy_group_sum",
                                      "exposed_group_sum",
                                      "hidden_share",
                                      "self_group_sum",
                                      "read_size",
                                      "close_busy"};

static struct sta_table request(const struct sta_view_query *query, const struct sta_series *series,
                                struct sta_facts *facts)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_budget budget = {.workers = 2, .memory = (size_t)1 << 28};
    struct sta_table table;
    cr_assert_eq(sta_timeseries_exact(query, series, &budget, &table, facts, &err), 0, "%s", err.text);
    return table;
}

static void assert_same(const struct sta_table *a, const struct sta_table *b, uint64_t seed)
{
    cr_assert_eq(a->rows, b->rows);
    cr_assert_eq(a->column_count, b->column_count);
    for (size_t c = 0; c < a->column_count; c++) {
        const struct sta_table_column *x = &a->columns[c];
        const struct sta_table_column *y = &b->columns[c];
        cr_assert_str_eq(x->name, y->name);
        cr_assert_eq(memcmp(x->missing, y->missing, a->rows), 0, "seed %lu %s", (unsigned long)seed, x->name);
        for (size_t row = 0; row < a->rows; row++)
            cr_assert(x->missing[row] || (x->type == STA_TYPE_INT ? x->integers[row] == y->integers[row]
                                                                  : x->numbers[row] == y->numbers[row]),
                      "seed %lu %s row %zu", (unsigned long)seed, x->name, row);
    }
}

static void assert_same_facts(const struct sta_facts *a, const struct sta_facts *b, uint64_t seed)
{
    cr_assert_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        cr_assert(a->items[i].integer == b->items[i].integer && a->items[i].number == b->items[i].number,
                  "seed %lu %s", (unsigned long)seed, a->items[i].name);
}

static struct sta_series series_of(struct scene *scene, const struct sta_series_base *base)
{
    static const char *const one[] = {"io"};
    bool all = scene_below(scene, 2);
    return (struct sta_series){.layers = all ? NULL : one,
                               .layer_count = 1,
                               .metrics = metrics,
                               .metric_count = STA_COUNT_OF(metrics),
                               .granularity_us = 1 + scene_below(scene, 70),
                               .max_points = scene_below(scene, 2) ? 1 + scene_below(scene, 40) : 0,
                               .base = base};
}

Test(exact_series, from_the_base_they_are_what_a_scan_gives)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct made_trace trace;
        struct cache cache = {0};
        const struct sta_series_base base = {&cache, get, put};
        scene_make(scene, seed * 77);
        scene->has_filter = false;
        scene->filters = true;
        scene_store(scene, &trace, 24, 2);
        struct sta_view_query query = scene_query(scene, trace.snapshot, presets);
        for (int i = 0; i < 4; i++) {
            struct sta_facts facts[2];
            struct sta_series series = series_of(scene, &base);
            struct sta_table from_base = request(&query, &series, &facts[0]);
            series.base = NULL;
            struct sta_table scanned = request(&query, &series, &facts[1]);
            assert_same(&from_base, &scanned, seed);
            assert_same_facts(&facts[0], &facts[1], seed);
            sta_table_fini(&from_base);
            sta_table_fini(&scanned);
        }
        cr_assert_eq(cache.kept, SCENE_LAYERS + 1, "made once");
        cr_assert_gt(cache.got, 0);
        cache_fini(&cache);
        made_trace_fini(&trace);
    }
    free(scene);
    sta_presets_release(presets);
}

Test(exact_series, a_damaged_base_is_no_crash_and_is_made_again_when_it_is_gone)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    struct made_trace trace;
    struct cache cache = {0};
    const struct sta_series_base base = {&cache, get, put};
    struct sta_facts facts;
    scene_make(scene, 4);
    scene->has_filter = scene->has_window = false;
    scene->filters = true;
    scene_store(scene, &trace, 24, 1);
    struct sta_view_query query = scene_query(scene, trace.snapshot, presets);
    struct sta_series series = {
        .metrics = metrics, .metric_count = STA_COUNT_OF(metrics), .granularity_us = 7, .base = &base};
    struct sta_table whole = request(&query, &series, &facts);
    for (uint64_t i = 0; i < 400; i++) {
        size_t which = scene_below(scene, (uint32_t)cache.count);
        size_t at = scene_below(scene, (uint32_t)cache.sizes[which]);
        if (i % 3 == 0) /* cut short */
            cache.sizes[which] = at;
        else if (at < 20 || i % 3 == 1) /* the head, or a name or size that leads nowhere */
            cache.bytes[which][at % 20] ^= (char)(1 + scene_below(scene, 255));
        else
            continue;
        struct sta_table again = request(&query, &series, &facts);
        sta_table_fini(&again);
        cache_fini(&cache);
        cache = (struct cache){0};
        again = request(&query, &series, &facts);
        assert_same(&whole, &again, i);
        sta_table_fini(&again);
    }
    sta_table_fini(&whole);
    cache_fini(&cache);
    made_trace_fini(&trace);
    free(scene);
    sta_presets_release(presets);
}

Test(exact_series, the_number_of_points_picks_round_bins)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    struct made_trace trace;
    struct sta_facts facts;
    static const char *const one[] = {"count"};
    scene_make(scene, 9);
    scene->has_filter = scene->has_window = false;
    scene_store(scene, &trace, 24, 1);
    struct sta_view_query query = scene_query(scene, trace.snapshot, presets);
    static const uint32_t points[] = {1, 7, 50, 240, 1000};
    for (size_t i = 0; i < STA_COUNT_OF(points); i++) {
        struct sta_series series = {.metrics = one, .metric_count = 1, .max_points = points[i]};
        struct sta_table table = request(&query, &series, &facts);
        cr_assert_leq(table.rows, points[i]);
        cr_assert(points[i] < 240 ? table.rows * 3 > points[i] || points[i] == 1 : table.rows > 100,
                  "%zu rows of %u", table.rows, points[i]);
        sta_table_fini(&table);
    }
    made_trace_fini(&trace);
    free(scene);
    sta_presets_release(presets);
}

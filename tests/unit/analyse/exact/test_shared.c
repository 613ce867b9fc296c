/* Exact tables that several processes fill, each of a range of time: the tables of one that fills them
 * alone, also when some of the others cannot. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../peers.h"
#include "analyse/analyse.h"
#include "common/memory.h"
#include "scene.h"

static const char *const views[] = {NULL,        "time_range", "process",   "thread", "host_name",
                                    "file_name", "file_dir",   "func_name", "cat",    "step"};

struct answer {
    struct sta_table table;
    struct sta_facts facts;
};

static struct answer request(const struct scene *scene, const struct made_trace *trace,
                             const struct sta_presets *presets, const char *by, const struct sta_peers *peers)
{
    struct sta_error err = STA_ERROR_INIT;
    struct answer answer;
    struct sta_budget budget = {.workers = 3, .memory = (size_t)1 << 28, .peers = peers};
    struct sta_view_query common = scene_query(scene, trace->snapshot, presets);
    struct sta_table_query query = {.common = &common,
                                    .table = by != NULL ? STA_VIEW_FLAT : STA_VIEW_SUMMARY,
                                    .by = by,
                                    .granularity_us = scene->g,
                                    .slice_rows = 7};
    cr_assert_eq(sta_view_exact(&query, &budget, &answer.table, &answer.facts, &err), 0, "%s", err.text);
    return answer;
}

static void assert_same(const struct answer *a, const struct answer *b, uint64_t seed, const char *by)
{
    cr_assert_eq(a->table.rows, b->table.rows, "seed %lu by %s", (unsigned long)seed, by);
    cr_assert_eq(a->facts.count, b->facts.count);
    for (size_t i = 0; i < a->facts.count; i++)
        cr_assert_eq(a->facts.items[i].integer, b->facts.items[i].integer, "seed %lu by %s: %s",
                     (unsigned long)seed, by, a->facts.items[i].name);
    for (size_t c = 0; c < a->table.column_count; c++) {
        const struct sta_table_column *x = &a->table.columns[c], *y = &b->table.columns[c];
        cr_assert_eq(memcmp(x->missing, y->missing, a->table.rows), 0, "seed %lu by %s: %s",
                     (unsigned long)seed, by, x->name);
        for (size_t row = 0; row < a->table.rows; row++) {
            const bool same = x->missing[row] ? true
                              : x->type == STA_TYPE_TEXT
                                  ? strcmp(x->texts[row].bytes, y->texts[row].bytes) == 0
                              : x->type == STA_TYPE_INT ? x->integers[row] == y->integers[row]
                                                        : x->numbers[row] == y->numbers[row];
            cr_assert(same, "seed %lu by %s: %s, row %zu", (unsigned long)seed, by, x->name, row);
        }
    }
}

static void answer_fini(struct answer *answer)
{
    sta_table_fini(&answer->table);
}

Test(exact_shared, tables_are_those_of_one)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    unsigned shared = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct made_trace trace;
        struct peers peers;
        const char *by = views[seed % STA_COUNT_OF(views)];
        scene_make(scene, seed * 31);
        scene_store(scene, &trace, SCENE_EVENTS / 8, 8);
        peers_init(&peers, 2 + (unsigned)(seed % 3), presets, trace.snapshot);
        peers.status[1 + seed % (PEERS - 1)] = seed % 4 == 0 ? STA_EOUTDATED : STA_OK;
        struct answer alone = request(scene, &trace, presets, by, NULL);
        struct answer together = request(scene, &trace, presets, by, &peers.calls);
        assert_same(&alone, &together, seed, by);
        cr_assert_eq(peers.ended, peers.asked_count);
        shared += peers.asked_count;
        answer_fini(&alone);
        answer_fini(&together);
        peers_fini(&peers);
        made_trace_fini(&trace);
    }
    cr_assert_gt(shared, 40, "%u questions were shared", shared);
    free(scene);
    sta_presets_release(presets);
}

Test(exact_shared, bytes_that_are_no_query_are_refused)
{
    struct sta_presets *presets = scene_presets();
    struct scene *scene = sta_alloc(sizeof *scene);
    const struct sta_budget budget = {.workers = 1, .memory = (size_t)1 << 28};
    struct made_trace trace;
    struct peers peers = {.asked_count = 0};
    scene_make(scene, 31 * 9);
    scene_store(scene, &trace, SCENE_EVENTS / 8, 8);
    peers_init(&peers, 2, presets, trace.snapshot);
    struct answer answer = request(scene, &trace, presets, "func_name", &peers.calls);
    cr_assert_eq(peers.asked_count, 1);
    for (size_t size = 40; size < peers.query.size; size++) { /* behind fingerprint and trace */
        struct sta_buffer state = {0};
        struct sta_error err = STA_ERROR_INIT;
        int status = peers_work(&peers, size, 1, &budget, &state, &err);
        cr_assert_eq(status, STA_ECORRUPT, "%zu bytes: %d %s", size, status, err.text);
        sta_buffer_fini(&state);
    }
    answer_fini(&answer);
    peers_fini(&peers);
    made_trace_fini(&trace);
    free(scene);
    sta_presets_release(presets);
}

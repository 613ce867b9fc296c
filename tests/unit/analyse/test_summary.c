/* The exact summary of made-up events against sums over single ticks, and the laws of its columns. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/summary.h"
#include "common/memory.h"

#define HORIZON 240
#define EVENTS 160
#define BLOCK 24
#define PROCESSES 6
#define THREADS 9
#define HOSTS 2
#define FILES 70
#define LAYERS 5
#define CLASSES 6

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

/* Everything about a made-up trace and preset. */
struct scene {
    struct sta_derived_metric metrics[LAYERS][2];
    struct sta_layer layers[LAYERS];
    struct sta_preset preset;
    struct sta_shape shape;
    bool takes[CLASSES][LAYERS], has_metric[CLASSES][LAYERS * 2];
    enum sta_fate fates[CLASSES];
    struct sta_entity_process processes[PROCESSES];
    struct sta_entity_thread threads[THREADS];
    uint32_t thread_of_code[THREADS], file_of_ref[FILES];
    struct sta_rank_groups groups;
    uint32_t count, block_count;
    int64_t ts[EVENTS], dur[EVENTS], sizes[EVENTS];
    uint8_t no_size[EVENTS];
    uint32_t classes[EVENTS], thread[EVENTS], file[EVENTS];
    struct sta_timeline_block blocks[EVENTS];
    struct sta_summary summary;
};

static const char *const layer_names[LAYERS] = {"a", "b", "c", "d", "e"};

static void make_preset(struct scene *scene)
{
    static const char *const metric_names[] = {"read", "close"};
    scene->preset =
        (struct sta_preset){.name = (char *)"made-up", .layers = scene->layers, .layer_count = LAYERS};
    for (uint32_t l = 0; l < LAYERS; l++) {
        struct sta_layer *layer = &scene->layers[l];
        *layer = (struct sta_layer){.name = (char *)layer_names[l], .metrics = scene->metrics[l]};
        if (l > 0 && below(3) != 0)
            layer->parent = (char *)layer_names[below(l)];
        layer->metric_count = below(3);
        for (size_t m = 0; m < layer->metric_count; m++)
            layer->metrics[m].name = (char *)metric_names[m];
    }
    if (below(4) != 0)
        scene->preset.overlap_with = (char *)layer_names[below(LAYERS)];
    sta_shape_init(&scene->shape, &scene->preset);
    for (int c = 0; c < CLASSES; c++) {
        scene->fates[c] = below(5) == 0 ? (enum sta_fate)(1 + below(2)) : STA_FATE_KEPT;
        for (uint32_t l = 0; l < LAYERS; l++) {
            scene->takes[c][l] = scene->fates[c] == STA_FATE_KEPT && below(3) == 0;
            for (uint32_t m = 0; m < scene->shape.layers[l].metric_count; m++)
                scene->has_metric[c][scene->shape.layers[l].first_metric + m] =
                    scene->takes[c][l] && below(2);
        }
    }
}

static void make_entities(struct scene *scene)
{
    uint32_t parents[PROCESSES];
    for (uint32_t p = 0; p < PROCESSES; p++) {
        scene->processes[p] = (struct sta_entity_process){p == PROCESSES - 1 ? STA_NO_CODE : p % HOSTS, p};
        parents[p] = below(2) ? below(PROCESSES) : STA_NO_PARENT;
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        scene->thread_of_code[t] = THREADS - 1 - t;
        scene->threads[t] = (struct sta_entity_thread){.process = t % PROCESSES, .tid = t};
    }
    for (uint32_t f = 0; f < FILES; f++)
        scene->file_of_ref[f] =
            f == 0 ? STA_NO_CODE : f % (FILES - 3); /* two references of some files, none of one */
    sta_rank_groups_from_parents(&scene->groups, parents, PROCESSES);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;
    return (*x > *y) - (*x < *y);
}

static void make_events(struct scene *scene)
{
    scene->count = 1 + below(EVENTS);
    for (uint32_t i = 0; i < scene->count; i++) {
        scene->ts[i] = below(below(2) ? HORIZON - 1 : 20);
        scene->dur[i] = below(5) == 0 ? 0 : below(10) == 0 ? HORIZON - scene->ts[i] - 1 : below(9);
        scene->dur[i] = STA_MIN(scene->dur[i], HORIZON - scene->ts[i]);
        scene->no_size[i] = below(3) == 0;
        scene->sizes[i] = 1 + (int64_t)below(1 << (1 + below(30)));
        scene->classes[i] = below(CLASSES);
        scene->thread[i] = below(THREADS);
        scene->file[i] = below(4) == 0 ? STA_NO_CODE : below(FILES);
    }
    for (uint32_t at = 0; at < scene->count; at += BLOCK) { /* each block in order, as the store has it */
        uint32_t rows = STA_MIN(BLOCK, scene->count - at);
        qsort(scene->ts + at, rows, sizeof *scene->ts, compare_times);
        scene->blocks[scene->block_count++] =
            (struct sta_timeline_block){scene->ts[at], scene->ts[at + rows - 1], rows};
    }
    for (uint32_t i = 0; i < scene->count; i++)
        scene->dur[i] = STA_MIN(scene->dur[i], HORIZON - scene->ts[i]);
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    memset(scene, 0, sizeof *scene);
    state = seed;
    make_preset(scene);
    make_entities(scene);
    make_events(scene);
}

static void end_scene(struct scene *scene)
{
    sta_rank_groups_fini(&scene->groups);
    sta_shape_fini(&scene->shape);
}

static void membership_of(const void *context, uint32_t class, struct sta_membership *membership)
{
    const struct scene *scene = context;
    membership->fate = scene->fates[class];
    membership->layer_count = membership->metric_count = 0;
    for (uint32_t l = 0; l < LAYERS; l++)
        if (scene->takes[class][l])
            membership->layers[membership->layer_count++] = l;
    for (uint32_t m = 0; m < scene->shape.metric_count; m++)
        if (scene->has_metric[class][m])
            membership->metrics[membership->metric_count++] = m;
}

/* ---- running it */

static int read_block(void *context, unsigned worker, size_t block, struct sta_span *spans, uint32_t *count,
                      struct sta_error *err)
{
    struct scene *scene = context;
    size_t at = block * BLOCK;
    struct sta_summary_rows rows = {.count = scene->blocks[block].rows,
                                    .classes = scene->classes + at,
                                    .threads = scene->thread + at,
                                    .files = scene->file + at,
                                    .ts = scene->ts + at,
                                    .dur = scene->dur + at,
                                    .sizes = scene->sizes + at,
                                    .no_size = scene->no_size + at,
                                    .from = INT64_MIN,
                                    .to = INT64_MAX};
    return sta_summary_update(&scene->summary, worker, &rows, spans, count, err);
}

static void prepare(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_prepare(((struct scene *)context)->summary.unions, worker, slice);
}

static void carry(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_carry(((struct scene *)context)->summary.unions, worker, slice);
}

static void measure(void *context, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_measure(((struct scene *)context)->summary.unions, worker, slice);
}

static void run(struct scene *scene, unsigned workers, size_t slice_rows, struct sta_table *table,
                struct sta_summary_counts *counts)
{
    const struct sta_summary_entities entities = {.thread_of_code = scene->thread_of_code,
                                                  .file_of_ref = scene->file_of_ref,
                                                  .thread_code_count = THREADS,
                                                  .file_ref_count = FILES,
                                                  .threads = scene->threads,
                                                  .processes = scene->processes,
                                                  .thread_count = THREADS,
                                                  .process_count = PROCESSES,
                                                  .file_limit = FILES,
                                                  .host_limit = HOSTS};
    const struct sta_memberships memberships = {membership_of, scene};
    const struct sta_budget budget = {.workers = workers, .memory = 1 << 24};
    const struct sta_timeline_work work = {read_block, prepare, carry, measure, scene};
    const struct sta_time_scale scale = {HORIZON, 1};
    struct sta_error err = STA_ERROR_INIT;
    *counts = (struct sta_summary_counts){0};
    sta_summary_init(&scene->summary, &scene->shape, &entities, &scene->groups, &memberships, &budget);
    cr_assert_eq(sta_timeline_run(scene->blocks, scene->block_count, &work, slice_rows, &budget, &err), 0,
                 "%s", err.text);
    sta_summary_table(&scene->summary, &scene->preset, &scale, table, counts);
    sta_summary_fini(&scene->summary);
}

/* ---- the same, tick by tick */

typedef bool (*member_test)(const struct scene *scene, uint32_t event, uint32_t index);

static bool in_layer(const struct scene *scene, uint32_t event, uint32_t layer)
{
    return scene->takes[scene->classes[event]][layer];
}

static bool in_children(const struct scene *scene, uint32_t event, uint32_t layer)
{
    for (uint32_t c = 0; c < LAYERS; c++)
        if (scene->shape.layers[c].parent == layer && in_layer(scene, event, c))
            return true;
    return false;
}

static bool in_metric(const struct scene *scene, uint32_t event, uint32_t metric)
{
    return scene->has_metric[scene->classes[event]][metric];
}

static uint32_t process_of(const struct scene *scene, uint32_t event)
{
    return scene->threads[scene->thread_of_code[scene->thread[event]]].process;
}

enum level { LEVEL_JOB, LEVEL_GROUP, LEVEL_PROCESS };

static bool is_in_unit(const struct scene *scene, uint32_t event, enum level level, uint32_t unit)
{
    uint32_t process = process_of(scene, event);
    return level == LEVEL_JOB ||
           (level == LEVEL_GROUP ? scene->groups.group_of_process[process] : process) == unit;
}

/* Ticks of a unit in which an event of the layer (or metric) is active and none of @without (NULL: nothing). */
static int64_t ticks(const struct scene *scene, member_test test, uint32_t index, member_test without,
                     uint32_t without_index, enum level level, uint32_t unit)
{
    uint8_t covered[HORIZON] = {0};
    for (uint32_t i = 0; i < scene->count; i++)
        for (int64_t t = scene->ts[i]; is_in_unit(scene, i, level, unit) && t < scene->ts[i] + scene->dur[i];
             t++)
            covered[t] |= (uint8_t)((test(scene, i, index) ? 1 : 0) |
                                    (without != NULL && without(scene, i, without_index) ? 2 : 0));
    int64_t sum = 0;
    for (int t = 0; t < HORIZON; t++)
        sum += covered[t] == 1;
    return sum;
}

static double value(const struct sta_table *table, const char *name, size_t row)
{
    const struct sta_table_column *column = sta_table_find(table, name);
    if (column == NULL || column->missing[row])
        return NAN;
    return column->type == STA_TYPE_INT ? (double)column->integers[row] : column->numbers[row];
}

static void expect(const struct sta_table *table, const char *name, uint32_t row, double wanted,
                   uint64_t seed)
{
    double got = value(table, name, row);
    bool same = isnan(wanted) ? isnan(got) : fabs(got - wanted) <= 1e-12 * fabs(wanted);
    cr_assert(same, "seed %lu layer %u %s: %.17g, not %.17g", (unsigned long)seed, row, name, got, wanted);
}

static double ratio(double a, double b)
{
    return a != 0 && b != 0 ? a / b : NAN;
}

struct expected {
    double count, time, size, bins[STA_SIZE_BINS];
    bool processes[PROCESSES], groups[PROCESSES], threads[THREADS], hosts[HOSTS + 1], files[FILES];
};

static struct expected add_up(const struct scene *scene, member_test test, uint32_t index)
{
    static const double edges[STA_SIZE_BINS - 1] = {4096.,      16384.,      65536.,     262144.,
                                                    1048576.,   4194304.,    16777216.,  67108864.,
                                                    268435456., 1073741824., 4294967296.};
    struct expected sum = {0};
    for (uint32_t i = 0; i < scene->count; i++) {
        if (!test(scene, i, index))
            continue;
        uint32_t process = process_of(scene, i);
        uint32_t host = scene->processes[process].host;
        sum.count++;
        sum.time += (double)scene->dur[i] / 1e6;
        sum.processes[process] = sum.groups[scene->groups.group_of_process[process]] = true;
        sum.threads[scene->thread_of_code[scene->thread[i]]] = sum.hosts[host == STA_NO_CODE ? HOSTS : host] =
            true;
        if (scene->file[i] != STA_NO_CODE && scene->file_of_ref[scene->file[i]] != STA_NO_CODE)
            sum.files[scene->file_of_ref[scene->file[i]]] = true;
        if (scene->no_size[i])
            continue;
        int bin = 0;
        while (bin < STA_SIZE_BINS - 1 && (double)scene->sizes[i] > edges[bin])
            bin++;
        sum.bins[bin]++;
        sum.size += (double)scene->sizes[i];
    }
    return sum;
}

static double trues(const bool *flags, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += flags[i];
    return sum;
}

static void check_processes(const struct scene *scene, const struct sta_table *table, uint32_t l,
                            const struct expected *sum, uint64_t seed)
{
    int64_t low = INT64_MAX;
    int64_t high = 0;
    int64_t total = 0;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        if (!sum->processes[p])
            continue;
        int64_t busy = ticks(scene, in_layer, l, NULL, 0, LEVEL_PROCESS, p);
        low = STA_MIN(low, busy);
        high = STA_MAX(high, busy);
        total += busy;
    }
    double processes = trues(sum->processes, PROCESSES);
    expect(table, "busy_process_min", l, (double)low / 1e6, seed);
    expect(table, "busy_process_mean", l, (double)total / processes / 1e6, seed);
    expect(table, "busy_process_max", l, (double)high / 1e6, seed);
    expect(table, "busy_process_sum", l, (double)total / 1e6, seed);
    expect(table, "time_share", l, ratio((double)high / 1e6, HORIZON / 1e6), seed);
}

static void check_groups(const struct scene *scene, const struct sta_table *table, uint32_t l,
                         const struct expected *sum, uint64_t seed)
{
    const struct sta_shape_layer *layer = &scene->shape.layers[l];
    int64_t busy = 0;
    int64_t exposed = 0;
    int64_t most = 0;
    int64_t self = 0;
    for (uint32_t g = 0; g < scene->groups.group_count; g++) {
        if (!sum->groups[g])
            continue;
        busy += ticks(scene, in_layer, l, NULL, 0, LEVEL_GROUP, g);
        self += ticks(scene, in_layer, l, in_children, l, LEVEL_GROUP, g);
        if (!layer->exposed)
            continue;
        int64_t here = ticks(scene, in_layer, l, in_layer, scene->shape.compute, LEVEL_GROUP, g);
        exposed += here;
        most = STA_MAX(most, here);
    }
    expect(table, "busy_group_sum", l, (double)busy / 1e6, seed);
    expect(table, "exposed_group_sum", l, layer->exposed ? (double)exposed / 1e6 : NAN, seed);
    expect(table, "exposed_group_max", l, layer->exposed ? (double)most / 1e6 : NAN, seed);
    expect(table, "hidden_share", l, layer->exposed && busy > 0 ? 1 - (double)exposed / (double)busy : NAN,
           seed);
    expect(table, "self_group_sum", l, layer->has_children ? (double)self / 1e6 : NAN, seed);
}

static void check_metrics(const struct scene *scene, const struct sta_table *table, uint32_t l, uint64_t seed)
{
    for (uint32_t m = 0; m < scene->shape.layers[l].metric_count; m++) {
        uint32_t number = scene->shape.layers[l].first_metric + m;
        struct expected sum = add_up(scene, in_metric, number);
        double busy = (double)ticks(scene, in_metric, number, NULL, 0, LEVEL_JOB, 0) / 1e6;
        expect(table, m == 0 ? "read_count" : "close_count", l, sum.count, seed);
        expect(table, m == 0 ? "read_busy" : "close_busy", l, busy, seed);
        expect(table, "read_size", l, m == 0 ? sum.size : value(table, "read_size", l), seed);
        expect(table, "read_bw", l, m == 0 ? ratio(sum.size, sum.time) : value(table, "read_bw", l), seed);
    }
    cr_assert_null(sta_table_find(table, "close_size"), "sizes belong to data, read and write alone");
}

static void check_layer(const struct scene *scene, const struct sta_table *table, uint32_t l, uint64_t seed)
{
    struct expected sum = add_up(scene, in_layer, l);
    expect(table, "count", l, sum.count, seed);
    if (sum.count == 0) {
        expect(table, "time", l, NAN, seed);
        expect(table, "busy_process_min", l, NAN, seed);
        return;
    }
    double busy = (double)ticks(scene, in_layer, l, NULL, 0, LEVEL_JOB, 0) / 1e6;
    expect(table, "time", l, sum.time, seed);
    expect(table, "size", l, sum.size, seed);
    for (int b = 0; b < STA_SIZE_BINS; b++)
        expect(table, sta_size_bin_names[b], l, sum.bins[b], seed);
    expect(table, "bw", l, ratio(sum.size, sum.time), seed);
    expect(table, "ops", l, ratio(sum.count, sum.time), seed);
    expect(table, "busy", l, busy, seed);
    expect(table, "bw_busy", l, ratio(sum.size, busy), seed);
    expect(table, "processes", l, trues(sum.processes, PROCESSES), seed);
    expect(table, "threads", l, trues(sum.threads, THREADS), seed);
    expect(table, "hosts", l, trues(sum.hosts, HOSTS + 1), seed);
    expect(table, "files", l, trues(sum.files, FILES), seed);
    check_processes(scene, table, l, &sum, seed);
    check_groups(scene, table, l, &sum, seed);
    check_metrics(scene, table, l, seed);
}

static void check_counts(const struct scene *scene, const struct sta_summary_counts *counts)
{
    int64_t wanted[4] = {0};
    for (uint32_t i = 0; i < scene->count; i++) {
        uint32_t class = scene->classes[i];
        uint32_t layers = 0;
        for (uint32_t l = 0; l < LAYERS; l++)
            layers += scene->takes[class][l];
        wanted[0] += scene->fates[class] == STA_FATE_FILE;
        wanted[1] += scene->fates[class] == STA_FATE_FUNCTION;
        wanted[2] += scene->fates[class] == STA_FATE_KEPT && layers == 0;
        wanted[3] += layers > 1;
    }
    cr_assert_eq(counts->filtered_by_file, wanted[0]);
    cr_assert_eq(counts->filtered_by_function, wanted[1]);
    cr_assert_eq(counts->unmatched, wanted[2]);
    cr_assert_eq(counts->multiple, wanted[3]);
}

static void check_laws(const struct sta_table *table, uint32_t l)
{
    const double slack = 1e-12;
    if (value(table, "count", l) == 0)
        return;
    double busy = value(table, "busy", l);
    double exposed = value(table, "exposed_group_sum", l);
    cr_assert_leq(busy, value(table, "busy_group_sum", l) + slack);
    cr_assert_leq(value(table, "busy_group_sum", l), value(table, "busy_process_sum", l) + slack);
    cr_assert_leq(value(table, "busy_process_sum", l), value(table, "time", l) + slack);
    cr_assert_leq(busy, HORIZON / 1e6 + slack);
    cr_assert(isnan(exposed) || exposed <= value(table, "busy_group_sum", l) + slack);
}

Test(summary, equals_sums_over_single_ticks)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct sta_table table;
        struct sta_summary_counts counts;
        make_scene(scene, seed);
        run(scene, 1 + (unsigned)(seed % 4), 1 + seed % 53, &table, &counts);
        for (uint32_t l = 0; l < LAYERS; l++) {
            check_layer(scene, &table, l, seed);
            check_laws(&table, l);
        }
        check_counts(scene, &counts);
        sta_table_fini(&table);
        end_scene(scene);
    }
    free(scene);
}

static void assert_same(const struct sta_table *a, const struct sta_table *b, uint64_t seed)
{
    cr_assert_eq(a->column_count, b->column_count);
    for (size_t c = 0; c < a->column_count; c++) {
        const struct sta_table_column *x = &a->columns[c];
        const struct sta_table_column *y = &b->columns[c];
        cr_assert_str_eq(x->name, y->name);
        cr_assert_eq(memcmp(x->missing, y->missing, a->rows), 0);
        for (size_t row = 0; row < a->rows; row++) {
            if (x->missing[row] || x->type == STA_TYPE_TEXT)
                continue;
            double left = value(a, x->name, row);
            double right = value(b, x->name, row);
            cr_assert_eq(memcmp(&left, &right, sizeof left), 0, "seed %lu %s", (unsigned long)seed, x->name);
        }
    }
}

Test(summary, is_the_same_to_the_last_bit_for_any_workers_and_slices)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct sta_table first;
        struct sta_summary_counts counts;
        make_scene(scene, seed);
        run(scene, 1, 1000, &first, &counts);
        for (unsigned workers = 1; workers <= 4; workers++) {
            struct sta_table again;
            run(scene, workers, 1 + below(40), &again, &counts);
            assert_same(&first, &again, seed);
            sta_table_fini(&again);
        }
        sta_table_fini(&first);
        end_scene(scene);
    }
    free(scene);
}

Test(summary, size_bins_are_closed_on_the_right)
{
    static const struct {
        int64_t size;
        unsigned bin;
    } cases[] = {{1, 0},
                 {2, 0},
                 {4096, 0},
                 {4097, 1},
                 {16384, 1},
                 {16385, 2},
                 {1 << 20, 4},
                 {1 << 30, 9},
                 {(1 << 30) + 1, 10},
                 {INT64_C(1) << 32, 10},
                 {(INT64_C(1) << 32) + 1, 11},
                 {INT64_MAX, 11}};
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++)
        cr_assert_eq(sta_size_bin(cases[i].size), cases[i].bin, "%ld", (long)cases[i].size);
}

Test(summary, a_thread_code_past_the_tables_is_corruption_not_a_crash)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    make_scene(scene, 3);
    const struct sta_summary_entities entities = {.thread_of_code = scene->thread_of_code,
                                                  .thread_code_count = THREADS,
                                                  .threads = scene->threads,
                                                  .thread_count = THREADS,
                                                  .processes = scene->processes,
                                                  .process_count = PROCESSES};
    const struct sta_memberships memberships = {membership_of, scene};
    const struct sta_budget budget = {.workers = 1, .memory = 1 << 20};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_span spans[1];
    uint32_t code = STA_NO_CODE;
    uint32_t count;
    struct sta_summary_rows rows = {.count = 1,
                                    .classes = scene->classes,
                                    .threads = &code,
                                    .ts = scene->ts,
                                    .dur = scene->dur,
                                    .to = INT64_MAX};
    sta_summary_init(&scene->summary, &scene->shape, &entities, &scene->groups, &memberships, &budget);
    cr_assert_eq(sta_summary_update(&scene->summary, 0, &rows, spans, &count, &err), STA_ECORRUPT);
    sta_summary_fini(&scene->summary);
    end_scene(scene);
    free(scene);
}

Test(summary, more_memory_than_the_question_may_hold_is_a_limit_that_names_the_setting)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    make_scene(scene, 11);
    memset(scene->takes, 1, sizeof scene->takes);
    memset(scene->fates, 0, sizeof scene->fates);
    const struct sta_summary_entities entities = {.thread_of_code = scene->thread_of_code,
                                                  .thread_code_count = THREADS,
                                                  .threads = scene->threads,
                                                  .thread_count = THREADS,
                                                  .processes = scene->processes,
                                                  .process_count = PROCESSES};
    const struct sta_memberships memberships = {membership_of, scene};
    const struct sta_budget budget = {.workers = 1, .memory = 10};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_span spans[1];
    uint32_t count;
    struct sta_summary_rows rows = {.count = 1,
                                    .classes = scene->classes,
                                    .threads = scene->thread,
                                    .ts = scene->ts,
                                    .dur = scene->dur,
                                    .to = INT64_MAX};
    sta_summary_init(&scene->summary, &scene->shape, &entities, &scene->groups, &memberships, &budget);
    cr_assert_eq(sta_summary_update(&scene->summary, 0, &rows, spans, &count, &err), STA_ELIMIT);
    cr_assert_not_null(strstr(err.text, "query_memory"));
    sta_summary_fini(&scene->summary);
    end_scene(scene);
    free(scene);
}

/* Attribution of random jobs against a walk through single microseconds; sums without intervals against
 * intervals added up. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings/attribution.h"
#include "findings/epochs.h"
#include "common/files.h"
#include "common/memory.h"
#include "job.h"
#include "findings/findings.h"

#define HORIZON 120
#define MOST_EVENTS 60
#define RANKS 3

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

/* What an event is, in the order in which the chain charges; training and compute come behind the causes. */
static const struct kind {
    const char *name, *cat, *cause;
} kinds[] = {{"save_checkpoint", "checkpoint", "checkpoint"},
             {"read", "posix", "read"},
             {"write", "posix", "write"},
             {"open64", "posix", "metadata"},
             {"NPZReader.read", "reader", "reader"},
             {"fork", "posix", "worker_start"},
             {"__getitem__", "data_loader", "data_loader"},
             {"fetch-data.iter", "other", "fetch"},
             {"loop.yield", "other", "loop"},
             {"TorchFramework.init", "ai_framework", "framework"},
             {TRAIN, "dlio_benchmark", NULL},
             {"TorchFramework.compute", "ai_framework", NULL}};
#define CAUSES 10
#define TRAINING CAUSES
#define COMPUTE (CAUSES + 1)

struct scene {
    struct made_event events[RANKS * MOST_EVENTS];
    uint8_t kind[RANKS * MOST_EVENTS];
    size_t count;
    struct job job;
    bool window;
    int64_t from, to;
};

static int by_start(const void *a, const void *b)
{
    const struct made_event *x = a, *y = b;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    *scene = (struct scene){0};
    state = seed;
    scene->events[scene->count++] = job_event("start", "dftracer", 1, 0, 0); /* the origin */
    for (int64_t pid = 1; pid <= RANKS; pid++)
        for (uint32_t i = below(MOST_EVENTS - 1); i > 0; i--) {
            const struct kind *kind = &kinds[below(STA_COUNT_OF(kinds))];
            const int64_t ts = below(HORIZON - 40), dur = below(4) == 0 ? below(40) : below(8);
            scene->events[scene->count++] = job_event(kind->name, kind->cat, pid, ts, dur);
        }
    qsort(scene->events + 1, scene->count - 1, sizeof *scene->events, by_start);
    scene->window = seed % 3 == 0;
    scene->from = scene->window ? below(HORIZON / 2) : 0;
    scene->to = scene->window ? scene->from + below(HORIZON / 2) : HORIZON;
    job_init(&scene->job, scene->events, scene->count, 1 + below(3));
}

static size_t kind_of(const struct made_event *event)
{
    size_t k = 0;
    while (k < STA_COUNT_OF(kinds) && strcmp(kinds[k].name, event->name) != 0)
        k++;
    return k;
}

/* Microseconds of each cause, then untraced, of all ranks. */
static void walk(const struct scene *scene, int64_t time[CAUSES + 1])
{
    memset(time, 0, (CAUSES + 1) * sizeof *time);
    for (int64_t pid = 1; pid <= RANKS; pid++)
        for (int64_t at = scene->from; at < scene->to; at++) {
            bool active[STA_COUNT_OF(kinds) + 1] = {false};
            size_t cause = 0;
            for (size_t i = 0; i < scene->count; i++)
                if (scene->events[i].pid == pid && scene->events[i].ts <= at &&
                    at < scene->events[i].ts + scene->events[i].dur)
                    active[kind_of(&scene->events[i])] = true;
            if (!active[TRAINING] || active[COMPUTE])
                continue;
            while (cause < CAUSES && !active[cause])
                cause++;
            time[cause]++;
        }
}

static struct sta_overlap_query query_of(struct scene *scene, const char *preset,
                                         struct sta_document **request)
{
    struct sta_overlap_query query = job_query(&scene->job, preset, request);
    if (scene->window) {
        job_add_number(&scene->job, *request, "from", (double)scene->from / 1e6);
        job_add_number(&scene->job, *request, "to", (double)scene->to / 1e6);
    }
    return query;
}

/* Rows of the whole target against those of its causes, which add up to the sums. */
static void expect_rows(const struct sta_charged_rows *rows, const struct sta_charged_rows *of_causes,
                        const struct sta_charged *charged)
{
    __int128 sums[STA_CHARGE_LISTS] = {0};
    cr_assert_eq(rows->count, of_causes->count, "%zu rows, not %zu", rows->count, of_causes->count);
    for (size_t i = 0; i < rows->count; i++) {
        const int64_t *times = sta_charged_times(of_causes, &of_causes->items[i]);
        int64_t target = 0;
        cr_assert_arr_eq(rows->items[i].keys, of_causes->items[i].keys, sizeof rows->items[i].keys);
        for (uint32_t l = 0; l < of_causes->lists; l++) {
            target += times[l];
            sums[l] += times[l];
        }
        cr_assert_eq(sta_charged_times(rows, &rows->items[i])[0], target);
    }
    for (uint32_t l = 0; l < charged->list_count; l++)
        cr_assert(sums[l] == charged->time[l], "list %u", l);
}

/* The chain by intervals, by sums alone, and by sums with rows. */
static void expect_same_sums(struct sta_run *run, const char *chain, const struct sta_phases *phases)
{
    struct sta_attribution asked[3];
    struct sta_charged charged[3] = {0};
    struct sta_charged_rows rows = {0}, wanted = {0};
    struct sta_error err = STA_ERROR_INIT;
    for (size_t i = 0; i < 3; i++)
        cr_assert(sta_attribution_of_chain(run, chain, &asked[i]));
    asked[0].by = STA_BY_UNIT | STA_BY_EPOCH | STA_BY_STEP;
    cr_assert_eq(sta_charge_bind(run, &asked[0], NULL, &charged[0], &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_charge(run, &asked[0], phases, &charged[0], &wanted, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_charge_sums(run, &asked[1], phases, &charged[1], NULL, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_charge_sums(run, &asked[2], phases, &charged[2], &rows, &err), STA_OK, "%s", err.text);
    for (size_t i = 1; i < 3; i++) {
        cr_assert(charged[i].target == charged[0].target);
        for (uint32_t l = 0; l < charged[0].list_count; l++) {
            cr_assert(charged[i].time[l] == charged[0].time[l], "chain %s, list %u", chain, l);
            cr_assert(charged[i].active[l] == charged[0].active[l], "chain %s, active %u", chain, l);
        }
    }
    expect_rows(&rows, &wanted, &charged[0]);
    sta_charged_rows_fini(&rows);
    sta_charged_rows_fini(&wanted);
    for (size_t i = 0; i < 3; i++) {
        sta_charged_fini(&charged[i]);
        sta_attribution_fini(&asked[i]);
    }
}

Test(attribution, random_jobs_against_single_microseconds)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct scene *scene = sta_alloc(sizeof *scene);
        struct sta_document *request;
        struct sta_run run;
        struct sta_phases phases;
        struct sta_error err = STA_ERROR_INIT;
        const struct sta_budget budget = {.workers = 1 + (unsigned)(seed % 3), .memory = 64 << 20};
        int64_t time[CAUSES + 1];
        make_scene(scene, seed);
        const struct sta_overlap_query query = query_of(scene, "dlio", &request);
        cr_assert_eq(sta_run_open(&run, &query, &budget, &err), STA_OK, "%s", err.text);
        cr_assert_eq(sta_phases_read(&run, &phases, &err), STA_OK, "%s", err.text);
        struct sta_attribution asked;
        struct sta_charged charged;
        struct sta_charged_rows rows;
        cr_assert(sta_attribution_of_chain(&run, "stall", &asked));
        cr_assert_eq(sta_charge_bind(&run, &asked, NULL, &charged, &err), STA_OK, "%s", err.text);
        cr_assert_eq(sta_charge(&run, &asked, NULL, &charged, &rows, &err), STA_OK, "%s", err.text);
        walk(scene, time);
        cr_assert_eq(charged.list_count, CAUSES + 1);
        for (uint32_t l = 0; l <= CAUSES; l++)
            cr_assert_eq((int64_t)charged.time[l], time[l] * run.ticks_per_us,
                         "seed %lu, %s: %ld instead of %ld", (unsigned long)seed,
                         l < CAUSES ? asked.causes[l] : "untraced", (long)charged.time[l], (long)time[l]);
        sta_charged_rows_fini(&rows);
        sta_charged_fini(&charged);
        sta_attribution_fini(&asked);
        expect_same_sums(&run, "stall", &phases);
        expect_same_sums(&run, "layers", &phases);
        sta_phases_fini(&phases);
        sta_run_fini(&run);
        job_fini(&scene->job);
        free(scene);
    }
}

/* Where nothing may be active in the target, idle moments are what is left of the ranks' spans. */
Test(attribution, idle_time_of_a_chain_without_training)
{
    struct scene *scene = sta_alloc(sizeof *scene);
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_budget budget = {.workers = 2, .memory = 64 << 20};
    for (uint64_t seed = 100; seed < 110; seed++) {
        struct sta_document *request;
        struct sta_run run;
        struct sta_phases phases;
        make_scene(scene, seed);
        const struct sta_overlap_query query = query_of(scene, "posix", &request);
        cr_assert_eq(sta_run_open(&run, &query, &budget, &err), STA_OK, "%s", err.text);
        cr_assert_eq(sta_phases_read(&run, &phases, &err), STA_OK, "%s", err.text);
        expect_same_sums(&run, "io", &phases);
        sta_phases_fini(&phases);
        sta_run_fini(&run);
        job_fini(&scene->job);
    }
    free(scene);
}

/* By hand: a stall of 40 us, of which 10 in a read and 15 in the reader around it. */
Test(attribution, a_read_inside_of_a_reader)
{
    const struct made_event events[] = {job_event(TRAIN, "dlio_benchmark", 1, 0, 100),
                                        job_event("NPZReader.read", "reader", 1, 0, 20),
                                        job_event("read", "posix", 1, 5, 10),
                                        job_event("TorchFramework.compute", "ai_framework", 1, 20, 20),
                                        job_event("NPZReader.read", "reader", 1, 45, 5),
                                        job_event("TorchFramework.compute", "ai_framework", 1, 60, 40)};
    struct job job;
    struct sta_document *request;
    struct sta_attribution_result answer;
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_budget budget = {.workers = 2, .memory = 64 << 20};
    job_init(&job, events, STA_COUNT_OF(events), 1);
    const struct sta_overlap_query query = job_query(&job, "dlio", &request);
    struct sta_document *attribution = sta_document_create(&job.memory, STA_DOCUMENT_OBJECT);
    sta_document_append(&job.memory, request, "attribution", attribution);
    job_add_text(&job, attribution, "chain", "stall");
    cr_assert_eq(sta_attribution_run(&query, &budget, &answer, &err), STA_OK, "%s", err.text);
    const struct {
        const char *name;
        double us;
    } wanted[] = {{"read", 10}, {"reader", 15}, {"untraced", 15}, {"fetch", 0}};
    cr_assert_float_eq(answer.time, 40e-6, 1e-12);
    for (size_t i = 0; i < STA_COUNT_OF(wanted); i++)
        for (size_t row = 0; row < answer.causes.rows; row++)
            if (strcmp(answer.causes.columns[0].texts[row].bytes, wanted[i].name) == 0)
                cr_assert_float_eq(answer.causes.columns[1].numbers[row], wanted[i].us / 1e6, 1e-12, "%s",
                                   wanted[i].name);
    cr_assert_eq(answer.rows.rows, 1);
    sta_attribution_result_fini(&answer);
    job_fini(&job);
}

/* A preset of so many layers beside training and compute; free() its folder. */
static char *write_preset(size_t layers)
{
    char *folder = sta_strdup("/tmp/strata-layers-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    char *path = sta_sprintf("%s/many.yaml", folder);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(
        file,
        "description: many\nextends: dlio\nlayers:\n"
        "  - {name: app, label: App, color: \"#111111\", condition: 'func_name == \"run\"'}\n"
        "  - {name: training, label: T, parent: app, color: \"#111111\", condition: 'func_name == \"" TRAIN
        "\"'}\n"
        "  - {name: compute, label: C, color: \"#111111\", condition: 'cat == \"ai_framework\"'}\n");
    for (size_t i = 0; i < layers; i++) { /* dlio's computed columns need two of its layers */
        char name[24];
        snprintf(name, sizeof name, "l%zu", i);
        fprintf(file, "  - {name: %s, label: L, color: \"#111111\", condition: 'cat == \"l%zu\"'}\n",
                i == 0   ? "fetch_data"
                : i == 2 ? "checkpoint"
                         : name,
                i);
    }
    cr_assert_eq(fclose(file), 0);
    free(path);
    return folder;
}

static void expect_layers(size_t layers, bool fit)
{
    const struct made_event events[] = {job_event(TRAIN, "dlio_benchmark", 1, 0, 100),
                                        job_event("x", "l1", 1, 10, 20)};
    struct job job;
    struct sta_document *request;
    struct sta_findings_result findings;
    struct sta_attribution_result answer;
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_budget budget = {.workers = 1, .memory = 64 << 20};
    char *folder = write_preset(layers);
    job_init(&job, events, STA_COUNT_OF(events), 1);
    sta_presets_release(job.presets);
    job.presets = job_presets(folder);
    struct sta_overlap_query query = job_query(&job, "many", &request);
    job_add_text(&job, request, "rule", "bottleneck");
    cr_assert_eq(sta_findings_run(&query, &budget, &findings, &err), STA_OK, "%s", err.text);
    cr_assert_eq(findings.count, 1);
    cr_expect_eq(strstr(findings.items[0].text, "at most 14 layers, and preset many has") == NULL, fit, "%s",
                 findings.items[0].text);
    sta_findings_result_fini(&findings);
    query = job_query(&job, "many", &request);
    struct sta_document *attribution = sta_document_create(&job.memory, STA_DOCUMENT_OBJECT);
    sta_document_append(&job.memory, request, "attribution", attribution);
    job_add_text(&job, attribution, "chain", "layers");
    const int status = sta_attribution_run(&query, &budget, &answer, &err);
    cr_assert_eq(status, fit ? STA_OK : STA_EINPUT, "%s", err.text);
    if (fit)
        cr_assert_str_eq(answer.bottleneck, "l1");
    else
        cr_assert_str_eq(err.parameter, "/attribution/chain");
    if (fit)
        sta_attribution_result_fini(&answer);
    job_fini(&job);
    cr_assert_eq(sta_tree_remove(folder, &err), STA_OK);
    free(folder);
}

Test(attribution, more_layers_than_a_chain_takes_are_said_to_be_too_many)
{
    expect_layers(14, true);
    expect_layers(15, false);
}

/* Traces that are registered, refreshed, renamed, asked and removed by many at once: one path is one trace,
 * one trace has one job, and what was removed stays so. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "server/library.h"

enum { THREADS = 6, PATHS = 2, TURNS = 150 };

struct scene {
    char folder[64];
    char *paths[PATHS];
    struct sta_roots *roots;
    struct sta_presets *presets;
    struct sta_store *store;
    struct sta_jobs *jobs;
    struct sta_library *library;
};

static char *make_trace(const struct scene *scene, const char *name)
{
    struct sta_error err = STA_ERROR_INIT;
    char *folder = sta_path_join(scene->folder, name), *file = sta_path_join(folder, "rank-0.pfw");
    cr_assert_eq(sta_folder_create(folder, &err), STA_OK);
    FILE *out = fopen(file, "w");
    cr_assert_not_null(out);
    for (unsigned i = 0; i < 100; i++)
        fprintf(out,
                "{\"id\":%u,\"name\":\"read\",\"cat\":\"POSIX\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%u,"
                "\"dur\":5}\n",
                i, i * 10);
    fclose(out);
    free(file);
    return folder;
}

static void scene_open(struct scene *scene)
{
    static const char *const built_in = STA_TEST_CONFIG "/presets";
    struct sta_error err = STA_ERROR_INIT;
    unsigned cleaned;
    sta_log_configure(STA_LOG_ERROR, STA_LOG_JSON);
    *scene = (struct scene){.folder = "/tmp/strata-library-XXXXXX"};
    cr_assert_not_null(mkdtemp(scene->folder));
    for (unsigned i = 0; i < PATHS; i++)
        scene->paths[i] = make_trace(scene, i == 0 ? "first" : "second");
    char *store = sta_path_join(scene->folder, "store");
    const char *root = scene->folder;
    cr_assert_eq(sta_roots_create(&root, 1, &scene->roots, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_presets_load(STA_TEST_CONFIG "/functions.yaml", &built_in, 1, &scene->presets, &err),
                 STA_OK, "%s", err.text);
    cr_assert_eq(sta_store_open(store, &scene->store, &cleaned, &err), STA_OK, "%s", err.text);
    scene->jobs = sta_jobs_create(2, 1000);
    struct sta_library_options options = {.store = scene->store,
                                          .jobs = scene->jobs,
                                          .presets = scene->presets,
                                          .folders = {.functions = STA_TEST_CONFIG "/functions.yaml",
                                                      .built_in = built_in,
                                                      .own = "/none",
                                                      .rules = STA_TEST_CONFIG "/findings.yaml",
                                                      .own_rules = "/none"},
                                          .roots = scene->roots,
                                          .workers = 2,
                                          .memory = (size_t)64 << 20};
    scene->library = sta_library_create(&options);
    free(store);
}

static void scene_close(struct scene *scene)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_library_stop(scene->library);
    sta_jobs_destroy(scene->jobs);
    sta_library_destroy(scene->library);
    sta_store_close(scene->store);
    sta_presets_release(scene->presets);
    sta_roots_destroy(scene->roots);
    for (unsigned i = 0; i < PATHS; i++)
        free(scene->paths[i]);
    cr_assert_eq(sta_tree_remove(scene->folder, &err), STA_OK);
}

static void wait_for_all(struct scene *scene)
{
    size_t count;
    struct sta_job_view *views = sta_jobs_list(scene->jobs, &count);
    for (size_t i = 0; i < count; i++)
        sta_jobs_wait(scene->jobs, views[i].id);
    free(views);
}

/* Notes the id of each path's trace ("" where there is none), and that nothing is twice and nothing failed.
 */
static void look_at_all(struct scene *scene, char ids[PATHS][STA_TRACE_ID_SIZE])
{
    size_t count;
    struct sta_trace_view *views = sta_library_list(scene->library, &count);
    memset(ids, 0, PATHS * sizeof ids[0]);
    for (size_t i = 0; i < count; i++) {
        unsigned path = strcmp(views[i].entry.path, scene->paths[0]) == 0 ? 0 : 1;
        cr_assert_str_eq(views[i].entry.path, scene->paths[path]);
        cr_assert_eq(ids[path][0], '\0', "one path is one trace");
        memcpy(ids[path], views[i].entry.id, sizeof ids[path]);
        cr_assert_null(views[i].entry.failure, "%s", views[i].entry.failure);
        sta_trace_view_fini(&views[i]);
    }
    free(views);
}

static void expect_one_of_few(int status, const struct sta_error *err)
{
    cr_assert(status == STA_OK || status == STA_ENOTFOUND || status == STA_EBUSY, "%s", err->text);
}

static void register_path(struct scene *scene, const char *path)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_registration registration;
    cr_assert_eq(sta_library_register(scene->library, path, NULL, false, &registration, &err), STA_OK, "%s",
                 err.text);
}

static void remove_trace(struct scene *scene, const char *id)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_view view;
    int status = sta_library_remove(scene->library, id, &err);
    cr_assert(status == STA_OK || status == STA_ENOTFOUND, "%s", err.text);
    cr_assert_eq(sta_library_describe(scene->library, id, &view, &err), STA_ENOTFOUND, "it is gone for good");
}

static void ask(struct scene *scene, const char *id)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    struct sta_trace_view view;
    int status = sta_library_snapshot(scene->library, id, &snapshot, &err);
    expect_one_of_few(status, &err);
    if (status == STA_OK) {
        cr_assert_eq(sta_snapshot_info(snapshot)->events, 100);
        sta_snapshot_release(snapshot);
    }
    status = sta_library_describe(scene->library, id, &view, &err);
    expect_one_of_few(status, &err);
    if (status == STA_OK)
        sta_trace_view_fini(&view);
}

static void change(struct scene *scene, const char *id)
{
    static const char *const tags[] = {"a", "b"};
    struct sta_error err = STA_ERROR_INIT;
    char job[STA_JOB_ID_SIZE];
    expect_one_of_few(sta_library_rename(scene->library, id, "renamed", tags, 2, &err), &err);
    expect_one_of_few(sta_library_refresh(scene->library, id, job, &err), &err);
}

static void live(void *context, unsigned thread)
{
    struct scene *scene = context;
    char ids[PATHS][STA_TRACE_ID_SIZE];
    for (unsigned turn = 0; turn < TURNS; turn++) {
        unsigned path = (turn / 2 + thread) % PATHS;
        look_at_all(scene, ids);
        if (ids[path][0] == '\0' || (turn + thread) % 5 == 0)
            register_path(scene, scene->paths[path]);
        else if ((turn + thread) % 5 == 1 && thread < 2)
            remove_trace(scene, ids[path]);
        else if ((turn + thread) % 5 < 3)
            change(scene, ids[path]);
        else
            ask(scene, ids[path]);
    }
}

Test(library, many_lives_at_once, .timeout = 800)
{
    struct scene scene;
    char ids[PATHS][STA_TRACE_ID_SIZE];
    scene_open(&scene);
    sta_parallel_run(THREADS, live, &scene);
    wait_for_all(&scene);
    for (unsigned i = 0; i < PATHS; i++)
        register_path(&scene, scene.paths[i]);
    wait_for_all(&scene);
    look_at_all(&scene, ids);
    for (unsigned i = 0; i < PATHS; i++) {
        struct sta_trace_view view;
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(sta_library_describe(scene.library, ids[i], &view, &err), STA_OK, "%s", err.text);
        cr_expect(view.state == STA_TRACE_READY && view.events == 100);
        sta_trace_view_fini(&view);
    }
    scene_close(&scene);
}

static void register_first(void *context, unsigned thread)
{
    struct scene *scene = context;
    register_path(scene, scene->paths[0]);
}

Test(library, registrations_that_come_at_once_make_one_trace_and_one_job, .timeout = 800)
{
    struct scene scene;
    char ids[PATHS][STA_TRACE_ID_SIZE];
    scene_open(&scene);
    for (unsigned round = 0; round < 20; round++) {
        sta_parallel_run(THREADS, register_first, &scene);
        look_at_all(&scene, ids);
        size_t jobs;
        struct sta_job_view *views = sta_jobs_list(scene.jobs, &jobs);
        unsigned of_trace = 0;
        for (size_t i = 0; i < jobs; i++)
            of_trace += strcmp(views[i].trace, ids[0]) == 0 && strcmp(views[i].kind, "ingest") == 0;
        free(views);
        cr_assert_eq(of_trace, 1, "%u", of_trace);
        remove_trace(&scene, ids[0]);
    }
    scene_close(&scene);
}

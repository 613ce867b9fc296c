/* strata check: the findings of a trace, without a daemon.
 *
 *     strata check TRACE_DIR [--fail-on critical|warning|info] [--preset NAME] [--goal SHARE] [--markdown]
 *
 * Ingests the trace into a store of its own, which it removes, and prints its findings.  Exit status: 0 when
 * none is as grave as --fail-on says (default: critical), 1 when one is, 2 when the request is at fault, or
 * the trace cannot be read: not one of its files may be missing, since what it held is in no finding. */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/log.h"
#include "common/memory.h"
#include "server/command/command.h"
#include "server/library.h"
#include "server/settings.h"
#include "findings/findings.h"

#define FAULT STA_EXIT_REQUEST

struct request {
    const char *trace, *preset;
    enum sta_severity fail_on;
    double goal; /* 0: that of the rules */
    bool markdown;
};

struct check {
    struct request request;
    struct sta_settings settings;
    struct sta_account memory;
    struct sta_store *store;
    struct sta_jobs *jobs;
    struct sta_roots *roots;
    struct sta_presets *presets;
    struct sta_library *library;
    char *folders[4];
    char trace[STA_TRACE_ID_SIZE];
};

static const char usage[] = "usage: strata check TRACE_DIR [--fail-on critical|warning|info] [--preset NAME] "
                            "[--goal SHARE] [--markdown]\n";

/* ---- arguments */

static int fail_usage(const char *what, const char *argument)
{
    fprintf(stderr, "strata: %s%s\n%s", what, argument, usage);
    return FAULT;
}

static int read_option(struct request *request, const char *name, const char *value)
{
    char *end;
    if (strcmp(name, "--preset") == 0) {
        request->preset = value;
        return 0;
    }
    if (strcmp(name, "--fail-on") == 0) {
        request->fail_on = sta_severity_find(value, strlen(value));
        return request->fail_on <= STA_SEVERITY_INFO
                   ? 0
                   : fail_usage("--fail-on takes critical, warning or info, not ", value);
    }
    if (strcmp(name, "--goal") == 0) {
        request->goal = strtod(value, &end);
        return *end == '\0' && request->goal > 0 && request->goal <= 1
                   ? 0
                   : fail_usage("--goal takes a share such as 0.9, not ", value);
    }
    return fail_usage("there is no option ", name);
}

static int read_arguments(int argc, char **argv, struct request *request)
{
    *request = (struct request){.fail_on = STA_SEVERITY_CRITICAL};
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--markdown") == 0) {
            request->markdown = true;
        } else if (strncmp(argv[i], "--", 2) == 0) {
            int status = i + 1 < argc ? read_option(request, argv[i], argv[i + 1])
                                      : fail_usage("a value is missing behind ", argv[i]);
            if (status != 0)
                return status;
            i++;
        } else if (request->trace == NULL) {
            request->trace = argv[i];
        } else {
            return fail_usage("one trace at a time, not also ", argv[i]);
        }
    }
    return request->trace != NULL ? 0 : fail_usage("which trace?", "");
}

/* ---- a store for the time being */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static char *make_store(void)
{
    const char *folder = getenv("TMPDIR");
    char *path = sta_sprintf("%s/strata-check-XXXXXX", folder != NULL && *folder != '\0' ? folder : "/tmp");
    if (mkdtemp(path) == NULL) {
        free(path);
        return NULL;
    }
    return path;
}

static int open_all(struct check *check, const char *store, struct sta_error *err)
{
    char *arguments[] = {(char *)(uintptr_t) "strata", (char *)(uintptr_t) "--store",
                         (char *)(uintptr_t)store, NULL};
    unsigned cleaned;
    int status = sta_settings_read(&check->settings, 3, arguments, err);
    if (status != STA_OK)
        return status;
    check->folders[0] = sta_path_join(check->settings.config_dir, "functions.yaml");
    check->folders[1] = sta_path_join(check->settings.config_dir, "presets");
    check->folders[2] = sta_path_join(check->settings.config_dir, "findings.yaml");
    check->folders[3] = sta_path_join(store, "presets");
    const struct sta_preset_folders folders = {.functions = check->folders[0],
                                               .built_in = check->folders[1],
                                               .own = check->folders[3],
                                               .rules = check->folders[2]};
    sta_account_init(&check->memory, check->settings.memory, "memory", NULL);
    status = sta_store_open(store, &check->store, &cleaned, err);
    if (status == STA_OK)
        status = sta_preset_folders_read(&folders, &check->presets, err);
    if (status == STA_OK)
        status = sta_roots_create(&check->request.trace, 1, &check->roots, err);
    if (status != STA_OK)
        return status;
    check->jobs = sta_jobs_create(1, 10);
    const struct sta_library_options options = {.store = check->store,
                                                .jobs = check->jobs,
                                                .presets = check->presets,
                                                .folders = folders,
                                                .roots = check->roots,
                                                .workers = (unsigned)check->settings.workers,
                                                .memory = check->settings.memory,
                                                .json_bytes_per_file = check->settings.json_bytes_per_file,
                                                .account = &check->memory};
    check->library = sta_library_create(&options);
    return STA_OK;
}

static void close_all(struct check *check)
{
    if (check->library != NULL)
        sta_library_stop(check->library);
    if (check->jobs != NULL)
        sta_jobs_destroy(check->jobs);
    if (check->library != NULL)
        sta_library_destroy(check->library);
    sta_presets_release(check->presets);
    sta_roots_destroy(check->roots);
    if (check->store != NULL)
        sta_store_close(check->store);
    for (size_t i = 0; i < STA_COUNT_OF(check->folders); i++)
        free(check->folders[i]);
    sta_settings_fini(&check->settings);
}

/* ---- the trace */

static int ingest(struct check *check, struct sta_error *err)
{
    struct sta_registration registration;
    int status = sta_library_register(check->library, check->request.trace, NULL, false, &registration, err);
    if (status != STA_OK)
        return status;
    snprintf(check->trace, sizeof check->trace, "%s", registration.trace);
    for (;;) {
        struct sta_trace_view view;
        status = sta_library_describe(check->library, check->trace, &view, err);
        if (status != STA_OK)
            return status;
        const bool ready = view.state == STA_TRACE_READY, failed = view.state == STA_TRACE_FAILED;
        if (failed)
            status = sta_fail(err, STA_EINPUT, "%s",
                              view.entry.failure != NULL ? view.entry.failure : "the ingest failed");
        sta_trace_view_fini(&view);
        if (ready || failed)
            return status;
        usleep(10000);
    }
}

static int ask(struct check *check, const char *store, struct sta_findings_result *findings,
               struct sta_error *err)
{
    struct sta_arena memory = {0};
    struct sta_document *request = sta_document_create(&memory, STA_DOCUMENT_OBJECT);
    struct sta_snapshot *snapshot = NULL;
    char preset[64];
    int status = sta_library_preset_of(check->library, check->trace, preset, err);
    if (status == STA_OK)
        status = sta_library_snapshot(check->library, check->trace, &snapshot, err);
    if (status == STA_OK) {
        const char *name = check->request.preset != NULL ? check->request.preset : preset;
        const struct sta_budget budget = {.workers = (unsigned)check->settings.workers,
                                          .memory = check->settings.memory,
                                          .account = &check->memory,
                                          .spill_folder = store};
        const struct sta_overlap_query query = {
            .snapshot = snapshot, .presets = check->presets, .trace_preset = name, .request = request};
        sta_document_append(&memory, request, "preset", sta_document_text(&memory, name, strlen(name)));
        if (check->request.goal > 0) {
            struct sta_document *goal = sta_document_create(&memory, STA_DOCUMENT_FLOAT);
            goal->number = check->request.goal;
            sta_document_append(&memory, request, "goal", goal);
        }
        status = sta_findings_run(&query, &budget, findings, err);
    }
    if (snapshot != NULL)
        sta_snapshot_release(snapshot);
    sta_arena_fini(&memory);
    return status;
}

/* ---- what is said */

/* Whether all files were read, and hold events; else says which is the first that was not. */
static bool is_whole(struct check *check)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    const struct sta_source *first = NULL;
    size_t unread = 0;
    if (sta_library_snapshot(check->library, check->trace, &snapshot, &err) != STA_OK) {
        fprintf(stderr, "strata: %s\n", err.text);
        return false;
    }
    const size_t count = sta_snapshot_source_count(snapshot);
    for (size_t i = 0; i < count; i++) {
        const struct sta_source *source = sta_snapshot_source(snapshot, i);
        if (source->state != STA_SOURCE_REJECTED && source->state != STA_SOURCE_VANISHED)
            continue;
        first = first == NULL ? source : first;
        unread++;
    }
    const bool has_events = sta_snapshot_info(snapshot)->events > 0;
    if (unread > 0)
        fprintf(stderr, "strata: %zu of %zu files cannot be read; the first: %s: %s\n", unread, count,
                first->path, first->reason != NULL ? first->reason : "it vanished");
    else if (!has_events)
        fprintf(stderr, "strata: no event in %s: did the tracer write its buffers?\n", check->request.trace);
    sta_snapshot_release(snapshot);
    return unread == 0 && has_events;
}

static void print_findings(const struct request *request, const struct sta_findings_result *findings)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    if (request->markdown)
        sta_findings_markdown(findings, request->trace, &text);
    for (size_t i = 0; !request->markdown && i < findings->count; i++) {
        const struct sta_finding *finding = &findings->items[i];
        if (finding->severity >= STA_SEVERITY_OK)
            continue;
        sta_put_format(&text, "%-8s %s (%s): ", sta_severity_name(finding->severity), finding->title,
                       finding->id);
        sta_put_text(&text, finding->text);
        sta_put_text(&text, "\n         Value: ");
        sta_finding_put_threshold(finding, &text);
        sta_put_char(&text, '\n');
    }
    if (!request->markdown) {
        sta_findings_put_counts(findings, &text);
        sta_put_char(&text, '\n');
    }
    fwrite(text.data, 1, text.size, stdout);
    sta_buffer_fini(&text);
}

static int run(struct check *check, const char *store)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_findings_result findings = {0};
    int status = open_all(check, store, &err);
    if (status == STA_OK)
        status = ingest(check, &err);
    if (status == STA_OK)
        status = ask(check, store, &findings, &err);
    int code = FAULT;
    if (status == STA_OK) {
        print_findings(&check->request, &findings);
        if (is_whole(check))
            code = findings.count > 0 && findings.items[0].severity <= check->request.fail_on;
    } else {
        fprintf(stderr, "strata: %s\n", err.text);
    }
    sta_findings_result_fini(&findings);
    close_all(check);
    return code;
}

int sta_command_check(int argc, char **argv)
{
    static struct check check;
    sta_log_configure(STA_LOG_NOTHING, STA_LOG_TEXT); /* what fails is said once, by this program */
    if (argc == 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
        return fputs(usage, stdout) < 0;
    int code = read_arguments(argc, argv, &check.request);
    if (code != 0)
        return code;
    char *trace = realpath(check.request.trace, NULL), *store = make_store();
    if (trace == NULL || store == NULL) {
        fprintf(stderr, "strata: %s cannot be read\n",
                trace == NULL ? check.request.trace : "the folder for temporary files");
        code = FAULT;
    } else {
        check.request.trace = trace;
        code = run(&check, store);
    }
    if (store != NULL)
        nftw(store, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(trace);
    free(store);
    return code;
}

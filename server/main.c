/* Wires the stages in order, runs the loop, unwinds in reverse.
 *
 * DESIGN.  The main thread owns start and stop and waits in libuv's loop for signals; requests and jobs run
 * on threads of their own.  The first SIGTERM or SIGINT starts a thread that stops everything, so that the
 * loop can still see a second one, which ends the process at once. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "analyse/analyse.h"
#include "cluster/cluster.h"
#include "common/account.h"
#include "common/files.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/roots.h"
#include "serve/serve.h"
#include "server/caches.h"
#include "server/jobs.h"
#include "server/library.h"
#include "server/settings.h"
#include "store/store.h"

#define EXIT_USAGE 2
#define GRACE_MS 10000
#define REST_MS 1000                /* between two looks at what lies with the allocator */
#define FREE_SHARE 4                /* of the memory, what the free list of large blocks may hold, .. */
#define MOST_FREE ((size_t)2 << 30) /* .. and at most this */
#define MOST_RESERVED ((size_t)512 << 20)
#define RESERVE                                                                                              \
    ((size_t)64 << 20) /* what requests and jobs in flight need to end, when the system refuses memory */

struct daemon {
    struct sta_settings settings;
    struct sta_setting_value *values; /* of the settings, as text, for GET /settings */
    size_t value_count;
    char **root_paths;
    size_t root_count;
    struct sta_roots *roots;
    struct sta_presets *presets;
    struct sta_preset_folders folders;
    struct sta_store *store;
    struct sta_jobs *jobs;
    struct sta_library *library;
    struct sta_server *server;
    uv_loop_t loop;
    bool has_loop;
    uv_signal_t signals[3];
    uv_timer_t rest;
    struct sta_caches caches;
    uv_async_t stopped, stop_wanted;
    struct sta_cluster *cluster; /* NULL: this process is the whole daemon */
    uv_thread_t stopper;
    bool stopping;
    bool signalled; /* this process got a signal to stop, not another rank alone */
    bool watches;   /* the loop has its signals and its timer */
};

static int complain(const struct sta_error *err)
{
    fprintf(stderr, "stratad: %s\n", err->text);
    return err->status == STA_EINPUT || err->status == STA_EUNSUPPORTED ? EXIT_USAGE : EXIT_FAILURE;
}

/* ---- configuration */

static void name_preset_folders(struct daemon *daemon)
{
    const struct sta_settings *settings = &daemon->settings;
    bool named = settings->presets[0] != '\0';
    daemon->folders = (struct sta_preset_folders){
        .functions = sta_path_join(settings->config_dir, "functions.yaml"),
        .built_in = sta_path_join(settings->config_dir, "presets"),
        .own = named ? sta_strdup(settings->presets) : sta_path_join(settings->store, "presets"),
        .rules = sta_path_join(settings->config_dir, "findings.yaml"),
        .own_rules = settings->findings[0] != '\0' ? sta_strdup(settings->findings)
                                                   : sta_path_join(settings->store, "findings")};
}

static int add_root(struct daemon *daemon, const char *path, const char *what, struct sta_error *err)
{
    char *resolved = realpath(path, NULL);
    if (resolved == NULL)
        return sta_fail(err, STA_EINPUT, "%s: %s: %s", what, path, strerror(errno));
    daemon->root_paths[daemon->root_count++] = resolved;
    return STA_OK;
}

/* The folders given as roots, and each trace given at start. */
static int resolve_roots(struct daemon *daemon, struct sta_error *err)
{
    const struct sta_text_list *roots = &daemon->settings.roots;
    const struct sta_text_list *traces = &daemon->settings.traces;
    int status = STA_OK;
    daemon->root_paths = sta_alloc_array(roots->count + traces->count, sizeof *daemon->root_paths);
    for (size_t i = 0; i < roots->count && status == STA_OK; i++)
        status = add_root(daemon, roots->items[i], "roots", err);
    for (size_t i = 0; i < traces->count && status == STA_OK; i++)
        status = add_root(daemon, traces->items[i], "TRACE_DIR", err);
    if (status == STA_OK)
        status = sta_roots_create((const char *const *)daemon->root_paths, daemon->root_count, &daemon->roots,
                                  err);
    return status;
}

static void keep_value(void *context, const char *name, const char *value, const char *help)
{
    struct daemon *daemon = context;
    daemon->values = sta_realloc_array(daemon->values, daemon->value_count + 1, sizeof *daemon->values);
    daemon->values[daemon->value_count++] = (struct sta_setting_value){name, sta_strdup(value), help};
}

/* ---- start */

static int open_store(struct daemon *daemon, struct sta_error *err)
{
    unsigned cleaned = 0;
    int status = sta_store_open(daemon->settings.store, &daemon->store, &cleaned, err);
    if (status == STA_OK && cleaned > 0)
        sta_log(STA_LOG_INFO, "Removed what an interruption had left in the store", "files",
                sta_log_int(cleaned), NULL);
    if (status == STA_OK)
        sta_store_count_in(daemon->store, &daemon->caches.memory);
    if (status == STA_OK)
        sta_store_keep_columns(daemon->store, daemon->settings.columns);
    return status;
}

static int put_ranks(void *context, struct sta_buffer *out)
{
    return sta_cluster_put_ranks(context, out);
}

static void put_rank_metrics(void *context, struct sta_buffer *out)
{
    sta_cluster_put_metrics(context, out);
}

static int start_server(struct daemon *daemon, struct sta_error *err)
{
    const struct sta_settings *settings = &daemon->settings;
    struct sta_server_options options = {
        .listen = settings->listen,
        .library = daemon->library,
        .jobs = daemon->jobs,
        .store = daemon->store,
        .account = &daemon->caches.memory,
        .web = settings->web,
        .store_path = settings->store,
        .tokens = settings->tokens,
        .loopback_anyone = strcmp(settings->loopback, "anyone") == 0,
        .trusted_proxies = (const char *const *)settings->trusted_proxies.items,
        .trusted_proxy_count = settings->trusted_proxies.count,
        .hosts = (const char *const *)settings->hosts.items,
        .host_count = settings->hosts.count,
        .cors_origins = (const char *const *)settings->cors_origins.items,
        .cors_origin_count = settings->cors_origins.count,
        .connections = settings->connections,
        .connections_per_client = settings->connections_per_client,
        .request_body = settings->request_body,
        .request_header = settings->request_header,
        .request_timeout = settings->request_timeout,
        .send_rate = settings->send_rate,
        .rows = settings->rows,
        .cache = settings->cache,
        .running_queries = settings->running_queries,
        .queued_queries = settings->queued_queries,
        .query_memory = settings->query_memory,
        .first_page_events = settings->first_page_events,
        .timeline_cells = settings->timeline_cells,
        .query_timeout = settings->query_timeout,
        .workers = (unsigned)settings->workers,
        .settings = daemon->values,
        .setting_count = daemon->value_count,
        .version = STA_VERSION,
        .spill = settings->spill,
    };
    if (daemon->cluster != NULL) {
        options.peers = sta_cluster_peers(daemon->cluster);
        options.put_ranks = put_ranks;
        options.put_rank_metrics = put_rank_metrics;
        options.ranks_context = daemon->cluster;
    }
    return sta_server_start(&options, &daemon->server, err);
}

static int start(struct daemon *daemon, struct sta_error *err)
{
    int status = open_store(daemon, err);
    if (status == STA_OK) /* only the owner of the store quarantines damaged files */
        status = sta_preset_folders_recover(&daemon->folders, &daemon->presets, err);
    if (status != STA_OK)
        return status;
    const struct sta_settings *settings = &daemon->settings;
    daemon->jobs = sta_jobs_create((unsigned)settings->running_jobs, (unsigned)settings->queued_jobs);
    struct sta_library_options options = {
        .store = daemon->store,
        .jobs = daemon->jobs,
        .presets = daemon->presets,
        .folders = daemon->folders,
        .roots = daemon->roots,
        .workers = (unsigned)settings->workers,
        .memory = settings->memory,
        .json_bytes_per_file = settings->json_bytes_per_file,
        .account = &daemon->caches.memory,
        .follow_interval = settings->follow_interval,
        .follow_poll = settings->follow_poll,
        .follow_quiet = settings->follow_quiet,
        .follow_polls = strcmp(settings->follow_changes, "poll") == 0,
        .compacts = strcmp(settings->compaction, "on") == 0,
        .warms =
            strcmp(settings->warm, "on") == 0 && daemon->cluster == NULL, /* ranks share the row groups */
        .readers = daemon->cluster != NULL ? sta_cluster_readers(daemon->cluster) : NULL,
        .is_busy = sta_caches_are_wanted,
        .is_busy_context = &daemon->caches,
    };
    daemon->library = sta_library_create(&options);
    status = start_server(daemon, err);
    if (status == STA_OK)
        sta_caches_open(&daemon->caches, daemon->server, daemon->store);
    if (status == STA_OK && daemon->cluster != NULL)
        status = sta_cluster_announce(daemon->cluster, sta_server_address(daemon->server), err);
    return status;
}

static void register_traces(struct daemon *daemon)
{
    const struct sta_text_list *roots = &daemon->settings.roots;
    for (size_t i = roots->count; i < daemon->root_count; i++) {
        struct sta_registration registration;
        struct sta_error err = STA_ERROR_INIT;
        if (sta_library_register(daemon->library, daemon->root_paths[i], NULL, false, &registration, &err) !=
            STA_OK)
            sta_log(STA_LOG_ERROR, "Cannot register a trace", "path", daemon->root_paths[i], "cause",
                    err.text, NULL);
    }
}

/* ---- stop */

static void stop(struct daemon *daemon)
{
    sta_caches_close(&daemon->caches);
    if (daemon->library != NULL)
        sta_library_stop(daemon->library);
    if (daemon->server != NULL)
        sta_server_stop(daemon->server, GRACE_MS);
    if (daemon->jobs != NULL)
        sta_jobs_destroy(daemon->jobs);
    if (daemon->library != NULL)
        sta_library_destroy(daemon->library);
    if (daemon->store != NULL)
        sta_store_close(daemon->store);
}

static void stopper_main(void *argument)
{
    struct daemon *daemon = argument;
    stop(daemon);
    uv_async_send(&daemon->stopped);
}

static void on_stopped(uv_async_t *handle)
{
    uv_stop(handle->loop);
}

static void begin_stop(struct daemon *daemon, const char *signal)
{
    daemon->stopping = true;
    sta_log(STA_LOG_INFO, "Stopping", "signal", signal, NULL);
    if (uv_thread_create(&daemon->stopper, stopper_main, daemon) != 0)
        _exit(EXIT_FAILURE);
}

static void on_end_signal(uv_signal_t *handle, int number)
{
    struct daemon *daemon = handle->data;
    if (daemon->signalled)
        _exit(EXIT_FAILURE);
    daemon->signalled = true;
    if (!daemon->stopping)
        begin_stop(daemon, number == SIGTERM ? "SIGTERM" : "SIGINT");
}

/* Another rank has had the signal. */
static void on_stop_wanted(uv_async_t *handle)
{
    struct daemon *daemon = handle->data;
    if (!daemon->stopping)
        begin_stop(daemon, "of another rank");
}

static void want_stop(void *context)
{
    struct daemon *daemon = context;
    uv_async_send(&daemon->stop_wanted);
}

static void on_hangup(uv_signal_t *handle, int number)
{
    struct daemon *daemon = handle->data;
    struct sta_error err = STA_ERROR_INIT;
    if (daemon->stopping)
        return;
    if (sta_library_reload_presets(daemon->library, &err) == STA_OK)
        sta_log(STA_LOG_INFO, "Presets were read again", NULL);
    else
        sta_log(STA_LOG_ERROR, "The old presets stay in force", "cause", err.text, NULL);
    if (sta_server_reload(daemon->server, &err) == STA_OK)
        sta_log(STA_LOG_INFO, "Tokens were read again", NULL);
    else
        sta_log(STA_LOG_ERROR, "The old tokens stay in force", "cause", err.text, NULL);
}

static void on_rest(uv_timer_t *handle)
{
    struct daemon *daemon = handle->data;
    if (!daemon->stopping)
        sta_caches_rest(&daemon->caches);
}

static void run_loop(struct daemon *daemon)
{
    static const struct {
        int number;
        uv_signal_cb callback;
    } handled[] = {{SIGTERM, on_end_signal}, {SIGINT, on_end_signal}, {SIGHUP, on_hangup}};
    for (size_t i = 0; i < STA_COUNT_OF(handled); i++) {
        uv_signal_init(&daemon->loop, &daemon->signals[i]);
        daemon->signals[i].data = daemon;
        uv_signal_start(&daemon->signals[i], handled[i].callback, handled[i].number);
    }
    uv_timer_init(&daemon->loop, &daemon->rest);
    daemon->rest.data = daemon;
    uv_timer_start(&daemon->rest, on_rest, REST_MS, REST_MS);
    daemon->watches = true;
    printf("listening on %s\n", sta_server_address(daemon->server));
    fflush(stdout);
    sta_library_resume(daemon->library);
    register_traces(daemon);
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
    uv_thread_join(&daemon->stopper);
}

/* A signal to end that comes while the process ends does not kill it: libuv leaves the default action. */
static void close_loop(struct daemon *daemon)
{
    for (size_t i = 0; i < STA_COUNT_OF(daemon->signals); i++) {
        const int number = daemon->signals[i].signum;
        uv_close((uv_handle_t *)&daemon->signals[i], NULL);
        signal(number, SIG_IGN);
    }
    uv_close((uv_handle_t *)&daemon->stopped, NULL);
    uv_close((uv_handle_t *)&daemon->stop_wanted, NULL);
    uv_close((uv_handle_t *)&daemon->rest, NULL);
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
}

/* ---- ranks of a job */

static int join_cluster(struct daemon *daemon, struct sta_error *err)
{
    const struct sta_settings *settings = &daemon->settings;
    const struct sta_cluster_options options = {
        .store = settings->store,
        .spill = settings->spill,
        .presets = daemon->folders,
        .roots = daemon->roots,
        .memory = settings->memory,
        .workers = (unsigned)settings->workers,
        .columns = settings->columns,
        .stripe = (uint32_t)STA_MIN(STA_MAX(settings->rank_stripe, 1), UINT32_MAX),
        .range = STA_MAX(settings->rank_range, 1),
        .silence = settings->rank_silence,
        .account = &daemon->caches.memory,
        .stop_wanted = want_stop,
        .stop_context = daemon,
    };
    return sta_cluster_join(&options, &daemon->cluster, err);
}

static int serve_alone(struct daemon *daemon, struct sta_error *err)
{
    int status = start(daemon, err);
    if (status == STA_OK)
        run_loop(daemon);
    else
        stop(daemon);
    return status;
}

static int serve_with_ranks(struct daemon *daemon, struct sta_error *err)
{
    int status = join_cluster(daemon, err);
    if (status != STA_OK)
        return status;
    status = sta_cluster_rank(daemon->cluster) == 0 ? serve_alone(daemon, err)
                                                    : sta_cluster_work(daemon->cluster, err);
    sta_cluster_leave(daemon->cluster);
    return status;
}

static int serve(struct daemon *daemon, struct sta_error *err)
{
    signal(SIGPIPE, SIG_IGN);
    sta_memory_configure((unsigned)daemon->settings.workers,
                         STA_MIN(daemon->settings.memory / FREE_SHARE, MOST_FREE));
    sta_memory_reserve(STA_MIN(RESERVE * (1 + (size_t)daemon->settings.workers), MOST_RESERVED));
    if (uv_loop_init(&daemon->loop) != 0 || uv_async_init(&daemon->loop, &daemon->stopped, on_stopped) != 0 ||
        uv_async_init(&daemon->loop, &daemon->stop_wanted, on_stop_wanted) != 0)
        return sta_fail(err, STA_EINTERNAL, "cannot start the event loop");
    daemon->stop_wanted.data = daemon;
    daemon->has_loop = true;
    sta_caches_init(&daemon->caches, daemon->settings.memory);
    int status = sta_cluster_is_rank() ? serve_with_ranks(daemon, err) : serve_alone(daemon, err);
    if (daemon->watches) /* until now: the system may tell each rank to end, some when all have begun to */
        close_loop(daemon);
    return status;
}

static int prepare(struct daemon *daemon, struct sta_error *err)
{
    sta_log_configure_by_name(daemon->settings.log_level, daemon->settings.log_format);
    sta_settings_each(&daemon->settings, keep_value, daemon);
    name_preset_folders(daemon);
    int status = resolve_roots(daemon, err);
    if (status == STA_OK && daemon->settings.check_config)
        status = sta_preset_folders_read(&daemon->folders, &daemon->presets, err);
    return status;
}

static void daemon_fini(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->value_count; i++)
        free((char *)daemon->values[i].value);
    free(daemon->values);
    for (size_t i = 0; i < daemon->root_count; i++)
        free(daemon->root_paths[i]);
    free(daemon->root_paths);
    sta_roots_destroy(daemon->roots);
    free((char *)daemon->folders.functions);
    free((char *)daemon->folders.built_in);
    free((char *)daemon->folders.own);
    free((char *)daemon->folders.rules);
    free((char *)daemon->folders.own_rules);
    if (daemon->presets != NULL)
        sta_presets_release(daemon->presets);
    if (daemon->has_loop)
        uv_loop_close(&daemon->loop);
    sta_settings_fini(&daemon->settings);
}

int main(int argc, char **argv)
{
    static struct daemon daemon;
    struct sta_error err = STA_ERROR_INIT;
    int status = sta_settings_read(&daemon.settings, argc, argv, &err);
    if (status == STA_OK && daemon.settings.help) {
        sta_settings_print_help();
    } else if (status == STA_OK && daemon.settings.version) {
        puts("stratad " STA_VERSION);
    } else if (status == STA_OK) {
        status = prepare(&daemon, &err);
        if (status == STA_OK && daemon.settings.check_config)
            puts("the configuration is valid");
        else if (status == STA_OK)
            status = serve(&daemon, &err);
    }
    int code = status == STA_OK ? EXIT_SUCCESS : complain(&err);
    daemon_fini(&daemon);
    return code;
}

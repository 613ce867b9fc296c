/* The daemon itself: health, version, settings, figures, and the description of the API. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/account.h"
#include "common/build_id.h"
#include "serve/api/routes.h"

int sta_api_health(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    const struct sta_server_options *options = &call->server->options;
    struct sta_buffer *out = &response->body;
    sta_put_text(out, "{\"status\":\"ok\"");
    if (options->put_ranks != NULL) {
        sta_put_member(out, "ranks");
        const int silent = options->put_ranks(options->ranks_context, out);
        if (silent >= 0)
            return sta_fail(err, STA_EBUSY, "Rank %d of the job has not been heard of for long", silent);
    }
    sta_put_char(out, '}');
    return STA_OK;
}

int sta_api_version(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_buffer *out = &response->body;
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", "strata");
    sta_put_member_text(out, "version", call->server->options.version);
    sta_begin_object(out, "build");
    sta_put_member_text(out, "id", sta_build_id());
    sta_put_member_text(out, "compiler", __VERSION__);
#ifdef __OPTIMIZE__
    sta_put_member_bool(out, "optimized", true);
#else
    sta_put_member_bool(out, "optimized", false);
#endif
    sta_put_char(out, '}');
    sta_put_member(out, "features"); /* every call is one */
    for (size_t i = 0; i < sta_route_count; i++) {
        sta_put_char(out, i > 0 ? ',' : '[');
        sta_put_json_text(out, sta_routes[i].id);
    }
    sta_put_char(out, ']');
    sta_put_member(out, "semantics");
    sta_put_text(out, "[\"exact\",\"compatible\"]}");
    return STA_OK;
}

int sta_api_settings(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    const struct sta_server_options *options = &call->server->options;
    struct sta_buffer *out = &response->body;
    sta_put_text(out, "{\"settings\":[");
    for (size_t i = 0; i < options->setting_count; i++) {
        sta_put_text(out, i ? ",\n{" : "\n{");
        sta_put_member_text(out, "name", options->settings[i].name);
        sta_put_member_text(out, "value", options->settings[i].value);
        sta_put_member_text(out, "help", options->settings[i].help);
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
    return STA_OK;
}

int sta_api_tokens(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_buffer *out = &response->body;
    size_t count;
    struct sta_identity *list = sta_access_list(call->server->access, &count);
    (void)err;
    sta_put_text(out, "{\"tokens\":[");
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, i ? ",\n{" : "\n{");
        sta_put_member_text(out, "name", list[i].name);
        sta_put_member_text(out, "role", sta_role_name(list[i].role));
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
    free(list);
    return STA_OK;
}

void sta_api_openapi(struct sta_call *call)
{
    sta_exchange_response(call->exchange, sta_representation_choose(call->server->openapi, call->exchange));
}

/* ---- figures for Prometheus */

static void put_gauge(struct sta_buffer *out, const char *name, const char *help, uint64_t value)
{
    sta_metrics_head(out, name, "gauge", help);
    sta_put_format(out, "%s %llu\n", name, (unsigned long long)value);
}

static void put_counter(struct sta_buffer *out, const char *name, const char *help, uint64_t value)
{
    sta_metrics_head(out, name, "counter", help);
    sta_put_format(out, "%s %llu\n", name, (unsigned long long)value);
}

/* How far each live trace is behind its files. */
static void put_live(struct sta_buffer *out, const struct sta_trace_view *views, size_t count)
{
    sta_metrics_head(out, "strata_live_bytes_behind", "gauge",
                     "Bytes of a live trace's files that were not read yet at the last look.");
    for (size_t i = 0; i < count; i++)
        if (views[i].live.live)
            sta_put_format(out, "strata_live_bytes_behind{trace=\"%s\"} %llu\n", views[i].entry.id,
                           (unsigned long long)views[i].live.behind);
    sta_metrics_head(out, "strata_live_failing", "gauge",
                     "1: the last step of following a live trace failed.");
    for (size_t i = 0; i < count; i++)
        if (views[i].live.live)
            sta_put_format(out, "strata_live_failing{trace=\"%s\"} %d\n", views[i].entry.id,
                           views[i].live.problem != NULL);
    sta_metrics_head(out, "strata_live_published_seconds", "gauge",
                     "Unix time of a live trace's newest version.");
    for (size_t i = 0; i < count; i++)
        if (views[i].live.live && views[i].published) {
            sta_put_format(out, "strata_live_published_seconds{trace=\"%s\"} ", views[i].entry.id);
            sta_put_double(out, (double)views[i].ingested_us / 1e6);
            sta_put_char(out, '\n');
        }
}

static void put_traces(struct sta_buffer *out, struct sta_library *library)
{
    uint64_t states[4] = {0};
    size_t count;
    struct sta_trace_view *views = sta_library_list(library, &count);
    put_live(out, views, count);
    for (size_t i = 0; i < count; i++) {
        states[views[i].state]++;
        sta_trace_view_fini(&views[i]);
    }
    free(views);
    sta_metrics_head(out, "strata_traces", "gauge", "Registered traces by state.");
    for (enum sta_trace_state state = STA_TRACE_INGESTING; state <= STA_TRACE_STALE; state++)
        sta_put_format(out, "strata_traces{state=\"%s\"} %llu\n", sta_trace_state_name(state),
                       (unsigned long long)states[state]);
}

static void put_jobs(struct sta_buffer *out, struct sta_jobs *jobs)
{
    uint64_t states[5] = {0};
    size_t count;
    struct sta_job_view *views = sta_jobs_list(jobs, &count);
    for (size_t i = 0; i < count; i++)
        states[views[i].state]++;
    free(views);
    sta_metrics_head(out, "strata_jobs", "gauge", "Jobs that are remembered, by state.");
    for (enum sta_job_state state = STA_JOB_QUEUED; state <= STA_JOB_CANCELLED; state++)
        sta_put_format(out, "strata_jobs{state=\"%s\"} %llu\n", sta_job_state_name(state),
                       (unsigned long long)states[state]);
}

static void put_response_cache(struct sta_buffer *out, struct sta_server *server)
{
    struct sta_response_cache_figures figures = sta_response_cache_figures(server->response_cache);
    uint64_t running, waiting;
    sta_workers_count(server->queries, &running, &waiting);
    put_gauge(out, "strata_cache_bytes", "Memory that cached responses take.", figures.bytes);
    put_gauge(out, "strata_cache_limit_bytes", "Memory that cached responses may take.", figures.limit);
    put_gauge(out, "strata_cache_entries", "Cached responses.", figures.entries);
    put_counter(out, "strata_cache_hits_total", "Queries whose response was cached.", figures.hits);
    put_counter(out, "strata_cache_misses_total", "Queries whose response was computed.", figures.misses);
    put_counter(out, "strata_cache_joins_total", "Queries that waited for a response already being computed.",
                figures.joins);
    put_counter(out, "strata_cache_dropped_total", "Responses evicted to free space.", figures.dropped);
    struct sta_result_cache_figures results = sta_result_cache_figures(server->results);
    put_gauge(out, "strata_results_bytes",
              "Memory that kept results take, of which pages are cut, and an eighth of their disk.",
              results.bytes);
    put_gauge(out, "strata_results_limit_bytes", "Memory that kept results may take.", results.limit);
    put_gauge(out, "strata_results_entries", "Kept results.", results.entries);
    put_gauge(out, "strata_streams_open", "Long responses being sent.",
              sta_shares_taken(server->stream_places));
    put_gauge(out, "strata_questions_running", "Queries being worked on.", running);
    put_gauge(out, "strata_questions_waiting", "Queries that wait for a thread.", waiting);
}

static void put_memory(struct sta_buffer *out, const struct sta_account *account)
{
    put_gauge(out, "strata_memory_bytes", "Memory in use for traces, requests and caches.",
              atomic_load(&account->used));
    put_gauge(out, "strata_memory_peak_bytes", "The most that it has been.", atomic_load(&account->peak));
    put_gauge(out, "strata_memory_limit_bytes", "What it may be (setting memory).", account->limit);
}

static void put_columns(struct sta_buffer *out, struct sta_store *store)
{
    const struct sta_column_figures figures = sta_store_column_figures(store);
    put_gauge(out, "strata_columns_bytes", "Memory that decoded columns take (setting columns).",
              figures.bytes);
    put_counter(out, "strata_columns_decoded_total", "Column chunks that queries and jobs decoded.",
                figures.decoded);
    put_counter(out, "strata_columns_warmed_total",
                "Column chunks decoded before anyone asked (setting warm).", figures.warmed);
    put_counter(out, "strata_columns_warmed_bytes_total", "Memory that these took.", figures.warmed_bytes);
}

static uint64_t resident_bytes(void)
{
    unsigned long long total, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llu %llu", &total, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

int sta_api_metrics(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_server *server = call->server;
    struct sta_buffer *out = &response->body;
    sta_metrics_head(out, "strata_build_info", "gauge", "Version of the program.");
    sta_put_format(out, "strata_build_info{version=\"%s\"} 1\n", server->options.version);
    sta_metrics_put(server->metrics, out);
    put_gauge(out, "strata_http_connections", "Open connections.", sta_http_connections(server->http));
    put_counter(out, "strata_http_connections_refused_total", "Connections refused past a limit.",
                sta_http_refused(server->http));
    put_response_cache(out, server);
    put_jobs(out, server->options.jobs);
    put_traces(out, server->options.library);
    put_memory(out, server->options.account);
    put_columns(out, server->options.store);
    put_gauge(out, "process_resident_memory_bytes", "Resident memory.", resident_bytes());
    if (server->options.put_rank_metrics != NULL)
        server->options.put_rank_metrics(server->options.ranks_context, out);
    response->content_type = call->route->content_type;
    return STA_OK;
}

/* Figures about requests and ingest. */
#include "serve/api/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "common/memory.h"
#include "serve/api/routes.h"

/* Upper bounds of the latency buckets, in seconds. */
static const double bounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                0.25,   0.5,   1,      2.5,   5,    10,    30};
#define BOUNDS STA_COUNT_OF(bounds)
#define CLASSES 6 /* 0: the client had left; 1xx .. 5xx */

struct route_figures {
    _Atomic uint64_t by_class[CLASSES];
    _Atomic uint64_t buckets[BOUNDS + 1];
    _Atomic uint64_t nanoseconds;
};

struct sta_metrics {
    struct route_figures *routes; /* the last one: no route */
    _Atomic uint64_t ingest_bytes, ingest_events;
};

struct sta_metrics *sta_metrics_create(void)
{
    struct sta_metrics *metrics = sta_alloc(sizeof *metrics);
    metrics->routes = sta_alloc_array(sta_route_count + 1, sizeof *metrics->routes);
    return metrics;
}

void sta_metrics_destroy(struct sta_metrics *metrics)
{
    free(metrics->routes);
    free(metrics);
}

static void count(_Atomic uint64_t *figure, uint64_t by)
{
    atomic_fetch_add_explicit(figure, by, memory_order_relaxed);
}

static uint64_t figure(_Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

void sta_metrics_request(struct sta_metrics *metrics, size_t route, int status, double seconds)
{
    struct route_figures *figures = &metrics->routes[route];
    size_t bucket = 0;
    while (bucket < BOUNDS && seconds > bounds[bucket])
        bucket++;
    count(&figures->by_class[status / 100], 1);
    count(&figures->buckets[bucket], 1);
    count(&figures->nanoseconds, (uint64_t)(seconds * 1e9));
}

void sta_metrics_ingest(struct sta_metrics *metrics, uint64_t bytes, uint64_t events)
{
    count(&metrics->ingest_bytes, bytes);
    count(&metrics->ingest_events, events);
}

void sta_metrics_head(struct sta_buffer *out, const char *name, const char *type, const char *help)
{
    sta_put_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static const char *route_name(size_t route)
{
    return route < sta_route_count ? sta_routes[route].id : "other";
}

static void put_requests(struct sta_metrics *metrics, struct sta_buffer *out)
{
    static const char *const classes[CLASSES] = {"gone", "1xx", "2xx", "3xx", "4xx", "5xx"};
    sta_metrics_head(out, "strata_http_requests_total", "counter", "Requests by route and class of status.");
    for (size_t route = 0; route <= sta_route_count; route++)
        for (size_t class = 0; class < CLASSES; class ++) {
            uint64_t value = figure(&metrics->routes[route].by_class[class]);
            if (value > 0)
                sta_put_format(out, "strata_http_requests_total{route=\"%s\",status=\"%s\"} %llu\n",
                               route_name(route), classes[class], (unsigned long long)value);
        }
}

static void put_latency(struct route_figures *figures, const char *name, struct sta_buffer *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= BOUNDS; i++)
        sum += figure(&figures->buckets[i]);
    if (sum == 0)
        return;
    uint64_t below = 0;
    for (size_t i = 0; i < BOUNDS; i++) {
        below += figure(&figures->buckets[i]);
        sta_put_format(out, "strata_http_request_seconds_bucket{route=\"%s\",le=\"%g\"} %llu\n", name,
                       bounds[i], (unsigned long long)below);
    }
    below += figure(&figures->buckets[BOUNDS]);
    sta_put_format(out, "strata_http_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %llu\n", name,
                   (unsigned long long)below);
    sta_put_format(out, "strata_http_request_seconds_sum{route=\"%s\"} ", name);
    sta_put_double(out, (double)figure(&figures->nanoseconds) / 1e9);
    sta_put_format(out, "\nstrata_http_request_seconds_count{route=\"%s\"} %llu\n", name,
                   (unsigned long long)below);
}

void sta_metrics_put(struct sta_metrics *metrics, struct sta_buffer *out)
{
    put_requests(metrics, out);
    sta_metrics_head(out, "strata_http_request_seconds", "histogram",
                     "Time from request to the end of the response.");
    for (size_t route = 0; route <= sta_route_count; route++)
        put_latency(&metrics->routes[route], route_name(route), out);
    sta_metrics_head(out, "strata_ingest_bytes_total", "counter", "Bytes of trace files read by ingest.");
    sta_put_format(out, "strata_ingest_bytes_total %llu\n",
                   (unsigned long long)figure(&metrics->ingest_bytes));
    sta_metrics_head(out, "strata_ingest_events_total", "counter", "Events read by ingest.");
    sta_put_format(out, "strata_ingest_events_total %llu\n",
                   (unsigned long long)figure(&metrics->ingest_events));
}

/* metrics.h - figures about requests and ingest, in the Prometheus text format. */
#ifndef STA_SERVE_METRICS_H
#define STA_SERVE_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include "common/buffer.h"

struct sta_metrics;

struct sta_metrics *sta_metrics_create(void);
void sta_metrics_destroy(struct sta_metrics *metrics);
/** @route: index into sta_routes, or sta_route_count for what has no route.  Context: any thread. */
void sta_metrics_request(struct sta_metrics *metrics, size_t route, int status, double seconds);
/** Ingest went on by so much.  Context: any thread. */
void sta_metrics_ingest(struct sta_metrics *metrics, uint64_t bytes, uint64_t events);
void sta_metrics_put(struct sta_metrics *metrics, struct sta_buffer *out);
/** The lines before a figure. */
void sta_metrics_head(struct sta_buffer *out, const char *name, const char *type, const char *help);

#endif

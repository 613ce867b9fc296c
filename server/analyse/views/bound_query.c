/* Binding a query: everything that can be wrong with it is found here, before a row is read. */
#include "analyse/views/bound_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int sta_view_query_preset(const struct sta_presets *presets, const char *name,
                          const struct sta_preset **preset, struct sta_error *err)
{
    *preset = sta_presets_find(presets, name);
    if (*preset != NULL)
        return 0;
    char *names = sta_presets_names(presets);
    sta_fail_at(err, STA_EINPUT, "/preset", "there is no preset \"%.100s\"; there are %.800s", name, names);
    free(names);
    return err->status;
}

int64_t sta_ticks(double seconds, int64_t ticks_per_us)
{
    double most = fmin((double)STA_TIME_LIMIT * (double)ticks_per_us * 1.5, 4.6e18);
    double ticks = nearbyint(seconds * 1e6 * (double)ticks_per_us);
    return (int64_t)(ticks > most ? most : ticks < -most ? -most : ticks);
}

static int read_window(struct sta_bound_query *bound, struct sta_error *err)
{
    const struct sta_view_query *query = bound->query;
    bound->from = INT64_MIN;
    bound->to = INT64_MAX;
    if (query->has_from && isnan(query->from))
        return sta_fail_at(err, STA_EINPUT, "/from", "expected a number of seconds");
    if (query->has_to && isnan(query->to))
        return sta_fail_at(err, STA_EINPUT, "/to", "expected a number of seconds");
    if (query->has_from)
        bound->from = sta_ticks(query->from, bound->ticks_per_us);
    if (query->has_to)
        bound->to = sta_ticks(query->to, bound->ticks_per_us);
    if (bound->to >= bound->from)
        return 0;
    return sta_fail_at(err, STA_EINPUT, "/to", "to (%g s) lies before from (%g s)", query->to, query->from);
}

static int read_filter(struct sta_bound_query *bound, struct sta_error *err)
{
    const char *text = bound->query->filter;
    if (text == NULL)
        return 0;
    int rc = sta_condition_parse(text, strlen(text), sta_columns_schema(bound->columns), &bound->filter, err);
    return rc == 0 ? 0 : sta_at(err, "/filter", err->position);
}

int sta_view_query_bind(struct sta_bound_query *bound, const struct sta_view_query *query,
                        struct sta_error *err)
{
    *bound = (struct sta_bound_query){.query = query};
    bound->ticks_per_us = sta_snapshot_info(query->snapshot)->ticks_per_us;
    int rc = sta_view_query_preset(query->presets, query->preset, &bound->preset, err);
    if (rc == 0)
        rc = read_window(bound, err);
    if (rc != 0)
        return rc;
    struct sta_columns_options options = {.presets = query->presets, .preset = bound->preset};
    rc = sta_columns_create(query->snapshot, &options, &bound->columns, err);
    if (rc == 0)
        rc = read_filter(bound, err);
    if (rc == 0)
        rc = sta_classes_create(bound->columns, bound->preset, query->filters, &bound->classes, err);
    if (rc == 0)
        bound->preset = sta_classes_preset(bound->classes);
    return rc;
}

void sta_bound_query_release(struct sta_bound_query *bound)
{
    sta_classes_destroy(bound->classes);
    if (bound->filter != NULL)
        sta_expression_destroy(bound->filter);
    sta_columns_destroy(bound->columns);
    *bound = (struct sta_bound_query){0};
}

int sta_bin_width(const struct sta_bound_query *bound, int64_t granularity_us, int64_t *ticks,
                  struct sta_error *err)
{
    if (granularity_us < 1 || granularity_us > STA_GRANULARITY_LIMIT)
        return sta_fail_at(err, STA_EINPUT, "/granularity",
                           "granularity must be from 1 microsecond to %lld seconds",
                           (long long)(STA_GRANULARITY_LIMIT / 1000000));
    *ticks = granularity_us * bound->ticks_per_us;
    return STA_OK;
}

struct sta_scan sta_bound_query_scan(const struct sta_bound_query *bound)
{
    return (struct sta_scan){.columns = bound->columns,
                             .classes = bound->classes,
                             .filter = bound->filter,
                             .from = bound->from,
                             .to = bound->to};
}

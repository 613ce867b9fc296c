/* The columns that a query may name, and the values of one.
 *
 * DESIGN.  What columns hold is counted by a pass over all of them, which takes a second for some million
 * events.  So it is computed when a version is published, and kept beside it; a preset changes one column,
 * which is counted when it is asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/build_id.h"
#include "common/memory.h"
#include "serve/server.h"
#include "serve/responses/views.h"

static struct sta_columns_query query_of(const struct sta_view *view)
{
    return (struct sta_columns_query){.snapshot = view->snapshot,
                                      .label = view->traces[0].label,
                                      .presets = view->presets,
                                      .preset = view->values[STA_PARAMETER_TRACED_PRESET].text};
}

/* ---- the figures of all columns, without a preset */

/* Rows hold the label of the trace; functions.yaml says classes of functions. */
static char *kept_name(const struct sta_view *view)
{
    return sta_sprintf("columns-%016llx-%s-%s", (unsigned long long)sta_presets_fingerprint(view->presets),
                       sta_build_id(), view->traces[0].label);
}

static bool load_figures(const struct sta_view *view, const char *name, struct sta_table *table)
{
    char *bytes;
    size_t size;
    if (!sta_view_get_kept(view, name, &bytes, &size))
        return false;
    struct sta_cursor cursor = {.at = (const unsigned char *)bytes,
                                .end = (const unsigned char *)bytes + size};
    const bool good = sta_table_read(&cursor, table);
    if (!good)
        sta_table_fini(table);
    free(bytes);
    return good;
}

static void keep_figures(const struct sta_view *view, const char *name, const struct sta_table *table)
{
    struct sta_buffer bytes;
    sta_buffer_init(&bytes);
    sta_table_write(table, &bytes);
    sta_view_put_kept(view, name, bytes.data, bytes.size);
    sta_buffer_fini(&bytes);
}

static int find_figures(const struct sta_view *view, const struct sta_budget *budget, struct sta_table *table,
                        struct sta_error *err)
{
    struct sta_columns_query query = query_of(view);
    char *name = kept_name(view);
    int status = STA_OK;
    query.preset = NULL;
    if (!load_figures(view, name, table)) {
        status = sta_columns_describe(&query, NULL, budget, table, err);
        if (status == STA_OK)
            keep_figures(view, name, table);
    }
    free(name);
    return status;
}

static int prepare_figures(struct sta_view *view, const struct sta_budget *budget,
                           struct sta_response *response, struct sta_error *err)
{
    struct sta_table table = {0};
    int status = find_figures(view, budget, &table, err);
    if (status == STA_OK)
        sta_table_fini(&table);
    return status;
}

const struct sta_view_kind sta_view_column_figures = {
    .name = "column_figures", .labelled = true, .compute = prepare_figures, .background = true};

/* ---- calls */

static int describe(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                    struct sta_error *err)
{
    struct sta_columns_query query = query_of(view);
    struct sta_table figures = {0}, table;
    int status = STA_OK;
    if (query.preset == NULL) {
        status = find_figures(view, budget, &table, err);
    } else {
        const bool known = sta_presets_find(view->presets, query.preset) != NULL;
        if (known)
            status = find_figures(view, budget, &figures, err);
        if (status == STA_OK)
            status = sta_columns_describe(&query, known ? &figures : NULL, budget, &table, err);
        sta_table_fini(&figures);
    }
    if (status != STA_OK)
        return status;
    *result = sta_result_of_table(&table, NULL, NULL);
    status = sta_put_counters(view, budget, &(*result)->head, err);
    if (status != STA_OK) {
        sta_result_release(*result);
        *result = NULL;
    }
    return status;
}

const struct sta_view_kind sta_view_columns = {.name = "columns",
                                               .labelled = true,
                                               .arranged = true,
                                               .key_values = STA_HAS(TRACED_PRESET),
                                               .result = describe};

static int list_values(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                       struct sta_error *err)
{
    struct sta_columns_query query = query_of(view);
    struct sta_table table;
    int status = sta_column_values(&query, view->part, view->values[STA_PARAMETER_PREFIX].text,
                                   view->server->options.rows, budget, &table, err);
    if (status == STA_OK)
        *result = sta_result_of_table(&table, NULL, NULL);
    return status;
}

const struct sta_view_kind sta_view_column_values = {.name = "column_values",
                                                     .labelled = true,
                                                     .arranged = true,
                                                     .key_values = STA_HAS(TRACED_PRESET) | STA_HAS(PREFIX),
                                                     .result = list_values};

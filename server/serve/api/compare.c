/* Any layered view of several runs, compared to one of them.
 *
 * The view of each run is computed as for a call on that run alone, so its result is shared with who
 * asks for that. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/responses/compare_tables.h"
#include "serve/responses/views.h"

#define COMPARED                                                                                             \
    (STA_HAS(SEMANTICS) | STA_HAS(FILTERS) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(FILTER) |                 \
     STA_HAS(LAYER) | STA_HAS(BY) | STA_HAS(VIEWS) | STA_HAS(GRANULARITY) | STA_HAS(VIEW) |                  \
     STA_HAS(BASELINE))

static const struct sta_view_kind *kind_of(const struct sta_view *view)
{
    static const struct {
        const char *name;
        const struct sta_view_kind *kind;
    } kinds[] = {{"summary", &sta_view_summary_table}, {"layer", &sta_view_layer}, {"flat", &sta_view_flat}};
    const char *name = view->values[STA_PARAMETER_VIEW].text;
    size_t i = 0;
    while (strcmp(kinds[i].name, name) != 0) /* the words of the parameter are these */
        i++;
    return kinds[i].kind;
}

/* ---- what is asked */

int sta_view_find_listed(struct sta_view *view, struct sta_error *err)
{
    const char *names = view->values[STA_PARAMETER_TRACES].text;
    struct sta_document *request = sta_document_create(&view->memory, STA_DOCUMENT_OBJECT),
                        *list = sta_document_create(&view->memory, STA_DOCUMENT_LIST);
    if (names == NULL)
        return sta_fail_at(err, STA_EINPUT, "/traces",
                           "traces is missing: ids of the runs to compare, with commas between");
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, ",");
        sta_document_append(&view->memory, list, NULL, sta_document_text(&view->memory, at, length));
        at += length + (at[length] == ',');
    }
    sta_document_append(&view->memory, request, "traces", list);
    view->document = request;
    int status = sta_view_find_traces(view, err);
    view->document = NULL;
    return status == STA_OK ? STA_OK : sta_at(err, "/traces", -1);
}

static int find_baseline(const struct sta_view *view, size_t *number, struct sta_error *err)
{
    const char *baseline = view->values[STA_PARAMETER_BASELINE].text;
    for (*number = 0; baseline != NULL && *number < view->trace_count; ++*number)
        if (strcmp(view->traces[*number].id, baseline) == 0 ||
            strcmp(view->traces[*number].label, baseline) == 0)
            return STA_OK;
    if (baseline == NULL)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/baseline", "baseline=%.60s is none of the traces that are compared",
                       baseline);
}

/* The preset of the baseline, unless one is named, is that of all: layers of different presets have no
 * like. */
static int check_compare(struct sta_view *view, struct sta_error *err)
{
    size_t baseline = 0;
    const char *preset = view->values[STA_PARAMETER_PRESET].text;
    if (find_baseline(view, &baseline, err) != STA_OK)
        return err->status;
    if (view->values[STA_PARAMETER_LAYER].given && kind_of(view) != &sta_view_layer)
        return sta_fail_at(err, STA_EINPUT, "/layer",
                           "layer is for view=layer; the other views show all layers");
    if (preset == NULL)
        return sta_library_preset_of(view->server->options.library, view->traces[baseline].id, view->preset,
                                     err);
    snprintf(view->preset, sizeof view->preset, "%s", preset);
    return STA_OK;
}

/* ---- the response */

/* The results of the runs, which hold the texts of the comparison. */
struct runs {
    size_t count;
    struct sta_result **results;
    char **labels;
};

static void runs_free(void *context)
{
    struct runs *runs = context;
    for (size_t i = 0; i < runs->count; i++) {
        sta_result_release(runs->results[i]);
        free(runs->labels[i]);
    }
    free(runs->results);
    free(runs->labels);
    free(runs);
}

static int compute_runs(struct sta_view *view, const struct sta_budget *budget, struct runs *runs,
                        struct sta_error *err)
{
    runs->results = sta_alloc_array(view->trace_count, sizeof(struct sta_result *));
    runs->labels = sta_alloc_array(view->trace_count, sizeof(char *));
    for (size_t i = 0; i < view->trace_count; i++) {
        int status = sta_view_result_of(view, i, kind_of(view), budget, &runs->results[i], err);
        if (status == STA_EINPUT)
            return status; /* a mistake of the request, whatever the run */
        if (status != STA_OK)
            return sta_error_wrap(err, "Cannot compare %s", view->traces[i].label);
        runs->labels[runs->count++] = sta_strdup(view->traces[i].label);
    }
    return STA_OK;
}

/* A process is named by two columns, a thread by three, all else by one. */
static size_t key_columns(const struct sta_table *table)
{
    static const char *const parts[] = {"host_name", "pid", "tid"};
    size_t keys = 0;
    while (keys < STA_COUNT_OF(parts) && keys < table->column_count &&
           strcmp(table->columns[keys].name, parts[keys]) == 0)
        keys++;
    return keys > 1 ? keys : 1;
}

static int compare(struct sta_view *view, const struct sta_budget *budget, const struct runs *runs,
                   struct sta_table *table, struct sta_error *err)
{
    struct sta_comparison comparison = {.labels = (const char *const *)runs->labels,
                                        .count = runs->count,
                                        .in_order = kind_of(view) == &sta_view_summary_table};
    const struct sta_table **tables = sta_alloc_array(runs->count, sizeof *tables);
    for (size_t i = 0; i < runs->count; i++)
        tables[i] = sta_result_table(runs->results[i]);
    comparison.tables = tables;
    comparison.keys = key_columns(tables[0]);
    int status = find_baseline(view, &comparison.baseline, err);
    if (status == STA_OK)
        status = sta_compare_tables(&comparison, budget, table, err);
    free(tables);
    return status;
}

static int compare_result(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                          struct sta_error *err)
{
    struct runs *runs = sta_alloc(sizeof *runs);
    struct sta_table table = {0};
    struct sta_response_names names = sta_view_names(view);
    struct sta_facts none = {0};
    size_t baseline = 0;
    int status = compute_runs(view, budget, runs, err);
    if (status == STA_OK)
        status = compare(view, budget, runs, &table, err);
    if (status == STA_OK)
        status = find_baseline(view, &baseline, err);
    if (status != STA_OK) {
        runs_free(runs);
        return status;
    }
    *result = sta_result_of_table(&table, runs, runs_free);
    sta_put_names(&(*result)->head, &names, &none);
    sta_put_member_text(&(*result)->head, "view", view->values[STA_PARAMETER_VIEW].text);
    sta_put_member_text(&(*result)->head, "baseline", view->traces[baseline].label);
    return STA_OK;
}

const struct sta_view_kind sta_view_compare = {.name = "compare",
                                               .labelled = true,
                                               .arranged = true,
                                               .key_values = COMPARED,
                                               .find = sta_view_find_listed,
                                               .check = check_compare,
                                               .result = compare_result};

/* Tables of Dask computations. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/responses/views.h"
#include "dasf/dasf.h"

/* Only of traces of this kind, and tables that there are. */
static int check(struct sta_view *view, struct sta_error *err)
{
    struct sta_trace_entry entry;
    int status = sta_store_find(view->server->options.store, view->trace, &entry, err);
    if (status != STA_OK)
        return status;
    if (entry.kind != STA_TRACE_DASF)
        status = sta_fail(err, STA_ENOTFOUND,
                          "trace %s is of kind \"%s\"; tables of Dask computations are of kind \"dasf\"",
                          entry.name, sta_trace_kind_name(entry.kind));
    else if (sta_dasf_table_find(view->part) == STA_DASF_TABLES)
        status = sta_fail(err, STA_ENOTFOUND, "there is no table %.60s of Dask computations", view->part);
    sta_trace_entry_fini(&entry);
    return status;
}

/* ---- the records, and these with their graph, kept among the results: no rows of them are ever read */

static void destroy_records(void *self)
{
    sta_dasf_destroy(self);
}

static uint64_t bytes_of_records(const void *self)
{
    return sta_dasf_bytes(self);
}

static int read_records(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                        struct sta_error *err)
{
    static const struct sta_result_class class = {.destroy = destroy_records, .bytes = bytes_of_records};
    struct sta_dasf *dasf;
    int status = sta_dasf_create(view->snapshot, view->presets, budget, &dasf, err);
    if (status == STA_OK)
        *result = sta_result_create(&class, dasf);
    return status;
}

static const struct sta_view_kind view_records = {.name = "dasf records", .result = read_records};

struct linked {
    struct sta_dasf *dasf;
    struct sta_result *records;
};

static void destroy_linked(void *self)
{
    struct linked *linked = self;
    sta_dasf_destroy(linked->dasf);
    sta_result_release(linked->records);
    free(linked);
}

static uint64_t bytes_of_linked(const void *self)
{
    const struct linked *linked = self;
    return sta_dasf_bytes(linked->dasf);
}

static int link_records(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                        struct sta_error *err)
{
    static const struct sta_result_class class = {.destroy = destroy_linked, .bytes = bytes_of_linked};
    struct linked linked;
    int status = sta_view_result_of(view, 0, &view_records, budget, &linked.records, err);
    if (status != STA_OK)
        return status;
    status = sta_dasf_link(linked.records->self, budget, &linked.dasf, err);
    if (status != STA_OK) {
        sta_result_release(linked.records);
        return status;
    }
    struct linked *made = sta_alloc(sizeof *made);
    *made = linked;
    *result = sta_result_create(&class, made);
    return STA_OK;
}

static const struct sta_view_kind view_linked = {.name = "dasf graph", .result = link_records};

/* ---- tables */

static int fill_table(struct sta_view *view, const struct sta_dasf *dasf, const struct sta_budget *budget,
                      struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    const struct sta_parameter_value *values = view->values;
    struct sta_dasf_query query = {
        .dasf = dasf,
        .presets = view->presets,
        .table = sta_dasf_table_find(view->part),
        .compatible = strcmp(values[STA_PARAMETER_SEMANTICS].text, "compatible") == 0,
        .has_from = values[STA_PARAMETER_FROM].given,
        .has_to = values[STA_PARAMETER_TO].given,
        .from = values[STA_PARAMETER_FROM].number,
        .to = values[STA_PARAMETER_TO].number,
        .filter = values[STA_PARAMETER_FILTER].text,
        .granularity_us = values[STA_PARAMETER_GRANULARITY].integer,
    };
    const char **offsets = NULL;
    if (values[STA_PARAMETER_OFFSETS].given)
        offsets = sta_view_list(view, values[STA_PARAMETER_OFFSETS].text, &query.offset_count);
    query.offsets = offsets;
    int status = sta_dasf_run(&query, budget, table, facts, err);
    free(offsets);
    return status;
}

static int compute(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                   struct sta_error *err)
{
    const bool graph = sta_dasf_table_linked(sta_dasf_table_find(view->part));
    struct sta_result *records;
    struct sta_table table;
    struct sta_facts facts = {0};
    int status = sta_view_result_of(view, 0, graph ? &view_linked : &view_records, budget, &records, err);
    if (status != STA_OK)
        return status;
    const struct sta_dasf *dasf = graph ? ((const struct linked *)records->self)->dasf : records->self;
    status = fill_table(view, dasf, budget, &table, &facts, err);
    sta_result_release(records);
    if (status != STA_OK)
        return status;
    *result = sta_result_of_table(&table, NULL, NULL);
    sta_put_member_text(&(*result)->head, "semantics", view->values[STA_PARAMETER_SEMANTICS].text);
    sta_put_facts(&(*result)->head, &facts);
    return STA_OK;
}

const struct sta_view_kind sta_view_dasf = {.name = "dasf",
                                            .arranged = true,
                                            .key_values = STA_HAS(SEMANTICS) | STA_HAS(FROM) | STA_HAS(TO) |
                                                          STA_HAS(FILTER) | STA_HAS(GRANULARITY) |
                                                          STA_HAS(OFFSETS),
                                            .check = check,
                                            .result = compute};

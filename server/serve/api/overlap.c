/* Overlap: busy, overlapping and exposed time of sets of events; its intervals; the page that
 * DFTracer's analyser prints. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/responses/views.h"
#include "findings/findings.h"

/* Events and sets that are asked, whatever is made of them. */
#define SET_VALUES                                                                                           \
    (STA_HAS(TRACED_PRESET) | STA_HAS(TRACED_FILTERS) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(FILTER) |      \
     STA_HAS(SETS) | STA_HAS(SET_LAYERS) | STA_HAS(SCOPE))
#define TOTALS_VALUES                                                                                        \
    (SET_VALUES | STA_HAS(OVERLAP_SEMANTICS) | STA_HAS(BIN_WIDTH) | STA_HAS(EXPOSURE) |                      \
     STA_HAS(OVERLAP_EXPLAIN) | STA_HAS(ATTRIBUTION) | STA_HAS(ATTRIBUTION_BY))
#define INTERVALS_VALUES                                                                                     \
    (SET_VALUES | STA_HAS(WHERE) | STA_HAS(LONGEST) | STA_HAS(EVENTS) | STA_HAS(SORT) | STA_HAS(ORDER_BY))
#define PAGE_VALUES (STA_HAS(SETS) | STA_HAS(VARIANT) | STA_HAS(BIN_WIDTH))

/* ---- what a GET asks about when it does not say: a body says everything */

static bool has_member(const struct sta_view *view, const char *name)
{
    return sta_document_member(view->document, name) != NULL;
}

/* The default conditions of DFTracer's analyser. */
static void add_usual_sets(struct sta_view *view)
{
    struct sta_document *sets = sta_document_create(&view->memory, STA_DOCUMENT_OBJECT);
    sta_document_add_text(&view->memory, sets, "compute", "name.str.contains(\"compute\")");
    sta_document_add_text(&view->memory, sets, "io", "cat in [\"posix\", \"stdio\"]");
    sta_document_add_text(&view->memory, sets, "app_io",
                          "cat.str.contains(\"reader\") or cat.str.contains(\"checkpoint\")");
    sta_document_append(&view->memory, view->document, "sets", sets);
}

/* What the parameters say of an attribution, as its member.  Its preset is that of the trace, unless one is
 * named. */
static int gather_attribution(struct sta_view *view, struct sta_error *err)
{
    static const char *const moved[] = {"by", "granularity"};
    struct sta_document *attribution = sta_document_create(&view->memory, STA_DOCUMENT_OBJECT);
    struct sta_document *chain = sta_document_take(view->document, "attribution");
    sta_document_append(&view->memory, attribution, "chain", chain);
    for (size_t i = 0; i < STA_COUNT_OF(moved); i++) {
        struct sta_document *member = sta_document_take(view->document, moved[i]);
        if (member != NULL)
            sta_document_append(&view->memory, attribution, moved[i], member);
    }
    sta_document_append(&view->memory, view->document, "attribution", attribution);
    int status = sta_library_preset_of(view->server->options.library, view->trace, view->preset, err);
    if (status == STA_OK && !has_member(view, "preset"))
        sta_document_add_text(&view->memory, view->document, "preset", view->preset);
    return status;
}

/* The layers of the preset named, or of the trace's own. */
static int default_sets(struct sta_view *view, struct sta_error *err)
{
    const char *semantics = view->values[STA_PARAMETER_OVERLAP_SEMANTICS].text;
    if (view->from_parameters && has_member(view, "attribution"))
        return gather_attribution(view, err);
    if (view->from_parameters && has_member(view, "by"))
        return sta_fail_at(err, STA_EINPUT, "/by",
                           "by names the rows of an attribution; attribution is not given");
    bool said = has_member(view, "sets") || has_member(view, "layers") || !view->from_parameters;
    if (!said && semantics != NULL && strcmp(semantics, "compatible") == 0)
        add_usual_sets(view);
    else if (!said)
        sta_document_append(&view->memory, view->document, "layers",
                            sta_document_create(&view->memory, STA_DOCUMENT_LIST));
    return sta_library_preset_of(view->server->options.library, view->trace, view->preset, err);
}

static int default_where(struct sta_view *view, struct sta_error *err)
{
    if (view->from_parameters && !has_member(view, "where"))
        sta_document_add_text(&view->memory, view->document, "where", "idle");
    return default_sets(view, err);
}

/* ---- the totals */

/* Those that are asked for. */
static void put_tables(struct sta_buffer *out, const struct sta_overlap_result *overlap)
{
    const struct {
        const char *name;
        const struct sta_table *table;
    } tables[] = {{"sets", &overlap->sets},         {"pairs", &overlap->pairs},
                  {"groups", &overlap->groups},     {"concurrency", &overlap->concurrency},
                  {"exposure", &overlap->exposure}, {"statistics", &overlap->statistics},
                  {"explain", &overlap->explain},   {"phases", &overlap->phases}};
    for (size_t i = 0; i < STA_COUNT_OF(tables); i++)
        if (tables[i].table->column_count > 0)
            sta_put_member_rows(out, tables[i].name, tables[i].table);
    if (overlap->series.column_count > 0)
        sta_put_member_table(out, "series", &overlap->series);
}

static void put_head(struct sta_buffer *out, const struct sta_overlap_result *overlap)
{
    sta_put_member_text(out, "semantics", overlap->semantics);
    if (overlap->variant != NULL)
        sta_put_member_text(out, "variant", overlap->variant);
    if (overlap->scope != NULL) {
        sta_put_member(out, "scope");
        sta_put_text(out, overlap->scope);
    }
    sta_put_facts(out, &overlap->facts);
    put_tables(out, overlap);
    sta_put_member_texts(out, "warnings", (const char *const *)overlap->warnings, overlap->warning_count);
}

/* ---- attribution */

static void put_cause(struct sta_buffer *out, const struct sta_attribution_result *attribution, size_t row)
{
    sta_put_text(out, row > 0 ? ",\n{" : "\n{");
    sta_put_row_members(out, &attribution->causes, row);
    sta_put_member_rows(out, "longest", &attribution->longest[row]);
    sta_put_char(out, '}');
}

static void put_blocking(struct sta_buffer *out, const struct sta_attribution_result *attribution)
{
    sta_begin_object(out, "blocking");
    sta_put_member_text(out, "bottleneck", attribution->bottleneck);
    sta_put_member_texts(out, "path", (const char *const *)attribution->path, attribution->path_count);
    sta_put_member_double(out, "time", attribution->time);
    sta_put_member_double(out, "untraced", attribution->untraced);
    sta_put_member_rows(out, "nodes", &attribution->nodes);
    sta_put_char(out, '}');
}

/* The member is left open: its rows follow, page by page. */
static void put_attribution(struct sta_buffer *out, const struct sta_attribution_result *attribution)
{
    sta_put_member_text(out, "semantics", "exact");
    sta_put_member(out, "scope");
    sta_put_text(out, attribution->scope);
    if (attribution->layered)
        put_blocking(out, attribution);
    sta_put_text(out, ",\"warnings\":[]");
    sta_begin_object(out, "attribution");
    sta_put_member_text(out, "target", attribution->target);
    sta_put_member_double(out, "time", attribution->time);
    sta_put_member_uint(out, "units", attribution->units);
    sta_begin_list(out, "causes");
    for (size_t row = 0; row < attribution->causes.rows; row++)
        put_cause(out, attribution, row);
    sta_put_char(out, ']');
}

static int run_attribution(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                           struct sta_error *err)
{
    struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    struct sta_attribution_result attribution;
    int status = sta_attribution_run(&query, budget, &attribution, err);
    if (status != STA_OK)
        return status;
    struct sta_table rows = attribution.rows;
    attribution.rows = (struct sta_table){0};
    *result = sta_result_of_table(&rows, NULL, NULL);
    (*result)->member = "rows";
    (*result)->tail = "}";
    put_attribution(&(*result)->head, &attribution);
    sta_attribution_result_fini(&attribution);
    return STA_OK;
}

static int run_totals(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                      struct sta_error *err)
{
    struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    struct sta_overlap_result overlap;
    if (has_member(view, "attribution"))
        return run_attribution(view, budget, result, err);
    int status = sta_overlap_run(&query, budget, &overlap, err);
    if (status != STA_OK)
        return status;
    struct sta_table table = overlap.per_scope;
    bool exact = overlap.scope != NULL;
    overlap.per_scope = (struct sta_table){0};
    *result = sta_result_of_table(&table, NULL, NULL);
    (*result)->member = exact ? "per_scope" : "lines";
    put_head(&(*result)->head, &overlap);
    sta_overlap_result_fini(&overlap);
    return STA_OK;
}

const struct sta_view_kind sta_view_overlap = {.name = "overlap",
                                               .labelled = true,
                                               .document_values = TOTALS_VALUES,
                                               .check = default_sets,
                                               .result = run_totals};

/* ---- the intervals */

static int run_intervals(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                         struct sta_error *err)
{
    struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    struct sta_table table;
    int status = sta_overlap_intervals(&query, budget, &table, err);
    if (status == STA_OK)
        *result = sta_result_of_table(&table, NULL, NULL);
    return status;
}

const struct sta_view_kind sta_view_overlap_intervals = {.name = "overlap_intervals",
                                                         .labelled = true,
                                                         .document_values = INTERVALS_VALUES,
                                                         .check = default_where,
                                                         .result = run_intervals};

/* ---- the printed page */

static int make_compatible(struct sta_view *view, struct sta_error *err)
{
    (void)err;
    sta_document_add_text(&view->memory, view->document, "semantics", "compatible");
    if (!has_member(view, "sets"))
        add_usual_sets(view);
    return STA_OK;
}

static int print_page(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                      struct sta_error *err)
{
    struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    struct sta_overlap_result overlap;
    int status = sta_overlap_run(&query, budget, &overlap, err);
    if (status != STA_OK)
        return sta_view_blame(view, err);
    char *page = sta_overlap_page(&overlap);
    response->content_type = "text/plain; charset=utf-8";
    sta_put_text(&response->body, page);
    free(page);
    sta_overlap_result_fini(&overlap);
    return STA_OK;
}

const struct sta_view_kind sta_view_overlap_page = {.name = "overlap_page",
                                                    .labelled = true,
                                                    .document_values = PAGE_VALUES,
                                                    .check = make_compatible,
                                                    .compute = print_page};

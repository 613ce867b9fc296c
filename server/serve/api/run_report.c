/* A run's report as one HTML file: for mail, tickets and papers.  No script, no external resource; colours
 * for light and dark, and for print. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/findings_json.h"
#include "serve/formats/report_html.h"
#include "findings/findings.h"

/* ---- parts */

static void put_verdict(struct sta_buffer *out, const struct sta_findings_result *findings)
{
    sta_put_text(out, "<h2>Verdict</h2>\n<p>");
    if (findings->count > 0 && findings->items[0].severity <= STA_SEVERITY_WARNING)
        sta_html_text(out, findings->items[0].text);
    else
        sta_put_format(out, "%llu check%s passed; nothing critical was found.",
                       (unsigned long long)findings->counts[STA_SEVERITY_OK],
                       findings->counts[STA_SEVERITY_OK] == 1 ? "" : "s");
    sta_put_text(out, "</p>\n<p class=s>");
    sta_findings_put_counts(findings, out);
    sta_put_format(out, "; preset %.60s; %llu rank%s.</p>\n", findings->preset,
                   (unsigned long long)findings->ranks, findings->ranks == 1 ? "" : "s");
}

static void put_causes(struct sta_buffer *out, const struct sta_table *causes)
{
    double total = 0;
    if (causes->column_count == 0)
        return;
    for (size_t row = 0; row < causes->rows; row++)
        total += causes->columns[2].numbers[row];
    sta_put_text(out, "<h2>Where the time went</h2>\n<div class=bar>");
    for (size_t row = 0; total > 0 && row < causes->rows; row++)
        sta_put_format(out, "<i style=\"width:%.3f%%;background:%s\"></i>",
                       100 * causes->columns[2].numbers[row] / total, sta_html_color(row));
    sta_put_text(out, "</div>\n");
    sta_html_table(out, causes, causes->rows, NULL, true);
}

static void put_threshold(struct sta_buffer *out, const struct sta_finding *finding)
{
    struct sta_buffer text;
    if (finding->severity == STA_SEVERITY_NA)
        return;
    sta_buffer_init(&text);
    sta_finding_put_threshold(finding, &text);
    sta_put_char(&text, '\0');
    sta_put_text(out, "<p class=s>");
    sta_html_text(out, text.data);
    sta_put_text(out, "</p>\n");
    sta_buffer_fini(&text);
}

static void put_finding(struct sta_buffer *out, const struct sta_finding *finding)
{
    const char *advice;
    sta_put_format(out, "<div class=\"f %s\"><p><b>", sta_severity_name(finding->severity));
    sta_html_text(out, finding->title);
    sta_put_format(out, "</b> <span class=s>%s, %s</span></p>\n<p>", sta_severity_name(finding->severity),
                   finding->id);
    sta_html_text(out, finding->text);
    sta_put_text(out, "</p>\n");
    for (size_t i = 0; (advice = sta_finding_advice(finding, i)) != NULL; i++) {
        sta_put_text(out, i == 0 ? "<ul><li>" : "<li>");
        sta_html_text(out, advice);
        sta_put_text(out, "</li>");
    }
    sta_put_text(out, sta_finding_advice(finding, 0) != NULL ? "</ul>\n" : "");
    put_threshold(out, finding);
    if (finding->severity < STA_SEVERITY_OK) {
        sta_html_table(out, &finding->evidence, 10, NULL, false);
        sta_put_text(out, "<p class=s>Source: ");
        sta_html_text(out, finding->source);
        sta_put_text(out, "</p>\n");
    }
    sta_put_text(out, "</div>\n");
}

static void put_findings(struct sta_buffer *out, const struct sta_findings_result *findings)
{
    static const char *const titles[] = {"Critical", "Warnings", "Notes", "Passed", "Not applicable"};
    for (size_t severity = 0; severity < STA_SEVERITIES; severity++) {
        if (findings->counts[severity] == 0)
            continue;
        sta_put_format(out, "<h2>%s</h2>\n", titles[severity]);
        for (size_t i = 0; i < findings->count; i++)
            if (findings->items[i].severity == severity)
                put_finding(out, &findings->items[i]);
    }
}

/* ---- the responses of other calls */

static int put_layers(struct sta_view *view, const struct sta_budget *budget, struct sta_buffer *out,
                      struct sta_error *err)
{
    static const char *const shown[] = {"name", "count", "time", "size", "busy", "exposed_group_sum"};
    static const char *const labels[] = {
        "Layer", "Calls", "Call time (sum)", "Bytes", "Wall time (union)", "Not overlapped with compute"};
    const struct sta_view_query query = sta_view_query_of(view);
    struct sta_table_column columns[STA_COUNT_OF(shown)];
    struct sta_table table, few = {.columns = columns}; /* borrows from the other */
    struct sta_facts facts;
    const struct sta_table_query summary = {.common = &query, .table = STA_VIEW_SUMMARY};
    int status = sta_view_exact(&summary, budget, &table, &facts, err);
    if (status != STA_OK)
        return status;
    few.rows = table.rows;
    for (size_t c = 0; c < STA_COUNT_OF(shown); c++) {
        const struct sta_table_column *column = sta_table_find(&table, shown[c]);
        if (column != NULL)
            columns[few.column_count++] = *column;
    }
    sta_put_text(out, "<h2>Layers</h2>\n");
    sta_html_table(out, &few, few.rows, labels, false);
    sta_table_fini(&table);
    return STA_OK;
}

/* A request about the part of the trace that the report is asked for. */
static struct sta_document *part_request(struct sta_view *view)
{
    struct sta_document *request = sta_document_create(&view->memory, STA_DOCUMENT_OBJECT);
    const struct sta_parameter_value *values = view->values;
    sta_document_add_text(&view->memory, request, "preset", view->preset);
    sta_document_add_text(&view->memory, request, "filters", "off");
    if (values[STA_PARAMETER_FILTER].given)
        sta_document_add_text(&view->memory, request, "filter", values[STA_PARAMETER_FILTER].text);
    if (values[STA_PARAMETER_FROM].given)
        sta_document_add_number(&view->memory, request, "from", values[STA_PARAMETER_FROM].number);
    if (values[STA_PARAMETER_TO].given)
        sta_document_add_number(&view->memory, request, "to", values[STA_PARAMETER_TO].number);
    return request;
}

/* The same about the preset's default chain, with a key of its rows. */
static struct sta_document *chain_request(struct sta_view *view, const struct sta_preset *preset,
                                          const char *key, double granularity)
{
    struct sta_document *request = part_request(view);
    struct sta_document *attribution = sta_document_create(&view->memory, STA_DOCUMENT_OBJECT);
    struct sta_document *by = sta_document_create(&view->memory, STA_DOCUMENT_LIST);
    sta_document_add_text(&view->memory, attribution, "chain", preset->chains[0].name);
    sta_document_add_text(&view->memory, by, NULL, key);
    sta_document_append(&view->memory, attribution, "by", by);
    sta_document_add_number(&view->memory, attribution, "granularity", granularity);
    sta_document_append(&view->memory, request, "attribution", attribution);
    return request;
}

/* The stall by step, of presets that know steps. */
static int put_steps(struct sta_view *view, const struct sta_preset *preset, const struct sta_budget *budget,
                     struct sta_buffer *out, struct sta_error *err)
{
    struct sta_attribution_result attribution;
    if (preset->phases[STA_PHASE_step] == NULL)
        return STA_OK;
    const struct sta_overlap_query query =
        sta_view_overlap_query(view, chain_request(view, preset, "step", 1));
    int status = sta_attribution_run(&query, budget, &attribution, err);
    if (status != STA_OK)
        return status;
    sta_put_text(out, "<h2>Stall by step</h2>\n");
    sta_html_table(out, &attribution.rows, 200, NULL, false);
    sta_attribution_result_fini(&attribution);
    return STA_OK;
}

/* Columns of causes over time, as a picture. */
#define COLUMNS 80
#define WIDTH 960
#define HEIGHT 160

/* @first: the bin, or part of one, at the left edge */
static void put_columns(struct sta_buffer *out, const struct sta_table *rows, double first)
{
    double most = 0;
    for (size_t row = 0; row < rows->rows; row++)
        most = STA_MAX(most, rows->columns[1].numbers[row]);
    sta_put_format(out, "<svg viewBox=\"0 0 %d %d\" width=\"100%%\" role=img>", WIDTH, HEIGHT);
    for (size_t row = 0; most > 0 && row < rows->rows; row++) {
        double top = HEIGHT;
        for (size_t c = 2; c < rows->column_count; c++) {
            const double height = HEIGHT * rows->columns[c].numbers[row] / most;
            top -= height;
            if (height > 0.1)
                sta_put_format(out, "<rect x=%.1f y=%.1f width=%.1f height=%.1f fill=\"%s\"/>",
                               ((double)rows->columns[0].integers[row] - first) * WIDTH / COLUMNS, top,
                               (double)WIDTH / COLUMNS - 1, height, sta_html_color(c - 2));
        }
    }
    sta_put_text(out, "</svg>\n");
}

static int put_times(struct sta_view *view, const struct sta_preset *preset, const struct sta_budget *budget,
                     struct sta_buffer *out, struct sta_error *err)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(view->snapshot);
    const struct sta_parameter_value *values = view->values;
    const double end = (double)info->end_ticks / ((double)info->ticks_per_us * 1e6);
    const double from =
        values[STA_PARAMETER_FROM].given ? STA_MAX(values[STA_PARAMETER_FROM].number, 0.0) : 0;
    const double to = values[STA_PARAMETER_TO].given ? STA_MIN(values[STA_PARAMETER_TO].number, end) : end;
    const double width =
        ceil((to - from) / COLUMNS * 1e6) / 1e6; /* rounded down, a last one would lie outside */
    struct sta_attribution_result attribution;
    if (to - from < 1e-3)
        return STA_OK;
    const struct sta_overlap_query query =
        sta_view_overlap_query(view, chain_request(view, preset, "bin", width));
    int status = sta_attribution_run(&query, budget, &attribution, err);
    if (status != STA_OK)
        return status;
    sta_put_format(
        out, "<h2>Over time</h2>\n<p class=s>%d columns of %.3g s, in the colours of the causes above.</p>\n",
        COLUMNS, width);
    put_columns(out, &attribution.rows, from / width);
    sta_attribution_result_fini(&attribution);
    return STA_OK;
}

static int put_stragglers(struct sta_view *view, const struct sta_budget *budget, struct sta_buffer *out,
                          struct sta_error *err)
{
    struct sta_document *request = part_request(view);
    struct sta_facts facts;
    struct sta_table rows;
    sta_document_add_text(&view->memory, request, "by", "process");
    sta_document_add_text(&view->memory, request, "of", "io_cat == 1");
    const struct sta_overlap_query query = sta_view_overlap_query(view, request);
    int status = sta_stragglers_run(&query, budget, &facts, &rows, err);
    if (status != STA_OK)
        return status;
    if (rows.rows > 0)
        sta_put_text(out, "<h2>Processes by time in reads</h2>\n");
    sta_html_table(out, &rows, 20, NULL, false);
    sta_table_fini(&rows);
    return STA_OK;
}

static int put_chain(struct sta_view *view, const struct sta_budget *budget, struct sta_buffer *out,
                     struct sta_error *err)
{
    const struct sta_preset *preset = sta_presets_find(view->presets, view->preset);
    if (preset == NULL || preset->chain_count == 0)
        return STA_OK;
    int status = put_times(view, preset, budget, out, err);
    return status == STA_OK ? put_steps(view, preset, budget, out, err) : status;
}

static void put_ledger(const struct sta_view *view, struct sta_buffer *out)
{
    struct sta_ledger_counts sum = {0};
    for (size_t i = 0; i < sta_snapshot_source_count(view->snapshot); i++)
        sta_ledger_add(&sum, &sta_snapshot_source(view->snapshot, i)->counts);
    sta_put_text(out, "<h2>Lines</h2>\n<table>");
#define X(name)                                                                                              \
    sta_put_format(out, "<tr><th>%s</th><td class=n>%llu</td></tr>\n", #name, (unsigned long long)sum.name);
    STA_LEDGER_LIST(X)
#undef X
    sta_put_text(out, "</table>\n");
}

/* ---- the whole */

/* The report's style is inline, since it is one file; it may do nothing else. */
static const char policy[] = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
                             "form-action 'none'; frame-ancestors 'none'";

static int compute(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                   struct sta_error *err)
{
    struct sta_buffer *out = &response->body;
    const struct sta_findings_result *findings;
    struct sta_result *result;
    struct sta_trace_entry entry;
    int status = sta_view_make_findings(view, 0, budget, &result, &findings, err);
    if (status != STA_OK)
        return status;
    status = sta_store_find(view->server->options.store, view->traces[0].id, &entry, err);
    if (status == STA_OK) {
        sta_put_text(out, "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
                          "content=\"width=device-width\"><title>");
        sta_html_text(out, entry.name);
        sta_put_format(out, "</title><style>%s</style>\n<h1>", sta_html_style);
        sta_html_text(out, entry.name);
        sta_put_text(out, "</h1>\n");
        sta_trace_entry_fini(&entry);
        put_verdict(out, findings);
        put_causes(out, &findings->causes);
        put_findings(out, findings);
        status = put_layers(view, budget, out, err);
    }
    if (status == STA_OK)
        status = put_chain(view, budget, out, err);
    if (status == STA_OK)
        status = put_stragglers(view, budget, out, err);
    if (status == STA_OK)
        put_ledger(view, out);
    response->content_type = "text/html; charset=utf-8";
    sta_response_header(response, "Content-Security-Policy", policy);
    sta_result_release(result);
    return status;
}

const struct sta_view_kind sta_view_run_report = {.name = "run_report",
                                                  .labelled = true,
                                                  .key_values = STA_FINDINGS_VALUES,
                                                  .check = sta_view_check_findings,
                                                  .compute = compute};

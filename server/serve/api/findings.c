/* Why a run is slow: utilisation, stragglers, access patterns, findings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/findings_json.h"
#include "findings/findings.h"

#define RUN_VALUES (STA_HAS(RUN_PRESET) | STA_HAS(FROM) | STA_HAS(TO) | STA_HAS(FILTER))

/* ---- utilisation */

static int result_utilisation(struct sta_view *view, const struct sta_budget *budget,
                              struct sta_result **result, struct sta_error *err)
{
    struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    struct sta_utilisation_result utilisation;
    int status = sta_utilisation_run(&query, budget, &utilisation, err);
    if (status != STA_OK)
        return status;
    struct sta_table rows = utilisation.rows;
    utilisation.rows = (struct sta_table){0};
    *result = sta_result_of_table(&rows, NULL, NULL);
    (*result)->member = "rows";
    struct sta_buffer *out = &(*result)->head;
    sta_put_facts(out, &utilisation.facts);
    sta_put_member_text(out, "verdict", utilisation.verdict);
    sta_put_member_text(out, "verdict_dlio", utilisation.verdict_dlio);
    sta_put_member_rows(out, "epochs", &utilisation.epochs);
    sta_put_member_rows(out, "per_rank", &utilisation.per_rank);
    sta_utilisation_result_fini(&utilisation);
    return STA_OK;
}

const struct sta_view_kind sta_view_utilisation = {
    .name = "utilisation",
    .labelled = true,
    .document_values = RUN_VALUES | STA_HAS(GOAL) | STA_HAS(WARMUP_STEPS) | STA_HAS(END_STEPS),
    .check = sta_view_default_preset,
    .result = result_utilisation};

/* ---- stragglers */

static int check_stragglers(struct sta_view *view, struct sta_error *err)
{
    static const char *const known[] = {"preset", "from", "to", "filter", "by", "measure", "of", "least"};
    int status = sta_document_check(view->document, "here", known, STA_COUNT_OF(known), err);
    return status == STA_OK ? sta_view_default_preset(view, err) : status;
}

/* Facts and a table in the member rows. */
static struct sta_result *result_of(struct sta_table *rows, const struct sta_facts *facts, const char *member)
{
    struct sta_result *result = sta_result_of_table(rows, NULL, NULL);
    result->member = member;
    sta_put_facts(&result->head, facts);
    return result;
}

static int result_stragglers(struct sta_view *view, const struct sta_budget *budget,
                             struct sta_result **result, struct sta_error *err)
{
    struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    struct sta_facts facts;
    struct sta_table rows;
    int status = sta_stragglers_run(&query, budget, &facts, &rows, err);
    if (status != STA_OK)
        return status;
    *result = result_of(&rows, &facts, "rows");
    (*result)->one_page = true;
    return STA_OK;
}

const struct sta_view_kind sta_view_stragglers = {.name = "stragglers",
                                                  .labelled = true,
                                                  .document_values = RUN_VALUES,
                                                  .check = check_stragglers,
                                                  .result = result_stragglers};

/* ---- access patterns */

static int result_access(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                         struct sta_error *err)
{
    struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    struct sta_facts facts;
    struct sta_table files;
    int status = sta_access_run(&query, budget, &facts, &files, err);
    if (status == STA_OK)
        *result = result_of(&files, &facts, "files");
    return status;
}

const struct sta_view_kind sta_view_access = {.name = "access",
                                              .labelled = true,
                                              .document_values = RUN_VALUES | STA_HAS(ACCESS_KIND),
                                              .check = sta_view_default_preset,
                                              .result = result_access};

/* ---- findings */

static const char *filter_of(const struct sta_view *view, unsigned parameter)
{
    return view->values[parameter].given ? view->values[parameter].text : NULL;
}

static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL;) {
        const size_t next = strcspn(at, ",");
        if (next == length && strncmp(at, name, length) == 0)
            return true;
        at = at[next] == ',' ? at + next + 1 : NULL;
    }
    return list == NULL;
}

static bool is_shown(const struct sta_view *view, const struct sta_finding *finding)
{
    return is_listed(filter_of(view, STA_PARAMETER_SEVERITIES), sta_severity_name(finding->severity)) &&
           is_listed(filter_of(view, STA_PARAMETER_RULE_GROUPS), finding->group) &&
           is_listed(filter_of(view, STA_PARAMETER_RULES), finding->id);
}

/* Whether a name of a list is that of a rule, a group, a severity. */
static bool is_known(const struct sta_view *view, unsigned parameter, const char *name, size_t length)
{
    if (parameter == STA_PARAMETER_SEVERITIES)
        return sta_severity_find(name, length) != STA_SEVERITIES;
    for (size_t i = 0; i < sta_rule_count(view->presets); i++) {
        const struct sta_rule_info rule = sta_rule_at(view->presets, i);
        const char *text = parameter == STA_PARAMETER_RULES ? rule.id : rule.group;
        if (strlen(text) == length && strncmp(text, name, length) == 0)
            return true;
    }
    return false;
}

static int check_names(const struct sta_view *view, unsigned parameter, struct sta_error *err)
{
    const char *name = sta_parameters[parameter].name;
    for (const char *at = filter_of(view, parameter); at != NULL;) {
        const size_t length = strcspn(at, ",");
        if (!is_known(view, parameter, at, length)) {
            char pointer[40];
            snprintf(pointer, sizeof pointer, "/%.30s", name);
            return sta_fail_at(err, STA_EINPUT, pointer, "There is no %s \"%.*s\"", name,
                               (int)STA_MIN(length, 60), at);
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return STA_OK;
}

static int check_findings(struct sta_view *view, struct sta_error *err)
{
    static const unsigned lists[] = {STA_PARAMETER_SEVERITIES, STA_PARAMETER_RULE_GROUPS,
                                     STA_PARAMETER_RULES};
    int status = sta_view_check_findings(view, err);
    for (size_t i = 0; i < STA_COUNT_OF(lists) && status == STA_OK; i++)
        status = check_names(view, lists[i], err);
    return status;
}

static void put_window(struct sta_buffer *out, const struct sta_view *view)
{
    static const unsigned ends[] = {STA_PARAMETER_FROM, STA_PARAMETER_TO};
    sta_begin_object(out, "window");
    for (size_t i = 0; i < STA_COUNT_OF(ends); i++)
        sta_put_member_double(out, sta_parameters[ends[i]].name,
                              view->values[ends[i]].given ? view->values[ends[i]].number : NAN);
    sta_put_char(out, '}');
}

static void put_counts(struct sta_buffer *out, const uint64_t counts[STA_SEVERITIES])
{
    sta_begin_object(out, "counts");
    for (size_t s = 0; s < STA_SEVERITIES; s++)
        sta_put_member_uint(out, sta_severity_name((enum sta_severity)s), counts[s]);
    sta_put_char(out, '}');
}

static void put_document(struct sta_buffer *out, const struct sta_view *view,
                         const struct sta_findings_result *findings)
{
    uint64_t counts[STA_SEVERITIES] = {0};
    for (size_t i = 0; i < findings->count; i++)
        if (is_shown(view, &findings->items[i]))
            counts[findings->items[i].severity]++;
    sta_put_char(out, '{');
    sta_put_member_text(out, "trace", view->traces[0].id);
    sta_put_member_text(out, "preset", findings->preset);
    put_window(out, view);
    put_counts(out, counts);
    sta_begin_object(out, "base");
    sta_put_member_text(out, "kind", findings->base_kind);
    sta_put_member_double(out, "time", findings->base_time);
    sta_put_member_uint(out, "ranks", findings->ranks);
    sta_put_char(out, '}');
    sta_begin_list(out, "findings");
    const char *separator = "\n";
    for (size_t i = 0; i < findings->count; i++) {
        if (!is_shown(view, &findings->items[i]))
            continue;
        sta_put_text(out, separator);
        separator = ",\n";
        sta_put_finding(out, &findings->items[i]);
    }
    sta_put_text(out, "]}");
}

static void set_number(struct sta_table *table, size_t column, size_t row, const struct sta_figure *figure)
{
    if (!figure->missing)
        sta_table_set_number(&table->columns[column], row, figure->number);
}

static void put_rows(struct sta_buffer *out, const struct sta_view *view, enum sta_format format,
                     const struct sta_findings_result *findings)
{
    static const char *const names[] = {"rule", "title", "group",       "severity", "value",
                                        "unit", "stake", "stake_share", "text"};
    struct sta_table table;
    size_t rows = 0;
    for (size_t i = 0; i < findings->count; i++)
        rows += is_shown(view, &findings->items[i]);
    sta_table_init(&table, rows);
    for (size_t c = 0; c < STA_COUNT_OF(names); c++)
        sta_table_add(&table, names[c], c == 4 || c == 6 || c == 7 ? STA_TYPE_FLOAT : STA_TYPE_TEXT, NULL);
    for (size_t i = 0, row = 0; i < findings->count; i++) {
        const struct sta_finding *f = &findings->items[i];
        if (!is_shown(view, f))
            continue;
        const char *texts[] = {f->id, f->title, f->group, sta_severity_name(f->severity), NULL, f->unit,
                               NULL,  NULL,     f->text};
        for (size_t c = 0; c < STA_COUNT_OF(texts); c++)
            if (texts[c] != NULL)
                sta_table_set_text(&table, &table.columns[c], row, texts[c], strlen(texts[c]));
        set_number(&table, 4, row, &f->value);
        set_number(&table, 6, row, &f->stake);
        set_number(&table, 7, row, &f->stake_share);
        row++;
    }
    sta_put_whole_table(out, format, &table);
    sta_table_fini(&table);
}

static char *name_of(const struct sta_view *view, size_t trace)
{
    struct sta_trace_entry entry;
    struct sta_error err = STA_ERROR_INIT;
    if (sta_store_find(view->server->options.store, view->traces[trace].id, &entry, &err) != STA_OK)
        return sta_strdup(view->traces[trace].id);
    char *name = sta_strdup(entry.name);
    sta_trace_entry_fini(&entry);
    return name;
}

static void put_markdown(struct sta_buffer *out, const struct sta_view *view,
                         const struct sta_findings_result *findings)
{
    struct sta_findings_result shown = *findings; /* without what the parameters leave out */
    char *name = name_of(view, 0);
    shown.items = sta_alloc_array(findings->count + 1, sizeof *shown.items);
    shown.count = 0;
    memset(shown.counts, 0, sizeof shown.counts);
    for (size_t i = 0; i < findings->count; i++)
        if (is_shown(view, &findings->items[i])) {
            shown.items[shown.count++] = findings->items[i];
            shown.counts[findings->items[i].severity]++;
        }
    sta_findings_markdown(&shown, name, out);
    free(shown.items);
    free(name);
}

static int compute_findings(struct sta_view *view, const struct sta_budget *budget,
                            struct sta_response *response, struct sta_error *err)
{
    const char *format = view->values[STA_PARAMETER_FINDINGS_FORMAT].text;
    const struct sta_findings_result *findings;
    struct sta_result *result;
    int status = sta_view_make_findings(view, 0, budget, &result, &findings, err);
    if (status != STA_OK)
        return status;
    if (strcmp(format, "markdown") == 0) {
        response->content_type = "text/markdown; charset=utf-8";
        put_markdown(&response->body, view, findings);
    } else if (strcmp(format, "json") == 0) {
        put_document(&response->body, view, findings);
    } else {
        response->content_type = sta_format_content_type(sta_format_of(format));
        put_rows(&response->body, view, sta_format_of(format), findings);
    }
    sta_result_release(result);
    return STA_OK;
}

const struct sta_view_kind sta_view_findings = {.name = "findings",
                                                .labelled = true,
                                                .key_values = STA_FINDINGS_VALUES | STA_HAS(SEVERITIES) |
                                                              STA_HAS(RULE_GROUPS) | STA_HAS(RULES) |
                                                              STA_HAS(FINDINGS_FORMAT),
                                                .check = check_findings,
                                                .compute = compute_findings,
                                                .kept = true};

/* ---- two runs */

static int check_compared(struct sta_view *view, struct sta_error *err)
{
    if (view->trace_count == 2)
        return sta_view_check_findings(view, err);
    return sta_fail_at(err, STA_EINPUT, "/traces",
                       "Findings of two traces are compared, not of %zu: the baseline, then the other",
                       view->trace_count);
}

static void put_change(struct sta_buffer *out, const struct sta_finding_change *change)
{
    const struct sta_finding *old = change->baseline, *now = change->now;
    sta_put_char(out, '{');
    sta_put_member_text(out, "rule", now->id);
    sta_put_member_text(out, "state", change->state);
    sta_put_member_text(out, "severity_baseline", old != NULL ? sta_severity_name(old->severity) : NULL);
    sta_put_member_text(out, "severity", sta_severity_name(now->severity));
    sta_put_member_figure(out, "value_baseline", old != NULL ? &old->value : NULL);
    sta_put_member_figure(out, "value", &now->value);
    const bool comparable = old != NULL && !old->value.missing && !now->value.missing;
    sta_put_member_double(out, "value_delta", comparable ? now->value.number - old->value.number : NAN);
    sta_put_char(out, '}');
}

static double time_of(const struct sta_table *causes, const char *name)
{
    for (size_t row = 0; causes->column_count > 0 && row < causes->rows; row++)
        if (strcmp(causes->columns[0].texts[row].bytes, name) == 0)
            return causes->columns[2].numbers[row];
    return 0;
}

/* Where the difference of the stall comes from; empty when one of the runs has none. */
static void put_cause_changes(struct sta_buffer *out, const struct sta_table *before,
                              const struct sta_table *now)
{
    sta_begin_list(out, "causes");
    for (size_t row = 0; before->column_count > 0 && now->column_count > 0 && row < now->rows; row++) {
        const char *name = now->columns[0].texts[row].bytes;
        const double old = time_of(before, name), time = now->columns[2].numbers[row];
        sta_put_text(out, row > 0 ? ",\n{" : "\n{");
        sta_put_member_text(out, "cause", name);
        sta_put_member_text(out, "label", now->columns[1].texts[row].bytes);
        sta_put_member_double(out, "time_baseline", old);
        sta_put_member_double(out, "time", time);
        sta_put_member_double(out, "time_delta", time - old);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

static int compute_compared(struct sta_view *view, const struct sta_budget *budget,
                            struct sta_response *response, struct sta_error *err)
{
    const struct sta_findings_result *before, *now;
    struct sta_result *first = NULL, *second = NULL;
    struct sta_buffer *out = &response->body;
    int status = sta_view_make_findings(view, 0, budget, &first, &before, err);
    if (status == STA_OK)
        status = sta_view_make_findings(view, 1, budget, &second, &now, err);
    if (status == STA_OK) {
        sta_put_char(out, '{');
        sta_put_member_text(out, "baseline", view->traces[0].label);
        sta_put_member_text(out, "trace", view->traces[1].label);
        sta_put_member_text(out, "preset", now->preset);
        put_cause_changes(out, &before->causes, &now->causes);
        sta_begin_list(out, "rules");
        for (size_t i = 0; i < now->count; i++) {
            const struct sta_finding_change change = sta_finding_compare(&now->items[i], before);
            sta_put_text(out, i > 0 ? ",\n" : "\n");
            put_change(out, &change);
        }
        sta_put_text(out, "]}");
    }
    sta_result_release(first);
    sta_result_release(second);
    return status;
}

const struct sta_view_kind sta_view_compare_findings = {.name = "compare_findings",
                                                        .labelled = true,
                                                        .key_values = STA_FINDINGS_VALUES | STA_HAS(TRACES),
                                                        .find = sta_view_find_listed,
                                                        .check = check_compared,
                                                        .compute = compute_compared};

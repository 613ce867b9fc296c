/* Findings as JSON, and kept among the results. */
#include "serve/api/findings_json.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "findings/findings.h"

/* ---- one finding */

void sta_put_member_figure(struct sta_buffer *out, const char *name, const struct sta_figure *figure)
{
    sta_put_member(out, name);
    if (figure == NULL || figure->missing)
        sta_put_text(out, "null");
    else if (figure->type == STA_TYPE_TEXT)
        sta_put_json_text(out, figure->text);
    else if (figure->type == STA_TYPE_INT)
        sta_put_int(out, figure->integer);
    else
        sta_put_double(out, figure->number);
}

static void put_levels(struct sta_buffer *out, const struct sta_finding *finding)
{
    sta_begin_object(out, "levels");
    for (size_t level = 0; level <= STA_SEVERITY_INFO; level++)
        if (!finding->levels[level].missing)
            sta_put_member_figure(out, sta_severity_name((enum sta_severity)level), &finding->levels[level]);
    sta_put_char(out, '}');
}

static void put_threshold(struct sta_buffer *out, const struct sta_finding *finding)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_finding_put_threshold(finding, &text);
    sta_put_char(&text, '\0');
    sta_put_member_text(out, "threshold", text.data);
    sta_buffer_fini(&text);
}

static void put_advice(struct sta_buffer *out, const struct sta_finding *finding)
{
    const char *advice;
    sta_begin_list(out, "advice");
    for (size_t i = 0; (advice = sta_finding_advice(finding, i)) != NULL; i++) {
        sta_put_text(out, i > 0 ? "," : "");
        sta_put_json_text(out, advice);
    }
    sta_put_char(out, ']');
}

/* @needed: whether an empty object stands for none. */
static void put_way(struct sta_buffer *out, const struct sta_finding *finding, enum sta_finding_way way,
                    const char *member, bool needed)
{
    const char *name, *value;
    if (!needed && !sta_finding_way(finding, way, 0, &name, &value))
        return;
    sta_begin_object(out, member);
    for (size_t i = 0; sta_finding_way(finding, way, i, &name, &value); i++)
        sta_put_member_text(out, name, value);
    sta_put_char(out, '}');
}

void sta_put_finding(struct sta_buffer *out, const struct sta_finding *finding)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "rule", finding->id);
    sta_put_member_text(out, "title", finding->title);
    sta_put_member_text(out, "group", finding->group);
    sta_put_member_text(out, "severity", sta_severity_name(finding->severity));
    sta_put_member_figure(out, "value", &finding->value);
    sta_put_member_text(out, "unit", finding->unit);
    sta_put_member_text(out, "direction", finding->low ? "low" : "high");
    put_levels(out, finding);
    sta_put_member_figure(out, "stake", &finding->stake);
    sta_put_member_figure(out, "stake_share", &finding->stake_share);
    sta_put_member_bool(out, "capped", finding->capped);
    sta_begin_object(out, "figures");
    for (size_t i = 0; i < finding->figure_count; i++)
        sta_put_member_figure(out, finding->figures[i].name, &finding->figures[i]);
    sta_put_char(out, '}');
    sta_put_member_text(out, "text", finding->text);
    put_threshold(out, finding);
    put_advice(out, finding);
    sta_put_member_table(out, "evidence", &finding->evidence);
    sta_put_member_text(out, "source", finding->source);
    put_way(out, finding, STA_WAY_LINK, "link", true);
    put_way(out, finding, STA_WAY_WHAT_IF, "what_if", false);
    if (finding->reason != NULL)
        sta_put_member_text(out, "reason", finding->reason);
    sta_put_char(out, '}');
}

/* ---- kept findings: no rows of them are ever read */

static void destroy_findings(void *self)
{
    sta_findings_result_fini(self);
    free(self);
}

static uint64_t bytes_of_findings(const void *self)
{
    const struct sta_findings_result *findings = self;
    return sizeof *findings + findings->count * (sizeof *findings->items + 8192);
}

/* @some: only the rules that the parameters name. */
static struct sta_document *request_of(struct sta_view *view, bool some)
{
    static const unsigned numbers[] = {STA_PARAMETER_FROM, STA_PARAMETER_TO, STA_PARAMETER_GOAL};
    static const unsigned texts[] = {STA_PARAMETER_FILTER, STA_PARAMETER_RULES, STA_PARAMETER_RULE_GROUPS};
    const struct sta_parameter_value *values = view->values;
    struct sta_document *request = sta_document_create(&view->memory, STA_DOCUMENT_OBJECT);
    sta_document_add_text(&view->memory, request, "preset", view->preset);
    for (size_t i = 0; i < STA_COUNT_OF(numbers); i++)
        if (values[numbers[i]].given)
            sta_document_add_number(&view->memory, request, sta_parameters[numbers[i]].name,
                                    values[numbers[i]].number);
    for (size_t i = 0; i < (some ? STA_COUNT_OF(texts) : 1); i++)
        if (values[texts[i]].given)
            sta_document_add_text(&view->memory, request, sta_parameters[texts[i]].name,
                                  values[texts[i]].text);
    return request;
}

static int find(struct sta_view *view, bool some, const struct sta_budget *budget, struct sta_result **result,
                struct sta_error *err)
{
    static const struct sta_result_class class = {.destroy = destroy_findings, .bytes = bytes_of_findings};
    struct sta_findings_result *findings = sta_alloc(sizeof *findings);
    const struct sta_overlap_query query = sta_view_overlap_query(view, request_of(view, some));
    int status = sta_findings_run(&query, budget, findings, err);
    if (status == STA_OK)
        *result = sta_result_create(&class, findings);
    else
        free(findings);
    return status;
}

static int find_all(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                    struct sta_error *err)
{
    return find(view, false, budget, result, err);
}

static int find_some(struct sta_view *view, const struct sta_budget *budget, struct sta_result **result,
                     struct sta_error *err)
{
    return find(view, true, budget, result, err);
}

int sta_view_check_findings(struct sta_view *view, struct sta_error *err)
{
    const char *preset = view->values[STA_PARAMETER_PRESET].text;
    const struct sta_parameter_value *goal = &view->values[STA_PARAMETER_GOAL];
    if (goal->given && !(goal->number > 0 && goal->number <= 1))
        return sta_fail_at(err, STA_EINPUT, "/goal",
                           "expected a share of time above 0, up to 1, such as 0.9");
    if (preset == NULL)
        return sta_library_preset_of(view->server->options.library, view->traces[0].id, view->preset, err);
    snprintf(view->preset, sizeof view->preset, "%s", preset);
    if (sta_presets_find(view->presets, preset) != NULL)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/preset", "There is no preset \"%.60s\"; /api/v1/presets lists all",
                       preset);
}

static const struct sta_view_kind view_findings_kept = {.name = "kept findings",
                                                        .key_values = STA_FINDINGS_VALUES,
                                                        .check = sta_view_check_findings,
                                                        .result = find_all};

static const struct sta_view_kind view_findings_some = {.name = "kept findings of some rules",
                                                        .key_values = STA_FINDINGS_VALUES |
                                                                      STA_HAS(RULE_GROUPS) | STA_HAS(RULES),
                                                        .check = sta_view_check_findings,
                                                        .result = find_some};

int sta_view_make_findings(struct sta_view *view, size_t trace, const struct sta_budget *budget,
                           struct sta_result **result, const struct sta_findings_result **findings,
                           struct sta_error *err)
{
    const bool some =
        view->values[STA_PARAMETER_RULES].given || view->values[STA_PARAMETER_RULE_GROUPS].given;
    int status = STA_OK;
    *result = NULL;
    if (some)
        status = sta_view_kept_of(view, trace, &view_findings_kept, result, err);
    if (status == STA_OK && *result == NULL)
        status = sta_view_result_of(view, trace, some ? &view_findings_some : &view_findings_kept, budget,
                                    result, err);
    if (status == STA_OK)
        *findings = (*result)->self;
    return status;
}

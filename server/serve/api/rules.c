/* Rules as JSON, and as editors change and try them. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/formats/document_json.h"
#include "serve/api/findings_json.h"
#include "serve/api/preset_json.h"
#include "findings/findings.h"

/* ---- one rule */

static void put_rule(struct sta_buffer *out, const struct sta_rule_info *rule)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "id", rule->id);
    sta_put_member_text(out, "title", rule->title);
    sta_put_member_text(out, "group", rule->group);
    sta_put_member_text(out, "value", rule->value);
    sta_put_member_text(out, "unit", rule->unit);
    sta_begin_object(out, "levels");
    for (size_t level = 0; level <= STA_SEVERITY_INFO; level++)
        if (rule->levels[level] != NULL)
            sta_put_member_text(out, sta_severity_name((enum sta_severity)level), rule->levels[level]);
    sta_put_char(out, '}');
    sta_put_member_text(out, "say", rule->say);
    sta_put_member_text(out, "ok", rule->ok);
    sta_put_member_text(out, "source", rule->source);
    sta_put_member_bool(out, "own", rule->own);
    sta_put_member_bool(out, "disabled", rule->disabled);
    sta_put_member_text(out, "yaml", rule->yaml);
    sta_put_char(out, '}');
}

int sta_api_rules(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    (void)err;
    sta_put_text(&response->body, "{\"rules\":[");
    for (size_t i = 0; i < sta_rule_count(presets); i++) {
        const struct sta_rule_info rule = sta_rule_at(presets, i);
        sta_put_text(&response->body, i > 0 ? ",\n" : "\n");
        put_rule(&response->body, &rule);
    }
    sta_put_text(&response->body, "]}");
    sta_presets_release(presets);
    return STA_OK;
}

static bool put_rule_response(struct sta_call *call, struct sta_response *response)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    bool found = false;
    for (size_t i = 0; i < sta_rule_count(presets) && !found; i++) {
        const struct sta_rule_info rule = sta_rule_at(presets, i);
        found = strcmp(rule.id, call->captures[0]) == 0;
        if (found)
            put_rule(&response->body, &rule);
    }
    sta_presets_release(presets);
    return found;
}

int sta_api_rule(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    if (put_rule_response(call, response))
        return STA_OK;
    return sta_fail(err, STA_ENOTFOUND, "There is no rule \"%.60s\"; /api/v1/findings/rules lists all",
                    call->captures[0]);
}

/* ---- a rule in a request: YAML, or an object, which as JSON is YAML too */

static int text_of_rule(const struct sta_document *request, struct sta_buffer *text, bool *object,
                        struct sta_error *err)
{
    const struct sta_document *yaml = sta_document_member(request, "yaml"),
                              *rule = sta_document_member(request, "rule");
    *object = rule != NULL;
    if ((yaml != NULL) == (rule != NULL))
        return sta_fail_at(err, STA_EINPUT, "/rule",
                           "give the rule either as yaml, a text, or as rule, an object");
    if (yaml != NULL && yaml->type != STA_DOCUMENT_TEXT)
        return sta_fail_at(err, STA_EINPUT, "/yaml", "yaml must be a text, not %s", sta_document_kind(yaml));
    if (yaml != NULL && yaml->text.length == 0)
        return sta_fail_at(err, STA_EINPUT, "/yaml", "yaml is empty");
    if (rule != NULL && rule->type != STA_DOCUMENT_OBJECT)
        return sta_fail_at(err, STA_EINPUT, "/rule", "rule must be an object, not %s",
                           sta_document_kind(rule));
    if (yaml != NULL)
        sta_put(text, yaml->text.bytes, yaml->text.length);
    else
        sta_put_document(text, rule);
    return STA_OK;
}

/* A mistake in a rule is one of the member that brought it. */
static int place_mistake(bool object, struct sta_error *err)
{
    char pointer[sizeof err->parameter];
    snprintf(pointer, sizeof pointer, "%s%.230s", object ? "/rule" : "/yaml", object ? err->parameter : "");
    return sta_at(err, pointer, err->position);
}

/* ---- preview */

static int check_preview(struct sta_view *view, struct sta_error *err)
{
    static const char *const known[] = {"preset", "rule", "yaml"};
    int status = sta_document_check(view->document, "here", known, STA_COUNT_OF(known), err);
    return status == STA_OK ? sta_view_default_preset(view, err) : status;
}

static int compute_preview(struct sta_view *view, const struct sta_budget *budget,
                           struct sta_response *response, struct sta_error *err)
{
    struct sta_findings_result findings;
    struct sta_buffer text;
    bool object = false;
    const struct sta_overlap_query query = sta_view_overlap_query(view, view->document);
    sta_buffer_init(&text);
    int status = text_of_rule(view->document, &text, &object, err);
    if (status == STA_OK) {
        status = sta_rule_preview(&query, text.data, text.size, budget, &findings, err);
        if ((status == STA_EINPUT || (status == STA_ELIMIT && err->parameter[0] != '\0')) &&
            strcmp(err->parameter, "/preset") != 0)
            place_mistake(object, err);
    }
    sta_buffer_fini(&text);
    if (status != STA_OK)
        return status;
    sta_put_char(&response->body, '{');
    sta_put_member(&response->body, "finding");
    sta_put_finding(&response->body, &findings.items[0]);
    sta_put_char(&response->body, '}');
    sta_findings_result_fini(&findings);
    return STA_OK;
}

const struct sta_view_kind sta_view_findings_preview = {.name = "findings_preview",
                                                        .labelled = true,
                                                        .has_own_preset = true,
                                                        .document_values = STA_HAS(TRACED_PRESET),
                                                        .check = check_preview,
                                                        .compute = compute_preview};

/* ---- changes */

static int put_text(struct sta_call *call, const struct sta_buffer *text, bool object,
                    struct sta_response *response, struct sta_error *err)
{
    const struct sta_preset_change change = {call->captures[0], text->data, text->size};
    struct sta_preset_mistakes *mistakes = sta_alloc(sizeof *mistakes);
    bool created = false;
    int status = sta_library_put_rule(call->server->options.library, &change, &created, mistakes, err);
    if (status == STA_OK) {
        response->status = created ? 201 : 200;
        put_rule_response(call, response);
    } else if (mistakes->count > 0) {
        sta_at(err, mistakes->items[0].pointer, err->position);
        place_mistake(object, err);
        status = sta_put_mistakes_response(response, err, mistakes);
    }
    free(mistakes);
    return status;
}

int sta_api_rule_put(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    const struct sta_buffer *bytes = sta_exchange_body(call->exchange);
    struct sta_arena memory = {0};
    struct sta_document *request;
    struct sta_buffer text;
    bool object = false;
    sta_buffer_init(&text);
    int status = sta_document_parse(bytes->data, bytes->size, "The body", &memory, &request, err);
    if (status == STA_OK)
        status = text_of_rule(request, &text, &object, err);
    if (status == STA_OK)
        status = put_text(call, &text, object, response, err);
    sta_buffer_fini(&text);
    sta_arena_fini(&memory);
    return status;
}

int sta_api_rule_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    response->status = 204;
    return sta_library_delete_rule(call->server->options.library, call->captures[0], err);
}

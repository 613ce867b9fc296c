/* Presets as JSON, and as editors change them. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/body.h"
#include "serve/api/preset_json.h"
#include "serve/api/routes.h"

static void put_expressions(struct sta_buffer *out, const char *name, const struct sta_named_expression *list,
                            size_t count)
{
    sta_begin_list(out, name);
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, i ? ",{" : "{");
        sta_put_member_text(out, "name", list[i].name);
        sta_put_member_text(out, "expression", list[i].expression);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

static void put_layer(struct sta_buffer *out, const struct sta_layer *layer)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", layer->name);
    sta_put_member_text(out, "label", layer->label);
    sta_put_member_text(out, "color", layer->color);
    sta_put_member_text(out, "parent", layer->parent);
    sta_put_member_text(out, "condition", layer->condition);
    sta_begin_list(out, "metrics");
    for (size_t i = 0; i < layer->metric_count; i++) {
        sta_put_text(out, i ? ",{" : "{");
        sta_put_member_text(out, "name", layer->metrics[i].name);
        sta_put_member_text(out, "condition", layer->metrics[i].condition);
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
}

static void put_layers(struct sta_buffer *out, const struct sta_preset *preset)
{
    sta_begin_list(out, "layers");
    for (size_t i = 0; i < preset->layer_count; i++) {
        sta_put_text(out, i ? ",\n" : "\n");
        put_layer(out, &preset->layers[i]);
    }
    sta_put_char(out, ']');
}

static void put_refinement(struct sta_buffer *out, const struct sta_preset *preset)
{
    sta_begin_object(out, "refine");
    sta_put_member_texts(out, "categories", preset->refine_categories, preset->refine_category_count);
    sta_begin_list(out, "rules");
    for (size_t i = 0; i < preset->refinement_count; i++) {
        sta_put_text(out, i ? ",{" : "{");
        sta_put_member_text(out, "contains", preset->refinements[i].contains);
        sta_put_member_text(out, "append", preset->refinements[i].append);
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
}

static void put_phases(struct sta_buffer *out, const struct sta_preset *preset)
{
    static const char *const names[] = {
#define X(name, text) #name,
        STA_PHASE_LIST(X)
#undef X
    };
    sta_begin_object(out, "phases");
    for (size_t i = 0; i < STA_PHASES; i++)
        if (preset->phases[i] != NULL)
            sta_put_member_text(out, names[i], preset->phases[i]);
    sta_put_char(out, '}');
}

static void put_chain(struct sta_buffer *out, const struct sta_chain *chain)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", chain->name);
    sta_put_member_text(out, "label", chain->label);
    sta_put_member_text(out, "target", chain->target);
    sta_begin_list(out, "sets");
    for (size_t i = 0; i < chain->set_count; i++) {
        sta_put_text(out, i > 0 ? ",{" : "{");
        sta_put_member_text(out, "name", chain->sets[i].name);
        sta_put_member_text(out, "condition", chain->sets[i].expression);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
    sta_begin_list(out, "causes");
    for (size_t i = 0; i < chain->cause_count; i++) {
        sta_put_text(out, i > 0 ? ",{" : "{");
        sta_put_member_text(out, "name", chain->causes[i].name);
        sta_put_member_text(out, "label", chain->causes[i].label);
        sta_put_member_text(out, "condition", chain->causes[i].condition);
        sta_put_member_bool(out, "input", chain->causes[i].input);
        sta_put_member_bool(out, "storage", chain->causes[i].storage);
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
}

static void put_chains(struct sta_buffer *out, const struct sta_preset *preset)
{
    sta_begin_list(out, "attribution");
    for (size_t i = 0; i < preset->chain_count; i++) {
        sta_put_text(out, i > 0 ? ",\n" : "\n");
        put_chain(out, &preset->chains[i]);
    }
    sta_put_char(out, ']');
}

static void put_preset(struct sta_buffer *out, const struct sta_preset *preset)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", preset->name);
    sta_put_member_text(out, "description", preset->description);
    put_layers(out, preset);
    sta_put_member_bool(out, "layers_from_categories", preset->layers_from_categories);
    sta_put_member_text(out, "overlap_with", preset->overlap_with);
    sta_begin_object(out, "drop");
    sta_put_member_texts(out, "files", preset->drop_files, preset->drop_file_count);
    sta_put_member_texts(out, "functions", preset->drop_functions, preset->drop_function_count);
    sta_put_member_texts(out, "patterns", preset->drop_patterns, preset->drop_pattern_count);
    sta_put_char(out, '}');
    put_refinement(out, preset);
    put_expressions(out, "views", preset->views, preset->view_count);
    put_expressions(out, "additional_metrics", preset->additional, preset->additional_count);
    put_phases(out, preset);
    put_chains(out, preset);
    sta_put_member_bool(out, "own", preset->own);
    sta_put_member_text(out, "yaml", preset->text);
    sta_put_char(out, '}');
}

static void put_set_aside(struct sta_buffer *out, const struct sta_library *library)
{
    size_t count;
    char **names = sta_library_presets_quarantined(library, &count);
    sta_put_member_texts(out, "set_aside", (const char *const *)names, count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

int sta_api_presets(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    sta_put_text(&response->body, "{\"presets\":[");
    for (size_t i = 0; i < sta_presets_count(presets); i++) {
        sta_put_text(&response->body, i ? ",\n" : "\n");
        put_preset(&response->body, sta_presets_at(presets, i));
    }
    sta_put_char(&response->body, ']');
    put_set_aside(&response->body, call->server->options.library);
    sta_put_char(&response->body, '}');
    sta_presets_release(presets);
    return STA_OK;
}

int sta_api_preset(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    const struct sta_preset *preset = sta_presets_find(presets, call->captures[0]);
    int status = STA_OK;
    if (preset != NULL)
        put_preset(&response->body, preset);
    else
        status = sta_fail(err, STA_ENOTFOUND, "There is no preset \"%.60s\"; /api/v1/presets lists all",
                          call->captures[0]);
    sta_presets_release(presets);
    return status;
}

/* ---- changes */

void sta_put_mistakes(struct sta_buffer *out, const struct sta_preset_mistakes *mistakes)
{
    sta_begin_list(out, "mistakes");
    for (size_t i = 0; i < mistakes->count; i++) {
        const struct sta_preset_mistake *mistake = &mistakes->items[i];
        sta_put_text(out, i > 0 ? ",\n{" : "\n{");
        sta_put_member_uint_or_null(out, "line", mistake->line > 0, mistake->line);
        sta_put_member_text(out, "pointer", mistake->pointer);
        sta_put_member_uint_or_null(out, "position", mistake->position >= 0, (uint64_t)mistake->position);
        sta_put_member_text(out, "text", mistake->text);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

int sta_put_mistakes_response(struct sta_response *response, const struct sta_error *err,
                              const struct sta_preset_mistakes *mistakes)
{
    struct sta_problem problem = sta_problem_of(err);
    sta_response_problem(response, &problem);
    response->body.size--; /* the closing brace */
    sta_put_mistakes(&response->body, mistakes);
    sta_put_char(&response->body, '}');
    return STA_OK;
}

static void put_preset_response(struct sta_call *call, struct sta_response *response, bool created)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    const struct sta_preset *preset = sta_presets_find(presets, call->captures[0]);
    response->status = created ? 201 : 200;
    if (preset != NULL) {
        put_preset(&response->body, preset);
    } else { /* a template is no preset itself */
        sta_put_char(&response->body, '{');
        sta_put_member_text(&response->body, "name", call->captures[0]);
        sta_put_member_bool(&response->body, "template", true);
        sta_put_char(&response->body, '}');
    }
    sta_presets_release(presets);
}

int sta_api_preset_put(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const struct sta_member members[] = {{"yaml", STA_MEMBER_TEXT, true, 1000000, 0, false}};
    struct sta_body body;
    bool created = false;
    int status = sta_body_read(sta_exchange_body(call->exchange), members, STA_COUNT_OF(members), &body, err);
    if (status != STA_OK)
        return status;
    const char *text = body.values[0].text;
    struct sta_preset_change change = {call->captures[0], text, strlen(text)};
    struct sta_preset_mistakes *mistakes = sta_alloc(sizeof *mistakes);
    status = sta_library_put_preset(call->server->options.library, &change, &created, mistakes, err);
    if (status == STA_OK) {
        put_preset_response(call, response, created);
    } else if (mistakes->count > 0) {
        sta_at(err, "/yaml", -1);
        status = sta_put_mistakes_response(response, err, mistakes);
    }
    free(mistakes);
    sta_body_fini(&body);
    return status;
}

int sta_api_preset_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    response->status = 204;
    return sta_library_delete_preset(call->server->options.library, call->captures[0], err);
}

/* Presets as the API tells them. */
#include "serve/routes.h"

static void put_texts(struct sta_buffer *out, const char *name, char *const *texts, size_t count)
{
    sta_put_member(out, name);
    sta_put_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            sta_put_char(out, ',');
        sta_put_json_text(out, texts[i]);
    }
    sta_put_char(out, ']');
}

static void put_expressions(struct sta_buffer *out, const char *name, const struct sta_named_expression *list,
                            size_t count)
{
    sta_put_member(out, name);
    sta_put_char(out, '[');
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
    sta_put_member(out, "metrics");
    sta_put_char(out, '[');
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
    sta_put_member(out, "layers");
    sta_put_char(out, '[');
    for (size_t i = 0; i < preset->layer_count; i++) {
        sta_put_text(out, i ? ",\n" : "\n");
        put_layer(out, &preset->layers[i]);
    }
    sta_put_char(out, ']');
}

static void put_refinement(struct sta_buffer *out, const struct sta_preset *preset)
{
    sta_put_member(out, "refine");
    sta_put_char(out, '{');
    put_texts(out, "categories", preset->refine_categories, preset->refine_category_count);
    sta_put_member(out, "rules");
    sta_put_char(out, '[');
    for (size_t i = 0; i < preset->refinement_count; i++) {
        sta_put_text(out, i ? ",{" : "{");
        sta_put_member_text(out, "contains", preset->refinements[i].contains);
        sta_put_member_text(out, "append", preset->refinements[i].append);
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
}

static void put_preset(struct sta_buffer *out, const struct sta_preset *preset)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", preset->name);
    sta_put_member_text(out, "description", preset->description);
    put_layers(out, preset);
    sta_put_member_bool(out, "layers_from_categories", preset->layers_from_categories);
    sta_put_member_text(out, "overlap_with", preset->overlap_with);
    sta_put_member(out, "drop");
    sta_put_char(out, '{');
    put_texts(out, "files", preset->drop_files, preset->drop_file_count);
    put_texts(out, "functions", preset->drop_functions, preset->drop_function_count);
    put_texts(out, "patterns", preset->drop_patterns, preset->drop_pattern_count);
    sta_put_char(out, '}');
    put_refinement(out, preset);
    put_expressions(out, "views", preset->views, preset->view_count);
    put_expressions(out, "additional_metrics", preset->additional, preset->additional_count);
    sta_put_char(out, '}');
}

int sta_api_presets(struct sta_call *call, struct sta_reply *reply, struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    sta_put_text(&reply->body, "{\"presets\":[");
    for (size_t i = 0; i < sta_presets_count(presets); i++) {
        sta_put_text(&reply->body, i ? ",\n" : "\n");
        put_preset(&reply->body, sta_presets_at(presets, i));
    }
    sta_put_text(&reply->body, "]}");
    sta_presets_release(presets);
    return STA_OK;
}

int sta_api_preset(struct sta_call *call, struct sta_reply *reply, struct sta_error *err)
{
    struct sta_presets *presets = sta_library_presets(call->server->options.library);
    const struct sta_preset *preset = sta_presets_find(presets, call->captures[0]);
    int status = STA_OK;
    if (preset != NULL)
        put_preset(&reply->body, preset);
    else
        status = sta_fail(err, STA_ENOTFOUND, "There is no preset \"%.60s\"; /api/v1/presets lists all",
                          call->captures[0]);
    sta_presets_release(presets);
    return status;
}

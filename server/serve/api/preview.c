/* A preset tried on a trace: one that is loaded, or one that is still being written. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/preset_json.h"
#include "serve/responses/views.h"

static const char *text_of(const struct sta_view *view, const char *name)
{
    const struct sta_document *member = sta_document_member(view->document, name);
    return member != NULL && member->type == STA_DOCUMENT_TEXT ? member->text.bytes : NULL;
}

static int check_members(struct sta_view *view, struct sta_error *err)
{
    static const char *const known[] = {"preset", "yaml", "filters"};
    int status = sta_document_check(view->document, "here", known, STA_COUNT_OF(known), err);
    for (const struct sta_document *member = view->document->first; status == STA_OK && member != NULL;
         member = member->next) {
        if (member->type == STA_DOCUMENT_TEXT)
            continue;
        status = sta_fail_member(err, STA_EINPUT, member->name, NULL, "%s must be a text, not %s",
                                 member->name, sta_document_kind(member));
    }
    if (status != STA_OK)
        return status;
    const char *filters = text_of(view, "filters");
    if (filters == NULL || strcmp(filters, "on") == 0 || strcmp(filters, "off") == 0)
        return STA_OK;
    return sta_fail_at(err, STA_EINPUT, "/filters", "filters=%.60s is not allowed; allowed: on|off", filters);
}

/* The name: that which is given, or the trace's own. */
static int check(struct sta_view *view, struct sta_error *err)
{
    int status = check_members(view, err);
    if (status != STA_OK)
        return status;
    const char *name = text_of(view, "preset");
    if (name == NULL && text_of(view, "yaml") != NULL)
        name = "preview";
    if (name == NULL)
        return sta_library_preset_of(view->server->options.library, view->trace, view->preset, err);
    if (strlen(name) >= sizeof view->preset ||
        (text_of(view, "yaml") == NULL && sta_presets_find(view->presets, name) == NULL))
        return sta_fail_at(err, STA_EINPUT, "/preset",
                           "There is no preset \"%.60s\"; /api/v1/presets lists all", name);
    snprintf(view->preset, sizeof view->preset, "%s", name);
    return STA_OK;
}

/* ---- the response */

static void put_metrics(struct sta_buffer *out, const struct sta_table *layers, size_t row)
{
    const struct sta_table_column *columns = layers->columns;
    sta_begin_list(out, "metrics");
    for (size_t m = row + 1; m < layers->rows && !columns[1].missing[m]; m++) {
        sta_put_text(out, m > row + 1 ? ",{" : "{");
        sta_put_member_text(out, "name", columns[1].texts[m].bytes);
        sta_put_member_text(out, "condition", columns[5].texts[m].bytes);
        sta_put_member_uint(out, "count", (uint64_t)columns[6].integers[m]);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

static void put_layers(struct sta_buffer *out, const struct sta_table *layers)
{
    static const size_t shown[] = {0, 2, 3, 4, 5};
    const char *separator = "\n{";
    sta_begin_list(out, "layers");
    for (size_t row = 0; row < layers->rows; row++) {
        if (!layers->columns[1].missing[row])
            continue;
        sta_put_text(out, separator);
        separator = ",\n{";
        for (size_t i = 0; i < STA_COUNT_OF(shown); i++) {
            const struct sta_table_column *column = &layers->columns[shown[i]];
            sta_put_member_text(out, column->name, column->missing[row] ? NULL : column->texts[row].bytes);
        }
        sta_put_member_uint(out, "count", (uint64_t)layers->columns[6].integers[row]);
        put_metrics(out, layers, row);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

static void put_unmatched(struct sta_buffer *out, const struct sta_table *functions)
{
    sta_begin_list(out, "unmatched_functions");
    for (size_t row = 0; row < functions->rows; row++) {
        sta_put_text(out, row > 0 ? ",\n{" : "\n{");
        sta_put_member_text(out, "cat", functions->columns[0].texts[row].bytes);
        sta_put_member_text(out, "func_name", functions->columns[1].texts[row].bytes);
        sta_put_member_uint(out, "count", (uint64_t)functions->columns[2].integers[row]);
        sta_put_char(out, '}');
    }
    sta_put_char(out, ']');
}

static int respond(struct sta_view *view, const struct sta_presets *presets, const struct sta_budget *budget,
                   struct sta_response *response, struct sta_error *err)
{
    const char *filters = text_of(view, "filters");
    struct sta_view_query query = {.snapshot = view->snapshot,
                                   .presets = presets,
                                   .preset = view->preset,
                                   .filters = filters == NULL || strcmp(filters, "on") == 0};
    struct sta_response_names names = {NULL, view->preset, query.filters};
    struct sta_preset_preview preview;
    int status = sta_preset_preview(&query, budget, &preview, err);
    if (status != STA_OK)
        return status;
    sta_put_char(&response->body, '{');
    sta_put_names(&response->body, &names, &preview.facts);
    put_layers(&response->body, &preview.layers);
    put_unmatched(&response->body, &preview.unmatched);
    sta_put_text(&response->body, ",\"mistakes\":[]}");
    sta_preset_preview_fini(&preview);
    return STA_OK;
}

/* What is wrong with a text is the response to the query how it would do. */
static void put_mistakes(const struct sta_view *view, const struct sta_preset_mistakes *mistakes,
                         struct sta_response *response)
{
    sta_put_char(&response->body, '{');
    sta_put_member_text(&response->body, "preset", view->preset);
    sta_put_text(&response->body, ",\"layers\":[],\"unmatched_functions\":[]");
    sta_put_mistakes(&response->body, mistakes);
    sta_put_char(&response->body, '}');
}

static int compute(struct sta_view *view, const struct sta_budget *budget, struct sta_response *response,
                   struct sta_error *err)
{
    const char *text = text_of(view, "yaml");
    if (text == NULL)
        return respond(view, view->presets, budget, response, err);
    struct sta_preset_change change = {view->preset, text, strlen(text)};
    struct sta_preset_mistakes *mistakes = sta_alloc(sizeof *mistakes);
    struct sta_presets *presets = NULL;
    int status = sta_library_try_preset(view->server->options.library, &change, &presets, mistakes, err);
    if (status == STA_OK && sta_presets_find(presets, view->preset) == NULL)
        status = sta_fail(err, STA_EINPUT, "A template has no layers to count: it is only to be extended");
    if (status == STA_OK) {
        status = respond(view, presets, budget, response, err);
    } else if (mistakes->count > 0) {
        put_mistakes(view, mistakes, response);
        status = STA_OK;
    }
    sta_presets_release(presets);
    free(mistakes);
    return status == STA_OK || err->parameter[0] != '\0' ? status : sta_at(err, "/yaml", -1);
}

const struct sta_view_kind sta_view_preset_preview = {.name = "preset_preview",
                                                      .has_own_preset = true,
                                                      .document_values =
                                                          STA_HAS(TRACED_PRESET) | STA_HAS(TRACED_FILTERS),
                                                      .check = check,
                                                      .compute = compute};

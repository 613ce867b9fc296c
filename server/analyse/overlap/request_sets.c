/* Sets: conditions of the user's, or the layers of a preset. */
#include "analyse/overlap/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/presets.h"
#include "analyse/views/members.h"
#include "analyse/views/bound_query.h"
#include "common/buffer.h"

#define NAME_LIMIT 100

/* Those of DFTracer's analyser, in the order in which it tests them. */
static const char *const phases[] = {"compute", "io", "app_io"};

/* ---- names */

static bool is_phase(const char *name)
{
    for (size_t i = 0; i < STA_COUNT_OF(phases); i++)
        if (strcmp(phases[i], name) == 0)
            return true;
    return false;
}

static bool is_plain_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) || strlen(name) > NAME_LIMIT)
        return false;
    for (const char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    return true;
}

static int check_name(const struct sta_overlap_request *request, const char *name, struct sta_error *err)
{
    const char *why = NULL;
    if (!is_plain_name(name))
        why = "a name begins with a letter, and letters, digits and _ follow, 100 at most";
    else if (strcmp(name, "idle") == 0)
        why = "idle is the time in which no set is active";
    else if (strstr(name, "_and_") != NULL || strstr(name, "_minus_") != NULL)
        why = "_and_ and _minus_ stand between the names of two sets in the result";
    else if (request->call == STA_OVERLAP_COMPATIBLE && !is_phase(name))
        why = "DFTracer's analyser knows compute, io and app_io";
    if (why == NULL)
        return 0;
    return sta_fail_member(err, STA_EINPUT, "sets", name, "a set cannot be named \"%.100s\": %s", name, why);
}

/* ---- sets that the request writes */

static int read_set(struct sta_overlap_request *request, const struct sta_document *member,
                    struct sta_error *err)
{
    int rc = check_name(request, member->name, err);
    if (rc != 0)
        return rc;
    if (member->type != STA_DOCUMENT_TEXT)
        return sta_fail_member(err, STA_EINPUT, "sets", member->name, "expected a condition, not %s",
                               sta_document_kind(member));
    struct sta_overlap_set *set = &request->sets[request->set_count];
    *set = (struct sta_overlap_set){.name = member->name, .text = member->text.bytes};
    rc = sta_condition_parse(member->text.bytes, member->text.length, sta_columns_schema(request->columns),
                             &set->expression, err);
    if (rc != 0)
        return sta_at_member(err, "sets", member->name, err->position);
    request->set_count++;
    return 0;
}

uint32_t sta_overlap_find_set(const struct sta_overlap_request *request, const char *name)
{
    uint32_t s = 0;
    while (s < request->set_count && strcmp(request->sets[s].name, name) != 0)
        s++;
    return s;
}

bool sta_overlap_order_phases(struct sta_overlap_request *request)
{
    struct sta_overlap_set ordered[STA_OVERLAP_SETS];
    uint32_t count = 0;
    for (size_t p = 0; p < STA_COUNT_OF(phases); p++)
        for (uint32_t s = 0; s < request->set_count; s++)
            if (strcmp(request->sets[s].name, phases[p]) == 0)
                ordered[count++] = request->sets[s];
    if (count < request->set_count)
        return false;
    memcpy(request->sets, ordered, count * sizeof *ordered);
    return true;
}

static int read_sets(struct sta_overlap_request *request, struct sta_error *err)
{
    const struct sta_document *sets = sta_member_given(request->document, "sets");
    if (sets == NULL || sets->type != STA_DOCUMENT_OBJECT || sets->count == 0 ||
        sets->count > STA_OVERLAP_SETS)
        return sta_fail_member(err, STA_EINPUT, "sets", NULL,
                               "expected 1 to %d sets: {\"name\": \"condition\", ..}", STA_OVERLAP_SETS);
    int rc = 0;
    for (const struct sta_document *member = sets->first; rc == 0 && member != NULL; member = member->next)
        rc = read_set(request, member, err);
    if (rc == 0 && request->call == STA_OVERLAP_COMPATIBLE)
        STA_ASSERT(sta_overlap_order_phases(request)); /* check_name let no other in */
    return rc;
}

/* ---- sets that are the layers of a preset */

/* Ancestors of what I/O hides behind would hide everything. */
static bool is_above_compute(const struct sta_preset *preset, const struct sta_layer *layer)
{
    const struct sta_layer *at = sta_preset_layer(preset, preset->overlap_with);
    for (size_t steps = 0; at != NULL && steps < preset->layer_count; steps++) {
        at = sta_preset_layer(preset, at->parent);
        if (at == layer)
            return true;
    }
    return false;
}

static bool is_picked(const struct sta_document *picked, const struct sta_layer *layer)
{
    for (const struct sta_document *name = picked->first; name != NULL; name = name->next)
        if (name->type == STA_DOCUMENT_TEXT && strcmp(name->text.bytes, layer->name) == 0)
            return true;
    return false;
}

static int fail_layers(const struct sta_preset *preset, const char *problem, struct sta_error *err)
{
    char *names = sta_join_names(preset->layers, sizeof *preset->layers, preset->layer_count);
    sta_fail_member(err, STA_EINPUT, "layers", NULL, "%s; preset %.60s has the layers %.900s", problem,
                    preset->name, names);
    free(names);
    return err->status;
}

static int check_picked(const struct sta_preset *preset, const struct sta_document *picked,
                        struct sta_error *err)
{
    if (picked->type != STA_DOCUMENT_LIST)
        return fail_layers(preset, "expected a list of layers", err);
    for (const struct sta_document *name = picked->first; name != NULL; name = name->next)
        if (name->type != STA_DOCUMENT_TEXT || sta_preset_layer(preset, name->text.bytes) == NULL) {
            char problem[120];
            snprintf(problem, sizeof problem, "there is no layer \"%.60s\"",
                     name->type == STA_DOCUMENT_TEXT ? name->text.bytes : sta_document_kind(name));
            return fail_layers(preset, problem, err);
        }
    return 0;
}

/* A layer's name as that of a set: layers made from categories may be named with dots and more. */
static const char *set_name_of(struct sta_overlap_request *request, const char *layer)
{
    char *name = sta_sprintf("%s%.90s", isalpha((unsigned char)layer[0]) ? "" : "layer_", layer);
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    for (unsigned number = 2; sta_overlap_find_set(request, name) < request->set_count; number++) {
        char *other = sta_sprintf("%.95s_%u", name, number);
        free(name);
        name = other;
    }
    const char *kept = sta_arena_copy(&request->memory, name, strlen(name));
    free(name);
    return kept;
}

static int take_layers(struct sta_overlap_request *request, struct sta_error *err)
{
    const struct sta_preset *preset = sta_classes_preset(request->classes);
    const struct sta_document *picked = sta_member_given(request->document, "layers");
    int rc = check_picked(preset, picked, err);
    for (size_t l = 0; rc == 0 && l < preset->layer_count; l++) {
        const struct sta_layer *layer = &preset->layers[l];
        if (picked->count > 0 ? !is_picked(picked, layer) : is_above_compute(preset, layer))
            continue;
        if (request->set_count == STA_OVERLAP_SETS && picked->count > 0)
            return fail_layers(preset, "more than 16 layers; ask about fewer at a time", err);
        if (request->set_count == STA_OVERLAP_SETS) {
            request->layers_left_out++;
            continue;
        }
        request->sets[request->set_count] =
            (struct sta_overlap_set){.name = set_name_of(request, layer->name),
                                     .text = layer->condition != NULL ? layer->condition : "true",
                                     .layer_bit = l};
        request->set_count++;
    }
    return rc == 0 && request->set_count == 0 ? fail_layers(preset, "no layer was picked", err) : rc;
}

/* ---- sets that the query brings along */

/* They are the layers of a preset that is otherwise the one asked for: conditions are worked out once per
 * combination of texts, and args columns that the trace lacks are missing. */
static struct sta_preset *preset_of(struct sta_arena *memory, const struct sta_preset *preset, size_t count)
{
    struct sta_preset *made = sta_arena_alloc(memory, sizeof *made, _Alignof(max_align_t));
    *made = *preset;
    made->layers_from_categories = false;
    made->overlap_with = NULL;
    made->layer_count = count;
    made->layers = sta_arena_alloc(memory, (count + 1) * sizeof *made->layers, _Alignof(max_align_t));
    return made;
}

static const struct sta_preset *preset_of_given(struct sta_overlap_request *request,
                                                const struct sta_preset *preset)
{
    const struct sta_overlap_query *query = request->query;
    struct sta_preset *made = preset_of(&request->memory, preset, query->set_count);
    STA_ASSERT(query->set_count <= (query->by_signature ? STA_SIGNATURE_CONDITIONS : STA_OVERLAP_SETS));
    for (size_t s = 0; s < query->set_count; s++)
        made->layers[s] =
            (struct sta_layer){.name = query->sets[s].name, .condition = query->sets[s].expression};
    return made;
}

/* ---- sets that are bound already */

struct sta_bound_conditions {
    struct sta_preset *preset;
    bool filters;
    struct sta_columns *columns;
    struct sta_classes *classes;
    struct sta_arena memory;
};

static struct sta_columns_options options_of(const struct sta_overlap_query *query,
                                             const struct sta_preset *preset)
{
    return (struct sta_columns_options){.presets = query->presets, .preset = preset, .trace = query->label};
}

int sta_bound_conditions_create(const struct sta_overlap_query *query, const struct sta_preset *preset,
                                const char *const *conditions, size_t count, bool filters,
                                struct sta_bound_conditions **bound, struct sta_error *err)
{
    static char name[] = "condition";
    struct sta_bound_conditions *fresh = sta_alloc(sizeof *fresh);
    STA_ASSERT(count <= STA_BOUND_CONDITIONS);
    *fresh = (struct sta_bound_conditions){.filters = filters};
    fresh->preset = preset_of(&fresh->memory, preset, count);
    for (size_t c = 0; c < count; c++)
        fresh->preset->layers[c] =
            (struct sta_layer){.name = name, .condition = (char *)(uintptr_t)conditions[c]};
    const struct sta_columns_options options = options_of(query, fresh->preset);
    int rc = sta_columns_create(query->snapshot, &options, &fresh->columns, err);
    if (rc == 0)
        rc = sta_classes_create(fresh->columns, fresh->preset, filters, &fresh->classes, err);
    if (rc == 0)
        sta_classes_keep(fresh->classes);
    if (rc != 0) {
        sta_bound_conditions_destroy(fresh);
        fresh = NULL;
    }
    *bound = fresh;
    return rc;
}

void sta_bound_conditions_destroy(struct sta_bound_conditions *bound)
{
    if (bound == NULL)
        return;
    sta_classes_destroy(bound->classes);
    sta_columns_destroy(bound->columns);
    sta_arena_fini(&bound->memory);
    free(bound);
}

/* The layer of a condition; the number of layers: there is none. */
static size_t layer_of(const struct sta_bound_conditions *bound, const char *condition)
{
    size_t l = 0;
    while (l < bound->preset->layer_count && strcmp(bound->preset->layers[l].condition, condition) != 0)
        l++;
    return l;
}

/* Whether the query's sets are all among the bound conditions. */
static bool are_bound(const struct sta_overlap_query *query, bool filters)
{
    const struct sta_bound_conditions *bound = query->bound;
    bool all = bound != NULL && bound->filters == filters;
    for (size_t s = 0; all && s < query->set_count; s++)
        all = query->sets[s].expression != NULL &&
              layer_of(bound, query->sets[s].expression) < bound->preset->layer_count;
    return all;
}

static uint32_t bit_of_given(const struct sta_overlap_request *request, size_t set)
{
    const struct sta_overlap_query *query = request->query;
    return request->borrows ? layer_of(query->bound, query->sets[set].expression) : (uint32_t)set;
}

static void take_signatures(struct sta_overlap_request *request)
{
    const struct sta_overlap_query *query = request->query;
    request->signatures = sta_set_signatures_create(query->watched);
    for (size_t s = 0; s < query->set_count; s++)
        request->signatures->layer_bits[s] = bit_of_given(request, s);
    request->signatures->condition_count = (uint32_t)query->set_count;
    request->set_count = STA_OVERLAP_MASK_BITS;
}

static void take_given(struct sta_overlap_request *request)
{
    const struct sta_overlap_query *query = request->query;
    for (size_t s = 0; s < query->set_count; s++)
        request->sets[request->set_count++] = (struct sta_overlap_set){.name = query->sets[s].name,
                                                                       .text = query->sets[s].expression,
                                                                       .layer_bit = bit_of_given(request, s)};
}

/* ---- the preset */

static int bind_columns(struct sta_overlap_request *request, const struct sta_preset *preset, bool classes,
                        bool filters, struct sta_error *err)
{
    const struct sta_columns_options options = options_of(request->query, preset);
    int rc = sta_columns_create(request->query->snapshot, &options, &request->columns, err);
    return rc == 0 && classes ? sta_classes_create(request->columns, preset, filters, &request->classes, err)
                              : rc;
}

int sta_overlap_bind(struct sta_overlap_request *request, bool filters, struct sta_error *err)
{
    const struct sta_overlap_query *query = request->query;
    bool layers = sta_member_given(request->document, "layers") != NULL;
    if (layers && sta_member_given(request->document, "sets") != NULL)
        return sta_fail_member(err, STA_EINPUT, "layers", NULL, "give either sets or layers");
    const char *name = layers ? query->trace_preset : NULL;
    const struct sta_preset *preset = NULL;
    int rc = sta_member_text(request->document, "preset", &name, err);
    if (rc == 0 && name != NULL)
        rc = sta_view_query_preset(query->presets, name, &preset, err);
    if (rc != 0)
        return rc;
    const bool given = query->sets != NULL && preset != NULL;
    request->borrows = given && are_bound(query, filters);
    if (request->borrows) {
        request->columns = query->bound->columns;
        request->classes = query->bound->classes;
    } else {
        preset = given ? preset_of_given(request, preset) : preset;
        rc = bind_columns(request, preset, preset != NULL && (filters || layers || given), filters, err);
    }
    if (rc != 0)
        return rc;
    if (given && query->by_signature)
        take_signatures(request);
    else if (given)
        take_given(request);
    if (given)
        return 0;
    return layers ? take_layers(request, err) : read_sets(request, err);
}

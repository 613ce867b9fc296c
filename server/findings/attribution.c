/* Chains to sets, combinations of sets to causes. */
#include "findings/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/views/members.h"
#include "common/memory.h"

/* ---- chains */

static void put_set(struct sta_attribution *asked, const char *name, const char *condition)
{
    asked->sets[asked->set_count++] = (struct sta_named_expression){name, condition};
}

static void put_cause(struct sta_attribution *asked, const char *name, const char *condition)
{
    asked->cause_sets[asked->cause_count] = (uint8_t)asked->set_count;
    asked->causes[asked->cause_count++] = name;
    put_set(asked, name, condition);
}

/* An event that the layer above takes as well is the call that waits, not what it waits for. */
static const char *condition_of(struct sta_run *run, const struct sta_blocking_tree *tree, size_t node)
{
    static const char always[] = "true";
    const char *own = tree->nodes[node]->condition;
    const char *above =
        tree->parents[node] == STA_TREE_ROOT ? NULL : tree->nodes[tree->parents[node]]->condition;
    if (above == NULL)
        return own != NULL ? own : always;
    char *text = sta_sprintf("(%s) and not (%s)", own != NULL ? own : always, above);
    char *kept = sta_arena_copy(&run->memory, text, strlen(text));
    free(text);
    return kept;
}

bool sta_attribution_of_chain(struct sta_run *run, const char *name, struct sta_attribution *asked)
{
    const struct sta_preset *preset = run->preset;
    *asked = (struct sta_attribution){.by = STA_BY_UNIT, .longest = 3, .granularity = 1};
    asked->layered = strcmp(name, "layers") == 0;
    if (preset == NULL || preset->chain_count == 0)
        return false;
    asked->chain = asked->layered ? &preset->chains[0] : sta_preset_chain(preset, name);
    if (asked->chain == NULL)
        return false;
    if (asked->layered)
        sta_tree_init(&asked->tree, preset);
    const size_t causes = asked->layered ? asked->tree.count : asked->chain->cause_count;
    if (causes == 0 || asked->chain->set_count + causes > STA_OVERLAP_SETS)
        return false;
    asked->target = asked->chain->target;
    asked->sets =
        sta_arena_alloc(&run->memory, STA_OVERLAP_SETS * sizeof *asked->sets, _Alignof(max_align_t));
    for (size_t s = 0; s < asked->chain->set_count; s++)
        put_set(asked, asked->chain->sets[s].name, asked->chain->sets[s].expression);
    for (size_t c = 0; c < causes; c++)
        if (asked->layered) {
            const size_t node = asked->tree.causes[c];
            put_cause(asked, asked->tree.nodes[node]->name, condition_of(run, &asked->tree, node));
        } else {
            put_cause(asked, asked->chain->causes[c].name, asked->chain->causes[c].condition);
        }
    return true;
}

int sta_attribution_fail_layers(const struct sta_run *run, const struct sta_attribution *asked,
                                struct sta_error *err)
{
    if (asked->tree.count == 0)
        return sta_fail(err, STA_EINPUT, "preset %s has no layer that could block its target",
                        run->preset->name);
    return sta_fail(
        err, STA_EINPUT,
        "the blocking chain takes at most %zu layers, and preset %s has %zu beside those of its target",
        STA_OVERLAP_SETS - asked->chain->set_count, run->preset->name, asked->tree.count);
}

void sta_attribution_fini(struct sta_attribution *asked)
{
    sta_tree_fini(&asked->tree);
}

/* ---- the request to the overlap */

static int find_causes(struct sta_attribution *asked, const struct sta_overlap_request *request,
                       struct sta_error *err)
{
    for (uint32_t c = 0; c < asked->cause_count; c++) {
        uint32_t set = 0;
        while (set < request->set_count && strcmp(request->sets[set].name, asked->causes[c]) != 0)
            set++;
        if (set < request->set_count) {
            asked->cause_sets[c] = (uint8_t)set;
            continue;
        }
        char pointer[40];
        snprintf(pointer, sizeof pointer, "/attribution/causes/%u", c);
        sta_fail(err, STA_EINPUT, "there is no set \"%.60s\"", asked->causes[c]);
        return sta_at(err, pointer, -1);
    }
    return STA_OK;
}

static int read_request(struct sta_run *run, struct sta_attribution *asked, const struct sta_document *own,
                        struct sta_charged *charged, struct sta_error *err)
{
    struct sta_document *document = sta_run_request(run);
    sta_run_add_text(run, document, "where", asked->target);
    for (const struct sta_document *member = own != NULL ? own->first : NULL; member != NULL;
         member = member->next) {
        if (sta_document_member(document, member->name) != NULL || strcmp(member->name, "attribution") == 0)
            continue;
        struct sta_document *copy = sta_document_create(&run->memory, member->type);
        *copy = *member;
        copy->next = NULL;
        sta_document_append(&run->memory, document, member->name, copy);
    }
    charged->query = sta_run_query(run, document, asked->sets, asked->set_count);
    int rc = sta_overlap_request_read(&charged->request, &charged->query, true, err);
    if (rc != STA_OK && strcmp(err->parameter, "/where") == 0)
        sta_at(err, "/attribution/target", err->position);
    if (rc == STA_OK && asked->chain == NULL)
        rc = find_causes(asked, &charged->request, err);
    return rc;
}

/* ---- combinations */

static uint8_t cause_of(const struct sta_attribution *asked, size_t mask)
{
    uint32_t c = 0;
    while (c < asked->cause_count && (mask >> asked->cause_sets[c] & 1) == 0)
        c++;
    return (uint8_t)c;
}

static int make_lists(const struct sta_attribution *asked, struct sta_charged *charged, struct sta_error *err)
{
    const size_t masks = (size_t)1 << charged->request.set_count;
    int rc = sta_where_masks(&charged->request, &charged->list_of_mask, err);
    for (size_t mask = 0; rc == STA_OK && mask < masks; mask++)
        if (charged->list_of_mask[mask] != STA_CHARGE_NONE)
            charged->list_of_mask[mask] = cause_of(asked, mask);
    return rc;
}

int sta_charge_read(struct sta_run *run, struct sta_attribution *asked, const struct sta_document *own,
                    struct sta_charged *charged, struct sta_error *err)
{
    *charged = (struct sta_charged){.list_count = asked->cause_count + 1};
    int rc = read_request(run, asked, own, charged, err);
    return rc == STA_OK ? make_lists(asked, charged, err) : rc;
}

int sta_charge_bind(struct sta_run *run, struct sta_attribution *asked, const struct sta_document *own,
                    struct sta_charged *charged, struct sta_error *err)
{
    int rc = sta_charge_read(run, asked, own, charged, err);
    if (rc == STA_OK)
        rc = sta_overlap_binding_init(&charged->binding, &charged->request, run->budget, err);
    return rc;
}

void sta_charged_fini(struct sta_charged *charged)
{
    for (uint32_t l = 0; l < charged->list_count; l++)
        sta_joined_fini(&charged->longest[l]);
    free(charged->list_of_mask);
    sta_overlap_results_fini(&charged->results);
    sta_overlap_binding_fini(&charged->binding);
    sta_overlap_request_release(&charged->request);
    *charged = (struct sta_charged){0};
}

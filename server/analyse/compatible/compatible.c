/* Tables as the reference analyser computes them.
 *
 * DESIGN.  Each step is a function of what the one before it left in memory: events -> high-level metrics
 * (hlm, a pass over the store) -> rows of a layer (main_view) -> statistics of a metric by a view
 * (layer_view) -> layers joined (join, flat) -> summary.  Metrics are independent of each other from the main
 * view on, and are shared out among the cores.  The first step takes longest and is the same for many tables:
 * whoever asks for several keeps it as their basis. */
#include <stdlib.h>
#include <string.h>

#include "analyse/compatible/flat.h"
#include "analyse/compatible/tables.h"
#include "common/memory.h"

#define CONDITION_BYTES ((uint64_t)16 << 10) /* of a layer, with the programs that test it, about */

/* ---- what is asked */

static int find_layer(const struct sta_preset *preset, const char *name, uint32_t *layer,
                      struct sta_error *err)
{
    *layer = sta_preset_layer_number(preset, name);
    return *layer != STA_NO_LAYER ? 0
                                  : sta_not_among(err, "/layer", "layer", name, preset->layers,
                                                  sizeof *preset->layers, preset->layer_count);
}

/* Which events the table is made of. */
static int make_options(const struct sta_table_query *query, const struct sta_preset *preset,
                        struct sta_hlm_options *options, struct sta_error *err)
{
    bool hlm = query->table == STA_VIEW_HLM;
    *options = (struct sta_hlm_options){.layer = STA_NO_LAYER, .unmatched = hlm, .all_members = hlm};
    bool of_layer =
        query->table == STA_VIEW_MAIN || query->table == STA_VIEW_LAYER || (hlm && query->layer != NULL);
    return of_layer ? find_layer(preset, query->layer, &options->layer, err) : 0;
}

static bool has_view(const struct sta_table_query *query)
{
    return query->table == STA_VIEW_LAYER || query->table == STA_VIEW_FLAT ||
           query->table == STA_VIEW_SUMMARY;
}

/* ---- tables */

static int layer_table(const struct sta_hlm *hlm, const struct sta_by *by, uint32_t layer, bool quantiles,
                       const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    struct sta_join join;
    struct sta_join_options options = {.layer = layer, .derived = true, .quantiles = quantiles};
    int rc = sta_join_init(&join, hlm, by, &options, budget, err);
    if (rc == 0)
        rc = sta_join_fill(&join, NULL, 0, table, err);
    sta_join_fini(&join);
    return rc;
}

static int make_table(const struct sta_table_query *query, const struct sta_hlm *hlm, const struct sta_by *by,
                      uint32_t layer, const struct sta_budget *budget, struct sta_table *table,
                      struct sta_facts *facts, struct sta_error *err)
{
    switch (query->table) {
    case STA_VIEW_HLM:
        return sta_main_table(hlm, STA_NO_LAYER, budget, table, err);
    case STA_VIEW_MAIN:
        return sta_main_table(hlm, layer, budget, table, err);
    case STA_VIEW_LAYER:
        return layer_table(hlm, by, layer, query->quantiles, budget, table, err);
    case STA_VIEW_FLAT:
        return sta_flat_view(hlm, by, true, query->quantiles, budget, table, err);
    default:
        return sta_summary_view(hlm, by, budget, table, facts, err);
    }
}

/* ---- facts */

static void say_counts(const struct sta_hlm *hlm, uint32_t layer, struct sta_facts *facts)
{
    const struct sta_hlm_counts *counts = &hlm->counts;
    const struct sta_snapshot *snapshot = hlm->bound->query->snapshot;
    sta_facts_number(facts, "job_time", "s", sta_seconds(sta_job_ticks(snapshot), hlm->bound->ticks_per_us));
    sta_facts_int(facts, "total_count", (int64_t)sta_snapshot_info(snapshot)->events);
    sta_facts_of_fates(facts, &counts->fates);
    sta_facts_int(facts, "taken", layer == STA_NO_LAYER ? counts->taken : counts->of_layer[layer]);
    sta_facts_int(facts, "keyless", counts->keyless);
}

/* ---- the basis */

struct sta_view_basis {
    struct sta_arena arena;      /* of the query's texts */
    struct sta_view_query query; /* snapshot and presets are retained */
    struct sta_bound_query bound;
    struct sta_axes axes;
    struct sta_hlm hlm;
};

/* Grouped by files, what is left out for want of one depends on the layer. */
bool sta_view_has_basis(const struct sta_table_query *query)
{
    for (size_t i = 0; i < query->view_count; i++)
        if (strcmp(query->views[i], sta_axis_names[STA_AXIS_FILE]) == 0)
            return false;
    return has_view(query);
}

static void own_query(struct sta_view_basis *basis, const struct sta_view_query *query)
{
    struct sta_view_query *own = &basis->query;
    *own = *query;
    sta_snapshot_retain(own->snapshot);
    own->presets = sta_presets_retain((struct sta_presets *)own->presets);
    own->preset = sta_arena_copy(&basis->arena, own->preset, strlen(own->preset));
    if (own->filter != NULL)
        own->filter = sta_arena_copy(&basis->arena, own->filter, strlen(own->filter));
}

/* @alone: only of the events that the query's own table is made of. */
static int basis_create(const struct sta_table_query *query, bool alone, const struct sta_budget *budget,
                        struct sta_view_basis **basis, struct sta_error *err)
{
    struct sta_view_basis *fresh = sta_alloc(sizeof *fresh);
    struct sta_hlm_options options = {.layer = STA_NO_LAYER};
    own_query(fresh, query->common);
    int rc = sta_view_query_bind(&fresh->bound, &fresh->query, err);
    if (rc == 0)
        rc = sta_axes_init(&fresh->axes, query, &fresh->bound, err);
    if (rc == 0 && alone)
        rc = make_options(query, fresh->bound.preset, &options, err);
    if (rc == 0)
        rc = sta_hlm_init(&fresh->hlm, &fresh->bound, &fresh->axes, &options, budget, err);
    if (rc != 0) {
        sta_view_basis_destroy(fresh);
        fresh = NULL;
    }
    *basis = fresh;
    return rc;
}

int sta_view_basis_create(const struct sta_table_query *query, const struct sta_budget *budget,
                          struct sta_view_basis **basis, struct sta_error *err)
{
    int rc = basis_create(query, false, budget, basis, err);
    if (rc == 0)
        (*basis)->hlm.pool = /* the account and the budget end with the request */
            (struct sta_pool){.last = (*basis)->hlm.pool.last, .bytes = (*basis)->hlm.pool.bytes};
    return rc;
}

void sta_view_basis_destroy(struct sta_view_basis *basis)
{
    if (basis == NULL)
        return;
    sta_hlm_fini(&basis->hlm);
    sta_bound_query_release(&basis->bound);
    sta_presets_release((struct sta_presets *)basis->query.presets);
    sta_snapshot_release(basis->query.snapshot);
    sta_arena_fini(&basis->arena);
    free(basis);
}

uint64_t sta_view_basis_bytes(const struct sta_view_basis *basis)
{
    return sizeof *basis + basis->hlm.pool.bytes + (basis->bound.preset->layer_count + 1) * CONDITION_BYTES;
}

/* ---- all of it */

static int fill_result(const struct sta_table_query *query, const struct sta_view_basis *basis,
                       const struct sta_budget *budget, struct sta_table *table, struct sta_facts *facts,
                       struct sta_error *err)
{
    struct sta_hlm_options options;
    struct sta_by by = {0};
    int rc = make_options(query, basis->bound.preset, &options, err);
    if (rc == 0 && has_view(query))
        rc = sta_by_init(&by, query->by, &basis->axes, basis->bound.preset, budget, err);
    if (rc == 0) {
        say_counts(&basis->hlm, options.layer, facts);
        rc = make_table(query, &basis->hlm, &by, options.layer, budget, table, facts, err);
        sta_facts_of_sums(facts, table);
    }
    sta_by_fini(&by);
    return rc;
}

int sta_view_compatible(const struct sta_table_query *query, const struct sta_view_basis *basis,
                        const struct sta_budget *budget, struct sta_table *table, struct sta_facts *facts,
                        struct sta_error *err)
{
    struct sta_view_basis *own = NULL;
    facts->count = 0;
    *table = (struct sta_table){0};
    int rc = basis == NULL ? basis_create(query, true, budget, &own, err) : 0;
    if (rc == 0)
        rc = fill_result(query, basis != NULL ? basis : own, budget, table, facts, err);
    sta_view_basis_destroy(own);
    if (rc != 0)
        sta_table_fini(table);
    return rc;
}

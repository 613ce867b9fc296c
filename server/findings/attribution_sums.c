/* A chain's pass: sums by cause from the sweep's cells, rows and intervals as the sweep gives them. */
#include <stdlib.h>
#include <string.h>

#include "findings/attribution.h"
#include "findings/epochs.h"
#include "analyse/overlap/tables.h"
#include "analyse/views/bound_query.h"
#include "common/memory.h"

/* ---- sums */

/* By list: the time of a unit.  The sweep has no cells of moments in which no set is active: that is what the
 * cells leave of the unit's span. */
static void times_of_unit(const struct sta_charged *charged, uint32_t unit, int64_t *times)
{
    const struct sta_overlap_results *results = &charged->results;
    size_t count;
    const struct sta_sweep_cell *cell = sta_figures_cells(results, unit, &count), *const end = cell + count;
    int64_t idle = results->spans[unit].end - results->spans[unit].start;
    memset(times, 0, charged->list_count * sizeof *times);
    for (; cell < end; cell++) {
        idle -= cell->time;
        if (charged->list_of_mask[cell->mask] != STA_CHARGE_NONE)
            times[charged->list_of_mask[cell->mask]] += cell->time;
    }
    if (charged->list_of_mask[0] != STA_CHARGE_NONE)
        times[charged->list_of_mask[0]] += idle;
}

void sta_charge_add_up(const struct sta_attribution *asked, struct sta_charged *charged)
{
    const struct sta_overlap_results *results = &charged->results;
    int64_t times[STA_CHARGE_LISTS];
    for (uint32_t i = 0; i < results->unit_count; i++) {
        times_of_unit(charged, results->units[i], times);
        for (uint32_t l = 0; l < charged->list_count; l++) {
            charged->time[l] += times[l];
            charged->units[l] += times[l] > 0;
        }
    }
    for (const struct sta_sweep_cell *cell = results->cells; cell < results->cells + results->cell_count;
         cell++)
        for (uint32_t c = 0; c < asked->cause_count; c++)
            if (charged->list_of_mask[cell->mask] != STA_CHARGE_NONE &&
                cell->mask >> asked->cause_sets[c] & 1)
                charged->active[c] += cell->time;
    for (uint32_t l = 0; l < charged->list_count; l++)
        charged->target += charged->time[l];
    charged->active[asked->cause_count] = charged->time[asked->cause_count];
}

/* Rows by unit alone do not depend on where its intervals lie. */
static int add_units(const struct sta_charged *charged, struct sta_row_adding *adding, struct sta_error *err)
{
    int64_t times[STA_CHARGE_LISTS];
    int rc = STA_OK;
    for (uint32_t i = 0; i < charged->results.unit_count; i++) {
        const uint32_t unit = charged->results.units[i];
        times_of_unit(charged, unit, times);
        for (uint32_t l = 0; l < charged->list_count && rc == STA_OK; l++) {
            const struct sta_interval all = {0, times[l]};
            rc = times[l] > 0 ? sta_row_adding_take(adding, 0, l, unit, &all, err) : STA_OK;
        }
    }
    return rc;
}

/* ---- passes */

int sta_charge(const struct sta_run *run, const struct sta_attribution *asked,
               const struct sta_phases *phases, struct sta_charged *charged, struct sta_charged_rows *rows,
               struct sta_error *err)
{
    const bool cut = (asked->by & (STA_BY_EPOCH | STA_BY_STEP | STA_BY_BIN)) != 0;
    const int64_t bin = sta_ticks(asked->granularity, run->ticks_per_us);
    struct sta_row_adding *adding =
        sta_row_adding_create(asked->by, bin, charged->list_count, phases, run->budget);
    const struct sta_charge_wants wants = {.longest = STA_MAX(asked->longest, 1),
                                           .units_first = true,
                                           .take = cut ? sta_row_adding_take : NULL,
                                           .context = adding};
    *rows = (struct sta_charged_rows){.account = run->budget->account};
    int rc = sta_charge_intervals(charged->list_of_mask, charged->list_count, &wants, &charged->binding,
                                  &charged->results, charged->longest, err);
    for (uint32_t l = 0; l < charged->list_count && rc == STA_OK; l++)
        charged->intervals[l] = sta_joined_count(&charged->longest[l]);
    if (rc == STA_OK && !cut)
        rc = add_units(charged, adding, err);
    if (rc == STA_OK)
        rc = sta_row_adding_finish(adding, &charged->results, rows, err);
    if (rc == STA_OK)
        sta_charge_add_up(asked, charged);
    sta_row_adding_destroy(adding);
    return rc;
}

/* The target as one list, whose intervals are far fewer than those of its causes. */
static int add_steps(const struct sta_run *run, const struct sta_phases *phases, struct sta_charged *charged,
                     struct sta_charged_rows *rows, struct sta_error *err)
{
    const size_t masks = (size_t)1 << charged->request.set_count;
    uint8_t *in_target = sta_alloc_array(masks, 1);
    struct sta_row_adding *adding =
        sta_row_adding_create(STA_BY_UNIT | STA_BY_EPOCH | STA_BY_STEP, 1, 1, phases, run->budget);
    const struct sta_charge_wants wants = {.longest = 1, .take = sta_row_adding_take, .context = adding};
    struct sta_joined joined;
    for (size_t mask = 0; mask < masks; mask++)
        in_target[mask] = charged->list_of_mask[mask] == STA_CHARGE_NONE ? STA_CHARGE_NONE : 0;
    int rc = sta_charge_intervals(in_target, 1, &wants, &charged->binding, &charged->results, &joined, err);
    if (rc == STA_OK)
        rc = sta_row_adding_finish(adding, &charged->results, rows, err);
    sta_joined_fini(&joined);
    sta_row_adding_destroy(adding);
    free(in_target);
    return rc;
}

int sta_charge_pass(struct sta_run *run, const struct sta_phases *phases, struct sta_charged *charged,
                    struct sta_charged_rows *rows, struct sta_error *err)
{
    const struct sta_overlap_wants wants = {0};
    return rows != NULL ? add_steps(run, phases, charged, rows, err)
                        : sta_overlap_pass(&charged->binding, &wants, &charged->results, err);
}

int sta_charge_sums(struct sta_run *run, struct sta_attribution *asked, const struct sta_phases *phases,
                    struct sta_charged *charged, struct sta_charged_rows *rows, struct sta_error *err)
{
    int rc = sta_charge_bind(run, asked, NULL, charged, err);
    if (rc == STA_OK)
        rc = sta_charge_pass(run, phases, charged, rows, err);
    if (rc == STA_OK)
        sta_charge_add_up(asked, charged);
    return rc;
}

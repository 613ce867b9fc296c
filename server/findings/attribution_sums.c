/* A chain's pass: sums by cause from the sweep's cells, rows and intervals as the sweep gives them. */
#include <stdlib.h>

#include "findings/attribution.h"
#include "findings/epochs.h"
#include "analyse/views/question.h"
#include "common/memory.h"

/* ---- sums */

static void add_time(struct sta_charged *charged, uint32_t list, int64_t time, int64_t *of_unit)
{
    charged->time[list] += time;
    charged->units[list] += of_unit[list] == 0 && time > 0;
    of_unit[list] += time;
}

/* Cells of one unit, and what is left of its span: the sweep has no cells of moments in which no set is
 * active. */
static void add_unit(const struct sta_attribution *asked, const struct sta_sweep_cell *cells, size_t count,
                     int64_t span, struct sta_charged *charged)
{
    int64_t of_unit[STA_CHARGE_LISTS] = {0};
    for (size_t i = 0; i < count; i++) {
        const uint8_t list = charged->list_of_mask[cells[i].mask];
        span -= cells[i].time;
        if (list == STA_CHARGE_NONE)
            continue;
        add_time(charged, list, cells[i].time, of_unit);
        for (uint32_t c = 0; c < asked->cause_count; c++)
            if (cells[i].mask >> asked->cause_sets[c] & 1)
                charged->active[c] += cells[i].time;
    }
    if (charged->list_of_mask[0] != STA_CHARGE_NONE)
        add_time(charged, charged->list_of_mask[0], span, of_unit);
}

/* Cells are by unit. */
static const struct sta_sweep_cell *first_cell(const struct sta_overlap_results *results, uint32_t unit)
{
    size_t low = 0, high = results->cell_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (results->cells[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return results->cells + low;
}

void sta_charge_add_up(const struct sta_attribution *asked, struct sta_charged *charged)
{
    const struct sta_overlap_results *results = &charged->results;
    for (uint32_t i = 0; i < results->unit_count; i++) {
        const uint32_t unit = results->units[i];
        const struct sta_sweep_cell *cells = first_cell(results, unit);
        size_t count = 0;
        while (cells + count < results->cells + results->cell_count && cells[count].unit == unit)
            count++;
        add_unit(asked, cells, count, results->sums[unit].end - results->sums[unit].start, charged);
    }
    for (uint32_t l = 0; l < charged->list_count; l++)
        charged->target += charged->time[l];
    charged->active[asked->cause_count] = charged->time[asked->cause_count];
}

/* ---- passes */

int sta_charge(const struct sta_run *run, const struct sta_attribution *asked,
               const struct sta_phases *phases, struct sta_charged *charged, struct sta_charged_rows *rows,
               struct sta_error *err)
{
    const int64_t bin = sta_ticks(asked->granularity, run->ticks_per_us);
    struct sta_row_adding *adding =
        sta_row_adding_create(asked->by, bin, charged->list_count, phases, run->budget);
    const struct sta_charge_wants wants = {.longest = STA_MAX(asked->longest, 1),
                                           .units_first = true,
                                           .take = sta_row_adding_take,
                                           .context = adding};
    *rows = (struct sta_charged_rows){.account = run->budget->account};
    int rc = sta_charge_intervals(charged->list_of_mask, charged->list_count, &wants, &charged->binding,
                                  &charged->results, charged->longest, err);
    if (rc == STA_OK)
        rc = sta_row_adding_finish(adding, &charged->results, charged->intervals, rows, err);
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
        rc = sta_row_adding_finish(adding, &charged->results, NULL, rows, err);
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

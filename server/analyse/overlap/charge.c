/* The sweep gives the intervals of each unit; those in which no set is active reach from tick 0 as far as it
 * went, and are cut to the unit's span afterwards. */
#include "analyse/overlap/charge.h"

#include "analyse/exec/budget.h"
#include "common/memory.h"

struct gathering {
    const uint8_t *list_of_mask;
    const struct sta_charge_wants *wants;
    struct sta_pieces *pieces[STA_CHARGE_LISTS];
    struct taker {
        const struct gathering *gathering;
        uint32_t list;
    } takers[STA_CHARGE_LISTS];
    uint32_t count;
    int64_t end;                               /* of the trace: idle time has none of its own */
    const struct sta_overlap_results *results; /* NULL while the pass runs */
};

static int take_interval(void *context, unsigned worker, const struct sta_sweep_interval *interval,
                         struct sta_error *err)
{
    const struct gathering *gathering = context;
    const uint8_t list = gathering->list_of_mask[interval->mask];
    if (list == STA_CHARGE_NONE || interval->from >= gathering->end)
        return 0;
    if (interval->to <= gathering->end) /* as nearly all do: a copy would cost more than all the rest */
        return sta_pieces_add(gathering->pieces[list], worker, interval, err);
    struct sta_sweep_interval piece = *interval;
    piece.to = gathering->end;
    return sta_pieces_add(gathering->pieces[list], worker, &piece, err);
}

/* An interval that reaches beyond its unit's span is at a cut, so it comes when the spans are known. */
static int take_whole(void *context, unsigned worker, uint32_t unit, const struct sta_interval *interval,
                      struct sta_error *err)
{
    const struct taker *taker = context;
    const struct gathering *gathering = taker->gathering;
    struct sta_interval part = *interval;
    if (gathering->results != NULL) {
        part.from = STA_MAX(part.from, gathering->results->spans[unit].start);
        part.to = STA_MIN(part.to, gathering->results->spans[unit].end);
    }
    return part.from >= part.to
               ? 0
               : gathering->wants->take(gathering->wants->context, worker, taker->list, unit, &part, err);
}

static int compare_starts(const void *context, const struct sta_span *span, const struct sta_span *other)
{
    if (span->ts != other->ts)
        return span->ts < other->ts ? -1 : 1;
    return sta_scope_compare_units(context, span->cell, other->cell);
}

static int compare_units(const void *context, const struct sta_span *span, const struct sta_span *other)
{
    const int units = sta_scope_compare_units(context, span->cell, other->cell);
    return units != 0 ? units : (span->ts > other->ts) - (span->ts < other->ts);
}

/* The time of a unit behind its last span: no set is active. */
static int add_rest(const struct gathering *gathering, const struct sta_overlap_results *results,
                    struct sta_error *err)
{
    const uint8_t idle = gathering->list_of_mask[0];
    int rc = 0;
    for (uint32_t i = 0; idle != STA_CHARGE_NONE && i < results->unit_count && rc == 0; i++) {
        uint32_t unit = results->units[i];
        const struct sta_host_span *span = &results->spans[unit];
        struct sta_sweep_interval rest = {.unit = unit,
                                          .from = STA_MAX(results->swept[unit], span->start),
                                          .to = span->end,
                                          .slice = SIZE_MAX,
                                          .at_cut = true};
        if (rest.from < rest.to)
            rc = sta_pieces_add(gathering->pieces[idle], 0, &rest, err);
    }
    return rc;
}

/* Cuts a unit's intervals to its span. */
static void cut(struct sta_joined *list, uint32_t unit, const struct sta_host_span *span)
{
    struct sta_interval *items = list->items + list->first[unit];
    size_t count = list->counts[unit], at = 0;
    while (at < count && items[at].to <= span->start)
        at++;
    while (count > at && items[count - 1].from >= span->end)
        count--;
    list->first[unit] += at;
    list->counts[unit] = count - at;
    if (count == at)
        return;
    items[at].from = STA_MAX(items[at].from, span->start);
    items[count - 1].to = STA_MIN(items[count - 1].to, span->end);
}

static int join(const struct gathering *gathering, const struct sta_overlap_results *results,
                struct sta_joined *lists, struct sta_error *err)
{
    const uint32_t units = sta_scope_unit_count(results->scope);
    int rc = 0;
    for (uint32_t l = 0; l < gathering->count && rc == 0; l++)
        rc = sta_pieces_join(gathering->pieces[l], units, &lists[l], err);
    const uint8_t idle = gathering->list_of_mask[0];
    for (uint32_t i = 0; rc == 0 && idle != STA_CHARGE_NONE && i < results->unit_count; i++)
        cut(&lists[idle], results->units[i], &results->spans[results->units[i]]);
    return rc;
}

int sta_charge_intervals(const uint8_t *list_of_mask, uint32_t count, const struct sta_charge_wants *wanted,
                         const struct sta_overlap_binding *binding, struct sta_overlap_results *results,
                         struct sta_joined *lists, struct sta_error *err)
{
    struct sta_pieces_options options = {.budget = binding->budget,
                                         .longest = wanted->longest,
                                         .compare = wanted->units_first ? compare_units : compare_starts,
                                         .context = binding->scope,
                                         .take = wanted->take != NULL ? take_whole : NULL};
    struct gathering gathering = {
        .list_of_mask = list_of_mask,
        .wants = wanted,
        .count = count,
        .end = sta_snapshot_info(binding->request->query->snapshot)->end_ticks,
    };
    struct sta_overlap_wants wants = {.take = take_interval,
                                      .context = &gathering,
                                      .classes = list_of_mask,
                                      .idle = list_of_mask[0] != STA_CHARGE_NONE};
    for (uint32_t l = 0; l < count; l++) {
        gathering.takers[l] = (struct taker){&gathering, l};
        options.taker = &gathering.takers[l];
        gathering.pieces[l] = sta_pieces_create(&options);
        lists[l] = (struct sta_joined){0};
    }
    int rc = sta_overlap_pass(binding, &wants, results, err);
    gathering.results = results;
    if (rc == 0)
        rc = add_rest(&gathering, results, err);
    if (rc == 0)
        rc = join(&gathering, results, lists, err);
    for (uint32_t l = 0; l < count; l++)
        sta_pieces_destroy(gathering.pieces[l]);
    return rc;
}

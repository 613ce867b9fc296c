/* Where a condition holds.
 *
 * The condition is evaluated once for each combination of sets, not for each moment: there are at most 65536.
 * The sweep gives the stretches of each unit; those in which no set is active reach from tick 0 as far as it
 * went, and are cut to the unit's span afterwards. */
#include "analyse/overlap/where.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "common/memory.h"

/* ---- combinations */

struct masks {
    const struct sta_overlap_request *request;
    uint32_t first, rows; /* of the masks being evaluated */
    uint8_t *values;      /* of the column asked for last, one array per column */
};

static int masks_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    (void)err;
    struct masks *masks = context;
    uint8_t *values = masks->values + (size_t)column * STA_VECTOR_ROWS;
    bool idle = column == masks->request->set_count;
    for (uint32_t row = 0; row < masks->rows; row++) {
        uint32_t mask = masks->first + row;
        values[row] = idle ? mask == 0 : mask >> column & 1;
    }
    *vector = (struct sta_vector){.type = STA_TYPE_BOOL, .bools = values};
    return 0;
}

static int evaluate(struct masks *masks, struct sta_program *program, struct sta_evaluator *evaluator,
                    uint8_t *holds, struct sta_error *err)
{
    uint32_t count = 1u << masks->request->set_count;
    for (masks->first = 0; masks->first < count; masks->first += masks->rows) {
        masks->rows = STA_MIN(count - masks->first, STA_VECTOR_ROWS);
        struct sta_vector vector;
        int rc = sta_program_run(program, evaluator, masks->rows, masks_column, masks, &vector, err);
        if (rc != 0)
            return rc;
        for (uint32_t row = 0; row < masks->rows; row++)
            holds[masks->first + row] = vector.bools[vector.constant ? 0 : row];
    }
    return 0;
}

int sta_where_init(struct sta_where *where, const struct sta_overlap_request *request, struct sta_error *err)
{
    struct sta_program *program;
    int rc = sta_program_create(request->where, &program, err);
    if (rc != 0)
        return rc;
    struct masks masks = {.request = request};
    masks.values = sta_alloc_array((size_t)(request->set_count + 1) * STA_VECTOR_ROWS, 1);
    where->holds = sta_alloc_array((size_t)1 << request->set_count, 1);
    struct sta_evaluator *evaluator = sta_evaluator_create();
    rc = evaluate(&masks, program, evaluator, where->holds, err);
    sta_evaluator_destroy(evaluator);
    sta_program_destroy(program);
    free(masks.values);
    if (rc != 0)
        sta_where_fini(where);
    return rc;
}

void sta_where_fini(struct sta_where *where)
{
    free(where->holds);
    where->holds = NULL;
}

/* ---- stretches to intervals */

struct gathering {
    const struct sta_where *where;
    struct sta_pieces *pieces;
    int64_t end; /* of the trace: idle time has none of its own */
};

/* Keeps the stretches for which the condition differs from what it is when no set is active. */
static void take_stretch(void *context, unsigned worker, const struct sta_sweep_stretch *stretch)
{
    const struct gathering *gathering = context;
    struct sta_sweep_stretch piece = *stretch;
    piece.to = STA_MIN(piece.to, gathering->end);
    if (gathering->where->holds[piece.mask] && piece.from < piece.to)
        sta_pieces_add(gathering->pieces, worker, &piece, 0);
}

/* Tracks of pieces and the list of 24 bytes each, or, before that, pieces and tracks. */
static size_t bytes_held(const void *context)
{
    return sta_pieces_bytes(((const struct gathering *)context)->pieces) * 5 / 2;
}

static int compare_units(const void *context, uint32_t unit, uint32_t other)
{
    return sta_scope_compare_units((struct sta_scope *)(uintptr_t)context, unit, other);
}

/* The time of a unit behind its last span: no set is active. */
static void add_rest(const struct gathering *gathering, const struct sta_overlap_results *results)
{
    for (uint32_t i = 0; gathering->where->holds[0] && i < results->unit_count; i++) {
        uint32_t unit = results->units[i];
        const struct sta_unit_sums *sums = &results->sums[unit];
        struct sta_sweep_stretch rest = {.unit = unit,
                                         .from = STA_MAX(results->swept[unit], sums->start),
                                         .to = sums->end,
                                         .slice = SIZE_MAX,
                                         .at_cut = true};
        if (rest.from < rest.to)
            sta_pieces_add(gathering->pieces, 0, &rest, 0);
    }
}

/* ---- the list */

struct list {
    struct sta_span *items;
    size_t count;
};

static void put_interval(struct list *list, const struct sta_unit_sums *sums, uint32_t unit, int64_t from,
                         int64_t to)
{
    from = STA_MAX(from, sums->start);
    to = STA_MIN(to, sums->end);
    if (from < to)
        list->items[list->count++] = (struct sta_span){.ts = from, .te = to, .cell = unit};
}

static int compare_starts(const void *a, const void *b)
{
    const struct sta_span *x = a;
    const struct sta_span *y = b;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

/* Puts the whole intervals of a unit among its joined ones. */
static void put_unit(struct list *list, const struct sta_tracks *tracks, const struct sta_unit_sums *sums,
                     uint32_t unit, const struct sta_span *whole, size_t whole_count)
{
    size_t begin = list->count;
    for (size_t i = tracks->first[unit]; i < tracks->first[unit] + tracks->counts[unit]; i++)
        put_interval(list, sums, unit, tracks->from[i], sta_tracks_end(tracks, i));
    for (size_t i = 0; i < whole_count; i++)
        put_interval(list, sums, unit, whole[i].ts, whole[i].te);
    if (whole_count > 0)
        qsort(list->items + begin, list->count - begin, sizeof *list->items, compare_starts);
}

static int compare_cells(const void *a, const void *b)
{
    const struct sta_span *x = a;
    const struct sta_span *y = b;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

static size_t end_of_unit(const struct sta_span *whole, size_t at, size_t count, uint32_t unit)
{
    while (at < count && whole[at].cell == unit)
        at++;
    return at;
}

/* By unit number: the first of its whole intervals, which are in the order of units. */
static size_t *index_whole(const struct sta_span *whole, size_t count, uint32_t units)
{
    size_t *first = sta_alloc_array((size_t)units + 1, sizeof *first);
    for (size_t at = 0; at < count; at = end_of_unit(whole, at, count, whole[at].cell))
        first[whole[at].cell] = at;
    return first;
}

/* Intervals of all units, from those that were joined and those that no cut went through. */
static int put_units(struct list *list, const struct sta_tracks *tracks,
                     const struct sta_overlap_results *results, const struct sta_span *whole,
                     size_t whole_count, const struct sta_budget *budget, struct sta_error *err)
{
    uint32_t units = tracks->units;
    size_t most = tracks->first[units] + whole_count + 1;
    list->items = sta_account_alloc(budget->account, most, sizeof *list->items, "the list of intervals", err);
    if (list->items == NULL)
        return err->status;
    int rc = 0;
    size_t *first = index_whole(whole, whole_count, units);
    for (uint32_t i = 0; i < results->unit_count && rc == 0; i++) {
        uint32_t unit = results->units[i];
        size_t end = end_of_unit(whole, first[unit], whole_count, unit);
        put_unit(list, tracks, &results->sums[unit], unit, whole + first[unit], end - first[unit]);
        rc = sta_budget_check(budget, err);
    }
    free(first);
    return rc;
}

/* list->items: of the budget's account, also after a failure. */
static int make_list(struct sta_pieces *pieces, const struct sta_overlap_results *results,
                     const struct sta_budget *budget, struct list *list, struct sta_error *err)
{
    struct sta_tracks tracks;
    size_t whole_count;
    int rc = sta_pieces_join(pieces, sta_scope_unit_count(results->scope), budget, &tracks, err);
    if (rc == 0) {
        struct sta_span *whole = sta_pieces_longest(pieces, &whole_count);
        qsort(whole, whole_count, sizeof *whole, compare_cells);
        rc = put_units(list, &tracks, results, whole, whole_count, budget, err);
        free(whole);
    }
    sta_tracks_fini(&tracks);
    return rc;
}

int sta_where_intervals(const struct sta_where *where, const struct sta_overlap_binding *binding,
                        const struct sta_budget *budget, struct sta_overlap_results *results,
                        struct sta_span **intervals, size_t *count, struct sta_error *err)
{
    struct sta_pieces_options options = {.tracks = 1,
                                         .workers = sta_budget_workers(budget),
                                         .longest = binding->request->longest,
                                         .compare = compare_units,
                                         .context = binding->scope};
    struct gathering gathering = {
        .where = where,
        .pieces = sta_pieces_create(&options),
        .end = sta_snapshot_info(binding->request->question->snapshot)->end_ticks,
    };
    struct sta_overlap_stretches stretches = {take_stretch, bytes_held, &gathering, where->holds[0]};
    int rc = sta_overlap_pass(binding, &stretches, budget, results, err);
    if (rc == 0) {
        add_rest(&gathering, results);
        struct list list = {0};
        rc = make_list(gathering.pieces, results, budget, &list, err);
        *intervals = list.items;
        *count = list.count;
        if (rc != 0) {
            sta_account_free(budget->account, list.items);
            sta_overlap_results_fini(results);
        }
    }
    sta_pieces_destroy(gathering.pieces);
    return rc;
}

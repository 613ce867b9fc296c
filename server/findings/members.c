/* One pass: sums of every event, and for unions the intervals of the sweep.
 *
 * Where a member's events are all of one rank, the sweep's intervals are cut at that rank's epochs as they
 * come.  A host or a file is touched by several ranks, whose epochs differ: there the cut events themselves
 * are put in order and united. */
#include "findings/members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/sources/scan.h"
#include "common/memory.h"

static const char WHAT[] = "the members of a comparison";

/* An event, or what an epoch cuts of it. */
struct piece {
    uint32_t unit, slot, rank;
    int64_t from, to;
};

struct worker {
    /* By rank: the first epoch that ends behind the last event, and its slot; events come about in order. */
    struct recent_epoch {
        size_t epoch, slot;
    } * epochs;
    struct sta_member_sum *sums; /* by unit, then slot */
    size_t capacity;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    char padding[64]; /* a cache line of its own */
};

struct pass {
    const struct sta_run *run;
    const struct sta_phases *phases;
    struct sta_members *members;
    enum sta_member_kind kind;
    enum sta_measure measure;
    struct worker *workers;
    unsigned worker_count;
};

static bool is_union(const struct pass *pass)
{
    return pass->measure == STA_MEASURE_BUSY || pass->measure == STA_MEASURE_EXPOSED;
}

/* Whether all events of a member are of one rank. */
static bool has_rank(const struct pass *pass)
{
    return pass->kind <= STA_BY_THREAD;
}

static size_t slot_of(const struct sta_phases *phases, int64_t number)
{
    size_t low = 0, high = phases->number_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (phases->numbers[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* ---- events */

static int grow(const struct pass *pass, struct worker *worker, uint32_t units, struct sta_error *err)
{
    const size_t before = worker->capacity;
    int rc = STA_ACCOUNT_GROW(pass->members->account, worker->sums, worker->capacity,
                              (size_t)units * pass->members->slots, WHAT, err);
    if (rc == STA_OK && worker->capacity > before)
        memset(worker->sums + before, 0, (worker->capacity - before) * sizeof *worker->sums);
    return rc;
}

struct found {
    int64_t ts, dur, size;
    uint32_t unit, rank;
    struct sta_member_sum *sums; /* of the unit, by slot */
};

/* The bytes of a part of the event. */
static __int128 size_of(const struct found *event, int64_t from, int64_t to)
{
    if (event->dur <= 0 || (from == event->ts && to - event->ts >= event->dur))
        return event->size;
    return (__int128)event->size * (to - event->ts) / event->dur -
           (__int128)event->size * (from - event->ts) / event->dur;
}

static inline int add_part(const struct pass *pass, struct worker *worker, const struct found *event,
                           size_t slot, int64_t from, int64_t to, struct sta_error *err)
{
    struct sta_member_sum *sum = &event->sums[slot];
    sum->count++;
    sum->time += to - from;
    sum->size += size_of(event, from, to);
    if (!is_union(pass) || has_rank(pass) || from >= to)
        return STA_OK;
    int rc = STA_ACCOUNT_GROW(pass->members->account, worker->pieces, worker->piece_capacity,
                              worker->piece_count + 1, WHAT, err);
    if (rc == STA_OK)
        worker->pieces[worker->piece_count++] =
            (struct piece){event->unit, (uint32_t)slot, event->rank, from, to};
    return rc;
}

/* sta_rank_epoch_behind, mostly that of the event before. */
static struct recent_epoch epoch_behind(const struct pass *pass, struct worker *worker,
                                        const struct sta_rank *rank, uint32_t number, int64_t moment)
{
    struct recent_epoch *recent = &worker->epochs[number];
    const size_t e = recent->epoch;
    const bool same = recent->slot != 0 && e < rank->epoch_count && rank->epochs[e].to > moment &&
                      (e == 0 || rank->epochs[e - 1].to <= moment);
    if (!same) {
        recent->epoch = sta_rank_epoch_behind(rank, moment);
        recent->slot =
            recent->epoch < rank->epoch_count ? slot_of(pass->phases, rank->epochs[recent->epoch].number) : 0;
    }
    return *recent;
}

static inline size_t epoch_slot(const struct pass *pass, const struct sta_rank *rank,
                                const struct recent_epoch *first, size_t epoch)
{
    return epoch == first->epoch ? first->slot : slot_of(pass->phases, rank->epochs[epoch].number);
}

static int add_event(const struct pass *pass, struct worker *worker, const struct found *event,
                     struct sta_overlap_part part, struct sta_error *err)
{
    const struct sta_rank *rank = &pass->phases->ranks[event->rank];
    if (part.from >= part.to && event->dur > 0)
        return STA_OK;
    int rc = add_part(pass, worker, event, 0, part.from, part.to, err);
    const struct recent_epoch first = epoch_behind(pass, worker, rank, event->rank, part.from);
    for (size_t e = first.epoch; e < rank->epoch_count && rc == STA_OK; e++) {
        const struct sta_epoch *epoch = &rank->epochs[e];
        if (epoch->from > part.to)
            break;
        const int64_t from = STA_MAX(part.from, epoch->from), to = STA_MIN(part.to, epoch->to);
        const bool moment = event->dur <= 0 && epoch->from <= event->ts && event->ts < epoch->to;
        if (from < to || moment)
            rc = add_part(pass, worker, event, epoch_slot(pass, rank, &first, e), from, to, err);
    }
    return rc;
}

static int take_events(void *self, unsigned number, const struct sta_scan_rows *rows,
                       const struct sta_overlap_events *events, struct sta_error *err)
{
    const struct pass *pass = self;
    struct worker *worker = &pass->workers[number];
    struct sta_vector sizes = {0};
    int rc = grow(pass, worker, sta_scope_unit_count(pass->members->binding.scope), err);
    if (rc == STA_OK)
        rc = sta_column_reader_get(rows->reader, STA_LOGICAL_size, &sizes, err);
    const struct sta_time_range window = sta_overlap_window(&pass->members->request);
    for (uint32_t i = 0; rc == STA_OK && i < events->count; i++) {
        const uint32_t row = sta_overlap_row(events, i), at = sizes.constant ? 0 : row;
        const struct sta_overlap_part part = sta_part_of(window, events->ts[row], events->dur[row]);
        if (part.outside || events->masks[row] == STA_NOT_THERE || (events->masks[row] & 1) == 0)
            continue;
        const bool sized = sizes.missing == NULL || !sizes.missing[at];
        const struct found event = {
            .ts = events->ts[row],
            .dur = events->dur[row],
            .size = sized ? sizes.integers[at] : 0,
            .unit = events->units[row],
            .rank = pass->members->rank_of_unit != NULL
                        ? pass->members->rank_of_unit[events->units[row]]
                        : sta_scope_unit_of_thread(pass->phases->binding.scope, events->threads[row]),
            .sums = worker->sums + events->units[row] * pass->members->slots};
        rc = add_event(pass, worker, &event, part, err);
    }
    return rc;
}

static int take_rows(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct pass *pass = self;
    struct sta_overlap_events events;
    int rc = sta_overlap_read(&pass->members->binding, number, rows, &events, err);
    return rc == STA_OK ? take_events(self, number, rows, &events, err) : rc;
}

/* ---- intervals of members of one rank */

static int64_t part_of(const struct pass *pass, const struct sta_rank *rank, int64_t from, int64_t to)
{
    if (from >= to)
        return 0;
    return to - from -
           (pass->measure == STA_MEASURE_EXPOSED ? sta_moments_within(&rank->compute, from, to) : 0);
}

static uint32_t rank_of_unit(const struct pass *pass, uint32_t unit)
{
    return pass->members->rank_of_unit[unit];
}

static int take_interval(void *context, unsigned number, const struct sta_sweep_interval *interval,
                         struct sta_error *err)
{
    const struct pass *pass = context;
    struct worker *worker = &pass->workers[number];
    int rc = grow(pass, worker, interval->unit + 1, err);
    if (rc != STA_OK)
        return rc;
    struct sta_member_sum *sums = &worker->sums[interval->unit * pass->members->slots];
    const uint32_t of = rank_of_unit(pass, interval->unit);
    const struct sta_rank *rank = &pass->phases->ranks[of];
    const int64_t busy = part_of(pass, rank, interval->from, interval->to);
    sums[0].busy += busy;
    const struct recent_epoch first = epoch_behind(pass, worker, rank, of, interval->from);
    for (size_t e = first.epoch; e < rank->epoch_count && rank->epochs[e].from < interval->to; e++) {
        const int64_t from = STA_MAX(interval->from, rank->epochs[e].from);
        const int64_t to = STA_MIN(interval->to, rank->epochs[e].to);
        const bool whole = from == interval->from && to == interval->to;
        sums[epoch_slot(pass, rank, &first, e)].busy += whole ? busy : part_of(pass, rank, from, to);
    }
    return STA_OK;
}

/* ---- intervals of members that several ranks touch */

static int compare_pieces(const void *a, const void *b, void *context)
{
    const struct piece *x = a, *y = b;
    const bool by_rank = *(const bool *)context;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (by_rank && x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static int unite_pieces(const struct pass *pass, struct sta_error *err)
{
    struct sta_members *members = pass->members;
    const bool by_rank = pass->measure == STA_MEASURE_EXPOSED;
    size_t count = 0;
    for (unsigned w = 0; w < pass->worker_count; w++)
        count += pass->workers[w].piece_count;
    struct piece *all = sta_account_alloc(members->account, count + 1, sizeof *all, WHAT, err);
    if (all == NULL)
        return err->status;
    count = 0;
    for (unsigned w = 0; w < pass->worker_count; w++) {
        if (pass->workers[w].piece_count > 0)
            memcpy(all + count, pass->workers[w].pieces, pass->workers[w].piece_count * sizeof *all);
        count += pass->workers[w].piece_count;
    }
    int rc = sta_sort(pass->run->budget, all, count, sizeof *all, compare_pieces, (void *)&by_rank, err);
    for (size_t i = 0, end; i < count && rc == STA_OK; i = end) {
        int64_t covered = all[i].to;
        const struct sta_rank *rank = &pass->phases->ranks[all[i].rank];
        for (end = i + 1; end < count && all[end].unit == all[i].unit && all[end].slot == all[i].slot &&
                          (!by_rank || all[end].rank == all[i].rank) && all[end].from <= covered;
             end++)
            covered = STA_MAX(covered, all[end].to);
        members->sums[all[i].unit * members->slots + all[i].slot].busy +=
            part_of(pass, rank, all[i].from, covered);
        rc = sta_budget_check_step(pass->run->budget, i, err);
    }
    sta_account_free(members->account, all);
    return rc;
}

/* ---- the pass */

/* Ranks of units: each thread's. */
static uint32_t *make_ranks(const struct pass *pass, struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(pass->run->query.snapshot);
    struct sta_scope *scope = pass->members->binding.scope;
    uint32_t *ranks = sta_account_calloc(pass->members->account, (size_t)sta_scope_unit_count(scope) + 1,
                                         sizeof *ranks, WHAT, err);
    for (uint32_t code = 0; ranks != NULL && code < entities->thread_code_count; code++)
        if (entities->thread_of_code[code] < entities->thread_count)
            ranks[sta_scope_unit_of_thread(scope, code)] =
                sta_scope_unit_of_thread(pass->phases->binding.scope, code);
    return ranks;
}

static int bind(struct sta_run *run, struct pass *pass, const char *condition, struct sta_error *err)
{
    static const char *const scopes[] = {"rank_group", "process", "thread", "host"};
    static char name[] = "of";
    struct sta_members *members = pass->members;
    struct sta_document *request = sta_run_request(run);
    struct sta_document *sets = sta_document_create(&run->memory, STA_DOCUMENT_OBJECT);
    const bool bound = run->bound != NULL;
    struct sta_named_expression *set = sta_arena_alloc(&run->memory, sizeof *set, _Alignof(max_align_t));
    *set = (struct sta_named_expression){name, (char *)(uintptr_t)condition};
    if (!bound) {
        sta_run_add_text(run, sets, "of", condition);
        sta_document_append(&run->memory, request, "sets", sets);
    }
    if (pass->kind == STA_BY_FILE) {
        struct sta_document *keys = sta_document_create(&run->memory, STA_DOCUMENT_LIST);
        sta_document_append(&run->memory, keys, NULL, sta_document_text(&run->memory, "file_name", 9));
        sta_document_append(&run->memory, request, "scope", keys);
    } else {
        sta_run_add_text(run, request, "scope", scopes[pass->kind]);
    }
    members->query = sta_run_query(run, request, bound ? set : NULL, bound);
    int rc = sta_overlap_request_read(&members->request, &members->query, false, err);
    if (rc != STA_OK && strcmp(err->parameter, "/sets/of") == 0)
        sta_at(err, "/of", err->position);
    if (rc == STA_OK)
        rc = sta_overlap_binding_init(&members->binding, &members->request, run->budget, err);
    if (rc == STA_OK && pass->kind <= STA_BY_THREAD) {
        members->rank_of_unit = make_ranks(pass, err);
        rc = members->rank_of_unit == NULL ? err->status : STA_OK;
    }
    return rc;
}

static int run_pass(struct pass *pass, struct sta_error *err)
{
    const struct sta_overlap_wants wants = {.take = take_interval, .context = pass, .see = take_events};
    const struct sta_accumulator accumulator = {pass, take_rows};
    if (is_union(pass) && has_rank(pass))
        return sta_overlap_pass(&pass->members->binding, &wants, &pass->members->results, err);
    struct sta_scan scan = sta_overlap_scan(&pass->members->request);
    scan.accumulators = &accumulator;
    scan.accumulator_count = 1;
    return sta_scan_run(&scan, pass->run->budget, err);
}

static int add_up(const struct pass *pass, struct sta_error *err)
{
    struct sta_members *members = pass->members;
    members->unit_count = sta_scope_unit_count(members->binding.scope);
    const size_t cells = members->unit_count * members->slots;
    members->sums = sta_account_calloc(members->account, cells + 1, sizeof *members->sums, WHAT, err);
    if (members->sums == NULL)
        return err->status;
    for (unsigned w = 0; w < pass->worker_count; w++)
        for (size_t i = 0; i < cells && i < pass->workers[w].capacity; i++) {
            const struct sta_member_sum *part = &pass->workers[w].sums[i];
            members->sums[i].time += part->time;
            members->sums[i].size += part->size;
            members->sums[i].count += part->count;
            members->sums[i].busy += part->busy;
        }
    return is_union(pass) && !has_rank(pass) ? unite_pieces(pass, err) : STA_OK;
}

/* Members with an event, by key; a missing file is none. */
static int order_members(const struct pass *pass, struct sta_error *err)
{
    struct sta_members *members = pass->members;
    members->order = sta_account_alloc(members->account, (size_t)members->unit_count + 1,
                                       sizeof *members->order, WHAT, err);
    if (members->order == NULL)
        return err->status;
    for (uint32_t u = 0; u < members->unit_count; u++)
        if (members->sums[u * members->slots].count > 0 &&
            !(pass->kind == STA_BY_FILE && sta_scope_is_missing(members->binding.scope, u)))
            members->order[members->order_count++] = u;
    return sta_scope_sort(members->binding.scope, members->order, members->order_count, pass->run->budget,
                          err);
}

int sta_members_measure(struct sta_run *run, const struct sta_phases *phases, enum sta_member_kind kind,
                        enum sta_measure measure, const char *condition, struct sta_members *members,
                        struct sta_error *err)
{
    *members = (struct sta_members){.account = run->budget->account, .slots = phases->number_count + 1};
    struct pass pass = {.run = run,
                        .phases = phases,
                        .members = members,
                        .kind = kind,
                        .measure = measure,
                        .worker_count = sta_budget_workers(run->budget)};
    pass.workers = sta_alloc_array(pass.worker_count, sizeof *pass.workers);
    int rc = bind(run, &pass, condition, err);
    for (unsigned w = 0; rc == STA_OK && w < pass.worker_count; w++) {
        pass.workers[w].epochs = sta_account_calloc(members->account, (size_t)phases->rank_count + 1,
                                                    sizeof *pass.workers[w].epochs, WHAT, err);
        rc = pass.workers[w].epochs == NULL ? err->status : STA_OK;
    }
    if (rc == STA_OK)
        rc = run_pass(&pass, err);
    if (rc == STA_OK)
        rc = add_up(&pass, err);
    if (rc == STA_OK)
        rc = order_members(&pass, err);
    for (unsigned w = 0; w < pass.worker_count; w++) {
        sta_account_free(members->account, pass.workers[w].epochs);
        sta_account_free(members->account, pass.workers[w].sums);
        sta_account_free(members->account, pass.workers[w].pieces);
    }
    free(pass.workers);
    return rc;
}

void sta_members_fini(struct sta_members *members)
{
    sta_account_free(members->account, members->sums);
    sta_account_free(members->account, members->order);
    sta_account_free(members->account, members->rank_of_unit);
    sta_overlap_results_fini(&members->results);
    sta_overlap_binding_fini(&members->binding);
    sta_overlap_request_release(&members->request);
    *members = (struct sta_members){0};
}

double sta_member_value(const struct sta_run *run, const struct sta_member_sum *sum, enum sta_measure measure)
{
    switch (measure) {
    case STA_MEASURE_BUSY:
    case STA_MEASURE_EXPOSED:
        return (double)sum->busy;
    case STA_MEASURE_TIME:
        return (double)sum->time;
    case STA_MEASURE_SIZE:
        return (double)sum->size;
    case STA_MEASURE_COUNT:
        return (double)sum->count;
    default:
        return sum->size != 0 && sum->time > 0 ? (double)sum->size / sta_run_seconds(run, sum->time) : NAN;
    }
}

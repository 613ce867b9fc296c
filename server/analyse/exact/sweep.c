/* The sweep.
 *
 * DESIGN.  `prepare` notes which spans reach beyond their slice.  `carry`, in the order of slices, takes what
 * earlier slices handed on and hands on what reaches further.  `measure` then goes through the slice bin by
 * bin, alone: every span adds its piece to its accumulators and to the unions of its group, the unions that
 * others are compared with.
 *
 * A worker takes slices in order, and spans are cut at the end of each, so that running ends left from an
 * earlier one lie before whatever comes and need no reset. */
#include "analyse/exact/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exact/unions.h"
#include "common/memory.h"

static const char WHAT[] = "measuring a slice of time";

/* What is seldom called stays out of the loop over spans, which has many variables as it is. */
#define SEPARATE __attribute__((noinline))

struct farthest_end {
    int64_t end;
    uint32_t contribution;
};

struct reaches {
    struct farthest_end *items;
    size_t count, capacity;
};

struct worker {
    /* Totals are those of the present bin. */
    struct sta_running_union *running; /* by accumulator, of those that are not compared */
    struct sta_unions unions;          /* compared: the others */
    uint32_t *accumulator_seen;        /* the round in which one was listed last */
    size_t running_capacity, accumulator_capacity;
    const struct sta_contribution **met; /* by contribution; NULL: it was not met in this round */
    size_t met_capacity;
    uint32_t round;          /* counts the bins, from 1 */
    uint32_t *contributions; /* of the round */
    size_t contribution_count, contributions_capacity;
    struct sta_tally_item *items; /* of the accumulators of the contributions */
    size_t item_count, items_capacity;
    size_t bin;
    int64_t width;         /* measured of the bin; 0: none */
    struct reaches beyond; /* spans of the slice that reach beyond it */
    struct reaches open;   /* what reaches into the present bin */
    char padding[64];      /* a cache line of its own */
};

struct sta_exact_sweep {
    struct sta_intake *intake;
    struct sta_contributions *contributions; /* of the intake, .. */
    struct sta_account *account;             /* .. as the account */
    struct sta_tallies *tallies;
    struct worker *workers;
    /* Used in turn only: the contributions that reach beyond the last slice carried, and how far. */
    int64_t *farthest_end; /* by contribution */
    size_t farthest_end_capacity;
    uint32_t *open;
    size_t open_count, open_capacity;
};

struct sta_exact_sweep *sta_exact_sweep_create(struct sta_intake *intake, struct sta_tallies *tallies)
{
    struct sta_exact_sweep *sweep = sta_alloc(sizeof *sweep);
    *sweep = (struct sta_exact_sweep){.intake = intake,
                                      .contributions = intake->contributions,
                                      .account = intake->budget->account,
                                      .tallies = tallies};
    sweep->workers = sta_alloc_array(intake->worker_count, sizeof *sweep->workers);
    for (unsigned w = 0; w < intake->worker_count; w++)
        sweep->workers[w].round = 1;
    return sweep;
}

void sta_exact_sweep_destroy(struct sta_exact_sweep *sweep)
{
    if (sweep == NULL)
        return;
    struct sta_account *account = sweep->account;
    for (unsigned w = 0; w < sweep->intake->worker_count; w++) {
        struct worker *worker = &sweep->workers[w];
        void *const all[] = {worker->running,      worker->unions.compared, worker->accumulator_seen,
                             worker->met,          worker->contributions,   worker->items,
                             worker->beyond.items, worker->open.items,      worker->unions.items};
        for (size_t i = 0; i < STA_COUNT_OF(all); i++)
            sta_account_free(account, all[i]);
    }
    free(sweep->workers);
    sta_account_free(account, sweep->farthest_end);
    sta_account_free(account, sweep->open);
    free(sweep);
}

/* ---- before a slice is measured */

static int take(void *self, unsigned worker, const void *rows, struct sta_ordered_out *out,
                struct sta_error *err)
{
    const struct sta_exact_sweep *sweep = self;
    const struct sta_scan_rows *from = rows;
    uint32_t count = 0;
    struct sta_exact_span *spans = sta_ordered_reserve(out, from->count, err);
    int rc = spans == NULL ? err->status : sta_intake_take(sweep->intake, worker, from, spans, &count, err);
    return rc == 0 ? sta_ordered_put(out, count, err) : rc;
}

static int add_farthest_end(const struct sta_exact_sweep *sweep, struct reaches *list, int64_t end,
                            uint32_t contribution, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(sweep->account, list->items, list->capacity, list->count + 1, WHAT, err);
    if (rc == 0)
        list->items[list->count++] = (struct farthest_end){end, contribution};
    return rc;
}

static int grow_worker(const struct sta_exact_sweep *sweep, struct worker *worker, struct sta_error *err)
{
    struct sta_account *account = sweep->account;
    const struct sta_contribution_counts counts = sta_contributions_count(sweep->contributions);
    int rc = STA_GROW_ZEROED(account, worker->running, worker->running_capacity, counts.accumulators, err);
    if (rc == 0)
        rc = STA_GROW_ZEROED(account, worker->unions.compared, worker->unions.compared_capacity,
                             counts.compared, err);
    if (rc == 0)
        rc = STA_GROW_ZEROED(account, worker->accumulator_seen, worker->accumulator_capacity,
                             counts.accumulators, err);
    if (rc == 0)
        rc = STA_GROW_ZEROED(account, worker->met, worker->met_capacity, counts.contributions, err);
    if (rc == 0 && worker->unions.items == NULL) {
        const struct sta_contributions_options *options = &sweep->contributions->options;
        const size_t groups = options->wants & STA_WANT_UNITS ? options->groups->group_count : 0;
        const size_t unions = ((size_t)options->shape->layer_count + 1) * groups;
        worker->unions.items =
            sta_account_calloc(account, unions + 1, sizeof *worker->unions.items, WHAT, err);
        rc = worker->unions.items != NULL ? STA_OK : err->status;
    }
    return rc;
}

static int prepare(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct sta_exact_sweep *sweep = self;
    struct worker *worker = &sweep->workers[number];
    size_t count;
    const struct sta_exact_span *spans = sta_slice_records(slice, &count);
    const int64_t sure = count > 0 ? sta_exact_spans_sure_end(spans, slice->to) : 0;
    int rc = grow_worker(sweep, worker, err);
    worker->beyond.count = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (spans[i].ts + spans[i].length <= sure)
            continue;
        const struct sta_long_span whole = sta_exact_span_whole(&sweep->intake->long_spans, &spans[i]);
        if (whole.te > slice->to)
            rc = add_farthest_end(sweep, &worker->beyond, whole.te, whole.contribution, err);
    }
    return rc;
}

/* A contribution that reaches beyond the slice joins those that are open. */
static int open_contribution(struct sta_exact_sweep *sweep, const struct farthest_end *farthest_end,
                             int64_t slice_end, struct sta_error *err)
{
    struct sta_account *account = sweep->account;
    int rc = STA_GROW_ZEROED(account, sweep->farthest_end, sweep->farthest_end_capacity,
                             (size_t)farthest_end->contribution + 1, err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(account, sweep->open, sweep->open_capacity, sweep->open_count + 1, WHAT, err);
    if (rc != 0)
        return rc;
    if (sweep->farthest_end[farthest_end->contribution] <= slice_end) /* it is not on the list */
        sweep->open[sweep->open_count++] = farthest_end->contribution;
    sweep->farthest_end[farthest_end->contribution] =
        STA_MAX(sweep->farthest_end[farthest_end->contribution], farthest_end->end);
    return STA_OK;
}

static int carry(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct sta_exact_sweep *sweep = self;
    struct worker *worker = &sweep->workers[number];
    size_t kept = 0;
    int rc = STA_OK;
    worker->open.count = 0;
    for (size_t i = 0; rc == 0 && i < sweep->open_count; i++) {
        uint32_t contribution = sweep->open[i];
        rc = add_farthest_end(sweep, &worker->open, sweep->farthest_end[contribution], contribution, err);
        if (sweep->farthest_end[contribution] > slice->to)
            sweep->open[kept++] = contribution;
    }
    sweep->open_count = kept;
    for (size_t i = 0; rc == 0 && i < worker->beyond.count; i++)
        rc = open_contribution(sweep, &worker->beyond.items[i], slice->to, err);
    return rc;
}

/* ---- a bin is done with */

/* What was measured in an accumulator, which starts anew. */
static struct sta_exact_measure take_measure(const struct sta_exact_sweep *sweep, struct worker *worker,
                                             uint32_t number)
{
    const uint32_t compared = sta_contributions_accumulator(sweep->contributions, number)->compared;
    if (compared == STA_NOT_COMPARED)
        return (struct sta_exact_measure){.total = sta_running_union_take(&worker->running[number])};
    struct sta_compared_union *with = &worker->unions.compared[compared];
    return (struct sta_exact_measure){
        .total = sta_running_union_take(&with->of),
        .covered = sta_unions_take_overlap(&worker->unions, with, STA_OF_COMPUTE),
        .inner = sta_unions_take_overlap(&worker->unions, with, STA_OF_CHILDREN)};
}

/* Lists the accumulators of a contribution with their measures: each once a round. */
static void list_contribution(const struct sta_exact_sweep *sweep, struct worker *worker,
                              const struct sta_contribution *contribution)
{
    for (uint32_t i = 0; i < sta_contribution_accumulators(contribution); i++) {
        const uint32_t accumulator = sta_contribution_accumulator(contribution, i);
        if (worker->accumulator_seen[accumulator] == worker->round)
            continue;
        worker->accumulator_seen[accumulator] = worker->round;
        worker->items[worker->item_count++] =
            (struct sta_tally_item){accumulator, take_measure(sweep, worker, accumulator)};
    }
}

static int hand_in(struct sta_exact_sweep *sweep, struct worker *worker, struct sta_error *err)
{
    if (worker->width == 0)
        return STA_OK;
    int rc = STA_ACCOUNT_GROW(sweep->account, worker->items, worker->items_capacity,
                              worker->accumulator_capacity, WHAT, err);
    if (rc != 0)
        return rc;
    worker->item_count = 0;
    for (size_t i = 0; i < worker->contribution_count; i++) {
        const struct sta_contribution **met = &worker->met[worker->contributions[i]];
        list_contribution(sweep, worker, *met);
        *met = NULL;
    }
    const struct sta_tally tally = {
        .bin = worker->bin, .width = worker->width, .items = worker->items, .item_count = worker->item_count};
    worker->width = 0;
    worker->contribution_count = 0;
    worker->round++;
    return sta_tallies_take(sweep->tallies, &tally, err);
}

int sta_exact_sweep_finish(struct sta_exact_sweep *sweep, struct sta_error *err)
{
    int rc = STA_OK;
    for (unsigned w = 0; rc == 0 && w < sweep->intake->worker_count; w++)
        rc = hand_in(sweep, &sweep->workers[w], err);
    sweep->open_count = 0; /* another pass begins with earlier slices, of which nothing has been carried */
    if (sweep->farthest_end != NULL)
        memset(sweep->farthest_end, 0, sweep->farthest_end_capacity * sizeof *sweep->farthest_end);
    return rc;
}

/* ---- a part of a slice that lies in one bin */

SEPARATE static int meet_contribution(const struct sta_exact_sweep *sweep, struct worker *worker,
                                      uint32_t number, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(sweep->account, worker->contributions, worker->contributions_capacity,
                              worker->contribution_count + 1, WHAT, err);
    if (rc != 0)
        return rc;
    worker->contributions[worker->contribution_count++] = number;
    worker->met[number] = sta_contributions_at(sweep->contributions, number);
    return STA_OK;
}

/* An event's part [ts, te) of the bin; parts come in the order of ts. */
static inline int take_part(const struct sta_exact_sweep *sweep, struct worker *worker, int64_t ts,
                            int64_t te, uint32_t contribution, struct sta_error *err)
{
    const struct sta_contribution *of = worker->met[contribution];
    if (of == NULL) {
        int rc = meet_contribution(sweep, worker, contribution, err);
        if (rc != 0)
            return rc;
        of = worker->met[contribution];
    }
    struct sta_running_union *const running = worker->running;
    const uint32_t *plain = of->lists, *const plain_end = plain + of->plain;
    for (; plain < plain_end; plain++)
        sta_running_union_add(&running[*plain], ts, te);
    const struct sta_compared *with = sta_contribution_compared(of), *const last = with + of->compared;
    for (; with < last; with++) {
        struct sta_compared_union *compared = &worker->unions.compared[with->number];
        if (with->compute != STA_NO_UNION && compared->overlaps[STA_OF_COMPUTE].next == 0)
            sta_unions_compare(&worker->unions, compared, STA_OF_COMPUTE, with->compute, ts, te);
        if (with->children != STA_NO_UNION && compared->overlaps[STA_OF_CHILDREN].next == 0)
            sta_unions_compare(&worker->unions, compared, STA_OF_CHILDREN, with->children, ts, te);
        sta_running_union_add(&compared->of, ts, te);
    }
    const uint32_t *index = (const uint32_t *)last, *const unions_end = index + of->unions;
    for (; index < unions_end; index++)
        sta_unions_add(&worker->unions, *index, ts, te);
    return STA_OK;
}

/* What is open reaches into the part; `open` becomes what reaches beyond it. */
static int take_open(const struct sta_exact_sweep *sweep, struct worker *worker, int64_t from, int64_t to,
                     struct sta_error *err)
{
    size_t kept = 0;
    int rc = STA_OK;
    for (size_t i = 0; rc == 0 && i < worker->open.count; i++) {
        const struct farthest_end farthest_end = worker->open.items[i];
        if (farthest_end.end <= from)
            continue;
        rc = take_part(sweep, worker, from, STA_MIN(farthest_end.end, to), farthest_end.contribution, err);
        if (farthest_end.end > to)
            worker->open.items[kept++] = farthest_end;
    }
    worker->open.count = kept;
    return rc;
}

/* A span that begins before @to, and may reach beyond it or begin before @from. */
SEPARATE static int take_cut_span(const struct sta_exact_sweep *sweep, struct worker *worker,
                                  const struct sta_exact_span *span, int64_t from, int64_t to,
                                  struct sta_error *err)
{
    const struct sta_long_span whole = sta_exact_span_whole(&sweep->intake->long_spans, span);
    int rc = STA_OK;
    if (span->ts >= from || whole.te > from) /* else it ended before the first bin */
        rc =
            take_part(sweep, worker, STA_MAX(span->ts, from), STA_MIN(whole.te, to), whole.contribution, err);
    if (rc == 0 && whole.te > to)
        rc = add_farthest_end(sweep, &worker->open, whole.te, whole.contribution, err);
    return rc;
}

/* The spans that begin before @to. */
static int take_spans(const struct sta_exact_sweep *sweep, struct worker *worker,
                      const struct sta_slice *slice, size_t *next, int64_t from, int64_t to,
                      struct sta_error *err)
{
    size_t count;
    const struct sta_exact_span *first = sta_slice_records(slice, &count);
    const struct sta_exact_span *span = first + *next, *const last = first + count;
    const int64_t sure = span < last ? sta_exact_spans_sure_end(span, to) : 0;
    for (; span < last && span->ts < to; span++) {
        const bool usual = span->ts >= from && span->ts + span->length <= sure;
        int rc = __builtin_expect(usual, 1)
                     ? take_part(sweep, worker, span->ts, span->ts + span->length, span->contribution, err)
                     : take_cut_span(sweep, worker, span, from, to, err);
        if (rc != 0)
            return rc;
    }
    *next = (size_t)(span - first);
    return STA_OK;
}

/* The part [from, to) of a slice, in one bin. */
static int take_bin(struct sta_exact_sweep *sweep, struct worker *worker, const struct sta_slice *slice,
                    size_t *next, size_t bin, int64_t from, int64_t to, struct sta_error *err)
{
    const struct sta_exact_bins *bins = sweep->intake->bins;
    int rc = bin != worker->bin ? hand_in(sweep, worker, err) : STA_OK;
    if (rc != 0)
        return rc;
    worker->bin = bin;
    worker->width += to - from;
    rc = take_open(sweep, worker, from, to, err);
    if (rc == 0)
        rc = take_spans(sweep, worker, slice, next, from, to, err);
    const bool whole = to == sta_bin_to(bins, bin) && worker->width == to - sta_bin_from(bins, bin);
    return rc == 0 && whole ? hand_in(sweep, worker, err) : rc;
}

static int measure(void *self, unsigned number, const struct sta_slice *slice, struct sta_error *err)
{
    struct sta_exact_sweep *sweep = self;
    const struct sta_exact_bins *bins = sweep->intake->bins;
    struct worker *worker = &sweep->workers[number];
    const struct sta_time_range *range = &sweep->intake->range;
    int64_t from = STA_MAX(STA_MAX(slice->from, bins->from), range->from);
    int64_t end = STA_MIN(STA_MIN(slice->to, bins->to), range->to);
    size_t next = 0;
    int rc = STA_OK;
    while (rc == 0 && from < end) {
        size_t bin = sta_bin_of(bins, from);
        from = bin < bins->count ? STA_MAX(from, sta_bin_from(bins, bin)) : end;
        if (from >= end) /* nothing but bins without events */
            break;
        int64_t to = STA_MIN(end, sta_bin_to(bins, bin));
        rc = take_bin(sweep, worker, slice, &next, bin, from, to, err);
        from = to;
    }
    return rc;
}

struct sta_ordered_consumer sta_exact_sweep_consumer(struct sta_exact_sweep *sweep)
{
    return (struct sta_ordered_consumer){sweep, sizeof(struct sta_exact_span), take, prepare, carry, measure,
                                         NULL};
}

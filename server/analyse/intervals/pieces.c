/* Pieces by slice and unit.
 *
 * DESIGN.  A worker gets the intervals of one unit in one slice after another; they are put together as they
 * come, so a piece is a whole interval unless it reaches the beginning or the end of the slice.  What is kept
 * lies in runs, one per slice and unit, each ascending; runs taken in the order of slices give every unit in
 * order of time, and touching pieces become one.
 *
 * Where only the longest intervals are wanted, the whole ones need not be kept but for a heap of the longest;
 * what is cut is kept. */
#include "analyse/intervals/pieces.h"

#include <stdlib.h>

#include "analyse/exec/budget.h"
#include "analyse/exec/sort.h"
#include "common/memory.h"

static const char WHAT[] = "the intervals of an overlap";

#define CHUNK_PIECES 1024
#define NO_UNIT UINT32_MAX

struct run {
    size_t slice;
    uint32_t unit, count;
    size_t first; /* place in the worker's pieces */
};

struct list {
    uint32_t unit; /* whose intervals come; NO_UNIT: none yet */
    bool at_cut;   /* of `open` */
    size_t slice;
    struct sta_interval open; /* empty: none */
    int64_t least;            /* shorter whole intervals are counted only */
    int64_t whole;            /* intervals that no cut goes through, where only the longest are kept */
    struct sta_interval **chunks;
    size_t count, chunk_count, chunk_capacity;
    struct run *runs;
    size_t run_count, run_capacity;
    struct sta_span *longest; /* a heap, the last in their order on top */
    size_t longest_count, longest_capacity;
    char padding[64]; /* a cache line of its own */
};

struct sta_pieces {
    struct sta_pieces_options options;
    struct sta_account *account;
    unsigned workers;
    struct list *lists; /* by worker */
};

struct sta_pieces *sta_pieces_create(const struct sta_pieces_options *options)
{
    struct sta_pieces *pieces = sta_alloc(sizeof *pieces);
    STA_ASSERT(options->take == NULL || options->longest > 0);
    pieces->options = *options;
    pieces->account = options->budget->account;
    pieces->workers = sta_budget_workers(options->budget);
    pieces->lists = sta_alloc_array(pieces->workers, sizeof *pieces->lists);
    for (unsigned w = 0; w < pieces->workers; w++)
        pieces->lists[w].unit = NO_UNIT;
    return pieces;
}

static void drop_pieces(struct sta_account *account, struct list *list)
{
    for (size_t c = 0; c < list->chunk_count; c++)
        sta_account_free(account, list->chunks[c]);
    sta_account_free(account, list->chunks);
    sta_account_free(account, list->runs);
    list->chunks = NULL;
    list->runs = NULL;
    list->count = list->chunk_count = list->chunk_capacity = list->run_count = list->run_capacity = 0;
}

void sta_pieces_destroy(struct sta_pieces *pieces)
{
    if (pieces == NULL)
        return;
    for (unsigned w = 0; w < pieces->workers; w++) {
        drop_pieces(pieces->account, &pieces->lists[w]);
        sta_account_free(pieces->account, pieces->lists[w].longest);
    }
    free(pieces->lists);
    free(pieces);
}

/* ---- keeping */

static int add_chunk(const struct sta_pieces *pieces, struct list *list, struct sta_error *err)
{
    int rc = STA_ACCOUNT_GROW(pieces->account, list->chunks, list->chunk_capacity, list->chunk_count + 1,
                              WHAT, err);
    if (rc != 0)
        return rc;
    struct sta_interval *chunk = sta_account_alloc(pieces->account, CHUNK_PIECES, sizeof *chunk, WHAT, err);
    if (chunk == NULL)
        return err->status;
    list->chunks[list->chunk_count++] = chunk;
    return 0;
}

static int keep(const struct sta_pieces *pieces, struct list *list, struct sta_interval piece,
                struct sta_error *err)
{
    int rc = list->count == list->chunk_count * CHUNK_PIECES ? add_chunk(pieces, list, err) : 0;
    if (rc != 0)
        return rc;
    list->chunks[list->count / CHUNK_PIECES][list->count % CHUNK_PIECES] = piece;
    list->count++;
    list->runs[list->run_count - 1].count++;
    return 0;
}

/* A total order, so that it does not matter who saw which slice. */
static bool goes_before(const struct sta_pieces *pieces, const struct sta_span *a, const struct sta_span *b)
{
    if (a->te - a->ts != b->te - b->ts)
        return a->te - a->ts > b->te - b->ts;
    return pieces->options.compare(pieces->options.context, a, b) < 0;
}

static void replace_last(const struct sta_pieces *pieces, struct list *list, struct sta_span span)
{
    struct sta_span *heap = list->longest;
    size_t at = 0;
    for (size_t below; (below = at * 2 + 1) < list->longest_count; at = below) {
        below += below + 1 < list->longest_count && goes_before(pieces, &heap[below], &heap[below + 1]);
        if (!goes_before(pieces, &span, &heap[below]))
            break;
        heap[at] = heap[below];
    }
    heap[at] = span;
}

static void set_least(const struct sta_pieces *pieces, struct list *list)
{
    if (list->longest_count == pieces->options.longest && pieces->options.take == NULL)
        list->least = list->longest[0].te - list->longest[0].ts;
}

static int offer(const struct sta_pieces *pieces, struct list *list, struct sta_span span,
                 struct sta_error *err)
{
    if (list->longest_count == pieces->options.longest) {
        if (goes_before(pieces, &span, &list->longest[0]))
            replace_last(pieces, list, span);
        set_least(pieces, list);
        return 0;
    }
    int rc = STA_ACCOUNT_GROW(pieces->account, list->longest, list->longest_capacity, list->longest_count + 1,
                              WHAT, err);
    if (rc != 0)
        return rc;
    struct sta_span *heap = list->longest;
    size_t at = list->longest_count++;
    for (size_t above; at > 0 && goes_before(pieces, &heap[above = (at - 1) / 2], &span); at = above)
        heap[at] = heap[above];
    heap[at] = span;
    set_least(pieces, list);
    return 0;
}

static int take(const struct sta_pieces *pieces, unsigned worker, uint32_t unit,
                const struct sta_interval *interval, struct sta_error *err)
{
    const struct sta_pieces_options *options = &pieces->options;
    return options->take == NULL ? 0 : options->take(options->taker, worker, unit, interval, err);
}

static int close_piece(const struct sta_pieces *pieces, struct list *list, struct sta_error *err)
{
    const struct sta_interval open = list->open;
    list->open = (struct sta_interval){0};
    if (open.from >= open.to)
        return 0;
    if (pieces->options.longest == 0 || list->at_cut)
        return keep(pieces, list, open, err);
    list->whole++;
    int rc = offer(pieces, list, (struct sta_span){open.from, open.to, list->unit, 0}, err);
    return rc == 0 ? take(pieces, (unsigned)(list - pieces->lists), list->unit, &open, err) : rc;
}

static int begin_unit(const struct sta_pieces *pieces, struct list *list,
                      const struct sta_sweep_interval *interval, struct sta_error *err)
{
    int rc = close_piece(pieces, list, err);
    if (rc == 0)
        rc =
            STA_ACCOUNT_GROW(pieces->account, list->runs, list->run_capacity, list->run_count + 1, WHAT, err);
    if (rc != 0)
        return rc;
    list->unit = interval->unit;
    list->slice = interval->slice;
    list->runs[list->run_count++] =
        (struct run){.slice = interval->slice, .unit = interval->unit, .first = list->count};
    return 0;
}

/* As nearly all are. */
static inline bool is_only_counted(const struct list *list)
{
    return list->open.from < list->open.to && list->open.to - list->open.from < list->least && !list->at_cut;
}

int sta_pieces_add(struct sta_pieces *pieces, unsigned worker, const struct sta_sweep_interval *interval,
                   struct sta_error *err)
{
    struct list *list = &pieces->lists[worker];
    int rc = 0;
    if (list->unit != interval->unit || list->slice != interval->slice)
        rc = begin_unit(pieces, list, interval, err);
    if (rc == 0 && (list->open.from == list->open.to || list->open.to != interval->from)) {
        if (is_only_counted(list))
            list->whole++;
        else
            rc = close_piece(pieces, list, err);
        list->open.from = interval->from;
        list->at_cut = false;
    }
    list->open.to = interval->to;
    list->at_cut |= interval->at_cut;
    return rc;
}

/* ---- joining */

struct placed_run {
    const struct run *run;
    const struct list *list;
};

static int compare_runs(const void *a, const void *b, void *context)
{
    const struct run *x = ((const struct placed_run *)a)->run;
    const struct run *y = ((const struct placed_run *)b)->run;
    if (x->slice != y->slice)
        return x->slice < y->slice ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* *placed: of the account, also after a failure. */
static int order_runs(const struct sta_pieces *pieces, struct placed_run **placed, size_t *count,
                      struct sta_error *err)
{
    size_t all = 0, put = 0;
    for (unsigned w = 0; w < pieces->workers; w++)
        all += pieces->lists[w].run_count;
    *count = all;
    *placed = sta_account_alloc(pieces->account, all + 1, sizeof **placed, WHAT, err);
    if (*placed == NULL)
        return err->status;
    for (unsigned w = 0; w < pieces->workers; w++)
        for (size_t r = 0; r < pieces->lists[w].run_count; r++)
            (*placed)[put++] = (struct placed_run){&pieces->lists[w].runs[r], &pieces->lists[w]};
    return sta_sort(pieces->options.budget, *placed, all, sizeof **placed, compare_runs, NULL, err);
}

/* Space for the intervals of each unit, as if no pieces touched. */
static int reserve_space(const struct sta_pieces *pieces, const struct placed_run *runs, size_t run_count,
                         struct sta_joined *joined, struct sta_error *err)
{
    const size_t units = joined->units;
    joined->first = sta_account_calloc(joined->account, units + 1, sizeof *joined->first, WHAT, err);
    joined->counts = sta_account_calloc(joined->account, units + 1, sizeof *joined->counts, WHAT, err);
    int rc = joined->first == NULL || joined->counts == NULL ? err->status : 0;
    for (size_t r = 0; r < run_count && rc == 0; r++) {
        joined->first[runs[r].run->unit + 1] += runs[r].run->count;
        rc = sta_budget_check_step(pieces->options.budget, r, err);
    }
    if (rc != 0)
        return rc;
    for (unsigned w = 0; w < pieces->workers; w++)
        for (size_t i = 0; i < pieces->lists[w].longest_count; i++)
            joined->first[pieces->lists[w].longest[i].cell + 1]++;
    for (size_t u = 0; u < units; u++)
        joined->first[u + 1] += joined->first[u];
    joined->items =
        sta_account_alloc(joined->account, joined->first[units] + 1, sizeof *joined->items, WHAT, err);
    return joined->items != NULL ? 0 : err->status;
}

static void put_run(struct sta_joined *joined, const struct placed_run *placed)
{
    const uint32_t unit = placed->run->unit;
    struct sta_interval *items = joined->items + joined->first[unit];
    size_t count = joined->counts[unit];
    for (size_t at = placed->run->first; at < placed->run->first + placed->run->count; at++) {
        const struct sta_interval *piece = &placed->list->chunks[at / CHUNK_PIECES][at % CHUNK_PIECES];
        if (count > 0 && items[count - 1].to == piece->from)
            items[count - 1].to = piece->to;
        else
            items[count++] = *piece;
    }
    joined->counts[unit] = count;
}

static int compare_intervals(const void *a, const void *b, void *context)
{
    const struct sta_interval *x = a;
    const struct sta_interval *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int take_joined(const struct sta_pieces *pieces, const struct sta_joined *joined,
                       struct sta_error *err)
{
    int rc = 0;
    for (uint32_t u = 0; u < joined->units && pieces->options.take != NULL; u++)
        for (size_t k = 0; k < joined->counts[u] && rc == 0; k++)
            rc = take(pieces, 0, u, &joined->items[joined->first[u] + k], err);
    return rc;
}

/* Puts the longest of the whole ones among the others of their units. */
static int put_longest(const struct sta_pieces *pieces, struct sta_joined *joined, struct sta_error *err)
{
    int rc = 0;
    for (unsigned w = 0; w < pieces->workers; w++) {
        joined->left_out += pieces->lists[w].whole - (int64_t)pieces->lists[w].longest_count;
        for (size_t i = 0; i < pieces->lists[w].longest_count; i++) {
            const struct sta_span *whole = &pieces->lists[w].longest[i];
            size_t place = joined->first[whole->cell] + joined->counts[whole->cell]++;
            joined->items[place] = (struct sta_interval){whole->ts, whole->te};
        }
    }
    for (uint32_t u = 0; u < joined->units && rc == 0 && pieces->options.longest > 0; u++)
        rc = sta_sort(pieces->options.budget, joined->items + joined->first[u], joined->counts[u],
                      sizeof *joined->items, compare_intervals, NULL, err);
    return rc;
}

int sta_pieces_join(struct sta_pieces *pieces, uint32_t units, struct sta_joined *joined,
                    struct sta_error *err)
{
    struct placed_run *runs = NULL;
    size_t count = 0;
    int rc = 0;
    *joined = (struct sta_joined){.units = units, .account = pieces->account};
    for (unsigned w = 0; w < pieces->workers && rc == 0; w++)
        rc = close_piece(pieces, &pieces->lists[w], err);
    if (rc == 0)
        rc = order_runs(pieces, &runs, &count, err);
    if (rc == 0)
        rc = reserve_space(pieces, runs, count, joined, err);
    for (size_t r = 0; r < count && rc == 0; r++) {
        put_run(joined, &runs[r]);
        rc = sta_budget_check_step(pieces->options.budget, r, err);
    }
    if (rc == 0)
        rc = take_joined(pieces, joined, err);
    if (rc == 0)
        rc = put_longest(pieces, joined, err);
    sta_account_free(pieces->account, runs);
    for (unsigned w = 0; w < pieces->workers; w++)
        drop_pieces(pieces->account, &pieces->lists[w]);
    return rc;
}

int64_t sta_joined_count(const struct sta_joined *joined)
{
    int64_t count = joined->left_out;
    for (uint32_t u = 0; u < joined->units; u++)
        count += (int64_t)joined->counts[u];
    return count;
}

void sta_joined_fini(struct sta_joined *joined)
{
    sta_account_free(joined->account, joined->first);
    sta_account_free(joined->account, joined->counts);
    sta_account_free(joined->account, joined->items);
    *joined = (struct sta_joined){0};
}

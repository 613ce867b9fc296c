/* Pieces by slice, unit and track.
 *
 * DESIGN.  A worker gets the stretches of one unit in one slice after another; they are put together as they
 * come, so a piece is a whole interval unless it reaches the beginning or the end of the slice.  What is kept
 * lies in runs, one per slice and unit, each ascending; runs taken in the order of slices give every track in
 * order of time, and touching pieces become one.
 *
 * Where only the longest intervals are wanted, the whole ones need not be kept but for a heap of the longest;
 * what is cut is kept. */
#include "analyse/intervals/pieces.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/exec/sort.h"
#include "common/memory.h"

static const char WHAT[] = "the intervals of an overlap";

#define CHUNK_PIECES 1024
#define NO_UNIT UINT32_MAX

/* 16 bytes, since there may be as many as events. */
struct piece {
    int64_t from;
    uint32_t length; /* a longer one is several that touch */
    uint32_t track;
};

struct run {
    size_t slice;
    uint32_t unit, count;
    size_t first; /* place in the worker's pieces */
};

struct open_piece {
    int64_t from, to; /* equal: none */
    bool at_cut;
};

struct list {
    struct piece **chunks;
    size_t count, chunk_capacity;
    struct run *runs;
    size_t run_count, run_capacity;
    uint32_t unit; /* whose stretches come; NO_UNIT: none yet */
    size_t slice;
    struct open_piece open[STA_SWEEP_SETS]; /* by track */
    struct sta_span *longest;               /* a heap, the last in their order on top */
    size_t longest_count;
    _Atomic size_t bytes;
    char padding[64]; /* a cache line of its own */
};

struct sta_pieces {
    struct sta_pieces_options options;
    struct list *lists;
};

struct sta_pieces *sta_pieces_create(const struct sta_pieces_options *options)
{
    STA_ASSERT(options->tracks <= STA_SWEEP_SETS);
    struct sta_pieces *pieces = sta_alloc(sizeof *pieces);
    pieces->options = *options;
    pieces->lists = sta_alloc_array(options->workers, sizeof *pieces->lists);
    for (unsigned w = 0; w < options->workers; w++) {
        struct list *list = &pieces->lists[w];
        list->unit = NO_UNIT;
        list->longest = sta_alloc_array((size_t)options->longest + 1, sizeof *list->longest);
        list->bytes = (size_t)options->longest * sizeof *list->longest;
    }
    return pieces;
}

static size_t chunk_count(const struct list *list)
{
    return (list->count + CHUNK_PIECES - 1) / CHUNK_PIECES;
}

static void drop_pieces(struct list *list)
{
    for (size_t c = 0; c < chunk_count(list); c++)
        free(list->chunks[c]);
    free(list->chunks);
    free(list->runs);
    list->chunks = NULL;
    list->runs = NULL;
    list->count = list->chunk_capacity = list->run_count = list->run_capacity = 0;
}

void sta_pieces_destroy(struct sta_pieces *pieces)
{
    if (pieces == NULL)
        return;
    for (unsigned w = 0; w < pieces->options.workers; w++) {
        drop_pieces(&pieces->lists[w]);
        free(pieces->lists[w].longest);
    }
    free(pieces->lists);
    free(pieces);
}

size_t sta_pieces_bytes(const struct sta_pieces *pieces)
{
    size_t bytes = 0;
    for (unsigned w = 0; w < pieces->options.workers; w++)
        bytes += atomic_load_explicit(&pieces->lists[w].bytes, memory_order_relaxed);
    return bytes;
}

/* ---- keeping */

static void keep_piece(struct list *list, struct piece piece)
{
    if (list->count % CHUNK_PIECES == 0) {
        size_t chunk = list->count / CHUNK_PIECES;
        STA_GROW(list->chunks, list->chunk_capacity, chunk + 1);
        list->chunks[chunk] = sta_alloc_array(CHUNK_PIECES, sizeof **list->chunks);
        atomic_fetch_add_explicit(&list->bytes, CHUNK_PIECES * sizeof **list->chunks, memory_order_relaxed);
    }
    list->chunks[list->count / CHUNK_PIECES][list->count % CHUNK_PIECES] = piece;
    list->count++;
    list->runs[list->run_count - 1].count++;
}

static void keep(struct list *list, const struct open_piece *open, uint32_t track)
{
    int64_t from = open->from;
    for (; open->to - from > UINT32_MAX; from += UINT32_MAX)
        keep_piece(list, (struct piece){from, UINT32_MAX, track});
    keep_piece(list, (struct piece){from, (uint32_t)(open->to - from), track});
}

/* Longer; or as long and earlier; or then of a unit that goes before: it must not matter who saw which
 * slice. */
static bool goes_before(const struct sta_pieces *pieces, const struct sta_span *a, const struct sta_span *b)
{
    if (a->te - a->ts != b->te - b->ts)
        return a->te - a->ts > b->te - b->ts;
    if (a->ts != b->ts)
        return a->ts < b->ts;
    return pieces->options.compare(pieces->options.context, a->cell, b->cell) < 0;
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

static void offer(const struct sta_pieces *pieces, struct list *list, struct sta_span span)
{
    struct sta_span *heap = list->longest;
    if (list->longest_count == pieces->options.longest) {
        if (goes_before(pieces, &span, &heap[0]))
            replace_last(pieces, list, span);
        return;
    }
    size_t at = list->longest_count++;
    for (size_t above; at > 0 && goes_before(pieces, &heap[above = (at - 1) / 2], &span); at = above)
        heap[at] = heap[above];
    heap[at] = span;
}

static void close_piece(const struct sta_pieces *pieces, struct list *list, uint32_t track)
{
    struct open_piece *open = &list->open[track];
    if (open->from == open->to)
        return;
    if (pieces->options.longest > 0 && !open->at_cut)
        offer(pieces, list, (struct sta_span){open->from, open->to, list->unit, track});
    else
        keep(list, open, track);
    *open = (struct open_piece){0};
}

static void close_unit(const struct sta_pieces *pieces, struct list *list)
{
    for (uint32_t track = 0; list->unit != NO_UNIT && track < pieces->options.tracks; track++)
        close_piece(pieces, list, track);
}

static void begin_unit(const struct sta_pieces *pieces, struct list *list,
                       const struct sta_sweep_stretch *stretch)
{
    close_unit(pieces, list);
    list->unit = stretch->unit;
    list->slice = stretch->slice;
    size_t before = list->run_capacity;
    STA_GROW(list->runs, list->run_capacity, list->run_count + 1);
    atomic_fetch_add_explicit(&list->bytes, (list->run_capacity - before) * sizeof *list->runs,
                              memory_order_relaxed);
    list->runs[list->run_count++] =
        (struct run){.slice = stretch->slice, .unit = stretch->unit, .first = list->count};
}

void sta_pieces_add(struct sta_pieces *pieces, unsigned worker, const struct sta_sweep_stretch *stretch,
                    uint32_t track)
{
    struct list *list = &pieces->lists[worker];
    if (list->unit != stretch->unit || list->slice != stretch->slice)
        begin_unit(pieces, list, stretch);
    struct open_piece *open = &list->open[track];
    if (open->from == open->to || open->to != stretch->from) {
        close_piece(pieces, list, track);
        *open = (struct open_piece){stretch->from, stretch->from, false};
    }
    open->to = stretch->to;
    open->at_cut |= stretch->at_cut;
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

/* NULL when it fails. */
static struct placed_run *runs_in_order(const struct sta_pieces *pieces, const struct sta_budget *budget,
                                        size_t *count, struct sta_error *err)
{
    *count = 0;
    for (unsigned w = 0; w < pieces->options.workers; w++)
        *count += pieces->lists[w].run_count;
    struct placed_run *placed = sta_account_alloc(budget->account, *count + 1, sizeof *placed, WHAT, err);
    if (placed == NULL)
        return NULL;
    size_t put = 0;
    for (unsigned w = 0; w < pieces->options.workers; w++)
        for (size_t r = 0; r < pieces->lists[w].run_count; r++)
            placed[put++] = (struct placed_run){&pieces->lists[w].runs[r], &pieces->lists[w]};
    if (sta_sort(budget, placed, *count, sizeof *placed, compare_runs, NULL, err) == 0)
        return placed;
    sta_account_free(budget->account, placed);
    return NULL;
}

static const struct piece *piece_at(const struct list *list, size_t at)
{
    return &list->chunks[at / CHUNK_PIECES][at % CHUNK_PIECES];
}

/* Room for each track, as if no pieces touched. */
static int make_tracks(const struct sta_pieces *pieces, const struct placed_run *runs, size_t run_count,
                       const struct sta_budget *budget, struct sta_tracks *tracks, struct sta_error *err)
{
    struct sta_account *account = budget->account;
    size_t count = (size_t)tracks->units * tracks->tracks;
    tracks->first = sta_account_calloc(account, count + 1, sizeof *tracks->first, WHAT, err);
    tracks->counts = sta_account_calloc(account, count + 1, sizeof *tracks->counts, WHAT, err);
    int rc = tracks->first == NULL || tracks->counts == NULL ? err->status : 0;
    for (size_t r = 0; r < run_count && rc == 0; r++) {
        for (uint32_t i = 0; i < runs[r].run->count; i++) {
            const struct piece *piece = piece_at(runs[r].list, runs[r].run->first + i);
            tracks->first[(size_t)runs[r].run->unit * pieces->options.tracks + piece->track + 1]++;
        }
        rc = sta_budget_check_step(budget, r, err);
    }
    if (rc != 0)
        return rc;
    for (size_t t = 0; t < count; t++)
        tracks->first[t + 1] += tracks->first[t] + 1; /* and one for the end */
    size_t room = tracks->first[count] + 1;
    tracks->from = sta_account_calloc(account, room, sizeof *tracks->from, WHAT, err);
    tracks->before = sta_account_calloc(account, room, sizeof *tracks->before, WHAT, err);
    return tracks->from == NULL || tracks->before == NULL ? err->status : 0;
}

static void put_piece(struct sta_tracks *tracks, size_t track, const struct piece *piece)
{
    size_t end = tracks->first[track] + tracks->counts[track];
    bool touches = tracks->counts[track] > 0 && sta_tracks_end(tracks, end - 1) == piece->from;
    if (touches) {
        tracks->before[end] += piece->length;
        return;
    }
    tracks->counts[track]++;
    tracks->from[end] = piece->from;
    tracks->before[end + 1] = tracks->before[end] + piece->length;
}

int sta_pieces_join(struct sta_pieces *pieces, uint32_t units, const struct sta_budget *budget,
                    struct sta_tracks *tracks, struct sta_error *err)
{
    *tracks =
        (struct sta_tracks){.units = units, .tracks = pieces->options.tracks, .account = budget->account};
    for (unsigned w = 0; w < pieces->options.workers; w++)
        close_unit(pieces, &pieces->lists[w]);
    size_t count;
    struct placed_run *runs = runs_in_order(pieces, budget, &count, err);
    int rc = runs == NULL ? err->status : make_tracks(pieces, runs, count, budget, tracks, err);
    for (size_t r = 0; r < count && rc == 0; r++) {
        for (uint32_t i = 0; i < runs[r].run->count; i++) {
            const struct piece *piece = piece_at(runs[r].list, runs[r].run->first + i);
            put_piece(tracks, (size_t)runs[r].run->unit * pieces->options.tracks + piece->track, piece);
        }
        rc = sta_budget_check_step(budget, r, err);
    }
    sta_account_free(budget->account, runs);
    for (unsigned w = 0; w < pieces->options.workers; w++)
        drop_pieces(&pieces->lists[w]);
    return rc;
}

struct sta_span *sta_pieces_longest(const struct sta_pieces *pieces, size_t *count)
{
    *count = 0;
    for (unsigned w = 0; w < pieces->options.workers; w++)
        *count += pieces->lists[w].longest_count;
    struct sta_span *all = sta_alloc_array(*count + 1, sizeof *all);
    size_t put = 0;
    for (unsigned w = 0; w < pieces->options.workers; w++)
        for (size_t i = 0; i < pieces->lists[w].longest_count; i++)
            all[put++] = pieces->lists[w].longest[i];
    return all;
}

void sta_tracks_fini(struct sta_tracks *tracks)
{
    sta_account_free(tracks->account, tracks->first);
    sta_account_free(tracks->account, tracks->counts);
    sta_account_free(tracks->account, tracks->from);
    sta_account_free(tracks->account, tracks->before);
    *tracks = (struct sta_tracks){0};
}

int64_t sta_tracks_before(const struct sta_tracks *tracks, size_t track, int64_t at)
{
    size_t first = tracks->first[track];
    size_t low = first;
    size_t high = first + tracks->counts[track];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tracks->from[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == first)
        return 0;
    int64_t covered = STA_MIN(at - tracks->from[low - 1], tracks->before[low] - tracks->before[low - 1]);
    return tracks->before[low - 1] + covered;
}

/* Events to rows of the aggregation, groups to sums by bin. */
#include "analyse/exact/additive.h"

#include <stdlib.h>

#include "analyse/exact/segmented.h"
#include "analyse/sources/shared.h"
#include "analyse/views/bounded_sum.h"
#include "analyse/exec/budget.h"
#include "common/memory.h"

/* A missing key of the view is result row 0; the part is a code of it; where no sizes are wanted the last
 * column is left out. */
enum { KEY_SIGNATURE, KEY_RESULT_ROW, KEY_PART, SUM_COUNT, SUM_TIME, SUM_SIZE, COLUMNS };
_Static_assert(STA_SIZE_BINS < 1 << STA_SIZE_BIN_BITS, "a size bin, or none, takes so many bits");

#define MANY_BINS 10000 /* of one event: past these it checks for a cancel */

int sta_additive_init(struct sta_additive *additive, const struct sta_exact_bins *bins, unsigned wants,
                      const struct sta_budget *budget, struct sta_error *err)
{
    const unsigned workers = sta_budget_workers(budget);
    *additive = (struct sta_additive){.bins = bins, .wants = wants, .by_time = bins->count > 1};
    additive->workers = sta_alloc_array(workers, sizeof *additive->workers);
    return sta_feed_init(&additive->feed, SUM_COUNT,
                         (wants & STA_WANT_SIZES ? COLUMNS : SUM_SIZE) - SUM_COUNT, budget, err);
}

void sta_additive_fini(struct sta_additive *additive)
{
    if (additive->workers == NULL)
        return;
    for (unsigned w = 0; w < sta_budget_workers(additive->feed.budget); w++) {
        sta_account_free(additive->feed.budget->account, additive->workers[w].slots);
        sta_account_free(additive->feed.budget->account, additive->workers[w].used);
    }
    free(additive->workers);
    sta_feed_fini(&additive->feed);
}

/* ---- events */

int sta_additive_meet(struct sta_additive *additive, unsigned number, uint32_t signature,
                      struct sta_error *err)
{
    struct sta_additive_worker *worker = &additive->workers[number];
    struct sta_account *account = additive->feed.budget->account;
    const size_t slots = ((size_t)signature + 1) << STA_SIZE_BIN_BITS;
    int rc = STA_GROW_ZEROED(account, worker->slots, worker->slot_capacity, slots, err);
    return rc == 0 ? STA_GROW_ZEROED(account, worker->used, worker->used_capacity, slots + 1, err) : rc;
}

static int put_row(struct sta_additive *additive, unsigned worker, uint32_t signature, int64_t at,
                   uint32_t part, int64_t count, int64_t time, int64_t size, struct sta_error *err)
{
    const int64_t row[STA_FEED_COLUMNS] = {
        [KEY_SIGNATURE] = signature, [KEY_RESULT_ROW] = at, [KEY_PART] = part,
        [SUM_COUNT] = count,         [SUM_TIME] = time,     [SUM_SIZE] = size};
    return sta_feed_add(&additive->feed, worker, row, err);
}

/* As much of a sum as fits a row. */
static int64_t take_most(unsigned __int128 *sum)
{
    const int64_t most = (int64_t)STA_MIN(*sum, (unsigned __int128)INT64_MAX);
    *sum -= (unsigned __int128)most;
    return most;
}

static int hand_over_slot(struct sta_additive *additive, const struct sta_additive_worker *worker, size_t at,
                          struct sta_error *err)
{
    const unsigned number = (unsigned)(worker - additive->workers);
    const uint32_t part = STA_PART_STARTS << STA_SIZE_BIN_BITS | at % (1u << STA_SIZE_BIN_BITS);
    struct sta_additive_slot sums = worker->slots[at];
    int rc = STA_OK;
    worker->slots[at] = (struct sta_additive_slot){0};
    while (rc == 0 && (sums.count > 0 || sums.time > 0 || sums.size > 0)) {
        const int64_t count = sums.count, time = take_most(&sums.time), size = take_most(&sums.size);
        sums.count = 0;
        rc = put_row(additive, number, (uint32_t)(at >> STA_SIZE_BIN_BITS), worker->row, part, count, time,
                     size, err);
    }
    return rc;
}

int sta_additive_hand_over(struct sta_additive *additive, struct sta_additive_worker *worker, int64_t row,
                           struct sta_error *err)
{
    const size_t count = worker->unlisted ? worker->slot_capacity : worker->used_count;
    int rc = STA_OK;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = hand_over_slot(additive, worker, worker->unlisted ? i : worker->used[i], err);
    worker->used_count = 0;
    worker->unlisted = false;
    worker->row = row;
    return rc;
}

/* What an event adds to one bin. */
struct addition {
    enum sta_additive_part part;
    int64_t time, size;
};

static int put(struct sta_additive *additive, unsigned worker, const struct sta_additive_event *event,
               size_t bin, struct addition addition, struct sta_error *err)
{
    const bool sized = additive->wants & STA_WANT_SIZE_BINS && addition.part == STA_PART_STARTS;
    const uint32_t part =
        addition.part << STA_SIZE_BIN_BITS | (sized ? sta_size_bin(event->size) : STA_SIZE_BINS);
    return put_row(additive, worker, event->signature, sta_additive_result_row(additive, event->key, bin),
                   part, 1, addition.time, addition.size, err);
}

/* The bytes of an event in each of its bins but the first. */
static int put_sizes(struct sta_additive *additive, unsigned worker, const struct sta_additive_event *event,
                     const struct sta_exact_part *part, struct sta_error *err)
{
    int64_t from = sta_bin_to(additive->bins, part->low);
    int rc = STA_OK;
    for (size_t bin = part->low + 1; rc == 0 && bin <= part->high; bin++) {
        const int64_t to = STA_MIN(part->to, from + additive->bins->g);
        const int64_t size = sta_bytes_between(from, to, event->ts, event->dur, event->size);
        from = to;
        rc = put(additive, worker, event, bin, (struct addition){STA_PART_BYTES, 0, size}, err);
        if (rc == 0 && bin % MANY_BINS == 0)
            rc = sta_budget_check(additive->feed.budget, err);
    }
    return rc;
}

/* An event that touches several bins. */
static int put_several(struct sta_additive *additive, unsigned worker, const struct sta_additive_event *event,
                       const struct sta_exact_part *part, struct sta_error *err)
{
    const struct sta_exact_bins *bins = additive->bins;
    const bool any_whole = part->low + 1 < part->high;
    const bool sized = event->size > 0 && additive->wants & STA_WANT_SIZES;
    struct addition first = {part->starts ? STA_PART_STARTS : STA_PART_GOES_ON,
                             sta_bin_to(bins, part->low) - part->from, 0};
    const struct addition last = {any_whole ? STA_PART_ENDS : STA_PART_GOES_ON,
                                  part->to - sta_bin_from(bins, part->high), 0};
    if (sized)
        first.size =
            sta_bytes_between(part->from, sta_bin_to(bins, part->low), event->ts, event->dur, event->size);
    int rc = put(additive, worker, event, part->low, first, err);
    if (rc == 0 && any_whole)
        rc = put(additive, worker, event, part->low + 1, (struct addition){STA_PART_WHOLE, 0, 0}, err);
    if (rc == 0)
        rc = put(additive, worker, event, part->high, last, err);
    return rc == 0 && sized ? put_sizes(additive, worker, event, part, err) : rc;
}

int sta_additive_take(struct sta_additive *additive, unsigned worker, const struct sta_additive_event *event,
                      const struct sta_exact_part *part, struct sta_error *err)
{
    if (part->low < part->high)
        return put_several(additive, worker, event, part, err);
    struct addition all = {part->starts ? STA_PART_STARTS : STA_PART_GOES_ON, part->to - part->from, 0};
    if (event->size > 0 && additive->wants & STA_WANT_SIZES)
        all.size = sta_bytes_between(part->from, part->to, event->ts, event->dur, event->size);
    return put(additive, worker, event, part->low, all, err);
}

int sta_additive_end(struct sta_additive *additive, struct sta_error *err)
{
    int rc = STA_OK;
    for (unsigned w = 0; rc == 0 && w < sta_budget_workers(additive->feed.budget); w++)
        rc = sta_additive_hand_over(additive, &additive->workers[w], additive->workers[w].row, err);
    return rc == 0 ? sta_feed_end(&additive->feed, err) : rc;
}

/* ---- groups */

/* Where one goes through the bins of a signature. */
struct run {
    const struct sta_additive *additive;
    sta_additive_add add;
    void *context;
    uint32_t signature;
    size_t bin;    /* the first that the changes so far were not added to */
    int64_t whole; /* events that cover the bins from there on */
};

/* Adds the events that cover whole bins, up to a bin. */
static int add_whole(struct run *run, size_t end, struct sta_error *err)
{
    const struct sta_exact_bins *bins = run->additive->bins;
    int rc = STA_OK;
    for (size_t bin = run->bin; rc == 0 && run->whole > 0 && bin < end; bin++) {
        const int64_t width = sta_bin_to(bins, bin) - sta_bin_from(bins, bin);
        const struct sta_additive_sums sums = {
            .events = run->whole, .time = sta_bounded_multiply(run->whole, width), .size_bin = STA_SIZE_BINS};
        rc = run->add(run->context, run->signature, 0, bin, &sums, err);
        if (rc == 0)
            rc = sta_budget_check_step(run->additive->feed.budget, bin, err);
    }
    run->bin = end;
    return rc;
}

static int add_group(struct run *run, const struct sta_feed_group *group, struct sta_error *err)
{
    const struct sta_additive *additive = run->additive;
    const int64_t row = group->columns[KEY_RESULT_ROW], rows = group->columns[SUM_COUNT];
    const unsigned both = (unsigned)group->columns[KEY_PART];
    const enum sta_additive_part part = both >> STA_SIZE_BIN_BITS;
    const struct sta_additive_sums sums = {.events = part <= STA_PART_ENDS ? rows : 0,
                                           .count = part == STA_PART_STARTS ? rows : 0,
                                           .time = group->columns[SUM_TIME],
                                           .size = group->columns[SUM_SIZE], /* 0 where none are wanted */
                                           .size_bin = both % (1u << STA_SIZE_BIN_BITS)};
    if (!additive->by_time)
        return run->add(run->context, run->signature, (uint32_t)row - 1, 0, &sums, err);
    int rc = add_whole(run, (size_t)row, err);
    run->whole += part == STA_PART_WHOLE ? rows : part == STA_PART_ENDS ? -rows : 0;
    return rc == 0 ? run->add(run->context, run->signature, 0, (size_t)row, &sums, err) : rc;
}

static int add_next(struct run *run, size_t number, const struct sta_feed_group *group, struct sta_error *err)
{
    const uint32_t signature = (uint32_t)group->columns[KEY_SIGNATURE];
    if (signature != run->signature) {
        STA_ASSERT(run->whole == 0);
        run->signature = signature;
        run->bin = 0;
    }
    int rc = add_group(run, group, err);
    return rc == 0 ? sta_budget_check_step(run->additive->feed.budget, number, err) : rc;
}

int sta_additive_each(const struct sta_additive *additive, sta_additive_add add, void *context,
                      struct sta_error *err)
{
    struct run run = {.additive = additive, .add = add, .context = context};
    int rc = STA_OK;
    for (size_t g = 0; rc == 0 && g < additive->feed.groups.rows; g++) {
        const struct sta_feed_group group = sta_feed_group(&additive->feed, g);
        rc = add_next(&run, g, &group, err);
    }
    return rc;
}

/* ---- groups of other processes */

/* Whether a group could be one of this program: what is not would be added where there is no bin. */
static bool is_possible(const struct run *run, const struct sta_feed_group *group)
{
    const struct sta_additive *additive = run->additive;
    const int64_t limit = additive->by_time ? (int64_t)additive->bins->count : (int64_t)UINT32_MAX + 1;
    const bool same = (uint32_t)group->columns[KEY_SIGNATURE] == run->signature;
    return group->columns[KEY_SIGNATURE] >= 0 && group->columns[KEY_SIGNATURE] < UINT32_MAX &&
           group->columns[KEY_RESULT_ROW] >= 0 && group->columns[KEY_RESULT_ROW] < limit &&
           group->columns[KEY_PART] >= 0 &&
           group->columns[KEY_PART] < (STA_PART_BYTES + 1) << STA_SIZE_BIN_BITS &&
           group->columns[SUM_COUNT] > 0 && (same || run->whole == 0);
}

int sta_additive_each_other(const struct sta_additive *additive, struct sta_cursor in, sta_additive_add add,
                            void *context, struct sta_error *err)
{
    struct run run = {.additive = additive, .add = add, .context = context};
    const uint64_t count = sta_get_varint(&in);
    int rc = STA_OK;
    for (uint64_t g = 0; rc == 0 && g < count; g++) {
        const struct sta_feed_group group = sta_feed_get(&additive->feed, &in);
        rc = in.failed || !is_possible(&run, &group) ? sta_shared_fail(err) : add_next(&run, g, &group, err);
    }
    return rc;
}

/* additive.h - what adds up, as a plan over the hash aggregation: counts, times, bytes, sizes (private to
 * exact).
 *
 * Each event is a row (signature, key of the view or bin, size bin) with what it adds there.  Signature and
 * key say which rows of which layers and metrics the group counts towards, so an event of three layers is
 * still one row.  Workers add up events of one key or bin that follow one another by themselves: in a view of
 * one row, or of bins that hold many events, the aggregation gets few rows.
 *
 * An event over many bins costs as much as one over two: its parts in the first and in the last bin, and the
 * change from none to one event that covers whole bins behind the first, and back at the last; running sums
 * over the bins of a signature turn changes into events and times.  Only bytes have a row for each bin, since
 * floor() of exact.md section 2 makes every bin's part another number. */
#ifndef STA_ANALYSE_EXACT_ADDITIVE_H
#define STA_ANALYSE_EXACT_ADDITIVE_H

#include "analyse/exact/bins.h"
#include "analyse/exact/feed.h"
#include "analyse/exact/fields.h"

struct sta_exact_result;
struct sta_event_signatures;

/* What a row says of its bin: events of which this is the first part, a later one, one behind whole bins, or
 * nothing but a change or bytes. */
enum sta_additive_part { STA_PART_STARTS, STA_PART_GOES_ON, STA_PART_ENDS, STA_PART_WHOLE, STA_PART_BYTES };
#define STA_SIZE_BIN_BITS 4 /* of a part's code; the part is above them */

/* What a worker has added up of events that lie wholly in one result row, and has not handed over. */
struct sta_additive_worker {
    int64_t row; /* bin in a view by time, else key of the view plus 1 */
    struct sta_additive_slot {
        unsigned __int128 time, size;
        int64_t count;
    } * slots; /* by signature, then size bin */
    size_t slot_capacity;
    uint32_t *used; /* the slots that are not empty; has space for all */
    size_t used_count, used_capacity;
    bool unlisted;    /* some of them are not among `used` */
    char padding[64]; /* a cache line of its own */
};

struct sta_additive {
    const struct sta_exact_bins *bins; /* borrowed */
    unsigned wants;
    bool by_time; /* several bins */
    struct sta_additive_worker *workers;
    struct sta_feed feed;
};

/** @wants: enum sta_wants.  @bins, @budget: borrowed.  Fini in any case. */
STA_MUSTCHECK int sta_additive_init(struct sta_additive *additive, const struct sta_exact_bins *bins,
                                    unsigned wants, const struct sta_budget *budget, struct sta_error *err);
void sta_additive_fini(struct sta_additive *additive);
/** Events of this signature may come now. */
STA_MUSTCHECK int sta_additive_meet(struct sta_additive *additive, unsigned worker, uint32_t signature,
                                    struct sta_error *err);

static inline int64_t sta_additive_result_row(const struct sta_additive *additive, uint32_t key, size_t bin)
{
    return additive->by_time ? (int64_t)bin : (int64_t)(uint32_t)(key + 1);
}

int sta_additive_hand_over(struct sta_additive *additive, struct sta_additive_worker *worker, int64_t row,
                           struct sta_error *err);
/** What the worker adds from now on lies in @row. */
STA_MUSTCHECK static inline int sta_additive_go_to(struct sta_additive *additive,
                                                   struct sta_additive_worker *worker, int64_t row,
                                                   struct sta_error *err)
{
    return row == worker->row ? STA_OK : sta_additive_hand_over(additive, worker, row, err);
}

/** Adds an event to a slot of the result row that the worker is at; the time is not below 0. */
static inline int64_t sta_additive_count(struct sta_additive_slot *slot, int64_t time, int64_t size)
{
    slot->time += (uint64_t)time;
    slot->size += (uint64_t)size;
    return slot->count++;
}

/** Adds an event that lies wholly in the result row that the worker is at.  @sized: whether sizes are
 * distinguished. */
static inline void sta_additive_put(struct sta_additive_worker *worker, uint32_t signature, int64_t time,
                                    int64_t size, bool sized)
{
    const uint32_t at = signature << STA_SIZE_BIN_BITS | (sized ? sta_size_bin(size) : STA_SIZE_BINS);
    if (sta_additive_count(&worker->slots[at], time, size) == 0)
        worker->used[worker->used_count++] = at;
}

/** All slots of the result row that the worker is at, to add many events; handing over then looks at all.
 * Valid until another signature is met. */
static inline struct sta_additive_slot *sta_additive_slots(struct sta_additive_worker *worker)
{
    worker->unlisted = true;
    return worker->slots;
}

/* An event, in ticks and bytes; its duration is not below 0. */
struct sta_additive_event {
    uint32_t signature, key; /* key: STA_NO_CODE is one like others */
    int64_t ts, dur;
    int64_t size; /* 0: none */
};

/** Takes an event of which @part lies in the bins.  Return: likewise. */
STA_MUSTCHECK int sta_additive_take(struct sta_additive *additive, unsigned worker,
                                    const struct sta_additive_event *event, const struct sta_exact_part *part,
                                    struct sta_error *err);
/** No more events come. */
STA_MUSTCHECK int sta_additive_end(struct sta_additive *additive, struct sta_error *err);

/* What a group adds to a bin. */
struct sta_additive_sums {
    int64_t events; /* that touch it */
    int64_t count, time, size;
    unsigned size_bin; /* of those that start there; STA_SIZE_BINS: none */
};

typedef int (*sta_additive_add)(void *context, uint32_t signature, uint32_t key, size_t bin,
                                const struct sta_additive_sums *sums, struct sta_error *err);
/** Calls @add for what each group adds to each bin, in the order of signatures, keys and bins.  After the
 * end.  Return: 0, what @add returns, STA_ECANCELLED, STA_ELIMIT. */
STA_MUSTCHECK int sta_additive_each(const struct sta_additive *additive, sta_additive_add add, void *context,
                                    struct sta_error *err);

/** Likewise for the groups at @in, which another process has put (sta_feed_put): signatures and keys are its
 * own.  Return: also STA_ECORRUPT. */
STA_MUSTCHECK int sta_additive_each_other(const struct sta_additive *additive, struct sta_cursor in,
                                          sta_additive_add add, void *context, struct sta_error *err);

#endif

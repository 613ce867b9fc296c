/* Where records go in the order of the stream.
 *
 * Slices of the positions count their records of each kind, which says where each slice's begin; then they
 * number theirs. */
#include "dasf/order.h"

#include <stdlib.h>

#include "analyse/exec/tasks.h"
#include "common/memory.h"

#define SLICE ((size_t)1 << 16) /* positions */

/* Records of each kind; by kind + 1, so that positions without one need no query. */
struct counts {
    size_t of[DASF_KINDS + 1];
};

struct slices {
    struct dasf_order *order;
    struct counts *before; /* by slice: records before it; until then records in it */
};

static size_t end_of(const struct dasf_order *order, size_t slice)
{
    return (size_t)STA_MIN((uint64_t)(slice + 1) * SLICE, order->positions);
}

static int count_records(void *context, unsigned worker, size_t slice, struct sta_error *err)
{
    const struct slices *slices = context;
    struct counts counts = {0};
    (void)worker;
    (void)err;
    for (size_t i = slice * SLICE; i < end_of(slices->order, slice); i++)
        counts.of[slices->order->kinds[i]]++;
    slices->before[slice] = counts;
    return STA_OK;
}

static int number_records(void *context, unsigned worker, size_t slice, struct sta_error *err)
{
    const struct slices *slices = context;
    const struct dasf_order *order = slices->order;
    struct counts next = slices->before[slice];
    (void)worker;
    (void)err;
    for (size_t i = slice * SLICE; i < end_of(order, slice); i++)
        order->places[i] = (uint32_t)next.of[order->kinds[i]]++;
    return STA_OK;
}

static void add_up(struct slices *slices, size_t count)
{
    struct counts sum = {0};
    for (size_t slice = 0; slice < count; slice++) {
        const struct counts inside = slices->before[slice];
        slices->before[slice] = sum;
        for (size_t kind = 0; kind <= DASF_KINDS; kind++)
            sum.of[kind] += inside.of[kind];
    }
    for (size_t kind = 0; kind < DASF_KINDS; kind++)
        slices->order->counts[kind] = sum.of[kind + 1];
}

/* Two records of one position would be written to one place, by two workers. */
static int check_each_once(const struct dasf_order *order, struct sta_error *err)
{
    uint64_t found = 0;
    for (size_t kind = 0; kind < DASF_KINDS; kind++)
        found += order->counts[kind];
    return found == order->noted ? STA_OK
                                 : sta_fail(err, STA_ECORRUPT, "two records of a file have one number");
}

int dasf_order_find(struct dasf_order *order, const struct sta_budget *budget, struct sta_error *err)
{
    const size_t count = (size_t)((order->positions + SLICE - 1) / SLICE);
    struct slices slices = {order, sta_alloc_array(count + 1, sizeof *slices.before)};
    int status = sta_tasks_run(budget, count, count_records, &slices, err);
    add_up(&slices, count);
    if (status == STA_OK)
        status = check_each_once(order, err);
    if (status == STA_OK)
        status = sta_tasks_run(budget, count, number_records, &slices, err);
    free(slices.before);
    return status;
}

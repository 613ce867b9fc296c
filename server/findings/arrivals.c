/* Who ends each step last, and how late (findings.md part 5). */
#include <math.h>
#include <stdlib.h>

#include "analyse/exec/sort.h"
#include "findings/robust.h"
#include "findings/stragglers.h"
#include "common/memory.h"

static const char WHAT[] = "the ends of steps";

struct ending {
    int64_t step, end, length;
    uint32_t epoch; /* that ranks share */
    uint32_t place; /* of the rank in the order of keys */
};

static int compare_endings(const void *a, const void *b, void *context)
{
    const struct ending *x = a, *y = b;
    (void)context;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->place > y->place ? -1 : x->place < y->place; /* of equal ends the first rank comes last */
}

static int list_endings(const struct sta_phases *phases, struct ending **endings, size_t *count,
                        struct sta_error *err)
{
    size_t all = 0;
    for (uint32_t i = 0; i < phases->order_count; i++)
        all += phases->ranks[phases->order[i]].step_count;
    *endings = sta_account_alloc(phases->account, all + 1, sizeof **endings, WHAT, err);
    *count = 0;
    if (*endings == NULL)
        return err->status;
    for (uint32_t i = 0; i < phases->order_count; i++) {
        const struct sta_rank *rank = &phases->ranks[phases->order[i]];
        const struct sta_epoch *epoch = rank->epochs;
        for (size_t s = 0; s < rank->step_count; s++) {
            const struct sta_step *step = &rank->steps[s];
            if (step->number > 0)
                (*endings)[(*count)++] =
                    (struct ending){step->number, step->to, step->to - step->from, epoch->shared, i};
            else
                epoch++; /* what follows its last step */
        }
    }
    return STA_OK;
}

static int compare_ticks(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of sorted ticks, rounded down. */
static int64_t middle_of(int64_t low, int64_t high)
{
    return low + (high - low) / 2;
}

static void add_step(struct sta_arrivals *arrivals, const struct ending *endings, size_t count,
                     int64_t *lengths)
{
    const int64_t top = endings[count - 1].end;
    const int64_t middle = middle_of(endings[(count - 1) / 2].end, endings[count / 2].end);
    for (size_t i = 0; i < count; i++) {
        lengths[i] = endings[i].length;
        arrivals->wait += top - endings[i].end;
        arrivals->items[endings[i].place].steps++;
    }
    qsort(lengths, count, sizeof *lengths, compare_ticks);
    arrivals->steps++;
    arrivals->late += top - middle;
    arrivals->length += middle_of(lengths[(count - 1) / 2], lengths[count / 2]);
    arrivals->items[endings[count - 1].place].slowest++;
    arrivals->items[endings[count - 1].place].late += top - middle;
}

static int compare_arrivals(const void *a, const void *b, void *context)
{
    const struct sta_arrival *x = a, *y = b;
    (void)context;
    return x->slowest != y->slowest ? (x->slowest > y->slowest ? -1 : 1) : 0; /* stable: then by key */
}

/* Ranks with steps, in the order that is shown. */
static int order_ranks(const struct sta_phases *phases, const struct sta_budget *budget,
                       struct sta_arrivals *arrivals, struct sta_error *err)
{
    arrivals->count = 0;
    for (uint32_t i = 0; i < phases->order_count; i++)
        if (phases->ranks[phases->order[i]].epoch_count > 0) {
            struct sta_arrival one = arrivals->items[i];
            one.rank = phases->order[i];
            arrivals->items[arrivals->count++] = one;
        }
    return sta_sort(budget, arrivals->items, arrivals->count, sizeof *arrivals->items, compare_arrivals, NULL,
                    err);
}

int sta_arrivals_find(const struct sta_phases *phases, const struct sta_budget *budget,
                      struct sta_arrivals *arrivals, struct sta_error *err)
{
    struct ending *endings = NULL;
    int64_t *lengths = NULL;
    size_t count = 0;
    *arrivals = (struct sta_arrivals){.account = phases->account};
    arrivals->items = sta_account_calloc(phases->account, (size_t)phases->order_count + 1,
                                         sizeof *arrivals->items, WHAT, err);
    lengths = sta_account_alloc(phases->account, (size_t)phases->order_count + 1, sizeof *lengths, WHAT, err);
    int rc = arrivals->items == NULL || lengths == NULL ? err->status
                                                        : list_endings(phases, &endings, &count, err);
    if (rc == STA_OK)
        rc = sta_sort(budget, endings, count, sizeof *endings, compare_endings, NULL, err);
    for (size_t i = 0, end; rc == STA_OK && i < count; i = end) {
        for (end = i;
             end < count && endings[end].epoch == endings[i].epoch && endings[end].step == endings[i].step;)
            end++;
        if (end - i >= 2)
            add_step(arrivals, endings + i, end - i, lengths);
    }
    if (rc == STA_OK)
        rc = order_ranks(phases, budget, arrivals, err);
    sta_account_free(phases->account, endings);
    sta_account_free(phases->account, lengths);
    return rc;
}

void sta_arrivals_fini(struct sta_arrivals *arrivals)
{
    sta_account_free(arrivals->account, arrivals->items);
    *arrivals = (struct sta_arrivals){0};
}

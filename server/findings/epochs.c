/* Epochs, steps and unions of one rank (findings.md part 1). */
#include "findings/epochs.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static const char WHAT[] = "the epochs and steps of a run";

/* ---- unions */

static bool is_of(const struct sta_phase_event *event, enum sta_phase phase)
{
    return (event->phases & STA_PHASE_BIT(phase)) != 0;
}

static int unite(const struct sta_phase_event *events, size_t count, enum sta_phase phase,
                 struct sta_moments *moments, struct sta_account *account, struct sta_error *err)
{
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++)
        capacity += is_of(&events[i], phase);
    if (capacity == 0)
        return STA_OK;
    moments->items = sta_account_alloc(account, capacity, sizeof *moments->items, WHAT, err);
    if (moments->items == NULL)
        return err->status;
    for (size_t i = 0; i < count; i++) {
        if (!is_of(&events[i], phase))
            continue;
        struct sta_interval *last = moments->count > 0 ? &moments->items[moments->count - 1] : NULL;
        if (last != NULL && events[i].from <= last->to)
            last->to = STA_MAX(last->to, events[i].to);
        else
            moments->items[moments->count++] = (struct sta_interval){events[i].from, events[i].to};
    }
    return STA_OK;
}

int64_t sta_moments_length(const struct sta_moments *moments)
{
    int64_t length = 0;
    for (size_t i = 0; i < moments->count; i++)
        length += moments->items[i].to - moments->items[i].from;
    return length;
}

int64_t sta_moments_within(const struct sta_moments *moments, int64_t from, int64_t to)
{
    size_t low = 0, high = moments->count; /* the first that ends behind `from` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (moments->items[middle].to <= from)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t length = 0;
    for (; low < moments->count && moments->items[low].from < to; low++)
        length += STA_MIN(moments->items[low].to, to) - STA_MAX(moments->items[low].from, from);
    return length;
}

/* ---- epochs */

static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Whether all have numbers, and different ones; else they are counted. */
static int number_epochs(struct sta_rank *rank, struct sta_account *account, struct sta_error *err)
{
    int64_t *numbers = sta_account_alloc(account, rank->epoch_count, sizeof *numbers, WHAT, err);
    bool usable = true;
    if (numbers == NULL)
        return err->status;
    for (size_t i = 0; i < rank->epoch_count; i++)
        numbers[i] = rank->epochs[i].number;
    qsort(numbers, rank->epoch_count, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < rank->epoch_count; i++)
        usable = usable && numbers[i] != STA_NO_NUMBER && (i == 0 || numbers[i] != numbers[i - 1]);
    for (size_t i = 0; i < rank->epoch_count && !usable; i++)
        rank->epochs[i].number = (int64_t)i + 1;
    sta_account_free(account, numbers);
    return STA_OK;
}

static int build_epochs(struct sta_rank *rank, const struct sta_phase_event *events, size_t count,
                        struct sta_account *account, struct sta_error *err)
{
    size_t capacity = 0;
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < count; i++)
        capacity += is_of(&events[i], STA_PHASE_epoch);
    if (capacity == 0)
        return STA_OK;
    rank->epochs = sta_account_alloc(account, capacity, sizeof *rank->epochs, WHAT, err);
    if (rank->epochs == NULL)
        return err->status;
    for (size_t i = 0; i < count; i++) {
        if (!is_of(&events[i], STA_PHASE_epoch) || events[i].to <= latest)
            continue; /* repeated, or inside another */
        latest = events[i].to;
        rank->epochs[rank->epoch_count++] =
            (struct sta_epoch){.number = events[i].epoch, .from = events[i].from, .to = events[i].to};
    }
    for (size_t i = 0; i + 1 < rank->epoch_count; i++)
        rank->epochs[i].to = STA_MIN(rank->epochs[i].to, rank->epochs[i + 1].from);
    return number_epochs(rank, account, err);
}

size_t sta_rank_epoch_behind(const struct sta_rank *rank, int64_t moment)
{
    size_t low = 0, high = rank->epoch_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rank->epochs[middle].to <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- steps */

struct part {
    int64_t step; /* column; or the place of the union */
    int64_t from, to;
    int64_t compute; /* when a union of several: so far */
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static int compare_by_step(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* The step events that end in the epoch; whether all have numbers. */
static size_t choose_events(const struct sta_epoch *epoch, const struct sta_phase_event *events, size_t count,
                            struct part *parts, bool *numbered)
{
    size_t chosen = 0;
    *numbered = true;
    for (size_t i = 0; i < count && events[i].from < epoch->to; i++) {
        if (!is_of(&events[i], STA_PHASE_step) || events[i].to <= epoch->from || events[i].to > epoch->to)
            continue;
        *numbered = *numbered && events[i].step != STA_NO_NUMBER;
        parts[chosen++] = (struct part){events[i].step, events[i].from, events[i].to, 0};
    }
    return chosen;
}

/* Parts of equal number become one: its end, start, and the length of their union. */
static size_t join_parts(struct part *parts, size_t count)
{
    size_t joined = 0;
    for (size_t i = 0, end; i < count; i = end) {
        struct part whole = parts[i];
        struct sta_running_union compute = {whole.to, whole.from};
        for (end = i + 1; end < count && parts[end].step == parts[i].step; end++)
            sta_running_union_add(&compute, parts[end].from, parts[end].to);
        whole.to = compute.end;
        whole.compute = sta_running_union_total(&compute);
        parts[joined++] = whole;
    }
    return joined;
}

/* Without numbers, what touches or overlaps is one step. */
static void number_unions(struct part *parts, size_t count)
{
    int64_t covered = INT64_MIN, number = 0;
    for (size_t i = 0; i < count; i++) {
        number += i > 0 && parts[i].from > covered;
        covered = STA_MAX(covered, parts[i].to);
        parts[i].step = number;
    }
}

static size_t steps_of_epoch(const struct sta_epoch *epoch, const struct sta_phase_event *events,
                             size_t count, struct part *parts)
{
    bool numbered;
    size_t chosen = choose_events(epoch, events, count, parts, &numbered);
    if (numbered)
        qsort(parts, chosen, sizeof *parts, compare_by_step);
    else
        number_unions(parts, chosen);
    chosen = join_parts(parts, chosen);
    qsort(parts, chosen, sizeof *parts, compare_parts);
    return chosen;
}

static int build_steps(struct sta_rank *rank, const struct sta_phase_event *events, size_t count,
                       struct sta_account *account, struct sta_error *err)
{
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++)
        capacity += is_of(&events[i], STA_PHASE_step);
    struct part *parts = sta_account_alloc(account, capacity + 1, sizeof *parts, WHAT, err);
    rank->steps =
        sta_account_alloc(account, capacity + rank->epoch_count + 1, sizeof *rank->steps, WHAT, err);
    if (parts == NULL || rank->steps == NULL)
        return sta_account_free(account, parts), err->status;
    for (size_t e = 0, first = 0; e < rank->epoch_count; e++) {
        const struct sta_epoch *epoch = &rank->epochs[e];
        while (first < count && events[first].to <= epoch->from)
            first++;
        const size_t steps = steps_of_epoch(epoch, events + first, count - first, parts);
        int64_t at = epoch->from;
        for (size_t k = 0; k < steps; k++) {
            rank->steps[rank->step_count++] =
                (struct sta_step){epoch->number, (int64_t)k + 1, at, parts[k].to, parts[k].compute};
            at = parts[k].to;
        }
        rank->steps[rank->step_count++] = (struct sta_step){epoch->number, 0, at, epoch->to, 0};
    }
    sta_account_free(account, parts);
    return STA_OK;
}

/* ---- the whole */

int sta_rank_build(struct sta_rank *rank, const struct sta_phase_event *events, size_t count,
                   struct sta_account *account, struct sta_error *err)
{
    int rc = unite(events, count, STA_PHASE_compute, &rank->compute, account, err);
    if (rc == STA_OK)
        rc = unite(events, count, STA_PHASE_training, &rank->training, account, err);
    if (rc == STA_OK)
        rc = unite(events, count, STA_PHASE_checkpoint, &rank->checkpoint, account, err);
    if (rc == STA_OK)
        rc = build_epochs(rank, events, count, account, err);
    return rc == STA_OK && rank->epoch_count > 0 ? build_steps(rank, events, count, account, err) : rc;
}

static int compare_epochs(const void *a, const void *b)
{
    const struct sta_epoch *x = *(struct sta_epoch *const *)a, *y = *(struct sta_epoch *const *)b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* @epochs: by number, then start. */
static void share_epochs(struct sta_phases *phases, struct sta_epoch **epochs, size_t count)
{
    uint32_t shared = 0;
    int64_t until = 0;
    for (size_t i = 0; i < count; i++) {
        const bool other = i == 0 || epochs[i]->number != epochs[i - 1]->number;
        if (other)
            phases->numbers[phases->number_count++] = epochs[i]->number;
        shared += other || epochs[i]->from >= until;
        until = other || epochs[i]->to > until ? epochs[i]->to : until;
        epochs[i]->shared = shared;
    }
}

int sta_epoch_numbers(struct sta_phases *phases, struct sta_error *err)
{
    size_t all = 0;
    for (uint32_t r = 0; r < phases->rank_count; r++)
        all += phases->ranks[r].epoch_count;
    struct sta_epoch **epochs = sta_account_alloc(phases->account, all + 1, sizeof *epochs, WHAT, err);
    phases->numbers = sta_account_alloc(phases->account, all + 1, sizeof *phases->numbers, WHAT, err);
    if (epochs == NULL || phases->numbers == NULL)
        return sta_account_free(phases->account, epochs), err->status;
    all = 0;
    for (uint32_t r = 0; r < phases->rank_count; r++)
        for (size_t e = 0; e < phases->ranks[r].epoch_count; e++)
            epochs[all++] = &phases->ranks[r].epochs[e];
    qsort(epochs, all, sizeof *epochs, compare_epochs);
    share_epochs(phases, epochs, all);
    sta_account_free(phases->account, epochs);
    return STA_OK;
}

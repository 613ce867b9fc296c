/* Bandwidth of reads epoch by epoch: bytes, and the time in which a rank reads, summed over ranks. */
#include "findings/cold.h"

#include <math.h>
#include <stdlib.h>

#include "findings/members.h"
#include "findings/robust.h"
#include "common/memory.h"

const char sta_cold_condition[] = "cat.str.contains(\"posix|stdio\") and io_cat == 1 and size > 0";

static struct sta_cold_epoch epoch_of(const struct sta_run *run, const struct sta_members *members,
                                      size_t epoch)
{
    __int128 busy = 0, size = 0;
    for (uint32_t m = 0; m < members->order_count; m++) {
        const struct sta_member_sum *sum = &members->sums[members->order[m] * members->slots + 1 + epoch];
        busy += sum->busy;
        size += sum->size;
    }
    return (struct sta_cold_epoch){.rate = busy > 0 ? (double)size / sta_run_seconds(run, busy) : NAN,
                                   .size = (int64_t)size};
}

/* @later: scratch, a number for each epoch. */
static void summarize(struct sta_cold *cold, size_t epochs, double *later)
{
    for (size_t e = 0; e < epochs; e++) {
        const double rate = cold->epochs[e].rate;
        if (isnan(rate) || rate == 0)
            continue;
        if (cold->reading == 0)
            cold->first = rate;
        else
            later[cold->reading - 1] = rate;
        cold->reading++;
    }
    if (cold->reading > 1) {
        const size_t count = (size_t)cold->reading - 1;
        qsort(later, count, sizeof *later, sta_compare_doubles);
        cold->later = (later[(count - 1) / 2] + later[count / 2]) / 2;
    }
}

int sta_cold_measure(struct sta_run *run, const struct sta_phases *phases, struct sta_cold *cold,
                     struct sta_error *err)
{
    struct sta_account *account = run->budget->account;
    struct sta_members members = {0};
    const size_t epochs = phases->number_count;
    *cold = (struct sta_cold){.first = NAN, .later = NAN, .account = account};
    cold->epochs = sta_account_alloc(account, epochs + 1, sizeof *cold->epochs, "epochs", err);
    if (cold->epochs == NULL)
        return err->status;
    double *later = sta_account_alloc(account, epochs + 1, sizeof *later, "epochs", err);
    if (later == NULL)
        return err->status;
    int rc =
        sta_members_measure(run, phases, STA_BY_RANK, STA_MEASURE_BUSY, sta_cold_condition, &members, err);
    for (size_t e = 0; rc == STA_OK && e < epochs; e++)
        cold->epochs[e] = epoch_of(run, &members, e);
    if (rc == STA_OK)
        summarize(cold, epochs, later);
    sta_members_fini(&members);
    sta_account_free(account, later);
    return rc;
}

void sta_cold_fini(struct sta_cold *cold)
{
    sta_account_free(cold->account, cold->epochs);
}

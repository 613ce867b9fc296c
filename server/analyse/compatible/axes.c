/* View types, and how a row's values become its key. */
#include "analyse/compatible/axes.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/operators/radix.h"
#include "analyse/operators/ranks.h"
#include "common/buffer.h"
#include "common/memory.h"

const char *const sta_axis_names[STA_AXES] = {"file_name", "proc_name", "time_range"};

int sta_not_among(struct sta_error *err, const char *parameter, const char *what, const char *name,
                  const void *allowed, size_t size, size_t count)
{
    char *names = sta_join_names(allowed, size, count);
    sta_fail_at(err, STA_EINPUT, parameter, "there is no %s \"%.100s\" here; allowed: %.900s", what,
                name != NULL ? name : "", names);
    free(names);
    return err->status;
}

/* ---- which */

static int choose(struct sta_axes *axes, const struct sta_table_query *query, struct sta_error *err)
{
    axes->grouped[STA_AXIS_PROC] = true;
    for (size_t i = 0; i < query->view_count; i++) {
        int axis = 0;
        while (axis < STA_AXES && strcmp(sta_axis_names[axis], query->views[i]) != 0)
            axis++;
        if (axis == STA_AXES)
            return sta_not_among(err, "/views", "view type", query->views[i], sta_axis_names,
                                 sizeof *sta_axis_names, STA_AXES);
        axes->grouped[axis] = true;
    }
    return 0;
}

/* ---- how many values each has */

static int count_bins(struct sta_axes *axes, const struct sta_table_query *query,
                      const struct sta_bound_query *bound, struct sta_error *err)
{
    int rc = sta_bin_width(bound, query->granularity_us, &axes->bin_ticks, err);
    if (rc != 0)
        return rc;
    int64_t bins = sta_last_start(bound->query->snapshot) / axes->bin_ticks + 1;
    if (bins > INT32_MAX)
        return sta_fail_at(
            err, STA_ELIMIT, "/granularity",
            "the trace has %lld bins of this granularity, more than a table tells apart; choose a larger one",
            (long long)bins);
    return 0;
}

int sta_axes_init(struct sta_axes *axes, const struct sta_table_query *query,
                  const struct sta_bound_query *bound, struct sta_error *err)
{
    *axes = (struct sta_axes){0};
    int rc = choose(axes, query, err);
    if (rc == 0)
        rc = count_bins(axes, query, bound, err);
    if (rc != 0)
        return rc;
    axes->texts[STA_AXIS_FILE] = sta_columns_texts(bound->columns, STA_LOGICAL_file_name);
    axes->texts[STA_AXIS_PROC] = sta_columns_texts(bound->columns, STA_LOGICAL_proc_name);
    return STA_OK;
}

/* ---- ranks */

int sta_rank_texts(const struct sta_dictionary *dictionary, uint32_t *items, size_t count, uint32_t **values,
                   uint32_t *value_count, struct sta_pool *pool, struct sta_error *err)
{
    struct sta_ranks ranks;
    struct sta_texts *texts = sta_texts_create(pool->budget->account);
    const uint64_t first = (uint64_t)sta_texts_dictionary(texts, dictionary) << 32;
    int rc = sta_ranks_init(&ranks, texts, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (items[i] != STA_NO_CODE)
            sta_ranks_mark(&ranks, first | items[i]);
    if (rc == 0)
        rc = sta_ranks_finalize(&ranks, pool->budget, err);
    *value_count = ranks.count;
    *values = rc == 0 ? sta_pool_take(pool, (size_t)ranks.count + 1, sizeof **values, "names", err) : NULL;
    if (rc == 0 && *values == NULL)
        rc = err->status;
    for (uint32_t rank = 0; rc == 0 && rank < ranks.count; rank++)
        (*values)[rank] = (uint32_t)ranks.numbers[rank];
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (items[i] != STA_NO_CODE)
            items[i] = sta_ranks_of(&ranks, first | items[i]);
    sta_ranks_fini(&ranks);
    sta_texts_destroy(texts);
    return rc;
}

/* The rank of a bin.  @from: of one before; often it is the same or among the next. */
static uint32_t find_bin(const uint32_t *bins, uint32_t count, uint32_t bin, uint32_t from)
{
    uint32_t low = bins[from] <= bin ? from : 0, step = 1;
    while (low + step < count && bins[low + step] <= bin) {
        low += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (low + step < count && bins[low + step] <= bin)
            low += step;
    return low;
}

static int rank_bins(struct sta_axes *axes, uint32_t *items, size_t count, struct sta_pool *pool,
                     struct sta_error *err)
{
    const struct sta_budget *budget = pool->budget;
    uint64_t *bins = sta_account_alloc(budget->account, count + 1, 2 * sizeof *bins, "bins of time", err);
    size_t kept = 0;
    if (bins == NULL)
        return err->status;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || items[i] != items[i - 1])
            bins[kept++] = items[i];
    int rc = sta_radix_failed(sta_radix_sort(bins, bins + count + 1, kept, 1, false, budget->cancel), "bins",
                              kept, err);
    uint32_t distinct = 0;
    for (size_t i = 0; i < kept; i++)
        if (i == 0 || bins[i] != bins[i - 1])
            bins[distinct++] = bins[i];
    uint32_t *values =
        rc == 0 ? sta_pool_take(pool, (size_t)distinct + 1, sizeof *values, "bins of time", err) : NULL;
    for (uint32_t rank = 0; values != NULL && rank < distinct; rank++)
        values[rank] = (uint32_t)bins[rank];
    for (size_t i = 0; values != NULL && i < count; i++)
        items[i] = find_bin(values, distinct, items[i], i > 0 ? items[i - 1] : 0);
    sta_account_free(budget->account, bins);
    axes->values[STA_AXIS_TIME] = values;
    axes->count[STA_AXIS_TIME] = distinct;
    return values != NULL ? STA_OK : err->status;
}

int sta_axes_rank(struct sta_axes *axes, enum sta_axis axis, uint32_t *items, size_t count,
                  struct sta_pool *pool, struct sta_error *err)
{
    return axis == STA_AXIS_TIME ? rank_bins(axes, items, count, pool, err)
                                 : sta_rank_texts(axes->texts[axis], items, count, &axes->values[axis],
                                                  &axes->count[axis], pool, err);
}

/* ---- keys */

static unsigned bits_for(uint32_t count)
{
    return count < 2 ? 1 : 32 - (unsigned)__builtin_clz(count - 1);
}

int sta_axes_pack(struct sta_axes *axes, struct sta_error *err)
{
    unsigned used = 0;
    for (int axis = STA_AXES - 1; axis >= 0; axis--) {
        axes->shift[axis] = used;
        axes->bits[axis] = axes->grouped[axis] ? bits_for(axes->count[axis]) : 0;
        used += axes->bits[axis];
    }
    if (used <= 63)
        return 0;
    return sta_fail_at(
        err, STA_ELIMIT, "/granularity",
        "the trace has too many files, processes and bins for one table; choose a larger granularity or "
        "fewer view types");
}

struct sta_text sta_axes_text(const struct sta_axes *axes, enum sta_axis axis, uint32_t rank)
{
    return sta_dictionary_text(axes->texts[axis], axes->values[axis][rank]);
}

/* View types, and how a row's values become its key. */
#include "analyse/compatible/axes.h"

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"

const char *const sta_axis_names[STA_AXES] = {"file_name", "proc_name", "time_range"};

int sta_not_among(struct sta_error *err, const char *parameter, const char *what, const char *name,
                  const char *const *allowed, size_t count)
{
    struct sta_buffer names;
    sta_buffer_init(&names);
    for (size_t i = 0; i < count; i++)
        sta_put_format(&names, "%s%s", i > 0 ? ", " : "", allowed[i]);
    sta_put_char(&names, '\0');
    sta_fail(err, STA_EINPUT, "there is no %s \"%.100s\" here; allowed: %.900s", what,
             name != NULL ? name : "", names.failed ? "" : names.data);
    sta_buffer_fini(&names);
    return sta_at(err, parameter, -1);
}

/* ---- which */

static int choose(struct sta_axes *axes, const struct sta_view_question *question, struct sta_error *err)
{
    axes->grouped[STA_AXIS_PROC] = true;
    for (size_t i = 0; i < question->view_count; i++) {
        int axis = 0;
        while (axis < STA_AXES && strcmp(sta_axis_names[axis], question->views[i]) != 0)
            axis++;
        if (axis == STA_AXES)
            return sta_not_among(err, "/views", "view type", question->views[i], sta_axis_names, STA_AXES);
        axes->grouped[axis] = true;
    }
    return 0;
}

/* ---- how many values each has */

/* The last tick at which an event starts. */
static int64_t last_start(const struct sta_snapshot *snapshot)
{
    int64_t last = 0;
    for (size_t i = 0; i < sta_snapshot_block_count(snapshot); i++)
        last = STA_MAX(last, sta_snapshot_block(snapshot, i)->ts_max);
    return last;
}

static int count_bins(struct sta_axes *axes, const struct sta_view_question *question,
                      const struct sta_bound_question *bound, struct sta_error *err)
{
    int64_t g = question->granularity_us;
    if (g < 1 || g > STA_TIME_LIMIT / 1000) {
        sta_fail(err, STA_EINPUT, "granularity must be from 1 microsecond to %lld seconds",
                 (long long)(STA_TIME_LIMIT / 1000 / 1000000));
        return sta_at(err, "/granularity", -1);
    }
    axes->bin_ticks = g * bound->ticks_per_us;
    int64_t bins = last_start(bound->question->snapshot) / axes->bin_ticks + 1;
    if (bins > INT32_MAX) {
        sta_fail(
            err, STA_ELIMIT,
            "the trace has %lld bins of this granularity, more than a table tells apart; choose a larger one",
            (long long)bins);
        return sta_at(err, "/granularity", -1);
    }
    axes->count[STA_AXIS_TIME] = (uint32_t)bins;
    return 0;
}

static void rank_texts(struct sta_axes *axes, enum sta_axis axis)
{
    uint32_t count;
    axes->rank_of_code[axis] = sta_dictionary_ranks(axes->texts[axis], &count);
    axes->code_of_rank[axis] = sta_alloc_array((size_t)count + 1, sizeof *axes->code_of_rank[axis]);
    for (uint32_t code = 0; code < count; code++)
        axes->code_of_rank[axis][axes->rank_of_code[axis][code]] = code;
}

static unsigned bits_for(uint32_t count)
{
    return count < 2 ? 1 : 32 - (unsigned)__builtin_clz(count - 1);
}

static int pack(struct sta_axes *axes, struct sta_error *err)
{
    unsigned used = 0;
    for (int axis = STA_AXES - 1; axis >= 0; axis--) {
        axes->shift[axis] = used;
        axes->bits[axis] = axes->grouped[axis] ? bits_for(axes->count[axis]) : 0;
        used += axes->bits[axis];
    }
    if (used <= 63)
        return 0;
    sta_fail(err, STA_ELIMIT,
             "the trace has too many files, processes and bins for one table; choose a larger granularity or "
             "fewer "
             "view types");
    return sta_at(err, "/granularity", -1);
}

int sta_axes_init(struct sta_axes *axes, const struct sta_view_question *question,
                  const struct sta_bound_question *bound, struct sta_error *err)
{
    *axes = (struct sta_axes){0};
    int rc = choose(axes, question, err);
    if (rc == 0)
        rc = count_bins(axes, question, bound, err);
    if (rc != 0)
        return rc;
    axes->texts[STA_AXIS_FILE] = sta_columns_texts(bound->columns, STA_LOGICAL_file_name);
    axes->texts[STA_AXIS_PROC] = sta_columns_texts(bound->columns, STA_LOGICAL_proc_name);
    for (int axis = STA_AXIS_FILE; axis <= STA_AXIS_PROC; axis++) {
        axes->count[axis] = sta_dictionary_count(axes->texts[axis]);
        if (axes->grouped[axis])
            rank_texts(axes, axis);
    }
    return pack(axes, err);
}

void sta_axes_fini(struct sta_axes *axes)
{
    for (int axis = 0; axis < STA_AXES; axis++) {
        free(axes->rank_of_code[axis]);
        free(axes->code_of_rank[axis]);
    }
    *axes = (struct sta_axes){0};
}

struct sta_text sta_axes_text(const struct sta_axes *axes, enum sta_axis axis, uint32_t rank)
{
    return sta_dictionary_text(axes->texts[axis], axes->code_of_rank[axis][rank]);
}

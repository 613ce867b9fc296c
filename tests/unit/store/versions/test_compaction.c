/* Compaction: the same rows in fewer segments, whatever they were in; nothing of it when it is cancelled. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/memory.h"
#include "../sample.h"

static int go_on(void *context, uint64_t rows, uint64_t total, struct sta_error *err)
{
    unsigned *steps = context;
    cr_assert_leq(rows, total);
    if (steps != NULL && --*steps == 0)
        return sta_fail(err, STA_ECANCELLED, "cancelled");
    return STA_OK;
}

/* Return: whether anything was merged. */
static bool compact(struct scratch_store *scratch, bool all)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_account account;
    bool merged;
    sta_account_init(&account, (size_t)256 << 20, "memory", NULL);
    const struct sta_compaction compaction = {.all = all, .account = &account, .step = go_on};
    struct sta_snapshot *base = scratch_snapshot(scratch);
    cr_assert_eq(sta_store_compact(scratch->store, scratch->trace, base, &compaction, &merged, &err), STA_OK,
                 "%s", err.text);
    sta_snapshot_release(base);
    sta_account_fini(&account); /* all of it was released */
    return merged;
}

/* Each source by a refresh of its own: so many runs. */
static void publish_each(struct scratch_store *scratch, const struct sample *sample)
{
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_writer_options options = {.workers = 2, .memory = (size_t)8 << 20};
    struct sta_snapshot *base = NULL;
    for (uint32_t s = 0; s < sample->source_count; s++) {
        struct sta_writer *writer;
        bool *wanted = sta_alloc_array(sample->source_count, sizeof *wanted);
        wanted[s] = true;
        if (s == 0)
            writer = scratch_begin(scratch, 2, options.memory);
        else
            cr_assert_eq(
                sta_writer_begin(scratch->store, scratch->trace, base, NULL, &options, &writer, &err), STA_OK,
                "%s", err.text);
        sta_snapshot_release(base);
        sample_write(sample, writer, 2, wanted);
        cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
        base = scratch_snapshot(scratch);
        free(wanted);
    }
    sta_snapshot_release(base);
}

static unsigned segments_of(const struct scratch_store *scratch)
{
    unsigned count = 0;
    for (char *path; (path = scratch_file(scratch, ".segment", count)) != NULL; count++)
        free(path);
    return count;
}

/* Row groups ascend in time, through all segments. */
static void check_sorted(const struct sta_snapshot *snapshot)
{
    for (size_t b = 1; b < sta_snapshot_row_group_count(snapshot); b++)
        cr_assert_geq(sta_snapshot_row_group(snapshot, b)->ts_min,
                      sta_snapshot_row_group(snapshot, b - 1)->ts_max);
}

static void check_merging(const struct sample_shape *shape)
{
    struct scratch_store scratch;
    struct sample sample;
    scratch_open(&scratch);
    sample_init(&sample, shape);
    publish_each(&scratch, &sample);
    struct sta_snapshot *old = scratch_snapshot(&scratch);
    const struct sta_snapshot_info before = *sta_snapshot_info(old);
    sample_check(&sample, old, NULL);
    cr_assert(compact(&scratch, false));
    cr_assert_not(compact(&scratch, false));
    sample_check(&sample, old, NULL); /* whose files are gone by now */
    sta_snapshot_release(old);
    sample.merged = true;
    struct sta_snapshot *new = scratch_snapshot(&scratch);
    const struct sta_snapshot_info *after = sta_snapshot_info(new);
    sample_check(&sample, new, NULL);
    check_sorted(new);
    cr_assert_gt(after->version, before.version);
    cr_assert(after->published_us == before.published_us && after->events == before.events &&
              after->origin_ticks == before.origin_ticks && after->end_ticks == before.end_ticks &&
              after->ticks_per_us == before.ticks_per_us);
    sta_snapshot_release(new);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(compaction, says_the_same_of_plain_rows)
{
    check_merging(&(struct sample_shape){.seed = 1, .rows = 60000, .sources = 12, .chunk_rows = 700});
}

Test(compaction, says_the_same_of_wild_rows_in_nanoseconds)
{
    check_merging(&(struct sample_shape){
        .seed = 2, .rows = 40000, .sources = 9, .chunk_rows = 1000, .fractions = true, .wild = true});
}

Test(compaction, makes_several_segments_of_many_rows)
{
    const struct sample_shape shape = {.seed = 3, .rows = 700000, .sources = 10, .chunk_rows = 5000};
    check_merging(&shape);
}

Test(compaction, merges_all_when_asked_to)
{
    struct scratch_store scratch;
    struct sample sample;
    const struct sample_shape shape = {.seed = 4, .rows = 9000, .sources = 3, .chunk_rows = 500};
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    publish_each(&scratch, &sample);
    cr_assert_not(compact(&scratch, false), "three runs are left as they are");
    cr_assert(compact(&scratch, true));
    cr_assert_eq(segments_of(&scratch), 1);
    sample.merged = true;
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
    sample_fini(&sample);
}

/* 600 refreshes.  @between: with what the rule merges between them.  Return: the most segments at a time. */
static unsigned refresh_often(bool between)
{
    struct scratch_store scratch;
    struct sample sample;
    const struct sample_shape shape = {.seed = 5, .rows = 6000, .sources = 600, .chunk_rows = 10};
    struct sta_error err = STA_ERROR_INIT;
    const struct sta_writer_options options = {.workers = 1, .memory = (size_t)8 << 20};
    unsigned most = 0;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    bool *wanted = sta_alloc_array(shape.sources, sizeof *wanted);
    struct sta_writer *writer = scratch_begin(&scratch, 1, options.memory);
    for (uint32_t s = 0; s < shape.sources; s++) {
        wanted[s] = true;
        sample_write(&sample, writer, 1, wanted);
        cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
        wanted[s] = false;
        if (between)
            compact(&scratch, false);
        most = STA_MAX(most, segments_of(&scratch));
        struct sta_snapshot *base = scratch_snapshot(&scratch);
        cr_assert_eq(sta_writer_begin(scratch.store, scratch.trace, base, NULL, &options, &writer, &err),
                     STA_OK, "%s", err.text);
        sta_snapshot_release(base);
    }
    sta_writer_abort(writer);
    sample.merged = true;
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
    sample_fini(&sample);
    free(wanted);
    return most;
}

/* As an hourly refresh. */
Test(compaction, keeps_refreshes_to_few_segments)
{
    const unsigned most = refresh_often(true);
    cr_assert_lt(most, 40, "%u segments", most);
}

Test(compaction, refreshes_without_a_pause_merge_themselves)
{
    const unsigned most = refresh_often(false);
    cr_assert_lt(most, 60, "%u segments", most);
}

Test(compaction, cancelled_at_any_step_leaves_nothing)
{
    struct scratch_store scratch;
    struct sample sample;
    const struct sample_shape shape = {.seed = 6, .rows = 12000, .sources = 9, .chunk_rows = 500};
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    publish_each(&scratch, &sample);
    const unsigned files = scratch_file_count(&scratch);
    for (unsigned steps = 1;; steps += 3) {
        struct sta_error err = STA_ERROR_INIT;
        unsigned left = steps;
        bool merged;
        const struct sta_compaction compaction = {.step = go_on, .context = &left};
        struct sta_snapshot *base = scratch_snapshot(&scratch);
        int status = sta_store_compact(scratch.store, scratch.trace, base, &compaction, &merged, &err);
        sample_check(&sample, base, NULL);
        sta_snapshot_release(base);
        if (status == STA_OK)
            break;
        cr_assert_eq(status, STA_ECANCELLED);
        cr_assert_eq(scratch_file_count(&scratch), files);
    }
    cr_assert_lt(scratch_file_count(&scratch), files);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(compaction, carries_kept_values_over)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    const struct sample_shape shape = {.seed = 7, .rows = 900, .sources = 9, .chunk_rows = 100};
    char *bytes;
    size_t size;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    publish_each(&scratch, &sample);
    struct sta_snapshot *base = scratch_snapshot(&scratch);
    uint64_t version = sta_snapshot_info(base)->version;
    sta_snapshot_release(base);
    cr_assert_eq(sta_store_put_kept(scratch.store, scratch.trace, version, "it", "value", 5, &err), STA_OK);
    cr_assert(compact(&scratch, false));
    base = scratch_snapshot(&scratch);
    version = sta_snapshot_info(base)->version;
    sta_snapshot_release(base);
    cr_assert_eq(sta_store_get_kept(scratch.store, scratch.trace, version, "it", &bytes, &size, &err), STA_OK,
                 "%s", err.text);
    cr_assert(size == 5 && memcmp(bytes, "value", 5) == 0);
    free(bytes);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(compaction, is_refused_while_another_writes)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    const struct sample_shape shape = {.seed = 8, .rows = 900, .sources = 9, .chunk_rows = 100};
    const struct sta_writer_options options = {.workers = 1, .memory = (size_t)8 << 20};
    struct sta_writer *writer;
    bool merged;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    publish_each(&scratch, &sample);
    struct sta_snapshot *base = scratch_snapshot(&scratch);
    cr_assert_eq(sta_writer_begin(scratch.store, scratch.trace, base, NULL, &options, &writer, &err), STA_OK);
    const struct sta_compaction compaction = {.step = go_on};
    cr_assert_eq(sta_store_compact(scratch.store, scratch.trace, base, &compaction, &merged, &err),
                 STA_EBUSY);
    sta_writer_abort(writer);
    sta_snapshot_release(base);
    scratch_close(&scratch);
    sample_fini(&sample);
}

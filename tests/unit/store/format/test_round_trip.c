/* What was written is what is read: random traces through writer and snapshot. */
#include <criterion/criterion.h>
#include "../sample.h"

static void round_trip(const struct sample_shape *shape, unsigned workers, size_t memory)
{
    struct scratch_store scratch;
    struct sample sample;
    scratch_open(&scratch);
    sample_init(&sample, shape);
    scratch_publish(&scratch, &sample, workers, memory);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    snapshot = scratch_snapshot(&scratch);
    sample_check(&sample, snapshot, NULL);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(round_trip, one_row)
{
    round_trip(&(struct sample_shape){.seed = 1, .rows = 1, .sources = 1, .chunk_rows = 10}, 1, 1 << 20);
}

Test(round_trip, a_few_rows_of_everything)
{
    for (uint32_t rows = 2; rows < 40; rows++)
        round_trip(&(struct sample_shape){.seed = rows,
                                          .rows = rows,
                                          .sources = 2,
                                          .chunk_rows = 5,
                                          .wild = true,
                                          .fractions = rows % 2},
                   2, 1 << 20);
}

Test(round_trip, several_blocks_and_sources)
{
    round_trip(&(struct sample_shape){.seed = 3, .rows = 120000, .sources = 4, .chunk_rows = 9000}, 3,
               256 << 20);
}

Test(round_trip, a_segment_per_batch_when_memory_is_short)
{
    round_trip(&(struct sample_shape){.seed = 4, .rows = 40000, .sources = 3, .chunk_rows = 3000}, 2, 0);
}

Test(round_trip, nanoseconds)
{
    round_trip(
        &(struct sample_shape){.seed = 5, .rows = 50000, .sources = 2, .chunk_rows = 7000, .fractions = true},
        2, 256 << 20);
}

Test(round_trip, extremes_mixed_kinds_and_more_names_than_keys)
{
    round_trip(
        &(struct sample_shape){.seed = 6, .rows = 100000, .sources = 3, .chunk_rows = 20000, .wild = true}, 2,
        256 << 20);
    round_trip(
        &(struct sample_shape){
            .seed = 7, .rows = 60000, .sources = 5, .chunk_rows = 700, .wild = true, .fractions = true},
        4, 8 << 20);
}

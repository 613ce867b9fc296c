/* Robust statistics, unions, epochs and steps of a rank, on numbers worked out by hand. */
#include <criterion/criterion.h>
#include <math.h>

#include "findings/access_extents.h"
#include "findings/epochs.h"
#include "findings/figures.h"
#include "findings/robust.h"
#include "common/memory.h"

/* ---- robust statistics */

Test(robust, median_of_odd_and_even_counts)
{
    double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};
    cr_assert_eq(sta_median(odd, 3), 5);
    cr_assert_eq(sta_median(even, 4), 2.5);
    cr_assert_eq(sta_median(one, 1), 7);
}

Test(robust, one_outlier_moves_neither_median_nor_scale)
{
    double values[] = {10, 12, 11, 13, 1000};
    const struct sta_robust robust = sta_robust_of(values, 5, 0.001);
    cr_assert_eq(robust.median, 12);
    cr_assert_eq(robust.mad, 1);
    cr_assert_eq(robust.scale, 1);
    cr_assert_float_eq(sta_robust_z(&robust, 1000), 0.6745 * 988, 1e-9);
    cr_assert_float_eq(sta_robust_z(&robust, 12), 0, 1e-12);
    cr_assert_lt(sta_robust_z(&robust, 10), 0);
}

Test(robust, equal_members_get_a_scale_of_one_per_cent)
{
    double values[] = {200, 200, 200, 211};
    const struct sta_robust robust = sta_robust_of(values, 4, 0.5);
    cr_assert_eq(robust.mad, 0);
    cr_assert_eq(robust.scale, 2);
    cr_assert_gt(sta_robust_z(&robust, 211), STA_OUTLIER); /* 5.5 % off */
    cr_assert_lt(sta_robust_z(&robust, 210), STA_OUTLIER); /* 5.0 % off */
}

Test(robust, the_floor_is_the_least_scale)
{
    double values[] = {0, 0, 0}, negative[] = {-300, -300, -300};
    cr_assert_eq(sta_robust_of(values, 3, 4096).scale, 4096);
    cr_assert_eq(sta_robust_of(negative, 3, 0).scale, 3);
}

/* ---- unions */

Test(moments, lengths_within_windows)
{
    struct sta_interval items[] = {{10, 20}, {30, 40}, {50, 55}};
    const struct sta_moments moments = {items, 3}, none = {NULL, 0};
    cr_assert_eq(sta_moments_length(&moments), 25);
    cr_assert_eq(sta_moments_within(&moments, INT64_MIN, INT64_MAX), 25);
    cr_assert_eq(sta_moments_within(&moments, 15, 35), 10);
    cr_assert_eq(sta_moments_within(&moments, 20, 30), 0);
    cr_assert_eq(sta_moments_within(&moments, 54, 1000), 1);
    cr_assert_eq(sta_moments_within(&moments, 40, 10), 0);
    cr_assert_eq(sta_moments_within(&none, 0, 10), 0);
}

/* ---- epochs and steps */

#define EPOCH (STA_PHASE_BIT(STA_PHASE_epoch) | STA_PHASE_BIT(STA_PHASE_training))
#define STEP (STA_PHASE_BIT(STA_PHASE_step) | STA_PHASE_BIT(STA_PHASE_compute))

static struct sta_phase_event event(uint32_t phases, int64_t from, int64_t to, int64_t epoch, int64_t step)
{
    return (struct sta_phase_event){.phases = phases, .from = from, .to = to, .epoch = epoch, .step = step};
}

static void free_rank(struct sta_rank *rank)
{
    void *const parts[] = {rank->compute.items, rank->training.items, rank->checkpoint.items, rank->epochs,
                           rank->steps};
    for (size_t i = 0; i < STA_COUNT_OF(parts); i++)
        sta_account_free(NULL, parts[i]);
}

static struct sta_rank build(const struct sta_phase_event *events, size_t count)
{
    struct sta_rank rank = {0};
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_rank_build(&rank, events, count, NULL, &err), STA_OK, "%s", err.text);
    return rank;
}

static void expect_step(const struct sta_rank *rank, size_t place, int64_t epoch, int64_t number,
                        int64_t from, int64_t to)
{
    cr_assert_lt(place, rank->step_count);
    const struct sta_step *step = &rank->steps[place];
    cr_assert(step->epoch == epoch && step->number == number && step->from == from && step->to == to,
              "step %zu: epoch %ld, number %ld, [%ld, %ld)", place, (long)step->epoch, (long)step->number,
              (long)step->from, (long)step->to);
}

Test(epochs, steps_tile_their_epoch)
{
    const struct sta_phase_event events[] = {
        event(EPOCH, 0, 100, 3, STA_NO_NUMBER), event(STEP, 10, 30, STA_NO_NUMBER, 1),
        event(STEP, 40, 60, STA_NO_NUMBER, 2), event(EPOCH, 100, 200, 5, STA_NO_NUMBER),
        event(STEP, 120, 200, STA_NO_NUMBER, 1)};
    struct sta_rank rank = build(events, STA_COUNT_OF(events));
    cr_assert_eq(rank.epoch_count, 2);
    cr_assert_eq(rank.epochs[0].number, 3);
    cr_assert_eq(rank.epochs[1].number, 5);
    cr_assert_eq(rank.step_count, 5);
    expect_step(&rank, 0, 3, 1, 0, 30);
    expect_step(&rank, 1, 3, 2, 30, 60);
    expect_step(&rank, 2, 3, 0, 60, 100);
    expect_step(&rank, 3, 5, 1, 100, 200);
    expect_step(&rank, 4, 5, 0, 200, 200);
    cr_assert_eq(rank.steps[0].compute, 20);
    cr_assert_eq(sta_moments_length(&rank.training), 200);
    cr_assert_eq(sta_rank_epoch_behind(&rank, 99), 0);
    cr_assert_eq(sta_rank_epoch_behind(&rank, 100), 1);
    cr_assert_eq(sta_rank_epoch_behind(&rank, 200), 2);
    free_rank(&rank);
}

Test(epochs, nested_and_repeated_ones_are_dropped)
{
    const struct sta_phase_event events[] = {
        event(EPOCH, 0, 100, 1, STA_NO_NUMBER), event(EPOCH, 0, 100, 1, STA_NO_NUMBER),
        event(EPOCH, 20, 90, 2, STA_NO_NUMBER), event(EPOCH, 80, 150, 1, STA_NO_NUMBER)};
    struct sta_rank rank = build(events, STA_COUNT_OF(events));
    cr_assert_eq(rank.epoch_count, 2);
    cr_assert(rank.epochs[0].from == 0 && rank.epochs[0].to == 80); /* ends where the next one begins */
    cr_assert(rank.epochs[1].from == 80 && rank.epochs[1].to == 150);
    cr_assert(rank.epochs[0].number == 1 && rank.epochs[1].number == 2); /* equal numbers: counted instead */
    free_rank(&rank);
}

Test(epochs, steps_without_numbers_are_unions)
{
    const struct sta_phase_event events[] = {
        event(EPOCH, 0, 100, STA_NO_NUMBER, STA_NO_NUMBER), event(STEP, 10, 30, STA_NO_NUMBER, STA_NO_NUMBER),
        event(STEP, 25, 35, STA_NO_NUMBER, STA_NO_NUMBER), event(STEP, 50, 60, STA_NO_NUMBER, STA_NO_NUMBER)};
    struct sta_rank rank = build(events, STA_COUNT_OF(events));
    cr_assert_eq(rank.step_count, 3);
    expect_step(&rank, 0, 1, 1, 0, 35);
    expect_step(&rank, 1, 1, 2, 35, 60);
    expect_step(&rank, 2, 1, 0, 60, 100);
    free_rank(&rank);
}

Test(epochs, a_rank_without_events_has_none)
{
    struct sta_rank rank = build(NULL, 0);
    cr_assert(rank.epoch_count == 0 && rank.step_count == 0 && sta_moments_length(&rank.compute) == 0);
    free_rank(&rank);
}

/* Two jobs in one trace, a third rank that joins the second of them, and an epoch of its own. */
Test(epochs, are_shared_by_ranks_that_run_at_the_same_time)
{
    struct sta_epoch early[] = {{.number = 1, .from = 0, .to = 10}, {.number = 2, .from = 10, .to = 20}};
    struct sta_epoch also[] = {{.number = 1, .from = 9, .to = 12}, {.number = 2, .from = 12, .to = 19}};
    struct sta_epoch late[] = {{.number = 1, .from = 12, .to = 30}, {.number = 3, .from = 30, .to = 31}};
    struct sta_rank ranks[] = {{.epochs = late, .epoch_count = 2},
                               {.epochs = early, .epoch_count = 2},
                               {.epochs = also, .epoch_count = 2}};
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, (size_t)1 << 20, "memory", NULL);
    struct sta_phases phases = {.ranks = ranks, .rank_count = 3, .account = &account};
    cr_assert_eq(sta_epoch_numbers(&phases, &err), STA_OK);
    const int64_t numbers[] = {1, 2, 3};
    cr_assert_eq(phases.number_count, 3);
    cr_assert_arr_eq(phases.numbers, numbers, sizeof numbers);
    cr_assert_eq(early[0].shared, also[0].shared);
    cr_assert_eq(early[1].shared, also[1].shared);
    cr_assert_neq(early[0].shared, late[0].shared, "it begins when the others have ended");
    cr_assert_neq(early[0].shared, early[1].shared);
    cr_assert_neq(late[1].shared, early[1].shared);
    sta_account_free(&account, phases.numbers);
    sta_account_fini(&account);
}

/* ---- sentences */

Test(sentences, have_figures_that_a_reader_can_take_in)
{
    static const struct {
        double value;
        const char *unit, *text;
    } cases[] = {{156.2, "s", "156 s"},
                 {599.4, "s", "599 s"},
                 {599.6, "s", "10 min"},
                 {1000, "s", "16 min 40 s"},
                 {3599.4, "s", "59 min 59 s"},
                 {3599.6, "s", "1 h"},
                 {27844, "s", "7 h 44 min"},
                 {-27844, "s", "-7 h 44 min"},
                 {12345678, "s", "3,429 h"},
                 {0.0045, "s", "4.5 ms"},
                 {2.5, "x", "2.50 x"},
                 {12.34, "x", "12.3 x"},
                 {220, "x", "220 x"},
                 {4.797, "%", "479.7 %"},
                 {2885.761, "%", "288,576 %"},
                 {1536, "B", "1.5 KiB"},
                 {2.0 * 1048576, "B/s", "2.0 MiB/s"}};
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        struct sta_figure_list figures = {0};
        struct sta_buffer out;
        char sentence[20];
        snprintf(sentence, sizeof sentence, "{f:%s}", cases[i].unit);
        sta_figure_number(&figures, NULL, "f", cases[i].value);
        sta_buffer_init(&out);
        sta_figures_put(&figures, sentence, &out);
        sta_put_char(&out, '\0');
        cr_assert_str_eq(out.data, cases[i].text);
        sta_buffer_fini(&out);
        sta_figures_fini(&figures);
    }
}

/* ---- extents */

#define FILE_BYTES 3000
#define PLACES 3

Test(extents, unite_to_the_bytes_that_were_moved)
{
    static bool moved[PLACES][FILE_BYTES];
    struct sta_account account;
    struct sta_error err = STA_ERROR_INIT;
    sta_account_init(&account, (size_t)8 << 20, "memory", NULL);
    const struct sta_budget budget = {.account = &account};
    struct sta_extents extents = {0};
    uint64_t random = 7;
    for (size_t i = 0; i < 200000; i++) { /* as a list of calls they would not fit */
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint64_t place = (random >> 33) % PLACES;
        const int64_t from = (int64_t)((random >> 40) % (FILE_BYTES / 2)) * 2;
        const int64_t to = STA_MIN(from + (int64_t)((random >> 60) & 1), FILE_BYTES);
        cr_assert_eq(sta_extents_add(&extents, (struct sta_extent){place, from, to}, &budget, &err), STA_OK);
        for (int64_t byte = from; byte < to; byte++)
            moved[place][byte] = true;
    }
    cr_assert_eq(sta_extents_unite(&extents, &budget, &err), STA_OK);
    static bool found[PLACES][FILE_BYTES];
    for (size_t i = 0; i < extents.count; i++) {
        const struct sta_extent *extent = &extents.items[i];
        cr_assert(i == 0 || extent[-1].place < extent->place || extent[-1].to < extent->from);
        for (int64_t byte = extent->from; byte < extent->to; byte++)
            found[extent->place][byte] = true;
    }
    cr_assert_arr_eq(moved, found, sizeof moved);
    sta_extents_fini(&extents, &account);
    sta_account_fini(&account);
}

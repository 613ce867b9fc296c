/* Alignments of rows whose figures can be checked by hand. */
#include <criterion/criterion.h>
#include <math.h>

#include "simulate/align_private.h"
#include "simulate/simulate.h"

static const struct sta_budget budget = {.workers = 1, .memory = 1 << 30};

/* Two GPUs: the second fetches 2 s longer, from the same start. */
static struct sta_align_input two_gpus(size_t rows)
{
    struct sta_align_input input;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_align_input_init(&input, 2, rows, NULL, &err), 0);
    for (size_t row = 0; row < rows; row++) {
        input.epoch[row] = 1;
        input.index[row] = (int64_t)row;
        for (size_t g = 0; g < 2; g++) {
            const size_t at = row * 2 + g;
            input.start[at] = INT64_C(1000000000) * (int64_t)(100 + 10 * row);
            input.fetch[at] = g == 0 ? 3.0 : 5.0;
            input.arrival[at] = input.start[at] + INT64_C(6000000000);
            input.stall[at] = g == 0 ? 0.5 : 2.5;
            input.iteration[at] = 3.5;
        }
    }
    return input;
}

Test(align, fetches_as_long_as_the_shortest_take_their_stall_away)
{
    struct sta_align_input input = two_gpus(3);
    struct sta_alignments all = sta_alignments_all();
    struct sta_aligned aligned;
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_aligned_init(&aligned, &input, &err), 0);
    cr_assert_eq(sta_align_run(&input, &all.fetch[2], &all.start[0], &budget, &aligned, &err), 0);
    cr_assert_float_eq(aligned.stall[0], 0.5, 1e-12);
    cr_assert_float_eq(aligned.stall[1], 0.5, 1e-12);
    cr_assert_float_eq(aligned.time[0], 1.5, 1e-12);
    cr_assert_float_eq(aligned.delay[0], 0, 1e-12);
    cr_assert_eq(aligned.fetch_diff[0], 0);
    sta_aligned_fini(&aligned);
    sta_align_input_fini(&input);
}

Test(align, a_stall_that_would_be_negative_is_two_microseconds_and_a_small_one_does_not_grow)
{
    struct sta_align_input input = two_gpus(1);
    struct sta_alignments all = sta_alignments_all();
    struct sta_aligned aligned;
    struct sta_error err = STA_ERROR_INIT;
    input.stall[0] = 0.01;
    input.stall[1] = 0.3;
    cr_assert_eq(sta_aligned_init(&aligned, &input, &err), 0);
    cr_assert_eq(sta_align_run(&input, &all.fetch[1], &all.start[0], &budget, &aligned, &err), 0);
    cr_assert_eq(aligned.stall[0], 0.01, "later by a second, but hidden");
    cr_assert_eq(aligned.stall[1], 0.000002, "earlier by a second");
    sta_aligned_fini(&aligned);
    sta_align_input_fini(&input);
}

Test(align, nothing_aligned_is_the_run_as_it_was)
{
    struct sta_align_input input = two_gpus(12);
    struct sta_alignments all = sta_alignments_all();
    struct sta_error err = STA_ERROR_INIT;
    struct sta_table table;
    cr_assert_eq(sta_align_table(&input, &all, 2, &budget, &table, &err), 0);
    cr_assert_eq(table.rows, 9);
    cr_assert_eq(sta_table_find(&table, "n")->integers[0], 10);
    cr_assert_float_eq(sta_table_find(&table, "iteration_sum")->numbers[0], 35.0, 1e-12);
    cr_assert_eq(sta_table_find(&table, "speedup")->numbers[0], 1.0);
    cr_assert(sta_table_find(&table, "speedup")->numbers[8] > 2.0);
    sta_table_fini(&table);
    sta_align_input_fini(&input);
}

Test(align, nanoseconds_are_cut_after_nine_digits)
{
    cr_assert_eq(sta_align_ns(0), 0);
    cr_assert_eq(sta_align_ns(1.5), 1500000000);
    cr_assert(llabs(sta_align_ns(7.7982267652898) - INT64_C(7798226765)) <= 1);
}

static void take(struct sta_training_log *log, const char *text)
{
    struct sta_source source = {0};
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_training_log_add(log, text, strlen(text), &source, &err), 0);
    sta_source_fini(&source);
}

/* GPU 1 lacks the iteration of batch 1: that batch is left out, and no other one shifts. */
Test(align, a_batch_that_a_gpu_lacks_is_left_out)
{
    struct sta_training_log log;
    struct sta_align_input input;
    struct sta_error err = STA_ERROR_INIT;
    char line[200];
    sta_training_log_init(&log, NULL);
    for (int epoch = 0; epoch < 2; epoch++)
        for (int k = 0; k < 3; k++)
            for (int gpu = 0; gpu < 2; gpu++) {
                snprintf(line, sizeof line,
                         "2021-09-01 19:48:%02d.100 DEBUG:\tGPU: %d worker_id: 0, END FETCH at_time 0.%d "
                         "data idx%d\n",
                         10 * epoch + k, gpu, k + 1, k);
                take(&log, line);
                snprintf(line, sizeof line,
                         "2021-09-01 19:48:%02d GPU: %d Epoch: [%d][%d/3]\tTime 1.0\tData 0.%d\n",
                         10 * epoch + k + 1, gpu, epoch, k, k + 1);
                if (!(epoch == 1 && k == 1 && gpu == 1))
                    take(&log, line);
            }
    cr_assert_eq(sta_align_of_log(&log, 1, &budget, &input, &err), 0, "%s", err.text);
    cr_assert_eq(input.rows, 2);
    cr_assert_eq(input.index[0], 0);
    cr_assert_eq(input.index[1], 2);
    cr_assert_float_eq(input.stall[2], 0.3, 1e-12);
    sta_align_input_fini(&input);
    sta_training_log_fini(&log);
}

Test(align, a_log_without_iterations_is_refused)
{
    struct sta_training_log log;
    struct sta_align_input input;
    struct sta_error err = STA_ERROR_INIT;
    sta_training_log_init(&log, NULL);
    take(&log, "2021-09-01 19:48:54.510 DEBUG:\tGPU: 3 worker_id: 1, END FETCH at_time 7.5 data idx1\n");
    cr_assert_eq(sta_align_of_log(&log, 1, &budget, &input, &err), STA_EUNFIT);
    cr_assert_str_eq(err.reason, "no-iterations");
    sta_training_log_fini(&log);
}

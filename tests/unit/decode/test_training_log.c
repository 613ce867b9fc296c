/* Lines of training logs: taken, or counted with a reason. */
#include <criterion/criterion.h>
#include <string.h>

#include "common/memory.h"
#include "decode/decode.h"

static enum sta_log_line_kind read_line(const char *line, struct sta_log_record *record)
{
    const char *reason;
    return sta_log_line(line, strlen(line), record, &reason);
}

Test(training_log, a_fetch_starts_its_duration_before_its_line)
{
    struct sta_log_record record;
    cr_assert_eq(read_line("2021-09-01 19:48:54.841 DEBUG:\tGPU: 2 worker_id: 7, END FETCH at_time "
                           "8.112918319180608 data idx12",
                           &record),
                 STA_LOG_FETCH);
    cr_assert(record.gpu == 2 && record.worker == 7 && record.index == 12);
    cr_assert_eq(record.seconds, 8.112918319180608);
    cr_assert_eq(record.time_us, INT64_C(1630525734841000));
    cr_assert_eq(record.start_us, INT64_C(1630525726728082));
}

Test(training_log, an_iteration_may_have_a_blank_in_its_step_and_no_fraction_in_its_time)
{
    struct sta_log_record record;
    cr_assert_eq(
        read_line("2021-09-01 19:48:55 GPU: 0 Epoch: [1][  0/851]\tTime 9.777588 (9.7)\tData 8.596788 "
                  "(8.5)\tThroughput 52.365 (52.365)",
                  &record),
        STA_LOG_ITERATION);
    cr_assert(record.epoch == 1 && record.index == 0 && record.time_us == INT64_C(1630525735000000));
    cr_assert(record.seconds == 9.777588 && record.stall == 8.596788 && record.throughput == 52.365);
    cr_assert_eq(read_line("2021-09-01 19:48:55.5 GPU: 3 Epoch: [2][850/851] Time 1 Data 0.5", &record),
                 STA_LOG_ITERATION);
    cr_assert(record.epoch == 2 && record.index == 850 && record.gpu == 3);
}

Test(training_log, other_lines_are_left_alone_and_damaged_ones_say_why)
{
    static const struct {
        const char *line;
        enum sta_log_line_kind kind;
    } lines[] = {
        {"", STA_LOG_BLANK},
        {" \t\r", STA_LOG_BLANK},
        {"Epoch: finished", STA_LOG_OTHER},
        {"=> creating model 'resnet50'", STA_LOG_OTHER},
        {"2021-09-01 19:48:54.841 DEBUG:\tGPU: 2 worker_id: 7, END FETCH at_time", STA_LOG_DAMAGED},
        {"2021-09-01 19:48:54.841 DEBUG:\tGPU: x worker_id: 7, END FETCH at_time 1 data idx1",
         STA_LOG_DAMAGED},
        {"2021-13-01 19:48:54.841 DEBUG:\tGPU: 2 worker_id: 7, END FETCH at_time 1 data idx1",
         STA_LOG_DAMAGED},
        {"2021-09-01 19:48:54.841 DEBUG: worker_id: 7, END FETCH at_time -1 data idx1", STA_LOG_DAMAGED},
        {"2021-09-01 19:48:54.841 DEBUG: worker_id: 7, END FETCH at_time 1 data idx99999999999999",
         STA_LOG_DAMAGED},
        {"END FETCH at_time", STA_LOG_DAMAGED},
        {"2021-02-29 19:48:55 GPU: 0 Epoch: [1][0/851] Time 1 Data 1", STA_LOG_DAMAGED},
        {"2100-01-01 00:00:00 GPU: 0 Epoch: [1][0/851] Time 1 Data 1", STA_LOG_DAMAGED},
        {"2021-09-01 19:48:55 GPU: 0 Epoch: [1][0/851] Time 1", STA_LOG_DAMAGED},
        {"2021-09-01 19:48:55 GPU: 0 Epoch: [1][", STA_LOG_DAMAGED},
        {"2021-09-01 19:48:55 GPU: 0 Epoch: [1]", STA_LOG_DAMAGED},
        {"2021-09-01 19:48:55 GPU: 0 Epoch:", STA_LOG_DAMAGED},
        {"GPU: 0 Epoch: [1][0/851] Time 1 Data 1", STA_LOG_DAMAGED},
        {",Time,GPU,Epoch,Step,Iteration time (sec),Training stall time (sec),Throughput (image/sec)",
         STA_LOG_HEADING},
        {"0,2021-09-01 19:48:55.455679,0,0,0,9.771082,8.753481,52.400", STA_LOG_ITERATION},
        {"0,2021-09-01 19:48:55.455679,0,0,0,9.771082,,52.400", STA_LOG_DAMAGED},
        {"2,2021-09-01 19:48:46.715790,2021-09-01 19:48:54.853,0,2,2,8.1372104704126,0.0", STA_LOG_FETCH},
    };
    for (size_t i = 0; i < STA_COUNT_OF(lines); i++) {
        struct sta_log_record record;
        const char *reason;
        enum sta_log_line_kind kind = sta_log_line(lines[i].line, strlen(lines[i].line), &record, &reason);
        cr_assert_eq(kind, lines[i].kind, "%s", lines[i].line);
        cr_assert_eq(reason != NULL, kind == STA_LOG_DAMAGED, "%s", lines[i].line);
    }
}

Test(training_log, every_line_is_counted_and_epochs_are_counted_by_gpu)
{
    static const char text[] =
        "2021-09-01 19:48:54.1 DEBUG: GPU: 0 worker_id: 0, END FETCH at_time 1 data idx1\n"
        "2021-09-01 19:48:54.2 DEBUG: GPU: 1 worker_id: 0, END FETCH at_time 1 data idx0\n"
        "noise\n\n"
        "2021-09-01 19:48:54.3 DEBUG: GPU: 0 worker_id: 0, END FETCH at_time 1 data idx0\n"
        "2021-09-01 19:48:54.4 DEBUG: GPU: 0 worker_id: 0, END FETCH at_time x data idx0\n"
        "2021-09-01 19:48:54.5 DEBUG: GPU: 0 worker_id: 0, END FETCH at_time 1 data idx0";
    struct sta_training_log log;
    struct sta_source source = {0};
    struct sta_error err = STA_ERROR_INIT;
    sta_training_log_init(&log, NULL);
    cr_assert_eq(sta_training_log_add(&log, text, strlen(text), &source, &err), 0);
    sta_training_log_end(&log);
    cr_assert(source.counts.lines == 7 && source.counts.events == 4 && source.counts.other == 1 &&
              source.counts.blank == 1 && source.counts.malformed == 1);
    cr_assert_eq(source.counts.json_bytes, strlen(text));
    cr_assert_eq(source.malformed.items[0].line, 6);
    const int64_t epochs[] = {0, 0, 0, 1};
    for (size_t i = 0; i < 4; i++)
        cr_assert_eq(log.fetches.items[i].epoch, epochs[i], "fetch %zu", i);
    sta_source_fini(&source);
    sta_training_log_fini(&log);
}

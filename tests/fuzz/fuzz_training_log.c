/* Training logs: any bytes are lines that are taken or counted, and what is taken can be joined into rows.
 * Rows of the joined tables have as many cells as they say, and nothing is read beyond them. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "decode/decode.h"
#include "decode/training_tables.h"
#include "simulate/simulate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_joined_row(const char *line, size_t length)
{
    struct sta_joined_row row;
    if (!sta_joined_row_begin(line, length, &row))
        return;
    STA_ASSERT(row.gpus >= 1 && row.gpus <= STA_LOG_GPUS && row.epoch >= 0 && row.index >= 0);
    for (uint32_t gpu = 0; gpu < row.gpus; gpu++) {
        const struct sta_text cell = sta_joined_row_cell(&row);
        STA_ASSERT(cell.bytes >= line && cell.bytes + cell.length <= line + length);
        STA_ASSERT(memchr(cell.bytes, ',', cell.length) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sta_budget budget = {.workers = 1, .memory = 1 << 26};
    struct sta_training_log log;
    struct sta_source source = {0};
    struct sta_align_input input;
    struct sta_error err = STA_ERROR_INIT;
    read_joined_row((const char *)data, size);
    sta_training_log_init(&log, NULL);
    STA_ASSERT(sta_training_log_add(&log, (const char *)data, size, &source, &err) == STA_OK);
    const struct sta_ledger_counts *counts = &source.counts;
    STA_ASSERT(counts->json_bytes == size);
    STA_ASSERT(counts->lines ==
               counts->events + counts->metadata + counts->other + counts->blank + counts->malformed);
    STA_ASSERT(counts->events == log.fetches.count + log.iterations.count);
    if (sta_align_of_log(&log, 1, &budget, &input, &err) == STA_OK) {
        struct sta_alignments all = sta_alignments_all();
        struct sta_table table;
        STA_ASSERT(sta_align_table(&input, &all, 0, &budget, &table, &err) == STA_OK);
        sta_table_fini(&table);
        sta_align_input_fini(&input);
    }
    sta_training_log_fini(&log);
    sta_source_fini(&source);
    return 0;
}

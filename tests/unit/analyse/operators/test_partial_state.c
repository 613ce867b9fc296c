/* What leaves the process: states that are damaged, cut off or another query's are refused, and so is a
 * spill file that was written over. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/operators/spill.h"
#include "common/memory.h"
#include "aggregate_model.h"

#define PLENTY ((size_t)1 << 30)

static const enum model_column keys[] = {NAME, SMALL, NUMBER};
static const struct sta_budget budget = {.workers = 1, .memory = PLENTY};
static const struct model_run run = {
    .seed = 3, .workers = 2, .dictionaries = 2, .memory = PLENTY, .shards = 1};

static void make_state(struct model *model, struct sta_buffer *bytes)
{
    static const struct model_options options = {
        .seed = 11, .rows = 300, .names = 40, .missing = 10, .spread = 9, .extremes = true};
    model_init(model, &options);
    model->keys = keys;
    model->key_count = STA_COUNT_OF(keys);
    model->keep_missing = true;
    sta_buffer_init(bytes);
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(model_write_state(model, &run, 0, bytes, &err), 0, "%s", err.text);
}

static int read_state(const struct model *model, const char *bytes, size_t size, struct sta_error *err)
{
    struct sta_aggregation *grouping = model_create(model, &budget);
    int rc = model_read_state(grouping, bytes, size, err);
    sta_aggregation_destroy(grouping);
    return rc;
}

Test(partial_state, a_byte_that_is_wrong_anywhere_is_found)
{
    struct model model;
    struct sta_buffer bytes;
    make_state(&model, &bytes);
    for (size_t at = 0; at < bytes.size; at += 1 + at / 300) {
        struct sta_error err = STA_ERROR_INIT;
        bytes.data[at] ^= 0x10;
        cr_assert_eq(read_state(&model, bytes.data, bytes.size, &err), STA_ECORRUPT, "at %zu", at);
        cr_assert_neq(err.text[0], 0);
        bytes.data[at] ^= 0x10;
    }
    struct sta_error err = STA_ERROR_INIT;
    cr_expect_eq(read_state(&model, bytes.data, bytes.size, &err), 0, "%s", err.text);
    sta_buffer_fini(&bytes);
    model_fini(&model);
}

Test(partial_state, one_that_is_cut_off_is_refused)
{
    struct model model;
    struct sta_buffer bytes;
    make_state(&model, &bytes);
    cr_assert_gt(bytes.size, 8192, "several frames");
    for (size_t size = 0; size < bytes.size; size += 1 + size / 100) {
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(read_state(&model, bytes.data, size, &err), STA_ECORRUPT, "%zu bytes", size);
    }
    sta_buffer_fini(&bytes);
    model_fini(&model);
}

Test(partial_state, frames_in_another_order_are_refused)
{
    struct model model;
    struct sta_buffer bytes;
    struct sta_error err = STA_ERROR_INIT;
    char frame[8192];
    make_state(&model, &bytes);
    cr_assert_gt(bytes.size, 3 * sizeof frame);
    memcpy(frame, bytes.data, sizeof frame);
    memmove(bytes.data, bytes.data + sizeof frame, sizeof frame);
    memcpy(bytes.data + sizeof frame, frame, sizeof frame);
    cr_expect_eq(read_state(&model, bytes.data, bytes.size, &err), STA_ECORRUPT);
    sta_buffer_fini(&bytes);
    model_fini(&model);
}

Test(partial_state, that_of_another_query_is_refused)
{
    struct model model;
    struct sta_buffer bytes;
    struct sta_error err = STA_ERROR_INIT;
    make_state(&model, &bytes);
    model.key_count--;
    cr_expect_eq(read_state(&model, bytes.data, bytes.size, &err), STA_ECORRUPT);
    model.key_count++;
    model.primitives[0].aggregate = STA_AGGREGATE_COUNT;
    cr_expect_eq(read_state(&model, bytes.data, bytes.size, &err), STA_ECORRUPT);
    cr_expect(strstr(err.text, "another query") != NULL, "%s", err.text);
    sta_buffer_fini(&bytes);
    model_fini(&model);
}

/* Whoever would unite them reads the rows instead. */
Test(partial_state, one_that_takes_longer_than_reading_the_rows_is_not_written)
{
    struct model_run hasty = run;
    static const struct model_options options = {.seed = 5, .rows = 100000, .names = 40, .spread = 1000000};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer bytes;
    struct model model;
    model_init(&model, &options);
    model.keys = keys;
    sta_buffer_init(&bytes);
    model.key_count = STA_COUNT_OF(keys);
    cr_expect_eq(model_write_state(&model, &hasty, 0, &bytes, &err), 0, "%s", err.text);
    hasty.read_at_once = true;
    cr_expect_eq(model_write_state(&model, &hasty, 0, &bytes, &err), STA_EOUTDATED);
    cr_expect(strstr(err.text, "groups") != NULL, "%s", err.text);
    sta_buffer_fini(&bytes);
    model_fini(&model);
}

/* ---- spill files */

/* The open file of that size. */
static int find_file(off_t size)
{
    int found = -1;
    for (int fd = 3; fd < 256; fd++) {
        struct stat file;
        if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == size)
            found = fd;
    }
    return found;
}

Test(partial_state, bytes_of_a_spill_file_come_back_whatever_their_place)
{
    enum { BYTES = 700001 };
    struct sta_error err = STA_ERROR_INIT;
    struct sta_spill *spill;
    uint64_t state = 5;
    uint8_t *bytes = sta_alloc(BYTES), *back = sta_alloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)model_random(&state);
    cr_assert_eq(sta_spill_create(".", &spill, &err), 0);
    for (size_t at = 0, size; at < BYTES; at += size) {
        const size_t most = model_random(&state) % 3 == 0 ? 100000 : 300;
        size = 1 + model_random(&state) % STA_MIN(most, BYTES - at);
        cr_assert_eq(sta_spill_write(spill, bytes + at, size, &err), 0);
        const uint64_t from = model_random(&state) % (at + size);
        const size_t count = model_random(&state) % (at + size - from + 1);
        cr_assert_eq(sta_spill_read(spill, from, back, count, &err), 0, "%s", err.text);
        cr_assert(memcmp(back, bytes + from, count) == 0, "%zu bytes at %lu", count, (unsigned long)from);
    }
    cr_expect_eq(sta_spill_read(spill, 0, back, BYTES, &err), 0);
    cr_expect(memcmp(back, bytes, BYTES) == 0);
    sta_spill_destroy(spill);
    free(bytes);
    free(back);
}

Test(partial_state, a_spill_file_that_is_written_over_is_found)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_spill *spill;
    static char bytes[50000];
    cr_assert_eq(sta_spill_create(".", &spill, &err), 0);
    cr_assert_eq(sta_spill_write(spill, bytes, sizeof bytes, &err), 0);
    const int fd = find_file(6 * 8192);
    cr_assert_geq(fd, 0);
    cr_assert_eq(pwrite(fd, "x", 1, 20000), 1);
    cr_expect_eq(sta_spill_read(spill, 0, bytes, 10000, &err), 0);
    cr_expect_eq(sta_spill_read(spill, 30000, bytes, 10000, &err), 0);
    cr_expect_eq(sta_spill_read(spill, 19000, bytes, 100, &err), STA_EIO, "the same frame");
    cr_expect(strstr(err.text, "damaged") != NULL, "%s", err.text);
    sta_spill_destroy(spill);
}

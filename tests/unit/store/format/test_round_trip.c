/* What was written is what is read: random traces through writer and snapshot. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "../sample.h"
#include "store/format/contents.h"
#include "store/format/envelope.h"

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

/* So many that they are written in pieces, and packed in frames. */
Test(round_trip, tables_of_many_texts)
{
    enum { TEXTS = 150001 };
    char text[80];
    char *content;
    size_t size;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer written = {0}, packed = {0};
    struct sta_tables *tables = sta_tables_create(NULL), *read;
    for (uint32_t i = 0; i < TEXTS; i++)
        sta_dictionary_intern(sta_tables_names(tables), text,
                              (size_t)snprintf(text, sizeof text, "%*u", (int)(40 + i % 30), i));
    sta_tables_put(&written, tables);
    sta_envelope_put(&packed, STA_ENVELOPE_TABLES, written.data, written.size);
    cr_assert_lt(packed.size, written.size);
    cr_assert_eq(sta_envelope_get(packed.data, packed.size, STA_ENVELOPE_TABLES, &content, &size, &err), 0);
    cr_assert_eq(size, written.size);
    cr_assert_eq(memcmp(content, written.data, size), 0);
    cr_assert_eq(sta_tables_get(content, size, NULL, NULL, NULL, &read, &err), 0);
    cr_assert_eq(sta_dictionary_count(sta_tables_names(read)), TEXTS);
    for (uint32_t i = 0; i < TEXTS; i++) {
        const struct sta_text was = sta_dictionary_text(sta_tables_names(tables), i),
                              is = sta_dictionary_text(sta_tables_names(read), i);
        cr_assert(was.length == is.length && memcmp(was.bytes, is.bytes, was.length) == 0);
    }
    sta_tables_destroy(tables);
    sta_tables_destroy(read);
    sta_buffer_fini(&written);
    sta_buffer_fini(&packed);
    free(content);
}

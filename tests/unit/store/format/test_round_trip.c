/* What was written is what is read: random traces through writer and snapshot. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "../sample.h"
#include "common/memory.h"
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

Test(round_trip, several_row_groups_and_sources)
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

/* Tables with the tasks a and b, and lists of them. */
static void put_lists(struct sta_buffer *written, const char *const *lists, const size_t *sizes, size_t count)
{
    struct sta_tables *tables = sta_tables_create(NULL);
    const uint32_t tasks = sta_tables_intern_key(tables, "key", 3),
                   inputs = sta_tables_intern_key(tables, "dependencies", 12);
    sta_dictionary_intern(sta_tables_values(tables, tasks), "a", 1);
    sta_dictionary_intern(sta_tables_values(tables, tasks), "b\"", 2);
    cr_assert(!sta_tables_hold_lists(tables, tasks, inputs), "members stand before");
    cr_assert(sta_tables_hold_lists(tables, inputs, tasks));
    for (size_t i = 0; i < count; i++)
        sta_dictionary_intern(sta_tables_values(tables, inputs), lists[i], sizes[i]);
    cr_assert(sta_tables_hold_lists(tables, inputs, tasks), "still");
    sta_tables_put(written, tables);
    sta_tables_destroy(tables);
}

#define LIST(codes) "\xff" codes
Test(round_trip, lists_of_texts_come_back_as_their_texts_and_codes)
{
    static const char *const lists[] = {LIST("\1\0\0\0\0\0\0\0\1\0\0\0"), "plain", LIST(""), LIST("\0\0\0\0"),
                                        ""};
    static const size_t sizes[] = {13, 5, 1, 5, 0};
    static const char *const wanted[] = {"[\"b\\\"\",\"a\",\"b\\\"\"]", "plain", "[]", "[\"a\"]", ""};
    static const size_t members[] = {3, 0, 0, 1, 0};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer written = {0};
    struct sta_tables *read;
    put_lists(&written, lists, sizes, STA_COUNT_OF(lists));
    cr_assert_eq(sta_tables_get(written.data, written.size, NULL, NULL, NULL, &read, &err), 0);
    const struct sta_dictionary *texts = sta_tables_values(read, 1);
    cr_assert_lt(sta_dictionary_bytes(texts), 4096, "texts are made when one is asked for");
    cr_assert_eq(sta_dictionary_count(texts), STA_COUNT_OF(wanted));
    for (uint32_t code = 0; code < STA_COUNT_OF(wanted); code++) {
        size_t count = 0;
        const uint32_t *codes = sta_tables_list(read, 1, 0, code, &count);
        cr_assert_str_eq(sta_dictionary_text(texts, code).bytes, wanted[code]);
        cr_assert(count == members[code] && (codes != NULL) == (wanted[code][0] == '['));
    }
    size_t count;
    cr_assert(sta_tables_list(read, 1, 0, 0, &count)[0] == 1 &&
              sta_tables_list(read, 1, 1, 0, &count) == NULL);
    cr_assert(!sta_tables_hold_lists(read, 1, 0), "it has texts: a refresh goes on with these");
    sta_tables_destroy(read);
    sta_buffer_fini(&written);
}

Test(round_trip, a_list_of_what_is_not_there_is_damage)
{
    static const char *const beyond[] = {LIST("\2\0\0\0")};
    static const size_t size[] = {5};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer written = {0};
    struct sta_tables *read;
    put_lists(&written, beyond, size, 1);
    for (size_t cut = 0; cut <= written.size; cut++)
        cr_assert_eq(sta_tables_get(written.data, written.size - cut, NULL, NULL, NULL, &read, &err),
                     STA_ECORRUPT);
    sta_buffer_fini(&written);
}

Test(round_trip, lists_of_lists_are_damage)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer written = {0};
    struct sta_tables *tables = sta_tables_create(NULL), *read;
    const uint32_t tasks = sta_tables_intern_key(tables, "key", 3),
                   inputs = sta_tables_intern_key(tables, "dependencies", 12),
                   users = sta_tables_intern_key(tables, "dependents", 10);
    sta_dictionary_intern(sta_tables_values(tables, tasks), "a", 1);
    cr_assert(sta_tables_hold_lists(tables, inputs, tasks) && sta_tables_hold_lists(tables, users, inputs));
    sta_dictionary_intern(sta_tables_values(tables, inputs), LIST("\0\0\0\0"), 5);
    sta_dictionary_intern(sta_tables_values(tables, users), LIST("\0\0\0\0"), 5);
    sta_tables_put(&written, tables);
    cr_assert_eq(sta_tables_get(written.data, written.size, NULL, NULL, NULL, &read, &err), STA_ECORRUPT);
    sta_tables_destroy(tables);
    sta_buffer_fini(&written);
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

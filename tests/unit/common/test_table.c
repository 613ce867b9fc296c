/* Tables as bytes and back. */
#include <criterion/criterion.h>
#include <string.h>

#include "common/table.h"

static void fill(struct sta_table *table)
{
    sta_table_init(table, 2);
    struct sta_table_column *name = sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_set_text(table, name, 0, "a\0b", 3);
    sta_table_set_int(sta_table_add(table, "count", STA_TYPE_INT, "B"), 1, -7);
    sta_table_set_number(sta_table_add(table, "share", STA_TYPE_FLOAT, "s"), 0, 0.1);
}

Test(table, what_is_written_is_read)
{
    struct sta_table table, read;
    struct sta_buffer bytes;
    fill(&table);
    sta_buffer_init(&bytes);
    sta_table_write(&table, &bytes);
    struct sta_cursor cursor = {(unsigned char *)bytes.data, (unsigned char *)bytes.data + bytes.size, false};
    cr_assert(sta_table_read(&cursor, &read));
    cr_assert_eq(read.rows, 2);
    cr_assert_eq(read.column_count, 3);
    cr_expect_str_eq(read.columns[1].name, "count");
    cr_expect_str_eq(read.columns[1].unit, "B");
    cr_expect(read.columns[0].unit == NULL);
    cr_expect_eq(read.columns[0].texts[0].length, 3);
    cr_expect_eq(memcmp(read.columns[0].texts[0].bytes, "a\0b", 3), 0);
    cr_expect(read.columns[0].missing[1] && read.columns[1].missing[0] && read.columns[2].missing[1]);
    cr_expect_eq(read.columns[1].integers[1], -7);
    cr_expect(read.columns[2].numbers[0] == 0.1);
    sta_table_fini(&read);
    sta_table_fini(&table);
    sta_buffer_fini(&bytes);
}

Test(table, bytes_that_are_cut_or_longer_are_refused)
{
    struct sta_table table;
    struct sta_buffer bytes;
    fill(&table);
    sta_buffer_init(&bytes);
    sta_table_write(&table, &bytes);
    sta_put_char(&bytes, 'x');
    for (size_t size = 0; size <= bytes.size; size++) {
        struct sta_table read;
        struct sta_cursor cursor = {(unsigned char *)bytes.data, (unsigned char *)bytes.data + size, false};
        cr_expect_eq(sta_table_read(&cursor, &read), size == bytes.size - 1, "%zu bytes", size);
        sta_table_fini(&read);
    }
    sta_table_fini(&table);
    sta_buffer_fini(&bytes);
}

/* All byte kernels that this processor can run agree with the portable ones. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/bytes.h"

Test(bytes, kernels_agree)
{
    const struct sta_byte_kernels *const *all = sta_byte_kernels_all();
    char text[300 + STA_BYTES_PADDING];
    uint32_t state = 1;
    for (int round = 0; round < 3000; round++) {
        for (size_t i = 0; i < sizeof text; i++) {
            state = state * 1664525u + 1013904223u;
            text[i] = (state >> 24) % 40 ? (char)(' ' + 3 + (state >> 16) % 50) : (char)(state >> 8);
        }
        size_t from = (size_t)round % 60;
        size_t size = 300 - from - (size_t)round % 37;
        for (const struct sta_byte_kernels *const *other = all; *other != NULL; other++) {
            cr_assert_eq((*other)->string_end(text + from, text + from + size),
                         all[0]->string_end(text + from, text + from + size), "%s", (*other)->name);
        }
    }
}

Test(bytes, newlines_are_counted)
{
    static char text[20000];
    size_t wanted = 0;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % 7 < 5 || i > 15000 ? '\n' : (char)(i % 5 + '\b');
        wanted += text[i] == '\n';
        cr_assert_eq(sta_count_newlines(text, i + 1), wanted, "%zu bytes", i + 1);
    }
    cr_assert_eq(sta_count_newlines(text + 1, sizeof text - 1), wanted - 1);
    cr_assert_eq(sta_count_newlines(text, 0), 0);
}

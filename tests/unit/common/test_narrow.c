/* Values that are held narrow come back as they were; small integers become doubles and back. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "common/dictionary.h"
#include "common/narrow.h"
#include "common/whole.h"

#define ROWS 100u

static void check_integers(const int64_t *values, const uint8_t *missing, unsigned width)
{
    struct sta_narrow narrow;
    uint32_t packed[ROWS];
    int64_t back[ROWS];
    uint8_t back_missing[ROWS] = {0};
    cr_assert(sta_narrow_choose_for(values, missing, ROWS, &narrow));
    cr_expect_eq(narrow.width, width);
    sta_narrow_put(&narrow, values, missing, ROWS, packed);
    sta_narrow_get(&narrow, packed, ROWS, back, back_missing);
    for (uint32_t i = 0; i < ROWS; i++) {
        const bool absent = missing != NULL && missing[i];
        cr_expect_eq(back_missing[i], absent, "row %u", i);
        cr_expect_eq(back[i], absent ? 0 : values[i], "row %u", i);
    }
}

Test(narrow, integers)
{
    static const struct {
        int64_t least, most;
        unsigned width, width_of_some;
    } cases[] = {{7, 7, 0, 0},
                 {0, 255, 0, 1},
                 {-1, 65534, 1, 2},
                 {INT64_MIN, INT64_MIN + 3, 0, 0},
                 {INT64_MAX - UINT32_MAX + 1, INT64_MAX, 2, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t values[ROWS];
        uint8_t missing[ROWS] = {0};
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = i % 3 == 0 ? cases[c].least : cases[c].most;
        check_integers(values, NULL, cases[c].width);
        for (uint32_t i = 2; i < ROWS; i += 3) {
            values[i] = INT64_MAX - 5; /* what lies where a value is missing does not matter */
            missing[i] = 1;
        }
        check_integers(values, missing, cases[c].width_of_some);
    }
}

Test(narrow, none_of_the_integers_is_there)
{
    int64_t values[ROWS] = {4};
    uint8_t missing[ROWS];
    memset(missing, 1, sizeof missing);
    check_integers(values, missing, 0);
}

Test(narrow, integers_too_far_apart)
{
    const int64_t values[] = {INT64_MIN, INT64_MAX}, near[] = {0, UINT32_MAX};
    const uint8_t missing[] = {0, 0};
    struct sta_narrow narrow;
    cr_expect_not(sta_narrow_choose_for(values, NULL, 2, &narrow));
    cr_expect(sta_narrow_choose_for(near, NULL, 2, &narrow));
    cr_expect_not(sta_narrow_choose_for(near, missing, 2, &narrow), "0 is taken by what is missing");
}

Test(narrow, codes)
{
    static const uint32_t sets[][3] = {{0, 1, 2},
                                       {0, 254, STA_NO_CODE},
                                       {0, 255, STA_NO_CODE},
                                       {70000, 135000, 70001},
                                       {STA_NO_CODE, STA_NO_CODE, STA_NO_CODE}};
    static const unsigned widths[] = {0, 0, 1, 1, 0};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        struct sta_narrow narrow;
        uint32_t codes[ROWS], packed[ROWS], back[ROWS];
        for (uint32_t i = 0; i < ROWS; i++)
            codes[i] = sets[s][i % 3];
        cr_assert(sta_narrow_choose_for_codes(codes, ROWS, &narrow));
        cr_expect_eq(narrow.width, widths[s], "set %zu", s);
        sta_narrow_put_codes(&narrow, codes, ROWS, packed);
        sta_narrow_get_codes(&narrow, packed, ROWS, back);
        cr_expect_eq(memcmp(codes, back, sizeof codes), 0, "set %zu", s);
    }
}

Test(whole, numbers_and_floors)
{
    static const int64_t values[] = {0, 1, -1, 999999, -1000000, STA_WHOLE_SMALL - 1, 1 - STA_WHOLE_SMALL};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const double number = sta_whole_number(values[i]);
        cr_expect_eq(number, (double)values[i]);
        cr_expect_eq(sta_whole_floor(number), values[i]);
        for (int64_t by = 1; by < 2000000; by = by * 3 + 1)
            cr_expect_eq(sta_whole_floor(number / (double)by), values[i] / by - (values[i] % by < 0));
    }
}

Test(whole, what_is_small)
{
    const int64_t near[] = {5, -5}, far[] = {5, STA_WHOLE_SMALL * 4}, last[] = {INT64_MAX};
    cr_expect(sta_whole_are_small(near, 2, 0));
    cr_expect_not(sta_whole_are_small(far, 2, 0));
    cr_expect(sta_whole_are_small(&far[1], 1, far[1] - 7));
    cr_expect_not(sta_whole_are_small(last, 1, INT64_MIN), "their distance has 64 bits, and looks like -1");
}

/* Numbers as text: what is printed reads back the same, and what is no number is refused. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/number.h"

static const struct {
    double value;
    const char *text;
} doubles[] = {{0, "0.0"},
               {-0.0, "-0.0"},
               {5, "5.0"},
               {0.1, "0.1"},
               {55.245989, "55.245989"},
               {-2.5, "-2.5"},
               {0.0001, "0.0001"},
               {0.000099, "9.9e-05"},
               {-0.00005, "-5e-05"},
               {0.000012, "1.2e-05"},
               {1e-6, "1e-06"},
               {0.072082, "0.072082"},
               {999999999.999999, "999999999.999999"},
               {1.0 / 3, "0.3333333333333333"},
               {1e15, "1000000000000000.0"},
               {1e16, "1e+16"},
               {1e22, "1e+22"},
               {1e-7, "1e-07"},
               {5e-324, "5e-324"},
               {DBL_MAX, "1.7976931348623157e+308"}};

Test(number, doubles_print_as_their_shortest_text)
{
    char out[STA_DOUBLE_TEXT];
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        size_t length = sta_format_double(doubles[i].value, out);
        cr_assert_str_eq(out, doubles[i].text);
        cr_assert_eq(length, strlen(out));
    }
}

Test(number, random_doubles_read_back_the_same)
{
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        char out[STA_DOUBLE_TEXT];
        double value;
        double again;
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        size_t length = sta_format_double(value, out);
        cr_assert(sta_parse_double(out, length, &again), "%s", out);
        cr_assert_eq(memcmp(&value, &again, sizeof value), 0, "%s", out);
    }
}

Test(number, microseconds_as_seconds_have_at_most_six_places)
{
    char out[STA_DOUBLE_TEXT];
    for (int64_t us = 1; us < INT64_C(1000000000000000); us += us / 997 + 1) {
        double again, value = (double)us / 1e6;
        size_t length = sta_format_double(value, out);
        cr_assert(sta_parse_double(out, length, &again) && again == value, "%s", out);
        const char *point = strchr(out, '.');
        cr_assert(strchr(out, 'e') != NULL ? us < 100 : point != NULL && strlen(point) <= 7, "%s", out);
    }
}

Test(number, integers_are_canonical_and_fit)
{
    int64_t value;
    cr_assert(sta_parse_int("-9223372036854775808", 20, &value) && value == INT64_MIN);
    cr_assert(sta_parse_int("9223372036854775807", 19, &value) && value == INT64_MAX);
    cr_assert(sta_parse_int("-0", 2, &value) && value == 0);
    static const char *const refused[] = {"",   "-",  "01", "+1", "1.0", "1e3", "9223372036854775808",
                                          " 1", "1 ", "0x1"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        cr_assert_not(sta_parse_int(refused[i], strlen(refused[i]), &value), "%s", refused[i]);
}

Test(number, only_json_numbers_are_doubles)
{
    double value;
    static const char *const refused[] = {"",   "-",   ".5",       "5.",    "01",   "+1",
                                          "1e", "NaN", "Infinity", "1e999", "0x10", "1,0"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        cr_assert_not(sta_parse_double(refused[i], strlen(refused[i]), &value), "%s", refused[i]);
    cr_assert(sta_parse_double("-1.5E+2", 7, &value) && value == -150);
}

Test(number, sizes_have_units)
{
    uint64_t bytes;
    cr_assert(sta_parse_size("512MiB", &bytes) && bytes == UINT64_C(512) << 20);
    cr_assert(sta_parse_size("2G", &bytes) && bytes == UINT64_C(2) << 30);
    cr_assert(sta_parse_size("1048576", &bytes) && bytes == 1048576);
    static const char *const refused[] = {"", "MiB", "1 MiB", "-1", "1.5G", "1X", "99999999999T"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        cr_assert_not(sta_parse_size(refused[i], &bytes), "%s", refused[i]);
}

Test(number, utf8_ends_where_it_is_not_valid)
{
    cr_assert_eq(sta_utf8_valid_prefix("plain ascii text", 16), 16);
    cr_assert_eq(sta_utf8_valid_prefix("\xc3\xa9\xe6\x95\xb0\xf0\x9f\x9a\x80", 9), 9);
    cr_assert_eq(sta_utf8_count("\xc3\xa9\xe6\x95\xb0\xf0\x9f\x9a\x80", 9), 3);
    cr_assert_eq(sta_utf8_valid_prefix("ab\xff", 3), 2);
    cr_assert_eq(sta_utf8_valid_prefix("a\xc0\x80", 3), 1, "overlong");
    cr_assert_eq(sta_utf8_valid_prefix("a\xed\xa0\x80", 4), 1, "surrogate");
    cr_assert_eq(sta_utf8_valid_prefix("a\xe6\x95", 3), 1, "cut");
}

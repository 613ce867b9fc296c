/* Query parameters: what is right is read, what is wrong is named with what is allowed. */
#include <criterion/criterion.h>
#include <string.h>

#include "serve/api/parameters.h"

static int read_query(const char *query, sta_parameter_set allowed, struct sta_parameter_value *values,
                      struct sta_error *err)
{
    static char text[500];
    static struct sta_repeats repeats;
    *err = STA_ERROR_INIT;
    snprintf(text, sizeof text, "%s", query);
    return sta_parameters_read(text, allowed, values, &repeats, err);
}

Test(parameters, defaults_hold_where_nothing_is_given)
{
    struct sta_parameter_value values[STA_PARAMETERS];
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_parameters_read(NULL, STA_HAS(FORMAT) | STA_HAS(GRANULARITY) | STA_HAS(PRESET), values,
                                     NULL, &err),
                 STA_OK);
    cr_expect_str_eq(values[STA_PARAMETER_FORMAT].text, "json");
    cr_expect_eq(values[STA_PARAMETER_GRANULARITY].integer, 1000000);
    cr_expect_null(values[STA_PARAMETER_PRESET].text);
    cr_expect_null(values[STA_PARAMETER_FILTERS].text, "not allowed here");
}

Test(parameters, seconds_are_rounded_to_microseconds)
{
    static const struct {
        const char *query;
        int64_t us;
    } cases[] = {{"granularity=0.1", 100000},  {"granularity=5", 5000000},   {"granularity=1e-6", 1},
                 {"granularity=0.0000014", 1}, {"granularity=0.0000016", 2}, {"granularity=0.0000006", 1}};
    struct sta_parameter_value values[STA_PARAMETERS];
    struct sta_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(read_query(cases[i].query, STA_HAS(GRANULARITY), values, &err), STA_OK, "%s",
                     cases[i].query);
        cr_expect_eq(values[STA_PARAMETER_GRANULARITY].integer, cases[i].us, "%s", cases[i].query);
    }
}

Test(parameters, what_is_wrong_is_named)
{
    static const struct {
        const char *query, *pointer, *says;
    } cases[] = {
        {"nope=1", "/nope", "allowed: from, filter, format"},
        {"format=xml", "/format", "json|csv|ndjson"},
        {"format=js", "/format", "json|csv|ndjson"},
        {"format=json|csv", "/format", "json|csv|ndjson"},
        {"format=json&format=json", "/format", "twice"},
        {"granularity=0", "/granularity", "0.000001"},
        {"granularity=-1", "/granularity", "0.000001"},
        {"granularity=nan", "/granularity", "0.000001"},
        {"granularity=inf", "/granularity", "0.000001"},
        {"granularity=", "/granularity", "0.000001"},
        {"granularity=1e300", "/granularity", "0.000001"},
        {"from=x", "/from", "seconds"},
        {"max_points=0", "/max_points", "whole number"},
        {"max_points=1.5", "/max_points", "whole number"},
        {"max_points=99999999999999999999", "/max_points", "whole number"},
        {"layer=a,,b", "/layer", "empty name"},
        {"layer=", "/layer", "empty name"},
        {"filter=", "/filter", "empty"},
        {"filter=%zz", "/filter", "hexadecimal"},
    };
    sta_parameter_set allowed = STA_HAS(FORMAT) | STA_HAS(GRANULARITY) | STA_HAS(FROM) | STA_HAS(MAX_POINTS) |
                                STA_HAS(LAYERS) | STA_HAS(FILTER);
    struct sta_parameter_value values[STA_PARAMETERS];
    struct sta_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(read_query(cases[i].query, allowed, values, &err), STA_EINPUT, "%s", cases[i].query);
        cr_expect_str_eq(err.parameter, cases[i].pointer);
        cr_expect(strstr(err.text, cases[i].says) != NULL, "%s: %s", cases[i].query, err.text);
    }
}

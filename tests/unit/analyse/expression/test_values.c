/* What expressions give: one line per rule of the language.  Rows are those of rows.c; | between them, -
 * where missing. */
#include <criterion/criterion.h>

#include "rows.h"

struct example {
    const char *expression, *expected;
};

static void check(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(rows_evaluate(examples[i].expression), examples[i].expected,
                         "%s: got %s (%s), not %s", examples[i].expression,
                         rows_evaluate(examples[i].expression), rows_mistake(), examples[i].expected);
}
#define CHECK(...)                                                                                           \
    static const struct example examples[] = {__VA_ARGS__};                                                  \
    check(examples, sizeof examples / sizeof *examples)

Test(values, precedence)
{
    CHECK({"-2 ** 2 + 1", "-3.0|-3.0|-3.0|-3.0"}, {"2 ** 3 ** 2", "512.0|512.0|512.0|512.0"},
          {"1 + 2 * 3", "7|7|7|7"}, {"false & false | true", "T|T|T|T"}, {"not true or true", "T|T|T|T"},
          {"size > 0 & size < 5000", "T|F|F|F"}, {"~args.flag | size == -7", "F|T|F|T"},
          {"0 < size < 5000", "T|F|F|F"}, {"-7 // 2 == -4 and -7 % 3 == 2", "T|T|T|T"});
}

Test(values, missing_takes_no_part)
{
    CHECK({"size > 0 or size <= 0", "T|T|T|F"}, {"size != 4096", "F|T|T|T"}, {"not (size < 1000)", "T|F|T|T"},
          {"size not in [1]", "T|T|T|T"}, {"func_name != 'read'", "F|T|T|T"},
          {"~name.str.contains('a')", "F|F|F|T"}, {"name.str.contains('a', na=True)", "T|T|T|T"},
          {"size.isna()", "F|F|F|T"}, {"name.notna()", "T|T|T|F"}, {"size + 1", "4097|-6|-|-"},
          {"size.fillna(0)", "4096|-7|9223372036854775807|0"}, {"null", "-|-|-|-"},
          {"args.flag and true", "T|F|T|F"}, {"not args.flag", "F|T|F|T"});
}

Test(values, integers_stay_integers)
{
    CHECK({"size * 2", "8192|-14|-|-"}, {"size // 0", "-|-|-|-"}, {"size % 10", "6|3|7|-"},
          {"size / 2", "2048.0|-3.5|4.611686018427388e+18|-"}, {"-size", "-4096|7|-9223372036854775807|-"},
          {"args.flag + 1", "2|1|2|-"}, {"-9223372036854775807 - 1 - 1", "-|-|-|-"},
          {"(-9223372036854775807 - 1) // -1", "-|-|-|-"}, {"abs(-9223372036854775807 - 1)", "-|-|-|-"});
}

/* 2^53 + 1 and 2^63 - 1 are no doubles. */
Test(values, integers_and_numbers_compare_exactly)
{
    CHECK({"size < args.ratio", "F|T|T|F"}, {"size == args.ratio", "F|F|F|F"},
          {"args.ratio > size", "F|T|T|F"}, {"size > 9.3e18", "F|F|F|F"}, {"size < 9.3e18", "T|T|T|F"},
          {"size >= -7.5", "T|T|T|F"}, {"size > -7.0", "T|F|T|F"}, {"size != 2.5", "T|T|T|T"},
          {"9007199254740993 == 9007199254740992.0", "F|F|F|F"},
          {"args.ratio < 9223372036854775807", "T|T|F|F"},
          {"size in [4096.0, -7.5, 9.223372036854775807e18]", "T|F|F|F"},
          {"args.ratio in [9223372036854775807, -0.5]", "F|T|F|F"});
}

Test(values, functions_of_numbers)
{
    CHECK({"round(args.ratio)", "2|0|-|-"}, {"round(args.ratio, 0)", "2.0|0.0|9.223372036854776e+18|-"},
          {"floor(args.ratio)", "2|-1|-|-"}, {"ceil(args.ratio)", "3|0|-|-"}, {"int(args.ratio)", "2|0|-|-"},
          {"sqrt(size)", "64.0|-|3037000499.97605|-"}, {"log(0)", "-|-|-|-"},
          {"least(size, ts)", "4096|-7|2500000|-"},
          {"greatest(size, 0.5)", "4096.0|0.5|9.223372036854776e+18|-"}, {"0 ** -1", "-|-|-|-"},
          {"7.5 // -2", "-4.0|-4.0|-4.0|-4.0"}, {"7.5 % -2", "-0.5|-0.5|-0.5|-0.5"},
          {"(2.675).round(2)", "2.68|2.68|2.68|2.68"}, {"cut(size, [-7, 0, 4096])", "2|0|3|-"},
          {"cut(args.ratio, [-0.5, 2, 2.5])", "2|0|3|-"});
}

Test(values, bins_of_times_are_exact)
{
    CHECK({"bin(time_start, 0.1)", "3|1|25|-"}, {"bin(time_start, 0.1, 0.05)", "2|0|24|-"},
          {"bin(ts, 30000)", "10|3|83|-"}, {"bin(time_start + 0, 0.1)", "2|1|25|-"},
          {"bin(ts, 7, 300001)", "-1|-28572|314285|-"});
}

Test(values, texts)
{
    CHECK({"basename(file_name)", "img_017.npz|plain||-"}, {"dirname(file_name)", "/data|||-"},
          {"part(file_name, '/', -1)", "img_017.npz|plain||-"},
          {"part(file_name, '/', 2)", "img_017.npz|-|-|-"}, {"len(name)", "4|7|6|-"},
          {"upper(name)", "READ|PREAD64|CAF\xc3\xa9 \xe6\x95\xb0|-"},
          {"name.str.slice(1, -1)", "ea|read6|af\xc3\xa9 |-"}, {"strip('\\t x ')", "x|x|x|x"},
          {"name + '!'", "read!|pread64!|caf\xc3\xa9 \xe6\x95\xb0!|-"},
          {"cat + name", "posixread|STDIOpread64|posixcaf\xc3\xa9 \xe6\x95\xb0|-"},
          {"str(size) + 'x'", "4096x|-7x|9223372036854775807x|-"},
          {"str(args.ratio)", "2.5|-0.5|9.223372036854776e+18|-"}, {"str(args.flag)", "true|false|true|-"},
          {"int('007')", "7|7|7|7"}, {"int('5.0')", "-|-|-|-"}, {"float('.5e1')", "5.0|5.0|5.0|5.0"},
          {"int(part(name, 'read', 1))", "-|64|-|-"},
          {"where(size > 0, name, 'none')", "read|none|caf\xc3\xa9 \xe6\x95\xb0|none"},
          {"coalesce(file_name, 'x')", "/data/img_017.npz|plain||x"}, {"where(size < 0, cat)", "-|STDIO|-|-"},
          {"name < 'q'", "F|T|T|F"}, {"name > cat", "T|F|F|F"}, {"name == func_name", "T|T|T|F"});
}

Test(values, cat_ignores_case)
{
    CHECK({"cat == 'POSIX'", "T|F|T|F"}, {"cat in ['Stdio']", "F|T|F|F"},
          {"cat.str.contains('^PO')", "T|F|T|F"}, {"cat.str.startswith('St')", "F|T|F|F"},
          {"lower(cat) == 'POSIX'", "F|F|F|F"}, {"cat < name", "T|F|F|F"},
          {"cat == 'STDIO' or cat == upper(cat)", "T|T|T|F"});
}

Test(values, patterns_mean_what_they_mean_in_python)
{
    CHECK({"name.str.contains('d$')", "T|F|F|F"}, {"'a\\n'.str.contains(r'a$')", "T|T|T|T"},
          {"'a\\n'.str.contains(r'a\\Z')", "F|F|F|F"}, {"'caf\xc3\xa9'.str.contains(r'^\\w+$')", "F|F|F|F"},
          {"name.str.fullmatch('.... .')", "F|F|T|F"}, {"'\xc3\xa9'.str.fullmatch('.')", "T|T|T|T"},
          {"replace('abxd', 'x*', '-')", "-a-b--d-|-a-b--d-|-a-b--d-|-a-b--d-"},
          {"'abxd'.str.count('x*')", "5|5|5|5"},
          {"replace(name, '(?P<a>e)(a)', r'\\2\\g<a>\\g<0>')", "raeead|praeead64|caf\xc3\xa9 \xe6\x95\xb0|-"},
          {"extract(name, '([a-z]+)(\\d+)?')", "read|pread|caf|-"}, {"extract(name, '\\d+')", "-|64|-|-"},
          {"'aaa'.str.fullmatch('a{,2}')", "F|F|F|F"}, {"name.str.match('p?read')", "T|T|F|F"},
          {"name.str.contains('READ', case=False)", "T|T|F|F"},
          {"'a.c'.str.contains('a.c', regex=False)", "T|T|T|T"},
          {"'abc'.str.replace('.', 'x')", "abc|abc|abc|abc"},
          {"'abc'.str.replace('', '-')", "-a-b-c-|-a-b-c-|-a-b-c-|-a-b-c-"});
}

Test(values, strings)
{
    CHECK({"'\\u006ea\\x41\\ud83d\\ude80\\q'",
           "naA\xf0\x9f\x9a\x80\\q|naA\xf0\x9f\x9a\x80\\q|naA\xf0\x9f\x9a\x80\\q|naA\xf0\x9f\x9a\x80\\q"},
          {"r'\\n' + \"it's\"", "\\nit's|\\nit's|\\nit's|\\nit's"}, {"'' == \"\"", "T|T|T|T"});
}

Test(values, old_names)
{
    CHECK({"name == 'read'", "T|F|F|F"}, {"filename == ''", "F|F|T|F"},
          {"`args.flag` == args.`flag`", "T|T|T|F"});
}

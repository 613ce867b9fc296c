/* Where a mistake is, and what is said of it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static void check(const char *expression, const char *at, const char *said)
{
    cr_expect_str_eq(rows_evaluate(expression), at, "%s: got %s (%s), not %s", expression,
                     rows_evaluate(expression), rows_mistake(), at);
    cr_expect(strstr(rows_mistake(), said) != NULL, "%s: \"%s\" does not say \"%s\"", expression,
              rows_mistake(), said);
}

Test(mistakes, of_form)
{
    check("size >", "INPUT@6", "expected a value, found the end");
    check("size >  ", "INPUT@8", "found the end");
    check("", "INPUT@0", "expected a value, found the end");
    check("cat = 'posix'", "INPUT@4", "expected ==, found =");
    check("cat == 'posix", "INPUT@7", "a string that does not end");
    check("cat == r'posix", "INPUT@8", "a string that does not end");
    check("(size > 1 or size < 0", "INPUT@21", "expected ), found the end");
    check("size > 1 size", "INPUT@9", "expected an operator or the end, found size");
    check("name == @name", "INPUT@8", "variables (@name)");
    check("1 == not true", "INPUT@5", "expected a value, found not");
    check("size in 5", "INPUT@8", "expected a list, found 5");
    check("size in [1,]", "INPUT@11", "expected a value, found ]");
    check("size # 1", "INPUT@5", "unexpected character '#'");
    check("args.5", "INPUT@0", "unknown column 'args'; did you mean 'args.ratio'?");
    check("args. + 1", "INPUT@6", "expected the name of an argument");
    check("name.str + 1", "INPUT@9", "expected ., found +");
    check("name.contains", "INPUT@13", "expected (, found the end");
}

Test(mistakes, positions_count_characters)
{
    check("name == '\xc3\xa9\xe6\x95\xb0\xf0\x9f\x9a\x80' and nosuch > 1", "INPUT@18",
          "unknown column 'nosuch'");
    check("name == '\xc3\xa9' \xc3\xa9", "INPUT@12", "unexpected character '\xc3\xa9'");
    check("name == '\xff'", "INPUT@9", "not UTF-8");
}

Test(mistakes, of_names)
{
    check("size > 1 and foo == 2", "INPUT@13", "there are func_name, cat, file_name, size");
    check("sise > 1", "INPUT@0", "did you mean 'size'?");
    check("fun_name == 'x'", "INPUT@0", "did you mean 'func_name'?");
    check("1 + nosuch(size)", "INPUT@4", "unknown function 'nosuch'");
    check("bsename(name)", "INPUT@0", "did you mean 'basename'?");
    check("name.str.containz('x')", "INPUT@9", "did you mean 'contains'?");
    check("size.isnull_()", "INPUT@5", "did you mean 'isnull'?");
    check("sum(size) > 1", "INPUT@0", "sum is an aggregate; it belongs in \"aggregate\"");
    check("1 + count()", "INPUT@4", "count is an aggregate");
    check("name.str.contains('x', flags=true)", "INPUT@9", "contains has no option 'flags'");
}

Test(mistakes, of_types)
{
    check("name > 5", "INPUT@5", "cannot compare a text with an integer");
    check("size * name", "INPUT@5", "* needs numbers");
    check("1 + -name", "INPUT@4", "- needs a number, not a text");
    check("size and true", "INPUT@0", "expected a condition, but this is an integer");
    check("true and (size)", "INPUT@10", "expected a condition");
    check("size == null", "INPUT@5", "x.isna()");
    check("sqrt(name)", "INPUT@5", "sqrt needs a number here");
    check("size.str.lower()", "INPUT@9", ".str needs a text");
    check("size in [1, 'x']", "INPUT@12", "cannot compare an integer with a text");
    check("size in [ts]", "INPUT@9", "a list holds constants only");
    check("coalesce(size, name)", "INPUT@0", "values of one type");
    check("where(size, 1)", "INPUT@6", "expected a condition");
    check("round(1.5, size)", "INPUT@11", "a constant integer");
    check("sqrt()", "INPUT@0", "sqrt takes 1 argument, found 0");
    check("size.between(1)", "INPUT@5", "between takes 2 arguments, found 1");
}

Test(mistakes, of_constants)
{
    check("name.str.contains('(read')", "INPUT@18", "bad pattern: missing closing parenthesis");
    check("replace(name, 'a', r'\\1')", "INPUT@19", "group 1, but the pattern has 0");
    check("replace(name, 'a', r'\\d')", "INPUT@19", "unknown escape");
    check("cut(size, [2, 1])", "INPUT@10", "the edges must increase");
    check("bin(size, 0)", "INPUT@10", "the width must be positive");
    check("bin(size, ts)", "INPUT@10", "bin needs a constant");
    check("part(name, '', 1)", "INPUT@11", "the separator is empty");
    check("9223372036854775808", "INPUT@0", "too large");
    check("1e999", "INPUT@0", "too large");
}

static char *repeated(const char *start, const char *piece, unsigned times, const char *end)
{
    char *text = malloc(strlen(start) + times * strlen(piece) + strlen(end) + 1);
    char *at = stpcpy(text, start);
    for (unsigned i = 0; i < times; i++)
        at = stpcpy(at, piece);
    strcpy(at, end);
    return text;
}

static void check_repeated(const char *start, const char *piece, unsigned times, const char *end,
                           const char *at, const char *said)
{
    char *text = repeated(start, piece, times, end);
    check(text, at, said);
    free(text);
}

Test(mistakes, limits)
{
    check_repeated("1", " ", 10000, "", "LIMIT@10000", "10001 characters; the limit is 10000");
    check_repeated("", "(", 9999, "", "LIMIT@101", "the limit is 100");
    check_repeated("", "-", 9999, "1", "LIMIT@101", "the limit is 100");
    check_repeated("", "not ", 2000, "", "LIMIT@404", "the limit is 100");
    check_repeated("", "2**", 3000, "2", "LIMIT@303", "the limit is 100");
    check_repeated("", "lower(", 1000, "", "LIMIT@606", "the limit is 100");
    check_repeated("name.str.contains('", "a", 1001, "')", "LIMIT@18", "1001 characters; the limit is 1000");
    check_repeated("name.str.contains('", "\xc3\xa9", 1001, "x*')", "LIMIT@18", "the limit is 1000");
    char *deep = repeated("1", " + 1", 2400, "");
    cr_expect_str_eq(rows_evaluate(deep), "2401|2401|2401|2401", "what is long need not nest");
    free(deep);
}

Test(mistakes, patterns_that_never_end)
{
    char *text = repeated("'", "a", 60, "b'.str.contains('^(a|aa)+$')");
    cr_expect(strncmp(rows_evaluate(text), "LIMIT", 5) == 0, "%s", rows_evaluate(text));
    cr_expect(strstr(rows_mistake(), "^(a|aa)+$") != NULL, "%s", rows_mistake());
    free(text);
}

Test(mistakes, texts_that_outgrow_memory)
{
    char *long_text = repeated("'", "a", 900, "'");
    char *text = malloc(8 * strlen(long_text) + 200);
    sprintf(text, "replace(replace(replace(%s, 'a', %s), 'a', %s), 'a', %s)", long_text, long_text, long_text,
            long_text);
    cr_expect(strncmp(rows_evaluate(text), "LIMIT", 5) == 0, "%s", rows_evaluate(text));
    cr_expect(strstr(rows_mistake(), "a text grew beyond") != NULL, "%s", rows_mistake());
    free(text);
    free(long_text);
}

/* The first mistake of a request: where it is, and what is said of it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "planned.h"

static void check(const char *json, const char *mistake, const char *said)
{
    struct planned planned;
    planned_init(&planned, json);
    cr_expect_str_eq(planned_mistake(&planned), mistake, "%.300s: %s (%s), not %s", json,
                     planned_mistake(&planned), planned.err.text, mistake);
    cr_expect(strstr(planned.err.text, said) != NULL, "%.300s: \"%s\" does not say \"%s\"", json,
              planned.err.text, said);
    planned_fini(&planned);
}

Test(mistakes, of_members)
{
    check("[]", "INPUT ", "an object, not a list");
    check("{\"filter\": \"size > 1\", \"groupby\": [\"name\"]}", "INPUT /groupby",
          "did you mean 'group_by'?");
    check("{\"a/b~c\": 1}", "INPUT /a~1b~0c", "unknown member");
    check("{\"then\": {\"preset\": \"dlio\"}}", "INPUT /then/preset", "there are derive, filter");
    check("{\"then\": []}", "INPUT /then", "an object, not a list");
    check("{\"preset\": 5}", "INPUT /preset", "the name of a preset");
    check("{\"filters\": \"maybe\"}", "INPUT /filters", "\"on\" or \"off\"");
    check("{\"from\": \"1\"}", "INPUT /from", "a number of seconds");
    check("{\"limit\": -1}", "INPUT /limit", "not a negative one");
    check("{\"limit\": 2.5}", "INPUT /limit", "a whole number");
    check("{\"limit\": 100001}", "LIMIT /limit", "the limit is 100000");
    check("{\"derive\": [\"a\"]}", "INPUT /derive", "not a list");
    check("{\"derive\": {\"a\": 5}}", "INPUT /derive/a", "an expression in a string, not a whole number");
    check("{\"derive\": {\"size\": \"1\"}}", "INPUT /derive/size", "already a column");
    check("{\"group_by\": \"name\"}", "INPUT /group_by", "a list of expressions");
    check("{\"group_by\": [5]}", "INPUT /group_by/0", "{\"name\": \"expression\"}");
    check("{\"group_by\": []}", "INPUT /group_by", "neither a group key nor an aggregate");
    check("{\"group_by\": [\"pid\"], \"dropna\": 1}", "INPUT /dropna", "true or false");
    check("{\"columns\": []}", "INPUT /columns", "at least one column");
    check("{\"order_by\": \"pid\"}", "INPUT /order_by", "a list of column names");
    check("{\"order_by\": [{\"pid\": 1}]}", "INPUT /order_by/0", "\"-name\"");
}

Test(mistakes, of_members_together)
{
    check("{\"value_counts\": \"name\", \"aggregate\": {\"n\": \"count()\"}}", "INPUT /value_counts",
          "exclude each other");
    check("{\"group_by\": [\"name\"], \"columns\": [\"name\"]}", "INPUT /columns", "exclude each other");
    check("{\"group_by\": [\"name\"], \"value_counts\": \"name\"}", "INPUT /group_by",
          "names the keys itself");
    check("{\"group_by\": [\"name\", \"func_name\"]}", "INPUT /group_by/1", "'func_name' is there twice");
    check("{\"columns\": [\"pid\", {\"pid\": \"tid\"}]}", "INPUT /columns/1/pid", "twice");
    check("{\"group_by\": [\"count\"], \"value_counts\": \"pid\"}", "INPUT /group_by", "");
    check("{\"value_counts\": \"count\"}", "INPUT /value_counts", "a column 'count' of its own");
    check("{\"group_by\": [{\"min\": \"pid\"}], \"describe\": [\"size\"]}", "INPUT /group_by",
          "a column 'min' of its own");
    check("{\"group_by\": [\"pid\"], \"aggregate\": {\"pid\": \"count()\"}}", "INPUT /aggregate/pid",
          "is a group key");
}

Test(mistakes, of_expressions)
{
    check("{\"derive\": {\"x/y\": \"1 + nosuch(size)\"}}", "INPUT /derive/x~1y 4", "unknown function");
    check("{\"filter\": \"size + 1\"}", "INPUT /filter 0", "expected a condition");
    check("{\"filter\": \"sum(size) > 1\"}", "INPUT /filter 0", "belongs in \"aggregate\"");
    check("{\"group_by\": [\"name\", {\"k\": \"foo\"}]}", "INPUT /group_by/1/k 0", "unknown column");
    check("{\"value_counts\": \"foo\"}", "INPUT /value_counts 0", "unknown column");
    check("{\"value_counts\": [\"pid\", \"foo\"]}", "INPUT /value_counts/1 0", "unknown column");
    check("{\"describe\": [\"size\", {\"n\": \"name\"}]}", "INPUT /describe/1 0", "expected a number");
    check("{\"group_by\": [\"name\"], \"aggregate\": {\"n\": \"count()\"}, \"then\": {\"filter\": \"size > "
          "1\"}}",
          "INPUT /then/filter 0", "there are func_name, n");
    check("{\"aggregate\": {\"u\": \"unique(name)\"}, \"order_by\": [\"u\"]}", "INPUT /order_by/0",
          "it has no order");
    check("{\"group_by\": [\"name\"], \"order_by\": [\"-m\"]}", "INPUT /order_by/0", "unknown column 'm'");
    check("{\"order_by\": [\"durr\"]}", "INPUT /order_by/0", "did you mean 'dur'?");
    check("{\"aggregate\": {\"u\": \"unique(name)\"}, \"then\": {\"group_by\": [\"u\"]}}",
          "INPUT /then/group_by/0 0", "a list cannot be a group key");
}

Test(mistakes, of_aggregates)
{
    check("{\"group_by\": [\"name\"], \"aggregate\": {\"x\": \"sum(size) / dur\"}}", "INPUT /aggregate/x 12",
          "the keys are func_name");
    check("{\"aggregate\": {\"percentile(time, 99)\": \"percentile(time, 99)\", \"n\": \"count(\"}}",
          "INPUT /aggregate/percentile(time, 99) 0", "unknown function 'percentile'; there are count, ");
    check("{\"aggregate\": {\"x\": \"quantil(time, 0.9)\"}}", "INPUT /aggregate/x 0",
          "did you mean 'quantile'?");
    check("{\"aggregate\": {\"x\": \"nosuch\"}}", "INPUT /aggregate/x 0", "there are no keys");
    check("{\"aggregate\": {\"x\": \"sum(name)\"}}", "INPUT /aggregate/x 4", "sum needs numbers, not a text");
    check("{\"aggregate\": {\"x\": \"argmax(1, name)\"}}", "INPUT /aggregate/x 10", "argmax needs numbers");
    check("{\"aggregate\": {\"x\": \"quantile(size, 50)\"}}", "INPUT /aggregate/x 15", "from 0 to 1");
    check("{\"aggregate\": {\"x\": \"quantile(size, tid)\"}}", "INPUT /aggregate/x 15", "from 0 to 1");
    check("{\"aggregate\": {\"x\": \"quantile(size)\"}}", "INPUT /aggregate/x 0",
          "takes 2 arguments, found 1");
    check("{\"aggregate\": {\"x\": \"max(sum(size))\"}}", "INPUT /aggregate/x 4", "inside an aggregate");
    check("{\"aggregate\": {\"x\": \"count(1, 2)\"}}", "INPUT /aggregate/x 0", "count takes 0 to 1 argument");
    check("{\"aggregate\": {\"x\": \"count([1])\"}}", "INPUT /aggregate/x 6", "not a list");
    check("{\"aggregate\": {\"x\": \"sum(size, na=true)\"}}", "INPUT /aggregate/x 0", "no named options");
    check("{\"aggregate\": {\"x\": \"sum(foo)\"}}", "INPUT /aggregate/x 4", "unknown column 'foo'");
    check("{\"aggregate\": {\"x\": \"1 + count() count()\"}}", "INPUT /aggregate/x 12",
          "an operator or the end");
    check("{\"aggregate\": {\"x\": \"count() + 'a'\"}}", "INPUT /aggregate/x 8", "needs numbers");
    check("{\"group_by\": [\"name\"], \"aggregate\": {\"n\": \"count()\"}, \"then\": {\"aggregate\": {\"x\": "
          "\"busy()\"}}}",
          "INPUT /then/aggregate/x 0", "needs events");
    check("{\"columns\": [\"ts\"], \"then\": {\"aggregate\": {\"x\": \"busy()\"}}}",
          "INPUT /then/aggregate/x 0", "needs events");
    check("{\"aggregate\": {\"u\": \"unique(name)\"}, \"then\": {\"aggregate\": {\"x\": \"max(u)\"}}}",
          "INPUT /then/aggregate/x 4", "not a list");
}

Test(mistakes, of_histograms)
{
    check("{\"histogram\": \"size\"}", "INPUT /histogram", "expected {\"of\"");
    check("{\"histogram\": {\"of\": \"size\", \"edges\": 5}}", "INPUT /histogram/edges",
          "there are of, bins, range");
    check("{\"histogram\": {\"of\": \"name\"}}", "INPUT /histogram/of 0", "expected a number");
    check("{\"histogram\": {\"of\": \"size\", \"bins\": 0}}", "INPUT /histogram/bins", "from 1 on");
    check("{\"histogram\": {\"of\": \"size\", \"bins\": 10001}}", "LIMIT /histogram/bins",
          "10001 bins are too many; the limit is 10000");
    check("{\"histogram\": {\"of\": \"size\", \"bins\": [1]}}", "INPUT /histogram/bins", "at least two");
    check("{\"histogram\": {\"of\": \"size\", \"bins\": [2, 1]}}", "INPUT /histogram/bins", "must increase");
    check("{\"histogram\": {\"of\": \"size\", \"bins\": [1, \"2\"]}}", "INPUT /histogram/bins/1",
          "expected a number");
    check("{\"histogram\": {\"of\": \"size\", \"range\": [5, 1]}}", "INPUT /histogram/range",
          "do not increase");
    check("{\"histogram\": {\"of\": \"size\", \"range\": [5]}}", "INPUT /histogram/range", "[low, high]");
}

#define GROUPED                                                                                              \
    "\"group_by\": [\"trace\", \"pid\"], \"aggregate\": {\"n\": \"count()\", \"x\": \"first(name)\"}"

Test(mistakes, of_comparisons)
{
    check("{" GROUPED ", \"compare\": {\"baseline\": \"other\"}}", "INPUT /compare/baseline",
          "there are base, next");
    check("{" GROUPED ", \"compare\": 5}", "INPUT /compare/baseline", "expected the label");
    check("{" GROUPED ", \"compare\": {\"baseline\": \"base\", \"column\": []}}", "INPUT /compare/column",
          "did you mean 'columns'?");
    check("{" GROUPED ", \"compare\": {\"baseline\": \"base\", \"columns\": [\"x\"]}}",
          "INPUT /compare/columns/0", "unknown number 'x'");
    check("{" GROUPED ", \"compare\": {\"baseline\": \"base\", \"columns\": [\"n\", \"n\"]}}",
          "INPUT /compare", "two columns 'n_baseline'");
    check("{\"compare\": {\"baseline\": \"base\"}}", "INPUT /compare", "needs \"trace\"");
    check("{\"group_by\": [\"cat\"], \"compare\": {\"baseline\": \"base\"}}", "INPUT /compare",
          "needs \"trace\"");
    check("{" GROUPED ", \"then\": {\"columns\": [\"trace\", \"n\"]}, \"compare\": {\"baseline\": \"base\"}}",
          "INPUT /compare", "needs \"trace\"");
    check("{" GROUPED ", \"compare\": {\"baseline\": \"base\"}, \"order_by\": [\"-n_deltas\"]}",
          "INPUT /order_by/0", "did you mean 'n_delta'?");
}

/* @start, @count times @piece with its number in the place of %d, @end */
static void check_many(const char *start, const char *piece, unsigned count, const char *end,
                       const char *mistake, const char *said)
{
    struct sta_buffer json;
    sta_buffer_init(&json);
    sta_put_text(&json, start);
    for (unsigned i = 0; i < count; i++) {
        sta_put_text(&json, i > 0 ? ", " : "");
        for (const char *c = piece; *c != '\0'; c++) {
            if (*c == '#')
                sta_put_uint(&json, i);
            else
                sta_put_char(&json, *c);
        }
    }
    sta_put_text(&json, end);
    char *text = sta_buffer_take_text(&json);
    check(text, mistake, said);
    free(text);
}

#define FIVE_SUMS(n) "sum(#" n "0) + sum(#" n "1) + sum(#" n "2) + sum(#" n "3) + sum(#" n "4)"
#define TWENTY_SUMS FIVE_SUMS("6") " + " FIVE_SUMS("7") " + " FIVE_SUMS("8") " + " FIVE_SUMS("9")

Test(mistakes, limits)
{
    check_many("{\"derive\": {", "\"d#\": \"1\"", 64, "}}", "", "");
    check_many("{\"derive\": {", "\"d#\": \"1\"", 65, "}}", "LIMIT /derive",
               "65 derived columns are too many; the limit is 64");
    check_many("{\"group_by\": [", "{\"k#\": \"pid\"}", 16, "]}", "", "");
    check_many("{\"group_by\": [", "{\"k#\": \"pid\"}", 17, "]}", "LIMIT /group_by", "17 group keys");
    check_many("{\"value_counts\": [", "{\"k#\": \"pid\"}", 17, "]}", "LIMIT /value_counts", "17 group keys");
    check_many("{\"aggregate\": {", "\"a#\": \"max(size + #)\"", 64, "}}", "", "");
    check_many("{\"aggregate\": {", "\"a#\": \"count()\"", 65, "}}", "LIMIT /aggregate", "65 aggregates");
    check_many("{\"aggregate\": {", "\"a#\": \"" TWENTY_SUMS "\"", 64, "}}", "LIMIT /aggregate",
               "1280 different calls of aggregates are too many; the limit is 1024");
    check_many("{\"filter\": \"", "(", 150, "\"}", "INPUT /filter 1", "expected a value");
    check_many("{\"filter\": \"size in [", "#", 3000, "]\"}", "LIMIT /filter 10000", "the limit is 10000");
    check("{\"then\": {\"then\": {\"then\": {\"then\": {\"then\": {\"then\": {\"then\": {}}}}}}}}", "", "");
    check(
        "{\"then\": {\"then\": {\"then\": {\"then\": {\"then\": {\"then\": {\"then\": {\"then\": {}}}}}}}}}",
        "LIMIT /then/then/then/then/then/then/then/then", "9 stages are too many; the limit is 8");
}

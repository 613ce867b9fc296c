/* A trace of many row groups: the same bytes for any number of threads and hardly any memory; row groups that
 * are left out; what is told of the steps. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queries.h"
#include "common/memory.h"
#include "../made_trace.h"

#define EVENTS 150000u
#define SOURCES 3u

struct fixture {
    struct made_trace trace;
    struct queries queries;
};

static uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

/* Three files side by side; what is read changes over time, so that a file lies in few row groups.  Of the
 * marks 100 are common to all row groups, and each other one is of a single event. */
static void make_events(struct made_event *events)
{
    static const char *const paths[] = {"b.pfw", "a.pfw", "c.pfw"};
    static const char *const names[] = {"read", "write", "open", "close", "lseek"};
    static char files[100][16], tags[9000][16], marks[400][16];
    uint32_t each = EVENTS / SOURCES;
    for (unsigned t = 0; t < 9000; t++)
        snprintf(tags[t], sizeof tags[t], "t%04u", t);
    for (unsigned m = 0; m < 400; m++)
        snprintf(marks[m], sizeof marks[m], "m%03u", m);
    for (unsigned f = 0; f < 100; f++)
        snprintf(files[f], sizeof files[f], "/data/%02u", f);
    for (uint32_t i = 0; i < each * SOURCES; i++) {
        uint32_t source = i / each, at = i % each, dice = scramble(i);
        events[i] =
            (struct made_event){.source = paths[source],
                                .ts = (int64_t)at * 10 + (dice & 7),
                                .dur = dice % 5000,
                                .name = names[dice % 5],
                                .cat = "posix",
                                .host = source == 0 ? "n1" : "n2",
                                .file = files[at * 100 / each],
                                .pid = 100 + source,
                                .tid = 100 + dice % 7,
                                .args = {{"ret", NULL, dice % 100000},
                                         {"tag", tags[at * 9000 / each], 0},
                                         {"mark", marks[i % 500 == 0 ? 100 + i / 500 : dice % 100], 0}}};
    }
}

static void fixture_init(struct fixture *fixture)
{
    struct made_event *events = sta_alloc_array(EVENTS, sizeof *events);
    make_events(events);
    made_trace_init(&fixture->trace, events, EVENTS / SOURCES * SOURCES, 5000, 2);
    queries_init(&fixture->queries);
    queries_add(&fixture->queries, "run", fixture->trace.snapshot);
    free(events);
}

static void fixture_fini(struct fixture *fixture)
{
    queries_fini(&fixture->queries);
    made_trace_fini(&fixture->trace);
}

static const char *const requests[] = {
    "{\"columns\": [\"ts\", \"pid\", \"dur\"]}",
    "{\"columns\": [\"ts\", \"pid\", \"dur\"], \"filter\": \"dur < 40\"}",
    "{\"columns\": [\"dur\", \"ts\", \"pid\"], \"order_by\": [\"-dur\", \"file_name\"]}",
    "{\"group_by\": [\"ts // 50\", \"func_name\"], \"aggregate\": {\"n\": \"count()\", \"s\": \"sum(size)\", "
    "\"f\": "
    "\"first(dur)\", \"m\": \"median(dur)\"}}",
    "{\"group_by\": [\"ts\", \"pid\"], \"aggregate\": {\"n\": \"sum(dur)\"}, \"order_by\": [\"-n\", "
    "\"pid\"]}",
    "{\"group_by\": [\"ts\", \"pid\"], \"aggregate\": {\"n\": \"sum(dur)\"}, \"then\": {\"group_by\": [\"n % "
    "1000\"], "
    "\"aggregate\": {\"k\": \"count()\", \"l\": \"last(ts)\"}}}",
    "{\"order_by\": [\"-size\"], \"limit\": 50000, \"then\": {\"group_by\": [\"func_name\"], \"aggregate\": "
    "{\"n\": "
    "\"count()\", \"first\": \"first(ts)\"}}}",
    "{\"group_by\": [\"ts\", \"file_name\"], \"aggregate\": {\"n\": \"sum(dur)\"}, \"then\": {\"filter\": "
    "\"n % 3 > "
    "0\", \"columns\": [\"n\"], \"order_by\": [\"-file_name\", \"n\"], \"limit\": 70000, \"then\": "
    "{\"filter\": \"n % 5 "
    "> 0\"}}}",
    "{\"group_by\": [\"ts\", \"name\"], \"aggregate\": {\"n\": \"sum(dur)\"}, \"then\": {\"derive\": "
    "{\"half\": \"n / "
    "2\"}, \"order_by\": [\"-half\", \"name\"]}}",
    "{\"value_counts\": [\"dur\", \"tid\"]}",
    "{\"describe\": [\"dur\", \"size\"], \"group_by\": [\"func_name\", \"ts // 1000\"]}",
    "{\"histogram\": {\"of\": \"size\", \"bins\": 7}, \"group_by\": [\"tid\", \"ts // 4000\"]}",
};

/* The first difference of two results that should be the same. */
static void check_same(const char *request, const char *want, const char *got)
{
    size_t at = 0, line = 0;
    while (want[at] != '\0' && want[at] == got[at])
        line = want[at++] == '\n' ? at : line;
    cr_assert(want[at] == got[at], "%s\nwanted %.*s\n   got %.*s", request, 60, want + line, 60, got + line);
}

Test(query_large, same_bytes, .timeout = 1600)
{
    static const struct {
        unsigned workers;
        size_t memory;
    } cases[] = {{1, (size_t)1 << 30}, {2, 1 << 20}, {5, 1 << 16}};
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t r = 0; r < STA_COUNT_OF(requests); r++) {
        fixture.queries.budget =
            (struct sta_budget){.workers = 3, .memory = (size_t)1 << 30, .spill_folder = "/tmp"};
        char *want = queries_rows(&fixture.queries, requests[r]);
        cr_assert_gt(strlen(want), 40, "%s gave %s", requests[r], want);
        for (size_t m = 0; m < STA_COUNT_OF(cases); m++) {
            fixture.queries.budget.workers = cases[m].workers;
            fixture.queries.budget.memory = cases[m].memory;
            char *got = queries_rows(&fixture.queries, requests[r]);
            check_same(requests[r], want, got);
            free(got);
        }
        free(want);
    }
    fixture_fini(&fixture);
}

Test(query_large, pages_are_the_whole, .timeout = 480)
{
    static const char *const paged[] = {
        "{\"columns\": [\"ts\", \"pid\", \"dur\"], \"filter\": \"dur % 7 == 0\"}",
        "{\"columns\": [\"dur\", \"ts\"], \"filter\": \"dur % 7 == 0\", \"order_by\": [\"-dur\"]}",
        "{\"columns\": [\"dur\", \"ts\"], \"filter\": \"size < 9000\", \"order_by\": [\"time\", \"-pid\"]}",
        "{\"columns\": [\"size\", \"ts\"], \"filter\": \"dur % 11 == 0\", \"order_by\": [\"-size\"]}",
        "{\"columns\": [\"name\", \"ts\"], \"filter\": \"dur % 31 == 0\", \"order_by\": [\"name\"]}",
        "{\"columns\": [\"tid\", \"ts\"], \"filter\": \"dur % 31 == 0\", \"order_by\": [\"-tid\"]}",
        "{\"columns\": [\"epoch\", \"ts\"], \"filter\": \"dur % 31 == 0\", \"order_by\": [\"epoch\"]}",
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t r = 0; r < STA_COUNT_OF(paged); r++) {
        char *want = queries_rows(&fixture.queries, paged[r]);
        char *got = queries_pages(&fixture.queries, paged[r], 599);
        check_same(paged[r], want, got);
        free(want);
        free(got);
    }
    fixture_fini(&fixture);
}

/* Steps that read the store: row groups read and all of them. */
static void count_row_groups(const struct queries *queries, const char *request, uint64_t *read,
                             uint64_t *all)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_query_result *result = queries_result(queries, request, &err);
    size_t count;
    cr_assert_not_null(result, "%s", err.text);
    const struct sta_query_step *steps = sta_query_steps(result, &count);
    *read = *all = 0;
    for (size_t i = 0; i < count; i++) {
        *read += steps[i].row_groups_read;
        *all += steps[i].row_groups_read + steps[i].row_groups_skipped;
    }
    sta_query_result_release(result);
}

Test(query_large, row_groups_left_out)
{
    static const struct {
        const char *request;
        uint64_t most; /* of a hundred row groups */
    } cases[] = {
        {"{\"filter\": \"ts >= 300000 and ts < 306000\", \"aggregate\": {\"n\": \"count()\"}}", 50},
        {"{\"from\": 0.3, \"to\": 0.306, \"aggregate\": {\"n\": \"count()\"}}", 50},
        {"{\"filter\": \"file_name == '/data/42'\", \"aggregate\": {\"n\": \"count()\"}}", 50},
        {"{\"filter\": \"args.mark == 'm250'\", \"aggregate\": {\"n\": \"count()\"}}", 11},
        /* more texts in a row group than are listed: by the range of their codes */
        {"{\"filter\": \"args.tag == 't1234'\", \"aggregate\": {\"n\": \"count()\"}}", 50},
        {"{\"filter\": \"args.tag.str.contains('x')\", \"aggregate\": {\"n\": \"count()\"}}", 0},
        {"{\"filter\": \"func_name == 'nothing'\", \"aggregate\": {\"n\": \"count()\"}}", 0},
        {"{\"filter\": \"dur > 5000\", \"aggregate\": {\"n\": \"count()\"}}", 0},
        {"{\"filter\": \"size > 1000000\", \"aggregate\": {\"n\": \"count()\"}}", 0},
        {"{\"filter\": \"args.ret < -1\", \"aggregate\": {\"n\": \"count()\"}}", 0},
        {"{\"filter\": \"pid == 999\", \"aggregate\": {\"n\": \"count()\"}}", 0},
        {"{\"filter\": \"host_name == 'n3' or host_name == 'n4'\", \"aggregate\": {\"n\": \"count()\"}}", 0},
        {"{\"filter\": \"file_name == '/data/42'\", \"columns\": [\"ts\"]}", 50},
        {"{\"filter\": \"dur >= 0\", \"aggregate\": {\"n\": \"count()\"}}", 100},
    };
    struct fixture fixture;
    fixture_init(&fixture);
    for (size_t i = 0; i < STA_COUNT_OF(cases); i++) {
        uint64_t read, all;
        count_row_groups(&fixture.queries, cases[i].request, &read, &all);
        cr_assert_gt(all, 9);
        cr_assert_leq(read * 100, cases[i].most * all, "%s reads %llu of %llu", cases[i].request,
                      (unsigned long long)read, (unsigned long long)all);
    }
    fixture_fini(&fixture);
}

Test(query_large, steps_are_told)
{
    struct fixture fixture;
    struct sta_error err = STA_ERROR_INIT;
    size_t count;
    fixture_init(&fixture);
    fixture.queries.budget.memory = 1 << 16;
    struct sta_query_result *result =
        queries_result(&fixture.queries,
                       "{\"group_by\": [\"ts\", \"pid\"], \"aggregate\": {\"n\": \"count()\"}, "
                       "\"order_by\": [\"-n\"]}",
                       &err);
    const struct sta_query_step *steps = sta_query_steps(result, &count);
    cr_assert_eq(count, 3);
    cr_assert_str_eq(steps[0].name, "scan");
    cr_assert_eq(steps[0].rows_in, EVENTS / SOURCES * SOURCES);
    cr_assert_eq(steps[0].rows_out, steps[0].rows_in);
    cr_assert_str_eq(steps[1].name, "group");
    cr_assert_gt(steps[1].spilled, 0);
    cr_assert_gt(steps[1].rows_out, EVENTS / 2);
    cr_assert_str_eq(steps[2].name, "sort");
    cr_assert_eq(steps[2].rows_in, steps[1].rows_out);
    cr_assert_eq(steps[2].rows_out, steps[1].rows_out);
    sta_query_result_release(result);
    fixture_fini(&fixture);
}

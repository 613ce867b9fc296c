/* Plain rows: their order, windows, pages that go on, sorting, several traces; and what a later stage makes
 * of them. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "queries.h"
#include "common/memory.h"
#include "../made_trace.h"

/* Files b and a, written side by side; at 20 us both have an event, and b has two. */
static const struct made_event events[] = {
    {"b.pfw", 0, 5, "open", "posix", "n1", "/f/b", 10, 10, {{0}}},
    {"b.pfw", 20, 4, "read", "posix", "n1", "/f/b", 10, 10, {{"ret", NULL, 300}}},
    {"b.pfw", 20, 3, "read", "posix", "n1", "/f/b", 10, 10, {{"ret", NULL, 100}}},
    {"b.pfw", 50, 2, "close", "posix", "n1", "/f/b", 10, 10, {{0}}},
    {"a.pfw", 10, 9, "open", "posix", "n2", "/f/a", 11, 11, {{0}}},
    {"a.pfw", 20, 8, "write", "posix", "n2", "/f/a", 11, 11, {{"ret", NULL, 200}}},
    {"a.pfw", 30, 7, "compute", "ai_framework", "n2", NULL, 11, 12, {{"note", "x", 0}}},
};

struct fixture {
    struct made_trace trace;
    struct queries queries;
};

static void fixture_init(struct fixture *fixture, uint32_t chunk_rows, unsigned workers)
{
    made_trace_init(&fixture->trace, events, STA_COUNT_OF(events), chunk_rows, workers);
    queries_init(&fixture->queries);
    queries_add(&fixture->queries, "run", fixture->trace.snapshot);
}

static void fixture_fini(struct fixture *fixture)
{
    queries_fini(&fixture->queries);
    made_trace_fini(&fixture->trace);
}

static void expect(const struct queries *queries, const char *request, const char *rows)
{
    char *got = queries_rows(queries, request);
    cr_assert_str_eq(got, rows, "%s\ngave\n%swanted\n%s", request, got, rows);
    free(got);
    for (size_t page = 1; page <= 3; page++) {
        got = queries_pages(queries, request, page);
        cr_assert_str_eq(got, rows, "%s\nin pages of %zu gave\n%swanted\n%s", request, page, got, rows);
        free(got);
    }
}

Test(query_plain, event_order)
{
    for (uint32_t chunk_rows = 1; chunk_rows <= 4; chunk_rows++)
        for (unsigned workers = 1; workers <= 3; workers++) {
            struct fixture fixture;
            fixture_init(&fixture, chunk_rows, workers);
            expect(&fixture.queries, "{\"columns\": [\"ts\", \"func_name\", \"dur\"]}",
                   "0, \"open\", 5\n10, \"open\", 9\n20, \"write\", 8\n20, \"read\", 4\n20, \"read\", 3\n"
                   "30, \"compute\", 7\n50, \"close\", 2\n");
            fixture_fini(&fixture);
        }
}

Test(query_plain, window_and_filter)
{
    struct fixture fixture;
    fixture_init(&fixture, 2, 2);
    expect(&fixture.queries, "{\"from\": 0.00001, \"to\": 0.00003, \"columns\": [\"ts\", \"dur\"]}",
           "10, 9\n20, 8\n20, 4\n20, 3\n");
    expect(&fixture.queries, "{\"filter\": \"size > 150\", \"columns\": [\"func_name\", \"size\"]}",
           "\"write\", 200\n\"read\", 300\n");
    expect(&fixture.queries, "{\"filter\": \"file_name.str.endswith('a')\", \"columns\": [\"ts\"]}",
           "10\n20\n");
    expect(&fixture.queries, "{\"filter\": \"ts > 1000\", \"columns\": [\"ts\"]}", "");
    fixture_fini(&fixture);
}

Test(query_plain, sorted)
{
    struct fixture fixture;
    fixture_init(&fixture, 2, 3);
    expect(&fixture.queries, "{\"columns\": [\"dur\"], \"order_by\": [\"size\"]}", "3\n8\n4\n5\n9\n7\n2\n");
    expect(&fixture.queries, "{\"columns\": [\"dur\"], \"order_by\": [\"-size\"]}", "4\n8\n3\n5\n9\n7\n2\n");
    expect(
        &fixture.queries, "{\"columns\": [\"func_name\", \"dur\"], \"order_by\": [\"func_name\", \"-dur\"]}",
        "\"close\", 2\n\"compute\", 7\n\"open\", 9\n\"open\", 5\n\"read\", 4\n\"read\", 3\n\"write\", 8\n");
    expect(
        &fixture.queries,
        "{\"derive\": {\"u\": \"upper(file_name)\"}, \"columns\": [\"u\", \"ts\"], \"order_by\": [\"-u\"]}",
        "\"/F/B\", 0\n\"/F/B\", 20\n\"/F/B\", 20\n\"/F/B\", 50\n\"/F/A\", 10\n\"/F/A\", 20\nnull, 30\n");
    /* the least of all values, descending, still comes before what is missing */
    expect(&fixture.queries,
           "{\"derive\": {\"u\": \"replace(file_name, '.*', '')\", \"b\": \"where(file_name.notna(), ts > "
           "100)\"}, "
           "\"columns\": [\"u\", \"b\"], \"filter\": \"ts >= 30\", \"order_by\": [\"-u\", \"-b\"]}",
           "\"\", false\nnull, null\n");
    fixture_fini(&fixture);
}

Test(query_plain, later_stages)
{
    struct fixture fixture;
    fixture_init(&fixture, 2, 2);
    expect(&fixture.queries,
           "{\"derive\": {\"x\": \"dur * 2\"}, \"then\": {\"filter\": \"x > 8\", \"derive\": {\"y\": \"x + "
           "1\"}, "
           "\"columns\": [\"y\", \"func_name\"]}}",
           "11, \"open\"\n19, \"open\"\n17, \"write\"\n15, \"compute\"\n");
    expect(&fixture.queries,
           "{\"order_by\": [\"-dur\"], \"limit\": 3, \"then\": {\"columns\": [\"dur\", \"file_name\"]}}",
           "9, \"/f/a\"\n8, \"/f/a\"\n7, null\n");
    expect(&fixture.queries, "{\"limit\": 2, \"then\": {\"columns\": [\"dur\"], \"order_by\": [\"-ts\"]}}",
           "9\n5\n");
    fixture_fini(&fixture);
}

Test(query_plain, several_traces)
{
    static const struct made_event others[] = {
        {"c.pfw", 7, 1, "open", "posix", "n3", "/f/c", 12, 12, {{"ret", "abc", 0}, {"note", NULL, 5}}},
    };
    struct fixture fixture;
    struct made_trace other;
    fixture_init(&fixture, 2, 2);
    made_trace_init(&other, others, 1, 1, 1);
    queries_add(&fixture.queries, "other", other.snapshot);
    expect(
        &fixture.queries,
        "{\"columns\": [\"trace\", \"ts\", \"args.ret\", \"args.note\"], \"filter\": \"args.ret.notna() or "
        "args.note.notna()\"}",
        "\"run\", 20, \"200\", null\n\"run\", 20, \"300\", null\n\"run\", 20, \"100\", null\n"
        "\"run\", 30, null, \"x\"\n\"other\", 0, \"abc\", \"5\"\n");
    expect(&fixture.queries, "{\"filter\": \"trace == 'other'\", \"columns\": [\"func_name\"]}",
           "\"open\"\n");
    expect(&fixture.queries,
           "{\"order_by\": [\"file_name\", \"-ts\"], \"columns\": [\"trace\", \"file_name\"], \"filter\": "
           "\"ts < 15\"}",
           "\"run\", \"/f/a\"\n\"run\", \"/f/b\"\n\"other\", \"/f/c\"\n");
    made_trace_fini(&other);
    fixture_fini(&fixture);
}

Test(query_plain, mistakes)
{
    struct fixture fixture;
    fixture_init(&fixture, 2, 2);
    expect(&fixture.queries, "{\"preset\": \"nope\"}",
           "INPUT /preset -1: there is no preset \"nope\"; there are dlio, ai, posix, generic, dask\n");
    fixture_fini(&fixture);
}

/* A position of one result fits no other. */
Test(query_plain, foreign_position)
{
    struct fixture fixture;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_query_reader *reader;
    struct sta_table table;
    struct sta_buffer position;
    fixture_init(&fixture, 2, 2);
    sta_buffer_init(&position);
    struct sta_query_result *one =
        queries_result(&fixture.queries, "{\"filter\": \"ts >= 0\", \"limit\": 2}", &err);
    struct sta_query_result *two = queries_result(&fixture.queries, "{\"filter\": \"ts > 0\"}", &err);
    struct sta_query_result *paged =
        queries_result(&fixture.queries, "{\"filter\": \"ts >= 0\", \"limit\": 5}", &err);
    cr_assert_eq(sta_query_reader_create(one, &fixture.queries.budget, NULL, 0, &reader, &err), 0);
    cr_assert_eq(sta_query_read(reader, 2, &table, &err), 0);
    cr_assert(sta_query_position(reader, &position));
    sta_table_fini(&table);
    sta_query_reader_destroy(reader);
    cr_assert_eq(
        sta_query_reader_create(two, &fixture.queries.budget, position.data, position.size, &reader, &err),
        STA_EINPUT);
    cr_assert_eq(sta_query_reader_create(one, &fixture.queries.budget, position.data, position.size - 1,
                                         &reader, &err),
                 STA_EINPUT);
    cr_assert_eq(
        sta_query_reader_create(paged, &fixture.queries.budget, position.data, position.size, &reader, &err),
        0);
    sta_query_reader_destroy(reader);
    sta_query_result_release(paged);
    sta_query_result_release(two);
    sta_query_result_release(one);
    sta_buffer_fini(&position);
    fixture_fini(&fixture);
}

/* Threads of two hosts and of none, with and without ids; their codes are in no order. */
static const struct made_event of_threads[] = {
    {"a.pfw", 0, 5, "open", "posix", "n2", NULL, 30, 31, {{0}}},
    {"a.pfw", 1, 5, "open", "posix", "n10", NULL, 30, 31, {{0}}},
    {"a.pfw", 2, 5, "read", "posix", NULL, NULL, 30, 31, {{0}}},
    {"a.pfw", 3, 5, "read", "posix", "n1", NULL, STA_NO_ID, 31, {{0}}},
    {"a.pfw", 4, 5, "open", "posix", "n1", NULL, 30, STA_NO_ID, {{0}}},
    {"a.pfw", 5, 5, "open", "posix", "n1", NULL, 7, 9, {{0}}},
    {"a.pfw", 6, 5, "read", "posix", "n1", NULL, 7, 8, {{0}}},
    {"a.pfw", 7, 5, "read", "posix", "n2", NULL, 30, 31, {{0}}},
    {"a.pfw", 8, 5, "read", "posix", "n1", NULL, -5, 8, {{0}}},
};

/* Keys that a thread tells give the groups that the same values give as expressions. */
Test(query_plain, keys_of_threads)
{
    static const char *const plain[] = {
        "\"pid\", \"tid\", \"host_name\"", "\"host_name\", \"pid\"", "\"func_name\", \"tid\", \"pid\"",
        "\"tid\", \"func_name\", \"host_name\", \"pid\"", "\"tid\", \"host_name\""};
    static const char *const made[] = {
        "{\"pid\": \"pid + 0\"}, {\"tid\": \"tid + 0\"}, {\"host_name\": \"host_name + ''\"}",
        "{\"host_name\": \"host_name + ''\"}, {\"pid\": \"pid + 0\"}",
        "\"func_name\", {\"tid\": \"tid + 0\"}, {\"pid\": \"pid + 0\"}",
        "{\"tid\": \"tid + 0\"}, \"func_name\", {\"host_name\": \"host_name + ''\"}, {\"pid\": \"pid + 0\"}",
        "{\"tid\": \"tid + 0\"}, {\"host_name\": \"host_name + ''\"}"};
    static const char *const rests[] = {"", ", \"dropna\": false", ", \"filter\": \"func_name == 'read'\""};
    struct fixture fixture;
    made_trace_init(&fixture.trace, of_threads, STA_COUNT_OF(of_threads), 2, 2);
    queries_init(&fixture.queries);
    queries_add(&fixture.queries, "run", fixture.trace.snapshot);
    for (size_t i = 0; i < STA_COUNT_OF(plain); i++)
        for (size_t r = 0; r < STA_COUNT_OF(rests); r++) {
            char *request =
                sta_sprintf("{\"group_by\": [%s], \"aggregate\": {\"n\": \"count()\"}%s}", made[i], rests[r]);
            char *rows = queries_rows(&fixture.queries, request);
            free(request);
            request = sta_sprintf("{\"group_by\": [%s], \"aggregate\": {\"n\": \"count()\"}%s}", plain[i],
                                  rests[r]);
            expect(&fixture.queries, request, rows);
            free(request);
            free(rows);
        }
    fixture_fini(&fixture);
}

Test(query_plain, cancelled)
{
    struct fixture fixture;
    struct sta_error err = STA_ERROR_INIT;
    _Atomic bool cancel = true;
    fixture_init(&fixture, 2, 2);
    fixture.queries.budget.cancel = &cancel;
    cr_assert_null(queries_result(&fixture.queries, "{\"aggregate\": {\"n\": \"count()\"}}", &err));
    cr_assert_eq(err.status, STA_ECANCELLED);
    fixture_fini(&fixture);
}

/* Of the sanitizers' own heap; not there without them. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes != NULL ? __sanitizer_get_current_allocated_bytes()
                                                           : mallinfo2().uordblks;
}

/* Results are kept within a number of bytes, so each must say what it holds, about: the allocator and the
 * sanitizers add to each block. */
static void expect_counted(const struct queries *queries, const char *request)
{
    enum { COUNT = 64, MORE = 16384 };
    struct sta_error err = STA_ERROR_INIT;
    struct sta_query_result *results[COUNT];
    uint64_t counted = 0;
    sta_query_result_release(queries_result(queries, request, &err)); /* what is made once is there */
    const size_t before = heap_in_use();
    for (int i = 0; i < COUNT; i++) {
        results[i] = queries_result(queries, request, &err);
        cr_assert_not_null(results[i], "%s", err.text);
        counted += sta_query_result_bytes(results[i]);
    }
    const size_t now = heap_in_use(), held = now - STA_MIN(now, before);
    cr_expect_leq(held, 2 * counted + COUNT * MORE, "%s: %zu bytes held, %zu counted", request, held / COUNT,
                  (size_t)counted / COUNT);
    for (int i = 0; i < COUNT; i++)
        sta_query_result_release(results[i]);
}

Test(query_plain, what_a_kept_result_holds_is_counted)
{
    struct fixture fixture;
    fixture_init(&fixture, 2, 2);
    expect_counted(&fixture.queries, "{\"filter\": \"dur > 1\"}");
    expect_counted(&fixture.queries, "{\"columns\": [\"ts\"], \"order_by\": [\"-dur\"]}");
    expect_counted(&fixture.queries, "{\"filter\": \"func_name.str.contains('re.*d|wri')\", "
                                     "\"group_by\": [\"func_name\"], \"aggregate\": {\"n\": \"count()\"}}");
    fixture_fini(&fixture);
}

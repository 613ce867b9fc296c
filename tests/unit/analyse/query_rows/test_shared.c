/* A query whose stripes others work on: the result is that of one who does all, also when some of them
 * cannot. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../made_trace.h"
#include "../peers.h"
#include "queries.h"
#include "common/memory.h"

static const struct made_event events[] = {
    {"b.pfw", 0, 5, "open", "posix", "n1", "/f/b", 10, 10, {{0}}},
    {"b.pfw", 20, 4, "read", "posix", "n1", "/f/b", 10, 10, {{"ret", NULL, 300}}},
    {"b.pfw", 20, 3, "read", "posix", "n1", "/f/b", 10, 10, {{"ret", NULL, 100}}},
    {"b.pfw", 50, 2, "close", "posix", "n1", "/f/b", 10, 10, {{0}}},
    {"a.pfw", 10, 9, "open", "posix", "n2", "/f/a", 11, 11, {{0}}},
    {"a.pfw", 20, 8, "write", "posix", "n2", "/f/a", 11, 11, {{"ret", NULL, 200}}},
    {"a.pfw", 30, 7, "compute", "ai_framework", "n2", NULL, 11, 12, {{"note", "x", 0}}},
};

static const char *const requests[] = {
    "{\"group_by\": [\"func_name\"], \"aggregate\": {\"n\": \"count()\", \"m\": \"median(dur)\", \"u\": "
    "\"nunique(file_name)\"}}",
    "{\"group_by\": [\"pid\", \"tid\"], \"aggregate\": {\"f\": \"first(func_name)\", \"l\": \"last(ts)\"}}",
    "{\"aggregate\": {\"s\": \"sum(size)\", \"d\": \"std(dur)\"}}",
    "{\"derive\": {\"slow\": \"dur > 4\"}, \"filter\": \"slow\", \"group_by\": [\"host_name\"], "
    "\"aggregate\": {\"n\": \"count()\"}, \"order_by\": [\"-n\"]}",
    "{\"value_counts\": [\"func_name\"]}",
    "{\"group_by\": [\"cat\"], \"histogram\": {\"of\": \"dur\", \"bins\": 3}}",
    "{\"columns\": [\"ts\", \"func_name\"]}",
};

struct fixture {
    struct made_trace trace;
    struct queries queries;
    struct peers peers;
    char *alone[STA_COUNT_OF(requests)];
};

static void fixture_init(struct fixture *fixture)
{
    made_trace_init(&fixture->trace, events, STA_COUNT_OF(events), 1, 3);
    queries_init(&fixture->queries);
    queries_add(&fixture->queries, "run", fixture->trace.snapshot);
    for (size_t i = 0; i < STA_COUNT_OF(requests); i++)
        fixture->alone[i] = queries_rows(&fixture->queries, requests[i]);
    peers_init(&fixture->peers, PEERS, fixture->queries.presets, fixture->trace.snapshot);
    fixture->queries.budget.peers = &fixture->peers.calls;
}

static void fixture_fini(struct fixture *fixture)
{
    for (size_t i = 0; i < STA_COUNT_OF(requests); i++)
        free(fixture->alone[i]);
    peers_fini(&fixture->peers);
    queries_fini(&fixture->queries);
    made_trace_fini(&fixture->trace);
}

static void expect_same(const struct fixture *fixture)
{
    for (size_t i = 0; i < STA_COUNT_OF(requests); i++) {
        char *got = queries_rows(&fixture->queries, requests[i]);
        cr_assert_str_eq(got, fixture->alone[i], "%s\ngave\n%swanted\n%s", requests[i], got,
                         fixture->alone[i]);
        free(got);
    }
    cr_assert_eq(fixture->peers.ended, fixture->peers.asked_count);
}

Test(query_shared, results_are_those_of_one)
{
    struct fixture fixture;
    fixture_init(&fixture);
    expect_same(&fixture);
    cr_assert_eq(fixture.peers.asked_count, STA_COUNT_OF(requests),
                 "a histogram is computed twice, first where its edges are, and rows are not shared");
    fixture_fini(&fixture);
}

Test(query_shared, what_others_cannot_do_is_done_here)
{
    struct fixture fixture;
    fixture_init(&fixture);
    for (unsigned rank = 1; rank < PEERS; rank++) {
        fixture.peers.status[rank] = STA_EOUTDATED;
        expect_same(&fixture);
    }
    fixture_fini(&fixture);
}

Test(query_shared, an_end_is_an_end_for_all)
{
    struct fixture fixture;
    struct sta_error err = STA_ERROR_INIT;
    fixture_init(&fixture);
    fixture.peers.status[2] = STA_ECANCELLED;
    cr_assert_null(queries_result(&fixture.queries, requests[0], &err));
    cr_assert_eq(err.status, STA_ECANCELLED);
    cr_assert_eq(fixture.peers.ended, 1);
    fixture_fini(&fixture);
}

Test(query_shared, bytes_that_are_no_query_are_refused)
{
    struct fixture fixture;
    fixture_init(&fixture);
    char *rows = queries_rows(&fixture.queries, requests[0]);
    for (size_t size = 0; size < fixture.peers.query.size; size++) {
        struct sta_buffer state = {0};
        struct sta_error err = STA_ERROR_INIT;
        if (size >= 6 && size < 42) /* within what the test's own calls look at: fingerprint and trace */
            continue;
        int status = peers_work(&fixture.peers, size, 1, &fixture.queries.budget, &state, &err);
        cr_assert_eq(status, STA_ECORRUPT, "%zu bytes: %d %s", size, status, err.text);
        sta_buffer_fini(&state);
    }
    free(rows);
    fixture_fini(&fixture);
}

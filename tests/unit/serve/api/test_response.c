/* Tables as JSON, CSV and NDJSON; the summary's layers; problems. */
#include <criterion/criterion.h>
#include <string.h>

#include "serve/api/response.h"

static const struct sta_response_names names = {"exact", "dlio", true};

static void fill(struct sta_table *table)
{
    sta_table_init(table, 2);
    struct sta_table_column *column = sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_set_text(table, column, 0, "a,\"b\"", 5);
    column = sta_table_add(table, "time", STA_TYPE_FLOAT, "s");
    sta_table_set_number(column, 0, 1.5);
    sta_table_set_number(column, 1, 2);
    column = sta_table_add(table, "count", STA_TYPE_INT, NULL);
    sta_table_set_int(column, 1, -3);
    table->row_count = 2;
}

static void expect_body(struct sta_response *response, const char *expected)
{
    char *text = sta_buffer_take_text(&response->body);
    cr_expect_str_eq(text, expected);
    free(text);
    sta_response_fini(response);
}

Test(response, a_table_in_three_forms)
{
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    struct sta_response response;
    fill(&table);
    facts.items[facts.count++] = (struct sta_fact){.name = "granularity", .is_number = true, .number = 1};
    sta_response_init(&response);
    sta_put_table(&response, STA_FORMAT_JSON, &names, &facts, &table);
    expect_body(&response,
                "{\"semantics\":\"exact\",\"preset\":\"dlio\",\"filters\":\"on\",\"granularity\":1.0,"
                "\"columns\":[\"name\",\"time\",\"count\"],\"units\":{\"time\":\"s\"},\"data\":[\n"
                "[\"a,\\\"b\\\"\",1.5,null],\n[null,2.0,-3]],\"row_count\":2,\"next\":null}");
    sta_response_init(&response);
    sta_put_table(&response, STA_FORMAT_CSV, &names, &facts, &table);
    cr_expect(strncmp(response.content_type, "text/csv", 8) == 0);
    expect_body(&response, "name,time,count\r\n\"a,\"\"b\"\"\",1.5,\r\n,2.0,-3\r\n");
    sta_response_init(&response);
    sta_put_table(&response, STA_FORMAT_NDJSON, &names, &facts, &table);
    expect_body(&response,
                "{\"name\":\"a,\\\"b\\\"\",\"time\":1.5,\"count\":null}\n{\"name\":null,\"time\":2.0,"
                "\"count\":-3}\n");
    sta_table_fini(&table);
}

/* app > io (metric read) ; compute beside io under app: overlap_with. */
Test(response, a_layer_lists_the_columns_that_it_has)
{
    struct sta_derived_metric read = {(char *)"read", (char *)"io_cat == 1"};
    struct sta_layer layers[] = {
        {.name = (char *)"app"},
        {.name = (char *)"io", .parent = (char *)"app", .metrics = &read, .metric_count = 1},
        {.name = (char *)"compute", .parent = (char *)"app"}};
    struct sta_preset preset = {.layers = layers, .layer_count = 3, .overlap_with = (char *)"compute"};
    struct sta_table table = {0};
    struct sta_facts facts = {0};
    struct sta_response response;
    sta_table_init(&table, 3);
    struct sta_table_column *column = sta_table_add(&table, "name", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < 3; i++)
        sta_table_set_text(&table, column, i, layers[i].name, strlen(layers[i].name));
    column = sta_table_add(&table, "parent", STA_TYPE_TEXT, NULL);
    sta_table_set_text(&table, column, 1, "app", 3);
    sta_table_set_text(&table, column, 2, "app", 3);
    column = sta_table_add(&table, "count", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < 3; i++)
        sta_table_set_int(column, i, 0);
    static const char *const others[] = {"time", "exposed_group_sum", "hidden_share", "self_group_sum",
                                         "read_count"};
    for (size_t i = 0; i < 5; i++)
        sta_table_add(&table, others[i], STA_TYPE_FLOAT, NULL);
    sta_response_init(&response);
    sta_put_summary(&response, STA_FORMAT_JSON, &names, &facts, &table, &preset);
    char *text = sta_buffer_take_text(&response.body);
    cr_expect(
        strstr(text, "{\"name\":\"app\",\"parent\":null,\"count\":0,\"time\":null,\"self_group_sum\":null}"),
        "%s", text);
    cr_expect(
        strstr(text,
               "{\"name\":\"io\",\"parent\":\"app\",\"count\":0,\"time\":null,\"exposed_group_sum\":null,"
               "\"hidden_share\":null,\"read_count\":null}"),
        "%s", text);
    cr_expect(strstr(text, "{\"name\":\"compute\",\"parent\":\"app\",\"count\":0,\"time\":null}"), "%s",
              text);
    free(text);
    sta_response_fini(&response);
    sta_table_fini(&table);
}

Test(response, every_status_has_one_of_http)
{
    static const struct {
        int status, http;
    } pairs[] = {{STA_EINPUT, 400}, {STA_ENOTFOUND, 404},    {STA_EFORBIDDEN, 403}, {STA_EBUSY, 503},
                 {STA_ELIMIT, 422}, {STA_EUNSUPPORTED, 501}, {STA_ENOSPC, 507},     {STA_EIO, 500}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        cr_expect_eq(sta_http_status(pairs[i].status), pairs[i].http);
#define X(name, text) cr_expect(sta_http_status(STA_E##name) >= 400);
    STA_STATUS_LIST(X)
#undef X
}

Test(response, a_problem_says_where)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_fail(&err, STA_EINPUT, "unknown column \"nme\"");
    sta_at(&err, "/filter", 3);
    struct sta_problem problem = sta_problem_of(&err);
    sta_put_problem(&out, &problem);
    char *text = sta_buffer_take_text(&out);
    cr_expect_str_eq(
        text,
        "{\"type\":\"urn:strata:problem:bad-request\",\"title\":\"The request is not valid\",\"status\":400,"
        "\"detail\":\"unknown column \\\"nme\\\"\",\"parameter\":\"/filter\",\"position\":3}");
    free(text);
}

Test(response, times_are_utc_to_the_microsecond)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_put_char(&out, '{');
    sta_put_member_time(&out, "a", INT64_C(1700000000123456));
    sta_put_member_time(&out, "b", -1);
    char *text = sta_buffer_take_text(&out);
    cr_expect_str_eq(text, "{\"a\":\"2023-11-14T22:13:20.123456Z\",\"b\":\"1969-12-31T23:59:59.999999Z\"");
    free(text);
}

Test(response, names_that_are_not_utf8_are_repaired_for_display)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    sta_put_json_text(&out, "a\xFF"
                            "b");
    char *text = sta_buffer_take_text(&out);
    cr_expect_str_eq(text, "\"a\xEF\xBF\xBD"
                           "b\"");
    free(text);
}

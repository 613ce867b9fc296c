/* Results as pages: put together they are the whole, in any order and form. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "serve/responses/pages.h"

#define ROWS 25

static const struct sta_budget budget = {.workers = 1, .memory = 1 << 20};

/* number: 0 .. 24; text: "a" "b" "c" in turn, every fifth is missing; ratio: falling. */
static struct sta_result *make_result(void)
{
    struct sta_table table;
    sta_table_init(&table, ROWS);
    struct sta_table_column *column = sta_table_add(&table, "number", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < ROWS; i++)
        sta_table_set_int(column, i, (int64_t)i);
    column = sta_table_add(&table, "text", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < ROWS; i++)
        if (i % 5 != 0)
            sta_table_set_text(&table, column, i, &"abc"[i % 3], 1);
    column = sta_table_add(&table, "ratio", STA_TYPE_FLOAT, "s");
    for (size_t i = 0; i < ROWS; i++)
        sta_table_set_number(column, i, 1.0 / (double)(i + 1));
    column = sta_table_add(&table, "list", STA_TYPE_LIST, NULL);
    return sta_result_of_table(&table, NULL, NULL);
}

static char *write_page(struct sta_result *result, const struct sta_page *page, size_t piece)
{
    struct sta_page_writer *writer;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer out;
    bool ended = false;
    sta_buffer_init(&out);
    cr_assert_eq(sta_page_writer_create(result, page, &budget, &writer, &err), STA_OK, "%s", err.text);
    while (!ended)
        cr_assert_eq(sta_page_write(writer, piece, &out, &ended, &err), STA_OK, "%s", err.text);
    sta_page_writer_destroy(writer);
    return sta_buffer_take_text(&out);
}

/* The token in a JSON page; NULL: none. */
static char *next_of(const char *text)
{
    const char *at = strstr(text, "\"next\":\"");
    return at ? strndup(at + 8, strcspn(at + 8, "\"")) : NULL;
}

static struct sta_result *arrange(struct sta_result *result, const char *order, const char *columns)
{
    struct sta_result *arranged;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_name_list order_list = {&order, order != NULL, "/sort"},
                         column_list = {&columns, columns != NULL, "/columns"};
    cr_assert_eq(sta_result_arrange(result, &order_list, &column_list, &budget, &arranged, &err), STA_OK,
                 "%s", err.text);
    return arranged;
}

Test(pages, put_together_they_are_the_whole)
{
    struct sta_result *result = make_result(), *numbers = arrange(result, NULL, "number");
    for (uint64_t limit = 1; limit <= ROWS + 1; limit++) {
        char *token = NULL;
        int expected = 0;
        do {
            struct sta_page page = {.has_limit = true, .limit = limit, .cursor = token, .subject = {1, 2}};
            char *text = write_page(numbers, &page, 4), *at = strstr(text, "\"data\":[");
            cr_assert_not_null(strstr(text, "\"row_count\":25"));
            for (at = strstr(at, "\n["); at != NULL; at = strstr(at + 1, "\n["))
                cr_assert_eq(atoi(at + 2), expected++);
            free(token);
            token = next_of(text);
            free(text);
        } while (token != NULL);
        cr_assert_eq(expected, ROWS, "limit %d: %d", (int)limit, expected);
    }
    sta_result_release(numbers);
    sta_result_release(result);
}

Test(pages, missing_values_are_last_in_both_directions_and_ties_keep_their_order)
{
    static const struct {
        const char *order, *first, *last;
    } cases[] = {{"text", "3\r\n6\r\n", "15\r\n20\r\n"},
                 {"-text", "2\r\n8\r\n", "15\r\n20\r\n"},
                 {"ratio", "24\r\n23\r\n", "1\r\n0\r\n"},
                 {"-ratio", "0\r\n1\r\n", "23\r\n24\r\n"}};
    struct sta_result *result = make_result();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sta_result *sorted = arrange(result, cases[i].order, "number");
        char *text = write_page(sorted, &(struct sta_page){.format = STA_FORMAT_CSV}, 7);
        cr_expect(strncmp(text + 8, cases[i].first, strlen(cases[i].first)) == 0, "%s:\n%s", cases[i].order,
                  text);
        cr_expect_str_eq(text + strlen(text) - strlen(cases[i].last), cases[i].last, "%s:\n%s",
                         cases[i].order, text);
        free(text);
        sta_result_release(sorted);
    }
    sta_result_release(result);
}

Test(pages, an_unknown_column_or_a_list_cannot_be_sorted_by)
{
    static const char *const names[] = {"nope", "list", "--number"};
    struct sta_result *result = make_result(), *arranged;
    for (size_t i = 0; i < 3; i++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_name_list order = {&names[i], 1, "/sort"}, none = {0};
        cr_expect_eq(sta_result_arrange(result, &order, &none, &budget, &arranged, &err), STA_EINPUT);
        cr_expect_str_eq(err.parameter, "/sort");
    }
    struct sta_error err = STA_ERROR_INIT;
    struct sta_name_list columns = {&names[0], 1, "/columns"}, none = {0};
    cr_expect_eq(sta_result_arrange(result, &none, &columns, &budget, &arranged, &err), STA_EINPUT);
    cr_expect_not_null(strstr(err.text, "number, text, ratio"));
    sta_result_release(result);
}

Test(pages, pieces_do_not_show)
{
    struct sta_result *result = make_result();
    for (enum sta_format format = STA_FORMAT_JSON; format <= STA_FORMAT_NDJSON; format++) {
        struct sta_page page = {.format = format};
        char *whole = write_page(result, &page, 1000);
        for (size_t piece = 1; piece < ROWS; piece++) {
            char *text = write_page(result, &page, piece);
            cr_expect_str_eq(text, whole);
            free(text);
        }
        free(whole);
    }
    sta_result_release(result);
}

Test(pages, a_page_of_no_rows_has_columns_and_count_and_no_next)
{
    struct sta_result *result = make_result();
    char *text = write_page(result, &(struct sta_page){.has_limit = true}, 10);
    cr_expect_str_eq(
        text, "{\"columns\":[\"number\",\"text\",\"ratio\",\"list\"],\"units\":{\"ratio\":\"s\"},\"data\":["
              "],\"row_count\":25,\"next\":null}");
    free(text);
    sta_result_release(result);
}

Test(pages, a_table_may_stand_in_a_member_behind_others)
{
    struct sta_result *result = make_result();
    sta_put_member_text(&result->head, "scope", "job");
    result->member = "per_scope";
    char *text = write_page(result, &(struct sta_page){.has_limit = true, .limit = 1}, 10);
    cr_expect(strncmp(text, "{\"scope\":\"job\",\"per_scope\":{\"columns\":[", 39) == 0, "%s", text);
    cr_expect_str_eq(text + strlen(text) - 2, "}}");
    free(text);
    sta_result_release(result);
}

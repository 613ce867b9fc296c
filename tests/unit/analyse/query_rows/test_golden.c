/* The golden requests, run on the real traces; each also page by page, with one thread, and with hardly any
 * memory. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queries.h"
#include "common/files.h"
#include "common/memory.h"
#include "../decoded_trace.h"

/* ---- traces, opened once */

struct opened {
    char *name;
    struct decoded_trace trace;
    bool there;
};

static struct opened opened[32];
static size_t opened_count;

static struct opened *open_trace(const char *name)
{
    for (size_t i = 0; i < opened_count; i++)
        if (strcmp(opened[i].name, name) == 0)
            return &opened[i];
    cr_assert_lt(opened_count, STA_COUNT_OF(opened));
    struct opened *fresh = &opened[opened_count++];
    fresh->name = sta_strdup(name);
    fresh->there = decoded_trace_open(&fresh->trace, name);
    return fresh;
}

static void close_traces(void)
{
    for (size_t i = 0; i < opened_count; i++) {
        if (opened[i].there)
            decoded_trace_fini(&opened[i].trace);
        free(opened[i].name);
    }
    opened_count = 0;
}

static bool add_trace(struct queries *queries, const char *label, const char *name)
{
    struct opened *trace = open_trace(name);
    if (trace->there)
        queries_add(queries, label, trace->trace.snapshot);
    return trace->there;
}

/* The traces of a case, labelled as its request says.  False when one is not there. */
static bool add_traces(struct queries *queries, const struct sta_document *item)
{
    const struct sta_document *single = sta_document_member(item, "trace");
    if (single != NULL)
        return add_trace(queries, single->text.bytes, single->text.bytes);
    const struct sta_document *traces = sta_document_member(sta_document_member(item, "request"), "traces");
    bool all = traces != NULL;
    for (const struct sta_document *t = traces != NULL ? traces->first : NULL; t != NULL && all; t = t->next)
        all = add_trace(queries, t->name != NULL ? t->name : t->text.bytes, t->text.bytes);
    return all;
}

/* ---- comparing */

static bool same_number(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-12 || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static bool same_value(const struct sta_document *want, const struct sta_document *got)
{
    double a, b;
    if (sta_document_number(want, &a) && sta_document_number(got, &b))
        return same_number(a, b);
    if (want->type != got->type)
        return false;
    if (want->type == STA_DOCUMENT_TEXT)
        return want->text.length == got->text.length &&
               memcmp(want->text.bytes, got->text.bytes, want->text.length) == 0;
    if (want->type == STA_DOCUMENT_BOOL)
        return want->truth == got->truth;
    const struct sta_document *x = want->first, *y = got->first;
    for (; x != NULL && y != NULL; x = x->next, y = y->next)
        if (!same_value(x, y))
            return false;
    return x == NULL && y == NULL;
}

/* Rows of text, one a line, against the rows that are expected. */
static void compare(const char *name, const char *title, const struct sta_document *expected, char *rows)
{
    struct sta_arena arena = {0};
    const struct sta_document *want = sta_document_member(expected, "data")->first;
    size_t number = 0;
    for (char *line = strtok(rows, "\n"); line != NULL; line = strtok(NULL, "\n"), number++) {
        char *list = sta_sprintf("[%s]", line);
        cr_assert_not_null(want, "%s (%s): a row too many: %s", name, title, line);
        const struct sta_document *got = queries_read(list, strlen(list), &arena);
        cr_assert(same_value(want, got), "%s (%s): row %zu differs: %s", name, title, number, line);
        want = want->next;
        free(list);
    }
    cr_assert_null(want, "%s (%s): only %zu rows", name, title, number);
    sta_arena_fini(&arena);
}

static bool is_query(const struct sta_document *item)
{
    const struct sta_document *call = sta_document_member(item, "call");
    return call != NULL && strcmp(call->text.bytes, "query") == 0 &&
           sta_document_member(item, "expected") != NULL;
}

/* The request without the members that the server reads. */
static struct sta_document *request_of(const struct sta_document *item)
{
    static const char *const served[] = {"traces", "limit", "cursor", "format"};
    struct sta_document *request = (struct sta_document *)sta_document_member(item, "request");
    bool more = sta_document_member(request, "then") != NULL;
    for (size_t i = 0; i < STA_COUNT_OF(served); i++) {
        if (strcmp(served[i], "limit") == 0 && more)
            continue;
        for (struct sta_document **at = &request->first; *at != NULL; at = &(*at)->next)
            if (strcmp((*at)->name, served[i]) == 0) {
                *at = (*at)->next;
                break;
            }
    }
    return request;
}

/* Whether the whole result is expected, not a page. */
static bool is_whole(const struct sta_document *expected)
{
    const struct sta_document *count = sta_document_member(expected, "row_count");
    return count == NULL || (size_t)count->integer == sta_document_member(expected, "data")->count;
}

static void check_ways(const char *name, const char *title, struct queries *queries,
                       const struct sta_document *request, const struct sta_document *expected)
{
    static const struct {
        unsigned workers;
        size_t memory, page;
    } ways[] = {
        {3, (size_t)256 << 20, 0}, {1, (size_t)256 << 20, 0}, {2, 1 << 14, 0}, {2, (size_t)256 << 20, 3}};
    for (size_t i = 0; i < STA_COUNT_OF(ways); i++) {
        queries->budget.workers = ways[i].workers;
        queries->budget.memory = ways[i].memory;
        char *rows = queries_document(queries, request, ways[i].page);
        compare(name, title, expected, rows);
        free(rows);
    }
}

static void check_case(const char *name, const struct sta_document *item)
{
    struct queries queries;
    const char *only = getenv("STRATA_CASE");
    if (!is_query(item) || (only != NULL && strstr(name, only) == NULL))
        return;
    const struct sta_document *expected = sta_document_member(item, "expected");
    queries_init(&queries);
    if (is_whole(expected) && add_traces(&queries, item))
        check_ways(name, sta_document_member(item, "title")->text.bytes, &queries, request_of(item),
                   expected);
    queries_fini(&queries);
}

static void check_file(const char *folder, const char *name)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_arena arena = {0};
    char *path = sta_path_join(folder, name), *bytes;
    size_t size;
    cr_assert_eq(sta_file_read(path, SIZE_MAX, &bytes, &size, &err), 0, "%s", err.text);
    const struct sta_document *document = queries_read(bytes, size, &arena);
    if (document->type == STA_DOCUMENT_LIST)
        for (const struct sta_document *item = document->first; item != NULL; item = item->next)
            check_case(name, item);
    else
        check_case(name, document);
    sta_arena_fini(&arena);
    free(bytes);
    free(path);
}

Test(query_golden, cases)
{
    const char *shared = getenv("STRATA_SHARED");
    char *folder = sta_sprintf("%s/golden/queries", shared != NULL ? shared : STA_TEST_SHARED);
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (strstr(entries[i]->d_name, ".json") != NULL)
            check_file(folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    close_traces();
    free(folder);
}

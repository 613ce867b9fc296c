/* The requests of the golden queries: each has a plan with the columns that are expected, or the mistake that
 * is. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "planned.h"

#define MOST_RUNS 8

static struct sta_document *read_case(struct planned *planned, const char *path)
{
    struct sta_buffer text;
    sta_buffer_init(&text);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    for (int c = getc(file); c != EOF; c = getc(file))
        sta_put_char(&text, (char)c);
    fclose(file);
    struct sta_document *document = planned_read(planned, text.data, text.size);
    cr_assert_not_null(document, "%s: %s", path, planned->err.text);
    sta_buffer_fini(&text);
    return document;
}

static size_t find_labels(const struct sta_document *one, const char **labels)
{
    size_t count = 0;
    const struct sta_document *traces = sta_document_member(sta_document_member(one, "request"), "traces");
    if (traces == NULL)
        labels[count++] = sta_document_member(one, "trace")->text.bytes;
    else
        for (const struct sta_document *run = traces->first; run != NULL; run = run->next)
            labels[count++] = run->name != NULL ? run->name : run->text.bytes;
    return count;
}

/* Which runs are asked is not the plan's business. */
static struct sta_document *without_traces(struct planned *planned, const struct sta_document *request)
{
    struct sta_document *rest = sta_document_create(&planned->memory, STA_DOCUMENT_OBJECT);
    for (const struct sta_document *member = request->first; member != NULL; member = member->next) {
        if (strcmp(member->name, "traces") == 0)
            continue;
        struct sta_document *copy = sta_document_create(&planned->memory, member->type);
        const char *name = member->name;
        *copy = *member;
        copy->next = NULL;
        sta_document_append(&planned->memory, rest, name, copy);
    }
    return rest;
}

static void check_columns(const struct planned *planned, const struct sta_document *columns, const char *path)
{
    size_t index = 0;
    cr_expect_eq(planned->plan.column_count, columns->count, "%s: %zu columns", path,
                 planned->plan.column_count);
    for (const struct sta_document *name = columns->first; name != NULL && index < planned->plan.column_count;
         name = name->next, index++)
        cr_expect_str_eq(planned->plan.columns[index].name, name->text.bytes, "%s", path);
}

static void check_mistake(const struct planned *planned, const struct sta_document *mistake, const char *path)
{
    const struct sta_document *parameter = sta_document_member(mistake, "parameter");
    const struct sta_document *position = sta_document_member(mistake, "position");
    cr_expect_eq(planned->status, STA_EINPUT, "%s: %s", path, planned_mistake(planned));
    if (parameter != NULL)
        cr_expect_str_eq(planned->err.parameter, parameter->text.bytes, "%s: %s", path,
                         planned->err.parameter);
    if (position != NULL)
        cr_expect_eq(planned->err.position, position->integer, "%s: %s", path, planned_mistake(planned));
}

static void check_case(const char *path)
{
    const char *labels[MOST_RUNS];
    struct planned planned = {.status = 0};
    const struct sta_document *one = read_case(&planned, path);
    const struct sta_document *mistake = sta_document_member(one, "expected_error");
    planned_request(&planned, without_traces(&planned, sta_document_member(one, "request")), labels,
                    find_labels(one, labels));
    if (mistake != NULL) {
        check_mistake(&planned, mistake, path);
    } else {
        cr_expect_eq(planned.status, 0, "%s: %s: %s", path, planned_mistake(&planned), planned.err.text);
        check_columns(&planned, sta_document_member(sta_document_member(one, "expected"), "columns"), path);
    }
    planned_fini(&planned);
}

Test(golden, queries)
{
    glob_t found;
    const char *shared = getenv("STRATA_SHARED");
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/golden/queries/*.json", shared != NULL ? shared : STA_TEST_SHARED);
    if (glob(pattern, 0, NULL, &found) != 0)
        cr_skip_test("needs shared: no golden queries beside the tree");
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_case(found.gl_pathv[i]);
    globfree(&found);
}

/* Mistakes in rules, what conditions measure, and windows that no trace reaches. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"
#include "job.h"
#include "findings/findings.h"

static const struct sta_budget budget = {.workers = 2, .memory = 64 << 20};

static void make_job(struct job *job)
{
    const struct made_event events[] = {job_event(TRAIN, "dlio_benchmark", 1, 0, 100),
                                        job_event("read", "posix", 1, 0, 30),
                                        job_event("read", "posix", 1, 20, 30),
                                        job_event("TorchFramework.compute", "ai_framework", 1, 40, 60),
                                        job_event(TRAIN, "dlio_benchmark", 2, 0, 100),
                                        job_event("open64", "posix", 2, 10, 10),
                                        job_event("TorchFramework.compute", "ai_framework", 2, 20, 80)};
    job_init(job, events, STA_COUNT_OF(events), 1);
}

#define RULE(ask, value, rest)                                                                               \
    "{id: mine, title: T, group: io, ask: {" ask "}, value: " value ", unit: s, levels: {info: 0.0}, "       \
    "say: \"{value:s}\", ok: fine, source: me, link: {page: report}" rest "}"

Test(rules, mistakes_have_a_pointer_and_a_sentence)
{
    static const struct {
        const char *yaml, *pointer;
    } mistakes[] = {
        {"", ""},
        {"[1, 2]", ""},
        {"{id: mine}", "/group"},
        {RULE("n: {busy: {r: \"io_cat ==\"}}", "n_r", ""), "/ask/n/busy/r"},
        {RULE("n: {busy: {r: \"nothing_there == 1\"}}", "n_r", ""), "/ask/n/busy/r"},
        {RULE("n: {nonsense: {}}", "1", ""), "/ask/n"},
        {RULE("n: {access: both}", "1", ""), "/ask/n/access"},
        {RULE("n: {query: {}}", "1", ""), "/ask/n/query"},
        {RULE("n: {busy: {r: \"io_cat == 1\"}}", "n_s", ""), "/value"},
        {RULE("n: {busy: {r: \"io_cat == 1\"}}", "n_r +", ""), "/value"},
        {RULE("n: {busy: {r: \"io_cat == 1\"}}", "n_r", ", when: \"n_r > oops\""), "/when"},
        {RULE("n: {busy: {r: \"io_cat == 1\"}}", "n_r", ", needs: [moon]"), "/needs"},
        {RULE("n: {busy: {r: \"io_cat == 1\"}}", "n_r", ", nonsense: 1"), ""},
        {RULE("n: {busy: {r: \"io_cat == 1\"}}", "n_r", ", direction: sideways"), "/direction"},
    };
    struct job job;
    struct sta_document *request;
    make_job(&job);
    const struct sta_overlap_query query = job_query(&job, "dlio", &request);
    for (size_t i = 0; i < STA_COUNT_OF(mistakes); i++) {
        struct sta_findings_result answer;
        struct sta_error err = STA_ERROR_INIT;
        const char *yaml = mistakes[i].yaml;
        const int status = sta_rule_preview(&query, yaml, strlen(yaml), &budget, &answer, &err);
        cr_expect_eq(status, STA_EINPUT, "%s: status %d", yaml, status);
        cr_expect_str_eq(err.parameter, mistakes[i].pointer, "%s: at %s: %s", yaml, err.parameter, err.text);
        cr_expect_neq(err.text[0], '\0', "%s", yaml);
    }
    job_fini(&job);
}

/* The value of a rule of one's own, in microseconds. */
static double value_of(struct job *job, const char *yaml)
{
    struct sta_document *request;
    const struct sta_overlap_query query = job_query(job, "dlio", &request);
    struct sta_findings_result answer;
    struct sta_error err = STA_ERROR_INIT;
    const int status = sta_rule_preview(&query, yaml, strlen(yaml), &budget, &answer, &err);
    cr_assert_eq(status, STA_OK, "%s: %s %s", yaml, err.parameter, err.text);
    cr_assert_eq(answer.count, 1);
    const double value = answer.items[0].value.missing ? NAN : answer.items[0].value.number * 1e6;
    sta_findings_result_fini(&answer);
    return value;
}

Test(rules, conditions_measure_unions_of_ranks)
{
    struct job job;
    make_job(&job);
    cr_assert_float_eq(value_of(&job, RULE("n: {busy: {r: \"io_cat == 1\"}}", "n_r", "")), 50, 1e-6);
    cr_assert_float_eq(value_of(&job, RULE("n: {busy: {r: \"cat == 'posix'\"}}", "n_r", "")), 60, 1e-6);
    cr_assert_float_eq(
        value_of(&job, RULE("n: {slowest_rank_busy: {of: \"cat == 'posix'\", seconds: 0}}", "n_max", "")), 50,
        1e-6);
    cr_assert_float_eq(value_of(&job, RULE("s: {attribution: stall}", "s_target", "")), 60, 1e-6);
    cr_assert_float_eq(value_of(&job, RULE("s: {attribution: stall}", "s_read", "")), 40, 1e-6);
    cr_assert_float_eq(value_of(&job, RULE("s: {attribution: stall}", "s_untraced", "")), 10, 1e-6);
    job_fini(&job);
}

Test(rules, a_figure_that_is_missing_makes_a_rule_not_applicable)
{
    struct job job;
    make_job(&job);
    cr_assert(isnan(value_of(&job, RULE("c: {clocks: {}}", "c_common / 0.0", ""))));
    job_fini(&job);
}

static void expect_counts(const struct sta_findings_result *answer)
{
    uint64_t all = 0;
    for (size_t s = 0; s < STA_SEVERITIES; s++)
        all += answer->counts[s];
    cr_assert_eq(all, answer->count);
    for (size_t i = 0; i < answer->count; i++)
        cr_assert(answer->items[i].text != NULL && answer->items[i].text[0] != '\0', "%s",
                  answer->items[i].id);
}

Test(rules, windows_that_no_trace_reaches)
{
    static const double windows[][2] = {{1e300, 2e300}, {-1e300, 1e300}, {1e12, 1e13},     {-5, -1},
                                        {0, 0},         {50e-6, 10e-6},  {-1e300, -1e299}, {9.3e12, 1e300}};
    struct job job;
    make_job(&job);
    for (size_t i = 0; i < STA_COUNT_OF(windows); i++) {
        struct sta_document *request;
        struct sta_findings_result answer;
        struct sta_error err = STA_ERROR_INIT;
        const struct sta_overlap_query query = job_query(&job, "dlio", &request);
        job_add_number(&job, request, "from", windows[i][0]);
        job_add_number(&job, request, "to", windows[i][1]);
        const int status = sta_findings_run(&query, &budget, &answer, &err);
        cr_assert(status == STA_OK || status == STA_EINPUT, "window %zu: %d %s", i, status, err.text);
        if (status != STA_OK)
            continue;
        expect_counts(&answer);
        sta_findings_result_fini(&answer);
    }
    job_fini(&job);
}

/* Rules asked alone find what they find among all. */
Test(rules, one_rule_alone_finds_the_same)
{
    struct job job;
    struct sta_document *request;
    struct sta_findings_result all, one;
    struct sta_error err = STA_ERROR_INIT;
    make_job(&job);
    struct sta_overlap_query query = job_query(&job, "dlio", &request);
    cr_assert_eq(sta_findings_run(&query, &budget, &all, &err), STA_OK, "%s", err.text);
    expect_counts(&all);
    for (size_t i = 0; i < all.count; i++) {
        query = job_query(&job, "dlio", &request);
        job_add_text(&job, request, "rule", all.items[i].id);
        cr_assert_eq(sta_findings_run(&query, &budget, &one, &err), STA_OK, "%s", err.text);
        cr_assert_eq(one.count, 1);
        cr_assert_eq(one.items[0].severity, all.items[i].severity, "%s", all.items[i].id);
        cr_assert_str_eq(one.items[0].text, all.items[i].text);
        sta_findings_result_fini(&one);
    }
    sta_findings_result_fini(&all);
    job_fini(&job);
}

/* ---- with little memory */

static const struct sta_finding *finding_of(const struct sta_findings_result *answer, const char *id)
{
    for (size_t i = 0; i < answer->count; i++)
        if (strcmp(answer->items[i].id, id) == 0)
            return &answer->items[i];
    return NULL;
}

/* Return: how many rules were refused for want of memory. */
static size_t check_against(const struct sta_findings_result *little, const struct sta_findings_result *all,
                            size_t limit)
{
    size_t refused = 0;
    for (size_t i = 0; i < little->count; i++) {
        const struct sta_finding *finding = &little->items[i], *whole = finding_of(all, finding->id);
        cr_assert_not_null(whole);
        const bool failed = finding->reason != NULL && strcmp(finding->reason, "failed") == 0;
        refused += failed;
        if (!failed)
            cr_expect_str_eq(finding->text, whole->text, "%s with %zu bytes: %s, not %s", finding->id, limit,
                             finding->text, whole->text);
    }
    return refused;
}

/* What is too large for one rule must not be taken as nothing by the next one that needs it. */
Test(rules, with_little_memory_a_rule_says_the_same_or_that_it_was_refused)
{
    struct job job;
    struct sta_document *request;
    struct sta_findings_result all, little;
    struct sta_error err = STA_ERROR_INIT;
    size_t refused = 0;
    make_job(&job);
    const struct sta_overlap_query query = job_query(&job, "dlio", &request);
    cr_assert_eq(sta_findings_run(&query, &budget, &all, &err), STA_OK, "%s", err.text);
    for (size_t limit = 1 << 14; limit <= 64 << 20; limit += limit / 4) {
        struct sta_account account;
        sta_account_init(&account, limit, "query_memory", NULL);
        const struct sta_budget tight = {.workers = 2, .memory = limit, .account = &account};
        const int status = sta_findings_run(&query, &tight, &little, &err);
        if (status == STA_OK) {
            refused += check_against(&little, &all, limit);
            sta_findings_result_fini(&little);
        } else {
            cr_expect_eq(status, STA_ELIMIT, "%zu bytes: %s", limit, err.text);
        }
        err = (struct sta_error)STA_ERROR_INIT;
        sta_account_fini(&account);
    }
    cr_expect_gt(refused, 0, "no limit refused anything");
    sta_findings_result_fini(&all);
    job_fini(&job);
}

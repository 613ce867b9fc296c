/* The call overlap: one pass, and what was asked for beside it. */
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "analyse/overlap/tables.h"
#include "analyse/views/bound_query.h"
#include "common/buffer.h"
#include "common/memory.h"

/* ---- the result */

char *sta_overlap_scope_json(const struct sta_overlap_request *request)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    if (request->scope.kind != STA_SCOPE_KEYS) {
        const char *word = sta_scope_words[request->scope.kind];
        sta_put_json_string(&out, word, strlen(word));
        return sta_buffer_take_text(&out);
    }
    sta_put_char(&out, '[');
    for (size_t k = 0; k < request->scope.key_count; k++) {
        sta_put_text(&out, k > 0 ? ", " : "");
        sta_put_json_string(&out, request->scope.key_names[k], strlen(request->scope.key_names[k]));
    }
    sta_put_char(&out, ']');
    return sta_buffer_take_text(&out);
}

static int check_table(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                       const struct sta_budget *budget, struct sta_error *err)
{
    double sets = request->set_count;
    double columns = STA_KEY_COLUMNS + 5 + 2 * sets + 3 * sets * (sets - 1) / 2;
    return sta_budget_memory(budget, results->unit_count * columns * 9, "the table of units", err);
}

/* Cells that are missing since their sum does not fit; statistics are of cells that were counted. */
static void count_too_large(struct sta_overlap_result *result)
{
    const struct sta_table *const tables[] = {&result->sets,        &result->pairs,    &result->groups,
                                              &result->concurrency, &result->exposure, &result->series,
                                              &result->per_scope};
    for (size_t i = 0; i < STA_COUNT_OF(tables); i++)
        sta_facts_of_sums(&result->facts, tables[i]);
}

static int fill_result(const struct sta_overlap_request *request, struct sta_overlap_series *series,
                       const struct sta_overlap_results *results, const struct sta_budget *budget,
                       struct sta_overlap_result *result, struct sta_error *err)
{
    int rc = check_table(request, results, budget, err);
    if (rc != 0)
        return rc;
    sta_overlap_totals(request, results, result);
    sta_overlap_per_scope(request, results, &result->per_scope);
    rc = sta_overlap_warn(request, results, budget, result, err);
    if (rc == 0)
        rc = sta_overlap_statistics(results, request, &result->per_scope, budget, &result->statistics, err);
    if (rc == 0 && series != NULL)
        rc = sta_overlap_series_table(series, &result->series, err);
    if (request->exposure)
        sta_overlap_exposure(request, results, &result->exposure);
    count_too_large(result);
    return rc == 0 && request->explain ? sta_overlap_explain(request, budget, result, err) : rc;
}

static int run_exact(const struct sta_overlap_request *request, const struct sta_budget *budget,
                     struct sta_overlap_result *result, struct sta_error *err)
{
    struct sta_overlap_binding binding = {0};
    struct sta_overlap_results results = {0};
    struct sta_overlap_wants wants = {.exposure = request->exposure, .concurrency = true};
    int rc = 0;
    result->semantics = "exact";
    result->scope = sta_overlap_scope_json(request);
    if (request->granularity > 0)
        rc = sta_overlap_series_create(request, budget, &wants.series, err);
    if (rc == 0)
        rc = sta_overlap_binding_init(&binding, request, budget, err);
    if (rc == 0)
        rc = sta_overlap_pass(&binding, &wants, &results, err);
    if (rc == 0)
        rc = fill_result(request, wants.series, &results, budget, result, err);
    sta_overlap_results_fini(&results);
    sta_overlap_binding_fini(&binding);
    sta_overlap_series_destroy(wants.series);
    return rc;
}

int sta_overlap_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                    struct sta_overlap_result *result, struct sta_error *err)
{
    struct sta_overlap_request request;
    *result = (struct sta_overlap_result){0};
    int rc = sta_overlap_request_read(&request, query, false, err);
    if (rc == 0)
        rc = request.call == STA_OVERLAP_COMPATIBLE ? sta_overlap_compatible(&request, budget, result, err)
                                                    : run_exact(&request, budget, result, err);
    sta_overlap_request_release(&request);
    if (rc != 0)
        sta_overlap_result_fini(result);
    return rc;
}

void sta_overlap_result_fini(struct sta_overlap_result *result)
{
    struct sta_table *tables[] = {
        &result->sets,       &result->pairs,   &result->groups, &result->concurrency, &result->exposure,
        &result->statistics, &result->explain, &result->series, &result->per_scope,   &result->phases};
    for (size_t i = 0; i < STA_COUNT_OF(tables); i++)
        sta_table_fini(tables[i]);
    for (size_t i = 0; i < result->warning_count; i++)
        free(result->warnings[i]);
    free(result->warnings);
    free(result->scope);
    *result = (struct sta_overlap_result){0};
}

/* The call overlap: one pass, and what was asked for beside it. */
#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "analyse/overlap/compatible.h"
#include "analyse/overlap/explain.h"
#include "analyse/overlap/exposure.h"
#include "analyse/overlap/series.h"
#include "analyse/overlap/tables.h"
#include "analyse/overlap/warnings.h"
#include "common/buffer.h"
#include "common/memory.h"

/* ---- who wants the stretches of the sweep */

struct listeners {
    struct sta_pieces *busy; /* by set, for the exposure; or NULL */
    struct sta_overlap_series *series;
};

static void take_stretch(void *context, unsigned worker, const struct sta_sweep_stretch *stretch)
{
    const struct listeners *listeners = context;
    if (listeners->series != NULL)
        sta_overlap_series_add(listeners->series, worker, stretch->mask, stretch->from, stretch->to);
    for (uint32_t rest = listeners->busy != NULL ? stretch->mask : 0; rest != 0; rest &= rest - 1)
        sta_pieces_add(listeners->busy, worker, stretch, (uint32_t)__builtin_ctz(rest));
}

static size_t bytes_held(const void *context)
{
    const struct listeners *listeners = context;
    size_t bytes = listeners->series != NULL ? sta_overlap_series_bytes(listeners->series) : 0;
    return bytes + (listeners->busy != NULL ? sta_pieces_bytes(listeners->busy) * 2 : 0);
}

/* ---- the answer */

static char *scope_json(const struct sta_overlap_request *request)
{
    static const char *const words[] = {"thread", "process", "rank_group", "host", "job"};
    struct sta_buffer out;
    sta_buffer_init(&out);
    if (request->scope.kind != STA_SCOPE_KEYS) {
        sta_put_json_string(&out, words[request->scope.kind], strlen(words[request->scope.kind]));
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

static int add_exposure(const struct sta_overlap_binding *binding, struct sta_pieces *pieces,
                        const struct sta_budget *budget, struct sta_overlap_answer *answer,
                        struct sta_error *err)
{
    struct sta_tracks busy;
    int rc = sta_pieces_join(pieces, sta_scope_unit_count(binding->scope), budget, &busy, err);
    if (rc == 0)
        rc = sta_overlap_exposure(binding, &busy, budget, &answer->exposure, err);
    sta_tracks_fini(&busy);
    return rc;
}

static int fill_answer(const struct sta_overlap_binding *binding, const struct listeners *listeners,
                       const struct sta_overlap_results *results, const struct sta_budget *budget,
                       struct sta_overlap_answer *answer, struct sta_error *err)
{
    const struct sta_overlap_request *request = binding->request;
    int rc = check_table(request, results, budget, err);
    if (rc != 0)
        return rc;
    sta_overlap_totals(request, results, answer);
    sta_overlap_per_scope(request, results, &answer->per_scope);
    sta_overlap_statistics(results, request, &answer->per_scope, &answer->statistics);
    sta_overlap_warn(request, results, answer);
    if (listeners->series != NULL)
        sta_overlap_series_table(listeners->series, &answer->series);
    if (listeners->busy != NULL)
        rc = add_exposure(binding, listeners->busy, budget, answer, err);
    return rc == 0 && request->explain ? sta_overlap_explain(request, budget, answer, err) : rc;
}

static int run_exact(const struct sta_overlap_request *request, const struct sta_budget *budget,
                     struct sta_overlap_answer *answer, struct sta_error *err)
{
    unsigned workers = sta_budget_workers(budget);
    struct listeners listeners = {0};
    struct sta_overlap_binding binding = {0};
    struct sta_overlap_results results = {0};
    struct sta_overlap_stretches stretches = {.bytes = bytes_held, .context = &listeners};
    struct sta_pieces_options by_set = {.tracks = request->set_count, .workers = workers};
    int rc = 0;
    answer->semantics = "exact";
    answer->scope = scope_json(request);
    if (request->granularity > 0)
        rc = sta_overlap_series_create(request, workers, &listeners.series, err);
    if (request->exposure)
        listeners.busy = sta_pieces_create(&by_set);
    if (request->exposure || request->granularity > 0)
        stretches.take = take_stretch;
    if (rc == 0)
        rc = sta_overlap_binding_init(&binding, request, budget, err);
    if (rc == 0)
        rc = sta_overlap_pass(&binding, &stretches, budget, &results, err);
    if (rc == 0)
        rc = fill_answer(&binding, &listeners, &results, budget, answer, err);
    sta_overlap_results_fini(&results);
    sta_overlap_binding_fini(&binding);
    sta_pieces_destroy(listeners.busy);
    sta_overlap_series_destroy(listeners.series);
    return rc;
}

int sta_overlap_run(const struct sta_overlap_question *question, const struct sta_budget *budget,
                    struct sta_overlap_answer *answer, struct sta_error *err)
{
    struct sta_overlap_request request;
    *answer = (struct sta_overlap_answer){0};
    int rc = sta_overlap_request_read(&request, question, false, err);
    if (rc == 0)
        rc = request.call == STA_OVERLAP_COMPATIBLE ? sta_overlap_compatible(&request, budget, answer, err)
                                                    : run_exact(&request, budget, answer, err);
    sta_overlap_request_release(&request);
    if (rc != 0)
        sta_overlap_answer_fini(answer);
    return rc;
}

void sta_overlap_answer_fini(struct sta_overlap_answer *answer)
{
    struct sta_table *tables[] = {
        &answer->sets,       &answer->pairs,   &answer->groups, &answer->concurrency, &answer->exposure,
        &answer->statistics, &answer->explain, &answer->series, &answer->per_scope,   &answer->phases};
    for (size_t i = 0; i < STA_COUNT_OF(tables); i++)
        sta_table_fini(tables[i]);
    for (size_t i = 0; i < answer->warning_count; i++)
        free(answer->warnings[i]);
    free(answer->warnings);
    free(answer->scope);
    *answer = (struct sta_overlap_answer){0};
}

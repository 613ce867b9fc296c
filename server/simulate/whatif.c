/* The result of one request: the scenarios and the sweep run side by side, one thread each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "common/account.h"
#include "simulate/whatif.h"

const char *sta_whatif_table_name(enum sta_whatif_table table)
{
    static const char *const names[] = {
#define X(NAME, name) [STA_WHATIF_##NAME] = name,
        STA_WHATIF_TABLE_LIST(X)
#undef X
    };
    return names[table];
}

/* ---- running all of it */

/* Run 0 is the baseline, then come the scenarios, then the sweep, then what its knees are compared with. */
static struct sta_scenario scenario_of(const struct sta_whatif_work *whatif, size_t run)
{
    const struct sta_whatif_request *request = &whatif->request;
    if (run == 0)
        return sta_scenario_unchanged;
    if (run <= request->scenario_count)
        return request->scenarios[run - 1];
    const size_t combination = run - 1 - request->scenario_count;
    if (combination < request->sweep.count)
        return sta_sweep_scenario(&request->sweep, combination);
    struct sta_scenario endless = sta_sweep_scenario(&request->sweep, combination - request->sweep.count);
    endless.endless = true;
    return endless;
}

static int run_scenario(struct sta_whatif_work *whatif, struct sta_simulation *simulation, size_t run,
                        struct sta_error *err)
{
    const struct sta_scenario scenario = scenario_of(whatif, run);
    const bool swept = run > whatif->request.scenario_count;
    struct sta_cached_jobs own = {0};
    int rc = STA_OK;
    if (scenario.has_cache && !swept)
        rc = sta_cache_simulate(whatif->model, scenario.cache_bytes, scenario.cache_speed, whatif->budget,
                                &own, err);
    const struct sta_cached_jobs *cached = !scenario.has_cache ? NULL : swept ? &whatif->swept_cache : &own;
    if (rc == STA_OK)
        rc = sta_simulate(simulation, &scenario, cached, NULL, whatif->budget, err);
    if (rc == STA_OK)
        rc = sta_figures_of(simulation, whatif->budget, &whatif->figures[run], err);
    if (rc == STA_OK && run == 0)
        rc = sta_check_model(simulation, whatif->budget, &whatif->check, err);
    if (rc == STA_OK && !swept)
        sta_whatif_put_details(whatif, simulation, run);
    sta_cached_jobs_fini(&own);
    return rc;
}

static int run_one(void *context, unsigned worker, size_t run, struct sta_error *err)
{
    struct sta_whatif_work *whatif = context;
    struct sta_simulation *simulation = &whatif->simulations[worker];
    if (simulation->model == NULL &&
        sta_simulation_init(simulation, whatif->model, whatif->budget->account, err) != STA_OK)
        return err->status;
    return run_scenario(whatif, simulation, run, err);
}

static int check_scenarios(const struct sta_whatif_work *whatif, struct sta_error *err)
{
    for (size_t run = 0; run < whatif->run_count; run++) {
        const struct sta_scenario scenario = scenario_of(whatif, run);
        if (sta_scenario_check(whatif->model, &scenario, err) != STA_OK)
            return err->status;
    }
    return STA_OK;
}

static int run_all(struct sta_whatif_work *whatif, struct sta_error *err)
{
    const struct sta_scenario *base = &whatif->request.sweep.base;
    const unsigned workers = sta_budget_workers(whatif->budget);
    int rc = check_scenarios(whatif, err);
    if (rc == STA_OK && whatif->request.sweep.count > 0 && base->has_cache)
        rc = sta_cache_simulate(whatif->model, base->cache_bytes, base->cache_speed, whatif->budget,
                                &whatif->swept_cache, err);
    if (rc != STA_OK)
        return rc;
    whatif->simulations = sta_alloc_array(workers, sizeof *whatif->simulations);
    rc = sta_tasks_run(whatif->budget, whatif->run_count, run_one, whatif, err);
    for (unsigned w = 0; w < workers; w++)
        sta_simulation_fini(&whatif->simulations[w]);
    free(whatif->simulations);
    return rc;
}

/* ---- the timeline of one epoch of one rank */

struct timeline {
    size_t run; /* 0: the baseline */
    int64_t epoch, rank;
};

static int read_timeline(const struct sta_whatif_work *whatif, struct timeline *timeline,
                         struct sta_error *err)
{
    const struct sta_document *value = whatif->request.timeline;
    const struct sta_model *model = whatif->model;
    const struct sta_document *member;
    *timeline = (struct timeline){0, 1, 0};
    if (value->type != STA_DOCUMENT_OBJECT)
        return sta_bad(err, "timeline", "may hold scenario, epoch, rank");
    for (member = value->first; member != NULL; member = member->next)
        if (strcmp(member->name, "scenario") != 0 && strcmp(member->name, "epoch") != 0 &&
            strcmp(member->name, "rank") != 0)
            return sta_bad(err, "timeline", "may hold scenario, epoch, rank");
    if ((member = sta_document_member(value, "scenario")) != NULL) {
        bool found = member->type == STA_DOCUMENT_TEXT && strcmp(member->text.bytes, "baseline") == 0;
        for (size_t i = 0; member->type == STA_DOCUMENT_TEXT && i < whatif->request.scenario_count; i++)
            if (strcmp(whatif->request.scenarios[i].name, member->text.bytes) == 0) {
                timeline->run = i + 1; /* the last one of that name */
                found = true;
            }
        if (!found)
            return sta_bad(err, "timeline.scenario", "names no scenario of this request");
    }
    if ((member = sta_document_member(value, "rank")) != NULL) {
        timeline->rank = member->type == STA_DOCUMENT_INT ? member->integer : -1;
        if (timeline->rank < 0 || timeline->rank >= (int64_t)model->rank_count)
            return sta_bad(err, "timeline.rank", "must be from 0 to %zu", model->rank_count - 1);
    }
    if ((member = sta_document_member(value, "epoch")) != NULL)
        timeline->epoch = member->type == STA_DOCUMENT_INT ? member->integer : -1;
    const uint32_t epochs = model->ranks[timeline->rank].epoch_count;
    if (timeline->epoch < 1 || timeline->epoch > (int64_t)epochs)
        return sta_bad(err, "timeline.epoch", "must be from 1 to %u", epochs);
    return STA_OK;
}

static int run_timeline(struct sta_whatif_work *whatif, struct sta_error *err)
{
    struct timeline timeline;
    struct sta_simulation simulation;
    struct sta_cached_jobs cached = {0};
    int rc = read_timeline(whatif, &timeline, err);
    if (rc != STA_OK)
        return rc;
    const struct sta_budget *budget = whatif->budget;
    struct sta_job_recorder recorder = {.rank = (size_t)timeline.rank, .epoch = (size_t)timeline.epoch - 1};
    struct sta_scenario scenario = scenario_of(whatif, timeline.run);
    rc = sta_simulation_init(&simulation, whatif->model, budget->account, err);
    if (rc != STA_OK)
        return rc;
    if (scenario.has_cache)
        rc = sta_cache_simulate(whatif->model, scenario.cache_bytes, scenario.cache_speed, budget, &cached,
                                err);
    if (rc == STA_OK)
        rc =
            sta_simulate(&simulation, &scenario, scenario.has_cache ? &cached : NULL, &recorder, budget, err);
    if (rc == STA_OK)
        rc = sta_whatif_put_timeline(whatif, &simulation, &recorder, err);
    sta_account_free(budget->account, recorder.jobs);
    sta_cached_jobs_fini(&cached);
    sta_simulation_fini(&simulation);
    return rc;
}

/* ---- notes */

static void note(struct sta_whatif_result *result, const char *text)
{
    result->notes = sta_realloc_array(result->notes, result->note_count + 1, sizeof *result->notes);
    result->notes[result->note_count++] = sta_strdup(text);
}

/* The numbers of workers that are asked about, one after the other; -1: no more. */
static int64_t asked_workers(const struct sta_whatif_request *request, size_t place)
{
    for (size_t i = 0; i < request->scenario_count; i++)
        if (request->scenarios[i].has_workers && place-- == 0)
            return request->scenarios[i].workers;
    if (request->sweep.asked && request->sweep.base.has_workers && place-- == 0)
        return request->sweep.base.workers;
    const struct sta_document *list = request->sweep.values[STA_SWEEP_WORKERS];
    for (const struct sta_document *value = list != NULL ? list->first : NULL; value != NULL;
         value = value->next)
        if (place-- == 0)
            return value->integer;
    return -1;
}

static bool asks_prefetch(const struct sta_whatif_request *request)
{
    bool asks = request->sweep.values[STA_SWEEP_PREFETCH] != NULL || request->sweep.base.prefetch > 0;
    for (size_t i = 0; i < request->scenario_count; i++)
        asks = asks || request->scenarios[i].prefetch > 0;
    return asks;
}

static void note_workers(const struct sta_whatif_work *whatif, struct sta_whatif_result *result)
{
    const struct sta_model *model = whatif->model;
    const struct sta_whatif_request *request = &whatif->request;
    bool differ = false, some = false;
    int64_t workers;
    size_t count = 0;
    while ((workers = asked_workers(request, count)) >= 0) {
        differ = differ || workers != model->workers;
        some = some || workers > 0;
        count++;
    }
    if (differ) {
        char text[320];
        snprintf(
            text, sizeof text,
            "the trace has %u worker%s a rank; their production times are taken as they were: where storage "
            "or cores were full, more workers would be slower and fewer faster than shown",
            model->workers, model->workers == 1 ? "" : "s");
        note(result, text);
    }
    if (differ && result->contention.significant) {
        char text[320];
        snprintf(
            text, sizeof text,
            "the samples of this trace took %.0f %% longer for each other one that was made beside them: the "
            "margins of other numbers of workers are widened by that",
            100 * result->contention.growth);
        note(result, text);
    }
    if (model->loader == STA_LOADER_POOL && (count > 0 || asks_prefetch(request)))
        note(result,
             "workers share batches here: what other numbers of workers or another prefetch would do is a "
             "rough guess");
    if (some && model->workers == 0)
        note(result,
             "the trace has no workers: their start-up is taken as that of the first sample, the hand-over "
             "as that of the traced loader");
}

static void put_notes(const struct sta_whatif_work *whatif, struct sta_whatif_result *result)
{
    const struct sta_model *model = whatif->model;
    double tails = 0, whole = 0;
    for (size_t i = 0; i < model->note_count; i++)
        note(result, model->notes[i]);
    for (size_t e = 0; e < model->epoch_count; e++) {
        tails += (double)model->epochs[e].tail;
        whole += (double)(model->epochs[e].end - model->epochs[e].start);
    }
    if (20 * tails > whole) {
        char text[200];
        snprintf(text, sizeof text,
                 "%.0f %% of the time in epochs is after the last step (ending of workers and the like); no "
                 "scenario changes it",
                 floor(100 * tails / whole));
        note(result, text);
    }
    note_workers(whatif, result);
    if (whatif->check.predicted_steps == 0)
        note(result,
             "every epoch has one step only: its wait is taken from the trace, not predicted; the check "
             "proves nothing here");
    else if (!whatif->check.reproduced)
        note(result,
             "the unchanged run is not reproduced within 2 % (epochs) and 5 % (median step): do not rely "
             "on the scenarios");
}

/* ---- the whole */

static void put_check(const struct sta_check *check, struct sta_whatif_check *out)
{
    *out = (struct sta_whatif_check){.train_time_traced = sta_us_seconds((double)check->train_traced),
                                     .train_time_modelled = sta_us_seconds((double)check->train_modelled),
                                     .train_error = check->train_error,
                                     .epoch_error_mean = check->epoch_error_mean,
                                     .epoch_error_max = check->epoch_error_max,
                                     .step_error_median = check->step_error_median,
                                     .step_error_p90 = check->step_error_p90,
                                     .stall_traced = sta_us_seconds(check->stall_traced),
                                     .stall_modelled = sta_us_seconds(check->stall_modelled),
                                     .predicted_steps = check->predicted_steps,
                                     .tested = check->predicted_steps > 0,
                                     .reproduced = check->reproduced};
}

static int make(struct sta_whatif_work *whatif, struct sta_error *err)
{
    struct sta_whatif_result *result = whatif->result;
    result->contention = whatif->model->contention;
    whatif->run_count = 1 + whatif->request.scenario_count + whatif->request.sweep.count +
                        sta_sweep_groups(&whatif->request.sweep);
    whatif->figures = sta_account_calloc(whatif->budget->account, whatif->run_count, sizeof *whatif->figures,
                                         "scenarios", err);
    if (whatif->figures == NULL)
        return err->status;
    int rc = sta_whatif_open_details(whatif, err);
    if (rc == STA_OK)
        rc = run_all(whatif, err);
    if (rc == STA_OK && whatif->request.timeline != NULL)
        rc = run_timeline(whatif, err);
    if (rc != STA_OK)
        return rc;
    put_check(&whatif->check, &result->check);
    sta_whatif_put_scenarios(whatif);
    sta_whatif_put_sweep(whatif);
    sta_whatif_put_model(whatif);
    put_notes(whatif, result);
    return STA_OK;
}

int sta_whatif_run(const struct sta_model *model, const struct sta_document *request,
                   const struct sta_budget *budget, struct sta_whatif_result *result, struct sta_error *err)
{
    struct sta_whatif_work whatif = {.model = model, .budget = budget, .result = result};
    *result = (struct sta_whatif_result){0};
    int rc = sta_whatif_request_read(request, &whatif.request, err);
    if (rc != STA_OK)
        return rc;
    rc = make(&whatif, err);
    sta_account_free(budget->account, whatif.figures);
    sta_cached_jobs_fini(&whatif.swept_cache);
    sta_whatif_request_fini(&whatif.request);
    if (rc != STA_OK)
        sta_whatif_result_fini(result);
    return rc;
}

void sta_whatif_result_fini(struct sta_whatif_result *result)
{
    for (size_t t = 0; t < STA_WHATIF_TABLES; t++)
        sta_table_fini(&result->tables[t]);
    sta_table_fini(&result->knee);
    sta_table_fini(&result->model.overheads);
    sta_table_fini(&result->model.work);
    for (size_t i = 0; i < result->note_count; i++)
        free(result->notes[i]);
    free(result->notes);
    *result = (struct sta_whatif_result){0};
}

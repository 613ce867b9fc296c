/* A model is made once per version of a trace and assumption, and asked often. */
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/extract.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"

bool sta_model_is_even(const struct sta_model *model)
{
    const struct sta_model_rank *first = &model->ranks[0];
    for (size_t r = 1; r < model->rank_count; r++) {
        if (model->ranks[r].epoch_count != first->epoch_count)
            return false;
        for (uint32_t n = 0; n < first->epoch_count; n++)
            if (sta_model_epoch(model, r, n)->step_count != sta_model_epoch(model, 0, n)->step_count)
                return false;
    }
    return true;
}

void sta_model_note(struct sta_model *model, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (model->note_count == STA_MODEL_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    model->notes[model->note_count++] = sta_strdup(text);
}

int sta_model_refuse(struct sta_error *err, const char *reason, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sta_fail(err, STA_EUNFIT, "%s", text);
    err->reason = reason;
    return err->status;
}

/* ---- life */

static void model_arrays(const struct sta_model *model, void *arrays[6])
{
    void *const all[6] = {model->ranks, model->epochs, model->steps, model->jobs, model->files, model->ups};
    memcpy(arrays, all, sizeof all);
}

size_t sta_model_bytes(const struct sta_model *model)
{
    void *arrays[6];
    size_t bytes = sizeof *model;
    model_arrays(model, arrays);
    for (size_t i = 0; i < STA_COUNT_OF(arrays); i++)
        bytes += malloc_usable_size(arrays[i]);
    return bytes;
}

static void destroy(struct sta_model *model)
{
    void *arrays[6];
    for (size_t r = 0; model->ranks != NULL && r < model->rank_count; r++)
        free(model->ranks[r].host);
    model_arrays(model, arrays);
    for (size_t i = 0; i < STA_COUNT_OF(arrays); i++)
        sta_account_free(model->account, arrays[i]);
    for (size_t i = 0; i < model->note_count; i++)
        free(model->notes[i]);
    free(model);
}

struct sta_model *sta_model_retain(struct sta_model *model)
{
    atomic_fetch_add(&model->references, 1);
    return model;
}

void sta_model_release(struct sta_model *model)
{
    if (model != NULL && atomic_fetch_sub(&model->references, 1) == 1)
        destroy(model);
}

bool sta_model_move(struct sta_model *model, struct sta_account *account)
{
    size_t bytes = sta_model_bytes(model) - sizeof *model;
    if (!sta_account_try_charge(account, bytes))
        return false;
    sta_account_release(model->account, bytes);
    model->account = account;
    return true;
}

/* ---- making one */

/* Whether the run as it was comes out again.  What cannot be tested counts as proven. */
static int is_proven(struct sta_extraction *extraction, bool *proven, struct sta_error *err)
{
    struct sta_simulation simulation;
    struct sta_check check;
    const struct sta_budget *budget = extraction->budget;
    int rc = sta_extract_overheads(extraction, err);
    if (rc == STA_OK)
        rc = sta_simulation_init(&simulation, extraction->model, budget->account, err);
    if (rc != STA_OK)
        return rc;
    rc = sta_simulate(&simulation, &sta_scenario_unchanged, NULL, NULL, budget, err);
    if (rc == STA_OK)
        rc = sta_check_model(&simulation, budget, &check, err);
    if (rc == STA_OK)
        *proven = check.reproduced || check.predicted_steps == 0;
    sta_simulation_fini(&simulation);
    return rc;
}

static int choose_pool(struct sta_extraction *extraction, struct sta_error *err)
{
    sta_model_note(extraction->model,
                   "the workers share batches (no assignment to workers in turn fits); batches "
                   "are taken from the times of delivery: approximate");
    return sta_extract_pool(extraction, err);
}

/* Round robin where it fits; where it does not reproduce the run but a pool does, a pool. */
static int choose_loader(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    const bool assumed = extraction->assumed.batch > 0 || extraction->assumed.prefetch > 0;
    bool fits, proven = true;
    if (model->workers == 0)
        return sta_extract_inline(extraction, err);
    int rc = sta_extract_round_robin(extraction, &fits, err);
    if (rc == STA_OK && !fits)
        return choose_pool(extraction, err);
    if (rc != STA_OK || assumed || model->workers == 1)
        return rc;
    rc = is_proven(extraction, &proven, err);
    if (rc != STA_OK || proven)
        return rc;
    rc = choose_pool(extraction, err);
    if (rc == STA_OK)
        rc = is_proven(extraction, &proven, err);
    if (rc == STA_OK && !proven) {
        free(model->notes[--model->note_count]);
        rc = sta_extract_round_robin(extraction, &fits, err);
    }
    return rc;
}

static int extract(struct sta_extraction *extraction, struct sta_error *err)
{
    struct sta_model *model = extraction->model;
    struct sta_account *account = extraction->budget->account;
    const size_t files = (size_t)model->file_count + 1;
    extraction->place_of_file = sta_account_calloc(account, files, sizeof(size_t), "files", err);
    if (extraction->place_of_file != NULL)
        extraction->end_of_file = sta_account_calloc(account, files, sizeof(int64_t), "files", err);
    int rc = extraction->end_of_file != NULL ? sta_extract_ranks(extraction, err) : err->status;
    if (rc == STA_OK)
        rc = sta_extract_steps(extraction, err);
    if (rc == STA_OK)
        rc = sta_extract_shares(extraction, err);
    if (rc == STA_OK)
        rc = choose_loader(extraction, err);
    if (rc == STA_OK && (extraction->assumed.batch > 0 || extraction->assumed.prefetch > 0) &&
        model->loader != STA_LOADER_ROUND_ROBIN)
        sta_model_note(model, "assume has no effect: here no worker makes whole batches in turn");
    if (rc == STA_OK)
        rc = sta_extract_overheads(extraction, err);
    return rc == STA_OK ? sta_measure_contention(model, extraction->budget, &model->contention, err) : rc;
}

int sta_model_of_events(struct sta_role_events *events, const struct sta_assumption *assumed,
                        int64_t origin_us, const struct sta_budget *budget, struct sta_model **made,
                        struct sta_error *err)
{
    struct sta_model *model = sta_alloc(sizeof *model);
    *model = (struct sta_model){.references = 1,
                                .account = budget->account,
                                .file_count = events->file_count,
                                .origin_us = origin_us};
    struct sta_extraction extraction = {
        .model = model, .events = events, .budget = budget, .assumed = *assumed};
    if (events->doubles > 0)
        sta_model_note(model,
                       "%llu events occur twice (buffers inherited by forked workers); each counts once",
                       (unsigned long long)events->doubles);
    if (events->items_are_read)
        sta_model_note(model, "no __getitem__ events: a sample is a read_index of the reader");
    int rc = extract(&extraction, err);
    void *const rest[] = {extraction.sources,     extraction.workers,       extraction.shares,
                          extraction.share_first, extraction.place_of_file, extraction.end_of_file};
    for (size_t i = 0; i < STA_COUNT_OF(rest); i++)
        sta_account_free(budget->account, rest[i]);
    if (rc != STA_OK)
        destroy(model);
    else
        *made = model;
    return rc;
}

int sta_model_create(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                     const struct sta_assumption *assumed, const struct sta_budget *budget,
                     struct sta_model **model, struct sta_error *err)
{
    struct sta_role_events events;
    int rc = sta_role_events_read(snapshot, presets, budget, &events, err);
    if (rc != STA_OK)
        return rc;
    rc = sta_model_of_events(&events, assumed, sta_snapshot_info(snapshot)->origin_us, budget, model, err);
    sta_role_events_fini(&events);
    return rc;
}

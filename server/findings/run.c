/* Requests of a run's events. */
#include "findings/run.h"

#include <string.h>

#include "analyse/views/bound_query.h"

static const char *const framed[] = {"preset", "filters", "from", "to", "filter", "rank_groups"};

/* A value with its children, which are shared: only who stands beside it changes. */
static struct sta_document *copy_of(struct sta_arena *arena, const struct sta_document *value)
{
    struct sta_document *copy = sta_document_create(arena, value->type);
    *copy = *value;
    copy->next = NULL;
    return copy;
}

struct sta_document *sta_run_request(struct sta_run *run)
{
    struct sta_document *request = sta_document_create(&run->memory, STA_DOCUMENT_OBJECT);
    for (size_t i = 0; i < STA_COUNT_OF(framed); i++) {
        const struct sta_document *member = sta_document_member(run->query.request, framed[i]);
        if (member != NULL)
            sta_document_append(&run->memory, request, framed[i], copy_of(&run->memory, member));
    }
    return request;
}

void sta_run_init(struct sta_run *run, const struct sta_overlap_query *query, const struct sta_preset *preset,
                  const struct sta_budget *budget)
{
    *run = (struct sta_run){.query = *query,
                            .preset = preset,
                            .budget = budget,
                            .ticks_per_us = sta_snapshot_info(query->snapshot)->ticks_per_us};
    run->query.sets = NULL;
    run->query.set_count = 0;
    run->query.request = sta_run_request(run);
}

void sta_run_bind(struct sta_run *run, const char *const *conditions, size_t count)
{
    const struct sta_document *filters = sta_document_member(run->query.request, "filters");
    const bool off =
        filters != NULL && filters->type == STA_DOCUMENT_TEXT && strcmp(filters->text.bytes, "off") == 0;
    struct sta_error ignored = STA_ERROR_INIT;
    if (sta_bound_conditions_create(&run->query, run->preset, conditions, count, !off, &run->bound,
                                    &ignored) == STA_OK)
        run->query.bound = run->bound;
}

void sta_run_fini(struct sta_run *run)
{
    sta_bound_conditions_destroy(run->bound);
    sta_arena_fini(&run->memory);
}

int sta_run_open(struct sta_run *run, const struct sta_overlap_query *query, const struct sta_budget *budget,
                 struct sta_error *err)
{
    const struct sta_document *name = sta_document_member(query->request, "preset");
    const struct sta_preset *preset = NULL;
    const char *text =
        name != NULL && name->type == STA_DOCUMENT_TEXT ? name->text.bytes : query->trace_preset;
    int rc = sta_view_query_preset(query->presets, text, &preset, err);
    sta_run_init(run, query, preset, budget);
    struct sta_document *frame = sta_run_request(run);
    if (sta_document_member(frame, "filters") == NULL)
        sta_run_add_text(run, frame, "filters", "off");
    if (sta_document_member(frame, "preset") == NULL)
        sta_run_add_text(run, frame, "preset", text);
    run->query.request = frame;
    return rc;
}

struct sta_overlap_query sta_run_query(const struct sta_run *run, struct sta_document *request,
                                       const struct sta_named_expression *sets, size_t count)
{
    struct sta_overlap_query query = run->query;
    query.request = request;
    query.sets = sets;
    query.set_count = count;
    return query;
}

void sta_run_add_text(struct sta_run *run, struct sta_document *request, const char *name, const char *text)
{
    sta_document_append(&run->memory, request, name, sta_document_text(&run->memory, text, strlen(text)));
}

double sta_run_seconds(const struct sta_run *run, __int128 ticks)
{
    if (ticks == (int64_t)ticks)
        return sta_seconds((int64_t)ticks, run->ticks_per_us);
    return (double)ticks / ((double)run->ticks_per_us * 1e6);
}

/* job.c - see job.h. */
#include "job.h"

#include <criterion/criterion.h>
#include <string.h>

#include "../analyse/built_in.h"
#include "findings/findings.h"

struct made_event job_event(const char *name, const char *cat, int64_t pid, int64_t ts, int64_t dur)
{
    return (struct made_event){.source = "rank-0",
                               .ts = ts,
                               .dur = dur,
                               .name = name,
                               .cat = cat,
                               .host = "n",
                               .pid = pid,
                               .tid = pid};
}

struct sta_presets *job_presets(const char *own_folder)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_presets *presets = load_built_in(own_folder);
    int status = sta_presets_add_rules(presets, STA_TEST_CONFIG "/findings.yaml", NULL, NULL, NULL, &err);
    cr_assert_eq(status, STA_OK, "%s", err.text);
    return presets;
}

void job_init(struct job *job, const struct made_event *events, size_t count, unsigned workers)
{
    *job = (struct job){0};
    made_trace_init(&job->trace, events, count, 7, workers);
    job->presets = job_presets(NULL);
}

void job_fini(struct job *job)
{
    sta_arena_fini(&job->memory);
    sta_presets_release(job->presets);
    made_trace_fini(&job->trace);
}

void job_add_text(struct job *job, struct sta_document *object, const char *name, const char *text)
{
    sta_document_append(&job->memory, object, name, sta_document_text(&job->memory, text, strlen(text)));
}

void job_add_number(struct job *job, struct sta_document *object, const char *name, double number)
{
    struct sta_document *value = sta_document_create(&job->memory, STA_DOCUMENT_FLOAT);
    value->number = number;
    sta_document_append(&job->memory, object, name, value);
}

struct sta_overlap_query job_query(struct job *job, const char *preset, struct sta_document **request)
{
    *request = sta_document_create(&job->memory, STA_DOCUMENT_OBJECT);
    job_add_text(job, *request, "preset", preset);
    return (struct sta_overlap_query){.snapshot = job->trace.snapshot,
                                      .presets = job->presets,
                                      .trace_preset = preset,
                                      .request = *request};
}

/* job.h - training jobs of a few events, and requests about them. */
#ifndef STA_TESTS_ANALYSE_FINDINGS_JOB_H
#define STA_TESTS_ANALYSE_FINDINGS_JOB_H

#include "analyse/analyse.h"
#include "../analyse/made_trace.h"

#define TRAIN "DLIOBenchmark._train"

struct job {
    struct made_trace trace;
    struct sta_presets *presets; /* with the built-in rules */
    struct sta_arena memory;
};

/** An event of process @pid of the host n, in microseconds. */
struct made_event job_event(const char *name, const char *cat, int64_t pid, int64_t ts, int64_t dur);
/** @workers: whose segments overlap in time. */
void job_init(struct job *job, const struct made_event *events, size_t count, unsigned workers);
void job_fini(struct job *job);
/** The built-in presets and rules.  @own_folder: of further presets; NULL: none. */
struct sta_presets *job_presets(const char *own_folder);

/** A query about the job; its request may get more members. */
struct sta_overlap_query job_query(struct job *job, const char *preset, struct sta_document **request);
void job_add_text(struct job *job, struct sta_document *object, const char *name, const char *text);
void job_add_number(struct job *job, struct sta_document *object, const char *name, double number);

#endif

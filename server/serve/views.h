/* views.h - questions to a trace: from a request to a key, from a key to an answer. */
#ifndef STA_SERVE_VIEWS_H
#define STA_SERVE_VIEWS_H

#include "serve/routes.h"

/* One question to one version of one trace.  Holds copies of all it needs, since who asked may leave while others still wait. */
struct sta_view {
    struct sta_server *server;
    const struct sta_view_kind *kind;
    char trace[STA_TRACE_ID_SIZE];
    struct sta_snapshot *snapshot;
    struct sta_presets *presets;
    char preset[64];
    struct sta_parameter_value values[STA_PARAMETERS]; /* texts in `memory` */
    struct sta_arena memory;
    struct sta_buffer key;
    struct sta_flight *flight;
};

struct sta_view_kind {
    const char *name;
    bool layered;        /* has preset, filters, window, filter */
    uint32_t key_values; /* STA_HAS bits of the parameters that make a difference */
    /** Checks what the parameters' list can't; may be NULL.  Fast: on the HTTP thread. */
    int (*check)(struct sta_view *view, struct sta_error *err);
    int (*compute)(struct sta_view *view, const struct sta_budget *budget, struct sta_reply *reply,
                   struct sta_error *err);
    bool kept; /* the answer to the question without parameters stays in the store */
};

/** Answers the call from what is kept, or arranges for it.  Context: HTTP thread. */
void sta_view_ask(struct sta_call *call);
/** Computes the summary of a trace for later, without anyone waiting.  Context: any thread, may open the snapshot. */
void sta_view_prepare(struct sta_server *server, const char *trace);

/** The analyse stage's form of the question; borrows from the view. */
struct sta_question sta_view_question(const struct sta_view *view);
struct sta_answer_names sta_view_names(const struct sta_view *view);
/** Splits a list with commas between; free() it.  The texts live in the view's memory. */
const char **sta_view_list(struct sta_view *view, const char *names, size_t *count);

#endif

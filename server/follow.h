/* follow.h - the thread that looks for growth of live traces and starts their steps (private to
 * library_live.c and follow.c). */
#ifndef STA_SERVER_FOLLOW_H
#define STA_SERVER_FOLLOW_H

#include "common/dictionary.h"
#include "server/library_live.h"

struct sta_live {
    struct sta_live *next;
    unsigned
        references; /* of the list and of each who works on it; guarded by `lock`, as all below but for */
    struct sta_growth *growth; /* .. this, which is its job's, */
    int announced_fd;          /* .. and this, which is the thread's; -1: not open */
    char id[STA_TRACE_ID_SIZE];
    int64_t since_us;           /* Unix time */
    bool ended;                 /* nobody follows it; what is left is to be read */
    bool announced;             /* changes are announced: looks are seldom */
    bool changed;               /* a step is wanted, .. */
    uint64_t due_ns;            /* .. not before this; all uv_hrtime */
    uint64_t look_ns;           /* when to look next, announced or not */
    uint64_t grown_ns;          /* when something was last found to have grown */
    uint64_t seen_bytes;        /* of the files, at the last listing */
    struct sta_listing listing; /* of the last step; empty while the thread looks at its files */
    bool listing_is_new;        /* its folders are not watched yet */
    unsigned failures;          /* of the last steps, one after the other */
    char *problem;              /* of the last step; NULL: none */
    uint64_t rewritten;         /* files that were read again */
    struct sta_dictionary *clock_paths;
    int64_t *clocks; /* by code of the path: when the file's last event begins, Unix time */
    size_t clock_capacity;
};

void sta_follow_start(struct sta_library *library);
void sta_follow_stop(struct sta_library *library);
void sta_follow_close(struct sta_live *live);
/** Ends following; nothing when the trace is not followed.  Context: under `changing`. */
void sta_live_end(struct sta_library *library, const char *id);

#endif

/* thread_keys.h - keys that an event's thread tells, grouped by as one (private to query/rows).
 *
 * pid, tid and host_name are looked up by the code of the thread.  Where some of them follow one another
 * among the keys, rows are grouped by the rank of their combination instead: one small integer in place of
 * three columns, in the same order.  When groups are finished, ranks become the keys again. */
#ifndef STA_ANALYSE_QUERY_THREAD_KEYS_H
#define STA_ANALYSE_QUERY_THREAD_KEYS_H

#include "analyse/operators/vectors.h"
#include "analyse/query/rows/pipeline.h"

struct sta_thread_keys {
    size_t first, count;       /* which keys of the stage; count 0: none are replaced */
    uint32_t ranks;            /* distinct combinations */
    uint32_t *of_code;         /* by thread code + 1: the rank, or STA_NO_CODE: a row that is dropped */
    uint32_t *threads;         /* by rank: one that has the combination */
    struct sta_vector *values; /* by key: of each thread, and behind these of none */
    struct sta_account *account;
};

/** For the last stage of a pipeline, of events of one trace.  @account: charged.  Return: 0, STA_ELIMIT,
 * STA_EBUSY, STA_ENOMEM.  Fini also after a failure. */
STA_MUSTCHECK int sta_thread_keys_init(struct sta_thread_keys *keys, const struct sta_pipeline *pipeline,
                                       struct sta_account *account, struct sta_error *err);
void sta_thread_keys_fini(struct sta_thread_keys *keys);

/** The ranks of the rows of a state.  @space: of the vector. */
STA_MUSTCHECK int sta_thread_keys_fetch(const struct sta_thread_keys *keys, struct sta_pipeline_state *state,
                                        struct sta_vector_space *space, struct sta_vector *vector,
                                        struct sta_error *err);
/** The keys of some ranks.  @space, @vectors: by key. */
void sta_thread_keys_expand(const struct sta_thread_keys *keys, const struct sta_vector *ranks, uint32_t rows,
                            struct sta_vector_space *space, struct sta_vector *vectors);

#endif

/* workers.h - who made a record: the number of a worker, and those that were seen lately (private to
 * decode/dasf). */
#ifndef STA_DECODE_DASF_WORKERS_H
#define STA_DECODE_DASF_WORKERS_H

#include "common/dictionary.h"
#include "decode/dasf/message.h"

#define STA_WORKERS 8      /* that are remembered; a power of two */
#define STA_WORKER_TEXT 48 /* bytes of such a one's names, at most */

struct sta_known_worker {
    char host[STA_WORKER_TEXT], thread[STA_WORKER_TEXT];
    uint32_t host_size, thread_size; /* 0: none */
    uint32_t code;                   /* of the thread's text */
    int64_t number;
};

/* One thread's. */
struct sta_known_workers {
    struct sta_dictionary *threads;               /* NULL: none can be known */
    struct sta_known_worker workers[STA_WORKERS]; /* by the last character of the thread */
};

/** The number by which the store tells a host's workers apart: the one behind "worker-HOST-", or one made of
 * what it is named otherwise, so that no two share one.  Each worker is a process.  STA_NO_ID: there is none.
 */
int64_t sta_worker_number(const struct sta_message_value *host, const struct sta_message_value *thread);
/** The worker, which is known from now on; NULL: one of its names is long, or is not stored as a text. */
const struct sta_known_worker *sta_know_worker(struct sta_known_workers *known,
                                               const struct sta_message_value *host,
                                               const struct sta_message_value *thread);

#endif

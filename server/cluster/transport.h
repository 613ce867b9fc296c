/* transport.h - messages between the ranks of a job: the only user of MPI (private to cluster).
 *
 * One thread per rank makes all MPI calls (MPI_THREAD_FUNNELED), the nonblocking ones only: a blocking
 * receive would keep a core busy.  Everybody else puts messages into its queue and is called back with those
 * that arrive.  Messages from one rank arrive in the order in which they were sent.  There are no collective
 * calls: a rank that fails says so by a message, and nobody waits in an exchange that it never enters. */
#ifndef STA_CLUSTER_TRANSPORT_H
#define STA_CLUSTER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/error.h"

/* X(NAME): what a message is; members.c, queries.c and coordinator.c say what its bytes are. */
#define STA_MESSAGE_LIST(X)                                                                                  \
    X(BEAT)         /* both ways: still here */                                                              \
    X(STOP)         /* from rank 0: leave the job; to rank 0: the system asks this rank to end */            \
    X(QUERY)        /* from rank 0: work on your stripe */                                                   \
    X(CANCEL)       /* from rank 0: nobody waits for this query or ingest any more */                        \
    X(PARTIAL)      /* to rank 0: the state of a stripe, or why there is none */                             \
    X(INGEST)       /* from rank 0: read files with me */                                                    \
    X(UNIT_WANTED)  /* to rank 0: which ones? */                                                             \
    X(UNIT)         /* from rank 0: these; or none that are left */                                          \
    X(COUNTED)      /* to rank 0: how many lines the range has that this rank was to count */                \
    X(GRANT_WANTED) /* to rank 0: codes for these texts */                                                   \
    X(GRANT)        /* from rank 0 */                                                                        \
    X(UNIT_DONE)    /* to rank 0: what a unit gave, durably */                                               \
    X(INGEST_DONE)  /* to rank 0: this rank has nothing more to do with the ingest, and how it ended */

enum sta_message_kind {
#define X(name) STA_MESSAGE_##name,
    STA_MESSAGE_LIST(X)
#undef X
};

struct sta_message {
    struct sta_message *next; /* of whoever has it */
    unsigned rank;            /* where it is from, or where it goes */
    struct sta_message_head { /* as it travels, with the bytes behind it */
        uint32_t kind;        /* enum sta_message_kind */
        uint32_t reserved;
        uint64_t subject; /* number of the query or ingest that it is about */
        uint64_t size;    /* of the bytes */
    } head;
    unsigned char bytes[];
};

#define STA_MESSAGE_MOST ((size_t)1 << 30) /* bytes of one: MPI counts in int */

/** With space for @size bytes; NULL when memory is short, or these are too many.  Freed by free(). */
struct sta_message *sta_message_create(enum sta_message_kind kind, uint64_t subject, size_t size);
/** Of the bytes of a buffer that has not failed.  NULL: likewise. */
struct sta_message *sta_message_of(enum sta_message_kind kind, uint64_t subject,
                                   const struct sta_buffer *bytes);
/** For large ones: a buffer to which the bytes are put, and the message that takes them over, so that they
 * are not copied.  Return: NULL when the buffer has failed or is too large, which then keeps them. */
void sta_message_begin(struct sta_buffer *buffer);
struct sta_message *sta_message_end(struct sta_buffer *buffer, enum sta_message_kind kind, uint64_t subject);
struct sta_cursor sta_message_cursor(const struct sta_message *message);

struct sta_transport;

struct sta_transport_calls {
    void *context;
    /** A message has come.  Takes it over.  Context: the thread of the transport, which must not wait. */
    void (*arrived)(void *context, struct sta_message *message);
    /** Called every 250 ms on that thread: time for a sign of life, and to look who gave none. */
    void (*beat)(void *context);
    /** Whether this rank computes.  Context: that thread too, under a lock. */
    bool (*works)(void *context);
};

/** Starts MPI on a thread of its own.  Once in a process.  Return: 0, STA_EINTERNAL. */
STA_MUSTCHECK int sta_transport_start(const struct sta_transport_calls *calls,
                                      struct sta_transport **transport, struct sta_error *err);
/** Sends all that was queued, ends MPI (which waits for the other ranks to do so) and frees. */
void sta_transport_end(struct sta_transport *transport);

unsigned sta_transport_rank(const struct sta_transport *transport);
unsigned sta_transport_count(const struct sta_transport *transport);
const char *sta_transport_host(const struct sta_transport *transport);

/** Takes the message over.  Context: any thread. */
void sta_transport_send(struct sta_transport *transport, unsigned rank, struct sta_message *message);
/** While somebody waits for a message arrivals are looked for more often.  @change: 1 when that begins, -1
 * when it ends.  Context: any thread. */
void sta_transport_expect(struct sta_transport *transport, int change);
/** Ends every process of the job at once. */
_Noreturn void sta_transport_abort(const char *why);

struct sta_transport_figures {
    uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
};
struct sta_transport_figures sta_transport_figures(struct sta_transport *transport);

/** Whether this process was started as a rank of MPI.  Looks at the environment alone. */
bool sta_transport_is_rank(void);

#endif

/* The thread that makes all MPI calls.
 *
 * DESIGN.  A round sends what is queued, tests what is being sent and received, and sleeps until somebody
 * queues a message, or until it is time to look again.  Looking each 200 us costs 9 % of a core, each 1 ms
 * 3 %.  So it is 200 us while somebody here waits for a message; else the pause doubles from 100 us, after a
 * message was moved, since messages come in bursts: to 1 ms, or to 4 ms where each look takes its time from a
 * worker.  One message is received at a time. */
#include "cluster/transport.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/log.h"
#include "common/memory.h"

#define TAG 1
#define POLL_WAITING_NS UINT64_C(200000)
#define POLL_LEAST_NS UINT64_C(100000)
#define POLL_IDLE_NS UINT64_C(1000000)
#define POLL_WORKING_NS UINT64_C(4000000)
#define BEAT_NS UINT64_C(250000000)

/* A message on its way out. */
struct sending {
    struct sending *next;
    struct sta_message *message;
    MPI_Request request;
};

struct sta_transport {
    struct sta_transport_calls calls;
    uv_thread_t thread;
    uv_mutex_t lock; /* guards queue, ending, started and waiting */
    uv_cond_t wake;
    struct sta_message *first, **last; /* queued */
    bool started, ending, leaving;
    int waiting;    /* for messages */
    uint64_t pause; /* until the next look, when nobody waits */
    int rank, count;
    char host[MPI_MAX_PROCESSOR_NAME + 1];
    struct sending *sending;
    struct sta_message *incoming; /* NULL: none is received */
    MPI_Request receiving;
    uint64_t beaten; /* when, uv_hrtime */
    _Atomic uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
};

bool sta_transport_is_rank(void)
{
    return getenv("PMIX_RANK") != NULL || getenv("OMPI_COMM_WORLD_SIZE") != NULL ||
           getenv("PMI_RANK") != NULL;
}

struct sta_message *sta_message_create(enum sta_message_kind kind, uint64_t subject, size_t size)
{
    struct sta_message *message = size <= STA_MESSAGE_MOST ? sta_try_alloc(sizeof *message + size) : NULL;
    if (message != NULL)
        *message = (struct sta_message){.head = {.kind = kind, .subject = subject, .size = size}};
    return message;
}

struct sta_message *sta_message_of(enum sta_message_kind kind, uint64_t subject,
                                   const struct sta_buffer *bytes)
{
    struct sta_message *message = sta_message_create(kind, subject, bytes->size);
    if (message != NULL && bytes->size > 0)
        memcpy(message->bytes, bytes->data, bytes->size);
    return message;
}

void sta_message_begin(struct sta_buffer *buffer)
{
    const struct sta_message empty = {.next = NULL};
    sta_buffer_init(buffer);
    sta_put(buffer, &empty, sizeof empty);
}

struct sta_message *sta_message_end(struct sta_buffer *buffer, enum sta_message_kind kind, uint64_t subject)
{
    const size_t size = buffer->size - sizeof(struct sta_message);
    if (buffer->failed || size > STA_MESSAGE_MOST)
        return NULL;
    struct sta_message *message = (struct sta_message *)(void *)sta_buffer_take(buffer);
    message->head = (struct sta_message_head){.kind = kind, .subject = subject, .size = size};
    return message;
}

struct sta_cursor sta_message_cursor(const struct sta_message *message)
{
    return (struct sta_cursor){.at = message->bytes, .end = message->bytes + message->head.size};
}

static size_t size_on_the_way(const struct sta_message *message)
{
    return sizeof message->head + message->head.size;
}

static bool take_queue(struct sta_transport *transport)
{
    uv_mutex_lock(&transport->lock);
    struct sta_message *queue = transport->first;
    transport->first = NULL;
    transport->last = &transport->first;
    uv_mutex_unlock(&transport->lock);
    struct sending **end = &transport->sending;
    while (*end != NULL)
        end = &(*end)->next;
    for (struct sta_message *message = queue; message != NULL; message = message->next) {
        const size_t size = size_on_the_way(message);
        *end = sta_alloc(sizeof **end);
        (*end)->message = message;
        MPI_Isend(&message->head, (int)size, MPI_BYTE, (int)message->rank, TAG, MPI_COMM_WORLD,
                  &(*end)->request);
        transport->bytes_sent += size;
        end = &(*end)->next;
    }
    return queue != NULL;
}

static bool push_out(struct sta_transport *transport)
{
    bool moved = take_queue(transport);
    for (struct sending **at = &transport->sending; *at != NULL;) {
        struct sending *sending = *at;
        int done;
        MPI_Test(&sending->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            at = &sending->next;
            continue;
        }
        *at = sending->next;
        transport->messages_sent++;
        free(sending->message);
        free(sending);
        moved = true;
    }
    return moved;
}

static bool look(struct sta_transport *transport)
{
    MPI_Message handle;
    MPI_Status status;
    int there = 0, size;
    /* Open MPI looks first and then takes in what has come, so that only the second look finds that. */
    for (int times = 0; times < 2 && !there; times++)
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &handle, &status);
    if (!there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &size);
    STA_ASSERT((size_t)size >= sizeof(struct sta_message_head));
    transport->incoming = sta_message_create(0, 0, (size_t)size - sizeof(struct sta_message_head));
    if (transport->incoming == NULL)
        sta_transport_abort("there is no memory for a message of another rank");
    transport->incoming->rank = (unsigned)status.MPI_SOURCE;
    MPI_Imrecv(&transport->incoming->head, size, MPI_BYTE, &handle, &transport->receiving);
    return true;
}

static bool take_in(struct sta_transport *transport)
{
    int done = 0;
    if (transport->incoming == NULL && !look(transport))
        return false;
    MPI_Test(&transport->receiving, &done, MPI_STATUS_IGNORE);
    if (!done)
        return false;
    struct sta_message *message = transport->incoming;
    transport->incoming = NULL;
    transport->messages_received++;
    transport->bytes_received += size_on_the_way(message);
    if (transport->leaving)
        free(message);
    else
        transport->calls.arrived(transport->calls.context, message);
    return true;
}

static void begin(struct sta_transport *transport)
{
    int provided, length;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &transport->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &transport->count);
    MPI_Get_processor_name(transport->host, &length);
    if (provided < MPI_THREAD_FUNNELED)
        sta_transport_abort("this MPI cannot be called by one thread of several");
    transport->beaten = uv_hrtime();
    transport->pause = POLL_IDLE_NS;
    uv_mutex_lock(&transport->lock);
    transport->started = true;
    uv_cond_broadcast(&transport->wake);
    uv_mutex_unlock(&transport->lock);
}

static void beat_in_time(struct sta_transport *transport)
{
    const uint64_t now = uv_hrtime();
    if (now - transport->beaten < BEAT_NS)
        return;
    transport->beaten = now;
    transport->calls.beat(transport->calls.context);
}

/* Return: false once all is sent after the end was asked for. */
static bool rest(struct sta_transport *transport)
{
    uv_mutex_lock(&transport->lock);
    const bool waits = transport->waiting > 0 || transport->sending != NULL || transport->incoming != NULL;
    const uint64_t wait = waits ? STA_MIN(transport->pause, POLL_WAITING_NS) : transport->pause;
    const bool works = transport->calls.works(transport->calls.context);
    transport->pause = STA_MIN(2 * transport->pause, works ? POLL_WORKING_NS : POLL_IDLE_NS);
    const bool goes_on = !transport->ending || transport->first != NULL || transport->sending != NULL;
    if (goes_on && transport->first == NULL)
        uv_cond_timedwait(&transport->wake, &transport->lock, wait);
    uv_mutex_unlock(&transport->lock);
    return goes_on;
}

/* Departures and arrivals take turns. */
static bool move_one(struct sta_transport *transport)
{
    const bool sent = push_out(transport);
    return take_in(transport) || sent;
}

/* Takes in what others send until all ranks have sent everything: a send does not end in MPI_Finalize. */
static void leave(struct sta_transport *transport)
{
    MPI_Request all;
    int left = 0;
    transport->leaving = true;
    for (MPI_Ibarrier(MPI_COMM_WORLD, &all); !left; MPI_Test(&all, &left, MPI_STATUS_IGNORE))
        if (!take_in(transport))
            uv_sleep(1);
    MPI_Finalize();
}

static void thread_main(void *argument)
{
    struct sta_transport *transport = argument;
    begin(transport);
    do {
        while (move_one(transport))
            transport->pause = POLL_LEAST_NS;
        beat_in_time(transport);
    } while (rest(transport));
    leave(transport);
}

int sta_transport_start(const struct sta_transport_calls *calls, struct sta_transport **transport,
                        struct sta_error *err)
{
    struct sta_transport *made = sta_alloc(sizeof *made);
    made->calls = *calls;
    made->last = &made->first;
    *transport = made; /* before the first call */
    STA_ASSERT(uv_mutex_init(&made->lock) == 0 && uv_cond_init(&made->wake) == 0);
    if (uv_thread_create(&made->thread, thread_main, made) != 0) {
        free(made);
        *transport = NULL;
        return sta_fail(err, STA_EINTERNAL, "cannot start the thread that speaks MPI");
    }
    uv_mutex_lock(&made->lock);
    while (!made->started)
        uv_cond_wait(&made->wake, &made->lock);
    uv_mutex_unlock(&made->lock);
    return STA_OK;
}

void sta_transport_end(struct sta_transport *transport)
{
    uv_mutex_lock(&transport->lock);
    transport->ending = true;
    uv_cond_broadcast(&transport->wake);
    uv_mutex_unlock(&transport->lock);
    uv_thread_join(&transport->thread);
    free(transport->incoming);
    uv_cond_destroy(&transport->wake);
    uv_mutex_destroy(&transport->lock);
    free(transport);
}

unsigned sta_transport_rank(const struct sta_transport *transport)
{
    return (unsigned)transport->rank;
}

unsigned sta_transport_count(const struct sta_transport *transport)
{
    return (unsigned)transport->count;
}

const char *sta_transport_host(const struct sta_transport *transport)
{
    return transport->host;
}

void sta_transport_send(struct sta_transport *transport, unsigned rank, struct sta_message *message)
{
    message->rank = rank;
    message->next = NULL;
    uv_mutex_lock(&transport->lock);
    *transport->last = message;
    transport->last = &message->next;
    uv_cond_broadcast(&transport->wake);
    uv_mutex_unlock(&transport->lock);
}

void sta_transport_expect(struct sta_transport *transport, int change)
{
    uv_mutex_lock(&transport->lock);
    transport->waiting += change;
    if (change > 0)
        uv_cond_broadcast(&transport->wake);
    uv_mutex_unlock(&transport->lock);
}

_Noreturn void sta_transport_abort(const char *why)
{
    sta_log(STA_LOG_ERROR, "Ends all ranks of the job", "cause", why, NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

struct sta_transport_figures sta_transport_figures(struct sta_transport *transport)
{
    return (struct sta_transport_figures){transport->messages_sent, transport->bytes_sent,
                                          transport->messages_received, transport->bytes_received};
}

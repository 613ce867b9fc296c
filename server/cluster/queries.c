/* Rank 0: queries that all ranks work on.
 *
 * A query is sent as time left, memory, and the bytes that the analysis made of it; what comes back from
 * each rank is a status and, when that is 0, the state of its stripe. */
#include <stdlib.h>
#include <string.h>

#include "cluster/private.h"
#include "common/log.h"
#include "common/memory.h"

#define LOOK_NS UINT64_C(20000000) /* between two looks whether anybody still waits for the reply */

struct sta_shared {
    struct sta_task task;
    struct sta_cluster *cluster;
    struct sta_message **states; /* by rank; NULL: not there yet */
};

/* Return: false when memory is short; then some may have it. */
static bool send_to_all(struct sta_cluster *cluster, enum sta_message_kind kind, uint64_t subject,
                        const struct sta_buffer *bytes)
{
    bool sent = !bytes->failed;
    for (unsigned rank = 1; sent && rank < sta_cluster_size(cluster); rank++) {
        struct sta_message *message = sta_message_of(kind, subject, bytes);
        sent = message != NULL;
        if (sent)
            sta_transport_send(cluster->transport, rank, message);
    }
    return sent;
}

static struct sta_shared *shared_create(struct sta_cluster *cluster)
{
    struct sta_shared *shared = sta_alloc(sizeof *shared);
    shared->cluster = cluster;
    shared->states = sta_alloc_array(sta_cluster_size(cluster), sizeof(struct sta_message *));
    sta_task_begin(cluster, &cluster->queries, &shared->task, 0);
    cluster->times.queries++;
    return shared;
}

struct sta_shared *sta_queries_send(void *context, const struct sta_buffer *query,
                                    const struct sta_budget *budget)
{
    struct sta_cluster *cluster = context;
    struct sta_buffer bytes;
    const uint64_t now = uv_hrtime();
    sta_buffer_init(&bytes);
    sta_put_u64(&bytes, budget->deadline_ns == 0    ? UINT64_MAX
                        : budget->deadline_ns > now ? budget->deadline_ns - now
                                                    : 1);
    sta_put_u64(&bytes, budget->memory);
    sta_put(&bytes, query->data, query->size);
    struct sta_shared *shared = shared_create(cluster);
    const bool sent = send_to_all(cluster, STA_MESSAGE_QUERY, shared->task.subject, &bytes);
    sta_buffer_fini(&bytes);
    if (sent)
        return shared;
    sta_queries_end(shared);
    return NULL;
}

void sta_queries_arrived(struct sta_cluster *cluster, struct sta_message *message)
{
    uv_mutex_lock(&cluster->lock);
    struct sta_shared *shared = (struct sta_shared *)sta_task_find(cluster->queries, message->head.subject);
    if (shared != NULL && shared->states[message->rank] == NULL) {
        shared->states[message->rank] = message;
        message = NULL;
        uv_cond_broadcast(&cluster->changed);
    }
    uv_mutex_unlock(&cluster->lock);
    free(message); /* nobody waits for it */
}

static int wait_for(struct sta_shared *shared, unsigned rank, const struct sta_budget *budget,
                    struct sta_error *err)
{
    struct sta_cluster *cluster = shared->cluster;
    const uint64_t began = uv_hrtime();
    int status = STA_OK;
    sta_transport_expect(cluster->transport, 1);
    uv_mutex_lock(&cluster->lock);
    while (shared->states[rank] == NULL && status == STA_OK) {
        uv_cond_timedwait(&cluster->changed, &cluster->lock, LOOK_NS);
        status = sta_budget_check(budget, err);
    }
    uv_mutex_unlock(&cluster->lock);
    sta_transport_expect(cluster->transport, -1);
    cluster->times.waiting += uv_hrtime() - began;
    return status;
}

/* Whatever the cause, rank 0 does the stripe itself: if that is the same here, the error is the one that
 * there would be without other ranks. */
static int redo(struct sta_shared *shared, unsigned rank, struct sta_cursor *state, struct sta_error *err)
{
    size_t length = 0;
    const char *cause = sta_get_block(state, &length);
    shared->cluster->times.queries_redone++;
    sta_fail(err, STA_EOUTDATED, "rank %u could not do its share: %.*s", rank, (int)length,
             cause != NULL ? cause : "");
    sta_log(STA_LOG_DEBUG, "Does the share of another rank", "cause", err->text, NULL);
    return STA_EOUTDATED;
}

int sta_queries_take(struct sta_shared *shared, unsigned rank, const struct sta_budget *budget,
                     struct sta_cursor *state, struct sta_error *err)
{
    int status = wait_for(shared, rank, budget, err);
    if (status != STA_OK)
        return status;
    *state = sta_message_cursor(shared->states[rank]);
    return (int)sta_get_u32(state) == STA_OK ? STA_OK : redo(shared, rank, state, err);
}

void sta_queries_end(struct sta_shared *shared)
{
    struct sta_cluster *cluster = shared->cluster;
    const unsigned count = sta_cluster_size(cluster);
    struct sta_buffer nothing = {0};
    bool all = true;
    sta_task_end(cluster, &cluster->queries, &shared->task);
    for (unsigned rank = 1; rank < count; rank++) {
        all &= shared->states[rank] != NULL;
        free(shared->states[rank]);
    }
    if (!all)
        send_to_all(cluster, STA_MESSAGE_CANCEL, shared->task.subject, &nothing);
    free(shared->states);
    free(shared);
}

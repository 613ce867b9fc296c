/* Joins and leaves the job, and dispatches messages to their receivers. */
#include "cluster/cluster.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/analyse.h"
#include "cluster/private.h"
#include "common/files.h"
#include "common/log.h"
#include "common/memory.h"

/* That one rank may read of a query shared by time: with more the others help little. */
#define MOST_ROWS 0.8

bool sta_cluster_is_rank(void)
{
    return sta_transport_is_rank();
}

unsigned sta_cluster_rank(const struct sta_cluster *cluster)
{
    return sta_transport_rank(cluster->transport);
}

unsigned sta_cluster_size(const struct sta_cluster *cluster)
{
    return sta_transport_count(cluster->transport);
}

const struct sta_peers *sta_cluster_peers(const struct sta_cluster *cluster)
{
    return sta_cluster_size(cluster) > 1 ? &cluster->peers : NULL;
}

const struct sta_fellow_readers *sta_cluster_readers(const struct sta_cluster *cluster)
{
    return sta_cluster_size(cluster) > 1 ? &cluster->readers : NULL;
}

/* ---- messages */

static void on_stop(struct sta_cluster *cluster)
{
    if (sta_cluster_rank(cluster) == 0) {
        cluster->options.stop_wanted(cluster->options.stop_context);
        return;
    }
    uv_mutex_lock(&cluster->lock);
    cluster->stopped = true;
    if (cluster->stop_async != NULL)
        uv_async_send(cluster->stop_async);
    uv_mutex_unlock(&cluster->lock);
}

static void cancel(struct sta_cluster *cluster, uint64_t subject)
{
    struct sta_task *const lists[] = {cluster->work, cluster->readings};
    uv_mutex_lock(&cluster->lock);
    for (size_t i = 0; i < STA_COUNT_OF(lists); i++) {
        struct sta_task *task = sta_task_find(lists[i], subject);
        if (task != NULL)
            atomic_store(task->cancel, true);
    }
    uv_mutex_unlock(&cluster->lock);
}

static void on_message(void *context, struct sta_message *message)
{
    struct sta_cluster *cluster = context;
    sta_members_heard(cluster, message);
    switch ((enum sta_message_kind)message->head.kind) {
    case STA_MESSAGE_QUERY:
        sta_work_begin(cluster, message);
        return;
    case STA_MESSAGE_PARTIAL:
        sta_queries_arrived(cluster, message);
        return;
    case STA_MESSAGE_INGEST:
        sta_reading_begin(cluster, message);
        return;
    case STA_MESSAGE_UNIT:
    case STA_MESSAGE_GRANT:
        sta_reading_reply(cluster, message);
        return;
    case STA_MESSAGE_UNIT_WANTED:
    case STA_MESSAGE_COUNTED:
    case STA_MESSAGE_GRANT_WANTED:
    case STA_MESSAGE_UNIT_DONE:
    case STA_MESSAGE_INGEST_DONE:
        sta_coordinator_arrived(cluster, message);
        return;
    case STA_MESSAGE_CANCEL:
        cancel(cluster, message->head.subject);
        break;
    case STA_MESSAGE_STOP:
        on_stop(cluster);
        break;
    case STA_MESSAGE_BEAT:
        break;
    }
    free(message);
}

void sta_cluster_send(struct sta_cluster *cluster, unsigned rank, struct sta_message *message)
{
    message->rank = rank;
    if (rank == sta_cluster_rank(cluster))
        on_message(cluster, message);
    else
        sta_transport_send(cluster->transport, rank, message);
}

void sta_cluster_say(struct sta_cluster *cluster, unsigned rank, enum sta_message_kind kind, uint64_t subject,
                     const struct sta_buffer *bytes)
{
    struct sta_message *message = bytes->failed ? NULL : sta_message_of(kind, subject, bytes);
    if (message == NULL)
        sta_transport_abort("there is no memory for what another rank waits for");
    sta_cluster_send(cluster, rank, message);
}

static bool works(void *context)
{
    const struct sta_cluster *cluster = context;
    return cluster->working > 0;
}

/* ---- what is under way */

void sta_task_begin(struct sta_cluster *cluster, struct sta_task **list, struct sta_task *task,
                    uint64_t subject)
{
    uv_mutex_lock(&cluster->lock);
    task->subject = subject > 0 ? subject : ++cluster->next_subject;
    task->next = *list;
    *list = task;
    cluster->working++;
    uv_mutex_unlock(&cluster->lock);
}

void sta_task_end(struct sta_cluster *cluster, struct sta_task **list, const struct sta_task *task)
{
    uv_mutex_lock(&cluster->lock);
    while (*list != task)
        list = &(*list)->next;
    *list = task->next;
    cluster->working--;
    uv_cond_broadcast(&cluster->changed);
    uv_mutex_unlock(&cluster->lock);
}

struct sta_task *sta_task_find(struct sta_task *list, uint64_t subject)
{
    while (list != NULL && list->subject != subject)
        list = list->next;
    return list;
}

/* ---- joining and leaving */

int sta_cluster_join(const struct sta_cluster_options *options, struct sta_cluster **cluster,
                     struct sta_error *err)
{
    struct sta_cluster *made = sta_alloc(sizeof *made);
    const struct sta_transport_calls calls = {made, on_message, sta_members_beat, works};
    made->options = *options;
    STA_ASSERT(uv_mutex_init(&made->lock) == 0 && uv_cond_init(&made->changed) == 0);
    uv_mutex_lock(&made->lock); /* messages wait until all below is there */
    int status = sta_transport_start(&calls, &made->transport, err);
    if (status != STA_OK) {
        uv_mutex_unlock(&made->lock);
        free(made);
        return status;
    }
    made->peers = (struct sta_peers){.count = sta_cluster_size(made),
                                     .width = options->stripe,
                                     .most = MOST_ROWS,
                                     .context = made,
                                     .send = sta_queries_send,
                                     .take = sta_queries_take,
                                     .end = sta_queries_end};
    made->readers =
        (struct sta_fellow_readers){made, 2 * options->range, sta_cluster_read, sta_cluster_note_alone};
    made->members = sta_alloc_array(sta_cluster_size(made), sizeof *made->members);
    for (unsigned rank = 0; rank < sta_cluster_size(made); rank++)
        made->members[rank].heard = uv_hrtime();
    uv_mutex_unlock(&made->lock);
    *cluster = made;
    return STA_OK;
}

static char *address_file(const struct sta_cluster *cluster)
{
    return sta_path_join(cluster->options.store, "address");
}

int sta_cluster_announce(const struct sta_cluster *cluster, const char *address, struct sta_error *err)
{
    char *path = address_file(cluster);
    char *text = sta_sprintf("%s on %s\n", address, sta_transport_host(cluster->transport));
    sta_log(STA_LOG_INFO, "Listens for all ranks", "address", address, "host",
            sta_transport_host(cluster->transport), "ranks", sta_log_int(sta_cluster_size(cluster)), NULL);
    int status = sta_file_publish(path, text, strlen(text), err);
    free(text);
    free(path);
    return status;
}

/* ---- ranks 1 and more */

/* Waiting for the end.  Signals are taken until the job is left, so that a late one ends nothing. */
struct sta_waiting {
    struct sta_cluster *cluster;
    uv_loop_t loop;
    uv_async_t stopped;
    uv_signal_t signals[2];
    bool asked; /* rank 0 was sent that the system wants an end */
};

static void on_stopped(uv_async_t *handle)
{
    uv_stop(handle->loop);
}

/* Slurm tells all ranks to end; rank 0 does it in order.  A second signal ends a rank at once. */
static void on_signal(uv_signal_t *handle, int number)
{
    struct sta_waiting *waiting = handle->data;
    if (waiting->asked)
        _exit(EXIT_FAILURE);
    waiting->asked = true;
    sta_cluster_say(waiting->cluster, 0, STA_MESSAGE_STOP, 0, &(struct sta_buffer){0});
}

static void set_stop_async(struct sta_waiting *waiting, uv_async_t *async)
{
    struct sta_cluster *cluster = waiting->cluster;
    uv_mutex_lock(&cluster->lock);
    cluster->stop_async = async;
    if (async != NULL && cluster->stopped)
        uv_async_send(async);
    uv_mutex_unlock(&cluster->lock);
}

int sta_cluster_work(struct sta_cluster *cluster, struct sta_error *err)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    struct sta_waiting *waiting = cluster->waiting = sta_alloc(sizeof *waiting);
    waiting->cluster = cluster;
    STA_ASSERT(uv_loop_init(&waiting->loop) == 0);
    STA_ASSERT(uv_async_init(&waiting->loop, &waiting->stopped, on_stopped) == 0);
    for (size_t i = 0; i < STA_COUNT_OF(numbers); i++) {
        uv_signal_init(&waiting->loop, &waiting->signals[i]);
        waiting->signals[i].data = waiting;
        uv_signal_start(&waiting->signals[i], on_signal, numbers[i]);
    }
    set_stop_async(waiting, &waiting->stopped);
    uv_run(&waiting->loop, UV_RUN_DEFAULT);
    set_stop_async(waiting, NULL);
    sta_work_end_all(cluster);
    return STA_OK;
}

static void end_waiting(struct sta_waiting *waiting)
{
    if (waiting == NULL)
        return;
    for (size_t i = 0; i < STA_COUNT_OF(waiting->signals); i++) {
        const int number = waiting->signals[i].signum;
        uv_close((uv_handle_t *)&waiting->signals[i], NULL);
        signal(number, SIG_IGN); /* libuv leaves the default action, which kills what is about to end */
    }
    uv_close((uv_handle_t *)&waiting->stopped, NULL);
    uv_run(&waiting->loop, UV_RUN_DEFAULT);
    uv_loop_close(&waiting->loop);
    free(waiting);
}

/* ---- the end of all */

void sta_cluster_leave(struct sta_cluster *cluster)
{
    const unsigned own = sta_cluster_rank(cluster);
    uv_mutex_lock(&cluster->lock);
    cluster->stopped = true;
    while (cluster->working > 0) /* what rank 0 has read of an ingest */
        uv_cond_wait(&cluster->changed, &cluster->lock);
    uv_mutex_unlock(&cluster->lock);
    for (unsigned rank = 1; own == 0 && rank < sta_cluster_size(cluster); rank++)
        sta_cluster_say(cluster, rank, STA_MESSAGE_STOP, 0, &(struct sta_buffer){0});
    if (own == 0) {
        char *path = address_file(cluster);
        unlink(path);
        free(path);
    }
    sta_transport_end(cluster->transport);
    end_waiting(cluster->waiting);
    if (cluster->presets != NULL)
        sta_presets_release(cluster->presets);
    sta_store_close(cluster->store);
    uv_cond_destroy(&cluster->changed);
    uv_mutex_destroy(&cluster->lock);
    free(cluster->members);
    free(cluster);
}

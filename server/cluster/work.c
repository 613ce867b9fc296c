/* Ranks 1 and more: a thread for each query that rank 0 sends, as many as it works on at the same time. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "cluster/private.h"
#include "common/account.h"
#include "common/log.h"
#include "common/memory.h"

struct sta_work {
    struct sta_task task;
    struct sta_cluster *cluster;
    struct sta_message *query;
    _Atomic bool cancel;
};

/* ---- what a query may name */

int sta_work_attach_store(struct sta_cluster *cluster, struct sta_error *err)
{
    int status = STA_OK;
    uv_mutex_lock(&cluster->lock);
    if (cluster->store == NULL)
        status = sta_store_attach(cluster->options.store, &cluster->store, err);
    if (status == STA_OK && !cluster->store_is_ready) {
        sta_store_count_in(cluster->store, cluster->options.account);
        sta_store_keep_columns(cluster->store, cluster->options.columns);
        cluster->store_is_ready = true;
    }
    uv_mutex_unlock(&cluster->lock);
    return status;
}

/* The next query is mostly about the same trace: its version stays open, and its columns decoded. */
static void keep_open(struct sta_cluster *cluster, struct sta_snapshot *snapshot)
{
    struct sta_snapshot *leaving = NULL;
    uv_mutex_lock(&cluster->lock);
    size_t at = 0;
    while (at < STA_KEPT_OPEN && cluster->open[at] != NULL &&
           strcmp(sta_snapshot_trace(cluster->open[at]), sta_snapshot_trace(snapshot)) != 0)
        at++;
    if (at == STA_KEPT_OPEN)
        at = cluster->next_open++ % STA_KEPT_OPEN;
    if (cluster->open[at] != snapshot) {
        leaving = cluster->open[at];
        cluster->open[at] = sta_snapshot_retain(snapshot);
    }
    uv_mutex_unlock(&cluster->lock);
    sta_snapshot_release(leaving);
}

static int open_snapshot(void *context, const char *trace, uint64_t version, struct sta_snapshot **snapshot,
                         struct sta_error *err)
{
    struct sta_cluster *cluster = context;
    int status = sta_work_attach_store(cluster, err);
    if (status == STA_OK)
        status = sta_snapshot_open_version(cluster->store, trace, version, snapshot, err);
    if (status == STA_OK)
        keep_open(cluster, *snapshot);
    return status;
}

static bool retain_presets(struct sta_cluster *cluster, uint64_t fingerprint, struct sta_presets **presets)
{
    uv_mutex_lock(&cluster->lock);
    const bool same = cluster->presets != NULL && sta_presets_fingerprint(cluster->presets) == fingerprint;
    if (same)
        *presets = sta_presets_retain(cluster->presets);
    uv_mutex_unlock(&cluster->lock);
    return same;
}

/* Presets that rank 0 has changed since are read again. */
static int find_presets(void *context, uint64_t fingerprint, struct sta_presets **presets,
                        struct sta_error *err)
{
    struct sta_cluster *cluster = context;
    struct sta_presets *fresh;
    if (retain_presets(cluster, fingerprint, presets))
        return STA_OK;
    int status = sta_preset_folders_read(&cluster->options.presets, &fresh, err);
    if (status != STA_OK)
        return status;
    uv_mutex_lock(&cluster->lock);
    struct sta_presets *old = cluster->presets;
    cluster->presets = fresh;
    uv_mutex_unlock(&cluster->lock);
    if (old != NULL)
        sta_presets_release(old);
    return retain_presets(cluster, fingerprint, presets)
               ? STA_OK
               : sta_fail(err, STA_EOUTDATED, "the presets of this rank are others than those of rank 0");
}

/* ---- the work */

static int compute(struct sta_work *work, struct sta_buffer *state, struct sta_error *err)
{
    const struct sta_cluster_options *options = &work->cluster->options;
    const struct sta_stripe stripe = {sta_cluster_rank(work->cluster), sta_cluster_size(work->cluster),
                                      options->stripe};
    const struct sta_share_host host = {work->cluster, open_snapshot, find_presets};
    struct sta_cursor query = sta_message_cursor(work->query);
    struct sta_account account;
    const uint64_t left = sta_get_u64(&query), memory = sta_get_u64(&query);
    sta_account_init(&account, memory, "query_memory", options->account);
    const struct sta_budget budget = {.workers = options->workers,
                                      .memory = memory,
                                      .account = &account,
                                      .cancel = &work->cancel,
                                      .deadline_ns = left == UINT64_MAX ? 0 : uv_hrtime() + left,
                                      .spill_folder = options->spill};
    state->limit = STA_MIN(memory, STA_MESSAGE_MOST);
    int status = sta_share_work(&host, &query, &stripe, &budget, state, err);
    if (status == STA_OK)
        status = sta_account_failure(&account, err);
    sta_account_close(&account);
    return status;
}

/* The status, then the state or the cause. */
static struct sta_message *partial_of(struct sta_work *work)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer bytes;
    sta_message_begin(&bytes);
    sta_put_u32(&bytes, STA_OK);
    int status = compute(work, &bytes, &err);
    if (status != STA_OK) {
        sta_buffer_fini(&bytes);
        sta_message_begin(&bytes);
        sta_put_u32(&bytes, (uint32_t)status);
        sta_put_block(&bytes, err.text, strlen(err.text));
    }
    struct sta_message *reply = sta_message_end(&bytes, STA_MESSAGE_PARTIAL, work->query->head.subject);
    sta_buffer_fini(&bytes);
    return reply;
}

static void *work_main(void *argument)
{
    struct sta_work *work = argument;
    struct sta_cluster *cluster = work->cluster;
    struct sta_message *reply = partial_of(work);
    if (reply == NULL)
        sta_transport_abort("there is no memory for the reply to a query");
    sta_transport_send(cluster->transport, 0, reply);
    sta_task_end(cluster, &cluster->work, &work->task);
    free(work->query);
    free(work);
    return NULL;
}

void sta_work_start_thread(void *(*run)(void *argument), void *argument)
{
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &detached, run, argument) != 0)
        sta_transport_abort("cannot start a thread for rank 0's work");
    pthread_attr_destroy(&detached);
}

void sta_work_begin(struct sta_cluster *cluster, struct sta_message *message)
{
    struct sta_work *work = sta_alloc(sizeof *work);
    work->cluster = cluster;
    work->query = message;
    work->task.cancel = &work->cancel;
    sta_task_begin(cluster, &cluster->work, &work->task, message->head.subject);
    sta_work_start_thread(work_main, work);
}

void sta_work_end_all(struct sta_cluster *cluster)
{
    uv_mutex_lock(&cluster->lock);
    for (struct sta_task *task = cluster->work; task != NULL; task = task->next)
        atomic_store(task->cancel, true);
    while (cluster->working > 0)
        uv_cond_wait(&cluster->changed, &cluster->lock);
    uv_mutex_unlock(&cluster->lock);
    for (size_t i = 0; i < STA_KEPT_OPEN; i++)
        sta_snapshot_release(cluster->open[i]);
}

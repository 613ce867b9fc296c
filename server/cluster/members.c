/* Members of the job: heartbeats, and what is done when they stop. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/private.h"
#include "common/log.h"
#include "common/memory.h"

#define WARNING_SHARE 5 /* of the time that ends the job: then a rank counts as silent */

static void put_beat(struct sta_cluster *cluster, struct sta_buffer *out)
{
    const char *host = sta_transport_host(cluster->transport);
    sta_put_block(out, host, strlen(host));
    sta_put_u32(out, cluster->working);
}

static void note(struct sta_cluster_member *member, struct sta_cursor *beat)
{
    size_t length;
    const char *host = sta_get_block(beat, &length);
    const uint32_t queries = sta_get_u32(beat);
    if (beat->failed)
        return;
    snprintf(member->host, sizeof member->host, "%.*s", (int)STA_MIN(length, sizeof member->host - 1), host);
    member->queries = queries;
}

void sta_members_heard(struct sta_cluster *cluster, struct sta_message *message)
{
    uv_mutex_lock(&cluster->lock);
    struct sta_cluster_member *member = &cluster->members[message->rank];
    member->heard = uv_hrtime();
    if (message->head.kind == STA_MESSAGE_BEAT) {
        struct sta_cursor beat = sta_message_cursor(message);
        note(member, &beat);
    }
    uv_mutex_unlock(&cluster->lock);
}

static void send_beats(struct sta_cluster *cluster)
{
    const unsigned own = sta_cluster_rank(cluster), count = sta_cluster_size(cluster);
    struct sta_buffer beat;
    sta_buffer_init(&beat);
    uv_mutex_lock(&cluster->lock);
    put_beat(cluster, &beat);
    uv_mutex_unlock(&cluster->lock);
    for (unsigned rank = 0; rank < count && !beat.failed; rank++) {
        struct sta_message *message =
            rank == own || (own != 0 && rank != 0) ? NULL : sta_message_of(STA_MESSAGE_BEAT, 0, &beat);
        if (message != NULL)
            sta_transport_send(cluster->transport, rank, message);
    }
    sta_buffer_fini(&beat);
}

static double silence_of(const struct sta_cluster_member *member)
{
    return (double)(uv_hrtime() - member->heard) / 1e9;
}

void sta_members_beat(void *context)
{
    struct sta_cluster *cluster = context;
    const unsigned own = sta_cluster_rank(cluster), count = sta_cluster_size(cluster);
    char why[160] = "";
    uv_mutex_lock(&cluster->lock);
    for (unsigned rank = 0; rank < count && !cluster->stopped; rank++) {
        const bool known = rank != own && (own == 0 || rank == 0);
        if (known && silence_of(&cluster->members[rank]) > (double)cluster->options.silence)
            snprintf(why, sizeof why, "nothing was heard of rank %u (host %s) for %.0f s", rank,
                     cluster->members[rank].host, silence_of(&cluster->members[rank]));
    }
    uv_mutex_unlock(&cluster->lock);
    if (why[0] != '\0')
        sta_transport_abort(why);
    send_beats(cluster);
}

/* ---- for people and monitors */

static void put_rank(struct sta_cluster *cluster, unsigned rank, bool silent, struct sta_buffer *out)
{
    const struct sta_cluster_member *member = &cluster->members[rank];
    const char *host = rank == 0 ? sta_transport_host(cluster->transport) : member->host;
    const uint32_t queries = rank == 0 ? cluster->working : member->queries;
    sta_put_format(out, "%s{\"rank\":%u,\"host\":", rank > 0 ? "," : "", rank);
    sta_put_json_string(out, host, strlen(host));
    sta_put_format(out, ",\"state\":\"%s\",\"silent_s\":%.3f}",
                   silent        ? "silent"
                   : queries > 0 ? "working"
                                 : "idle",
                   rank == 0 ? 0.0 : silence_of(member));
}

int sta_cluster_put_ranks(struct sta_cluster *cluster, struct sta_buffer *out)
{
    const double warning = (double)cluster->options.silence / WARNING_SHARE;
    int first_silent = -1;
    sta_put_char(out, '[');
    uv_mutex_lock(&cluster->lock);
    for (unsigned rank = 0; rank < sta_cluster_size(cluster); rank++) {
        const bool silent = rank > 0 && silence_of(&cluster->members[rank]) > warning;
        if (silent && first_silent < 0)
            first_silent = (int)rank;
        put_rank(cluster, rank, silent, out);
    }
    uv_mutex_unlock(&cluster->lock);
    sta_put_char(out, ']');
    return first_silent;
}

static void put_figure(struct sta_buffer *out, const char *type, const char *name, const char *help,
                       double value)
{
    sta_put_format(out, "# HELP strata_%s %s\n# TYPE strata_%s %s\nstrata_%s %.9g\n", name, help, name, type,
                   name, value);
}

static void put_seconds(struct sta_buffer *out, const char *of, const char *help, uint64_t ns)
{
    char name[64], text[160];
    snprintf(name, sizeof name, "rank_%s_seconds_total", of);
    snprintf(text, sizeof text, "Seconds %s", help);
    put_figure(out, "counter", name, text, (double)ns / 1e9);
}

void sta_cluster_put_metrics(struct sta_cluster *cluster, struct sta_buffer *out)
{
    const struct sta_transport_figures figures = sta_transport_figures(cluster->transport);
    const struct sta_cluster_times *times = &cluster->times;
    const struct {
        const char *name, *help;
        uint64_t value;
    } counters[] = {
        {"rank_bytes_sent_total", "Bytes that rank 0 has sent to others.", figures.bytes_sent},
        {"rank_bytes_received_total", "Bytes that rank 0 has had of others.", figures.bytes_received},
        {"rank_questions_total", "Queries that all ranks worked on.", times->queries},
        {"rank_stripes_redone_total", "Stripes that rank 0 did for another.", times->queries_redone},
        {"rank_units_total", "Units of ingests that other ranks have read.", times->units},
    };
    put_figure(out, "gauge", "ranks", "Processes of the job.", sta_cluster_size(cluster));
    for (size_t i = 0; i < STA_COUNT_OF(counters); i++)
        put_figure(out, "counter", counters[i].name, counters[i].help, (double)counters[i].value);
    put_seconds(out, "waiting", "in which queries waited for other ranks.", times->waiting);
    put_seconds(out, "plan", "of rank 0 alone until a shared ingest is dealt.", times->planning);
    put_seconds(out, "grant", "in which rank 0 gave codes to ranks.", times->granting);
    put_seconds(out, "merge", "in which rank 0 took over what units gave.", times->merging);
    put_seconds(out, "publish", "of rank 0 alone once all files were read.", times->publishing);
    put_seconds(out, "exchange", "in which rank 0's own reading waited for units.", times->exchanging);
}

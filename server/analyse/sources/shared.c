/* Queries of other processes, as bytes. */
#include "analyse/sources/shared.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

int sta_shared_fail(struct sta_error *err)
{
    return sta_fail(err, STA_ECORRUPT, "a message of another rank makes no sense");
}

void sta_shared_put_trace(struct sta_buffer *out, const struct sta_snapshot *snapshot)
{
    const char *trace = sta_snapshot_trace(snapshot);
    sta_put_block(out, trace, strlen(trace));
    sta_put_u64(out, sta_snapshot_info(snapshot)->version);
}

int sta_shared_get_trace(const struct sta_share_host *host, struct sta_cursor *in,
                         struct sta_snapshot **snapshot, struct sta_error *err)
{
    size_t length;
    char id[STA_TRACE_ID_SIZE] = "";
    const char *given = sta_get_block(in, &length);
    const uint64_t version = sta_get_u64(in);
    if (in->failed || length != STA_TRACE_ID_SIZE - 1)
        return sta_shared_fail(err);
    memcpy(id, given, length);
    return host->open(host->context, id, version, snapshot, err);
}

void sta_shared_put_text(struct sta_buffer *out, const char *text)
{
    sta_put_varint(out, text != NULL);
    if (text != NULL)
        sta_put_block(out, text, strlen(text));
}

const char *sta_shared_get_text(struct sta_cursor *in, struct sta_arena *memory)
{
    size_t length;
    if (sta_shared_get_index(in, 2) == 0)
        return NULL;
    const char *text = sta_get_block(in, &length);
    return text != NULL ? sta_arena_copy(memory, text, length) : NULL;
}

void sta_shared_put_number(struct sta_buffer *out, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    sta_put_u64(out, bits);
}

double sta_shared_get_number(struct sta_cursor *in)
{
    const uint64_t bits = sta_get_u64(in);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

uint64_t sta_shared_get_index(struct sta_cursor *in, uint64_t limit)
{
    const uint64_t index = sta_get_varint(in);
    in->failed |= index >= limit;
    return in->failed ? 0 : index;
}

/* ---- ranges of time */

void sta_shared_time_send(struct sta_shared_time *shared, const struct sta_budget *budget,
                          const struct sta_scan *scan, const struct sta_buffer *query)
{
    const struct sta_peers *peers = budget->peers;
    struct sta_time_range *ranges = sta_alloc_array(peers->count, sizeof *ranges);
    struct sta_shared *asked = NULL;
    if (!query->failed && sta_time_ranges(scan, peers->count, peers->most, budget->account, ranges))
        asked = peers->send(peers->context, query, budget);
    if (asked != NULL)
        *shared = (struct sta_shared_time){budget, asked, ranges};
    else
        free(ranges);
}

void sta_shared_time_end(struct sta_shared_time *shared)
{
    if (shared->query != NULL)
        shared->budget->peers->end(shared->query);
    free(shared->ranges);
}

unsigned sta_shared_time_count(const struct sta_shared_time *shared)
{
    return shared->query != NULL ? shared->budget->peers->count : 1;
}

struct sta_time_range sta_shared_time_range(const struct sta_shared_time *shared, unsigned rank)
{
    return shared->query != NULL ? shared->ranges[rank] : STA_ALL_TIME;
}

int sta_shared_time_take(const struct sta_shared_time *shared, unsigned rank, struct sta_cursor *state,
                         struct sta_error *err)
{
    return shared->budget->peers->take(shared->query, rank, shared->budget, state, err);
}

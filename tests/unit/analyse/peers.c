/* Processes that are none. */
#include "peers.h"

#include <criterion/criterion.h>
#include <string.h>

static int open_version(void *context, const char *trace, uint64_t version, struct sta_snapshot **snapshot,
                        struct sta_error *err)
{
    const struct peers *peers = context;
    cr_assert_str_eq(trace, sta_snapshot_trace(peers->snapshot));
    cr_assert_eq(version, sta_snapshot_info(peers->snapshot)->version);
    *snapshot = sta_snapshot_retain(peers->snapshot);
    return STA_OK;
}

static int find_presets(void *context, uint64_t fingerprint, struct sta_presets **presets,
                        struct sta_error *err)
{
    const struct peers *peers = context;
    cr_assert_eq(fingerprint, sta_presets_fingerprint(peers->presets));
    *presets = sta_presets_retain(peers->presets);
    return STA_OK;
}

static struct sta_shared *ask(void *context, const struct sta_buffer *query, const struct sta_budget *budget)
{
    struct peers *peers = context;
    sta_buffer_clear(&peers->query);
    sta_put(&peers->query, query->data, query->size);
    peers->asked_count++;
    return (struct sta_shared *)peers;
}

int peers_work(struct peers *peers, size_t size, unsigned rank, const struct sta_budget *budget,
               struct sta_buffer *state, struct sta_error *err)
{
    const struct sta_share_host host = {peers, open_version, find_presets};
    const struct sta_stripe stripe = {rank, peers->calls.count, 1};
    const unsigned char *bytes = (const unsigned char *)peers->query.data;
    struct sta_cursor query = {.at = bytes, .end = bytes + size};
    return sta_share_work(&host, &query, &stripe, budget, state, err);
}

static int take(struct sta_shared *shared, unsigned rank, const struct sta_budget *budget,
                struct sta_cursor *state, struct sta_error *err)
{
    struct peers *peers = (struct peers *)shared;
    struct sta_budget alone = *budget;
    alone.peers = NULL;
    if (peers->status[rank] != STA_OK)
        return sta_fail(err, peers->status[rank], "as the test wants it");
    sta_buffer_clear(&peers->states[rank]);
    int status = peers_work(peers, peers->query.size, rank, &alone, &peers->states[rank], err);
    const unsigned char *bytes = (const unsigned char *)peers->states[rank].data;
    *state = (struct sta_cursor){.at = bytes, .end = bytes + peers->states[rank].size};
    return status;
}

static void end(struct sta_shared *shared)
{
    ((struct peers *)shared)->ended++;
}

void peers_init(struct peers *peers, unsigned count, struct sta_presets *presets,
                struct sta_snapshot *snapshot)
{
    *peers = (struct peers){.presets = presets, .snapshot = snapshot};
    peers->calls = (struct sta_peers){count, 1, 1.0, peers, ask, take, end};
}

void peers_fini(struct peers *peers)
{
    for (unsigned rank = 0; rank < PEERS; rank++)
        sta_buffer_fini(&peers->states[rank]);
    sta_buffer_fini(&peers->query);
}

/* parents.c - which process forked which, as it was found in the events of a version.
 *
 * That reads an args column of the whole trace, so the result is kept with the version: the next
 * start has it at once.  It counts for the same build only, since another may have other rules. */
#include <stdlib.h>

#include "common/account.h"
#include "common/build_id.h"
#include "common/log.h"
#include "store/versions/private.h"

#define NAME_SIZE 80
static void name_of(char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "parents-%s", sta_build_id());
}

/* Takes over the parents.  Return: those that stay, which are of who came first. */
static const uint32_t *remember(const struct sta_snapshot *snapshot, uint32_t *parents)
{
    struct sta_snapshot *own = (struct sta_snapshot *)snapshot; /* constant, but for what it remembers */
    uint32_t *first = NULL;
    if (atomic_compare_exchange_strong(&own->parents, &first, parents))
        return parents;
    sta_account_free(&own->account, parents);
    return first;
}

/* One number for each process: another one's index plus 1, or 0.  NULL: they say something else, or there is
 * no memory. */
static uint32_t *unpack(const struct sta_snapshot *snapshot, struct sta_cursor *in)
{
    struct sta_error ignored = STA_ERROR_INIT;
    const uint32_t count = snapshot->entities->process_count;
    uint32_t *parents = sta_account_alloc(sta_snapshot_account(snapshot), count, sizeof *parents,
                                          "the parents of processes", &ignored);
    for (uint32_t p = 0; parents != NULL && p < count; p++) {
        const uint64_t parent = sta_get_varint(in);
        in->failed |= parent > count;
        parents[p] = (uint32_t)parent - 1;
    }
    if (parents == NULL || (!in->failed && in->at == in->end))
        return parents;
    sta_account_free(sta_snapshot_account(snapshot), parents);
    return NULL;
}

static const uint32_t *get(const struct sta_snapshot *snapshot)
{
    struct sta_error ignored = STA_ERROR_INIT;
    char name[NAME_SIZE], *bytes;
    size_t size;
    name_of(name);
    if (snapshot->info.damaged > 0 ||
        sta_store_get_kept(snapshot->store, snapshot->id, snapshot->info.version, name, &bytes, &size,
                           &ignored) != STA_OK)
        return NULL;
    struct sta_cursor in = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    uint32_t *parents = unpack(snapshot, &in);
    free(bytes);
    return parents != NULL ? remember(snapshot, parents) : NULL;
}

static void put(const struct sta_snapshot *snapshot, const uint32_t *parents)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer out = {0};
    char name[NAME_SIZE];
    name_of(name);
    for (uint32_t p = 0; p < snapshot->entities->process_count; p++)
        sta_put_varint(&out, parents[p] + 1u); /* none: 0 */
    if (sta_store_put_kept(snapshot->store, snapshot->id, snapshot->info.version, name, out.data, out.size,
                           &err) != STA_OK)
        sta_log(STA_LOG_DEBUG, "Cannot keep the parents of processes", "trace", snapshot->id, "cause",
                err.text, NULL);
    sta_buffer_fini(&out);
}

const uint32_t *sta_snapshot_parents(const struct sta_snapshot *snapshot)
{
    const uint32_t *parents = atomic_load(&snapshot->parents);
    return parents != NULL ? parents : get(snapshot);
}

const uint32_t *sta_snapshot_keep_parents(const struct sta_snapshot *snapshot, uint32_t *parents)
{
    const uint32_t *stay = remember(snapshot, parents);
    if (stay == parents && snapshot->info.damaged == 0)
        put(snapshot, stay);
    return stay;
}

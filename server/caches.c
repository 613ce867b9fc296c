/* Caches are evicted when other accounts need their memory. */
#include "server/caches.h"

#include <time.h>

#include "common/memory.h"
#include "common/spill_memory.h"
#include "serve/serve.h"
#include "store/store.h"

#define GIVE_WAY_MS 500 /* what is cancelled ends within a fifth of that */
#define POLL_MS 2
/* Processor time: so much between two trims may have freed enough, and less between two looks is rest. */
#define WORK_NS UINT64_C(100000000)
#define GROWN (STA_MEMORY_MARGIN / 4) /* so does so much more memory, however little work it took */
/* In a row: until then a client may read a response and send the next query, which pages of new memory would
 * slow down by up to a half. */
#define REST_LOOKS 10

/* Cancels responses that are prepared, for those that clients wait for.  Return: whether there were any, and
 * all have ended. Not under the lock while it waits: what ends may want it. */
static bool end_prepared(struct sta_caches *caches)
{
    size_t left = 0, first = 0;
    for (unsigned ms = 0; ms <= GIVE_WAY_MS; ms += POLL_MS) {
        uv_mutex_lock(&caches->lock);
        left = caches->server != NULL ? sta_server_cancel_prepared(caches->server) : 0;
        uv_mutex_unlock(&caches->lock);
        first = ms == 0 ? left : first;
        if (left == 0)
            break;
        uv_sleep(POLL_MS);
    }
    return first > 0 && left == 0;
}

/* Evicts from caches for other accounts.  Memory that the allocator keeps after a free is returned first. */
static bool reserve_space(void *context, size_t bytes, bool yields)
{
    struct sta_caches *caches = context;
    if (sta_memory_trim(caches->memory.limit))
        return true;
    size_t freed = 0;
    uv_mutex_lock(&caches->lock);
    if (caches->server != NULL)
        freed = sta_server_shrink(caches->server, bytes);
    if (caches->server != NULL && freed < bytes)
        freed += sta_store_shrink(caches->store, bytes - freed);
    uv_mutex_unlock(&caches->lock);
    return freed > 0 || (!yields && end_prepared(caches));
}

void sta_caches_init(struct sta_caches *caches, size_t limit)
{
    sta_account_init(&caches->memory, limit, "memory", NULL);
    caches->memory.reclaim = reserve_space;
    caches->memory.reclaim_context = caches;
    caches->memory.margin = sta_memory_can_be_measured() ? STA_MEMORY_MARGIN : 0;
    STA_ASSERT(uv_mutex_init(&caches->lock) == 0);
}

void sta_caches_open(struct sta_caches *caches, struct sta_server *server, struct sta_store *store)
{
    uv_mutex_lock(&caches->lock);
    caches->server = server;
    caches->store = store;
    uv_mutex_unlock(&caches->lock);
}

void sta_caches_close(struct sta_caches *caches)
{
    sta_caches_open(caches, NULL, NULL);
}

bool sta_caches_are_wanted(void *context)
{
    struct sta_caches *caches = context;
    uv_mutex_lock(&caches->lock);
    bool busy = caches->server != NULL && sta_server_is_busy(caches->server);
    uv_mutex_unlock(&caches->lock);
    return busy;
}

static uint64_t processor_time(void)
{
    struct timespec time = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t held_memory(void)
{
    return sta_memory_resident() + sta_memory_of_files();
}

void sta_caches_rest(struct sta_caches *caches)
{
    const uint64_t now = processor_time(), held = held_memory();
    const bool rests = now < caches->rest.looked + WORK_NS;
    const bool worked = now > caches->rest.worked + WORK_NS, grown = held > caches->rest.left + GROWN;
    const bool holds_more = held > atomic_load(&caches->memory.used) + STA_MEMORY_MARGIN / 16;
    caches->rest.looked = now;
    caches->rest.left = STA_MIN(caches->rest.left, held);
    caches->rest.looks = rests ? caches->rest.looks + 1 : 0;
    if (caches->rest.looks < REST_LOOKS || (!worked && !grown) || !holds_more ||
        sta_caches_are_wanted(caches))
        return;
    sta_memory_trim(0);
    sta_spill_memory_let_go();
    caches->rest.worked = processor_time();
    caches->rest.left = held_memory();
}

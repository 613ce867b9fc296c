/* Accounts of memory: atomic counters along the chain of parents, and allocation that is charged to them. */
#include "common/account.h"

#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/spill_memory.h"

#define LARGE                                                                                                \
    ((size_t)1 << 20) /* charges from here on look at what the process holds, however lately it was */

void sta_account_init(struct sta_account *account, size_t limit, const char *setting,
                      struct sta_account *parent)
{
    *account = (struct sta_account){.setting = setting, .limit = limit, .parent = parent};
    if (parent != NULL)
        atomic_fetch_add(&parent->children, 1);
}

void sta_account_init_part(struct sta_account *account, struct sta_account *parent)
{
    *account = (struct sta_account){.setting = parent != NULL ? parent->setting : "memory",
                                    .limit = parent != NULL ? parent->limit : SIZE_MAX,
                                    .is_part = true,
                                    .parent = parent};
}

void sta_account_limit_texts(struct sta_account *account, size_t limit, const char *folder)
{
    account->limit = STA_MIN(account->limit, limit);
    const size_t most = STA_MIN(account->limit, SIZE_MAX / STA_TEXTS_ON_DISK) * STA_TEXTS_ON_DISK;
    if (account->spill == NULL && folder != NULL && folder[0] != '\0')
        account->spill = sta_spill_memory_create(folder, STA_MAX(most, STA_LEAST_TEXTS_ON_DISK));
}

void sta_account_init_texts(struct sta_account *account, size_t limit, const char *folder,
                            struct sta_account *parent)
{
    sta_account_init_part(account, parent);
    account->setting = "query_memory";
    sta_account_limit_texts(account, limit, folder);
}

void sta_account_detach(struct sta_account *account)
{
    STA_ASSERT(account->is_part);
    sta_account_release(account->parent, atomic_load(&account->used));
    account->parent = NULL;
}

void sta_account_fini(struct sta_account *account)
{
    STA_ASSERT(atomic_load(&account->used) == 0);
    sta_account_close(account);
}

void sta_account_close(struct sta_account *account)
{
    sta_account_release(account, atomic_load(&account->used));
    if (account->parent != NULL && !account->is_part)
        atomic_fetch_sub(&account->parent->children, 1);
    sta_spill_memory_destroy(account->spill);
    account->spill = NULL;
}

static void note_peak(struct sta_account *account, size_t used)
{
    size_t peak = atomic_load_explicit(&account->peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak_explicit(&account->peak, &peak, used,
                                                                 memory_order_relaxed, memory_order_relaxed))
        ;
}

static void add(struct sta_account *account, size_t bytes)
{
    note_peak(account, atomic_fetch_add_explicit(&account->used, bytes, memory_order_relaxed) + bytes);
}

static void subtract(struct sta_account *account, size_t bytes)
{
    size_t before = atomic_fetch_sub_explicit(&account->used, bytes, memory_order_relaxed);
    STA_ASSERT(before >= bytes);
}

static bool fits(const struct sta_account *account, size_t bytes)
{
    size_t used = atomic_load_explicit(&account->used, memory_order_relaxed);
    return bytes <= account->limit && used <= account->limit - bytes;
}

/* Adds the bytes if they fit below the limit. */
static bool take(struct sta_account *account, size_t bytes)
{
    size_t used = atomic_load_explicit(&account->used, memory_order_relaxed);
    do {
        if (bytes > account->limit || used > account->limit - bytes)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&account->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    note_peak(account, used + bytes);
    return true;
}

/* ---- what the process holds */

/* Texts on the disk are not counted, since the system takes their pages when it needs memory; they are let
 * go so that the process does not hold more than it may where it does not. */
static void let_go_of_files(const struct sta_account *account, uint64_t resident)
{
    const uint64_t of_files = sta_memory_of_files();
    if (of_files > account->margin / 4 && resident + of_files > account->limit + account->margin / 4 * 3)
        sta_spill_memory_let_go();
}

/* Read at most once per tick of the coarse clock (some milliseconds), unless it must be @fresh. */
static uint64_t bytes_resident(const struct sta_account *account, bool fresh)
{
    static _Atomic uint64_t last_tick, last_bytes;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    uint64_t tick = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (fresh || atomic_exchange_explicit(&last_tick, tick, memory_order_relaxed) != tick) {
        const uint64_t bytes = sta_memory_resident();
        atomic_store_explicit(&last_bytes, bytes, memory_order_relaxed);
        let_go_of_files(account, bytes);
    }
    return atomic_load_explicit(&last_bytes, memory_order_relaxed);
}

static bool process_fits(const struct sta_account *account, size_t bytes, bool fresh)
{
    if (account->margin == 0)
        return true;
    size_t most = account->limit + account->margin;
    return bytes <= most && bytes_resident(account, fresh || bytes >= LARGE) <= most - bytes;
}

/* ---- charging */

/* Makes place in @at for what is charged to @account, which is @at or below it. */
static bool reclaim(struct sta_account *at, const struct sta_account *account, size_t bytes)
{
    bool yields = false;
    if (bytes > at->limit || at->reclaim == NULL)
        return false;
    for (; account != NULL && account != at; account = account->parent)
        yields |= account->yields;
    return at->reclaim(at->reclaim_context, bytes, yields);
}

/* Refused by the limit of @at, whether or not @account could hold the bytes if nobody else held any. */
static int refuse(const struct sta_account *account, const struct sta_account *at, size_t bytes,
                  const char *what, struct sta_error *err)
{
    bool others = at != account && atomic_load(&at->children) > 1 &&
                  bytes <= at->limit - STA_MIN(at->limit, atomic_load(&account->used));
    size_t used = atomic_load(&at->used);
    if (at->margin > 0)
        used = STA_MAX(used, (size_t)bytes_resident(at, false));
    return sta_fail(err, others ? STA_EBUSY : STA_ELIMIT,
                    "memory for %s: %.1f MiB more are needed, %.1f of %.1f MiB are in use%s (setting %s)",
                    what, (double)bytes / 1048576, (double)used / 1048576, (double)at->limit / 1048576,
                    others ? ", also by other requests" : "", at->setting);
}

/* Also when the account's limit would allow it: the system has refused memory, so the next allocation would
 * fail or use up the reserve. */
static int refuse_when_short(struct sta_account *account, const char *what, struct sta_error *err)
{
    bool is_short = sta_memory_is_short();
    for (struct sta_account *at = account; is_short && at != NULL; at = at->parent)
        while (is_short && reclaim(at, account, LARGE))
            is_short = sta_memory_is_short();
    return is_short ? sta_fail(err, STA_ENOMEM, "memory for %s: the system has none", what) : STA_OK;
}

int sta_account_charge(struct sta_account *account, size_t bytes, const char *what, struct sta_error *err)
{
    if (refuse_when_short(account, what, err) != STA_OK)
        return err->status;
    for (struct sta_account *at = account; at != NULL; at = at->parent) {
        bool taken = process_fits(at, bytes, false) && take(at, bytes);
        while (!taken && reclaim(at, account, bytes))
            taken = process_fits(at, bytes, true) && take(at, bytes);
        if (taken)
            continue;
        for (struct sta_account *undo = account; undo != at; undo = undo->parent)
            subtract(undo, bytes);
        return refuse(account, at, bytes, what, err);
    }
    return STA_OK;
}

bool sta_account_try_charge(struct sta_account *account, size_t bytes)
{
    for (struct sta_account *at = account; at != NULL; at = at->parent) {
        if (take(at, bytes))
            continue;
        for (struct sta_account *undo = account; undo != at; undo = undo->parent)
            subtract(undo, bytes);
        return false;
    }
    return true;
}

void sta_account_overdraw(struct sta_account *account, size_t bytes)
{
    for (struct sta_account *at = account; at != NULL; at = at->parent)
        add(at, bytes);
}

void sta_account_release(struct sta_account *account, size_t bytes)
{
    for (struct sta_account *at = account; at != NULL; at = at->parent)
        subtract(at, bytes);
}

/* ---- sticky failures */

enum { NO_FAILURE, NOTING, NOTED };

void sta_account_fail(struct sta_account *account, const struct sta_error *err)
{
    int before = NO_FAILURE;
    if (!atomic_compare_exchange_strong(&account->failing, &before, NOTING))
        return;
    account->failure = *err;
    atomic_store_explicit(&account->failing, NOTED, memory_order_release);
}

int sta_account_failure(const struct sta_account *account, struct sta_error *err)
{
    if (account == NULL || atomic_load_explicit(&account->failing, memory_order_relaxed) == NO_FAILURE)
        return STA_OK;
    while (atomic_load_explicit(&account->failing, memory_order_acquire) != NOTED)
        sched_yield(); /* another thread copies the sentence */
    *err = account->failure;
    return err->status;
}

int sta_account_check(struct sta_account *account, size_t bytes, const char *what, struct sta_error *err)
{
    if (refuse_when_short(account, what, err) != STA_OK)
        return err->status;
    for (struct sta_account *at = account; at != NULL; at = at->parent) {
        int failed = sta_account_failure(at, err);
        if (failed != STA_OK)
            return failed;
        bool fine = fits(at, bytes) && process_fits(at, bytes, false);
        while (!fine && reclaim(at, account, bytes))
            fine = fits(at, bytes) && process_fits(at, bytes, true);
        if (!fine)
            return refuse(account, at, bytes, what, err);
    }
    return STA_OK;
}

size_t sta_account_left(const struct sta_account *account)
{
    size_t left = SIZE_MAX;
    for (const struct sta_account *at = account; at != NULL; at = at->parent)
        left = STA_MIN(left, at->limit - STA_MIN(at->limit, atomic_load(&at->used)));
    return left;
}

/* ---- allocating */

/* Memory that the system refused at first: what can be made again goes, as long as that helps. */
static void *alloc_reclaiming(struct sta_account *account, size_t bytes)
{
    void *memory = sta_try_alloc(bytes);
    for (struct sta_account *at = account; memory == NULL && at != NULL; at = at->parent)
        while (memory == NULL && reclaim(at, account, bytes))
            memory = sta_try_alloc(bytes);
    return memory;
}

void *sta_account_alloc(struct sta_account *account, size_t count, size_t size, const char *what,
                        struct sta_error *err)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        sta_fail(err, STA_ELIMIT, "memory for %s: %zu items of %zu bytes", what, count, size);
        return NULL;
    }
    if (sta_account_charge(account, bytes, what, err) != STA_OK)
        return account != NULL && account->spill != NULL ? sta_spill_memory_take(account->spill, bytes, err)
                                                         : NULL;
    void *memory = alloc_reclaiming(account, bytes);
    if (memory == NULL) {
        sta_account_release(account, bytes);
        sta_fail(err, STA_ENOMEM, "memory for %s: the system has no %.1f MiB", what, (double)bytes / 1048576);
        return NULL;
    }
    /* The allocator may hand out a little more than was asked for. */
    sta_account_overdraw(account, malloc_usable_size(memory) - bytes);
    return memory;
}

/* Bytes in a file, or 0. */
static size_t spilled(const struct sta_account *account, const void *memory)
{
    return account != NULL && account->spill != NULL ? sta_spill_memory_size(account->spill, memory) : 0;
}

size_t sta_account_charged(const struct sta_account *account, void *memory)
{
    return spilled(account, memory) > 0 ? 0 : malloc_usable_size(memory);
}

void *sta_account_calloc(struct sta_account *account, size_t count, size_t size, const char *what,
                         struct sta_error *err)
{
    void *memory = sta_account_alloc(account, count, size, what, err);
    return memory != NULL ? sta_parallel_zero(memory, count * size) : NULL;
}

void *sta_account_alloc_sticky(struct sta_account *account, size_t count, size_t size, const char *what)
{
    struct sta_error err = STA_ERROR_INIT;
    if (account == NULL)
        return sta_alloc_array(count, size);
    /* The caller that finds the failure ends; until then each of many small pieces would look for memory
     * again. */
    if (sta_account_failure(account, &err) != STA_OK)
        return NULL;
    void *memory = sta_account_alloc(account, count, size, what, &err);
    if (memory == NULL)
        sta_account_fail(account, &err);
    return memory;
}

void *sta_account_alloc_small(struct sta_account *account, size_t count, size_t size)
{
    struct sta_error ignored = STA_ERROR_INIT;
    void *memory = NULL;
    if (account != NULL && account->spill != NULL)
        memory = sta_account_calloc(account, count, size, "the first of some texts", &ignored);
    if (memory != NULL)
        return memory;
    memory = sta_alloc_array(count, size);
    sta_account_overdraw(account, malloc_usable_size(memory));
    return memory;
}

void *sta_account_realloc(struct sta_account *account, void *old, size_t count, size_t size, const char *what,
                          struct sta_error *err)
{
    void *memory = sta_account_alloc(account, count, size, what, err);
    if (memory == NULL || old == NULL)
        return memory;
    const size_t in_file = spilled(account, old);
    memcpy(memory, old, STA_MIN(in_file > 0 ? in_file : malloc_usable_size(old), count * size));
    sta_account_free(account, old);
    return memory;
}

void sta_account_free(struct sta_account *account, void *memory)
{
    if (memory == NULL)
        return;
    if (account != NULL && account->spill != NULL && sta_spill_memory_give(account->spill, memory))
        return;
    sta_account_release(account, malloc_usable_size(memory));
    sta_free(memory);
}

int sta_account_grow_(struct sta_account *account, void *array, size_t *capacity, size_t need, size_t size,
                      const char *what, struct sta_error *err)
{
    size_t grown = *capacity > 0 ? *capacity * 2 : 16;
    while (grown < need)
        grown *= 2;
    void *old;
    memcpy(&old, array, sizeof old);
    void *memory = sta_account_realloc(account, old, grown, size, what, err);
    if (memory == NULL)
        return err->status;
    memcpy(array, &memory, sizeof memory);
    *capacity = grown;
    return STA_OK;
}

int sta_account_grow_zeroed_(struct sta_account *account, void *array, size_t *capacity, size_t need,
                             size_t size, const char *what, struct sta_error *err)
{
    const size_t before = *capacity;
    int rc = sta_account_grow_(account, array, capacity, need, size, what, err);
    char *items;
    memcpy(&items, array, sizeof items);
    if (rc == 0)
        memset(items + before * size, 0, (*capacity - before) * size);
    return rc;
}

/* Accounts of memory: atomic counters along the chain of parents, and allocation that is charged to them. */
#include "common/account.h"

#include <malloc.h>
#include <string.h>

#include "common/memory.h"

void sta_account_init(struct sta_account *account, size_t limit, const char *setting,
                      struct sta_account *parent)
{
    *account = (struct sta_account){.setting = setting, .limit = limit, .parent = parent};
}

void sta_account_fini(struct sta_account *account)
{
    STA_ASSERT(atomic_load(&account->used) == 0);
}

static void note_peak(struct sta_account *account, size_t used)
{
    size_t peak = atomic_load_explicit(&account->peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak_explicit(&account->peak, &peak, used,
                                                                 memory_order_relaxed, memory_order_relaxed))
        ;
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

static bool take_or_reclaim(struct sta_account *account, size_t bytes)
{
    while (!take(account, bytes))
        if (bytes > account->limit || account->reclaim == NULL ||
            !account->reclaim(account->reclaim_context, bytes))
            return false;
    return true;
}

static void subtract(struct sta_account *account, size_t bytes)
{
    size_t before = atomic_fetch_sub_explicit(&account->used, bytes, memory_order_relaxed);
    STA_ASSERT(before >= bytes);
}

static int refuse(const struct sta_account *account, size_t bytes, const char *what, struct sta_error *err)
{
    return sta_fail(err, STA_ELIMIT,
                    "memory for %s: %.1f MiB more are needed, %.1f of %.1f MiB are in use (setting %s)", what,
                    (double)bytes / 1048576, (double)atomic_load(&account->used) / 1048576,
                    (double)account->limit / 1048576, account->setting);
}

int sta_account_charge(struct sta_account *account, size_t bytes, const char *what, struct sta_error *err)
{
    for (struct sta_account *at = account; at != NULL; at = at->parent) {
        if (take_or_reclaim(at, bytes))
            continue;
        for (struct sta_account *undo = account; undo != at; undo = undo->parent)
            subtract(undo, bytes);
        return refuse(at, bytes, what, err);
    }
    return STA_OK;
}

void sta_account_release(struct sta_account *account, size_t bytes)
{
    for (struct sta_account *at = account; at != NULL; at = at->parent)
        subtract(at, bytes);
}

/* The allocator may hand out a little more than was asked for; that is counted without a check. */
static void count_rest(struct sta_account *account, size_t bytes)
{
    for (struct sta_account *at = account; at != NULL; at = at->parent)
        note_peak(at, atomic_fetch_add_explicit(&at->used, bytes, memory_order_relaxed) + bytes);
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
        return NULL;
    void *memory = sta_try_alloc(bytes);
    if (memory == NULL) {
        sta_account_release(account, bytes);
        sta_fail(err, STA_ENOMEM, "memory for %s: the system has no %.1f MiB", what, (double)bytes / 1048576);
        return NULL;
    }
    count_rest(account, malloc_usable_size(memory) - bytes);
    return memory;
}

void *sta_account_calloc(struct sta_account *account, size_t count, size_t size, const char *what,
                         struct sta_error *err)
{
    void *memory = sta_account_alloc(account, count, size, what, err);
    return memory != NULL ? memset(memory, 0, count * size) : NULL;
}

void *sta_account_realloc(struct sta_account *account, void *old, size_t count, size_t size, const char *what,
                          struct sta_error *err)
{
    void *memory = sta_account_alloc(account, count, size, what, err);
    if (memory == NULL || old == NULL)
        return memory;
    memcpy(memory, old, STA_MIN(malloc_usable_size(old), count * size));
    sta_account_free(account, old);
    return memory;
}

void sta_account_free(struct sta_account *account, void *memory)
{
    if (memory == NULL)
        return;
    sta_account_release(account, malloc_usable_size(memory));
    free(memory);
}

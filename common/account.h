/* account.h - memory that is counted: every allocation whose size comes from input is charged to an account.
 *
 * An account has a limit and may have a parent; a charge must fit in both.  The daemon has one account
 * (setting `memory`), a request has one below it (`query_memory`).  A charge that does not fit is a status,
 * never an abort: the caller spills, or refuses with a sentence that names the setting.
 *
 * What is charged is what the allocator really hands out (malloc_usable_size), so that a release needs no
 * size. */
#ifndef STA_COMMON_ACCOUNT_H
#define STA_COMMON_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct sta_account {
    const char *setting; /* named when a charge is refused; static */
    size_t limit;        /* bytes */
    struct sta_account *parent;
    _Atomic size_t used, peak; /* bytes */
    /** Called before a charge is refused: frees about @bytes of what can be made again, such as cached
     * columns. Return: whether anything was freed.  Context: the thread that charges; must not charge itself.
     */
    bool (*reclaim)(void *context, size_t bytes);
    void *reclaim_context;
};

/** @parent: NULL for none; must outlive the account. */
void sta_account_init(struct sta_account *account, size_t limit, const char *setting,
                      struct sta_account *parent);
/** Everything must have been released: a rest is a leak, and aborts. */
void sta_account_fini(struct sta_account *account);

/**
 * sta_account_charge - count @bytes as in use
 * @what: completes "memory for .."
 * Return: 0; STA_ELIMIT when they do not fit, with a sentence that names the setting.  Context: any thread.
 */
STA_MUSTCHECK int sta_account_charge(struct sta_account *account, size_t bytes, const char *what,
                                     struct sta_error *err);
void sta_account_release(struct sta_account *account, size_t bytes);

/** Memory for @count items of @size bytes, not zeroed, charged.  NULL with STA_ELIMIT (does not fit) or
 * STA_ENOMEM in @err.  Free with sta_account_free of the same account.  Context: any thread. */
void *sta_account_alloc(struct sta_account *account, size_t count, size_t size, const char *what,
                        struct sta_error *err);
/** The same, zeroed. */
void *sta_account_calloc(struct sta_account *account, size_t count, size_t size, const char *what,
                         struct sta_error *err);
/** @old (NULL allowed) with room for @count items; NULL leaves @old as it is.  For a moment both are charged.
 */
void *sta_account_realloc(struct sta_account *account, void *old, size_t count, size_t size, const char *what,
                          struct sta_error *err);
void sta_account_free(struct sta_account *account, void *memory); /* NULL allowed */

#endif

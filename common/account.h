/* account.h - memory that is counted: every allocation whose size comes from input is charged to an account.
 *
 * An account has a limit and may have a parent; a charge must fit in both.  The daemon has one account
 * (setting `memory`), a request has one below it (`query_memory`).  A charge that does not fit is a status,
 * never an abort: the caller spills, or refuses with a sentence that names the setting.
 *
 * There are two ways to count.  What may be large in one piece (an array by rows) is charged before it is
 * allocated, and the charge may be refused.  What grows in small steps deep inside a loop (a chunk of a
 * dictionary, a block of an arena) is overdrawn: counted at once, and refused by sta_account_check, which
 * the loop calls once per morsel.
 *
 * Functions that allocate charge what the allocator really hands out (malloc_usable_size), so that a release
 * needs no size.  Everything here takes NULL for an account: then nothing is counted. */
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
    _Atomic unsigned children; /* accounts below this one that are open */
    /** Called before a charge is refused: frees about @bytes of what can be made again, such as cached
     * columns. Return: whether anything was freed.  Context: the thread that charges; must not charge itself.
     */
    bool (*reclaim)(void *context, size_t bytes);
    void *reclaim_context;
    /* Bytes that the process may hold beyond the limit without their being counted (stacks, code, what the
     * allocator keeps).  Past limit and margin charges and checks are refused whatever is counted.  0: what
     * the process holds is not looked at. */
    size_t margin;
};

/** @parent: NULL for none; must outlive the account. */
void sta_account_init(struct sta_account *account, size_t limit, const char *setting,
                      struct sta_account *parent);
/** Everything must have been released: a rest is a leak, and aborts. */
void sta_account_fini(struct sta_account *account);
/** Ends an account whose memory is freed, or counted elsewhere by now: a rest is released. */
void sta_account_close(struct sta_account *account);

/**
 * sta_account_charge - count @bytes as in use
 * @what: completes "memory for .."
 * Return: 0; STA_ELIMIT when they do not fit, with a sentence that names the setting; STA_EBUSY when they
 * would fit if others held less.  Context: any thread.
 */
STA_MUSTCHECK int sta_account_charge(struct sta_account *account, size_t bytes, const char *what,
                                     struct sta_error *err);
/** Counts @bytes when they fit as it is: no reclaim, no error.  For caches. */
bool sta_account_try_charge(struct sta_account *account, size_t bytes);
/** Counts @bytes, past the limit if need be: sta_account_check says so. */
void sta_account_overdraw(struct sta_account *account, size_t bytes);
void sta_account_release(struct sta_account *account, size_t bytes);

/** Whether @bytes more would fit, without counting them; 0: whether the account is overdrawn.  Reclaims.
 * Return: as sta_account_charge.  Costs some nanoseconds when all is well. */
STA_MUSTCHECK int sta_account_check(struct sta_account *account, size_t bytes, const char *what,
                                    struct sta_error *err);
/** Bytes that can still be charged: the least of the account and its parents.  SIZE_MAX for NULL. */
size_t sta_account_room(const struct sta_account *account);

/** Memory for @count items of @size bytes, not zeroed, charged.  NULL with STA_ELIMIT or STA_EBUSY (does not
 * fit) or STA_ENOMEM in @err.  Free with sta_account_free of the same account.  Context: any thread. */
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

/* Grows an array (NULL at first) so that it can hold @need items: doubles.  @capacity: a size_t variable.
 * 0, or a status; then the array is as it was. */
#define STA_ACCOUNT_GROW(account, array, capacity, need, what, err)                                          \
    ((size_t)(need) <= (capacity)                                                                            \
         ? STA_OK                                                                                            \
         : sta_account_grow_((account), &(array), &(capacity), (need), sizeof *(array), (what), (err)))
int sta_account_grow_(struct sta_account *account, void *array, size_t *capacity, size_t need, size_t size,
                      const char *what, struct sta_error *err);

#endif

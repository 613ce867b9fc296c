/* account.h - memory that is counted: every allocation whose size comes from input is charged to an account.
 *
 * An account has a limit and may have a parent; a charge must fit in both.  The daemon has one account
 * (setting `memory`), a request has one below it (`query_memory`).  A charge that does not fit is a status,
 * never an abort: the caller spills, or refuses with a sentence that names the setting.
 *
 * There are three ways to count.  What may be large in one piece (an array by rows) is charged before it is
 * allocated, and the charge may be refused.  What grows deep inside a loop that has no place for a status (a
 * dictionary, a map, a column of a table) is charged too, but the refusal is sticky: it is kept by the
 * account, the container stays sound without what it asked for, and every sta_account_check fails from then
 * on; loops call that once per morsel, and who owns the account calls sta_account_failure before a result is
 * used.  What grows in small steps (a block of an arena) is overdrawn: counted at once, and refused by
 * sta_account_check.
 *
 * Functions that allocate charge what the allocator really hands out (malloc_usable_size), so that a release
 * needs no size.  Everything here takes NULL for an account: then nothing is counted. */
#ifndef STA_COMMON_ACCOUNT_H
#define STA_COMMON_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct sta_spill_memory; /* spill_memory.h */

struct sta_account {
    const char *setting; /* named when a charge is refused; static */
    size_t limit;        /* bytes */
    struct sta_account *parent;
    _Atomic size_t used, peak; /* bytes */
    bool is_part;              /* of what the parent holds: not one of its children */
    bool yields;               /* of work for later: no other gives way to it */
    _Atomic unsigned children; /* accounts below this one that are open, of requests and jobs */
    /** Called before a charge is refused: frees about @bytes of what can be made again, such as cached
     * columns; unless the charge is of work that @yields, also what such work holds, which it ends.  Return:
     * whether anything was freed.  Context: the thread that charges; must not charge itself. */
    bool (*reclaim)(void *context, size_t bytes, bool yields);
    void *reclaim_context;
    /* Bytes that the process may hold beyond the limit without their being counted (stacks, code, what the
     * allocator keeps).  Past limit and margin charges and checks are refused whatever is counted.  0: what
     * the process holds is not looked at. */
    size_t margin;
    struct sta_spill_memory *spill; /* where memory lies that is refused; NULL: it is refused */
    _Atomic int failing;            /* the sticky failure: 0 none, 1 being noted, 2 noted */
    struct sta_error failure;       /* once noted */
};

/** @parent: NULL for none; must outlive the account. */
void sta_account_init(struct sta_account *account, size_t limit, const char *setting,
                      struct sta_account *parent);
/** An account with the limit and setting of @parent, for what lives and fails together within it, such as the
 * names of a trace: nobody who could be waited for.  NULL: none. */
void sta_account_init_part(struct sta_account *account, struct sta_account *parent);
/* Bytes of disk for each byte of memory that distinct texts may take, and how many they may take in any case.
 */
#define STA_TEXTS_ON_DISK 256
#define STA_LEAST_TEXTS_ON_DISK ((size_t)16 << 20)

/** A part of @parent for distinct texts and what is kept by text: what is more than @limit bytes, or does not
 * fit the parent, lies in a file in @folder, up to STA_TEXTS_ON_DISK times the limit (at least
 * STA_LEAST_TEXTS_ON_DISK), and is not counted.
 * @folder: copied; NULL or empty: it is refused.  End it when its memory is freed. */
void sta_account_init_texts(struct sta_account *account, size_t limit, const char *folder,
                            struct sta_account *parent);
/** The same for one that was made without a folder, before it is used by several threads. */
void sta_account_limit_texts(struct sta_account *account, size_t limit, const char *folder);
/** What it holds is no longer counted in its parent, which may end before it. */
void sta_account_detach(struct sta_account *account);
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

/** Whether @bytes more would fit, without counting them; 0: whether the account is overdrawn.  Reclaims.  A
 * sticky failure of the account or of a parent comes first.
 * Return: as sta_account_charge.  Costs some nanoseconds when all is well. */
STA_MUSTCHECK int sta_account_check(struct sta_account *account, size_t bytes, const char *what,
                                    struct sta_error *err);
/** Bytes that can still be charged: the least of the account and its parents.  SIZE_MAX for NULL. */
size_t sta_account_left(const struct sta_account *account);

/** Memory for @count items of @size bytes, not zeroed, charged.  NULL with STA_ELIMIT or STA_EBUSY (does not
 * fit) or STA_ENOMEM in @err.  Free with sta_account_free of the same account.  Context: any thread. */
void *sta_account_alloc(struct sta_account *account, size_t count, size_t size, const char *what,
                        struct sta_error *err);
/** Bytes of such memory that are charged; 0 of what lies in a file. */
size_t sta_account_charged(const struct sta_account *account, void *memory);
/** The same, zeroed. */
void *sta_account_calloc(struct sta_account *account, size_t count, size_t size, const char *what,
                         struct sta_error *err);
/** @old (NULL allowed) with space for @count items; NULL leaves @old as it is.  For a moment both are
 * charged.
 */
void *sta_account_realloc(struct sta_account *account, void *old, size_t count, size_t size, const char *what,
                          struct sta_error *err);
void sta_account_free(struct sta_account *account, void *memory); /* NULL allowed */

/**
 * sta_account_alloc_sticky - sta_account_alloc where no status can be returned
 * Return: memory, not zeroed; NULL when it is refused: then the account's checks and further calls fail from
 * now on, without looking for memory again.  A NULL account has no place for a failure, so that running out
 * ends the process: only for what the program bounds.
 * Context: any thread.  @account must be one that ends with the work, never the daemon's own.
 */
void *sta_account_alloc_sticky(struct sta_account *account, size_t count, size_t size, const char *what);
/** Zeroed memory of a few KiB that cannot be refused, so it is overdrawn if need be: the first piece of a
 * container. */
void *sta_account_alloc_small(struct sta_account *account, size_t count, size_t size);
/** Makes @err the sticky failure of the account, if it has none yet. */
void sta_account_fail(struct sta_account *account, const struct sta_error *err);
/** The first sticky failure, of this account alone; 0: there was none. */
STA_MUSTCHECK int sta_account_failure(const struct sta_account *account, struct sta_error *err);

/* Grows an array (NULL at first) so that it can hold @need items: doubles.  @capacity: a size_t variable.
 * 0, or a status; then the array is as it was. */
#define STA_ACCOUNT_GROW(account, array, capacity, need, what, err)                                          \
    ((size_t)(need) <= (capacity)                                                                            \
         ? STA_OK                                                                                            \
         : sta_account_grow_((account), &(array), &(capacity), (need), sizeof *(array), (what), (err)))
int sta_account_grow_(struct sta_account *account, void *array, size_t *capacity, size_t need, size_t size,
                      const char *what, struct sta_error *err);
/* The same; items are all zero where nothing was set. */
#define STA_ACCOUNT_GROW_ZEROED(account, array, capacity, need, what, err)                                   \
    ((size_t)(need) <= (capacity) ? STA_OK                                                                   \
                                  : sta_account_grow_zeroed_((account), &(array), &(capacity), (need),       \
                                                             sizeof *(array), (what), (err)))
int sta_account_grow_zeroed_(struct sta_account *account, void *array, size_t *capacity, size_t need,
                             size_t size, const char *what, struct sta_error *err);

#endif

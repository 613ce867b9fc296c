/* shelf.c - see shelf.h.
 *
 * DESIGN: a value is kept as its difference to a base in 1, 2 or 4 bytes; where some are missing, 0 says so
 * and the base is one less than the least value.  Items are shared out to compartments by a hash of their
 * key, each with a lock, a table of chains and a list in the order of use.  A reader holds a reference while
 * it widens an item, outside the lock, so that an item may be taken off the shelf meanwhile. */
#include "store/shelf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "common/account.h"
#include "common/memory.h"
#include "store/kernels.h"

#define COMPARTMENTS 64
#define CHAINS 1024

struct item {
    struct item *next;          /* in its chain */
    struct item *newer, *older; /* in the order of use */
    struct sta_column_shelf_key key;
    _Atomic unsigned references; /* the shelf's, and one of each reader at work */
    int64_t asked;               /* second in which it was asked for last */
    uint64_t base;
    uint32_t size; /* bytes of all */
    uint8_t width; /* number of the kernels for it */
    uint8_t kind;
    bool any_missing;
    _Alignas(8) unsigned char values[];
};

struct compartment {
    pthread_mutex_t lock;
    struct item *chains[CHAINS];
    struct item *newest, *oldest;
    uint64_t size;
};

struct sta_column_shelf {
    uint64_t room; /* of a compartment */
    int64_t seconds;
    struct sta_account *account;
    struct compartment compartments[COMPARTMENTS];
};

struct sta_column_shelf *sta_column_shelf_create(uint64_t room, int64_t seconds, struct sta_account *account)
{
    struct sta_column_shelf *shelf = sta_alloc(sizeof *shelf);
    shelf->room = room / COMPARTMENTS;
    shelf->seconds = seconds;
    shelf->account = account;
    for (size_t i = 0; i < COMPARTMENTS; i++)
        STA_ASSERT(pthread_mutex_init(&shelf->compartments[i].lock, NULL) == 0);
    return shelf;
}

static void release(const struct sta_column_shelf *shelf, struct item *item)
{
    if (atomic_fetch_sub_explicit(&item->references, 1, memory_order_acq_rel) != 1)
        return;
    sta_account_release(shelf->account, item->size);
    free(item);
}

void sta_column_shelf_destroy(struct sta_column_shelf *shelf)
{
    if (shelf == NULL)
        return;
    for (size_t i = 0; i < COMPARTMENTS; i++) {
        for (struct item *item = shelf->compartments[i].newest, *older; item != NULL; item = older) {
            older = item->older;
            release(shelf, item);
        }
        pthread_mutex_destroy(&shelf->compartments[i].lock);
    }
    free(shelf);
}

/* ---- places */

static uint64_t hash_of(struct sta_column_shelf_key key)
{
    uint64_t hash =
        (key.segment << 32 ^ (uint64_t)key.column << 16 ^ key.block) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool is_same(struct sta_column_shelf_key a, struct sta_column_shelf_key b)
{
    return a.segment == b.segment && a.block == b.block && a.column == b.column;
}

/* Where the pointer to the item of a key is, or would be. */
static struct item **find(struct compartment *compartment, struct sta_column_shelf_key key)
{
    struct item **at = &compartment->chains[hash_of(key) / COMPARTMENTS % CHAINS];
    while (*at != NULL && !is_same((*at)->key, key))
        at = &(*at)->next;
    return at;
}

static void put_in_front(struct compartment *compartment, struct item *item)
{
    item->newer = NULL;
    item->older = compartment->newest;
    if (item->older != NULL)
        item->older->newer = item;
    else
        compartment->oldest = item;
    compartment->newest = item;
}

static void take_out(struct compartment *compartment, struct item *item)
{
    *(item->newer != NULL ? &item->newer->older : &compartment->newest) = item->older;
    *(item->older != NULL ? &item->older->newer : &compartment->oldest) = item->newer;
}

static void drop(const struct sta_column_shelf *shelf, struct compartment *compartment, struct item *item)
{
    *find(compartment, item->key) = item->next;
    take_out(compartment, item);
    compartment->size -= item->size;
    release(shelf, item);
}

/* Return: false when what is there stays. */
static bool make_place(const struct sta_column_shelf *shelf, struct compartment *compartment,
                       const struct item *item)
{
    while (compartment->size + item->size > shelf->room) {
        const struct item *oldest = compartment->oldest;
        if (oldest == NULL || item->asked - oldest->asked < shelf->seconds)
            return false;
        drop(shelf, compartment, compartment->oldest);
    }
    return true;
}

static int64_t present_second(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec;
}

static struct compartment *compartment_of(struct sta_column_shelf *shelf, struct sta_column_shelf_key key)
{
    return &shelf->compartments[hash_of(key) % COMPARTMENTS];
}

/* ---- values */

static void widen(const struct item *item, uint32_t rows, struct sta_column_values *values)
{
    const struct sta_narrow_kernels *narrow = &sta_kernels()->narrow_to[item->width];
    values->kind = (enum sta_column_kind)item->kind;
    values->any_missing = item->any_missing;
    if (item->kind == STA_KIND_CODE && item->any_missing)
        narrow->widen_some_codes(item->values, rows, (uint32_t)item->base, values->codes);
    else if (item->kind == STA_KIND_CODE)
        narrow->widen_codes(item->values, rows, (uint32_t)item->base, values->codes);
    else if (item->any_missing)
        narrow->widen_some(item->values, rows, item->base, values->integers, values->missing);
    else
        narrow->widen(item->values, rows, item->base, values->integers);
}

static struct item *make_item(struct sta_column_shelf_key key, uint32_t rows, int64_t min, int64_t max,
                              const struct sta_column_values *values)
{
    uint64_t base = (uint64_t)min - values->any_missing, range = (uint64_t)max - base;
    if (range > UINT32_MAX)
        return NULL;
    unsigned width = range > UINT16_MAX ? 2 : range > UINT8_MAX ? 1 : 0;
    size_t size = sizeof(struct item) + ((size_t)rows << width);
    struct item *item = sta_try_alloc(size);
    if (item == NULL)
        return NULL;
    *item = (struct item){.key = key,
                          .references = 1,
                          .asked = present_second(),
                          .base = base,
                          .size = (uint32_t)size,
                          .width = (uint8_t)width,
                          .kind = (uint8_t)values->kind,
                          .any_missing = values->any_missing};
    const struct sta_narrow_kernels *narrow = &sta_kernels()->narrow_to[width];
    if (values->kind == STA_KIND_CODE)
        narrow->shrink_codes(values->codes, rows, (uint32_t)base, item->values);
    else
        narrow->shrink(values->integers, values->any_missing ? values->missing : NULL, rows, base,
                       item->values);
    return item;
}

bool sta_column_shelf_get(struct sta_column_shelf *shelf, struct sta_column_shelf_key key, uint32_t rows,
                          struct sta_column_values *values)
{
    struct compartment *compartment = compartment_of(shelf, key);
    pthread_mutex_lock(&compartment->lock);
    struct item *item = *find(compartment, key);
    if (item != NULL) {
        atomic_fetch_add_explicit(&item->references, 1, memory_order_relaxed);
        item->asked = present_second();
        take_out(compartment, item);
        put_in_front(compartment, item);
    }
    pthread_mutex_unlock(&compartment->lock);
    if (item == NULL)
        return false;
    widen(item, rows, values);
    release(shelf, item);
    return true;
}

void sta_column_shelf_put(struct sta_column_shelf *shelf, struct sta_column_shelf_key key, uint32_t rows,
                          int64_t min, int64_t max, const struct sta_column_values *values)
{
    struct compartment *compartment = compartment_of(shelf, key);
    bool fits =
        values->kind == STA_KIND_INT || values->kind == STA_KIND_BOOL || values->kind == STA_KIND_CODE;
    struct item *item = fits ? make_item(key, rows, min, max, values) : NULL;
    if (item == NULL)
        return;
    bool charged = sta_account_try_charge(shelf->account, item->size);
    size_t size = item->size;
    pthread_mutex_lock(&compartment->lock);
    if (charged && *find(compartment, key) == NULL && make_place(shelf, compartment, item)) {
        *find(compartment, key) = item;
        put_in_front(compartment, item);
        compartment->size += item->size;
        item = NULL;
    }
    pthread_mutex_unlock(&compartment->lock);
    if (item != NULL && charged) /* no place, or another reader was first */
        sta_account_release(shelf->account, size);
    free(item);
}

size_t sta_column_shelf_shrink(struct sta_column_shelf *shelf, size_t bytes)
{
    size_t freed = 0, share = bytes / COMPARTMENTS + 1;
    for (size_t i = 0; i < COMPARTMENTS; i++) {
        struct compartment *compartment = &shelf->compartments[i];
        pthread_mutex_lock(&compartment->lock);
        for (size_t here = 0; here < share && compartment->oldest != NULL;) {
            here += compartment->oldest->size;
            freed += compartment->oldest->size;
            drop(shelf, compartment, compartment->oldest);
        }
        pthread_mutex_unlock(&compartment->lock);
    }
    return freed;
}

static bool is_among(const uint64_t *serials, size_t count, uint64_t serial)
{
    size_t low = 0;
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (serials[middle] < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && serials[low] == serial;
}

void sta_column_shelf_forget(struct sta_column_shelf *shelf, const uint64_t *serials, size_t count)
{
    for (size_t i = 0; i < COMPARTMENTS; i++) {
        struct compartment *compartment = &shelf->compartments[i];
        pthread_mutex_lock(&compartment->lock);
        for (struct item *item = compartment->newest, *older; item != NULL; item = older) {
            older = item->older;
            if (is_among(serials, count, item->key.segment))
                drop(shelf, compartment, item);
        }
        pthread_mutex_unlock(&compartment->lock);
    }
}

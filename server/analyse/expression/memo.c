/* Results by dictionary code; see memo.h. */
#include "analyse/expression/memo.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/account.h"
#include "common/memory.h"

struct entry {
    struct entry *next;
    const struct sta_dictionary *dictionary;
    _Atomic(struct sta_memo_cells *) cells;
};

struct sta_memo {
    enum sta_type type;
    bool when_missing;
    struct sta_account *account;
    _Atomic(struct entry *) first; /* one per dictionary, few */
    pthread_mutex_t lock;          /* held to add an entry or cells */
};

struct sta_memo *sta_memo_create(enum sta_type type, bool when_missing, struct sta_account *account)
{
    struct sta_memo *memo = sta_alloc(sizeof *memo);
    memo->type = type;
    memo->when_missing = when_missing;
    memo->account = account;
    pthread_mutex_init(&memo->lock, NULL);
    return memo;
}

static void free_cells(const struct sta_memo *memo, struct sta_memo_cells *cells)
{
    while (cells != NULL) {
        struct sta_memo_cells *older = cells->older;
        sta_account_free(memo->account, cells->marks);
        sta_account_free(memo->account, cells->values);
        sta_account_free(memo->account, cells->codes);
        free(cells);
        cells = older;
    }
}

void sta_memo_destroy(struct sta_memo *memo)
{
    if (memo == NULL)
        return;
    struct entry *entry = atomic_load(&memo->first);
    while (entry != NULL) {
        struct entry *next = entry->next;
        free_cells(memo, atomic_load(&entry->cells));
        free(entry);
        entry = next;
    }
    pthread_mutex_destroy(&memo->lock);
    free(memo);
}

static void *take(const struct sta_memo *memo, size_t count, size_t size, struct sta_error *err)
{
    return sta_account_calloc(memo->account, count, size, "what is remembered of texts", err);
}

static struct sta_memo_cells *create_cells(const struct sta_memo *memo, size_t capacity,
                                           struct sta_error *err)
{
    struct sta_memo_cells *cells = sta_alloc(sizeof *cells);
    bool valued = memo->type == STA_TYPE_INT || memo->type == STA_TYPE_FLOAT;
    cells->capacity = capacity;
    if (memo->type == STA_TYPE_TEXT)
        cells->codes = take(memo, capacity, sizeof *cells->codes, err);
    else
        cells->marks = take(memo, capacity, sizeof *cells->marks, err);
    if (valued)
        cells->values = take(memo, capacity, sizeof *cells->values, err);
    if ((cells->codes == NULL && cells->marks == NULL) || (valued && cells->values == NULL)) {
        free_cells(memo, cells);
        return NULL;
    }
    if (cells->codes != NULL)
        atomic_init(&cells->codes[0], STA_CELL_MISSING);
    else if (valued)
        atomic_init(&cells->marks[0], STA_MARK_MISSING);
    else
        atomic_init(&cells->marks[0], memo->when_missing ? STA_MARK_TRUE : STA_MARK_FALSE);
    return cells;
}

static void copy_known(const struct sta_memo_cells *from, struct sta_memo_cells *to)
{
    for (size_t i = 0; i < from->capacity; i++) {
        if (from->codes != NULL) {
            atomic_init(&to->codes[i], atomic_load_explicit(&from->codes[i], memory_order_relaxed));
            continue;
        }
        uint8_t mark = atomic_load_explicit(&from->marks[i], memory_order_acquire);
        if (mark != 0 && from->values != NULL)
            atomic_init(&to->values[i], atomic_load_explicit(&from->values[i], memory_order_relaxed));
        atomic_init(&to->marks[i], mark);
    }
}

static struct entry *find_entry(const struct sta_memo *memo, const struct sta_dictionary *dictionary)
{
    struct entry *entry = atomic_load_explicit(&memo->first, memory_order_acquire);
    while (entry != NULL && entry->dictionary != dictionary)
        entry = entry->next;
    return entry;
}

/* Under the lock. */
static struct entry *add_entry(struct sta_memo *memo, const struct sta_dictionary *dictionary)
{
    struct entry *entry = sta_alloc(sizeof *entry);
    entry->dictionary = dictionary;
    entry->next = atomic_load_explicit(&memo->first, memory_order_relaxed);
    atomic_store_explicit(&memo->first, entry, memory_order_release);
    return entry;
}

static const struct sta_memo_cells *grow(struct sta_memo *memo, const struct sta_dictionary *dictionary,
                                         size_t need, struct sta_error *err)
{
    pthread_mutex_lock(&memo->lock);
    struct entry *entry = find_entry(memo, dictionary);
    if (entry == NULL)
        entry = add_entry(memo, dictionary);
    struct sta_memo_cells *old = atomic_load_explicit(&entry->cells, memory_order_relaxed);
    struct sta_memo_cells *cells = old;
    if (old == NULL || old->capacity < need) {
        cells = create_cells(memo, old == NULL ? need : need * 2, err);
        if (cells != NULL) {
            if (old != NULL)
                copy_known(old, cells);
            cells->older = old;
            atomic_store_explicit(&entry->cells, cells, memory_order_release);
        }
    }
    pthread_mutex_unlock(&memo->lock);
    return cells;
}

const struct sta_memo_cells *sta_memo_cells(struct sta_memo *memo, const struct sta_dictionary *dictionary,
                                            struct sta_error *err)
{
    size_t need = (size_t)sta_dictionary_count(dictionary) + 1;
    struct entry *entry = find_entry(memo, dictionary);
    struct sta_memo_cells *cells =
        entry != NULL ? atomic_load_explicit(&entry->cells, memory_order_acquire) : NULL;
    return cells != NULL && cells->capacity >= need ? cells : grow(memo, dictionary, need, err);
}

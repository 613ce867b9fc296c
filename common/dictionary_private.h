/* dictionary_private.h - what the files of a dictionary share (private to dictionary*.c). */
#ifndef STA_COMMON_DICTIONARY_PRIVATE_H
#define STA_COMMON_DICTIONARY_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/dictionary.h"

#define STA_DICTIONARY_CHUNKS 29       /* 16 * (2^29 - 1) entries: past 32-bit codes */
#define STA_DICTIONARY_WHAT "texts"    /* that memory is for */
#define STA_DICTIONARY_FIRST_CHUNK 16u /* each key of args has a dictionary, and most have few texts */

/* A block of texts, each with a zero behind it. */
struct texts {
    struct texts *older;
    size_t size;
    char bytes[];
};

/* Codes of the lists of one text, by the code of that text, plus 1; 0: there is no such list. */
struct singles {
    _Atomic(_Atomic uint32_t *) chunks[STA_DICTIONARY_CHUNKS];
    uint32_t count; /* texts that are not in the table */
};

/* Memory that a large dictionary needs next, made ready by who has just interned, without the lock: the first
 * touch of a large page takes the kernel longer than all texts on it take, and others would wait for it. */
struct ahead {
    _Atomic unsigned wanted;       /* STA_AHEAD_.., noted under the lock */
    _Atomic uint32_t code;         /* whose entry is wanted */
    _Atomic(struct texts *) texts; /* ready, or NULL */
    _Atomic(struct table *) table;
};
enum { STA_AHEAD_TEXTS = 1, STA_AHEAD_TABLE = 2, STA_AHEAD_ENTRIES = 4 };

struct sta_dictionary {
    _Atomic(struct table *) table;
    _Atomic(struct sta_text *) chunks[STA_DICTIONARY_CHUNKS];
    _Atomic uint32_t count;
    _Atomic bool appended; /* some texts are not in the table */
    _Atomic bool deferred; /* all texts are still to be made: there are no chunks */
    pthread_mutex_t lock;  /* held to add, and to make */
    struct sta_account *account;
    struct texts *texts;
    size_t used;               /* bytes of the newest texts' block */
    _Atomic size_t bytes;      /* of memory held */
    struct sta_error *refusal; /* where it is said that there is no memory; NULL: as sticky failure */
    sta_text_maker *make;      /* of texts that were left for later */
    const void *make_context;
    struct singles *singles; /* NULL: lists of one text are texts like others */
    struct ahead ahead;
    struct sta_text first[STA_DICTIONARY_FIRST_CHUNK];
};

/** Chunk k begins at code STA_DICTIONARY_FIRST_CHUNK * (2^k - 1). */
static inline unsigned sta_dictionary_chunk(uint32_t code, uint32_t *inside)
{
    const uint32_t scaled = code / STA_DICTIONARY_FIRST_CHUNK + 1;
    const unsigned chunk = 31u - (unsigned)__builtin_clz(scaled);
    *inside = code - STA_DICTIONARY_FIRST_CHUNK * ((1u << chunk) - 1);
    return chunk;
}

/** Memory that is held until the end; NULL: the account has the sticky failure, or who fills the dictionary.
 */
void *sta_dictionary_take(struct sta_dictionary *dictionary, size_t size);
/** The next text, under the lock.  Return: false when there is no memory for it; then nothing has changed,
 * but that code 0 is there, if need be as an empty text. */
bool sta_dictionary_fill(struct sta_dictionary *dictionary, uint32_t code, const char *bytes, size_t length);

/** Makes ready what is wanted.  Context: any thread, without the lock. */
void sta_dictionary_make_ready(struct sta_dictionary *dictionary);
static inline void sta_dictionary_look_ahead(struct sta_dictionary *dictionary)
{
    if (atomic_load_explicit(&dictionary->ahead.wanted, memory_order_relaxed) != 0)
        sta_dictionary_make_ready(dictionary);
}
/** A block of a large page for texts, or NULL: none is ready. */
struct texts *sta_dictionary_ready_texts(struct sta_dictionary *dictionary);
/** An empty table of so many slots, or NULL. */
struct table *sta_dictionary_ready_table(struct sta_dictionary *dictionary, size_t capacity);
void sta_dictionary_give_ready(struct sta_dictionary *dictionary);
/** Notes under the lock what is wanted. */
static inline void sta_dictionary_want(struct sta_dictionary *dictionary, unsigned what)
{
    atomic_fetch_or_explicit(&dictionary->ahead.wanted, what, memory_order_relaxed);
}

/** Whether no text is left for later: they are made if need be, and what there is no memory for is a sticky
 * failure. */
bool sta_dictionary_make_or_fail(struct sta_dictionary *dictionary);
static inline bool sta_dictionary_have_made(const struct sta_dictionary *dictionary)
{
    return !atomic_load_explicit(&dictionary->deferred, memory_order_acquire) ||
           sta_dictionary_make_or_fail((struct sta_dictionary *)(uintptr_t)dictionary);
}

#define STA_DICTIONARY_TOGETHER 32 /* texts whose memory is fetched at the same time */

uint64_t sta_dictionary_hash(const char *bytes, size_t length);
/** sta_dictionary_intern of a text whose hash is known. */
uint32_t sta_dictionary_intern_hashed(struct sta_dictionary *dictionary, uint64_t hash, const char *bytes,
                                      size_t length);
/** The same of up to STA_DICTIONARY_TOGETHER texts, under one lock for those that are new.  @codes: set */
void sta_dictionary_intern_together(struct sta_dictionary *dictionary, const struct sta_text *texts,
                                    const uint64_t *hashes, size_t count, uint32_t *codes);

#endif

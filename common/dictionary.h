/* dictionary.h - each distinct text once, as a dense 32-bit code.
 *
 * Codes count up from 0 in the order of first sight, so they depend on thread timing: they serve equality and
 * lookup, and never order a result.  Append-only: a code and its text stay valid until the dictionary is
 * destroyed.
 *
 * Any thread may intern and look up at any time; a lock guards only texts that are new to the dictionary.
 * Hot loops put a struct sta_dictionary_cache of their own in front. */
#ifndef STA_COMMON_DICTIONARY_H
#define STA_COMMON_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define STA_NO_CODE UINT32_MAX /* a missing value, wherever codes are used */

struct sta_account;
struct sta_buffer;
struct sta_dictionary;

struct sta_text {
    const char *bytes; /* zero-terminated, may hold zeros inside */
    uint32_t length;
};

/** Below, equal to or above 0 as @a goes before, with or after @b in the order of bytes, which is that of
 * code points. */
int sta_text_order(struct sta_text a, struct sta_text b);

struct sta_numbered_text {
    uint64_t head; /* of the sort */
    uint64_t number;
    struct sta_text text;
};
/** Into that order, in place; equal texts in any.  @cancel: asked now and then; NULL: never.  Return: 0 or
 * STA_ECANCELLED, when they are in no order. */
STA_MUSTCHECK int sta_texts_sort(struct sta_numbered_text *texts, size_t count, const _Atomic bool *cancel);

/** One whose memory the program bounds: nothing is charged, and running out ends the process. */
struct sta_dictionary *sta_dictionary_create(void);
/** One that input sizes.  @account: is charged, and must outlive the dictionary.  When it refuses, it has a
 * sticky failure; texts that are new then get a code that is there, so that callers go on until they check.
 */
struct sta_dictionary *sta_dictionary_create_in(struct sta_account *account);
void sta_dictionary_destroy(struct sta_dictionary *dictionary); /* NULL allowed */
uint32_t sta_dictionary_intern(struct sta_dictionary *dictionary, const char *bytes, size_t length);
/** The same of a text that is known not to be there, such as the next one of a stored dictionary: nothing is
 * looked up. */
uint32_t sta_dictionary_append(struct sta_dictionary *dictionary, const char *bytes, size_t length);
/** Appends the text of @code to @out, the same each time.  Context: any thread. */
typedef void sta_text_maker(const void *context, uint32_t code, struct sta_buffer *out);
/** Leaves @count texts for later: the first of a dictionary that is empty and that nobody else sees yet.  All
 * are distinct.  They are made when one of them is asked for, but then a refusal of memory is a sticky
 * failure and leaves empty texts: sta_dictionary_make before says it in time.  @context: outlives the
 * dictionary. */
void sta_dictionary_defer(struct sta_dictionary *dictionary, uint32_t count, sta_text_maker *make,
                          const void *context);
/** Makes what was left for later, if anything.  Return: 0; STA_ELIMIT, STA_EBUSY, STA_ENOMEM or STA_ECORRUPT:
 * then nothing has changed.  Context: any thread. */
STA_MUSTCHECK int sta_dictionary_make(const struct sta_dictionary *dictionary, struct sta_error *err);
/* Lists of one text (event.h) are found by the code of that text, which takes neither a hash nor the table,
 * once a dictionary that is empty indexes them; by their bytes they are not found then. */
/** May be repeated.  Context: nobody else uses it meanwhile. */
void sta_dictionary_index_singles(struct sta_dictionary *dictionary);
/** The code of the list of one text, or STA_NO_CODE.  Context: any thread. */
uint32_t sta_dictionary_find_single(const struct sta_dictionary *dictionary, uint32_t member);
/** Codes of such lists, those that are new too.  What there is no memory for is a sticky failure.  Context:
 * any thread. */
void sta_dictionary_intern_singles(struct sta_dictionary *dictionary, const uint32_t *members, size_t count,
                                   uint32_t *codes);
/** Return: the code, or STA_NO_CODE if the text is not there. */
uint32_t sta_dictionary_find(const struct sta_dictionary *dictionary, const char *bytes, size_t length);
/** The same of many texts at once: they wait for memory together. */
void sta_dictionary_find_many(const struct sta_dictionary *dictionary, const struct sta_text *texts,
                              size_t count, uint32_t *codes);
/** @code must be below the count. */
struct sta_text sta_dictionary_text(const struct sta_dictionary *dictionary, uint32_t code);
uint32_t sta_dictionary_count(const struct sta_dictionary *dictionary);
size_t sta_dictionary_bytes(const struct sta_dictionary *dictionary); /* memory held */

/** rank[code] = place of the text among all by byte (= code point) order; @account is charged, free it with
 * sta_account_free.  Return: NULL with STA_ELIMIT, STA_EBUSY or STA_ENOMEM. */
uint32_t *sta_dictionary_ranks(const struct sta_dictionary *dictionary, struct sta_account *account,
                               uint32_t *count, struct sta_error *err);

/* A direct-mapped memory of recent texts for one thread. */
#define STA_DICTIONARY_CACHE_SLOTS 1024
struct sta_dictionary_cache {
    struct sta_dictionary *dictionary;
    struct sta_dictionary_cache_slot {
        uint64_t hash;
        struct sta_text text;
        uint32_t code;
    } slots[STA_DICTIONARY_CACHE_SLOTS];
};
void sta_dictionary_cache_init(struct sta_dictionary_cache *cache, struct sta_dictionary *dictionary);
uint32_t sta_dictionary_cache_intern(struct sta_dictionary_cache *cache, const char *bytes, size_t length);
/** The code of a text that was seen lately, else STA_NO_CODE.  *hash: of the text. */
uint32_t sta_dictionary_cache_find(const struct sta_dictionary_cache *cache, const char *bytes, size_t length,
                                   uint64_t *hash);
/** Interns texts that it did not find, with their hashes, and remembers them: they wait for memory together,
 * and those that are new take the dictionary's lock once for some tens. */
void sta_dictionary_cache_intern_many(struct sta_dictionary_cache *cache, const struct sta_text *texts,
                                      const uint64_t *hashes, size_t count, uint32_t *codes);

#endif

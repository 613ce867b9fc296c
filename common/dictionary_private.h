/* dictionary_private.h - what a dictionary and its cache share (private to dictionary*.c). */
#ifndef STA_COMMON_DICTIONARY_PRIVATE_H
#define STA_COMMON_DICTIONARY_PRIVATE_H

#include "common/dictionary.h"

#define STA_DICTIONARY_TOGETHER 32 /* texts whose memory is fetched at the same time */

uint64_t sta_dictionary_hash(const char *bytes, size_t length);
/** sta_dictionary_intern of a text whose hash is known. */
uint32_t sta_dictionary_intern_hashed(struct sta_dictionary *dictionary, uint64_t hash, const char *bytes,
                                      size_t length);
/** The same of up to STA_DICTIONARY_TOGETHER texts, under one lock for those that are new.  @codes: set */
void sta_dictionary_intern_together(struct sta_dictionary *dictionary, const struct sta_text *texts,
                                    const uint64_t *hashes, size_t count, uint32_t *codes);

#endif

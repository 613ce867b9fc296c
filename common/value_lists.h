/* value_lists.h - values of a key as they are read back, of which some are lists of values of another key
 * (of tables, and of who reads them).
 *
 * The texts of lists are made when somebody asks for one: most queries ask for none. */
#ifndef STA_COMMON_VALUE_LISTS_H
#define STA_COMMON_VALUE_LISTS_H

#include "common/event.h"

/** @members: the dictionary that lists have codes of, which outlives them; @key: whose it is. */
struct sta_value_lists *sta_value_lists_create(struct sta_account *account, uint32_t key,
                                               const struct sta_dictionary *members);
void sta_value_lists_destroy(struct sta_value_lists *lists); /* NULL allowed */
/** The next value is a list.  Return: space for the codes of its members, valid until the next call; NULL
 * with STA_ELIMIT, STA_EBUSY or STA_ENOMEM. */
uint32_t *sta_value_lists_add(struct sta_value_lists *lists, size_t count, struct sta_error *err);
/** The next value is a text; one that there is no memory for is a sticky failure of the account. */
STA_MUSTCHECK int sta_value_lists_add_text(struct sta_value_lists *lists, const char *bytes, size_t length,
                                           struct sta_error *err);
uint32_t sta_value_lists_key(const struct sta_value_lists *lists);
uint32_t sta_value_lists_count(const struct sta_value_lists *lists);
/** A sta_text_maker. */
void sta_value_lists_put(const void *lists, uint32_t code, struct sta_buffer *out);
/** NULL: the value is no list. */
const uint32_t *sta_value_lists_codes(const struct sta_value_lists *lists, uint32_t code, size_t *count);

#endif

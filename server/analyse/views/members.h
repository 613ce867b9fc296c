/* members.h - members of a request, read and checked one by one (private to analyse). */
#ifndef STA_ANALYSE_VIEWS_MEMBERS_H
#define STA_ANALYSE_VIEWS_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include "common/document.h"
#include "common/error.h"

/* Each gives what is there, or leaves *value as it is when the member is absent or null.  Mistakes:
 * STA_EINPUT with parameter /@name. */
STA_MUSTCHECK int sta_member_bool(const struct sta_document *object, const char *name, bool *value,
                                  struct sta_error *err);
STA_MUSTCHECK int sta_member_number(const struct sta_document *object, const char *name, double *value,
                                    bool *given, struct sta_error *err);
STA_MUSTCHECK int sta_member_text(const struct sta_document *object, const char *name, const char **value,
                                  struct sta_error *err);
/** A text that is one of some words; *value: its place among them. */
STA_MUSTCHECK int sta_member_word(const struct sta_document *object, const char *name,
                                  const char *const *words, size_t count, size_t *value,
                                  struct sta_error *err);
/** The member itself, NULL when it is absent or null. */
const struct sta_document *sta_member_given(const struct sta_document *object, const char *name);

#endif

/* pattern.h - regular expressions; the only door to PCRE2 (private to expression). */
#ifndef STA_ANALYSE_EXPRESSION_PATTERN_H
#define STA_ANALYSE_EXPRESSION_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include "common/dictionary.h"
#include "common/error.h"

enum sta_anchoring { STA_ANYWHERE, STA_AT_START, STA_WHOLE };

struct sta_pattern; /* unchanging; any thread */
struct sta_matcher; /* one thread's memory for matching */

/**
 * sta_pattern_create - compile a pattern written for Python's re or for PCRE2
 * @message: what is wrong with it, on failure
 * Return: NULL if the text is no pattern
 */
struct sta_pattern *sta_pattern_create(struct sta_text text, enum sta_anchoring anchoring, bool caseless,
                                       char *message, size_t size);
void sta_pattern_destroy(struct sta_pattern *pattern);
/** Groups, without the match itself. */
unsigned sta_pattern_groups(const struct sta_pattern *pattern);
/** Number of the group of that name, 0 if there is none. */
unsigned sta_pattern_group(const struct sta_pattern *pattern, const char *name, size_t length);

struct sta_matcher *sta_matcher_create(void);
void sta_matcher_destroy(struct sta_matcher *matcher);

#define STA_UNSET ((size_t)-1)

/**
 * sta_pattern_find - the first match from byte @start on
 * @not_empty_here: an empty match at @start does not count
 * *spans: start and end of the match, then of each group, STA_UNSET for one that took no part; until the
 * matcher is used again
 * Return: 1 found, 0 not, STA_ELIMIT when the match limit was exceeded.
 */
int sta_pattern_find(const struct sta_pattern *pattern, struct sta_matcher *matcher, struct sta_text text,
                     size_t start, bool not_empty_here, const size_t **spans, struct sta_error *err);

/* What goes in the place of a match: literal pieces and groups. */
struct sta_replacement;
struct sta_buffer;
/** NULL if @text names a group that the pattern lacks or holds an unknown escape: then @message says so. */
struct sta_replacement *sta_replacement_create(struct sta_text text, const struct sta_pattern *pattern,
                                               char *message, size_t size);
void sta_replacement_destroy(struct sta_replacement *replacement);
void sta_replacement_put(const struct sta_replacement *replacement, struct sta_text text, const size_t *spans,
                         struct sta_buffer *out);

#endif

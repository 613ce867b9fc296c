/* suggest.h - the name that was meant (private to analyse). */
#ifndef STA_ANALYSE_EXPRESSION_SUGGEST_H
#define STA_ANALYSE_EXPRESSION_SUGGEST_H

#include "common/buffer.h"
#include "common/dictionary.h"

struct sta_builder;

/** Appends "unknown WHAT 'x'; did you mean 'y'? There are a, b, c and 5 more" as far as they fit. */
void sta_put_unknown(struct sta_buffer *out, const char *what, struct sta_text wrong,
                     const char *const *names, size_t count);
/** Fails with that, at @position of the expression that is being built. */
void sta_fail_unknown(struct sta_builder *builder, const char *what, struct sta_text wrong, uint32_t position,
                      const char *const *names, size_t count);

#endif

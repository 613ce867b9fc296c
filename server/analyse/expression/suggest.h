/* suggest.h - the name that was meant (private to expression). */
#ifndef STA_ANALYSE_EXPRESSION_SUGGEST_H
#define STA_ANALYSE_EXPRESSION_SUGGEST_H

#include "analyse/expression/build.h"

/** Fails with "unknown WHAT 'x'; did you mean 'y'? There are a, b, c and 5 more." as far as they fit. */
void sta_fail_unknown(struct sta_builder *builder, const char *what, struct sta_text wrong, uint32_t position,
                      const char *const *names, size_t count);

#endif

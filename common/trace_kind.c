/* Names of the kinds of traces. */
#include "common/trace_kind.h"

#include <string.h>

static const char *const names[] = {
#define X(NAME, name) [STA_TRACE_##NAME] = name,
    STA_TRACE_KIND_LIST(X)
#undef X
};

const char *sta_trace_kind_name(enum sta_trace_kind kind)
{
    return names[kind];
}

bool sta_trace_kind_find(const char *name, size_t length, enum sta_trace_kind *kind)
{
    for (unsigned i = 0; i < STA_TRACE_KINDS; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *kind = (enum sta_trace_kind)i;
            return true;
        }
    return false;
}

/* The name that was meant: the nearest by edit distance (insert, delete, replace, swap of neighbours; case
 * counts for nothing). */
#include "analyse/expression/suggest.h"

#include <string.h>

#include "analyse/expression/build.h"
#include "common/memory.h"

#define LONGEST 64     /* names beyond are not compared */
#define LIST_BYTES 600 /* of the names that are listed */

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
    return STA_MIN(a, STA_MIN(b, c));
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t k = 0; k <= b_length; k++)
        last[k] = (unsigned)k;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = (unsigned)i;
        for (size_t k = 1; k <= b_length; k++) {
            unsigned differ = lower(a[i - 1]) != lower(b[k - 1]);
            now[k] = smallest(last[k] + 1, now[k - 1] + 1, last[k - 1] + differ);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) && lower(a[i - 2]) == lower(b[k - 1]))
                now[k] = STA_MIN(now[k], before[k - 2] + 1);
        }
        unsigned *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b_length];
}

/* A part of the name (of three letters at least) is as good as one edit. */
static unsigned unlikeness(struct sta_text wrong, const char *name)
{
    size_t length = strlen(name);
    if (length > LONGEST || wrong.length > LONGEST)
        return UINT32_MAX;
    unsigned edits = distance(wrong.bytes, wrong.length, name, length);
    bool part = wrong.length >= 3 && memmem(name, length, wrong.bytes, wrong.length) != NULL;
    return part ? STA_MIN(edits, 1u) : edits;
}

void sta_put_unknown(struct sta_buffer *out, const char *what, struct sta_text wrong,
                     const char *const *names, size_t count)
{
    size_t nearest = count;
    unsigned least = STA_MAX(1u, wrong.length / 3) + 1;
    for (size_t i = 0; i < count; i++) {
        unsigned edits = unlikeness(wrong, names[i]);
        if (edits < least) {
            least = edits;
            nearest = i;
        }
    }
    sta_put_format(out, "unknown %s '%.*s'", what, (int)STA_MIN(wrong.length, 120u), wrong.bytes);
    if (nearest < count)
        sta_put_format(out, "; did you mean '%s'?", names[nearest]);
    size_t listed = 0, bytes = 0;
    while (listed < count && (bytes += strlen(names[listed]) + 2) <= LIST_BYTES)
        listed++;
    sta_put_text(out, nearest < count ? " There are " : "; there are ");
    for (size_t i = 0; i < listed; i++)
        sta_put_format(out, "%s%s", i > 0 ? ", " : "", names[i]);
    if (listed < count)
        sta_put_format(out, " and %zu more", count - listed);
}

void sta_fail_unknown(struct sta_builder *builder, const char *what, struct sta_text wrong, uint32_t position,
                      const char *const *names, size_t count)
{
    struct sta_buffer message;
    sta_buffer_init(&message);
    sta_put_unknown(&message, what, wrong, names, count);
    sta_build_fail(builder, STA_EINPUT, position, "%.*s", (int)message.size, message.data);
    sta_buffer_fini(&message);
}

/* narrow.h - integers and codes that are held for long: as their difference to a base, in 1, 2 or 4 bytes.
 *
 * Where some values are missing, 0 stands for none, and the base is one less than the least value. */
#ifndef STA_COMMON_NARROW_H
#define STA_COMMON_NARROW_H

#include <stdbool.h>
#include <stdint.h>

struct sta_narrow {
    uint64_t base;
    uint8_t width; /* values take 1 << width bytes */
    bool any_missing;
};

/** Return: false: the values lie too far apart. */
bool sta_narrow_choose(int64_t min, int64_t max, bool any_missing, struct sta_narrow *narrow);
/** The same for some values.  @missing: NULL: none is. */
bool sta_narrow_choose_for(const int64_t *values, const uint8_t *missing, uint32_t count,
                           struct sta_narrow *narrow);
bool sta_narrow_choose_for_codes(const uint32_t *codes, uint32_t count, struct sta_narrow *narrow);

/** @missing: looked at if some are. */
void sta_narrow_put(const struct sta_narrow *narrow, const int64_t *values, const uint8_t *missing,
                    uint32_t count, void *out);
void sta_narrow_put_codes(const struct sta_narrow *narrow, const uint32_t *codes, uint32_t count, void *out);
/** @missing: written if some are; their values are 0. */
void sta_narrow_get(const struct sta_narrow *narrow, const void *in, uint32_t count, int64_t *values,
                    uint8_t *missing);
void sta_narrow_get_codes(const struct sta_narrow *narrow, const void *in, uint32_t count, uint32_t *codes);

/** Clears the marks of rows whose narrow value does not lie in @low .. @low + @span. */
void sta_narrow_keep_range(const struct sta_narrow *narrow, const void *in, uint32_t count, uint32_t low,
                           uint32_t span, uint8_t *marks);
/** Clears the marks of rows for whose narrow value the table has a 0; @of_none: of narrow value 0. */
void sta_narrow_keep_codes(const struct sta_narrow *narrow, const void *in, uint32_t count,
                           const uint8_t *table, uint8_t of_none, uint8_t *marks);

/** The narrow value of one row. */
static inline uint32_t sta_narrow_at(const struct sta_narrow *narrow, const void *in, uint32_t row)
{
    return narrow->width == 0   ? ((const uint8_t *)in)[row]
           : narrow->width == 1 ? ((const uint16_t *)in)[row]
                                : ((const uint32_t *)in)[row];
}

#endif

/* narrow.c - see narrow.h. */
#include "common/narrow.h"

#include <stddef.h>
#include "common/dictionary.h"

struct kernels {
    void (*shrink)(const int64_t *values, const uint8_t *missing, uint32_t count, uint64_t base, void *out);
    void (*shrink_codes)(const uint32_t *codes, uint32_t count, uint32_t base, void *out);
    void (*widen)(const void *in, uint32_t count, uint64_t base, int64_t *values);
    void (*widen_some)(const void *in, uint32_t count, uint64_t base, int64_t *values, uint8_t *missing);
    void (*widen_codes)(const void *in, uint32_t count, uint32_t base, uint32_t *codes);
    void (*widen_some_codes)(const void *in, uint32_t count, uint32_t base, uint32_t *codes);
    void (*keep_range)(const void *in, uint32_t count, uint32_t low, uint32_t span, uint8_t *marks);
    void (*keep_codes)(const void *in, uint32_t count, const uint8_t *table, uint8_t of_none, uint8_t *marks);
};

struct all_kernels {
    struct kernels to[3]; /* 1, 2, 4 bytes */
    /** Least and greatest of those that are there; least > greatest: none is. */
    void (*range)(const int64_t *values, const uint8_t *missing, uint32_t count, int64_t *min, int64_t *max);
    /** Likewise.  Return: whether some are missing. */
    bool (*range_codes)(const uint32_t *codes, uint32_t count, uint32_t *min, uint32_t *max);
};

#define STA_LOOPS "common/narrow_body.h"
#include "common/instruction_sets.h"

static const struct kernels *kernels_of(const struct sta_narrow *narrow)
{
    return &STA_BEST_KERNELS->to[narrow->width];
}

/* ---- choosing */

bool sta_narrow_choose(int64_t min, int64_t max, bool any_missing, struct sta_narrow *narrow)
{
    const uint64_t base = (uint64_t)min - any_missing, range = (uint64_t)max - base;
    *narrow = (struct sta_narrow){.base = base,
                                  .width = range > UINT16_MAX  ? 2
                                           : range > UINT8_MAX ? 1
                                                               : 0,
                                  .any_missing = any_missing};
    return range <= UINT32_MAX;
}

bool sta_narrow_choose_for(const int64_t *values, const uint8_t *missing, uint32_t count,
                           struct sta_narrow *narrow)
{
    int64_t min, max;
    STA_BEST_KERNELS->range(values, missing, count, &min, &max);
    return min <= max ? sta_narrow_choose(min, max, missing != NULL, narrow)
                      : sta_narrow_choose(0, 0, true, narrow);
}

bool sta_narrow_choose_for_codes(const uint32_t *codes, uint32_t count, struct sta_narrow *narrow)
{
    uint32_t min, max;
    const bool any_missing = STA_BEST_KERNELS->range_codes(codes, count, &min, &max);
    return min <= max && min != STA_NO_CODE ? sta_narrow_choose(min, max, any_missing, narrow)
                                            : sta_narrow_choose(0, 0, true, narrow);
}

/* ---- values */

void sta_narrow_put(const struct sta_narrow *narrow, const int64_t *values, const uint8_t *missing,
                    uint32_t count, void *out)
{
    kernels_of(narrow)->shrink(values, narrow->any_missing ? missing : NULL, count, narrow->base, out);
}

void sta_narrow_put_codes(const struct sta_narrow *narrow, const uint32_t *codes, uint32_t count, void *out)
{
    kernels_of(narrow)->shrink_codes(codes, count, (uint32_t)narrow->base, out);
}

void sta_narrow_get(const struct sta_narrow *narrow, const void *in, uint32_t count, int64_t *values,
                    uint8_t *missing)
{
    if (narrow->any_missing)
        kernels_of(narrow)->widen_some(in, count, narrow->base, values, missing);
    else
        kernels_of(narrow)->widen(in, count, narrow->base, values);
}

void sta_narrow_get_codes(const struct sta_narrow *narrow, const void *in, uint32_t count, uint32_t *codes)
{
    if (narrow->any_missing)
        kernels_of(narrow)->widen_some_codes(in, count, (uint32_t)narrow->base, codes);
    else
        kernels_of(narrow)->widen_codes(in, count, (uint32_t)narrow->base, codes);
}

/* ---- tests */

void sta_narrow_keep_range(const struct sta_narrow *narrow, const void *in, uint32_t count, uint32_t low,
                           uint32_t span, uint8_t *marks)
{
    kernels_of(narrow)->keep_range(in, count, low, span, marks);
}

void sta_narrow_keep_codes(const struct sta_narrow *narrow, const void *in, uint32_t count,
                           const uint8_t *table, uint8_t of_none, uint8_t *marks)
{
    kernels_of(narrow)->keep_codes(in, count, table, of_none, marks);
}

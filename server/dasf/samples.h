/* samples.h - which task a resource sample belongs to (private to dasf). */
#ifndef STA_DASF_SAMPLES_H
#define STA_DASF_SAMPLES_H

#include "dasf/stream.h"

/**
 * dasf_match_samples - the first task of the stream during which each sample was taken
 * Exact: of its host, a task covers [timestamp - duration, timestamp]; compatible: of any host, [timestamp,
 * timestamp + duration].  Both ends count.
 * *tasks: by sample, a task or DASF_NEVER; sta_account_free it.  @candidates: samples with none, one, more
 */
STA_MUSTCHECK int dasf_match_samples(const struct dasf_asked *asked, uint32_t **tasks, uint64_t candidates[3],
                                     struct sta_error *err);

/** The bits of a number as an integer of the same order. */
static inline uint64_t dasf_ordered_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

#endif

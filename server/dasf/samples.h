/* samples.h - which task a resource sample belongs to (private to dasf). */
#ifndef STA_DASF_SAMPLES_H
#define STA_DASF_SAMPLES_H

#include <string.h>

#include "dasf/stream.h"

/**
 * dasf_match_samples - the first task of the stream during which each sample was taken
 * Exact: of its host, a task covers [timestamp - duration, timestamp]; compatible: of any host, [timestamp,
 * timestamp + duration].  Both ends count.
 * *tasks: by sample, a task or DASF_NEVER; sta_account_free it.  @candidates: samples with none, one, more
 */
STA_MUSTCHECK int dasf_match_samples(const struct dasf_request *request, uint32_t **tasks,
                                     uint64_t candidates[3], struct sta_error *err);

/* Means of the samples of one function: of a host, or of all under compatible. */
struct dasf_mean {
    uint64_t where; /* host and name */
    double utilization, memory;
    uint64_t count;
};

struct dasf_means {
    struct dasf_mean *items; /* ascending by where; charged to the budget's account */
    size_t count;
};

/** Means of the samples with a GPU, by function, in the order of the stream. */
STA_MUSTCHECK int dasf_make_means(struct dasf_request *request, struct dasf_means *means,
                                  struct sta_error *err);
/** That of the task's function; NULL: there was no sample. */
const struct dasf_mean *dasf_find_mean(const struct dasf_request *request, const struct dasf_means *means,
                                       const struct dasf_task *task);

/** The bits of a number as an integer of the same order. */
static inline uint64_t dasf_ordered_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

#endif

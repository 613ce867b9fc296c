/* stragglers.h - which members are slower than the others (private to findings). */
#ifndef STA_FINDINGS_STRAGGLERS_H
#define STA_FINDINGS_STRAGGLERS_H

#include "findings/attribution.h"
#include "findings/members.h"

struct sta_straggler_options {
    enum sta_member_kind kind;
    enum sta_measure measure;
    const char *of; /* a condition; NULL: the stall of the default chain, by rank */
    int64_t least;  /* bytes */
};

struct sta_straggler {
    uint32_t unit;
    double value; /* ticks, bytes, events, bytes per second */
    double z;
    bool outlier, slow;
    int64_t epochs; /* in which it is slow */
};

struct sta_stragglers {
    struct sta_members members;    /* when `of` is a condition */
    const struct sta_scope *scope; /* names the units */
    struct sta_straggler *items;   /* slowest first, then by key; none with fewer than 3 members */
    size_t count;
    size_t member_count;
    size_t outliers, slow;
    double median, mad; /* NAN: none */
    double excess;      /* ticks */
    struct sta_account *account;
};

/** @charged, @stall: of the default chain, by unit and epoch; NULL unless `of` is.  Fini also after a
 * failure; before these and @phases. */
STA_MUSTCHECK int sta_stragglers_find(struct sta_run *run, const struct sta_phases *phases,
                                      const struct sta_straggler_options *options,
                                      const struct sta_charged *charged, const struct sta_charged_rows *stall,
                                      struct sta_stragglers *stragglers, struct sta_error *err);
void sta_stragglers_fini(struct sta_stragglers *stragglers);

/* Who ends steps last. */
struct sta_arrival {
    uint32_t rank;
    int64_t steps, slowest, late; /* ticks */
};
struct sta_arrivals {
    struct sta_arrival *items; /* most often slowest first, then by key: ranks with steps */
    size_t count;
    int64_t steps;
    __int128 late, length, wait; /* ticks */
    struct sta_account *account;
};
STA_MUSTCHECK int sta_arrivals_find(const struct sta_phases *phases, const struct sta_budget *budget,
                                    struct sta_arrivals *arrivals, struct sta_error *err);
void sta_arrivals_fini(struct sta_arrivals *arrivals);

#endif

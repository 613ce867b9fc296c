/* robust.h - how far values lie from their median (private to findings). */
#ifndef STA_FINDINGS_ROBUST_H
#define STA_FINDINGS_ROBUST_H

#include <stdbool.h>
#include <stddef.h>

#define STA_OUTLIER 3.5      /* |z| beyond which a member is an outlier */
#define STA_ROBUST_MEMBERS 3 /* with fewer there is no z */

struct sta_robust {
    double median, mad;
    double scale; /* z = 0.6745 (x - median) / scale */
};

/** Of qsort: ascending. */
int sta_compare_doubles(const void *a, const void *b);
/** The median; @values are sorted by it.  @count > 0. */
double sta_median(double *values, size_t count);
/** findings.md part 5.  @values: @count >= STA_ROBUST_MEMBERS, left in another order; @floor: least scale. */
struct sta_robust sta_robust_of(double *values, size_t count, double floor);
static inline double sta_robust_z(const struct sta_robust *robust, double value)
{
    return 0.6745 * (value - robust->median) / robust->scale;
}

#endif

/* Median and median absolute deviation. */
#include "findings/robust.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"

int sta_compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sta_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, sta_compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct sta_robust sta_robust_of(double *values, size_t count, double floor)
{
    struct sta_robust robust = {.median = sta_median(values, count)};
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - robust.median);
    robust.mad = sta_median(values, count);
    robust.scale = STA_MAX(STA_MAX(robust.mad, 0.01 * fabs(robust.median)), floor);
    return robust;
}

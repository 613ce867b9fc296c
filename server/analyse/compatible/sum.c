/* Sums of whole columns, pairwise and in the order in which the reference's library adds them. */
#include "analyse/compatible/sum.h"

double sta_sum_pairwise(const double *values, size_t count)
{
    if (count > 128) {
        size_t half = count / 2 - count / 2 % 8;
        return sta_sum_pairwise(values, half) + sta_sum_pairwise(values + half, count - half);
    }
    double parts[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t p = 0; p < 8; p++)
            parts[p] += values[i + p];
    double sum =
        ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
    for (; i < count; i++)
        sum += values[i];
    return sum;
}

/* scores.h - from 0 or 1, trivial, to 5, critical: metrics.md section 7 (private to compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_SCORES_H
#define STA_ANALYSE_COMPATIBLE_SCORES_H

#define STA_SCORE_STEPS 5
static const double sta_score_shares[STA_SCORE_STEPS] = {0, .25, .5, .75, .9};
/* Tangents of 15, 30, 45, 60 and 75 degrees, as the reference's library computes them: that of 45 is below
 * 1. */
static const double sta_score_slopes[STA_SCORE_STEPS] = {
    0.2679491924311227, 0.5773502691896257, 0.9999999999999999, 1.7320508075688767, 3.7320508075688776};
/* Geometric from 2^-30 to 2^-10, likewise. */
static const double sta_score_intensities[STA_SCORE_STEPS] = {
    0x1p-30, 0x1.0000000000003p-25, 0x1.ffffffffffffap-21, 0x1.fffffffffffeep-16, 0x1p-10};

/** How many of the steps are less than a value. */
static inline int sta_score(const double *steps, double value)
{
    int score = 0;
    for (int i = 0; i < STA_SCORE_STEPS; i++)
        score += steps[i] < value;
    return score;
}

#endif

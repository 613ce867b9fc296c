/* scores.h - from 0 or 1, trivial, to 5, critical: metrics.md section 7 (private to compatible). */
#ifndef STA_ANALYSE_COMPATIBLE_SCORES_H
#define STA_ANALYSE_COMPATIBLE_SCORES_H

#define STA_SCORE_STEPS 5
extern const double sta_score_shares[STA_SCORE_STEPS], sta_score_slopes[STA_SCORE_STEPS],
    sta_score_intensities[STA_SCORE_STEPS];

/** How many of the steps are less than a value. */
static inline int sta_score(const double *steps, double value)
{
    int score = 0;
    for (int i = 0; i < STA_SCORE_STEPS; i++)
        score += steps[i] < value;
    return score;
}

#endif

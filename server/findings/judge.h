/* judge.h - what a rule finds (private to findings). */
#ifndef STA_FINDINGS_JUDGE_H
#define STA_FINDINGS_JUDGE_H

#include "findings/evaluation.h"
#include "findings/findings.h"

/**
 * sta_judge_rule - a rule's finding
 * @place: of the rule among those asked, which decides between equal findings
 * What one rule asks too much makes its finding "na"; only what ends the whole request is a failure.  The
 * finding is to be released also then.
 */
STA_MUSTCHECK int sta_judge_rule(struct sta_evaluation *evaluation, const struct sta_rule *rule, size_t place,
                                 struct sta_finding *finding, struct sta_error *err);

#endif

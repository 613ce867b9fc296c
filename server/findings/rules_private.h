/* rules_private.h - shared by rules.c and rule_asks.c only. */
#ifndef STA_FINDINGS_RULES_PRIVATE_H
#define STA_FINDINGS_RULES_PRIVATE_H

#include "findings/rules.h"

/** Sets the pointer of a mistake. */
void sta_rule_point(struct sta_rule_reading *reading, const char *format, ...) STA_PRINTF(2, 3);
/** A status of an expression or a condition; the mistake gets the file and the line of its node. */
STA_MUSTCHECK int sta_rule_placed(const struct sta_rule_reading *reading, const struct sta_yaml_node *node,
                                  int status, struct sta_error *err);
STA_MUSTCHECK int sta_rule_check_condition(struct sta_rule_reading *reading, const struct sta_yaml_node *node,
                                           struct sta_error *err);

/** Reads and checks the asks of a rule. */
STA_MUSTCHECK int sta_rule_read_asks(struct sta_rule_reading *reading, struct sta_rule *rule,
                                     struct sta_error *err);
/** Adds the figures of an ask, without values. */
void sta_rule_ask_figures(const struct sta_rule_reading *reading, const struct sta_ask *ask,
                          struct sta_figure_list *figures);

#endif

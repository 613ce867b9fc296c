/* rules.h - rules as they are loaded (private to findings). */
#ifndef STA_FINDINGS_RULES_H
#define STA_FINDINGS_RULES_H

#include "analyse/analyse.h"
#include "findings/figures.h"
#include "common/yaml.h"
#include "findings/findings.h"

/* X(name, what it takes) */
#define STA_ASK_LIST(X)                                                                                      \
    X(attribution, TEXT)                                                                                     \
    X(blocking, NONE)                                                                                        \
    X(utilisation, NONE)                                                                                     \
    X(query, MAPPING)                                                                                        \
    X(busy, MAPPING)                                                                                         \
    X(slowest_rank_busy, MAPPING)                                                                            \
    X(stragglers, MAPPING)                                                                                   \
    X(arrivals, NONE)                                                                                        \
    X(access, TEXT)                                                                                          \
    X(shared, TEXT)                                                                                          \
    X(cold, NONE)                                                                                            \
    X(first_step, NONE)                                                                                      \
    X(same_thread, NONE)                                                                                     \
    X(ledger, NONE)                                                                                          \
    X(duplicates, NONE)                                                                                      \
    X(clocks, NONE)                                                                                          \
    X(gaps, NONE)                                                                                            \
    X(jumps, NONE)                                                                                           \
    X(unmatched, NONE)

enum sta_ask_kind {
#define X(name, takes) STA_ASK_##name,
    STA_ASK_LIST(X)
#undef X
        STA_ASKS
};

struct sta_ask {
    const char *name;
    enum sta_ask_kind kind;
    const struct sta_yaml_node *argument; /* as its kind takes it */
};

/* Texts are those of its file. */
struct sta_rule {
    const struct sta_yaml_node *node;
    const char *id, *title, *group;
    bool needs[STA_NEEDS];
    struct sta_ask *asks;
    size_t ask_count;
    const char *applies, *otherwise, *value, *unit, *when, *stake, *stake_figure, *say, *ok, *source;
    const char *in_order;               /* what `when` leaves in order, in words; NULL: nothing */
    bool low;                           /* below a threshold is worse */
    const char *levels[STA_SEVERITIES]; /* expressions, by severity; NULL: none */
    const struct sta_yaml_node *figures, *advice, *link, *what_if; /* NULL: none */
    char *text; /* the YAML of a rule of one's own; NULL of a built-in one */
    bool own, disabled;
};

struct sta_rules {
    struct sta_yaml **files;
    size_t file_count, file_capacity;
    struct sta_rule *items; /* in the order of the files */
    size_t count, capacity;
    double goal, stake_floor;
    int64_t warmup_steps, end_steps;
    uint64_t fingerprint;
};

const struct sta_rules *sta_rules_of(const struct sta_presets *presets); /* NULL: none were loaded */

/** The value under a key of a rule, its own or of what it merges (<<). */
const struct sta_yaml_node *sta_rule_value(const struct sta_yaml_node *rule, const char *key);
/** A rule alone, checked as sta_presets_add_rules checks them. */
struct sta_rule_reading {
    struct sta_rules *rules; /* those that are there already */
    const struct sta_presets *presets;
    char pointer[160]; /* JSON pointer into the rule, where a mistake is */
};
STA_MUSTCHECK int sta_rule_read(struct sta_rule_reading *reading, const struct sta_yaml_node *node,
                                struct sta_rule *rule, struct sta_error *err);
void sta_rule_fini(struct sta_rule *rule);
/** Adds the figures that are always there, without values. */
void sta_rule_context_figures(struct sta_figure_list *figures);

#endif

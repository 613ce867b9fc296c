/* findings.h - why a run is slow: stall split into causes, utilisation, stragglers, findings (public part of
 * analyse.h).  findings.md has the definitions. */
#ifndef STA_FINDINGS_FINDINGS_H
#define STA_FINDINGS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/facade/overlap.h"
#include "common/buffer.h"
#include "common/document.h"
#include "common/error.h"
#include "common/table.h"
#include "store/store.h"

/* ---- attribution (findings.md part 2) and the blocking chain (part 3) */

struct sta_attribution_result {
    char *scope;  /* JSON: a word or a list */
    char *target; /* the condition */
    double time;  /* s */
    uint64_t units;
    struct sta_table causes; /* name, time, share, active, intervals, units: in their order, then untraced */
    struct sta_table *longest; /* by cause: keys of the unit, start, end, time */
    struct sta_table rows;     /* keys, target, a column for each cause, untraced */
    bool layered;              /* the chain was that of the layers: .. */
    char *bottleneck;          /* name of the layer, or NULL */
    char **path;               /* from the root to it */
    size_t path_count;
    double untraced;        /* s */
    struct sta_table nodes; /* name, parent, blocked, self */
};

/**
 * sta_attribution_run - the result of a request that has a member `attribution`
 * Mistakes: STA_EINPUT with parameter and position.  Return: 0, these, STA_ELIMIT, STA_ECANCELLED,
 * STA_ECORRUPT.  Any thread.  Fini after success.
 */
STA_MUSTCHECK int sta_attribution_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                                      struct sta_attribution_result *attribution, struct sta_error *err);
void sta_attribution_result_fini(struct sta_attribution_result *attribution);

/* ---- utilisation (part 4), stragglers (part 5), access patterns (part 6).  The preset is that of the
 * request, else of the trace; its dropping filters are off. */

struct sta_utilisation_result {
    struct sta_facts facts;             /* goal, warmup_steps, .. */
    const char *verdict, *verdict_dlio; /* static; NULL: none */
    struct sta_table epochs, per_rank, rows;
};
/** Members: goal, warmup_steps, end_steps.  Mistakes and statuses as sta_attribution_run; fini after
 * success. */
STA_MUSTCHECK int sta_utilisation_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                                      struct sta_utilisation_result *attribution, struct sta_error *err);
void sta_utilisation_result_fini(struct sta_utilisation_result *attribution);

/** Members: by, measure, of, least.  @rows: in whole.  Fini it after success. */
STA_MUSTCHECK int sta_stragglers_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                                     struct sta_facts *facts, struct sta_table *rows, struct sta_error *err);

/** Member: kind.  @files: file_name, bytes, distinct, ratio: most bytes moved again first. */
STA_MUSTCHECK int sta_access_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                                 struct sta_facts *facts, struct sta_table *files, struct sta_error *err);

/* ---- findings (parts 7 to 9) */

enum sta_severity {
    STA_SEVERITY_CRITICAL,
    STA_SEVERITY_WARNING,
    STA_SEVERITY_INFO,
    STA_SEVERITY_OK,
    STA_SEVERITY_NA,
    STA_SEVERITIES
};
const char *sta_severity_name(enum sta_severity severity);
enum sta_severity sta_severity_find(const char *name, size_t length); /* STA_SEVERITIES: there is none */

enum sta_need { STA_NEED_STALL, STA_NEED_EPOCHS, STA_NEED_STEPS, STA_NEED_RANKS, STA_NEED_HOSTS, STA_NEEDS };

/* A named value. */
struct sta_figure {
    const char *name;
    enum sta_type type; /* INT, FLOAT, BOOL, TEXT */
    bool missing;
    int64_t integer;
    double number; /* also of INT */
    const char *text;
};
/** A figure for readers, in one of the units of sentences: % s B B/s n x, or none.  Missing: "unknown". */
void sta_figure_put(const struct sta_figure *figure, const char *unit, size_t length, struct sta_buffer *out);

struct sta_finding {
    const struct sta_rule *rule;
    const char *id, *title, *group, *unit, *source;
    size_t place; /* of the rule in the order of the files */
    enum sta_severity severity;
    bool low, capped;
    struct sta_figure value, stake, stake_share, levels[STA_SEVERITIES]; /* missing: none */
    char *text;
    const char *reason;         /* of na: stall, epochs, .. applies, missing, failed; else NULL */
    struct sta_figure *figures; /* that the sentence names */
    size_t figure_count;
    struct sta_table evidence; /* at most ten rows; without columns when there is none */
    const char **link;         /* values of the rule's link; NULL: it has none */
    struct sta_arena memory;
};

struct sta_findings_result {
    const char *preset;
    const char *base_kind; /* static: training, span */
    double base_time;      /* s */
    uint64_t ranks;
    uint64_t counts[STA_SEVERITIES];
    struct sta_table
        causes; /* of the default chain: cause, label, time; without columns when no rule asked */
    struct sta_finding *items; /* gravest first */
    size_t count;
    struct sta_presets *presets; /* retained: rules are theirs */
};

/**
 * sta_findings_run - every rule's finding
 * Members of the request: preset, from, to, filter, goal, rule, severity, group (lists of names with commas
 * between).
 * Mistakes, statuses as sta_attribution_run; fini after success.
 */
STA_MUSTCHECK int sta_findings_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                                   struct sta_findings_result *attribution, struct sta_error *err);
void sta_findings_result_fini(struct sta_findings_result *attribution);
/** Advice of a rule: its n-th sentence, or NULL. */
const char *sta_finding_advice(const struct sta_finding *finding, size_t number);
/** "5.63 x; warning from 2 x on; in order below 2 x."  Nothing of one that does not apply. */
void sta_finding_put_threshold(const struct sta_finding *finding, struct sta_buffer *out);
/* Where a finding leads: the page that shows its evidence; the scenario that simulates its advice. */
enum sta_finding_way { STA_WAY_LINK, STA_WAY_WHAT_IF };
/** The n-th member of a way.  false: there is none. */
bool sta_finding_way(const struct sta_finding *finding, enum sta_finding_way way, size_t number,
                     const char **name, const char **value);
/** "2 critical, 1 warning, 6 notes, 24 checks passed, 9 not applicable". */
void sta_findings_put_counts(const struct sta_findings_result *attribution, struct sta_buffer *out);
/** Findings as a page of Markdown. */
void sta_findings_markdown(const struct sta_findings_result *attribution, const char *trace,
                           struct sta_buffer *out);

/* What became of a finding between two runs. */
struct sta_finding_change {
    const struct sta_finding *now, *baseline; /* baseline NULL: no such rule there */
    const char *state;                        /* new, gone, worse, better, same, unknown */
};
struct sta_finding_change sta_finding_compare(const struct sta_finding *now,
                                              const struct sta_findings_result *baseline);

/* ---- rules */

/**
 * sta_presets_add_rules - read the built-in rules, then those of one's own, into presets just loaded
 * @folder: of *.yaml; NULL, or one that is not there: none
 * @change: a rule of one's own as it would be; NULL: none
 * @mistakes: what is wrong with the change, when that is what the error is about; NULL allowed
 * Context: before others see the presets.  Return: 0; STA_EINPUT, "FILE:LINE: .."; STA_EIO.
 */
STA_MUSTCHECK int sta_presets_add_rules(struct sta_presets *presets, const char *file, const char *folder,
                                        const struct sta_preset_change *change,
                                        struct sta_preset_mistakes *mistakes, struct sta_error *err);
size_t sta_rule_count(const struct sta_presets *presets);
struct sta_rule_info {
    const char *id, *title, *group, *value, *unit, *say, *ok, *source;
    const char *levels[STA_SEVERITIES];
    bool own, disabled;
    const char *yaml; /* of one's own; else NULL */
};
struct sta_rule_info sta_rule_at(const struct sta_presets *presets, size_t number);
/**
 * sta_rule_preview - the finding that a rule would give
 * @text: YAML or JSON of one rule.  Mistakes: STA_EINPUT, the parameter is a pointer into the rule
 */
STA_MUSTCHECK int sta_rule_preview(const struct sta_overlap_query *query, const char *text, size_t size,
                                   const struct sta_budget *budget, struct sta_findings_result *attribution,
                                   struct sta_error *err);

#endif

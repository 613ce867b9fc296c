/* attribution.h - the moments of a target, dealt out to causes (private to findings). */
#ifndef STA_ANALYSE_FINDINGS_ATTRIBUTION_H
#define STA_ANALYSE_FINDINGS_ATTRIBUTION_H

#include "analyse/findings/phases.h"
#include "analyse/findings/tree.h"
#include "analyse/overlap/charge.h"

enum sta_attribution_key { STA_BY_UNIT = 1, STA_BY_EPOCH = 2, STA_BY_STEP = 4, STA_BY_BIN = 8 };

/* What is asked. */
struct sta_attribution {
    const struct sta_chain *chain; /* NULL: the request's own sets */
    bool layered;                  /* the chain of the layers: `tree` has them */
    struct sta_tree tree;
    const char *target;
    struct sta_named_expression *sets; /* of a chain: its sets, then its causes.  In the run's memory */
    size_t set_count;
    const char *causes[STA_OVERLAP_SETS]; /* names, by falling priority */
    uint8_t cause_sets[STA_OVERLAP_SETS]; /* set of each */
    uint32_t cause_count;
    unsigned by;        /* STA_BY_UNIT .. */
    double granularity; /* s */
    uint32_t longest;
};

/** One that asks for a chain of the preset, by unit.  false: the preset has no such chain, or (of layers) too
 * many layers. */
bool sta_attribution_of_chain(struct sta_run *run, const char *chain, struct sta_attribution *asked);
/** What is wrong with the layers of a preset that has chains, once sta_attribution_of_chain has refused them.
 * Return: STA_EINPUT. */
int sta_attribution_fail_layers(const struct sta_run *run, const struct sta_attribution *asked,
                                struct sta_error *err);
void sta_attribution_fini(struct sta_attribution *asked);

/* What it comes to: by cause, then untraced, intervals of each unit. */
struct sta_charged {
    struct sta_overlap_question question;
    struct sta_overlap_request request;
    struct sta_overlap_binding binding;
    struct sta_overlap_results results;
    struct sta_joined lists[STA_CHARGE_LISTS];
    uint32_t list_count;
    __int128 time[STA_CHARGE_LISTS];   /* ticks */
    __int128 active[STA_CHARGE_LISTS]; /* ticks within the target, whatever the order */
    __int128 target;
};

/** @own: the request's sets, when no chain is asked; else NULL.  Mistakes have pointers below /attribution.
 * Fini also after a failure. */
STA_MUSTCHECK int sta_charge(struct sta_run *run, struct sta_attribution *asked,
                             const struct sta_document *own, struct sta_charged *charged,
                             struct sta_error *err);
void sta_charged_fini(struct sta_charged *charged);

/* A row: its keys (STA_NO_NUMBER: missing, or not asked), and ticks by list. */
struct sta_charged_row {
    int64_t keys[4]; /* place of the unit in results.units, epoch, step, bin */
    int64_t *time;   /* by list */
};
struct sta_charged_rows {
    struct sta_charged_row *items; /* by keys */
    size_t count, capacity;
    uint32_t lists;
    struct sta_account *account;
};
/** @phases: of the same run; NULL when neither epoch nor step is a key.  @granularity: ticks.  Fini also
 * after a failure. */
STA_MUSTCHECK int sta_charged_rows(const struct sta_charged *charged, unsigned by, int64_t granularity,
                                   const struct sta_phases *phases, const struct sta_budget *budget,
                                   struct sta_charged_rows *rows, struct sta_error *err);
void sta_charged_rows_fini(struct sta_charged_rows *rows);

/** As sta_charge of a chain, but `lists` stay empty: only the sums.  @rows: by unit, epoch and step, as
 * sta_charged_rows gives them; NULL: not wanted.  Fini both also after a failure. */
STA_MUSTCHECK int sta_charge_sums(struct sta_run *run, struct sta_attribution *asked,
                                  const struct sta_phases *phases, struct sta_charged *charged,
                                  struct sta_charged_rows *rows, struct sta_error *err);

/* ---- between the attribution*.c files */

/** Request, binding, and by mask the list that it is charged to.  *lists: free(); all also after a failure.
 */
STA_MUSTCHECK int sta_charge_bind(struct sta_run *run, struct sta_attribution *asked,
                                  const struct sta_document *own, struct sta_charged *charged,
                                  uint8_t **lists, struct sta_error *err);
/** Adds a row of such keys; @rows grows. */
STA_MUSTCHECK int sta_charged_rows_add(struct sta_charged_rows *rows, const int64_t keys[4],
                                       struct sta_error *err);
STA_MUSTCHECK int sta_charged_rows_sort(struct sta_charged_rows *rows, const struct sta_budget *budget,
                                        struct sta_error *err);

#endif

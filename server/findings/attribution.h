/* attribution.h - the moments of a target, dealt out to causes (private to findings). */
#ifndef STA_FINDINGS_ATTRIBUTION_H
#define STA_FINDINGS_ATTRIBUTION_H

#include "findings/phases.h"
#include "findings/tree.h"
#include "analyse/overlap/charge.h"

enum sta_attribution_key { STA_BY_UNIT = 1, STA_BY_EPOCH = 2, STA_BY_STEP = 4, STA_BY_BIN = 8 };

/* What is asked. */
struct sta_attribution {
    const struct sta_chain *chain; /* NULL: the request's own sets */
    bool layered;                  /* the chain of the layers: `tree` has them */
    struct sta_blocking_tree tree;
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

/* What it comes to: by cause, then untraced. */
struct sta_charged {
    struct sta_overlap_query query;
    struct sta_overlap_request request;
    struct sta_overlap_binding binding;
    struct sta_overlap_results results;
    uint8_t *list_of_mask; /* by combination of sets: its cause; STA_CHARGE_NONE: outside of the target */
    uint32_t list_count;
    __int128 time[STA_CHARGE_LISTS];   /* ticks */
    __int128 active[STA_CHARGE_LISTS]; /* ticks within the target, whatever the order */
    __int128 target;
    uint32_t units[STA_CHARGE_LISTS];            /* that have such moments */
    int64_t intervals[STA_CHARGE_LISTS];         /* maximal in their unit; of sta_charge alone */
    struct sta_joined longest[STA_CHARGE_LISTS]; /* the longest of them, and some more; likewise */
};

/* A row: its keys (STA_NO_NUMBER: missing, or not asked), and ticks by list. */
struct sta_charged_row {
    int64_t keys[4]; /* place of the unit in results.units, epoch, step, bin */
    size_t first;    /* of its times */
};
struct sta_charged_rows {
    struct sta_charged_row *items; /* by keys */
    size_t count, capacity;
    int64_t *times; /* by row, then list */
    size_t time_capacity;
    uint32_t lists;
    struct sta_account *account;
};
/** Ticks of a row, by list. */
static inline int64_t *sta_charged_times(const struct sta_charged_rows *rows,
                                         const struct sta_charged_row *row)
{
    return rows->times + row->first;
}
void sta_charged_rows_fini(struct sta_charged_rows *rows);

/** Reads the request that asks the overlap.  @own: the request's sets, when no chain is asked; else NULL.
 * Mistakes have pointers below /attribution.  Fini also after a failure. */
STA_MUSTCHECK int sta_charge_bind(struct sta_run *run, struct sta_attribution *asked,
                                  const struct sta_document *own, struct sta_charged *charged,
                                  struct sta_error *err);
/** The same but for the binding. */
STA_MUSTCHECK int sta_charge_read(struct sta_run *run, struct sta_attribution *asked,
                                  const struct sta_document *own, struct sta_charged *charged,
                                  struct sta_error *err);
/** One pass.  @charged: of sta_charge_bind.  @phases: of the same run; NULL when neither epoch nor step is a
 * key.  @rows: by the keys that are asked.  Fini both also after a failure. */
STA_MUSTCHECK int sta_charge(const struct sta_run *run, const struct sta_attribution *asked,
                             const struct sta_phases *phases, struct sta_charged *charged,
                             struct sta_charged_rows *rows, struct sta_error *err);
/** One pass of a chain that is read and bound.  @rows: as of sta_charge_sums.  Cells stay to be added up. */
STA_MUSTCHECK int sta_charge_pass(struct sta_run *run, const struct sta_phases *phases,
                                  struct sta_charged *charged, struct sta_charged_rows *rows,
                                  struct sta_error *err);
/** Sums of the results' cells, whose masks are those of the chain's sets. */
void sta_charge_add_up(const struct sta_attribution *asked, struct sta_charged *charged);
/** Binds a chain and sums it up.  @rows: the whole target, as one list, by unit, epoch and step; NULL: not
 * wanted.  Fini both also after a failure. */
STA_MUSTCHECK int sta_charge_sums(struct sta_run *run, struct sta_attribution *asked,
                                  const struct sta_phases *phases, struct sta_charged *charged,
                                  struct sta_charged_rows *rows, struct sta_error *err);
void sta_charged_fini(struct sta_charged *charged);

/* ---- between the attribution*.c files */

/* Intervals on their way to rows. */
struct sta_row_adding;

/** @granularity: ticks of a bin.  @phases: as of sta_charge; borrowed. */
struct sta_row_adding *sta_row_adding_create(unsigned by, int64_t granularity, uint32_t lists,
                                             const struct sta_phases *phases,
                                             const struct sta_budget *budget);
void sta_row_adding_destroy(struct sta_row_adding *adding); /* NULL allowed */
/** Adds an interval: a sta_charge_take. */
STA_MUSTCHECK int sta_row_adding_take(void *adding, unsigned worker, uint32_t list, uint32_t unit,
                                      const struct sta_interval *interval, struct sta_error *err);
/** After the pass, once: all rows, in order.  Fini them also after a failure. */
STA_MUSTCHECK int sta_row_adding_finish(struct sta_row_adding *adding,
                                        const struct sta_overlap_results *results,
                                        struct sta_charged_rows *rows, struct sta_error *err);

#endif

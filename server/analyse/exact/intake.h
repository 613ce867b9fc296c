/* intake.h - rows of the store, taken in: what the plans of the exact tables are fed with (private to exact).
 *
 * Each event becomes a row of the sums (additive.h), one of the distinct files (files.h), and a span of the
 * sweep (sweep.h). */
#ifndef STA_ANALYSE_EXACT_INTAKE_H
#define STA_ANALYSE_EXACT_INTAKE_H

#include "analyse/exact/additive.h"
#include "analyse/exact/engine.h"
#include "analyse/exact/files.h"
#include "analyse/exact/spans.h"
#include "analyse/sources/ranges.h"

/* What a worker knows of a class. */
struct sta_intake_class {
    const struct sta_event_signature *signature;
    uint32_t number;                 /* of the signature */
    bool is_other;                   /* of no wanted layer */
    bool is_span;                    /* its events cover something */
    const _Atomic uint32_t *streams; /* of the signature; NULL: no span of it has come */
};

struct sta_intake_worker {
    struct sta_intake_class *classes; /* the first ones, all of which are met */
    size_t class_count, class_capacity;
    /* Where keys are values: of each stream the key met last. */
    struct sta_intake_stream {
        bool known;
        uint32_t key, contribution;
    } * streams;
    size_t stream_capacity;
    struct sta_map contribution_of_key; /* (stream, key) -> contribution */
    struct sta_recent_bin bin;
};

struct sta_intake {
    const struct sta_exact_request *request;
    const struct sta_budget *budget;
    const struct sta_entities *entities;
    const struct sta_exact_bins *bins;
    struct sta_time_range range; /* events that start in it are counted, time in it is measured */
    struct sta_event_signatures *signatures;
    struct sta_exact_keys *keys;
    struct sta_contributions *contributions;
    struct sta_additive additive;
    struct sta_files files;
    struct sta_long_spans long_spans;
    struct sta_intake_worker *workers;
    unsigned worker_count;
};

/** Fini in any case. */
STA_MUSTCHECK int sta_intake_init(struct sta_intake *intake, struct sta_error *err);
void sta_intake_fini(struct sta_intake *intake);
/** Takes the rows of a row group; writes their spans to @spans (NULL: not wanted). */
STA_MUSTCHECK int sta_intake_take(struct sta_intake *intake, unsigned worker,
                                  const struct sta_scan_rows *rows, struct sta_exact_span *spans,
                                  uint32_t *span_count, struct sta_error *err);

/* ---- for taking in alone */

/** A worker meets the classes up to a code. */
STA_MUSTCHECK int sta_intake_meet(struct sta_intake *intake, unsigned worker, uint32_t last,
                                  struct sta_error *err);
/** The contribution of an event.  @thread: 0 unless they are distinguished; @key: where keys are values. */
STA_MUSTCHECK int sta_intake_contribution(struct sta_intake *intake, struct sta_intake_worker *worker,
                                          struct sta_intake_class *class, uint32_t thread,
                                          const uint32_t *key, uint32_t *contribution, struct sta_error *err);

#endif

/* epochs.h - what the events of a rank's phases come to (private to findings). */
#ifndef STA_FINDINGS_EPOCHS_H
#define STA_FINDINGS_EPOCHS_H

#include "findings/phases.h"

#define STA_NO_NUMBER INT64_MAX /* behind all numbers, as a missing value is in tables */
#define STA_PHASE_BIT(phase) ((uint8_t)(1u << (phase)))

/* An event of some duration. */
struct sta_phase_event {
    uint32_t rank, phases; /* STA_PHASE_BIT of each */
    int64_t from, to;      /* cut to the window */
    int64_t epoch, step;   /* its columns, or STA_NO_NUMBER */
};

/** @events: of the rank, by start, longest first. */
STA_MUSTCHECK int sta_rank_build(struct sta_rank *rank, const struct sta_phase_event *events, size_t count,
                                 struct sta_account *account, struct sta_error *err);
/** All numbers of epochs. */
STA_MUSTCHECK int sta_epoch_numbers(struct sta_phases *phases, struct sta_error *err);

#endif

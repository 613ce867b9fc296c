/* choice.h - columns of exact tables by the names that people ask for (private to exact). */
#ifndef STA_ANALYSE_EXACT_CHOICE_H
#define STA_ANALYSE_EXACT_CHOICE_H

#include "analyse/exact/columns.h"
#include "common/error.h"

struct sta_preset;

/* A column of layers, or of a derived metric that some of them have. */
struct sta_exact_choice {
    const struct sta_exact_column *column;
    const char *metric; /* NULL: of the layer itself */
};

/**
 * sta_exact_choose - the column of a name: "busy", or "read_bw" for the column bw of the derived metric read
 * @layers: by layer of the preset, whether its derived metrics count; NULL: all of them
 * Mistakes: STA_EINPUT with parameter /metrics, naming what there is.
 */
STA_MUSTCHECK int sta_exact_choose(const struct sta_preset *preset, const bool *layers, const char *name,
                                   struct sta_exact_choice *choice, struct sta_error *err);

#endif

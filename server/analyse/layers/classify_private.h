/* classify_private.h - shared by the files of classification only. */
#ifndef STA_ANALYSE_LAYERS_CLASSIFY_PRIVATE_H
#define STA_ANALYSE_LAYERS_CLASSIFY_PRIVATE_H

#include <stdatomic.h>

#include "analyse/layers/classify.h"
#include "analyse/sources/columns.h"
#include "analyse/layers/composite_map.h"
#include "analyse/layers/conditions.h"
#include "analyse/layers/preset_build.h"
#include "analyse/layers/refiner.h"
#include "common/account.h"
#include "common/map.h"

#define STA_NO_CONDITION UINT32_MAX

/* A condition of the preset; those with the same text are one. */
struct sta_class_condition {
    struct sta_open_condition open;
    struct sta_program *program;
    bool fixed;       /* the same for all events of a combination */
    bool drops;       /* an event for which it holds is dropped by its function; always fixed */
    bool by_category; /* of a layer made from categories: looked up, without a program */
};

/* What one bit of a class's members means. */
struct sta_class_bit {
    uint32_t condition; /* STA_NO_CONDITION: every event */
    uint32_t within;    /* a bit that must be set too, lower than this one; STA_NO_CONDITION: none */
};

struct sta_classes {
    const struct sta_columns *columns;
    const struct sta_preset *preset;
    struct sta_preset *made;                /* the preset, when its layers were made from the trace */
    struct sta_dictionary *categories;      /* names of its layers then, by number less one */
    struct sta_dictionary *texts;           /* of the conditions: the code is the index */
    struct sta_class_condition *conditions; /* of layers and metrics, then those that drop */
    size_t condition_count, condition_capacity;
    uint32_t varying[STA_VARYING_CONDITION_LIMIT]; /* those that are not fixed */
    unsigned varying_count;
    struct sta_class_bit *bits;
    uint32_t bit_count;
    uint32_t *metric_bit; /* by layer: bit of its first metric */
    bool drop_files, uses_files;
    struct sta_dictionary *seen; /* classes as bytes: the code is the class */
    _Atomic(uint16_t *) *kept;   /* by row group: classes of its rows, or NULL.  NULL: none are kept */
    struct sta_account account;  /* of these, within that of the columns */
};

/* A combination, once it is known what holds for it. */
struct sta_class_base {
    enum sta_fate fate;
    uint32_t cat;                             /* refined */
    uint64_t conditions[STA_CLASS_BITS / 64]; /* fixed ones of layers that hold, by index */
};

struct sta_classifier {
    struct sta_classes *classes;
    struct sta_column_reader *reader;
    struct sta_evaluator *evaluator;
    struct sta_account account;            /* of what follows, within that of the columns */
    struct sta_composite_map combinations; /* -> index of the base */
    struct sta_class_base *bases;
    uint32_t *code_of_base; /* its class; when conditions vary, its index */
    uint32_t base_count;
    size_t base_capacity, code_capacity;
    /* New combinations of the present row group: columns that fixed conditions read.  Also rows to settle. */
    uint32_t new_names[STA_ROW_GROUP_ROWS], new_cats[STA_ROW_GROUP_ROWS], pending[STA_ROW_GROUP_ROWS];
    int64_t new_io[STA_ROW_GROUP_ROWS];
    uint32_t new_count;
    /* Varying conditions. */
    uint64_t *patterns;             /* by row: which of them hold */
    struct sta_map pattern_codes;   /* pattern -> its code */
    struct sta_map varying_classes; /* base, code of the pattern -> class */
    uint32_t pattern_count;
};

/** The class of a combination for which also the varying conditions in @pattern hold. */
uint32_t sta_classes_intern(struct sta_classes *classes, const struct sta_class_base *base, uint64_t pattern);

#endif

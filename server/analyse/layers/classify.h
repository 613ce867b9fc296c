/* classify.h - what a preset makes of each event: kept or dropped, its refined category, its layers (private
 * to analyse).
 *
 * Few combinations of function, category and kind of file occur in a trace, and nearly all that presets say
 * depends on them alone.  So conditions are worked out once per combination, and each row is given the code
 * of its *class*: all rows of one class agree on everything a preset says.  Accumulators work by class and
 * ask once what a class means.
 *
 * Class codes count up from 0 in the order of first sight: they depend on thread timing and must not order an
 * result. */
#ifndef STA_ANALYSE_LAYERS_CLASSIFY_H
#define STA_ANALYSE_LAYERS_CLASSIFY_H

#include "analyse/analyse.h"
#include "analyse/sources/columns.h"

#define STA_CLASS_BITS                                                                                       \
    1024 /* layers and derived metrics of a preset together; the loading of presets checks it */

enum sta_fate {
    STA_FATE_KEPT,
    STA_FATE_FILE,    /* dropped: its file name matches; counted before .. */
    STA_FATE_FUNCTION /* .. dropped: its function matches */
};

struct sta_class {
    enum sta_fate fate;
    uint32_t cat; /* refined; code in sta_columns_texts(.., STA_LOGICAL_cat), or STA_NO_CODE */
    uint64_t members[STA_CLASS_BITS /
                     64]; /* bit l: layer l takes it; further bits: derived metrics.  All 0 when dropped */
};

static inline bool sta_class_has(const struct sta_class *class, uint32_t bit)
{
    return class->members[bit / 64] >> (bit % 64) & 1;
}

struct sta_classes;    /* a preset bound to the columns of a snapshot; shared by threads */
struct sta_classifier; /* one thread's way through the rows */

/**
 * sta_classes_create - bind a preset to a snapshot
 * @columns: made with this preset; borrowed while the classes live
 * @preset: borrowed likewise
 * @filters: false keeps what the preset would drop
 * An args column that the trace does not have is missing in every event.  STA_EINPUT when a condition does
 * not fit the types of the trace's columns (the text names layer and condition); STA_ECORRUPT.
 */
STA_MUSTCHECK int sta_classes_create(const struct sta_columns *columns, const struct sta_preset *preset,
                                     bool filters, struct sta_classes **classes, struct sta_error *err);
void sta_classes_destroy(struct sta_classes *classes); /* NULL allowed; after its classifiers */

/** The preset as bound: that of the caller, or for layers_from_categories one whose layers are those of this
 * trace.  Valid while the classes live. */
const struct sta_preset *sta_classes_preset(const struct sta_classes *classes);
/** Bit of a derived metric of a layer, which is set only where the layer's is. */
uint32_t sta_classes_metric_bit(const struct sta_classes *classes, size_t layer, size_t metric);

/** From now on the classes of whole row groups are kept, as far as there is memory, for the next pass over
 * them. */
void sta_classes_keep(struct sta_classes *classes);
/** Whether sta_classes_keep was called and got its memory. */
bool sta_classes_are_kept(const struct sta_classes *classes);
/** Those of a row group.  Return: false when they are not kept.  Context: any thread. */
bool sta_classes_kept(const struct sta_classes *classes, const struct sta_row_group *row_group,
                      uint32_t *codes);
/** Keeps them, if that is wanted.  Context: any thread, but one at a time for each row group. */
void sta_classes_put(struct sta_classes *classes, const struct sta_row_group *row_group,
                     const uint32_t *codes);

/** How many classes have been seen so far; grows while classifiers run. */
uint32_t sta_classes_count(const struct sta_classes *classes);
/** What a class means.  Context: any thread. */
struct sta_class sta_classes_get(const struct sta_classes *classes, uint32_t code);

/** @reader: of the same columns; borrowed while the classifier lives.  Context: one thread at a time, as the
 * reader. */
struct sta_classifier *sta_classifier_create(struct sta_classes *classes, struct sta_column_reader *reader);
void sta_classifier_destroy(struct sta_classifier *classifier); /* NULL allowed */

/**
 * sta_classifier_run - classify rows of the reader's present row group
 * @selected: numbers of @count rows; NULL: the first @count
 * @codes: space for STA_ROW_GROUP_ROWS; codes[row] is set to the class of each of these rows
 */
STA_MUSTCHECK int sta_classifier_run(struct sta_classifier *classifier, const uint32_t *selected,
                                     uint32_t count, uint32_t *codes, struct sta_error *err);

#endif

/* labels.h - what events are summed by: name, layer, category, or category and name (private to timeline). */
#ifndef STA_TIMELINE_LABELS_H
#define STA_TIMELINE_LABELS_H

#include "timeline/selection.h"
#include "common/map.h"

enum sta_label_kind { STA_LABEL_NAME, STA_LABEL_CATEGORY, STA_LABEL_LAYER, STA_LABEL_CATEGORY_NAME };

/* Labels are codes; which text a code is depends on the kind.  STA_NO_CODE is a missing one. */
struct sta_labels {
    const struct sta_selection *selection;
    enum sta_label_kind kind;
    struct sta_dictionary *pairs; /* of CATEGORY_NAME */
};

/** Reads member label.  Mistakes: STA_EINPUT with parameter /label.  Classifies the events where the kind
 * needs that.  Fini also after a failure. */
STA_MUSTCHECK int sta_labels_init(struct sta_labels *labels, const struct sta_selection *selection,
                                  const struct sta_budget *budget, struct sta_error *err);
void sta_labels_fini(struct sta_labels *labels);
/** The label of an event.  @memo: of one worker, for CATEGORY_NAME. */
uint32_t sta_labels_of(const struct sta_labels *labels, struct sta_map *memo,
                       const struct sta_lane_event *event);
/** bytes NULL: missing. */
struct sta_text sta_labels_text(const struct sta_labels *labels, uint32_t code);
/** The code of a text, or STA_NO_CODE when no event has it. */
uint32_t sta_labels_find(const struct sta_labels *labels, struct sta_text text);
/** By text, missing last. */
int sta_labels_compare(const struct sta_labels *labels, uint32_t a, uint32_t b);

#endif

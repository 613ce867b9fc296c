/* categories.h - layers made from the categories of a trace (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_CATEGORIES_H
#define STA_ANALYSE_LAYERS_CATEGORIES_H

#include "analyse/analyse.h"

/**
 * sta_category_layers - bind a preset whose layers come from the trace
 * @bound: shares all but layers and description with @preset, which must outlive it; release with
 * sta_category_layers_destroy
 * The first layer, app, has every event and is the parent of the outermost categories.  At most
 * STA_LAYER_LIMIT layers are made, the outermost first; the description says how many were not, whose events
 * are then in the layers around them.
 */
STA_MUSTCHECK int sta_category_layers(const struct sta_preset *preset, const struct sta_snapshot *snapshot,
                                      struct sta_preset **bound, struct sta_error *err);
void sta_category_layers_destroy(struct sta_preset *bound); /* NULL allowed */

#endif

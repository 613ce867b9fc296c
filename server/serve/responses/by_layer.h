/* by_layer.h - how many events each layer took: said beside every layered table, so that an empty layer is
 * seen at once. */
#ifndef STA_SERVE_BY_LAYER_H
#define STA_SERVE_BY_LAYER_H

#include "analyse/analyse.h"
#include "common/buffer.h"

/**
 * sta_put_by_layer - the member "by_layer": events that each took, added up over the rows of a layered table
 * @layer: the layer of the table; NULL: it is a flat view, whose columns begin with the names of layers
 * @preset: names the layers; one whose layers come from categories has those that the table has
 */
void sta_put_by_layer(struct sta_buffer *out, const struct sta_table *table, const struct sta_preset *preset,
                      const char *layer);

#endif

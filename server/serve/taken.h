/* taken.h - how many events each layer took: said beside every layered table, so that an empty layer is seen at once. */
#ifndef STA_SERVE_TAKEN_H
#define STA_SERVE_TAKEN_H

#include "analyse/analyse.h"
#include "common/buffer.h"

/**
 * sta_put_taken - the member "taken": events by layer, added up over the rows of a layered table
 * @layer: the layer of the table; NULL: it is a flat view, whose columns begin with the names of layers
 * @preset: names the layers; one whose layers come from categories has those that the table has
 */
void sta_put_taken(struct sta_buffer *out, const struct sta_table *table, const struct sta_preset *preset,
                   const char *layer);

#endif

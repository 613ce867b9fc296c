/* categories.h - layers made from the categories of a trace (private to analyse). */
#ifndef STA_ANALYSE_LAYERS_CATEGORIES_H
#define STA_ANALYSE_LAYERS_CATEGORIES_H

#include "analyse/analyse.h"
#include "common/dictionary.h"

/**
 * sta_category_layers - bind a preset whose layers come from the trace
 * @bound: shares all but layers and description with @preset, which must outlive it; release with
 * sta_preset_destroy
 * The first layer, app, has every event and is the parent of the outermost categories.  At most
 * STA_LAYER_LIMIT layers are made, the outermost first; the description says how many were not, whose events
 * are then in the layers around them.
 */
STA_MUSTCHECK int sta_category_layers(const struct sta_preset *preset, const struct sta_snapshot *snapshot,
                                      struct sta_preset **bound, struct sta_error *err);
/** Marks the codes of categories that events have: the table has also those of events that have left.  @used:
 * @count zeros, one for each code.  Return: 0, or what a row group could not be read with. */
STA_MUSTCHECK int sta_categories_used(const struct sta_snapshot *snapshot, uint8_t *used, uint32_t count,
                                      struct sta_error *err);
/** Names of the layers of a preset that sta_category_layers made, but for the outermost: the code of a name
 * is its layer's number less one. */
struct sta_dictionary *sta_category_names(const struct sta_preset *bound);
#define STA_CATEGORY_DEPTH 16 /* layers that one category may be in, beside the outermost */
/** The layers that take a category, as codes of @names.  Return: how many.  The same as their conditions say,
 * but takes one look-up for each dot of the category instead of a comparison for each layer. */
unsigned sta_category_find(const struct sta_dictionary *names, struct sta_text cat,
                           uint32_t codes[STA_CATEGORY_DEPTH]);

/** Puts a text as a condition has it, with more of the same text behind. */
void sta_put_literal(struct sta_buffer *out, const char *text, size_t length, const char *behind);

#endif

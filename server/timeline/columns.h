/* columns.h - responses by columns, filled row by row (private to timeline). */
#ifndef STA_TIMELINE_COLUMNS_H
#define STA_TIMELINE_COLUMNS_H

#include "timeline/grid.h"
#include "timeline/timeline.h"

/** The head, and the layers of the preset.  Holds the view, which texts are borrowed from.  Fini also after a
 * failure of this or of what follows. */
STA_MUSTCHECK int sta_timeline_columns_init(struct sta_timeline_columns *columns,
                                            const struct sta_selection *selection,
                                            const struct sta_grid *grid, struct sta_error *err);
/** Space for so many lanes. */
STA_MUSTCHECK int sta_timeline_columns_lanes(struct sta_timeline_columns *columns, size_t count,
                                             struct sta_error *err);
/** Adds a row to a group, a value for each of its columns. */
STA_MUSTCHECK int sta_timeline_columns_put(struct sta_timeline_columns *columns, size_t group,
                                           const int64_t *values, struct sta_error *err);

#endif

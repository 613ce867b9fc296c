/* assets.h - the dashboard's files, read once and kept ready. */
#ifndef STA_SERVE_ASSETS_H
#define STA_SERVE_ASSETS_H

#include "common/error.h"
#include "serve/http/representation.h"

struct sta_assets;

/**
 * sta_assets_load - read every file below a folder
 * Only what lies in the folder is ever served, since paths of requests are compared with names that were
 * found here and never opened: nothing hidden, no link, at most 64 MiB in all.  A folder that is not there
 * gives no assets and no failure.
 * Context: any thread.
 */
STA_MUSTCHECK int sta_assets_load(const char *folder, struct sta_assets **assets, struct sta_error *err);
void sta_assets_destroy(struct sta_assets *assets);
/** The file for a decoded path, retained; "/" and the pages of the dashboard give index.html; NULL: none.
 * Context: any thread. */
struct sta_representation *sta_assets_find(const struct sta_assets *assets, const char *path);

#endif

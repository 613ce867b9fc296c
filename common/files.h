/* files.h - reading, publishing and mapping files. */
#ifndef STA_COMMON_FILES_H
#define STA_COMMON_FILES_H

#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

/** The whole file, zero-terminated beyond *size; free() it.  STA_ELIMIT when larger than @limit. */
STA_MUSTCHECK int sta_file_read(const char *path, size_t limit, char **bytes, size_t *size,
                                struct sta_error *err);
/** Writes PATH.tmp, syncs it and renames it over @path: a reader finds the old content (on failure) or the
 * new one; which of them after a power loss, until the folder is synced.  One call at a time for each path.
 */
STA_MUSTCHECK int sta_file_replace(const char *path, const void *bytes, size_t size, struct sta_error *err);
/** The same, and syncs the folder: the new content lasts.  When only that fails the new content is in place.
 */
STA_MUSTCHECK int sta_file_publish(const char *path, const void *bytes, size_t size, struct sta_error *err);
/** Writes a file that must not exist yet and starts its way to the disk; removes it on failure.  *fd: for
 * sta_file_finish. */
STA_MUSTCHECK int sta_file_create(const char *path, const void *bytes, size_t size, int *fd,
                                  struct sta_error *err);
/** Writes further bytes to a file that was created. */
STA_MUSTCHECK int sta_file_append(const char *path, int fd, const void *bytes, size_t size,
                                  struct sta_error *err);
/** Waits until the bytes of a file that was created are on the disk, by the descriptor that wrote them, which
 * alone is sure to get the error of their loss; closes it. */
STA_MUSTCHECK int sta_file_finish(const char *path, int fd, struct sta_error *err);
/** fsync of a folder, so that renames in it last. */
STA_MUSTCHECK int sta_folder_sync(const char *path, struct sta_error *err);
/** mkdir -p. */
STA_MUSTCHECK int sta_folder_create(const char *path, struct sta_error *err);
/** rm -r; a missing path is no failure; symbolic links are removed, not followed.  Files that come or go
 * meanwhile, of work that ends, are no failure either. */
STA_MUSTCHECK int sta_tree_remove(const char *path, struct sta_error *err);
/** Bytes of all regular files below. */
uint64_t sta_tree_size(const char *path);

struct sta_mapping {
    const unsigned char *bytes; /* NULL for an empty file */
    size_t size;
};
STA_MUSTCHECK int sta_map_file(const char *path, struct sta_mapping *mapping, struct sta_error *err);
void sta_unmap_file(struct sta_mapping *mapping);

char *sta_path_join(const char *folder, const char *name); /* free() it */

#endif

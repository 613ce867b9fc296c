/* roots.h - the folders below which files may be read, and the only way in which their files are opened.
 *
 * A path is a name that others may change at any moment: between a check and an open, a folder becomes a
 * symbolic link that leads elsewhere.  So each root is held open, a path is opened relative to it, and the
 * kernel refuses to leave it (openat2 with RESOLVE_BENEATH; where that is missing, the real path of the
 * opened descriptor is checked).  A link may lead from one root into another. */
#ifndef STA_COMMON_ROOTS_H
#define STA_COMMON_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct sta_roots;

/**
 * sta_roots_create - open folders (or single files) as roots
 * @paths: absolute and resolved (realpath); copied
 * Return: 0; STA_ENOTFOUND or STA_EIO for one that cannot be opened.  Context: any thread; the roots may then
 * be used by many threads at once.
 */
STA_MUSTCHECK int sta_roots_create(const char *const *paths, size_t count, struct sta_roots **roots,
                                   struct sta_error *err);
void sta_roots_destroy(struct sta_roots *roots); /* NULL allowed */
size_t sta_roots_count(const struct sta_roots *roots);
const char *sta_roots_path(const struct sta_roots *roots, size_t index);

/** Whether a resolved path lies in a root, or is one, by its name alone. */
bool sta_roots_contain(const struct sta_roots *roots, const char *resolved_path);

/**
 * sta_roots_open - open a file or folder that lies in a root once all links are followed
 * @path: absolute; links and ".." in it are resolved
 * @flags: of open(); O_CLOEXEC is added.  Files of unknown kind need O_NONBLOCK: a FIFO would block.
 * @resolved: set to the path without links, for the caller to free(); NULL when it is not wanted
 * Return: 0; STA_EFORBIDDEN outside the roots, whether or not it exists there; STA_ENOTFOUND when it is
 * inside and proven to be missing; STA_ENOMEM, STA_EBUSY (descriptors) when this process lacks something;
 * STA_EIO for any other failure, which proves nothing about the file.
 */
STA_MUSTCHECK int sta_roots_open(struct sta_roots *roots, const char *path, int flags, char **resolved,
                                 int *fd, struct sta_error *err);

/** The status that stands for a failed system call on a file: see sta_roots_open. */
int sta_fail_file(struct sta_error *err, int errno_value, const char *format, ...) STA_PRINTF(3, 4);

#endif

/* envelope.h - the frame around every store file that is not a segment: what it is, its sizes, checksums,
 * zstd. */
#ifndef STA_STORE_ENVELOPE_H
#define STA_STORE_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include "common/buffer.h"
#include "common/error.h"
#include "store/disk.h"

#define STA_ENVELOPE_ZSTD_LEVEL 1

/** Appends what is stored of a content that is packed: frames. */
void sta_envelope_pack(struct sta_buffer *out, const void *content, size_t size);
/** Whether it is stored packed. */
bool sta_envelope_is_packed(size_t size, size_t packed);
struct sta_disk_envelope sta_envelope_header(enum sta_envelope_kind kind, bool packed, uint64_t content_size,
                                             uint64_t stored_size, uint64_t checksum);
/** Appends an envelope to @out. */
void sta_envelope_put(struct sta_buffer *out, enum sta_envelope_kind kind, const void *content, size_t size);
/** Checks an envelope and unpacks its content: *content is zero-terminated beyond *content_size; free() it.
 * Return: 0, STA_ECORRUPT, STA_ENEWER, STA_ENOMEM. */
STA_MUSTCHECK int sta_envelope_get(const void *bytes, size_t size, enum sta_envelope_kind kind,
                                   char **content, size_t *content_size, struct sta_error *err);
/** The same for a file; the error names it.  Also STA_ENOTFOUND, STA_EIO. */
STA_MUSTCHECK int sta_envelope_read(const char *path, enum sta_envelope_kind kind, char **content,
                                    size_t *content_size, struct sta_error *err);
/** Writes the content that @content holds as an envelope over an older file: see sta_file_replace. */
STA_MUSTCHECK int sta_envelope_replace(const char *path, enum sta_envelope_kind kind,
                                       const struct sta_buffer *content, struct sta_error *err);
/** Writes it as a new file: see sta_file_create. */
STA_MUSTCHECK int sta_envelope_create(const char *path, enum sta_envelope_kind kind,
                                      const struct sta_buffer *content, int *fd, struct sta_error *err);
/** Renames a damaged file to PATH.damaged and logs why. */
void sta_quarantine(const char *path, const struct sta_error *why);

#endif

/* growth.h - how far files that are still being written are complete (part of the facade decode.h).
 *
 * What is complete of a file can be read as if nothing followed it: whole lines of text, whole members of a
 * gzip file that end with a line, whole records. */
#ifndef STA_DECODE_GROWTH_H
#define STA_DECODE_GROWTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/account.h"
#include "common/error.h"
#include "common/ledger.h"
#include "common/roots.h"
#include "common/trace_kind.h"

struct sta_growth; /* what was found out about a trace's files so far, so that only new bytes are looked at */

/** @account: must outlive it; inflaters that are kept are charged to it, and none is when it is full.  NULL:
 * not counted. */
struct sta_growth *sta_growth_create(struct sta_account *account);
void sta_growth_destroy(struct sta_growth *growth); /* NULL allowed */

/**
 * sta_growth_look - how many bytes of a file are complete
 * Of a plain file it reads back from the end to the last line's end; of a gzip file it inflates what was
 * added since the last look.  Of many gzip files that end inside a member, those looked at longest ago are
 * inflated again from that member's beginning.
 * @path: of the file inside the trace, by which it is remembered
 * @file: absolute path
 * @source: as it was read before, untouched since; NULL: nothing of it was read yet
 * @cancel: may be NULL
 * Return: 0 and *complete, UINT64_MAX when that cannot be said of this file (reading it says why);
 * STA_ECANCELLED.  Context: any thread, one at a time.
 */
STA_MUSTCHECK int sta_growth_look(struct sta_growth *growth, struct sta_roots *roots, const char *path,
                                  const char *file, enum sta_trace_kind kind, const struct sta_source *source,
                                  const _Atomic bool *cancel, uint64_t *complete, struct sta_error *err);
/** The file is another now: the next look begins at its beginning. */
void sta_growth_forget(struct sta_growth *growth, const char *path);
/** Bytes of files that looking has read so far. */
uint64_t sta_growth_bytes(const struct sta_growth *growth);

#endif

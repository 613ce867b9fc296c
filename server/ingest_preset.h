/* ingest_preset.h - the preset of a trace that is ingested (private to ingest*.c). */
#ifndef STA_SERVER_INGEST_PRESET_H
#define STA_SERVER_INGEST_PRESET_H

#include "server/ingest.h"

/** Finds the preset that fits the events, for the entry.  *version: of the trace; NULL: the published one,
 * which is opened, and released by the caller. */
STA_MUSTCHECK int sta_ingest_find_preset(const struct sta_ingest *ingest, struct sta_trace_entry *entry,
                                         const _Atomic bool *cancel, struct sta_snapshot **version,
                                         struct sta_error *err);
/** Notes the entry's preset in the catalogue.  @ingested: what failed before has succeeded. */
STA_MUSTCHECK int sta_ingest_note_outcome(const struct sta_ingest *ingest,
                                          const struct sta_trace_entry *entry, bool ingested,
                                          struct sta_error *err);

#endif

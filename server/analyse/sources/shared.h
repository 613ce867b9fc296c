/* shared.h - what questions that other processes work on have in common, as bytes (private to analyse).
 *
 * DESIGN.  The bytes say what the request says, not what was planned: every process makes the same plan of
 * it, against the same version and presets. */
#ifndef STA_ANALYSE_SOURCES_SHARED_H
#define STA_ANALYSE_SOURCES_SHARED_H

#include "analyse/analyse.h"

/* What a question is: its first four bytes. */
enum sta_shared_kind { STA_SHARED_GROUPS, STA_SHARED_EXACT, STA_SHARED_OVERLAP };

void sta_shared_put_trace(struct sta_buffer *out, const struct sta_snapshot *snapshot);
/** The version that the bytes name, retained.  Return: 0, STA_ECORRUPT, or what @host says. */
STA_MUSTCHECK int sta_shared_get_trace(const struct sta_share_host *host, struct sta_cursor *in,
                                       struct sta_snapshot **snapshot, struct sta_error *err);

/** A text, or none. */
void sta_shared_put_text(struct sta_buffer *out, const char *text);
/** Into @memory; NULL: none. */
const char *sta_shared_get_text(struct sta_cursor *in, struct sta_arena *memory);

/** A double, bit by bit. */
void sta_shared_put_number(struct sta_buffer *out, double number);
double sta_shared_get_number(struct sta_cursor *in);

/** A number below @limit; a failure of the cursor when it is not. */
uint64_t sta_shared_get_index(struct sta_cursor *in, uint64_t limit);

/** STA_ECORRUPT: the bytes are none that this program writes. */
int sta_shared_fail(struct sta_error *err);

#endif

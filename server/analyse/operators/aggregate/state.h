/* state.h - partial states as streams of bytes: written by one process, united by another (private to
 * aggregate).  state_write.c describes the format. */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_STATE_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_STATE_H

#include "analyse/operators/aggregate/functions.h"
#include "analyse/operators/frames.h"

/* Beginning of the stream of a partial state. */
#define STA_STATE_MAGIC UINT64_C(0x3152474753415453) /* "STASGGR1", last the version */

/** All texts of a record, call by call. */
void sta_state_visit_texts(const struct sta_shape *shape, uint8_t *record,
                           const struct sta_text_visitor *visitor);

#define STA_STATE_PIECE 1024u /* entries of a list that are written at a time */

#endif

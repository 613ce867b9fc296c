/* state.h - partial states as streams of bytes: written by one process, united by another (private to
 * aggregate).  state_write.c describes the format. */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_STATE_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_STATE_H

#include "analyse/operators/aggregate/finish.h"
#include "analyse/operators/aggregate/functions.h"
#include "analyse/operators/frames.h"

/* Beginning of the stream of a partial state. */
#define STA_STATE_MAGIC UINT64_C(0x3152474753415453) /* "STASGGR1", last the version */

/** All texts of a record, call by call. */
void sta_state_visit_texts(const struct sta_shape *shape, uint8_t *record,
                           const struct sta_text_visitor *visitor);

#define STA_STATE_PIECE 1024u /* entries of a list that are written at a time */

/** All groups of the workers, those on disk too; their calls are flushed.  Return: STA_EOUTDATED when whoever
 * would unite them reads the rows in less time, which took @reading_ns here. */
STA_MUSTCHECK int sta_group_write_state(struct sta_group_finish *finish, uint64_t reading_ns,
                                        const struct sta_byte_sink *sink, struct sta_error *err);
/** Unites a stream with what a worker has.  @texts: takes the texts of the stream; must live as long as the
 * shape.  Return: 0; STA_ECORRUPT: it is damaged, or another query's; STA_ENOSPC, STA_ECANCELLED, .. */
STA_MUSTCHECK int sta_group_read_state(const struct sta_shape *shape, struct sta_group_worker *worker,
                                       struct sta_group_limits *limits, struct sta_dictionary *texts,
                                       const struct sta_budget *budget, const struct sta_byte_source *source,
                                       struct sta_error *err);

#endif

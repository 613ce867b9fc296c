/* arrow_private.h - what the messages of a stream share (private to arrow*.c). */
#ifndef STA_SERVE_ARROW_PRIVATE_H
#define STA_SERVE_ARROW_PRIVATE_H

#include "common/table.h"
#include "serve/formats/arrow.h"
#include "serve/formats/flat_buffer.h"

/* What a message is; Message.fbs. */
enum { STA_ARROW_SCHEMA = 1, STA_ARROW_DICTIONARY_BATCH = 2, STA_ARROW_RECORD_BATCH = 3 };
/* Schema.fbs. */
enum sta_arrow_type {
    STA_ARROW_NULL = 1,
    STA_ARROW_INT = 2,
    STA_ARROW_FLOAT = 3,
    STA_ARROW_BOOL = 6,
    STA_ARROW_LARGE_UTF8 = 20
};

enum sta_arrow_type sta_arrow_type_of(const struct sta_table_column *column);
/** The head of a message: the mark of a new one and the size of its FlatBuffer, which the end sets. */
struct sta_flat_table sta_arrow_begin_message(struct sta_flat *flat, struct sta_buffer *out, unsigned header);
void sta_arrow_end_message(struct sta_flat *flat);

#endif

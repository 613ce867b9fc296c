/* values.h - values of a payload as the values of a record (private to decode/dasf). */
#ifndef STA_DECODE_DASF_VALUES_H
#define STA_DECODE_DASF_VALUES_H

#include "common/buffer.h"
#include "decode/dasf/message.h"
#include "decode/record.h"

/* Texts that a payload does not hold as they are: nested values re-written as JSON, texts with bytes that are
 * not UTF-8.  Values point into it once it no longer grows. */
struct sta_value_texts {
    struct sta_buffer text;
    bool repaired;
};

/** Makes the value as one of an event; ABSENT when it is nil or absent, STA_JSON_DEEP when it has no
 * counterpart: bytes, extensions, numbers that are not finite.  Call sta_value_place for it when all are
 * made. */
void sta_value_of(struct sta_value_texts *texts, const struct sta_message_value *value,
                  struct sta_json_value *out);
/** Points the value to its text. */
void sta_value_place(const struct sta_value_texts *texts, struct sta_json_value *value);
/** An integer or a float; false when it is none, or not finite. */
bool sta_number_of(const struct sta_message_value *value, double *number);

#endif

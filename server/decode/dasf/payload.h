/* payload.h - the members of a record, read from its payload (private to decode/dasf).
 *
 * Records of a kind have the same keys of args in the same order, nearly always, and some of their values are
 * the same too: what stands where it stood in the record before is recognised by its bytes, and neither read
 * nor looked up. */
#ifndef STA_DECODE_DASF_PAYLOAD_H
#define STA_DECODE_DASF_PAYLOAD_H

#include "common/buffer.h"
#include "common/event.h"
#include "decode/dasf/message.h"

#define STA_PREDICTED 32     /* args whose keys are looked for where they were the last time */
#define STA_PREDICTED_KEY 32 /* bytes of a key in a payload that is looked for, at most */
#define STA_PREDICTED_VALUE 48

/* X(name, category): the records that are kept, and what their rows are */
#define STA_RECORD_KINDS(X)                                                                                  \
    X(COMPUTE, "Compute", "compute")                                                                         \
    X(MEMORY, "Managed Memory", "memory")                                                                    \
    X(RESOURCE, "Resource Usage", "resource")

enum sta_record_kind {
#define X(NAME, name, category) STA_KIND_##NAME,
    STA_RECORD_KINDS(X)
#undef X
        STA_KIND_OTHER
};

/* What a key of args is, besides a column. */
enum sta_arg_role { STA_ROLE_NONE, STA_ROLE_TASK, STA_ROLE_FUNCTION, STA_ROLE_SIZE, STA_ROLE_LIST };

struct sta_payload_key {
    char packed[STA_PREDICTED_KEY]; /* as in a payload: a byte with the length, then the text */
    uint32_t size, code;            /* size 0: nothing yet */
    enum sta_arg_role role;
    struct sta_payload_text {
        char packed[STA_PREDICTED_VALUE]; /* of the value that it had the last time */
        uint32_t size, values;            /* of the payload that this is */
        uint32_t code;                    /* of its text, when it had it twice; else STA_NO_CODE */
    } last;
};

struct sta_payload_pair {
    struct sta_payload_key *known; /* NULL: the key is another one than was predicted */
    uint32_t code;                 /* of the predicted value's text; STA_NO_CODE: it is another one */
    uint32_t values;               /* of the payload that the value is */
    const char *at, *end;          /* of the value */
    struct sta_message_value key, value;
};

/* The members of a record's map. */
#define STA_MEMBER_LIST(X)                                                                                   \
    X(name) X(timestamp) X(duration) X(phase) X(process_id) X(thread_id) X(args) X(scope)
struct sta_payload {
#define X(member) struct sta_message_value member;
    STA_MEMBER_LIST(X)
#undef X
    uint64_t unknown;
    const struct sta_payload_pair *pairs; /* of args, when that is a map */
    size_t pair_count;
};

/* One thread's. */
struct sta_payload_reader {
    struct sta_buffer pairs; /* of the record's args */
    struct sta_payload_key predicted[STA_KIND_OTHER][STA_PREDICTED];
};

void sta_payload_reader_fini(struct sta_payload_reader *reader);
/** Empties a buffer of texts or pairs for the next record; one that has grown large is freed. */
void sta_payload_clear_buffer(struct sta_buffer *buffer);

/** Reads a payload, which is one map and nothing behind it.  What is read lasts until the next.  Return:
 * NULL, or why it is damaged. */
const char *sta_payload_read(struct sta_payload_reader *reader, const char *bytes, size_t size,
                             struct sta_payload *members);
/** What its name and phase say. */
enum sta_record_kind sta_payload_kind(const struct sta_payload *members);
/** Looks up the key of the @place-th arg, which was not the predicted one; from now on it is. */
struct sta_payload_key sta_payload_look_up(struct sta_payload_reader *reader, struct sta_tables *tables,
                                           enum sta_record_kind kind, size_t place,
                                           const struct sta_message_value *key);
/** Whether the value of a predicted key came twice now: then the code of its text is to be set, and the next
 * time it is recognised. */
bool sta_payload_came_twice(const struct sta_payload_pair *pair);

#endif

/* response.h - what is sent: problem documents, tables as JSON, CSV and NDJSON, the summary.  The only place
 * that turns a status into one of HTTP. */
#ifndef STA_SERVE_RESPONSE_H
#define STA_SERVE_RESPONSE_H

#include "analyse/analyse.h"
#include "common/buffer.h"
#include "common/error.h"
#include "common/table.h"
#include "serve/http/http.h"
#include "serve/formats/table_text.h"

/* ---- problems: RFC 9457 */

struct sta_problem {
    int status; /* of HTTP */
    const char *detail;
    const char *parameter; /* JSON pointer; NULL or "": none */
    int64_t position;      /* negative: none */
    const char *reason;    /* code word of a refusal, or NULL */
};

/** The HTTP status for a negative enum sta_status. */
int sta_http_status(int status);
/** The problem that an error is; borrows its texts. */
struct sta_problem sta_problem_of(const struct sta_error *err);
/** What the status means, in some words. */
const char *sta_problem_title(int http_status);
void sta_put_problem(struct sta_buffer *out, const struct sta_problem *problem);

/* ---- what a handler fills */

#define STA_REPLY_HEADERS 4
struct sta_response {
    int status;               /* 200 unless the handler says otherwise */
    const char *content_type; /* static */
    bool no_store;            /* secrets or moments: not kept by anyone, and without an ETag */
    struct sta_buffer body;
    char *next; /* of a page of a table: the cursor of the one behind it; owned; NULL: none */
    struct sta_header headers[STA_REPLY_HEADERS]; /* names static, values owned */
    size_t header_count;
};
void sta_response_init(struct sta_response *response);
void sta_response_fini(struct sta_response *response);
/** @value is copied. */
void sta_response_header(struct sta_response *response, const char *name, const char *value);
/** Empties the response and makes it the problem, with Retry-After or WWW-Authenticate where they belong. */
void sta_response_problem(struct sta_response *response, const struct sta_problem *problem);

/** Adds the request's id to a response that is a problem. */
void sta_response_name_request(struct sta_response *response, const char *request_id);

/* ---- tables */

/* Members of a JSON response that stand before the table. */
struct sta_response_names {
    const char *semantics, *preset; /* NULL: none */
    bool filters;
};

void sta_put_facts(struct sta_buffer *out, const struct sta_facts *facts);
/** The members that they are. */
void sta_put_names(struct sta_buffer *out, const struct sta_response_names *names,
                   const struct sta_facts *facts);
/** JSON: names, facts and the table in one object.  CSV and NDJSON: the table alone. */
void sta_put_table(struct sta_response *response, enum sta_format format,
                   const struct sta_response_names *names, const struct sta_facts *facts,
                   const struct sta_table *table);
/** JSON: the object with "layers"; CSV, NDJSON: the table of layers.  @preset says which columns a layer
 * has. */
void sta_put_summary(struct sta_response *response, enum sta_format format,
                     const struct sta_response_names *names, const struct sta_facts *facts,
                     const struct sta_table *table, const struct sta_preset *preset);

/* ---- small pieces of JSON */

/** `"name": ` with a comma before it unless it is the first of its object. */
void sta_put_member(struct sta_buffer *out, const char *name);
/** The same with the `{` or `[` of what the member holds. */
void sta_begin_object(struct sta_buffer *out, const char *name);
void sta_begin_list(struct sta_buffer *out, const char *name);
void sta_put_json_text(struct sta_buffer *out,
                       const char *text); /* NULL: null; bytes that are not UTF-8 become U+FFFD */
void sta_put_member_text(struct sta_buffer *out, const char *name, const char *text);
void sta_put_member_texts(struct sta_buffer *out, const char *name, const char *const *texts, size_t count);
void sta_put_member_uint(struct sta_buffer *out, const char *name, uint64_t value);
void sta_put_member_uint_or_null(struct sta_buffer *out, const char *name, bool known, uint64_t value);
/** A number that is not finite is null. */
void sta_put_member_double(struct sta_buffer *out, const char *name, double value);
void sta_put_member_bool(struct sta_buffer *out, const char *name, bool value);
void sta_put_member_null(struct sta_buffer *out, const char *name);
/** Unix time in microseconds as "2024-01-31T12:00:00.123456Z". */
void sta_put_member_time(struct sta_buffer *out, const char *name, int64_t time_us);

#endif

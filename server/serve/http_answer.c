/* Answers: a libmicrohttpd response, made once and queued as often as wanted. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/http_private.h"

struct sta_answer {
    _Atomic unsigned references;
    int status;
    struct MHD_Response *response;
    char *body;
    size_t size;
    struct sta_header *headers; /* all of them, for variants; owned texts */
    size_t header_count;
};

/* A page may load scripts, styles, images and data from here only, nothing inline, and may not be framed. */
const struct sta_header sta_safety_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
     "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};
const size_t sta_safety_header_count = STA_COUNT_OF(sta_safety_headers);

static void add_headers(struct MHD_Response *response, const struct sta_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        STA_ASSERT(MHD_add_response_header(response, headers[i].name, headers[i].value) == MHD_YES);
}

static void copy_headers(struct sta_answer *answer, const struct sta_answer_parts *parts)
{
    size_t room = parts->header_count + sta_safety_header_count + 1;
    answer->headers = sta_alloc_array(room, sizeof *answer->headers);
    struct sta_header *to = answer->headers;
    if (parts->content_type != NULL)
        *to++ = (struct sta_header){sta_strdup("Content-Type"), sta_strdup(parts->content_type)};
    for (size_t i = 0; i < parts->header_count; i++)
        *to++ = (struct sta_header){sta_strdup(parts->headers[i].name), sta_strdup(parts->headers[i].value)};
    for (size_t i = 0; i < sta_safety_header_count; i++)
        *to++ = (struct sta_header){sta_strdup(sta_safety_headers[i].name),
                                    sta_strdup(sta_safety_headers[i].value)};
    answer->header_count = (size_t)(to - answer->headers);
}

static void answer_free(void *closure)
{
    struct sta_answer *answer = closure;
    for (size_t i = 0; i < answer->header_count; i++) {
        free((char *)answer->headers[i].name);
        free((char *)answer->headers[i].value);
    }
    free(answer->headers);
    free(answer->body);
    free(answer);
}

/* The bytes live as long as the longest-lived response that sends them, which may outlive the caller's
 * reference: so the response owns the answer, and the last reference gives up only the response. */
struct sta_answer *sta_answer_create(const struct sta_answer_parts *parts)
{
    struct sta_answer *answer = sta_alloc(sizeof *answer);
    answer->references = 1;
    answer->status = parts->status;
    answer->body = parts->body;
    answer->size = parts->size;
    copy_headers(answer, parts);
    answer->response = MHD_create_response_from_buffer_with_free_callback_cls(answer->size, answer->body,
                                                                              answer_free, answer);
    STA_ASSERT(answer->response != NULL);
    add_headers(answer->response, answer->headers, answer->header_count);
    return answer;
}

struct sta_answer *sta_answer_retain(struct sta_answer *answer)
{
    atomic_fetch_add(&answer->references, 1);
    return answer;
}

void sta_answer_release(struct sta_answer *answer)
{
    if (answer != NULL && atomic_fetch_sub(&answer->references, 1) == 1)
        MHD_destroy_response(answer->response);
}

size_t sta_answer_size(const struct sta_answer *answer)
{
    return answer->size;
}

struct MHD_Response *sta_answer_response(const struct sta_answer *answer)
{
    return answer->response;
}

int sta_answer_status(const struct sta_answer *answer)
{
    return answer->status;
}

static void release_answer(void *closure)
{
    sta_answer_release(closure);
}

struct MHD_Response *sta_answer_variant(struct sta_answer *answer, const struct sta_header *headers,
                                        size_t count)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        answer->size, answer->body, release_answer, sta_answer_retain(answer));
    STA_ASSERT(response != NULL);
    add_headers(response, answer->headers, answer->header_count);
    add_headers(response, headers, count);
    return response;
}

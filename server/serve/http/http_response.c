/* Responses: made once, sent as often as wanted. */
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"
#include "serve/http/http_private.h"

struct sta_http_response {
    _Atomic unsigned references;
    int status;
    char *headers; /* lines that end in CR LF */
    char *body;
    size_t size;
    struct sta_account *account;
    size_t counted; /* bytes */
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

/* A line break in a value would begin a header of the client's choice. */
void sta_put_headers(struct sta_buffer *out, const struct sta_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, headers[i].name);
        sta_put_text(out, ": ");
        for (const char *at = headers[i].value; *at; at++)
            if ((unsigned char)*at >= ' ' && *at != 0x7f)
                sta_put_char(out, *at);
        sta_put_text(out, "\r\n");
    }
}

static bool is_among(const struct sta_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(headers[i].name, name) == 0)
            return true;
    return false;
}

struct sta_http_response *sta_http_response_create(const struct sta_http_response_parts *parts)
{
    struct sta_http_response *response = sta_alloc(sizeof *response);
    struct sta_buffer headers;
    response->references = 1;
    response->status = parts->status;
    response->body = parts->body;
    response->size = parts->size;
    response->account = parts->account;
    response->counted = parts->counted;
    sta_buffer_init(&headers);
    if (parts->content_type != NULL)
        sta_put_headers(&headers, &(struct sta_header){"Content-Type", parts->content_type}, 1);
    sta_put_headers(&headers, parts->headers, parts->header_count);
    for (size_t i = 0; i < sta_safety_header_count; i++)
        if (!is_among(parts->headers, parts->header_count, sta_safety_headers[i].name))
            sta_put_headers(&headers, &sta_safety_headers[i], 1);
    response->headers = sta_buffer_take_text(&headers);
    return response;
}

struct sta_http_response *sta_http_response_retain(struct sta_http_response *response)
{
    atomic_fetch_add(&response->references, 1);
    return response;
}

void sta_http_response_release(struct sta_http_response *response)
{
    if (response == NULL || atomic_fetch_sub(&response->references, 1) != 1)
        return;
    sta_account_release(response->account, response->counted);
    free(response->headers);
    free(response->body);
    free(response);
}

size_t sta_http_response_size(const struct sta_http_response *response)
{
    return response->size;
}

int sta_http_response_status(const struct sta_http_response *response)
{
    return response->status;
}

const char *sta_http_response_headers(const struct sta_http_response *response)
{
    return response->headers;
}

const char *sta_http_response_body(const struct sta_http_response *response)
{
    return response->body;
}

/* One representation, ready in the forms that clients ask for. */
#include "serve/http/representation.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

#include "common/account.h"
#include "common/memory.h"
#include "serve/http/request.h"

#define GZIP_LEVEL 6
#define LARGE (UINT32_C(1) << 20) /* from here on packing would take longer than most networks: level 1 */
#define GZIP_FROM 256             /* bytes below which packing gains nothing */
#define OVERHEAD 4096             /* bytes that the forms take beside their bodies, about */

struct sta_representation {
    _Atomic unsigned references;
    char etag[64];
    struct sta_http_response *plain, *packed, *unmodified; /* packed: NULL when it is not smaller */
    char *next;                                            /* cursor of the page behind this one, or NULL */
};

bool sta_gzip(const char *bytes, size_t size, char **packed, size_t *packed_size)
{
    z_stream stream = {0};
    *packed = NULL;
    if (size > UINT32_MAX || deflateInit2(&stream, size < LARGE ? GZIP_LEVEL : 1, Z_DEFLATED, 15 + 16, 8,
                                          Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    char *out = sta_try_alloc(size);
    stream.next_in = (unsigned char *)(uintptr_t)bytes;
    stream.avail_in = (unsigned)size;
    stream.next_out = (unsigned char *)out;
    stream.avail_out = (unsigned)size; /* one that is not smaller does not fit */
    bool done = out != NULL && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&stream);
    if (!done) {
        free(out);
        return false;
    }
    char *fitting = realloc(out, stream.total_out);
    *packed = fitting != NULL ? fitting : out;
    *packed_size = stream.total_out;
    return true;
}

/* The headers of every form. */
static size_t common_headers(const struct sta_response *response, const char *cache_control,
                             struct sta_header *headers)
{
    size_t count = 0;
    headers[count++] = (struct sta_header){"Cache-Control", cache_control};
    headers[count++] = (struct sta_header){"Vary", "Accept, Accept-Encoding, Origin"};
    for (size_t i = 0; i < response->header_count; i++)
        headers[count++] = response->headers[i];
    return count;
}

/* The HTTP response of a handler's; takes over its body, with what that is charged with. */
static struct sta_http_response *take_body(struct sta_response *response, const char *content_type,
                                           const struct sta_header *headers, size_t count)
{
    struct sta_buffer *body = &response->body;
    sta_buffer_trim(body);
    struct sta_http_response_parts parts = {.status = response->status,
                                            .content_type = content_type,
                                            .headers = headers,
                                            .header_count = count,
                                            .size = body->size,
                                            .account = body->account,
                                            .counted = body->capacity};
    parts.body = sta_buffer_take(body);
    return sta_http_response_create(&parts);
}

struct sta_representation *sta_representation_create(struct sta_response *response, const char *cache_control)
{
    char *packed = NULL;
    size_t size = 0;
    if (response->body.size >= GZIP_FROM &&
        !sta_gzip(response->body.data, response->body.size, &packed, &size))
        packed = NULL;
    return sta_representation_create_packed(response, cache_control, packed, size);
}

struct sta_representation *sta_representation_create_packed(struct sta_response *response,
                                                            const char *cache_control, char *packed,
                                                            size_t packed_size)
{
    struct sta_representation *content = sta_alloc(sizeof *content);
    struct sta_header headers[STA_REPLY_HEADERS + 4];
    size_t count = common_headers(response, cache_control, headers);
    XXH128_hash_t hash =
        XXH3_128bits_withSeed(response->body.data, response->body.size, strlen(response->content_type));
    char packed_etag[64];
    content->references = 1;
    content->next = response->next;
    response->next = NULL;
    snprintf(content->etag, sizeof content->etag, "\"%016llx%016llx\"", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    headers[count] = (struct sta_header){"ETag", content->etag};
    content->unmodified = sta_http_response_create(
        &(struct sta_http_response_parts){.status = 304, .headers = headers, .header_count = count + 1});
    if (packed != NULL) {
        snprintf(packed_etag, sizeof packed_etag, "%.33s-gzip\"", content->etag);
        headers[count] = (struct sta_header){"ETag", packed_etag};
        headers[count + 1] = (struct sta_header){"Content-Encoding", "gzip"};
        sta_account_overdraw(response->body.account, packed_size);
        content->packed = sta_http_response_create(
            &(struct sta_http_response_parts){response->status, response->content_type, headers, count + 2,
                                              packed, packed_size, response->body.account, packed_size});
        headers[count] = (struct sta_header){"ETag", content->etag};
    }
    content->plain = take_body(response, response->content_type, headers, count + 1);
    return content;
}

struct sta_representation *sta_representation_retain(struct sta_representation *content)
{
    atomic_fetch_add(&content->references, 1);
    return content;
}

void sta_representation_release(struct sta_representation *content)
{
    if (content == NULL || atomic_fetch_sub(&content->references, 1) != 1)
        return;
    sta_http_response_release(content->plain);
    sta_http_response_release(content->packed);
    sta_http_response_release(content->unmodified);
    free(content->next);
    free(content);
}

size_t sta_representation_bytes(const struct sta_representation *content)
{
    return OVERHEAD + sta_http_response_size(content->plain) +
           (content->packed ? sta_http_response_size(content->packed) : 0);
}

/* The content is shared by equal requests; the address of the next page is made of each request's own. */
static void link_next(const struct sta_representation *content, struct sta_exchange *exchange)
{
    const char *query = sta_exchange_query(exchange);
    if (content->next == NULL || query == NULL)
        return;
    char *next = sta_query_next_page(query, content->next);
    char *link = sta_sprintf("<%s>; rel=\"next\"", next);
    sta_exchange_add_success_header(exchange, "Link", link);
    free(link);
    free(next);
}

struct sta_http_response *sta_representation_choose(struct sta_representation *content,
                                                    struct sta_exchange *exchange)
{
    link_next(content, exchange);
    enum sta_method method = sta_exchange_method(exchange);
    if ((method == STA_GET || method == STA_HEAD) &&
        sta_etag_matches(sta_exchange_header(exchange, "If-None-Match"), content->etag))
        return sta_http_response_retain(content->unmodified);
    if (content->packed != NULL && sta_accepts_gzip(sta_exchange_header(exchange, "Accept-Encoding")))
        return sta_http_response_retain(content->packed);
    return sta_http_response_retain(content->plain);
}

static struct sta_http_response *unstored_response(struct sta_response *response)
{
    struct sta_header headers[STA_REPLY_HEADERS + 2];
    size_t count = common_headers(response, "no-store", headers);
    return take_body(response, response->status == 204 ? NULL : response->content_type, headers, count);
}

struct sta_http_response *sta_response_seal(struct sta_response *response, struct sta_exchange *exchange)
{
    enum sta_method method = sta_exchange_method(exchange);
    sta_response_name_request(response, sta_exchange_id(exchange));
    if (response->status != 200 || response->no_store || (method != STA_GET && method != STA_HEAD))
        return unstored_response(response);
    struct sta_representation *content = sta_representation_create(response, "private, no-cache");
    struct sta_http_response *chosen = sta_representation_choose(content, exchange);
    sta_representation_release(content);
    return chosen;
}

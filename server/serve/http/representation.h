/* representation.h - one representation, ready in the forms that clients ask for: as it is, by gzip, and "not
 * modified". */
#ifndef STA_SERVE_REPRESENTATION_H
#define STA_SERVE_REPRESENTATION_H

#include "serve/http/http.h"
#include "serve/api/response.h"

struct sta_representation;

/**
 * sta_representation_create - from the response of a handler, which is emptied
 * Computes the ETag from the bytes and packs them when that makes them smaller.
 * @cache_control: such as "private, no-cache"
 */
struct sta_representation *sta_representation_create(struct sta_response *response,
                                                     const char *cache_control);
/** The same with the gzip form at hand: @packed is taken over (NULL: there is none). */
struct sta_representation *sta_representation_create_packed(struct sta_response *response,
                                                            const char *cache_control, char *packed,
                                                            size_t packed_size);
struct sta_representation *sta_representation_retain(struct sta_representation *content);
void sta_representation_release(struct sta_representation *content);       /* NULL allowed */
size_t sta_representation_bytes(const struct sta_representation *content); /* memory held */
/** The form that fits the request's headers; retained. */
struct sta_http_response *sta_representation_choose(struct sta_representation *content,
                                                    struct sta_exchange *exchange);

/** gzip, level 6, or 1 for what is large.  Return: false when memory is short or the result is not
 * smaller. */
bool sta_gzip(const char *bytes, size_t size, char **packed, size_t *packed_size);

/** The HTTP response for one request, of a handler's response, which is emptied: without ETag when it is not
 * a success of a GET.
 */
struct sta_http_response *sta_response_seal(struct sta_response *response, struct sta_exchange *exchange);

#endif

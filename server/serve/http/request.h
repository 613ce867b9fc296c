/* request.h - the pieces of a request, taken apart.  Pure functions over text that a client chose. */
#ifndef STA_SERVE_REQUEST_H
#define STA_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include "common/error.h"

/**
 * sta_percent_decode - undo %XX in place, and '+' for a blank where @plus
 * Return: 0, or STA_EINPUT for a broken escape, an encoded zero, or a result that is not UTF-8.
 */
STA_MUSTCHECK int sta_percent_decode(char *text, bool plus, struct sta_error *err);

/** Cuts the query off a request target, in place.  Return: the query, or NULL when there is none. */
char *sta_target_split(char *target);

/** Takes the next name=value off a query, in place and not decoded.  Empty parts are skipped; *value is ""
 * without '='.  False at the end. */
bool sta_query_next(char **rest, char **name, char **value);

/** "?limit=10&cursor=@next": @query, as it was sent and without its cursor or offset, led on to the next
 * page; free() it. */
char *sta_query_next_page(const char *query, const char *next);

/**
 * sta_path_match - compare a path with a pattern such as "/api/v1/traces/{id}/summary"
 * @captures: set to what stands at each {..}, pointing into @path with its length; STA_CAPTURES of them
 * A {..} takes one part, never empty.
 */
#define STA_CAPTURES 2
struct sta_capture {
    const char *text;
    size_t length;
};
bool sta_path_match(const char *pattern, const char *path, struct sta_capture captures[STA_CAPTURES]);

/** Whether an Accept-Encoding header (NULL: none) takes gzip, by the rules of RFC 9110 (q=0, "*"). */
bool sta_accepts_gzip(const char *header);

/** Whether an If-None-Match header (NULL: none) names the ETag, compared weakly; "*" names all.  A "-gzip"
 * before the closing quote is not looked at on either side: it marks an encoding of the same response. */
bool sta_etag_matches(const char *header, const char *etag);

/** The name in a Host header, lower-cased, without port, brackets and a final dot.  False when it is none. */
#define STA_HOST_SIZE 256
bool sta_host_name(const char *header, char name[STA_HOST_SIZE]);

/** The host and port of an origin ("https://lab.example:8443"), lower-cased; false for "null" and others that
 * have none. */
bool sta_origin_host(const char *origin, char host[STA_HOST_SIZE]);

/** Copies a cookie's value out of a Cookie header; false when it is not there or too long. */
bool sta_cookie_find(const char *header, const char *name, char *value, size_t size);

/** The token of an Authorization header of the scheme Bearer, else NULL. */
const char *sta_bearer_token(const char *header);

/** Whether text is one of the words of a list such as "json|csv|ndjson". */
bool sta_word_listed(const char *text, const char *list);

#endif

/* access.h - who may do what: tokens, sessions, roles, and the names by which this daemon may be called.
 *
 * The tokens file has one line per token, NAME:ROLE:SHA256, where ROLE is viewer, editor or admin and SHA256
 * the 64 hexadecimal digits of the token's hash; blank lines and lines that begin with # are skipped:
 *
 *     token=$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')
 *     printf 'alice:editor:%s\n' "$(printf %s "$token" | sha256sum | cut -d' ' -f1)" >> tokens
 *
 * Tokens are random, so an unsalted hash can't be searched.  Without a tokens file the daemon's own user and
 * root are admin, and nobody else is anything; sta_server_start then serves loopback only.  All calls: any
 * thread. */
#ifndef STA_SERVE_ACCESS_H
#define STA_SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"
#include "serve/http/client.h"

enum sta_role { STA_ROLE_NONE, STA_ROLE_VIEWER, STA_ROLE_EDITOR, STA_ROLE_ADMIN };
const char *sta_role_name(enum sta_role role); /* "none", "viewer", .. */

#define STA_NAME_SIZE 64
#define STA_SESSION_SIZE 33       /* 32 hexadecimal digits and the end */
#define STA_SESSION_SECONDS 43200 /* 12 hours */
#define STA_COOKIE_NAME_SIZE 64

struct sta_identity {
    enum sta_role role;
    char name[STA_NAME_SIZE]; /* of the token, "" without one */
};

struct sta_access;

struct sta_access_options {
    const char *tokens; /* file, or "" */
    bool anyone;        /* without tokens: who reaches the daemon is admin, whoever it is */
    const char *cookie; /* name of the session cookie; of this daemon alone */
    const char *listen_host;
    bool wildcard; /* the daemon listens on every address */
    const char *const *hosts;
    size_t host_count;
    const char *const *origins;
    size_t origin_count;
};

/** Copies the lists; reads the file.  STA_EINPUT names the file's line. */
STA_MUSTCHECK int sta_access_create(const struct sta_access_options *options, struct sta_access **access,
                                    struct sta_error *err);
void sta_access_destroy(struct sta_access *access);
/** Reads the file again; on failure nothing changes.  Sessions of tokens that are gone end. */
STA_MUSTCHECK int sta_access_reload(struct sta_access *access, struct sta_error *err);
bool sta_access_has_tokens(const struct sta_access *access);
/** The names of the valid tokens, in the order of the file; free().  *count: of them. */
struct sta_identity *sta_access_list(struct sta_access *access, size_t *count);
/** Whether a client may see anything but the sign of life: with tokens everybody, else the daemon's own user
 * and root. */
bool sta_access_serves(const struct sta_access *access, const struct sta_client *client);
/** Cookies are shared by all ports of a host, so each daemon needs a name of its own for its. */
const char *sta_access_cookie(const struct sta_access *access);

/** What a request may do, by its client, its Authorization and Cookie headers (NULL: absent); role NONE when
 * none of them gives a right. */
struct sta_identity sta_access_identify(struct sta_access *access, const struct sta_client *client,
                                        const char *authorization, const char *cookie);

/**
 * sta_access_sign_in - a session for a token
 * @client: number of the client; after too many failures in a minute further ones are STA_EBUSY.  A known
 * token is never refused.
 * Return: 0, STA_EFORBIDDEN for an unknown token, STA_EBUSY.
 */
STA_MUSTCHECK int sta_access_sign_in(struct sta_access *access, const char *token, uint64_t client,
                                     char session[STA_SESSION_SIZE], struct sta_identity *identity,
                                     struct sta_error *err);
void sta_access_sign_out(struct sta_access *access, const char *cookie);

/** Whether a Host header names this daemon. */
bool sta_access_host_known(const struct sta_access *access, const char *host);
/** Whether pages of this origin may call the API and read its responses (cors_origins). */
bool sta_access_origin_allowed(const struct sta_access *access, const char *origin);
/** Whether a request that changes something comes from where it may: no Origin, the daemon's own, or an
 * allowed one. */
bool sta_access_origin_may_write(const struct sta_access *access, const char *origin, const char *host,
                                 const char *fetch_site);

#endif

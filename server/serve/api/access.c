/* Who may do what. */
#include "serve/api/access.h"

#include <arpa/inet.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>
#include <uv.h>

#include "common/files.h"
#include "common/memory.h"
#include "serve/http/request.h"
#include "serve/api/tokens.h"

#define SESSIONS 1000 /* the oldest ends when there is one more */
#define FAILURES 10   /* of one client within a window; then it has to wait */
#define FAILURE_WINDOW_NS UINT64_C(60000000000)
#define FAILURE_CLIENTS 64 /* remembered; the one that failed longest ago is forgotten */

struct session {
    unsigned char
        hash[SHA256_DIGEST_SIZE]; /* of the session's id, so that a copy of memory gives no way in */
    unsigned char token[SHA256_DIGEST_SIZE];
    uint64_t end_ns; /* 0: free */
};

struct failure {
    uint64_t client, since_ns;
    unsigned count;
};

struct sta_access {
    char *file;
    bool anyone;
    char cookie[STA_COOKIE_NAME_SIZE];
    char **hosts, **origins;
    size_t host_count, origin_count;
    bool wildcard;
    uv_mutex_t lock; /* guards all below */
    struct sta_tokens tokens;
    struct session sessions[SESSIONS];
    struct failure failures[FAILURE_CLIENTS];
};

const char *sta_role_name(enum sta_role role)
{
    static const char *const names[] = {"none", "viewer", "editor", "admin"};
    return names[role];
}

/* ---- making */

static void add_text(char ***list, size_t *count, const char *text)
{
    *list = sta_realloc_array(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = sta_strdup(text);
}

int sta_access_create(const struct sta_access_options *options, struct sta_access **created,
                      struct sta_error *err)
{
    struct sta_access *access = sta_alloc(sizeof *access);
    char machine[STA_HOST_SIZE] = "";
    uv_mutex_init(&access->lock);
    access->file = options->tokens && options->tokens[0] ? sta_strdup(options->tokens) : NULL;
    access->wildcard = options->wildcard;
    access->anyone = options->anyone;
    snprintf(access->cookie, sizeof access->cookie, "%s", options->cookie);
    static const char *const loopback[] = {"localhost", "127.0.0.1", "::1"};
    for (size_t i = 0; i < STA_COUNT_OF(loopback); i++)
        add_text(&access->hosts, &access->host_count, loopback[i]);
    add_text(&access->hosts, &access->host_count, options->listen_host);
    if (gethostname(machine, sizeof machine - 1) == 0 && options->wildcard)
        add_text(&access->hosts, &access->host_count, machine);
    for (size_t i = 0; i < options->host_count; i++)
        add_text(&access->hosts, &access->host_count, options->hosts[i]);
    for (size_t i = 0; i < options->origin_count; i++)
        add_text(&access->origins, &access->origin_count, options->origins[i]);
    int status = access->file ? sta_tokens_read(access->file, &access->tokens, err) : STA_OK;
    if (status != STA_OK) {
        sta_access_destroy(access);
        return status;
    }
    *created = access;
    return STA_OK;
}

void sta_access_destroy(struct sta_access *access)
{
    for (size_t i = 0; i < access->host_count; i++)
        free(access->hosts[i]);
    for (size_t i = 0; i < access->origin_count; i++)
        free(access->origins[i]);
    free(access->hosts);
    free(access->origins);
    free(access->file);
    sta_tokens_fini(&access->tokens);
    uv_mutex_destroy(&access->lock);
    free(access);
}

int sta_access_reload(struct sta_access *access, struct sta_error *err)
{
    struct sta_tokens tokens;
    if (access->file == NULL)
        return STA_OK;
    int status = sta_tokens_read(access->file, &tokens, err);
    if (status != STA_OK)
        return status;
    uv_mutex_lock(&access->lock);
    sta_tokens_fini(&access->tokens);
    access->tokens = tokens;
    uv_mutex_unlock(&access->lock);
    return STA_OK;
}

bool sta_access_has_tokens(const struct sta_access *access)
{
    return access->file != NULL;
}

struct sta_identity *sta_access_list(struct sta_access *access, size_t *count)
{
    uv_mutex_lock(&access->lock);
    struct sta_identity *list = sta_alloc_array(access->tokens.count + 1, sizeof *list);
    for (*count = 0; *count < access->tokens.count; (*count)++) {
        const struct sta_access_token *token = &access->tokens.items[*count];
        list[*count].role = token->role;
        snprintf(list[*count].name, sizeof list->name, "%s", token->name);
    }
    uv_mutex_unlock(&access->lock);
    return list;
}

bool sta_access_serves(const struct sta_access *access, const struct sta_client *client)
{
    return access->file != NULL || access->anyone || client->owner == STA_OWNER_SELF;
}

const char *sta_access_cookie(const struct sta_access *access)
{
    return access->cookie;
}

/* ---- tokens and sessions; under the lock unless their comment says otherwise */

static struct sta_identity identity_of(const struct sta_access_token *token)
{
    struct sta_identity identity = {STA_ROLE_NONE, ""};
    if (token != NULL) {
        identity.role = token->role;
        memcpy(identity.name, token->name, sizeof identity.name);
    }
    return identity;
}

static struct session *find_session(struct sta_access *access, const char *cookie)
{
    char id[STA_SESSION_SIZE];
    unsigned char hash[SHA256_DIGEST_SIZE];
    if (!sta_cookie_find(cookie, access->cookie, id, sizeof id))
        return NULL;
    sta_token_hash(id, hash);
    for (size_t i = 0; i < SESSIONS; i++) {
        struct session *session = &access->sessions[i];
        if (session->end_ns > uv_hrtime() && memeql_sec(session->hash, hash, sizeof hash))
            return session;
    }
    return NULL;
}

struct sta_identity sta_access_identify(struct sta_access *access, const struct sta_client *client,
                                        const char *authorization, const char *cookie)
{
    const char *text = sta_bearer_token(authorization);
    unsigned char hash[SHA256_DIGEST_SIZE];
    const struct sta_access_token *token = NULL;
    if (access->file == NULL) {
        bool trusted = sta_access_serves(access, client);
        return (struct sta_identity){trusted ? STA_ROLE_ADMIN : STA_ROLE_NONE, ""};
    }
    if (text != NULL)
        sta_token_hash(text, hash);
    uv_mutex_lock(&access->lock);
    if (text != NULL) {
        token = sta_tokens_find(&access->tokens, hash);
    } else if (cookie != NULL) {
        const struct session *session = find_session(access, cookie);
        token = session ? sta_tokens_find(&access->tokens, session->token) : NULL;
    }
    struct sta_identity identity = identity_of(token);
    uv_mutex_unlock(&access->lock);
    return identity;
}

static struct failure *failure_of(struct sta_access *access, uint64_t client)
{
    struct failure *oldest = &access->failures[0];
    for (size_t i = 0; i < FAILURE_CLIENTS; i++) {
        struct failure *failure = &access->failures[i];
        if (failure->client == client)
            return failure;
        if (failure->since_ns < oldest->since_ns)
            oldest = failure;
    }
    *oldest = (struct failure){.client = client};
    return oldest;
}

static void open_session(struct sta_access *access, const unsigned char *token, char id[STA_SESSION_SIZE])
{
    unsigned char random[16];
    STA_ASSERT(getrandom(random, sizeof random, 0) == sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
    struct session *oldest = &access->sessions[0];
    for (size_t i = 1; i < SESSIONS; i++)
        if (access->sessions[i].end_ns < oldest->end_ns)
            oldest = &access->sessions[i];
    sta_token_hash(id, oldest->hash);
    memcpy(oldest->token, token, sizeof oldest->token);
    oldest->end_ns = uv_hrtime() + STA_SESSION_SECONDS * UINT64_C(1000000000);
}

/* Under the lock.  Counts a failure of the client. */
static int fail_sign_in(struct sta_access *access, uint64_t client, struct sta_error *err)
{
    struct failure *failure = failure_of(access, client);
    uint64_t now = uv_hrtime();
    if (now - failure->since_ns > FAILURE_WINDOW_NS)
        *failure = (struct failure){client, now, 0};
    if (failure->count >= FAILURES)
        return sta_fail(err, STA_EBUSY, "Too many sign-ins failed; wait a minute");
    failure->count++;
    return sta_fail(err, STA_EFORBIDDEN, "The token is not known here");
}

int sta_access_sign_in(struct sta_access *access, const char *text, uint64_t client,
                       char session[STA_SESSION_SIZE], struct sta_identity *identity, struct sta_error *err)
{
    unsigned char hash[SHA256_DIGEST_SIZE];
    int status = STA_OK;
    sta_token_hash(text, hash);
    uv_mutex_lock(&access->lock);
    const struct sta_access_token *token = sta_tokens_find(&access->tokens, hash);
    if (token != NULL) {
        *identity = identity_of(token);
        open_session(access, hash, session);
    } else {
        status = fail_sign_in(access, client, err);
    }
    uv_mutex_unlock(&access->lock);
    return status;
}

void sta_access_sign_out(struct sta_access *access, const char *cookie)
{
    uv_mutex_lock(&access->lock);
    struct session *session = cookie ? find_session(access, cookie) : NULL;
    if (session != NULL)
        session->end_ns = 0;
    uv_mutex_unlock(&access->lock);
}

/* ---- hosts and origins */

static bool is_address(const char *name)
{
    unsigned char bytes[16];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* A daemon on every address can't know all its addresses; a numeric Host is never a rebound name, so it may
 * pass. */
bool sta_access_host_known(const struct sta_access *access, const char *host)
{
    char name[STA_HOST_SIZE];
    if (!sta_host_name(host, name))
        return false;
    for (size_t i = 0; i < access->host_count; i++)
        if (strcasecmp(access->hosts[i], name) == 0)
            return true;
    return access->wildcard && is_address(name);
}

bool sta_access_origin_allowed(const struct sta_access *access, const char *origin)
{
    for (size_t i = 0; i < access->origin_count; i++)
        if (strcasecmp(access->origins[i], origin) == 0)
            return true;
    return false;
}

bool sta_access_origin_may_write(const struct sta_access *access, const char *origin, const char *host,
                                 const char *fetch_site)
{
    char own[STA_HOST_SIZE];
    if (origin == NULL)
        return fetch_site == NULL || strcmp(fetch_site, "same-origin") == 0 ||
               strcmp(fetch_site, "none") == 0;
    return sta_access_origin_allowed(access, origin) ||
           (host != NULL && sta_origin_host(origin, own) && strcasecmp(own, host) == 0);
}

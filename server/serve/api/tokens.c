/* The tokens file, read. */
#include "serve/api/tokens.h"

#include <nettle/memops.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/memory.h"

#define FILE_LIMIT (1u << 20)

void sta_token_hash(const char *text, unsigned char hash[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, strlen(text), (const uint8_t *)text);
    sha256_digest(&context, SHA256_DIGEST_SIZE, hash);
}

static bool parse_hash(const char *text, unsigned char hash[SHA256_DIGEST_SIZE])
{
    if (strlen(text) != 2 * SHA256_DIGEST_SIZE ||
        strspn(text, "0123456789abcdefABCDEF") != 2 * SHA256_DIGEST_SIZE)
        return false;
    for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};
        hash[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return true;
}

static enum sta_role role_named(const char *name)
{
    for (enum sta_role role = STA_ROLE_VIEWER; role <= STA_ROLE_ADMIN; role++)
        if (strcmp(sta_role_name(role), name) == 0)
            return role;
    return STA_ROLE_NONE;
}

static int parse_line(char *line, const char *place, struct sta_access_token *token, struct sta_error *err)
{
    char *rest = line, *name = strsep(&rest, ":"), *role = rest ? strsep(&rest, ":") : NULL;
    if (role == NULL || rest == NULL)
        return sta_fail(err, STA_EINPUT, "%s: expected NAME:ROLE:SHA256", place);
    if (name[0] == '\0' || strlen(name) >= sizeof token->name)
        return sta_fail(err, STA_EINPUT, "%s: a name has 1 to %d characters", place, STA_NAME_SIZE - 1);
    token->role = role_named(role);
    if (token->role == STA_ROLE_NONE)
        return sta_fail(err, STA_EINPUT, "%s: \"%.40s\" is not a role; allowed are viewer, editor and admin",
                        place, role);
    if (!parse_hash(rest, token->hash))
        return sta_fail(err, STA_EINPUT, "%s: expected the 64 hexadecimal digits of the token's SHA-256",
                        place);
    snprintf(token->name, sizeof token->name, "%s", name);
    return STA_OK;
}

int sta_tokens_parse(char *text, const char *file, struct sta_tokens *tokens, struct sta_error *err)
{
    *tokens = (struct sta_tokens){0};
    unsigned number = 0;
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        char place[300];
        snprintf(place, sizeof place, "%.250s, line %u", file, ++number);
        line[strcspn(line, "\r")] = '\0';
        if (line[strspn(line, " \t")] == '\0' || line[0] == '#')
            continue;
        STA_GROW(tokens->items, tokens->capacity, tokens->count + 1);
        struct sta_access_token *token = &tokens->items[tokens->count];
        *token = (struct sta_access_token){0};
        if (parse_line(line, place, token, err) != STA_OK) {
            sta_tokens_fini(tokens);
            return err->status;
        }
        tokens->count++;
    }
    if (tokens->count == 0)
        return sta_fail(err, STA_EINPUT, "%s has no token; nobody could sign in", file);
    return STA_OK;
}

int sta_tokens_read(const char *file, struct sta_tokens *tokens, struct sta_error *err)
{
    char *bytes;
    size_t size;
    int status = sta_file_read(file, FILE_LIMIT, &bytes, &size, err);
    if (status == STA_OK) {
        status = strlen(bytes) == size ? sta_tokens_parse(bytes, file, tokens, err)
                                       : sta_fail(err, STA_EINPUT, "%s is not text", file);
        free(bytes);
    }
    if (status != STA_OK) {
        sta_error_wrap(err, "tokens");
        err->status = status = STA_EINPUT; /* also a missing file is a wrong setting */
    }
    return status;
}

void sta_tokens_fini(struct sta_tokens *tokens)
{
    free(tokens->items);
    *tokens = (struct sta_tokens){0};
}

const struct sta_access_token *sta_tokens_find(const struct sta_tokens *tokens,
                                               const unsigned char hash[SHA256_DIGEST_SIZE])
{
    const struct sta_access_token *found = NULL;
    for (size_t i = 0; i < tokens->count; i++)
        if (memeql_sec(tokens->items[i].hash, hash, SHA256_DIGEST_SIZE))
            found = &tokens->items[i];
    return found;
}

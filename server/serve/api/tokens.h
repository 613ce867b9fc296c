/* tokens.h - the tokens file, read (private to access). */
#ifndef STA_SERVE_TOKENS_H
#define STA_SERVE_TOKENS_H

#include <nettle/sha2.h>
#include "serve/api/access.h"

struct sta_access_token {
    char name[STA_NAME_SIZE];
    enum sta_role role;
    unsigned char hash[SHA256_DIGEST_SIZE];
};

struct sta_tokens {
    struct sta_access_token *items;
    size_t count, capacity;
};

/** SHA-256 of a text. */
void sta_token_hash(const char *text, unsigned char hash[SHA256_DIGEST_SIZE]);
/** STA_EINPUT names file, line and what is allowed.  Fini after success. */
STA_MUSTCHECK int sta_tokens_read(const char *file, struct sta_tokens *tokens, struct sta_error *err);
/** The same from text; @file for messages. */
STA_MUSTCHECK int sta_tokens_parse(char *text, const char *file, struct sta_tokens *tokens,
                                   struct sta_error *err);
void sta_tokens_fini(struct sta_tokens *tokens);
/** Takes the same time wherever the hash stands and whatever it is. */
const struct sta_access_token *sta_tokens_find(const struct sta_tokens *tokens,
                                               const unsigned char hash[SHA256_DIGEST_SIZE]);

#endif

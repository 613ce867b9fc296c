/* Everything of a request that a client chooses freely: target, query, headers, body; and the tokens file.
 *
 * The first byte picks the piece, the rest is its text.  Beside not crashing: a decoded text is UTF-8 and not
 * longer than it was, and what was accepted keeps to its list. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/number.h"
#include "serve/body.h"
#include "serve/cursor.h"
#include "serve/parameters.h"
#include "serve/request.h"
#include "serve/tokens.h"

static void fuzz_target(char *text)
{
    struct sta_capture captures[STA_CAPTURES];
    struct sta_error err = STA_ERROR_INIT;
    char *query = sta_target_split(text);
    if (sta_path_match("/api/v1/traces/{id}/columns/{name}/values", text, captures))
        STA_ASSERT(captures[0].length > 0 && captures[1].length > 0);
    struct sta_parameter_value values[STA_PARAMETERS];
    struct sta_repeats repeats;
    if (sta_parameters_read(query, UINT64_MAX, values, &repeats, &err) == STA_OK)
        for (unsigned i = 0; i < STA_PARAMETERS; i++)
            STA_ASSERT(!values[i].given || sta_parameters[i].type != STA_PARAMETER_CHOICE ||
                       sta_word_listed(values[i].text, sta_parameters[i].words));
    else
        STA_ASSERT((err.status == STA_EINPUT || err.status == STA_ELIMIT) && err.text[0] != '\0');
}

static void fuzz_decode(char *text)
{
    struct sta_error err = STA_ERROR_INIT;
    size_t length = strlen(text);
    if (sta_percent_decode(text, length & 1, &err) == STA_OK) {
        STA_ASSERT(strlen(text) <= length);
        STA_ASSERT(sta_utf8_valid_prefix(text, strlen(text)) == strlen(text));
    }
}

static void fuzz_headers(char *text)
{
    char host[STA_HOST_SIZE], cookie[33];
    (void)sta_accepts_gzip(text);
    (void)sta_etag_matches(text, "\"0123456789abcdef\"");
    (void)sta_bearer_token(text);
    if (sta_host_name(text, host))
        STA_ASSERT(host[0] != '\0' && strlen(host) < sizeof host);
    if (sta_origin_host(text, host))
        STA_ASSERT(host[0] != '\0' && strchr(host, '/') == NULL);
    if (sta_cookie_find(text, "strata_session", cookie, sizeof cookie))
        STA_ASSERT(strlen(cookie) < sizeof cookie);
}

static void fuzz_body(const char *bytes, size_t size)
{
    static const struct sta_member members[] = {
        {"path", STA_MEMBER_TEXT, true, 100, 0},
        {"tags", STA_MEMBER_TEXTS, false, 10, 4},
    };
    struct sta_body body;
    struct sta_error err = STA_ERROR_INIT;
    if (sta_body_read(bytes, size, members, 2, &body, &err) == STA_OK) {
        STA_ASSERT(body.values[0].text != NULL && body.values[1].count <= 4);
        sta_body_fini(&body);
    } else {
        STA_ASSERT((err.status == STA_EINPUT || err.status == STA_ELIMIT) && err.text[0] != '\0');
    }
}

static void fuzz_tokens(char *text)
{
    struct sta_tokens tokens;
    struct sta_error err = STA_ERROR_INIT;
    if (sta_tokens_parse(text, "tokens", &tokens, &err) == STA_OK) {
        STA_ASSERT(tokens.count > 0 && tokens.items[0].role != STA_ROLE_NONE);
        sta_tokens_fini(&tokens);
    }
}

/* What is no token is refused; what is put into one comes back. */
static void fuzz_cursor(const char *bytes, size_t size)
{
    static const struct sta_token_subject subject = {1, 2};
    struct sta_error err = STA_ERROR_INIT;
    struct sta_buffer position;
    sta_buffer_init(&position);
    if (sta_cursor_decode(bytes, &subject, &position, &err) != STA_OK)
        STA_ASSERT(strcmp(err.parameter, "/cursor") == 0 && position.size == 0);
    sta_buffer_clear(&position);
    char *token = sta_cursor_encode(&subject, bytes, size);
    if (strlen(token) < 8000) {
        STA_ASSERT(sta_cursor_decode(token, &subject, &position, &err) == STA_OK);
        STA_ASSERT(position.size == size && (size == 0 || memcmp(position.data, bytes, size) == 0));
    }
    free(token);
    sta_buffer_fini(&position);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const pieces[])(char *text) = {fuzz_target, fuzz_decode, fuzz_headers, fuzz_tokens};
    if (size == 0)
        return 0;
    unsigned piece = data[0] % 6;
    char *text = malloc(size); /* exact, so that reading past the end is seen */
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (piece == 4)
        fuzz_body(text, size - 1);
    else if (piece == 5)
        fuzz_cursor(text, size - 1);
    else
        pieces[piece](text);
    free(text);
    return 0;
}

/* Everything of a request that a client chooses freely: head, target, query, headers, body; and the tokens
 * file.
 *
 * The first byte picks the piece, the rest is its text.  Beside not crashing: a decoded text is UTF-8 and not
 * longer than it was, and what was accepted keeps to its list. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/number.h"
#include "common/memory.h"
#include "serve/api/body.h"
#include "serve/http/body_reader.h"
#include "serve/responses/cursor.h"
#include "serve/api/parameters.h"
#include "serve/http/request.h"
#include "serve/api/tokens.h"

static void fuzz_target(char *text)
{
    struct sta_capture captures[STA_CAPTURES];
    struct sta_error err = STA_ERROR_INIT;
    char *query = sta_target_split(text);
    if (sta_path_match("/api/v1/traces/{id}/columns/{name}/values", text, captures))
        STA_ASSERT(captures[0].length > 0 && captures[1].length > 0);
    struct sta_parameter_value values[STA_PARAMETERS];
    struct sta_repeats repeats;
    if (sta_parameters_read(query, ~(sta_parameter_set)0, values, &repeats, &err) == STA_OK)
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
    if (sta_cookie_find(text, "strata_session_1", cookie, sizeof cookie))
        STA_ASSERT(strlen(cookie) < sizeof cookie);
}

/* A head and what follows it, as a connection reads them. */
static void fuzz_request(char *bytes, size_t size)
{
    struct sta_head head;
    struct sta_body_reader reader;
    struct sta_buffer body;
    struct sta_error err = STA_ERROR_INIT;
    size_t scanned = 0, taken;
    if (sta_head_scan(bytes, size, &scanned, &err) != STA_HEAD_WHOLE)
        return;
    int status = sta_head_parse(bytes, scanned, &head, &err);
    STA_ASSERT(status == 0 || (status >= 400 && err.text[0] != '\0'));
    if (status != 0)
        return;
    STA_ASSERT(head.target[0] != '\0' && !(head.chunked && head.content_length > 0));
    sta_buffer_init(&body);
    sta_body_reader_init(&reader, &head);
    (void)sta_body_read_input(&reader, bytes + scanned, size - scanned, &taken, &body, &err);
    STA_ASSERT(taken <= size - scanned && body.size <= taken);
    sta_buffer_fini(&body);
}

static void fuzz_forwarded(const char *text)
{
    struct sta_network network = {.bits = 104, .address.s6_addr = {[10] = 0xff, 0xff, 10}};
    struct sta_networks proxies = {.items = &network, .count = 1};
    struct sta_client client = {.name = ""};
    if (sta_client_forwarded(&proxies, text, &client))
        STA_ASSERT(client.name[0] != '\0' && client.owner == STA_OWNER_UNKNOWN);
}

static void fuzz_body(const char *bytes, size_t size)
{
    static const struct sta_member members[] = {
        {"path", STA_MEMBER_TEXT, true, 100, 0, true},
        {"tags", STA_MEMBER_TEXTS, false, 10, 4, true},
    };
    const struct sta_buffer in = {.data = (char *)(uintptr_t)bytes, .size = size};
    struct sta_body body;
    struct sta_error err = STA_ERROR_INIT;
    if (sta_body_read(&in, members, 2, &body, &err) == STA_OK) {
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
    unsigned piece = data[0] % 8;
    char *text = malloc(size); /* exact, so that reading past the end is seen */
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (piece == 4)
        fuzz_body(text, size - 1);
    else if (piece == 5)
        fuzz_cursor(text, size - 1);
    else if (piece == 6)
        fuzz_request(text, size - 1);
    else if (piece == 7)
        fuzz_forwarded(text);
    else
        pieces[piece](text);
    free(text);
    return 0;
}

/* The head of a request, taken apart. */
#include "serve/http/head.h"

#include <string.h>
#include <strings.h>

#include "common/memory.h"

static const char *const method_names[STA_METHODS] = {
    [STA_GET] = "GET",     [STA_HEAD] = "HEAD",     [STA_POST] = "POST",       [STA_PUT] = "PUT",
    [STA_PATCH] = "PATCH", [STA_DELETE] = "DELETE", [STA_OPTIONS] = "OPTIONS",
};

const char *sta_method_name(enum sta_method method)
{
    return method == STA_METHODS ? "OTHER" : method_names[method];
}

static enum sta_head_state fail_scan(struct sta_error *err, const char *detail)
{
    sta_fail(err, STA_EINPUT, "The request header has %s", detail);
    return STA_HEAD_BAD;
}

enum sta_head_state sta_head_scan(const char *bytes, size_t size, size_t *scanned, struct sta_error *err)
{
    for (size_t i = *scanned; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        *scanned = i;
        if ((c >= ' ' && c != 0x7f) || c == '\t')
            continue;
        if (c == '\n')
            return fail_scan(err, "a line feed without a carriage return");
        if (c != '\r')
            return fail_scan(err, "a control character");
        if (i + 1 == size)
            return STA_HEAD_MORE;
        if (bytes[++i] != '\n')
            return fail_scan(err, "a carriage return without a line feed");
        if (i >= 3 && bytes[i - 2] == '\n') {
            *scanned = i + 1;
            return STA_HEAD_WHOLE;
        }
    }
    *scanned = size;
    return STA_HEAD_MORE;
}

/* ---- the request line */

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(const char *text)
{
    if (*text == '\0')
        return false;
    while (is_token_char(*text))
        text++;
    return *text == '\0';
}

static enum sta_method method_of(const char *name)
{
    enum sta_method method = STA_GET;
    while (method < STA_METHODS && strcmp(method_names[method], name) != 0)
        method++;
    return method;
}

static int fail(struct sta_error *err, int http_status, const char *detail)
{
    sta_fail(err, STA_EINPUT, "%s", detail);
    return http_status;
}

/* "http://lab.example/path" becomes host and path.  Both are moved towards the front, over the scheme, which
 * makes space for the zero between them and for a "/" before a query without a path. */
static int split_absolute(struct sta_head *head, size_t scheme, struct sta_error *err)
{
    char *host = head->target, *rest = host + scheme;
    size_t length = strcspn(rest, "/?");
    if (length == 0)
        return fail(err, 400, "The request target names no host");
    memmove(host, rest, length);
    host[length] = '\0';
    rest += length;
    if (*rest != '/')
        *--rest = '/';
    head->host = host;
    head->target = rest;
    return 0;
}

static int parse_target(struct sta_head *head, struct sta_error *err)
{
    static const char *const schemes[] = {"http://", "https://"};
    if (head->target[0] == '/' || strcmp(head->target, "*") == 0)
        return 0;
    for (size_t i = 0; i < STA_COUNT_OF(schemes); i++)
        if (strncasecmp(head->target, schemes[i], strlen(schemes[i])) == 0)
            return split_absolute(head, strlen(schemes[i]), err);
    return fail(err, 400, "The request target must be a path, or an address that begins with http://");
}

static int parse_version(const char *version, struct sta_head *head, struct sta_error *err)
{
    if (strncmp(version, "HTTP/", 5) != 0 || strlen(version) != 8 || version[6] != '.')
        return fail(err, 400, "The request line is not \"METHOD TARGET HTTP/1.1\"");
    if (version[5] != '1')
        return fail(err, 505, "Only HTTP/1.1 and HTTP/1.0 are understood here");
    head->http_1_0 = version[7] == '0';
    head->keep_alive = !head->http_1_0;
    return 0;
}

static int parse_request_line(char *line, struct sta_head *head, struct sta_error *err)
{
    char *method = strsep(&line, " "), *target = line ? strsep(&line, " ") : NULL;
    if (line == NULL || !is_token(method) || *target == '\0' || strchr(target, '\t') != NULL)
        return fail(err, 400, "The request line is not \"METHOD TARGET HTTP/1.1\"");
    head->method = method_of(method);
    head->target = target;
    int status = parse_version(line, head, err);
    return status == 0 ? parse_target(head, err) : status;
}

/* ---- fields */

static int parse_field(char *line, struct sta_head *head, struct sta_error *err)
{
    if (*line == ' ' || *line == '\t')
        return fail(err, 400, "A header line begins with a blank (folded lines are not understood)");
    char *value = line, *name = strsep(&value, ":");
    if (value == NULL)
        return fail(err, 400, "A header line has no colon");
    if (!is_token(name))
        return fail(err, 400, "The name of a header is not valid; no blank may stand before the colon");
    if (head->field_count == STA_HEAD_FIELDS)
        return fail(err, 431, "The request has more than 100 header lines");
    value += strspn(value, " \t");
    size_t length = strlen(value);
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    value[length] = '\0';
    head->fields[head->field_count++] = (struct sta_head_field){name, value};
    return 0;
}

const char *sta_head_find(const struct sta_head *head, const char *name)
{
    for (size_t i = 0; i < head->field_count; i++)
        if (strcasecmp(head->fields[i].name, name) == 0)
            return head->fields[i].value;
    return NULL;
}

/* Of these a second one would be a second opinion: which of the two counts differs between programs. */
static int check_single(const struct sta_head *head, struct sta_error *err)
{
    static const char *const single[] = {"Host",         "Content-Length", "Transfer-Encoding",
                                         "Content-Type", "Authorization",  "Cookie",
                                         "Origin",       "Expect",         "Content-Encoding"};
    for (size_t i = 0; i < STA_COUNT_OF(single); i++) {
        unsigned count = 0;
        for (size_t f = 0; f < head->field_count; f++)
            count += strcasecmp(head->fields[f].name, single[i]) == 0;
        if (count > 1) {
            sta_fail(err, STA_EINPUT, "The header %s is given twice", single[i]);
            return 400;
        }
    }
    return 0;
}

static bool list_has(const char *list, const char *word)
{
    while (list != NULL && *list) {
        list += strspn(list, " \t,");
        size_t length = strcspn(list, " \t,");
        if (length == strlen(word) && strncasecmp(list, word, length) == 0)
            return true;
        list += length;
    }
    return false;
}

static int read_length(const char *text, struct sta_head *head, struct sta_error *err)
{
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
        return fail(err, 400, "Content-Length is not a whole number");
    text += strspn(text, "0");
    if (strlen(text) > 18)
        head->content_length = UINT64_MAX;
    else
        for (; *text; text++)
            head->content_length = head->content_length * 10 + (uint64_t)(*text - '0');
    return 0;
}

static int read_framing(struct sta_head *head, struct sta_error *err)
{
    const char *length = sta_head_find(head, "Content-Length");
    const char *coding = sta_head_find(head, "Transfer-Encoding");
    if (length != NULL && coding != NULL)
        return fail(err, 400, "Content-Length and Transfer-Encoding exclude each other");
    if (coding != NULL && (head->http_1_0 || strcasecmp(coding, "chunked") != 0))
        return fail(err, 400, "Of transfer codings only chunked is understood, in HTTP/1.1");
    head->chunked = coding != NULL;
    return length != NULL ? read_length(length, head, err) : 0;
}

static int parse_fields(struct sta_head *head, struct sta_error *err)
{
    const char *connection = sta_head_find(head, "Connection"), *host = sta_head_find(head, "Host");
    const char *expect = sta_head_find(head, "Expect"), *coding = sta_head_find(head, "Content-Encoding");
    int status = check_single(head, err);
    if (status == 0)
        status = read_framing(head, err);
    if (status != 0)
        return status;
    if (host == NULL && !head->http_1_0)
        return fail(err, 400, "The header Host is missing");
    if (head->host == NULL)
        head->host = host;
    if (expect != NULL && strcasecmp(expect, "100-continue") != 0)
        return fail(err, 417, "Of expectations only 100-continue is understood");
    if ((head->chunked || head->content_length > 0) && coding != NULL && strcasecmp(coding, "identity") != 0)
        return fail(err, 415,
                    "The body is encoded (Content-Encoding); only bodies as they are, are understood");
    head->expects_continue = expect != NULL && !head->http_1_0;
    if (list_has(connection, "close"))
        head->keep_alive = false;
    else if (list_has(connection, "keep-alive"))
        head->keep_alive = true;
    return 0;
}

int sta_head_parse(char *bytes, size_t size, struct sta_head *head, struct sta_error *err)
{
    STA_ASSERT(size >= 4);
    bytes[size - 4] = '\0'; /* without the end of the last line and the empty line */
    head->host = NULL;
    head->chunked = head->expects_continue = false;
    head->content_length = 0;
    head->field_count = 0;
    char *rest = bytes, *line = strsep(&rest, "\r");
    int status = parse_request_line(line, head, err);
    while (status == 0 && rest != NULL) {
        line = strsep(&rest, "\r") + 1; /* behind the line feed */
        status = parse_field(line, head, err);
    }
    return status == 0 ? parse_fields(head, err) : status;
}

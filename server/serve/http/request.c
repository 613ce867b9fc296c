/* The pieces of a request, taken apart. */
#include "serve/http/request.h"

#include <string.h>
#include <strings.h>

#include "common/buffer.h"
#include "common/number.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int sta_percent_decode(char *text, bool plus, struct sta_error *err)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (*in == '+' && plus) {
            *out++ = ' ';
        } else if (*in == '%') {
            int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);
            if (low < 0)
                return sta_fail(err, STA_EINPUT, "a %% must be followed by two hexadecimal digits");
            if (high == 0 && low == 0)
                return sta_fail(err, STA_EINPUT, "%%00 is not allowed");
            *out++ = (char)(high << 4 | low);
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    size_t length = (size_t)(out - text);
    if (sta_utf8_valid_prefix(text, length) != length)
        return sta_fail(err, STA_EINPUT, "the text is not UTF-8");
    return STA_OK;
}

char *sta_target_split(char *target)
{
    char *mark = strchr(target, '?');
    if (mark == NULL)
        return NULL;
    *mark = '\0';
    return mark + 1;
}

bool sta_query_next(char **rest, char **name, char **value)
{
    char *part;
    do {
        part = strsep(rest, "&");
    } while (part != NULL && *part == '\0');
    if (part == NULL)
        return false;
    *name = part;
    char *equals = strchr(part, '=');
    *value = equals ? equals + 1 : part + strlen(part);
    if (equals)
        *equals = '\0';
    return true;
}

bool sta_path_match(const char *pattern, const char *path, struct sta_capture captures[STA_CAPTURES])
{
    unsigned count = 0;
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        size_t length = strcspn(path, "/");
        if (length == 0 || count == STA_CAPTURES)
            return false;
        captures[count++] = (struct sta_capture){path, length};
        path += length;
        pattern = strchr(pattern, '}') + 1;
    }
    return *path == '\0';
}

char *sta_query_next_page(const char *query, const char *next)
{
    struct sta_buffer link;
    sta_buffer_init(&link);
    sta_put_char(&link, '?');
    for (const char *at = query; *at != '\0';) {
        size_t length = strcspn(at, "&");
        if (length > 0 && strncmp(at, "cursor=", 7) != 0 && strncmp(at, "offset=", 7) != 0) {
            for (size_t i = 0; i < length; i++)
                sta_put_format(&link, strchr("<>\"", at[i]) != NULL ? "%%%02X" : "%c", at[i]);
            sta_put_char(&link, '&');
        }
        at += length + (at[length] == '&');
    }
    sta_put_format(&link, "cursor=%s", next);
    return sta_buffer_take_text(&link);
}

/* ---- lists in headers */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* One "name;q=0.5" of a list: its name, and whether q is more than 0.  Return: where the next begins. */
static const char *next_coding(const char *at, const char **name, size_t *length, bool *wanted)
{
    at = skip_blanks(at);
    *name = at;
    size_t whole = strcspn(at, ",");
    *length = strcspn(at, ",; \t");
    *wanted = true;
    const char *weight = memchr(at, ';', whole);
    if (weight != NULL) {
        weight = skip_blanks(weight + 1);
        if ((*weight == 'q' || *weight == 'Q') && *skip_blanks(weight + 1) == '=') {
            weight = skip_blanks(skip_blanks(weight + 1) + 1);
            *wanted = strspn(weight, "0.") < strcspn(weight, ", \t;");
        }
    }
    at += whole;
    return *at == ',' ? at + 1 : at;
}

bool sta_accepts_gzip(const char *header)
{
    bool any = false;
    while (header != NULL && *header) {
        const char *name;
        size_t length;
        bool wanted;
        header = next_coding(header, &name, &length, &wanted);
        if (length == 4 && strncasecmp(name, "gzip", 4) == 0)
            return wanted;
        if (length == 1 && *name == '*')
            any = wanted;
    }
    return any;
}

/* Length of the opaque part without a trailing "-gzip". */
static size_t opaque_length(const char *text, size_t length)
{
    return length >= 5 && memcmp(text + length - 5, "-gzip", 5) == 0 ? length - 5 : length;
}

bool sta_etag_matches(const char *header, const char *etag)
{
    size_t wanted = opaque_length(etag + 1, strlen(etag) - 2);
    while (header != NULL) {
        header += strspn(header, " \t,");
        if (*header == '*')
            return true;
        if (strncmp(header, "W/", 2) == 0)
            header += 2;
        if (*header != '"')
            return false;
        const char *end = strchr(header + 1, '"');
        if (end == NULL)
            return false;
        size_t length = opaque_length(header + 1, (size_t)(end - header - 1));
        if (length == wanted && memcmp(header + 1, etag + 1, length) == 0)
            return true;
        header = end + 1;
    }
    return false;
}

/* ---- hosts and origins */

static bool lower_copy(const char *text, size_t length, char *out, size_t size)
{
    if (length == 0 || length >= size)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c <= ' ' || c == 0x7f || strchr("/@\\?#\"<>", c) != NULL)
            return false;
        out[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    out[length] = '\0';
    return true;
}

static bool is_port(const char *text)
{
    return text[0] == '\0' || (text[0] == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

bool sta_host_name(const char *header, char name[STA_HOST_SIZE])
{
    if (header == NULL)
        return false;
    if (header[0] == '[') {
        const char *end = strchr(header, ']');
        return end != NULL && is_port(end + 1) &&
               lower_copy(header + 1, (size_t)(end - header - 1), name, STA_HOST_SIZE);
    }
    size_t length = strcspn(header, ":");
    if (!is_port(header + length))
        return false;
    if (length > 1 && header[length - 1] == '.')
        length--;
    return lower_copy(header, length, name, STA_HOST_SIZE);
}

bool sta_origin_host(const char *origin, char host[STA_HOST_SIZE])
{
    const char *scheme_end = strstr(origin, "://");
    if (scheme_end == NULL)
        return false;
    return lower_copy(scheme_end + 3, strlen(scheme_end + 3), host, STA_HOST_SIZE);
}

/* ---- credentials */

bool sta_cookie_find(const char *header, const char *name, char *value, size_t size)
{
    size_t name_length = strlen(name);
    while (header != NULL && *header) {
        header += strspn(header, " \t;");
        size_t length = strcspn(header, ";");
        if (length > name_length && header[name_length] == '=' && memcmp(header, name, name_length) == 0) {
            length -= name_length + 1;
            if (length >= size)
                return false;
            memcpy(value, header + name_length + 1, length);
            value[length] = '\0';
            return true;
        }
        header += length;
    }
    return false;
}

const char *sta_bearer_token(const char *header)
{
    if (header == NULL || strncasecmp(header, "Bearer ", 7) != 0)
        return NULL;
    const char *token = skip_blanks(header + 7);
    return *token ? token : NULL;
}

bool sta_word_listed(const char *text, const char *list)
{
    size_t length = strlen(text);
    while (length > 0 && *list) {
        size_t word = strcspn(list, "|");
        if (word == length && memcmp(list, text, length) == 0)
            return true;
        list += word + (list[word] == '|');
    }
    return false;
}

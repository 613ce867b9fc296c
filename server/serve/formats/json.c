/* Small pieces of JSON. */
#include <string.h>
#include <time.h>

#include "common/number.h"
#include "serve/api/response.h"

void sta_put_member(struct sta_buffer *out, const char *name)
{
    if (out->size > 0 && out->data[out->size - 1] != '{')
        sta_put_char(out, ',');
    sta_put_json_string(out, name, strlen(name));
    sta_put_char(out, ':');
}

void sta_begin_object(struct sta_buffer *out, const char *name)
{
    sta_put_member(out, name);
    sta_put_char(out, '{');
}

void sta_begin_list(struct sta_buffer *out, const char *name)
{
    sta_put_member(out, name);
    sta_put_char(out, '[');
}

static void put_repaired(struct sta_buffer *out, const char *text, size_t length)
{
    struct sta_buffer repaired;
    sta_buffer_init(&repaired);
    while (length > 0) {
        size_t valid = sta_utf8_valid_prefix(text, length);
        sta_put(&repaired, text, valid);
        if (valid < length) {
            sta_put_text(&repaired, "\xEF\xBF\xBD");
            valid++;
        }
        text += valid;
        length -= valid;
    }
    sta_put_json_string(out, repaired.data, repaired.size);
    sta_buffer_fini(&repaired);
}

void sta_put_json_text(struct sta_buffer *out, const char *text)
{
    if (text == NULL) {
        sta_put_text(out, "null");
        return;
    }
    size_t length = strlen(text);
    if (sta_utf8_valid_prefix(text, length) == length)
        sta_put_json_string(out, text, length);
    else
        put_repaired(out, text, length);
}

void sta_put_member_text(struct sta_buffer *out, const char *name, const char *text)
{
    sta_put_member(out, name);
    sta_put_json_text(out, text);
}

void sta_put_member_texts(struct sta_buffer *out, const char *name, const char *const *texts, size_t count)
{
    sta_begin_list(out, name);
    for (size_t i = 0; i < count; i++) {
        sta_put_text(out, i > 0 ? "," : "");
        sta_put_json_text(out, texts[i]);
    }
    sta_put_char(out, ']');
}

void sta_put_member_uint(struct sta_buffer *out, const char *name, uint64_t value)
{
    sta_put_member(out, name);
    sta_put_uint(out, value);
}

void sta_put_member_uint_or_null(struct sta_buffer *out, const char *name, bool known, uint64_t value)
{
    if (known)
        sta_put_member_uint(out, name, value);
    else
        sta_put_member_null(out, name);
}

void sta_put_member_double(struct sta_buffer *out, const char *name, double value)
{
    sta_put_member(out, name);
    sta_put_double(out, value);
}

void sta_put_member_bool(struct sta_buffer *out, const char *name, bool value)
{
    sta_put_member(out, name);
    sta_put_text(out, value ? "true" : "false");
}

void sta_put_member_null(struct sta_buffer *out, const char *name)
{
    sta_put_member(out, name);
    sta_put_text(out, "null");
}

void sta_put_member_time(struct sta_buffer *out, const char *name, int64_t time_us)
{
    int64_t second = time_us / 1000000, fraction = time_us % 1000000;
    if (fraction < 0) {
        fraction += 1000000;
        second--;
    }
    time_t seconds = (time_t)second;
    struct tm parts;
    sta_put_member(out, name);
    if (gmtime_r(&seconds, &parts) == NULL) {
        sta_put_text(out, "null");
        return;
    }
    char text[40];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    sta_put_format(out, "\"%s.%06dZ\"", text, (int)fraction);
}

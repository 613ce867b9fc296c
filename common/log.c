/* One line per message on standard error, composed first and written at once, so that lines of threads never
 * mix. */
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/number.h"

static enum sta_log_level threshold = STA_LOG_INFO;
static bool as_json;

static const char *const level_names[] = {"error", "warning", "info", "debug"};
static const char *const format_names[] = {"auto", "text", "json"};

void sta_log_configure(enum sta_log_level level, enum sta_log_format format)
{
    threshold = level;
    as_json = format == STA_LOG_JSON || (format == STA_LOG_AUTO && !isatty(STDERR_FILENO));
}

/* It is one of them. */
static unsigned number_of(const char *const *names, const char *name)
{
    unsigned number = 0;
    while (strcmp(names[number], name) != 0)
        number++;
    return number;
}

void sta_log_configure_by_name(const char *level, const char *format)
{
    sta_log_configure((enum sta_log_level)number_of(level_names, level),
                      (enum sta_log_format)number_of(format_names, format));
}

bool sta_log_has(enum sta_log_level level)
{
    return level <= threshold;
}

static void put_time(struct sta_buffer *line)
{
    struct timespec now;
    struct tm parts;
    char text[40];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    sta_put_format(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

/* What is logged may come from a trace or a request: it must stay one line of valid UTF-8. */
static void put_quoted(struct sta_buffer *line, const char *text)
{
    size_t length = strlen(text);
    size_t valid = sta_utf8_valid_prefix(text, length);
    sta_put_json_string(line, text, valid);
    if (valid < length) {
        line->size--;
        sta_put_text(line, "\\ufffd\"");
    }
}

static void put_json(struct sta_buffer *line, enum sta_log_level level, const char *sentence, va_list fields)
{
    sta_put_text(line, "{\"time\":\"");
    put_time(line);
    sta_put_format(line, "\",\"level\":\"%s\",\"message\":", level_names[level]);
    put_quoted(line, sentence);
    for (const char *name = va_arg(fields, const char *); name != NULL; name = va_arg(fields, const char *)) {
        sta_put_format(line, ",\"%s\":", name);
        const char *value = va_arg(fields, const char *);
        put_quoted(line, value ? value : "");
    }
    sta_put_text(line, "}\n");
}

static void put_plain(struct sta_buffer *line, enum sta_log_level level, const char *sentence, va_list fields)
{
    put_time(line);
    sta_put_format(line, " %-7s %s", level_names[level], sentence);
    const char *separator = ": ";
    for (const char *name = va_arg(fields, const char *); name != NULL; name = va_arg(fields, const char *)) {
        sta_put_format(line, "%s%s=", separator, name);
        const char *value = va_arg(fields, const char *);
        put_quoted(line, value ? value : "");
        separator = ", ";
    }
    sta_put_char(line, '\n');
}

void sta_log(enum sta_log_level level, const char *sentence, ...)
{
    if (level > threshold)
        return;
    struct sta_buffer line;
    va_list fields;
    sta_buffer_init(&line);
    va_start(fields, sentence);
    if (as_json)
        put_json(&line, level, sentence, fields);
    else
        put_plain(&line, level, sentence, fields);
    va_end(fields);
    if (!line.failed && write(STDERR_FILENO, line.data, line.size) < 0) {
        /* The failure to write the log cannot be reported. */
    }
    sta_buffer_fini(&line);
}

static char *next_text(void)
{
    static _Thread_local char texts[8][STA_DOUBLE_TEXT];
    static _Thread_local unsigned next;
    return texts[next++ % 8];
}

const char *sta_log_int(int64_t value)
{
    char *text = next_text();
    sta_format_int(value, text);
    return text;
}

const char *sta_log_number(double value)
{
    char *text = next_text();
    snprintf(text, STA_DOUBLE_TEXT, "%.6g", value);
    return text;
}

/* Failures as a status and a chain of sentences; broken contracts as an abort. */
#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const char *const status_names[] = {
#define X(name, text) [STA_STATUS_INDEX_##name] = #name,
    STA_STATUS_LIST(X)
#undef X
};

static void start_chain(struct sta_error *err, int status, const char *format, va_list args)
{
    err->status = status;
    err->parameter[0] = '\0';
    err->position = -1;
    err->reason = NULL;
    vsnprintf(err->text, sizeof err->text, format, args);
}

int sta_fail(struct sta_error *err, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    start_chain(err, status, format, args);
    va_end(args);
    return status;
}

int sta_fail_at(struct sta_error *err, int status, const char *parameter, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    start_chain(err, status, format, args);
    va_end(args);
    return sta_at(err, parameter, -1);
}

static int status_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return STA_ENOSPC;
    case ENOENT:
    case ENOTDIR:
        return STA_ENOTFOUND;
    case ENOMEM:
        return STA_ENOMEM;
    default:
        return STA_EIO;
    }
}

int sta_fail_errno(struct sta_error *err, int errno_value, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    char reason[128] = "";
    const char *text = strerror_r(errno_value, reason, sizeof reason);
    return sta_fail(err, status_of_errno(errno_value), "%s: %s", sentence, text);
}

int sta_error_wrap(struct sta_error *err, const char *format, ...)
{
    char inner[sizeof err->text - 2]; /* space for ": " */
    memcpy(inner, err->text, sizeof inner);
    inner[sizeof inner - 1] = '\0';
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - (size_t)length, ": %s", inner);
    return err->status;
}

int sta_at(struct sta_error *err, const char *parameter, int64_t position)
{
    snprintf(err->parameter, sizeof err->parameter, "%s", parameter);
    err->position = position;
    return err->status;
}

const char *sta_status_name(int status)
{
    size_t index = (size_t)(-1 - status);
    if (status == STA_OK)
        return "OK";
    return status < 0 && index < sizeof status_names / sizeof *status_names ? status_names[index] : "?";
}

void sta_assert_failed(const char *condition, const char *file, int line, const char *function)
{
    fprintf(stderr, "%s:%d: %s: broken contract: %s\n", file, line, function, condition);
    abort();
}

/* Who did what: a line of audit for each request that changes something, and a line of access for each at
 * all. */
#include <string.h>

#include "common/log.h"
#include "serve/api/routes.h"

void sta_call_note_user(struct sta_call *call)
{
    const struct sta_client *client = sta_exchange_client(call->exchange);
    char *user = sta_exchange_note(call->exchange)->user;
    const size_t size = sizeof sta_exchange_note(call->exchange)->user;
    if (call->identity.name[0] != '\0')
        snprintf(user, size, "%s", call->identity.name);
    else if (client->owner != STA_OWNER_UNKNOWN)
        snprintf(user, size, "uid %u", (unsigned)client->uid);
}

void sta_call_note_subject(struct sta_call *call, const char *subject)
{
    struct sta_exchange_note *note = sta_exchange_note(call->exchange);
    snprintf(note->subject, sizeof note->subject, "%s", subject);
}

void sta_log_request(struct sta_exchange *exchange, int status, double seconds, bool aborted)
{
    const struct sta_exchange_note *note = sta_exchange_note(exchange);
    const struct sta_route *route = note->about;
    const char *path = sta_exchange_target(exchange), *from = sta_exchange_client(exchange)->name;
    const char *result = sta_log_int(status), *id = sta_exchange_id(exchange);
    if (route != NULL && route->audit != NULL)
        sta_log(STA_LOG_INFO, route->audit, "user", note->user, "from", from, "path", path, "subject",
                note->subject, "status", result, "request", id, NULL);
    if (sta_log_has(STA_LOG_DEBUG))
        sta_log(STA_LOG_DEBUG, "Request", "method", sta_method_name(sta_exchange_method(exchange)), "path",
                path, "user", note->user, "from", from, "status", result, "bytes",
                sta_log_int((int64_t)sta_exchange_sent(exchange)), "seconds", sta_log_number(seconds),
                "ended", aborted ? "aborted" : "complete", "request", id, NULL);
}

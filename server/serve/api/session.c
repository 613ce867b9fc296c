/* Signing in and out. */
#include "serve/api/body.h"
#include "serve/api/routes.h"

#include <string.h>

#define TOKEN_LENGTH 1000

static void put_session(struct sta_call *call, struct sta_response *response,
                        const struct sta_identity *identity)
{
    struct sta_buffer *out = &response->body;
    sta_put_char(out, '{');
    sta_put_member_bool(out, "sign_in_needed", sta_access_has_tokens(call->server->access));
    sta_put_member_text(out, "name", identity->name[0] ? identity->name : NULL);
    sta_put_member_text(out, "role", identity->role == STA_ROLE_NONE ? NULL : sta_role_name(identity->role));
    sta_put_char(out, '}');
}

int sta_api_session(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    put_session(call, response, &call->identity);
    return STA_OK;
}

/* Behind a proxy that speaks TLS, the cookie is for TLS only. */
static void set_cookie(struct sta_call *call, struct sta_response *response, const char *session,
                       unsigned seconds)
{
    char cookie[256];
    const char *scheme = sta_exchange_header(call->exchange, "X-Forwarded-Proto");
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; Max-Age=%u; HttpOnly; SameSite=Strict%s",
             sta_access_cookie(call->server->access), session, seconds,
             scheme != NULL && strcmp(scheme, "https") == 0 ? "; Secure" : "");
    sta_response_header(response, "Set-Cookie", cookie);
}

int sta_api_session_create(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const struct sta_member members[] = {{"token", STA_MEMBER_TEXT, true, TOKEN_LENGTH, 0, false}};
    struct sta_body body;
    char session[STA_SESSION_SIZE];
    int status = sta_body_read(sta_exchange_body(call->exchange), members, 1, &body, err);
    if (status != STA_OK)
        return status;
    bool needed = sta_access_has_tokens(call->server->access);
    if (needed)
        status =
            sta_access_sign_in(call->server->access, body.values[0].text,
                               sta_exchange_client(call->exchange)->number, session, &call->identity, err);
    sta_body_fini(&body);
    if (!needed) {
        put_session(call, response, &call->identity);
    } else if (status == STA_OK) {
        sta_call_note_user(call);
        put_session(call, response, &call->identity);
        set_cookie(call, response, session, STA_SESSION_SECONDS);
    } else {
        struct sta_problem problem = {status == STA_EBUSY ? 429 : 401, err->text, "/token", -1, NULL};
        sta_response_problem(response, &problem);
    }
    return STA_OK;
}

int sta_api_session_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    sta_access_sign_out(call->server->access, sta_exchange_header(call->exchange, "Cookie"));
    set_cookie(call, response, "", 0);
    response->status = 204;
    return STA_OK;
}

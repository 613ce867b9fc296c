/* Saved queries: a name and a text each, by name. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/api/body.h"
#include "serve/api/kept_records.h"
#include "serve/api/routes.h"

#define NAME_LENGTH 100
#define TEXT_LENGTH 100000
#define MOST 1000

enum { NAME, TEXT, TEXTS };
static const struct sta_kept_records_kind queries = {"queries", "saved queries", TEXTS};

/* Place of the name, or where it would be. */
static size_t place_of(const struct sta_kept_records *records, const char *name, bool *found)
{
    size_t at = 0;
    while (at < records->count && strcmp(records->items[at].texts[NAME], name) < 0)
        at++;
    *found = at < records->count && strcmp(records->items[at].texts[NAME], name) == 0;
    return at;
}

static int fail_unknown(const char *name, struct sta_error *err)
{
    return sta_fail(err, STA_ENOTFOUND, "There is no saved query \"%.100s\"", name);
}

static void put_saved(struct sta_buffer *out, const struct sta_kept_record *saved)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", saved->texts[NAME]);
    sta_put_member_text(out, "text", saved->texts[TEXT]);
    sta_put_member_time(out, "changed", saved->at_us);
    sta_put_char(out, '}');
}

int sta_api_queries(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_kept_records records;
    int status = sta_kept_records_load(call->server->options.store, &queries, &records, err);
    if (status != STA_OK)
        return status;
    sta_put_text(&response->body, "{\"queries\":[");
    for (size_t i = 0; i < records.count; i++) {
        sta_put_text(&response->body, i ? ",\n" : "\n");
        put_saved(&response->body, &records.items[i]);
    }
    sta_put_text(&response->body, "]}");
    sta_kept_records_fini(&records);
    return STA_OK;
}

int sta_api_saved(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_kept_records records;
    bool found;
    int status = sta_kept_records_load(call->server->options.store, &queries, &records, err);
    if (status != STA_OK)
        return status;
    size_t at = place_of(&records, call->captures[0], &found);
    if (found)
        put_saved(&response->body, &records.items[at]);
    else
        status = fail_unknown(call->captures[0], err);
    sta_kept_records_fini(&records);
    return status;
}

struct change {
    const char *name, *text;
    struct sta_buffer *out;
};

/* A query of that name is replaced. */
static int put_in(struct sta_kept_records *records, void *context, struct sta_error *err)
{
    const struct change *change = context;
    bool found;
    const size_t at = place_of(records, change->name, &found);
    if (!found && records->count == MOST)
        return sta_fail(err, STA_ELIMIT, "There are %d saved queries, as many as may be; delete some", MOST);
    if (found)
        sta_kept_records_remove(records, at);
    struct sta_kept_record *saved = sta_kept_records_insert(records, at);
    saved->texts[NAME] = sta_strdup(change->name);
    saved->texts[TEXT] = sta_strdup(change->text);
    put_saved(change->out, saved);
    return STA_OK;
}

static int check_name(const char *name, struct sta_error *err)
{
    if (strlen(name) <= NAME_LENGTH)
        return STA_OK;
    return sta_fail(err, STA_EINPUT, "The name has more than %d bytes", NAME_LENGTH);
}

int sta_api_saved_put(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const struct sta_member members[] = {{"text", STA_MEMBER_TEXT, true, TEXT_LENGTH, 0, false}};
    struct sta_body body;
    if (check_name(call->captures[0], err) != STA_OK)
        return err->status;
    int status = sta_body_read(sta_exchange_body(call->exchange), members, STA_COUNT_OF(members), &body, err);
    if (status != STA_OK)
        return status;
    struct change change = {call->captures[0], body.values[0].text, &response->body};
    status = sta_kept_records_change(call->server->options.store, &queries, put_in, &change, err);
    sta_body_fini(&body);
    return status;
}

static int take_out(struct sta_kept_records *records, void *context, struct sta_error *err)
{
    const char *name = context;
    bool found;
    const size_t at = place_of(records, name, &found);
    if (!found)
        return fail_unknown(name, err);
    sta_kept_records_remove(records, at);
    return STA_OK;
}

int sta_api_saved_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    response->status = 204;
    return sta_kept_records_change(call->server->options.store, &queries, take_out, call->captures[0], err);
}

/* Notes on traces: a text each, with who wrote it and when, oldest first.
 *
 * A note belongs to the id of its trace, which the path decides: it outlives a refresh, and a trace that is
 * registered again has it again. */
#include <string.h>

#include "common/memory.h"
#include "serve/api/body.h"
#include "serve/api/kept_records.h"
#include "serve/api/routes.h"

#define TEXT_LENGTH 10000
#define MOST 1000 /* of one trace */

enum { TRACE, TEXT, WHO, TEXTS };
static const struct sta_kept_records_kind notes = {"notes", "notes", TEXTS};

static int check_trace(const struct sta_call *call, struct sta_error *err)
{
    struct sta_buffer ignored;
    sta_buffer_init(&ignored);
    int status = sta_put_trace_by_id(call->server, &ignored, call->captures[0], err);
    sta_buffer_fini(&ignored);
    return status;
}

static bool is_of(const struct sta_kept_record *note, const struct sta_call *call)
{
    return strcmp(note->texts[TRACE], call->captures[0]) == 0;
}

/* Its time: no two have the same. */
static void write_id(const struct sta_kept_record *note, char id[32])
{
    snprintf(id, 32, "%lld", (long long)note->at_us);
}

static void put_note(struct sta_buffer *out, const struct sta_kept_record *note)
{
    char id[32];
    write_id(note, id);
    sta_put_char(out, '{');
    sta_put_member_text(out, "id", id);
    sta_put_member_text(out, "text", note->texts[TEXT]);
    sta_put_member_text(out, "who", note->texts[WHO]);
    sta_put_member_time(out, "time", note->at_us);
    sta_put_char(out, '}');
}

int sta_api_notes(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_kept_records records;
    int status = check_trace(call, err);
    if (status == STA_OK)
        status = sta_kept_records_load(call->server->options.store, &notes, &records, err);
    if (status != STA_OK)
        return status;
    const char *between = "\n";
    sta_put_text(&response->body, "{\"notes\":[");
    for (size_t i = 0; i < records.count; i++) {
        if (!is_of(&records.items[i], call))
            continue;
        sta_put_text(&response->body, between);
        put_note(&response->body, &records.items[i]);
        between = ",\n";
    }
    sta_put_text(&response->body, "]}");
    sta_kept_records_fini(&records);
    return STA_OK;
}

struct change {
    const struct sta_call *call;
    const char *text;
    struct sta_buffer *out;
};

static int add(struct sta_kept_records *records, void *context, struct sta_error *err)
{
    const struct change *change = context;
    const int64_t latest = records->count > 0 ? records->items[records->count - 1].at_us : 0;
    size_t of_trace = 0;
    for (size_t i = 0; i < records->count; i++)
        of_trace += is_of(&records->items[i], change->call);
    if (of_trace == MOST)
        return sta_fail(err, STA_ELIMIT, "There are %d notes on this trace, as many as may be; delete some",
                        MOST);
    struct sta_kept_record *note = sta_kept_records_insert(records, records->count);
    note->texts[TRACE] = sta_strdup(change->call->captures[0]);
    note->texts[TEXT] = sta_strdup(change->text);
    note->texts[WHO] = sta_strdup(sta_exchange_note(change->call->exchange)->user);
    note->at_us = STA_MAX(note->at_us, latest + 1);
    put_note(change->out, note);
    return STA_OK;
}

int sta_api_note_create(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const struct sta_member members[] = {{"text", STA_MEMBER_TEXT, true, TEXT_LENGTH, 0, false}};
    struct sta_body body;
    if (check_trace(call, err) != STA_OK)
        return err->status;
    int status = sta_body_read(sta_exchange_body(call->exchange), members, STA_COUNT_OF(members), &body, err);
    if (status != STA_OK)
        return status;
    struct change change = {call, body.values[0].text, &response->body};
    status = sta_kept_records_change(call->server->options.store, &notes, add, &change, err);
    sta_body_fini(&body);
    response->status = 201;
    return status;
}

static int take_out(struct sta_kept_records *records, void *context, struct sta_error *err)
{
    const struct sta_call *call = context;
    for (size_t i = 0; i < records->count; i++) {
        char id[32];
        write_id(&records->items[i], id);
        if (!is_of(&records->items[i], call) || strcmp(id, call->captures[1]) != 0)
            continue;
        sta_kept_records_remove(records, i);
        return STA_OK;
    }
    return sta_fail(err, STA_ENOTFOUND, "There is no note \"%.40s\" on this trace", call->captures[1]);
}

int sta_api_note_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    response->status = 204;
    return sta_kept_records_change(call->server->options.store, &notes, take_out, call, err);
}

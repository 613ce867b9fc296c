/* Notes on traces: a text each, with who wrote it and when, kept in the store.
 *
 * There are few and they are small, so all of them are one value of the store, read and replaced whole,
 * oldest first.  A lock makes a change one step; the store makes it durable.  A note belongs to the id of its
 * trace, which the path decides: it outlives a refresh, and a trace that is registered again has it again. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "common/memory.h"
#include "serve/api/body.h"
#include "serve/api/routes.h"

#define KEPT_NAME "notes"
#define TEXT_LENGTH 10000
#define MOST 1000 /* of one trace */

struct note {
    char *trace, *text, *who;
    int64_t at_us; /* also its id: no two have the same */
};

struct note_list {
    struct note *items;
    size_t count, capacity;
};

static uv_mutex_t lock;
static uv_once_t once = UV_ONCE_INIT;

static void make_lock(void)
{
    uv_mutex_init(&lock);
}

static void note_fini(struct note *note)
{
    free(note->trace);
    free(note->text);
    free(note->who);
}

static void list_fini(struct note_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        note_fini(&list->items[i]);
    free(list->items);
}

/* ---- in the store */

static char *get_text(struct sta_cursor *in)
{
    size_t size;
    const char *bytes = sta_get_block(in, &size);
    return bytes != NULL ? sta_strndup(bytes, size) : sta_strdup("");
}

static int load(struct sta_store *store, struct note_list *list, struct sta_error *err)
{
    char *bytes;
    size_t size;
    *list = (struct note_list){0};
    int status = sta_store_recall(store, NULL, 0, KEPT_NAME, &bytes, &size, err);
    if (status == STA_ENOTFOUND)
        return STA_OK;
    if (status != STA_OK)
        return status;
    struct sta_cursor in = {(const unsigned char *)bytes, (const unsigned char *)bytes + size, false};
    while (in.at < in.end && !in.failed) {
        STA_GROW(list->items, list->capacity, list->count + 1);
        struct note *one = &list->items[list->count++];
        one->trace = get_text(&in);
        one->text = get_text(&in);
        one->who = get_text(&in);
        one->at_us = (int64_t)sta_get_u64(&in);
    }
    free(bytes);
    if (!in.failed)
        return STA_OK;
    list_fini(list);
    return sta_fail(err, STA_ECORRUPT, "The notes cannot be read");
}

static int keep(struct sta_store *store, const struct note_list *list, struct sta_error *err)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (size_t i = 0; i < list->count; i++) {
        const struct note *one = &list->items[i];
        sta_put_block(&out, one->trace, strlen(one->trace));
        sta_put_block(&out, one->text, strlen(one->text));
        sta_put_block(&out, one->who, strlen(one->who));
        sta_put_u64(&out, (uint64_t)one->at_us);
    }
    int status = sta_store_keep(store, NULL, 0, KEPT_NAME, out.data != NULL ? out.data : "", out.size, err);
    sta_buffer_fini(&out);
    return status;
}

/* ---- calls */

static int check_trace(const struct sta_call *call, struct sta_error *err)
{
    struct sta_buffer ignored;
    sta_buffer_init(&ignored);
    int status = sta_put_trace_by_id(call->server, &ignored, call->captures[0], err);
    sta_buffer_fini(&ignored);
    return status;
}

static void put_note(struct sta_buffer *out, const struct note *one)
{
    char id[32];
    snprintf(id, sizeof id, "%lld", (long long)one->at_us);
    sta_put_char(out, '{');
    sta_put_member_text(out, "id", id);
    sta_put_member_text(out, "text", one->text);
    sta_put_member_text(out, "who", one->who);
    sta_put_member_time(out, "time", one->at_us);
    sta_put_char(out, '}');
}

int sta_api_notes(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct note_list list;
    int status = check_trace(call, err);
    if (status == STA_OK)
        status = load(call->server->options.store, &list, err);
    if (status != STA_OK)
        return status;
    const char *between = "\n";
    sta_put_text(&response->body, "{\"notes\":[");
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].trace, call->captures[0]) != 0)
            continue;
        sta_put_text(&response->body, between);
        put_note(&response->body, &list.items[i]);
        between = ",\n";
    }
    sta_put_text(&response->body, "]}");
    list_fini(&list);
    return STA_OK;
}

static int64_t now_us(const struct note_list *list)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    return list->count > 0 ? STA_MAX(us, list->items[list->count - 1].at_us + 1) : us;
}

static int add(struct note_list *list, const struct sta_call *call, const char *text, struct sta_error *err)
{
    size_t of_trace = 0;
    for (size_t i = 0; i < list->count; i++)
        of_trace += strcmp(list->items[i].trace, call->captures[0]) == 0;
    if (of_trace == MOST)
        return sta_fail(err, STA_ELIMIT, "There are %d notes on this trace, as many as may be; delete some",
                        MOST);
    STA_GROW(list->items, list->capacity, list->count + 1);
    list->items[list->count] = (struct note){.trace = sta_strdup(call->captures[0]),
                                             .text = sta_strdup(text),
                                             .who = sta_strdup(sta_exchange_note(call->exchange)->user),
                                             .at_us = now_us(list)};
    list->count++;
    return STA_OK;
}

int sta_api_note_create(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    static const struct sta_member members[] = {{"text", STA_MEMBER_TEXT, true, TEXT_LENGTH, 0}};
    struct sta_store *store = call->server->options.store;
    const struct sta_buffer *bytes = sta_exchange_body(call->exchange);
    struct sta_body body;
    struct note_list list;
    if (check_trace(call, err) != STA_OK)
        return err->status;
    int status = sta_body_read(bytes->data, bytes->size, members, STA_COUNT_OF(members), &body, err);
    if (status != STA_OK)
        return status;
    uv_once(&once, make_lock);
    uv_mutex_lock(&lock);
    status = load(store, &list, err);
    if (status == STA_OK) {
        status = add(&list, call, body.values[0].text, err);
        if (status == STA_OK)
            status = keep(store, &list, err);
        if (status == STA_OK)
            put_note(&response->body, &list.items[list.count - 1]);
        list_fini(&list);
    }
    uv_mutex_unlock(&lock);
    sta_body_fini(&body);
    response->status = 201;
    return status;
}

/* Takes out the note that the call names. */
static int take_out(struct note_list *list, const struct sta_call *call, struct sta_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        char id[32];
        snprintf(id, sizeof id, "%lld", (long long)list->items[i].at_us);
        if (strcmp(list->items[i].trace, call->captures[0]) != 0 || strcmp(id, call->captures[1]) != 0)
            continue;
        note_fini(&list->items[i]);
        memmove(&list->items[i], &list->items[i + 1], (--list->count - i) * sizeof *list->items);
        return STA_OK;
    }
    return sta_fail(err, STA_ENOTFOUND, "There is no note \"%.40s\" on this trace", call->captures[1]);
}

int sta_api_note_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_store *store = call->server->options.store;
    struct note_list list;
    uv_once(&once, make_lock);
    uv_mutex_lock(&lock);
    int status = load(store, &list, err);
    if (status == STA_OK) {
        status = take_out(&list, call, err);
        if (status == STA_OK)
            status = keep(store, &list, err);
        list_fini(&list);
    }
    uv_mutex_unlock(&lock);
    response->status = 204;
    return status;
}

/* Saved queries: a name and a text each, kept in the store.
 *
 * There are few and they are small, so all of them are one value of the store, read and replaced whole.  A
 * lock makes a change one step; the store makes it durable. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "common/memory.h"
#include "serve/api/body.h"
#include "serve/api/routes.h"

#define KEPT_NAME "queries"
#define NAME_LENGTH 100
#define TEXT_LENGTH 100000
#define MOST 1000

struct saved {
    char *name, *text;
    int64_t changed_us;
};

struct saved_list {
    struct saved *items; /* by name */
    size_t count, capacity;
};

static uv_mutex_t lock;
static uv_once_t once = UV_ONCE_INIT;

static void make_lock(void)
{
    uv_mutex_init(&lock);
}

static void list_fini(struct saved_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].text);
    }
    free(list->items);
}

/* ---- in the store */

static char *get_text(struct sta_cursor *in)
{
    size_t size;
    const char *bytes = sta_get_block(in, &size);
    return bytes != NULL ? sta_strndup(bytes, size) : sta_strdup("");
}

static int load(struct sta_store *store, struct saved_list *list, struct sta_error *err)
{
    char *bytes;
    size_t size;
    *list = (struct saved_list){0};
    int status = sta_store_recall(store, NULL, 0, KEPT_NAME, &bytes, &size, err);
    if (status == STA_ENOTFOUND)
        return STA_OK;
    if (status != STA_OK)
        return status;
    struct sta_cursor in = {(const unsigned char *)bytes, (const unsigned char *)bytes + size, false};
    while (in.at < in.end && !in.failed) {
        STA_GROW(list->items, list->capacity, list->count + 1);
        struct saved *one = &list->items[list->count++];
        one->name = get_text(&in);
        one->text = get_text(&in);
        one->changed_us = (int64_t)sta_get_u64(&in);
    }
    free(bytes);
    if (!in.failed)
        return STA_OK;
    list_fini(list);
    return sta_fail(err, STA_ECORRUPT, "The saved queries cannot be read");
}

static int keep(struct sta_store *store, const struct saved_list *list, struct sta_error *err)
{
    struct sta_buffer out;
    sta_buffer_init(&out);
    for (size_t i = 0; i < list->count; i++) {
        sta_put_block(&out, list->items[i].name, strlen(list->items[i].name));
        sta_put_block(&out, list->items[i].text, strlen(list->items[i].text));
        sta_put_u64(&out, (uint64_t)list->items[i].changed_us);
    }
    int status = sta_store_keep(store, NULL, 0, KEPT_NAME, out.data != NULL ? out.data : "", out.size, err);
    sta_buffer_fini(&out);
    return status;
}

/* ---- calls */

/* Place of the name, or where it would be. */
static size_t place_of(const struct saved_list *list, const char *name, bool *found)
{
    size_t at = 0;
    while (at < list->count && strcmp(list->items[at].name, name) < 0)
        at++;
    *found = at < list->count && strcmp(list->items[at].name, name) == 0;
    return at;
}

static int fail_unknown(const char *name, struct sta_error *err)
{
    return sta_fail(err, STA_ENOTFOUND, "There is no saved query \"%.100s\"", name);
}

static void put_saved(struct sta_buffer *out, const struct saved *one)
{
    sta_put_char(out, '{');
    sta_put_member_text(out, "name", one->name);
    sta_put_member_text(out, "text", one->text);
    sta_put_member_time(out, "changed", one->changed_us);
    sta_put_char(out, '}');
}

int sta_api_queries(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct saved_list list;
    int status = load(call->server->options.store, &list, err);
    if (status != STA_OK)
        return status;
    sta_put_text(&response->body, "{\"queries\":[");
    for (size_t i = 0; i < list.count; i++) {
        sta_put_text(&response->body, i ? ",\n" : "\n");
        put_saved(&response->body, &list.items[i]);
    }
    sta_put_text(&response->body, "]}");
    list_fini(&list);
    return STA_OK;
}

int sta_api_saved(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct saved_list list;
    bool found;
    int status = load(call->server->options.store, &list, err);
    if (status != STA_OK)
        return status;
    size_t at = place_of(&list, call->captures[0], &found);
    if (found)
        put_saved(&response->body, &list.items[at]);
    else
        status = fail_unknown(call->captures[0], err);
    list_fini(&list);
    return status;
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Puts the text under the name; *changed is what stands there then. */
static int put_in(struct saved_list *list, const char *name, const char *text, struct saved **changed,
                  struct sta_error *err)
{
    bool found;
    size_t at = place_of(list, name, &found);
    if (!found && list->count == MOST)
        return sta_fail(err, STA_ELIMIT, "There are %d saved queries, as many as may be; delete some", MOST);
    if (!found) {
        STA_GROW(list->items, list->capacity, list->count + 1);
        memmove(&list->items[at + 1], &list->items[at], (list->count++ - at) * sizeof *list->items);
        list->items[at] = (struct saved){.name = sta_strdup(name)};
    }
    free(list->items[at].text);
    list->items[at].text = sta_strdup(text);
    list->items[at].changed_us = now_us();
    *changed = &list->items[at];
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
    static const struct sta_member members[] = {{"text", STA_MEMBER_TEXT, true, TEXT_LENGTH, 0}};
    struct sta_store *store = call->server->options.store;
    const struct sta_buffer *bytes = sta_exchange_body(call->exchange);
    struct sta_body body;
    struct saved_list list;
    struct saved *changed = NULL;
    if (check_name(call->captures[0], err) != STA_OK)
        return err->status;
    int status = sta_body_read(bytes->data, bytes->size, members, STA_COUNT_OF(members), &body, err);
    if (status != STA_OK)
        return status;
    uv_once(&once, make_lock);
    uv_mutex_lock(&lock);
    status = load(store, &list, err);
    if (status == STA_OK) {
        status = put_in(&list, call->captures[0], body.values[0].text, &changed, err);
        if (status == STA_OK)
            status = keep(store, &list, err);
        if (status == STA_OK)
            put_saved(&response->body, changed);
        list_fini(&list);
    }
    uv_mutex_unlock(&lock);
    sta_body_fini(&body);
    return status;
}

int sta_api_saved_delete(struct sta_call *call, struct sta_response *response, struct sta_error *err)
{
    struct sta_store *store = call->server->options.store;
    struct saved_list list;
    bool found = false;
    uv_once(&once, make_lock);
    uv_mutex_lock(&lock);
    int status = load(store, &list, err);
    if (status == STA_OK) {
        size_t at = place_of(&list, call->captures[0], &found);
        if (found) {
            free(list.items[at].name);
            free(list.items[at].text);
            memmove(&list.items[at], &list.items[at + 1], (--list.count - at) * sizeof *list.items);
            status = keep(store, &list, err);
        } else {
            status = fail_unknown(call->captures[0], err);
        }
        list_fini(&list);
    }
    uv_mutex_unlock(&lock);
    response->status = 204;
    return status;
}

/* Which traces a query is about: the one of the path, or those that its document names.
 *
 * `traces` is a list of ids, labelled with the traces' names, or an object of ids by label.  An element of a
 * list may also be {"tag": "nightly"} or {"name": "unet3d-*"}: all traces with that tag, or whose name fits
 * the pattern (* any characters, ? one), in the order of their registration, those left out that are in the
 * list already.  A label that several would have is followed by the id. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "serve/responses/views.h"

#define TRACES 64

/* The registered ones, and where in the document we are. */
struct search {
    struct sta_view *view;
    struct sta_trace_view *known;
    size_t known_count;
    char pointer[256];
};

static int fail_here(const struct search *search, struct sta_error *err)
{
    return sta_at(err, search->pointer, -1);
}

static bool is_named(const struct sta_view *view, const char *id)
{
    for (size_t i = 0; i < view->trace_count; i++)
        if (strcmp(view->traces[i].id, id) == 0)
            return true;
    return false;
}

static int add(struct search *search, const char *id, const char *label, struct sta_error *err)
{
    struct sta_view *view = search->view;
    if (view->trace_count == TRACES)
        return sta_fail_at(err, STA_ELIMIT, "/traces", "traces names more than %d traces", TRACES);
    struct sta_view_trace *trace = &view->traces[view->trace_count++];
    snprintf(trace->id, sizeof trace->id, "%s", id);
    trace->label = sta_arena_copy(&view->memory, label, strlen(label));
    return STA_OK;
}

static const struct sta_trace_entry *find_id(const struct search *search, struct sta_text id)
{
    for (size_t i = 0; i < search->known_count; i++)
        if (strlen(search->known[i].entry.id) == id.length &&
            memcmp(search->known[i].entry.id, id.bytes, id.length) == 0)
            return &search->known[i].entry;
    return NULL;
}

/* @label: NULL: its name. */
static int add_id(struct search *search, const struct sta_document *value, const char *label,
                  struct sta_error *err)
{
    if (value->type != STA_DOCUMENT_TEXT) {
        sta_fail(err, STA_EINPUT, "A trace is named by its id, a text, not by %s", sta_document_kind(value));
        return fail_here(search, err);
    }
    const struct sta_trace_entry *entry = find_id(search, value->text);
    if (entry == NULL) {
        sta_fail(err, STA_ENOTFOUND, "There is no trace \"%.40s\"", value->text.bytes);
        return fail_here(search, err);
    }
    if (label == NULL && is_named(search->view, entry->id)) {
        sta_fail(err, STA_EINPUT, "The trace \"%s\" is named twice; give labels: {\"label\": \"id\", ..}",
                 entry->id);
        return fail_here(search, err);
    }
    return add(search, entry->id, label != NULL ? label : entry->name, err);
}

static bool fits(const struct sta_trace_entry *entry, const struct sta_document *selector)
{
    if (strcmp(selector->name, "name") == 0)
        return fnmatch(selector->text.bytes, entry->name, 0) == 0;
    for (size_t i = 0; i < entry->tag_count; i++)
        if (strcmp(entry->tags[i], selector->text.bytes) == 0)
            return true;
    return false;
}

static int add_selected(struct search *search, const struct sta_document *value, struct sta_error *err)
{
    const struct sta_document *selector = value->first;
    bool any = false;
    if (value->count != 1 || selector->type != STA_DOCUMENT_TEXT ||
        (strcmp(selector->name, "tag") != 0 && strcmp(selector->name, "name") != 0)) {
        sta_fail(err, STA_EINPUT, "Traces are selected by {\"tag\": text} or {\"name\": pattern}");
        return fail_here(search, err);
    }
    for (size_t i = 0; i < search->known_count; i++) {
        const struct sta_trace_entry *entry = &search->known[i].entry;
        if (!fits(entry, selector))
            continue;
        any = true;
        if (!is_named(search->view, entry->id) && add(search, entry->id, entry->name, err) != STA_OK)
            return err->status;
    }
    if (any)
        return STA_OK;
    sta_fail(err, STA_EINPUT, "No trace has the %s \"%.60s\"", selector->name, selector->text.bytes);
    return fail_here(search, err);
}

/* Equal names get their ids behind them, or rows of different runs would look like one's. */
static void part_labels(struct sta_view *view)
{
    bool shared[TRACES] = {false};
    for (size_t i = 0; i < view->trace_count; i++)
        for (size_t other = 0; other < view->trace_count; other++)
            shared[i] |= other != i && strcmp(view->traces[i].label, view->traces[other].label) == 0;
    for (size_t i = 0; i < view->trace_count; i++)
        if (shared[i]) {
            char *label = sta_sprintf("%s (%s)", view->traces[i].label, view->traces[i].id);
            view->traces[i].label = sta_arena_copy(&view->memory, label, strlen(label));
            free(label);
        }
}

static int add_all(struct search *search, const struct sta_document *traces, struct sta_error *err)
{
    int status = STA_OK;
    size_t index = 0;
    bool labelled = traces->type == STA_DOCUMENT_OBJECT;
    for (const struct sta_document *value = traces->first; value != NULL && status == STA_OK;
         value = value->next, index++) {
        if (labelled)
            snprintf(search->pointer, sizeof search->pointer, "/traces/%.200s", value->name);
        else
            snprintf(search->pointer, sizeof search->pointer, "/traces/%zu", index);
        status = !labelled && value->type == STA_DOCUMENT_OBJECT
                     ? add_selected(search, value, err)
                     : add_id(search, value, labelled ? value->name : NULL, err);
    }
    if (status == STA_OK && !labelled)
        part_labels(search->view);
    return status;
}

int sta_view_find_traces(struct sta_view *view, struct sta_error *err)
{
    const struct sta_document *traces = sta_document_take(view->document, "traces");
    if (traces == NULL || traces->count == 0 ||
        (traces->type != STA_DOCUMENT_LIST && traces->type != STA_DOCUMENT_OBJECT))
        return sta_fail_at(err, STA_EINPUT, "/traces",
                           "traces must be a list of ids or an object of ids by label, of one trace or more");
    struct search search = {.view = view};
    view->traces =
        sta_arena_alloc(&view->memory, TRACES * sizeof *view->traces, _Alignof(struct sta_view_trace));
    memset(view->traces, 0, TRACES * sizeof *view->traces);
    search.known = sta_library_list(view->server->options.library, &search.known_count);
    int status = add_all(&search, traces, err);
    for (size_t i = 0; i < search.known_count; i++)
        sta_trace_view_fini(&search.known[i]);
    free(search.known);
    return status;
}

int sta_view_take_trace(struct sta_view *view, const char *id, struct sta_error *err)
{
    if (strlen(id) >= STA_TRACE_ID_SIZE)
        return sta_fail(err, STA_ENOTFOUND, "There is no trace \"%.40s\"", id);
    memcpy(view->trace, id, strlen(id) + 1);
    view->traces = sta_arena_alloc(&view->memory, sizeof *view->traces, _Alignof(struct sta_view_trace));
    *view->traces = (struct sta_view_trace){0};
    memcpy(view->traces->id, id, strlen(id) + 1);
    view->trace_count = 1;
    if (!view->kind->labelled)
        return STA_OK;
    struct sta_trace_entry entry;
    int status = sta_store_find(view->server->options.store, id, &entry, err);
    if (status != STA_OK)
        return status;
    view->traces->label = sta_arena_copy(&view->memory, entry.name, strlen(entry.name));
    sta_trace_entry_fini(&entry);
    return STA_OK;
}

/* column_uses.c - which columns of which traces are read, remembered for the next start: FORMAT.md "KEPT". */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/memory.h"
#include "store/format/contents_private.h"
#include "store/versions/private.h"

#define KEPT_NAME "columns"
#define LAYOUT 1                                 /* of the value; another one counts as absent */
#define MOST_USES 256                            /* that are kept, the latest ones */
#define KEPT_MS (INT64_C(30) * 24 * 3600 * 1000) /* before the latest use */
#define ARGS "args."

static const char *const fixed_names[STA_COLUMN_ARGS] = {
    [STA_COLUMN_TS] = "ts",      [STA_COLUMN_DUR] = "dur",   [STA_COLUMN_NAME] = "name",
    [STA_COLUMN_CAT] = "cat",    [STA_COLUMN_FILE] = "file", [STA_COLUMN_THREAD] = "thread",
    [STA_COLUMN_CHUNK] = "chunk"};

/* ---- names */

static char *name_of(const struct sta_snapshot *snapshot, uint32_t column)
{
    if (column < STA_COLUMN_ARGS)
        return sta_strdup(fixed_names[column]);
    const struct sta_text key =
        sta_dictionary_text(sta_tables_keys(snapshot->tables), column - STA_COLUMN_ARGS);
    return sta_sprintf(ARGS "%.*s", (int)key.length, key.bytes);
}

bool sta_snapshot_find_column(const struct sta_snapshot *snapshot, const char *name, uint32_t *column)
{
    for (*column = 0; *column < STA_COLUMN_ARGS; ++*column)
        if (strcmp(name, fixed_names[*column]) == 0)
            return true;
    if (strncmp(name, ARGS, strlen(ARGS)) != 0)
        return false;
    const char *key = name + strlen(ARGS);
    const uint32_t code = sta_dictionary_find(sta_tables_keys(snapshot->tables), key, strlen(key));
    *column = STA_COLUMN_ARGS + code;
    return code != STA_NO_CODE;
}

/* ---- lists of uses */

struct list {
    struct sta_column_use *uses;
    size_t count, capacity;
};

/* @column: taken over */
static void add(struct list *list, const char *trace, char *column, int64_t used_ms)
{
    STA_GROW(list->uses, list->capacity, list->count + 1);
    struct sta_column_use *use = &list->uses[list->count++];
    *use = (struct sta_column_use){.column = column, .used_ms = used_ms};
    snprintf(use->trace, sizeof use->trace, "%s", trace);
}

void sta_column_uses_free(struct sta_column_use *uses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(uses[i].column);
    free(uses);
}

static int by_column(const void *a, const void *b)
{
    const struct sta_column_use *x = a, *y = b;
    const int order = strcmp(x->trace, y->trace);
    return order != 0 ? order : strcmp(x->column, y->column);
}

static int latest_first(const void *a, const void *b)
{
    const struct sta_column_use *x = a, *y = b;
    return x->used_ms != y->used_ms ? (x->used_ms < y->used_ms) - (x->used_ms > y->used_ms) : by_column(a, b);
}

static int by_column_latest_first(const void *a, const void *b)
{
    const int order = by_column(a, b);
    return order != 0 ? order : latest_first(a, b);
}

static bool is_listed(struct sta_store *store, const char *trace)
{
    pthread_mutex_lock(&store->lock);
    const bool listed = sta_store_listed(store, trace) != NULL;
    pthread_mutex_unlock(&store->lock);
    return listed;
}

/* Leaves the latest use of each column, of traces that are there and not too long ago; latest first. */
static void reduce(struct sta_store *store, struct list *list)
{
    size_t kept = 0;
    int64_t latest = 0;
    if (list->count == 0)
        return;
    for (size_t i = 0; i < list->count; i++)
        latest = STA_MAX(latest, list->uses[i].used_ms);
    qsort(list->uses, list->count, sizeof *list->uses, by_column_latest_first);
    for (size_t i = 0; i < list->count; i++) {
        const struct sta_column_use use = list->uses[i];
        const bool again = kept > 0 && by_column(&list->uses[kept - 1], &use) == 0;
        if (again || use.used_ms < latest - KEPT_MS || !is_listed(store, use.trace))
            free(use.column);
        else
            list->uses[kept++] = use;
    }
    qsort(list->uses, kept, sizeof *list->uses, latest_first);
    for (list->count = kept; list->count > MOST_USES; list->count--)
        free(list->uses[list->count - 1].column);
}

/* ---- on disk */

static int64_t milliseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void put_list(struct sta_buffer *out, const struct list *list)
{
    sta_put_varint(out, LAYOUT);
    sta_put_varint(out, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct sta_column_use *use = &list->uses[i];
        sta_put_block(out, use->trace, strlen(use->trace));
        sta_put_block(out, use->column, strlen(use->column));
        sta_put_signed(out, use->used_ms);
    }
}

/* A use that lies ahead, since the clock was set back, is one of now: it would outlive all others.  Return:
 * false when the list makes no sense, or to another program alone. */
static bool get_list(const char *bytes, size_t size, struct list *list)
{
    const int64_t now_ms = milliseconds(CLOCK_REALTIME);
    struct sta_cursor in = {.at = (const unsigned char *)bytes, .end = (const unsigned char *)bytes + size};
    if (sta_get_varint(&in) != LAYOUT)
        return false;
    for (size_t left = sta_get_count(&in); left > 0 && !in.failed; left--) {
        size_t trace_size, column_size;
        const char *trace = sta_get_block(&in, &trace_size), *column = sta_get_block(&in, &column_size);
        const int64_t used_ms = sta_get_signed(&in);
        if (in.failed || trace_size != STA_TRACE_ID_SIZE - 1 || used_ms < 0)
            return false;
        char id[STA_TRACE_ID_SIZE] = "";
        memcpy(id, trace, trace_size);
        add(list, id, sta_strndup(column, column_size), STA_MIN(used_ms, now_ms));
    }
    return !in.failed && in.at == in.end;
}

static void read_list(struct sta_store *store, struct list *list)
{
    char *bytes;
    size_t size;
    struct sta_error ignored = STA_ERROR_INIT; /* what is damaged was quarantined and logged */
    if (sta_store_get_kept(store, NULL, 0, KEPT_NAME, &bytes, &size, &ignored) != STA_OK)
        return;
    if (!get_list(bytes, size, list)) {
        sta_column_uses_free(list->uses, list->count);
        *list = (struct list){0};
    }
    free(bytes);
}

struct sta_column_use *sta_store_column_uses(struct sta_store *store, size_t *count)
{
    struct list list = {0};
    read_list(store, &list);
    reduce(store, &list);
    *count = list.count;
    return list.uses;
}

/* ---- from the cache */

struct open_trace {
    struct sta_snapshot *snapshot;
    int64_t *asked; /* by column: its last use, in ms of CLOCK_MONOTONIC; 0: none */
};

struct open_serial {
    uint64_t serial;
    size_t trace;
};

struct open_traces {
    struct open_trace *traces;
    struct open_serial *segments; /* ascending */
    size_t count, capacity, segment_count, segment_capacity;
};

static void take_open(struct sta_store *store, struct open_traces *open)
{
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->count; i++) {
        struct sta_snapshot *snapshot = store->traces[i]->current;
        if (snapshot == NULL)
            continue;
        snapshot->references++;
        STA_GROW(open->traces, open->capacity, open->count + 1);
        open->traces[open->count++].snapshot = snapshot;
    }
    pthread_mutex_unlock(&store->lock);
}

static int by_serial(const void *a, const void *b)
{
    const struct open_serial *x = a, *y = b;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static uint32_t column_count(const struct sta_snapshot *snapshot)
{
    return STA_COLUMN_ARGS + sta_dictionary_count(sta_tables_keys(snapshot->tables));
}

static void list_segments(struct open_traces *open)
{
    for (size_t t = 0; t < open->count; t++) {
        const struct sta_snapshot *snapshot = open->traces[t].snapshot;
        open->traces[t].asked = sta_alloc_array(column_count(snapshot), sizeof *open->traces[t].asked);
        for (uint32_t s = 0; s < snapshot->segment_count; s++) {
            STA_GROW(open->segments, open->segment_capacity, open->segment_count + 1);
            open->segments[open->segment_count++] =
                (struct open_serial){snapshot->segments[s].segment.serial, t};
        }
    }
    if (open->segment_count > 0)
        qsort(open->segments, open->segment_count, sizeof *open->segments, by_serial);
}

/* Under a lock of the cache. */
static void note_use(void *context, struct sta_column_cache_key key, int64_t asked)
{
    const struct open_traces *open = context;
    const struct open_serial wanted = {.serial = key.segment};
    const struct open_serial *found =
        bsearch(&wanted, open->segments, open->segment_count, sizeof wanted, by_serial);
    if (found == NULL)
        return;
    int64_t *last = &open->traces[found->trace].asked[key.column];
    *last = STA_MAX(*last, asked);
}

/* Appends the columns that queries to this process have used. */
static void add_used(struct sta_store *store, struct list *list)
{
    struct open_traces open = {0};
    const int64_t offset = milliseconds(CLOCK_REALTIME) - milliseconds(CLOCK_MONOTONIC);
    take_open(store, &open);
    list_segments(&open);
    if (store->cache != NULL && open.segment_count > 0)
        sta_column_cache_each(store->cache, note_use, &open);
    for (size_t t = 0; t < open.count; t++) {
        const struct open_trace *trace = &open.traces[t];
        const uint32_t columns = column_count(trace->snapshot);
        for (uint32_t column = 0; column < columns; column++)
            if (trace->asked[column] > 0)
                add(list, trace->snapshot->id, name_of(trace->snapshot, column),
                    trace->asked[column] + offset);
        free(trace->asked);
        sta_snapshot_release(trace->snapshot);
    }
    free(open.traces);
    free(open.segments);
}

int sta_store_keep_column_uses(struct sta_store *store, struct sta_error *err)
{
    struct list list = {0};
    struct sta_buffer before = {0}, after = {0};
    read_list(store, &list);
    put_list(&before, &list);
    add_used(store, &list);
    reduce(store, &list);
    put_list(&after, &list);
    int status = STA_OK;
    if (before.size != after.size || memcmp(before.data, after.data, after.size) != 0)
        status = sta_store_put_kept(store, NULL, 0, KEPT_NAME, after.data, after.size, err);
    sta_buffer_fini(&before);
    sta_buffer_fini(&after);
    sta_column_uses_free(list.uses, list.count);
    return status;
}

struct sta_column_figures sta_store_column_figures(struct sta_store *store)
{
    return store->cache != NULL ? sta_column_cache_figures(store->cache) : (struct sta_column_figures){0};
}

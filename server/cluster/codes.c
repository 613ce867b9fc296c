/* Codes: how a rank requests them, and translates its rows.
 *
 * A request is lists, each a varint count and its items: paths of all sources (blocks); then, of what is new,
 * names, categories, references to files (blocks); threads (u64 pid, u64 tid, block of the reference to the
 * host, empty without one); args keys (blocks).  Then a varint count of keys with new values, each: block of
 * the key, and the values (blocks).  The reply: the codes of all but the sources, u32 in this order. */
#include "cluster/codes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/counters.h"
#include "common/memory.h"

/* Of one dictionary: the trace's code by the unit's. */
struct list {
    uint32_t *codes;
    size_t count, capacity;
    size_t wanted;  /* as many are asked for */
    size_t changed; /* how many are not the unit's own */
};

enum { NAMES, CATS, FILES, THREADS, KEYS, LISTS };

struct sta_codes {
    struct sta_tables *tables;
    const struct sta_codes_calls *calls;
    pthread_rwlock_t lock; /* guards all below */
    bool asked;            /* a request is under way */
    struct list lists[LISTS];
    struct list values[STA_ARGS_KEYS_LIMIT]; /* by key of the unit */
};

struct sta_codes *sta_codes_create(struct sta_tables *tables, const struct sta_codes_calls *calls)
{
    struct sta_codes *codes = sta_alloc(sizeof *codes);
    codes->tables = tables;
    codes->calls = calls;
    pthread_rwlock_init(&codes->lock, NULL);
    return codes;
}

static struct sta_dictionary *(*const dictionary_of[LISTS])(const struct sta_tables *tables) = {
    sta_tables_names, sta_tables_cats, sta_tables_file_refs, NULL, sta_tables_keys};

/* How many codes there are by now. */
static uint32_t count_of(const struct sta_tables *tables, int list)
{
    return list == THREADS ? sta_tables_thread_count(tables)
                           : sta_dictionary_count(dictionary_of[list](tables));
}

/* ---- asking */

static void put_text(struct sta_buffer *out, struct sta_text text)
{
    sta_put_block(out, text.bytes, text.length);
}

static void put_new(struct sta_buffer *out, const struct sta_dictionary *dictionary, struct list *list)
{
    list->wanted = sta_dictionary_count(dictionary);
    sta_put_varint(out, list->wanted - list->count);
    for (size_t code = list->count; code < list->wanted; code++)
        put_text(out, sta_dictionary_text(dictionary, (uint32_t)code));
}

static void put_new_threads(struct sta_buffer *out, const struct sta_tables *tables, struct list *list)
{
    list->wanted = sta_tables_thread_count(tables);
    sta_put_varint(out, list->wanted - list->count);
    for (size_t code = list->count; code < list->wanted; code++) {
        const struct sta_thread thread = sta_tables_thread(tables, (uint32_t)code);
        sta_put_u64(out, (uint64_t)thread.pid);
        sta_put_u64(out, (uint64_t)thread.tid);
        put_text(out, thread.host != STA_NO_CODE
                          ? sta_dictionary_text(sta_tables_host_refs(tables), thread.host)
                          : (struct sta_text){"", 0});
    }
}

static void put_new_values(struct sta_buffer *out, struct sta_codes *codes)
{
    const struct sta_dictionary *keys = sta_tables_keys(codes->tables);
    size_t count = 0;
    for (uint32_t key = 0; key < codes->lists[KEYS].wanted; key++) {
        struct list *list = &codes->values[key];
        list->wanted = sta_dictionary_count(sta_tables_values(codes->tables, key));
        count += list->wanted > list->count;
    }
    sta_put_varint(out, count);
    for (uint32_t key = 0; key < codes->lists[KEYS].wanted; key++) {
        struct list *list = &codes->values[key];
        if (list->wanted == list->count)
            continue;
        put_text(out, sta_dictionary_text(keys, key));
        put_new(out, sta_tables_values(codes->tables, key), list);
    }
}

static void put_request(struct sta_buffer *out, struct sta_codes *codes)
{
    struct list all = {0};
    put_new(out, sta_tables_sources(codes->tables), &all);
    for (int list = 0; list < LISTS; list++)
        if (list == THREADS)
            put_new_threads(out, codes->tables, &codes->lists[list]);
        else
            put_new(out, dictionary_of[list](codes->tables), &codes->lists[list]);
    put_new_values(out, codes);
}

static void get_codes(struct sta_cursor *in, struct list *list)
{
    STA_GROW(list->codes, list->capacity, list->wanted);
    for (; list->count < list->wanted; list->count++) {
        list->codes[list->count] = sta_get_u32(in);
        list->changed += list->codes[list->count] != list->count;
    }
}

static int take_reply(struct sta_codes *codes, struct sta_cursor *in, struct sta_error *err)
{
    for (int list = 0; list < LISTS; list++)
        get_codes(in, &codes->lists[list]);
    for (uint32_t key = 0; key < codes->lists[KEYS].count; key++)
        if (codes->values[key].wanted > codes->values[key].count)
            get_codes(in, &codes->values[key]);
    return in->failed || in->at != in->end
               ? sta_fail(err, STA_ECORRUPT, "the codes that rank 0 has granted make no sense")
               : STA_OK;
}

/* Context: the lock is held for writing, as of the next two. */
static int send_request(struct sta_codes *codes, struct sta_error *err)
{
    struct sta_buffer request;
    sta_buffer_init(&request);
    put_request(&request, codes);
    int status = request.failed ? sta_fail(err, STA_ENOMEM, "no memory for the texts of a unit")
                                : codes->calls->send(codes->calls->context, &request, err);
    codes->asked = status == STA_OK;
    sta_buffer_fini(&request);
    return status;
}

static int take(struct sta_codes *codes, bool wait, struct sta_error *err)
{
    unsigned char *reply = NULL;
    size_t size;
    int status = codes->calls->take(codes->calls->context, wait, &reply, &size, err);
    codes->asked = status == STA_OK && reply == NULL;
    if (status == STA_OK && reply != NULL) {
        struct sta_cursor in = {.at = reply, .end = reply + size};
        status = take_reply(codes, &in, err);
    }
    free(reply);
    return status;
}

/* What was asked ahead may lack something. */
static int learn(struct sta_codes *codes, bool (*is_known)(const struct sta_codes *codes, const void *what),
                 const void *what, struct sta_error *err)
{
    int status = codes->asked ? take(codes, true, err) : STA_OK;
    if (status != STA_OK || is_known(codes, what))
        return status;
    status = send_request(codes, err);
    return status == STA_OK ? take(codes, true, err) : status;
}

static bool has_new(const struct sta_codes *codes)
{
    bool found = false;
    for (int list = 0; list < LISTS && !found; list++)
        found = count_of(codes->tables, list) > codes->lists[list].count;
    for (uint32_t key = 0; key < codes->lists[KEYS].count && !found; key++)
        found = sta_dictionary_count(sta_tables_values(codes->tables, key)) > codes->values[key].count;
    return found;
}

int sta_codes_send_ahead(struct sta_codes *codes, struct sta_error *err)
{
    if (pthread_rwlock_trywrlock(&codes->lock) != 0)
        return STA_OK;
    int status = codes->asked ? take(codes, false, err) : STA_OK;
    if (status == STA_OK && !codes->asked && has_new(codes))
        status = send_request(codes, err);
    pthread_rwlock_unlock(&codes->lock);
    return status;
}

void sta_codes_destroy(struct sta_codes *codes)
{
    struct sta_error ignored = STA_ERROR_INIT;
    if (codes->asked)
        (void)take(codes, true, &ignored);
    for (int list = 0; list < LISTS; list++)
        free(codes->lists[list].codes);
    for (size_t key = 0; key < STA_ARGS_KEYS_LIMIT; key++)
        free(codes->values[key].codes);
    pthread_rwlock_destroy(&codes->lock);
    free(codes);
}

/* ---- translating */

/* @there: as many texts as there are.  Codes are looked at only while some were not asked for. */
static bool knows(const struct list *list, uint32_t there, const uint32_t *codes, uint32_t count)
{
    bool all = true;
    for (uint32_t i = 0; there > list->count && i < count && all; i++)
        all = codes[i] == STA_NO_CODE || codes[i] < list->count;
    return all;
}

static bool knows_values(const struct sta_codes *codes, const struct sta_args_column *column)
{
    if (column->key >= codes->lists[KEYS].count)
        return false;
    const struct list *list = &codes->values[column->key];
    const bool none_new = sta_dictionary_count(sta_tables_values(codes->tables, column->key)) <= list->count;
    for (uint32_t i = 0; !none_new && i < column->count; i++)
        if (column->kinds[i] == STA_VALUE_TEXT && column->values[i].code >= list->count)
            return false;
    return true;
}

static bool knows_all(const struct sta_codes *codes, const void *what)
{
    const struct sta_batch *batch = what;
    const uint32_t *const columns[] = {batch->name, batch->cat, batch->file, batch->thread};
    bool all = true;
    for (int list = 0; list < KEYS && all; list++)
        all = knows(&codes->lists[list], count_of(codes->tables, list), columns[list], batch->count);
    for (uint32_t a = 0; a < batch->args_count && all; a++)
        all = batch->args[a].count == 0 || knows_values(codes, &batch->args[a]);
    return all;
}

static void replace(const struct list *list, uint32_t *codes, uint32_t count)
{
    for (uint32_t i = 0; list->changed > 0 && i < count; i++)
        if (codes[i] != STA_NO_CODE)
            codes[i] = list->codes[codes[i]];
}

static void replace_all(const struct sta_codes *codes, struct sta_batch *batch)
{
    uint32_t *const columns[] = {batch->name, batch->cat, batch->file, batch->thread};
    for (int list = 0; list < KEYS; list++)
        replace(&codes->lists[list], columns[list], batch->count);
    for (uint32_t a = 0; a < batch->args_count; a++) {
        struct sta_args_column *column = &batch->args[a];
        if (column->count == 0)
            continue;
        const struct list *list = &codes->values[column->key];
        for (uint32_t i = 0; list->changed > 0 && i < column->count; i++)
            if (column->kinds[i] == STA_VALUE_TEXT)
                column->values[i].code = list->codes[column->values[i].code];
        column->key = codes->lists[KEYS].codes[column->key];
    }
}

int sta_codes_translate(struct sta_codes *codes, struct sta_batch *batch, struct sta_error *err)
{
    int status = STA_OK;
    pthread_rwlock_rdlock(&codes->lock);
    if (!knows_all(codes, batch)) {
        pthread_rwlock_unlock(&codes->lock);
        pthread_rwlock_wrlock(&codes->lock);
        status = knows_all(codes, batch) ? STA_OK : learn(codes, knows_all, batch, err);
        pthread_rwlock_unlock(&codes->lock);
        pthread_rwlock_rdlock(&codes->lock);
    }
    if (status == STA_OK)
        replace_all(codes, batch);
    pthread_rwlock_unlock(&codes->lock);
    return status;
}

static bool knows_key(const struct sta_codes *codes, const void *what)
{
    const uint32_t *key = what;
    return *key < codes->lists[KEYS].count;
}

/* The trace's code of a key. */
static int translate_key(struct sta_codes *codes, uint32_t *key, struct sta_error *err)
{
    pthread_rwlock_wrlock(&codes->lock);
    int status = knows_key(codes, key) ? STA_OK : learn(codes, knows_key, key, err);
    if (status == STA_OK)
        *key = codes->lists[KEYS].codes[*key];
    pthread_rwlock_unlock(&codes->lock);
    return status;
}

static int put_records(struct sta_codes *codes, struct sta_cursor *in, struct sta_buffer *records,
                       struct sta_error *err)
{
    struct sta_counter_record record = {0};
    int status = STA_OK;
    for (int64_t last = 0; status == STA_OK && sta_counter_get(in, &record); last = record.ns) {
        sta_counter_put(records, &record, last);
        for (uint64_t i = 0; i < record.values && status == STA_OK; i++) {
            uint32_t key;
            double value;
            sta_counter_get_value(in, &key, &value);
            status = translate_key(codes, &key, err);
            sta_counter_put_value(records, key, value);
        }
    }
    return status;
}

int sta_codes_translate_counters(struct sta_codes *codes, const char *chunks, size_t size,
                                 struct sta_buffer *out, struct sta_error *err)
{
    struct sta_cursor in = {.at = (const unsigned char *)chunks, .end = (const unsigned char *)chunks + size};
    struct sta_cursor records;
    struct sta_buffer translated = {0};
    struct sta_text path;
    int status = STA_OK;
    while (status == STA_OK && sta_counters_get_chunk(&in, &path, &records)) {
        char *ended = sta_strndup(path.bytes, path.length);
        sta_buffer_clear(&translated);
        status = put_records(codes, &records, &translated, err);
        sta_counters_put_chunk(out, ended, translated.data, translated.size);
        out->failed |= translated.failed;
        free(ended);
    }
    sta_buffer_fini(&translated);
    if (status == STA_OK && out->failed)
        status = sta_fail(err, STA_ENOMEM, "no memory for counter records");
    return status;
}

/* ---- granting */

/* The reply to a request. */
struct granting {
    struct sta_tables *tables;
    struct sta_cursor *in;
    struct sta_buffer *out;
    uint32_t *sources; /* by code of the unit */
    uint64_t source_count;
};

static void get_sources(struct granting *granting)
{
    const uint64_t count = sta_get_varint(granting->in);
    if (count > (uint64_t)(granting->in->end - granting->in->at))
        granting->in->failed = true;
    if (granting->in->failed)
        return;
    granting->sources = sta_alloc_array(count, sizeof *granting->sources);
    granting->source_count = count;
    for (uint64_t i = 0; i < count; i++) {
        size_t length;
        const char *path = sta_get_block(granting->in, &length);
        if (path != NULL)
            granting->sources[i] = sta_dictionary_intern(sta_tables_sources(granting->tables), path, length);
    }
}

/* Behind a hash stands the source that means it, by its code. */
static uint32_t intern_reference(const struct granting *granting, struct sta_dictionary *dictionary,
                                 const char *bytes, size_t length)
{
    const struct sta_reference_parts parts = sta_reference_split((struct sta_text){bytes, (uint32_t)length});
    if (!parts.hash || parts.source >= granting->source_count)
        return sta_dictionary_intern(dictionary, bytes, length);
    char *text = sta_strndup(bytes, length);
    for (size_t byte = 0; byte < STA_REFERENCE_SOURCE; byte++)
        text[length - STA_REFERENCE_SOURCE + byte] = (char)(granting->sources[parts.source] >> 8 * byte);
    const uint32_t code = sta_dictionary_intern(dictionary, text, length);
    free(text);
    return code;
}

static void grant_texts(const struct granting *granting, struct sta_dictionary *dictionary, bool references)
{
    for (uint64_t count = sta_get_varint(granting->in); count > 0 && !granting->in->failed; count--) {
        size_t length;
        const char *text = sta_get_block(granting->in, &length);
        if (text != NULL)
            sta_put_u32(granting->out, references ? intern_reference(granting, dictionary, text, length)
                                                  : sta_dictionary_intern(dictionary, text, length));
    }
}

static void grant_threads(const struct granting *granting)
{
    for (uint64_t count = sta_get_varint(granting->in); count > 0 && !granting->in->failed; count--) {
        size_t length = 0;
        struct sta_thread thread = {.pid = (int64_t)sta_get_u64(granting->in),
                                    .tid = (int64_t)sta_get_u64(granting->in)};
        const char *host = sta_get_block(granting->in, &length);
        thread.host = length > 0
                          ? intern_reference(granting, sta_tables_host_refs(granting->tables), host, length)
                          : STA_NO_CODE;
        sta_put_u32(granting->out, sta_tables_intern_thread(granting->tables, thread));
    }
}

static int grant_key(const struct granting *granting, uint32_t *code, struct sta_error *err)
{
    size_t length;
    const char *key = sta_get_block(granting->in, &length);
    *code = key != NULL ? sta_tables_intern_key(granting->tables, key, length) : 0;
    if (*code != STA_NO_CODE)
        return STA_OK;
    return sta_fail(
        err, STA_ELIMIT,
        "the files have more than %d distinct args keys together: one process alone can read them",
        STA_ARGS_KEYS_LIMIT);
}

/* Of keys themselves, or of the values that come behind each. */
static int grant_keys(const struct granting *granting, bool values, struct sta_error *err)
{
    int status = STA_OK;
    for (uint64_t count = sta_get_varint(granting->in);
         count > 0 && !granting->in->failed && status == STA_OK; count--) {
        uint32_t code;
        status = grant_key(granting, &code, err);
        if (!values)
            sta_put_u32(granting->out, code);
        else if (status == STA_OK && !granting->in->failed)
            grant_texts(granting, sta_tables_values(granting->tables, code), false);
    }
    return status;
}

int sta_codes_grant(struct sta_tables *tables, struct sta_cursor *request, struct sta_buffer *reply,
                    struct sta_error *err)
{
    struct granting granting = {.tables = tables, .in = request, .out = reply};
    get_sources(&granting);
    grant_texts(&granting, sta_tables_names(tables), false);
    grant_texts(&granting, sta_tables_cats(tables), false);
    grant_texts(&granting, sta_tables_file_refs(tables), true);
    grant_threads(&granting);
    int status = grant_keys(&granting, false, err);
    if (status == STA_OK)
        status = grant_keys(&granting, true, err);
    free(granting.sources);
    if (status == STA_OK && (request->failed || request->at != request->end))
        status = sta_fail(err, STA_ECORRUPT, "a request for codes makes no sense");
    if (status == STA_OK && reply->failed)
        status = sta_fail(err, STA_ENOMEM, "no memory to grant codes");
    return status == STA_OK ? sta_tables_failure(tables, err) : status;
}

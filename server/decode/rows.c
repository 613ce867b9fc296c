/* Records into rows.
 *
 * Texts become codes through small memories of this thread, so that the shared dictionaries are asked only
 * for what was not seen lately: of a host, a category or a thread the last one is nearly always the next
 * one. */
#include "decode/rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/lower_case.h"
#include "common/memory.h"
#include "common/number.h"
#include "decode/arg_values.h"
#include "decode/json_text.h"
#include "decode/template_path.h"

#define STACK_BYTES 512 /* of a category in lower case, or of a reference; longer ones are allocated */
#define THREADS 1024    /* remembered; a power of two */

struct known_thread {
    struct sta_thread thread;
    uint32_t code;
    bool used;
};

struct last_value {
    char text[120];
    uint32_t length, code;   /* length 0: nothing yet */
    enum sta_reference kind; /* of a reference */
};

struct sta_rows {
    struct sta_tables *tables;
    const char *path; /* of the source whose lines these are */
    uint32_t source;  /* its code */
    struct sta_dictionary_cache names, cats, file_refs, host_refs;
    struct known_thread threads[THREADS];
    struct last_value last_cat, last_host, last_file;
    uint32_t reserved[STA_RESERVED_COUNT];        /* codes of the keys that mean something */
    uint8_t reserved_of_key[STA_ARGS_KEYS_LIMIT]; /* 1 + enum sta_reserved_key, 0: none */
    struct sta_arg_values *args;
};

struct sta_rows *sta_rows_create(struct sta_tables *tables)
{
    static const char *const reserved_keys[] = {
#define X(key) #key,
        STA_RESERVED_KEYS(X)
#undef X
    };
    struct sta_rows *rows = sta_alloc(sizeof *rows);
    rows->tables = tables;
    rows->args = sta_arg_values_create(tables);
    rows->source = STA_NO_CODE;
    sta_dictionary_cache_init(&rows->names, sta_tables_names(tables));
    sta_dictionary_cache_init(&rows->cats, sta_tables_cats(tables));
    sta_dictionary_cache_init(&rows->file_refs, sta_tables_file_refs(tables));
    sta_dictionary_cache_init(&rows->host_refs, sta_tables_host_refs(tables));
    for (size_t i = 0; i < STA_RESERVED_COUNT; i++) {
        rows->reserved[i] = sta_tables_intern_key(tables, reserved_keys[i], strlen(reserved_keys[i]));
        if (rows->reserved[i] != STA_NO_CODE)
            rows->reserved_of_key[rows->reserved[i]] = (uint8_t)(i + 1);
    }
    return rows;
}

void sta_rows_destroy(struct sta_rows *rows)
{
    sta_arg_values_destroy(rows->args);
    free(rows);
}

void sta_rows_begin(struct sta_rows *rows, struct sta_batch *batch, const char *path)
{
    rows->path = path;
    uint32_t source = sta_dictionary_intern(sta_tables_sources(rows->tables), path, strlen(path));
    if (source != rows->source) /* hashes that are remembered are of the source before */
        rows->last_host.length = rows->last_file.length = 0;
    rows->source = source;
    sta_arg_values_begin(rows->args, batch);
}

void sta_rows_end(struct sta_rows *rows, const struct sta_batch *batch)
{
    sta_arg_values_end(rows->args, batch);
}

uint32_t sta_rows_column(struct sta_rows *rows, struct sta_batch *batch, uint32_t key)
{
    return sta_arg_values_column(rows->args, batch, key);
}

/* ---- codes of texts */

/* Of most hashes two halves are compared, which overlap: a fixed size needs no call. */
static inline bool same_bytes(const char *a, const char *b, uint32_t length)
{
    if (length < 16 || length > 32)
        return memcmp(a, b, length) == 0;
    return memcmp(a, b, 16) == 0 && memcmp(a + length - 16, b + length - 16, 16) == 0;
}

static inline bool remembers(const struct last_value *known, const char *text, uint32_t length)
{
    return known->length == length && length > 0 && same_bytes(known->text, text, length);
}

static void remember(struct last_value *known, const char *text, uint32_t length, uint32_t code,
                     enum sta_reference kind)
{
    known->kind = kind;
    known->length = length <= sizeof known->text ? length : 0;
    memcpy(known->text, text, known->length);
    known->code = code;
}

static uint32_t name_code(struct sta_rows *rows, const struct sta_json_value *value)
{
    char buffer[STA_DOUBLE_TEXT];
    uint32_t length;
    const char *text = sta_json_as_text(value, &length, buffer);
    return text == NULL ? STA_NO_CODE : sta_dictionary_cache_intern(&rows->names, text, length);
}

static uint32_t cat_code(struct sta_rows *rows, const struct sta_json_value *value)
{
    char buffer[STA_DOUBLE_TEXT];
    char stack[STACK_BYTES];
    uint32_t length;
    const char *text = sta_json_as_text(value, &length, buffer);
    if (text == NULL)
        return STA_NO_CODE;
    if (remembers(&rows->last_cat, text, length))
        return rows->last_cat.code;
    size_t bytes_needed = STA_LOWER_CASE_CAPACITY(length);
    char *lower = bytes_needed <= sizeof stack ? stack : sta_alloc(bytes_needed);
    size_t lower_length = sta_lower_case(text, length, lower);
    uint32_t code = sta_dictionary_cache_intern(&rows->cats, lower, lower_length);
    if (lower != stack)
        free(lower);
    remember(&rows->last_cat, text, length, code, 0);
    return code;
}

static bool is_there(const struct sta_json_value *value)
{
    return value->kind != STA_JSON_ABSENT && value->kind != STA_JSON_NULL;
}

/* A reference is its kind, one char, and its text; of a hash then the source. */
static uint32_t intern_reference(const struct sta_rows *rows, struct sta_dictionary_cache *cache,
                                 enum sta_reference kind, const char *text, uint32_t length)
{
    char stack[STACK_BYTES];
    size_t size = 1 + (size_t)length + (kind == STA_REFERENCE_HASH ? STA_REFERENCE_SOURCE : 0);
    char *whole = size <= sizeof stack ? stack : sta_alloc(size);
    whole[0] = (char)kind;
    memcpy(whole + 1, text, length);
    memcpy(whole + 1 + length, &rows->source, size - 1 - length);
    uint32_t code = sta_dictionary_cache_intern(cache, whole, size);
    if (whole != stack)
        free(whole);
    return code;
}

static __attribute__((noinline)) uint32_t
other_reference_code(const struct sta_rows *rows, struct sta_dictionary_cache *cache, struct last_value *last,
                     const struct sta_json_value *value, enum sta_reference kind)
{
    char buffer[STA_DOUBLE_TEXT];
    uint32_t length;
    const char *text = sta_json_as_text(value, &length, buffer);
    uint32_t code = intern_reference(rows, cache, kind, text, length);
    remember(last, text, length, code, kind);
    return code;
}

/* @last: among the references of this cache */
static uint32_t value_reference(const struct sta_rows *rows, struct sta_dictionary_cache *cache,
                                struct last_value *last, const struct sta_json_value *value,
                                enum sta_reference kind)
{
    bool as_is = value->kind == STA_JSON_BIG || value->kind == STA_JSON_STRING;
    return as_is && kind == last->kind && remembers(last, value->text, value->length)
               ? last->code
               : other_reference_code(rows, cache, last, value, kind);
}

static uint32_t reference_code(const struct sta_rows *rows, struct sta_dictionary_cache *cache,
                               struct last_value *last, const struct sta_record *record,
                               struct sta_referring_arg referring)
{
    return referring.arg == STA_NO_ARG
               ? STA_NO_CODE
               : value_reference(rows, cache, last, &record->args[referring.arg].value, referring.kind);
}

static __attribute__((noinline)) int64_t unusual_id(const struct sta_json_value *value)
{
    int64_t id;
    double number;
    if (value->kind == STA_JSON_STRING && sta_parse_int(value->text, value->length, &id))
        return id;
    if (value->kind == STA_JSON_NUMBER && sta_parse_double(value->text, value->length, &number) &&
        number > -9e18 && number < 9e18 && number == (double)(int64_t)number)
        return (int64_t)number;
    return STA_NO_ID;
}

static inline int64_t id_of(const struct sta_json_value *value)
{
    return value->kind == STA_JSON_INT ? value->integer : unusual_id(value);
}

static uint32_t thread_code(struct sta_rows *rows, int64_t pid, int64_t tid, uint32_t host)
{
    uint64_t mixed = ((uint64_t)pid * 31 + (uint64_t)tid) * UINT64_C(0x9e3779b97f4a7c15) + host;
    struct known_thread *known = &rows->threads[(mixed >> 40) % THREADS];
    if (known->used && known->thread.pid == pid && known->thread.tid == tid && known->thread.host == host)
        return known->code;
    known->thread = (struct sta_thread){.pid = pid, .tid = tid, .host = host};
    known->code = sta_tables_intern_thread(rows->tables, known->thread);
    known->used = true;
    return known->code;
}

/* ---- events */

struct reserved_args {
    uint32_t args[STA_RESERVED_COUNT]; /* which of the record's; STA_NO_ARG: absent or null */
    bool null;                         /* one of them is null */
};

static struct reserved_args find_reserved(const struct sta_rows *rows, const struct sta_record *record)
{
    struct reserved_args reserved = {.null = false};
    for (size_t i = 0; i < STA_RESERVED_COUNT; i++)
        reserved.args[i] = STA_NO_ARG;
    for (uint32_t i = 0; i < record->arg_count; i++) {
        unsigned which = rows->reserved_of_key[record->args[i].key];
        if (which == 0)
            continue;
        if (is_there(&record->args[i].value))
            reserved.args[which - 1] = i;
        else
            reserved.null = true;
    }
    return reserved;
}

static const char *event_times(const struct sta_record *record, struct sta_time *ts, struct sta_time *dur)
{
    static const char *const of_ts[] = {NULL, "ts is missing", "ts is not a number", "ts is out of range"};
    static const char *const of_dur[] = {NULL, "dur is missing", "dur is not a number",
                                         "dur is out of range"};
    *ts = record->ts;
    *dur = record->dur;
    const char *reason = record->timed ? NULL : of_ts[sta_time_parse(&record->fields[STA_FIELD_ts], ts)];
    if (reason == NULL && !record->timed)
        reason = of_dur[sta_time_parse(&record->fields[STA_FIELD_dur], dur)];
    if (reason == NULL && dur->us < 0)
        reason = "dur is negative";
    if (reason == NULL && ts->us + dur->us > STA_TIME_LIMIT - 1)
        reason = "the end, ts + dur, is out of range";
    return reason;
}

static void set_times(struct sta_batch *batch, struct sta_time ts, struct sta_time dur)
{
    uint32_t row = batch->count;
    batch->ts[row] = ts.us;
    batch->dur[row] = dur.us;
    if (ts.ns != 0 || dur.ns != 0)
        sta_batch_need_fractions(batch);
    if (batch->ts_ns != NULL) {
        batch->ts_ns[row] = ts.ns;
        batch->dur_ns[row] = dur.ns;
    }
}

/* The first of the keys that is there. */
static struct sta_referring_arg referring(const struct reserved_args *reserved,
                                          const enum sta_reserved_key *keys, size_t count)
{
    static const enum sta_reference reference_kinds[STA_RESERVED_COUNT] = {
        [STA_RESERVED_fhash] = STA_REFERENCE_HASH,        [STA_RESERVED_fname] = STA_REFERENCE_NAME,
        [STA_RESERVED_filename] = STA_REFERENCE_FILENAME, [STA_RESERVED_hhash] = STA_REFERENCE_HASH,
        [STA_RESERVED_hostname] = STA_REFERENCE_NAME,
    };
    for (size_t i = 0; i < count; i++)
        if (reserved->args[keys[i]] != STA_NO_ARG)
            return (struct sta_referring_arg){reserved->args[keys[i]], reference_kinds[keys[i]]};
    return (struct sta_referring_arg){STA_NO_ARG, STA_REFERENCE_HASH};
}

static void plan_references(const struct sta_rows *rows, const struct sta_record *record,
                            struct sta_event_plan *plan)
{
    static const enum sta_reserved_key file_keys[] = {STA_RESERVED_fhash, STA_RESERVED_fname,
                                                      STA_RESERVED_filename};
    static const enum sta_reserved_key host_keys[] = {STA_RESERVED_hhash, STA_RESERVED_hostname};
    struct reserved_args reserved = find_reserved(rows, record);
    plan->file = referring(&reserved, file_keys, STA_COUNT_OF(file_keys));
    plan->host = referring(&reserved, host_keys, STA_COUNT_OF(host_keys));
    plan->known = !reserved.null; /* or it would hide what other lines of this template refer to */
}

static bool refers(const struct sta_record *record, struct sta_referring_arg referring)
{
    return referring.arg == STA_NO_ARG || is_there(&record->args[referring.arg].value);
}

/* The next args that are neither file nor host, from *at on.  Return: how many. */
static unsigned list_stored(struct sta_rows *rows, const struct sta_record *record,
                            const struct sta_event_plan *plan, struct sta_batch *batch, uint32_t *at,
                            struct sta_stored_arg stored[STA_LAYOUT_ITEMS])
{
    unsigned count = 0;
    for (; *at < record->arg_count && count < STA_LAYOUT_ITEMS; ++*at)
        if (*at != plan->file.arg && *at != plan->host.arg)
            stored[count++] = (struct sta_stored_arg){
                *at, (uint16_t)sta_arg_values_column(rows->args, batch, record->args[*at].key)};
    return count;
}

/* The plan for an event: that of its template, but for a line in which a null stands where others refer to
 * something. */
static const struct sta_event_plan *plan_for(struct sta_rows *rows, const struct sta_record *record,
                                             struct sta_batch *batch, struct sta_event_plan *own)
{
    struct sta_event_plan *of_template = record->plan;
    bool known = of_template != NULL && of_template->known;
    if (known && refers(record, of_template->file) && refers(record, of_template->host))
        return of_template;
    own->name = known ? of_template->name : name_code(rows, &record->fields[STA_FIELD_name]);
    own->cat = known ? of_template->cat : cat_code(rows, &record->fields[STA_FIELD_cat]);
    own->stored_count = 0;
    plan_references(rows, record, own);
    if (of_template == NULL || known || !own->known)
        return own;
    uint32_t at = 0;
    own->stored_count = list_stored(rows, record, own, batch, &at, own->stored);
    *of_template = *own;
    return of_template;
}

static void add_args(struct sta_rows *rows, const struct sta_record *record,
                     const struct sta_event_plan *plan, struct sta_batch *batch)
{
    struct sta_stored_arg stored[STA_LAYOUT_ITEMS];
    if (plan == record->plan) {
        sta_arg_values_add(rows->args, batch, record->args, plan->stored, plan->stored_count);
        return;
    }
    for (uint32_t at = 0; at < record->arg_count;) {
        const unsigned count = list_stored(rows, record, plan, batch, &at, stored);
        sta_arg_values_add(rows->args, batch, record->args, stored, count);
    }
}

static enum sta_record_class add_event(struct sta_rows *rows, const struct sta_record *record,
                                       struct sta_batch *batch, const char **reason)
{
    struct sta_time ts;
    struct sta_time dur;
    *reason = event_times(record, &ts, &dur);
    if (*reason != NULL)
        return STA_RECORD_MALFORMED;
    if (batch->count == batch->capacity)
        sta_batch_reserve(batch, batch->count + 1);
    uint32_t row = batch->count;
    struct sta_event_plan own;
    const struct sta_event_plan *plan = plan_for(rows, record, batch, &own);
    uint32_t host = reference_code(rows, &rows->host_refs, &rows->last_host, record, plan->host);
    set_times(batch, ts, dur);
    batch->name[row] = plan->name;
    batch->cat[row] = plan->cat;
    batch->file[row] = reference_code(rows, &rows->file_refs, &rows->last_file, record, plan->file);
    batch->thread[row] =
        thread_code(rows, id_of(&record->fields[STA_FIELD_pid]), id_of(&record->fields[STA_FIELD_tid]), host);
    add_args(rows, record, plan, batch);
    batch->count++;
    return STA_RECORD_EVENT;
}

/* ---- events of a path */

/* Times and ids are plain integers; file and host are there. */
static bool is_usual(const struct sta_template_path *path)
{
    const int64_t ts = path->values[path->ts].integer, dur = path->values[path->dur].integer;
    return (path->others & path->usual) == 0 && ts <= STA_TIME_LIMIT && dur <= STA_TIME_LIMIT &&
           ts + dur < STA_TIME_LIMIT;
}

static inline uint32_t path_reference(const struct sta_rows *rows, struct sta_dictionary_cache *cache,
                                      struct last_value *last, const struct sta_template_path *path,
                                      unsigned step, enum sta_reference kind)
{
    if (step == STA_NO_STEP)
        return STA_NO_CODE;
    const struct sta_path_value *of = &path->values[step];
    if (path->hashes >> step & 1 && !sta_path_has_other(path, step) && last->kind == kind &&
        remembers(last, of->text, of->predicted))
        return last->code;
    const struct sta_json_value value = sta_path_value(path, step);
    return value_reference(rows, cache, last, &value, kind);
}

bool sta_rows_add_path(struct sta_rows *rows, const struct sta_template_path *path, struct sta_batch *batch)
{
    const struct sta_path_value *values = path->values;
    if (!is_usual(path))
        return false;
    if (batch->count == batch->capacity)
        sta_batch_reserve(batch, batch->count + 1);
    const uint32_t row = batch->count;
    set_times(batch, (struct sta_time){.us = values[path->ts].integer},
              (struct sta_time){.us = values[path->dur].integer});
    batch->name[row] = path->name;
    batch->cat[row] = path->cat;
    batch->file[row] =
        path_reference(rows, &rows->file_refs, &rows->last_file, path, path->file, path->file_kind);
    const uint32_t host =
        path_reference(rows, &rows->host_refs, &rows->last_host, path, path->host, path->host_kind);
    batch->thread[row] = thread_code(rows, values[path->pid].integer, values[path->tid].integer, host);
    sta_arg_values_add_path(rows->args, batch, path);
    batch->count++;
    return true;
}

/* ---- metadata */

static const struct sta_json_value *reserved_value(const struct sta_record *record,
                                                   const struct reserved_args *reserved,
                                                   enum sta_reserved_key key)
{
    return reserved->args[key] == STA_NO_ARG ? NULL : &record->args[reserved->args[key]].value;
}

static void define(struct sta_rows *rows, enum sta_definition_kind kind, const struct sta_json_value *key,
                   const struct sta_json_value *name, uint64_t line)
{
    char key_buffer[STA_DOUBLE_TEXT];
    char name_buffer[STA_DOUBLE_TEXT];
    uint32_t key_length;
    struct sta_definition definition = {.path = rows->path, .line = line};
    const char *text = sta_json_as_text(key, &key_length, key_buffer);
    if (name != NULL)
        definition.text = sta_json_as_text(name, &definition.length, name_buffer);
    sta_tables_define(rows->tables, kind, text, key_length, &definition);
}

static void add_metadata(struct sta_rows *rows, const struct sta_record *record, uint64_t line)
{
    const struct sta_json_value *name = &record->fields[STA_FIELD_name];
    if (name->kind != STA_JSON_STRING || name->length != 2 || name->text[1] != 'H')
        return;
    struct reserved_args reserved = find_reserved(rows, record);
    const struct sta_json_value *value = reserved_value(record, &reserved, STA_RESERVED_value);
    const struct sta_json_value *own = reserved_value(record, &reserved, STA_RESERVED_hhash);
    const struct sta_json_value *text = reserved_value(record, &reserved, STA_RESERVED_name);
    if (name->text[0] == 'F' && value != NULL)
        define(rows, STA_DEFINES_FILE, value, text, line);
    if (name->text[0] == 'H' && (own != NULL || value != NULL))
        define(rows, STA_DEFINES_HOST, own != NULL ? own : value, text, line);
}

enum sta_record_class sta_rows_add(struct sta_rows *rows, const struct sta_record *record, uint64_t line,
                                   struct sta_batch *batch, const char **reason)
{
    if (record->plan != NULL && record->plan->known)
        return add_event(rows, record, batch, reason);
    const struct sta_json_value *ph = &record->fields[STA_FIELD_ph];
    char phase = ph->kind == STA_JSON_STRING && ph->length == 1 ? ph->text[0] : '\0';
    switch (phase) {
    case 'X':
        return add_event(rows, record, batch, reason);
    case 'M':
        add_metadata(rows, record, line);
        return STA_RECORD_METADATA;
    case 'C':
        return STA_RECORD_COUNTER;
    default:
        return STA_RECORD_OTHER;
    }
}

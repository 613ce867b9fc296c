/* The logical columns of a snapshot: schema, and the tables from codes of the store to values. */
#include <stdlib.h>
#include <string.h>

#include "analyse/sources/columns_private.h"
#include "analyse/layers/conditions.h"
#include "analyse/layers/presets.h"
#include "common/memory.h"
#include "common/number.h"

/* ---- functions and categories */

static bool classify_functions(struct sta_columns *columns)
{
    const struct sta_dictionary *names = sta_tables_names(columns->tables);
    const struct sta_dictionary *cats = sta_tables_cats(columns->tables);
    columns->name_count = sta_dictionary_count(names);
    columns->cat_count = sta_dictionary_count(cats);
    columns->class_of_name = sta_try_alloc_array((size_t)columns->name_count + 1, 1);
    columns->is_transfer = sta_try_alloc_array((size_t)columns->name_count + 1, 1);
    columns->has_classes = sta_try_alloc_array((size_t)columns->cat_count + 1, 1);
    columns->lacks_classes = sta_try_alloc_array((size_t)columns->cat_count + 1, 1);
    if (columns->class_of_name == NULL || columns->is_transfer == NULL || columns->has_classes == NULL ||
        columns->lacks_classes == NULL)
        return false;
    columns->class_of_name[0] = STA_IO_OTHER;
    columns->is_transfer[0] = columns->has_classes[0] = 0;
    columns->lacks_classes[0] = 1;
    for (uint32_t code = 0; code < columns->name_count; code++) {
        struct sta_text name = sta_dictionary_text(names, code);
        uint8_t class = columns->presets != NULL
                            ? (uint8_t)sta_presets_io_cat(columns->presets, name.bytes, name.length)
                            : STA_IO_OTHER;
        columns->class_of_name[code + 1] = class;
        columns->is_transfer[code + 1] = class == STA_IO_READ || class == STA_IO_WRITE;
    }
    for (uint32_t code = 0; code < columns->cat_count; code++) {
        struct sta_text cat = sta_dictionary_text(cats, code);
        columns->has_classes[code + 1] =
            columns->presets != NULL && sta_presets_is_io_category(columns->presets, cat.bytes, cat.length);
        columns->lacks_classes[code + 1] = !columns->has_classes[code + 1];
    }
    return true;
}

/* ---- positive integers of args */

static int64_t positive_of_text(struct sta_text text)
{
    int64_t value;
    return sta_integer_of_text(text, &value) && value > 0 ? value : 0;
}

static bool find_positive(struct sta_columns *columns, const char *key, struct sta_positive_source *source)
{
    source->key = sta_dictionary_find(sta_tables_keys(columns->tables), key, strlen(key));
    if (source->key == STA_NO_CODE)
        return true;
    const struct sta_dictionary *texts = sta_tables_values(columns->tables, source->key);
    uint32_t count = sta_dictionary_count(texts);
    source->of_text = sta_try_alloc_array((size_t)count + 1, sizeof *source->of_text);
    for (uint32_t code = 0; source->of_text != NULL && code < count; code++)
        source->of_text[code] = positive_of_text(sta_dictionary_text(texts, code));
    return source->of_text != NULL;
}

static bool find_positives(struct sta_columns *columns)
{
    static const char *const keys[STA_POSITIVES] = {
        [STA_POSITIVE_size_sum] = "size_sum", [STA_POSITIVE_ret] = "ret",
        [STA_POSITIVE_offset] = "offset",     [STA_POSITIVE_image_idx] = "image_idx",
        [STA_POSITIVE_step] = "step",         [STA_POSITIVE_epoch] = "epoch"};
    bool found = true;
    columns->positives[STA_POSITIVE_none].key = STA_NO_CODE;
    for (size_t i = 0; found && i < STA_POSITIVE_none; i++)
        found = find_positive(columns, keys[i], &columns->positives[i]);
    return found;
}

/* ---- process names */

static void put_id(char *out, size_t size, int64_t id)
{
    if (id == STA_NO_ID)
        snprintf(out, size, "None");
    else
        snprintf(out, size, "%lld", (long long)id);
}

static uint32_t intern_proc_name(struct sta_dictionary *texts, const struct sta_entities *entities,
                                 const struct sta_entity_thread *thread)
{
    char pid[STA_DOUBLE_TEXT], tid[STA_DOUBLE_TEXT];
    put_id(pid, sizeof pid, thread->pid);
    put_id(tid, sizeof tid, thread->tid);
    const char *host =
        thread->host == STA_NO_CODE ? "<NA>" : sta_dictionary_text(entities->hosts, thread->host).bytes;
    char *name = sta_sprintf("app#%s#%s#%s", host, pid, tid);
    uint32_t code = sta_dictionary_intern(texts, name, strlen(name));
    free(name);
    return code;
}

#define WHAT "names of processes"

/* By thread code + 1.  NULL: no memory. */
static uint32_t *create_proc_names(struct sta_dictionary *texts, const struct sta_entities *entities,
                                   struct sta_account *account)
{
    uint32_t *names =
        sta_account_alloc_sticky(account, (size_t)entities->thread_code_count + 1, sizeof *names, WHAT);
    uint32_t *of_index = sta_account_alloc_sticky(account, entities->thread_count, sizeof *of_index, WHAT);
    if (names == NULL || of_index == NULL) {
        sta_account_free(account, names);
        sta_account_free(account, of_index);
        return NULL;
    }
    for (uint32_t i = 0; i < entities->thread_count; i++)
        of_index[i] = intern_proc_name(texts, entities, &entities->threads[i]);
    names[0] = STA_NO_CODE;
    for (uint32_t code = 0; code < entities->thread_code_count; code++) {
        uint32_t index = entities->thread_of_code[code];
        names[code + 1] = index < entities->thread_count ? of_index[index] : STA_NO_CODE;
    }
    sta_account_free(account, of_index);
    return names;
}

const struct sta_proc_names *sta_columns_proc_names(struct sta_columns *columns)
{
    struct sta_proc_names *names = atomic_load_explicit(&columns->proc_names, memory_order_acquire);
    if (names != NULL)
        return names;
    pthread_mutex_lock(&columns->lock);
    names = atomic_load(&columns->proc_names);
    if (names == NULL) {
        const struct sta_entities *entities = columns->entities;
        names = sta_alloc(sizeof *names);
        names->texts = sta_dictionary_create_in(&columns->account);
        names->of_thread = create_proc_names(names->texts, entities, &columns->account);
        atomic_store_explicit(&columns->proc_names, names, memory_order_release);
    }
    pthread_mutex_unlock(&columns->lock);
    return names;
}

/* ---- the schema */

/* Times with nanoseconds: numbers of microseconds, and seconds, made from integers of nanoseconds. */
static void use_nanoseconds(struct sta_schema_column *schema)
{
    for (size_t i = 0; i < STA_TIMES; i++) {
        const struct sta_time_columns *time = &sta_time_columns[i];
        schema[time->us].type = STA_TYPE_FLOAT;
        schema[time->us].ticks_of = schema[time->s].ticks_of = schema[time->ticks].name;
        schema[time->us].ticks_per_unit = 1000;
        schema[time->s].ticks_per_unit = 1000000000;
    }
}

static bool make_schema(struct sta_columns *columns)
{
    size_t count = STA_LOGICAL_ARGS + columns->args_count;
    columns->schema_columns = sta_try_alloc_array(count, sizeof *columns->schema_columns);
    if (columns->schema_columns == NULL)
        return false;
    memcpy(columns->schema_columns, sta_standard_schema.columns,
           STA_LOGICAL_ARGS * sizeof *columns->schema_columns);
    if (columns->ticks_per_us > 1)
        use_nanoseconds(columns->schema_columns);
    for (size_t i = 0; i < columns->args_count; i++)
        columns->schema_columns[STA_LOGICAL_ARGS + i] =
            (struct sta_schema_column){.name = columns->args_names[i], .type = columns->args[i].type};
    columns->schema = (struct sta_schema){.columns = columns->schema_columns, .count = count};
    return true;
}

int sta_columns_create(struct sta_snapshot *snapshot, const struct sta_columns_options *options,
                       struct sta_columns **columns, struct sta_error *err)
{
    struct sta_columns *fresh = sta_alloc(sizeof *fresh);
    sta_account_init_part(&fresh->account, sta_snapshot_account(snapshot));
    fresh->snapshot = snapshot;
    fresh->tables = sta_snapshot_tables(snapshot);
    fresh->entities = sta_snapshot_entities(snapshot);
    int64_t traced = sta_snapshot_info(snapshot)->ticks_per_us;
    fresh->ticks_per_us = options->nanoseconds ? 1000 : traced;
    fresh->scale = fresh->ticks_per_us / traced;
    fresh->presets = options->presets;
    fresh->unzeroed = options->unzeroed;
    fresh->key_count = sta_dictionary_count(sta_tables_keys(fresh->tables));
    fresh->trace = sta_dictionary_create();
    pthread_mutex_init(&fresh->lock, NULL);
    if (options->trace != NULL)
        sta_dictionary_intern(fresh->trace, options->trace, strlen(options->trace));
    int status = STA_OK;
    if (options->preset != NULL)
        status = sta_refiner_create(options->preset, snapshot, &fresh->account, &fresh->refiner, err);
    if (status == STA_OK && !(classify_functions(fresh) && find_positives(fresh) &&
                              sta_columns_find_args(fresh) && make_schema(fresh)))
        status = sta_fail(err, STA_ENOMEM, "no memory for the columns of the trace");
    if (status != STA_OK) {
        sta_columns_destroy(fresh);
        fresh = NULL;
    }
    *columns = fresh;
    return status;
}

static void destroy_proc_names(struct sta_proc_names *names, struct sta_account *account)
{
    if (names == NULL)
        return;
    sta_dictionary_destroy(names->texts);
    sta_account_free(account, names->of_thread);
    free(names);
}

void sta_columns_destroy(struct sta_columns *columns)
{
    if (columns == NULL)
        return;
    for (size_t i = 0; i < columns->args_count; i++) {
        sta_args_source_fini(&columns->args[i]);
        free(columns->args_names[i]);
    }
    for (size_t i = 0; i < STA_POSITIVES; i++)
        free(columns->positives[i].of_text);
    destroy_proc_names(atomic_load(&columns->proc_names), &columns->account);
    sta_refiner_destroy(columns->refiner);
    sta_dictionary_destroy(columns->trace);
    pthread_mutex_destroy(&columns->lock);
    free(columns->args);
    free(columns->args_names);
    free(columns->schema_columns);
    free(columns->class_of_name);
    free(columns->is_transfer);
    free(columns->has_classes);
    free(columns->lacks_classes);
    sta_account_close(&columns->account);
    free(columns);
}

const struct sta_schema *sta_columns_schema(const struct sta_columns *columns)
{
    return &columns->schema;
}

struct sta_snapshot *sta_columns_snapshot(const struct sta_columns *columns)
{
    return columns->snapshot;
}

struct sta_refiner *sta_columns_refiner(const struct sta_columns *columns)
{
    return columns->refiner;
}

struct sta_account *sta_columns_account(const struct sta_columns *columns)
{
    return &((struct sta_columns *)columns)->account;
}

int sta_columns_failure(const struct sta_columns *columns, struct sta_error *err)
{
    const int status = sta_account_failure(&columns->account, err);
    return status == STA_OK ? sta_tables_failure(columns->tables, err) : status;
}

unsigned sta_columns_class_of(const struct sta_columns *columns, uint32_t name, uint32_t cat)
{
    return sta_columns_io_cat(columns, name, cat);
}

/* Those of the tables may be left for later. */
static const struct sta_dictionary *texts_of_args(const struct sta_columns *columns,
                                                  const struct sta_args_source *source)
{
    struct sta_error err = STA_ERROR_INIT;
    if (sta_dictionary_make(source->texts, &err) != STA_OK)
        sta_account_fail(sta_columns_account(columns), &err);
    return source->texts;
}

const struct sta_dictionary *sta_columns_texts(const struct sta_columns *columns, uint32_t column)
{
    STA_ASSERT(column < columns->schema.count && columns->schema_columns[column].type == STA_TYPE_TEXT);
    switch (column) {
    case STA_LOGICAL_func_name:
        return sta_tables_names(columns->tables);
    case STA_LOGICAL_cat:
        return columns->refiner != NULL ? columns->refiner->cats : sta_tables_cats(columns->tables);
    case STA_LOGICAL_host_name:
        return columns->entities->hosts;
    case STA_LOGICAL_file_name:
        return columns->entities->files;
    case STA_LOGICAL_proc_name:
        return sta_columns_proc_names((struct sta_columns *)columns)->texts;
    case STA_LOGICAL_trace:
        return columns->trace;
    default:
        return texts_of_args(columns, &columns->args[column - STA_LOGICAL_ARGS]);
    }
}

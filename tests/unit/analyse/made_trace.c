/* made_trace.c - see made_trace.h. */
#include "made_trace.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/memory.h"

static uint32_t intern(struct sta_dictionary *dictionary, const char *text)
{
    return text != NULL ? sta_dictionary_intern(dictionary, text, strlen(text)) : STA_NO_CODE;
}

static uint32_t reference(struct sta_dictionary *dictionary, const char *text)
{
    if (text == NULL)
        return STA_NO_CODE;
    char *said = sta_sprintf("%c%s", STA_REFERENCE_NAME, text);
    uint32_t code = intern(dictionary, said);
    free(said);
    return code;
}

static struct sta_args_column *args_column(struct sta_batch *batch, uint32_t key)
{
    for (uint32_t i = 0; i < batch->args_count; i++)
        if (batch->args[i].key == key)
            return &batch->args[i];
    batch->args = sta_realloc_array(batch->args, batch->args_count + 1, sizeof *batch->args);
    batch->args_capacity = ++batch->args_count;
    batch->args[batch->args_count - 1] = (struct sta_args_column){.key = key};
    return &batch->args[batch->args_count - 1];
}

static void add_arg(struct sta_batch *batch, struct sta_tables *tables, const struct made_arg *arg)
{
    uint32_t key = sta_tables_intern_key(tables, arg->key, strlen(arg->key));
    struct sta_args_column *column = args_column(batch, key);
    enum sta_value_kind kind = arg->text != NULL ? STA_VALUE_TEXT : STA_VALUE_INT;
    union sta_value value = {.integer = arg->integer};
    if (arg->text != NULL)
        value = (union sta_value){.code = intern(sta_tables_values(tables, key), arg->text)};
    uint32_t capacity = column->count + 1;
    column->rows = sta_realloc_array(column->rows, capacity, sizeof *column->rows);
    column->kinds = sta_realloc_array(column->kinds, capacity, sizeof *column->kinds);
    column->values = sta_realloc_array(column->values, capacity, sizeof *column->values);
    column->capacity = capacity;
    column->rows[column->count] = batch->count;
    column->kinds[column->count] = (uint8_t)kind;
    column->values[column->count++] = value;
    sta_tables_note_kinds(tables, key, 1u << kind);
}

static void add_event(struct sta_batch *batch, struct sta_tables *tables, const struct made_event *event)
{
    sta_batch_reserve(batch, batch->count + 1);
    struct sta_thread thread = {event->pid, event->tid, reference(sta_tables_host_refs(tables), event->host)};
    batch->ts[batch->count] = event->ts;
    batch->dur[batch->count] = event->dur;
    batch->name[batch->count] = intern(sta_tables_names(tables), event->name);
    batch->cat[batch->count] = intern(sta_tables_cats(tables), event->cat);
    batch->file[batch->count] = reference(sta_tables_file_refs(tables), event->file);
    batch->thread[batch->count] = sta_tables_intern_thread(tables, thread);
    for (size_t a = 0; a < STA_COUNT_OF(event->args) && event->args[a].key != NULL; a++)
        add_arg(batch, tables, &event->args[a]);
    batch->count++;
}

static uint32_t source_number(struct sta_writer *writer, const char *path)
{
    uint32_t number;
    return sta_writer_find_source(writer, path, &number) ? number : sta_writer_add_source(writer, path);
}

static void write_events(struct sta_writer *writer, const struct made_event *events, size_t count,
                         uint32_t chunk_rows, unsigned workers)
{
    struct sta_error err = STA_ERROR_INIT;
    unsigned chunk = 0;
    uint64_t line = 1;
    for (size_t at = 0; at < count; chunk++) {
        struct sta_batch batch;
        sta_batch_init(&batch);
        uint32_t source = source_number(writer, events[at].source);
        batch.first_line = line;
        const char *path = events[at].source;
        while (at < count && batch.count < chunk_rows && strcmp(events[at].source, path) == 0)
            add_event(&batch, sta_writer_tables(writer), &events[at++]);
        line = at < count && strcmp(events[at].source, path) == 0 ? line + batch.count : 1;
        cr_assert_eq(sta_writer_add(writer, chunk % workers, source, &batch, &err), 0, "%s", err.text);
        sta_batch_fini(&batch);
    }
}

void made_trace_init(struct made_trace *trace, const struct made_event *events, size_t count,
                     uint32_t chunk_rows, unsigned workers)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry = {.path = sta_strdup("/made"), .name = sta_strdup("made")};
    struct sta_writer_options options = {.workers = workers, .memory = (size_t)64 << 20};
    struct sta_writer *writer;
    unsigned cleaned;
    snprintf(trace->folder, sizeof trace->folder, "/tmp/strata-made-XXXXXX");
    cr_assert_not_null(mkdtemp(trace->folder));
    cr_assert_eq(sta_store_open(trace->folder, &trace->store, &cleaned, &err), 0, "%s", err.text);
    cr_assert_eq(sta_store_add(trace->store, &entry, &err), 0, "%s", err.text);
    cr_assert_eq(sta_writer_begin(trace->store, entry.id, NULL, NULL, &options, &writer, &err), 0, "%s",
                 err.text);
    write_events(writer, events, count, chunk_rows, workers);
    cr_assert_eq(sta_writer_publish(writer, &err), 0, "%s", err.text);
    cr_assert_eq(sta_snapshot_open(trace->store, entry.id, &trace->snapshot, &err), 0, "%s", err.text);
    sta_trace_entry_fini(&entry);
}

void made_trace_fini(struct made_trace *trace)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_snapshot_release(trace->snapshot);
    sta_store_close(trace->store);
    cr_assert_eq(sta_tree_remove(trace->folder, &err), 0, "%s", err.text);
}

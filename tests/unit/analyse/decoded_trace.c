/* decoded_trace.c - see decoded_trace.h. */
#include "decoded_trace.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/memory.h"
#include "decode/decode.h"

#define WORKERS 3

static struct sta_writer *begin(struct decoded_trace *trace, struct sta_trace_entry *entry)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer_options options = {.workers = WORKERS, .memory = (size_t)64 << 20};
    struct sta_writer *writer;
    unsigned cleaned;
    snprintf(trace->folder, sizeof trace->folder, "/tmp/strata-decoded-XXXXXX");
    cr_assert_not_null(mkdtemp(trace->folder));
    *entry = (struct sta_trace_entry){.path = sta_strdup("/decoded"), .name = sta_strdup("decoded")};
    cr_assert_eq(sta_store_open(trace->folder, &trace->store, &cleaned, &err), 0, "%s", err.text);
    cr_assert_eq(sta_store_add(trace->store, entry, &err), 0, "%s", err.text);
    cr_assert_eq(sta_writer_begin(trace->store, entry->id, NULL, NULL, &options, &writer, &err), 0, "%s",
                 err.text);
    return writer;
}

static void publish(struct decoded_trace *trace, struct sta_writer *writer, struct sta_trace_entry *entry)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_writer_publish(writer, &err), 0, "%s", err.text);
    cr_assert_eq(sta_snapshot_open(trace->store, entry->id, &trace->snapshot, &err), 0, "%s", err.text);
    sta_trace_entry_fini(entry);
}

void decoded_trace_init(struct decoded_trace *trace, const char *text)
{
    struct sta_trace_entry entry;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer = begin(trace, &entry);
    struct sta_batch batch;
    sta_batch_init(&batch);
    uint32_t source = sta_writer_add_source(writer, "a.pfw");
    sta_decode_memory(text, strlen(text), STA_DECODE_BOTH, sta_writer_tables(writer),
                      sta_writer_source(writer, source), &batch);
    cr_assert_eq(sta_writer_source(writer, source)->counts.malformed, 0);
    cr_assert_eq(sta_writer_add(writer, 0, source, &batch, &err), 0, "%s", err.text);
    sta_batch_fini(&batch);
    publish(trace, writer, &entry);
}

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    return sta_writer_add(context, worker, batch->source, batch,
                          err); /* sources were added in the order of the files */
}

static void decode_folder(struct sta_writer *writer, const char *folder)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_listing listing;
    struct sta_roots *roots;
    struct sta_decode_progress progress = {0};
    cr_assert_eq(sta_roots_create((const char *const[]){"/"}, 1, &roots, &err), 0, "%s", err.text);
    cr_assert_eq(sta_listing_create(&listing, roots, folder, NULL, &err), 0, "%s", err.text);
    struct sta_decode_file *files = sta_alloc_array(listing.count, sizeof *files);
    for (size_t i = 0; i < listing.count; i++) {
        uint32_t number = sta_writer_add_source(writer, listing.files[i].path);
        files[i] = (struct sta_decode_file){.file = sta_path_join(folder, listing.files[i].path),
                                            .source = sta_writer_source(writer, number)};
    }
    struct sta_decode_request request = {.roots = roots,
                                         .kind = STA_TRACE_EVENTS,
                                         .files = files,
                                         .file_count = listing.count,
                                         .tables = sta_writer_tables(writer),
                                         .workers = WORKERS,
                                         .progress = &progress,
                                         .batch = take_batch,
                                         .context = writer};
    cr_assert_eq(sta_decode_run(&request, &err), 0, "%s", err.text);
    for (size_t i = 0; i < listing.count; i++)
        free((char *)files[i].file);
    free(files);
    sta_listing_fini(&listing);
    sta_roots_destroy(roots);
}

bool decoded_trace_open(struct decoded_trace *trace, const char *name)
{
    const char *shared = getenv("STRATA_SHARED");
    char *folder = sta_sprintf("%s/traces/%s", shared != NULL ? shared : STA_TEST_SHARED, name);
    bool there = access(folder, R_OK) == 0;
    if (there) {
        struct sta_trace_entry entry;
        struct sta_writer *writer = begin(trace, &entry);
        decode_folder(writer, folder);
        publish(trace, writer, &entry);
    }
    free(folder);
    return there;
}

void decoded_trace_fini(struct decoded_trace *trace)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_snapshot_release(trace->snapshot);
    sta_store_close(trace->store);
    cr_assert_eq(sta_tree_remove(trace->folder, &err), 0, "%s", err.text);
}

/* scratch.c - stores in scratch folders. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "common/files.h"
#include "common/memory.h"
#include "sample.h"

void scratch_open(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    unsigned cleaned;
    snprintf(scratch->folder, sizeof scratch->folder, "/tmp/strata-store-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch->folder));
    cr_assert_eq(sta_store_open(scratch->folder, &scratch->store, &cleaned, &err), STA_OK, "%s", err.text);
    char path[] = "/runs/a", name[] = "a";
    struct sta_trace_entry entry = {.path = path, .name = name, .created_us = 7};
    cr_assert_eq(sta_store_add(scratch->store, &entry, &err), STA_OK, "%s", err.text);
    memcpy(scratch->trace, entry.id, sizeof scratch->trace);
}

unsigned scratch_reopen(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    unsigned cleaned;
    sta_store_close(scratch->store);
    cr_assert_eq(sta_store_open(scratch->folder, &scratch->store, &cleaned, &err), STA_OK, "%s", err.text);
    return cleaned;
}

void scratch_close(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    sta_store_close(scratch->store);
    cr_assert_eq(sta_tree_remove(scratch->folder, &err), STA_OK);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

/* Return: files whose name ends in @suffix; *found: path of the @number-th. */
static unsigned look(const struct scratch_store *scratch, const char *suffix, unsigned number, char **found)
{
    struct dirent **entries = NULL;
    char *folder = sta_sprintf("%s/traces/%s", scratch->folder, scratch->trace);
    int count = scandir(folder, &entries, NULL, by_name);
    unsigned matches = 0;
    *found = NULL;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.' && ends_in(entries[i]->d_name, suffix) && matches++ == number)
            *found = sta_path_join(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return matches;
}

char *scratch_file(const struct scratch_store *scratch, const char *suffix, unsigned number)
{
    char *found;
    look(scratch, suffix, number, &found);
    return found;
}

unsigned scratch_file_count(const struct scratch_store *scratch)
{
    char *found;
    unsigned count = look(scratch, "", 0, &found);
    free(found);
    return count;
}

struct sta_writer *scratch_begin(struct scratch_store *scratch, unsigned workers, size_t memory)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer_options options = {.workers = workers, .memory = memory};
    struct sta_writer *writer;
    cr_assert_eq(sta_writer_begin(scratch->store, scratch->trace, NULL, NULL, &options, &writer, &err),
                 STA_OK, "%s", err.text);
    sample_fill_tables(sta_writer_tables(writer));
    return writer;
}

void scratch_publish(struct scratch_store *scratch, const struct sample *sample, unsigned workers,
                     size_t memory)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer = scratch_begin(scratch, workers, memory);
    sample_write(sample, writer, workers, NULL);
    cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
}

struct sta_snapshot *scratch_snapshot(struct scratch_store *scratch)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    cr_assert_eq(sta_snapshot_open(scratch->store, scratch->trace, &snapshot, &err), STA_OK, "%s", err.text);
    return snapshot;
}

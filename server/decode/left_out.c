/* Files that are of a trace by their names or contents, and are left out because others stand for them. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "decode/files_private.h"
#include "decode/training_scan.h"
#include "decode/training_tables.h"

void sta_listing_note(struct sta_listing *listing, const char *inside, const char *why, int status,
                      bool candidate)
{
    STA_GROW(listing->unlisted, listing->unlisted_capacity, listing->unlisted_count + 1);
    listing->unlisted[listing->unlisted_count++] =
        (struct sta_unlisted){sta_strdup(inside), sta_strdup(why), status, candidate};
}

/* What a listing holds. */
struct holdings {
    unsigned kinds; /* a bit for each kind that a file's content is of */
    bool log, tables;
};

static unsigned bit_of(enum sta_trace_kind kind)
{
    return 1U << (unsigned)kind;
}

static bool is_table(const struct sta_listed_file *file)
{
    return file->kind == STA_TRACE_DATALOAD && sta_is_derived_table(file->path);
}

static bool is_log(const struct sta_listed_file *file)
{
    return file->kind == STA_TRACE_DATALOAD && !sta_is_derived_table(file->path) &&
           !sta_is_configuration(file->path);
}

static struct holdings holdings_of(const struct sta_listing *listing)
{
    struct holdings found = {0};
    for (size_t i = 0; i < listing->count; i++) {
        const struct sta_listed_file *file = &listing->files[i];
        found.kinds |= file->assumed ? 0 : bit_of(file->kind);
        found.log |= is_log(file);
        found.tables |= is_table(file);
    }
    return found;
}

/* A name alone says nothing where there are files of another kind: many programs write an output.log. */
static bool is_of_another_kind(const struct sta_listing *listing, const struct holdings *found,
                               const struct sta_listed_file *file)
{
    (void)listing;
    return file->assumed && (found->kinds & ~bit_of(file->kind)) != 0;
}

/* Many programs write msgpack: a name makes no trace. */
static bool is_msgpack_alone(const struct sta_listing *listing, const struct holdings *found,
                             const struct sta_listed_file *file)
{
    (void)listing;
    return file->assumed && file->kind == STA_TRACE_DASF && (found->kinds & bit_of(STA_TRACE_DASF)) == 0;
}

/* An empty file is a record file without records. */
static bool is_other_msgpack(const struct sta_listing *listing, const struct holdings *found,
                             const struct sta_listed_file *file)
{
    (void)listing;
    (void)found;
    return file->assumed && file->kind == STA_TRACE_DASF && file->size > 0;
}

/* Of a log that does not begin like one and tables, the tables are read: what the log holds further on would
 * be there twice. */
static bool is_log_with_tables(const struct sta_listing *listing, const struct holdings *found,
                               const struct sta_listed_file *file)
{
    (void)listing;
    return file->assumed && is_log(file) && found->tables;
}

static int compare_path(const void *key, const void *file)
{
    return strcmp(key, ((const struct sta_listed_file *)file)->path);
}

/* Of a log and the tables that were made of it the log alone is read, and of a table and those that were made
 * of that one the former: they say the same. */
static bool is_repeated_table(const struct sta_listing *listing, const struct holdings *found,
                              const struct sta_listed_file *file)
{
    if (!is_table(file) || found->log)
        return is_table(file);
    char *first = sta_table_made_of(file->path);
    bool repeated = first != NULL && bsearch(first, listing->files, listing->count, sizeof *listing->files,
                                             compare_path) != NULL;
    free(first);
    return repeated;
}

/* @why: NULL, or what the report says of a file that is taken out. */
static void leave_out(struct sta_listing *listing,
                      bool (*is_left_out)(const struct sta_listing *, const struct holdings *,
                                          const struct sta_listed_file *),
                      const char *why)
{
    const struct holdings found = holdings_of(listing);
    bool *out = sta_alloc_array(listing->count, sizeof *out);
    size_t kept = 0;
    for (size_t i = 0; i < listing->count; i++)
        out[i] = is_left_out(listing, &found, &listing->files[i]);
    for (size_t i = 0; i < listing->count; i++) {
        struct sta_listed_file *file = &listing->files[i];
        if (!out[i]) {
            listing->files[kept++] = *file;
            continue;
        }
        listing->bytes -= file->size;
        listing->others++;
        if (why != NULL)
            sta_listing_note(listing, file->path, why, STA_EFORBIDDEN, true);
        free(file->path);
    }
    listing->count = kept;
    free(out);
}

void sta_listing_leave_out(struct sta_listing *listing)
{
    leave_out(listing, is_of_another_kind, NULL);
    leave_out(listing, is_msgpack_alone, NULL);
    leave_out(listing, is_other_msgpack, "is not read: it does not begin with a record of DASF");
    leave_out(
        listing, is_log_with_tables,
        "is not read: it does not begin like a training log, and tables that were made of one are there");
    leave_out(listing, is_repeated_table, NULL);
}

/* folder.c - the names of a trace's files, and telling those that belong there from what a crash left. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "common/memory.h"
#include "store/format/envelope.h"
#include "store/versions/private.h"

static const char *const suffixes[] = {
#define X(name, suffix) [STA_FILE_##name] = suffix,
    STA_FILE_LIST(X)
#undef X
};

bool sta_is_trace_id(const char *text)
{
    return strspn(text, "0123456789abcdef") == STA_TRACE_ID_SIZE - 1 && text[STA_TRACE_ID_SIZE - 1] == '\0';
}

char *sta_trace_folder(const struct sta_store *store, const char *id)
{
    return sta_sprintf("%s/traces/%s", store->path, id);
}

char *sta_trace_file(const char *folder, enum sta_file_kind kind, uint32_t number)
{
    return sta_sprintf("%s/%08x.%s", folder, number, suffixes[kind]);
}

char *sta_manifest_file(const char *folder)
{
    return sta_path_join(folder, "manifest");
}

char *sta_entry_file(const char *folder)
{
    return sta_path_join(folder, "entry");
}

char *sta_kept_file(const char *folder, uint64_t version, const char *name)
{
    return sta_sprintf("%s/kept-%016llx-%016llx", folder, (unsigned long long)version,
                       (unsigned long long)XXH3_64bits(name, strlen(name)));
}

char *sta_lane_file_path(const char *folder, uint64_t version)
{
    return sta_sprintf("%s/lanes-%016llx", folder, (unsigned long long)version);
}

/* Splits the name of a version's file.  Return: false when it is another file. */
static bool parse_name(const char *name, unsigned *kind, uint32_t *number)
{
    char *end;
    if (strspn(name, "0123456789abcdef") != 8 || name[8] != '.')
        return false;
    *number = (uint32_t)strtoul(name, &end, 16);
    for (*kind = 0; *kind < STA_COUNT_OF(suffixes); ++*kind)
        if (strcmp(end + 1, suffixes[*kind]) == 0)
            return true;
    return false;
}

bool sta_find_trace_file(const char *folder, enum sta_file_kind wanted, uint32_t *found)
{
    bool any = false;
    unsigned kind;
    uint32_t number;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (!parse_name(entry->d_name, &kind, &number) || kind != (unsigned)wanted)
            continue;
        *found = any ? STA_MAX(*found, number) : number;
        any = true;
    }
    if (entries != NULL)
        closedir(entries);
    return any;
}

int sta_next_file_number(const char *folder, uint32_t *next, struct sta_error *err)
{
    const struct dirent *entry;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return sta_fail_errno(err, errno, "cannot open folder %s", folder);
    *next = 0;
    while (errno = 0, (entry = readdir(entries)) != NULL) {
        unsigned long number = strtoul(entry->d_name, NULL, 16);
        if (strspn(entry->d_name, "0123456789abcdef") == 8 && number < UINT32_MAX)
            *next = STA_MAX(*next, (uint32_t)number + 1);
    }
    int status = errno == 0 ? STA_OK : sta_fail_errno(err, errno, "cannot list folder %s", folder);
    closedir(entries);
    return status;
}

int sta_manifest_read(const char *folder, struct sta_manifest *manifest, struct sta_error *err)
{
    char *path = sta_manifest_file(folder), *content;
    size_t size;
    int status = sta_envelope_read(path, STA_ENVELOPE_MANIFEST, &content, &size, err);
    if (status == STA_OK) {
        status = sta_manifest_get(content, size, manifest, err);
        free(content);
    }
    free(path);
    return status;
}

static bool is_named(const struct sta_manifest *manifest, unsigned kind, uint32_t number)
{
    if (kind == STA_FILE_TABLES || kind == STA_FILE_SOURCES)
        return number == (kind == STA_FILE_TABLES ? manifest->tables_file : manifest->sources_file);
    if (kind == STA_FILE_JOURNAL)
        return number + 1 == manifest->journal_after;
    for (size_t i = 0; kind == STA_FILE_SEGMENT && i < manifest->segment_count; i++)
        if (manifest->segments[i].file == number)
            return true;
    for (size_t i = 0; kind == STA_FILE_COUNTERS && i < manifest->counters_count; i++)
        if (manifest->counters[i] == number)
            return true;
    return false;
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static bool belongs(const char *name, const struct sta_manifest *manifest, bool aside)
{
    unsigned kind;
    uint32_t number;
    unsigned long long version;
    if (strcmp(name, "entry") == 0 || strcmp(name, "manifest") == 0 || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return true;
    if (ends_in(name, ".damaged"))
        return !aside;
    if (manifest == NULL)
        return false;
    if (parse_name(name, &kind, &number))
        return is_named(manifest, kind, number);
    return (sscanf(name, "kept-%16llx-", &version) == 1 || sscanf(name, "lanes-%16llx", &version) == 1) &&
           !ends_in(name, ".tmp") && version == manifest->version;
}

unsigned sta_folder_clean(const char *folder, const struct sta_manifest *manifest, bool aside)
{
    unsigned removed = 0;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (belongs(entry->d_name, manifest, aside))
            continue;
        char *path = sta_path_join(folder, entry->d_name);
        removed += unlink(path) == 0;
        free(path);
    }
    if (entries != NULL)
        closedir(entries);
    return removed;
}

/* Hashes that sources define differently: tracers of before hashes had 64 bits make them. */
#include "analyse/layers/hash_conflicts.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- which hashes are shown */

static int by_text(const void *a, const void *b)
{
    const struct sta_text *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, STA_MIN(x->length, y->length));
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

/* All hashes in conflict, ascending; free() them. */
static struct sta_text *conflicting(const struct sta_tables *tables, enum sta_definition_kind kind,
                                    size_t *count)
{
    uint32_t hashes;
    uint8_t *differ = sta_tables_conflicts(tables, kind, &hashes);
    struct sta_text *found = NULL;
    size_t capacity = 0;
    *count = 0;
    for (uint32_t hash = 0; hash < hashes; hash++) {
        if (!differ[hash])
            continue;
        STA_GROW(found, capacity, *count + 1);
        found[(*count)++] = sta_dictionary_text(sta_tables_hashes(tables, kind), hash);
    }
    free(differ);
    if (*count > 0)
        qsort(found, *count, sizeof *found, by_text);
    return found;
}

/* ---- their definitions */

struct gathering {
    const struct sta_text *shown;
    size_t shown_count;
    struct found {
        size_t hash; /* its place among those shown */
        struct sta_definition as;
    } * found;
    size_t count, capacity;
};

static void gather(void *context, const char *key, size_t key_length, const struct sta_definition *definition)
{
    struct gathering *gathering = context;
    const struct sta_text hash = {key, (uint32_t)key_length};
    for (size_t i = 0; i < gathering->shown_count; i++) {
        if (by_text(&gathering->shown[i], &hash) != 0)
            continue;
        STA_GROW(gathering->found, gathering->capacity, gathering->count + 1);
        gathering->found[gathering->count++] = (struct found){i, *definition};
    }
}

static int by_hash_and_path(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return strcmp(x->as.path, y->as.path);
}

static bool is_said(const struct sta_hash_conflict *conflict, const char *text)
{
    for (size_t i = 0; i < conflict->count; i++) {
        const char *said = conflict->definitions[i].text;
        if (text == NULL || said == NULL ? text == said : strcmp(text, said) == 0)
            return true;
    }
    return false;
}

static void add_definition(struct sta_hash_conflict *conflict, const struct sta_definition *definition)
{
    if (conflict->count == STA_CONFLICT_DEFINITIONS || is_said(conflict, definition->text))
        return;
    conflict->definitions[conflict->count].text =
        definition->text ? sta_strndup(definition->text, definition->length) : NULL;
    conflict->definitions[conflict->count++].file = sta_strdup(definition->path);
}

static void report_kind(const struct sta_tables *tables, enum sta_definition_kind kind,
                        struct sta_content_report *report)
{
    size_t count;
    struct sta_text *hashes = conflicting(tables, kind, &count);
    struct gathering gathering = {.shown = hashes,
                                  .shown_count = STA_MIN(count, (size_t)STA_CONFLICTS_SHOWN)};
    if (count > 0)
        sta_tables_each_definition(tables, kind, gather, &gathering);
    if (gathering.count > 0)
        qsort(gathering.found, gathering.count, sizeof *gathering.found, by_hash_and_path);
    struct sta_hash_conflict *conflicts = report->conflicts + report->conflict_count;
    for (size_t i = 0; i < gathering.shown_count; i++) {
        conflicts[i] = (struct sta_hash_conflict){.of_host = kind == STA_DEFINES_HOST,
                                                  .hash = sta_strndup(hashes[i].bytes, hashes[i].length)};
        conflicts[i].definitions =
            sta_alloc_array(STA_CONFLICT_DEFINITIONS, sizeof *conflicts[i].definitions);
    }
    for (size_t i = 0; i < gathering.count; i++)
        add_definition(&conflicts[gathering.found[i].hash], &gathering.found[i].as);
    report->conflicting_hashes += count;
    report->conflict_count += gathering.shown_count;
    free(gathering.found);
    free(hashes);
}

void sta_content_report_conflicts(const struct sta_tables *tables, struct sta_content_report *report)
{
    report->conflicts =
        sta_alloc_array((size_t)STA_DEFINITION_KINDS * STA_CONFLICTS_SHOWN, sizeof *report->conflicts);
    report_kind(tables, STA_DEFINES_FILE, report);
    report_kind(tables, STA_DEFINES_HOST, report);
}

void sta_content_report_free_conflicts(struct sta_content_report *report)
{
    for (size_t i = 0; i < report->conflict_count; i++) {
        struct sta_hash_conflict *conflict = &report->conflicts[i];
        for (size_t d = 0; d < conflict->count; d++) {
            free(conflict->definitions[d].text);
            free(conflict->definitions[d].file);
        }
        free(conflict->definitions);
        free(conflict->hash);
    }
    free(report->conflicts);
}

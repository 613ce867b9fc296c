/* Hashes that sources define differently: tracers of before hashes had 64 bits make them. */
#include "analyse/layers/hash_conflicts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "common/memory.h"

#define WHAT "hashes that sources define differently"

/* ---- which hashes are shown */

static int by_text(const void *a, const void *b)
{
    return sta_text_order(*(const struct sta_text *)a, *(const struct sta_text *)b);
}

/* All hashes in conflict, ascending, into an array that is charged to @account. */
static int find_conflicting(const struct sta_tables *tables, enum sta_definition_kind kind,
                            struct sta_account *account, struct sta_text **found, size_t *count,
                            struct sta_error *err)
{
    uint32_t hashes;
    uint8_t *differ = sta_tables_conflicts(tables, kind, account, &hashes, err);
    size_t capacity = 0;
    int status = differ != NULL ? STA_OK : err->status;
    for (uint32_t hash = 0; status == STA_OK && hash < hashes; hash++) {
        if (!differ[hash])
            continue;
        status = STA_ACCOUNT_GROW(account, *found, capacity, *count + 1, WHAT, err);
        if (status == STA_OK)
            (*found)[(*count)++] = sta_dictionary_text(sta_tables_hashes(tables, kind), hash);
    }
    sta_account_free(account, differ);
    if (*count > 0)
        qsort(*found, *count, sizeof **found, by_text);
    return status;
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
    struct sta_account *account;
    int status;
    struct sta_error *err;
};

static void gather(void *context, const char *key, size_t key_length, const struct sta_definition *definition)
{
    struct gathering *gathering = context;
    const struct sta_text hash = {key, (uint32_t)key_length};
    for (size_t i = 0; i < gathering->shown_count; i++) {
        if (by_text(&gathering->shown[i], &hash) != 0)
            continue;
        if (gathering->status == STA_OK)
            gathering->status = STA_ACCOUNT_GROW(gathering->account, gathering->found, gathering->capacity,
                                                 gathering->count + 1, WHAT, gathering->err);
        if (gathering->status == STA_OK)
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

static void add_definition(struct sta_hash_conflict *conflict, const struct sta_definition *definition,
                           struct sta_arena *memory)
{
    if (conflict->count == STA_CONFLICT_DEFINITIONS || is_said(conflict, definition->text))
        return;
    conflict->definitions[conflict->count].text =
        definition->text ? sta_arena_copy(memory, definition->text, definition->length) : NULL;
    conflict->definitions[conflict->count++].file =
        sta_arena_copy(memory, definition->path, strlen(definition->path));
}

/* The shown ones with their definitions. */
static void report_found(const struct gathering *gathering, enum sta_definition_kind kind,
                         struct sta_content_report *report)
{
    if (gathering->count > 0)
        qsort(gathering->found, gathering->count, sizeof *gathering->found, by_hash_and_path);
    struct sta_hash_conflict *conflicts = report->conflicts + report->conflict_count;
    const struct sta_text *hashes = gathering->shown;
    for (size_t i = 0; i < gathering->shown_count; i++) {
        conflicts[i] = (struct sta_hash_conflict){
            .of_host = kind == STA_DEFINES_HOST,
            .hash = sta_arena_copy(&report->memory, hashes[i].bytes, hashes[i].length)};
        conflicts[i].definitions =
            sta_arena_alloc(&report->memory, STA_CONFLICT_DEFINITIONS * sizeof *conflicts[i].definitions,
                            _Alignof(max_align_t));
    }
    for (size_t i = 0; i < gathering->count; i++)
        add_definition(&conflicts[gathering->found[i].hash], &gathering->found[i].as, &report->memory);
    report->conflict_count += gathering->shown_count;
}

static int report_kind(const struct sta_tables *tables, enum sta_definition_kind kind,
                       struct sta_account *account, struct sta_content_report *report, struct sta_error *err)
{
    size_t count = 0;
    struct sta_text *hashes = NULL;
    struct gathering gathering = {.account = account, .err = err};
    int status = find_conflicting(tables, kind, account, &hashes, &count, err);
    gathering.shown = hashes;
    gathering.shown_count = STA_MIN(count, (size_t)STA_CONFLICTS_SHOWN);
    if (status == STA_OK && count > 0) {
        sta_tables_each_definition(tables, kind, gather, &gathering);
        status = gathering.status;
    }
    if (status == STA_OK)
        report_found(&gathering, kind, report);
    report->conflicting_hashes += count;
    sta_account_free(account, gathering.found);
    sta_account_free(account, hashes);
    return status;
}

int sta_content_report_conflicts(const struct sta_tables *tables, struct sta_account *account,
                                 struct sta_content_report *report, struct sta_error *err)
{
    report->conflicts = sta_arena_alloc(
        &report->memory, sizeof *report->conflicts * STA_DEFINITION_KINDS * STA_CONFLICTS_SHOWN,
        _Alignof(max_align_t));
    int status = report_kind(tables, STA_DEFINES_FILE, account, report, err);
    return status == STA_OK ? report_kind(tables, STA_DEFINES_HOST, account, report, err) : status;
}

/* What the ledger says beyond the lines: what each preset drops, which I/O functions nobody classified, which
 * names and sizes are doubtful.
 *
 * Presets that share their filters share a pass, and those without filters need none. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/class_counts.h"
#include "analyse/sources/columns.h"
#include "analyse/exec/budget.h"
#include "analyse/layers/presets.h"
#include "common/memory.h"

/* ---- hashes that sources define differently: tracers of before hashes had 64 bits make them */

#define CONFLICTS "hashes that sources define differently"

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
    for (uint32_t hash = 0; differ != NULL && status == STA_OK && hash < hashes; hash++) {
        if (!differ[hash])
            continue;
        status = STA_ACCOUNT_GROW(account, *found, capacity, *count + 1, CONFLICTS, err);
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
    const struct sta_text *hashes;
    struct sta_hash_conflict *conflicts;
    size_t count; /* of those that are shown */
};

/* Keeps, of each text, the first file by path; and of these, the first ones. */
static void add_definition(struct sta_hash_conflict *conflict, const struct sta_definition *definition)
{
    struct sta_conflict_definition *all = conflict->definitions;
    const char *text = definition->text;
    size_t at = 0, same = 0;
    while (
        same < conflict->count &&
        (text == NULL || all[same].text == NULL ? text != all[same].text : strcmp(text, all[same].text) != 0))
        same++;
    while (at < conflict->count && strcmp(all[at].file, definition->path) <= 0)
        at++;
    if (at > same || at == STA_CONFLICT_DEFINITIONS)
        return;
    if (same == conflict->count)
        conflict->count += conflict->count < STA_CONFLICT_DEFINITIONS;
    same = STA_MIN(same, conflict->count - 1);
    memmove(&all[at + 1], &all[at], (same - at) * sizeof *all);
    all[at] = (struct sta_conflict_definition){text, definition->path};
}

static void gather(void *context, const char *key, size_t key_length, const struct sta_definition *definition)
{
    const struct gathering *gathering = context;
    const struct sta_text hash = {key, (uint32_t)key_length};
    for (size_t i = 0; i < gathering->count; i++)
        if (by_text(&gathering->hashes[i], &hash) == 0)
            add_definition(&gathering->conflicts[i], definition);
}

static const char *copy(const char *text, struct sta_arena *memory)
{
    return text != NULL ? sta_arena_copy(memory, text, strlen(text)) : NULL;
}

/* Finds the definitions of the hashes of some conflicts; their texts become the report's. */
static void find_definitions(const struct sta_tables *tables, enum sta_definition_kind kind,
                             const struct gathering *gathering, struct sta_arena *memory)
{
    for (size_t i = 0; i < gathering->count; i++) {
        const struct sta_text *hash = &gathering->hashes[i];
        gathering->conflicts[i] = (struct sta_hash_conflict){
            .of_host = kind == STA_DEFINES_HOST, .hash = sta_arena_copy(memory, hash->bytes, hash->length)};
        gathering->conflicts[i].definitions =
            sta_arena_alloc(memory, STA_CONFLICT_DEFINITIONS * sizeof *gathering->conflicts[i].definitions,
                            _Alignof(max_align_t));
    }
    if (gathering->count > 0)
        sta_tables_each_definition(tables, kind, gather, (void *)gathering);
    for (size_t i = 0; i < gathering->count; i++)
        for (size_t d = 0; d < gathering->conflicts[i].count; d++) {
            struct sta_conflict_definition *definition = &gathering->conflicts[i].definitions[d];
            definition->text = copy(definition->text, memory);
            definition->file = copy(definition->file, memory);
        }
}

static int report_kind(const struct sta_tables *tables, enum sta_definition_kind kind,
                       struct sta_account *account, struct sta_content_report *report, struct sta_error *err)
{
    size_t count = 0;
    struct sta_text *hashes = NULL;
    int status = find_conflicting(tables, kind, account, &hashes, &count, err);
    if (status == STA_OK) {
        const struct gathering gathering = {hashes, report->conflicts + report->conflict_count,
                                            STA_MIN(count, (size_t)STA_CONFLICTS_SHOWN)};
        find_definitions(tables, kind, &gathering, &report->memory);
        report->conflict_count += gathering.count;
    }
    report->conflicting_hashes += count;
    sta_account_free(account, hashes);
    return status;
}

static int report_conflicts(const struct sta_tables *tables, struct sta_account *account,
                            struct sta_content_report *report, struct sta_error *err)
{
    report->conflicts = sta_arena_alloc(
        &report->memory, sizeof *report->conflicts * STA_DEFINITION_KINDS * STA_CONFLICTS_SHOWN,
        _Alignof(max_align_t));
    int status = report_kind(tables, STA_DEFINES_FILE, account, report, err);
    return status == STA_OK ? report_kind(tables, STA_DEFINES_HOST, account, report, err) : status;
}

/* ---- functions of no class */

/* Of I/O categories, whichever; those that have a name. */
static bool is_unclassified(void *context, uint32_t class, struct sta_counted_function *function)
{
    const struct sta_presets *presets = context;
    const bool taken = function->name.length > 0 &&
                       sta_presets_is_io_category(presets, function->cat.bytes, function->cat.length) &&
                       sta_functions_class(&presets->functions, function->name.bytes,
                                           function->name.length) == STA_FUNCTION_UNCLASSIFIED;
    function->cat = (struct sta_text){"", 0};
    return taken;
}

static int report_functions(const struct sta_presets *presets, const struct sta_class_counts *counts,
                            const struct sta_budget *budget, struct sta_content_report *report,
                            struct sta_error *err)
{
    struct sta_counted_function *list;
    size_t count;
    int status =
        sta_class_counts_functions(counts, is_unclassified, (void *)presets, budget, &list, &count, err);
    if (status == STA_OK) {
        report->unclassified_functions = count;
        report->unclassified_count = STA_MIN(count, (size_t)STA_UNCLASSIFIED);
        report->unclassified =
            sta_arena_alloc(&report->memory, report->unclassified_count * sizeof *report->unclassified,
                            _Alignof(max_align_t));
        for (size_t i = 0; i < report->unclassified_count; i++) {
            report->unclassified[i].function =
                sta_arena_copy(&report->memory, list[i].name.bytes, list[i].name.length);
            report->unclassified[i].count = list[i].events;
        }
    }
    sta_account_free(budget->account, list);
    return status;
}

/* ---- doubtful names and sizes */

struct doubts {
    const struct sta_columns *columns;
    _Atomic uint64_t ambiguous_events, doubtful_sizes;
};

static bool any_set(const uint8_t *flags, uint32_t count)
{
    return count > 0 && memchr(flags, 1, count) != NULL;
}

static int count_ambiguous(struct doubts *doubts, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(sta_columns_snapshot(doubts->columns));
    const struct sta_column_values *files = NULL, *threads;
    uint64_t ambiguous = 0;
    int status = sta_column_reader_physical(rows->reader, STA_COLUMN_THREAD, &threads, err);
    if (status == STA_OK)
        status = sta_column_reader_physical(rows->reader, STA_COLUMN_FILE, &files, err);
    if (status != STA_OK)
        return status;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i), file = files->codes[row], thread = threads->codes[row];
        ambiguous += (file < entities->file_ref_count && entities->ambiguous_files[file]) ||
                     (thread < entities->thread_code_count && entities->ambiguous_threads[thread]);
    }
    atomic_fetch_add(&doubts->ambiguous_events, ambiguous);
    return STA_OK;
}

static int count_sizes(struct doubts *doubts, const struct sta_scan_rows *rows, struct sta_error *err)
{
    double low, high;
    struct sta_vector sizes;
    const struct sta_row_group *row_group = sta_column_reader_row_group(rows->reader);
    if (sta_columns_range(doubts->columns, row_group, STA_LOGICAL_size, &low, &high) &&
        !(high > (double)STA_LARGEST_SIZE))
        return STA_OK;
    int status = sta_column_reader_get(rows->reader, STA_LOGICAL_size, &sizes, err);
    if (status != STA_OK)
        return status;
    uint64_t doubtful = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        doubtful += sizes.integers[sta_scan_row(rows, i)] > STA_LARGEST_SIZE; /* 0 where it is missing */
    atomic_fetch_add(&doubts->doubtful_sizes, doubtful);
    return STA_OK;
}

static int count_doubts(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct doubts *doubts = self;
    const struct sta_entities *entities = sta_snapshot_entities(sta_columns_snapshot(doubts->columns));
    bool ambiguous = any_set(entities->ambiguous_files, entities->file_ref_count) ||
                     any_set(entities->ambiguous_threads, entities->thread_code_count);
    int status = ambiguous ? count_ambiguous(doubts, rows, err) : STA_OK;
    return status == STA_OK ? count_sizes(doubts, rows, err) : status;
}

/* ---- filters of presets */

static bool same_texts(const char **a, size_t a_count, const char **b, size_t b_count)
{
    if (a_count != b_count)
        return false;
    for (size_t i = 0; i < a_count; i++) {
        if (strcmp(a[i], b[i]) != 0)
            return false;
    }
    return true;
}

static bool same_filters(const struct sta_preset *a, const struct sta_preset *b)
{
    return same_texts(a->drop_files, a->drop_file_count, b->drop_files, b->drop_file_count) &&
           same_texts(a->drop_functions, a->drop_function_count, b->drop_functions, b->drop_function_count) &&
           same_texts(a->drop_patterns, a->drop_pattern_count, b->drop_patterns, b->drop_pattern_count);
}

static bool has_filters(const struct sta_preset *preset)
{
    return preset->drop_file_count + preset->drop_function_count + preset->drop_pattern_count > 0;
}

static void sum_fates(const struct sta_class_counts *counts, struct sta_preset_ledger *ledger)
{
    uint64_t *const sums[] = {[STA_FATE_KEPT] = &ledger->kept,
                              [STA_FATE_FILE] = &ledger->dropped_by_file,
                              [STA_FATE_FUNCTION] = &ledger->dropped_by_function};
    for (uint32_t code = 0; code < sta_classes_count(counts->classes); code++)
        *sums[sta_classes_get(counts->classes, code).fate] += sta_class_counts_total(counts, code);
}

/* ---- passes */

/* One pass; counts functions too when @report is given.  @filters: a preset, of which only the filters count;
 * NULL: none. */
static int pass(const struct sta_presets *presets, struct sta_snapshot *snapshot,
                const struct sta_preset *filters, const struct sta_budget *budget,
                struct sta_preset_ledger *ledger, struct sta_content_report *report, struct sta_error *err)
{
    struct sta_preset bare = {.name = "report"};
    if (filters != NULL)
        bare = (struct sta_preset){.name = filters->name,
                                   .drop_files = filters->drop_files,
                                   .drop_file_count = filters->drop_file_count,
                                   .drop_functions = filters->drop_functions,
                                   .drop_function_count = filters->drop_function_count,
                                   .drop_patterns = filters->drop_patterns,
                                   .drop_pattern_count = filters->drop_pattern_count};
    struct sta_class_counts counts = {0};
    int status = sta_class_counts_bind(&counts, presets, snapshot, &bare, err);
    struct doubts doubts = {.columns = counts.columns};
    const struct sta_accumulator doubting = {&doubts, count_doubts};
    const struct sta_scan scan = {.from = INT64_MIN, .to = INT64_MAX};
    if (status == STA_OK)
        status = sta_class_counts_run(&counts, scan, report != NULL, report != NULL ? &doubting : NULL,
                                      budget, err);
    if (status == STA_OK)
        sum_fates(&counts, ledger);
    if (status == STA_OK && report != NULL) {
        status = report_functions(presets, &counts, budget, report, err);
        report->ambiguous_events = doubts.ambiguous_events;
        report->doubtful_sizes = doubts.doubtful_sizes;
    }
    sta_class_counts_fini(&counts);
    return status;
}

/* The first preset with the same filters as @index. */
static size_t first_alike(const struct sta_presets *presets, size_t index)
{
    size_t i = 0;
    while (!same_filters(sta_presets_at(presets, i), sta_presets_at(presets, index)))
        i++;
    return i;
}

static int fill_report(const struct sta_presets *presets, struct sta_snapshot *snapshot,
                       const struct sta_budget *budget, struct sta_content_report *report,
                       struct sta_error *err)
{
    struct sta_content_report *functions = report; /* counted in the first pass */
    for (size_t i = 0; i < report->preset_count; i++) {
        const struct sta_preset *preset = sta_presets_at(presets, i);
        struct sta_preset_ledger *ledger = &report->presets[i];
        size_t alike = first_alike(presets, i);
        int status = STA_OK;
        if (alike < i)
            *ledger = report->presets[alike];
        else if (!has_filters(preset))
            ledger->kept = sta_snapshot_info(snapshot)->events;
        else {
            status = pass(presets, snapshot, preset, budget, ledger, functions, err);
            functions = NULL;
        }
        ledger->preset = preset->name;
        if (status != STA_OK)
            return status;
    }
    struct sta_preset_ledger all = {0};
    return functions != NULL ? pass(presets, snapshot, NULL, budget, &all, functions, err) : STA_OK;
}

int sta_content_report(const struct sta_presets *presets, struct sta_snapshot *snapshot,
                       const struct sta_budget *budget, struct sta_content_report *report,
                       struct sta_error *err)
{
    *report = (struct sta_content_report){.preset_count = sta_presets_count(presets)};
    report->presets = sta_alloc_array(report->preset_count, sizeof *report->presets);
    int status = report_conflicts(sta_snapshot_tables(snapshot), budget->account, report, err);
    if (status == STA_OK)
        status = fill_report(presets, snapshot, budget, report, err);
    if (status != STA_OK) {
        sta_content_report_fini(report);
        return sta_error_wrap(err, "cannot report what the presets drop");
    }
    return STA_OK;
}

void sta_content_report_fini(struct sta_content_report *report)
{
    sta_arena_fini(&report->memory);
    free(report->presets);
    *report = (struct sta_content_report){0};
}

/* What the ledger and the events say of the trace itself: lines, names that nothing defines, functions
 * without a class. */
#include <stdlib.h>
#include <string.h>

#include "findings/evaluation_private.h"
#include "analyse/layers/presets.h"
#include "analyse/sources/scan.h"
#include "common/account.h"
#include "common/memory.h"

#define MOST_FUNCTIONS 100000

/* ---- lines */

static void put_lines(const struct sta_run *run, const char *ask, struct sta_figure_list *figures)
{
    const struct sta_snapshot *snapshot = run->query.snapshot;
    const enum sta_trace_kind kind = sta_snapshot_info(snapshot)->kind;
    struct sta_ledger_counts sum = {0};
    char note[200];
    int64_t truncated = 0, unread = 0;
    for (size_t i = 0; i < sta_snapshot_source_count(snapshot); i++) {
        const struct sta_source *source = sta_snapshot_source(snapshot, i);
        sta_ledger_add(&sum, &source->counts);
        truncated += source->state == STA_SOURCE_TRUNCATED;
        unread += sta_source_is_unread(source);
    }
    const uint64_t lines = sum.events + sum.metadata + sum.counters + sum.other + sum.malformed;
    sta_figure_int(figures, ask, "lines", (int64_t)lines);
    sta_figure_text(figures, ask, "pieces", kind == STA_TRACE_DASF ? "records" : "lines");
    sta_figure_int(figures, ask, "malformed", (int64_t)sum.malformed);
    sta_figure_int(figures, ask, "truncated", truncated);
    sta_figure_int(figures, ask, "unread", unread);
    snprintf(note, sizeof note, unread == 1 ? " %lld file gave no event%s." : " %lld files gave no event%s.",
             (long long)unread,
             kind == STA_TRACE_EVENTS
                 ? ": a list of events inside of another object, such as traceEvents, is not read"
                 : "");
    sta_figure_text(figures, ask, "unread_note", unread > 0 ? note : "");
}

/* ---- events whose hash no line defines */

struct unresolved {
    const struct sta_snapshot *snapshot;
    const uint8_t *of_file, *of_thread; /* by code: 1 when it refers to what nothing names */
    _Atomic int64_t events;
};

static int count_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct unresolved *count = self;
    const struct sta_column_values *files, *threads;
    int64_t events = 0;
    (void)worker;
    int rc = sta_column_reader_physical(rows->reader, STA_COLUMN_FILE, &files, err);
    if (rc == STA_OK)
        rc = sta_column_reader_physical(rows->reader, STA_COLUMN_THREAD, &threads, err);
    for (uint32_t row = 0; rc == STA_OK && row < rows->row_group->rows; row++) {
        const bool file = files->kind == STA_KIND_CODE && files->codes[row] != STA_NO_CODE &&
                          count->of_file[files->codes[row]];
        events += file || count->of_thread[threads->codes[row]];
    }
    count->events += events;
    return rc;
}

/* A reference is a hash by its first character, the kind. */
static bool is_hash(const struct sta_dictionary *refs, uint32_t code)
{
    const struct sta_text text = sta_dictionary_text(refs, code);
    return text.length > 0 && text.bytes[0] == STA_REFERENCE_HASH;
}

static int count_unresolved(struct sta_evaluation *evaluation, int64_t *events, struct sta_error *err)
{
    const struct sta_snapshot *snapshot = evaluation->run->query.snapshot;
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    const struct sta_tables *tables = sta_snapshot_tables(snapshot);
    struct unresolved count = {.snapshot = snapshot};
    *events = 0;
    if (entities->unresolved_files == 0 && entities->unresolved_hosts == 0)
        return STA_OK;
    struct sta_account *account = evaluation->run->budget->account;
    uint8_t *of_file = sta_account_calloc(account, entities->file_ref_count, 1, "files of no name", err);
    uint8_t *of_thread = sta_account_calloc(account, entities->thread_code_count, 1, "hosts of no name", err);
    if (of_file == NULL || of_thread == NULL) {
        sta_account_free(account, of_file);
        sta_account_free(account, of_thread);
        return err->status;
    }
    for (uint32_t f = 0; f < entities->file_ref_count; f++)
        of_file[f] = entities->file_of_ref[f] == STA_NO_CODE && is_hash(sta_tables_file_refs(tables), f);
    for (uint32_t t = 0; t < entities->thread_code_count; t++) {
        const uint32_t host = sta_tables_thread(tables, t).host;
        of_thread[t] = host != STA_NO_CODE && host < entities->host_ref_count &&
                       entities->host_of_ref[host] == STA_NO_CODE &&
                       is_hash(sta_tables_host_refs(tables), host);
    }
    count.of_file = of_file;
    count.of_thread = of_thread;
    const struct sta_accumulator accumulator = {&count, count_rows};
    const struct sta_scan scan = {.columns = evaluation->phases.request.columns,
                                  .from = INT64_MIN,
                                  .to = INT64_MAX,
                                  .accumulators = &accumulator,
                                  .accumulator_count = 1};
    int rc = sta_scan_run(&scan, evaluation->run->budget, err);
    *events = count.events;
    sta_account_free(account, of_file);
    sta_account_free(account, of_thread);
    return rc;
}

/* What an expression names must be a column of the trace. */
const char *sta_evaluate_unresolved_condition(const struct sta_evaluation *evaluation)
{
    static const char *const names[] = {"args.fhash", "args.hhash"};
    const struct sta_schema *schema = sta_columns_schema(evaluation->phases.request.columns);
    const bool file = sta_schema_find(schema, (struct sta_text){names[0], (uint32_t)strlen(names[0])}) >= 0;
    const bool host = sta_schema_find(schema, (struct sta_text){names[1], (uint32_t)strlen(names[1])}) >= 0;
    if (file && host)
        return "args.fhash.notna() and file_name.isna() or args.hhash.notna() and host_name.isna()";
    if (host)
        return "args.hhash.notna() and host_name.isna()";
    return file ? "args.fhash.notna() and file_name.isna()" : "false";
}

/* ---- functions without a class */

#define SHOWN 10

static void count_functions(const struct sta_presets *presets, const struct sta_table *functions,
                            struct sta_unclassified_counts *found)
{
    const struct sta_table_column *names = sta_table_find(functions, "func_name");
    const struct sta_table_column *counts = sta_table_find(functions, "n");
    size_t shown[SHOWN];
    for (size_t row = 0; row < functions->rows; row++) {
        found->posix += counts->integers[row];
        if (names->missing[row] || sta_functions_class(&presets->functions, names->texts[row].bytes,
                                                       names->texts[row].length) != STA_FUNCTION_UNCLASSIFIED)
            continue;
        found->unclassified += counts->integers[row];
        if (found->functions < SHOWN)
            shown[found->functions] = row;
        found->functions++;
    }
    sta_table_init(&found->strange, (size_t)STA_MIN(found->functions, SHOWN));
    sta_table_add(&found->strange, "func_name", STA_TYPE_TEXT, NULL);
    sta_table_add(&found->strange, "count", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < found->strange.rows; i++) {
        const struct sta_text name = names->texts[shown[i]];
        sta_table_set_text(&found->strange, &found->strange.columns[0], i, name.bytes, name.length);
        sta_table_set_int(&found->strange.columns[1], i, counts->integers[shown[i]]);
    }
}

static int find_functions(struct sta_evaluation *evaluation, struct sta_error *err)
{
    struct sta_arena *arena = &evaluation->run->memory;
    struct sta_document *request =
        sta_evaluation_request(evaluation, "cat.str.contains(\"^(posix|stdio)(_|$)\")");
    struct sta_document *keys = sta_document_create(arena, STA_DOCUMENT_LIST);
    struct sta_document *aggregates = sta_document_create(arena, STA_DOCUMENT_OBJECT);
    struct sta_document *order = sta_document_create(arena, STA_DOCUMENT_LIST);
    struct sta_query_result *result;
    struct sta_table functions;
    sta_document_append(arena, keys, NULL, sta_document_text(arena, "func_name", 9));
    sta_document_append(arena, order, NULL, sta_document_text(arena, "-n", 2));
    sta_document_append(arena, order, NULL, sta_document_text(arena, "func_name", 9));
    sta_document_append(arena, aggregates, "n", sta_document_text(arena, "count()", 7));
    sta_document_append(arena, request, "group_by", keys);
    sta_document_append(arena, request, "aggregate", aggregates);
    sta_document_append(arena, request, "order_by", order);
    int rc = sta_evaluation_query(evaluation, request, MOST_FUNCTIONS, &result, &functions, err);
    if (rc == STA_OK)
        count_functions(evaluation->run->query.presets, &functions, &evaluation->ledger);
    sta_table_fini(&functions);
    sta_query_result_release(result);
    return rc;
}

/* ---- figures */

static void copy_rows(const struct sta_table *from, struct sta_table *to)
{
    sta_table_init(to, from->rows);
    for (size_t c = 0; c < from->column_count; c++)
        sta_table_add(to, from->columns[c].name, from->columns[c].type, from->columns[c].unit);
    for (size_t row = 0; row < from->rows; row++) {
        const struct sta_text name = from->columns[0].texts[row];
        sta_table_set_text(to, &to->columns[0], row, name.bytes, name.length);
        sta_table_set_int(&to->columns[1], row, from->columns[1].integers[row]);
    }
}

int sta_evaluate_ledger(struct sta_evaluation *evaluation, const char *ask, struct sta_figure_list *figures,
                        struct sta_table *evidence, struct sta_error *err)
{
    struct sta_unclassified_counts *found = &evaluation->ledger;
    int rc = evaluation->ledger_measured ? STA_OK : count_unresolved(evaluation, &found->unresolved, err);
    if (rc == STA_OK && !evaluation->ledger_measured)
        rc = find_functions(evaluation, err);
    if (rc != STA_OK)
        return rc;
    evaluation->ledger_measured = true;
    put_lines(evaluation->run, ask, figures);
    sta_figure_int(figures, ask, "unresolved", found->unresolved);
    sta_figure_int(figures, ask, "unclassified", found->unclassified);
    sta_figure_int(figures, ask, "posix", found->posix);
    sta_figure_int(figures, ask, "functions", found->functions);
    copy_rows(&found->strange, evidence);
    return STA_OK;
}

void sta_evaluation_ledger_fini(struct sta_evaluation *evaluation)
{
    sta_table_fini(&evaluation->ledger.strange);
}

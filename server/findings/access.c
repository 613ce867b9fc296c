/* Offsets of data calls: given, or followed from open, lseek, read and write of a thread's descriptor.
 *
 * A consumer of rows in order of time, with a thread as unit.  The state of a thread goes from slice to
 * slice, so slices are walked in turn.  A second one, with a rank as unit, unites the time of the calls. */
#include "findings/access.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "findings/access_walk.h"
#include "analyse/sources/scan.h"
#include "common/memory.h"
#include "common/number.h"

#define NO_COLUMN UINT32_MAX

enum { ARG_RET, ARG_FD, ARG_FLAGS, ARG_WHENCE, ARG_OFFSET, ARGS };
static const char *const arg_names[ARGS] = {"args.ret", "args.fd", "args.flags", "args.whence",
                                            "args.offset"};

/* Time of a call. */
struct busy_record {
    int64_t ts, from, to;
    int64_t kind; /* enum sta_access_kind */
};

struct worker {
    uint32_t rows[STA_ROW_GROUP_ROWS];
    /* What the first consumer leaves to the second of a row group: calls that move data in some time. */
    struct sta_overlap_events events;
    uint32_t busy_rows[STA_ROW_GROUP_ROWS], busy_count;
    uint32_t ranks[STA_ROW_GROUP_ROWS]; /* by row */
    uint8_t kinds[STA_ROW_GROUP_ROWS];  /* by row */
};

/* The calls of a rank so far: the last interval of time without a break. */
struct interval {
    int64_t from, to;
};

struct pass {
    const struct sta_run *run;
    struct sta_access_patterns *access;
    struct sta_access_walk *walk;
    struct worker **workers;
    unsigned worker_count;
    uint32_t args[ARGS]; /* columns, or NO_COLUMN */
    uint8_t *op_of_name; /* by code of the trace's names: enum sta_access_op */
    uint8_t *of_cat;     /* by code of the trace's categories: 1 posix, 2 stdio, 0 another */
    uint32_t names, cats;
    const struct sta_phases *phases;
    struct interval *open; /* by rank, then kind */
};

/* ---- names */

static bool holds(struct sta_text text, const char *word)
{
    return strstr(text.bytes, word) != NULL;
}

static bool is(struct sta_text text, const char *word)
{
    return strcmp(text.bytes, word) == 0;
}

static enum sta_access_op op_of(struct sta_text name)
{
    static const char *const given[] = {"pread", "preadv", "pwrite", "pwritev"};
    for (size_t i = 0; i < STA_COUNT_OF(given); i++)
        if (is(name, given[i]))
            return STA_OP_AT_OFFSET;
    if (is(name, "lseek") || is(name, "lseek64"))
        return STA_OP_LSEEK;
    if (is(name, "fseek") || is(name, "seek"))
        return STA_OP_FSEEK;
    if (holds(name, "dir"))
        return STA_OP_OTHER;
    return holds(name, "open") ? STA_OP_OPEN : holds(name, "close") ? STA_OP_CLOSE : STA_OP_OTHER;
}

/* posix, stdio, and what a refinement appends to them. */
static uint8_t kind_of_cat(struct sta_text cat)
{
    const size_t length = strcspn(cat.bytes, "_");
    if (length == 5 && strncasecmp(cat.bytes, "posix", 5) == 0)
        return 1;
    return length == 5 && strncasecmp(cat.bytes, "stdio", 5) == 0 ? 2 : 0;
}

static int know_names(struct pass *pass, struct sta_error *err)
{
    static const char what[] = "the access patterns of a run";
    struct sta_account *account = pass->access->account;
    const struct sta_tables *tables = sta_snapshot_tables(pass->run->query.snapshot);
    const struct sta_dictionary *names = sta_tables_names(tables), *cats = sta_tables_cats(tables);
    pass->names = sta_dictionary_count(names);
    pass->cats = sta_dictionary_count(cats);
    pass->op_of_name = sta_account_alloc(account, (size_t)pass->names + 1, 1, what, err);
    if (pass->op_of_name != NULL)
        pass->of_cat = sta_account_alloc(account, (size_t)pass->cats + 1, 1, what, err);
    if (pass->of_cat == NULL)
        return err->status;
    for (uint32_t n = 0; n < pass->names; n++)
        pass->op_of_name[n] = (uint8_t)op_of(sta_dictionary_text(names, n));
    for (uint32_t c = 0; c < pass->cats; c++)
        pass->of_cat[c] = kind_of_cat(sta_dictionary_text(cats, c));
    const struct sta_schema *schema = sta_columns_schema(pass->access->request.columns);
    for (size_t a = 0; a < ARGS; a++) {
        const int column =
            sta_schema_find(schema, (struct sta_text){arg_names[a], (uint32_t)strlen(arg_names[a])});
        pass->args[a] = column >= 0 ? (uint32_t)column : NO_COLUMN;
    }
    return STA_OK;
}

/* ---- rows */

/* The columns of a row group. */
struct group {
    const uint32_t *names, *cats;
    struct sta_vector io_cat, size, file, args[ARGS];
};

static int read_group(const struct pass *pass, struct sta_column_reader *reader, struct group *group,
                      struct sta_error *err)
{
    int rc = sta_column_reader_get(reader, STA_LOGICAL_size, &group->size, err);
    if (rc == STA_OK)
        rc = sta_column_reader_get(reader, STA_LOGICAL_file_name, &group->file, err);
    for (size_t a = 0; a < ARGS && rc == STA_OK; a++)
        if (pass->args[a] != NO_COLUMN)
            rc = sta_column_reader_get(reader, pass->args[a], &group->args[a], err);
    return rc;
}

/* The integer that a value stands for, or STA_NO_OFFSET. */
static int64_t integer_at(const struct sta_vector *vector, uint32_t row)
{
    int64_t value;
    if (vector->integers == NULL && vector->numbers == NULL && vector->codes == NULL)
        return STA_NO_OFFSET; /* the trace has no such column */
    row = vector->constant ? 0 : row;
    if (vector->type == STA_TYPE_TEXT) {
        if (vector->codes[row] == STA_NO_CODE)
            return STA_NO_OFFSET;
        struct sta_text text = sta_dictionary_text(vector->texts, vector->codes[row]);
        return sta_parse_int(text.bytes, text.length, &value) ? value : STA_NO_OFFSET;
    }
    if (vector->missing != NULL && vector->missing[row])
        return STA_NO_OFFSET;
    if (vector->type == STA_TYPE_INT)
        return vector->integers[row];
    if (vector->type != STA_TYPE_FLOAT || !(vector->numbers[row] >= -9e15 && vector->numbers[row] <= 9e15))
        return STA_NO_OFFSET;
    return (int64_t)vector->numbers[row];
}

static struct sta_access_record record_of(const struct pass *pass, const struct group *group,
                                          const struct sta_overlap_events *events, uint32_t row)
{
    const struct sta_overlap_part part =
        sta_part_of(sta_overlap_window(&pass->access->request), events->ts[row], events->dur[row]);
    const int64_t io_cat = group->io_cat.integers[group->io_cat.constant ? 0 : row];
    const bool transfer = io_cat == STA_IO_READ || io_cat == STA_IO_WRITE;
    const uint8_t op = group->names == NULL || group->names[row] >= pass->names
                           ? STA_OP_OTHER
                           : pass->op_of_name[group->names[row]];
    struct sta_access_record record = {
        .ts = events->ts[row],
        .from = part.from,
        .to = part.to,
        .ret = integer_at(&group->args[ARG_RET], row),
        .fd = integer_at(&group->args[ARG_FD], row),
        .file = group->file.codes[group->file.constant ? 0 : row],
        .op = transfer && op != STA_OP_AT_OFFSET ? STA_OP_TRANSFER : op,
        .kind = io_cat == STA_IO_WRITE ? STA_ACCESS_WRITE : STA_ACCESS_READ,
        .posix = group->cats != NULL && pass->of_cat[group->cats[row]] == 1,
    };
    if (transfer) {
        const int64_t size = integer_at(&group->size, row);
        record.size = size != STA_NO_OFFSET ? size : 0;
    } else if (op == STA_OP_FSEEK) {
        record.size = integer_at(&group->args[ARG_WHENCE], row);
    } else if (op == STA_OP_OPEN) {
        record.size = integer_at(&group->args[ARG_FLAGS], row);
    }
    if (op == STA_OP_AT_OFFSET || op == STA_OP_FSEEK)
        record.ret = integer_at(&group->args[ARG_OFFSET], row);
    return record;
}

/* Lists the rows of calls on data, and of those that move a descriptor. */
static uint32_t list_rows(const struct pass *pass, const struct group *group,
                          const struct sta_overlap_events *events, uint32_t *rows)
{
    const struct sta_time_range window = sta_overlap_window(&pass->access->request);
    uint32_t listed = 0;
    for (uint32_t i = 0; i < events->count && group->cats != NULL; i++) {
        const uint32_t row = sta_overlap_row(events, i), at = group->io_cat.constant ? 0 : row;
        if (group->cats[row] >= pass->cats || pass->of_cat[group->cats[row]] == 0 ||
            (group->io_cat.missing != NULL && group->io_cat.missing[at]))
            continue;
        const int64_t io_cat = group->io_cat.integers[at];
        const bool moves = io_cat == STA_IO_METADATA && group->names != NULL &&
                           group->names[row] < pass->names &&
                           pass->op_of_name[group->names[row]] != STA_OP_OTHER;
        if (!moves && io_cat != STA_IO_READ && io_cat != STA_IO_WRITE)
            continue;
        if (!sta_part_of(window, events->ts[row], events->dur[row]).outside)
            rows[listed++] = row;
    }
    return listed;
}

/* Leaves a call to the second consumer, if it moves data in some time. */
static void note_busy(const struct pass *pass, struct worker *worker, const struct sta_access_record *record,
                      uint32_t row)
{
    const bool data = record->op == STA_OP_TRANSFER || record->op == STA_OP_AT_OFFSET;
    if (!data || record->size == 0 || record->from >= record->to)
        return;
    worker->busy_rows[worker->busy_count++] = row;
    worker->ranks[row] = sta_scope_unit_of_thread(pass->phases->binding.scope, worker->events.threads[row]);
    worker->kinds[row] = record->kind;
}

static int take_rows(void *self, unsigned number, const void *scanned, struct sta_ordered_out *out,
                     struct sta_error *err)
{
    const struct pass *pass = self;
    const struct sta_scan_rows *rows = scanned;
    struct worker *worker = pass->workers[number];
    struct sta_overlap_events events;
    struct group group = {0};
    worker->busy_count = 0;
    struct sta_ordered_part part = {0};
    int rc = sta_overlap_read(&pass->access->binding, number, rows, &events, err);
    if (rc == STA_OK)
        rc = sta_column_reader_codes(rows->reader, STA_COLUMN_NAME, &group.names, err);
    if (rc == STA_OK)
        rc = sta_column_reader_codes(rows->reader, STA_COLUMN_CAT, &group.cats, err);
    if (rc == STA_OK)
        rc = sta_column_reader_get(rows->reader, STA_LOGICAL_io_cat, &group.io_cat, err);
    if (rc != STA_OK)
        return rc;
    worker->events = events;
    const struct sta_ordered_rows ordered = {.rows = worker->rows,
                                             .count = list_rows(pass, &group, &events, worker->rows),
                                             .ts = events.ts,
                                             .units = events.units,
                                             .unit_limit = sta_scope_unit_count(pass->access->binding.scope)};
    rc = ordered.count > 0 ? read_group(pass, rows->reader, &group, err) : STA_OK;
    do {
        if (rc == STA_OK)
            rc = sta_ordered_place(out, &ordered, &part, err);
        for (uint32_t i = part.first; rc == STA_OK && i < part.end; i++) {
            const uint32_t row = worker->rows[i];
            struct sta_access_record *to = part.records;
            const struct sta_access_record record = record_of(pass, &group, &events, row);
            to[part.next[events.units[row]]++] = record;
            note_busy(pass, worker, &record, row);
        }
    } while (rc == STA_OK && part.first < part.end);
    return rc;
}

static int take_busy(void *self, unsigned number, const void *scanned, struct sta_ordered_out *out,
                     struct sta_error *err)
{
    const struct pass *pass = self;
    const struct worker *worker = pass->workers[number];
    const struct sta_time_range window = sta_overlap_window(&pass->access->request);
    const struct sta_ordered_rows ordered = {.rows = worker->busy_rows,
                                             .count = worker->busy_count,
                                             .ts = worker->events.ts,
                                             .units = worker->ranks,
                                             .unit_limit = pass->phases->rank_count};
    struct sta_ordered_part part = {0};
    int rc = STA_OK;
    (void)scanned;
    do {
        rc = sta_ordered_place(out, &ordered, &part, err);
        for (uint32_t i = part.first; rc == STA_OK && i < part.end; i++) {
            const uint32_t row = worker->busy_rows[i];
            const struct sta_overlap_part cut = sta_part_of(window, ordered.ts[row], worker->events.dur[row]);
            ((struct busy_record *)part.records)[part.next[worker->ranks[row]]++] =
                (struct busy_record){ordered.ts[row], cut.from, cut.to, worker->kinds[row]};
        }
    } while (rc == STA_OK && part.first < part.end);
    return rc;
}

/* ---- slices */

static int walk_slice(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_access_walk_slice(((const struct pass *)self)->walk, worker, slice, err);
}

static int find_extents(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    return sta_access_walk_extents(((const struct pass *)self)->walk, worker, slice, err);
}

/* ---- time of calls */

static void close_interval(const struct pass *pass, uint32_t rank, size_t kind)
{
    const struct interval *open = &pass->open[(size_t)rank * STA_ACCESS_KINDS + kind];
    if (open->from < open->to)
        pass->access->sums[kind].exposed +=
            open->to - open->from -
            sta_moments_within(&pass->phases->ranks[rank].compute, open->from, open->to);
}

static int unite_busy(void *self, unsigned worker, const struct sta_slice *slice, struct sta_error *err)
{
    const struct pass *pass = self;
    (void)worker, (void)err;
    for (size_t u = 0; u < slice->unit_count; u++) {
        const struct sta_ordered_unit *unit = &slice->units[u];
        const struct busy_record *records = unit->records;
        for (size_t i = 0; i < unit->count; i++) {
            const size_t kind = (size_t)records[i].kind;
            struct interval *open = &pass->open[(size_t)unit->unit * STA_ACCESS_KINDS + kind];
            if (records[i].from > open->to) {
                close_interval(pass, unit->unit, kind);
                open->from = records[i].from;
            }
            open->to = STA_MAX(open->to, records[i].to);
        }
    }
    return STA_OK;
}

static int open_intervals(struct pass *pass, struct sta_error *err)
{
    const size_t count = (size_t)pass->phases->rank_count * STA_ACCESS_KINDS;
    pass->open = sta_account_alloc(pass->access->account, count + 1, sizeof *pass->open,
                                   "the access patterns of a run", err);
    for (size_t i = 0; pass->open != NULL && i < count; i++)
        pass->open[i] = (struct interval){INT64_MIN, INT64_MIN};
    return pass->open == NULL ? err->status : STA_OK;
}

static void close_intervals(const struct pass *pass)
{
    for (uint32_t rank = 0; rank < pass->phases->rank_count; rank++)
        for (size_t kind = 0; kind < STA_ACCESS_KINDS; kind++)
            close_interval(pass, rank, kind);
}

/* ---- the whole */

static int bind(struct sta_run *run, struct sta_access_patterns *access, struct sta_error *err)
{
    static char name[] = "io", always[] = "true";
    struct sta_named_expression *sets = sta_arena_alloc(&run->memory, sizeof *sets, _Alignof(max_align_t));
    struct sta_document *request = sta_run_request(run);
    sta_run_add_text(run, request, "scope", "thread");
    *sets = (struct sta_named_expression){name, always};
    access->query = sta_run_query(run, request, sets, 1);
    int rc = sta_overlap_request_read(&access->request, &access->query, false, err);
    return rc == STA_OK ? sta_overlap_binding_init(&access->binding, &access->request, run->budget, err) : rc;
}

static int run_pass(struct pass *pass, struct sta_error *err)
{
    pass->workers = sta_alloc_array(pass->worker_count, sizeof *pass->workers);
    for (unsigned w = 0; w < pass->worker_count; w++)
        pass->workers[w] = sta_alloc(sizeof **pass->workers);
    const struct sta_ordered_consumer consumers[] = {
        {pass, sizeof(struct sta_access_record), take_rows, NULL, walk_slice, find_extents, NULL},
        {pass, sizeof(struct busy_record), take_busy, NULL, unite_busy, NULL, NULL}};
    struct sta_scan scan = sta_overlap_scan(&pass->access->request);
    scan.ordered = consumers;
    scan.ordered_count = STA_COUNT_OF(consumers);
    int rc = sta_scan_run(&scan, pass->run->budget, err);
    for (unsigned w = 0; w < pass->worker_count; w++)
        free(pass->workers[w]);
    free(pass->workers);
    return rc;
}

static int measure(struct pass *pass, struct sta_error *err)
{
    struct sta_access_patterns *access = pass->access;
    int rc = know_names(pass, err);
    if (rc == STA_OK)
        rc = sta_access_walk_create(pass->phases, access, pass->run, &pass->walk, err);
    if (rc == STA_OK)
        rc = open_intervals(pass, err);
    if (rc == STA_OK)
        rc = run_pass(pass, err);
    if (rc == STA_OK)
        close_intervals(pass);
    if (rc == STA_OK)
        rc = sta_access_walk_finish(pass->walk, access, err);
    sta_access_walk_destroy(pass->walk);
    sta_account_free(access->account, pass->open);
    sta_account_free(access->account, pass->op_of_name);
    sta_account_free(access->account, pass->of_cat);
    return rc;
}

int sta_access_measure(struct sta_run *run, const struct sta_phases *phases,
                       struct sta_access_patterns *access, struct sta_error *err)
{
    struct pass pass = {
        .run = run, .access = access, .worker_count = sta_budget_workers(run->budget), .phases = phases};
    *access = (struct sta_access_patterns){.account = run->budget->account};
    int rc = bind(run, access, err);
    if (rc == STA_OK)
        rc = measure(&pass, err);
    if (rc != STA_OK)
        sta_access_fini(access);
    return rc;
}

void sta_access_fini(struct sta_access_patterns *access)
{
    for (size_t k = 0; k < STA_ACCESS_KINDS; k++)
        sta_account_free(access->account, access->files[k]);
    sta_overlap_binding_fini(&access->binding);
    sta_overlap_request_release(&access->request);
    *access = (struct sta_access_patterns){0};
}

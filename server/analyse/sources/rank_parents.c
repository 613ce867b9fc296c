/* Who forked whom.
 *
 * Two kinds of events tell: one that carries args.ppid states the parent of its own process, and a fork,
 * vfork or clone of category posix that returned a process of the same host states the parent of that one.
 * Of each kind the first in event order counts, and what a process states itself goes before forks.
 *
 * So forks are looked at only where some process has not stated its parent, and of either kind only the row
 * groups whose statistics allow it; few rows of those say anything, and the columns that tell who spoke are
 * read only where one does. */
#include "analyse/sources/rank_groups.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/sources/scan.h"
#include "common/account.h"
#include "common/memory.h"
#include "common/number.h"

/* What an event says of a process's parent, and where the event is. */
struct claim {
    const struct sta_row_group *row_group; /* NULL: none was made */
    uint32_t row;
    uint32_t parent; /* STA_NO_PARENT: one without events */
    int64_t ts;
};

enum claim_kind { CLAIM_STATED, CLAIM_FORKED, CLAIM_KINDS };

struct search {
    const struct sta_snapshot *snapshot;
    const struct sta_entities *entities;
    const struct sta_tables *tables;
    struct sta_columns *columns;
    uint32_t ppid_key, ret_key; /* STA_NO_CODE: no event has it */
    uint32_t fork_names[3];
    uint32_t posix_cat;
    unsigned workers;
    struct claim *claims; /* the first that were seen, by worker, kind and process */
    struct sta_account *account;
};

#define WHAT "the parents of processes"

/* ---- processes by (host, pid) */

/* As the entities order them: hosts by text, what is missing last. */
static int compare_process(const struct sta_entities *entities, const struct sta_entity_process *process,
                           uint32_t host, int64_t pid)
{
    if (process->host == host)
        return process->pid == STA_NO_ID ? 1 : (process->pid > pid) - (process->pid < pid);
    if (process->host == STA_NO_CODE || host == STA_NO_CODE)
        return process->host == STA_NO_CODE ? 1 : -1;
    return sta_text_order(sta_dictionary_text(entities->hosts, process->host),
                          sta_dictionary_text(entities->hosts, host));
}

uint32_t sta_process_find(const struct sta_entities *entities, uint32_t host, int64_t pid)
{
    uint32_t low = 0, high = entities->process_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = compare_process(entities, &entities->processes[middle], host, pid);
        if (order == 0)
            return middle;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return STA_NO_PARENT;
}

/* ---- claims */

/* Where a claim stands among those of the same time. */
struct origin {
    const char *path;
    uint64_t first_line; /* of its chunk */
    uint64_t place;      /* segment, then row in it */
};

static int find_origin(const struct search *search, const struct claim *claim, struct origin *origin,
                       struct sta_error *err)
{
    uint32_t codes[STA_ROW_GROUP_ROWS];
    struct sta_column_values values = {.codes = codes};
    const struct sta_row_group *row_group = claim->row_group;
    size_t count;
    const struct sta_chunk *chunks = sta_snapshot_chunks(search->snapshot, row_group->segment, &count);
    int rc = sta_row_group_read(search->snapshot, row_group, STA_COLUMN_CHUNK, &values, err);
    const uint32_t chunk = rc == 0 && values.kind == STA_KIND_CODE ? codes[claim->row] : STA_NO_CODE;
    const uint32_t row = row_group->index * STA_ROW_GROUP_ROWS + claim->row;
    *origin = (struct origin){.path = "", .place = (uint64_t)row_group->segment << 32 | row};
    if (chunk < count) {
        origin->path = sta_snapshot_source(search->snapshot, chunks[chunk].source)->path;
        origin->first_line = chunks[chunk].first_line;
    }
    return rc;
}

/* Of events of the same time: seldom, so that only here the chunks of rows are looked at. */
static int break_tie(const struct search *search, const struct claim *a, const struct claim *b, bool *before,
                     struct sta_error *err)
{
    struct origin of_a, of_b;
    if (find_origin(search, a, &of_a, err) != 0 || find_origin(search, b, &of_b, err) != 0)
        return err->status;
    const int paths = strcmp(of_a.path, of_b.path);
    *before = paths != 0                           ? paths < 0
              : of_a.first_line != of_b.first_line ? of_a.first_line < of_b.first_line
                                                   : of_a.place < of_b.place;
    return STA_OK;
}

static int offer(const struct search *search, struct claim *best, const struct claim *claim,
                 struct sta_error *err)
{
    bool before = claim->row_group != NULL && (best->row_group == NULL || claim->ts < best->ts);
    int rc = STA_OK;
    if (claim->row_group != NULL && best->row_group != NULL && claim->ts == best->ts)
        rc = break_tie(search, claim, best, &before, err);
    if (rc == 0 && before)
        *best = *claim;
    return rc;
}

/* The integer that a value of an args key stands for. */
static bool integer_at(const struct search *search, const struct sta_column_values *values, uint32_t key,
                       uint32_t row, int64_t *value)
{
    const struct sta_single_value found = sta_column_value_at(values, row);
    switch (found.kind) {
    case STA_VALUE_INT:
        *value = found.value.integer;
        return true;
    case STA_VALUE_FLOAT:
        return sta_integer_of_number(found.value.number, value);
    case STA_VALUE_TEXT:
        return sta_integer_of_text(
            sta_dictionary_text(sta_tables_values(search->tables, key), found.value.code), value);
    default:
        return false;
    }
}

/* ---- reading a row group */

static struct claim *claim_of(const struct search *search, unsigned worker, enum claim_kind kind,
                              uint32_t process)
{
    return &search->claims[((size_t)worker * CLAIM_KINDS + kind) * search->entities->process_count + process];
}

/* Who says something in a row, and when. */
static int read_speaker(const struct search *search, const struct sta_scan_rows *rows, uint32_t row,
                        uint32_t *process, int64_t *ts, struct sta_error *err)
{
    const struct sta_entities *entities = search->entities;
    const struct sta_column_values *times, *threads;
    int rc = sta_column_reader_physical(rows->reader, STA_COLUMN_TS, &times, err);
    if (rc == 0)
        rc = sta_column_reader_physical(rows->reader, STA_COLUMN_THREAD, &threads, err);
    if (rc != 0)
        return rc;
    *process = entities->threads[entities->thread_of_code[threads->codes[row]]].process;
    *ts = times->integers[row];
    return STA_OK;
}

/* The first row from @row on that may have a value. */
static uint32_t next_value(const struct sta_column_values *values, uint32_t row, uint32_t rows)
{
    if (values->kind == STA_KIND_CODE || !values->any_missing || row >= rows)
        return row;
    const uint8_t *there = memchr(values->missing + row, 0, rows - row);
    return there != NULL ? (uint32_t)(there - values->missing) : rows;
}

static int read_stated(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct search *search = self;
    const struct sta_column_values *values;
    int rc = sta_column_reader_physical(rows->reader, STA_COLUMN_ARGS + search->ppid_key, &values, err);
    if (rc != 0 || values->kind == STA_KIND_ABSENT)
        return rc;
    for (uint32_t row = next_value(values, 0, rows->count); rc == 0 && row < rows->count;
         row = next_value(values, row + 1, rows->count)) {
        struct claim claim = {.row_group = rows->row_group, .row = row};
        uint32_t process;
        int64_t pid;
        if (!integer_at(search, values, search->ppid_key, row, &pid))
            continue;
        rc = read_speaker(search, rows, row, &process, &claim.ts, err);
        if (rc != 0)
            return rc;
        claim.parent = sta_process_find(search->entities, search->entities->processes[process].host, pid);
        rc = offer(search, claim_of(search, worker, CLAIM_STATED, process), &claim, err);
    }
    return rc;
}

static bool is_fork(const struct search *search, uint32_t name)
{
    const uint32_t *forks = search->fork_names;
    return (name == forks[0] || name == forks[1] || name == forks[2]) && name != STA_NO_CODE;
}

/* A fork of a row, if it returned a process. */
static int read_fork(const struct search *search, unsigned worker, const struct sta_scan_rows *rows,
                     uint32_t row, struct sta_error *err)
{
    struct claim claim = {.row_group = rows->row_group, .row = row};
    const struct sta_column_values *values;
    int64_t pid;
    int rc = sta_column_reader_physical(rows->reader, STA_COLUMN_ARGS + search->ret_key, &values, err);
    if (rc != 0 || !integer_at(search, values, search->ret_key, row, &pid) || pid <= 0)
        return rc;
    rc = read_speaker(search, rows, row, &claim.parent, &claim.ts, err);
    if (rc != 0)
        return rc;
    uint32_t child = sta_process_find(search->entities, search->entities->processes[claim.parent].host, pid);
    return child != STA_NO_PARENT ? offer(search, claim_of(search, worker, CLAIM_FORKED, child), &claim, err)
                                  : STA_OK;
}

static int read_forks(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct search *search = self;
    const struct sta_column_values *names, *cats = NULL;
    int rc = sta_column_reader_physical(rows->reader, STA_COLUMN_NAME, &names, err);
    if (rc == 0)
        rc = sta_column_reader_physical(rows->reader, STA_COLUMN_CAT, &cats, err);
    for (uint32_t row = 0; rc == 0 && row < rows->count; row++)
        if (is_fork(search, names->codes[row]) && cats->codes[row] == search->posix_cat)
            rc = read_fork(search, worker, rows, row, err);
    return rc;
}

static bool states_nothing(void *context, const struct sta_row_group *row_group)
{
    const struct search *search = context;
    struct sta_column_stats stats;
    if (search->ppid_key == STA_NO_CODE)
        return true;
    sta_row_group_stats(search->snapshot, row_group, STA_COLUMN_ARGS + search->ppid_key, &stats);
    return stats.kind == STA_KIND_ABSENT;
}

static bool lists(const struct sta_column_stats *stats, uint32_t code)
{
    for (uint32_t i = 0; i < stats->code_count; i++)
        if (stats->codes[i] == code)
            return true;
    return false;
}

static bool forks_nothing(void *context, const struct sta_row_group *row_group)
{
    const struct search *search = context;
    struct sta_column_stats stats;
    if (search->ret_key == STA_NO_CODE || search->posix_cat == STA_NO_CODE)
        return true;
    sta_row_group_stats(search->snapshot, row_group, STA_COLUMN_NAME, &stats);
    bool may = false;
    for (size_t i = 0; i < STA_COUNT_OF(search->fork_names); i++)
        may |=
            search->fork_names[i] != STA_NO_CODE && (!stats.listed || lists(&stats, search->fork_names[i]));
    return !may;
}

/* ---- start and end */

static uint32_t code_of(const struct sta_dictionary *dictionary, const char *text)
{
    return sta_dictionary_find(dictionary, text, strlen(text));
}

static int search_init(struct search *search, const struct sta_snapshot *snapshot, unsigned workers,
                       struct sta_account *account, struct sta_error *err)
{
    const struct sta_columns_options options = {.presets = NULL};
    *search = (struct search){.snapshot = snapshot,
                              .account = account,
                              .entities = sta_snapshot_entities(snapshot),
                              .tables = sta_snapshot_tables(snapshot),
                              .workers = workers};
    const struct sta_dictionary *keys = sta_tables_keys(search->tables);
    const struct sta_dictionary *names = sta_tables_names(search->tables);
    search->ppid_key = code_of(keys, "ppid");
    search->ret_key = code_of(keys, "ret");
    search->fork_names[0] = code_of(names, "fork");
    search->fork_names[1] = code_of(names, "vfork");
    search->fork_names[2] = code_of(names, "clone");
    search->posix_cat = code_of(sta_tables_cats(search->tables), "posix");
    search->claims =
        sta_account_calloc(account, (size_t)workers * CLAIM_KINDS * search->entities->process_count,
                           sizeof *search->claims, WHAT, err);
    return search->claims != NULL
               ? sta_columns_create((struct sta_snapshot *)snapshot, &options, &search->columns, err)
               : err->status;
}

static void search_fini(struct search *search)
{
    sta_columns_destroy(search->columns);
    sta_account_free(search->account, search->claims);
}

/* Charged to the snapshot, which keeps them.  NULL: it failed. */
static uint32_t *finalize(const struct search *search, struct sta_error *err)
{
    uint32_t process_count = search->entities->process_count;
    uint32_t *parents =
        sta_account_alloc(sta_snapshot_account(search->snapshot), process_count, sizeof *parents, WHAT, err);
    int rc = parents != NULL ? STA_OK : err->status;
    for (uint32_t p = 0; parents != NULL && rc == 0 && p < process_count; p++) {
        struct claim best[CLAIM_KINDS] = {0};
        for (unsigned w = 0; rc == 0 && w < search->workers; w++)
            for (unsigned k = 0; rc == 0 && k < CLAIM_KINDS; k++)
                rc = offer(search, &best[k], claim_of(search, w, (enum claim_kind)k, p), err);
        const struct claim *claim = &best[best[CLAIM_STATED].row_group != NULL ? CLAIM_STATED : CLAIM_FORKED];
        parents[p] = claim->row_group != NULL ? claim->parent : STA_NO_PARENT;
    }
    if (rc == 0)
        return parents;
    sta_account_free(sta_snapshot_account(search->snapshot), parents);
    return NULL;
}

/* Whether each process has stated its parent, be it that this one has no events. */
static bool all_stated(const struct search *search)
{
    bool all = true;
    for (uint32_t p = 0; p < search->entities->process_count && all; p++) {
        all = false;
        for (unsigned w = 0; w < search->workers; w++)
            all |= claim_of(search, w, CLAIM_STATED, p)->row_group != NULL;
    }
    return all;
}

static int scan(struct search *search, bool (*skip)(void *, const struct sta_row_group *),
                int (*update)(void *, unsigned, const struct sta_scan_rows *, struct sta_error *),
                const struct sta_budget *budget, struct sta_error *err)
{
    const struct sta_accumulator claims = {.self = search, .update = update};
    const struct sta_scan scan = {.columns = search->columns,
                                  .from = INT64_MIN,
                                  .to = INT64_MAX,
                                  .accumulators = &claims,
                                  .accumulator_count = 1,
                                  .skip = skip,
                                  .skip_context = search};
    return sta_scan_run(&scan, budget, err);
}

int sta_rank_parents(const struct sta_snapshot *snapshot, const struct sta_budget *budget,
                     const uint32_t **parents, struct sta_error *err)
{
    *parents = sta_snapshot_parents(snapshot);
    if (*parents != NULL)
        return STA_OK;
    struct search search;
    int rc = search_init(&search, snapshot, sta_budget_workers(budget), budget->account, err);
    if (rc == 0)
        rc = scan(&search, states_nothing, read_stated, budget, err);
    if (rc == 0 && !all_stated(&search))
        rc = scan(&search, forks_nothing, read_forks, budget, err);
    uint32_t *found = rc == 0 ? finalize(&search, err) : NULL;
    if (found != NULL)
        *parents = sta_snapshot_keep_parents(snapshot, found);
    else
        rc = err->status;
    search_fini(&search);
    return rc;
}

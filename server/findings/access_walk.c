/* Positions of descriptors and ends of streams, thread by thread; then unions of extents and of time. */
#include "findings/access_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/exec/tasks.h"
#include "findings/access_extents.h"
#include "common/map.h"
#include "common/memory.h"

static const char WHAT[] = "the access patterns of a run";

#define O_APPEND_FLAG 1024

/* Time in random calls of a rank. */
struct busy {
    uint64_t rank;
    int64_t from, to;
};

struct busies {
    struct busy *items;
    size_t count, capacity;
};

/* Values of a thread by descriptor or by stream. */
struct values {
    struct sta_map places;
    int64_t *items;
    size_t count, capacity;
    uint64_t last_key; /* the one asked for last, and its place: most calls ask for it again */
    uint32_t last_place;
};

struct thread {
    struct values positions; /* of descriptors; STA_NO_OFFSET: unknown */
    struct values ends;      /* of streams: end of the last call; STA_NO_OFFSET: none */
    uint32_t rank;
};

/* What a worker finds: the bytes that calls moved. */
struct found {
    struct sta_extents extents[STA_ACCESS_KINDS];
    int64_t *offsets; /* of the records of its slice, unit by unit; STA_NO_OFFSET: unknown, or no data call */
    size_t capacity;
};

struct sta_access_walk {
    const struct sta_phases *phases;
    const struct sta_run *run;
    struct sta_account *account;
    struct thread *threads; /* by unit */
    uint32_t thread_count;
    struct sta_access_sums sums[STA_ACCESS_KINDS];
    struct busies random[STA_ACCESS_KINDS];
    __int128 *bytes[STA_ACCESS_KINDS]; /* with known offset, by code of the file, one more for no file */
    uint32_t file_count;
    struct found *found; /* by worker */
    unsigned worker_count;
};

static int make_sums(struct sta_access_walk *walk, const struct sta_access_patterns *access,
                     struct sta_error *err)
{
    walk->file_count =
        sta_dictionary_count(sta_columns_texts(access->request.columns, STA_LOGICAL_file_name));
    for (size_t k = 0; k < STA_ACCESS_KINDS; k++) {
        walk->bytes[k] = sta_account_calloc(walk->account, (size_t)walk->file_count + 1,
                                            sizeof *walk->bytes[k], WHAT, err);
        if (walk->bytes[k] == NULL)
            return err->status;
    }
    return STA_OK;
}

int sta_access_walk_create(const struct sta_phases *phases, const struct sta_access_patterns *access,
                           const struct sta_run *run, struct sta_access_walk **walk, struct sta_error *err)
{
    const struct sta_scope *scope = access->binding.scope;
    const struct sta_entities *entities = sta_snapshot_entities(run->query.snapshot);
    struct sta_access_walk *fresh = *walk = sta_alloc(sizeof *fresh);
    *fresh = (struct sta_access_walk){.phases = phases,
                                      .run = run,
                                      .account = run->budget->account,
                                      .thread_count = sta_scope_unit_count(scope),
                                      .worker_count = sta_budget_workers(run->budget)};
    fresh->found = sta_alloc_array(fresh->worker_count, sizeof *fresh->found);
    fresh->threads = sta_account_calloc(fresh->account, (size_t)fresh->thread_count + 1,
                                        sizeof *fresh->threads, WHAT, err);
    if (fresh->threads == NULL || make_sums(fresh, access, err) != STA_OK)
        return err->status;
    for (uint32_t t = 0; t < fresh->thread_count; t++) {
        sta_map_init(&fresh->threads[t].positions.places);
        sta_map_init(&fresh->threads[t].ends.places);
        fresh->threads[t].positions.places.account = fresh->threads[t].ends.places.account = fresh->account;
    }
    for (uint32_t code = 0; code < entities->thread_code_count; code++)
        if (entities->thread_of_code[code] < entities->thread_count)
            fresh->threads[sta_scope_unit_of_thread(scope, code)].rank =
                sta_scope_unit_of_thread(phases->binding.scope, code);
    return STA_OK;
}

void sta_access_walk_destroy(struct sta_access_walk *walk)
{
    if (walk == NULL)
        return;
    for (uint32_t t = 0; walk->threads != NULL && t < walk->thread_count; t++) {
        sta_map_fini(&walk->threads[t].positions.places);
        sta_map_fini(&walk->threads[t].ends.places);
        sta_account_free(walk->account, walk->threads[t].positions.items);
        sta_account_free(walk->account, walk->threads[t].ends.items);
    }
    for (size_t k = 0; k < STA_ACCESS_KINDS; k++) {
        sta_account_free(walk->account, walk->random[k].items);
        sta_account_free(walk->account, walk->bytes[k]);
    }
    for (unsigned w = 0; w < walk->worker_count; w++) {
        for (size_t k = 0; k < STA_ACCESS_KINDS; k++)
            sta_extents_fini(&walk->found[w].extents[k], walk->account);
        sta_account_free(walk->account, walk->found[w].offsets);
    }
    free(walk->found);
    sta_account_free(walk->account, walk->threads);
    free(walk);
}

/* ---- a thread's state */

/* A descriptor by its number, or a stream without one by its file. */
static uint64_t handle_of(const struct sta_access_record *record)
{
    if (record->fd != STA_NO_OFFSET)
        return ((uint64_t)record->fd & (UINT64_MAX >> 2)) << 1;
    return (uint64_t)record->file << 1 | 1;
}

static int slot_of(struct sta_access_walk *walk, struct values *values, uint64_t key, int64_t **slot,
                   struct sta_error *err)
{
    bool added = false;
    const bool again = values->count > 0 && values->last_key == key;
    const uint32_t place =
        again ? values->last_place : sta_map_intern(&values->places, key, (uint32_t)values->count, &added);
    values->last_key = key;
    values->last_place = place;
    if (added) {
        int rc =
            STA_ACCOUNT_GROW(walk->account, values->items, values->capacity, values->count + 1, WHAT, err);
        if (rc != STA_OK)
            return rc;
        values->items[values->count++] = STA_NO_OFFSET;
    }
    *slot = &values->items[place];
    return STA_OK;
}

/* The offset of a handle after a call that moves it: known after an open and a seek from the beginning, and
 * after a seek from an offset that was known. */
static int64_t offset_after(const struct sta_access_record *record, int64_t offset)
{
    const bool returned = record->ret != STA_NO_OFFSET;
    switch (record->op) {
    case STA_OP_OPEN:
        return record->size != STA_NO_OFFSET && (record->size & O_APPEND_FLAG) ? STA_NO_OFFSET : 0;
    case STA_OP_CLOSE:
        return STA_NO_OFFSET;
    case STA_OP_LSEEK:
        return returned && record->ret >= 0 ? record->ret : offset;
    default: /* fseek */
        break;
    }
    if (record->size == SEEK_SET)
        return record->ret;
    return record->size == SEEK_CUR && offset != STA_NO_OFFSET && returned ? offset + record->ret
                                                                           : STA_NO_OFFSET;
}

static int move(struct sta_access_walk *walk, struct thread *thread, const struct sta_access_record *record,
                struct sta_error *err)
{
    struct sta_access_record opened = *record;
    int64_t *position;
    if (record->op == STA_OP_OPEN) {
        if (record->ret == STA_NO_OFFSET || record->ret < 0)
            return STA_OK;
        opened.fd = record->posix ? record->ret : STA_NO_OFFSET;
    }
    int rc = slot_of(walk, &thread->positions, handle_of(&opened), &position, err);
    if (rc != STA_OK)
        return rc;
    *position = offset_after(record, *position);
    return STA_OK;
}

/* ---- data calls */

static uint32_t epoch_of(const struct sta_access_walk *walk, const struct thread *thread, int64_t ts)
{
    const struct sta_rank *rank = &walk->phases->ranks[thread->rank];
    const size_t e = sta_rank_epoch_behind(rank, ts);
    if (e == rank->epoch_count || rank->epochs[e].from > ts)
        return UINT32_MAX;
    return rank->epochs[e].shared;
}

static int add_busy(struct sta_access_walk *walk, struct busies *busies, uint32_t rank,
                    const struct sta_access_record *record, struct sta_error *err)
{
    struct busy *last = busies->count > 0 ? &busies->items[busies->count - 1] : NULL;
    if (record->from >= record->to)
        return STA_OK;
    if (last != NULL && last->rank == rank && last->from <= record->from && record->from <= last->to) {
        last->to = STA_MAX(last->to, record->to);
        return STA_OK;
    }
    int rc = STA_ACCOUNT_GROW(walk->account, busies->items, busies->capacity, busies->count + 1, WHAT, err);
    if (rc == STA_OK)
        busies->items[busies->count++] = (struct busy){rank, record->from, record->to};
    return rc;
}

/* Where a call begins, and its descriptor goes on. */
static int offset_of(struct sta_access_walk *walk, struct thread *thread,
                     const struct sta_access_record *record, int64_t *offset, struct sta_error *err)
{
    int64_t *position;
    if (record->op == STA_OP_AT_OFFSET) {
        *offset = record->ret;
        return STA_OK;
    }
    int rc = slot_of(walk, &thread->positions, handle_of(record), &position, err);
    if (rc != STA_OK)
        return rc;
    *offset = *position;
    if (*position != STA_NO_OFFSET && record->ret != STA_NO_OFFSET && record->ret > 0)
        *position += record->ret;
    return STA_OK;
}

static int take_known(struct sta_access_walk *walk, struct thread *thread,
                      const struct sta_access_record *record, int64_t offset, struct sta_error *err)
{
    struct sta_access_sums *sums = &walk->sums[record->kind];
    int64_t *end;
    int rc = slot_of(walk, &thread->ends, (uint64_t)record->file << 1 | record->kind, &end, err);
    if (rc != STA_OK)
        return rc;
    if (offset == STA_NO_OFFSET) {
        sums->unknown++;
        *end = STA_NO_OFFSET;
        return STA_OK;
    }
    const bool random = *end != STA_NO_OFFSET && offset < *end;
    if (*end == STA_NO_OFFSET)
        sums->first++;
    else if (offset == *end)
        sums->consecutive++;
    else if (random)
        sums->random++;
    else
        sums->sequential++;
    *end = offset + record->size;
    sums->known_bytes += record->size;
    walk->bytes[record->kind][STA_MIN(record->file, walk->file_count)] += record->size;
    return random ? add_busy(walk, &walk->random[record->kind], thread->rank, record, err) : STA_OK;
}

/* *known: the offset, if it is known and bytes were moved. */
static int transfer(struct sta_access_walk *walk, struct thread *thread,
                    const struct sta_access_record *record, int64_t *known, struct sta_error *err)
{
    int64_t offset;
    int rc = offset_of(walk, thread, record, &offset, err);
    if (rc != STA_OK || record->size == 0)
        return rc;
    *known = offset;
    walk->sums[record->kind].ops++;
    walk->sums[record->kind].bytes += record->size;
    return take_known(walk, thread, record, offset, err);
}

static bool is_data(const struct sta_access_record *record)
{
    return record->op == STA_OP_TRANSFER || record->op == STA_OP_AT_OFFSET;
}

static int walk_unit(struct sta_access_walk *walk, const struct sta_ordered_unit *unit, int64_t *offsets,
                     struct sta_error *err)
{
    const struct sta_access_record *records = unit->records;
    struct thread *thread = &walk->threads[unit->unit];
    int rc = STA_OK;
    for (size_t i = 0; i < unit->count && rc == STA_OK; i++) {
        offsets[i] = STA_NO_OFFSET;
        rc = is_data(&records[i]) ? transfer(walk, thread, &records[i], &offsets[i], err)
                                  : move(walk, thread, &records[i], err);
        if (rc == STA_OK)
            rc = sta_budget_check_step(walk->run->budget, i + 1, err);
    }
    return rc;
}

int sta_access_walk_slice(struct sta_access_walk *walk, unsigned worker, const struct sta_slice *slice,
                          struct sta_error *err)
{
    struct found *found = &walk->found[worker];
    size_t records = 0, at = 0;
    for (size_t u = 0; u < slice->unit_count; u++)
        records += slice->units[u].count;
    int rc = STA_ACCOUNT_GROW(walk->account, found->offsets, found->capacity, records, WHAT, err);
    for (size_t u = 0; u < slice->unit_count && rc == STA_OK; at += slice->units[u++].count)
        rc = walk_unit(walk, &slice->units[u], found->offsets + at, err);
    return rc;
}

static int find_extents(const struct sta_access_walk *walk, struct found *found,
                        const struct sta_ordered_unit *unit, const int64_t *offsets, struct sta_error *err)
{
    const struct sta_access_record *records = unit->records;
    const struct thread *thread = &walk->threads[unit->unit];
    int rc = STA_OK;
    for (size_t i = 0; i < unit->count && rc == STA_OK; i++)
        if (offsets[i] != STA_NO_OFFSET)
            rc = sta_extents_add(&found->extents[records[i].kind],
                                 (struct sta_extent){.place = (uint64_t)records[i].file << 32 |
                                                              epoch_of(walk, thread, records[i].ts),
                                                     .from = offsets[i],
                                                     .to = offsets[i] + STA_MAX(records[i].size, 0)},
                                 walk->run->budget, err);
    return rc;
}

int sta_access_walk_extents(struct sta_access_walk *walk, unsigned worker, const struct sta_slice *slice,
                            struct sta_error *err)
{
    struct found *found = &walk->found[worker];
    size_t at = 0;
    int rc = STA_OK;
    for (size_t u = 0; u < slice->unit_count && rc == STA_OK; at += slice->units[u++].count)
        rc = find_extents(walk, found, &slice->units[u], found->offsets + at, err);
    return rc;
}

/* ---- sums */

/* Union by rank, less that rank's compute. */
static int exposed_of(const struct sta_access_walk *walk, struct busies *busies, int64_t *ticks,
                      struct sta_error *err)
{
    int rc = sta_sort_intervals(busies->items, busies->count, walk->run->budget, err);
    *ticks = 0;
    for (size_t i = 0, end; rc == STA_OK && i < busies->count; i = end) {
        const struct busy *first = &busies->items[i];
        int64_t covered = first->to;
        for (end = i + 1; end < busies->count && busies->items[end].rank == first->rank &&
                          busies->items[end].from <= covered;
             end++)
            covered = STA_MAX(covered, busies->items[end].to);
        *ticks += covered - first->from -
                  sta_moments_within(&walk->phases->ranks[first->rank].compute, first->from, covered);
    }
    return rc;
}

struct by_waste {
    const struct sta_dictionary *texts;
};

static int compare_files(const void *a, const void *b, void *context)
{
    const struct sta_access_file *x = a, *y = b;
    const struct by_waste *by = context;
    const __int128 left = x->bytes - x->distinct, right = y->bytes - y->distinct;
    if (left != right)
        return left > right ? -1 : 1;
    if (x->file == STA_NO_CODE || y->file == STA_NO_CODE)
        return (y->file == STA_NO_CODE) - (x->file == STA_NO_CODE);
    return sta_text_order(sta_dictionary_text(by->texts, x->file), sta_dictionary_text(by->texts, y->file));
}

static int unite_list(void *context, unsigned worker, size_t number, struct sta_error *err)
{
    const struct sta_access_walk *walk = context;
    (void)worker;
    return sta_extents_unite(&walk->found[number / STA_ACCESS_KINDS].extents[number % STA_ACCESS_KINDS],
                             walk->run->budget, err);
}

/* The extents of all workers, in the first one's lists. */
static int unite_workers(struct sta_access_walk *walk, struct sta_error *err)
{
    struct sta_extents **lists = sta_alloc_array(walk->worker_count, sizeof *lists);
    int rc = sta_tasks_run(walk->run->budget, (size_t)walk->worker_count * STA_ACCESS_KINDS, unite_list, walk,
                           err);
    for (size_t k = 0; k < STA_ACCESS_KINDS && rc == STA_OK; k++) {
        for (unsigned w = 0; w < walk->worker_count; w++)
            lists[w] = &walk->found[w].extents[k];
        rc = sta_extents_merge(lists, walk->worker_count, walk->run->budget, err);
    }
    free(lists);
    return rc;
}

static int list_files(struct sta_access_walk *walk, size_t kind, struct sta_access_patterns *access,
                      struct sta_error *err)
{
    const struct sta_extents *extents = &walk->found[0].extents[kind];
    size_t capacity = 0;
    int rc = STA_OK;
    for (size_t i = 0; rc == STA_OK && i < extents->count; i++) {
        const struct sta_extent *extent = &extents->items[i];
        const uint32_t file = (uint32_t)(extent->place >> 32);
        if (i == 0 || extent[-1].place >> 32 != extent->place >> 32) {
            rc = STA_ACCOUNT_GROW(walk->account, access->files[kind], capacity, access->file_counts[kind] + 1,
                                  WHAT, err);
            if (rc != STA_OK)
                break;
            access->files[kind][access->file_counts[kind]++] = (struct sta_access_file){
                .file = file, .bytes = walk->bytes[kind][STA_MIN(file, walk->file_count)]};
        }
        access->files[kind][access->file_counts[kind] - 1].distinct += extent->to - extent->from;
        walk->sums[kind].distinct_bytes += extent->to - extent->from;
        rc = sta_budget_check_step(walk->run->budget, i, err);
    }
    struct by_waste by = {sta_columns_texts(access->request.columns, STA_LOGICAL_file_name)};
    return rc == STA_OK ? sta_sort(walk->run->budget, access->files[kind], access->file_counts[kind],
                                   sizeof *access->files[kind], compare_files, &by, err)
                        : rc;
}

int sta_access_walk_finish(struct sta_access_walk *walk, struct sta_access_patterns *access,
                           struct sta_error *err)
{
    int rc = unite_workers(walk, err);
    for (size_t k = 0; k < STA_ACCESS_KINDS && rc == STA_OK; k++) {
        rc = list_files(walk, k, access, err);
        if (rc == STA_OK)
            rc = exposed_of(walk, &walk->random[k], &walk->sums[k].random_time, err);
        walk->sums[k].exposed = access->sums[k].exposed;
        access->sums[k] = walk->sums[k];
    }
    return rc;
}

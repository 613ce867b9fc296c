/* Positions of descriptors and ends of streams, thread by thread; then unions of extents and of time. */
#include "analyse/findings/access_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/operators/radix.h"
#include "common/map.h"
#include "common/memory.h"

static const char WHAT[] = "the access patterns of a run";

#define O_APPEND_FLAG 1024

/* Bytes of a file that calls of an epoch moved. */
struct extent {
    uint64_t place; /* file << 32 | number of the epoch; UINT32_MAX: none */
    int64_t from, to;
};

/* Time in random calls of a rank. */
struct busy {
    uint64_t rank;
    int64_t from, to;
};

struct extents {
    struct extent *items;
    size_t count, capacity;
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

struct sta_access_walk {
    const struct sta_phases *phases;
    const struct sta_run *run;
    struct sta_account *account;
    struct thread *threads; /* by unit */
    uint32_t thread_count;
    struct sta_access_sums sums[STA_ACCESS_KINDS];
    struct extents extents[STA_ACCESS_KINDS];
    struct busies random[STA_ACCESS_KINDS];
};

int sta_access_walk_create(const struct sta_phases *phases, const struct sta_scope *scope,
                           const struct sta_run *run, struct sta_access_walk **walk, struct sta_error *err)
{
    const struct sta_entities *entities = sta_snapshot_entities(run->question.snapshot);
    struct sta_access_walk *fresh = *walk = sta_alloc(sizeof *fresh);
    *fresh = (struct sta_access_walk){.phases = phases,
                                      .run = run,
                                      .account = run->budget->account,
                                      .thread_count = sta_scope_unit_count(scope)};
    fresh->threads = sta_account_calloc(fresh->account, (size_t)fresh->thread_count + 1,
                                        sizeof *fresh->threads, WHAT, err);
    if (fresh->threads == NULL)
        return err->status;
    for (uint32_t t = 0; t < fresh->thread_count; t++) {
        sta_map_init(&fresh->threads[t].positions.places);
        sta_map_init(&fresh->threads[t].ends.places);
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
        sta_account_free(walk->account, walk->extents[k].items);
        sta_account_free(walk->account, walk->random[k].items);
    }
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
    return (uint32_t)(rank->epochs[e].number & 0x7fffffff);
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

static int add_extent(struct sta_access_walk *walk, struct extents *extents, uint32_t file, uint32_t epoch,
                      int64_t from, int64_t to, struct sta_error *err)
{
    struct extent *last = extents->count > 0 ? &extents->items[extents->count - 1] : NULL;
    const uint64_t place = (uint64_t)file << 32 | epoch;
    if (last != NULL && last->place == place && last->from <= from && from == last->to) {
        last->to = to;
        return STA_OK;
    }
    int rc =
        STA_ACCOUNT_GROW(walk->account, extents->items, extents->capacity, extents->count + 1, WHAT, err);
    if (rc == STA_OK)
        extents->items[extents->count++] = (struct extent){place, from, to};
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
    rc = add_extent(walk, &walk->extents[record->kind], record->file, epoch_of(walk, thread, record->ts),
                    offset, offset + record->size, err);
    return rc == STA_OK && random ? add_busy(walk, &walk->random[record->kind], thread->rank, record, err)
                                  : rc;
}

static int transfer(struct sta_access_walk *walk, struct thread *thread,
                    const struct sta_access_record *record, struct sta_error *err)
{
    int64_t offset;
    int rc = offset_of(walk, thread, record, &offset, err);
    if (rc != STA_OK || record->size == 0)
        return rc;
    walk->sums[record->kind].ops++;
    walk->sums[record->kind].bytes += record->size;
    return take_known(walk, thread, record, offset, err);
}

int sta_access_walk_unit(struct sta_access_walk *walk, uint32_t unit, const struct sta_access_record *records,
                         size_t count, struct sta_error *err)
{
    struct thread *thread = &walk->threads[unit];
    int rc = STA_OK;
    for (size_t i = 0; i < count && rc == STA_OK; i++) {
        const bool data = records[i].op == STA_OP_TRANSFER || records[i].op == STA_OP_AT_OFFSET;
        rc = data ? transfer(walk, thread, &records[i], err) : move(walk, thread, &records[i], err);
    }
    return rc;
}

/* ---- sums */

/* Records of three words by the first, then as integers by the second. */
static int sort_records(const struct sta_access_walk *walk, void *records, size_t count,
                        struct sta_error *err)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t *words = records;
    uint64_t *scratch = sta_account_alloc(walk->account, count * 3 + 1, sizeof *scratch, WHAT, err);
    if (scratch == NULL)
        return err->status;
    for (size_t i = 0; i < count; i++)
        words[3 * i + 1] ^= sign;
    int rc = sta_radix_sort(words, scratch, count, 3, false, walk->run->budget->cancel);
    for (size_t i = 0; i < count; i++)
        words[3 * i + 1] ^= sign;
    sta_account_free(walk->account, scratch);
    return rc == STA_OK ? STA_OK : sta_radix_failed(rc, "calls", count, err);
}

/* Union by rank, less that rank's compute. */
static int exposed_of(const struct sta_access_walk *walk, struct busies *busies, int64_t *ticks,
                      struct sta_error *err)
{
    int rc = sort_records(walk, busies->items, busies->count, err);
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

static int unite_extents(struct sta_access_walk *walk, size_t kind, struct sta_access *access,
                         struct sta_error *err)
{
    struct extents *extents = &walk->extents[kind];
    size_t capacity = 0;
    int rc = sort_records(walk, extents->items, extents->count, err);
    int64_t covered = 0;
    for (size_t i = 0; rc == STA_OK && i < extents->count; i++) {
        const struct extent *extent = &extents->items[i];
        const bool new_file = i == 0 || extent[-1].place >> 32 != extent->place >> 32;
        const bool new_epoch = i == 0 || extent[-1].place != extent->place;
        if (new_file)
            rc = STA_ACCOUNT_GROW(walk->account, access->files[kind], capacity, access->file_counts[kind] + 1,
                                  WHAT, err);
        if (rc != STA_OK)
            break;
        if (new_file)
            access->files[kind][access->file_counts[kind]++] =
                (struct sta_access_file){.file = (uint32_t)(extent->place >> 32)};
        struct sta_access_file *file = &access->files[kind][access->file_counts[kind] - 1];
        const int64_t from = new_epoch ? extent->from : STA_MAX(extent->from, covered);
        covered = new_epoch ? extent->to : STA_MAX(covered, extent->to);
        file->bytes += extent->to - extent->from;
        file->distinct += STA_MAX(extent->to - from, 0);
        walk->sums[kind].distinct_bytes += STA_MAX(extent->to - from, 0);
        rc = sta_budget_check_step(walk->run->budget, i, err);
    }
    struct by_waste by = {sta_columns_texts(access->request.columns, STA_LOGICAL_file_name)};
    return rc == STA_OK ? sta_sort(walk->run->budget, access->files[kind], access->file_counts[kind],
                                   sizeof *access->files[kind], compare_files, &by, err)
                        : rc;
}

int sta_access_walk_finish(struct sta_access_walk *walk, struct sta_access *access, struct sta_error *err)
{
    int rc = STA_OK;
    for (size_t k = 0; k < STA_ACCESS_KINDS && rc == STA_OK; k++) {
        rc = unite_extents(walk, k, access, err);
        if (rc == STA_OK)
            rc = exposed_of(walk, &walk->random[k], &walk->sums[k].random_time, err);
        walk->sums[k].exposed = access->sums[k].exposed;
        access->sums[k] = walk->sums[k];
    }
    return rc;
}

/* Sorting records: runs by radix, merged by a heap.
 *
 * DESIGN.  Each worker collects records on a bench of its own, small enough for its cache.  A full bench is
 * sorted and cut (when only the first ones are wanted), or put away as a run, in memory as long as there is
 * some, then on disk.  In the end every worker sorts what it still has, and sta_sorter_next merges all runs.
 * A bench is sorted by the bytes of its first word, then, among records that agree there, of the next: the
 * first word decides nearly everything, and a pass over a byte that is the same everywhere is left out. */
#include "analyse/query/rows/sorter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/operators/spill.h"
#include "common/memory.h"
#include "common/parallel.h"

#define FEW 24u            /* records that insertion sorts faster */
#define READ_RECORDS 4096u /* of a run on disk that are read at once */
#define BENCH_RECORDS 65536u
#define CUT_RECORDS 1024u /* least bench that is cut */

struct item {
    uint64_t key;
    uint64_t record;
};

/* A sorted sequence. */
struct run {
    uint64_t *records; /* NULL: on disk */
    const struct sta_spill *spill;
    uint64_t offset, count;
    uint64_t at;            /* number of the present record, while it is merged */
    uint64_t *buffer;       /* of READ_RECORDS, from disk */
    const uint64_t *record; /* the present one */
};

/* A run being merged. */
struct head {
    uint64_t first; /* word of its present record */
    struct run *run;
};

/* Where one worker collects. */
struct bench {
    uint64_t *records, *ordered; /* of sorter->capacity; ordered is what they are sorted into */
    struct item *items, *spare;
    size_t count;
    bool bounded; /* the first shape.most records are sorted: what comes behind them is not wanted */
    int status;   /* of sorting the rest */
    struct sta_error error;
    struct sta_spill *spill;
    uint64_t held; /* bytes of runs in memory */
    struct run *runs;
    size_t run_count, run_capacity;
};

struct sta_sorter {
    struct sta_sorter_shape shape;
    char *spill_folder;
    size_t record;   /* bytes of one */
    bool cuts;       /* a full bench is cut to the records that are wanted */
    size_t capacity; /* records of a bench */
    struct bench *benches;
    _Atomic unsigned next_bench;
    struct head *heap; /* the least record first */
    size_t heap_count;
    uint64_t given;
};

struct sta_sorter *sta_sorter_create(const struct sta_sorter_shape *shape)
{
    struct sta_sorter *sorter = sta_alloc(sizeof *sorter);
    sorter->shape = *shape;
    sorter->shape.workers = STA_MAX(shape->workers, 1u);
    sorter->spill_folder = sta_strdup(shape->spill_folder != NULL ? shape->spill_folder : "");
    sorter->record = shape->words * sizeof(uint64_t);
    sorter->cuts = shape->most <= BENCH_RECORDS / 2;
    sorter->capacity =
        sorter->cuts ? STA_MIN(STA_MAX(4 * shape->most, CUT_RECORDS), BENCH_RECORDS) : BENCH_RECORDS;
    sorter->benches = sta_alloc_array(sorter->shape.workers, sizeof *sorter->benches);
    return sorter;
}

static void bench_fini(struct bench *bench)
{
    for (size_t i = 0; i < bench->run_count; i++) {
        free(bench->runs[i].records);
        free(bench->runs[i].buffer);
    }
    free(bench->runs);
    free(bench->records);
    free(bench->ordered);
    free(bench->items);
    free(bench->spare);
    sta_spill_destroy(bench->spill);
}

void sta_sorter_destroy(struct sta_sorter *sorter)
{
    if (sorter == NULL)
        return;
    for (unsigned i = 0; i < sorter->shape.workers; i++)
        bench_fini(&sorter->benches[i]);
    free(sorter->benches);
    free(sorter->heap);
    free(sorter->spill_folder);
    free(sorter);
}

/* ---- sorting a bench */

static const uint64_t *record_of(const struct sta_sorter *sorter, const struct bench *bench, uint64_t number)
{
    return bench->records + number * sorter->shape.words;
}

static bool comes_before(const struct sta_sorter *sorter, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = 0; i < sorter->shape.keys; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}

static void insertion_sort(const struct sta_sorter *sorter, const struct bench *bench, struct item *items,
                           size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct item item = items[i];
        const uint64_t *record = record_of(sorter, bench, item.record);
        size_t at = i;
        for (; at > 0 && comes_before(sorter, record, record_of(sorter, bench, items[at - 1].record)); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Least significant byte first.  Return: where the sorted items are, @items or @spare. */
static struct item *radix_sort(struct item *items, struct item *spare, size_t count)
{
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= items[i].key ^ items[0].key;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t places[256] = {0}, sum = 0;
        if ((differ >> shift & 0xff) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            places[items[i].key >> shift & 0xff]++;
        for (size_t b = 0; b < 256; b++) {
            size_t here = places[b];
            places[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            spare[places[items[i].key >> shift & 0xff]++] = items[i];
        struct item *other = items;
        items = spare;
        spare = other;
    }
    return items;
}

/* Sorts items[0 .. count), which agree in the words before @word, in place. */
static void sort_from_word(const struct sta_sorter *sorter, const struct bench *bench, struct item *items,
                           struct item *spare, size_t count, uint32_t word)
{
    if (count <= FEW) {
        insertion_sort(sorter, bench, items, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        items[i].key = record_of(sorter, bench, items[i].record)[word];
    const struct item *sorted = radix_sort(items, spare, count);
    if (sorted != items)
        memcpy(items, sorted, count * sizeof *items);
    for (size_t start = 0, end; start < count && word + 1 < sorter->shape.keys; start = end) {
        for (end = start + 1; end < count && items[end].key == items[start].key;)
            end++;
        if (end - start > 1)
            sort_from_word(sorter, bench, items + start, spare, end - start, word + 1);
    }
}

/* Puts the records in order, elsewhere. */
static void sort_bench(const struct sta_sorter *sorter, struct bench *bench, uint64_t *ordered)
{
    for (size_t i = 0; i < bench->count; i++)
        bench->items[i].record = i;
    sort_from_word(sorter, bench, bench->items, bench->spare, bench->count, 0);
    for (size_t i = 0; i < bench->count; i++)
        memcpy(ordered + i * sorter->shape.words, record_of(sorter, bench, bench->items[i].record),
               sorter->record);
}

/* ---- a bench that is full */

static int no_memory(struct sta_error *err)
{
    return sta_fail(err, STA_ENOMEM, "memory ran out while rows were sorted");
}

static int make_bench(const struct sta_sorter *sorter, struct bench *bench, struct sta_error *err)
{
    bench->records = sta_try_alloc_array(sorter->capacity, sorter->record);
    bench->ordered = sta_try_alloc_array(sorter->capacity, sorter->record);
    bench->items = sta_try_alloc_array(sorter->capacity, sizeof *bench->items);
    bench->spare = sta_try_alloc_array(sorter->capacity, sizeof *bench->spare);
    bool all =
        bench->records != NULL && bench->ordered != NULL && bench->items != NULL && bench->spare != NULL;
    return all ? 0 : no_memory(err);
}

static struct run *add_run(struct bench *bench)
{
    STA_GROW(bench->runs, bench->run_capacity, bench->run_count + 1);
    struct run *run = &bench->runs[bench->run_count++];
    *run = (struct run){.count = bench->count};
    return run;
}

static int write_run(const struct sta_sorter *sorter, struct bench *bench, struct sta_error *err)
{
    int rc = bench->spill == NULL ? sta_spill_create(sorter->spill_folder, &bench->spill, err) : 0;
    if (rc != 0)
        return rc;
    struct run *run = add_run(bench);
    run->spill = bench->spill;
    run->offset = sta_spill_size(bench->spill);
    return sta_spill_write(bench->spill, bench->ordered, bench->count * sorter->record, err);
}

static int put_away(const struct sta_sorter *sorter, struct bench *bench, struct sta_error *err)
{
    size_t size = bench->count * sorter->record;
    int rc = 0;
    if (bench->held + size > sorter->shape.memory / sorter->shape.workers) {
        sort_bench(sorter, bench, bench->ordered);
        rc = write_run(sorter, bench, err);
    } else {
        uint64_t *records = sta_try_alloc(size);
        if (records == NULL)
            return no_memory(err);
        sort_bench(sorter, bench, records);
        add_run(bench)->records = records;
        bench->held += size;
    }
    bench->count = 0;
    return rc;
}

/* Only the first ones stay; from now on what comes behind them is not taken. */
static void cut(const struct sta_sorter *sorter, struct bench *bench)
{
    uint64_t *ordered = bench->ordered;
    sort_bench(sorter, bench, ordered);
    bench->ordered = bench->records;
    bench->records = ordered;
    bench->count = sorter->shape.most;
    bench->bounded = bench->count > 0;
}

static int make_place(const struct sta_sorter *sorter, struct bench *bench, struct sta_error *err)
{
    if (bench->records == NULL)
        return make_bench(sorter, bench, err);
    if (!sorter->cuts)
        return put_away(sorter, bench, err);
    cut(sorter, bench);
    return 0;
}

int sta_sorter_add(struct sta_sorter *sorter, unsigned worker, const uint64_t *record, struct sta_error *err)
{
    struct bench *bench = &sorter->benches[worker];
    if (bench->bounded && !comes_before(sorter, record, record_of(sorter, bench, sorter->shape.most - 1)))
        return 0;
    if (bench->count == sorter->capacity || bench->records == NULL) {
        int rc = make_place(sorter, bench, err);
        if (rc != 0)
            return rc;
    }
    memcpy(bench->records + bench->count * sorter->shape.words, record, sorter->record);
    bench->count++;
    return 0;
}

const uint64_t *sta_sorter_last(const struct sta_sorter *sorter, unsigned worker)
{
    const struct bench *bench = &sorter->benches[worker];
    return bench->bounded ? record_of(sorter, bench, sorter->shape.most - 1) : NULL;
}

/* ---- merging */

/* Points the run at its present record. */
static int point(const struct sta_sorter *sorter, struct run *run, struct sta_error *err)
{
    uint64_t in_buffer = run->at % READ_RECORDS;
    if (run->at == run->count)
        return 0;
    if (run->records != NULL) {
        run->record = run->records + run->at * sorter->shape.words;
        return 0;
    }
    if (run->buffer == NULL)
        run->buffer = sta_alloc_array(READ_RECORDS, sorter->record);
    run->record = run->buffer + in_buffer * sorter->shape.words;
    if (in_buffer > 0)
        return 0;
    uint64_t now = STA_MIN(run->count - run->at, (uint64_t)READ_RECORDS);
    return sta_spill_read(run->spill, run->offset + run->at * sorter->record, run->buffer,
                          now * sorter->record, err);
}

static bool is_before(const struct sta_sorter *sorter, const struct head *a, const struct head *b)
{
    return a->first != b->first ? a->first < b->first : comes_before(sorter, a->run->record, b->run->record);
}

static void sift_down(struct sta_sorter *sorter, size_t at)
{
    struct head moving = sorter->heap[at];
    for (size_t child; (child = 2 * at + 1) < sorter->heap_count; at = child) {
        if (child + 1 < sorter->heap_count &&
            is_before(sorter, &sorter->heap[child + 1], &sorter->heap[child]))
            child++;
        if (!is_before(sorter, &sorter->heap[child], &moving))
            break;
        sorter->heap[at] = sorter->heap[child];
    }
    sorter->heap[at] = moving;
}

static void sort_rest(void *context, unsigned worker)
{
    struct sta_sorter *sorter = context;
    for (;;) {
        unsigned next = atomic_fetch_add(&sorter->next_bench, 1);
        if (next >= sorter->shape.workers)
            return;
        struct bench *bench = &sorter->benches[next];
        bench->error = STA_ERROR_INIT;
        bench->status = bench->count > 0 ? put_away(sorter, bench, &bench->error) : 0;
    }
}

static int start_merge(struct sta_sorter *sorter, struct sta_error *err)
{
    size_t runs = 0;
    for (unsigned i = 0; i < sorter->shape.workers; i++)
        runs += sorter->benches[i].run_count;
    sorter->heap = sta_alloc_array(runs + 1, sizeof *sorter->heap);
    for (unsigned i = 0; i < sorter->shape.workers; i++)
        for (size_t r = 0; r < sorter->benches[i].run_count; r++) {
            struct run *run = &sorter->benches[i].runs[r];
            int rc = point(sorter, run, err);
            if (rc != 0)
                return rc;
            sorter->heap[sorter->heap_count++] = (struct head){run->record[0], run};
        }
    for (size_t i = sorter->heap_count / 2; i-- > 0;)
        sift_down(sorter, i);
    return 0;
}

int sta_sorter_finish(struct sta_sorter *sorter, struct sta_error *err)
{
    sta_parallel_run(sorter->shape.workers, sort_rest, sorter);
    for (unsigned i = 0; i < sorter->shape.workers; i++) {
        if (sorter->benches[i].status == 0)
            continue;
        *err = sorter->benches[i].error;
        return err->status;
    }
    return start_merge(sorter, err);
}

/* The run of the least record goes on by one. */
static int advance(struct sta_sorter *sorter, struct sta_error *err)
{
    struct run *run = sorter->heap[0].run;
    run->at++;
    int rc = point(sorter, run, err);
    if (rc != 0)
        return rc;
    if (run->at == run->count)
        sorter->heap[0] = sorter->heap[--sorter->heap_count];
    else
        sorter->heap[0].first = run->record[0];
    if (sorter->heap_count > 0)
        sift_down(sorter, 0);
    return 0;
}

int sta_sorter_next(struct sta_sorter *sorter, uint64_t *records, size_t most, size_t *count,
                    struct sta_error *err)
{
    size_t words = sorter->shape.words;
    *count = 0;
    while (*count < most && sorter->heap_count > 0 && sorter->given < sorter->shape.most) {
        memcpy(records + *count * words, sorter->heap[0].run->record, sorter->record);
        ++*count;
        sorter->given++;
        int rc = advance(sorter, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- figures */

uint64_t sta_sorter_bytes(const struct sta_sorter *sorter)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < sorter->shape.workers; i++) {
        const struct bench *bench = &sorter->benches[i];
        bytes += bench->held;
        if (bench->records != NULL)
            bytes += sorter->capacity * 2 * (sorter->record + sizeof(struct item));
    }
    return bytes;
}

uint64_t sta_sorter_spilled(const struct sta_sorter *sorter)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < sorter->shape.workers; i++)
        if (sorter->benches[i].spill != NULL)
            bytes += sta_spill_size(sorter->benches[i].spill);
    return bytes;
}

/* Sorting records: runs by radix, merged by a heap.
 *
 * DESIGN.  Each worker collects records of its own.  A full buffer is sorted and cut (when only the first ones are wanted) or written out as a
 * run.  In the end every worker sorts what it still holds, and sta_sorter_next merges all runs.  A buffer is sorted by the bytes of its first word,
 * then, among records that agree there, of the next: the first word decides nearly everything, and a pass over a byte that is the same everywhere
 * is left out. */
#include "analyse/query/rows/sorter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/query/spill.h"
#include "common/memory.h"
#include "common/parallel.h"

#define FEW 24u              /* records that insertion sorts faster */
#define READ_RECORDS 4096u   /* of a run on disk that are read at once */
#define LEAST_CAPACITY 4096u /* records of a worker, however short memory is */

struct item {
    uint64_t key;
    uint64_t record;
};

/* Records in the spill file. */
struct stretch {
    uint64_t offset, count;
};

/* What one worker has collected. */
struct bench {
    uint64_t *records;
    struct item *items, *spare; /* while and after it is sorted */
    size_t count, capacity;
    bool bounded; /* the first shape.most records are sorted: what comes behind them is not wanted */
    bool failed;  /* memory ran out while it was sorted at the end */
    struct sta_spill *spill;
    struct stretch *written;
    size_t written_count, written_capacity;
};

/* A sorted sequence being merged: what a bench holds, or a stretch that it wrote. */
struct run {
    const struct bench *bench;
    bool on_disk;
    struct stretch stretch;
    uint64_t at;            /* number of the present record */
    uint64_t *buffer;       /* of READ_RECORDS, from disk */
    const uint64_t *record; /* the present one */
};

struct sta_sorter {
    struct sta_sorter_shape shape;
    char *spill_folder;
    size_t most_capacity; /* of a bench */
    bool cuts;            /* a full bench is cut to the records that are wanted, not written out */
    struct bench *benches;
    _Atomic unsigned next_bench;
    struct run *runs;
    size_t run_count, run_capacity;
    uint32_t *heap; /* numbers of runs, the least record first */
    size_t heap_count;
    uint64_t given;
};

struct sta_sorter *sta_sorter_create(const struct sta_sorter_shape *shape)
{
    struct sta_sorter *sorter = sta_alloc(sizeof *sorter);
    size_t record = shape->words * sizeof(uint64_t) + 2 * sizeof(struct item);
    sorter->shape = *shape;
    sorter->shape.workers = STA_MAX(shape->workers, 1u);
    sorter->spill_folder = sta_strdup(shape->spill_folder != NULL ? shape->spill_folder : "");
    sorter->most_capacity = STA_MAX(shape->memory / sorter->shape.workers / record, (size_t)LEAST_CAPACITY);
    sorter->cuts = shape->most <= sorter->most_capacity / 2;
    if (sorter->cuts)
        sorter->most_capacity = STA_MAX((size_t)shape->most * 2, (size_t)LEAST_CAPACITY);
    sorter->benches = sta_alloc_array(sorter->shape.workers, sizeof *sorter->benches);
    return sorter;
}

void sta_sorter_destroy(struct sta_sorter *sorter)
{
    if (sorter == NULL)
        return;
    for (unsigned i = 0; i < sorter->shape.workers; i++) {
        free(sorter->benches[i].records);
        free(sorter->benches[i].items);
        free(sorter->benches[i].spare);
        free(sorter->benches[i].written);
        sta_spill_destroy(sorter->benches[i].spill);
    }
    for (size_t i = 0; i < sorter->run_count; i++)
        free(sorter->runs[i].buffer);
    free(sorter->benches);
    free(sorter->runs);
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

static bool make_items(struct bench *bench)
{
    free(bench->items);
    free(bench->spare);
    bench->items = sta_try_alloc_array(bench->count + 1, sizeof *bench->items);
    bench->spare = sta_try_alloc_array(bench->count + 1, sizeof *bench->spare);
    return bench->items != NULL && bench->spare != NULL;
}

static bool sort_bench(const struct sta_sorter *sorter, struct bench *bench)
{
    if (!make_items(bench))
        return false;
    for (size_t i = 0; i < bench->count; i++)
        bench->items[i].record = i;
    sort_from_word(sorter, bench, bench->items, bench->spare, bench->count, 0);
    free(bench->spare);
    bench->spare = NULL;
    return true;
}

/* ---- a bench that is full */

static int no_memory(struct sta_error *err)
{
    return sta_fail(err, STA_ENOMEM, "memory ran out while rows were sorted");
}

static void copy_in_order(const struct sta_sorter *sorter, const struct bench *bench, size_t first,
                          size_t count, uint64_t *out)
{
    uint32_t words = sorter->shape.words;
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * words, record_of(sorter, bench, bench->items[first + i].record),
               words * sizeof *out);
}

/* Only the first ones stay; from now on what comes behind them is not taken. */
static int cut(const struct sta_sorter *sorter, struct bench *bench, struct sta_error *err)
{
    size_t keep = sorter->shape.most, size = keep * sorter->shape.words * sizeof(uint64_t);
    uint64_t *records = sta_try_alloc(size + 1);
    if (records == NULL || !sort_bench(sorter, bench)) {
        free(records);
        return no_memory(err);
    }
    copy_in_order(sorter, bench, 0, keep, records);
    memcpy(bench->records, records, size);
    free(records);
    bench->count = keep;
    bench->bounded = true;
    return 0;
}

static int write_run(const struct sta_sorter *sorter, struct bench *bench, struct sta_error *err)
{
    size_t record = sorter->shape.words * sizeof(uint64_t);
    int rc = bench->spill == NULL ? sta_spill_create(sorter->spill_folder, &bench->spill, err) : 0;
    if (rc != 0)
        return rc;
    if (!sort_bench(sorter, bench))
        return no_memory(err);
    STA_GROW(bench->written, bench->written_capacity, bench->written_count + 1);
    bench->written[bench->written_count++] =
        (struct stretch){.offset = sta_spill_size(bench->spill), .count = bench->count};
    uint64_t *buffer = sta_alloc_array(READ_RECORDS, record);
    for (size_t start = 0; rc == 0 && start < bench->count; start += READ_RECORDS) {
        size_t now = STA_MIN(bench->count - start, (size_t)READ_RECORDS);
        copy_in_order(sorter, bench, start, now, buffer);
        rc = sta_spill_write(bench->spill, buffer, now * record, err);
    }
    free(buffer);
    bench->count = 0;
    return rc;
}

static int make_place(const struct sta_sorter *sorter, struct bench *bench, struct sta_error *err)
{
    if (bench->capacity == sorter->most_capacity)
        return sorter->cuts ? cut(sorter, bench, err) : write_run(sorter, bench, err);
    size_t grown = STA_MIN(STA_MAX(bench->capacity * 2, (size_t)LEAST_CAPACITY), sorter->most_capacity);
    uint64_t *records = realloc(bench->records, grown * sorter->shape.words * sizeof *records);
    if (records == NULL)
        return no_memory(err);
    bench->records = records;
    bench->capacity = grown;
    return 0;
}

int sta_sorter_add(struct sta_sorter *sorter, unsigned worker, const uint64_t *record, struct sta_error *err)
{
    struct bench *bench = &sorter->benches[worker];
    if (bench->bounded && !comes_before(sorter, record, record_of(sorter, bench, sorter->shape.most - 1)))
        return 0;
    if (bench->count == bench->capacity) {
        int rc = make_place(sorter, bench, err);
        if (rc != 0)
            return rc;
    }
    memcpy(bench->records + bench->count * sorter->shape.words, record, sorter->shape.words * sizeof *record);
    bench->count++;
    return 0;
}

/* ---- merging */

static int read_stretch(const struct sta_sorter *sorter, struct run *run, struct sta_error *err)
{
    uint64_t now = STA_MIN(run->stretch.count - run->at, (uint64_t)READ_RECORDS);
    size_t record = sorter->shape.words * sizeof(uint64_t);
    if (run->buffer == NULL)
        run->buffer = sta_alloc_array(READ_RECORDS, record);
    return sta_spill_read(run->bench->spill, run->stretch.offset + run->at * record, run->buffer,
                          now * record, err);
}

/* Points the run at its present record. */
static int point(const struct sta_sorter *sorter, struct run *run, struct sta_error *err)
{
    uint64_t in_buffer = run->at % READ_RECORDS;
    if (run->at == run->stretch.count)
        return 0;
    if (!run->on_disk) {
        run->record = record_of(sorter, run->bench, run->bench->items[run->at].record);
        return 0;
    }
    int rc = in_buffer == 0 ? read_stretch(sorter, run, err) : 0;
    run->record = run->buffer + in_buffer * sorter->shape.words;
    return rc;
}

static void sift_down(struct sta_sorter *sorter, size_t at)
{
    uint32_t moving = sorter->heap[at];
    for (size_t child; (child = 2 * at + 1) < sorter->heap_count; at = child) {
        const uint64_t *least = sorter->runs[sorter->heap[child]].record;
        if (child + 1 < sorter->heap_count &&
            comes_before(sorter, sorter->runs[sorter->heap[child + 1]].record, least))
            least = sorter->runs[sorter->heap[++child]].record;
        if (!comes_before(sorter, least, sorter->runs[moving].record))
            break;
        sorter->heap[at] = sorter->heap[child];
    }
    sorter->heap[at] = moving;
}

static void add_run(struct sta_sorter *sorter, const struct bench *bench, bool on_disk,
                    struct stretch stretch)
{
    if (stretch.count == 0)
        return;
    STA_GROW(sorter->runs, sorter->run_capacity, sorter->run_count + 1);
    sorter->runs[sorter->run_count++] = (struct run){.bench = bench, .on_disk = on_disk, .stretch = stretch};
}

static void sort_rest(void *context, unsigned worker)
{
    struct sta_sorter *sorter = context;
    for (;;) {
        unsigned next = atomic_fetch_add(&sorter->next_bench, 1);
        if (next >= sorter->shape.workers)
            return;
        struct bench *bench = &sorter->benches[next];
        bench->failed = bench->count > 0 && !sort_bench(sorter, bench);
    }
}

static int start_merge(struct sta_sorter *sorter, struct sta_error *err)
{
    sorter->heap = sta_alloc_array(sorter->run_count + 1, sizeof *sorter->heap);
    for (size_t i = 0; i < sorter->run_count; i++) {
        int rc = point(sorter, &sorter->runs[i], err);
        if (rc != 0)
            return rc;
        sorter->heap[sorter->heap_count++] = (uint32_t)i;
    }
    for (size_t i = sorter->heap_count / 2; i-- > 0;)
        sift_down(sorter, i);
    return 0;
}

int sta_sorter_finish(struct sta_sorter *sorter, struct sta_error *err)
{
    sta_parallel_run(sorter->shape.workers, sort_rest, sorter);
    for (unsigned i = 0; i < sorter->shape.workers; i++) {
        const struct bench *bench = &sorter->benches[i];
        if (bench->failed)
            return no_memory(err);
        add_run(sorter, bench, false, (struct stretch){.count = bench->count});
        for (size_t w = 0; w < bench->written_count; w++)
            add_run(sorter, bench, true, bench->written[w]);
    }
    return start_merge(sorter, err);
}

/* The run of the least record goes on by one. */
static int advance(struct sta_sorter *sorter, struct sta_error *err)
{
    struct run *run = &sorter->runs[sorter->heap[0]];
    run->at++;
    int rc = point(sorter, run, err);
    if (rc != 0)
        return rc;
    if (run->at == run->stretch.count)
        sorter->heap[0] = sorter->heap[--sorter->heap_count];
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
        memcpy(records + *count * words, sorter->runs[sorter->heap[0]].record, words * sizeof *records);
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
    for (unsigned i = 0; i < sorter->shape.workers; i++)
        bytes += sorter->benches[i].capacity * (sorter->shape.words * sizeof(uint64_t) + sizeof(struct item));
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

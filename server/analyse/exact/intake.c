/* Taking in rows: each finds its leaf, adds to the sums, and becomes a span.
 *
 * DESIGN.  What a row's class means is looked up once per class and worker, its leaf once per class and
 * thread, or where keys are values once per run of rows of the same key.  So the usual row costs two or three
 * look-ups in arrays. */
#include "analyse/exact/intake.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/budget.h"
#include "common/memory.h"

#define MANY_BINS 10000 /* of one event: worth a look at whether it is cancelled */

/* The columns that the question needs; NULL where it does not. */
struct rows {
    uint32_t count;
    const uint32_t *selected, *classes;
    const int64_t *ts, *dur, *sizes;
    const uint8_t *no_size;
    const uint32_t *threads; /* codes of the tables */
    const uint32_t *files;   /* references */
    const uint32_t *keys;
};

static bool needs_threads(const struct sta_intake *intake)
{
    return intake->ask->wants & STA_WANT_UNITS || sta_exact_keys_source(intake->keys) == STA_KEY_THREAD;
}

/* Whether buckets are kinds; else they are leaves. */
static bool by_kind(const struct sta_intake *intake)
{
    return sta_exact_keys_source(intake->keys) <= STA_KEY_TIME;
}

void sta_intake_init(struct sta_intake *intake)
{
    intake->workers = sta_alloc_array(intake->worker_count, sizeof *intake->workers);
    for (unsigned w = 0; w < intake->worker_count; w++) {
        sta_sums_init(&intake->workers[w].sums, intake->bins, intake->ask->wants, intake->budget);
        sta_files_init(&intake->workers[w].files);
        sta_map_init(&intake->workers[w].leaf_of_key);
        if (intake->ask->count_bins)
            intake->workers[w].by_bin =
                sta_alloc_array(intake->bins->count + 1, sizeof *intake->workers[w].by_bin);
    }
}

void sta_intake_fini(struct sta_intake *intake)
{
    for (unsigned w = 0; intake->workers != NULL && w < intake->worker_count; w++) {
        struct sta_intake_worker *worker = &intake->workers[w];
        for (size_t k = 0; k < worker->kind_capacity; k++)
            free(worker->of_kind[k]);
        free(worker->of_kind);
        free(worker->classes);
        free(worker->streams);
        free(worker->last);
        free(worker->by_bin);
        sta_map_fini(&worker->leaf_of_key);
        sta_files_fini(&worker->files);
        sta_sums_fini(&worker->sums);
    }
    free(intake->workers);
    intake->workers = NULL;
}

/* ---- columns */

static int read_codes(struct sta_column_reader *reader, uint32_t column, const uint32_t **codes,
                      struct sta_error *err)
{
    const struct sta_column_values *values;
    int rc = sta_column_reader_physical(reader, column, &values, err);
    if (rc == 0)
        *codes = values->kind == STA_KIND_CODE ? values->codes : NULL;
    return rc;
}

static int read_times(struct sta_column_reader *reader, struct rows *rows, struct sta_error *err)
{
    const struct sta_column_values *ts;
    const struct sta_column_values *dur;
    int rc = sta_column_reader_physical(reader, STA_COLUMN_TS, &ts, err);
    if (rc == 0)
        rc = sta_column_reader_physical(reader, STA_COLUMN_DUR, &dur, err);
    if (rc != 0)
        return rc;
    rows->ts = ts->integers;
    rows->dur = dur->integers;
    return 0;
}

static int read_sizes(struct sta_column_reader *reader, struct rows *rows, struct sta_error *err)
{
    struct sta_vector size;
    int rc = sta_column_reader_get(reader, STA_LOGICAL_size, &size, err);
    if (rc != 0 ||
        size.constant) /* constant: missing everywhere, since a size says how much one event moved */
        return rc;
    rows->sizes = size.integers;
    rows->no_size = size.missing;
    return 0;
}

/* The store checks codes against its tables; this one also serves as an index here. */
static int check_threads(const struct sta_intake *intake, const struct rows *rows, struct sta_error *err)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; rows->threads != NULL && i < rows->count; i++)
        largest = STA_MAX(largest, rows->threads[rows->selected != NULL ? rows->selected[i] : i]);
    if (rows->threads != NULL && largest < intake->entities->thread_code_count)
        return 0;
    return sta_fail(err, STA_ECORRUPT, "an event of the store belongs to no thread");
}

static int read_rows(struct sta_intake *intake, unsigned worker, const struct sta_scan_rows *from,
                     struct rows *rows, struct sta_error *err)
{
    unsigned wants = intake->ask->wants;
    *rows = (struct rows){.count = from->count, .selected = from->selected, .classes = from->classes};
    int rc = read_times(from->reader, rows, err);
    if (rc == 0 && wants & (STA_WANT_SIZES | STA_WANT_SIZE_BINS))
        rc = read_sizes(from->reader, rows, err);
    if (rc == 0 && wants & STA_WANT_FILES)
        rc = read_codes(from->reader, STA_COLUMN_FILE, &rows->files, err);
    if (rc == 0 && sta_exact_keys_source(intake->keys) == STA_KEY_VALUE)
        rc = sta_exact_keys_read(intake->keys, worker, from->reader, &rows->keys, err);
    if (rc != 0 || !needs_threads(intake))
        return rc;
    rc = read_codes(from->reader, STA_COLUMN_THREAD, &rows->threads, err);
    return rc == 0 ? check_threads(intake, rows, err) : rc;
}

/* ---- leaves */

static void zero_from(void *array, size_t from, size_t to, size_t size)
{
    if (to > from)
        memset((char *)array + from * size, 0, (to - from) * size);
}

static void meet_class(struct sta_intake *intake, struct sta_intake_worker *worker, uint32_t class)
{
    size_t before = worker->class_capacity;
    STA_GROW(worker->classes, worker->class_capacity, (size_t) class + 1);
    zero_from(worker->classes, before, worker->class_capacity, sizeof *worker->classes);
    const struct sta_kind *kind = sta_kinds_of(intake->kinds, class);
    before = worker->kind_capacity;
    STA_GROW(worker->of_kind, worker->kind_capacity, (size_t)kind->number + 1);
    zero_from(worker->of_kind, before, worker->kind_capacity, sizeof *worker->of_kind);
    uint32_t **of_thread = &worker->of_kind[kind->number];
    if (*of_thread == NULL && (kind->layer_count > 0 || kind->cover_count > 0)) {
        size_t bytes =
            ((size_t)(needs_threads(intake) ? intake->entities->thread_count : 0) + 1) * sizeof **of_thread;
        *of_thread = sta_alloc(bytes);
        memset(*of_thread, 0xff, bytes);
        worker->bytes += (double)bytes;
    }
    worker->classes[class] = (struct sta_intake_class){kind, *of_thread};
}

static uint32_t new_stream(struct sta_intake_worker *worker, const struct sta_kind *kind, uint32_t thread)
{
    STA_GROW(worker->streams, worker->stream_capacity, worker->stream_count + 1);
    worker->streams[worker->stream_count] =
        (struct sta_intake_stream){.kind = kind, .thread = thread, .leaf = STA_NO_CODE};
    return (uint32_t)worker->stream_count++;
}

static void meet_thread(struct sta_intake *intake, struct sta_intake_worker *worker,
                        const struct sta_intake_class *class, uint32_t thread)
{
    uint32_t key = 0;
    if (sta_exact_keys_source(intake->keys) == STA_KEY_VALUE) {
        class->of_thread[thread] = new_stream(worker, class->kind, thread);
        return;
    }
    if (sta_exact_keys_source(intake->keys) == STA_KEY_THREAD)
        key = sta_exact_keys_of_threads(intake->keys)[thread];
    class->of_thread[thread] = sta_leaves_add(intake->leaves, class->kind, thread, key);
}

/* The leaf of a stream's event of some key. */
static uint32_t leaf_of(struct sta_intake *intake, struct sta_intake_worker *worker, uint32_t number,
                        uint32_t key)
{
    struct sta_intake_stream *stream = &worker->streams[number];
    if (stream->leaf != STA_NO_CODE && stream->key == key)
        return stream->leaf;
    uint32_t leaf;
    uint64_t pair = (uint64_t)number << 32 | key;
    if (!sta_map_find(&worker->leaf_of_key, pair, &leaf)) {
        leaf = sta_leaves_add(intake->leaves, stream->kind, stream->thread, key);
        sta_map_put(&worker->leaf_of_key, pair, leaf);
    }
    stream->key = key;
    stream->leaf = leaf;
    return leaf;
}

static uint32_t find_leaf(struct sta_intake *intake, struct sta_intake_worker *worker,
                          const struct rows *rows, uint32_t row, const struct sta_intake_class *class)
{
    uint32_t thread = rows->threads != NULL ? intake->entities->thread_of_code[rows->threads[row]] : 0;
    if (class->of_thread[thread] == STA_NO_CODE)
        meet_thread(intake, worker, class, thread);
    uint32_t found = class->of_thread[thread];
    return rows->keys != NULL ? leaf_of(intake, worker, found, rows->keys[row]) : found;
}

/* ---- rows */

static void count_fate(struct sta_exact_counts *counts, const struct sta_kind *kind)
{
    counts->filtered_by_file += kind->fate == STA_FATE_FILE;
    counts->filtered_by_function += kind->fate == STA_FATE_FUNCTION;
    counts->unmatched += kind->fate == STA_FATE_KEPT && kind->in_layers == 0;
    counts->taken += kind->in_layers > 0;
    counts->multiple += kind->in_layers > 1;
}

static void add_file(struct sta_intake *intake, struct sta_intake_worker *worker, uint32_t leaf_number,
                     uint32_t reference, const struct sta_exact_part *part)
{
    uint32_t file = intake->entities->file_of_ref[reference];
    if (file == STA_NO_CODE) /* a hash that no line defines */
        return;
    const struct sta_leaf *leaf = sta_leaves_at(intake->leaves, leaf_number);
    for (uint32_t i = 0; i < leaf->kind->layer_count; i++) {
        size_t place = sta_leaves_slot(intake->leaves, leaf->slots[i])->place * intake->bins->count;
        for (size_t bin = part->low; bin <= part->high; bin++)
            sta_files_add(&worker->files, (uint32_t)(place + bin), file);
    }
}

static int64_t size_of(const struct rows *rows, uint32_t row)
{
    if (rows->sizes == NULL || (rows->no_size != NULL && rows->no_size[row]))
        return 0;
    return rows->sizes[row];
}

static int take_row(struct sta_intake *intake, struct sta_intake_worker *worker, const struct rows *rows,
                    uint32_t row, uint32_t leaf, const struct sta_kind *kind,
                    const struct sta_exact_part *part, struct sta_error *err)
{
    const struct sta_sums_event event = {rows->ts[row], STA_MAX(rows->dur[row], 0), size_of(rows, row)};
    int rc = part->high - part->low > MANY_BINS ? sta_budget_check(intake->budget, err) : 0;
    if (rc == 0)
        rc = sta_sums_add(&worker->sums, by_kind(intake) ? kind->number : leaf, &event, part, err);
    if (rc == 0 && rows->files != NULL && rows->files[row] != STA_NO_CODE)
        add_file(intake, worker, leaf, rows->files[row], part);
    return rc;
}

/* Adds a span, in the order of ts.  Only the union of a leaf's spans counts, so that one which goes on where
 * the last one of the leaf ends, or begins inside it, lengthens that. */
static void add_span(struct sta_intake_worker *worker, struct sta_span *spans, uint32_t *count,
                     struct sta_span span)
{
    size_t before = worker->last_capacity;
    STA_GROW(worker->last, worker->last_capacity, (size_t)span.cell + 1);
    zero_from(worker->last, before, worker->last_capacity, sizeof *worker->last);
    struct sta_intake_span *last = &worker->last[span.cell];
    if (last->round == worker->round) {
        struct sta_span *known = &spans[last->at];
        bool touches = span.ts == known->te && span.te > span.ts; /* an instant there lies behind it */
        if (span.ts < known->te || span.ts == known->ts || touches) {
            known->te = STA_MAX(known->te, span.te);
            return;
        }
    }
    *last = (struct sta_intake_span){worker->round, *count};
    spans[(*count)++] = span;
}

/* Whether all that is held fits what the question may hold. */
static int charge(const struct sta_intake *intake, const struct sta_intake_worker *worker,
                  struct sta_error *err)
{
    const struct sta_leaf_counts counts = sta_leaves_count(intake->leaves);
    double own = worker->bytes + sta_sums_bytes(&worker->sums) + sta_files_bytes(&worker->files) +
                 (double)worker->stream_capacity * sizeof *worker->streams +
                 (double)worker->last_capacity * sizeof *worker->last +
                 16.0 * (double)worker->leaf_of_key.capacity;
    double leaves = (double)counts.leaves * (sizeof(struct sta_leaf) + 64) +
                    (double)counts.slots * (sizeof(struct sta_exact_slot) + 24 + intake->bytes_per_slot);
    return sta_budget_memory(intake->budget, own * intake->worker_count + leaves,
                             "what the rows of this view add up by process and file", err);
}

int sta_intake_take(struct sta_intake *intake, unsigned number, const struct sta_scan_rows *from,
                    struct sta_span *spans, uint32_t *span_count, struct sta_error *err)
{
    struct sta_intake_worker *worker = &intake->workers[number];
    struct rows rows;
    uint32_t made = 0;
    int rc = read_rows(intake, number, from, &rows, err);
    worker->round++;
    for (uint32_t i = 0; rc == 0 && i < rows.count; i++) {
        uint32_t row = rows.selected != NULL ? rows.selected[i] : i;
        uint32_t class_code = rows.classes[row];
        struct sta_exact_part part;
        int64_t ts = rows.ts[row];
        if (!sta_exact_part_of(intake->bins, ts, ts + STA_MAX(rows.dur[row], 0), &part))
            continue;
        if (class_code >= worker->class_capacity || worker->classes[class_code].kind == NULL)
            meet_class(intake, worker, class_code);
        const struct sta_intake_class class = worker->classes[class_code];
        if (part.starts)
            count_fate(worker->by_bin != NULL ? &worker->by_bin[sta_bin_of(intake->bins, ts)]
                                              : &worker->counts,
                       class.kind);
        if (class.of_thread == NULL)
            continue;
        uint32_t leaf = find_leaf(intake, worker, &rows, row, &class);
        if (class.kind->layer_count > 0) {
            sta_exact_part_bins(intake->bins, &part);
            rc = take_row(intake, worker, &rows, row, leaf, class.kind, &part, err);
        }
        if (spans != NULL)
            add_span(worker, spans, &made, (struct sta_span){.ts = ts, .te = part.to, .cell = leaf});
    }
    if (spans != NULL)
        *span_count = made;
    return rc == 0 ? charge(intake, worker, err) : rc;
}

/* ---- after the pass */

static void fold_kinds(const struct sta_intake *intake, struct sta_exact_result *result)
{
    for (uint32_t k = 0; k < sta_kinds_count(intake->kinds); k++) {
        const struct sta_kind *kind = sta_kinds_at(intake->kinds, k);
        for (unsigned w = 0; w < intake->worker_count; w++) {
            const struct sta_sums *sums = &intake->workers[w].sums;
            for (uint32_t i = 0; i < kind->layer_count; i++)
                sta_sums_fold(sums, k, &result->places, result->shape.layers[kind->layers[i]].place);
            for (uint32_t i = 0; result->metrics.places > 0 && i < kind->metric_count; i++)
                sta_sums_fold(sums, k, &result->metrics, kind->metrics[i]);
        }
    }
}

#define LEAVES_AT_ONCE 16384 /* between two looks at whether it is cancelled */

static int fold_leaves(const struct sta_intake *intake, struct sta_exact_result *result,
                       struct sta_error *err)
{
    uint32_t count = sta_leaves_count(intake->leaves).leaves;
    int rc = 0;
    for (uint32_t number = 0; rc == 0 && number < count; number++) {
        const struct sta_leaf *leaf = sta_leaves_at(intake->leaves, number);
        uint32_t layers = leaf->kind->layer_count;
        uint32_t metrics = intake->ask->wants & STA_WANT_METRICS ? leaf->kind->metric_count : 0;
        for (uint32_t i = 0; i < layers + metrics; i++) {
            struct sta_fields *fields = i < layers ? &result->places : &result->metrics;
            uint32_t place = sta_leaves_slot(intake->leaves, leaf->slots[i])->place;
            for (unsigned w = 0; w < intake->worker_count; w++)
                sta_sums_fold(&intake->workers[w].sums, number, fields, place);
        }
        if (number % LEAVES_AT_ONCE == 0)
            rc = sta_budget_check(intake->budget, err);
    }
    return rc;
}

static void add_counts(struct sta_exact_counts *to, const struct sta_exact_counts *from)
{
    to->filtered_by_file += from->filtered_by_file;
    to->filtered_by_function += from->filtered_by_function;
    to->taken += from->taken;
    to->unmatched += from->unmatched;
    to->multiple += from->multiple;
}

static void fold_counts(const struct sta_intake *intake, struct sta_exact_result *result)
{
    size_t bins = intake->ask->count_bins ? intake->bins->count : 0;
    if (intake->ask->count_bins)
        result->counts_by_bin = sta_alloc_array(bins + 1, sizeof *result->counts_by_bin);
    for (unsigned w = 0; w < intake->worker_count; w++) {
        add_counts(&result->counts, &intake->workers[w].counts);
        for (size_t b = 0; b < bins; b++) {
            add_counts(&result->counts_by_bin[b], &intake->workers[w].by_bin[b]);
            add_counts(&result->counts, &intake->workers[w].by_bin[b]);
        }
    }
}

int sta_intake_fold(struct sta_intake *intake, struct sta_exact_result *result, struct sta_error *err)
{
    int rc = 0;
    if (by_kind(intake))
        fold_kinds(intake, result);
    else
        rc = fold_leaves(intake, result, err);
    fold_counts(intake, result);
    if (rc == 0 && intake->ask->wants & STA_WANT_FILES) {
        struct sta_files *files = sta_alloc_array(intake->worker_count, sizeof *files);
        for (unsigned w = 0; w < intake->worker_count; w++)
            files[w] = intake->workers[w].files;
        sta_files_count(files, intake->worker_count, result->places.values[STA_FIELD_FILES]);
        for (unsigned w = 0; w < intake->worker_count; w++)
            intake->workers[w].files = files[w];
        free(files);
    }
    return rc;
}

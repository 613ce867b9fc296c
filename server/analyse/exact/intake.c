/* Taking in rows: each goes to the sums and the files, finds its contribution, and becomes a span.
 *
 * DESIGN.  What a row's class means is looked up once per class and worker, its contribution once per class
 * and thread, or where keys are values once per run of rows of the same key.  So the usual row costs two or
 * three look-ups in arrays. */
#include "analyse/exact/intake.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exact/grow.h"
#include "analyse/exec/budget.h"
#include "common/memory.h"

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

int sta_intake_init(struct sta_intake *intake, struct sta_error *err)
{
    const unsigned wants = intake->ask->wants;
    intake->workers = sta_alloc_array(intake->worker_count, sizeof *intake->workers);
    for (unsigned w = 0; w < intake->worker_count; w++)
        intake->workers[w].contribution_of_key.account = intake->budget->account;
    int rc = sta_additive_init(&intake->additive, intake->bins, wants, intake->budget, err);
    if (rc == 0 && wants & STA_WANT_FILES)
        rc = sta_files_init(&intake->files, intake->bins, intake->budget, err);
    return rc;
}

void sta_intake_fini(struct sta_intake *intake)
{
    struct sta_account *account = intake->budget->account;
    for (unsigned w = 0; w < intake->worker_count; w++) {
        struct sta_intake_worker *worker = &intake->workers[w];
        for (size_t k = 0; k < worker->kind_capacity; k++)
            sta_account_free(account, worker->of_kind[k]);
        sta_account_free(account, worker->of_kind);
        sta_account_free(account, worker->classes);
        sta_account_free(account, worker->streams);
        sta_account_free(account, worker->last);
        sta_map_fini(&worker->contribution_of_key);
    }
    free(intake->workers);
    sta_additive_fini(&intake->additive);
    sta_files_fini(&intake->files);
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

/* ---- contributions */

/* The classes of a kind share what is known by thread. */
static int meet_kind(struct sta_intake *intake, struct sta_intake_worker *worker, const struct sta_kind *kind,
                     struct sta_error *err)
{
    struct sta_account *account = intake->budget->account;
    const size_t threads = (size_t)(needs_threads(intake) ? intake->entities->thread_count : 0) + 1;
    int rc = STA_GROW_ZEROED(account, worker->of_kind, worker->kind_capacity, (size_t)kind->number + 1, err);
    bool spans = intake->ask->wants & STA_WANT_ORDER && (kind->layer_count > 0 || kind->cover_count > 0);
    if (rc != 0 || !spans || worker->of_kind[kind->number] != NULL)
        return rc;
    uint32_t *of_thread = sta_account_alloc(account, threads, sizeof *of_thread, "threads by layer", err);
    if (of_thread == NULL)
        return err->status;
    memset(of_thread, 0xff, threads * sizeof *of_thread);
    worker->of_kind[kind->number] = of_thread;
    return STA_OK;
}

static int meet_class(struct sta_intake *intake, struct sta_intake_worker *worker, uint32_t class,
                      struct sta_error *err)
{
    const struct sta_kind *kind = sta_kinds_of(intake->kinds, class, err);
    if (kind == NULL)
        return err->status;
    int rc = STA_GROW_ZEROED(intake->budget->account, worker->classes, worker->class_capacity,
                             (size_t) class + 1, err);
    if (rc == 0)
        rc = meet_kind(intake, worker, kind, err);
    if (rc == 0)
        worker->classes[class] = (struct sta_intake_class){kind, worker->of_kind[kind->number]};
    return rc;
}

static int new_stream(const struct sta_intake *intake, struct sta_intake_worker *worker,
                      const struct sta_kind *kind, uint32_t thread, uint32_t *stream, struct sta_error *err)
{
    int rc = STA_GROW_ZEROED(intake->budget->account, worker->streams, worker->stream_capacity,
                             worker->stream_count + 1, err);
    if (rc != 0)
        return rc;
    worker->streams[worker->stream_count] =
        (struct sta_intake_stream){.kind = kind, .thread = thread, .contribution = STA_NO_CODE};
    *stream = (uint32_t)worker->stream_count++;
    return STA_OK;
}

static int meet_thread(struct sta_intake *intake, struct sta_intake_worker *worker,
                       const struct sta_intake_class *class, uint32_t thread, struct sta_error *err)
{
    uint32_t key = 0;
    if (sta_exact_keys_source(intake->keys) == STA_KEY_VALUE)
        return new_stream(intake, worker, class->kind, thread, &class->of_thread[thread], err);
    if (sta_exact_keys_source(intake->keys) == STA_KEY_THREAD)
        key = sta_exact_keys_of_threads(intake->keys)[thread];
    return sta_contributions_add(intake->contributions, class->kind, thread, key, &class->of_thread[thread],
                                 err);
}

/* The contribution of a stream's event of some key. */
static int contribution_of(struct sta_intake *intake, struct sta_intake_worker *worker, uint32_t number,
                           uint32_t key, uint32_t *contribution, struct sta_error *err)
{
    struct sta_intake_stream *stream = &worker->streams[number];
    int rc = STA_OK;
    *contribution = stream->contribution;
    if (stream->contribution != STA_NO_CODE && stream->key == key)
        return STA_OK;
    uint64_t pair = (uint64_t)number << 32 | key;
    if (!sta_map_find(&worker->contribution_of_key, pair, contribution)) {
        rc = sta_contributions_add(intake->contributions, stream->kind, stream->thread, key, contribution,
                                   err);
        if (rc != 0)
            return rc;
        sta_map_put(&worker->contribution_of_key, pair, *contribution);
    }
    stream->key = key;
    stream->contribution = *contribution;
    return STA_OK;
}

static int find_contribution(struct sta_intake *intake, struct sta_intake_worker *worker,
                             const struct rows *rows, uint32_t row, const struct sta_intake_class *class,
                             uint32_t *contribution, struct sta_error *err)
{
    uint32_t thread = rows->threads != NULL ? intake->entities->thread_of_code[rows->threads[row]] : 0;
    int rc =
        class->of_thread[thread] == STA_NO_CODE ? meet_thread(intake, worker, class, thread, err) : STA_OK;
    *contribution = class->of_thread[thread];
    if (rc == 0 && rows->keys != NULL)
        rc = contribution_of(intake, worker, *contribution, rows->keys[row], contribution, err);
    return rc;
}

/* ---- rows */

static int64_t size_of(const struct rows *rows, uint32_t row)
{
    if (rows->sizes == NULL || (rows->no_size != NULL && rows->no_size[row]))
        return 0;
    return rows->sizes[row];
}

static uint32_t thread_of(const struct sta_intake *intake, const struct rows *rows, uint32_t row)
{
    return rows->threads != NULL ? intake->entities->thread_of_code[rows->threads[row]] : 0;
}

static uint32_t key_of(const struct sta_intake *intake, const struct rows *rows, uint32_t row)
{
    if (rows->keys != NULL)
        return rows->keys[row];
    const uint32_t *of_threads = sta_exact_keys_of_threads(intake->keys);
    return of_threads != NULL ? of_threads[thread_of(intake, rows, row)] : 0;
}

/* An event of no wanted layer is counted where it starts, whatever its key. */
static int take_other(struct sta_intake *intake, unsigned worker, const struct sta_kind *kind, int64_t ts,
                      struct sta_error *err)
{
    const struct sta_additive_event event = {.signature = kind->number, .key = STA_NO_CODE, .ts = ts};
    struct sta_exact_part part = {.from = ts, .to = ts, .starts = 1};
    if (intake->ask->count_bins)
        part.low = part.high = sta_bin_of(intake->bins, ts);
    return sta_additive_take(&intake->additive, worker, &event, &part, err);
}

static int take_row(struct sta_intake *intake, unsigned worker, const struct rows *rows, uint32_t row,
                    const struct sta_kind *kind, struct sta_exact_part *part, struct sta_error *err)
{
    if (kind->layer_count == 0)
        return part->starts ? take_other(intake, worker, kind, rows->ts[row], err) : STA_OK;
    const struct sta_additive_event event = {.signature = kind->number,
                                             .key = key_of(intake, rows, row),
                                             .ts = rows->ts[row],
                                             .dur = STA_MAX(rows->dur[row], 0),
                                             .size = size_of(rows, row)};
    sta_exact_part_bins_near(intake->bins, &intake->workers[worker].bin, part);
    int rc = sta_additive_take(&intake->additive, worker, &event, part, err);
    if (rc != 0 || rows->files == NULL || rows->files[row] == STA_NO_CODE)
        return rc;
    const uint32_t file = intake->entities->file_of_ref[rows->files[row]];
    if (file == STA_NO_CODE) /* a hash that no line defines */
        return STA_OK;
    return sta_files_take(&intake->files, worker, kind, event.key, file, part, err);
}

/* Adds a span, in the order of ts.  Only the union of a contribution's spans counts, so that one which goes
 * on where the last one of the contribution ends, or begins inside it, lengthens that. */
static void add_span(struct sta_intake_worker *worker, struct sta_span *spans, uint32_t *count,
                     struct sta_span span)
{
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

/* Where the span of a row goes, and what is known of the row. */
struct spans {
    struct sta_span *items;
    uint32_t *count;
    const struct sta_intake_class *class;
    int64_t te; /* of its part in the bins and the range */
};

static int take_span(struct sta_intake *intake, struct sta_intake_worker *worker, const struct rows *rows,
                     uint32_t row, const struct spans *spans, struct sta_error *err)
{
    struct sta_span span = {.ts = rows->ts[row], .te = spans->te};
    int rc = find_contribution(intake, worker, rows, row, spans->class, &span.cell, err);
    if (rc == 0)
        rc = STA_GROW_ZEROED(intake->budget->account, worker->last, worker->last_capacity,
                             (size_t)span.cell + 1, err);
    if (rc == 0)
        add_span(worker, spans->items, spans->count, span);
    return rc;
}

int sta_intake_take(struct sta_intake *intake, unsigned number, const struct sta_scan_rows *from,
                    struct sta_span *spans, uint32_t *span_count, struct sta_error *err)
{
    struct sta_intake_worker *worker = &intake->workers[number];
    const struct sta_time_range range = intake->range;
    struct rows rows;
    uint32_t made = 0;
    int rc = read_rows(intake, number, from, &rows, err);
    worker->round++;
    for (uint32_t i = 0; rc == 0 && i < rows.count; i++) {
        const uint32_t row = rows.selected != NULL ? rows.selected[i] : i;
        const uint32_t class_code = rows.classes[row];
        const int64_t ts = rows.ts[row], te = ts + STA_MAX(rows.dur[row], 0);
        struct sta_exact_part part;
        if (ts >= range.to || (ts < range.from && te <= range.from) ||
            !sta_exact_part_of(intake->bins, ts, te, &part))
            continue;
        if (class_code >= worker->class_capacity || worker->classes[class_code].kind == NULL)
            rc = meet_class(intake, worker, class_code, err);
        if (rc != 0)
            break;
        const struct sta_intake_class class = worker->classes[class_code];
        if (ts >= range.from)
            rc = take_row(intake, number, &rows, row, class.kind, &part, err);
        if (rc == 0 && class.of_thread != NULL)
            rc = take_span(
                intake, worker, &rows, row,
                &(struct spans){
                    .items = spans, .count = &made, .class = &class, .te = STA_MIN(part.to, range.to)},
                err);
    }
    if (spans != NULL)
        *span_count = made;
    return rc == 0 ? sta_budget_check(intake->budget, err) : rc;
}

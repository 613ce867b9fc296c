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

#define WITHOUT_THREAD "an event of the store belongs to no thread"

/* The columns that the query needs; NULL where it does not. */
struct rows {
    uint32_t count;
    bool whole;  /* all of each lies in the bins and in the range */
    bool in_bin; /* .. and in the worker's bin */
    const uint32_t *selected, *classes;
    const int64_t *ts, *dur;
    const int64_t *sizes;    /* 0 where there is none */
    const uint32_t *threads; /* codes of the tables */
    const uint32_t *files;   /* references */
    const uint32_t *keys;
};

static bool needs_threads(const struct sta_intake *intake)
{
    return intake->request->wants & STA_WANT_UNITS || sta_exact_keys_source(intake->keys) == STA_KEY_THREAD;
}

int sta_intake_init(struct sta_intake *intake, struct sta_error *err)
{
    const unsigned wants = intake->request->wants;
    intake->workers = sta_alloc_array(intake->worker_count, sizeof *intake->workers);
    for (unsigned w = 0; w < intake->worker_count; w++)
        intake->workers[w].contribution_of_key.account = intake->budget->account;
    sta_long_spans_init(&intake->long_spans, intake->budget->account);
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
        sta_map_fini(&worker->contribution_of_key);
    }
    free(intake->workers);
    sta_long_spans_fini(&intake->long_spans);
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
    return 0;
}

static uint32_t largest_code(const struct rows *rows, const uint32_t *codes)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; rows->selected == NULL && i < rows->count; i++)
        largest = STA_MAX(largest, codes[i]);
    for (uint32_t i = 0; rows->selected != NULL && i < rows->count; i++)
        largest = STA_MAX(largest, codes[rows->selected[i]]);
    return largest;
}

/* The store checks codes against its tables; this one also serves as an index here. */
static int check_threads(const struct sta_intake *intake, const struct rows *rows, struct sta_error *err)
{
    return rows->threads != NULL && largest_code(rows, rows->threads) < intake->entities->thread_code_count
               ? STA_OK
               : sta_fail(err, STA_ECORRUPT, WITHOUT_THREAD);
}

/* Whether all rows of a row group lie in the bins whole, and in the same one.  Bins in runs are those of
 * wanted events: the first row need not be of one, so these are looked for by wanted events alone. */
static void find_bin(const struct sta_intake *intake, struct sta_recent_bin *bin,
                     const struct sta_row_group *row_group, struct rows *rows)
{
    const struct sta_exact_bins *bins = intake->bins;
    struct sta_exact_part part = {.from = row_group->ts_min,
                                  .to = STA_MAX(row_group->ts_max, row_group->te_max)};
    rows->whole =
        part.from >= STA_MAX(bins->from, intake->range.from) && part.to < STA_MIN(bins->to, intake->range.to);
    if (rows->whole && bins->runs == NULL)
        sta_exact_part_bins_near(bins, bin, &part);
    rows->in_bin = rows->whole && part.from >= bin->from && part.to < bin->to;
}

static int read_rows(struct sta_intake *intake, unsigned worker, const struct sta_scan_rows *from,
                     struct rows *rows, struct sta_error *err)
{
    unsigned wants = intake->request->wants;
    *rows = (struct rows){.count = from->count, .selected = from->selected, .classes = from->classes};
    find_bin(intake, &intake->workers[worker].bin, from->row_group, rows);
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

/* The classes of a kind share what is known by code of a thread. */
static int find_codes(struct sta_intake *intake, struct sta_intake_worker *worker,
                      struct sta_intake_class *class, struct sta_error *err)
{
    struct sta_account *account = intake->budget->account;
    const size_t codes = (size_t)(needs_threads(intake) ? intake->entities->thread_code_count : 0) + 1;
    int rc =
        STA_GROW_ZEROED(account, worker->of_kind, worker->kind_capacity, (size_t) class->signature + 1, err);
    if (rc != 0)
        return rc;
    uint32_t **of_kind = &worker->of_kind[class->signature];
    if (*of_kind == NULL) {
        *of_kind = sta_account_alloc(account, codes, sizeof **of_kind, "threads by layer", err);
        if (*of_kind == NULL)
            return err->status;
        memset(*of_kind, 0xff, codes * sizeof **of_kind);
    }
    class->of_code = *of_kind;
    return STA_OK;
}

/* Meets the classes up to that code. */
static int meet_classes(struct sta_intake *intake, unsigned number, uint32_t last, struct sta_error *err)
{
    struct sta_intake_worker *worker = &intake->workers[number];
    int rc = STA_GROW_ZEROED(intake->budget->account, worker->classes, worker->class_capacity,
                             (size_t)last + 1, err);
    for (; rc == 0 && worker->class_count <= last; worker->class_count++) {
        const struct sta_kind *kind = sta_kinds_of(intake->kinds, (uint32_t)worker->class_count, err);
        if (kind == NULL)
            return err->status;
        rc = sta_additive_meet(&intake->additive, number, kind->number, err);
        worker->classes[worker->class_count] =
            (struct sta_intake_class){.kind = kind,
                                      .signature = kind->number,
                                      .is_other = kind->layer_count == 0,
                                      .is_span = intake->request->wants & STA_WANT_ORDER &&
                                                 (kind->layer_count > 0 || kind->union_count > 0)};
    }
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

static int meet_code(struct sta_intake *intake, struct sta_intake_worker *worker,
                     const struct sta_intake_class *class, uint32_t code, struct sta_error *err)
{
    const uint32_t thread = needs_threads(intake) ? intake->entities->thread_of_code[code] : 0;
    uint32_t key = 0;
    if (sta_exact_keys_source(intake->keys) == STA_KEY_VALUE)
        return new_stream(intake, worker, class->kind, thread, &class->of_code[code], err);
    if (sta_exact_keys_source(intake->keys) == STA_KEY_THREAD)
        key = sta_exact_keys_of_threads(intake->keys)[thread];
    return sta_contributions_add(intake->contributions, class->kind, thread, key, &class->of_code[code], err);
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
                             const struct rows *rows, uint32_t row, struct sta_intake_class *class,
                             uint32_t *contribution, struct sta_error *err)
{
    const uint32_t code = rows->threads != NULL ? rows->threads[row] : 0;
    int rc = class->of_code == NULL ? find_codes(intake, worker, class, err) : STA_OK;
    if (rc == 0 && class->of_code[code] == STA_NO_CODE)
        rc = meet_code(intake, worker, class, code, err);
    if (rc != 0)
        return rc;
    *contribution = class->of_code[code];
    return rows->keys == NULL
               ? STA_OK
               : contribution_of(intake, worker, *contribution, rows->keys[row], contribution, err);
}

/* ---- rows */

#define MOST_ROWS 512 /* at once: what is noted of them stays in the nearest cache */

/* Rows of which a part lies in the bins and in the range. */
struct chosen {
    uint32_t count;
    uint32_t rows[MOST_ROWS];
};

static inline int64_t size_of(const struct rows *rows, uint32_t row)
{
    return rows->sizes != NULL ? rows->sizes[row] : 0;
}

static inline int64_t te_of(const struct rows *rows, uint32_t row)
{
    return rows->ts[row] + STA_MAX(rows->dur[row], 0);
}

static inline uint32_t key_of(const struct rows *rows, const uint32_t *of_threads,
                              const uint32_t *thread_of_code, uint32_t row)
{
    if (rows->keys != NULL)
        return rows->keys[row];
    return of_threads != NULL ? of_threads[thread_of_code[rows->threads[row]]] : 0;
}

/* Leaves those of which a part lies in the bins and in the range. */
static void cut(const struct sta_intake *intake, const struct rows *rows, struct chosen *chosen)
{
    const struct sta_time_range range = intake->range;
    uint32_t count = 0;
    for (uint32_t i = 0; i < chosen->count; i++) {
        const uint32_t row = chosen->rows[i];
        const int64_t ts = rows->ts[row], te = te_of(rows, row);
        struct sta_exact_part part;
        if (ts < range.to && (ts >= range.from || te > range.from) &&
            sta_exact_part_of(intake->bins, ts, te, &part))
            chosen->rows[count++] = row;
    }
    chosen->count = count;
}

/* Takes rows from the one numbered @first on. */
static void choose(const struct sta_intake *intake, const struct rows *rows, uint32_t first,
                   struct chosen *chosen)
{
    chosen->count = STA_MIN(rows->count - first, (uint32_t)MOST_ROWS);
    for (uint32_t i = 0; i < chosen->count; i++)
        chosen->rows[i] = rows->selected != NULL ? rows->selected[first + i] : first + i;
    if (!rows->whole)
        cut(intake, rows, chosen);
}

/* The sums of any row: of several bins, or cut. */
static int take_row(struct sta_intake *intake, unsigned worker, const struct rows *rows, uint32_t row,
                    const struct sta_kind *kind, uint32_t key, struct sta_error *err)
{
    const struct sta_additive_event event = {.signature = kind->number,
                                             .key = key,
                                             .ts = rows->ts[row],
                                             .dur = STA_MAX(rows->dur[row], 0),
                                             .size = size_of(rows, row)};
    struct sta_exact_part part;
    if (!sta_exact_part_of(intake->bins, event.ts, event.ts + event.dur, &part))
        return STA_OK;
    sta_exact_part_bins_near(intake->bins, &intake->workers[worker].bin, &part);
    return sta_additive_take(&intake->additive, worker, &event, &part, err);
}

/* The sums of a row that lies in @place whole. */
static inline int put_row(struct sta_intake *intake, unsigned number, const struct rows *rows, uint32_t row,
                          const struct sta_intake_class *class, int64_t place, struct sta_error *err)
{
    const bool sizes = (intake->request->wants & STA_WANT_SIZE_BINS) != 0;
    const int64_t counts = -(int64_t) !class->is_other; /* a mask: an event of no wanted layer adds nothing */
    const int64_t time = STA_MAX(rows->dur[row], 0) & counts;
    return sta_additive_put(&intake->additive, number, class->signature, place, time,
                            size_of(rows, row) & counts, sizes, err);
}

/* An event of no wanted layer is counted where it starts, beside those before it whatever its key. */
static int take_other(struct sta_intake *intake, unsigned number, const struct rows *rows, uint32_t row,
                      const struct sta_intake_class *class, struct sta_error *err)
{
    const int64_t ts = rows->ts[row];
    int64_t place = intake->additive.workers[number].place;
    if (ts < intake->bins->from)
        return STA_OK;
    if (intake->request->count_bins)
        place = sta_additive_place(&intake->additive, STA_NO_CODE, sta_bin_of(intake->bins, ts));
    return put_row(intake, number, rows, row, class, place, err);
}

static int take_sums(struct sta_intake *intake, unsigned number, const struct rows *rows,
                     const struct chosen *chosen, struct sta_error *err)
{
    const struct sta_intake_worker *worker = &intake->workers[number];
    const uint32_t *key_of_threads = sta_exact_keys_of_threads(intake->keys);
    const int64_t first = intake->range.from;
    struct sta_recent_bin bin = worker->bin;
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < chosen->count; i++) {
        const uint32_t row = chosen->rows[i];
        const struct sta_intake_class *class = &worker->classes[rows->classes[row]];
        const uint32_t key = key_of(rows, key_of_threads, intake->entities->thread_of_code, row);
        const int64_t ts = rows->ts[row];
        if (ts < first)
            continue;
        if (class->is_other) {
            rc = take_other(intake, number, rows, row, class, err);
        } else if ((ts >= bin.from) & (ts < bin.to) & (te_of(rows, row) <= bin.to)) {
            rc = put_row(intake, number, rows, row, class,
                         sta_additive_place(&intake->additive, key, bin.bin), err);
        } else {
            rc = take_row(intake, number, rows, row, class->kind, key, err);
            bin = worker->bin;
        }
    }
    return rc;
}

/* Likewise of rows of one key that lie in the worker's bin whole: most are. */
static int take_sums_of_bin(struct sta_intake *intake, unsigned number, const struct rows *rows,
                            const struct chosen *chosen, struct sta_error *err)
{
    const struct sta_intake_worker *worker = &intake->workers[number];
    const int64_t place = sta_additive_place(&intake->additive, 0, worker->bin.bin);
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < chosen->count; i++) {
        const uint32_t row = chosen->rows[i];
        rc = put_row(intake, number, rows, row, &worker->classes[rows->classes[row]], place, err);
    }
    return rc;
}

/* The chosen ones that have a file and start in the range.  Without a branch: which rows have a
 * file is hard to predict. */
static uint32_t list_with_files(const struct rows *rows, const struct chosen *chosen, int64_t first,
                                uint32_t *with_files)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < chosen->count; i++) {
        const uint32_t row = chosen->rows[i];
        with_files[count] = row;
        count += (rows->files[row] != STA_NO_CODE) & (rows->ts[row] >= first);
    }
    return count;
}

static int take_files(struct sta_intake *intake, unsigned number, const struct rows *rows,
                      const struct chosen *chosen, struct sta_error *err)
{
    const struct sta_intake_class *classes = intake->workers[number].classes;
    const uint32_t *key_of_threads = sta_exact_keys_of_threads(intake->keys);
    const struct sta_exact_bins *bins = intake->bins;
    struct sta_recent_bin bin = intake->workers[number].bin;
    uint32_t with_files[MOST_ROWS];
    const uint32_t count = list_with_files(rows, chosen, intake->range.from, with_files);
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const uint32_t row = with_files[i];
        const uint32_t file = intake->entities->file_of_ref[rows->files[row]];
        const struct sta_intake_class *class = &classes[rows->classes[row]];
        if (file == STA_NO_CODE || class->is_other) /* a hash that no line defines; in no row */
            continue;
        struct sta_exact_part part = {.from = STA_MAX(rows->ts[row], bins->from),
                                      .to = STA_MIN(te_of(rows, row), bins->to)};
        sta_exact_part_bins_near(bins, &bin, &part);
        rc = sta_files_take(&intake->files, number, class->kind,
                            key_of(rows, key_of_threads, intake->entities->thread_of_code, row), file,
                            part.low, part.high, err);
    }
    return rc;
}

static int take_spans(struct sta_intake *intake, struct sta_intake_worker *worker, const struct rows *rows,
                      const struct chosen *chosen, struct sta_exact_span *spans, uint32_t *count,
                      struct sta_error *err)
{
    const int64_t end = STA_MIN(intake->bins->to, intake->range.to);
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < chosen->count; i++) {
        const uint32_t row = chosen->rows[i];
        struct sta_intake_class *class = &worker->classes[rows->classes[row]];
        if (!class->is_span)
            continue;
        struct sta_exact_span *span = &spans[(*count)++];
        const int64_t te = STA_MIN(te_of(rows, row), end);
        span->ts = rows->ts[row];
        rc = find_contribution(intake, worker, rows, row, class, &span->contribution, err);
        if (te - span->ts < STA_LONG_SPAN)
            span->length = (uint32_t)(te - span->ts);
        else if (rc == 0)
            rc = sta_long_spans_add(&intake->long_spans, span, te, err);
    }
    return rc;
}

int sta_intake_take(struct sta_intake *intake, unsigned number, const struct sta_scan_rows *from,
                    struct sta_exact_span *spans, uint32_t *span_count, struct sta_error *err)
{
    struct sta_intake_worker *worker = &intake->workers[number];
    struct rows rows;
    struct chosen chosen;
    uint32_t made = 0;
    int rc = read_rows(intake, number, from, &rows, err);
    const uint32_t last = rc == 0 ? largest_code(&rows, rows.classes) : 0;
    if (rc == 0 && last >= worker->class_count)
        rc = meet_classes(intake, number, last, err);
    const bool of_bin =
        rows.in_bin && (intake->additive.by_time || sta_exact_keys_source(intake->keys) <= STA_KEY_TIME);
    for (uint32_t first = 0; rc == 0 && first < rows.count; first += MOST_ROWS) {
        choose(intake, &rows, first, &chosen);
        rc = of_bin ? take_sums_of_bin(intake, number, &rows, &chosen, err)
                    : take_sums(intake, number, &rows, &chosen, err);
        if (rc == 0 && rows.files != NULL)
            rc = take_files(intake, number, &rows, &chosen, err);
        if (rc == 0 && spans != NULL)
            rc = take_spans(intake, worker, &rows, &chosen, spans, &made, err);
    }
    if (spans != NULL)
        *span_count = made;
    return rc == 0 ? sta_budget_check(intake->budget, err) : rc;
}

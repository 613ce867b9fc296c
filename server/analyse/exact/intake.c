/* Taking in rows: each goes to the sums and the files, finds its contribution, and becomes a span.
 *
 * DESIGN.  What a row's class means is looked up once per class and worker, its contribution once per class
 * and thread, or where keys are values once per run of rows of the same key.  So the usual row costs two or
 * three look-ups in arrays. */
#include "analyse/exact/intake.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

#define WITHOUT_THREAD "an event of the store belongs to no thread"

/* Each loop over rows is a function of its own: together they have too many variables for the registers. */
#define SEPARATE __attribute__((noinline))

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
    if (intake->workers == NULL)
        return;
    struct sta_account *account = intake->budget->account;
    for (unsigned w = 0; w < intake->worker_count; w++) {
        struct sta_intake_worker *worker = &intake->workers[w];
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
    int rc = sta_column_reader_times(from->reader, &rows->ts, &rows->dur, err);
    if (rc == 0 && wants & (STA_WANT_SIZES | STA_WANT_SIZE_BINS))
        rc = read_sizes(from->reader, rows, err);
    if (rc == 0 && wants & STA_WANT_FILES)
        rc = sta_column_reader_codes(from->reader, STA_COLUMN_FILE, &rows->files, err);
    if (rc == 0 && sta_exact_keys_source(intake->keys) == STA_KEY_VALUE)
        rc = sta_exact_keys_read(intake->keys, worker, from->reader, &rows->keys, err);
    if (rc != 0 || !intake->contributions->options.by_thread)
        return rc;
    rc = sta_column_reader_codes(from->reader, STA_COLUMN_THREAD, &rows->threads, err);
    return rc == 0 ? check_threads(intake, rows, err) : rc;
}

/* ---- contributions */

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
                                      .counts = kind->layer_count == 0 ? 0 : -1,
                                      .is_span = intake->request->wants & STA_WANT_ORDER &&
                                                 (kind->layer_count > 0 || kind->union_count > 0)};
    }
    return rc;
}

static inline uint32_t thread_of(const uint32_t *thread_of_code, const struct rows *rows, uint32_t row)
{
    return rows->threads != NULL ? thread_of_code[rows->threads[row]] : 0;
}

/* The contribution of a row in a view whose keys are values. */
static int find_by_key(struct sta_intake *intake, struct sta_intake_worker *worker,
                       const struct sta_intake_class *class, uint32_t thread, uint32_t key,
                       uint32_t *contribution, struct sta_error *err)
{
    uint32_t number = sta_stream_at(class->streams, thread);
    int rc = STA_OK;
    if (number < worker->stream_capacity && worker->streams[number].known &&
        worker->streams[number].key == key) {
        *contribution = worker->streams[number].contribution;
        return STA_OK;
    }
    if (number == STA_NO_CODE ||
        !sta_map_find(&worker->contribution_of_key, (uint64_t)number << 32 | key, contribution)) {
        rc = sta_contributions_add(intake->contributions, class->kind, thread, key, contribution, err);
        if (rc != 0)
            return rc;
        number = sta_stream_at(class->streams, thread);
        sta_map_put(&worker->contribution_of_key, (uint64_t)number << 32 | key, *contribution);
    }
    rc = STA_GROW_ZEROED(intake->budget->account, worker->streams, worker->stream_capacity,
                         (size_t)number + 1, err);
    if (rc == 0)
        worker->streams[number] = (struct sta_intake_stream){true, key, *contribution};
    return rc;
}

/* The contribution of a row that the streams do not say. */
SEPARATE static int find_contribution(struct sta_intake *intake, struct sta_intake_worker *worker,
                                      const struct rows *rows, uint32_t row, struct sta_intake_class *class,
                                      uint32_t *contribution, struct sta_error *err)
{
    const uint32_t thread = thread_of(intake->entities->thread_of_code, rows, row);
    const uint32_t *key_of_threads = sta_exact_keys_of_threads(intake->keys);
    if (class->streams == NULL)
        class->streams = sta_contributions_streams(intake->contributions, class->kind, err);
    if (class->streams == NULL)
        return err->status;
    if (rows->keys != NULL)
        return find_by_key(intake, worker, class, thread, rows->keys[row], contribution, err);
    return sta_contributions_add(intake->contributions, class->kind, thread,
                                 key_of_threads != NULL ? key_of_threads[thread] : 0, contribution, err);
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
    return of_threads != NULL ? of_threads[thread_of(thread_of_code, rows, row)] : 0;
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

static bool tells_sizes(const struct sta_intake *intake)
{
    return (intake->request->wants & STA_WANT_SIZE_BINS) != 0;
}

/* The sums of a row that lies whole in the place that the worker is at. */
static inline int put_row(struct sta_additive *additive, struct sta_additive_worker *to,
                          const struct rows *rows, uint32_t row, const struct sta_intake_class *class,
                          bool sized, struct sta_error *err)
{
    const int64_t time = STA_MAX(rows->dur[row], 0) & class->counts;
    return sta_additive_put(additive, to, class->signature, time, size_of(rows, row) & class->counts, sized,
                            err);
}

/* An event of no wanted layer is counted where it starts, beside those before it whatever its key. */
static int take_other(struct sta_intake *intake, struct sta_additive_worker *to, const struct rows *rows,
                      uint32_t row, const struct sta_intake_class *class, struct sta_error *err)
{
    const int64_t ts = rows->ts[row];
    int64_t place = to->place;
    if (ts < intake->bins->from)
        return STA_OK;
    if (intake->request->count_bins)
        place = sta_additive_place(&intake->additive, STA_NO_CODE, sta_bin_of(intake->bins, ts));
    int rc = sta_additive_go_to(&intake->additive, to, place, err);
    return rc == 0 ? put_row(&intake->additive, to, rows, row, class, tells_sizes(intake), err) : rc;
}

SEPARATE static int take_sums(struct sta_intake *intake, unsigned number, const struct rows *rows,
                              const struct chosen *chosen, struct sta_error *err)
{
    const struct sta_intake_worker *worker = &intake->workers[number];
    struct sta_additive *const additive = &intake->additive;
    struct sta_additive_worker *const to = &additive->workers[number];
    const uint32_t *key_of_threads = sta_exact_keys_of_threads(intake->keys);
    const int64_t first = intake->range.from;
    const bool sized = tells_sizes(intake);
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
            rc = take_other(intake, to, rows, row, class, err);
        } else if ((ts >= bin.from) & (ts < bin.to) & (te_of(rows, row) <= bin.to)) {
            rc = sta_additive_go_to(additive, to, sta_additive_place(additive, key, bin.bin), err);
            if (rc == 0)
                rc = put_row(additive, to, rows, row, class, sized, err);
        } else {
            rc = take_row(intake, number, rows, row, class->kind, key, err);
            bin = worker->bin;
        }
    }
    return rc;
}

/* Likewise of rows of one key that lie in the worker's bin whole: most are. */
SEPARATE static int take_sums_of_bin(struct sta_intake *intake, unsigned number, const struct rows *rows,
                                     const struct chosen *chosen, struct sta_error *err)
{
    struct sta_additive *const additive = &intake->additive;
    struct sta_additive_worker *const to = &additive->workers[number];
    const struct sta_intake_class *const classes = intake->workers[number].classes;
    const bool sized = tells_sizes(intake);
    const uint32_t *const codes = rows->classes;
    const int64_t place = sta_additive_place(additive, 0, intake->workers[number].bin.bin);
    const uint32_t count = chosen->count;
    int rc = sta_additive_go_to(additive, to, place, err);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const uint32_t row = chosen->rows[i];
        rc = put_row(additive, to, rows, row, &classes[codes[row]], sized, err);
    }
    return rc;
}

/* The chosen ones that have a file.  Without a branch: which rows have one is hard to predict. */
static uint32_t list_with_files(const struct rows *rows, const struct chosen *chosen, uint32_t *with_files)
{
    const uint32_t *const files = rows->files;
    uint32_t count = 0;
    for (uint32_t i = 0; i < chosen->count; i++) {
        with_files[count] = chosen->rows[i];
        count += files[chosen->rows[i]] != STA_NO_CODE;
    }
    return count;
}

SEPARATE static int take_files(struct sta_intake *intake, unsigned number, const struct rows *rows,
                               const struct chosen *chosen, struct sta_error *err)
{
    const struct sta_intake_class *const classes = intake->workers[number].classes;
    const uint32_t *const key_of_threads = sta_exact_keys_of_threads(intake->keys);
    const uint32_t *const file_of_ref = intake->entities->file_of_ref;
    const int64_t first = intake->range.from;
    struct sta_recent_bin bin = intake->workers[number].bin;
    struct sta_exact_part part = {.low = bin.bin, .high = bin.bin};
    uint32_t with_files[MOST_ROWS] = {0};
    const uint32_t count = list_with_files(rows, chosen, with_files);
    const bool in_bin = rows->in_bin;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = with_files[i];
        const uint32_t file = file_of_ref[rows->files[row]];
        const struct sta_intake_class *class = &classes[rows->classes[row]];
        if (file == STA_NO_CODE || class->is_other || rows->ts[row] < first)
            continue; /* a hash that no line defines; in no row; counted where it starts */
        const uint32_t key = key_of(rows, key_of_threads, intake->entities->thread_of_code, row);
        if (!in_bin) {
            part.from = STA_MAX(rows->ts[row], intake->bins->from);
            part.to = STA_MIN(te_of(rows, row), intake->bins->to);
            sta_exact_part_bins_near(intake->bins, &bin, &part);
        }
        int rc = sta_files_take(&intake->files, number, class->kind, key, file, part.low, part.high, err);
        if (rc != 0)
            return rc;
    }
    return STA_OK;
}

SEPARATE static int take_spans(struct sta_intake *intake, struct sta_intake_worker *worker,
                               const struct rows *rows, const struct chosen *chosen,
                               struct sta_exact_span *spans, uint32_t *made, struct sta_error *err)
{
    const int64_t end = STA_MIN(intake->bins->to, intake->range.to);
    const uint32_t *const thread_of_code = intake->entities->thread_of_code, *const codes = rows->classes;
    struct sta_intake_class *const classes = worker->classes;
    struct sta_exact_span *span = spans + *made;
    const uint32_t count = chosen->count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = chosen->rows[i];
        struct sta_intake_class *class = &classes[codes[row]];
        if (!class->is_span)
            continue;
        const int64_t ts = rows->ts[row], te = STA_MIN(te_of(rows, row), end);
        *span = (struct sta_exact_span){ts, (uint32_t)(te - ts), STA_NO_CODE};
        if (class->streams != NULL && rows->keys == NULL)
            span->contribution = sta_stream_at(class->streams, thread_of(thread_of_code, rows, row));
        int rc = STA_OK;
        if (span->contribution == STA_NO_CODE)
            rc = find_contribution(intake, worker, rows, row, class, &span->contribution, err);
        if (rc == 0 && te - ts >= STA_LONG_SPAN)
            rc = sta_long_spans_add(&intake->long_spans, span, te, err);
        if (rc != 0)
            return rc;
        span++;
    }
    *made = (uint32_t)(span - spans);
    return STA_OK;
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

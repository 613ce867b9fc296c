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

/* ---- rows */

#define MOST_ROWS 512  /* at once: what is noted of them stays in the nearest cache */
#define SLOTS_OF_ROW 4 /* to be looked at for each row is less than to list those that are used */

/* Rows of which a part lies in the bins and in the range. */
struct chosen {
    uint32_t count;
    uint32_t rows[MOST_ROWS];
};

static inline uint32_t thread_of(const uint32_t *thread_of_code, const struct rows *rows, uint32_t row)
{
    return rows->threads != NULL ? thread_of_code[rows->threads[row]] : 0;
}

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
                    const struct sta_event_signature *signature, uint32_t key, struct sta_error *err)
{
    const struct sta_additive_event event = {.signature = signature->number,
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

/* The sums of a row that lies wholly in the result row that the worker is at. */
static void put_row(struct sta_additive_worker *to, const struct rows *rows, uint32_t row,
                    const struct sta_intake_class *class, bool sized)
{
    sta_additive_put(to, class->number, STA_MAX(rows->dur[row], 0), size_of(rows, row), sized);
}

/* An event of no wanted layer is counted where it starts, beside those before it whatever its key; nobody
 * asks for its time and size. */
static int take_other(struct sta_intake *intake, struct sta_additive_worker *to, const struct rows *rows,
                      uint32_t row, const struct sta_intake_class *class, struct sta_error *err)
{
    const int64_t ts = rows->ts[row];
    int64_t result_row = to->row;
    if (ts < intake->bins->from)
        return STA_OK;
    if (intake->request->count_bins)
        result_row = sta_additive_result_row(&intake->additive, STA_NO_CODE, sta_bin_of(intake->bins, ts));
    int rc = sta_additive_go_to(&intake->additive, to, result_row, err);
    if (rc == 0)
        put_row(to, rows, row, class, false);
    return rc;
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
            rc = sta_additive_go_to(additive, to, sta_additive_result_row(additive, key, bin.bin), err);
            if (rc == 0)
                put_row(to, rows, row, class, sized);
        } else {
            rc = take_row(intake, number, rows, row, class->signature, key, err);
            bin = worker->bin;
        }
    }
    return rc;
}

/* Likewise of rows that lie in the result row that the worker is at: most do. */
SEPARATE static void take_sums_of_one_row(const struct sta_intake_class *classes, const struct rows *rows,
                                          const struct chosen *chosen, bool sized,
                                          struct sta_additive_slot *slots)
{
    const uint32_t *const codes = rows->classes;
    const int64_t *const dur = rows->dur, *const sizes = rows->sizes;
    const uint32_t *const end = chosen->rows + chosen->count;
    for (const uint32_t *at = chosen->rows; at < end; at++) {
        const int64_t size = sizes != NULL ? sizes[*at] : 0;
        const uint32_t bin = sized ? sta_size_bin(size) : STA_SIZE_BINS;
        const uint32_t signature = classes[codes[*at]].number;
        sta_additive_count(&slots[(size_t)signature << STA_SIZE_BIN_BITS | bin], STA_MAX(dur[*at], 0), size);
    }
}

/* ---- files */

/* An event that nothing like it came lately.  One of a hash that no line defines, or in no row, adds
 * nothing. */
SEPARATE static int take_file(struct sta_intake *intake, unsigned number,
                              const struct sta_intake_class *class, struct sta_files_seen seen, size_t high,
                              struct sta_error *err)
{
    const uint32_t ref = (uint32_t)seen.what, key = (uint32_t)seen.where;
    const uint32_t file = ref != STA_NO_CODE ? intake->entities->file_of_ref[ref] : STA_NO_CODE;
    const size_t low = seen.where >> 32;
    if (low == high)
        *sta_files_slot(intake->files.recent[number], seen) = seen;
    if (file == STA_NO_CODE || class->is_other)
        return STA_OK;
    return sta_files_take(&intake->files, number, class->signature, key, file, low, high, err);
}

SEPARATE static int take_files(struct sta_intake *intake, unsigned number, const struct rows *rows,
                               const struct chosen *chosen, struct sta_error *err)
{
    const struct sta_intake_class *const classes = intake->workers[number].classes;
    const uint32_t *const key_of_threads = sta_exact_keys_of_threads(intake->keys);
    struct sta_files_recent *const recent = intake->files.recent[number];
    struct sta_recent_bin bin = intake->workers[number].bin;
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < chosen->count; i++) {
        const uint32_t row = chosen->rows[i];
        const struct sta_intake_class *class = &classes[rows->classes[row]];
        const uint32_t key = key_of(rows, key_of_threads, intake->entities->thread_of_code, row);
        struct sta_exact_part part = {.from = STA_MAX(rows->ts[row], intake->bins->from),
                                      .to = STA_MIN(te_of(rows, row), intake->bins->to)};
        if (class->is_other || rows->files[row] == STA_NO_CODE || rows->ts[row] < intake->range.from)
            continue; /* counted where it starts */
        sta_exact_part_bins_near(intake->bins, &bin, &part);
        const struct sta_files_seen seen = sta_files_seen(class->number, rows->files[row], key, part.low);
        if (part.low != part.high || !sta_files_is_seen(recent, seen))
            rc = take_file(intake, number, class, seen, part.high, err);
    }
    return rc;
}

/* Likewise of rows of one key that lie in a bin whole.  Without a branch for those that have no file: which
 * rows have one is hard to predict. */
SEPARATE static int take_files_of_one_row(struct sta_intake *intake, unsigned number, const struct rows *rows,
                                          const struct chosen *chosen, struct sta_error *err)
{
    const struct sta_intake_class *const classes = intake->workers[number].classes;
    struct sta_files_recent *const recent = intake->files.recent[number];
    const uint32_t *const files = rows->files, *const codes = rows->classes;
    const uint32_t *const end = chosen->rows + chosen->count;
    const size_t bin = intake->workers[number].bin.bin;
    for (const uint32_t *at = chosen->rows; at < end; at++) {
        const struct sta_intake_class *class = &classes[codes[*at]];
        const struct sta_files_seen seen = sta_files_seen(class->number, files[*at], 0, bin);
        if (sta_files_is_seen(recent, seen))
            continue;
        int rc = take_file(intake, number, class, seen, bin, err);
        if (rc != 0)
            return rc;
    }
    return STA_OK;
}

/* ---- spans */

/* The span of any row, if it has one. */
SEPARATE static int take_span(struct sta_intake *intake, struct sta_intake_worker *worker,
                              const struct rows *rows, uint32_t row, struct sta_exact_span *span, bool *made,
                              struct sta_error *err)
{
    const int64_t end = STA_MIN(intake->bins->to, intake->range.to);
    const int64_t ts = rows->ts[row], te = STA_MIN(te_of(rows, row), end);
    struct sta_intake_class *class = &worker->classes[rows->classes[row]];
    *made = class->is_span;
    if (!*made)
        return STA_OK;
    *span = (struct sta_exact_span){.ts = ts, .length = (uint32_t)(te - ts)};
    int rc =
        sta_intake_contribution(intake, worker, class, thread_of(intake->entities->thread_of_code, rows, row),
                                rows->keys != NULL ? &rows->keys[row] : NULL, &span->contribution, err);
    return rc == 0 && te - ts >= STA_LONG_SPAN ? sta_long_spans_add(&intake->long_spans, span, te, err) : rc;
}

/* The usual one lies in the bins whole, and the streams say its contribution. */
SEPARATE static int take_spans(struct sta_intake *intake, struct sta_intake_worker *worker,
                               const struct rows *rows, const struct chosen *chosen,
                               struct sta_exact_span **spans, struct sta_error *err)
{
    const uint32_t *const thread_of_code = intake->entities->thread_of_code, *const codes = rows->classes;
    const uint32_t *const threads = rows->threads, *const last = chosen->rows + chosen->count;
    const int64_t *const ts = rows->ts, *const dur = rows->dur;
    const struct sta_intake_class *const classes = worker->classes;
    const bool usual = rows->whole && rows->keys == NULL;
    struct sta_exact_span *span = *spans;
    bool made;
    for (const uint32_t *at = chosen->rows; at < last; at++) {
        const _Atomic uint32_t *const streams = classes[codes[*at]].streams;
        const int64_t length = STA_MAX(dur[*at], 0);
        if (streams != NULL && usual && length < STA_LONG_SPAN) {
            span->ts = ts[*at];
            span->length = (uint32_t)length;
            span->contribution = sta_stream_at(streams, threads != NULL ? thread_of_code[threads[*at]] : 0);
            if (span->contribution != STA_NO_CODE) {
                span++;
                continue;
            }
        }
        int rc = take_span(intake, worker, rows, *at, span, &made, err);
        if (rc != 0)
            return rc;
        span += made;
    }
    *spans = span;
    return STA_OK;
}

/* Whether all rows go to one result row, which has to be found once then; else of each row. */
static bool has_one_result_row(const struct sta_intake *intake, const struct sta_additive_worker *to,
                               const struct rows *rows)
{
    return rows->in_bin && sta_exact_keys_source(intake->keys) <= STA_KEY_TIME &&
           to->slot_capacity <= (size_t)rows->count * SLOTS_OF_ROW;
}

static int take_chosen(struct sta_intake *intake, unsigned number, const struct rows *rows,
                       const struct chosen *chosen, struct sta_additive_slot *slots, struct sta_error *err)
{
    int rc = STA_OK;
    if (slots != NULL)
        take_sums_of_one_row(intake->workers[number].classes, rows, chosen, tells_sizes(intake), slots);
    else
        rc = take_sums(intake, number, rows, chosen, err);
    if (rc != 0 || rows->files == NULL)
        return rc;
    return slots != NULL ? take_files_of_one_row(intake, number, rows, chosen, err)
                         : take_files(intake, number, rows, chosen, err);
}

int sta_intake_take(struct sta_intake *intake, unsigned number, const struct sta_scan_rows *from,
                    struct sta_exact_span *spans, uint32_t *span_count, struct sta_error *err)
{
    struct sta_intake_worker *worker = &intake->workers[number];
    struct sta_additive_worker *to = &intake->additive.workers[number];
    struct sta_additive_slot *slots = NULL; /* of the result row of all rows */
    struct rows rows;
    struct chosen chosen;
    struct sta_exact_span *end = spans;
    int rc = read_rows(intake, number, from, &rows, err);
    const uint32_t last = rc == 0 ? largest_code(&rows, rows.classes) : 0;
    if (rc == 0 && last >= worker->class_count)
        rc = sta_intake_meet(intake, number, last, err);
    if (rc == 0 && has_one_result_row(intake, to, &rows)) {
        rc = sta_additive_go_to(&intake->additive, to,
                                sta_additive_result_row(&intake->additive, 0, worker->bin.bin), err);
        slots = sta_additive_slots(to);
    }
    for (uint32_t first = 0; rc == 0 && first < rows.count; first += MOST_ROWS) {
        choose(intake, &rows, first, &chosen);
        rc = take_chosen(intake, number, &rows, &chosen, slots, err);
        if (rc == 0 && spans != NULL)
            rc = take_spans(intake, worker, &rows, &chosen, &end, err);
    }
    if (spans != NULL)
        *span_count = (uint32_t)(end - spans);
    return rc == 0 ? sta_budget_check(intake->budget, err) : rc;
}

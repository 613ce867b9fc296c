/* The exact summary: one pass, then a row per layer. */
#include "analyse/summary.h"

#include "analyse/question.h"
#include "analyse/scan.h"

struct pass {
    struct sta_summary summary;
    const struct sta_bound_question *bound;
};

static void membership_of_class(const void *context, uint32_t code, struct sta_membership *membership)
{
    const struct sta_classes *classes = context;
    const struct sta_preset *preset = sta_classes_preset(classes);
    struct sta_class class = sta_classes_get(classes, code);
    membership->fate = class.fate;
    membership->layer_count = membership->metric_count = 0;
    uint32_t number = 0; /* of the metric, over all layers */
    for (size_t l = 0; l < preset->layer_count; l++) {
        if (sta_class_has(&class, sta_classes_layer_bit(classes, l)))
            membership->layers[membership->layer_count++] = (uint32_t)l;
        for (size_t m = 0; m < preset->layers[l].metric_count; m++, number++)
            if (sta_class_has(&class, sta_classes_metric_bit(classes, l, m)))
                membership->metrics[membership->metric_count++] = number;
    }
}

/* ---- from the columns of a block to the summary's rows */

static int read_codes(struct sta_column_reader *reader, uint32_t column, const uint32_t **codes,
                      struct sta_error *err)
{
    const struct sta_column_values *values;
    int rc = sta_column_reader_physical(reader, column, &values, err);
    if (rc == 0)
        *codes = values->kind == STA_KIND_CODE ? values->codes : NULL;
    return rc;
}

static int read_ticks(struct sta_column_reader *reader, uint32_t column, const int64_t **ticks,
                      struct sta_error *err)
{
    const struct sta_column_values *values;
    int rc = sta_column_reader_physical(reader, column, &values, err);
    if (rc == 0)
        *ticks = values->integers;
    return rc;
}

static int read_rows(const struct sta_scan_rows *from, struct sta_summary_rows *rows, struct sta_error *err)
{
    struct sta_vector size;
    *rows =
        (struct sta_summary_rows){.count = from->count, .selected = from->selected, .classes = from->classes};
    int rc = read_codes(from->reader, STA_COLUMN_THREAD, &rows->threads, err);
    if (rc == 0)
        rc = read_codes(from->reader, STA_COLUMN_FILE, &rows->files, err);
    if (rc == 0)
        rc = read_ticks(from->reader, STA_COLUMN_TS, &rows->ts, err);
    if (rc == 0)
        rc = read_ticks(from->reader, STA_COLUMN_DUR, &rows->dur, err);
    if (rc == 0)
        rc = sta_column_reader_get(from->reader, STA_LOGICAL_size, &size, err);
    if (rc != 0)
        return rc;
    if (rows->threads == NULL)
        return sta_fail(err, STA_ECORRUPT, "a block of the store has no threads");
    if (!size.constant) { /* constant: missing everywhere, since a size says how much one event moved */
        rows->sizes = size.integers;
        rows->no_size = size.missing;
    }
    return 0;
}

static int take_rows(void *self, unsigned worker, const struct sta_scan_rows *from, struct sta_span *spans,
                     uint32_t *count, struct sta_error *err)
{
    struct pass *pass = self;
    struct sta_summary_rows rows;
    int rc = read_rows(from, &rows, err);
    rows.from = pass->bound->from;
    rows.to = pass->bound->to;
    return rc == 0 ? sta_summary_update(&pass->summary, worker, &rows, spans, count, err) : rc;
}

/* Blocks of which nothing lies in the window. */
static bool is_outside(void *context, const struct sta_block *block)
{
    const struct sta_bound_question *bound = context;
    return block->ts_min >= bound->to || (block->te_max <= bound->from && block->ts_max < bound->from);
}

static void prepare(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_prepare(((struct pass *)self)->summary.unions, worker, slice);
}

static void carry(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_carry(((struct pass *)self)->summary.unions, worker, slice);
}

static void measure(void *self, unsigned worker, const struct sta_slice *slice)
{
    sta_unions_measure(((struct pass *)self)->summary.unions, worker, slice);
}

static struct sta_summary_entities entities_of(const struct sta_snapshot *snapshot)
{
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    return (struct sta_summary_entities){.thread_of_code = entities->thread_of_code,
                                         .file_of_ref = entities->file_of_ref,
                                         .thread_code_count = entities->thread_code_count,
                                         .file_ref_count = entities->file_ref_count,
                                         .threads = entities->threads,
                                         .processes = entities->processes,
                                         .thread_count = entities->thread_count,
                                         .process_count = entities->process_count,
                                         .file_limit = sta_dictionary_count(entities->files),
                                         .host_limit = sta_dictionary_count(entities->hosts)};
}

static int run(const struct sta_bound_question *bound, const struct sta_budget *budget,
               const struct sta_rank_groups *groups, struct sta_table *table,
               struct sta_summary_counts *counts, struct sta_error *err)
{
    struct sta_shape shape;
    struct pass pass = {.bound = bound};
    const struct sta_snapshot *snapshot = bound->question->snapshot;
    const struct sta_summary_entities entities = entities_of(snapshot);
    const struct sta_memberships memberships = {membership_of_class, bound->classes};
    sta_shape_init(&shape, bound->preset);
    sta_summary_init(&pass.summary, &shape, &entities, groups, &memberships, budget);
    sta_unions_set_begin(pass.summary.unions, bound->from);
    struct sta_ordered_accumulator ordered = {&pass, take_rows, prepare, carry, measure};
    struct sta_scan scan = sta_question_scan(bound);
    scan.from = INT64_MIN; /* events that began before the window reach into it */
    scan.to = INT64_MAX;
    scan.skip = is_outside;
    scan.skip_context = (void *)bound;
    scan.ordered = &ordered;
    int rc = sta_scan_run(&scan, budget, err);
    if (rc == 0) {
        struct sta_time_scale scale = {sta_job_ticks(snapshot), bound->ticks_per_us};
        sta_summary_table(&pass.summary, bound->preset, &scale, table, counts);
    }
    sta_summary_fini(&pass.summary);
    sta_shape_fini(&shape);
    return rc;
}

static void say_counts(struct sta_facts *facts, const struct sta_summary_counts *counts)
{
    sta_facts_int(facts, "filtered", counts->filtered_by_file + counts->filtered_by_function);
    sta_facts_int(facts, "filtered_by_file", counts->filtered_by_file);
    sta_facts_int(facts, "filtered_by_function", counts->filtered_by_function);
    sta_facts_int(facts, "unmatched", counts->unmatched);
    sta_facts_int(facts, "multiple", counts->multiple);
}

int sta_summary_exact(const struct sta_question *question, const struct sta_budget *budget,
                      struct sta_table *table, struct sta_facts *facts, struct sta_error *err)
{
    struct sta_bound_question bound;
    struct sta_rank_groups groups = {0};
    struct sta_summary_counts counts = {0};
    facts->count = 0;
    int rc = sta_question_bind(&bound, question, err);
    if (rc == 0)
        rc = sta_rank_groups_init(&groups, question->snapshot, budget, err);
    if (rc == 0)
        rc = run(&bound, budget, &groups, table, &counts, err);
    if (rc == 0) {
        sta_facts_of_trace(facts, question->snapshot);
        say_counts(facts, &counts);
    }
    sta_rank_groups_fini(&groups);
    sta_question_release(&bound);
    return rc;
}

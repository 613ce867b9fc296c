/* Sets and units of the events of a row group.
 *
 * A condition is evaluated for a row group at a time; what it holds for becomes a bit of each row's mask. One
 * that depends on a text alone is evaluated once per text.  Where the sets are layers, or a preset drops
 * events, the classes of the scan say so: once per class. */
#include <stdlib.h>
#include <string.h>

#include "analyse/overlap/pass.h"
#include "common/account.h"
#include "common/memory.h"

#define MASK_UNKNOWN (UINT32_MAX - 1)

/* The sets of each code, or MASK_UNKNOWN; of the account. */
struct masks {
    uint32_t *of;
    size_t capacity;
};

/* The sets that depend on one column; of one thread. */
struct text_sets {
    uint32_t column;    /* index in the schema */
    uint32_t sets;      /* bits */
    struct masks masks; /* by code + 1, so that a missing text has the entry 0 */
};

struct sta_overlap_reader {
    const struct sta_overlap_binding *binding;
    struct sta_evaluator *evaluator;
    struct masks classes;                     /* the layers among the sets, or STA_NOT_THERE */
    struct text_sets texts[STA_OVERLAP_SETS]; /* by column */
    size_t text_count;
    uint32_t row_sets;       /* bits of the sets that are evaluated row by row */
    uint32_t *units, *masks; /* by row */
};

static int grow_masks(const struct sta_overlap_reader *reader, struct masks *masks, size_t need,
                      struct sta_error *err)
{
    const size_t before = masks->capacity;
    int rc = STA_ACCOUNT_GROW(reader->binding->budget->account, masks->of, masks->capacity, need,
                              "the sets of an overlap", err);
    for (size_t i = before; i < masks->capacity && rc == 0; i++)
        masks->of[i] = MASK_UNKNOWN;
    return rc;
}

/* ---- sets that depend on a text: a table from text to sets; a trace has few texts */

/* The text column that a condition depends on, and on nothing else; STA_NO_CODE: there is none. */
static uint32_t text_column(const struct sta_columns *columns, const struct sta_expression *condition)
{
    if (condition->column_count != 1 ||
        sta_columns_schema(columns)->columns[condition->columns[0]].type != STA_TYPE_TEXT)
        return STA_NO_CODE;
    return condition->columns[0];
}

static int one_text(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    *vector = *(const struct sta_vector *)context;
    return 0;
}

static int learn_text(const struct sta_overlap_reader *reader, const struct text_sets *sets,
                      const struct sta_dictionary *texts, uint32_t code, struct sta_error *err)
{
    struct sta_vector text = {.type = STA_TYPE_TEXT, .codes = &code, .texts = texts};
    uint32_t mask = 0;
    for (uint32_t rest = sets->sets; rest != 0; rest &= rest - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(rest);
        struct sta_vector holds;
        int rc =
            sta_program_run(reader->binding->programs[s], reader->evaluator, 1, one_text, &text, &holds, err);
        if (rc != 0)
            return rc;
        mask |= (uint32_t)(holds.bools[0] != 0) << s;
    }
    sets->masks.of[code + 1] = mask;
    return 0;
}

/* Puts the bits of the sets into the masks of a row group's rows. */
static int add_text_sets(const struct sta_overlap_reader *reader, struct text_sets *sets,
                         const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_vector vector;
    uint32_t *masks = reader->masks;
    int rc = sta_column_reader_get(rows->reader, sets->column, &vector, err);
    if (rc == 0)
        rc = grow_masks(reader, &sets->masks, (size_t)sta_dictionary_count(vector.texts) + 1, err);
    if (rc != 0)
        return rc;
    const uint32_t step = vector.constant ? 0 : 1, *of = sets->masks.of;
    for (uint32_t row = 0; row < rows->row_group->rows; row++) {
        const uint32_t code = vector.codes[row * step];
        if (of[code + 1] == MASK_UNKNOWN) {
            rc = learn_text(reader, sets, vector.texts, code, err);
            if (rc != 0)
                return rc;
        }
        masks[row] |= of[code + 1]; /* a mask of STA_NOT_THERE stays */
    }
    return 0;
}

/* ---- readers */

static void put_text_set(struct sta_overlap_reader *reader, uint32_t column, uint32_t set)
{
    size_t t = 0;
    while (t < reader->text_count && reader->texts[t].column != column)
        t++;
    if (t == reader->text_count)
        reader->texts[reader->text_count++] = (struct text_sets){.column = column};
    reader->texts[t].sets |= 1u << set;
}

/* How each set that has a condition is found. */
static void sort_sets(struct sta_overlap_reader *reader)
{
    const struct sta_overlap_request *request = reader->binding->request;
    for (uint32_t s = 0; s < request->set_count; s++) {
        if (request->sets[s].expression == NULL)
            continue;
        uint32_t column = text_column(request->columns, request->sets[s].expression);
        if (column != STA_NO_CODE)
            put_text_set(reader, column, s);
        else
            reader->row_sets |= 1u << s;
    }
}

static struct sta_overlap_reader *reader_create(const struct sta_overlap_binding *binding)
{
    struct sta_overlap_reader *reader = sta_alloc(sizeof *reader);
    *reader = (struct sta_overlap_reader){
        .binding = binding,
        .evaluator = sta_evaluator_create(),
        .units = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *reader->units),
        .masks = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *reader->masks),
    };
    sta_evaluator_watch(reader->evaluator, binding->budget->cancel);
    sort_sets(reader);
    return reader;
}

static void reader_destroy(struct sta_overlap_reader *reader)
{
    if (reader == NULL)
        return;
    sta_evaluator_destroy(reader->evaluator);
    for (size_t t = 0; t < reader->text_count; t++)
        sta_account_free(reader->binding->budget->account, reader->texts[t].masks.of);
    sta_account_free(reader->binding->budget->account, reader->classes.of);
    free(reader->units);
    free(reader->masks);
    free(reader);
}

int sta_overlap_binding_init(struct sta_overlap_binding *binding, const struct sta_overlap_request *request,
                             const struct sta_budget *budget, struct sta_error *err)
{
    *binding = (struct sta_overlap_binding){.request = request, .budget = budget};
    binding->readers = sta_alloc_array(sta_budget_workers(budget), sizeof(struct sta_overlap_reader *));
    int rc = sta_scope_create(request->columns, &request->scope, budget, &binding->scope, err);
    for (uint32_t s = 0; s < request->set_count; s++) {
        if (request->sets[s].expression == NULL)
            continue;
        binding->programs[s] = sta_program_create(request->sets[s].expression);
        sta_program_limit(binding->programs[s], budget->memory / 4 / request->set_count,
                          budget->spill_folder);
    }
    return rc;
}

void sta_overlap_binding_fini(struct sta_overlap_binding *binding)
{
    for (unsigned w = 0; binding->readers != NULL && w < sta_budget_workers(binding->budget); w++)
        reader_destroy(binding->readers[w]);
    free(binding->readers);
    sta_scope_destroy(binding->scope);
    for (uint32_t s = 0; s < STA_OVERLAP_SETS; s++)
        sta_program_destroy(binding->programs[s]);
    *binding = (struct sta_overlap_binding){0};
}

/* ---- masks */

static int mask_of_class(const struct sta_overlap_request *request, uint32_t code, uint32_t *mask,
                         struct sta_error *err)
{
    struct sta_class class = sta_classes_get(request->classes, code);
    *mask = class.fate == STA_FATE_KEPT ? 0 : STA_NOT_THERE;
    if (class.fate != STA_FATE_KEPT)
        return 0;
    if (request->signatures != NULL)
        return sta_set_signatures_mask(request->signatures, &class, mask, err);
    for (uint32_t s = 0; s < request->set_count; s++)
        if (request->sets[s].expression == NULL)
            *mask |= (uint32_t)sta_class_has(&class, request->sets[s].layer_bit) << s;
    return 0;
}

static uint32_t largest_class(const struct sta_scan_rows *rows)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        largest = STA_MAX(largest, rows->classes[sta_scan_row(rows, i)]);
    return largest;
}

/* Rows of classes that were not met before. */
static int fill_unknown_masks(struct sta_overlap_reader *reader, const struct sta_scan_rows *rows,
                              struct sta_error *err)
{
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < rows->count; i++) {
        const uint32_t row = sta_scan_row(rows, i), class = rows->classes[row];
        if (reader->classes.of[class] == MASK_UNKNOWN)
            rc = mask_of_class(reader->binding->request, class, &reader->classes.of[class], err);
        reader->masks[row] = rc == 0 ? reader->classes.of[class] : 0;
    }
    return rc;
}

static int begin_masks(struct sta_overlap_reader *reader, const struct sta_scan_rows *rows,
                       struct sta_error *err)
{
    const uint32_t *classes = rows->classes, *selected = rows->selected, count = rows->count;
    uint32_t *masks = reader->masks;
    bool unknown = false;
    memset(masks, 0, rows->row_group->rows * sizeof *masks);
    int rc =
        classes != NULL ? grow_masks(reader, &reader->classes, (size_t)largest_class(rows) + 1, err) : STA_OK;
    if (classes == NULL || rc != 0)
        return rc;
    const uint32_t *of_class = reader->classes.of;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = selected != NULL ? selected[i] : i;
        masks[row] = of_class[classes[row]];
        unknown |= masks[row] == MASK_UNKNOWN;
    }
    return unknown ? fill_unknown_masks(reader, rows, err) : STA_OK;
}

static int add_set(struct sta_overlap_reader *reader, const struct sta_scan_rows *rows, uint32_t s,
                   struct sta_error *err)
{
    struct sta_vector holds;
    int rc = sta_program_run(reader->binding->programs[s], reader->evaluator, rows->row_group->rows,
                             sta_column_reader_get, rows->reader, &holds, err);
    if (rc != 0)
        return rc;
    uint32_t *masks = reader->masks;
    if (holds.constant) {
        for (uint32_t row = 0; holds.bools[0] != 0 && row < rows->row_group->rows; row++)
            masks[row] |= 1u << s;
        return 0;
    }
    for (uint32_t row = 0; row < rows->row_group->rows; row++)
        masks[row] |= (uint32_t)holds.bools[row] << s; /* a mask of STA_NOT_THERE stays */
    return 0;
}

static void keep_first(uint32_t *masks, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++)
        masks[row] = masks[row] == STA_NOT_THERE ? STA_NOT_THERE : masks[row] & (0u - masks[row]);
}

/* ---- columns */

/* Threads serve as indexes too: the store has checked that they are as it says. */
static int read_threads(const struct sta_overlap_request *request, const struct sta_scan_rows *rows,
                        const uint32_t **threads, struct sta_error *err)
{
    const struct sta_snapshot *snapshot = request->query->snapshot;
    const struct sta_column_values *values;
    struct sta_column_stats said;
    int rc = sta_column_reader_physical(rows->reader, STA_COLUMN_THREAD, &values, err);
    if (rc != 0)
        return rc;
    sta_row_group_stats(snapshot, rows->row_group, STA_COLUMN_THREAD, &said);
    *threads = values->codes;
    if (said.kind == STA_KIND_CODE && said.missing == 0 && said.bounded &&
        said.max < sta_snapshot_entities(snapshot)->thread_code_count)
        return 0;
    return sta_fail(err, STA_ECORRUPT, "an event of the store belongs to no thread");
}

int sta_overlap_read(const struct sta_overlap_binding *binding, unsigned worker,
                     const struct sta_scan_rows *rows, struct sta_overlap_events *events,
                     struct sta_error *err)
{
    struct sta_overlap_reader **known = &binding->readers[worker];
    struct sta_overlap_reader *reader = *known = *known != NULL ? *known : reader_create(binding);
    *events = (struct sta_overlap_events){
        .units = reader->units, .masks = reader->masks, .selected = rows->selected, .count = rows->count};
    int rc = sta_column_reader_times(rows->reader, &events->ts, &events->dur, err);
    if (rc == 0)
        rc = read_threads(binding->request, rows, &events->threads, err);
    if (rc == 0)
        rc = sta_scope_units(binding->scope, worker, rows->reader, rows->selected, rows->count, reader->units,
                             err);
    if (rc == 0)
        rc = begin_masks(reader, rows, err);
    for (size_t t = 0; rc == 0 && t < reader->text_count; t++)
        rc = add_text_sets(reader, &reader->texts[t], rows, err);
    for (uint32_t rest = reader->row_sets; rc == 0 && rest != 0; rest &= rest - 1)
        rc = add_set(reader, rows, (uint32_t)__builtin_ctz(rest), err);
    if (rc == 0 && binding->request->first_only)
        keep_first(reader->masks, rows->row_group->rows);
    return rc;
}

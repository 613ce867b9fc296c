/* Counts events by class: an aggregation whose first key is the class of the row. */
#include "analyse/layers/class_counts.h"

#include "analyse/exec/sort.h"
#include "analyse/operators/vectors.h"
#include "common/memory.h"

#define ROWS_AT_ONCE 1024u

enum { CLASS, CAT, NAME, KEYS };

static int create(struct sta_class_counts *counts, const struct sta_budget *budget, struct sta_error *err)
{
    static const enum sta_type keys[KEYS] = {STA_TYPE_INT, STA_TYPE_TEXT, STA_TYPE_TEXT};
    static const struct sta_primitive events = {.aggregate = STA_AGGREGATE_ROWS};
    const struct sta_aggregation_spec spec = {.keys = keys,
                                              .key_count = counts->by_function ? KEYS : 1,
                                              .keep_missing = true,
                                              .primitives = &events,
                                              .primitive_count = 1};
    return sta_aggregation_create(&spec, budget, NULL, &counts->aggregation, err);
}

int sta_class_counts_bind(struct sta_class_counts *counts, const struct sta_presets *presets,
                          struct sta_snapshot *snapshot, const struct sta_preset *preset,
                          struct sta_error *err)
{
    const struct sta_columns_options options = {.presets = presets, .preset = preset};
    int rc = sta_columns_create(snapshot, &options, &counts->columns, err);
    return rc == 0 ? sta_classes_create(counts->columns, preset, true, &counts->classes, err) : rc;
}

void sta_class_counts_fini(struct sta_class_counts *counts)
{
    sta_aggregation_table_fini(&counts->table);
    sta_aggregation_destroy(counts->aggregation);
    sta_classes_destroy(counts->classes);
    sta_columns_destroy(counts->columns);
}

static int read_functions(const struct sta_scan_rows *rows, struct sta_vector *texts, struct sta_error *err)
{
    int rc = sta_column_reader_get(rows->reader, STA_LOGICAL_cat, &texts[CAT], err);
    return rc == 0 ? sta_column_reader_get(rows->reader, STA_LOGICAL_func_name, &texts[NAME], err) : rc;
}

static int update(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct sta_class_counts *counts = self;
    int64_t classes[ROWS_AT_ONCE];
    uint32_t codes[KEYS][ROWS_AT_ONCE];
    struct sta_vector texts[KEYS], keys[KEYS] = {sta_vector_of_integers(classes)};
    int rc = counts->by_function ? read_functions(rows, texts, err) : STA_OK;
    for (uint32_t first = 0; rc == 0 && first < rows->count; first += ROWS_AT_ONCE) {
        const struct sta_aggregation_input input = {.count = STA_MIN(rows->count - first, ROWS_AT_ONCE),
                                                    .keys = keys};
        for (uint32_t i = 0; i < input.count; i++)
            classes[i] = rows->classes[sta_scan_row(rows, first + i)];
        for (size_t k = CAT; counts->by_function && k < KEYS; k++) {
            keys[k] = (struct sta_vector){.type = STA_TYPE_TEXT, .codes = codes[k], .texts = texts[k].texts};
            for (uint32_t i = 0; i < input.count; i++)
                codes[k][i] = texts[k].codes[sta_scan_row(rows, first + i)];
        }
        rc = sta_aggregation_consume(counts->aggregation, worker, &input, err);
    }
    return rc;
}

int sta_class_counts_run(struct sta_class_counts *counts, struct sta_scan scan, bool by_function,
                         const struct sta_accumulator *also, const struct sta_budget *budget,
                         struct sta_error *err)
{
    struct sta_accumulator accumulators[2] = {{counts, update}};
    counts->by_function = by_function;
    if (scan.columns == NULL) {
        scan.columns = counts->columns;
        scan.classes = counts->classes;
    }
    scan.accumulators = accumulators;
    scan.accumulator_count = 1;
    if (also != NULL)
        accumulators[scan.accumulator_count++] = *also;
    int rc = create(counts, budget, err);
    if (rc == 0)
        rc = sta_scan_run(&scan, budget, err);
    return rc == 0 ? sta_aggregation_collect(counts->aggregation, &counts->table, err) : rc;
}

uint64_t sta_class_counts_total(const struct sta_class_counts *counts, uint32_t class)
{
    const struct sta_aggregation_table *table = &counts->table;
    uint64_t low = 0, high = table->rows, events = 0;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (table->keys[CLASS].integers[middle] < class)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < table->rows && table->keys[CLASS].integers[low] == class; low++)
        events += (uint64_t)table->values[0].integers[low];
    return events;
}

uint64_t sta_class_counts_of_bit(const struct sta_class_counts *counts, const struct sta_classes *classes,
                                 uint32_t bit)
{
    uint64_t events = 0;
    for (uint32_t code = 0; code < sta_classes_count(classes); code++) {
        const struct sta_class class = sta_classes_get(classes, code);
        events += sta_class_has(&class, bit) ? sta_class_counts_total(counts, code) : 0;
    }
    return events;
}

/* ---- functions */

static struct sta_text text_of(const struct sta_vector *texts, uint64_t row)
{
    return texts->codes[row] == STA_NO_CODE ? (struct sta_text){"", 0}
                                            : sta_dictionary_text(texts->texts, texts->codes[row]);
}

static int by_text(const void *a, const void *b, void *context)
{
    const struct sta_counted_function *x = a, *y = b;
    const int cats = sta_text_order(x->cat, y->cat);
    return cats != 0 ? cats : sta_text_order(x->name, y->name);
}

static int most_frequent_first(const void *a, const void *b, void *context)
{
    const struct sta_counted_function *x = a, *y = b;
    return x->events != y->events ? (x->events > y->events ? -1 : 1) : by_text(a, b, context);
}

/* Of functions in order, those that are the same are one. */
static size_t unite(struct sta_counted_function *functions, size_t count)
{
    size_t united = 0;
    for (size_t i = 0; i < count; i++)
        if (united > 0 && by_text(&functions[united - 1], &functions[i], NULL) == 0)
            functions[united - 1].events += functions[i].events;
        else
            functions[united++] = functions[i];
    return united;
}

int sta_class_counts_functions(const struct sta_class_counts *counts, sta_function_chooser choose,
                               void *context, const struct sta_budget *budget,
                               struct sta_counted_function **functions, size_t *count, struct sta_error *err)
{
    const struct sta_aggregation_table *table = &counts->table;
    struct sta_counted_function *list =
        sta_account_alloc(budget->account, table->rows + 1, sizeof *list, "counting functions", err);
    *functions = list;
    *count = 0;
    if (list == NULL)
        return err->status;
    for (uint64_t row = 0; row < table->rows; row++) {
        list[*count] =
            (struct sta_counted_function){text_of(&table->keys[CAT], row), text_of(&table->keys[NAME], row),
                                          (uint64_t)table->values[0].integers[row]};
        *count += choose(context, (uint32_t)table->keys[CLASS].integers[row], &list[*count]);
    }
    int rc = sta_sort(budget, list, *count, sizeof *list, by_text, NULL, err);
    if (rc == 0) {
        *count = unite(list, *count);
        rc = sta_sort(budget, list, *count, sizeof *list, most_frequent_first, NULL, err);
    }
    return rc;
}

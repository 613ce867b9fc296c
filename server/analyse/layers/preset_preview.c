/* What a preset makes of a trace: how many events each layer takes, and which functions no layer takes. */
#include <stdlib.h>
#include <string.h>

#include "analyse/layers/class_counts.h"
#include "analyse/views/bound_query.h"
#include "common/map.h"
#include "common/memory.h"

#define LEFT_OUT 100 /* functions of no layer that are listed */

/* Events of no layer, by category and function; of one worker. */
struct left_out {
    struct sta_map places; /* cat << 32 | name, codes + 1 -> index of counts */
    uint64_t *counts;
    size_t capacity;
    uint8_t *known; /* by class: 0 not met, 1 some layer or filter takes it, 2 none does */
    size_t known_capacity;
};

struct preview {
    const struct sta_bound_query *bound;
    struct left_out *workers;
    unsigned worker_count;
    struct sta_account *account;
};

#define WHAT "what is in no layer"

/* ---- counting */

static bool in_some_layer(const struct preview *preview, const struct sta_class *class)
{
    const struct sta_preset *preset = preview->bound->preset;
    for (size_t l = 0; l < preset->layer_count; l++)
        if (sta_class_has(class, sta_classes_layer_bit(preview->bound->classes, l)))
            return true;
    return false;
}

static int find_left_out(const struct preview *preview, struct left_out *worker, uint32_t code, bool *out,
                         struct sta_error *err)
{
    size_t before = worker->known_capacity;
    if (STA_ACCOUNT_GROW(preview->account, worker->known, worker->known_capacity, (size_t)code + 1, WHAT,
                         err) != STA_OK)
        return err->status;
    memset(worker->known + before, 0, worker->known_capacity - before);
    if (worker->known[code] == 0) {
        struct sta_class class = sta_classes_get(preview->bound->classes, code);
        bool left = class.fate == STA_FATE_KEPT && !in_some_layer(preview, &class);
        worker->known[code] = left ? 2 : 1;
    }
    *out = worker->known[code] == 2;
    return STA_OK;
}

static int count_one(const struct preview *preview, struct left_out *worker, uint32_t cat, uint32_t name,
                     struct sta_error *err)
{
    bool added;
    uint64_t key = (uint64_t)(cat + 1) << 32 | (name + 1); /* a missing one is 0 */
    uint32_t at = sta_map_intern(&worker->places, key, (uint32_t)worker->places.count, &added);
    size_t before = worker->capacity;
    if (STA_ACCOUNT_GROW(preview->account, worker->counts, worker->capacity, (size_t)at + 1, WHAT, err) !=
        STA_OK)
        return err->status;
    memset(worker->counts + before, 0, (worker->capacity - before) * sizeof *worker->counts);
    worker->counts[at]++;
    return STA_OK;
}

static int update(void *self, unsigned number, const struct sta_scan_rows *rows, struct sta_error *err)
{
    struct preview *preview = self;
    struct left_out *worker = &preview->workers[number];
    struct sta_vector cats;
    struct sta_vector names;
    int rc = sta_column_reader_get(rows->reader, STA_LOGICAL_cat, &cats, err);
    if (rc == 0)
        rc = sta_column_reader_get(rows->reader, STA_LOGICAL_func_name, &names, err);
    for (uint32_t i = 0; rc == 0 && i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i);
        bool out = false;
        rc = find_left_out(preview, worker, rows->classes[row], &out, err);
        if (rc == 0 && out)
            rc = count_one(preview, worker, cats.codes[cats.constant ? 0 : row],
                           names.codes[names.constant ? 0 : row], err);
    }
    return rc;
}

/* ---- functions of no layer */

struct function {
    struct sta_text cat, name;
    uint64_t count;
};

static int compare_functions(const void *a, const void *b)
{
    const struct function *x = a;
    const struct function *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int order = sta_text_order(x->cat, y->cat);
    return order != 0 ? order : sta_text_order(x->name, y->name);
}

/* Adds all workers' counts into those of the first. */
static int merge(struct preview *preview, struct sta_error *err)
{
    struct left_out *first = &preview->workers[0];
    for (unsigned w = 1; w < preview->worker_count; w++) {
        const struct left_out *worker = &preview->workers[w];
        for (size_t i = 0; i < worker->places.capacity; i++) {
            uint64_t key = worker->places.keys[i];
            if (key == UINT64_MAX)
                continue;
            if (count_one(preview, first, (uint32_t)(key >> 32) - 1, (uint32_t)key - 1, err) != STA_OK)
                return err->status;
            uint32_t at = 0;
            sta_map_find(&first->places, key, &at);
            first->counts[at] += worker->counts[worker->places.values[i]] - 1;
        }
    }
    return sta_account_failure(preview->account, err);
}

static struct sta_text text_of(const struct sta_dictionary *texts, uint32_t code_and_one)
{
    return code_and_one == 0 ? (struct sta_text){"", 0} : sta_dictionary_text(texts, code_and_one - 1);
}

static int list_functions(const struct preview *preview, struct sta_table *table, struct sta_error *err)
{
    const struct left_out *all = &preview->workers[0];
    const struct sta_dictionary *cats = sta_columns_texts(preview->bound->columns, STA_LOGICAL_cat);
    const struct sta_dictionary *names = sta_columns_texts(preview->bound->columns, STA_LOGICAL_func_name);
    struct function *functions =
        sta_account_alloc(preview->account, all->places.count, sizeof *functions, WHAT, err);
    size_t count = 0;
    if (functions == NULL)
        return err->status;
    for (size_t i = 0; i < all->places.capacity; i++) {
        uint64_t key = all->places.keys[i];
        if (key != UINT64_MAX)
            functions[count++] =
                (struct function){text_of(cats, (uint32_t)(key >> 32)), text_of(names, (uint32_t)key),
                                  all->counts[all->places.values[i]]};
    }
    qsort(functions, count, sizeof *functions, compare_functions);
    sta_table_init(table, STA_MIN(count, LEFT_OUT));
    table->row_count = count;
    sta_table_add(table, "cat", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "func_name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "count", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < table->rows; row++) {
        const struct function *function = &functions[row];
        sta_table_set_text(table, &table->columns[0], row, function->cat.bytes, function->cat.length);
        sta_table_set_text(table, &table->columns[1], row, function->name.bytes, function->name.length);
        sta_table_set_int(&table->columns[2], row, (int64_t)function->count);
    }
    sta_account_free(preview->account, functions);
    return STA_OK;
}

/* ---- layers */

static uint64_t count_bit(const struct preview *preview, const struct sta_class_counts *counts, uint32_t bit)
{
    uint64_t sum = 0;
    for (uint32_t code = 0; code < sta_classes_count(preview->bound->classes); code++) {
        struct sta_class class = sta_classes_get(preview->bound->classes, code);
        if (sta_class_has(&class, bit))
            sum += sta_class_counts_total(counts, code);
    }
    return sum;
}

static void put_text(struct sta_table *table, size_t column, size_t row, const char *text)
{
    if (text != NULL)
        sta_table_set_text(table, &table->columns[column], row, text, strlen(text));
}

static void list_layers(const struct preview *preview, const struct sta_class_counts *counts,
                        struct sta_table *table)
{
    static const char *const texts[] = {"name", "metric", "label", "color", "parent", "condition"};
    const struct sta_preset *preset = preview->bound->preset;
    size_t rows = preset->layer_count;
    for (size_t l = 0; l < preset->layer_count; l++)
        rows += preset->layers[l].metric_count;
    sta_table_init(table, rows);
    table->row_count = rows;
    for (size_t i = 0; i < STA_COUNT_OF(texts); i++)
        sta_table_add(table, texts[i], STA_TYPE_TEXT, NULL);
    sta_table_add(table, "count", STA_TYPE_INT, NULL);
    for (size_t l = 0, row = 0; l < preset->layer_count; l++) {
        const struct sta_layer *layer = &preset->layers[l];
        const char *cells[] = {layer->name,  NULL,          layer->label,
                               layer->color, layer->parent, layer->condition};
        for (size_t i = 0; i < STA_COUNT_OF(cells); i++)
            put_text(table, i, row, cells[i]);
        uint32_t bit = sta_classes_layer_bit(preview->bound->classes, l);
        sta_table_set_int(&table->columns[6], row++, (int64_t)count_bit(preview, counts, bit));
        for (size_t m = 0; m < layer->metric_count; m++, row++) {
            put_text(table, 0, row, layer->name);
            put_text(table, 1, row, layer->metrics[m].name);
            put_text(table, 5, row, layer->metrics[m].condition);
            bit = sta_classes_metric_bit(preview->bound->classes, l, m);
            sta_table_set_int(&table->columns[6], row, (int64_t)count_bit(preview, counts, bit));
        }
    }
}

static void say_facts(const struct preview *preview, const struct sta_class_counts *counts,
                      struct sta_facts *facts)
{
    const struct sta_classes *classes = preview->bound->classes;
    int64_t events = 0, by_file = 0, by_function = 0, unmatched = 0, multiple = 0;
    for (uint32_t code = 0; code < sta_classes_count(classes); code++) {
        struct sta_class class = sta_classes_get(classes, code);
        int64_t count = (int64_t)sta_class_counts_total(counts, code);
        size_t layers = 0;
        for (size_t l = 0; l < preview->bound->preset->layer_count; l++)
            layers += sta_class_has(&class, sta_classes_layer_bit(classes, l));
        events += count;
        by_file += class.fate == STA_FATE_FILE ? count : 0;
        by_function += class.fate == STA_FATE_FUNCTION ? count : 0;
        unmatched += class.fate == STA_FATE_KEPT && layers == 0 ? count : 0;
        multiple += layers > 1 ? count : 0;
    }
    facts->count = 0;
    sta_facts_int(facts, "events", events);
    sta_facts_int(facts, "filtered", by_file + by_function);
    sta_facts_int(facts, "filtered_by_file", by_file);
    sta_facts_int(facts, "filtered_by_function", by_function);
    sta_facts_int(facts, "unmatched", unmatched);
    sta_facts_int(facts, "multiple", multiple);
}

/* ---- the query */

static int run(struct preview *preview, const struct sta_budget *budget, struct sta_preset_preview *answer,
               struct sta_error *err)
{
    struct sta_class_counts counts;
    int rc = sta_class_counts_init(&counts, budget, err);
    struct sta_accumulator accumulators[] = {sta_class_counts_accumulator(&counts), {preview, update}};
    struct sta_scan scan = sta_bound_query_scan(preview->bound);
    scan.accumulators = accumulators;
    scan.accumulator_count = STA_COUNT_OF(accumulators);
    if (rc == 0)
        rc = sta_scan_run(&scan, budget, err);
    if (rc == 0)
        rc = sta_class_counts_finish(&counts, err);
    if (rc == 0) {
        say_facts(preview, &counts, &answer->facts);
        list_layers(preview, &counts, &answer->layers);
        rc = merge(preview, err);
    }
    if (rc == 0)
        rc = list_functions(preview, &answer->unmatched, err);
    sta_class_counts_fini(&counts);
    return rc;
}

int sta_preset_preview(const struct sta_view_query *query, const struct sta_budget *budget,
                       struct sta_preset_preview *answer, struct sta_error *err)
{
    struct sta_bound_query bound;
    *answer = (struct sta_preset_preview){0};
    int rc = sta_view_query_bind(&bound, query, err);
    if (rc == 0) {
        struct preview preview = {.bound = &bound, .worker_count = STA_MAX(budget->workers, 1u)};
        preview.workers = sta_alloc_array(preview.worker_count, sizeof *preview.workers);
        preview.account = budget->account;
        for (unsigned w = 0; w < preview.worker_count; w++)
            preview.workers[w].places.account = budget->account;
        rc = run(&preview, budget, answer, err);
        for (unsigned w = 0; w < preview.worker_count; w++) {
            sta_map_fini(&preview.workers[w].places);
            sta_account_free(budget->account, preview.workers[w].counts);
            sta_account_free(budget->account, preview.workers[w].known);
        }
        free(preview.workers);
    }
    sta_bound_query_release(&bound);
    return rc;
}

void sta_preset_preview_fini(struct sta_preset_preview *preview)
{
    sta_table_fini(&preview->layers);
    sta_table_fini(&preview->unmatched);
}

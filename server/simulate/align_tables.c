/* Results about alignments as tables: one row per combination, and the files of the notebook. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/memory.h"
#include "common/number.h"
#include "simulate/align_private.h"
#include "simulate/simulate.h"

const char *sta_align_file_name(enum sta_align_file file)
{
    static const char *const names[] = {
#define X(NAME, name) [STA_ALIGN_FILE_##NAME] = name,
        STA_ALIGN_FILE_LIST(X)
#undef X
    };
    return names[file];
}

struct sta_alignments sta_alignments_all(void)
{
    static const struct sta_align_value values[] = {
        {STA_ALIGN_NONE, false, "False"}, {STA_ALIGN_AVG, true, "avg"}, {STA_ALIGN_MIN, true, "min"}};
    struct sta_alignments all = {.fetch_count = 3, .start_count = 3};
    memcpy(all.fetch, values, sizeof values);
    memcpy(all.start, values, sizeof values);
    return all;
}

/* ---- a row per combination */

static int measure_all(const struct sta_align_input *input, const struct sta_alignments *alignments,
                       int64_t first, const struct sta_budget *budget,
                       struct sta_align_statistics *statistics, struct sta_error *err)
{
    struct sta_aligned aligned;
    int rc = sta_aligned_init(&aligned, input, err);
    if (rc != STA_OK)
        return rc;
    for (size_t f = 0, i = 0; f < alignments->fetch_count && rc == STA_OK; f++)
        for (size_t s = 0; s < alignments->start_count && rc == STA_OK; s++, i++) {
            rc = sta_align_run(input, &alignments->fetch[f], &alignments->start[s], budget, &aligned, err);
            if (rc == STA_OK)
                sta_align_measure(input, &aligned, first, &statistics[i]);
        }
    sta_aligned_fini(&aligned);
    return rc;
}

static const struct {
    enum sta_align_figure figure;
    const char *mean, *deviation;
} figure_columns[] = {
    {STA_FIGURE_ITERATION, "iteration_mean", "iteration_std"},
    {STA_FIGURE_STALL, "stall_mean", "stall_std"},
    {STA_FIGURE_DELAY, "delay_mean", "delay_std"},
    {STA_FIGURE_START_DIFF, "start_diff_mean", "start_diff_std"},
    {STA_FIGURE_FETCH_DIFF, "fetch_diff_mean", "fetch_diff_std"},
};

static void put_text(struct sta_table *table, struct sta_table_column *column, size_t row, const char *text)
{
    sta_table_set_text(table, column, row, text, strlen(text));
}

static void put_labels(struct sta_table *table, const struct sta_alignments *alignments)
{
    struct sta_table_column *column = sta_table_add(table, "fetch_align", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < table->rows; i++) {
        const struct sta_align_value *value = &alignments->fetch[i / alignments->start_count];
        if (value->aligned)
            put_text(table, column, i, value->label);
    }
    column = sta_table_add(table, "start_align", STA_TYPE_TEXT, NULL);
    for (size_t i = 0; i < table->rows; i++) {
        const struct sta_align_value *value = &alignments->start[i % alignments->start_count];
        if (value->aligned)
            put_text(table, column, i, value->label);
    }
}

/* What the iterations take as traced, by the combination without alignments; NAN when it is not there. */
static double traced_sum(const struct sta_alignments *alignments,
                         const struct sta_align_statistics *statistics)
{
    for (size_t i = 0; i < alignments->fetch_count * alignments->start_count; i++)
        if (!alignments->fetch[i / alignments->start_count].aligned &&
            !alignments->start[i % alignments->start_count].aligned)
            return statistics[i].iteration_sum;
    return NAN;
}

static void put_statistics(struct sta_table *table, const struct sta_align_statistics *statistics,
                           double traced)
{
    struct sta_table_column *column = sta_table_add(table, "n", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        sta_table_set_int(column, i, (int64_t)statistics[i].rows);
    column = sta_table_add(table, "iteration_sum", STA_TYPE_FLOAT, "s");
    for (size_t i = 0; i < table->rows; i++)
        sta_table_set_number(column, i, statistics[i].iteration_sum);
    for (size_t f = 0; f < STA_COUNT_OF(figure_columns); f++) {
        column = sta_table_add(table, figure_columns[f].mean, STA_TYPE_FLOAT, "s");
        for (size_t i = 0; i < table->rows; i++)
            sta_table_set_number(column, i, statistics[i].mean[figure_columns[f].figure]);
        column = sta_table_add(table, figure_columns[f].deviation, STA_TYPE_FLOAT, "s");
        for (size_t i = 0; i < table->rows; i++)
            sta_table_set_number(column, i, statistics[i].deviation[figure_columns[f].figure]);
    }
    column = sta_table_add(table, "effective_delay", STA_TYPE_FLOAT, "%");
    for (size_t i = 0; i < table->rows; i++)
        sta_table_set_number(column, i, statistics[i].effective);
    column = sta_table_add(table, "negative_pure", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < table->rows; i++)
        sta_table_set_int(column, i, (int64_t)statistics[i].negative_pure);
    column = sta_table_add(table, "speedup", STA_TYPE_FLOAT, "ratio");
    for (size_t i = 0; i < table->rows; i++)
        if (traced > 0 && statistics[i].iteration_sum != 0)
            sta_table_set_number(column, i, traced / statistics[i].iteration_sum);
}

int sta_align_table(const struct sta_align_input *input, const struct sta_alignments *alignments,
                    int64_t skip, const struct sta_budget *budget, struct sta_table *table,
                    struct sta_error *err)
{
    struct sta_align_statistics statistics[16 * 16];
    int rc = measure_all(input, alignments, skip, budget, statistics, err);
    if (rc != STA_OK)
        return rc;
    sta_table_init(table, alignments->fetch_count * alignments->start_count);
    put_labels(table, alignments);
    put_statistics(table, statistics, traced_sum(alignments, statistics));
    return STA_OK;
}

/* ---- the notebook's files */

static void put_date(struct sta_table *table, struct sta_table_column *column, size_t row, int64_t ns)
{
    int64_t seconds = ns / 1000000000, rest = ns % 1000000000;
    if (rest < 0) {
        seconds--;
        rest += 1000000000;
    }
    struct tm tm;
    char text[64], date[40];
    time_t time = (time_t)seconds;
    gmtime_r(&time, &tm);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(text, sizeof text, "%s.%09d", date, (int)rest);
    put_text(table, column, row, text);
}

static void add_row_numbers(struct sta_table *table, const char *name, int64_t first)
{
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_INT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_int(column, row, first + (int64_t)row);
}

static void add_integers(struct sta_table *table, const char *name, const int64_t *values)
{
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_INT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_int(column, row, values[row]);
}

/* A column of every @step-th value, from @first. */
static void add_numbers(struct sta_table *table, const char *name, const double *values, size_t first,
                        size_t step)
{
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_FLOAT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_number(column, row, values[first + row * step]);
}

static void add_dates(struct sta_table *table, const char *name, const int64_t *values, size_t first,
                      size_t step)
{
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_TEXT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        put_date(table, column, row, values[first + row * step]);
}

static const char *gpu_name(char *buffer, size_t size, const char *name, uint32_t gpu)
{
    snprintf(buffer, size, "%s_gpu%u", name, gpu);
    return buffer;
}

static void add_numbers_by_gpu(struct sta_table *table, const char *name, const double *values, uint32_t gpus)
{
    char buffer[80];
    for (uint32_t g = 0; g < gpus; g++)
        add_numbers(table, gpu_name(buffer, sizeof buffer, name, g), values, g, gpus);
}

static void add_dates_by_gpu(struct sta_table *table, const char *name, const int64_t *values, uint32_t gpus)
{
    char buffer[80];
    for (uint32_t g = 0; g < gpus; g++)
        add_dates(table, gpu_name(buffer, sizeof buffer, name, g), values, g, gpus);
}

static void add_keys(struct sta_table *table, const struct sta_align_input *input)
{
    add_row_numbers(table, "", 0);
    add_integers(table, "Epoch", input->epoch);
    add_integers(table, "Index number", input->index);
}

static void put_iterations(const struct sta_align_input *input, const struct sta_aligned *aligned,
                           struct sta_table *table)
{
    add_keys(table, input);
    add_numbers(table, "Iteration time (sec)", aligned->time, 0, 1);
    add_numbers_by_gpu(table, "Training Stall time (sec)", aligned->stall, input->gpus);
    add_numbers(table, "Training stall time (sec)", aligned->worst, 0, 1);
    add_numbers(table, "Delay time (sec)", aligned->delay, 0, 1);
    add_numbers(table, "Batch fetch time diff (sec)", aligned->fetch_diff, 0, 1);
    add_numbers(table, "Batch fetch start time diff (sec)", aligned->start_diff, 0, 1);
}

static void put_dataload(const struct sta_align_input *input, const struct sta_aligned *aligned,
                         struct sta_table *table)
{
    add_keys(table, input);
    add_dates_by_gpu(table, "Start time", aligned->start, input->gpus);
    add_numbers_by_gpu(table, "Fetch time (sec)", aligned->fetch, input->gpus);
    add_dates_by_gpu(table, "Fetch done time (sec)", aligned->done, input->gpus);
}

static void put_train(const struct sta_align_input *input, const struct sta_aligned *aligned,
                      struct sta_table *table)
{
    add_row_numbers(table, "", 1);
    add_dates(table, "Slowest end time", aligned->slowest, 0, 1);
    add_numbers(table, "Training time", aligned->time, 0, 1);
    add_dates(table, "Training end time", aligned->end, 0, 1);
    add_numbers(table, "Delay time (sec)", aligned->delay, 0, 1);
    add_numbers(table, "Training stall time (sec)", aligned->worst, 0, 1);
    add_dates_by_gpu(table, "Training start time", input->arrival, input->gpus);
    add_numbers_by_gpu(table, "Pure training", aligned->pure, input->gpus);
    add_numbers_by_gpu(table, "Training Stall time (sec)", aligned->stall, input->gpus);
    add_dates(table, "Training end time (unit repaired)", aligned->end_repaired, 0, 1);
    add_dates(table, "Training end time (corrected)", aligned->end_corrected, 0, 1);
}

/* The merged input; @mean and @least are the two fetch alignments, which hold these figures of each row. */
static void put_info(const struct sta_align_input *input, const struct sta_aligned *traced,
                     const struct sta_aligned *mean, const struct sta_aligned *least, struct sta_table *table)
{
    const uint32_t gpus = input->gpus;
    char buffer[80];
    add_keys(table, input);
    add_numbers_by_gpu(table, "Fetch time (sec)", input->fetch, gpus);
    add_dates_by_gpu(table, "Start time", input->start, gpus);
    add_numbers(table, "Min fetch time (sec)", least->fetch, 0, gpus);
    add_numbers(table, "Avg fetch time (sec)", mean->fetch, 0, gpus);
    add_dates(table, "Min start time", least->start, 0, gpus);
    for (uint32_t g = 0; g < gpus; g++) {
        add_dates(table, gpu_name(buffer, sizeof buffer, "Fetch done time (sec)", g), traced->done, g, gpus);
        add_dates(table, gpu_name(buffer, sizeof buffer, "Training start time", g), input->arrival, g, gpus);
        add_numbers(table, gpu_name(buffer, sizeof buffer, "Iteration time (sec)", g), input->iteration, g,
                    gpus);
        add_numbers(table, gpu_name(buffer, sizeof buffer, "Training Stall time (sec)", g), input->stall, g,
                    gpus);
    }
}

static int make_info(const struct sta_align_input *input, const struct sta_budget *budget,
                     struct sta_table *table, struct sta_error *err)
{
    const struct sta_alignments all = sta_alignments_all();
    struct sta_aligned sets[3] = {{0}};
    int rc = STA_OK;
    for (size_t i = 0; i < 3 && rc == STA_OK; i++) {
        rc = sta_aligned_init(&sets[i], input, err);
        if (rc == STA_OK)
            rc = sta_align_run(input, &all.fetch[i], &all.start[i], budget, &sets[i], err);
    }
    if (rc == STA_OK)
        put_info(input, &sets[0], &sets[1], &sets[2], table);
    for (size_t i = 0; i < 3; i++)
        sta_aligned_fini(&sets[i]);
    return rc;
}

/* ---- the summary */

enum { TYPE, DATASET, AUGMENTATION, MODEL, EPOCHS, BATCH, WORKERS, THREADS, NAME_PARTS };

/* type_dataset_augmentation_model_epochE_bB_workerW_threadT: the last parts are taken from the right, since
 * a type may hold '_' itself. */
static void split_name(const char *name, char parts[NAME_PARTS][128])
{
    const char *end = name + strlen(name);
    memset(parts, 0, NAME_PARTS * sizeof parts[0]);
    for (int i = NAME_PARTS - 1; i >= 0 && end > name; i--) {
        const char *first = end;
        while (first > name && (i == TYPE || first[-1] != '_'))
            first--;
        snprintf(parts[i], sizeof parts[i], "%.*s", (int)(end - first), first);
        end = first > name ? first - 1 : name;
    }
}

/* "worker12": 12. */
static void put_trailing_number(struct sta_table *table, struct sta_table_column *column, size_t row,
                                const char *part)
{
    size_t digits = strcspn(part, "0123456789");
    int64_t value;
    if (sta_parse_int(part + digits, strlen(part + digits), &value))
        sta_table_set_int(column, row, value);
    (void)table;
}

/* Four decimals, as the notebook rounds them: "0.988", "0.0", "nan". */
static void put_rounded(struct sta_buffer *out, double value)
{
    char text[STA_DOUBLE_TEXT];
    if (isnan(value)) {
        sta_put_text(out, "nan");
        return;
    }
    sta_put(out, text, sta_format_double(rint(value * 1e4) / 1e4, text));
}

static void add_mean_texts(struct sta_table *table, const char *name, enum sta_align_figure figure,
                           const struct sta_align_statistics *statistics)
{
    struct sta_table_column *column = sta_table_add(table, name, STA_TYPE_TEXT, NULL);
    struct sta_buffer text;
    sta_buffer_init(&text);
    for (size_t row = 0; row < table->rows; row++) {
        sta_buffer_clear(&text);
        put_rounded(&text, statistics[row].mean[figure]);
        sta_put_text(&text, "\u00b1");
        put_rounded(&text, statistics[row].deviation[figure]);
        sta_table_set_text(table, column, row, text.data, text.size);
    }
    sta_buffer_fini(&text);
}

static void add_combinations(struct sta_table *table, const struct sta_alignments *alignments)
{
    struct sta_table_column *column = sta_table_add(table, "Align", STA_TYPE_TEXT, NULL);
    for (size_t row = 0; row < table->rows; row++) {
        char label[120];
        snprintf(label, sizeof label, "FETCH_ALIGN_%s_START_ALIGN_%s",
                 alignments->fetch[row / alignments->start_count].label,
                 alignments->start[row % alignments->start_count].label);
        put_text(table, column, row, label);
    }
}

static void add_name_parts(struct sta_table *table, const char *name)
{
    static const struct {
        const char *title;
        int part;
    } columns[] = {{"Log type", TYPE},  {"Dataset size(GB)", DATASET},
                   {"Model", MODEL},    {"Augmentation", AUGMENTATION},
                   {"Worker", WORKERS}, {"Worker batch size", THREADS},
                   {"Epoch", EPOCHS},   {"Batch size", BATCH}};
    char parts[NAME_PARTS][128];
    split_name(name, parts);
    for (size_t i = 0; i < STA_COUNT_OF(columns); i++) {
        bool number = columns[i].part >= EPOCHS;
        struct sta_table_column *column =
            sta_table_add(table, columns[i].title, number ? STA_TYPE_INT : STA_TYPE_TEXT, NULL);
        for (size_t row = 0; row < table->rows; row++) {
            if (number)
                put_trailing_number(table, column, row, parts[columns[i].part]);
            else
                put_text(table, column, row, parts[columns[i].part]);
        }
    }
}

static void put_summary(const struct sta_alignments *alignments,
                        const struct sta_align_statistics *statistics, const char *name,
                        struct sta_table *table)
{
    add_row_numbers(table, "", 0);
    add_combinations(table, alignments);
    add_name_parts(table, name);
    add_mean_texts(table, "Avg iteration time (sec)", STA_FIGURE_ITERATION, statistics);
    add_mean_texts(table, "Avg training stall time (sec)", STA_FIGURE_STALL, statistics);
    add_mean_texts(table, "Avg delay time (sec)", STA_FIGURE_DELAY, statistics);
    struct sta_table_column *column = sta_table_add(table, "Effective Delay time (%)", STA_TYPE_FLOAT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_number(column, row, statistics[row].effective);
    add_mean_texts(table, "Avg preprocessing start diff (sec)", STA_FIGURE_START_DIFF, statistics);
    add_mean_texts(table, "Avg preprocessing diff (sec)", STA_FIGURE_FETCH_DIFF, statistics);
}

static void put_summary_full(const struct sta_alignments *alignments,
                             const struct sta_align_statistics *statistics, struct sta_table *table)
{
    static const char *const names[STA_ALIGN_FIGURES] = {[STA_FIGURE_ITERATION] = "iteration time (sec)",
                                                         [STA_FIGURE_STALL] = "training stall time (sec)",
                                                         [STA_FIGURE_DELAY] = "delay time (sec)",
                                                         [STA_FIGURE_START_DIFF] = "fetch start diff (sec)",
                                                         [STA_FIGURE_FETCH_DIFF] = "fetch diff (sec)"};
    add_combinations(table, alignments);
    struct sta_table_column *column = sta_table_add(table, "n", STA_TYPE_INT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_int(column, row, (int64_t)statistics[row].rows);
    for (size_t f = 0; f < STA_ALIGN_FIGURES; f++) {
        char title[80];
        snprintf(title, sizeof title, "%s mean", names[f]);
        column = sta_table_add(table, title, STA_TYPE_FLOAT, NULL);
        for (size_t row = 0; row < table->rows; row++)
            sta_table_set_number(column, row, statistics[row].mean[f]);
        snprintf(title, sizeof title, "%s std", names[f]);
        column = sta_table_add(table, title, STA_TYPE_FLOAT, NULL);
        for (size_t row = 0; row < table->rows; row++)
            sta_table_set_number(column, row, statistics[row].deviation[f]);
    }
    column = sta_table_add(table, "effective delay (%)", STA_TYPE_FLOAT, NULL);
    for (size_t row = 0; row < table->rows; row++)
        sta_table_set_number(column, row, statistics[row].effective);
}

/* A summary has no row when every index is one of the warm-up: the notebook divides by zero there. */
static int make_summary(const struct sta_align_input *input, const struct sta_alignments *alignments,
                        const char *name, const struct sta_budget *budget, bool full, struct sta_table *table,
                        struct sta_error *err)
{
    struct sta_align_statistics statistics[16 * 16];
    int rc = measure_all(input, alignments, STA_ALIGN_LOG_SKIP, budget, statistics, err);
    if (rc != STA_OK)
        return rc;
    sta_table_init(table, statistics[0].rows > 0 ? alignments->fetch_count * alignments->start_count : 0);
    if (full)
        put_summary_full(alignments, statistics, table);
    else
        put_summary(alignments, statistics, name, table);
    return STA_OK;
}

static int make_combination(const struct sta_align_input *input, const struct sta_alignments *alignments,
                            enum sta_align_file file, const struct sta_budget *budget,
                            struct sta_table *table, struct sta_error *err)
{
    struct sta_aligned aligned;
    int rc = sta_aligned_init(&aligned, input, err);
    if (rc != STA_OK)
        return rc;
    rc = sta_align_run(input, &alignments->fetch[0], &alignments->start[0], budget, &aligned, err);
    if (rc == STA_OK && file == STA_ALIGN_FILE_ITERATIONS)
        put_iterations(input, &aligned, table);
    else if (rc == STA_OK && file == STA_ALIGN_FILE_DATALOAD_SIM)
        put_dataload(input, &aligned, table);
    else if (rc == STA_OK)
        put_train(input, &aligned, table);
    sta_aligned_fini(&aligned);
    return rc;
}

int sta_align_file(const struct sta_align_input *input, const struct sta_alignments *alignments,
                   enum sta_align_file file, const char *name, const struct sta_budget *budget,
                   struct sta_table *table, struct sta_error *err)
{
    if (file == STA_ALIGN_FILE_SUMMARY || file == STA_ALIGN_FILE_SUMMARY_FULL)
        return make_summary(input, alignments, name, budget, file == STA_ALIGN_FILE_SUMMARY_FULL, table, err);
    sta_table_init(table, input->rows);
    sta_table_count_in(table, budget->account);
    int rc = file == STA_ALIGN_FILE_SIM_INFO ? make_info(input, budget, table, err)
                                             : make_combination(input, alignments, file, budget, table, err);
    if (rc != STA_OK)
        sta_table_fini(table);
    return rc;
}

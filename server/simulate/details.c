/* Tables of details: by rank, by epoch, by step, and the timeline of an epoch.
 *
 * Their sizes are known beforehand, so each run writes its own rows, on whichever thread it runs. */
#include <stdio.h>
#include <string.h>

#include "simulate/whatif.h"

struct column {
    const char *name;
    enum sta_type type;
    const char *unit;
};

enum { SCENARIO, HOST, PID, KEYS };
static const struct column rank_columns[] = {
    {"scenario", STA_TYPE_TEXT, NULL},     {"host_name", STA_TYPE_TEXT, NULL},
    {"pid", STA_TYPE_INT, NULL},           {"stall", STA_TYPE_FLOAT, "s"},
    {"barrier_wait", STA_TYPE_FLOAT, "s"}, {"compute", STA_TYPE_FLOAT, "s"},
    {"time", STA_TYPE_FLOAT, "s"},         {"au", STA_TYPE_FLOAT, "ratio"}};
static const struct column epoch_columns[] = {
    {"scenario", STA_TYPE_TEXT, NULL}, {"host_name", STA_TYPE_TEXT, NULL}, {"pid", STA_TYPE_INT, NULL},
    {"epoch", STA_TYPE_INT, NULL},     {"start", STA_TYPE_FLOAT, "s"},     {"end", STA_TYPE_FLOAT, "s"},
    {"time", STA_TYPE_FLOAT, "s"}};
static const struct column step_columns[] = {
    {"scenario", STA_TYPE_TEXT, NULL},    {"host_name", STA_TYPE_TEXT, NULL},
    {"pid", STA_TYPE_INT, NULL},          {"epoch", STA_TYPE_INT, NULL},
    {"step", STA_TYPE_INT, NULL},         {"asked", STA_TYPE_FLOAT, "s"},
    {"got", STA_TYPE_FLOAT, "s"},         {"compute_start", STA_TYPE_FLOAT, "s"},
    {"compute_end", STA_TYPE_FLOAT, "s"}, {"released", STA_TYPE_FLOAT, "s"}};
static const struct column timeline_columns[] = {{"lane", STA_TYPE_TEXT, NULL},
                                                 {"step", STA_TYPE_INT, NULL},
                                                 {"kind", STA_TYPE_TEXT, NULL},
                                                 {"start", STA_TYPE_FLOAT, "s"},
                                                 {"end", STA_TYPE_FLOAT, "s"}};

static int open_table(const struct sta_whatif_work *whatif, struct sta_table *table,
                      const struct column *columns, size_t count, size_t rows, struct sta_error *err)
{
    int rc = sta_budget_memory(whatif->budget, (double)rows * (double)count * 12, "the details", err);
    if (rc != STA_OK)
        return rc;
    sta_table_init(table, rows);
    sta_table_count_in(table, whatif->budget->account);
    for (size_t c = 0; c < count; c++)
        (void)sta_table_add(table, columns[c].name, columns[c].type, columns[c].unit);
    return STA_OK;
}

/* A text that stands in many rows: its bytes belong to the request or the model while the table is filled,
 * and are copied into the table once. */
static struct sta_text copied(struct sta_table *table, const char *text)
{
    return (struct sta_text){sta_arena_copy(&table->arena, text, strlen(text)), (uint32_t)strlen(text)};
}

static void set_text(struct sta_table_column *column, size_t row, struct sta_text text)
{
    column->texts[row] = text;
    column->missing[row] = 0;
}

/* Scenario, host and pid of rows that were opened: written before the runs, since texts go through the
 * table's arena, which is of one thread. */
static void put_keys(const struct sta_whatif_work *whatif, struct sta_table *table, const char *scenario,
                     size_t first, size_t (*rows_of)(const struct sta_model *, size_t rank))
{
    const struct sta_model *model = whatif->model;
    const struct sta_text name = copied(table, scenario);
    size_t row = first;
    for (size_t r = 0; r < model->rank_count; r++) {
        const struct sta_model_rank *rank = &model->ranks[r];
        const struct sta_text host = copied(table, rank->host != NULL ? rank->host : "");
        const size_t end = row + rows_of(model, r);
        for (; row < end; row++) {
            set_text(&table->columns[SCENARIO], row, name);
            if (rank->host != NULL)
                set_text(&table->columns[HOST], row, host);
            if (rank->pid != STA_NO_ID)
                sta_table_set_int(&table->columns[PID], row, rank->pid);
        }
    }
}

static size_t one_row(const struct sta_model *model, size_t rank)
{
    (void)model;
    (void)rank;
    return 1;
}

static size_t epoch_rows(const struct sta_model *model, size_t rank)
{
    return model->ranks[rank].epoch_count;
}

static size_t step_rows(const struct sta_model *model, size_t rank)
{
    size_t rows = 0;
    for (uint32_t n = 0; n < model->ranks[rank].epoch_count; n++)
        rows += sta_model_epoch(model, rank, n)->step_count;
    return rows;
}

static void set_us(struct sta_table *table, size_t column, size_t row, int64_t us)
{
    sta_table_set_number(&table->columns[column], row, sta_us_seconds((double)us));
}

static void put_epoch(struct sta_table *table, size_t row, int64_t number, int64_t start, int64_t end)
{
    sta_table_set_int(&table->columns[KEYS], row, number);
    set_us(table, KEYS + 1, row, start);
    set_us(table, KEYS + 2, row, end);
    set_us(table, KEYS + 3, row, end - start);
}

static void put_step(struct sta_table *table, size_t row, int64_t epoch, int64_t step,
                     const struct sta_simulated_step *times, bool released)
{
    sta_table_set_int(&table->columns[KEYS], row, epoch);
    sta_table_set_int(&table->columns[KEYS + 1], row, step);
    set_us(table, KEYS + 2, row, times->asked);
    set_us(table, KEYS + 3, row, times->got);
    set_us(table, KEYS + 4, row, times->begun);
    set_us(table, KEYS + 5, row, times->ended);
    if (released)
        set_us(table, KEYS + 6, row, times->released);
}

/* Calls for each epoch and step of the model, in the order of the rows. */
static void put_epochs(const struct sta_model *model, const struct sta_simulation *simulation,
                       struct sta_table *table, size_t row)
{
    for (size_t r = 0; r < model->rank_count; r++)
        for (uint32_t n = 0; n < model->ranks[r].epoch_count; n++, row++) {
            const size_t e = model->ranks[r].epoch_first + n;
            if (simulation != NULL)
                put_epoch(table, row, n + 1, simulation->epochs[e].start, simulation->epochs[e].end);
            else
                put_epoch(table, row, n + 1, model->epochs[e].start, model->epochs[e].end);
        }
}

static void put_steps(const struct sta_model *model, const struct sta_simulation *simulation,
                      struct sta_table *table, size_t row)
{
    for (size_t r = 0; r < model->rank_count; r++)
        for (uint32_t n = 0; n < model->ranks[r].epoch_count; n++) {
            const struct sta_model_epoch *epoch = sta_model_epoch(model, r, n);
            for (uint32_t k = 0; k < epoch->step_count; k++, row++) {
                const struct sta_model_step *step = sta_model_step(model, epoch, k);
                struct sta_simulated_step times = {step->asked, step->got, step->begun, step->ended, 0};
                if (simulation != NULL)
                    times = simulation->steps[epoch->step_first + k];
                put_step(table, row, n + 1, k + 1, &times, simulation != NULL);
            }
        }
}

static const char *run_name(const struct sta_whatif_work *whatif, size_t run)
{
    return run == 0 ? "baseline" : whatif->request.scenarios[run - 1].name;
}

static int open_ranks(struct sta_whatif_work *whatif, size_t runs, struct sta_error *err)
{
    const struct sta_model *model = whatif->model;
    struct sta_table *table = &whatif->result->tables[STA_WHATIF_RANKS];
    int rc =
        open_table(whatif, table, rank_columns, STA_COUNT_OF(rank_columns), runs * model->rank_count, err);
    for (size_t run = 0; rc == STA_OK && run < runs; run++)
        put_keys(whatif, table, run_name(whatif, run), run * model->rank_count, one_row);
    return rc;
}

/* Tables whose first rows are those of the trace. */
static int open_traced(struct sta_whatif_work *whatif, enum sta_whatif_table kind, size_t runs,
                       struct sta_error *err)
{
    const struct sta_model *model = whatif->model;
    const bool steps = kind == STA_WHATIF_STEPS;
    struct sta_table *table = &whatif->result->tables[kind];
    const size_t rows = steps ? model->step_count : model->epoch_count;
    int rc =
        open_table(whatif, table, steps ? step_columns : epoch_columns,
                   steps ? STA_COUNT_OF(step_columns) : STA_COUNT_OF(epoch_columns), (runs + 1) * rows, err);
    if (rc != STA_OK)
        return rc;
    put_keys(whatif, table, "traced", 0, steps ? step_rows : epoch_rows);
    for (size_t run = 0; run < runs; run++)
        put_keys(whatif, table, run_name(whatif, run), (run + 1) * rows, steps ? step_rows : epoch_rows);
    if (steps)
        put_steps(model, NULL, table, 0);
    else
        put_epochs(model, NULL, table, 0);
    return STA_OK;
}

int sta_whatif_open_details(struct sta_whatif_work *whatif, struct sta_error *err)
{
    const size_t runs = 1 + whatif->request.scenario_count;
    int rc = whatif->request.ranks ? open_ranks(whatif, runs, err) : STA_OK;
    if (rc == STA_OK && whatif->request.epochs)
        rc = open_traced(whatif, STA_WHATIF_EPOCHS, runs, err);
    if (rc == STA_OK && whatif->request.steps)
        rc = open_traced(whatif, STA_WHATIF_STEPS, runs, err);
    return rc;
}

static void put_ranks(const struct sta_simulation *simulation, struct sta_table *table, size_t row)
{
    for (size_t r = 0; r < simulation->model->rank_count; r++, row++) {
        const struct sta_rank_figures figures = sta_figures_of_rank(simulation, r);
        set_us(table, KEYS, row, figures.stall);
        set_us(table, KEYS + 1, row, figures.barrier);
        set_us(table, KEYS + 2, row, figures.compute);
        set_us(table, KEYS + 3, row, figures.time);
        if (figures.time > 0)
            sta_table_set_number(&table->columns[KEYS + 4], row,
                                 (double)figures.compute / (double)figures.time);
    }
}

void sta_whatif_put_details(struct sta_whatif_work *whatif, const struct sta_simulation *simulation,
                            size_t run)
{
    const struct sta_model *model = whatif->model;
    struct sta_table *tables = whatif->result->tables;
    if (whatif->request.ranks)
        put_ranks(simulation, &tables[STA_WHATIF_RANKS], run * model->rank_count);
    if (whatif->request.epochs)
        put_epochs(model, simulation, &tables[STA_WHATIF_EPOCHS], (run + 1) * model->epoch_count);
    if (whatif->request.steps)
        put_steps(model, simulation, &tables[STA_WHATIF_STEPS], (run + 1) * model->step_count);
}

/* ---- timeline */

static int by_lane(const void *a, const void *b, void *context)
{
    const struct sta_simulated_job *x = a, *y = b;
    (void)context;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->ts != y->ts)
        return x->ts < y->ts ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static void put_span(struct sta_table *table, size_t row, const char *lane, const char *kind, int64_t step,
                     int64_t ts, int64_t te)
{
    sta_table_set_text(table, &table->columns[0], row, lane, strlen(lane));
    sta_table_set_int(&table->columns[1], row, step);
    sta_table_set_text(table, &table->columns[2], row, kind, strlen(kind));
    set_us(table, 3, row, ts);
    set_us(table, 4, row, te);
}

int sta_whatif_put_timeline(struct sta_whatif_work *whatif, const struct sta_simulation *simulation,
                            struct sta_job_recorder *recorder, struct sta_error *err)
{
    const struct sta_model_epoch *epoch = sta_model_epoch(whatif->model, recorder->rank, recorder->epoch);
    const struct sta_simulated_step *steps = &simulation->steps[epoch->step_first];
    struct sta_table *table = &whatif->result->tables[STA_WHATIF_TIMELINE];
    size_t rows = 2 * (size_t)epoch->step_count + recorder->count, row = 0;
    for (uint32_t k = 0; k < epoch->step_count; k++)
        rows += steps[k].released > steps[k].ended;
    int rc =
        sta_sort(whatif->budget, recorder->jobs, recorder->count, sizeof *recorder->jobs, by_lane, NULL, err);
    if (rc == STA_OK)
        rc = open_table(whatif, table, timeline_columns, STA_COUNT_OF(timeline_columns), rows, err);
    if (rc != STA_OK)
        return rc;
    for (uint32_t k = 0; k < epoch->step_count; k++) {
        put_span(table, row++, "rank", "wait", k + 1, steps[k].asked, steps[k].got);
        put_span(table, row++, "rank", "compute", k + 1, steps[k].begun, steps[k].ended);
        if (steps[k].released > steps[k].ended)
            put_span(table, row++, "rank", "barrier", k + 1, steps[k].ended, steps[k].released);
    }
    for (size_t i = 0; i < recorder->count; i++) {
        char lane[32];
        snprintf(lane, sizeof lane, "worker %u", recorder->jobs[i].lane);
        put_span(table, row++, lane, "batch", (int64_t)recorder->jobs[i].step + 1, recorder->jobs[i].ts,
                 recorder->jobs[i].te);
    }
    return STA_OK;
}

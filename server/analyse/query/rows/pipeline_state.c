/* One thread's view of a part: which rows are left, and the executors over them.
 *
 * DESIGN.  Filters narrow a list of row numbers; the vectors stay those of the whole part, so that dense
 * filters cost no copies.  As long as many rows are left they are marked, and listed when all filters are
 * applied, unless whoever takes them is faster with the marks.  Once few rows are left, a vector holds those
 * alone: of events only their values are read from then on, and columns of a materialized result are gathered
 * when they are asked for. */
#include "analyse/query/rows/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/operators/vectors.h"
#include "analyse/sources/column_kernels.h"
#include "analyse/sources/column_tests.h"
#include "analyse/sources/predicates.h"
#include "common/memory.h"

#define SPARSE 4 /* one row in so many left: gathering is cheaper than computing them all */

struct gathered { /* a column of the rows that are left */
    uint64_t serial;
    struct sta_vector vector;
    struct sta_vector_space *space; /* NULL: not needed yet */
};

struct state {
    struct sta_pipeline_state public;
    struct sta_arena memory; /* of arrays */
    const struct sta_pipeline *pipeline;
    const struct sta_budget *budget;
    struct sta_scan_visitor *visitor;     /* of the present trace */
    struct sta_column_reader *reader;     /* the visitor's */
    struct sta_materialized_batch *batch; /* of a materialized result */
    struct sta_evaluator **casts;         /* by column, made when needed */
    struct sta_executor **executors;      /* by stage */
    uint8_t *fates;                       /* by class: 0 unknown, 1 kept, 2 dropped */
    size_t fate_capacity;
    struct sta_pipeline_part part;
    bool bound;          /* visitor and executors are of the part's trace */
    bool filtered;       /* the first filter has been applied */
    uint8_t *marks;      /* of rows that pass tests; space for them */
    uint32_t *selected;  /* likewise */
    uint32_t *kept_rows; /* numbers in the part of gathered rows */
    bool gathering;
    uint64_t serial; /* of what is gathered */
    struct gathered *columns;
    size_t column_count;
    int64_t *at; /* of a materialized result; its places are 0 */
    uint64_t *place;
};

static struct state *inside(struct sta_pipeline_state *public)
{
    return (struct state *)public;
}

/* ---- columns of the part */

static int cast_column(struct state *state, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct sta_events_trace *trace = &state->pipeline->events->traces[state->part.trace];
    if (state->casts[column] == NULL)
        state->casts[column] = sta_evaluator_create();
    return sta_program_run(trace->map[column].program, state->casts[column],
                           sta_column_reader_rows(state->reader), sta_column_reader_get, state->reader,
                           vector, err);
}

static int part_column(struct state *state, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    if (state->pipeline->materialized != NULL)
        return sta_materialized_batch_get(state->batch, column, vector, err);
    const struct sta_events *events = state->pipeline->events;
    const struct sta_events_trace *trace = &events->traces[state->part.trace];
    const struct sta_events_column *mapped = &trace->map[column];
    enum sta_type type = events->schema_columns[column].type;
    bool castless = mapped->column != STA_NO_COLUMN && mapped->program == NULL;
    if (castless && sta_columns_schema(trace->columns)->columns[mapped->column].type == type)
        return sta_column_reader_get(state->reader, mapped->column, vector, err);
    if (mapped->program != NULL)
        return cast_column(state, column, vector, err);
    *vector = sta_vector_nothing(type, sta_columns_texts(trace->columns, STA_LOGICAL_func_name));
    return 0;
}

static int gather_column(struct state *state, uint32_t column, struct gathered *gathered,
                         struct sta_error *err)
{
    struct sta_vector *vector = &gathered->vector;
    int rc = part_column(state, column, vector, err);
    if (rc != 0 || vector->constant)
        return rc;
    if (gathered->space == NULL)
        gathered->space = sta_arena_array(&state->memory, 1, sizeof *gathered->space);
    *vector = sta_vector_gather_to(vector, state->kept_rows, state->public.rows, gathered->space);
    return 0;
}

/* The source of the lowest executor. */
static int base_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct state *state = context;
    if (!state->gathering || state->pipeline->events != NULL)
        return part_column(state, column, vector, err);
    struct gathered *gathered = &state->columns[column];
    if (gathered->serial != state->serial) {
        int rc = gather_column(state, column, gathered, err);
        if (rc != 0)
            return rc;
        gathered->serial = state->serial;
    }
    *vector = gathered->vector;
    return 0;
}

/* ---- start and end */

struct sta_pipeline_state *sta_pipeline_state_create(const struct sta_pipeline *pipeline,
                                                     const struct sta_budget *budget)
{
    struct state *state = sta_alloc(sizeof *state);
    state->pipeline = pipeline;
    state->budget = budget;
    state->column_count = pipeline->stages[0].input_count;
    state->columns = sta_arena_array(&state->memory, state->column_count, sizeof *state->columns);
    state->casts = sta_arena_array(&state->memory, state->column_count, sizeof(struct sta_evaluator *));
    state->executors = sta_arena_array(&state->memory, pipeline->stage_count, sizeof(struct sta_executor *));
    state->marks = sta_arena_array(&state->memory, STA_VECTOR_ROWS, sizeof *state->marks);
    state->selected = sta_arena_array(&state->memory, STA_VECTOR_ROWS, sizeof *state->selected);
    state->kept_rows = sta_arena_array(&state->memory, STA_VECTOR_ROWS, sizeof *state->kept_rows);
    if (pipeline->materialized != NULL)
        state->batch = sta_materialized_batch_create(pipeline->materialized);
    return &state->public;
}

static void unbind(struct state *state)
{
    for (size_t i = 0; i < state->pipeline->stage_count; i++) {
        sta_executor_destroy(state->executors[i]);
        state->executors[i] = NULL;
    }
    for (size_t i = 0; i < state->column_count; i++) {
        sta_evaluator_destroy(state->casts[i]);
        state->casts[i] = NULL;
    }
    sta_scan_visitor_destroy(state->visitor);
    free(state->fates);
    state->visitor = NULL;
    state->fates = NULL;
    state->fate_capacity = 0;
    state->bound = false;
}

void sta_pipeline_state_destroy(struct sta_pipeline_state *public)
{
    if (public == NULL)
        return;
    struct state *state = inside(public);
    unbind(state);
    sta_materialized_batch_destroy(state->batch);
    sta_arena_fini(&state->memory);
    free(state);
}

/* Goes over to the programs of another trace. */
static void bind(struct state *state, uint32_t trace)
{
    const struct sta_pipeline *pipeline = state->pipeline;
    if (state->bound && state->part.trace == trace)
        return;
    unbind(state);
    if (pipeline->events != NULL)
        state->visitor = sta_scan_visitor_create(&pipeline->events->traces[trace].scan, NULL, state->budget);
    for (size_t i = 0; i < pipeline->stage_count; i++)
        state->executors[i] =
            sta_executor_create(pipeline->programs[trace * pipeline->stage_count + i],
                                i > 0 ? state->executors[i - 1] : NULL, base_column, state, state->budget);
    state->public.top = state->executors[pipeline->stage_count - 1];
    state->bound = true;
}

/* ---- rows */

static void seek_frames(struct state *state, uint32_t rows)
{
    state->public.rows = rows;
    for (size_t i = 0; i < state->pipeline->stage_count; i++)
        sta_executor_seek(state->executors[i], rows);
}

void sta_pipeline_state_compact(struct sta_pipeline_state *public)
{
    struct state *state = inside(public);
    if (public->selected == NULL)
        return;
    for (uint32_t i = 0; i < public->count; i++) {
        uint32_t row = public->selected[i];
        state->kept_rows[i] = state->gathering ? state->kept_rows[row] : row;
    }
    state->gathering = true;
    state->serial++;
    if (state->pipeline->events != NULL)
        sta_column_reader_narrow(state->reader, state->kept_rows, public->count);
    public->selected = NULL;
    seek_frames(state, public->count);
}

void sta_pipeline_state_keep(struct sta_pipeline_state *public, const uint32_t *rows, uint32_t count)
{
    if (count == public->count)
        return;
    public->selected = rows;
    public->count = count;
    if (count < public->rows / SPARSE)
        sta_pipeline_state_compact(public);
}

static void list_marked(struct sta_pipeline_state *public)
{
    struct state *state = inside(public);
    if (public->marks == NULL)
        return;
    sta_scan_keep(public->marks, NULL, public->rows, state->selected);
    public->selected = state->selected;
    public->marks = NULL;
}

/* Keeps only rows whose mark is 1.  @marks: of some of those that are left if these are marked, or if all are
 * left. */
static void keep_marked(struct sta_pipeline_state *public, const uint8_t *marks)
{
    const uint32_t count = sta_column_kernels()->count(marks, public->rows);
    if (count == public->count)
        return;
    public->marks = marks;
    public->count = count;
    if (count >= public->rows / SPARSE || count == 0)
        return;
    list_marked(public);
    sta_pipeline_state_compact(public);
}

static void keep_where(struct state *state, const uint8_t *holds)
{
    struct sta_pipeline_state *public = &state->public;
    if (public->selected != NULL) {
        sta_pipeline_state_keep(public, state->selected,
                                sta_scan_keep(holds, public->selected, public->count, state->selected));
        return;
    }
    for (uint32_t row = 0; public->marks != NULL && row < public->rows; row++)
        state->marks[row] = holds[row] & public->marks[row];
    keep_marked(public, public->marks != NULL ? state->marks : holds);
}

static bool is_dropped(struct state *state, struct sta_classes *classes, uint32_t class)
{
    size_t old = state->fate_capacity;
    STA_GROW(state->fates, state->fate_capacity, (size_t) class + 1);
    for (size_t i = old; i < state->fate_capacity; i++)
        state->fates[i] = 0;
    if (state->fates[class] == 0)
        state->fates[class] = sta_classes_get(classes, class).fate == STA_FATE_KEPT ? 1 : 2;
    return state->fates[class] == 2;
}

static void drop_classes(struct state *state, struct sta_classes *classes, const struct sta_scan_rows *rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i);
        state->selected[kept] = row;
        kept += !is_dropped(state, classes, rows->classes[row]);
    }
    state->public.selected = state->selected;
    state->public.count = kept;
}

/* Drops the rows of a row group that fail what is required or what the first filter says of single columns.
 */
static int test_rows(struct state *state, struct sta_error *err)
{
    const struct sta_pipeline *pipeline = state->pipeline;
    struct sta_pipeline_state *public = &state->public;
    const bool filters = pipeline->stages[0].filter != NULL;
    bool known;
    int rc = STA_OK;
    if (public->count == 0 || (!filters && public->required == NULL))
        return STA_OK;
    memset(state->marks, 1, sta_column_reader_rows(state->reader));
    if (public->required != NULL)
        rc = sta_column_reader_test(state->reader, public->required, state->marks, &known, err);
    if (rc == 0 && filters)
        rc = sta_predicates_test(pipeline->predicates[state->part.trace], state->reader, state->marks,
                                 &state->filtered, err);
    state->filtered &= pipeline->predicates_suffice;
    if (rc == 0)
        keep_where(state, state->marks);
    return rc;
}

static int load_row_group(struct state *state, struct sta_error *err)
{
    const struct sta_events_trace *trace = &state->pipeline->events->traces[state->part.trace];
    struct sta_scan_rows rows;
    int rc = sta_scan_visit(state->visitor, sta_snapshot_row_group(trace->snapshot, state->part.row_group),
                            &rows, err);
    if (rc != 0)
        return rc;
    state->reader = rows.reader;
    state->public.count = rows.count;
    state->public.selected = rows.selected;
    if (rows.classes != NULL)
        drop_classes(state, trace->classes, &rows);
    seek_frames(state, rows.row_group->rows);
    return test_rows(state, err);
}

static void load_batch(struct state *state)
{
    state->public.count = sta_materialized_batch_seek(state->batch, state->part.row_group);
    seek_frames(state, state->public.count);
}

static void go_to(struct state *state, struct sta_pipeline_part part)
{
    bind(state, part.trace);
    state->part = part;
    state->gathering = false;
    state->filtered = false;
    state->public.trace = part.trace;
    state->public.selected = NULL;
    state->public.marks = NULL;
}

static int apply_filter(struct state *state, size_t stage, struct sta_error *err)
{
    struct sta_pipeline_state *public = &state->public;
    struct sta_vector holds;
    if (public->count == 0 || state->pipeline->stages[stage].filter == NULL)
        return 0;
    int rc = sta_executor_part(state->executors[stage], STA_PART_FILTER, 0, &holds, err);
    if (rc != 0)
        return rc;
    if (holds.type != STA_TYPE_BOOL || (holds.constant && !(holds.bools[0] && holds.missing == NULL))) {
        public->count = 0;
        return 0;
    }
    if (!holds.constant)
        keep_where(state, holds.bools);
    return 0;
}

int sta_pipeline_state_load_marked(struct sta_pipeline_state *public, struct sta_pipeline_part part,
                                   struct sta_error *err)
{
    struct state *state = inside(public);
    go_to(state, part);
    int rc = STA_OK;
    if (state->pipeline->materialized != NULL)
        load_batch(state);
    else
        rc = load_row_group(state, err);
    for (size_t i = state->filtered; rc == 0 && i < state->pipeline->stage_count; i++)
        rc = apply_filter(state, i, err);
    return rc;
}

int sta_pipeline_state_load(struct sta_pipeline_state *public, struct sta_pipeline_part part,
                            struct sta_error *err)
{
    int rc = sta_pipeline_state_load_marked(public, part, err);
    if (rc == 0)
        list_marked(public);
    return rc;
}

void sta_pipeline_state_load_rows(struct sta_pipeline_state *public, struct sta_pipeline_part part,
                                  const uint32_t *rows, uint32_t count)
{
    struct state *state = inside(public);
    go_to(state, part);
    if (state->pipeline->materialized != NULL) {
        load_batch(state);
    } else {
        const struct sta_events_trace *trace = &state->pipeline->events->traces[part.trace];
        state->reader = sta_scan_visitor_reader(state->visitor);
        sta_column_reader_seek(state->reader, sta_snapshot_row_group(trace->snapshot, part.row_group));
    }
    public->selected = rows;
    public->count = count;
    sta_pipeline_state_compact(public);
}

int sta_pipeline_state_physical(struct sta_pipeline_state *public, uint32_t column,
                                const struct sta_column_values **values, struct sta_error *err)
{
    return sta_column_reader_physical(inside(public)->reader, column, values, err);
}

/* ---- order */

static int order_of_events(struct state *state, struct sta_pipeline_state_order *order, struct sta_error *err)
{
    const struct sta_events_trace *trace = &state->pipeline->events->traces[state->part.trace];
    const struct sta_row_group *row_group = sta_snapshot_row_group(trace->snapshot, state->part.row_group);
    const uint32_t *ranks = trace->chunk_ranks[row_group->segment];
    const struct sta_column_values *ts, *chunks;
    const uint32_t *kept = state->gathering ? state->kept_rows : NULL;
    uint64_t *place = state->place;
    int rc = sta_column_reader_physical(state->reader, STA_COLUMN_TS, &ts, err);
    if (rc == 0)
        rc = sta_column_reader_physical(state->reader, STA_COLUMN_CHUNK, &chunks, err);
    if (rc != 0)
        return rc;
    const uint32_t *codes = chunks->codes;
    for (uint32_t i = 0; i < state->public.rows; i++)
        place[i] = sta_events_place(ranks, row_group, codes[i], kept != NULL ? kept[i] : i);
    *order = (struct sta_pipeline_state_order){ts->integers, place};
    return STA_OK;
}

int sta_pipeline_state_order(struct sta_pipeline_state *public, struct sta_pipeline_state_order *order,
                             struct sta_error *err)
{
    struct state *state = inside(public);
    if (state->place == NULL)
        state->place = sta_arena_array(&state->memory, STA_VECTOR_ROWS, sizeof *state->place);
    if (state->pipeline->events != NULL)
        return order_of_events(state, order, err);
    if (state->at == NULL)
        state->at = sta_arena_array(&state->memory, STA_VECTOR_ROWS, sizeof *state->at);
    for (uint32_t i = 0; i < public->rows; i++)
        state->at[i] =
            (int64_t)state->part.row_group * STA_VECTOR_ROWS + (state->gathering ? state->kept_rows[i] : i);
    *order = (struct sta_pipeline_state_order){state->at, state->place};
    return STA_OK;
}

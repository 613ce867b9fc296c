/* One thread's view of a part: which rows are left, and the frames over them.
 *
 * DESIGN.  Filters narrow a list of row numbers; the vectors stay those of the whole part, so that dense
 * filters cost no copies.  Once few rows are left, columns are gathered: from then on a vector holds the rows
 * that are left alone, and only columns that are asked for are copied. */
#include "analyse/query/rows/path.h"

#include <stdlib.h>

#include "analyse/operators/vectors.h"
#include "common/memory.h"

#define SPARSE 4 /* one row in so many left: gathering is cheaper than computing them all */

struct gathered { /* a column of the rows that are left */
    uint64_t serial;
    struct sta_vector vector;
    void *values;
    uint8_t *missing;
};

struct lane {
    struct sta_lane public;
    const struct sta_path *path;
    const struct sta_budget *budget;
    struct sta_scan_visitor *visitor;     /* of the present trace */
    struct sta_column_reader *reader;     /* the visitor's */
    struct sta_materialized_batch *batch; /* of a materialized */
    struct sta_evaluator **casts;         /* by column, made when needed */
    struct sta_frame **frames;            /* by stage */
    uint8_t *fates;                       /* by class: 0 unknown, 1 kept, 2 dropped */
    size_t fate_capacity;
    struct sta_path_part part;
    bool bound;          /* visitor and frames are of the part's trace */
    int64_t from, to;    /* ticks: what else narrows the rows of events */
    uint32_t *selected;  /* room */
    uint32_t *kept_rows; /* numbers in the part of gathered rows */
    bool gathering;
    uint64_t serial; /* of what is gathered */
    struct gathered *columns;
    size_t column_count;
    int64_t *at;
    uint64_t *place;
};

static struct lane *inside(struct sta_lane *public)
{
    return (struct lane *)public;
}

/* ---- columns of the part */

static int cast_column(struct lane *lane, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    const struct sta_events_trace *trace = &lane->path->events->traces[lane->part.trace];
    if (lane->casts[column] == NULL)
        lane->casts[column] = sta_evaluator_create();
    return sta_program_run(trace->map[column].program, lane->casts[column],
                           sta_column_reader_block(lane->reader)->rows, sta_column_reader_get, lane->reader,
                           vector, err);
}

static int part_column(struct lane *lane, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    if (lane->path->materialized != NULL)
        return sta_materialized_batch_get(lane->batch, column, vector, err);
    const struct sta_events *events = lane->path->events;
    const struct sta_events_trace *trace = &events->traces[lane->part.trace];
    const struct sta_events_column *mapped = &trace->map[column];
    enum sta_type type = events->schema_columns[column].type;
    bool castless = mapped->column != STA_NO_COLUMN && mapped->program == NULL;
    if (castless && sta_columns_schema(trace->columns)->columns[mapped->column].type == type)
        return sta_column_reader_get(lane->reader, mapped->column, vector, err);
    if (mapped->program != NULL)
        return cast_column(lane, column, vector, err);
    *vector = sta_vector_nothing(type, sta_columns_texts(trace->columns, STA_LOGICAL_func_name));
    return 0;
}

static int gather_column(struct lane *lane, uint32_t column, struct gathered *gathered, struct sta_error *err)
{
    struct sta_vector *vector = &gathered->vector;
    int rc = part_column(lane, column, vector, err);
    if (rc != 0 || vector->constant)
        return rc;
    if (gathered->values == NULL) {
        gathered->values = sta_alloc_array(STA_VECTOR_ROWS, sizeof(int64_t));
        gathered->missing = sta_alloc_array(STA_VECTOR_ROWS, 1);
    }
    bool missing =
        sta_vector_gather(vector, lane->kept_rows, lane->public.rows, gathered->values, gathered->missing);
    sta_vector_point(vector, gathered->values);
    vector->missing = missing ? gathered->missing : NULL;
    return 0;
}

/* The source of the lowest frame. */
static int base_column(void *context, uint32_t column, struct sta_vector *vector, struct sta_error *err)
{
    struct lane *lane = context;
    if (!lane->gathering)
        return part_column(lane, column, vector, err);
    struct gathered *gathered = &lane->columns[column];
    if (gathered->serial != lane->serial) {
        int rc = gather_column(lane, column, gathered, err);
        if (rc != 0)
            return rc;
        gathered->serial = lane->serial;
    }
    *vector = gathered->vector;
    return 0;
}

/* ---- start and end */

struct sta_lane *sta_lane_create(const struct sta_path *path, const struct sta_budget *budget)
{
    struct lane *lane = sta_alloc(sizeof *lane);
    lane->path = path;
    lane->budget = budget;
    lane->from = INT64_MIN;
    lane->to = INT64_MAX;
    lane->column_count = path->stages[0].input_count;
    lane->columns = sta_alloc_array(lane->column_count + 1, sizeof *lane->columns);
    lane->casts = sta_alloc_array(lane->column_count + 1, sizeof(struct sta_evaluator *));
    lane->frames = sta_alloc_array(path->stage_count, sizeof(struct sta_frame *));
    lane->selected = sta_alloc_array(STA_VECTOR_ROWS, sizeof *lane->selected);
    lane->kept_rows = sta_alloc_array(STA_VECTOR_ROWS, sizeof *lane->kept_rows);
    if (path->materialized != NULL)
        lane->batch = sta_materialized_batch_create(path->materialized);
    return &lane->public;
}

static void unbind(struct lane *lane)
{
    for (size_t i = 0; i < lane->path->stage_count; i++) {
        sta_frame_destroy(lane->frames[i]);
        lane->frames[i] = NULL;
    }
    for (size_t i = 0; i < lane->column_count; i++) {
        sta_evaluator_destroy(lane->casts[i]);
        lane->casts[i] = NULL;
    }
    sta_scan_visitor_destroy(lane->visitor);
    free(lane->fates);
    lane->visitor = NULL;
    lane->fates = NULL;
    lane->fate_capacity = 0;
    lane->bound = false;
}

void sta_lane_destroy(struct sta_lane *public)
{
    if (public == NULL)
        return;
    struct lane *lane = inside(public);
    unbind(lane);
    for (size_t i = 0; i < lane->column_count; i++) {
        free(lane->columns[i].values);
        free(lane->columns[i].missing);
    }
    sta_materialized_batch_destroy(lane->batch);
    free(lane->columns);
    free(lane->casts);
    free(lane->frames);
    free(lane->selected);
    free(lane->kept_rows);
    free(lane->at);
    free(lane->place);
    free(lane);
}

/* Goes over to the programs of another trace. */
static void bind(struct lane *lane, uint32_t trace)
{
    const struct sta_path *path = lane->path;
    if (lane->bound && lane->part.trace == trace)
        return;
    unbind(lane);
    if (path->events != NULL)
        lane->visitor = sta_scan_visitor_create(&path->events->traces[trace].scan, NULL, lane->budget);
    for (size_t i = 0; i < path->stage_count; i++)
        lane->frames[i] =
            sta_frame_create(path->programs[trace * path->stage_count + i],
                             i > 0 ? lane->frames[i - 1] : NULL, base_column, lane, lane->budget);
    lane->public.top = lane->frames[path->stage_count - 1];
    lane->bound = true;
}

/* ---- rows */

static void seek_frames(struct lane *lane, uint32_t rows)
{
    lane->public.rows = rows;
    for (size_t i = 0; i < lane->path->stage_count; i++)
        sta_frame_seek(lane->frames[i], rows);
}

void sta_lane_compact(struct sta_lane *public)
{
    struct lane *lane = inside(public);
    if (public->selected == NULL)
        return;
    for (uint32_t i = 0; i < public->count; i++) {
        uint32_t row = public->selected[i];
        lane->kept_rows[i] = lane->gathering ? lane->kept_rows[row] : row;
    }
    lane->gathering = true;
    lane->serial++;
    public->selected = NULL;
    seek_frames(lane, public->count);
}

void sta_lane_keep(struct sta_lane *public, const uint32_t *rows, uint32_t count)
{
    if (count == public->count)
        return;
    public->selected = rows;
    public->count = count;
    if (count < public->rows / SPARSE)
        sta_lane_compact(public);
}

static bool is_dropped(struct lane *lane, struct sta_classes *classes, uint32_t class)
{
    size_t old = lane->fate_capacity;
    STA_GROW(lane->fates, lane->fate_capacity, (size_t) class + 1);
    for (size_t i = old; i < lane->fate_capacity; i++)
        lane->fates[i] = 0;
    if (lane->fates[class] == 0)
        lane->fates[class] = sta_classes_get(classes, class).fate == STA_FATE_KEPT ? 1 : 2;
    return lane->fates[class] == 2;
}

static void drop_classes(struct lane *lane, struct sta_classes *classes, const struct sta_scan_rows *rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t row = sta_scan_row(rows, i);
        lane->selected[kept] = row;
        kept += !is_dropped(lane, classes, rows->classes[row]);
    }
    lane->public.selected = lane->selected;
    lane->public.count = kept;
}

static int narrow_rows(struct lane *lane, const struct sta_block *block, struct sta_error *err)
{
    struct sta_lane *public = &lane->public;
    const struct sta_column_values *ts;
    if (block->ts_min >= lane->from && (block->ts_max < lane->to || lane->to == INT64_MAX))
        return 0;
    int rc = sta_column_reader_physical(lane->reader, STA_COLUMN_TS, &ts, err);
    if (rc != 0)
        return rc;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < public->count; i++) {
        uint32_t row = public->selected != NULL ? public->selected[i] : i;
        int64_t at = ts->integers[row];
        lane->selected[kept] = row;
        kept += at >= lane->from && (at < lane->to || lane->to == INT64_MAX);
    }
    sta_lane_keep(public, lane->selected, kept);
    return 0;
}

static int load_block(struct lane *lane, struct sta_error *err)
{
    const struct sta_events_trace *trace = &lane->path->events->traces[lane->part.trace];
    struct sta_scan_rows rows;
    int rc = sta_scan_visit(lane->visitor, sta_snapshot_block(trace->snapshot, lane->part.block), &rows, err);
    if (rc != 0)
        return rc;
    lane->reader = rows.reader;
    lane->public.count = rows.count;
    lane->public.selected = rows.selected;
    if (rows.classes != NULL)
        drop_classes(lane, trace->classes, &rows);
    seek_frames(lane, rows.block->rows);
    return narrow_rows(lane, rows.block, err);
}

void sta_lane_narrow(struct sta_lane *public, int64_t from, int64_t to)
{
    inside(public)->from = from;
    inside(public)->to = to;
}

static int load_batch(struct lane *lane, struct sta_error *err)
{
    uint32_t rows;
    int rc = sta_materialized_batch_seek(lane->batch, lane->part.block, &rows, err);
    if (rc != 0)
        return rc;
    lane->public.count = rows;
    seek_frames(lane, rows);
    return 0;
}

static void go_to(struct lane *lane, struct sta_path_part part)
{
    bind(lane, part.trace);
    lane->part = part;
    lane->gathering = false;
    lane->public.trace = part.trace;
    lane->public.selected = NULL;
}

static int apply_filter(struct lane *lane, size_t stage, struct sta_error *err)
{
    struct sta_lane *public = &lane->public;
    struct sta_vector holds;
    if (public->count == 0 || lane->path->stages[stage].filter == NULL)
        return 0;
    int rc = sta_frame_part(lane->frames[stage], STA_PART_FILTER, 0, &holds, err);
    if (rc != 0)
        return rc;
    if (holds.type != STA_TYPE_BOOL || (holds.constant && !(holds.bools[0] && holds.missing == NULL))) {
        public->count = 0;
        return 0;
    }
    if (!holds.constant)
        sta_lane_keep(public, lane->selected,
                      sta_scan_keep(holds.bools, public->selected, public->count, lane->selected));
    return 0;
}

int sta_lane_load(struct sta_lane *public, struct sta_path_part part, struct sta_error *err)
{
    struct lane *lane = inside(public);
    go_to(lane, part);
    int rc = lane->path->materialized != NULL ? load_batch(lane, err) : load_block(lane, err);
    for (size_t i = 0; rc == 0 && i < lane->path->stage_count; i++)
        rc = apply_filter(lane, i, err);
    return rc;
}

void sta_lane_load_rows(struct sta_lane *public, struct sta_path_part part, const uint32_t *rows,
                        uint32_t count)
{
    struct lane *lane = inside(public);
    const struct sta_events_trace *trace = &lane->path->events->traces[part.trace];
    go_to(lane, part);
    lane->reader = sta_scan_visitor_reader(lane->visitor);
    sta_column_reader_seek(lane->reader, sta_snapshot_block(trace->snapshot, part.block));
    public->selected = rows;
    public->count = count;
    sta_lane_compact(public);
}

int sta_lane_physical(struct sta_lane *public, uint32_t column, const struct sta_column_values **values,
                      struct sta_error *err)
{
    return sta_column_reader_physical(inside(public)->reader, column, values, err);
}

/* ---- order */

uint32_t sta_lane_part_row(const struct sta_lane *public, uint32_t row)
{
    const struct lane *lane = (const struct lane *)public;
    return lane->gathering ? lane->kept_rows[row] : row;
}

static int order_of_events(struct lane *lane, struct sta_error *err)
{
    const struct sta_events_trace *trace = &lane->path->events->traces[lane->part.trace];
    const struct sta_block *block = sta_snapshot_block(trace->snapshot, lane->part.block);
    const uint32_t *ranks = trace->chunk_ranks[block->segment];
    const struct sta_column_values *ts, *chunks;
    int rc = sta_column_reader_physical(lane->reader, STA_COLUMN_TS, &ts, err);
    if (rc == 0)
        rc = sta_column_reader_physical(lane->reader, STA_COLUMN_CHUNK, &chunks, err);
    for (uint32_t i = 0; rc == 0 && i < lane->public.rows; i++) {
        uint32_t row = sta_lane_part_row(&lane->public, i);
        lane->at[i] = ts->integers[row];
        lane->place[i] = sta_events_place(ranks, block, chunks->codes[row], row);
    }
    return rc;
}

int sta_lane_order(struct sta_lane *public, struct sta_lane_order *order, struct sta_error *err)
{
    struct lane *lane = inside(public);
    int rc = 0;
    if (lane->at == NULL) {
        lane->at = sta_alloc_array(STA_VECTOR_ROWS, sizeof *lane->at);
        lane->place = sta_alloc_array(STA_VECTOR_ROWS, sizeof *lane->place);
    }
    if (lane->path->events != NULL)
        rc = order_of_events(lane, err);
    for (uint32_t i = 0; lane->path->materialized != NULL && i < public->rows; i++)
        lane->at[i] = (int64_t)lane->part.block * STA_VECTOR_ROWS + sta_lane_part_row(public, i);
    *order = (struct sta_lane_order){lane->at, lane->place};
    return rc;
}

/* events?format=chrome: the window's events with all they hold, on tracks in which events nest.
 *
 * Such viewers want every event of a track inside of the one that it begins in; events that overlap go to
 * further tracks of their thread. */
#include <string.h>

#include "analyse/exec/sort.h"
#include "analyse/operators/vectors.h"
#include "analyse/views/members.h"
#include "timeline/brief.h"
#include "timeline/tracks.h"
#include "common/memory.h"
#include "timeline/timeline.h"

#define WHAT "the export of events"
#define LIMIT 100000
#define MOST 1000000

/* An event of the result. */
struct exported {
    struct sta_event_place at;
    uint32_t track; /* index in the tracks */
};

struct exporting {
    struct sta_selection selection;
    const struct sta_budget *budget;
    struct sta_timeline_export *result;
    struct exported *events; /* by lane; then in event order */
    size_t count, capacity, track_capacity;
    struct sta_tracks tracks; /* of the present thread */
    uint32_t *rows;           /* of the result, in the order of the store */
    int64_t limit;
};

/* ---- tracks */

static int add_track(struct exporting *exporting, uint32_t thread, uint32_t process, uint32_t number,
                     struct sta_error *err)
{
    struct sta_timeline_export *result = exporting->result;
    const struct sta_lane_tree *tree = &exporting->selection.index->tree;
    const struct sta_timeline_lane *lane = &tree->lanes[tree->lane_of_thread[thread]];
    int rc = STA_ACCOUNT_GROW(exporting->budget->account, result->tracks, exporting->track_capacity,
                              result->track_count + 1, WHAT, err);
    if (rc == 0)
        result->tracks[result->track_count++] = (struct sta_timeline_track){
            .process = process,
            .host = lane->host == STA_NO_CODE ? (struct sta_text){0}
                                              : sta_dictionary_text(tree->entities->hosts, lane->host),
            .has_pid = lane->pid != STA_NO_ID,
            .has_tid = lane->tid != STA_NO_ID,
            .pid = lane->pid,
            .tid = lane->tid,
            .number = number};
    return rc;
}

static int take_track(struct exporting *exporting, uint32_t thread, uint32_t process, size_t first_track,
                      const struct sta_lane_event *event, uint32_t *track, struct sta_error *err)
{
    uint32_t number;
    int rc = sta_tracks_take(&exporting->tracks, event, exporting->budget->account, &number, err);
    if (rc == 0 && first_track + number == exporting->result->track_count)
        rc = add_track(exporting, thread, process, number + 1, err);
    *track = rc == 0 ? (uint32_t)first_track + number : 0;
    return rc;
}

static int export_thread(struct exporting *exporting, uint32_t thread, uint32_t process,
                         struct sta_error *err)
{
    const struct sta_selection *selection = &exporting->selection;
    const struct sta_lane_event *events = selection->index->threads[thread].events;
    struct sta_thread_walk walk = sta_thread_walk(selection, thread, selection->from, selection->to);
    const size_t first_track = exporting->result->track_count;
    int rc = 0;
    sta_tracks_clear(&exporting->tracks);
    for (uint32_t place; rc == 0 && (place = sta_thread_walk_next(&walk)) != STA_NO_EVENT;) {
        struct exported exported = {.at = {thread, place}};
        rc = STA_ACCOUNT_GROW(exporting->budget->account, exporting->events, exporting->capacity,
                              exporting->count + 1, WHAT, err);
        if (rc == 0)
            rc = take_track(exporting, thread, process, first_track, &events[place], &exported.track, err);
        if (rc == 0)
            exporting->events[exporting->count++] = exported;
        if (rc == 0 && exporting->count > (size_t)exporting->limit) {
            sta_fail(err, STA_ELIMIT, "the window holds more than %lld events; choose a smaller one",
                     (long long)exporting->limit);
            rc = sta_at_member(err, "limit", NULL, -1);
        }
        if (rc == 0)
            rc = sta_budget_check_step(exporting->budget, exporting->count, err);
    }
    return rc;
}

static int export_threads(struct exporting *exporting, struct sta_error *err)
{
    const struct sta_selection *selection = &exporting->selection;
    const struct sta_lane_tree *tree = &selection->index->tree;
    uint32_t process = 0, lane = 0, next = 0;
    int rc = 0;
    for (uint32_t t = 0; t < tree->thread_count && rc == 0; t++) {
        uint32_t above = sta_lane_tree_above(tree, t, STA_LANE_PROCESS);
        process += above != lane;
        lane = above;
        if (next < selection->thread_count && selection->threads[next] == t) {
            next++;
            rc = export_thread(exporting, t, process, err);
        }
    }
    return rc;
}

/* ---- columns */

static int in_event_order(const void *a, const void *b, void *context)
{
    const struct sta_lane_index *index = context;
    return sta_lane_index_order(index, sta_event_at(index, ((const struct exported *)a)->at),
                                sta_event_at(index, ((const struct exported *)b)->at));
}

static int in_store_order(const void *a, const void *b, void *context)
{
    const struct exporting *exporting = context;
    const struct sta_lane_index *index = exporting->selection.index;
    uint32_t x = sta_event_at(index, exporting->events[*(const uint32_t *)a].at)->number,
             y = sta_event_at(index, exporting->events[*(const uint32_t *)b].at)->number;
    return x < y ? -1 : x > y;
}

static bool is_exported(const struct sta_schema *schema, uint32_t column)
{
    return column == STA_LOGICAL_func_name || column == STA_LOGICAL_cat || column == STA_LOGICAL_file_name ||
           column == STA_LOGICAL_host_name || column == STA_LOGICAL_size ||
           (column >= STA_LOGICAL_ARGS && column < schema->count);
}

static void add_columns(struct exporting *exporting, const struct sta_schema *schema)
{
    struct sta_table *table = &exporting->result->events;
    sta_table_init(table, exporting->count);
    sta_table_count_in(table, exporting->budget->account);
    sta_table_add(table, "track", STA_TYPE_INT, NULL);
    sta_table_add(table, "ts", STA_TYPE_INT, NULL);
    sta_table_add(table, "dur", STA_TYPE_INT, NULL);
    sta_table_add(table, "layer", STA_TYPE_TEXT, NULL);
    for (uint32_t c = 0; c < schema->count; c++)
        if (is_exported(schema, c))
            sta_table_add(table, schema->columns[c].name, schema->columns[c].type, NULL);
}

#define OWN_COLUMNS 4

static void put_own(struct exporting *exporting, size_t row)
{
    struct sta_table *table = &exporting->result->events;
    const struct sta_selection *selection = &exporting->selection;
    const struct sta_lane_event *event = sta_event_at(selection->index, exporting->events[row].at);
    const struct sta_class_labels *labels = sta_selection_labels(selection, event->number);
    sta_table_set_int(&table->columns[0], row, exporting->events[row].track);
    sta_table_set_int(&table->columns[1], row, event->start);
    sta_table_set_int(&table->columns[2], row, event->dur);
    if (labels->layer != STA_NO_LAYER) {
        const char *layer = selection->view->bound.preset->layers[labels->layer].name;
        sta_table_set_text(table, &table->columns[3], row, layer, strlen(layer));
    }
}

/* Reads a row group's columns for the rows of the result that lie in it. */
static int put_row_group(struct exporting *exporting, struct sta_column_reader *reader, const uint32_t *rows,
                         size_t count, struct sta_error *err)
{
    struct sta_table *table = &exporting->result->events;
    const struct sta_lane_index *index = exporting->selection.index;
    const struct sta_schema *schema = sta_columns_schema(exporting->selection.view->bound.columns);
    size_t column = OWN_COLUMNS;
    int rc = 0;
    for (uint32_t c = 0; c < schema->count && rc == 0; c++) {
        struct sta_vector vector;
        if (!is_exported(schema, c))
            continue;
        rc = sta_column_reader_get(reader, c, &vector, err);
        for (size_t i = 0; i < count && rc == 0; i++) {
            uint32_t in_group;
            struct sta_table_column *to = &table->columns[column];
            sta_lane_index_block(index, sta_event_at(index, exporting->events[rows[i]].at)->number,
                                 &in_group);
            in_group = vector.constant ? 0 : in_group;
            if (sta_vector_is_missing(&vector, in_group))
                continue;
            sta_table_put(to, rows[i], &vector, in_group);
            if (to->texts != NULL) /* the dictionary ends with the columns */
                sta_table_set_text(table, to, rows[i], to->texts[rows[i]].bytes, to->texts[rows[i]].length);
        }
        sta_column_reader_drop(reader, c);
        column++;
    }
    return rc;
}

static int put_rows(struct exporting *exporting, struct sta_error *err)
{
    const struct sta_lane_index *index = exporting->selection.index;
    struct sta_column_reader *reader = sta_column_reader_create(exporting->selection.view->bound.columns);
    int rc = 0;
    for (size_t first = 0, end; first < exporting->count && rc == 0; first = end) {
        uint32_t row;
        const struct sta_row_group *group = sta_lane_index_block(
            index, sta_event_at(index, exporting->events[exporting->rows[first]].at)->number, &row);
        for (end = first; end < exporting->count; end++) {
            uint32_t number = sta_event_at(index, exporting->events[exporting->rows[end]].at)->number;
            if (sta_lane_index_block(index, number, &row) != group)
                break;
            put_own(exporting, exporting->rows[end]);
        }
        sta_column_reader_seek(reader, group);
        rc = put_row_group(exporting, reader, exporting->rows + first, end - first, err);
        if (rc == 0)
            rc = sta_budget_check(exporting->budget, err);
    }
    sta_column_reader_destroy(reader);
    return rc;
}

static int fill_result(struct exporting *exporting, struct sta_error *err)
{
    const struct sta_selection *selection = &exporting->selection;
    int rc =
        sta_preset_view_classify(selection->view, selection->query->timeline, NULL, exporting->budget, err);
    if (rc == 0)
        rc = export_threads(exporting, err);
    if (rc == 0)
        rc = sta_sort(exporting->budget, exporting->events, exporting->count, sizeof *exporting->events,
                      in_event_order, (void *)(uintptr_t)selection->index, err);
    if (rc != 0)
        return rc;
    exporting->rows = sta_account_alloc(exporting->budget->account, exporting->count + 1,
                                        sizeof *exporting->rows, WHAT, err);
    if (exporting->rows == NULL)
        return err->status;
    for (size_t i = 0; i < exporting->count; i++)
        exporting->rows[i] = (uint32_t)i;
    rc = sta_sort(exporting->budget, exporting->rows, exporting->count, sizeof *exporting->rows,
                  in_store_order, exporting, err);
    add_columns(exporting, sta_columns_schema(selection->view->bound.columns));
    exporting->result->ticks_per_second = selection->index->ticks_per_second;
    atomic_fetch_add(&selection->view->references, 1);
    exporting->result->keeper = selection->view;
    return rc == 0 ? put_rows(exporting, err) : rc;
}

static int read_limit(struct exporting *exporting, struct sta_error *err)
{
    const struct sta_document *limit = sta_member_given(exporting->selection.query->request, "limit");
    exporting->limit = LIMIT;
    if (limit == NULL)
        return 0;
    if (limit->type != STA_DOCUMENT_INT || limit->integer < 1 || limit->integer > MOST) {
        sta_fail(err, STA_EINPUT, "expected a whole number from 1 to %d", MOST);
        return sta_at_member(err, "limit", NULL, -1);
    }
    exporting->limit = limit->integer;
    return 0;
}

void sta_timeline_export_fini(struct sta_timeline_export *export)
{
    sta_account_free(export->account, export->tracks);
    sta_table_fini(&export->events);
    sta_preset_view_release(export->keeper);
    *export = (struct sta_timeline_export){0};
}

int sta_timeline_export(const struct sta_timeline_query *query, const struct sta_budget *budget,
                        struct sta_timeline_export *export, struct sta_error *err)
{
    static const char *const own[] = {"limit", NULL};
    struct exporting exporting = {.budget = budget, .result = export};
    *export = (struct sta_timeline_export){.account = budget->account};
    int rc = sta_selection_init(&exporting.selection, query, own, budget, err);
    if (rc == 0)
        rc = read_limit(&exporting, err);
    if (rc == 0)
        rc = fill_result(&exporting, err);
    sta_tracks_fini(&exporting.tracks, budget->account);
    sta_account_free(budget->account, exporting.events);
    sta_account_free(budget->account, exporting.rows);
    sta_selection_fini(&exporting.selection);
    if (rc != 0)
        sta_timeline_export_fini(export);
    return rc;
}

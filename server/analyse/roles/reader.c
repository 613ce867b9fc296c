/* The pass that finds events with a role.  Row groups without any are read no further than name, category,
 * thread and start. */
#include <stdlib.h>
#include <string.h>

#include "analyse/roles/found.h"
#include "analyse/sources/scan.h"
#include "common/memory.h"
#include "common/number.h"

#define NO_COLUMN UINT32_MAX

static const char WHAT[] = "the events of a data loader";

struct finder {
    const struct sta_entities *entities;
    struct sta_role_classes classes;
    uint32_t ret_column; /* args.ret, or NO_COLUMN */
    int64_t ticks_per_us;
    struct sta_found *found; /* by worker */
    struct sta_account *account;
};

/* The columns of a row group, as far as they are wanted. */
struct row_group {
    const struct sta_scan_rows *rows;
    const uint32_t *names, *cats, *threads; /* codes; NULL where no row has one */
    const int64_t *ts, *dur;
    struct sta_vector size, file, io_cat, ret;
    bool detailed; /* the vectors are there */
};

static int read_common(const struct sta_scan_rows *rows, struct row_group *group, struct sta_error *err)
{
    *group = (struct row_group){.rows = rows};
    int rc = sta_column_reader_codes(rows->reader, STA_COLUMN_NAME, &group->names, err);
    if (rc == STA_OK)
        rc = sta_column_reader_codes(rows->reader, STA_COLUMN_CAT, &group->cats, err);
    if (rc == STA_OK)
        rc = sta_column_reader_codes(rows->reader, STA_COLUMN_THREAD, &group->threads, err);
    if (rc == STA_OK)
        rc = sta_column_reader_times(rows->reader, &group->ts, &group->dur, err);
    if (rc == STA_OK && group->threads == NULL)
        rc = sta_fail(err, STA_ECORRUPT, "an event of the store belongs to no thread");
    return rc;
}

static int read_details(const struct finder *finder, struct row_group *group, struct sta_error *err)
{
    struct sta_column_reader *reader = group->rows->reader;
    if (group->detailed)
        return STA_OK;
    group->detailed = true;
    int rc = sta_column_reader_get(reader, STA_LOGICAL_size, &group->size, err);
    if (rc == STA_OK)
        rc = sta_column_reader_get(reader, STA_LOGICAL_file_name, &group->file, err);
    if (rc == STA_OK)
        rc = sta_column_reader_get(reader, STA_LOGICAL_io_cat, &group->io_cat, err);
    if (rc == STA_OK && finder->ret_column != NO_COLUMN)
        rc = sta_column_reader_get(reader, finder->ret_column, &group->ret, err);
    return rc;
}

/* The integer that a value stands for, or 0. */
static int64_t integer_at(const struct sta_vector *vector, uint32_t row)
{
    int64_t value = 0;
    row = vector->constant ? 0 : row;
    if (vector->type != STA_TYPE_TEXT && vector->missing != NULL && vector->missing[row])
        return 0;
    if (vector->type == STA_TYPE_INT)
        return vector->integers[row];
    if (vector->type == STA_TYPE_FLOAT)
        return vector->numbers[row] >= -9e15 && vector->numbers[row] <= 9e15 ? (int64_t)vector->numbers[row]
                                                                             : 0;
    if (vector->type != STA_TYPE_TEXT || vector->codes[row] == STA_NO_CODE)
        return 0;
    struct sta_text text = sta_dictionary_text(vector->texts, vector->codes[row]);
    return sta_parse_int(text.bytes, text.length, &value) ? value : 0;
}

/* ---- the events of a row group */

/* A row of a fork is an event twice: of storage, as any call of category posix, and of its own. */
#define FORKS 0x80

/* What each row of a row group is; *count: events that they make. */
static int find_roles(const struct finder *finder, struct sta_found *found, const struct row_group *group,
                      size_t *count, struct sta_error *err)
{
    const struct sta_entities *entities = finder->entities;
    *count = 0;
    for (uint32_t row = 0; row < group->rows->row_group->rows; row++) {
        if (group->threads[row] >= entities->thread_code_count)
            return sta_fail(err, STA_ECORRUPT, "an event of the store belongs to no thread");
        const uint32_t thread = entities->thread_of_code[group->threads[row]];
        bool fork;
        found->began[thread] = STA_MIN(found->began[thread], group->ts[row]);
        unsigned role = sta_role_of(&finder->classes, group->cats != NULL ? group->cats[row] : STA_NO_CODE,
                                    group->names != NULL ? group->names[row] : STA_NO_CODE, &fork);
        found->roles[row] = (uint8_t)(role | (role == STA_EVENT_STORAGE && fork ? FORKS : 0));
        *count += role == STA_EVENT_NO_ROLE ? 0 : role == STA_EVENT_STORAGE && fork ? 2 : 1;
    }
    return STA_OK;
}

static struct sta_found_event event_at(const struct finder *finder, const struct row_group *group,
                                       uint32_t row, unsigned role)
{
    return (struct sta_found_event){
        .event = {.ts = sta_floor_divide(group->ts[row], finder->ticks_per_us),
                  .te = sta_floor_divide(group->ts[row] + group->dur[row], finder->ticks_per_us),
                  .name = group->names != NULL ? group->names[row] : STA_NO_CODE,
                  .file = STA_NO_CODE},
        .thread = finder->entities->thread_of_code[group->threads[row]],
        .role = role,
    };
}

/* What only storage calls have.  Return: behind the events that the row made. */
static struct sta_found_event *add_storage(const struct finder *finder, const struct row_group *group,
                                           uint32_t row, bool forks, struct sta_found_event *event)
{
    struct sta_found_event *fork = event + 1;
    if (forks) {
        *fork = *event;
        fork->role = STA_EVENT_FORK;
        fork->event.value = finder->ret_column != NO_COLUMN ? integer_at(&group->ret, row) : 0;
    }
    event->event.file = group->file.codes[group->file.constant ? 0 : row];
    if (integer_at(&group->io_cat, row) == STA_IO_READ)
        event->event.value = STA_MAX(integer_at(&group->size, row), 0);
    return event + 1 + forks;
}

static int fill_run(const struct finder *finder, const struct sta_found *found, struct row_group *group,
                    struct sta_found_event *event, struct sta_error *err)
{
    for (uint32_t row = 0; row < group->rows->row_group->rows; row++) {
        const unsigned role = found->roles[row] & ~(unsigned)FORKS;
        if (role == STA_EVENT_NO_ROLE)
            continue;
        *event = event_at(finder, group, row, role);
        if (role != STA_EVENT_STORAGE)
            event++;
        else if (read_details(finder, group, err) == STA_OK)
            event = add_storage(finder, group, row, found->roles[row] & FORKS, event);
        else
            return err->status;
    }
    return STA_OK;
}

static int take_rows(void *self, unsigned worker, const struct sta_scan_rows *rows, struct sta_error *err)
{
    const struct finder *finder = self;
    struct sta_found *found = &finder->found[worker];
    struct row_group group;
    size_t count = 0;
    int rc = read_common(rows, &group, err);
    if (rc == STA_OK)
        rc = find_roles(finder, found, &group, &count, err);
    if (rc == STA_OK && count > 0)
        rc = STA_ACCOUNT_GROW(finder->account, found->runs, found->capacity, found->count + 1, WHAT, err);
    if (rc != STA_OK || count == 0)
        return rc;
    struct sta_found_event *items = sta_account_alloc(finder->account, count, sizeof *items, WHAT, err);
    if (items == NULL)
        return err->status;
    found->runs[found->count++] = (struct sta_found_run){
        (uint64_t)rows->row_group->segment << 32 | rows->row_group->index, items, count};
    return fill_run(finder, found, &group, items, err);
}

static int found_set_init(struct sta_found_set *set, const struct finder *finder, unsigned workers,
                          struct sta_error *err)
{
    const uint32_t threads = finder->entities->thread_count;
    *set = (struct sta_found_set){sta_alloc_array(workers, sizeof *set->of_worker), workers, finder->account};
    for (unsigned w = 0; w < workers; w++) {
        set->of_worker[w].roles = sta_account_alloc(set->account, STA_ROW_GROUP_ROWS, 1, WHAT, err);
        if (set->of_worker[w].roles == NULL)
            return err->status;
        int64_t *began = sta_account_alloc(set->account, STA_MAX(threads, 1), sizeof *began, "threads", err);
        if (began == NULL)
            return err->status;
        set->of_worker[w].began = began;
        for (uint32_t t = 0; t < threads; t++)
            began[t] = INT64_MAX;
    }
    return STA_OK;
}

void sta_found_set_fini(struct sta_found_set *set)
{
    for (unsigned w = 0; w < set->workers; w++) {
        struct sta_found *found = &set->of_worker[w];
        for (size_t i = 0; i < found->count; i++)
            sta_account_free(set->account, found->runs[i].items);
        sta_account_free(set->account, found->runs);
        sta_account_free(set->account, found->began);
        sta_account_free(set->account, found->roles);
    }
    free(set->of_worker);
    *set = (struct sta_found_set){0};
}

static uint32_t find_ret(const struct sta_columns *columns)
{
    int column = sta_schema_find(sta_columns_schema(columns), (struct sta_text){"args.ret", 8});
    return column >= 0 ? (uint32_t)column : NO_COLUMN;
}

int sta_roles_find(struct sta_snapshot *snapshot, const struct sta_presets *presets,
                   const struct sta_budget *budget, struct sta_found_set *set, struct sta_error *err)
{
    struct sta_columns *columns;
    struct sta_columns_options options = {.presets = presets};
    int rc = sta_columns_create(snapshot, &options, &columns, err);
    if (rc != STA_OK)
        return rc;
    struct finder finder = {.entities = sta_snapshot_entities(snapshot),
                            .ret_column = find_ret(columns),
                            .ticks_per_us = sta_snapshot_info(snapshot)->ticks_per_us,
                            .account = budget->account};
    rc = found_set_init(set, &finder, sta_budget_workers(budget), err);
    if (rc == STA_OK)
        rc = sta_role_classes_init(&finder.classes, sta_snapshot_tables(snapshot), budget->account, err);
    finder.found = set->of_worker;
    const struct sta_accumulator accumulator = {&finder, take_rows};
    const struct sta_scan scan = {.columns = columns,
                                  .from = INT64_MIN,
                                  .to = INT64_MAX,
                                  .accumulators = &accumulator,
                                  .accumulator_count = 1};
    if (rc == STA_OK)
        rc = sta_scan_run(&scan, budget, err);
    sta_role_classes_fini(&finder.classes);
    sta_columns_destroy(columns);
    if (rc != STA_OK)
        sta_found_set_fini(set);
    return rc;
}

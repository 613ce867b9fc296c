/* compare: what each run has beside the baseline. */
#include <string.h>

#include "analyse/query/plan/maker.h"
#include "common/buffer.h"

#define ADDED 3 /* columns for each that is compared */

static void read_baseline(struct sta_maker *maker, const struct sta_document *asked)
{
    const struct sta_query *query = maker->query;
    const struct sta_document *baseline = sta_document_member(asked, "baseline");
    for (size_t i = 0; i < query->trace_count && baseline != NULL && baseline->type == STA_DOCUMENT_TEXT; i++)
        if (strcmp(query->traces[i].label, baseline->text.bytes) == 0) {
            maker->plan->compare.baseline = (uint32_t)i;
            return;
        }
    struct sta_buffer labels;
    sta_buffer_init(&labels);
    for (size_t i = 0; i < query->trace_count; i++)
        sta_put_format(&labels, "%s%s", i > 0 ? ", " : "", query->traces[i].label);
    sta_refuse(maker, STA_EINPUT, "/compare/baseline", "expected the label of a run; there are %.*s",
               (int)STA_MIN(labels.size, (size_t)600), labels.data);
    sta_buffer_fini(&labels);
}

/* The trace, and the other keys. */
static void find_keys(struct sta_maker *maker)
{
    struct sta_plan_compare *compare = &maker->plan->compare;
    bool found = false;
    compare->keys = sta_maker_alloc(maker, maker->unique_count, sizeof *compare->keys);
    for (size_t i = 0; i < maker->unique_count; i++) {
        uint32_t column = maker->unique[i];
        if (strcmp(maker->stage->result[column].name, "trace") == 0) {
            found = true;
            compare->trace_key = column;
        } else {
            compare->keys[compare->key_count++] = column;
        }
    }
    if (!found)
        sta_refuse(maker, STA_EINPUT, "/compare", "compare needs \"trace\" among the group keys");
}

static bool is_key(const struct sta_maker *maker, uint32_t column)
{
    for (size_t i = 0; i < maker->unique_count; i++)
        if (maker->unique[i] == column)
            return true;
    return false;
}

static bool is_number(const struct sta_maker *maker, uint32_t column)
{
    enum sta_type type = maker->stage->result[column].type;
    return (type == STA_TYPE_INT || type == STA_TYPE_FLOAT) && !is_key(maker, column);
}

static void find_number(struct sta_maker *maker, const struct sta_document *name, const char *pointer,
                        const uint32_t *numbers, size_t count)
{
    struct sta_plan_compare *compare = &maker->plan->compare;
    const char **names = sta_maker_alloc(maker, count, sizeof *names);
    if (name->type != STA_DOCUMENT_TEXT) {
        sta_refuse(maker, STA_EINPUT, pointer, "expected a column name, not %s", sta_document_kind(name));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = maker->stage->result[numbers[i]].name;
        if (strcmp(names[i], name->text.bytes) == 0) {
            compare->columns[compare->column_count++] = numbers[i];
            return;
        }
    }
    sta_refuse_name(maker, pointer, "number", name->text, names, count);
}

static void choose_columns(struct sta_maker *maker, const struct sta_document *asked)
{
    struct sta_plan_compare *compare = &maker->plan->compare;
    const struct sta_plan_stage *stage = maker->stage;
    const struct sta_document *columns = sta_document_member(asked, "columns");
    uint32_t *numbers = sta_maker_alloc(maker, stage->result_count, sizeof *numbers);
    size_t count = 0, index = 0;
    for (uint32_t i = 0; i < stage->result_count; i++)
        if (is_number(maker, i))
            numbers[count++] = i;
    if (columns == NULL) {
        compare->columns = numbers;
        compare->column_count = count;
    } else if (columns->type != STA_DOCUMENT_LIST || columns->count > stage->result_count) {
        sta_refuse(maker, STA_EINPUT, "/compare/columns", "expected a list of columns that are numbers");
    } else {
        compare->columns = sta_maker_alloc(maker, columns->count, sizeof *numbers);
        for (const struct sta_document *name = columns->first; name != NULL && !maker->failed;
             name = name->next, index++)
            find_number(maker, name, sta_point_at(maker, "/compare/columns", index), numbers, count);
    }
}

/* x_baseline, x_delta, x_ratio behind the result. */
static void add_columns(struct sta_maker *maker)
{
    static const char *const suffixes[ADDED] = {"baseline", "delta", "ratio"};
    struct sta_plan *plan = maker->plan;
    for (size_t i = 0; i < plan->compare.column_count; i++) {
        struct sta_column_info of = plan->columns[plan->compare.columns[i]];
        for (unsigned k = 0; k < ADDED; k++) {
            struct sta_buffer name;
            sta_buffer_init(&name);
            sta_put_format(&name, "%s_%s", of.name, suffixes[k]);
            bool ratio = k == 2;
            plan->columns[plan->column_count++] = (struct sta_column_info){
                .name = sta_arena_copy(&plan->memory, name.data, name.size),
                .unit = ratio ? NULL : of.unit,
                .type = ratio ? STA_TYPE_FLOAT : of.type,
            };
            sta_buffer_fini(&name);
        }
    }
}

static void refuse_twins(struct sta_maker *maker)
{
    const struct sta_plan *plan = maker->plan;
    struct sta_dictionary *seen = sta_dictionary_create();
    for (size_t i = 0; i < plan->column_count && !maker->failed; i++)
        if (sta_dictionary_intern(seen, plan->columns[i].name, strlen(plan->columns[i].name)) != i)
            sta_refuse(maker, STA_EINPUT, "/compare", "there would be two columns '%.120s'",
                       plan->columns[i].name);
    sta_dictionary_destroy(seen);
}

static void make_compare(struct sta_maker *maker, const struct sta_document *asked)
{
    static const char *const members[] = {"baseline", "columns"};
    maker->plan->compare.asked = true;
    if (asked->type == STA_DOCUMENT_OBJECT)
        sta_check_members(maker, asked, "/compare", members, STA_COUNT_OF(members));
    if (!maker->failed)
        read_baseline(maker, asked);
    if (!maker->failed)
        find_keys(maker);
    if (!maker->failed)
        choose_columns(maker, asked);
    if (maker->failed)
        return;
    add_columns(maker);
    refuse_twins(maker);
}

void sta_make_columns(struct sta_maker *maker)
{
    struct sta_plan *plan = maker->plan;
    const struct sta_plan_stage *stage = maker->stage;
    const struct sta_document *compare = sta_document_member(maker->query->request, "compare");
    plan->columns = sta_maker_alloc(maker, stage->result_count * (1 + ADDED), sizeof *plan->columns);
    plan->column_count = stage->result_count;
    for (size_t i = 0; i < stage->result_count; i++)
        plan->columns[i] = stage->result[i];
    if (compare != NULL)
        make_compare(maker, compare);
}

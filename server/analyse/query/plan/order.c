/* order_by and limit; and what no one reads. */
#include <string.h>

#include "analyse/query/plan/maker.h"

/* ---- order_by */

/* Columns that a stage's rows may be sorted by: those of its result, then, of plain rows, those of its
 * schema. */
struct sortable {
    const struct sta_column_info *result;
    size_t result_count;
    const struct sta_schema *schema; /* NULL: none beyond the result */
};

static int find_exactly(const struct sortable *sortable, struct sta_text name)
{
    for (size_t i = 0; i < sortable->result_count; i++)
        if (strcmp(sortable->result[i].name, name.bytes) == 0)
            return (int)i;
    int column = sortable->schema != NULL ? sta_schema_find(sortable->schema, name) : -1;
    return column >= 0 ? (int)sortable->result_count + column : -1;
}

static int find(const struct sortable *sortable, struct sta_text name)
{
    int column = find_exactly(sortable, name);
    const char *present = sta_present_name(name);
    return column < 0 && present != NULL ? find_exactly(sortable, sta_text_of(present)) : column;
}

static enum sta_type type_of(const struct sortable *sortable, int column)
{
    size_t index = (size_t)column;
    return index < sortable->result_count ? sortable->result[index].type
                                          : sortable->schema->columns[index - sortable->result_count].type;
}

static void refuse_column(struct sta_maker *maker, const struct sortable *sortable, const char *pointer,
                          struct sta_text name)
{
    size_t more = sortable->schema != NULL ? sortable->schema->count : 0, count = sortable->result_count;
    const char **names = sta_maker_alloc(maker, count + more, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = sortable->result[i].name;
    for (size_t i = 0; i < more; i++)
        if (find_exactly(&(struct sortable){sortable->result, sortable->result_count, NULL},
                         sta_text_of(sortable->schema->columns[i].name)) < 0)
            names[count++] = sortable->schema->columns[i].name;
    sta_refuse_name(maker, pointer, "column", name, names, count);
}

static void add_order(struct sta_maker *maker, const struct sortable *sortable,
                      const struct sta_document *item, const char *pointer)
{
    struct sta_plan_stage *stage = maker->stage;
    if (item->type != STA_DOCUMENT_TEXT) {
        sta_refuse(maker, STA_EINPUT, pointer, "expected a column name, or \"-name\", not %s",
                   sta_document_kind(item));
        return;
    }
    struct sta_text name = item->text;
    bool descending = name.length > 0 && name.bytes[0] == '-' && find_exactly(sortable, name) < 0;
    if (descending)
        name = (struct sta_text){name.bytes + 1, name.length - 1};
    int column = find(sortable, name);
    if (column < 0)
        refuse_column(maker, sortable, pointer, name);
    else if (type_of(sortable, column) == STA_TYPE_LIST)
        sta_refuse(maker, STA_EINPUT, pointer, "'%.120s' is a list; it has no order", name.bytes);
    else
        stage->order[stage->order_count++] = (struct sta_plan_order){(uint32_t)column, descending};
}

/* The most frequent values first. */
static void order_counts(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    stage->order = sta_maker_alloc(maker, 1, sizeof *stage->order);
    stage->order[stage->order_count++] = (struct sta_plan_order){(uint32_t)stage->key_count, true};
}

void sta_make_order(struct sta_maker *maker)
{
    struct sta_plan_stage *stage = maker->stage;
    const struct sta_plan *plan = maker->plan;
    const struct sta_document *order_by = sta_stage_member(maker, "order_by");
    const char *pointer = sta_point_member(maker, "order_by");
    bool plain = stage->kind == STA_PLAN_ROWS && !(maker->is_last && plan->compare.asked);
    struct sortable sortable = {maker->is_last ? plan->columns : stage->result,
                                maker->is_last ? plan->column_count : stage->result_count,
                                plain ? &stage->schema : NULL};
    if (order_by == NULL) {
        if (stage->fraction)
            order_counts(maker);
        return;
    }
    if (order_by->type != STA_DOCUMENT_LIST) {
        sta_refuse(maker, STA_EINPUT, pointer, "expected a list of column names, not %s",
                   sta_document_kind(order_by));
        return;
    }
    stage->order = sta_maker_alloc(maker, order_by->count, sizeof *stage->order);
    size_t index = 0;
    for (const struct sta_document *item = order_by->first; item != NULL && !maker->failed;
         item = item->next, index++)
        add_order(maker, &sortable, item, sta_point_at(maker, pointer, index));
}

/* ---- limit */

void sta_make_limit(struct sta_maker *maker)
{
    const struct sta_document *limit = sta_stage_member(maker, "limit");
    const char *pointer = sta_point_member(maker, "limit");
    if (limit == NULL || limit->type == STA_DOCUMENT_NULL)
        return;
    if (limit->type != STA_DOCUMENT_INT || limit->integer < 0) {
        sta_refuse(maker, STA_EINPUT, pointer, "expected a whole number of rows, not %s",
                   limit->type == STA_DOCUMENT_INT ? "a negative one" : sta_document_kind(limit));
        return;
    }
    if (maker->is_last)
        sta_check_limit(maker, pointer, "rows of a page", (size_t)limit->integer, STA_MOST_PAGE_ROWS);
    maker->stage->has_limit = true;
    maker->stage->limit = (uint64_t)limit->integer;
}

/* ---- what is read */

static void read_by(const struct sta_expression *expression, bool *read)
{
    for (size_t i = 0; expression != NULL && i < expression->column_count; i++)
        read[expression->columns[i]] = true;
}

/* Columns of its schema that a stage reads. */
static void find_read(const struct sta_plan_stage *stage, bool *read)
{
    for (size_t i = 0; i < stage->key_count; i++)
        read_by(stage->keys[i].expression, read);
    for (size_t i = 0; i < stage->gathered.argument_count; i++)
        read_by(stage->gathered.arguments[i], read);
    for (size_t i = 0; i < stage->output_count && stage->kind == STA_PLAN_ROWS; i++)
        if (!stage->outputs[i].unused)
            read_by(stage->outputs[i].expression, read);
    for (size_t i = 0; i < stage->order_count && stage->kind == STA_PLAN_ROWS; i++)
        if (stage->order[i].column >= stage->output_count &&
            stage->order[i].column < stage->output_count + stage->schema.count)
            read[stage->order[i].column - stage->output_count] = true;
    read_by(stage->filter, read);
    read_by(stage->histogram.of, read);
    for (size_t i = stage->derived_count; i-- > 0;) /* each may use those before it */
        if (read[stage->input_count + i])
            read_by(stage->derived[i], read);
}

void sta_mark_unused(struct sta_plan *plan)
{
    for (size_t s = plan->stage_count; s-- > 1;) {
        const struct sta_plan_stage *stage = &plan->stages[s];
        struct sta_plan_stage *before = stage[-1].kind == STA_PLAN_ROWS ? &plan->stages[s - 1] : NULL;
        bool *read = sta_alloc_array(stage->schema.count + 1, sizeof *read);
        find_read(stage, read);
        for (size_t i = 0; before != NULL && i < before->order_count; i++)
            if (before->order[i].column < before->output_count)
                read[before->order[i].column] = true;
        for (size_t i = 0; before != NULL && i < before->output_count; i++)
            before->outputs[i].unused = !read[i];
        free(read);
    }
}

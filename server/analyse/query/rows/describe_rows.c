/* describe: a row for each expression of each group. */
#include <string.h>

#include "analyse/query/rows/group_rows.h"
#include "analyse/operators/vectors.h"

struct sta_describe_rows {
    struct sta_dictionary *names;
    uint32_t *groups; /* of each row: the group that it is of */
    uint32_t *codes;  /* its expression */
    struct sta_vector_space values[STA_DESCRIBE_OUTPUTS];
    struct sta_vector_space *keys; /* gathered */
    struct sta_vector *outputs;
    uint32_t rows;
};

void sta_describe_rows_init(struct sta_group_rows *into)
{
    const struct sta_plan_stage *stage = into->stage;
    struct sta_describe_rows *describe = sta_arena_array(&into->memory, 1, sizeof *describe);
    describe->names = sta_dictionary_create();
    describe->groups = sta_arena_array(&into->memory, STA_VECTOR_ROWS, sizeof *describe->groups);
    describe->codes = sta_arena_array(&into->memory, STA_VECTOR_ROWS, sizeof *describe->codes);
    describe->keys = sta_arena_array(&into->memory, stage->key_count, sizeof *describe->keys);
    describe->outputs = sta_arena_array(&into->memory, stage->output_count, sizeof *describe->outputs);
    into->describe = describe;
}

void sta_describe_rows_fini(struct sta_describe_rows *describe)
{
    if (describe != NULL)
        sta_dictionary_destroy(describe->names);
}

/* One value, as the type that its column has: least and largest of integers are numbers here. */
static void describe_value(struct sta_describe_rows *describe, size_t what, enum sta_type type,
                           const struct sta_vector *from, uint32_t group)
{
    uint32_t at = from->constant ? 0 : group, row = describe->rows;
    struct sta_vector_space *values = &describe->values[what];
    values->missing[row] = sta_vector_is_missing(from, group);
    if (type == STA_TYPE_INT)
        values->integers[row] = from->integers[at];
    else
        values->numbers[row] = from->type == STA_TYPE_INT ? (double)from->integers[at] : from->numbers[at];
}

static int describe_flush(struct sta_group_rows *into, const struct sta_vector *keys, struct sta_error *err)
{
    const struct sta_plan_stage *stage = into->stage;
    struct sta_describe_rows *describe = into->describe;
    struct sta_vector *vectors = into->vectors;
    for (size_t i = 0; i < stage->key_count; i++)
        *vectors++ = sta_vector_gather_to(&keys[i], describe->groups, describe->rows, &describe->keys[i]);
    *vectors++ =
        (struct sta_vector){.type = STA_TYPE_TEXT, .codes = describe->codes, .texts = describe->names};
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++, vectors++) {
        *vectors = (struct sta_vector){.type = stage->result[stage->key_count + 1 + i].type,
                                       .missing = describe->values[i].missing};
        sta_vector_point(vectors, describe->values[i].integers);
    }
    uint32_t rows = describe->rows;
    describe->rows = 0;
    return sta_materialized_append(into->result, into->vectors, NULL, rows, err);
}

static void describe_group(const struct sta_group_rows *into, uint32_t group, size_t expression)
{
    const struct sta_plan_stage *stage = into->stage;
    struct sta_describe_rows *describe = into->describe;
    const char *name = stage->described[expression];
    describe->groups[describe->rows] = group;
    describe->codes[describe->rows] = sta_dictionary_intern(describe->names, name, strlen(name));
    for (size_t i = 0; i < STA_DESCRIBE_OUTPUTS; i++)
        describe_value(describe, i, stage->result[stage->key_count + 1 + i].type,
                       &describe->outputs[expression * STA_DESCRIBE_OUTPUTS + i], group);
    describe->rows++;
}

int sta_describe_rows_take(struct sta_group_rows *into, const struct sta_vector *keys,
                           const struct sta_vector *values, uint32_t rows, struct sta_error *err)
{
    int rc = sta_group_outputs(into, keys, values, rows, into->describe->outputs, err);
    for (uint32_t group = 0; rc == 0 && group < rows; group++)
        for (size_t i = 0; rc == 0 && i < into->stage->described_count; i++) {
            describe_group(into, group, i);
            if (into->describe->rows == STA_VECTOR_ROWS)
                rc = describe_flush(into, keys, err);
        }
    return rc == 0 && into->describe->rows > 0 ? describe_flush(into, keys, err) : rc;
}

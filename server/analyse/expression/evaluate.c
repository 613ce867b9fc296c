/* Runs programs: minibatch by minibatch, so that what a step writes is still in the first level of cache when
 * the next one reads it. */
#include "analyse/expression/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- evaluators */

struct sta_evaluator *sta_evaluator_create(void)
{
    struct sta_evaluator *evaluator = sta_alloc(sizeof *evaluator);
    sta_text_scratch_init(&evaluator->scratch);
    return evaluator;
}

void sta_evaluator_watch(struct sta_evaluator *evaluator, const _Atomic bool *cancel)
{
    evaluator->cancel = cancel;
}

static void free_registers(struct sta_register *registers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(registers[i].values);
        free(registers[i].missing);
    }
    free(registers);
}

void sta_evaluator_destroy(struct sta_evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    free_registers(evaluator->registers, evaluator->register_count);
    free_registers(evaluator->repeated, evaluator->repeated_count);
    free(evaluator->result.values);
    free(evaluator->result.missing);
    free(evaluator->translated[0]);
    free(evaluator->translated[1]);
    free(evaluator->operands);
    free(evaluator->vectors);
    free(evaluator->recent);
    sta_text_scratch_fini(&evaluator->scratch);
    free(evaluator);
}

static struct sta_register create_register(size_t rows)
{
    return (struct sta_register){sta_alloc_array(rows, sizeof(int64_t)),
                                 sta_alloc_array(rows, sizeof(uint8_t))};
}

/* Space for the results of so many rows: most programs run over few, or compute nothing. */
static void prepare_result(struct sta_evaluator *evaluator, uint32_t rows)
{
    const uint32_t most = rows <= STA_MINIBATCH_ROWS ? STA_MINIBATCH_ROWS : STA_VECTOR_ROWS;
    if (evaluator->result_rows >= most)
        return;
    free(evaluator->result.values);
    free(evaluator->result.missing);
    evaluator->result = create_register(most);
    evaluator->result_rows = most;
}

static void prepare(struct sta_evaluator *evaluator, const struct sta_program *program)
{
    STA_GROW(evaluator->operands, evaluator->operand_capacity, (size_t)program->root + 1);
    STA_GROW(evaluator->vectors, evaluator->vector_capacity, program->column_count);
    STA_GROW(evaluator->registers, evaluator->register_capacity, program->register_count);
    while (evaluator->register_count < program->register_count)
        evaluator->registers[evaluator->register_count++] = create_register(STA_MINIBATCH_ROWS);
    for (size_t i = 0; i < program->constant_count; i++)
        evaluator->operands[program->constants[i]] = program->constant_operands[i];
}

/* ---- columns */

/* A column of one value: a minibatch of it. */
static void repeat(struct sta_evaluator *evaluator, size_t place, uint32_t rows)
{
    const struct sta_vector *vector = &evaluator->vectors[place];
    STA_GROW(evaluator->repeated, evaluator->repeated_capacity, place + 1);
    while (evaluator->repeated_count <= place)
        evaluator->repeated[evaluator->repeated_count++] = create_register(STA_MINIBATCH_ROWS);
    struct sta_register *minibatch = &evaluator->repeated[place];
    size_t width = sta_vector_width(vector->type);
    for (uint32_t i = 0; i < rows; i++)
        memcpy((char *)minibatch->values + i * width, sta_vector_values(vector), width);
    if (vector->missing != NULL)
        memset(minibatch->missing, vector->missing[0], rows);
}

static int load_columns(struct sta_program *program, struct sta_evaluator *evaluator, uint32_t rows,
                        sta_column_source source, void *context, struct sta_error *err)
{
    for (size_t i = 0; i < program->column_count; i++) {
        const struct sta_node *node = &program->tree->nodes[program->columns[i]];
        struct sta_vector *vector = &evaluator->vectors[i];
        memset(vector, 0, sizeof *vector);
        int rc = source(context, node->column, vector, err);
        if (rc != 0)
            return rc;
        STA_ASSERT(vector->type == (enum sta_type)node->type);
        if (vector->constant)
            repeat(evaluator, i, STA_MIN(rows, STA_MINIBATCH_ROWS));
    }
    return 0;
}

/* The operands of columns for the minibatch at row @start. */
static void point_at_minibatch(const struct sta_program *program, struct sta_evaluator *evaluator,
                               uint32_t start)
{
    for (size_t i = 0; i < program->column_count; i++) {
        const struct sta_vector *vector = &evaluator->vectors[i];
        struct sta_operand *operand = &evaluator->operands[program->columns[i]];
        operand->texts = vector->texts;
        if (vector->constant) {
            operand->values = evaluator->repeated[i].values;
            operand->missing = vector->missing != NULL ? evaluator->repeated[i].missing : NULL;
        } else {
            operand->values =
                (const char *)sta_vector_values(vector) + start * sta_vector_width(vector->type);
            operand->missing = vector->missing != NULL ? vector->missing + start : NULL;
        }
    }
}

/* ---- steps */

static int run_kernel(struct sta_step_run *run)
{
    bool marked = sta_kernel_apply(run->node, run->in, run->out.values, run->out.missing, run->rows);
    *run->operand =
        (struct sta_operand){.values = run->out.values, .missing = marked ? run->out.missing : NULL};
    return 0;
}

static int run_step(struct sta_step_run *run)
{
    switch (run->node->operation) {
    case STA_OP_CALL:
        return sta_run_call(run);
    case STA_OP_COMPARE_T:
        return sta_run_compare(run);
    case STA_OP_CONCAT_T:
        return sta_run_concatenate(run);
    case STA_OP_TEXT_OF:
        return sta_run_text_of(run);
    case STA_OP_WHERE_T:
    case STA_OP_COALESCE_T:
        return sta_run_choice(run);
    default:
        return run_kernel(run);
    }
}

static struct sta_register target_of(struct sta_program *program, struct sta_evaluator *evaluator,
                                     const struct sta_program_step *step, uint32_t start)
{
    if (step->target != STA_RESULT_REGISTER)
        return evaluator->registers[step->target];
    size_t width = sta_vector_width((enum sta_type)program->tree->nodes[program->root].type);
    return (struct sta_register){(char *)evaluator->result.values + start * width,
                                 evaluator->result.missing + start};
}

static int run_minibatch(struct sta_program *program, struct sta_evaluator *evaluator, uint32_t start,
                         uint32_t rows, struct sta_error *err)
{
    struct sta_operand in[3];
    if (evaluator->cancel != NULL && atomic_load_explicit(evaluator->cancel, memory_order_relaxed))
        return sta_fail(err, STA_ECANCELLED, "it was cancelled");
    point_at_minibatch(program, evaluator, start);
    for (size_t i = 0; i < program->step_count; i++) {
        const struct sta_program_step *step = &program->steps[i];
        const struct sta_node *node = &program->tree->nodes[step->node];
        for (unsigned k = 0; k < node->operand_count; k++)
            in[k] = evaluator->operands[node->operands[k]];
        struct sta_step_run run = {.program = program,
                                   .evaluator = evaluator,
                                   .index = step->node,
                                   .node = node,
                                   .in = in,
                                   .out = target_of(program, evaluator, step, start),
                                   .rows = rows,
                                   .operand = &evaluator->operands[step->node],
                                   .err = err};
        int rc = run_step(&run);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- results */

/* A result that no step computes: a bare column, or a constant. */
static void give_operand(const struct sta_program *program, const struct sta_evaluator *evaluator,
                         struct sta_vector *result)
{
    const struct sta_node *node = &program->tree->nodes[program->root];
    const struct sta_operand *operand = &evaluator->operands[program->root];
    if (node->operation == STA_OP_COLUMN) {
        *result = evaluator->vectors[0];
        return;
    }
    *result = (struct sta_vector){.type = (enum sta_type)node->type,
                                  .constant = true,
                                  .missing = operand->missing,
                                  .texts = program->tree->texts};
    sta_vector_point(result, operand->values);
}

/* The minibatch at @start is done: marks for it, and whether there is one. */
static bool finish_minibatch(const struct sta_evaluator *evaluator, uint32_t root, uint32_t start,
                             uint32_t rows)
{
    uint8_t *missing = evaluator->result.missing + start;
    if (evaluator->operands[root].missing != NULL)
        return memchr(missing, 1, rows) != NULL;
    memset(missing, 0, rows);
    return false;
}

int sta_program_run(struct sta_program *program, struct sta_evaluator *evaluator, uint32_t rows,
                    sta_column_source source, void *context, struct sta_vector *result, struct sta_error *err)
{
    STA_ASSERT(rows <= STA_VECTOR_ROWS);
    prepare(evaluator, program);
    int rc = load_columns(program, evaluator, rows, source, context, err);
    if (rc != 0)
        return rc;
    if (program->step_count == 0) {
        give_operand(program, evaluator, result);
        return 0;
    }
    prepare_result(evaluator, rows);
    bool missing = false;
    for (uint32_t start = 0; start < rows; start += STA_MINIBATCH_ROWS) {
        uint32_t minibatch = STA_MIN(rows - start, STA_MINIBATCH_ROWS);
        rc = run_minibatch(program, evaluator, start, minibatch, err);
        if (rc != 0)
            return rc;
        missing |= finish_minibatch(evaluator, program->root, start, minibatch);
    }
    const struct sta_operand *operand = &evaluator->operands[program->root];
    *result = (struct sta_vector){.type = (enum sta_type)program->tree->nodes[program->root].type,
                                  .missing = missing ? evaluator->result.missing : NULL};
    sta_vector_point(result, evaluator->result.values);
    if (result->type == STA_TYPE_TEXT)
        result->texts = rows > 0 ? operand->texts : program->dictionaries[program->root];
    return 0;
}

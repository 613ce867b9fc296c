/* From tree to program: which nodes are computed, in which registers, with which memory. */
#include "analyse/expression/program.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TEXT_BYTES ((size_t)256 << 20) /* by default */

static _Atomic uint64_t serials;

/* ---- registers: a step takes one that no later step reads any more */

struct allocator {
    uint32_t *free_registers;
    size_t free_count, capacity;
    uint32_t *last_use; /* by node: the node that reads it last */
    uint32_t *holds;    /* by node: its register + 1, 0 when it has none */
};

static uint32_t take_register(struct sta_program *program, struct allocator *allocator)
{
    if (allocator->free_count > 0)
        return allocator->free_registers[--allocator->free_count];
    return program->register_count++;
}

static void release(struct allocator *allocator, const struct sta_node *node, uint32_t index)
{
    for (unsigned k = 0; k < node->operand_count; k++) {
        uint32_t operand = node->operands[k];
        if (allocator->last_use[operand] != index || allocator->holds[operand] == 0)
            continue;
        STA_GROW(allocator->free_registers, allocator->capacity, allocator->free_count + 1);
        allocator->free_registers[allocator->free_count++] = allocator->holds[operand] - 1;
        allocator->holds[operand] = 0;
    }
}

static void find_last_uses(const struct sta_tree *tree, const uint8_t *needed, uint32_t root,
                           uint32_t *last_use)
{
    for (uint32_t i = 0; i <= root; i++)
        for (unsigned k = 0; needed[i] && k < tree->nodes[i].operand_count; k++)
            last_use[tree->nodes[i].operands[k]] = i;
}

static void add_step(struct sta_program *program, struct allocator *allocator, uint32_t index)
{
    uint32_t target = STA_RESULT_REGISTER;
    if (index != program->root) {
        target = take_register(program, allocator);
        allocator->holds[index] = target + 1;
    }
    program->steps[program->step_count++] = (struct sta_program_step){index, target};
    release(allocator, &program->tree->nodes[index], index);
}

/* ---- constants: a minibatch of equal values each, shared by all who run the program */

static void fill_constant(struct sta_operand *operand, const struct sta_node *node,
                          const struct sta_dictionary *texts)
{
    size_t width = sta_vector_width((enum sta_type)node->type);
    const struct sta_scalar *value = &node->value;
    char *values = sta_alloc_array(STA_MINIBATCH_ROWS, width);
    for (size_t i = 0; i < STA_MINIBATCH_ROWS; i++) {
        if (node->type == STA_TYPE_TEXT)
            ((uint32_t *)values)[i] = value->missing ? STA_NO_CODE : value->code;
        else if (value->missing)
            break; /* zeroes */
        else if (node->type == STA_TYPE_FLOAT)
            ((double *)values)[i] = value->number;
        else if (node->type == STA_TYPE_INT)
            ((int64_t *)values)[i] = value->integer;
        else
            values[i] = value->integer != 0;
    }
    *operand = (struct sta_operand){.values = values,
                                    .texts = node->type == STA_TYPE_TEXT && !value->missing ? texts : NULL};
    if (value->missing && node->type != STA_TYPE_TEXT) {
        uint8_t *missing = sta_alloc(STA_MINIBATCH_ROWS);
        memset(missing, 1, STA_MINIBATCH_ROWS);
        operand->missing = missing;
    }
}

/* ---- memory of nodes */

static void add_memory(struct sta_program *program, uint32_t index)
{
    const struct sta_node *node = &program->tree->nodes[index];
    bool choice = node->operation == STA_OP_WHERE_T || node->operation == STA_OP_COALESCE_T;
    if (node->operation == STA_OP_CALL || choice)
        program->memos[index] =
            sta_memo_create((enum sta_type)node->type, !choice && node->call->when_missing, &program->texts);
    if (node->type == STA_TYPE_TEXT)
        program->dictionaries[index] = sta_dictionary_create_in(&program->texts);
}

static void add_node(struct sta_program *program, struct allocator *allocator, uint32_t index)
{
    const struct sta_node *node = &program->tree->nodes[index];
    if (node->operation == STA_OP_COLUMN) {
        program->columns[program->column_count++] = index;
    } else if (node->operation == STA_OP_CONSTANT) {
        fill_constant(&program->constant_operands[program->constant_count], node, program->tree->texts);
        program->constants[program->constant_count++] = index;
    } else {
        add_memory(program, index);
        add_step(program, allocator, index);
    }
}

struct sta_program *sta_program_of(struct sta_tree *tree, uint32_t root)
{
    struct sta_program *program = sta_alloc(sizeof *program);
    size_t most = (size_t)root + 1;
    program->tree = sta_tree_retain(tree);
    program->root = root;
    sta_account_init_texts(&program->texts, MOST_TEXT_BYTES, NULL, NULL);
    program->serial = atomic_fetch_add(&serials, 1) + 1;
    program->steps = sta_alloc_array(most, sizeof *program->steps);
    program->columns = sta_alloc_array(most, sizeof *program->columns);
    program->constants = sta_alloc_array(most, sizeof *program->constants);
    program->constant_operands = sta_alloc_array(most, sizeof *program->constant_operands);
    program->memos = sta_alloc_array(most, sizeof *program->memos);
    program->dictionaries = sta_alloc_array(most, sizeof *program->dictionaries);
    struct allocator allocator = {.last_use = sta_alloc_array(most, sizeof(uint32_t)),
                                  .holds = sta_alloc_array(most, sizeof(uint32_t))};
    uint8_t *needed = sta_tree_needed(tree, root);
    find_last_uses(tree, needed, root, allocator.last_use);
    for (uint32_t i = 0; i <= root; i++)
        if (needed[i])
            add_node(program, &allocator, i);
    free(needed);
    free(allocator.free_registers);
    free(allocator.last_use);
    free(allocator.holds);
    return program;
}

struct sta_program *sta_program_create(const struct sta_expression *expression)
{
    return sta_program_of(expression->tree, expression->root);
}

void sta_program_limit(struct sta_program *program, size_t bytes, const char *spill_folder)
{
    program->texts.limit = bytes;
    sta_account_limit_texts(&program->texts, bytes, spill_folder);
}

void sta_program_destroy(struct sta_program *program)
{
    if (program == NULL)
        return;
    for (uint32_t i = 0; i <= program->root; i++) {
        sta_memo_destroy(program->memos[i]);
        sta_dictionary_destroy(program->dictionaries[i]);
    }
    for (size_t i = 0; i < program->constant_count; i++) {
        free((void *)program->constant_operands[i].values);
        free((void *)program->constant_operands[i].missing);
    }
    free(program->steps);
    free(program->columns);
    free(program->constants);
    free(program->constant_operands);
    free(program->memos);
    free(program->dictionaries);
    sta_account_close(&program->texts);
    sta_tree_release(program->tree);
    free(program);
}

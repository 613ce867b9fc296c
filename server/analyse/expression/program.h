/* program.h - programs and evaluators from the inside (private to expression). */
#ifndef STA_ANALYSE_EXPRESSION_PROGRAM_H
#define STA_ANALYSE_EXPRESSION_PROGRAM_H

#include "analyse/expression/kernels.h"
#include "analyse/expression/memo.h"
#include "common/account.h"

#define STA_RESULT_REGISTER UINT32_MAX

struct sta_program_step {
    uint32_t node;
    uint32_t target; /* register, or STA_RESULT_REGISTER */
};

struct sta_program {
    struct sta_tree *tree;
    uint32_t root;
    uint64_t serial;                /* no two programs of the process have the same */
    struct sta_program_step *steps; /* in order of evaluation */
    size_t step_count;
    uint32_t register_count;
    uint32_t *columns; /* nodes that are columns */
    size_t column_count;
    uint32_t *constants; /* nodes that are constants, and a minibatch of each */
    struct sta_operand *constant_operands;
    size_t constant_count;
    struct sta_memo **memos;              /* by node; of those that remember */
    struct sta_dictionary **dictionaries; /* by node; of those that make texts */
    struct sta_account texts;             /* of all these */
};

/* Values of a minibatch being computed. */
struct sta_register {
    void *values;
    uint8_t *missing;
};

/* Recent results of operations on values that have no codes to remember by.  The operations share the slots;
 * an owner is one operation on texts of two dictionaries, and has its slots while its tag is given to no
 * other. */
#define STA_RECENT_SLOTS 8192
#define STA_RECENT_OWNERS 16
struct sta_recent {
    struct sta_recent_owner {
        uint64_t serial;
        uint32_t node, tag;
        const struct sta_dictionary *first, *second;
    } owners[STA_RECENT_OWNERS];
    uint32_t last_tag; /* 0 is no owner's */
    struct sta_recent_slot {
        uint64_t key;
        uint32_t tag, code;
    } slots[STA_RECENT_SLOTS];
};

struct sta_evaluator {
    const _Atomic bool *cancel;   /* or NULL */
    struct sta_operand *operands; /* by node */
    size_t operand_capacity;
    struct sta_register *registers;
    size_t register_capacity, register_count;
    struct sta_vector *vectors; /* by place in program->columns */
    size_t vector_capacity;
    struct sta_register *repeated; /* likewise: columns that are one value */
    size_t repeated_capacity, repeated_count;
    struct sta_register result;
    uint32_t result_rows;
    uint32_t *translated[2]; /* codes of operands brought into one dictionary */
    struct sta_text_scratch scratch;
    struct sta_recent *recent;
};

/* One step of one minibatch. */
struct sta_step_run {
    struct sta_program *program;
    struct sta_evaluator *evaluator;
    uint32_t index; /* of the node */
    const struct sta_node *node;
    const struct sta_operand *in; /* its operands */
    struct sta_register out;
    uint32_t rows;
    struct sta_operand *operand; /* set by whoever computes: out, or what stands for it */
    struct sta_error *err;
};

/* evaluate_texts.c: operations on texts.  Return: 0 or a failure. */
int sta_run_call(struct sta_step_run *run);
int sta_run_compare(struct sta_step_run *run);
int sta_run_concatenate(struct sta_step_run *run);
int sta_run_text_of(struct sta_step_run *run);
int sta_run_choice(struct sta_step_run *run); /* where and coalesce of texts */

#endif

/* tree.h - what the parser makes and programs run (private to expression).
 *
 * DESIGN.  A tree is an array of nodes in which operands stand before their users.  Every pass over it
 * (folding, predicates, assigning registers, evaluating) is therefore a loop and not a recursion, and a value
 * that is used twice, as the middle of a < b < c is, is one node.  Types meet when a node is built: operands
 * are cast so that an operation sees one type only, and a node whose operands are constants becomes a
 * constant at once.  Positions in the text matter to the parser only; nodes have none. */
#ifndef STA_ANALYSE_EXPRESSION_TREE_H
#define STA_ANALYSE_EXPRESSION_TREE_H

#include <stdatomic.h>
#include "analyse/expression/expression.h"
#include "analyse/expression/pattern.h"
#include "common/buffer.h"
#include "common/memory.h"

/* How the missing values of operands reach the result. */
enum sta_null_policy {
    STA_CARRY,    /* missing where an operand is */
    STA_STRICT,   /* likewise, and the operation may have no value of its own (overflow, division by zero) */
    STA_TEST,     /* a condition: false where an operand is missing */
    STA_TEST_NOT, /* a condition: true where an operand is missing */
    STA_OWN       /* the loop sees to it */
};

#define STA_COMPARISONS(X, suffix)                                                                           \
    X(EQUAL_##suffix, TEST)                                                                                  \
    X(DIFFER_##suffix, TEST_NOT)                                                                             \
    X(LESS_##suffix, TEST)                                                                                   \
    X(LESS_EQUAL_##suffix, TEST)                                                                             \
    X(GREATER_##suffix, TEST)                                                                                \
    X(GREATER_EQUAL_##suffix, TEST)

/* Operations that are a loop over numbers, conditions or codes; _I of integers, _F of numbers, _B of
 * conditions, _T of codes.  X(name, null policy) */
/* clang-format off */
#define STA_KERNEL_LIST(X) \
    STA_COMPARISONS(X, II) STA_COMPARISONS(X, FF) STA_COMPARISONS(X, IF) \
    X(ADD_I, STRICT) X(SUBTRACT_I, STRICT) X(MULTIPLY_I, STRICT) X(DIVIDE_I, STRICT) X(FLOOR_DIVIDE_I, STRICT) X(MODULO_I, STRICT) \
    X(ADD_F, STRICT) X(SUBTRACT_F, STRICT) X(MULTIPLY_F, STRICT) X(DIVIDE_F, STRICT) X(FLOOR_DIVIDE_F, STRICT) X(MODULO_F, STRICT) \
    X(POWER_F, STRICT) \
    X(NEGATE_I, STRICT) X(NEGATE_F, CARRY) X(ABS_I, STRICT) X(ABS_F, CARRY) \
    X(SQRT_F, STRICT) X(EXP_F, STRICT) X(LOG_F, STRICT) X(LOG2_F, STRICT) X(LOG10_F, STRICT) \
    X(FLOOR_F, STRICT) X(CEIL_F, STRICT) X(ROUND_F, STRICT) X(TRUNCATE_F, STRICT) X(ROUND_TO_F, STRICT) \
    X(INT_TO_FLOAT, CARRY) X(BOOL_TO_INT, CARRY) X(BOOL_TO_FLOAT, CARRY) \
    X(LEAST_I, CARRY) X(LEAST_F, CARRY) X(GREATEST_I, CARRY) X(GREATEST_F, CARRY) \
    X(BIN_I, STRICT) X(BIN_F, STRICT) X(BIN_IF, STRICT) X(CUT_I, CARRY) X(CUT_F, CARRY) X(IN_I, TEST) X(IN_F, TEST) \
    X(AND, OWN) X(OR, OWN) X(NOT, OWN) X(TRUTH, OWN) \
    X(ISNA, OWN) X(NOTNA, OWN) X(ISNA_T, OWN) X(NOTNA_T, OWN) \
    X(WHERE_I, OWN) X(WHERE_F, OWN) X(WHERE_B, OWN) X(WHERE_T, OWN) \
    X(COALESCE_I, OWN) X(COALESCE_F, OWN) X(COALESCE_B, OWN) X(COALESCE_T, OWN)
/* clang-format on */

enum sta_operation {
#define X(name, null_policy) STA_OP_##name,
    STA_KERNEL_LIST(X)
#undef X
        STA_OP_KERNELS, /* how many; what follows has no loop of its own */
    STA_OP_CONSTANT = STA_OP_KERNELS,
    STA_OP_COLUMN,
    STA_OP_CALL,      /* a function of one text and of constants: node->call */
    STA_OP_COMPARE_T, /* two texts that vary: node->relation */
    STA_OP_CONCAT_T,  /* two texts that vary */
    STA_OP_TEXT_OF    /* str() of what is no text */
};

/* In the order of STA_COMPARISONS. */
enum sta_comparison_operator {
    STA_EQUAL,
    STA_DIFFER,
    STA_LESS,
    STA_LESS_EQUAL,
    STA_GREATER,
    STA_GREATER_EQUAL
};

/** What says the same with the sides exchanged. */
enum sta_comparison_operator sta_comparison_mirrored(enum sta_comparison_operator comparison);

/* One value; of BOOL: integer 0 or 1; of TEXT: code in the tree's texts. */
struct sta_scalar {
    bool missing;
    union {
        int64_t integer;
        double number;
        uint32_t code;
    };
};

/* Constants of a list, ascending, without repetition where order is all that counts. */
struct sta_numbers {
    uint32_t count;
    uint32_t below; /* CUT: edges that lie below every value of the type */
    union {
        int64_t *integers;
        double *numbers;
    };
};

struct sta_binning {
    int64_t width, origin;
    double number_width, number_origin;
};

struct sta_text_call;

/* What a function of text gives; which member counts follows from the node's type. */
struct sta_text_result {
    int failure; /* 0: there is none */
    bool missing;
    union {
        bool holds;
        int64_t integer;
        double number;
        struct sta_text text; /* may lie in the scratch or in the argument */
    };
};

/* One thread's memory for functions of text. */
struct sta_text_scratch {
    struct sta_buffer buffer;
    struct sta_matcher *matcher;
};

/* @result: zeroed. */
typedef void (*sta_text_function)(const struct sta_text_call *call, struct sta_text text,
                                  struct sta_text_scratch *scratch, struct sta_text_result *result,
                                  struct sta_error *err);

/* A function of text together with its constants. */
struct sta_text_call {
    sta_text_function apply;
    struct sta_text first, second; /* in the tree's arena */
    int64_t from, to;
    bool has_to, caseless, when_missing; /* when_missing: what a test gives for a missing text */
    enum sta_comparison_operator comparison;
    const struct sta_pattern *pattern;
    const struct sta_replacement *replacement;
    const struct sta_dictionary *set;
};

struct sta_node {
    uint8_t operation; /* enum sta_operation */
    uint8_t type;      /* enum sta_type */
    uint8_t operand_count;
    uint32_t operands[3];
    union {
        struct sta_scalar value;                 /* CONSTANT */
        uint32_t column;                         /* COLUMN: index in the schema */
        const struct sta_text_call *call;        /* CALL */
        enum sta_comparison_operator comparison; /* COMPARE_T */
        const struct sta_numbers *numbers;
        const struct sta_binning *binning;
        double scale; /* ROUND_TO_F */
    };
};

/* Released with the last of its users; unchanging once parsed. */
struct sta_tree {
    _Atomic unsigned users;
    struct sta_node *nodes;
    uint32_t count;
    size_t capacity;
    struct sta_arena arena;       /* texts, lists, calls */
    struct sta_dictionary *texts; /* constants */
    struct sta_pattern **patterns;
    struct sta_dictionary **sets;
    struct sta_replacement **replacements;
    size_t pattern_count, pattern_capacity, set_count, set_capacity, replacement_count, replacement_capacity;
};

struct sta_tree *sta_tree_create(void);
struct sta_tree *sta_tree_retain(struct sta_tree *tree);
void sta_tree_release(struct sta_tree *tree);
/** Marks the nodes that @root needs; free() it. */
uint8_t *sta_tree_needed(const struct sta_tree *tree, uint32_t root);

/** A program of the value of one node. */
struct sta_program *sta_program_of(struct sta_tree *tree, uint32_t root);

/** Finds the predicates of @expression (predicates.c). */
void sta_predicates_find(struct sta_expression *expression);

/** Columns that @root reads, ascending; free() it. */
uint32_t *sta_tree_columns(const struct sta_tree *tree, uint32_t root, size_t *count);

void sta_text_scratch_init(struct sta_text_scratch *scratch);
void sta_text_scratch_fini(struct sta_text_scratch *scratch);

#endif

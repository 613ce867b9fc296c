/* kernels.h - loops over a minibatch of rows (private to expression). */
#ifndef STA_ANALYSE_EXPRESSION_KERNELS_H
#define STA_ANALYSE_EXPRESSION_KERNELS_H

#include "analyse/expression/tree.h"

/* Operand of a minibatch. */
struct sta_operand {
    const void *values;                 /* int64_t, double, uint8_t or uint32_t by type */
    const uint8_t *missing;             /* NULL: none */
    const struct sta_dictionary *texts; /* of codes; NULL when none of them stands for a text */
};

/* Writes @rows values, and 1 into `missing` where it finds that there is none (STRICT), or all of `missing`
 * (OWN).  Return: whether `missing` holds a mark of this loop's. */
typedef bool (*sta_kernel)(const struct sta_node *node, const struct sta_operand *in, void *values,
                           uint8_t *missing, uint32_t rows);

struct sta_expression_kernels {
    sta_kernel run[STA_OP_KERNELS];
    void (*join)(uint8_t *missing, const uint8_t *also, uint32_t rows);   /* missing |= also */
    void (*deny)(uint8_t *values, const uint8_t *missing, uint32_t rows); /* values &= !missing */
};
extern const struct sta_expression_kernels sta_kernels_portable, sta_kernels_avx2;

/**
 * sta_kernel_apply - run the loop of a node, missing values handled by its null policy
 * @missing: space for a mark per row
 * Return: whether `missing` was written and may hold a mark
 */
bool sta_kernel_apply(const struct sta_node *node, const struct sta_operand *in, void *values,
                      uint8_t *missing, uint32_t rows);

#endif

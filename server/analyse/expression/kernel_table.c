/* Which loops this processor runs, and the rules for missing values around them. */
#include "analyse/expression/kernels.h"

#include <string.h>

static const uint8_t null_policies[] = {
#define X(name, null_policy) [STA_OP_##name] = STA_##null_policy,
    STA_KERNEL_LIST(X)
#undef X
};

/* The best for this processor. */
static const struct sta_expression_kernels *kernels_here(void)
{
#ifdef STA_HAVE_AVX2
    if (__builtin_cpu_supports("avx2"))
        return &sta_kernels_avx2;
#endif
    return &sta_kernels_portable;
}

static bool join_missing(const struct sta_expression_kernels *kernels, const struct sta_node *node,
                         const struct sta_operand *in, uint8_t *missing, uint32_t rows)
{
    bool any = false;
    for (unsigned i = 0; i < node->operand_count; i++) {
        if (in[i].missing == NULL)
            continue;
        if (any)
            kernels->join(missing, in[i].missing, rows);
        else
            memcpy(missing, in[i].missing, rows);
        any = true;
    }
    return any;
}

static void mask_test(const struct sta_expression_kernels *kernels, const struct sta_node *node,
                      const struct sta_operand *in, bool when_missing, uint8_t *values, uint32_t rows)
{
    for (unsigned i = 0; i < node->operand_count; i++) {
        if (in[i].missing == NULL)
            continue;
        if (when_missing)
            kernels->join(values, in[i].missing, rows);
        else
            kernels->deny(values, in[i].missing, rows);
    }
}

bool sta_kernel_apply(const struct sta_node *node, const struct sta_operand *in, void *values,
                      uint8_t *missing, uint32_t rows)
{
    const struct sta_expression_kernels *kernels = kernels_here();
    sta_kernel run = kernels->run[node->operation];
    enum sta_null_policy null_policy = (enum sta_null_policy)null_policies[node->operation];
    switch (null_policy) {
    case STA_CARRY:
        run(node, in, values, missing, rows);
        return join_missing(kernels, node, in, missing, rows);
    case STA_STRICT: {
        bool any = join_missing(kernels, node, in, missing, rows);
        if (!any)
            memset(missing, 0, rows);
        return run(node, in, values, missing, rows) || any;
    }
    case STA_TEST:
    case STA_TEST_NOT:
        run(node, in, values, missing, rows);
        mask_test(kernels, node, in, null_policy == STA_TEST_NOT, values, rows);
        return false;
    case STA_OWN:
        break;
    }
    return run(node, in, values, missing, rows);
}

/* Steps on texts.
 *
 * A function of one text looks its answers up by code and computes those that are not known yet; most
 * minibatches bring none.  What has no code to go by (numbers to be written, two texts to be joined) keeps
 * its recent results per thread. */
#include "analyse/expression/program.h"

#include <string.h>

#include "analyse/expression/texts.h"
#include "common/number.h"

#define LOAD(cell) atomic_load_explicit(&(cell), memory_order_relaxed)

static uint32_t cell_index(uint32_t code)
{
    return code + 1u; /* STA_NO_CODE: 0 */
}

/* ---- texts that are made */

/* What rows can make of texts has no end, so it is looked at text by text, before a whole batch is held. */
static int keep_text(struct sta_step_run *run, const char *bytes, size_t length, uint32_t *code)
{
    *code = sta_dictionary_intern(run->program->dictionaries[run->index], bytes, length);
    return sta_account_failure(&run->program->texts, run->err);
}

/* ---- computing what is not known */

static void store_value(const struct sta_memo_cells *cells, uint32_t cell,
                        const struct sta_text_result *result, enum sta_type type)
{
    uint64_t bits;
    if (type == STA_TYPE_INT)
        memcpy(&bits, &result->integer, sizeof bits);
    else
        memcpy(&bits, &result->number, sizeof bits);
    atomic_store_explicit(&cells->values[cell], bits, memory_order_relaxed);
    atomic_store_explicit(&cells->marks[cell], result->missing ? STA_MARK_MISSING : STA_MARK_FALSE,
                          memory_order_release);
}

static int compute(struct sta_step_run *run, const struct sta_text_call *call,
                   const struct sta_memo_cells *cells, const struct sta_dictionary *texts, uint32_t code)
{
    struct sta_text_result result = {.missing = false};
    uint32_t cell = cell_index(code);
    int rc =
        sta_text_apply(call, sta_dictionary_text(texts, code), &run->evaluator->scratch, &result, run->err);
    if (rc != 0)
        return rc;
    if (cells->values != NULL) {
        store_value(cells, cell, &result, (enum sta_type)run->node->type);
    } else if (cells->marks != NULL) {
        atomic_store_explicit(&cells->marks[cell], result.holds ? STA_MARK_TRUE : STA_MARK_FALSE,
                              memory_order_relaxed);
    } else {
        uint32_t made = STA_NO_CODE;
        if (!result.missing)
            rc = keep_text(run, result.text.bytes, result.text.length, &made);
        atomic_store_explicit(&cells->codes[cell], STA_CELL_OF(made), memory_order_relaxed);
    }
    return rc;
}

static int compute_unknown(struct sta_step_run *run, const struct sta_text_call *call,
                           const struct sta_memo_cells *cells, const struct sta_operand *operand)
{
    const uint32_t *codes = operand->values;
    for (uint32_t i = 0; i < run->rows; i++) {
        uint32_t cell = cell_index(codes[i]);
        bool known = cells->codes != NULL ? LOAD(cells->codes[cell]) != 0 : LOAD(cells->marks[cell]) != 0;
        int rc = known ? 0 : compute(run, call, cells, operand->texts, codes[i]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- looking up; each says whether all was known */

static bool look_up_tests(const struct sta_memo_cells *cells, const uint32_t *codes, uint8_t *values,
                          uint32_t rows)
{
    bool unknown = false;
    for (uint32_t i = 0; i < rows; i++) {
        uint8_t mark = LOAD(cells->marks[cell_index(codes[i])]);
        unknown |= mark == 0;
        values[i] = mark & 1;
    }
    return !unknown;
}

static bool look_up_values(const struct sta_memo_cells *cells, const uint32_t *codes, uint64_t *values,
                           uint8_t *missing, uint32_t rows)
{
    bool unknown = false;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t cell = cell_index(codes[i]);
        uint8_t mark = atomic_load_explicit(&cells->marks[cell], memory_order_acquire);
        unknown |= mark == 0;
        missing[i] = mark == STA_MARK_MISSING;
        values[i] = LOAD(cells->values[cell]);
    }
    return !unknown;
}

static bool look_up_codes(const struct sta_memo_cells *cells, const uint32_t *codes, uint32_t *values,
                          uint32_t rows)
{
    bool unknown = false;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t made = LOAD(cells->codes[cell_index(codes[i])]);
        unknown |= made == 0;
        values[i] = made - 2u; /* STA_CELL_MISSING wraps to STA_NO_CODE */
    }
    return !unknown;
}

static bool look_up(const struct sta_step_run *run, const struct sta_memo_cells *cells, const uint32_t *codes,
                    void *values)
{
    if (cells->codes != NULL)
        return look_up_codes(cells, codes, values, run->rows);
    if (cells->values != NULL)
        return look_up_values(cells, codes, values, run->out.missing, run->rows);
    return look_up_tests(cells, codes, values, run->rows);
}

static int apply_call(struct sta_step_run *run, const struct sta_text_call *call,
                      const struct sta_operand *operand, void *values)
{
    const struct sta_memo_cells *cells =
        sta_memo_cells(run->program->memos[run->index], operand->texts, run->err);
    if (cells == NULL)
        return run->err->status;
    if (look_up(run, cells, operand->values, values))
        return 0;
    int rc = compute_unknown(run, call, cells, operand);
    if (rc == 0)
        look_up(run, cells, operand->values, values);
    return rc;
}

int sta_run_call(struct sta_step_run *run)
{
    bool valued = run->node->type == STA_TYPE_INT || run->node->type == STA_TYPE_FLOAT;
    *run->operand =
        (struct sta_operand){.values = run->out.values, .missing = valued ? run->out.missing : NULL};
    if (run->node->type == STA_TYPE_TEXT)
        run->operand->texts = run->program->dictionaries[run->index];
    return apply_call(run, run->node->call, &run->in[0], run->out.values);
}

/* ---- two texts */

int sta_run_compare(struct sta_step_run *run)
{
    const struct sta_operand *a = &run->in[0], *b = &run->in[1];
    const uint32_t *left = a->values, *right = b->values;
    uint8_t *values = run->out.values;
    enum sta_comparison_operator comparison = run->node->comparison;
    bool by_code = a->texts == b->texts && (comparison == STA_EQUAL || comparison == STA_DIFFER);
    *run->operand = (struct sta_operand){.values = values};
    for (uint32_t i = 0; i < run->rows; i++) {
        if (left[i] == STA_NO_CODE || right[i] == STA_NO_CODE)
            values[i] = comparison == STA_DIFFER;
        else if (by_code)
            values[i] = (left[i] == right[i]) == (comparison == STA_EQUAL);
        else
            values[i] =
                sta_comparison_holds(comparison, sta_text_order(sta_dictionary_text(a->texts, left[i]),
                                                                sta_dictionary_text(b->texts, right[i])));
    }
    return 0;
}

/* Where the operands are of different dictionaries their texts come together in the node's own. */
int sta_run_choice(struct sta_step_run *run)
{
    static const struct sta_text_call same = {.apply = sta_text_same};
    unsigned first = run->node->operand_count - 2u;
    const struct sta_dictionary *a = run->in[first].texts, *b = run->in[first + 1].texts;
    struct sta_operand in[3] = {run->in[0], run->in[1], run->in[first + 1]};
    bool alike = a == b || a == NULL || b == NULL;
    for (unsigned k = first; !alike && k < first + 2; k++) {
        uint32_t **translated = &run->evaluator->translated[k - first];
        if (*translated == NULL)
            *translated = sta_alloc_array(STA_MINIBATCH_ROWS, sizeof **translated);
        int rc = apply_call(run, &same, &run->in[k], *translated);
        if (rc != 0)
            return rc;
        in[k].values = *translated;
    }
    sta_kernel_apply(run->node, in, run->out.values, run->out.missing, run->rows);
    const struct sta_dictionary *texts = a != NULL ? a : b != NULL ? b : run->program->tree->texts;
    *run->operand = (struct sta_operand){.values = run->out.values,
                                         .texts = alike ? texts : run->program->dictionaries[run->index]};
    return 0;
}

/* ---- recent results */

/* The tag under which results of this step are kept. */
static uint32_t tag_of(struct sta_step_run *run, struct sta_recent *recent,
                       const struct sta_dictionary *first, const struct sta_dictionary *second)
{
    for (size_t i = 0; i < STA_RECENT_OWNERS; i++) {
        const struct sta_recent_owner *owner = &recent->owners[i];
        if (owner->serial == run->program->serial && owner->node == run->index && owner->first == first &&
            owner->second == second)
            return owner->tag;
    }
    if (recent->last_tag == UINT32_MAX)
        memset(recent, 0, sizeof *recent);
    uint32_t tag = ++recent->last_tag;
    recent->owners[tag % STA_RECENT_OWNERS] =
        (struct sta_recent_owner){run->program->serial, run->index, tag, first, second};
    return tag;
}

static struct sta_recent *recent_of(struct sta_evaluator *evaluator)
{
    if (evaluator->recent == NULL)
        evaluator->recent = sta_alloc(sizeof *evaluator->recent);
    return evaluator->recent;
}

static struct sta_recent_slot *slot_of(struct sta_recent *recent, uint64_t key)
{
    return &recent->slots[(size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % STA_RECENT_SLOTS];
}

static bool holds(const struct sta_recent_slot *slot, uint32_t tag, uint64_t key)
{
    return slot->tag == tag && slot->key == key;
}

static int join(struct sta_step_run *run, uint32_t a, uint32_t b, uint32_t *code)
{
    const struct sta_text_call append = {.apply = sta_text_append,
                                         .first = sta_dictionary_text(run->in[1].texts, b)};
    struct sta_text_result result = {.missing = false};
    int rc = sta_text_apply(&append, sta_dictionary_text(run->in[0].texts, a), &run->evaluator->scratch,
                            &result, run->err);
    return rc != 0 ? rc : keep_text(run, result.text.bytes, result.text.length, code);
}

int sta_run_concatenate(struct sta_step_run *run)
{
    const uint32_t *a = run->in[0].values, *b = run->in[1].values;
    uint32_t *values = run->out.values;
    struct sta_recent *recent = recent_of(run->evaluator);
    uint32_t tag = tag_of(run, recent, run->in[0].texts, run->in[1].texts);
    *run->operand = (struct sta_operand){.values = values, .texts = run->program->dictionaries[run->index]};
    for (uint32_t i = 0; i < run->rows; i++) {
        values[i] = STA_NO_CODE;
        if (a[i] == STA_NO_CODE || b[i] == STA_NO_CODE)
            continue;
        uint64_t key = (uint64_t)a[i] << 32 | b[i];
        struct sta_recent_slot *slot = slot_of(recent, key);
        int rc = holds(slot, tag, key) ? 0 : join(run, a[i], b[i], &values[i]);
        if (rc != 0)
            return rc;
        if (!holds(slot, tag, key))
            *slot = (struct sta_recent_slot){key, tag, values[i]};
        values[i] = slot->code;
    }
    return 0;
}

/* The value of a row as bits, the key of its text. */
static uint64_t bits_of(const struct sta_operand *operand, enum sta_type type, uint32_t row)
{
    uint64_t bits = 0;
    if (type == STA_TYPE_BOOL)
        bits = ((const uint8_t *)operand->values)[row];
    else
        memcpy(&bits, (const char *)operand->values + row * sizeof bits, sizeof bits);
    return bits;
}

static int write_text(struct sta_step_run *run, enum sta_type type, uint64_t bits, uint32_t *code)
{
    char text[STA_DOUBLE_TEXT];
    size_t length;
    double number;
    memcpy(&number, &bits, sizeof number);
    if (type == STA_TYPE_BOOL) {
        length = bits ? 4 : 5;
        memcpy(text, bits ? "true" : "false", length);
    } else {
        length = type == STA_TYPE_INT ? sta_format_int((int64_t)bits, text) : sta_format_double(number, text);
    }
    return keep_text(run, text, length, code);
}

int sta_run_text_of(struct sta_step_run *run)
{
    const struct sta_operand *of = &run->in[0];
    enum sta_type type = (enum sta_type)run->program->tree->nodes[run->node->operands[0]].type;
    uint32_t *values = run->out.values;
    struct sta_recent *recent = recent_of(run->evaluator);
    uint32_t tag = tag_of(run, recent, NULL, NULL);
    *run->operand = (struct sta_operand){.values = values, .texts = run->program->dictionaries[run->index]};
    for (uint32_t i = 0; i < run->rows; i++) {
        values[i] = STA_NO_CODE;
        if (of->missing != NULL && of->missing[i])
            continue;
        uint64_t key = bits_of(of, type, i);
        struct sta_recent_slot *slot = slot_of(recent, key);
        int rc = holds(slot, tag, key) ? 0 : write_text(run, type, key, &values[i]);
        if (rc != 0)
            return rc;
        if (!holds(slot, tag, key))
            *slot = (struct sta_recent_slot){key, tag, values[i]};
        values[i] = slot->code;
    }
    return 0;
}

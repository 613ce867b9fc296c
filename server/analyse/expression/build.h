/* build.h - typed nodes (private to expression).
 *
 * The builder's failure is sticky: the first mistake is kept, and every call after it does nothing and gives
 * a term that means nothing, so the parser reads like the grammar.  Whoever loops looks at `failed`. */
#ifndef STA_ANALYSE_EXPRESSION_BUILD_H
#define STA_ANALYSE_EXPRESSION_BUILD_H

#include "analyse/expression/tree.h"

/* Constants in brackets, as written; in the tree's arena. */
struct sta_list {
    uint32_t *nodes; /* CONSTANT each */
    uint32_t count;
};

/* What the parser hands around: a node, and what only matters while parsing. */
struct sta_term {
    uint32_t node;
    enum sta_type type; /* LIST: see list */
    uint32_t position;
    int column;       /* index in the schema of a bare column, else -1 */
    const char *unit; /* of a bare column or aggregate, else NULL */
    bool literal;     /* a constant as written, or with a sign */
    const struct sta_list *list;
};

struct sta_builder {
    struct sta_tree *tree;
    const struct sta_schema *schema;
    uint32_t *column_nodes; /* by column: its node + 1, 0 when it has none yet */
    size_t column_capacity;
    struct sta_text_scratch scratch;
    struct sta_error *err;
    bool failed;
};

void sta_builder_init(struct sta_builder *builder, const struct sta_schema *schema, struct sta_error *err);
void sta_builder_fini(struct sta_builder *builder);

/** Notes the first mistake. */
void sta_build_fail(struct sta_builder *builder, int status, uint32_t position, const char *format, ...)
    STA_PRINTF(4, 5);

const struct sta_node *sta_build_node(const struct sta_builder *builder, struct sta_term term);
bool sta_is_numeric(enum sta_type type); /* integer, number, condition, null */
bool sta_is_caseless(const struct sta_builder *builder, struct sta_term term);

struct sta_term sta_build_constant(struct sta_builder *builder, enum sta_type type, struct sta_scalar value,
                                   uint32_t position);
struct sta_term sta_build_text(struct sta_builder *builder, struct sta_text text, uint32_t position);
struct sta_term sta_build_column(struct sta_builder *builder, uint32_t column, uint32_t position);
/** A node; becomes a constant at once when its operands are.  @model: operation, type and payload. */
struct sta_term sta_build(struct sta_builder *builder, const struct sta_node *model, uint32_t position,
                          const struct sta_term *operands, unsigned count);
struct sta_term sta_build_plain(struct sta_builder *builder, enum sta_operation operation, enum sta_type type,
                                uint32_t position, const struct sta_term *operands, unsigned count);
/** A function of text; @call is copied into the tree. */
struct sta_term sta_build_call(struct sta_builder *builder, struct sta_text_call call, enum sta_type type,
                               struct sta_term of, uint32_t position);
/** Computes a node whose operands are constants and puts the value in its place (fold.c). */
void sta_build_fold(struct sta_builder *builder, uint32_t node, uint32_t position);

/** The same value as another type: null to any, condition to integer or number, integer to number. */
struct sta_term sta_build_cast(struct sta_builder *builder, struct sta_term term, enum sta_type type);
/** The type that values of these types have together; -1 if they don't go together. */
int sta_common_type(const struct sta_term *terms, unsigned count);
/** INT if all are integers or conditions, else FLOAT. */
enum sta_type sta_integral_type(const struct sta_term *terms, unsigned count);
/** Index of the operation for INT, FLOAT, BOOL or TEXT in a run _I _F _B _T. */
enum sta_operation sta_typed_operation(enum sta_operation first, enum sta_type type);

/** Fails at @term unless it is a condition; one that is missing, null too, does not hold. */
struct sta_term sta_build_condition(struct sta_builder *builder, struct sta_term term);
struct sta_term sta_build_compare(struct sta_builder *builder, enum sta_comparison_operator comparison,
                                  uint32_t at, struct sta_term a, struct sta_term b);
struct sta_term sta_build_member(struct sta_builder *builder, struct sta_term of, const struct sta_list *list,
                                 bool negate);
/** @sign: '+' '-' '*' '/' '%', 'D' for // and 'P' for ** */
struct sta_term sta_build_arithmetic(struct sta_builder *builder, char sign, uint32_t at, struct sta_term a,
                                     struct sta_term b);
struct sta_term sta_build_sign(struct sta_builder *builder, char sign, uint32_t at, struct sta_term a);
struct sta_term sta_build_not(struct sta_builder *builder, uint32_t at, struct sta_term a);
struct sta_term sta_build_junction(struct sta_builder *builder, enum sta_operation operation,
                                   struct sta_term a, struct sta_term b);
struct sta_term sta_build_isna(struct sta_builder *builder, struct sta_term of, bool negate);

/** Turns a time into the integer behind it.  Return: how many of these make one of its unit; 0, and nothing
 * done, where there is none (ticks.c). */
int64_t sta_build_ticks(struct sta_builder *builder, struct sta_term *time);

/** A literal as a double. */
double sta_literal_number(const struct sta_builder *builder, struct sta_term term);
struct sta_text sta_literal_text(const struct sta_builder *builder, struct sta_term term);
/** A copy of it that lives as long as the tree.  @fold: without case. */
struct sta_text sta_keep_literal(struct sta_builder *builder, struct sta_term literal, bool fold);
/** Three-way, exact between integers and numbers; of literals that are numbers. */
int sta_literal_compare(const struct sta_node *a, const struct sta_node *b);

/** "an integer" .. */
const char *sta_a_type(enum sta_type type);
#define STA_A_TYPE(term) sta_a_type((term).type)

#endif

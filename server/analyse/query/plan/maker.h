/* maker.h - a plan while it is made (private to plan).
 *
 * Members are checked in the order of the contract.  The maker's failure is sticky: the first mistake is kept
 * and every call after it does nothing, so the checks read like the order. */
#ifndef STA_ANALYSE_QUERY_PLAN_MAKER_H
#define STA_ANALYSE_QUERY_PLAN_MAKER_H

#include "analyse/query/plan.h"

/* Past these a request is refused (query.md part 6). */
#define STA_MOST_DERIVED 64
#define STA_MOST_KEYS 16
#define STA_MOST_AGGREGATES 64
#define STA_MOST_STAGES 8
#define STA_MOST_BINS 10000
#define STA_MOST_COLUMNS 1000
#define STA_MOST_PRIMITIVES 1024
#define STA_MOST_PAGE_ROWS 100000

struct sta_maker {
    const struct sta_query *query;
    struct sta_plan *plan;
    struct sta_error *err;
    bool failed;

    /* the stage being made */
    struct sta_plan_stage *stage;
    const struct sta_document *request;
    const char *where; /* its JSON pointer: "", "/then", .. */
    bool is_last;

    /* what comes into it; then, of its result */
    bool events;     /* rows are events as traced, with their ts and te */
    uint32_t *shown; /* columns of the schema that rows show, in this order, when none are asked for */
    size_t shown_count;
    uint32_t *unique; /* columns that tell rows apart: the keys of the grouping that they come from */
    size_t unique_count;
};

/* ---- maker.c: failures, pointers, pieces of memory */

/** Notes the first mistake.  @pointer: of the member at fault. */
void sta_refuse(struct sta_maker *maker, int status, const char *pointer, const char *format, ...)
    STA_PRINTF(4, 5);
/** STA_EINPUT of an expression as a whole: at its start. */
void sta_refuse_start(struct sta_maker *maker, const char *pointer, const char *format, ...) STA_PRINTF(3, 4);
/** Likewise "unknown WHAT 'x'; did you mean ..". */
void sta_refuse_name(struct sta_maker *maker, const char *pointer, const char *what, struct sta_text wrong,
                     const char *const *names, size_t count);
/** Fails with STA_ELIMIT when there are more than @most of @what. */
void sta_check_limit(struct sta_maker *maker, const char *pointer, const char *what, size_t count,
                     size_t most);

/** Zeroed, as long as the plan lives. */
void *sta_maker_alloc(struct sta_maker *maker, size_t count, size_t size);
char *sta_maker_copy(struct sta_maker *maker, const char *text);
/** The pointer of a member or of an element, "/filter" or "/order_by/0". */
const char *sta_point(struct sta_maker *maker, const char *parent, const char *member);
const char *sta_point_at(struct sta_maker *maker, const char *parent, size_t index);
const char *sta_point_member(struct sta_maker *maker, const char *member); /* of the stage */

/** A member of the stage, or NULL. */
const struct sta_document *sta_stage_member(const struct sta_maker *maker, const char *name);
struct sta_text sta_text_of(const char *name);

/* ---- items.c: names and expressions */

struct sta_item {
    const char *name; /* as given, or the text of the expression */
    const struct sta_document *value;
    const char *pointer;
};
struct sta_items {
    struct sta_item *items;
    size_t count;
};
/** ["a", {"name": "expression"}].  @single: what stands for a list of one may stand alone. */
struct sta_items sta_items_read(struct sta_maker *maker, const struct sta_document *list, const char *pointer,
                                bool single);

typedef int (*sta_parse)(const char *text, size_t length, const struct sta_schema *schema,
                         struct sta_expression **expression, struct sta_error *err);
/** The text of an expression; length 0 and a failure if it is none. */
struct sta_text sta_expression_text(struct sta_maker *maker, const struct sta_document *value,
                                    const char *pointer);
/** Parses against the stage's schema; NULL and a failure if it can't be. */
struct sta_expression *sta_compile(struct sta_maker *maker, sta_parse parse, const struct sta_document *value,
                                   const char *pointer);
/** Notes where a parser's failure was. */
void sta_parser_failed(struct sta_maker *maker, int rc, const char *pointer);
/** The columns that items ask for, under present names; a name that comes twice is a mistake. */
void sta_make_outputs(struct sta_maker *maker, const struct sta_items *items,
                      struct sta_plan_output **outputs, size_t *count);
/** cat compares without case, wherever a column has that name. */
bool sta_is_caseless_name(const char *name);

/* ---- the parts of a stage */

/* stage.c */
/** Fails for a member of @object that is none of these. */
void sta_check_members(struct sta_maker *maker, const struct sta_document *object, const char *pointer,
                       const char *const *names, size_t count);
void sta_check_stage_members(struct sta_maker *maker);
void sta_make_stage(struct sta_maker *maker, const struct sta_schema *input);

/* groups.c */
/** Those of group_by, if it is asked for. */
void sta_make_group_by(struct sta_maker *maker);
/** Makes what the stage gathers ready for aggregates; its keys are made. */
void sta_open_aggregates(struct sta_maker *maker);
/** Another output; there must be space. */
void sta_add_output(struct sta_maker *maker, const char *name, struct sta_expression *expression);
/** The one output "count", of count(). */
void sta_make_count(struct sta_maker *maker);
struct sta_column_info sta_result_column(const struct sta_plan_output *output);
/** Result columns: the keys, then @count others, whose names no key may have.  The first @unique_more of
 * these tell rows of a group apart. */
void sta_make_result(struct sta_maker *maker, const struct sta_column_info *others, size_t count,
                     size_t unique_more);
void sta_make_groups(struct sta_maker *maker);
void sta_make_value_counts(struct sta_maker *maker);

void sta_make_describe(struct sta_maker *maker);
void sta_make_histogram(struct sta_maker *maker);

/* rows.c */
/** Events show the usual columns. */
void sta_show_usual(struct sta_maker *maker, const struct sta_schema *schema);
/** Behind these, what the stage derives. */
void sta_show_derived(struct sta_maker *maker);
void sta_make_rows(struct sta_maker *maker);
/** The result as the schema of the next stage. */
struct sta_schema sta_pass_on(struct sta_maker *maker);

/** Columns of the query's result: those of the last stage and what compare adds to them. */
void sta_make_columns(struct sta_maker *maker);
void sta_make_order(struct sta_maker *maker);
void sta_make_limit(struct sta_maker *maker);
/** Marks outputs that nothing reads, when all stages are made. */
void sta_mark_unused(struct sta_plan *plan);

#endif

/* record.h - what a grouping computes, laid out: calls of primitives, the record of a group, its lists
 * (private to aggregate).
 *
 * A group is a record of fixed size: the state of every primitive, one behind the other, so that a row
 * touches one or two lines of memory whatever it is asked.  What a primitive needs of every row (the values
 * of a median) is a list beside the records, shared by primitives of the same argument. */
#ifndef STA_ANALYSE_OPERATORS_AGGREGATE_RECORD_H
#define STA_ANALYSE_OPERATORS_AGGREGATE_RECORD_H

#include "analyse/operators/aggregate.h"
#include "analyse/operators/aggregate/exact.h"
#include "analyse/operators/keys.h"
#include "analyse/operators/ranks.h"

enum sta_list_kind {
    STA_LIST_NONE,
    STA_LIST_VALUES, /* all values, ascending */
    STA_LIST_SET,    /* distinct values, ascending */
    STA_LIST_SPANS,  /* start and end, ascending by start: two words each */
    STA_LIST_TERMS   /* of exact sums */
};

/* Words of a list: integers and numbers as words that order like them, conditions 0 or 1, texts their number,
 * in the merge their rank. */
struct sta_list_shape {
    enum sta_list_kind kind;
    uint32_t argument;
    enum sta_type type;      /* of the argument */
    struct sta_texts *texts; /* TEXT */
    uint32_t *calls;         /* those that read it */
    uint32_t call_count;
};

static inline unsigned sta_list_width(const struct sta_list_shape *list)
{
    return list->kind == STA_LIST_SPANS ? 2 : 1;
}

#define STA_NO_LIST UINT32_MAX

struct sta_agg_call {
    struct sta_primitive primitive;
    const struct sta_agg_function *function;
    enum sta_type type;      /* of the result */
    size_t offset;           /* of its state in a record */
    uint32_t list;           /* or STA_NO_LIST */
    uint32_t leading;        /* argument without which a row does not count */
    uint32_t other;          /* second argument; leading itself where there is none */
    struct sta_texts *texts; /* of a first argument that is TEXT .. */
    struct sta_texts *by;    /* .. and of what ARGMAX compares */
};

struct sta_shape {
    enum sta_type *key_types;
    struct sta_texts **key_texts; /* by key; NULL where not TEXT */
    size_t key_count;
    bool keep_missing;
    struct sta_agg_call *calls;
    size_t call_count;
    struct sta_list_shape *lists;
    size_t list_count;
    struct sta_texts **argument_texts; /* by argument; NULL where not TEXT */
    size_t argument_count;
    size_t record;              /* bytes of states */
    struct sta_account *texts;  /* charged with what is kept by text */
    const _Atomic bool *cancel; /* asked by long sorts; NULL: never */
};

/** @texts: charged with what is kept by text; one of sta_account_init_texts, or NULL. */
void sta_shape_init(struct sta_shape *shape, const struct sta_aggregation_spec *asked,
                    struct sta_account *texts);
void sta_shape_fini(struct sta_shape *shape);

#endif

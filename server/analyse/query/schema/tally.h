/* tally.h - what one column holds, counted value by value (private to the schema of queries).
 *
 * Each worker counts for itself; the counts are added up afterwards, so that nothing depends on who saw which
 * block. */
#ifndef STA_ANALYSE_QUERY_SCHEMA_TALLY_H
#define STA_ANALYSE_QUERY_SCHEMA_TALLY_H

#include "analyse/expression/expression.h"

/* How often each integer occurs, as long as there are not too many. */
struct sta_integer_counts {
    int64_t *values;
    uint64_t *counts; /* 0: a free place */
    size_t capacity, used;
};

struct sta_tally {
    enum sta_type type;
    size_t most; /* distinct integers that are counted; 0: none */
    uint64_t missing;
    uint64_t *counts; /* TEXT: by code.  BOOL: false, true */
    size_t code_capacity;
    const struct sta_dictionary *texts; /* of the codes */
    struct sta_integer_counts integers; /* INT */
    bool overflowed;                    /* INT: there are more than `most` */
    bool any;
    int64_t least, largest;              /* INT */
    double least_number, largest_number; /* FLOAT */
};

void sta_tally_init(struct sta_tally *tally, enum sta_type type, size_t most);
void sta_tally_fini(struct sta_tally *tally);
/** Counts the first @rows rows. */
void sta_tally_add(struct sta_tally *tally, const struct sta_vector *vector, uint32_t rows);
/** Adds what another worker has counted. */
void sta_tally_merge(struct sta_tally *tally, const struct sta_tally *other);

/* One value of a tally. */
struct sta_tally_value {
    struct sta_text text; /* TEXT */
    int64_t integer;      /* INT, BOOL */
    uint64_t count;
};
/** The distinct values, most frequent first, then by value; free() it.  Not of FLOAT, nor of integers that
 * overflowed. */
struct sta_tally_value *sta_tally_values(const struct sta_tally *tally, size_t *count);

#endif

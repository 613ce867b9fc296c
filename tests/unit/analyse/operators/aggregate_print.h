/* aggregate_print.h - groups as lines of text, the same for the grouping and for the plain computation. */
#ifndef STA_TEST_GROUPING_PRINT_H
#define STA_TEST_GROUPING_PRINT_H

#include "aggregate_model.h"

struct model_printer {
    const struct model *model;
    struct sta_buffer *text;
};
void model_print_group(struct model_printer *printer, const struct sta_vector *keys,
                       const struct sta_vector *values, uint32_t row);
void model_print_int(struct sta_buffer *text, int64_t value);
void model_print_text(struct sta_buffer *text, const char *bytes, size_t length);
void model_print_missing(struct sta_buffer *text);
/** With a mark in front where the plain computation itself rounds, so that the last digits may differ. */
void model_print_number(struct sta_buffer *text, enum sta_aggregate aggregate, double value);

#endif

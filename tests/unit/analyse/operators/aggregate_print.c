/* Groups as lines of text. */
#include "aggregate_print.h"

#include <math.h>
#include <string.h>

void model_print_int(struct sta_buffer *text, int64_t value)
{
    sta_put_char(text, ' ');
    sta_put_int(text, value);
}

void model_print_text(struct sta_buffer *text, const char *bytes, size_t length)
{
    sta_put_char(text, ' ');
    sta_put_json_string(text, bytes, length);
}

void model_print_missing(struct sta_buffer *text)
{
    sta_put(text, " -", 2);
}

/* As digits they would take a third of the test's time. */
static void put_bits(struct sta_buffer *text, double value)
{
    uint64_t bits;
    value += 0.0; /* zero has one text, whatever its sign */
    memcpy(&bits, &value, sizeof bits);
    sta_put_uint(text, bits);
}

void model_print_number(struct sta_buffer *text, enum sta_aggregate aggregate, double value)
{
    bool rounded = aggregate == STA_AGGREGATE_STD || aggregate == STA_AGGREGATE_VAR;
    sta_put_char(text, ' ');
    if (rounded)
        sta_put_char(text, '~');
    if (isfinite(value))
        put_bits(text, value);
    else
        sta_put_char(text, '-');
}

static void print_value(struct sta_buffer *text, enum sta_aggregate aggregate,
                        const struct sta_vector *vector, uint32_t row)
{
    bool is_text = vector->type == STA_TYPE_TEXT || vector->type == STA_TYPE_LIST;
    struct sta_text value;
    if (is_text ? vector->codes[row] == STA_NO_CODE : vector->missing != NULL && vector->missing[row]) {
        model_print_missing(text);
        return;
    }
    switch (vector->type) {
    case STA_TYPE_BOOL:
        model_print_int(text, vector->bools[row]);
        break;
    case STA_TYPE_FLOAT:
        model_print_number(text, aggregate, vector->numbers[row]);
        break;
    case STA_TYPE_TEXT:
    case STA_TYPE_LIST:
        value = sta_dictionary_text(vector->texts, vector->codes[row]);
        model_print_text(text, value.bytes, value.length);
        break;
    default:
        model_print_int(text, vector->integers[row]);
    }
}

void model_print_group(struct model_printer *printer, const struct sta_vector *keys,
                       const struct sta_vector *values, uint32_t row)
{
    const struct model *model = printer->model;
    for (size_t k = 0; k < model->key_count; k++)
        print_value(printer->text, STA_AGGREGATE_FIRST, &keys[k], row);
    for (size_t p = 0; p < model->primitive_count; p++)
        print_value(printer->text, model->primitives[p].aggregate, &values[p], row);
    sta_put_char(printer->text, '\n');
}

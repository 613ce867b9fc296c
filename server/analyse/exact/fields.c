/* Arrays of the fields that are wanted. */
#include "analyse/exact/fields.h"

#include <stdlib.h>

#include "common/memory.h"

static unsigned wants_of(enum sta_field field)
{
    if (field <= STA_FIELD_TIME)
        return 0;
    if (field == STA_FIELD_SIZE)
        return STA_WANT_SIZES;
    if (field < STA_FIELD_BUSY)
        return STA_WANT_SIZE_BINS;
    if (field == STA_FIELD_BUSY)
        return STA_WANT_BUSY;
    return field == STA_FIELD_FILES ? STA_WANT_FILES : STA_WANT_UNITS;
}

static bool is_wanted(enum sta_field field, unsigned wants, bool metric)
{
    unsigned needs = wants_of(field);
    if (metric && (needs & ~(unsigned)(STA_WANT_SIZES | STA_WANT_BUSY)))
        return false;
    return (wants & needs) == needs;
}

void sta_fields_init(struct sta_fields *fields, size_t places, unsigned wants, bool metric)
{
    *fields = (struct sta_fields){.places = places};
    for (enum sta_field f = 0; f < STA_FIELDS; f++)
        if (is_wanted(f, wants, metric))
            fields->values[f] = sta_alloc_array(places + 1, sizeof *fields->values[f]);
}

void sta_fields_fini(struct sta_fields *fields)
{
    for (enum sta_field f = 0; f < STA_FIELDS; f++)
        free(fields->values[f]);
    *fields = (struct sta_fields){0};
}

double sta_fields_bytes(size_t places, unsigned wants, bool metric)
{
    double arrays = 0;
    for (enum sta_field f = 0; f < STA_FIELDS; f++)
        arrays += is_wanted(f, wants, metric);
    return arrays * sizeof(int64_t) * (double)places;
}

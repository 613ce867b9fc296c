/* Arrays of the fields that are wanted. */
#include "analyse/exact/fields.h"

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

int sta_fields_init(struct sta_fields *fields, struct sta_account *account, size_t cells, unsigned wants,
                    bool metric, struct sta_error *err)
{
    *fields = (struct sta_fields){.cells = cells, .account = account};
    for (enum sta_field f = 0; f < STA_FIELDS; f++) {
        if (!is_wanted(f, wants, metric))
            continue;
        fields->values[f] =
            sta_account_calloc(account, cells + 1, sizeof *fields->values[f], "the rows of this view", err);
        if (fields->values[f] == NULL)
            return err->status;
    }
    return STA_OK;
}

void sta_fields_fini(struct sta_fields *fields)
{
    for (enum sta_field f = 0; f < STA_FIELDS; f++)
        sta_account_free(fields->account, fields->values[f]);
    *fields = (struct sta_fields){0};
}

double sta_fields_bytes(size_t cells, unsigned wants, bool metric)
{
    double arrays = 0;
    for (enum sta_field f = 0; f < STA_FIELDS; f++)
        arrays += is_wanted(f, wants, metric);
    return arrays * sizeof(int64_t) * (double)cells;
}

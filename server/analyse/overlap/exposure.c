/* How single events of one set lie in the busy time of another: the sweep's figures as a table (overlap.md
 * section 2). */
#include <string.h>

#include "analyse/overlap/tables.h"

static void put_row(const struct sta_overlap_request *request, const struct sta_overlap_results *results,
                    struct sta_table *table, size_t row, uint32_t a, uint32_t b)
{
    const struct sta_sweep_exposed *sum = &results->exposed[a * request->set_count + b];
    const struct sta_set_sums *set = &results->sets[a];
    const char *names[] = {request->sets[a].name, request->sets[b].name};
    const int64_t counts[] = {sum->hidden, sum->partial, sum->exposed, set->instant};
    const __int128 sizes[] = {sum->size + set->instant_size, sum->size_exposed};
    struct sta_table_column *column = table->columns;
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_table_set_text(table, column++, row, names[i], strlen(names[i]));
    for (size_t i = 0; i < STA_COUNT_OF(counts); i++)
        sta_table_set_int(column++, row, counts[i]);
    sta_put_seconds(request, column++, row, sum->time);
    sta_put_seconds(request, column++, row, sum->time_exposed);
    for (size_t i = 0; i < STA_COUNT_OF(sizes); i++)
        sta_table_set_number(column++, row, (double)sizes[i] / STA_BYTE_PARTS);
}

void sta_overlap_exposure(const struct sta_overlap_request *request,
                          const struct sta_overlap_results *results, struct sta_table *table)
{
    static const struct {
        const char *name;
        enum sta_type type;
        const char *unit;
    } columns[] = {{"set", STA_TYPE_TEXT, NULL},    {"against", STA_TYPE_TEXT, NULL},
                   {"hidden", STA_TYPE_INT, NULL},  {"partial", STA_TYPE_INT, NULL},
                   {"exposed", STA_TYPE_INT, NULL}, {"instant", STA_TYPE_INT, NULL},
                   {"time", STA_TYPE_FLOAT, "s"},   {"time_exposed", STA_TYPE_FLOAT, "s"},
                   {"size", STA_TYPE_FLOAT, "B"},   {"size_exposed", STA_TYPE_FLOAT, "B"}};
    const uint32_t sets = request->set_count;
    sta_table_init(table, (size_t)sets * (sets - 1));
    for (size_t c = 0; c < STA_COUNT_OF(columns); c++)
        sta_table_add(table, columns[c].name, columns[c].type, columns[c].unit);
    size_t row = 0;
    for (uint32_t a = 0; a < sets; a++)
        for (uint32_t b = 0; b < sets; b++)
            if (a != b)
                put_row(request, results, table, row++, a, b);
}

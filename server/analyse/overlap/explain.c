/* The exact result and that of the bucket method, side by side. */

#include <string.h>

#include "analyse/overlap/tables.h"

#define USUAL_GRANULARITY_US 1000000

static void put_pair(const struct sta_overlap_request *asked, const struct sta_overlap_request *request,
                     const struct sta_buckets *buckets, struct sta_overlap_result *result, size_t row,
                     uint32_t first, uint32_t second)
{
    const char *names[] = {asked->sets[first].name, asked->sets[second].name};
    uint32_t a = sta_overlap_find_set(request, names[0]);
    uint32_t b = sta_overlap_find_set(request, names[1]);
    const double *busy = sta_table_find(&result->sets, "busy")->numbers;
    const double exact[] = {busy[first], busy[second],
                            sta_table_find(&result->pairs, "overlap")->numbers[row],
                            sta_table_find(&result->pairs, "a_minus_b")->numbers[row],
                            sta_table_find(&result->pairs, "b_minus_a")->numbers[row]};
    const __int128 bucket[] = {buckets->total[a], buckets->total[b], buckets->total[a] - buckets->minus[a][b],
                               buckets->minus[a][b], buckets->minus[b][a]};
    struct sta_table_column *column = result->explain.columns;
    for (size_t i = 0; i < STA_COUNT_OF(names); i++)
        sta_table_set_string(&result->explain, column++, row, names[i]);
    sta_table_set_number(column++, row, sta_overlap_seconds(request, request->scope.bin));
    for (size_t i = 0; i < STA_COUNT_OF(exact); i++) {
        sta_table_set_number(column++, row, exact[i]);
        sta_table_set_number(column++, row, sta_overlap_seconds(request, bucket[i]));
    }
}

static void put_table(const struct sta_overlap_request *asked, const struct sta_overlap_request *request,
                      const struct sta_buckets *buckets, struct sta_overlap_result *result)
{
    static const char *const columns[] = {"granularity",      "a_busy",    "a_bucket",        "b_busy",
                                          "b_bucket",         "overlap",   "overlap_bucket",  "a_minus_b",
                                          "a_minus_b_bucket", "b_minus_a", "b_minus_a_bucket"};
    struct sta_table *table = &result->explain;
    sta_table_init(table, result->pairs.rows);
    sta_table_add(table, "a", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "b", STA_TYPE_TEXT, NULL);
    for (size_t c = 0; c < STA_COUNT_OF(columns); c++)
        sta_add_seconds(table, columns[c]);
    size_t row = 0;
    for (uint32_t a = 0; a < asked->set_count; a++)
        for (uint32_t b = a + 1; b < asked->set_count; b++)
            put_pair(asked, request, buckets, result, row++, a, b);
}

int sta_overlap_explain(const struct sta_overlap_request *asked, const struct sta_budget *budget,
                        struct sta_overlap_result *result, struct sta_error *err)
{
    struct sta_overlap_request request = *asked; /* the same expressions, in bins */
    struct sta_buckets buckets;
    request.scope = (struct sta_scope_request){.kind = STA_SCOPE_BIN, .bin = asked->granularity};
    if (request.scope.bin == 0)
        request.scope.bin = USUAL_GRANULARITY_US * asked->ticks_per_us;
    request.first_only = sta_overlap_order_phases(&request);
    int rc = sta_buckets_measure(&request, budget, &buckets, err);
    if (rc == 0)
        put_table(asked, &request, &buckets, result);
    return rc;
}

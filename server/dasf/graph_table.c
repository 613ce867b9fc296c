/* The task graph as a table: a row for each task that is run or named, in the order of first mention. */
#include "dasf/stream.h"

static void fill_graph_row(const struct dasf_request *request, size_t row)
{
    const struct sta_dasf *dasf = request->dasf;
    struct sta_table *table = request->table;
    uint32_t node = dasf->mentioned[row], last = dasf->last[node];
    double rate;
    dasf_lend_text(&table->columns[0], row, dasf_node_text(dasf, node));
    if (last != DASF_NEVER) {
        const struct dasf_task *task = &dasf->tasks[last];
        const struct sta_dictionary *names = sta_tables_names(sta_snapshot_tables(dasf->snapshot));
        if (task->name != STA_NO_CODE)
            dasf_lend_text(&table->columns[1], row, sta_dictionary_text(names, task->name));
        sta_table_set_int(&table->columns[2], row, task->size);
        sta_table_set_number(&table->columns[3], row, task->duration);
    }
    sta_table_set_int(&table->columns[4], row, dasf->before.first[node + 1] - dasf->before.first[node]);
    if (dasf->input_size[node] < INT64_MAX)
        sta_table_set_int(&table->columns[5], row, dasf->input_size[node]);
    if (dasf_throughput(dasf, node, &rate) && (last != DASF_NEVER || request->query->compatible))
        sta_table_set_number(&table->columns[6], row, rate);
}

static void fill_graph_rows(const void *context, size_t first, size_t end)
{
    for (size_t row = first; row < end; row++)
        fill_graph_row(context, row);
}

int dasf_graph(struct dasf_request *request, struct sta_error *err)
{
    struct sta_table *table = request->table;
    int status = dasf_check_durations(request, err);
    if (status != STA_OK)
        return status;
    sta_table_init(table, request->dasf->mention_count);
    sta_table_count_in(table, request->budget->account);
    sta_table_add(table, "key", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "size", STA_TYPE_INT, "B");
    sta_table_add(table, "duration", STA_TYPE_FLOAT, "s");
    sta_table_add(table, "predecessors", STA_TYPE_INT, NULL);
    sta_table_add(table, "input_size", STA_TYPE_INT, "B");
    sta_table_add(table, "throughput", STA_TYPE_FLOAT, "B/s");
    for (uint32_t row = 0; row < request->dasf->mention_count; row++)
        table->columns[5].too_large += request->dasf->input_size[request->dasf->mentioned[row]] == INT64_MAX;
    return dasf_fill_rows(request, fill_graph_rows, request, err);
}

/* Times the exact summary, a time series and flat views of a trace, without a daemon: ingests into a scratch
 * store, then asks again and again.
 *
 *   bench_summary [-w WORKERS] [-p PRESET] [-n ROUNDS] [-o QUESTION] [-F] [-P] CONFIG_DIR STORE_DIR [TRACE]
 *
 * TRACE is ingested into STORE_DIR; without it the first trace there is taken.  -o asks one query alone:
 * summary, series or the key of a view.  -F turns the preset's filters off, -P prints the summary, one value
 * a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "analyse/analyse.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "decode/decode.h"
#include "store/store.h"

struct options {
    unsigned workers, rounds;
    const char *preset, *config, *store, *trace;
    const char *only; /* NULL: all queries */
    bool print, filters;
};

static void must(int rc, const struct sta_error *err)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* ---- ingest */

static int take_batch(void *context, unsigned worker, struct sta_batch *batch, struct sta_error *err)
{
    return sta_writer_add(context, worker, batch->source, batch, err);
}

static void ingest(struct sta_store *store, const struct options *options, char id[STA_TRACE_ID_SIZE])
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry = {.path = sta_strdup(options->trace), .name = sta_strdup("bench")};
    struct sta_listing listing;
    struct sta_roots *roots;
    struct sta_writer *writer;
    struct sta_decode_progress progress = {0};
    struct sta_writer_options writing = {.workers = options->workers, .memory = (size_t)1 << 30};
    must(sta_store_add(store, &entry, &err), &err);
    must(sta_roots_create((const char *const[]){"/"}, 1, &roots, &err), &err);
    must(sta_listing_create(&listing, roots, options->trace, NULL, &err), &err);
    must(sta_writer_begin(store, entry.id, NULL, NULL, &writing, &writer, &err), &err);
    struct sta_decode_file *files = sta_alloc_array(listing.count + 1, sizeof *files);
    for (size_t i = 0; i < listing.count; i++) {
        uint32_t number = sta_writer_add_source(writer, listing.files[i].path);
        files[i].file = sta_listing_path(&listing, options->trace, listing.files[i].path);
        files[i].source = sta_writer_source(writer, number);
    }
    struct sta_decode_request request = {.roots = roots,
                                         .kind = STA_TRACE_EVENTS,
                                         .files = files,
                                         .file_count = listing.count,
                                         .tables = sta_writer_tables(writer),
                                         .workers = options->workers,
                                         .progress = &progress,
                                         .batch = take_batch,
                                         .context = writer};
    must(sta_decode_run(&request, &err), &err);
    must(sta_writer_publish(writer, &err), &err);
    memcpy(id, entry.id, sizeof entry.id);
    sta_trace_entry_fini(&entry);
    sta_listing_fini(&listing);
    sta_roots_destroy(roots);
    free(files);
}

/* ---- asking */

/* Wall and processor time, since a shared machine makes the first alone say little. */
struct moment {
    uint64_t wall_ns;
    double cpu_ms;
};

static struct moment now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    double rest_us = (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return (struct moment){uv_hrtime(), seconds * 1e3 + rest_us / 1e3};
}

static void say(const char *what, struct moment start)
{
    struct moment end = now();
    fprintf(stderr, "%-12s %8.2f ms, %8.2f ms of processors\n", what,
            (double)(end.wall_ns - start.wall_ns) / 1e6, end.cpu_ms - start.cpu_ms);
}

static void print_table(const struct sta_table *table, const struct sta_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        if (facts->items[i].is_number)
            printf("- %s %.17g\n", facts->items[i].name, facts->items[i].number);
        else
            printf("- %s %lld\n", facts->items[i].name, (long long)facts->items[i].integer);
    for (size_t c = 1; c < table->column_count; c++)
        for (size_t row = 0; row < table->rows; row++) {
            const struct sta_table_column *column = &table->columns[c];
            const char *layer = table->columns[0].texts[row].bytes;
            if (column->missing[row] || column->type == STA_TYPE_TEXT)
                continue;
            if (column->type == STA_TYPE_INT)
                printf("%s %s %lld\n", layer, column->name, (long long)column->integers[row]);
            else
                printf("%s %s %.17g\n", layer, column->name, column->numbers[row]);
        }
}

static void ask_summary(const struct sta_view_query *query, const struct options *options)
{
    struct sta_budget budget = {.workers = options->workers, .memory = (size_t)1 << 30};
    const struct sta_table_query summary = {.common = query, .table = STA_VIEW_SUMMARY};
    for (unsigned i = 0; i < options->rounds; i++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_table table;
        struct sta_facts facts;
        struct moment start = now();
        must(sta_view_exact(&summary, &budget, &table, &facts, &err), &err);
        say("summary", start);
        if (options->print && i == 0)
            print_table(&table, &facts);
        sta_table_fini(&table);
    }
}

static void ask_series(const struct sta_view_query *query, const struct options *options)
{
    static const char *const metrics[] = {"count", "time", "size", "bw", "ops", "busy", "bw_busy"};
    struct sta_budget budget = {.workers = options->workers, .memory = (size_t)1 << 30};
    struct sta_series series = {.metrics = metrics,
                                .metric_count = STA_COUNT_OF(metrics),
                                .granularity_us = 1000,
                                .max_points = 1000};
    for (unsigned i = 0; i < options->rounds; i++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_table table;
        struct sta_facts facts;
        struct moment start = now();
        must(sta_timeseries_exact(query, &series, &budget, &table, &facts, &err), &err);
        say("time series", start);
        sta_table_fini(&table);
    }
}

static void ask_view(const struct sta_view_query *query, const struct options *options, const char *by)
{
    struct sta_budget budget = {.workers = options->workers, .memory = (size_t)2 << 30};
    struct sta_table_query view = {
        .common = query, .table = STA_VIEW_FLAT, .by = by, .granularity_us = 5000000};
    for (unsigned i = 0; i < options->rounds; i++) {
        struct sta_error err = STA_ERROR_INIT;
        struct sta_table table;
        struct sta_facts facts;
        struct moment start = now();
        must(sta_view_exact(&view, &budget, &table, &facts, &err), &err);
        say(by, start);
        if (i == 0)
            fprintf(stderr, "%-12s %zu rows, %zu columns\n", "", table.rows, table.column_count);
        sta_table_fini(&table);
    }
}

static struct sta_snapshot *open_trace(struct sta_store *store, const struct options *options)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    char id[STA_TRACE_ID_SIZE] = "";
    struct moment start = now();
    if (options->trace != NULL) {
        ingest(store, options, id);
        say("ingest", start);
    } else {
        size_t count;
        struct sta_trace_entry *entries = sta_store_list(store, &count);
        if (count > 0)
            memcpy(id, entries[0].id, sizeof id);
        for (size_t i = 0; i < count; i++)
            sta_trace_entry_fini(&entries[i]);
        free(entries);
    }
    start = now();
    must(sta_snapshot_open(store, id, &snapshot, &err), &err);
    say("open", start);
    return snapshot;
}

static struct sta_presets *load_presets(const char *config)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_presets *presets;
    char *functions = sta_sprintf("%s/functions.yaml", config);
    char *folder = sta_sprintf("%s/presets", config);
    const char *const folders[] = {folder};
    must(sta_presets_load(functions, folders, 1, &presets, &err), &err);
    free(functions);
    free(folder);
    return presets;
}

static struct options options_of(int argc, char **argv)
{
    struct options options = {.workers = sta_usable_cores(), .rounds = 5, .preset = "dlio", .filters = true};
    for (int letter; (letter = getopt(argc, argv, "w:p:n:o:FP")) != -1;) {
        if (letter == 'w')
            options.workers = (unsigned)strtoul(optarg, NULL, 10);
        else if (letter == 'p')
            options.preset = optarg;
        else if (letter == 'n')
            options.rounds = (unsigned)strtoul(optarg, NULL, 10);
        else if (letter == 'o')
            options.only = optarg;
        else if (letter == 'F')
            options.filters = false;
        else if (letter == 'P')
            options.print = true;
        else
            exit(2);
    }
    if (argc - optind < 2) {
        fprintf(stderr, "usage: bench_summary [-w WORKERS] [-p PRESET] [-n ROUNDS] [-o QUESTION] [-F] [-P] "
                        "CONFIG_DIR STORE_DIR [TRACE]\n");
        exit(2);
    }
    options.config = argv[optind];
    options.store = argv[optind + 1];
    options.trace = argv[optind + 2];
    return options;
}

static void ask_all(const struct sta_view_query *query, const struct options *options)
{
    static const char *const views[] = {"time_range", "process", "file_name"};
    const char *only = options->only;
    if (only == NULL || strcmp(only, "summary") == 0)
        ask_summary(query, options);
    if (only == NULL || strcmp(only, "series") == 0)
        ask_series(query, options);
    for (size_t i = 0; i < STA_COUNT_OF(views); i++)
        if (only == NULL || strcmp(only, views[i]) == 0)
            ask_view(query, options, views[i]);
}

int main(int argc, char **argv)
{
    struct options options = options_of(argc, argv);
    struct sta_error err = STA_ERROR_INIT;
    struct sta_store *store;
    unsigned cleaned;
    must(sta_store_open(options.store, &store, &cleaned, &err), &err);
    struct sta_presets *presets = load_presets(options.config);
    struct sta_snapshot *snapshot = open_trace(store, &options);
    struct sta_view_query query = {
        .snapshot = snapshot, .presets = presets, .preset = options.preset, .filters = options.filters};
    ask_all(&query, &options);
    sta_snapshot_release(snapshot);
    sta_presets_release(presets);
    sta_store_close(store);
    return 0;
}

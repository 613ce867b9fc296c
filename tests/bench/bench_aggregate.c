/* Times the grouping alone, on made-up events in order of time: update and finish, by the clock on the wall
 * and, in brackets, of the processors, since a shared machine makes the first alone say little; and the
 * latter by row.
 *
 *   bench_aggregate [-w WORKERS] [-r ROWS] [-m MEMORY_MIB] [-n ROUNDS] [CASE ..] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "analyse/operators/aggregate.h"
#include "common/memory.h"
#include "common/parallel.h"

enum column { BIN, PROCESS, CATEGORY, FUNCTION, SIZE, DURATION, RATE, COLUMNS };
#define PROCESSES 64
#define CATEGORIES 12
#define FUNCTIONS 90

struct events {
    uint64_t rows;
    int64_t *bins, *sizes, *durations, *at;
    uint64_t *place;
    uint32_t *processes, *categories, *functions;
    double *rates;
    struct sta_dictionary *texts;
};

struct query {
    const char *name;
    enum column keys[4];
    size_t key_count;
    struct sta_primitive primitives[4];
    size_t primitive_count;
};

static const struct query queries[] = {
    {"many: bin process category function, count sum sum",
     {BIN, PROCESS, CATEGORY, FUNCTION},
     4,
     {{STA_AGGREGATE_ROWS, {0}, 0, 0},
      {STA_AGGREGATE_SUM, {STA_TYPE_INT}, 0, SIZE},
      {STA_AGGREGATE_SUM, {STA_TYPE_INT}, 0, DURATION}},
     3},
    {"function first: function process bin, count sum sum",
     {FUNCTION, PROCESS, BIN},
     3,
     {{STA_AGGREGATE_ROWS, {0}, 0, 0},
      {STA_AGGREGATE_SUM, {STA_TYPE_INT}, 0, SIZE},
      {STA_AGGREGATE_SUM, {STA_TYPE_INT}, 0, DURATION}},
     3},
    {"few: category, count sum sum",
     {CATEGORY},
     1,
     {{STA_AGGREGATE_ROWS, {0}, 0, 0},
      {STA_AGGREGATE_SUM, {STA_TYPE_INT}, 0, SIZE},
      {STA_AGGREGATE_SUM, {STA_TYPE_INT}, 0, DURATION}},
     3},
    {"no keys, count sum max",
     {0},
     0,
     {{STA_AGGREGATE_ROWS, {0}, 0, 0},
      {STA_AGGREGATE_SUM, {STA_TYPE_INT}, 0, SIZE},
      {STA_AGGREGATE_MAX, {STA_TYPE_INT}, 0, DURATION}},
     3},
    {"function, sum and std of numbers",
     {FUNCTION},
     1,
     {{STA_AGGREGATE_SUM, {STA_TYPE_FLOAT}, 0, RATE}, {STA_AGGREGATE_STD, {STA_TYPE_FLOAT}, 0, RATE}},
     2},
    {"category, median", {CATEGORY}, 1, {{STA_AGGREGATE_MEDIAN, {STA_TYPE_INT}, 0.5, DURATION}}, 1},
    {"bin process, median", {BIN, PROCESS}, 2, {{STA_AGGREGATE_MEDIAN, {STA_TYPE_INT}, 0.5, DURATION}}, 1},
    {"function, nunique of size", {FUNCTION}, 1, {{STA_AGGREGATE_NUNIQUE, {STA_TYPE_INT}, 0, SIZE}}, 1},
    {"rate (all different), count", {RATE}, 1, {{STA_AGGREGATE_ROWS, {0}, 0, 0}}, 1},
};

static uint64_t state = 1;

static uint64_t random_bits(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state ^ state >> 29) * UINT64_C(0xBF58476D1CE4E5B9) >> 16;
}

static double processor_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void must(int rc, const struct sta_error *err)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* A function belongs to one category, as it does in traces. */
static void make_events(struct events *events)
{
    char text[32];
    uint64_t rows = events->rows;
    events->texts = sta_dictionary_create();
    for (unsigned i = 0; i < 256; i++) {
        snprintf(text, sizeof text, "name_%u", i * 7919 % 256);
        sta_dictionary_intern(events->texts, text, strlen(text));
    }
    int64_t **integers[] = {&events->bins, &events->sizes, &events->durations, &events->at};
    uint32_t **codes[] = {&events->processes, &events->categories, &events->functions};
    for (size_t i = 0; i < STA_COUNT_OF(integers); i++)
        *integers[i] = sta_alloc_array(rows, sizeof **integers);
    for (size_t i = 0; i < STA_COUNT_OF(codes); i++)
        *codes[i] = sta_alloc_array(rows, sizeof **codes);
    events->rates = sta_alloc_array(rows, sizeof *events->rates);
    events->place = sta_alloc_array(rows, sizeof *events->place);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t r = random_bits();
        events->bins[i] = (int64_t)(i * 300 / rows);
        events->processes[i] = (uint32_t)(r % PROCESSES);
        events->functions[i] = (uint32_t)((r >> 8) % FUNCTIONS);
        events->categories[i] = events->functions[i] % CATEGORIES;
        events->sizes[i] = (int64_t)(r >> 20) & 0xffff;
        events->durations[i] = (int64_t)(r >> 30 & 0xfffff);
        events->rates[i] = (double)(r >> 11) / 977;
        events->at[i] = (int64_t)i;
        events->place[i] = i;
    }
}

struct round {
    const struct events *events;
    struct sta_aggregation *grouping;
    _Atomic uint64_t next;
};

static struct sta_vector vector_of(const struct events *events, enum column column, uint64_t first)
{
    struct sta_vector vector = {.type = STA_TYPE_TEXT, .texts = events->texts};
    const uint32_t *codes[COLUMNS] = {
        [PROCESS] = events->processes, [CATEGORY] = events->categories, [FUNCTION] = events->functions};
    const int64_t *integers[COLUMNS] = {
        [BIN] = events->bins, [SIZE] = events->sizes, [DURATION] = events->durations};
    if (codes[column] != NULL)
        vector.codes = codes[column] + first;
    else if (integers[column] != NULL)
        vector = (struct sta_vector){.type = STA_TYPE_INT, .integers = integers[column] + first};
    else
        vector = (struct sta_vector){.type = STA_TYPE_FLOAT, .numbers = events->rates + first};
    return vector;
}

static const struct query *asked;

static void take_row_groups(void *context, unsigned worker)
{
    struct round *round = context;
    const struct events *events = round->events;
    struct sta_error err = STA_ERROR_INIT;
    uint64_t row_group;
    while ((row_group = atomic_fetch_add(&round->next, 1)) * STA_VECTOR_ROWS < events->rows) {
        uint64_t first = row_group * STA_VECTOR_ROWS;
        struct sta_vector keys[4];
        struct sta_vector arguments[COLUMNS];
        for (size_t k = 0; k < asked->key_count; k++)
            keys[k] = vector_of(events, asked->keys[k], first);
        for (enum column c = BIN; c < COLUMNS; c++)
            arguments[c] = vector_of(events, c, first);
        struct sta_aggregation_input rows = {.count =
                                                 (uint32_t)STA_MIN(events->rows - first, STA_VECTOR_ROWS),
                                             .keys = keys,
                                             .arguments = arguments,
                                             .at = events->at + first,
                                             .place = events->place + first};
        must(sta_aggregation_consume(round->grouping, worker, &rows, &err), &err);
    }
}

static int count_rows(void *self, const struct sta_vector *keys, const struct sta_vector *values,
                      uint32_t rows, struct sta_error *err)
{
    *(uint64_t *)self += rows;
    return 0;
}

static void time_query(const struct events *events, const struct sta_budget *budget)
{
    enum sta_type key_types[4];
    struct sta_error err = STA_ERROR_INIT;
    struct round round = {.events = events};
    uint64_t groups = 0;
    struct sta_aggregation_output sink = {.self = &groups, .take = count_rows};
    for (size_t k = 0; k < asked->key_count; k++)
        key_types[k] = vector_of(events, asked->keys[k], 0).type;
    struct sta_aggregation_spec shape = {.keys = key_types,
                                         .key_count = asked->key_count,
                                         .primitives = asked->primitives,
                                         .primitive_count = asked->primitive_count};
    uint64_t start = uv_hrtime();
    double cpu_start = processor_ms();
    must(sta_aggregation_create(&shape, budget, "/tmp", &round.grouping, &err), &err);
    sta_parallel_run(budget->workers, take_row_groups, &round);
    uint64_t updated = uv_hrtime();
    double cpu_updated = processor_ms();
    must(sta_aggregation_finish(round.grouping, &sink, &err), &err);
    uint64_t finished = uv_hrtime();
    double cpu_finished = processor_ms();
    struct sta_aggregation_figures figures = sta_aggregation_figures(round.grouping);
    sta_aggregation_destroy(round.grouping);
    printf("%-52s %8lu groups  update %6.1f (%6.1f)  finish %6.1f (%6.1f) ms  %5.1f ns/row  %5.0f MiB  "
           "spilled %.0f\n",
           asked->name, (unsigned long)groups, (double)(updated - start) / 1e6, cpu_updated - cpu_start,
           (double)(finished - updated) / 1e6, cpu_finished - cpu_updated,
           (cpu_finished - cpu_start) * 1e6 / (double)events->rows, (double)figures.memory / 1048576,
           (double)figures.spilled / 1048576);
}

int main(int argc, char **argv)
{
    struct events events = {.rows = 4000000};
    struct sta_budget budget = {.workers = sta_usable_cores(), .memory = (size_t)4 << 30};
    unsigned rounds = 3;
    for (int option; (option = getopt(argc, argv, "w:r:m:n:")) != -1;)
        if (option == 'w')
            budget.workers = (unsigned)atoi(optarg);
        else if (option == 'r')
            events.rows = (uint64_t)atoll(optarg);
        else if (option == 'm')
            budget.memory = (size_t)atoll(optarg) << 20;
        else if (option == 'n')
            rounds = (unsigned)atoi(optarg);
    make_events(&events);
    for (size_t q = 0; q < STA_COUNT_OF(queries); q++) {
        bool wanted = optind == argc;
        for (int i = optind; i < argc; i++)
            wanted = wanted || (size_t)atoi(argv[i]) == q;
        asked = &queries[q];
        for (unsigned i = 0; wanted && i < rounds; i++)
            time_query(&events, &budget);
    }
    return 0;
}

/* totals.c - what was written, and its JSON on standard output: what a reader of the trace must find, to the
 * microsecond. */
#include "generator.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void totals_init(struct totals *totals)
{
    *totals = (struct totals){.first_ts = INT64_MAX, .last_te = INT64_MIN};
}

void totals_fini(struct totals *totals)
{
    idset_fini(&totals->files);
}

static void sums_add(struct sums *sum, const struct sums *part)
{
    sum->count += part->count;
    sum->time += part->time;
    sum->size += part->size;
}

static void layer_add(struct layer_totals *sum, const struct layer_totals *part)
{
    sums_add(&sum->sums, &part->sums);
    sum->busy_group_sum += part->busy_group_sum;
    sum->exposed_group_sum += part->exposed_group_sum;
    if (part->exposed_group_max > sum->exposed_group_max)
        sum->exposed_group_max = part->exposed_group_max;
}

void totals_add(struct totals *sum, const struct totals *part)
{
#define X(name) sum->name += part->name;
    LEDGER_LIST(X)
    COUNT_LIST(X)
#undef X
    for (int i = 0; i < KINDS; i++)
        sums_add(&sum->kinds[i], &part->kinds[i]);
    for (int i = 0; i < LAYERS_LIMIT; i++)
        layer_add(&sum->layers[i], &part->layers[i]);
    for (int i = 0; i < FAULTS; i++)
        sum->faults[i] += part->faults[i];
    if (part->first_ts < sum->first_ts)
        sum->first_ts = part->first_ts;
    if (part->last_te > sum->last_te)
        sum->last_te = part->last_te;
    for (size_t i = 0; i < part->files.capacity; i++)
        if (part->files.slots[i])
            idset_add(&sum->files, part->files.slots[i]);
}

static void print_functions(const struct totals *totals)
{
    const char *separator = "";
    printf("  \"functions\": [");
    for (int i = 0; i < KINDS; i++) {
        const struct sums *sums = &totals->kinds[i];
        if (!sums->count)
            continue;
        printf("%s\n    {\"cat\": \"", separator);
        for (const char *c = kind_infos[i].cat; *c; c++)
            putchar(tolower((unsigned char)*c));
        printf("\", \"func_name\": \"%s\", \"count\": %" PRIu64 ", \"time_us\": %" PRId64
               ", \"size\": %" PRId64 "}",
               kind_infos[i].name, sums->count, sums->time, sums->size);
        separator = ",";
    }
    printf("\n  ],\n");
}

static void print_layers(const struct totals *totals, const struct shape_layers *shape)
{
    printf("  \"layers\": [");
    for (unsigned i = 0; i < shape->count; i++) {
        const struct layer_totals *layer = &totals->layers[i];
        bool exposed = i != shape->compute && !(shape->above_compute >> i & 1);
        printf("%s\n    {\"name\": \"%s\", \"count\": %" PRIu64 ", \"time_us\": %" PRId64
               ", \"size\": %" PRId64 ", \"busy_group_sum_us\": %" PRId64,
               i ? "," : "", shape->names[i], layer->sums.count, layer->sums.time, layer->sums.size,
               layer->busy_group_sum);
        if (exposed)
            printf(", \"exposed_group_sum_us\": %" PRId64 ", \"exposed_group_max_us\": %" PRId64
                   ", \"hidden_group_sum_us\": %" PRId64,
                   layer->exposed_group_sum, layer->exposed_group_max,
                   layer->busy_group_sum - layer->exposed_group_sum);
        printf("}");
    }
    printf("\n  ],\n");
}

static void print_faults(const struct totals *totals)
{
    static const char *const names[FAULTS] = {
#define X(id, name, help) [FAULT_##id] = name,
        FAULT_LIST(X)
#undef X
    };
    printf("  \"faults\": {");
    for (int i = 0; i < FAULTS; i++)
        printf("%s\"%s\": %" PRIu64, i ? ", " : "", names[i], totals->faults[i]);
    printf("},\n");
}

void totals_print(const struct totals *totals, const struct options *options, unsigned hosts,
                  unsigned outputs)
{
    printf("{\n  \"preset\": \"%s\",\n  \"ledger\": {\"files\": %u",
           options->shape == SHAPE_AI ? "ai" : "dlio", outputs);
#define X(name) printf(", \"" #name "\": %" PRIu64, totals->name);
    LEDGER_LIST(X)
#undef X
    printf("},\n  \"truncated_files\": %" PRIu64 ",\n  \"unresolved_file_hashes\": %" PRIu64 ",\n",
           totals->truncated, totals->unresolved);
    printf("  \"events\": %" PRIu64 ",\n  \"hosts\": %u,\n  \"processes\": %" PRIu64
           ",\n  \"threads\": %" PRIu64 ",\n  \"files\": %zu,\n",
           totals->events, hosts, totals->processes, totals->threads, totals->files.count);
    printf("  \"origin_us\": %" PRId64 ",\n  \"job_time_us\": %" PRId64 ",\n", totals->first_ts,
           totals->last_te - totals->first_ts);
    printf("  \"filtered\": {\"by_file\": %" PRIu64 ", \"by_function\": %" PRIu64
           "},\n  \"unmatched\": %" PRIu64 ",\n  \"multiple\": %" PRIu64 ",\n",
           totals->dropped_by_file, totals->dropped_by_function, totals->unmatched, totals->multiple);
    print_functions(totals);
    print_faults(totals);
    print_layers(totals, &shape_layers[options->shape]);
    printf("  \"seed\": %" PRIu64 "\n}\n", options->seed);
}

/* ---- sets of file ids */

static void idset_grow(struct idset *set)
{
    struct idset old = *set;
    set->capacity = old.capacity ? old.capacity * 2 : 64;
    set->count = 0;
    set->slots = calloc(set->capacity, sizeof *set->slots);
    if (!set->slots)
        abort();
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i])
            idset_add(set, old.slots[i]);
    free(old.slots);
}

bool idset_add(struct idset *set, uint64_t id)
{
    if (set->count * 2 >= set->capacity)
        idset_grow(set);
    size_t slot = mix64(id) & (set->capacity - 1);
    while (set->slots[slot] && set->slots[slot] != id)
        slot = (slot + 1) & (set->capacity - 1);
    bool new = !set->slots[slot];
    set->slots[slot] = id;
    set->count += new;
    return new;
}

void idset_fini(struct idset *set)
{
    free(set->slots);
}

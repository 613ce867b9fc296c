/* Contributions, cells and accumulators.  One lock guards the maps and all growth. */
#include "analyse/exact/contributions.h"

#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX

static void init_index(const struct sta_contributions *contributions, struct sta_unit_index *index,
                       uint32_t units)
{
    index->units = contributions->options.few_cells ? units : 0;
    index->map.account = contributions->options.account;
}

/* Units other than threads are numbered: processes, groups, a missing host, hosts. */
static uint32_t first_host(const struct sta_contributions_options *options)
{
    return options->entities->process_count + options->groups->group_count;
}

static void fini_index(struct sta_unit_index *index)
{
    for (size_t i = 0; i < index->table_capacity; i++)
        sta_account_free(index->map.account, index->tables[i]);
    sta_account_free(index->map.account, index->tables);
    sta_map_fini(&index->map);
}

static void count_processes(struct sta_contributions *contributions)
{
    const struct sta_contributions_options *options = &contributions->options;
    const struct sta_rank_groups *groups = options->groups;
    contributions->group_sizes =
        sta_account_calloc(options->account, (size_t)groups->group_count + 1, 1,
                           "what the rows of this view measure by process", &contributions->failure);
    for (uint32_t p = 0; contributions->group_sizes != NULL && p < options->entities->process_count; p++) {
        uint8_t *size = &contributions->group_sizes[groups->group_of_process[p]];
        *size = (uint8_t)STA_MIN(*size + 1, 2);
    }
}

struct sta_contributions *sta_contributions_create(const struct sta_contributions_options *options)
{
    struct sta_contributions *contributions = sta_alloc(sizeof *contributions);
    contributions->options = *options;
    contributions->contributions.size = sizeof(struct sta_contribution *);
    contributions->accumulators.size = sizeof(struct sta_exact_accumulator);
    contributions->cells.size = sizeof(struct sta_cell);
    contributions->unit_sets.size = sizeof(struct sta_unit_set);
    contributions->contributions.account = contributions->accumulators.account =
        contributions->cells.account = contributions->unit_sets.account = options->account;
    contributions->by_key.account = contributions->cells_by_key.account = options->account;
    init_index(contributions, &contributions->set_of_thread, options->entities->thread_count);
    init_index(contributions, &contributions->number_of_unit,
               first_host(options) + 1 + sta_dictionary_count(options->entities->hosts));
    contributions->memory.account = options->account;
    contributions->failure = (struct sta_error)STA_ERROR_INIT;
    if (options->wants & STA_WANT_UNITS)
        count_processes(contributions);
    /* of each layer five, of each metric one */
    contributions->scratch =
        sta_alloc_array((size_t)options->shape->layer_count * 5 + options->shape->metric_count + 1,
                        sizeof *contributions->scratch);
    contributions->layer_cells =
        sta_alloc_array((size_t)options->shape->layer_count + 1, sizeof *contributions->layer_cells);
    contributions->layer_sets =
        sta_alloc_array((size_t)options->shape->layer_count + 1, sizeof *contributions->layer_sets);
    STA_ASSERT(uv_mutex_init(&contributions->lock) == 0);
    return contributions;
}

void sta_contributions_destroy(struct sta_contributions *contributions)
{
    if (contributions == NULL)
        return;
    uv_mutex_destroy(&contributions->lock);
    for (size_t i = 0; i < contributions->stream_capacity; i++)
        sta_account_free(contributions->options.account, contributions->streams[i]);
    sta_account_free(contributions->options.account, contributions->streams);
    sta_map_fini(&contributions->by_key);
    sta_map_fini(&contributions->cells_by_key);
    fini_index(&contributions->set_of_thread);
    fini_index(&contributions->number_of_unit);
    sta_segmented_fini(&contributions->contributions);
    sta_segmented_fini(&contributions->accumulators);
    sta_segmented_fini(&contributions->cells);
    sta_segmented_fini(&contributions->unit_sets);
    sta_arena_fini(&contributions->memory);
    sta_account_free(contributions->options.account, contributions->group_sizes);
    free(contributions->scratch);
    free(contributions->layer_cells);
    free(contributions->layer_sets);
    free(contributions);
}

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Numbers by index, none of which is known. */
static void *new_numbers(struct sta_account *account, size_t count, size_t size, struct sta_error *err)
{
    void *numbers =
        sta_account_alloc(account, count, size, "what the rows of this view measure by thread", err);
    if (numbers != NULL)
        memset(numbers, 0xff, count * size);
    return numbers;
}

/* ---- cells and accumulators; with the lock held.  Each returns false once memory was refused, and says so
 * in `failure`. */

static bool is_compared(const struct sta_contributions *contributions, uint32_t layer)
{
    const struct sta_exact_shape_layer *shape = &contributions->options.shape->layers[layer];
    return shape->exposed || shape->has_children;
}

static bool new_accumulator(struct sta_contributions *contributions, enum sta_accumulator_type type,
                            uint32_t cell)
{
    struct sta_exact_accumulator *accumulator =
        sta_segmented_add(&contributions->accumulators, &contributions->failure);
    if (accumulator == NULL)
        return false;
    const bool of_group = type == STA_ACCUMULATOR_GROUP || type == STA_ACCUMULATOR_ALONE;
    const bool compared =
        of_group && is_compared(contributions, sta_contributions_cell(contributions, cell)->layer);
    *accumulator =
        (struct sta_exact_accumulator){cell, type, compared ? contributions->compared++ : STA_NOT_COMPARED};
    return true;
}

static bool make_cell(struct sta_contributions *contributions, uint32_t layer, uint32_t key)
{
    const uint32_t number = contributions->cells.count;
    const uint32_t metrics = contributions->options.shape->layers[layer].metric_count;
    struct sta_cell *cell = sta_segmented_add(&contributions->cells, &contributions->failure);
    if (cell == NULL)
        return false;
    *cell = (struct sta_cell){.layer = layer,
                              .key = key,
                              .first_accumulator = contributions->accumulators.count,
                              .first_metric = contributions->metric_cells};
    bool good = new_accumulator(contributions, STA_ACCUMULATOR_ROW, number);
    for (uint32_t m = 0; good && contributions->options.wants & STA_WANT_METRICS && m < metrics; m++)
        good = new_accumulator(contributions, STA_ACCUMULATOR_METRIC, contributions->metric_cells++);
    return good;
}

static bool cell_of(struct sta_contributions *contributions, uint32_t layer, uint32_t key, uint32_t *number)
{
    bool added;
    *number =
        sta_map_intern(&contributions->cells_by_key, pair(layer, key), contributions->cells.count, &added);
    return !added || make_cell(contributions, layer, key);
}

/* The table of a cell. */
static uint32_t *table_of(struct sta_contributions *contributions, struct sta_unit_index *index,
                          uint32_t cell)
{
    struct sta_account *account = contributions->options.account;
    struct sta_error *failure = &contributions->failure;
    if (STA_GROW_ZEROED(account, index->tables, index->table_capacity, (size_t)cell + 1, failure) != 0)
        return NULL;
    uint32_t **table = &index->tables[cell];
    if (*table == NULL)
        *table = new_numbers(account, index->units, sizeof **table, failure);
    return *table;
}

/* The number of a unit in a cell, @fresh when it has none yet. */
static bool number_unit(struct sta_contributions *contributions, struct sta_unit_index *index, uint32_t cell,
                        uint32_t unit, uint32_t fresh, uint32_t *number, bool *added)
{
    if (index->units == 0) {
        *number = sta_map_intern(&index->map, pair(cell, unit), fresh, added);
        return true;
    }
    uint32_t *table = table_of(contributions, index, cell);
    if (table == NULL)
        return false;
    *added = table[unit] == STA_NO_CODE;
    *number = table[unit] = *added ? fresh : table[unit];
    return true;
}

/* That of a process, a group or a host. */
static bool accumulator_of(struct sta_contributions *contributions, enum sta_accumulator_type type,
                           uint32_t cell, uint32_t unit, uint32_t *accumulator)
{
    bool added;
    return number_unit(contributions, &contributions->number_of_unit, cell, unit,
                       contributions->accumulators.count, accumulator, &added) &&
           (!added || new_accumulator(contributions, type, cell));
}

static bool is_alone(const struct sta_contributions *contributions, uint32_t group)
{
    return contributions->group_sizes[group] < 2;
}

static bool make_set(struct sta_contributions *contributions, uint32_t cell, uint32_t thread, uint32_t group)
{
    const struct sta_contributions_options *options = &contributions->options;
    const struct sta_entity_thread *who = &options->entities->threads[thread];
    const uint32_t host = first_host(options) + (uint32_t)(who->host + 1);
    const bool alone = is_alone(contributions, group);
    struct sta_unit_set *set = sta_segmented_add(&contributions->unit_sets, &contributions->failure);
    if (set == NULL || !accumulator_of(contributions, alone ? STA_ACCUMULATOR_ALONE : STA_ACCUMULATOR_PROCESS,
                                       cell, who->process, &set->process))
        return false;
    set->group = set->process;
    set->thread = contributions->accumulators.count;
    return new_accumulator(contributions, STA_ACCUMULATOR_THREAD, cell) &&
           (alone || accumulator_of(contributions, STA_ACCUMULATOR_GROUP, cell,
                                    options->entities->process_count + group, &set->group)) &&
           accumulator_of(contributions, STA_ACCUMULATOR_HOST, cell, host, &set->host);
}

/* The units of a thread in a cell, which events of several signatures share. */
static bool set_of(struct sta_contributions *contributions, uint32_t cell, uint32_t thread, uint32_t group,
                   struct sta_unit_set *set)
{
    uint32_t number;
    bool added;
    if (!number_unit(contributions, &contributions->set_of_thread, cell, thread,
                     contributions->unit_sets.count, &number, &added) ||
        (added && !make_set(contributions, cell, thread, group)))
        return false;
    *set = *(const struct sta_unit_set *)sta_segmented_at(&contributions->unit_sets, number);
    return true;
}

static bool find_sets(struct sta_contributions *contributions, const struct sta_event_signature *of,
                      uint32_t thread, uint32_t group)
{
    bool good = true;
    for (uint32_t i = 0; good && i < of->layer_count; i++)
        good = set_of(contributions, contributions->layer_cells[i], thread, group,
                      &contributions->layer_sets[i]);
    return good;
}

static void list(struct sta_contributions *contributions, uint32_t accumulator)
{
    contributions->scratch[contributions->scratch_count++] = accumulator;
}

/* The accumulators of the group: those of layers that are compared, or the others. */
static void list_groups(struct sta_contributions *contributions, const struct sta_event_signature *of,
                        bool compared)
{
    for (uint32_t i = 0; i < of->layer_count; i++)
        if (is_compared(contributions, of->layers[i]) == compared)
            list(contributions, contributions->layer_sets[i].group);
}

static bool list_rows(struct sta_contributions *contributions, const struct sta_event_signature *of,
                      uint32_t key)
{
    const struct sta_exact_shape *shape = contributions->options.shape;
    for (uint32_t i = 0; i < of->layer_count; i++) {
        uint32_t *cell = &contributions->layer_cells[i];
        if (!cell_of(contributions, of->layers[i], key, cell))
            return false;
        contributions->scratch[contributions->scratch_count++] =
            sta_contributions_cell(contributions, *cell)->first_accumulator;
    }
    for (uint32_t i = 0, m = 0; contributions->options.wants & STA_WANT_METRICS && i < of->layer_count; i++) {
        const struct sta_exact_shape_layer *layer = &shape->layers[of->layers[i]];
        uint32_t first = contributions->scratch[i] + 1;
        for (; m < of->metric_count && of->metrics[m] < layer->first_metric + layer->metric_count; m++)
            contributions->scratch[contributions->scratch_count++] =
                first + of->metrics[m] - layer->first_metric;
    }
    return true;
}

/* ---- contributions */

/* Lists the accumulators of a contribution in the scratch memory, and says how many of them are of which
 * sort.
 * @group: unless there are no units. */
static bool list_accumulators(struct sta_contributions *contributions, struct sta_contribution *contribution,
                              uint32_t group)
{
    const struct sta_event_signature *of = contribution->signature;
    const uint32_t layers = group != NO_GROUP ? of->layer_count : 0; /* that have units */
    const struct sta_unit_set *sets = contributions->layer_sets;
    contributions->scratch_count = 0;
    if (!list_rows(contributions, of, contribution->key) ||
        (layers > 0 && !find_sets(contributions, of, contribution->thread, group)))
        return false;
    for (uint32_t i = 0; i < layers && !is_alone(contributions, group); i++)
        list(contributions, sets[i].process);
    if (layers > 0)
        list_groups(contributions, of, false);
    contribution->plain = (uint16_t)contributions->scratch_count;
    if (layers > 0)
        list_groups(contributions, of, true);
    contribution->compared = (uint16_t)(contributions->scratch_count - contribution->plain);
    contribution->unions = (uint16_t)(group != NO_GROUP ? of->union_count : 0);
    contribution->presences = (uint16_t)(layers * 2);
    return true;
}

/* What was listed, with which unions it is compared, and what it adds to.  @group: unless there are no units.
 */
static void put_lists(const struct sta_contributions *contributions, struct sta_contribution *made,
                      uint32_t group)
{
    const struct sta_exact_shape *shape = contributions->options.shape;
    const uint32_t groups = contributions->options.groups->group_count;
    struct sta_compared *compared = (struct sta_compared *)sta_contribution_compared(made);
    uint32_t *unions = (uint32_t *)sta_contribution_unions(made);
    uint32_t *presences = (uint32_t *)sta_contribution_presences(made);
    memcpy(made->lists, contributions->scratch, made->plain * sizeof *made->lists);
    for (uint32_t i = 0; i < made->compared; i++) {
        const uint32_t accumulator = contributions->scratch[made->plain + i];
        const struct sta_exact_accumulator *of = sta_contributions_accumulator(contributions, accumulator);
        const uint32_t number = sta_contributions_cell(contributions, of->cell)->layer;
        const struct sta_exact_shape_layer *layer = &shape->layers[number];
        compared[i] = (struct sta_compared){
            layer->exposed ? shape->layer_count * groups + group : STA_NO_UNION,
            layer->has_children ? number * groups + group : STA_NO_UNION, of->compared, accumulator};
    }
    for (uint32_t u = 0; u < made->unions; u++)
        unions[u] = made->signature->unions[u] * groups + group;
    for (uint32_t p = 0; p < made->presences; p += 2) {
        presences[p] = contributions->layer_sets[p / 2].thread;
        presences[p + 1] = contributions->layer_sets[p / 2].host;
    }
}

static void make_contribution(struct sta_contributions *contributions, const struct sta_event_signature *of,
                              uint32_t thread, uint32_t key)
{
    const struct sta_contributions_options *options = &contributions->options;
    struct sta_contribution contribution = {.signature = of, .thread = thread, .key = key};
    uint32_t group = NO_GROUP;
    if (options->wants & STA_WANT_UNITS)
        group = options->groups->group_of_process[options->entities->threads[thread].process];
    if (!list_accumulators(contributions, &contribution, group))
        return;
    struct sta_contribution **slot =
        sta_segmented_add(&contributions->contributions, &contributions->failure);
    if (slot == NULL)
        return;
    const size_t lists = (size_t)contribution.plain + contribution.unions + contribution.presences;
    struct sta_contribution *made = sta_arena_alloc(&contributions->memory,
                                                    sizeof *made + lists * sizeof *made->lists +
                                                        contribution.compared * sizeof(struct sta_compared),
                                                    _Alignof(struct sta_contribution));
    *made = contribution;
    put_lists(contributions, made, group);
    *slot = made;
}

static int end_adding(struct sta_contributions *contributions, struct sta_error *err)
{
    const int rc = contributions->failure.status;
    if (rc != 0)
        *err = contributions->failure;
    uv_mutex_unlock(&contributions->lock);
    return rc;
}

uint32_t sta_contributions_threads(const struct sta_contributions *contributions)
{
    const struct sta_contributions_options *options = &contributions->options;
    return options->by_thread ? STA_MAX(options->entities->thread_count, 1u) : 1;
}

/* With the lock held. */
static _Atomic uint32_t *streams_of(struct sta_contributions *contributions,
                                    const struct sta_event_signature *of, struct sta_error *err)
{
    struct sta_account *account = contributions->options.account;
    int rc = STA_GROW_ZEROED(account, contributions->streams, contributions->stream_capacity,
                             (size_t)of->number + 1, err);
    if (rc != 0)
        return NULL;
    _Atomic uint32_t **streams = &contributions->streams[of->number];
    if (*streams == NULL)
        *streams = new_numbers(account, sta_contributions_threads(contributions), sizeof **streams, err);
    return *streams;
}

const _Atomic uint32_t *sta_contributions_streams(struct sta_contributions *contributions,
                                                  const struct sta_event_signature *of, struct sta_error *err)
{
    uv_mutex_lock(&contributions->lock);
    const _Atomic uint32_t *streams = streams_of(contributions, of, err);
    uv_mutex_unlock(&contributions->lock);
    return streams;
}

/* The contribution of a key of a stream that may have others. */
static uint32_t add_keyed(struct sta_contributions *contributions, _Atomic uint32_t *stream,
                          const struct sta_event_signature *of, uint32_t thread, uint32_t key)
{
    bool added;
    if (*stream == STA_NO_CODE)
        *stream = contributions->stream_count++;
    const uint32_t number = sta_map_intern(&contributions->by_key, pair(*stream, key),
                                           contributions->contributions.count, &added);
    if (added)
        make_contribution(contributions, of, thread, key);
    return number;
}

/* Whoever finds the number of a stream without the lock finds its contribution made. */
static uint32_t add_only(struct sta_contributions *contributions, _Atomic uint32_t *stream,
                         const struct sta_event_signature *of, uint32_t thread, uint32_t key)
{
    if (*stream != STA_NO_CODE)
        return *stream;
    const uint32_t fresh = contributions->contributions.count;
    make_contribution(contributions, of, thread, key);
    if (contributions->failure.status == 0)
        atomic_store_explicit(stream, fresh, memory_order_release);
    return fresh;
}

int sta_contributions_add(struct sta_contributions *contributions, const struct sta_event_signature *of,
                          uint32_t thread, uint32_t key, uint32_t *contribution, struct sta_error *err)
{
    uv_mutex_lock(&contributions->lock);
    if (contributions->failure.status == 0) {
        _Atomic uint32_t *streams = streams_of(contributions, of, &contributions->failure);
        if (streams != NULL)
            *contribution = contributions->options.keyed
                                ? add_keyed(contributions, &streams[thread], of, thread, key)
                                : add_only(contributions, &streams[thread], of, thread, key);
    }
    return end_adding(contributions, err);
}

int sta_contributions_add_cell(struct sta_contributions *contributions, uint32_t layer, uint32_t key,
                               struct sta_error *err)
{
    uint32_t cell;
    uv_mutex_lock(&contributions->lock);
    if (contributions->failure.status == 0)
        cell_of(contributions, layer, key, &cell);
    return end_adding(contributions, err);
}

uint32_t sta_contributions_find_cell(const struct sta_contributions *contributions, uint32_t layer,
                                     uint32_t key)
{
    uint32_t cell;
    STA_ASSERT(sta_map_find(&contributions->cells_by_key, pair(layer, key), &cell));
    return cell;
}

struct sta_contribution_counts sta_contributions_count(struct sta_contributions *contributions)
{
    uv_mutex_lock(&contributions->lock);
    const struct sta_contribution_counts counts = {.contributions = contributions->contributions.count,
                                                   .accumulators = contributions->accumulators.count,
                                                   .compared = contributions->compared,
                                                   .cells = contributions->cells.count,
                                                   .metric_cells = contributions->metric_cells};
    uv_mutex_unlock(&contributions->lock);
    return counts;
}

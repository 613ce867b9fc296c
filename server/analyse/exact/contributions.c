/* Contributions, places and accumulators.  One lock guards the maps and all growth. */
#include "analyse/exact/contributions.h"

#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX

struct sta_contributions *sta_contributions_create(const struct sta_contributions_options *options)
{
    struct sta_contributions *contributions = sta_alloc(sizeof *contributions);
    contributions->options = *options;
    contributions->contributions.size = sizeof(struct sta_contribution);
    contributions->accumulators.size = sizeof(struct sta_exact_accumulator);
    contributions->places.size = sizeof(struct sta_place);
    contributions->unit_sets.size = sizeof(struct sta_unit_set);
    contributions->contributions.account = contributions->accumulators.account =
        contributions->places.account = contributions->unit_sets.account = options->account;
    contributions->streams.account = contributions->by_key.account = contributions->places_by_key.account =
        contributions->sets.account = options->account;
    for (size_t i = 0; i < STA_COUNT_OF(contributions->units); i++)
        contributions->units[i].account = options->account;
    contributions->lists.account = options->account;
    contributions->failure = (struct sta_error)STA_ERROR_INIT;
    /* of each layer five, of each metric one */
    contributions->scratch =
        sta_alloc_array((size_t)options->shape->layer_count * 5 + options->shape->metric_count + 1,
                        sizeof *contributions->scratch);
    contributions->layer_places =
        sta_alloc_array((size_t)options->shape->layer_count + 1, sizeof *contributions->layer_places);
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
    sta_map_fini(&contributions->streams);
    sta_map_fini(&contributions->by_key);
    sta_map_fini(&contributions->places_by_key);
    sta_map_fini(&contributions->sets);
    for (size_t i = 0; i < STA_COUNT_OF(contributions->units); i++)
        sta_map_fini(&contributions->units[i]);
    sta_segmented_fini(&contributions->contributions);
    sta_segmented_fini(&contributions->accumulators);
    sta_segmented_fini(&contributions->places);
    sta_segmented_fini(&contributions->unit_sets);
    sta_arena_fini(&contributions->lists);
    free(contributions->scratch);
    free(contributions->layer_places);
    free(contributions->layer_sets);
    free(contributions);
}

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* ---- places and accumulators; with the lock held.  Each returns false once memory was refused, and says so
 * in `failure`. */

static bool is_compared(const struct sta_contributions *contributions, uint32_t layer)
{
    const struct sta_exact_shape_layer *shape = &contributions->options.shape->layers[layer];
    return shape->exposed || shape->has_children;
}

static bool new_accumulator(struct sta_contributions *contributions, enum sta_accumulator_type kind,
                            uint32_t layer, uint32_t place)
{
    struct sta_exact_accumulator *accumulator =
        sta_segmented_add(&contributions->accumulators, &contributions->failure);
    if (accumulator == NULL)
        return false;
    const bool compared = kind == STA_ACCUMULATOR_GROUP && is_compared(contributions, layer);
    *accumulator =
        (struct sta_exact_accumulator){.place = place,
                                       .layer = layer,
                                       .kind = kind,
                                       .compared = compared ? contributions->compared++ : STA_NOT_COMPARED};
    return true;
}

static bool make_place(struct sta_contributions *contributions, uint32_t layer, uint32_t key)
{
    const uint32_t number = contributions->places.count;
    const uint32_t metrics = contributions->options.shape->layers[layer].metric_count;
    struct sta_place *place = sta_segmented_add(&contributions->places, &contributions->failure);
    if (place == NULL)
        return false;
    *place = (struct sta_place){.layer = layer,
                                .key = key,
                                .first_accumulator = contributions->accumulators.count,
                                .first_metric = contributions->metric_places};
    bool good = new_accumulator(contributions, STA_ACCUMULATOR_ROW, layer, number);
    for (uint32_t m = 0; good && contributions->options.wants & STA_WANT_METRICS && m < metrics; m++)
        good = new_accumulator(contributions, STA_ACCUMULATOR_METRIC, layer, contributions->metric_places++);
    return good;
}

static bool place_of(struct sta_contributions *contributions, uint32_t layer, uint32_t key, uint32_t *number)
{
    bool added;
    *number =
        sta_map_intern(&contributions->places_by_key, pair(layer, key), contributions->places.count, &added);
    return !added || make_place(contributions, layer, key);
}

/* The accumulator of a unit in a place. */
static bool unit_of(struct sta_contributions *contributions, enum sta_accumulator_type kind, uint32_t place,
                    uint32_t unit, uint32_t *accumulator)
{
    bool added;
    *accumulator = sta_map_intern(&contributions->units[kind], pair(place, unit),
                                  contributions->accumulators.count, &added);
    const uint32_t layer = sta_contributions_place(contributions, place)->layer;
    return !added || new_accumulator(contributions, kind, layer, place);
}

/* The units of a thread in a place, which several kinds of events share. */
static bool set_of(struct sta_contributions *contributions, uint32_t place, uint32_t thread, uint32_t group,
                   struct sta_unit_set *set)
{
    const struct sta_entity_thread *who = &contributions->options.entities->threads[thread];
    bool added;
    const uint32_t number =
        sta_map_intern(&contributions->sets, pair(place, thread), contributions->unit_sets.count, &added);
    if (!added) {
        *set = *(const struct sta_unit_set *)sta_segmented_at(&contributions->unit_sets, number);
        return true;
    }
    struct sta_unit_set *made = sta_segmented_add(&contributions->unit_sets, &contributions->failure);
    const uint32_t layer = sta_contributions_place(contributions, place)->layer;
    bool good = made != NULL &&
                unit_of(contributions, STA_ACCUMULATOR_PROCESS, place, who->process, &set->process) &&
                unit_of(contributions, STA_ACCUMULATOR_GROUP, place, group, &set->group) &&
                unit_of(contributions, STA_ACCUMULATOR_HOST, place, who->host, &set->host);
    set->thread = contributions->accumulators.count;
    good = good && new_accumulator(contributions, STA_ACCUMULATOR_THREAD, layer, place);
    if (good)
        *made = *set;
    return good;
}

static bool find_sets(struct sta_contributions *contributions, const struct sta_kind *of, uint32_t thread,
                      uint32_t group)
{
    bool good = true;
    for (uint32_t i = 0; good && i < of->layer_count; i++)
        good = set_of(contributions, contributions->layer_places[i], thread, group,
                      &contributions->layer_sets[i]);
    return good;
}

static void list(struct sta_contributions *contributions, uint32_t accumulator)
{
    contributions->scratch[contributions->scratch_count++] = accumulator;
}

/* The accumulators of the group: those of layers that are compared, or the others. */
static void list_groups(struct sta_contributions *contributions, const struct sta_kind *of, bool compared)
{
    for (uint32_t i = 0; i < of->layer_count; i++)
        if (is_compared(contributions, of->layers[i]) == compared)
            list(contributions, contributions->layer_sets[i].group);
}

static bool list_rows(struct sta_contributions *contributions, const struct sta_kind *kind, uint32_t key)
{
    const struct sta_exact_shape *shape = contributions->options.shape;
    for (uint32_t i = 0; i < kind->layer_count; i++) {
        uint32_t *place = &contributions->layer_places[i];
        if (!place_of(contributions, kind->layers[i], key, place))
            return false;
        contributions->scratch[contributions->scratch_count++] =
            sta_contributions_place(contributions, *place)->first_accumulator;
    }
    for (uint32_t i = 0, m = 0; contributions->options.wants & STA_WANT_METRICS && i < kind->layer_count;
         i++) {
        const struct sta_exact_shape_layer *layer = &shape->layers[kind->layers[i]];
        uint32_t first = contributions->scratch[i] + 1;
        for (; m < kind->metric_count && kind->metrics[m] < layer->first_metric + layer->metric_count; m++)
            contributions->scratch[contributions->scratch_count++] =
                first + kind->metrics[m] - layer->first_metric;
    }
    return true;
}

/* ---- contributions */

/* Lists the accumulators of a contribution, and how many of them are of which sort.  @group: unless there are
 * no units. */
static bool list_accumulators(struct sta_contributions *contributions, struct sta_contribution *contribution,
                              uint32_t group)
{
    const struct sta_kind *kind = contribution->kind;
    const uint32_t layers = group != NO_GROUP ? kind->layer_count : 0; /* that have units */
    const struct sta_unit_set *sets = contributions->layer_sets;
    contributions->scratch_count = 0;
    if (!list_rows(contributions, kind, contribution->key) ||
        (layers > 0 && !find_sets(contributions, kind, contribution->thread, group)))
        return false;
    for (uint32_t i = 0; i < layers; i++)
        list(contributions, sets[i].process);
    if (layers > 0)
        list_groups(contributions, kind, false);
    contribution->plain = contributions->scratch_count;
    if (layers > 0)
        list_groups(contributions, kind, true);
    contribution->measured = contributions->scratch_count;
    for (uint32_t i = 0; i < layers; i++)
        list(contributions, sets[i].thread);
    for (uint32_t i = 0; i < layers; i++)
        list(contributions, sets[i].host);
    contribution->count = contributions->scratch_count;
    return true;
}

static void *alloc_list(struct sta_contributions *contributions, size_t count, size_t size)
{
    return sta_arena_alloc(&contributions->lists, (count + 1) * size, _Alignof(uint32_t));
}

/* Which unions the contribution adds to, and is compared with. */
static void list_unions(struct sta_contributions *contributions, struct sta_contribution *contribution,
                        uint32_t group)
{
    const struct sta_exact_shape *shape = contributions->options.shape;
    const struct sta_kind *kind = contribution->kind;
    const uint32_t groups = contributions->options.groups->group_count;
    uint32_t *unions = alloc_list(contributions, kind->union_count, sizeof *unions);
    struct sta_compared *compared =
        alloc_list(contributions, contribution->measured - contribution->plain, sizeof *compared);
    contribution->unions = unions;
    contribution->union_count = kind->union_count;
    contribution->compared = compared;
    for (uint32_t c = 0; c < kind->union_count; c++)
        unions[c] = kind->unions[c] * groups + group;
    for (uint32_t i = contribution->plain; i < contribution->measured; i++) {
        const struct sta_exact_accumulator *of =
            sta_contributions_accumulator(contributions, contribution->accumulators[i]);
        const struct sta_exact_shape_layer *layer = &shape->layers[of->layer];
        *compared++ = (struct sta_compared){
            layer->exposed ? shape->layer_count * groups + group : STA_NO_COVER,
            layer->has_children ? of->layer * groups + group : STA_NO_COVER, of->compared};
    }
}

static void make_contribution(struct sta_contributions *contributions, const struct sta_kind *kind,
                              uint32_t thread, uint32_t key)
{
    const struct sta_contributions_options *options = &contributions->options;
    struct sta_contribution contribution = {.kind = kind, .thread = thread, .key = key};
    uint32_t group = NO_GROUP;
    if (options->wants & STA_WANT_UNITS)
        group = options->groups->group_of_process[options->entities->threads[thread].process];
    if (!list_accumulators(contributions, &contribution, group))
        return;
    uint32_t *accumulators = alloc_list(contributions, contribution.count, sizeof *accumulators);
    memcpy(accumulators, contributions->scratch, contribution.count * sizeof *accumulators);
    contribution.accumulators = accumulators;
    if (group != NO_GROUP)
        list_unions(contributions, &contribution, group);
    struct sta_contribution *made = sta_segmented_add(&contributions->contributions, &contributions->failure);
    if (made != NULL)
        *made = contribution;
}

static int end_adding(struct sta_contributions *contributions, struct sta_error *err)
{
    const int rc = contributions->failure.status;
    if (rc != 0)
        *err = contributions->failure;
    uv_mutex_unlock(&contributions->lock);
    return rc;
}

int sta_contributions_add(struct sta_contributions *contributions, const struct sta_kind *kind,
                          uint32_t thread, uint32_t key, uint32_t *contribution, struct sta_error *err)
{
    bool added;
    uv_mutex_lock(&contributions->lock);
    if (contributions->failure.status == 0) {
        uint32_t stream = sta_map_intern(&contributions->streams, pair(kind->number, thread),
                                         (uint32_t)contributions->streams.count, &added);
        *contribution = stream;
        if (contributions->options.keyed)
            *contribution = sta_map_intern(&contributions->by_key, pair(stream, key),
                                           contributions->contributions.count, &added);
        if (added)
            make_contribution(contributions, kind, thread, key);
    }
    return end_adding(contributions, err);
}

int sta_contributions_add_place(struct sta_contributions *contributions, uint32_t layer, uint32_t key,
                                struct sta_error *err)
{
    uint32_t place;
    uv_mutex_lock(&contributions->lock);
    if (contributions->failure.status == 0)
        place_of(contributions, layer, key, &place);
    return end_adding(contributions, err);
}

uint32_t sta_contributions_find_place(const struct sta_contributions *contributions, uint32_t layer,
                                      uint32_t key)
{
    uint32_t place;
    STA_ASSERT(sta_map_find(&contributions->places_by_key, pair(layer, key), &place));
    return place;
}

struct sta_contribution_counts sta_contributions_count(struct sta_contributions *contributions)
{
    uv_mutex_lock(&contributions->lock);
    const struct sta_contribution_counts counts = {.contributions = contributions->contributions.count,
                                                   .accumulators = contributions->accumulators.count,
                                                   .compared = contributions->compared,
                                                   .places = contributions->places.count,
                                                   .metric_places = contributions->metric_places};
    uv_mutex_unlock(&contributions->lock);
    return counts;
}

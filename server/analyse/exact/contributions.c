/* Contributions, places and accumulators.  One lock guards the maps and all growth. */
#include "analyse/exact/contributions.h"

#include <stdlib.h>

struct sta_contributions *sta_contributions_create(const struct sta_contributions_options *options)
{
    struct sta_contributions *contributions = sta_alloc(sizeof *contributions);
    contributions->options = *options;
    contributions->contributions.size = sizeof(struct sta_contribution);
    contributions->accumulators.size = sizeof(struct sta_exact_accumulator);
    contributions->places.size = sizeof(struct sta_place);
    contributions->contributions.account = contributions->accumulators.account =
        contributions->places.account = options->account;
    contributions->streams.account = contributions->by_key.account = contributions->places_by_key.account =
        options->account;
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
    for (size_t i = 0; i < STA_COUNT_OF(contributions->units); i++)
        sta_map_fini(&contributions->units[i]);
    sta_segmented_fini(&contributions->contributions);
    sta_segmented_fini(&contributions->accumulators);
    sta_segmented_fini(&contributions->places);
    sta_arena_fini(&contributions->lists);
    free(contributions->scratch);
    free(contributions->layer_places);
    free(contributions);
}

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* ---- places and accumulators; with the lock held.  Each returns false once memory was refused, and says so
 * in `failure`. */

static bool new_accumulator(struct sta_contributions *contributions, enum sta_accumulator_type kind,
                            uint32_t layer, uint32_t place)
{
    struct sta_exact_accumulator *accumulator =
        sta_segmented_add(&contributions->accumulators, &contributions->failure);
    if (accumulator != NULL)
        *accumulator = (struct sta_exact_accumulator){.place = place, .layer = layer, .kind = kind};
    return accumulator != NULL;
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

static bool list_unit(struct sta_contributions *contributions, enum sta_accumulator_type kind,
                      const struct sta_kind *of, uint32_t unit)
{
    for (uint32_t i = 0; i < of->layer_count; i++) {
        const uint32_t place = contributions->layer_places[i];
        bool added;
        uint32_t accumulator = sta_map_intern(&contributions->units[kind], pair(place, unit),
                                              contributions->accumulators.count, &added);
        if (added && !new_accumulator(contributions, kind, of->layers[i], place))
            return false;
        contributions->scratch[contributions->scratch_count++] = accumulator;
    }
    return true;
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

/* Lists the accumulators of a contribution, and how many of them are of which sort. */
static bool list_accumulators(struct sta_contributions *contributions, struct sta_contribution *contribution,
                              uint32_t thread, uint32_t key)
{
    const struct sta_kind *kind = contribution->kind;
    const bool units = (contributions->options.wants & STA_WANT_UNITS) != 0;
    const struct sta_entity_thread *who = units ? &contributions->options.entities->threads[thread] : NULL;
    contributions->scratch_count = 0;
    bool good = list_rows(contributions, kind, key);
    good = good && (!units || list_unit(contributions, STA_ACCUMULATOR_PROCESS, kind, who->process));
    contribution->plain = contributions->scratch_count;
    if (units) {
        contribution->group = contributions->options.groups->group_of_process[who->process];
        good = good && list_unit(contributions, STA_ACCUMULATOR_GROUP, kind, contribution->group);
    }
    contribution->measured = contributions->scratch_count;
    if (units)
        good = good && list_unit(contributions, STA_ACCUMULATOR_THREAD, kind, thread) &&
               list_unit(contributions, STA_ACCUMULATOR_HOST, kind, who->host);
    contribution->count = contributions->scratch_count;
    return good;
}

static void make_contribution(struct sta_contributions *contributions, const struct sta_kind *kind,
                              uint32_t thread, uint32_t key)
{
    struct sta_contribution contribution = {.kind = kind, .thread = thread, .key = key};
    if (!list_accumulators(contributions, &contribution, thread, key))
        return;
    uint32_t *accumulators = sta_arena_alloc(
        &contributions->lists, ((size_t)contribution.count + 1) * sizeof *accumulators, _Alignof(uint32_t));
    for (uint32_t i = 0; i < contribution.count; i++)
        accumulators[i] = contributions->scratch[i];
    contribution.accumulators = accumulators;
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
    struct sta_contribution_counts counts = {contributions->contributions.count,
                                             contributions->accumulators.count, contributions->places.count,
                                             contributions->metric_places};
    uv_mutex_unlock(&contributions->lock);
    return counts;
}

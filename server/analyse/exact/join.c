/* From groups of a signature and key to the rows of all layers and metrics that the signature counts
 * towards. */
#include "analyse/exact/join.h"

#include "analyse/views/bounded_sum.h"
#include "common/memory.h"

struct join {
    struct sta_intake *intake;
    struct sta_exact_result *result;
};

/* Rows are known by layer alone unless the view has keys of its own. */
static uint32_t place_of(const struct sta_intake *intake, uint32_t layer, uint32_t key)
{
    if (sta_exact_keys_source(intake->keys) <= STA_KEY_TIME)
        key = 0;
    return sta_contributions_find_place(intake->contributions, layer, key);
}

static int add_key(void *context, uint32_t signature, uint32_t key, size_t bin,
                   const struct sta_additive_sums *sums, struct sta_error *err)
{
    const struct sta_intake *intake = context;
    const struct sta_kind *kind = sta_kinds_at(intake->kinds, signature);
    int rc = STA_OK;
    for (uint32_t i = 0; rc == 0 && i < kind->layer_count; i++)
        rc = sta_contributions_add_place(intake->contributions, kind->layers[i], key, err);
    return rc;
}

/* The groups of this process, then those of the others. */
static int each(const struct sta_intake *intake, const struct sta_exact_shared *shared, sta_additive_add add,
                void *context, struct sta_error *err)
{
    int rc = sta_additive_each(&intake->additive, add, context, err);
    return rc == 0 ? sta_exact_shared_each(shared, &intake->additive, add, context, err) : rc;
}

int sta_exact_join_keys(struct sta_intake *intake, const struct sta_exact_shared *shared,
                        struct sta_error *err)
{
    int rc = sta_additive_end(&intake->additive, err);
    if (rc == 0 && sta_exact_keys_source(intake->keys) > STA_KEY_TIME)
        rc = each(intake, shared, add_key, intake, err);
    return rc;
}

/* ---- sums */

static void count_fate(struct sta_exact_counts *counts, const struct sta_kind *kind, int64_t count)
{
    counts->filtered_by_file += kind->fate == STA_FATE_FILE ? count : 0;
    counts->filtered_by_function += kind->fate == STA_FATE_FUNCTION ? count : 0;
    counts->unmatched += kind->fate == STA_FATE_KEPT && kind->in_layers == 0 ? count : 0;
    counts->taken += kind->in_layers > 0 ? count : 0;
    counts->multiple += kind->in_layers > 1 ? count : 0;
}

static void add_to(const struct sta_fields *fields, enum sta_field field, size_t at, int64_t value)
{
    int64_t *values = fields->values[field];
    if (values != NULL)
        values[at] = sta_bounded_add(values[at], value);
}

static void add_sums_to(const struct sta_fields *fields, size_t at, const struct sta_additive_sums *sums)
{
    add_to(fields, STA_FIELD_EVENTS, at, sums->events);
    add_to(fields, STA_FIELD_COUNT, at, sums->count);
    add_to(fields, STA_FIELD_TIME, at, sums->time);
    add_to(fields, STA_FIELD_SIZE, at, sums->size);
    if (sums->size_bin < STA_SIZE_BINS)
        add_to(fields, STA_FIELD_BIN + sums->size_bin, at, sums->count);
}

/* Metrics of a signature are in the order of its layers. */
static void add_metrics(const struct join *join, const struct sta_kind *kind, uint32_t key, size_t bin,
                        const struct sta_additive_sums *sums)
{
    const struct sta_exact_result *result = join->result;
    uint32_t m = 0;
    for (uint32_t i = 0; i < kind->layer_count; i++) {
        const struct sta_exact_shape_layer *layer = &result->shape.layers[kind->layers[i]];
        const struct sta_place *place =
            sta_contributions_place(result->contributions, place_of(join->intake, kind->layers[i], key));
        for (; m < kind->metric_count && kind->metrics[m] < layer->first_metric + layer->metric_count; m++) {
            size_t row = place->first_metric + kind->metrics[m] - layer->first_metric;
            add_sums_to(&result->metrics, row * result->bins.count + bin, sums);
        }
    }
}

static int add_sums(void *context, uint32_t signature, uint32_t key, size_t bin,
                    const struct sta_additive_sums *sums, struct sta_error *err)
{
    const struct join *join = context;
    struct sta_exact_result *result = join->result;
    const struct sta_kind *kind = sta_kinds_at(join->intake->kinds, signature);
    count_fate(&result->counts, kind, sums->count);
    if (result->counts_by_bin != NULL)
        count_fate(&result->counts_by_bin[bin], kind, sums->count);
    for (uint32_t i = 0; i < kind->layer_count; i++) {
        size_t row = place_of(join->intake, kind->layers[i], key);
        add_sums_to(&result->places, row * result->bins.count + bin, sums);
    }
    if (result->metrics.places > 0)
        add_metrics(join, kind, key, bin, sums);
    return STA_OK;
}

/* ---- files */

static void add_file(void *context, uint32_t layer, uint32_t key, size_t bin)
{
    const struct join *join = context;
    const struct sta_exact_result *result = join->result;
    size_t row = place_of(join->intake, layer, key);
    result->places.values[STA_FIELD_FILES][row * result->bins.count + bin]++;
}

int sta_exact_join(struct sta_intake *intake, const struct sta_exact_shared *shared,
                   struct sta_exact_result *result, struct sta_error *err)
{
    struct join join = {intake, result};
    int rc = each(intake, shared, add_sums, &join, err);
    if (rc == 0 && intake->request->wants & STA_WANT_FILES)
        rc = sta_files_each(&intake->files, add_file, &join, err);
    return rc;
}

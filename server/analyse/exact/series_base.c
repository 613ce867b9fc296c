/* The base of series.
 *
 * DESIGN.  What is kept of a layer is a head, then its arrays, each as runs of zeros and values between them,
 * both as varints: most bins of most arrays are 0.  An array names what it holds and says its size, so that
 * reading one passes over the others.  Beside the layers one more value keeps the counts of events that no
 * layer took.  A value that cannot be read is made again. */
#include "analyse/exact/series_base.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/views/bounded_sum.h"
#include "common/buffer.h"
#include "common/memory.h"

#define FORMAT UINT32_C(0x31425353) /* "SSB1" */
#define COUNTS_NAME ""              /* no layer is named so */
#define COUNTS (sizeof(struct sta_exact_counts) / sizeof(int64_t))
#define BASE_WANTS (STA_WANT_SIZES | STA_WANT_BUSY | STA_WANT_UNITS | STA_WANT_METRICS)

static const enum sta_field added[] = {STA_FIELD_EVENTS,    STA_FIELD_COUNT,       STA_FIELD_TIME,
                                       STA_FIELD_SIZE,      STA_FIELD_BUSY,        STA_FIELD_PROCESS_SUM,
                                       STA_FIELD_GROUP_SUM, STA_FIELD_EXPOSED_SUM, STA_FIELD_SELF_SUM};

static bool adds(enum sta_field field)
{
    for (size_t i = 0; i < STA_COUNT_OF(added); i++)
        if (added[i] == field)
            return true;
    return false;
}

bool sta_series_base_has(const struct sta_exact_column *column)
{
    bool alone = column->form == STA_FORM_NUMBER || column->form == STA_FORM_SECONDS;
    return adds(column->field) && (alone || adds(column->other));
}

int64_t sta_series_base_width(const struct sta_bound_query *bound)
{
    int64_t g = bound->ticks_per_us;
    while (sta_job_ticks(bound->query->snapshot) / g >= STA_SERIES_BASE_BINS)
        g *= 10;
    return g;
}

/* ---- arrays as bytes */

/* @stride: from value to value. */
static void put_array(struct sta_buffer *out, uint32_t name, const int64_t *values, size_t count,
                      size_t stride)
{
    struct sta_buffer bytes;
    sta_buffer_init(&bytes);
    for (size_t i = 0; i < count;) {
        size_t zeros = 0;
        while (i + zeros < count && values[(i + zeros) * stride] == 0)
            zeros++;
        i += zeros;
        size_t run = 0;
        while (i + run < count && values[(i + run) * stride] != 0)
            run++;
        sta_put_varint(&bytes, zeros);
        sta_put_varint(&bytes, run);
        for (; run > 0; run--, i++)
            sta_put_signed(&bytes, values[i * stride]);
    }
    sta_put_u32(out, name);
    sta_put_block(out, bytes.data != NULL ? bytes.data : "", bytes.size);
    sta_buffer_fini(&bytes);
}

/* How fine bins become the bins of a series. */
struct coarser {
    uint64_t first, per_bin; /* the first bin of the series begins with fine bin `first` */
    size_t bins;
};

/* Adds an array of @count fine bins into the series' bins.  Return: false when the bytes make no sense. */
static bool add_array(struct sta_cursor in, uint64_t count, const struct coarser *coarser, int64_t *to,
                      size_t stride)
{
    uint64_t at = 0;
    while (at < count && !in.failed) {
        uint64_t zeros = sta_get_varint(&in);
        uint64_t run = sta_get_varint(&in);
        if (zeros > count - at || run > count - at - zeros)
            return false;
        at += zeros;
        for (uint64_t end = at + run; at < end && !in.failed; at++) {
            int64_t value = sta_get_signed(&in);
            uint64_t bin = at >= coarser->first ? (at - coarser->first) / coarser->per_bin : coarser->bins;
            if (bin < coarser->bins)
                to[bin * stride] = sta_bounded_add(to[bin * stride], value);
        }
    }
    return !in.failed && in.at == in.end;
}

/* ---- what is kept of one layer */

/* Arrays of a layer are named by their field, those of its metrics by 1 + the number of the metric above
 * that. */
static uint32_t array_name(size_t metric_and_one, enum sta_field field)
{
    return (uint32_t)(metric_and_one * STA_FIELDS + (size_t)field);
}

static void put_head(struct sta_buffer *out, const struct sta_exact_bins *bins)
{
    sta_put_u32(out, FORMAT);
    sta_put_u64(out, (uint64_t)bins->g);
    sta_put_u64(out, bins->count);
}

static void put_fields(struct sta_buffer *out, size_t metric_and_one, const struct sta_fields *fields,
                       size_t cell, size_t bins)
{
    for (size_t i = 0; i < STA_COUNT_OF(added); i++)
        if (fields->values[added[i]] != NULL)
            put_array(out, array_name(metric_and_one, added[i]), fields->values[added[i]] + cell * bins, bins,
                      1);
}

static void put_layer(struct sta_buffer *out, const struct sta_exact_result *result, uint32_t layer)
{
    const struct sta_exact_shape_layer *shape = &result->shape.layers[layer];
    put_head(out, &result->bins);
    put_fields(out, 0, &result->cells, shape->wanted_index, result->bins.count);
    for (uint32_t m = 0; m < shape->metric_count; m++)
        put_fields(out, m + 1, &result->metrics, shape->first_metric + m, result->bins.count);
}

static void put_counts(struct sta_buffer *out, const struct sta_exact_result *result)
{
    put_head(out, &result->bins);
    for (size_t c = 0; c < COUNTS; c++)
        put_array(out, (uint32_t)c, (const int64_t *)result->counts_by_bin + c, result->bins.count, COUNTS);
}

/* One array into the fields of the series, if it is among them. */
static bool take_array(struct sta_exact_result *result, uint32_t layer, uint32_t name, struct sta_cursor in,
                       uint64_t count, const struct coarser *coarser)
{
    const struct sta_exact_shape_layer *shape = &result->shape.layers[layer];
    uint32_t metric = name / STA_FIELDS;
    struct sta_fields *fields = metric == 0 ? &result->cells : &result->metrics;
    size_t cell = metric == 0 ? shape->wanted_index : shape->first_metric + metric - 1;
    int64_t *to = fields->values[name % STA_FIELDS];
    if (metric > shape->metric_count)
        return false;
    return to == NULL || fields->cells == 0 || add_array(in, count, coarser, to + cell * coarser->bins, 1);
}

/* @layer: STA_NO_LAYER for the counts. */
static bool take(struct sta_exact_result *result, uint32_t layer, int64_t width, const char *bytes,
                 size_t size)
{
    struct sta_cursor in = {(const unsigned char *)bytes, (const unsigned char *)bytes + size, false};
    const struct coarser coarser = {(uint64_t)(result->bins.from / width), (uint64_t)(result->bins.g / width),
                                    result->bins.count};
    bool good = sta_get_u32(&in) == FORMAT && sta_get_u64(&in) == (uint64_t)width;
    uint64_t count = sta_get_u64(&in);
    while (good && !in.failed && in.at < in.end) {
        size_t length;
        uint32_t name = sta_get_u32(&in);
        const unsigned char *array = (const unsigned char *)sta_get_block(&in, &length);
        struct sta_cursor values = {array, array + (array != NULL ? length : 0), false};
        if (array == NULL)
            return false;
        good = layer != STA_NO_LAYER
                   ? take_array(result, layer, name, values, count, &coarser)
                   : name < COUNTS &&
                         add_array(values, count, &coarser, (int64_t *)result->counts_by_bin + name, COUNTS);
    }
    return good && !in.failed;
}

/* ---- from what is kept */

static int result_init(struct sta_exact_result *result, const struct sta_exact_request *request,
                       struct sta_account *account, struct sta_error *err)
{
    const size_t bins = request->bins.count;
    *result = (struct sta_exact_result){.bins = request->bins, .account = account};
    sta_exact_shape_init(&result->shape, request->bound->preset, request->layers);
    result->counts_by_bin =
        sta_account_calloc(account, bins + 1, sizeof *result->counts_by_bin, "counts by bin", err);
    if (result->counts_by_bin == NULL)
        return err->status;
    int rc = sta_fields_init(&result->cells, account, result->shape.wanted_count * bins, request->wants,
                             false, err);
    if (rc == 0 && request->wants & STA_WANT_METRICS)
        rc = sta_fields_init(&result->metrics, account, result->shape.metric_count * bins, request->wants,
                             true, err);
    return rc;
}

static void sum_counts(struct sta_exact_result *result)
{
    int64_t *sums = (int64_t *)&result->counts;
    const int64_t *values = (const int64_t *)result->counts_by_bin;
    for (size_t i = 0; i < result->bins.count * COUNTS; i++)
        sums[i % COUNTS] += values[i];
}

static bool get(const struct sta_series_base *base, struct sta_exact_result *result, uint32_t layer,
                int64_t width)
{
    char *bytes;
    size_t size;
    const char *name = layer == STA_NO_LAYER ? COUNTS_NAME : result->shape.preset->layers[layer].name;
    if (!base->get(base->context, name, &bytes, &size))
        return false;
    bool good = take(result, layer, width, bytes, size);
    free(bytes);
    return good;
}

static bool load_all(const struct sta_series_base *base, struct sta_exact_result *result, int64_t width)
{
    bool good = get(base, result, STA_NO_LAYER, width);
    for (uint32_t l = 0; good && l < result->shape.layer_count; l++)
        good = !result->shape.layers[l].wanted || get(base, result, l, width);
    return good;
}

/* ---- made now */

static bool put(const struct sta_series_base *base, const struct sta_exact_result *fine,
                struct sta_exact_result *result, uint32_t layer)
{
    struct sta_buffer bytes;
    sta_buffer_init(&bytes);
    if (layer == STA_NO_LAYER)
        put_counts(&bytes, fine);
    else
        put_layer(&bytes, fine, layer);
    bool good = !bytes.failed;
    if (good)
        base->put(base->context, layer == STA_NO_LAYER ? COUNTS_NAME : fine->shape.preset->layers[layer].name,
                  bytes.data, bytes.size);
    if (good && (layer == STA_NO_LAYER || result->shape.layers[layer].wanted))
        good = take(result, layer, fine->bins.g, bytes.data, bytes.size);
    sta_buffer_fini(&bytes);
    return good;
}

static int make(const struct sta_series_base *base, const struct sta_exact_request *asked,
                const struct sta_budget *budget, int64_t width, struct sta_exact_result *result,
                struct sta_error *err)
{
    struct sta_bound_query bound = *asked->bound; /* the same but for the window */
    bound.from = INT64_MIN;
    bound.to = INT64_MAX;
    struct sta_exact_request request = {.bound = &bound,
                                        .by = "time_range",
                                        .bins = sta_exact_bins_by_time(&bound, width),
                                        .wants = BASE_WANTS,
                                        .count_bins = true};
    struct sta_exact_result fine;
    int rc = sta_exact_run(&request, budget, &fine, err);
    bool good = rc == 0 && put(base, &fine, result, STA_NO_LAYER);
    for (uint32_t l = 0; good && l < fine.shape.layer_count; l++)
        good = put(base, &fine, result, l);
    sta_exact_result_fini(&fine);
    return rc != 0 || good ? rc : sta_fail(err, STA_ENOMEM, "memory ran out while making the base of series");
}

int sta_series_base_run(const struct sta_series_base *base, const struct sta_exact_request *request,
                        const struct sta_budget *budget, struct sta_exact_result *result,
                        struct sta_error *err)
{
    int64_t width = sta_series_base_width(request->bound);
    int rc = result_init(result, request, budget->account, err);
    if (rc == 0 && !load_all(base, result, width)) {
        sta_exact_result_fini(result); /* what was added before something was found missing */
        rc = result_init(result, request, budget->account, err);
        if (rc == 0)
            rc = make(base, request, budget, width, result, err);
    }
    if (rc == 0)
        sum_counts(result);
    return rc;
}

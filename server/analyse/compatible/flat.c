/* The flat view: overhead, time beyond compute, additional metrics, scores. */
#include "analyse/compatible/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compatible/scores.h"
#include "analyse/compatible/sum.h"
#include "analyse/layers/presets.h"
#include "common/memory.h"

enum kind {
    OVERHEAD,     /* of a layer: its time without its children's */
    UNOVERLAPPED, /* of a column: its time without compute's */
    ADDITIONAL,   /* a formula of the preset */
    SCORE_TIME,   /* of a layer: its time's share in that of the first */
    SCORE_COLUMN  /* of an additional metric whose name says that it is a share or so */
};

/* A column that the layers don't give; they are computed in the order in which they were added. */
struct extra {
    enum kind kind;
    char *name;
    size_t index;       /* of the layer, or of the additional metric */
    const size_t *from; /* UNOVERLAPPED, SCORE_COLUMN: column of the table that it is made of */
    size_t at;
};

struct flat {
    struct sta_join join;
    const struct sta_preset *preset;
    const char *time; /* T: which statistic of a layer's time stands for it */
    bool whole;
    struct extra **extras; /* each at an address of its own */
    size_t count, capacity;
    const size_t **times; /* by layer: where its T is */
    struct sta_table *table;
};

static struct extra *add_extra(struct flat *flat, enum kind kind, char *name, size_t index)
{
    STA_GROW(flat->extras, flat->capacity, flat->count + 1);
    struct extra *extra = sta_alloc(sizeof *extra);
    *extra = (struct extra){.kind = kind, .name = name, .index = index};
    flat->extras[flat->count++] = extra;
    return extra;
}

/* ---- which columns */

static bool is_child(const struct sta_preset *preset, size_t layer, size_t parent)
{
    const char *name = preset->layers[layer].parent;
    return name != NULL && strcmp(name, preset->layers[parent].name) == 0;
}

static bool has_children(const struct sta_preset *preset, size_t parent)
{
    for (size_t l = 0; l < preset->layer_count; l++)
        if (is_child(preset, l, parent))
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* By names, as the reference tells them apart. */
static bool is_beyond_compute(const struct flat *flat, const char *name)
{
    char *compute = sta_sprintf("compute_%s", flat->time);
    bool is = ends_with(name, flat->time) && strstr(name, compute) == NULL && strstr(name, "app_") == NULL &&
              strstr(name, "training_") == NULL && strncmp(name, "u_", 2) != 0 && strncmp(name, "d_", 2) != 0;
    free(compute);
    return is;
}

static void find_times(struct flat *flat)
{
    enum sta_stat stat = flat->join.by->axis == STA_AXIS_PROC ? STA_STAT_SUM : STA_STAT_MAX;
    flat->times = sta_alloc_array(flat->preset->layer_count + 1, sizeof *flat->times);
    for (size_t i = 0; i < flat->join.columns.count; i++) {
        const struct sta_view_column *column = &flat->join.columns.items[i];
        if (column->measure == STA_MEASURE_TIME && column->stat == stat && column->metric == STA_LAYER_ITSELF)
            flat->times[column->layer] = &column->at;
    }
}

static void list_overheads(struct flat *flat)
{
    for (size_t l = 0; flat->whole && l < flat->preset->layer_count; l++)
        if (flat->preset->layers[l].parent != NULL && has_children(flat->preset, l))
            add_extra(flat, OVERHEAD, sta_sprintf("%s_overhead_%s", flat->preset->layers[l].name, flat->time),
                      l);
}

static void list_unoverlapped(struct flat *flat)
{
    if (sta_preset_layer(flat->preset, "compute") == NULL)
        return;
    size_t overheads = flat->count;
    for (size_t i = 0; i < flat->join.columns.count; i++) {
        const struct sta_view_column *column = &flat->join.columns.items[i];
        if (is_beyond_compute(flat, column->name))
            add_extra(flat, UNOVERLAPPED, sta_sprintf("u_%s", column->name), 0)->from = &column->at;
    }
    for (size_t i = 0; i < overheads; i++)
        if (is_beyond_compute(flat, flat->extras[i]->name)) {
            const size_t *from = &flat->extras[i]->at;
            add_extra(flat, UNOVERLAPPED, sta_sprintf("u_%s", flat->extras[i]->name), 0)->from = from;
        }
}

/* Names whose values the flat view scores, and by which steps; NULL: none. */
static const double *steps_for(const char *name)
{
    static const struct {
        const char *end;
        const double *steps;
    } scored[] = {{"_pct", sta_score_shares},
                  {"_per", sta_score_shares},
                  {"_util", sta_score_shares},
                  {"_slope", sta_score_slopes},
                  {"_intensity_mean", sta_score_intensities}};
    for (size_t i = 0; i < STA_COUNT_OF(scored); i++)
        if (ends_with(name, scored[i].end))
            return scored[i].steps;
    return NULL;
}

static void list_additional(struct flat *flat)
{
    for (size_t i = 0; flat->whole && i < flat->preset->additional_count; i++)
        add_extra(flat, ADDITIONAL, sta_strdup(flat->preset->additional[i].name), i);
    size_t count = flat->count;
    for (size_t i = 0; i < count; i++)
        if (flat->extras[i]->kind == ADDITIONAL && steps_for(flat->extras[i]->name) != NULL) {
            const size_t *from = &flat->extras[i]->at;
            add_extra(flat, SCORE_COLUMN, sta_sprintf("%s_score", flat->extras[i]->name), 0)->from = from;
        }
    for (size_t l = 0; flat->whole && l < flat->preset->layer_count; l++)
        add_extra(flat, SCORE_TIME, sta_sprintf("%s_%s_score", flat->preset->layers[l].name, flat->time), l);
}

/* ---- their values */

static void put_number(struct sta_table_column *column, size_t row, double value)
{
    column->numbers[row] = value;
    column->missing[row] = 0;
}

static void compute_overhead(struct flat *flat, const struct extra *extra)
{
    struct sta_table_column *out = &flat->table->columns[extra->at];
    const struct sta_table_column *own = &flat->table->columns[*flat->times[extra->index]];
    for (size_t l = 0; l < flat->preset->layer_count; l++) {
        const struct sta_table_column *child = &flat->table->columns[*flat->times[l]];
        for (size_t row = 0; is_child(flat->preset, l, extra->index) && row < flat->table->rows; row++)
            out->numbers[row] += child->missing[row] ? 0 : child->numbers[row];
    }
    for (size_t row = 0; row < flat->table->rows; row++)
        if (!own->missing[row])
            put_number(out, row, STA_MAX(own->numbers[row] - out->numbers[row], 0));
}

static void compute_unoverlapped(struct flat *flat, const struct extra *extra)
{
    struct sta_table_column *out = &flat->table->columns[extra->at];
    const struct sta_table_column *from = &flat->table->columns[*extra->from];
    const struct sta_table_column *compute =
        &flat->table->columns[*flat->times[sta_preset_layer_number(flat->preset, "compute")]];
    for (size_t row = 0; row < flat->table->rows; row++)
        if (!from->missing[row]) {
            double rest = from->numbers[row] - (compute->missing[row] ? 0 : compute->numbers[row]);
            put_number(out, row, STA_MAX(rest, 0));
        }
}

static void score_time(struct flat *flat, const struct extra *extra)
{
    const struct sta_table_column *first = &flat->table->columns[*flat->times[0]];
    const struct sta_table_column *own = &flat->table->columns[*flat->times[extra->index]];
    double total = sta_sum_pairwise(first->numbers, flat->table->rows); /* 0 where missing */
    for (size_t row = 0; row < flat->table->rows; row++)
        if (!own->missing[row])
            sta_table_set_int(&flat->table->columns[extra->at], row,
                              sta_score(sta_score_shares, own->numbers[row] / total));
}

static void score_column(struct flat *flat, const struct extra *extra)
{
    const struct sta_table_column *from = &flat->table->columns[*extra->from];
    const double *steps = steps_for(from->name);
    bool rest = ends_with(from->name, "_util"); /* what is not used */
    for (size_t row = 0; row < flat->table->rows; row++)
        if (!from->missing[row])
            sta_table_set_int(&flat->table->columns[extra->at], row,
                              sta_score(steps, rest ? 1 - from->numbers[row] : from->numbers[row]));
}

static int compute(struct flat *flat, const struct extra *extra, struct sta_error *err)
{
    switch (extra->kind) {
    case OVERHEAD:
        compute_overhead(flat, extra);
        break;
    case UNOVERLAPPED:
        compute_unoverlapped(flat, extra);
        break;
    case ADDITIONAL:
        return sta_additional(flat->table, &flat->preset->additional[extra->index], flat->time, extra->at,
                              err);
    case SCORE_TIME:
        score_time(flat, extra);
        break;
    case SCORE_COLUMN:
        score_column(flat, extra);
        break;
    }
    return 0;
}

/* ---- all of it */

static enum sta_type type_of(enum kind kind)
{
    return kind == SCORE_TIME || kind == SCORE_COLUMN ? STA_TYPE_INT : STA_TYPE_FLOAT;
}

static int fill(struct flat *flat, struct sta_error *err)
{
    find_times(flat);
    list_overheads(flat);
    list_unoverlapped(flat);
    list_additional(flat);
    struct sta_join_extra *columns = sta_alloc_array(flat->count + 1, sizeof *columns);
    for (size_t i = 0; i < flat->count; i++) {
        enum kind kind = flat->extras[i]->kind;
        columns[i] = (struct sta_join_extra){.name = flat->extras[i]->name,
                                             .unit = kind == OVERHEAD || kind == UNOVERLAPPED ? "s" : NULL,
                                             .type = type_of(kind),
                                             .at = &flat->extras[i]->at};
    }
    int rc = sta_join_fill(&flat->join, columns, flat->count, flat->table, err);
    free(columns);
    for (size_t i = 0; rc == 0 && i < flat->count; i++)
        rc = compute(flat, flat->extras[i], err);
    return rc;
}

int sta_flat_view(const struct sta_hlm *hlm, const struct sta_by *by, bool whole, bool quantiles,
                  const struct sta_budget *budget, struct sta_table *table, struct sta_error *err)
{
    struct flat flat = {.preset = hlm->bound->preset,
                        .time = by->axis == STA_AXIS_PROC ? "time_sum" : "time_max",
                        .whole = whole,
                        .table = table};
    struct sta_join_options options = {
        .layer = STA_NO_LAYER, .derived = whole, .scores = whole, .quantiles = quantiles};
    *table = (struct sta_table){0};
    int rc = sta_join_init(&flat.join, hlm, by, &options, budget, err);
    if (rc == 0)
        rc = fill(&flat, err);
    for (size_t i = 0; i < flat.count; i++) {
        free(flat.extras[i]->name);
        free(flat.extras[i]);
    }
    free(flat.extras);
    free(flat.times);
    sta_join_fini(&flat.join);
    return rc;
}

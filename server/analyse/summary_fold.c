/* From classes, of which each worker has its own sums, to layers. */
#include "analyse/summary.h"

#include <stdlib.h>

#include "common/memory.h"

struct fold {
    struct sta_summary *summary;
    struct sta_layer_sums *layers;
    struct sta_sums *metrics;
    struct sta_summary_counts *counts;
};

static size_t words(uint32_t bits)
{
    return (size_t)bits / 64 + 1;
}

/* Sets in @to the bit of what each code in @from stands for. */
static void translate(uint64_t *to, const uint64_t *from, const uint32_t *meaning, uint32_t code_count,
                      uint32_t limit)
{
    for (size_t w = 0; w < words(code_count); w++)
        for (uint64_t rest = from[w]; rest != 0; rest &= rest - 1) {
            uint32_t code = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(rest);
            uint32_t at = meaning[code];
            if (at < limit) /* else a hash that no line defines */
                to[at / 64] |= UINT64_C(1) << (at % 64);
        }
}

static void count_fate(struct sta_summary_counts *counts, const struct sta_class_sums *sums)
{
    if (sums->fate == STA_FATE_FILE)
        counts->filtered_by_file += sums->sums.count;
    else if (sums->fate == STA_FATE_FUNCTION)
        counts->filtered_by_function += sums->sums.count;
    else if (sums->layer_count == 0)
        counts->unmatched += sums->sums.count;
    else if (sums->layer_count > 1)
        counts->multiple += sums->sums.count;
}

static void fold_class(struct fold *fold, struct sta_membership *membership, uint32_t class,
                       const struct sta_class_sums *sums)
{
    const struct sta_summary_entities *entities = &fold->summary->entities;
    count_fate(fold->counts, sums);
    if (sums->layer_count == 0)
        return;
    fold->summary->memberships.get(fold->summary->memberships.context, class, membership);
    for (uint32_t i = 0; i < membership->layer_count; i++) {
        struct sta_layer_sums *layer = &fold->layers[membership->layers[i]];
        sta_sums_add(&layer->sums, &sums->sums);
        translate(layer->threads, sums->threads, entities->thread_of_code, entities->thread_code_count,
                  entities->thread_count);
        translate(layer->files, sums->files, entities->file_of_ref, entities->file_ref_count,
                  entities->file_limit);
    }
    for (uint32_t i = 0; i < membership->metric_count; i++)
        sta_sums_add(&fold->metrics[membership->metrics[i]], &sums->sums);
}

struct sta_layer_sums *sta_summary_fold(struct sta_summary *summary, struct sta_sums **metrics,
                                        struct sta_summary_counts *counts)
{
    const struct sta_shape *shape = summary->shape;
    struct fold fold = {.summary = summary, .counts = counts};
    fold.layers = sta_alloc_array((size_t)shape->layer_count + 1, sizeof *fold.layers);
    fold.metrics = sta_alloc_array((size_t)shape->metric_count + 1, sizeof *fold.metrics);
    for (uint32_t l = 0; l < shape->layer_count; l++) {
        fold.layers[l].threads = sta_alloc_array(words(summary->entities.thread_count), sizeof(uint64_t));
        fold.layers[l].files = sta_alloc_array(words(summary->entities.file_limit), sizeof(uint64_t));
    }
    for (unsigned w = 0; w < summary->worker_count; w++) {
        struct sta_summary_worker *worker = &summary->workers[w];
        for (size_t c = 0; c < worker->class_capacity; c++)
            if (worker->classes[c] != NULL)
                fold_class(&fold, &worker->membership, (uint32_t)c, worker->classes[c]);
    }
    *metrics = fold.metrics;
    return fold.layers;
}

void sta_layer_sums_destroy(struct sta_layer_sums *layers, uint32_t count)
{
    for (uint32_t l = 0; l < count; l++) {
        free(layers[l].threads);
        free(layers[l].files);
    }
    free(layers);
}

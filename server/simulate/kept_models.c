/* Models that were made, the one used last in front. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/model.h"

#define MOST_MODELS 16

struct kept {
    char trace[STA_TRACE_ID_SIZE];
    uint64_t version;
    struct sta_assumption assumed;
    struct sta_model *model;
};

struct sta_models {
    pthread_mutex_t lock;
    struct kept items[MOST_MODELS]; /* by use, latest first */
    size_t count, bytes, capacity;
    struct sta_account *account;
};

struct sta_models *sta_models_create(size_t capacity, struct sta_account *account)
{
    struct sta_models *models = sta_alloc(sizeof *models);
    pthread_mutex_init(&models->lock, NULL);
    models->capacity = capacity;
    models->account = account;
    return models;
}

static size_t drop_last(struct sta_models *models)
{
    struct sta_model *model = models->items[--models->count].model;
    size_t bytes = sta_model_bytes(model);
    models->bytes -= bytes;
    sta_model_release(model);
    return bytes;
}

void sta_models_destroy(struct sta_models *models)
{
    while (models->count > 0)
        drop_last(models);
    pthread_mutex_destroy(&models->lock);
    free(models);
}

size_t sta_models_shrink(struct sta_models *models, size_t bytes)
{
    size_t freed = 0;
    pthread_mutex_lock(&models->lock);
    while (freed < bytes && models->count > 0)
        freed += drop_last(models);
    pthread_mutex_unlock(&models->lock);
    return freed;
}

static bool is_same(const struct kept *kept, const struct kept *key)
{
    return strcmp(kept->trace, key->trace) == 0 && kept->version == key->version &&
           kept->assumed.batch == key->assumed.batch && kept->assumed.prefetch == key->assumed.prefetch;
}

static void put_front(struct sta_models *models, size_t place, const struct kept *kept)
{
    memmove(&models->items[1], &models->items[0], place * sizeof models->items[0]);
    models->items[0] = *kept;
}

static struct sta_model *find(struct sta_models *models, const struct kept *key)
{
    struct sta_model *model = NULL;
    pthread_mutex_lock(&models->lock);
    for (size_t i = 0; i < models->count && model == NULL; i++)
        if (is_same(&models->items[i], key)) {
            struct kept found = models->items[i];
            put_front(models, i, &found);
            model = sta_model_retain(found.model);
        }
    pthread_mutex_unlock(&models->lock);
    return model;
}

/* Keeps a model whose memory the models' account can take; others go with their last reference. */
static void keep(struct sta_models *models, const struct kept *kept)
{
    const size_t bytes = sta_model_bytes(kept->model);
    if (bytes > models->capacity || !sta_model_move(kept->model, models->account))
        return;
    pthread_mutex_lock(&models->lock);
    while (models->count > 0 && (models->count == MOST_MODELS || models->bytes + bytes > models->capacity))
        drop_last(models);
    put_front(models, models->count++, kept);
    models->bytes += bytes;
    sta_model_retain(kept->model);
    pthread_mutex_unlock(&models->lock);
}

int sta_models_get(struct sta_models *models, const char *trace, struct sta_snapshot *snapshot,
                   const struct sta_presets *presets, const struct sta_assumption *assumed,
                   const struct sta_budget *budget, struct sta_model **model, struct sta_error *err)
{
    struct kept key = {.version = sta_snapshot_info(snapshot)->version, .assumed = *assumed};
    memcpy(key.trace, trace, strnlen(trace, sizeof key.trace - 1));
    *model = find(models, &key);
    if (*model != NULL)
        return STA_OK;
    int rc = sta_model_create(snapshot, presets, assumed, budget, model, err);
    if (rc != STA_OK)
        return rc;
    key.model = *model;
    keep(models, &key);
    return STA_OK;
}

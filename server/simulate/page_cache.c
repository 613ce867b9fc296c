/* A page cache per host, by file: what is in it and was last read in an earlier epoch needs no storage.
 *
 * Jobs come by epoch, step, rank and job.  The order of use is a list through an array by file, the oldest
 * first, so that each access costs the same however many files there are. */
#include <stdlib.h>
#include <string.h>

#include "simulate/scenario.h"

#define NO_FILE UINT32_MAX
#define LARGEST_CACHE (INT64_C(1) << 61)

struct entry {
    int64_t bytes;  /* 0: not in the cache */
    uint32_t epoch; /* when it was last read */
    uint32_t older, newer;
};

struct cache {
    const struct sta_model *model;
    struct entry *entries; /* by file */
    uint32_t oldest, newest;
    int64_t capacity, used, speed;
};

static void take_out(struct cache *cache, uint32_t file)
{
    struct entry *entry = &cache->entries[file];
    *(entry->older != NO_FILE ? &cache->entries[entry->older].newer : &cache->oldest) = entry->newer;
    *(entry->newer != NO_FILE ? &cache->entries[entry->newer].older : &cache->newest) = entry->older;
    cache->used -= entry->bytes;
    entry->bytes = 0;
}

static void put_newest(struct cache *cache, uint32_t file, int64_t bytes, uint32_t epoch)
{
    cache->entries[file] = (struct entry){bytes, epoch, cache->newest, NO_FILE};
    *(cache->newest != NO_FILE ? &cache->entries[cache->newest].newer : &cache->oldest) = file;
    cache->newest = file;
    cache->used += bytes;
    while (cache->used > cache->capacity)
        take_out(cache, cache->oldest);
}

static int64_t read_time(const struct cache *cache, const struct sta_job_file *file)
{
    double micros = (double)file->bytes * 1e6 / (double)cache->speed;
    if (micros > 9e17)
        return file->time;
    int64_t whole =
        file->bytes <= INT64_MAX / 1000000 ? file->bytes * 1000000 / cache->speed : (int64_t)micros;
    return STA_MIN(file->time, whole);
}

static void read_job(struct cache *cache, size_t number, uint32_t epoch, struct sta_cached_jobs *cached)
{
    const struct sta_model_job *job = &cache->model->jobs[number];
    int64_t saved = 0, hit = 0;
    for (uint32_t i = 0; i < job->file_count; i++) {
        const struct sta_job_file *file = &cache->model->files[job->file_first + i];
        struct entry *entry = &cache->entries[file->file];
        const int64_t before = entry->bytes;
        if (before > 0 && entry->epoch < epoch) {
            saved += file->time;
            hit += read_time(cache, file);
        }
        if (before > 0)
            take_out(cache, file->file);
        const int64_t bytes = STA_MAX(file->bytes, before);
        if (bytes <= cache->capacity)
            put_newest(cache, file->file, bytes, epoch);
    }
    cached->misses[number] = STA_MAX(0, job->storage - saved);
    cached->hits[number] = hit;
}

static int read_host(struct cache *cache, uint32_t host, const struct sta_budget *budget,
                     struct sta_cached_jobs *cached, struct sta_error *err)
{
    const struct sta_model *model = cache->model;
    size_t steps = 0;
    cache->oldest = cache->newest = NO_FILE;
    cache->used = 0;
    memset(cache->entries, 0, ((size_t)model->file_count + 1) * sizeof *cache->entries);
    for (uint32_t n = 0; n < model->most_epochs; n++) {
        bool any = true;
        for (size_t k = 0; any; k++) {
            any = false;
            for (size_t r = 0; r < model->rank_count; r++) {
                const struct sta_model_rank *rank = &model->ranks[r];
                if (rank->host_number != host || n >= rank->epoch_count ||
                    k >= sta_model_epoch(model, r, n)->step_count)
                    continue;
                any = true;
                const struct sta_model_step *step = sta_model_step(model, sta_model_epoch(model, r, n), k);
                for (uint32_t i = 0; i < step->job_count; i++)
                    read_job(cache, step->job_first + i, n, cached);
                if (sta_budget_check_step(budget, ++steps, err) != STA_OK)
                    return err->status;
            }
        }
    }
    return STA_OK;
}

static bool host_is_first(const struct sta_model *model, size_t rank)
{
    for (size_t r = 0; r < rank; r++)
        if (model->ranks[r].host_number == model->ranks[rank].host_number)
            return false;
    return true;
}

void sta_cached_jobs_fini(struct sta_cached_jobs *cached)
{
    sta_account_free(cached->account, cached->misses);
    sta_account_free(cached->account, cached->hits);
    *cached = (struct sta_cached_jobs){0};
}

int sta_cache_simulate(const struct sta_model *model, int64_t bytes, int64_t speed,
                       const struct sta_budget *budget, struct sta_cached_jobs *cached, struct sta_error *err)
{
    struct cache cache = {.model = model, .capacity = STA_MIN(bytes, LARGEST_CACHE), .speed = speed};
    const char *what = "the files of a page cache";
    *cached = (struct sta_cached_jobs){.account = budget->account};
    cached->misses = sta_account_calloc(budget->account, model->job_count + 1, sizeof(int64_t), what, err);
    if (cached->misses != NULL)
        cached->hits = sta_account_calloc(budget->account, model->job_count + 1, sizeof(int64_t), what, err);
    if (cached->hits != NULL)
        cache.entries = sta_account_calloc(budget->account, (size_t)model->file_count + 1,
                                           sizeof *cache.entries, what, err);
    int rc = cache.entries != NULL ? STA_OK : err->status;
    for (size_t r = 0; r < model->rank_count && rc == STA_OK; r++)
        if (host_is_first(model, r))
            rc = read_host(&cache, model->ranks[r].host_number, budget, cached, err);
    sta_account_free(budget->account, cache.entries);
    if (rc != STA_OK)
        sta_cached_jobs_fini(cached);
    return rc;
}

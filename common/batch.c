/* Batches of events: arrays that grow together. */
#include <stdlib.h>
#include <string.h>

#include "common/event.h"
#include "common/memory.h"

void sta_batch_init(struct sta_batch *batch)
{
    *batch = (struct sta_batch){0};
}

void sta_batch_fini(struct sta_batch *batch)
{
    free(batch->ts);
    free(batch->dur);
    free(batch->ts_ns);
    free(batch->dur_ns);
    free(batch->name);
    free(batch->cat);
    free(batch->file);
    free(batch->thread);
    for (uint32_t i = 0; i < batch->args_count; i++) {
        free(batch->args[i].rows);
        free(batch->args[i].kinds);
        free(batch->args[i].values);
    }
    free(batch->args);
    *batch = (struct sta_batch){0};
}

void sta_batch_clear(struct sta_batch *batch)
{
    batch->count = 0;
    free(batch->ts_ns);
    free(batch->dur_ns);
    batch->ts_ns = NULL;
    batch->dur_ns = NULL;
    for (uint32_t i = 0; i < batch->args_count; i++) {
        if (batch->args[i].count > 0)
            memset(batch->args[i].kinds, 0, batch->args[i].count);
        batch->args[i].count = 0;
    }
}

void sta_batch_reserve(struct sta_batch *batch, uint32_t rows)
{
    if (rows <= batch->capacity)
        return;
    uint32_t capacity = batch->capacity ? batch->capacity : 1024;
    while (capacity < rows)
        capacity *= 2;
    batch->ts = sta_realloc_array(batch->ts, capacity, sizeof *batch->ts);
    batch->dur = sta_realloc_array(batch->dur, capacity, sizeof *batch->dur);
    batch->name = sta_realloc_array(batch->name, capacity, sizeof *batch->name);
    batch->cat = sta_realloc_array(batch->cat, capacity, sizeof *batch->cat);
    batch->file = sta_realloc_array(batch->file, capacity, sizeof *batch->file);
    batch->thread = sta_realloc_array(batch->thread, capacity, sizeof *batch->thread);
    if (batch->ts_ns != NULL) {
        batch->ts_ns = sta_realloc_array(batch->ts_ns, capacity, sizeof *batch->ts_ns);
        batch->dur_ns = sta_realloc_array(batch->dur_ns, capacity, sizeof *batch->dur_ns);
        memset(batch->ts_ns + batch->capacity, 0, (capacity - batch->capacity) * sizeof *batch->ts_ns);
        memset(batch->dur_ns + batch->capacity, 0, (capacity - batch->capacity) * sizeof *batch->dur_ns);
    }
    batch->capacity = capacity;
}

void sta_batch_need_fractions(struct sta_batch *batch)
{
    if (batch->ts_ns != NULL)
        return;
    batch->ts_ns = sta_alloc_array(batch->capacity, sizeof *batch->ts_ns);
    batch->dur_ns = sta_alloc_array(batch->capacity, sizeof *batch->dur_ns);
}

/* Records into the order of the stream.
 *
 * Slices of the items write down where each belongs; then slices of the positions count theirs, which says
 * where each slice's begin, and copy them. */
#include "dasf/gather.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/tasks.h"
#include "common/memory.h"

#define SLICE ((size_t)1 << 16) /* items, or positions */

struct slices {
    const struct dasf_gathering *gathering;
    char *out;
    size_t *begins; /* by slice of the positions: items before it; until then items in it */
};

static size_t slices_of(uint64_t count)
{
    return (size_t)((count + SLICE - 1) / SLICE);
}

static size_t end_of(size_t slice, uint64_t count)
{
    return (size_t)STA_MIN((uint64_t)(slice + 1) * SLICE, count);
}

static int note_places(void *context, unsigned worker, size_t slice, struct sta_error *err)
{
    const struct slices *slices = context;
    const struct dasf_gathering *gathering = slices->gathering;
    for (size_t i = slice * SLICE; i < end_of(slice, gathering->count); i++) {
        uint32_t position;
        memcpy(&position, gathering->items + i * gathering->size + gathering->position_at, sizeof position);
        __atomic_store_n(&gathering->at[position], (uint32_t)i + 1, __ATOMIC_RELAXED); /* a damaged store may
                                                                                          say one twice */
    }
    return STA_OK;
}

static int count_items(void *context, unsigned worker, size_t slice, struct sta_error *err)
{
    const struct slices *slices = context;
    size_t count = 0;
    for (size_t i = slice * SLICE; i < end_of(slice, slices->gathering->positions); i++)
        count += slices->gathering->at[i] != 0;
    slices->begins[slice] = count;
    return STA_OK;
}

static int copy_items(void *context, unsigned worker, size_t slice, struct sta_error *err)
{
    const struct slices *slices = context;
    const struct dasf_gathering *gathering = slices->gathering;
    char *out = slices->out + slices->begins[slice] * gathering->size;
    for (size_t i = slice * SLICE; i < end_of(slice, gathering->positions); i++) {
        if (gathering->at[i] == 0)
            continue;
        memcpy(out, gathering->items + (gathering->at[i] - 1) * gathering->size, gathering->size);
        out += gathering->size;
        gathering->at[i] = 0;
    }
    return STA_OK;
}

int dasf_gather(const struct dasf_gathering *gathering, void *out, size_t *copied,
                const struct sta_budget *budget, struct sta_error *err)
{
    const size_t count = slices_of(gathering->positions);
    struct slices slices = {gathering, out, sta_alloc_array(count + 1, sizeof *slices.begins)};
    int status = sta_tasks_run(budget, slices_of(gathering->count), note_places, &slices, err);
    if (status == STA_OK)
        status = sta_tasks_run(budget, count, count_items, &slices, err);
    *copied = 0;
    for (size_t slice = 0; slice < count; slice++) {
        const size_t inside = slices.begins[slice];
        slices.begins[slice] = *copied;
        *copied += inside;
    }
    if (status == STA_OK)
        status = sta_tasks_run(budget, count, copy_items, &slices, err);
    free(slices.begins);
    return status;
}

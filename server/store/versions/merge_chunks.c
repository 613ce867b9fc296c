/* merge_chunks.c - see merge_chunks.h. */
#include "store/versions/merge_chunks.h"

#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/memory.h"

#define WHAT "the chunks of segments that are merged"

struct placed {
    struct sta_chunk_place place; /* first, since they are sorted by it */
    uint32_t source;
    bool merged;
};

/* All chunks of the snapshot but those of sources that are dropped. */
static size_t list_chunks(const struct sta_merge *merge, struct placed *placed)
{
    const struct sta_snapshot *snapshot = merge->base;
    size_t total = 0;
    for (uint32_t s = 0; s < snapshot->segment_count; s++) {
        const struct sta_open_segment *open = &snapshot->segments[s];
        for (uint32_t c = 0; c < open->segment.header.chunk_count; c++) {
            const uint32_t source = open->chunks[c].source;
            if (merge->drop != NULL && merge->drop[source])
                continue;
            if (placed != NULL)
                placed[total] = (struct placed){
                    .place = {snapshot->sources[source]->source.path, open->chunks[c].first_line, s, c},
                    .source = snapshot->sources[source]->id,
                    .merged = s >= merge->first && s < merge->first + merge->count};
            total++;
        }
    }
    return total;
}

static void number_chunks(struct sta_merge_chunks *chunks, const struct placed *placed, size_t count,
                          uint32_t first)
{
    bool open = false; /* the last item may take more */
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++) {
        if (!placed[i].merged) {
            open = false;
            continue;
        }
        if (!open || chunks->items[chunks->count - 1].source != placed[i].source)
            chunks->items[chunks->count++] =
                (struct sta_disk_chunk){.source = placed[i].source, .first_line = placed[i].place.first_line};
        open = true;
        chunks->item_of[rank] = chunks->count - 1;
        ((uint32_t *)chunks->of_segment[placed[i].place.segment - first])[placed[i].place.chunk] = rank++;
    }
}

static int reserve(struct sta_merge_chunks *chunks, const struct sta_merge *merge, struct sta_error *err)
{
    struct sta_account *account = merge->account;
    const struct sta_open_segment *segments = merge->base->segments + merge->first;
    size_t total = 0;
    for (uint32_t s = 0; s < merge->count; s++)
        total += segments[s].segment.header.chunk_count;
    chunks->items = sta_account_calloc(account, total + 1, sizeof *chunks->items, WHAT, err);
    chunks->ranks = sta_account_alloc(account, total + 1, sizeof *chunks->ranks, WHAT, err);
    chunks->item_of = sta_account_alloc(account, total + 1, sizeof *chunks->item_of, WHAT, err);
    chunks->of_segment = sta_account_calloc(account, merge->count, sizeof(uint32_t *), WHAT, err);
    if (!chunks->items || !chunks->ranks || !chunks->item_of || !chunks->of_segment)
        return err->status;
    memset(chunks->ranks, 0xff, total * sizeof *chunks->ranks);
    total = 0;
    for (uint32_t s = 0; s < merge->count; s++) {
        chunks->of_segment[s] = chunks->ranks + total;
        total += segments[s].segment.header.chunk_count;
    }
    return STA_OK;
}

int sta_merge_chunks_init(struct sta_merge_chunks *chunks, const struct sta_merge *merge,
                          struct sta_error *err)
{
    *chunks = (struct sta_merge_chunks){0};
    int status = reserve(chunks, merge, err);
    if (status != STA_OK)
        return status;
    const size_t total = list_chunks(merge, NULL);
    struct placed *placed = sta_account_alloc(merge->account, total + 1, sizeof *placed, WHAT, err);
    if (placed == NULL)
        return err->status;
    list_chunks(merge, placed);
    qsort(placed, total, sizeof *placed, sta_chunk_place_compare);
    number_chunks(chunks, placed, total, merge->first);
    sta_account_free(merge->account, placed);
    return STA_OK;
}

void sta_merge_chunks_fini(struct sta_merge_chunks *chunks, struct sta_account *account)
{
    sta_account_free(account, chunks->items);
    sta_account_free(account, chunks->ranks);
    sta_account_free(account, chunks->item_of);
    sta_account_free(account, chunks->of_segment);
}

/* The format is described at the viewer's own schema, which the document names. */
#include "serve/formats/speedscope.h"

#include <stdlib.h>
#include <string.h>

#include "common/account.h"
#include "serve/api/response.h"
#include "timeline/timeline.h"

/* Frames: codes of a dictionary, and by code the place in the order. */
struct frames {
    struct sta_dictionary *texts;
    uint32_t *ranks, *by_rank;
    uint32_t count;
    uint64_t places; /* of frames in all stacks */
};

/* The frame that a path begins with; *rest: what follows its separator, NULL: nothing. */
static size_t frame_length(const char *path, const char *end)
{
    const char *stop = memchr(path, ';', (size_t)(end - path));
    return (size_t)((stop != NULL ? stop : end) - path);
}

static int collect_frames(const struct sta_timeline_stacks *stacks, const struct sta_budget *budget,
                          struct frames *frames, struct sta_error *err)
{
    size_t work = 0;
    *frames = (struct frames){.texts = sta_dictionary_create_in(stacks->account)};
    for (size_t i = 0; i < stacks->count; i++) {
        const char *at = stacks->items[i].path.bytes, *end = at + stacks->items[i].path.length;
        while (at <= end) {
            size_t length = frame_length(at, end);
            sta_dictionary_intern(frames->texts, at, length);
            at += length + 1;
            frames->places++;
        }
        if (sta_budget_check_work(budget, &work, stacks->items[i].path.length, err) != STA_OK)
            return err->status;
    }
    frames->ranks = sta_dictionary_ranks(frames->texts, stacks->account, &frames->count, err);
    if (frames->ranks != NULL)
        frames->by_rank = sta_account_alloc(stacks->account, frames->count, sizeof *frames->by_rank,
                                            "frames of the call tree", err);
    return frames->by_rank != NULL ? sta_account_failure(stacks->account, err) : err->status;
}

static void put_frames(struct sta_buffer *out, const struct frames *frames)
{
    uint32_t *by_rank = frames->by_rank;
    for (uint32_t code = 0; code < frames->count; code++)
        by_rank[frames->ranks[code]] = code;
    sta_put_text(out, "\"shared\":{\"frames\":[");
    for (uint32_t rank = 0; rank < frames->count; rank++) {
        sta_put_text(out, rank > 0 ? ",{" : "{");
        sta_put_member_text(out, "name", sta_dictionary_text(frames->texts, by_rank[rank]).bytes);
        sta_put_char(out, '}');
    }
    sta_put_text(out, "]}");
}

static void put_sample(struct sta_buffer *out, const struct frames *frames, struct sta_text path)
{
    sta_put_char(out, '[');
    const char *at = path.bytes, *end = at + path.length;
    while (at <= end) {
        size_t length = frame_length(at, end);
        sta_put_text(out, at > path.bytes ? "," : "");
        sta_put_uint(out, frames->ranks[sta_dictionary_find(frames->texts, at, length)]);
        at += length + 1;
    }
    sta_put_char(out, ']');
}

/* The stacks [first, end) of a group. */
static int put_profile(struct sta_buffer *out, const struct sta_timeline_stacks *stacks,
                       const struct frames *frames, size_t group, size_t first, size_t end,
                       const struct sta_budget *budget, struct sta_error *err)
{
    int64_t total = 0;
    size_t work = 0;
    sta_put_text(out, "{\"type\":\"sampled\"");
    sta_put_member_text(out, "name", stacks->groups[group].bytes);
    sta_put_member_text(out, "unit", stacks->ticks_per_second == 1000000 ? "microseconds" : "nanoseconds");
    sta_put_text(out, ",\"startValue\":0,\"samples\":[");
    for (size_t i = first; i < end; i++) {
        sta_put_text(out, i > first ? "," : "");
        put_sample(out, frames, stacks->items[i].path);
        total += (int64_t)stacks->items[i].self;
        if (sta_budget_check_work(budget, &work, stacks->items[i].path.length, err) != STA_OK)
            return err->status;
    }
    sta_put_text(out, "],\"weights\":[");
    for (size_t i = first; i < end; i++) {
        sta_put_text(out, i > first ? "," : "");
        sta_put_int(out, (int64_t)stacks->items[i].self);
    }
    sta_put_text(out, "],\"endValue\":");
    sta_put_int(out, total);
    sta_put_char(out, '}');
    return STA_OK;
}

static int put_document(struct sta_buffer *out, const struct sta_timeline_stacks *stacks,
                        const struct frames *frames, const struct sta_budget *budget, struct sta_error *err)
{
    int status = STA_OK;
    sta_put_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
    put_frames(out, frames);
    sta_put_text(out, ",\"profiles\":[");
    for (size_t group = 0, first = 0, end = 0; status == STA_OK && group < stacks->group_count;
         group++, first = end) {
        while (end < stacks->count && stacks->items[end].group == group)
            end++;
        sta_put_text(out, group > 0 ? "," : "");
        status = put_profile(out, stacks, frames, group, first, end, budget, err);
    }
    sta_put_text(out, "]}");
    return status;
}

/* The digits of the largest rank, and a comma. */
static uint64_t bytes_of_places(const struct frames *frames)
{
    uint64_t each = 2;
    for (uint32_t rank = frames->count; rank >= 10; rank /= 10)
        each++;
    return frames->places * each;
}

int sta_put_speedscope(struct sta_buffer *out, const struct sta_timeline_stacks *stacks,
                       const struct sta_budget *budget, struct sta_error *err)
{
    struct frames frames;
    int status = collect_frames(stacks, budget, &frames, err);
    if (status == STA_OK)
        status = sta_account_check(stacks->account, bytes_of_places(&frames), STA_STACKS_WHAT, err);
    if (status == STA_OK)
        status = put_document(out, stacks, &frames, budget, err);
    sta_account_free(stacks->account, frames.ranks);
    sta_account_free(stacks->account, frames.by_rank);
    sta_dictionary_destroy(frames.texts);
    return status;
}

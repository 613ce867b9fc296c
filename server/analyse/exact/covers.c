/* The lists of covers. */
#include "analyse/exact/covers.h"

/* An overlap in a list; the first numbers are none's. */
#define LISTED(compared, which) (((compared) + 1) * STA_OVERLAPS + (which))

void sta_covers_compare(struct sta_covers *covers, struct sta_compared_union *with, uint32_t which,
                        uint32_t index, int64_t ts, int64_t te)
{
    struct sta_overlap *overlap = &with->overlaps[which];
    struct sta_cover *cover = &covers->items[index];
    const int64_t from = STA_MAX(ts, with->of.end);
    overlap->time += STA_MAX(STA_MIN(te, cover->of.end) - from, 0);
    if (te <= cover->of.end)
        return;
    overlap->time -= sta_running_union_total(&cover->of);
    overlap->cover = index;
    overlap->next = STA_MAX(cover->first, STA_END_OF_LIST);
    cover->least = cover->first > STA_END_OF_LIST ? STA_MIN(cover->least, te) : te;
    cover->first = LISTED((uint32_t)(with - covers->compared), which);
}

void sta_covers_settle(struct sta_covers *covers, struct sta_cover *cover, int64_t from, int64_t to)
{
    const int64_t total = sta_running_union_total(&cover->of);
    uint32_t *link = &cover->first;
    cover->least = INT64_MAX;
    while (*link > STA_END_OF_LIST) {
        struct sta_compared_union *with = &covers->compared[*link / STA_OVERLAPS - 1];
        struct sta_overlap *overlap = &with->overlaps[*link % STA_OVERLAPS];
        const int64_t end = with->of.end;
        if (end > to) {
            cover->least = STA_MIN(cover->least, end);
            link = &overlap->next;
        } else {
            overlap->time += total + STA_MAX(end - from, 0);
            *link = overlap->next;
            overlap->next = 0;
        }
    }
}

int64_t sta_covers_take_overlap(const struct sta_covers *covers, struct sta_compared_union *with,
                                uint32_t which)
{
    struct sta_overlap *overlap = &with->overlaps[which];
    const int64_t total = overlap->next != 0 ? sta_running_union_total(&covers->items[overlap->cover].of) : 0;
    const int64_t time = overlap->time + total;
    overlap->time = -total;
    return time;
}

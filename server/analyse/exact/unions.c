/* The overlap of unions, and the lists of those that reach beyond a group's. */
#include "analyse/exact/unions.h"

/* An overlap in a list; the first numbers are none's. */
#define LISTED(compared, which) (((compared) + 1) * STA_OVERLAPS + (which))

void sta_unions_compare(struct sta_unions *unions, struct sta_compared_union *with, uint32_t which,
                        uint32_t index, int64_t ts, int64_t te)
{
    struct sta_overlap *overlap = &with->overlaps[which];
    struct sta_group_union *of_group = &unions->items[index];
    const int64_t from = STA_MAX(ts, with->of.end);
    overlap->time += STA_MAX(STA_MIN(te, of_group->of.end) - from, 0);
    if (te <= of_group->of.end)
        return;
    overlap->time -= sta_running_union_total(&of_group->of);
    overlap->of_group = index;
    overlap->next = STA_MAX(of_group->first, STA_END_OF_LIST);
    of_group->least = of_group->first > STA_END_OF_LIST ? STA_MIN(of_group->least, te) : te;
    of_group->first = LISTED((uint32_t)(with - unions->compared), which);
}

void sta_unions_pass_end(struct sta_unions *unions, struct sta_group_union *of_group, int64_t from,
                         int64_t to)
{
    const int64_t total = sta_running_union_total(&of_group->of);
    uint32_t *link = &of_group->first;
    of_group->least = INT64_MAX;
    while (*link > STA_END_OF_LIST) {
        struct sta_compared_union *with = &unions->compared[*link / STA_OVERLAPS - 1];
        struct sta_overlap *overlap = &with->overlaps[*link % STA_OVERLAPS];
        const int64_t end = with->of.end;
        if (end > to) {
            of_group->least = STA_MIN(of_group->least, end);
            link = &overlap->next;
        } else {
            overlap->time += total + STA_MAX(end - from, 0);
            *link = overlap->next;
            overlap->next = 0;
        }
    }
}

int64_t sta_unions_take_overlap(const struct sta_unions *unions, struct sta_compared_union *with,
                                uint32_t which)
{
    struct sta_overlap *overlap = &with->overlaps[which];
    const int64_t total =
        overlap->next != 0 ? sta_running_union_total(&unions->items[overlap->of_group].of) : 0;
    const int64_t time = overlap->time + total;
    overlap->time = -total;
    return time;
}

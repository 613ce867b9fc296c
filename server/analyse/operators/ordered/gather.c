/* The records of a slice, unit by unit.
 *
 * Records of a unit mostly come from one row group and stay where they are.  Those of several row groups are
 * brought together, and sorted unless the row groups follow one another. */
#include "analyse/operators/ordered/ordered_private.h"

#include <string.h>

#include "analyse/exec/budget.h"
#include "common/memory.h"

static const char WHAT[] = "sorting the events of a slice of time";

void sta_ordered_gathering_fini(struct sta_ordered_gathering *gathering, struct sta_account *account)
{
    void *const all[] = {gathering->place, gathering->units, gathering->parts, gathering->buffer,
                         gathering->scratch};
    for (size_t i = 0; i < STA_COUNT_OF(all); i++)
        sta_account_free(account, all[i]);
}

void sta_ordered_gather_begin(struct sta_ordered_gathering *gathering)
{
    for (size_t u = 0; u < gathering->unit_count; u++)
        gathering->place[gathering->units[u].unit] = 0;
    gathering->unit_count = gathering->part_count = 0;
}

/* There is space for one more unit and one more part. */
static void add_part(struct sta_ordered_gathering *gathering, const struct sta_ordered_group *group,
                     const char *records)
{
    uint32_t *place = &gathering->place[group->unit];
    uint32_t part = (uint32_t)gathering->part_count++;
    gathering->parts[part] = (struct sta_ordered_chunk){records, group->count, STA_ORDERED_LAST};
    if (*place == 0) {
        *place = (uint32_t)gathering->unit_count + 1;
        gathering->units[gathering->unit_count++] =
            (struct sta_ordered_unit){group->unit, part, part, 0, NULL};
    }
    struct sta_ordered_unit *unit = &gathering->units[*place - 1];
    if (unit->last != part)
        gathering->parts[unit->last].next = part;
    unit->last = part;
    unit->count += group->count;
}

int sta_ordered_gather(struct sta_ordered_gathering *gathering, const struct sta_ordered_piece *piece,
                       size_t record, struct sta_account *account, struct sta_error *err)
{
    const char *records = piece->records;
    int rc = STA_ACCOUNT_GROW(account, gathering->parts, gathering->part_capacity,
                              gathering->part_count + piece->group_count, WHAT, err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(account, gathering->units, gathering->unit_capacity,
                              gathering->unit_count + piece->group_count, WHAT, err);
    for (uint32_t g = 0; g < piece->group_count && rc == 0; g++) {
        const struct sta_ordered_group *group = &piece->groups[g];
        rc = STA_ACCOUNT_GROW_ZEROED(account, gathering->place, gathering->place_capacity,
                                     (size_t)group->unit + 1, WHAT, err);
        if (rc == 0)
            add_part(gathering, group, records);
        records += group->count * record;
    }
    return rc;
}

/* ---- units of several row groups */

int sta_ordered_gather_end(struct sta_ordered_gathering *gathering, size_t record,
                           const struct sta_budget *budget, struct sta_error *err)
{
    struct sta_account *account = budget->account;
    size_t bytes = 0, at = 0, work = 0;
    for (size_t u = 0; u < gathering->unit_count; u++) {
        struct sta_ordered_unit *unit = &gathering->units[u];
        unit->records = gathering->parts[unit->first].records;
        bytes += unit->first != unit->last ? unit->count * record : 0;
    }
    int rc = STA_ACCOUNT_GROW(account, gathering->buffer, gathering->buffer_bytes, bytes, WHAT, err);
    if (rc == 0)
        rc = STA_ACCOUNT_GROW(account, gathering->scratch, gathering->scratch_bytes, bytes, WHAT, err);
    for (size_t u = 0; u < gathering->unit_count && rc == 0; u++) {
        struct sta_ordered_unit *unit = &gathering->units[u];
        if (unit->first == unit->last)
            continue;
        unit->records = sta_ordered_sort(gathering->parts, unit->first, gathering->buffer + at,
                                         gathering->scratch + at, unit->count, record);
        at += unit->count * record;
        rc = sta_budget_check_work(budget, &work, unit->count, err);
    }
    return rc;
}

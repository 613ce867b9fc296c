/* Where the records of a row group's rows go: by slice, then by unit, in the order of rows.
 *
 * The rows of a slice are counted by unit, which gives each unit a place of its own: a counting sort of the
 * rows, so that a consumer writes each record once, where it stays. */
#include "analyse/operators/ordered/ordered_private.h"

#include <string.h>

#include "common/memory.h"

static const char WHAT[] = "events that wait for their turn in time";

void sta_ordered_placing_fini(struct sta_ordered_placing *placing, struct sta_account *account)
{
    sta_account_free(account, placing->counts);
}

/* ---- one unit */

void *sta_ordered_reserve(struct sta_ordered_out *out, size_t records, struct sta_error *err)
{
    struct sta_ordered_memory *memory = out->memory;
    const size_t need = (records + 1) * out->record;
    if (need <= memory->bytes)
        return memory->records;
    sta_account_free(out->account, memory->records);
    memory->bytes = 0;
    memory->records = sta_account_alloc(out->account, need, 1, WHAT, err);
    memory->bytes = memory->records != NULL ? need : 0;
    return memory->records;
}

static int add_group(struct sta_ordered_out *out, uint32_t unit, uint32_t count, struct sta_error *err)
{
    struct sta_ordered_memory *memory = out->memory;
    int rc = STA_ACCOUNT_GROW(out->account, memory->groups, memory->group_capacity, out->group_count + 1,
                              WHAT, err);
    if (rc == 0)
        memory->groups[out->group_count++] = (struct sta_ordered_group){unit, count};
    return rc;
}

static int64_t time_of(const struct sta_ordered_out *out, size_t number)
{
    int64_t ts;
    memcpy(&ts, out->memory->records + number * out->record, sizeof ts);
    return ts;
}

int sta_ordered_put(struct sta_ordered_out *out, size_t records, struct sta_error *err)
{
    size_t at = 0;
    int rc = 0;
    for (size_t cut = 0; cut < out->cut_count && rc == 0; cut++) {
        size_t first = at, high = records;
        while (at < high && out->cuts[cut] != INT64_MAX) {
            size_t middle = at + (high - at) / 2;
            if (time_of(out, middle) < out->cuts[cut])
                at = middle + 1;
            else
                high = middle;
        }
        at = high;
        if (at > first)
            rc = add_group(out, 0, (uint32_t)(at - first), err);
        out->ends[cut] = (struct sta_ordered_end){(uint32_t)out->group_count, (uint32_t)at};
    }
    return rc;
}

/* ---- many units */

/* The first of the rows from @first on that is not before the cut. */
static uint32_t end_before(const struct sta_ordered_rows *rows, uint32_t first, int64_t cut)
{
    uint32_t low = first, high = rows->count;
    while (low < high && cut != INT64_MAX) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->ts[rows->rows[middle]] < cut)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

/* Counts rows [first, end), those of one slice, by unit; then each unit has its first place. */
static int place_slice(struct sta_ordered_out *out, const struct sta_ordered_rows *rows, uint32_t first,
                       uint32_t end, struct sta_error *err)
{
    const struct sta_ordered_rows from = *rows;
    uint32_t *counts = out->placing->counts;
    const size_t groups = out->group_count;
    for (uint32_t i = first; i < end; i++) {
        uint32_t unit = from.units[from.rows[i]];
        int rc = counts[unit]++ == 0 ? add_group(out, unit, 0, err) : 0;
        if (__builtin_expect(rc != 0, 0))
            return rc;
    }
    uint32_t sum = first;
    for (size_t g = groups; g < out->group_count; g++) {
        struct sta_ordered_group *group = &out->memory->groups[g];
        group->count = counts[group->unit];
        counts[group->unit] = sum;
        sum += group->count;
    }
    return 0;
}

/* The rows of the last slice have their records. */
static void end_slice(struct sta_ordered_out *out)
{
    for (size_t g = out->group_begin; g < out->group_count; g++)
        out->placing->counts[out->memory->groups[g].unit] = 0;
    out->group_begin = out->group_count;
}

int sta_ordered_place(struct sta_ordered_out *out, const struct sta_ordered_rows *rows,
                      struct sta_ordered_part *part, struct sta_error *err)
{
    int rc = 0;
    if (part->records == NULL) {
        part->records = sta_ordered_reserve(out, rows->count, err);
        rc = part->records == NULL
                 ? err->status
                 : STA_ACCOUNT_GROW_ZEROED(out->account, out->placing->counts, out->placing->count_capacity,
                                           rows->unit_limit, WHAT, err);
        part->next = out->placing->counts;
    }
    end_slice(out);
    part->first = part->end;
    for (; out->cut < out->cut_count && part->first == part->end && rc == 0; out->cut++) {
        part->end = end_before(rows, part->first, out->cuts[out->cut]);
        rc = place_slice(out, rows, part->first, part->end, err);
        out->ends[out->cut] = (struct sta_ordered_end){(uint32_t)out->group_count, part->end};
    }
    return rc;
}

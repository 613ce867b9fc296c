/* Members against their median, in the run and epoch by epoch. */
#include "findings/stragglers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "findings/epochs.h"
#include "findings/robust.h"
#include "common/memory.h"

static const char WHAT[] = "the members of a comparison";

struct finding {
    struct sta_run *run;
    const struct sta_straggler_options *options;
    struct sta_stragglers *found;
    double *values; /* scratch */
};

static bool is_time(const struct sta_straggler_options *options)
{
    return options->of == NULL || options->measure <= STA_MEASURE_TIME;
}

static bool is_low(const struct sta_straggler_options *options)
{
    return options->of != NULL && options->measure == STA_MEASURE_BW;
}

static double floor_of(const struct finding *finding)
{
    static const double floors[STA_MEASURES] = {
        [STA_MEASURE_SIZE] = 4096, [STA_MEASURE_COUNT] = 1, [STA_MEASURE_BW] = 1};
    if (is_time(finding->options))
        return 1000.0 * (double)finding->run->ticks_per_us; /* 1 ms */
    return floors[finding->options->measure];
}

static bool is_slow(const struct finding *finding, double z)
{
    return (is_low(finding->options) ? -z : z) > STA_OUTLIER;
}

/* ---- values */

/* A member's values: by slot, 0 is the whole run.  NAN: it is not there. */
struct values {
    uint32_t *units;
    double *numbers;       /* by member, then slot */
    double *times, *sizes; /* of the whole, for what is lost of a bandwidth */
    size_t count, slots;
};

static int values_init(struct values *values, size_t members, size_t slots, struct sta_account *account,
                       struct sta_error *err)
{
    *values = (struct values){.count = members, .slots = slots};
    values->units = sta_account_alloc(account, members + 1, sizeof *values->units, WHAT, err);
    values->numbers = sta_account_alloc(account, members * slots + 1, sizeof *values->numbers, WHAT, err);
    values->times = sta_account_calloc(account, members + 1, sizeof *values->times, WHAT, err);
    values->sizes = sta_account_calloc(account, members + 1, sizeof *values->sizes, WHAT, err);
    if (values->units == NULL || values->numbers == NULL || values->times == NULL || values->sizes == NULL)
        return err->status;
    for (size_t i = 0; i < members * slots; i++)
        values->numbers[i] = NAN;
    return STA_OK;
}

static void values_fini(struct values *values, struct sta_account *account)
{
    sta_account_free(account, values->units);
    sta_account_free(account, values->numbers);
    sta_account_free(account, values->times);
    sta_account_free(account, values->sizes);
}

static int values_of_members(const struct finding *finding, struct values *values, struct sta_error *err)
{
    const struct sta_members *members = &finding->found->members;
    int rc = values_init(values, members->order_count, members->slots, members->account, err);
    for (size_t m = 0; rc == STA_OK && m < members->order_count; m++) {
        const struct sta_member_sum *sums = &members->sums[members->order[m] * members->slots];
        values->units[m] = members->order[m];
        values->times[m] = (double)sums[0].time;
        values->sizes[m] = (double)sums[0].size;
        for (size_t s = 0; s < members->slots; s++)
            if (sums[s].count > 0 && sums[s].size >= finding->options->least)
                values->numbers[m * members->slots + s] =
                    sta_member_value(finding->run, &sums[s], finding->options->measure);
    }
    return rc;
}

/* Of ranks, from rows by unit and epoch. */
static int values_of_stall(const struct sta_phases *phases, const struct sta_charged *charged,
                           const struct sta_charged_rows *stall, struct values *values, struct sta_error *err)
{
    size_t ranks = 0;
    for (size_t i = 0; i < stall->count; i++)
        ranks += i == 0 || stall->items[i].keys[0] != stall->items[i - 1].keys[0];
    int rc = values_init(values, ranks, phases->number_count + 1, phases->account, err);
    for (size_t i = 0, m = 0; rc == STA_OK && i < stall->count; i++) {
        const struct sta_charged_row *row = &stall->items[i];
        m += i > 0 && row->keys[0] != stall->items[i - 1].keys[0];
        values->units[m] = charged->results.units[row->keys[0]];
        double *numbers = &values->numbers[m * values->slots], time = 0;
        for (uint32_t l = 0; l < stall->lists; l++)
            time += (double)sta_charged_times(stall, row)[l];
        numbers[0] = isnan(numbers[0]) ? time : numbers[0] + time;
        for (size_t s = 0; row->keys[1] != STA_NO_NUMBER && s < phases->number_count; s++)
            if (phases->numbers[s] == row->keys[1])
                numbers[1 + s] = isnan(numbers[1 + s]) ? time : numbers[1 + s] + time;
        values->times[m] = numbers[0];
    }
    return rc;
}

/* ---- against the median */

/* false: fewer than 3 members have a value in the slot. */
static bool compare_slot(const struct finding *finding, const struct values *values, size_t slot,
                         struct sta_robust *robust, size_t *members)
{
    *members = 0;
    for (size_t m = 0; m < values->count; m++)
        if (!isnan(values->numbers[m * values->slots + slot]))
            finding->values[(*members)++] = values->numbers[m * values->slots + slot];
    if (*members < STA_ROBUST_MEMBERS)
        return false;
    *robust = sta_robust_of(finding->values, *members, floor_of(finding));
    return true;
}

static int64_t count_epochs(const struct finding *finding, const struct values *values,
                            const struct sta_robust *of_slot, size_t member)
{
    int64_t epochs = 0;
    for (size_t s = 1; s < values->slots; s++) {
        const double value = values->numbers[member * values->slots + s];
        epochs += of_slot[s].scale > 0 && !isnan(value) && is_slow(finding, sta_robust_z(&of_slot[s], value));
    }
    return epochs;
}

static void put_member(const struct finding *finding, const struct values *values,
                       const struct sta_robust *of_slot, size_t member)
{
    struct sta_stragglers *found = finding->found;
    const double value = values->numbers[member * values->slots];
    const double z = sta_robust_z(&of_slot[0], value);
    const bool slow = is_slow(finding, z);
    found->items[found->count++] =
        (struct sta_straggler){.unit = values->units[member],
                               .value = value,
                               .z = z,
                               .outlier = fabs(z) > STA_OUTLIER,
                               .slow = slow,
                               .epochs = count_epochs(finding, values, of_slot, member)};
    found->outliers += fabs(z) > STA_OUTLIER;
    found->slow += slow;
    if (slow && is_low(finding->options))
        found->excess += values->times[member] -
                         values->sizes[member] / of_slot[0].median * 1e6 * (double)finding->run->ticks_per_us;
    else if (slow && is_time(finding->options))
        found->excess += value - of_slot[0].median;
}

static int compare_members(const void *a, const void *b, void *context)
{
    const struct sta_straggler *x = a, *y = b;
    const struct finding *finding = context;
    const double left = is_low(finding->options) ? -x->z : x->z;
    const double right = is_low(finding->options) ? -y->z : y->z;
    if (left != right)
        return left > right ? -1 : 1;
    return sta_scope_compare_units(finding->found->scope, x->unit, y->unit);
}

static int compare_all(struct finding *finding, const struct values *values, struct sta_error *err)
{
    struct sta_stragglers *found = finding->found;
    struct sta_account *account = found->account;
    struct sta_robust *of_slot = sta_account_calloc(account, values->slots, sizeof *of_slot, WHAT, err);
    finding->values = sta_account_alloc(account, values->count + 1, sizeof(double), WHAT, err);
    found->items = sta_account_alloc(account, values->count + 1, sizeof *found->items, WHAT, err);
    int rc = of_slot == NULL || finding->values == NULL || found->items == NULL ? err->status : STA_OK;
    size_t members = 0;
    for (size_t s = values->slots; rc == STA_OK && s-- > 0;) {
        compare_slot(finding, values, s, &of_slot[s], &members);
        rc = sta_budget_check(finding->run->budget, err);
    }
    if (rc == STA_OK) {
        found->member_count = members;
        if (of_slot[0].scale > 0) {
            found->median = of_slot[0].median;
            found->mad = of_slot[0].mad;
        }
    }
    for (size_t m = 0; rc == STA_OK && of_slot[0].scale > 0 && m < values->count; m++)
        if (!isnan(values->numbers[m * values->slots]))
            put_member(finding, values, of_slot, m);
    sta_account_free(account, of_slot);
    sta_account_free(account, finding->values);
    return rc == STA_OK ? sta_sort(finding->run->budget, found->items, found->count, sizeof *found->items,
                                   compare_members, finding, err)
                        : rc;
}

int sta_stragglers_find(struct sta_run *run, const struct sta_phases *phases,
                        const struct sta_straggler_options *options, const struct sta_charged *charged,
                        const struct sta_charged_rows *stall, struct sta_stragglers *stragglers,
                        struct sta_error *err)
{
    struct finding finding = {.run = run, .options = options, .found = stragglers};
    struct values values = {0};
    int rc = STA_OK;
    *stragglers = (struct sta_stragglers){.account = run->budget->account, .median = NAN, .mad = NAN};
    if (options->of != NULL) {
        rc = sta_members_measure(run, phases, options->kind, options->measure, options->of,
                                 &stragglers->members, err);
        stragglers->scope = stragglers->members.binding.scope;
        if (rc == STA_OK)
            rc = values_of_members(&finding, &values, err);
    } else {
        stragglers->scope = charged->binding.scope;
        rc = values_of_stall(phases, charged, stall, &values, err);
    }
    if (rc == STA_OK)
        rc = compare_all(&finding, &values, err);
    values_fini(&values, run->budget->account);
    return rc;
}

void sta_stragglers_fini(struct sta_stragglers *stragglers)
{
    sta_account_free(stragglers->account, stragglers->items);
    sta_members_fini(&stragglers->members);
    *stragglers = (struct sta_stragglers){0};
}

/* Stragglers and arrivals as tables. */
#include <math.h>
#include <string.h>

#include "analyse/analyse.h"
#include "findings/stragglers.h"
#include "findings/tables.h"
#include "analyse/views/members.h"
#include "common/memory.h"
#include "findings/findings.h"

static const char *const kind_words[] = {"rank", "process", "thread", "host", "file"};
static const char *const measure_words[] = {"busy", "exposed", "time", "size", "count", "bw", "arrival"};
#define ARRIVAL STA_MEASURES
#define SIZE_LIMIT 9e15

struct parameters {
    struct sta_straggler_options options;
    bool arrival;
};

/* ---- the request */

static int read_words(const struct sta_document *request, struct parameters *parameters,
                      struct sta_error *err)
{
    size_t kind = STA_BY_RANK, measure = STA_MEASURE_BUSY;
    int rc = sta_member_word(request, "by", kind_words, STA_COUNT_OF(kind_words), &kind, err);
    if (rc == STA_OK)
        rc = sta_member_word(request, "measure", measure_words, STA_COUNT_OF(measure_words), &measure, err);
    parameters->options.kind = (enum sta_member_kind)kind;
    parameters->arrival = measure == ARRIVAL;
    parameters->options.measure = parameters->arrival ? STA_MEASURE_BUSY : (enum sta_measure)measure;
    return rc;
}

static int fail_at(struct sta_error *err, const char *member, const char *text)
{
    sta_fail(err, STA_EINPUT, "%s", text);
    return sta_at_member(err, member, NULL, -1);
}

static int read_asked(const struct sta_run *run, const struct sta_document *request,
                      struct parameters *parameters, struct sta_error *err)
{
    double least = 0;
    bool given = false;
    const char *of = NULL;
    int rc = read_words(request, parameters, err);
    if (rc == STA_OK)
        rc = sta_member_text(request, "of", &of, err);
    if (rc == STA_OK)
        rc = sta_member_number(request, "least", &least, &given, err);
    if (rc != STA_OK)
        return rc;
    if (!(least >= 0 && least <= SIZE_LIMIT))
        return fail_at(err, "least", "expected a number of bytes from 0");
    parameters->options.least = (int64_t)least;
    const bool by_rank = parameters->options.kind == STA_BY_RANK;
    if (parameters->arrival && !by_rank)
        return fail_at(err, "by", "who ends steps last is asked of ranks");
    if (parameters->arrival && run->preset->phases[STA_PHASE_step] == NULL)
        return fail_at(err, "preset", "who ends steps last needs a preset whose phases have step");
    if (parameters->arrival)
        return STA_OK;
    if (of == NULL)
        return fail_at(err, "of", "expected a condition, such as io_cat == 1, or stall");
    if (strcmp(of, "stall") != 0) {
        parameters->options.of = of;
        return STA_OK;
    }
    if (!by_rank)
        return fail_at(err, "by", "stall is that of ranks");
    return run->preset->chain_count > 0 ? STA_OK : fail_at(err, "of", "this preset has no chain of causes");
}

/* ---- tables */

static int put_units(const struct sta_scope *scope, const struct sta_run *run, const uint32_t *units,
                     struct sta_table *table, size_t rows)
{
    sta_table_init(table, rows);
    sta_table_count_in(table, run->budget->account);
    sta_scope_put_keys(scope, table, units);
    return STA_OK;
}

static void put_value(const struct sta_run *run, const struct parameters *parameters,
                      struct sta_table_column *column, size_t row, double value)
{
    if (column->type == STA_TYPE_INT)
        sta_table_set_int(column, row, (int64_t)value);
    else if (parameters->options.of == NULL || parameters->options.measure <= STA_MEASURE_TIME)
        sta_table_set_number(column, row, sta_run_seconds(run, (__int128)value));
    else
        sta_table_set_number(column, row, value);
}

static int put_members(const struct sta_run *run, const struct parameters *parameters,
                       const struct sta_stragglers *found, struct sta_table *rows, struct sta_error *err)
{
    static const char *const units_of[STA_MEASURES] = {"s", "s", "s", "B", NULL, "B/s"};
    const enum sta_measure measure =
        parameters->options.of == NULL ? STA_MEASURE_BUSY : parameters->options.measure;
    const bool whole = measure == STA_MEASURE_SIZE || measure == STA_MEASURE_COUNT;
    uint32_t *units =
        sta_account_alloc(found->account, found->count + 1, sizeof *units, "the table of stragglers", err);
    if (units == NULL)
        return err->status;
    for (size_t i = 0; i < found->count; i++)
        units[i] = found->items[i].unit;
    put_units(found->scope, run, units, rows, found->count);
    sta_account_free(found->account, units);
    const size_t first = rows->column_count;
    sta_table_add(rows, "value", whole ? STA_TYPE_INT : STA_TYPE_FLOAT, units_of[measure]);
    sta_table_add(rows, "z", STA_TYPE_FLOAT, NULL);
    sta_table_add(rows, "outlier", STA_TYPE_BOOL, NULL);
    sta_table_add(rows, "slow", STA_TYPE_BOOL, NULL);
    sta_table_add(rows, "epochs", STA_TYPE_INT, NULL);
    for (size_t i = 0; i < found->count; i++) {
        const struct sta_straggler *one = &found->items[i];
        struct sta_table_column *columns = rows->columns + first;
        put_value(run, parameters, &columns[0], i, one->value);
        sta_table_set_number(&columns[1], i, one->z);
        sta_table_set_int(&columns[2], i, one->outlier);
        sta_table_set_int(&columns[3], i, one->slow);
        sta_table_set_int(&columns[4], i, one->epochs);
    }
    return sta_budget_check(run->budget, err);
}

static double scaled(const struct sta_run *run, const struct parameters *parameters, double value)
{
    const bool time = parameters->options.of == NULL || parameters->options.measure <= STA_MEASURE_TIME;
    return time ? value / ((double)run->ticks_per_us * 1e6) : value;
}

static void put_member_facts(const struct sta_run *run, const struct parameters *parameters,
                             const struct sta_stragglers *found, struct sta_facts *facts)
{
    sta_facts_int(facts, "members", (int64_t)found->member_count);
    sta_facts_int(facts, "outliers", (int64_t)found->outliers);
    sta_facts_int(facts, "slow", (int64_t)found->slow);
    sta_findings_fact(facts, "median", NULL, scaled(run, parameters, found->median));
    sta_findings_fact(facts, "mad", NULL, scaled(run, parameters, found->mad));
    sta_facts_number(facts, "excess", "s", found->excess / ((double)run->ticks_per_us * 1e6));
}

static int put_arrivals(const struct sta_run *run, const struct sta_phases *phases,
                        const struct sta_arrivals *arrivals, struct sta_facts *facts, struct sta_table *rows,
                        struct sta_error *err)
{
    uint32_t *units =
        sta_account_alloc(arrivals->account, arrivals->count + 1, sizeof *units, "the table of ranks", err);
    if (units == NULL)
        return err->status;
    for (size_t i = 0; i < arrivals->count; i++)
        units[i] = arrivals->items[i].rank;
    put_units(phases->binding.scope, run, units, rows, arrivals->count);
    sta_account_free(arrivals->account, units);
    sta_table_add(rows, "steps", STA_TYPE_INT, NULL);
    sta_table_add(rows, "slowest", STA_TYPE_INT, NULL);
    sta_table_add(rows, "late", STA_TYPE_FLOAT, "s");
    for (size_t i = 0; i < arrivals->count; i++) {
        sta_table_set_int(&rows->columns[2], i, arrivals->items[i].steps);
        sta_table_set_int(&rows->columns[3], i, arrivals->items[i].slowest);
        sta_table_set_number(&rows->columns[4], i, sta_run_seconds(run, arrivals->items[i].late));
    }
    const double length = (double)arrivals->length;
    sta_facts_int(facts, "steps", arrivals->steps);
    sta_facts_number(facts, "late", "s", sta_run_seconds(run, arrivals->late));
    sta_facts_number(facts, "length", "s", sta_run_seconds(run, arrivals->length));
    sta_facts_number(facts, "wait", "s", sta_run_seconds(run, arrivals->wait));
    sta_findings_fact(facts, "share", NULL, length > 0 ? (double)arrivals->late / length : NAN);
    return STA_OK;
}

/* ---- the whole */

static int measure_arrivals(struct sta_run *run, const struct sta_phases *phases, struct sta_facts *facts,
                            struct sta_table *rows, struct sta_error *err)
{
    struct sta_arrivals arrivals;
    int rc = sta_arrivals_find(phases, run->budget, &arrivals, err);
    if (rc == STA_OK)
        rc = put_arrivals(run, phases, &arrivals, facts, rows, err);
    sta_arrivals_fini(&arrivals);
    return rc;
}

static int measure_members(struct sta_run *run, const struct sta_phases *phases,
                           const struct parameters *parameters, struct sta_facts *facts,
                           struct sta_table *rows, struct sta_error *err)
{
    struct sta_attribution chain = {0};
    struct sta_charged charged = {0};
    struct sta_charged_rows stall = {.account = run->budget->account};
    struct sta_stragglers found = {.account = run->budget->account};
    int rc = STA_OK;
    if (parameters->options.of == NULL && !sta_attribution_of_chain(run, run->preset->chains[0].name, &chain))
        rc = fail_at(err, "preset", "the default chain of this preset has too many sets");
    if (rc == STA_OK && parameters->options.of == NULL)
        rc = sta_charge_sums(run, &chain, phases, &charged, &stall, err);
    if (rc == STA_OK)
        rc = sta_stragglers_find(run, phases, &parameters->options, &charged, &stall, &found, err);
    if (rc == STA_OK)
        rc = put_members(run, parameters, &found, rows, err);
    if (rc == STA_OK)
        put_member_facts(run, parameters, &found, facts);
    sta_stragglers_fini(&found);
    sta_charged_rows_fini(&stall);
    sta_charged_fini(&charged);
    sta_attribution_fini(&chain);
    return rc;
}

int sta_stragglers_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                       struct sta_facts *facts, struct sta_table *rows, struct sta_error *err)
{
    struct sta_run run;
    struct sta_phases phases = {.account = budget->account};
    struct parameters parameters = {0};
    *facts = (struct sta_facts){0};
    *rows = (struct sta_table){0};
    int rc = sta_run_open(&run, query, budget, err);
    if (rc == STA_OK)
        rc = read_asked(&run, query->request, &parameters, err);
    if (rc == STA_OK)
        rc = sta_phases_read(&run, &phases, err);
    if (rc == STA_OK)
        rc = parameters.arrival ? measure_arrivals(&run, &phases, facts, rows, err)
                                : measure_members(&run, &phases, &parameters, facts, rows, err);
    sta_phases_fini(&phases);
    sta_run_fini(&run);
    if (rc != STA_OK)
        sta_table_fini(rows);
    return rc;
}

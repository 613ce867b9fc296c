/* Utilisation as tables. */
#include <math.h>
#include <string.h>

#include "findings/tables.h"
#include "findings/utilisation.h"
#include "analyse/views/members.h"
#include "common/memory.h"
#include "findings/findings.h"

static void add_columns(struct sta_table *table)
{
    static const struct {
        const char *name, *unit;
    } columns[] = {{"window", "s"}, {"compute", "s"}, {"au", NULL}, {"au_dlio", NULL}};
    for (size_t i = 0; i < STA_COUNT_OF(columns); i++)
        sta_table_add(table, columns[i].name, STA_TYPE_FLOAT, columns[i].unit);
}

static void put_sum(const struct sta_run *run, struct sta_table *table, size_t first, size_t row,
                    const struct sta_utilisation_sum *sum)
{
    const double numbers[] = {sta_run_seconds(run, sum->window), sta_run_seconds(run, sum->compute),
                              sta_utilisation_share(sum), sum->dlio_count > 0 ? sum->au_dlio : NAN};
    for (size_t i = 0; i < STA_COUNT_OF(numbers); i++)
        sta_table_set_number(&table->columns[first + i], row, numbers[i]);
}

static void put_epochs(const struct sta_run *run, const struct sta_phases *phases,
                       const struct sta_utilisation *utilisation, struct sta_table *table)
{
    sta_table_init(table, phases->number_count);
    sta_table_add(table, "epoch", STA_TYPE_INT, NULL);
    add_columns(table);
    for (size_t e = 0; e < phases->number_count; e++) {
        sta_table_set_int(&table->columns[0], e, phases->numbers[e]);
        put_sum(run, table, 1, e, &utilisation->epochs[e]);
    }
}

/* A row for each rank that has epochs, and one for each of its epochs. */
static int put_ranks(const struct sta_run *run, const struct sta_phases *phases,
                     const struct sta_utilisation_options *options,
                     struct sta_utilisation_result *utilisation, struct sta_error *err)
{
    size_t ranks = 0, rows = 0, rank_row = 0, row = 0;
    for (uint32_t i = 0; i < phases->order_count; i++) {
        ranks += phases->ranks[phases->order[i]].epoch_count > 0;
        rows += phases->ranks[phases->order[i]].epoch_count;
    }
    uint32_t *numbers =
        sta_account_alloc(phases->account, ranks + rows + 1, sizeof *numbers, "utilisation", err);
    if (numbers == NULL)
        return err->status;
    for (uint32_t i = 0, r = 0, at = 0; i < phases->order_count; i++) {
        const struct sta_rank *rank = &phases->ranks[phases->order[i]];
        if (rank->epoch_count > 0)
            numbers[r++] = phases->order[i];
        for (size_t e = 0; e < rank->epoch_count; e++)
            numbers[ranks + at++] = phases->order[i];
    }
    sta_table_init(&utilisation->per_rank, ranks);
    sta_table_init(&utilisation->rows, rows);
    sta_scope_put_keys(phases->binding.scope, &utilisation->per_rank, numbers);
    sta_scope_put_keys(phases->binding.scope, &utilisation->rows, numbers + ranks);
    add_columns(&utilisation->per_rank);
    sta_table_add(&utilisation->rows, "epoch", STA_TYPE_INT, NULL);
    sta_table_add(&utilisation->rows, "steps", STA_TYPE_INT, NULL);
    sta_table_add(&utilisation->rows, "start", STA_TYPE_FLOAT, "s");
    sta_table_add(&utilisation->rows, "end", STA_TYPE_FLOAT, "s");
    add_columns(&utilisation->rows);
    for (; rank_row < ranks; rank_row++) {
        const struct sta_rank *rank = &phases->ranks[numbers[rank_row]];
        struct sta_utilisation_sum sum = {.au_dlio = NAN};
        for (size_t e = 0; e < rank->epoch_count; e++, row++) {
            const struct sta_epoch *epoch = &rank->epochs[e];
            struct sta_table_column *columns = utilisation->rows.columns;
            size_t count;
            const struct sta_step *steps = sta_rank_steps(rank, epoch, &count);
            struct sta_utilisation_row one = sta_utilisation_of(rank, epoch, steps, count, options);
            sta_utilisation_add(&sum, &one);
            sta_table_set_int(&columns[2], row, epoch->number);
            sta_table_set_int(&columns[3], row, (int64_t)one.steps);
            sta_table_set_number(&columns[4], row, sta_run_seconds(run, epoch->from));
            sta_table_set_number(&columns[5], row, sta_run_seconds(run, epoch->to));
            if (one.counted) {
                sta_table_set_number(&columns[6], row, sta_run_seconds(run, one.window));
                sta_table_set_number(&columns[7], row, sta_run_seconds(run, one.compute));
                if (one.window > 0)
                    sta_table_set_number(&columns[8], row, (double)one.compute / (double)one.window);
            }
            sta_table_set_number(&columns[9], row, one.au_dlio);
        }
        put_sum(run, &utilisation->per_rank, 2, rank_row, &sum);
    }
    sta_account_free(phases->account, numbers);
    return STA_OK;
}

/* ---- the whole */

static const char *verdict_of(double share, double goal)
{
    return isnan(share) ? NULL : share >= goal ? "met" : "missed";
}

static void put_facts(const struct sta_run *run, const struct sta_utilisation_options *options,
                      const struct sta_utilisation *utilisation, struct sta_utilisation_result *result)
{
    struct sta_facts *facts = &result->facts;
    const struct sta_utilisation_sum *whole = &utilisation->whole;
    const double au = sta_utilisation_share(whole);
    sta_facts_number(facts, "goal", NULL, options->goal);
    sta_facts_int(facts, "warmup_steps", options->warmup_steps);
    sta_facts_int(facts, "end_steps", options->end_steps);
    sta_facts_number(facts, "window", "s", sta_run_seconds(run, whole->window));
    sta_facts_number(facts, "compute", "s", sta_run_seconds(run, whole->compute));
    sta_findings_fact(facts, "au", NULL, au);
    sta_findings_fact(facts, "au_dlio", NULL, whole->au_dlio);
    sta_findings_fact(facts, "au_dlio_std", NULL, utilisation->au_dlio_std);
    sta_facts_int(facts, "ranks", utilisation->ranks);
    const double job = (double)utilisation->job * utilisation->ranks;
    sta_findings_fact(facts, "job_au", NULL, job > 0 ? (double)utilisation->job_compute / job : NAN);
    result->verdict = verdict_of(au, options->goal);
    result->verdict_dlio = verdict_of(whole->au_dlio, options->goal);
}

static int read_count(const struct sta_document *request, const char *name, int64_t *value,
                      struct sta_error *err)
{
    const struct sta_document *member = sta_member_given(request, name);
    if (member == NULL)
        return STA_OK;
    if (member->type != STA_DOCUMENT_INT || member->integer < 0 || member->integer > 1000000000) {
        sta_fail(err, STA_EINPUT, "expected a whole number from 0 to 1000000000");
        return sta_at_member(err, name, NULL, -1);
    }
    *value = member->integer;
    return STA_OK;
}

int sta_goal_read(const struct sta_document *request, double *goal, struct sta_error *err)
{
    bool given = false;
    int rc = sta_member_number(request, "goal", goal, &given, err);
    if (rc != STA_OK || (*goal > 0 && *goal <= 1))
        return rc;
    sta_fail(err, STA_EINPUT, "expected a share of time above 0, up to 1, such as 0.9");
    return sta_at_member(err, "goal", NULL, -1);
}

static int check_phases(const struct sta_run *run, struct sta_error *err)
{
    static const enum sta_phase needed[] = {STA_PHASE_compute, STA_PHASE_epoch, STA_PHASE_step};
    for (size_t i = 0; i < STA_COUNT_OF(needed); i++)
        if (run->preset->phases[needed[i]] == NULL) {
            sta_fail(err, STA_EINPUT,
                     "utilisation needs a preset whose phases have compute, epoch and step; %s "
                     "has not",
                     run->preset->name);
            return sta_at(err, "/preset", -1);
        }
    return STA_OK;
}

int sta_utilisation_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                        struct sta_utilisation_result *result, struct sta_error *err)
{
    struct sta_run run;
    struct sta_phases phases = {.account = budget->account};
    struct sta_utilisation utilisation = {.account = budget->account};
    struct sta_utilisation_options options = {.goal = 0.9, .warmup_steps = 1};
    *result = (struct sta_utilisation_result){0};
    int rc = sta_run_open(&run, query, budget, err);
    if (rc == STA_OK)
        rc = check_phases(&run, err);
    if (rc == STA_OK)
        rc = sta_goal_read(query->request, &options.goal, err);
    if (rc == STA_OK)
        rc = read_count(query->request, "warmup_steps", &options.warmup_steps, err);
    if (rc == STA_OK)
        rc = read_count(query->request, "end_steps", &options.end_steps, err);
    if (rc == STA_OK)
        rc = sta_phases_read(&run, &phases, err);
    if (rc == STA_OK)
        rc = sta_utilisation_measure(&phases, &options, &utilisation, err);
    if (rc == STA_OK)
        rc = put_ranks(&run, &phases, &options, result, err);
    if (rc == STA_OK) {
        put_epochs(&run, &phases, &utilisation, &result->epochs);
        put_facts(&run, &options, &utilisation, result);
    }
    sta_utilisation_fini(&utilisation);
    sta_phases_fini(&phases);
    sta_run_fini(&run);
    if (rc != STA_OK)
        sta_utilisation_result_fini(result);
    return rc;
}

void sta_utilisation_result_fini(struct sta_utilisation_result *utilisation)
{
    sta_table_fini(&utilisation->epochs);
    sta_table_fini(&utilisation->per_rank);
    sta_table_fini(&utilisation->rows);
    *utilisation = (struct sta_utilisation_result){0};
}

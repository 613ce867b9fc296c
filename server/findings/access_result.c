/* Access patterns as a table; beside them how ranks share files, and how fast each epoch reads. */
#include <string.h>

#include "analyse/analyse.h"
#include "findings/access.h"
#include "findings/cold.h"
#include "findings/shared.h"
#include "findings/tables.h"
#include "analyse/views/members.h"
#include "common/memory.h"
#include "findings/findings.h"

static void put_facts(const struct sta_run *run, const struct sta_access_sums *sums, struct sta_facts *facts)
{
    sta_facts_int(facts, "ops", sums->ops);
    sta_facts_int(facts, "known", sums->ops - sums->unknown);
    sta_facts_int(facts, "unknown", sums->unknown);
    sta_facts_int(facts, "first", sums->first);
    sta_facts_int(facts, "consecutive", sums->consecutive);
    sta_facts_int(facts, "sequential", sums->sequential);
    sta_facts_int(facts, "random", sums->random);
    sta_facts_int(facts, "bytes", (int64_t)sums->bytes);
    sta_facts_int(facts, "known_bytes", (int64_t)sums->known_bytes);
    sta_facts_int(facts, "distinct_bytes", (int64_t)sums->distinct_bytes);
    sta_facts_number(facts, "random_time", "s", sta_run_seconds(run, sums->random_time));
    sta_facts_number(facts, "exposed", "s", sta_run_seconds(run, sums->exposed));
}

static void put_shared(const struct sta_shared_sums *sums, struct sta_facts *facts)
{
    sta_facts_int(facts, "shared_files", sums->files);
    sta_facts_int(facts, "shared_ops", sums->ops);
    sta_facts_int(facts, "shared_small", sums->small);
    sta_facts_int(facts, "shared_uneven_size", sums->uneven_size);
    sta_facts_int(facts, "shared_uneven_time", sums->uneven_time);
    sta_facts_int(facts, "shared_uneven", sums->uneven);
    sta_facts_number(facts, "shared_worst_size", NULL, sums->worst_size);
    sta_facts_number(facts, "shared_worst_time", NULL, sums->worst_time);
    sta_facts_number(facts, "shared_worst", NULL, sums->worst);
}

/* Of reads alone: what is written comes from no cache. */
static int put_epochs(struct sta_run *run, const struct sta_phases *phases, size_t kind,
                      struct sta_facts *facts, struct sta_error *err)
{
    struct sta_cold cold;
    if (kind != STA_ACCESS_READ)
        return STA_OK;
    int rc = sta_cold_measure(run, phases, &cold, err);
    if (rc == STA_OK && cold.reading > 1) {
        sta_facts_number(facts, "first_epoch_bw", "B/s", cold.first);
        sta_facts_number(facts, "later_epochs_bw", "B/s", cold.later);
    }
    sta_cold_fini(&cold);
    return rc;
}

static void put_files(const struct sta_run *run, const struct sta_access_patterns *access, size_t kind,
                      struct sta_table *table)
{
    const struct sta_dictionary *texts = sta_columns_texts(access->request.columns, STA_LOGICAL_file_name);
    sta_table_init(table, access->file_counts[kind]);
    sta_table_count_in(table, run->budget->account);
    sta_table_add(table, "file_name", STA_TYPE_TEXT, NULL);
    sta_table_add(table, "bytes", STA_TYPE_INT, "B");
    sta_table_add(table, "distinct", STA_TYPE_INT, "B");
    sta_table_add(table, "ratio", STA_TYPE_FLOAT, NULL);
    for (size_t i = 0; i < access->file_counts[kind]; i++) {
        const struct sta_access_file *file = &access->files[kind][i];
        if (file->file != STA_NO_CODE) {
            const struct sta_text name = sta_dictionary_text(texts, file->file);
            sta_table_set_text(table, &table->columns[0], i, name.bytes, name.length);
        }
        sta_table_set_int(&table->columns[1], i, (int64_t)file->bytes);
        sta_table_set_int(&table->columns[2], i, (int64_t)file->distinct);
        sta_table_set_number(&table->columns[3], i, (double)file->bytes / (double)file->distinct);
    }
}

int sta_access_run(const struct sta_overlap_query *query, const struct sta_budget *budget,
                   struct sta_facts *facts, struct sta_table *files, struct sta_error *err)
{
    static const char *const kinds[] = {"read", "write"};
    struct sta_run run;
    struct sta_phases phases = {.account = budget->account};
    struct sta_access_patterns access = {.account = budget->account};
    struct sta_shared_sums shared[STA_ACCESS_KINDS];
    size_t kind = 0;
    *facts = (struct sta_facts){0};
    *files = (struct sta_table){0};
    int rc = sta_run_open(&run, query, budget, err);
    if (rc == STA_OK)
        rc = sta_member_word(query->request, "kind", kinds, STA_COUNT_OF(kinds), &kind, err);
    if (rc == STA_OK)
        rc = sta_phases_read(&run, &phases, err);
    if (rc == STA_OK)
        rc = sta_access_measure(&run, &phases, &access, err);
    if (rc == STA_OK)
        rc = sta_shared_measure(&run, &phases, shared, err);
    if (rc == STA_OK) {
        put_facts(&run, &access.sums[kind], facts);
        put_shared(&shared[kind], facts);
        rc = put_epochs(&run, &phases, kind, facts, err);
    }
    if (rc == STA_OK)
        put_files(&run, &access, kind, files);
    sta_access_fini(&access);
    sta_phases_fini(&phases);
    sta_run_fini(&run);
    return rc;
}

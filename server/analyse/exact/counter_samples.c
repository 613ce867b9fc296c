/* Reads all counter records.  Which worker wrote them when the trace was read makes no difference: they are
 * sorted, and sums are made in that order. */
#include "analyse/exact/counter_samples.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/exec/sort.h"
#include "common/buffer.h"
#include "common/map.h"
#include "common/memory.h"
#include "store/store.h"

#define WHAT "counters"

struct reading {
    struct sta_samples *samples;
    const struct sta_snapshot *snapshot;
    const struct sta_budget *budget;
    int64_t from, to;
    struct sta_dictionary *processes; /* host and pid as text */
    struct sta_dictionary *record_names;
    struct sta_map counters; /* record name and key -> counter */
    size_t work;
};

/* ---- one record */

static uint32_t counter_of(struct reading *reading, struct sta_text name, uint32_t key)
{
    const struct sta_dictionary *keys = sta_tables_keys(sta_snapshot_tables(reading->snapshot));
    const uint32_t of_name = sta_dictionary_intern(reading->record_names, name.bytes, name.length);
    uint32_t counter;
    if (sta_map_find(&reading->counters, (uint64_t)of_name << 32 | key, &counter))
        return counter;
    const struct sta_text of_key = sta_dictionary_text(keys, key);
    char *text = sta_sprintf("%.*s.%.*s", (int)name.length, name.bytes, (int)of_key.length, of_key.bytes);
    counter = sta_dictionary_intern(reading->samples->names, text, strlen(text));
    free(text);
    sta_map_put(&reading->counters, (uint64_t)of_name << 32 | key, counter);
    return counter;
}

/* A host by its name, where the source of a hash, or another one, says what it is. */
static struct sta_text host_of(const struct reading *reading, struct sta_text host, uint32_t source)
{
    const struct sta_tables *tables = sta_snapshot_tables(reading->snapshot);
    struct sta_definition definition;
    if (host.length == 0)
        return host;
    const struct sta_text text = {host.bytes + 1, host.length - 1};
    if (host.bytes[0] != (char)STA_REFERENCE_HASH ||
        !sta_tables_find_definition(tables, STA_DEFINES_HOST, text.bytes, text.length, source, &definition,
                                    NULL) ||
        definition.text == NULL)
        return text;
    return (struct sta_text){definition.text, definition.length};
}

static uint32_t process_of(struct reading *reading, const struct sta_counter_record *record, uint32_t source)
{
    const struct sta_text host = host_of(reading, record->host, source);
    struct sta_buffer text;
    sta_buffer_init(&text);
    sta_put(&text, &record->pid, sizeof record->pid);
    sta_put(&text, host.bytes, host.length);
    STA_ASSERT(!text.failed);
    const uint32_t process = sta_dictionary_intern(reading->processes, text.data, text.size);
    sta_buffer_fini(&text);
    return process;
}

static int add_sample(struct reading *reading, struct sta_sample sample, struct sta_error *err)
{
    struct sta_samples *samples = reading->samples;
    int rc =
        STA_ACCOUNT_GROW(samples->account, samples->items, samples->capacity, samples->count + 1, WHAT, err);
    if (rc == 0)
        samples->items[samples->count++] = sample;
    return rc;
}

static int take_record(struct reading *reading, const struct sta_counter_record *record, uint32_t source,
                       struct sta_cursor *records, struct sta_error *err)
{
    const struct sta_snapshot_info *info = sta_snapshot_info(reading->snapshot);
    const uint32_t keys = sta_dictionary_count(sta_tables_keys(sta_snapshot_tables(reading->snapshot)));
    const int64_t tick = 1000 / (int64_t)info->ticks_per_us;
    struct sta_sample sample = {.at = record->ns / tick - (record->ns % tick < 0) - info->origin_ticks};
    const bool wanted = sample.at >= reading->from && sample.at < reading->to;
    int rc = sta_budget_check_work(reading->budget, &reading->work, record->values, err);
    if (rc == 0 && wanted && record->values > 0)
        sample.process = process_of(reading, record, source);
    for (uint64_t v = 0; v < record->values && rc == 0 && !records->failed; v++) {
        uint32_t key;
        sta_counter_get_value(records, &key, &sample.value);
        if (records->failed || key >= keys)
            return sta_fail(err, STA_ECORRUPT, "counter records make no sense");
        sample.counter = counter_of(reading, record->name, key);
        rc = wanted ? add_sample(reading, sample, err) : 0;
    }
    return rc;
}

static int take_chunk(void *context, struct sta_text path, struct sta_cursor *records, struct sta_error *err)
{
    struct reading *reading = context;
    struct sta_counter_record record = {0};
    const uint32_t source = sta_dictionary_find(sta_tables_sources(sta_snapshot_tables(reading->snapshot)),
                                                path.bytes, path.length);
    int rc = 0;
    while (rc == 0 && sta_counter_get(records, &record))
        rc = take_record(reading, &record, source, records, err);
    return rc == 0 && records->failed ? sta_fail(err, STA_ECORRUPT, "counter records make no sense") : rc;
}

/* ---- all of them */

static int compare_samples(const void *a, const void *b, void *context)
{
    const struct sta_sample *x = a, *y = b;
    const uint32_t *ranks = context;
    if (x->counter != y->counter)
        return ranks[x->counter] < ranks[y->counter] ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int sort_samples(struct sta_samples *samples, const struct sta_budget *budget, struct sta_error *err)
{
    uint32_t count;
    uint32_t *ranks = sta_dictionary_ranks(samples->names, samples->account, &count, err);
    if (ranks == NULL)
        return err->status;
    int rc =
        sta_sort(budget, samples->items, samples->count, sizeof *samples->items, compare_samples, ranks, err);
    sta_account_free(samples->account, ranks);
    return rc;
}

int sta_samples_read(struct sta_samples *samples, const struct sta_snapshot *snapshot, int64_t from,
                     int64_t to, const struct sta_budget *budget, struct sta_error *err)
{
    *samples =
        (struct sta_samples){.account = budget->account, .names = sta_dictionary_create_in(budget->account)};
    struct reading reading = {.samples = samples,
                              .snapshot = snapshot,
                              .budget = budget,
                              .from = from,
                              .to = to,
                              .processes = sta_dictionary_create_in(budget->account),
                              .record_names = sta_dictionary_create_in(budget->account)};
    sta_map_init(&reading.counters);
    reading.counters.account = budget->account;
    int rc = sta_snapshot_counters(snapshot, take_chunk, &reading, err);
    samples->process_count = sta_dictionary_count(reading.processes);
    if (rc == 0)
        rc = sort_samples(samples, budget, err);
    sta_map_fini(&reading.counters);
    sta_dictionary_destroy(reading.record_names);
    sta_dictionary_destroy(reading.processes);
    return rc;
}

void sta_samples_fini(struct sta_samples *samples)
{
    sta_account_free(samples->account, samples->items);
    sta_dictionary_destroy(samples->names);
}

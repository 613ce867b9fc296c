/* Versions: refreshes keep, extend and drop; snapshots stay whole; entities are those that events use. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/account.h"
#include "common/memory.h"
#include "../sample.h"

static const struct sample_shape shape = {
    .seed = 11, .rows = 60000, .sources = 4, .chunk_rows = 4000, .wild = true};

static struct sta_writer *go_on(struct scratch_store *scratch, struct sta_snapshot *base, const bool *drop)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer_options options = {.workers = 2, .memory = 64 << 20};
    struct sta_writer *writer;
    cr_assert_eq(sta_writer_begin(scratch->store, scratch->trace, base, drop, &options, &writer, &err),
                 STA_OK, "%s", err.text);
    return writer;
}

static void publish(struct sta_writer *writer)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
}

Test(versions, a_refresh_adds_sources_and_keeps_segments)
{
    struct scratch_store scratch;
    struct sample sample;
    const bool first[] = {true, true, false, false}, second[] = {false, false, true, true};
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    struct sta_writer *writer = scratch_begin(&scratch, 2, 64 << 20);
    sample_write(&sample, writer, 2, first);
    publish(writer);
    struct sta_snapshot *old = scratch_snapshot(&scratch);
    uint64_t old_version = sta_snapshot_info(old)->version;
    sample_check(&sample, old, first);

    writer = go_on(&scratch, old, NULL);
    sample_write(&sample, writer, 2, second);
    publish(writer);
    struct sta_snapshot *new = scratch_snapshot(&scratch);
    sample_check(&sample, new, NULL);
    sample_check(&sample, old, first); /* whose files may be gone by now */
    cr_assert_gt(sta_snapshot_info(new)->version, old_version);
    sta_snapshot_release(old);
    sta_snapshot_release(new);
    cr_assert_eq(scratch_reopen(&scratch), 0);
    scratch_close(&scratch);
    sample_fini(&sample);
}

static void drop_some(bool fractions)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sample_shape own = shape;
    own.fractions = fractions;
    scratch_open(&scratch);
    sample_init(&sample, &own);
    scratch_publish(&scratch, &sample, 2, 64 << 20);
    struct sta_snapshot *base = scratch_snapshot(&scratch);
    bool drop[4], kept[4];
    for (size_t i = 0; i < 4; i++) {
        const char *path = sta_snapshot_source(base, i)->path;
        drop[i] = i == 1 || i == 3;
        for (size_t s = 0; s < 4; s++)
            if (strcmp(sample.paths[s], path) == 0)
                kept[s] = !drop[i];
    }
    struct sta_writer *writer = go_on(&scratch, base, drop);
    uint32_t number;
    cr_assert_not(sta_writer_find_source(writer, sta_snapshot_source(base, 1)->path, &number));
    cr_assert(sta_writer_find_source(writer, sta_snapshot_source(base, 0)->path, &number));
    publish(writer);
    sample.merged = true; /* of what was dropped in part, the rest is merged */
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    cr_assert_eq(sta_snapshot_source_count(snapshot), 2);
    sample_check(&sample, snapshot, kept);

    /* The same files come back as new sources. */
    writer = go_on(&scratch, snapshot, NULL);
    bool back[4];
    for (size_t s = 0; s < 4; s++)
        back[s] = !kept[s];
    sample_write(&sample, writer, 1, back);
    publish(writer);
    struct sta_snapshot *whole = scratch_snapshot(&scratch);
    sample_check(&sample, whole, NULL);
    sta_snapshot_release(whole);
    sta_snapshot_release(snapshot);
    sta_snapshot_release(base);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(versions, dropped_sources_leave_and_can_come_back)
{
    drop_some(false);
    drop_some(true);
}

Test(versions, dropping_everything_leaves_an_empty_version)
{
    struct scratch_store scratch;
    struct sample sample;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    scratch_publish(&scratch, &sample, 2, 64 << 20);
    struct sta_snapshot *base = scratch_snapshot(&scratch);
    const bool all[] = {true, true, true, true};
    publish(go_on(&scratch, base, all));
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    cr_assert_eq(sta_snapshot_info(snapshot)->events, 0);
    cr_assert_eq(sta_snapshot_row_group_count(snapshot), 0);
    cr_assert_eq(sta_snapshot_info(snapshot)->end_ticks, 0);
    cr_assert_eq(sta_snapshot_entities(snapshot)->thread_count, 0);
    cr_assert_eq(sta_snapshot_entities(snapshot)->file_count, 0);
    sta_snapshot_release(snapshot);
    sta_snapshot_release(base);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(versions, an_aborted_writer_leaves_nothing)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    struct sta_writer *writer = scratch_begin(&scratch, 2, 0); /* seals every batch */
    sample_write(&sample, writer, 2, NULL);
    struct sta_writer *second;
    cr_assert_eq(sta_writer_begin(scratch.store, scratch.trace, NULL, NULL,
                                  &(struct sta_writer_options){.workers = 1}, &second, &err),
                 STA_EBUSY);
    sta_writer_abort(writer);
    cr_assert_eq(scratch_file_count(&scratch), 1, "the catalogue entry alone");
    cr_assert_eq(sta_snapshot_open(scratch.store, scratch.trace, &snapshot, &err), STA_ENOTFOUND);
    scratch_close(&scratch);
    sample_fini(&sample);
}

/* ---- sources and tables */

Test(versions, ledgers_and_tables_come_back_as_they_were)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    struct sta_writer *writer = scratch_begin(&scratch, 1, 1 << 20);
    struct sta_tables *tables = sta_writer_tables(writer);
    sta_tables_note_kinds(tables, 3, 5);
    sta_tables_define(tables, STA_DEFINES_FILE, "12", 2, &(struct sta_definition){"/data/x", 7, "a.pfw", 9});
    sta_tables_define(tables, STA_DEFINES_HOST, "9", 1, &(struct sta_definition){NULL, 0, "a.pfw", 10});
    struct sta_source *source = sta_writer_source(writer, sta_writer_add_source(writer, "a.pfw"));
    source->state = STA_SOURCE_TRUNCATED;
    source->reason = sta_strdup("gzip ends at byte 77");
    source->size = 77;
    source->mtime_ns = -5;
    source->fingerprint = UINT64_MAX;
    source->resumable = 1;
    source->resume_fingerprint = 3;
    source->counts.lines = 1000;
    source->counts.unstored_args = 4;
    sta_line_notes_add(&source->malformed, 5, 600, "cut off inside a string", "{\"a", 3);
    sta_line_notes_add(&source->repaired, 6, 700, "raw control character", "\x01", 1);
    cr_assert_eq(sta_writer_add_counters(writer, 0, "{}\n", 3, &err), STA_OK);
    publish(writer);
    scratch_reopen(&scratch);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    const struct sta_source *back = sta_snapshot_source(snapshot, 0);
    cr_assert_str_eq(back->path, "a.pfw");
    cr_assert_str_eq(back->reason, "gzip ends at byte 77");
    cr_assert_eq(back->state, STA_SOURCE_TRUNCATED);
    cr_assert(back->size == 77 && back->mtime_ns == -5 && back->fingerprint == UINT64_MAX &&
              back->resumable == 1 && back->resume_fingerprint == 3 && back->counts.lines == 1000 &&
              back->counts.unstored_args == 4);
    cr_assert(back->malformed.count == 1 && back->malformed.items[0].line == 5 &&
              back->malformed.items[0].offset == 600);
    cr_assert_str_eq(back->malformed.items[0].reason, "cut off inside a string");
    cr_assert_str_eq(back->repaired.items[0].text, "\x01");
    const struct sta_tables *read = sta_snapshot_tables(snapshot);
    struct sta_definition definition;
    cr_assert_eq(sta_tables_kinds(read, 3), 5);
    cr_assert(sta_tables_find_definition(read, STA_DEFINES_FILE, "12", 2, STA_NO_CODE, &definition, NULL));
    cr_assert(definition.length == 7 && memcmp(definition.text, "/data/x", 7) == 0 && definition.line == 9);
    cr_assert_str_eq(definition.path, "a.pfw");
    cr_assert(sta_tables_find_definition(read, STA_DEFINES_HOST, "9", 1, STA_NO_CODE, &definition, NULL));
    cr_assert_null(definition.text);
    cr_assert_str_eq(sta_dictionary_text(sta_tables_names(read), 17).bytes, "name17");
    cr_assert_str_eq(sta_dictionary_text(sta_tables_values(read, 2), 4).bytes, "text4");
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
}

static uint32_t intern(struct sta_dictionary *dictionary, const char *text)
{
    return sta_dictionary_intern(dictionary, text, strlen(text));
}

/* One event per file reference and thread given. */
static void add_events(struct sta_writer *writer, const char *path, const uint32_t *files,
                       const uint32_t *threads, uint32_t count)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_batch batch;
    sta_batch_init(&batch);
    sta_batch_reserve(&batch, count);
    for (uint32_t i = 0; i < count; i++) {
        batch.ts[i] = 100 - i;
        batch.dur[i] = 1;
        batch.name[i] = batch.cat[i] = STA_NO_CODE;
        batch.file[i] = files[i];
        batch.thread[i] = threads[i];
    }
    batch.count = count;
    batch.first_line = 1;
    cr_assert_eq(sta_writer_add(writer, 0, sta_writer_add_source(writer, path), &batch, &err), STA_OK, "%s",
                 err.text);
    sta_batch_fini(&batch);
}

Test(versions, entities_resolve_what_events_use)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer;
    scratch_open(&scratch);
    cr_assert_eq(sta_writer_begin(scratch.store, scratch.trace, NULL, NULL,
                                  &(struct sta_writer_options){.workers = 1, .memory = 1 << 20}, &writer,
                                  &err),
                 STA_OK);
    struct sta_tables *tables = sta_writer_tables(writer);
    struct sta_dictionary *files = sta_tables_file_refs(tables), *hosts = sta_tables_host_refs(tables);
    uint32_t by_hash = intern(files, "h77"), by_name = intern(files, "n/data/a"),
             unknown = intern(files, "h78"), unused = intern(files, "n/data/unused");
    uint32_t host_hash = intern(hosts, "h5"), host_name = intern(hosts, "nnode-b"),
             host_first = intern(hosts, "nnode-a");
    sta_tables_define(tables, STA_DEFINES_FILE, "77", 2, &(struct sta_definition){"/data/a", 7, "x", 1});
    sta_tables_define(tables, STA_DEFINES_HOST, "5", 1, &(struct sta_definition){"node-b", 6, "x", 2});
    const struct sta_thread made[] = {
        {9, 9, host_hash},  {9, 9, host_name},           {9, 8, host_name}, {STA_NO_ID, 1, host_name},
        {1, 1, host_first}, {1, STA_NO_ID, STA_NO_CODE}, {5, 5, host_first}};
    uint32_t threads[7];
    for (size_t t = 0; t < 7; t++)
        threads[t] = sta_tables_intern_thread(tables, made[t]);
    const uint32_t refs[] = {by_hash, by_name, unknown, STA_NO_CODE, by_name, by_hash};
    add_events(writer, "x", refs, threads, 6); /* the seventh thread and the fourth file stay unused */
    publish(writer);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    cr_assert_eq(entities->file_of_ref[by_hash], entities->file_of_ref[by_name]);
    cr_assert_str_eq(sta_dictionary_text(entities->files, entities->file_of_ref[by_hash]).bytes, "/data/a");
    cr_assert_eq(entities->file_of_ref[unknown], STA_NO_CODE);
    cr_assert_eq(entities->file_of_ref[unused], STA_NO_CODE);
    cr_assert(entities->file_count == 1 && entities->unresolved_files == 1 &&
              entities->unresolved_hosts == 0);
    cr_assert(entities->host_count == 3 && entities->thread_count == 5 && entities->process_count == 4);
    cr_assert_eq(entities->thread_of_code[threads[0]], entities->thread_of_code[threads[1]],
                 "one host by hash and by name");
    cr_assert_eq(entities->thread_of_code[threads[4]], 0, "node-a comes first");
    cr_assert_eq(entities->thread_of_code[threads[2]], 1);
    cr_assert_eq(entities->thread_of_code[threads[0]], 2);
    cr_assert_eq(entities->thread_of_code[threads[3]], 3, "a missing pid comes last in its host");
    cr_assert_eq(entities->thread_of_code[threads[5]], 4, "a missing host comes last");
    cr_assert_eq(entities->thread_of_code[threads[6]], STA_NO_CODE);
    cr_assert_eq(entities->threads[1].process, entities->threads[2].process);
    cr_assert_eq(entities->threads[4].host, STA_NO_CODE);
    sta_snapshot_release(snapshot);
    scratch_close(&scratch);
}

Test(versions, definitions_of_a_dropped_source_leave_with_it)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer;
    struct sta_definition definition;
    scratch_open(&scratch);
    cr_assert_eq(sta_writer_begin(scratch.store, scratch.trace, NULL, NULL,
                                  &(struct sta_writer_options){.workers = 1, .memory = 1 << 20}, &writer,
                                  &err),
                 STA_OK);
    uint32_t thread =
        sta_tables_intern_thread(sta_writer_tables(writer), (struct sta_thread){1, 1, STA_NO_CODE});
    const uint32_t none = STA_NO_CODE;
    sta_tables_define(sta_writer_tables(writer), STA_DEFINES_FILE, "1", 1,
                      &(struct sta_definition){"/old", 4, "a", 1});
    sta_tables_define(sta_writer_tables(writer), STA_DEFINES_FILE, "2", 1,
                      &(struct sta_definition){"/other", 6, "a", 2});
    add_events(writer, "a", &none, &thread, 1);
    publish(writer);
    struct sta_snapshot *base = scratch_snapshot(&scratch);
    writer = go_on(&scratch, base, (const bool[]){true});
    sta_tables_define(sta_writer_tables(writer), STA_DEFINES_FILE, "1", 1,
                      &(struct sta_definition){"/new", 4, "a", 5});
    publish(writer);
    struct sta_snapshot *snapshot = scratch_snapshot(&scratch);
    const struct sta_tables *tables = sta_snapshot_tables(snapshot);
    cr_assert(sta_tables_find_definition(tables, STA_DEFINES_FILE, "1", 1, STA_NO_CODE, &definition, NULL));
    cr_assert_arr_eq(definition.text, "/new", 4);
    cr_assert_not(
        sta_tables_find_definition(tables, STA_DEFINES_FILE, "2", 1, STA_NO_CODE, &definition, NULL));
    sta_snapshot_release(snapshot);
    sta_snapshot_release(base);
    scratch_close(&scratch);
}

Test(versions, writing_rows_of_the_base_again_obeys_cancel)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer;
    const _Atomic bool cancel = true;
    const bool drop[] = {true, false};
    scratch_open(&scratch);
    sample_init(&sample, &(struct sample_shape){.seed = 4, .rows = 4000, .sources = 2, .chunk_rows = 500});
    scratch_publish(&scratch, &sample, 1, 64 << 20);
    unsigned files = scratch_file_count(&scratch);
    struct sta_snapshot *base = scratch_snapshot(&scratch);
    struct sta_writer_options options = {.workers = 1, .memory = 1 << 20, .cancel = &cancel};
    cr_assert_eq(sta_writer_begin(scratch.store, scratch.trace, base, drop, &options, &writer, &err),
                 STA_ECANCELLED);
    cr_assert_eq(scratch_file_count(&scratch), files);
    sample_check(&sample, base, NULL);
    sta_snapshot_release(base);
    scratch_close(&scratch);
    sample_fini(&sample);
}

Test(versions, what_an_open_version_holds_is_charged_or_refused)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_account account;
    struct sta_snapshot *snapshot;
    scratch_open(&scratch);
    sample_init(&sample, &shape);
    scratch_publish(&scratch, &sample, 2, 64 << 20);
    sta_account_init(&account, (size_t)1 << 40, "memory", NULL);
    sta_store_count_in(scratch.store, &account);
    snapshot = scratch_snapshot(&scratch);
    const struct sta_entities *entities = sta_snapshot_entities(snapshot);
    cr_expect_gt(atomic_load(&account.used), sta_tables_bytes(sta_snapshot_tables(snapshot)) +
                                                 sta_dictionary_bytes(entities->files) +
                                                 entities->thread_code_count * sizeof *entities->threads);
    sta_snapshot_release(snapshot);
    cr_expect_eq(atomic_load(&account.used), 0);
    const size_t most = atomic_load(&account.peak);
    for (size_t step = 0; step < 100; step++) {
        struct sta_error err = STA_ERROR_INIT;
        account.limit = most / 100 * step;
        cr_expect_eq(sta_snapshot_open(scratch.store, scratch.trace, &snapshot, &err), STA_ELIMIT,
                     "%zu of %zu", account.limit, most);
        cr_expect_not_null(strstr(err.text, "setting memory"), "%s", err.text);
        cr_expect_eq(atomic_load(&account.used), 0);
    }
    account.limit = most + 4096; /* row groups may be some bytes larger than the first time */
    sta_snapshot_release(scratch_snapshot(&scratch));
    scratch_close(&scratch);
    sta_account_fini(&account);
    sample_fini(&sample);
}

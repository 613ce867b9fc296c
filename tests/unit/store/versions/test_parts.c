/* A version that several processes write: parts in the trace's folder, named and published by one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../sample.h"
#include "common/buffer.h"
#include "common/memory.h"

#define PARTS 2

static int keep_codes(void *context, struct sta_batch *batch, struct sta_error *err)
{
    ++*(unsigned *)context; /* tables of parts and writer are filled alike here */
    return STA_OK;
}

/* A writer, and a store of another process for the parts. */
struct fixture {
    struct scratch_store scratch;
    struct sta_store *attached;
    struct sample sample;
    struct sta_writer *writer;
    unsigned translated;
};

static void fixture_init(struct fixture *fixture)
{
    const struct sample_shape shape = {.seed = 5, .rows = 4000, .sources = 6, .chunk_rows = 300};
    struct sta_error err = STA_ERROR_INIT;
    fixture->translated = 0;
    scratch_open(&fixture->scratch);
    sample_init(&fixture->sample, &shape);
    cr_assert_eq(sta_store_attach(fixture->scratch.folder, &fixture->attached, &err), STA_OK, "%s", err.text);
    fixture->writer = scratch_begin(&fixture->scratch, 1, 1 << 20);
    sample_fill_tables(sta_writer_tables(fixture->writer));
    for (uint32_t i = 0; i < fixture->sample.source_count; i++)
        sta_writer_add_source(fixture->writer, fixture->sample.paths[i]);
}

static void fixture_fini(struct fixture *fixture)
{
    sta_store_close(fixture->attached);
    sample_fini(&fixture->sample);
    scratch_close(&fixture->scratch);
}

static bool is_of(uint32_t source, unsigned part)
{
    return source % (PARTS + 1) == part + 1;
}

/* Writes the rows of some sources as a part; its report. */
static struct sta_buffer write_part(struct fixture *fixture, unsigned number)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *part;
    struct sta_buffer report = {0};
    struct sta_tables *tables = sta_tables_create(NULL);
    const struct sta_part_options options = {.workers = 2,
                                             .memory = 1 << 20,
                                             .tables = tables,
                                             .first_file = sta_writer_take_files(fixture->writer, 100),
                                             .files = 100,
                                             .translate = keep_codes,
                                             .context = &fixture->translated};
    bool *wanted = sta_alloc_array(fixture->sample.source_count, sizeof *wanted);
    sample_fill_tables(tables);
    sta_tables_define(tables, STA_DEFINES_FILE, number ? "11" : "12", 2,
                      &(struct sta_definition){.text = "/f", .length = 2, .path = "a", .line = 1});
    cr_assert_eq(sta_part_begin(fixture->attached, fixture->scratch.trace, &options, &part, &err), STA_OK,
                 "%s", err.text);
    for (uint32_t i = 0; i < fixture->sample.source_count; i++) {
        const uint32_t id = sta_writer_source_id(fixture->writer, i);
        cr_assert_eq(sta_part_add_source(part, fixture->sample.paths[i], id), i);
        wanted[i] = is_of(i, number);
        sta_writer_source(part, i)->counts.lines = wanted[i] ? 1000 + i : 0;
    }
    sample_write_by(&fixture->sample, part, 1, wanted);
    cr_assert_eq(sta_part_seal(part, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_part_end(part, &report, &err), STA_OK, "%s", err.text);
    sta_tables_destroy(tables);
    free(wanted);
    return report;
}

static int adopt(struct fixture *fixture, const struct sta_buffer *report, size_t size, struct sta_error *err)
{
    const unsigned char *bytes = (const unsigned char *)report->data;
    struct sta_cursor in = {.at = bytes, .end = bytes + size};
    return sta_writer_adopt(fixture->writer, &in, NULL, err);
}

Test(store_parts, one_version_has_the_rows_of_all)
{
    struct fixture fixture;
    struct sta_error err = STA_ERROR_INIT;
    bool own[6] = {0};
    fixture_init(&fixture);
    for (unsigned number = 0; number < PARTS; number++) {
        struct sta_buffer report = write_part(&fixture, number);
        cr_assert_eq(adopt(&fixture, &report, report.size, &err), STA_OK, "%s", err.text);
        sta_buffer_fini(&report);
    }
    for (uint32_t i = 0; i < fixture.sample.source_count; i++)
        own[i] = i % (PARTS + 1) == 0;
    sample_write_by(&fixture.sample, fixture.writer, 0, own);
    cr_assert_eq(sta_writer_publish(fixture.writer, &err), STA_OK, "%s", err.text);
    cr_assert_gt(fixture.translated, 2);
    for (int reopened = 0; reopened < 2; reopened++) {
        struct sta_snapshot *snapshot = scratch_snapshot(&fixture.scratch);
        struct sta_definition found;
        sample_check(&fixture.sample, snapshot, NULL);
        for (int number = 0; number < PARTS; number++)
            cr_assert(sta_tables_find_definition(sta_snapshot_tables(snapshot), STA_DEFINES_FILE,
                                                 number ? "11" : "12", 2, STA_NO_CODE, &found, NULL));
        sta_snapshot_release(snapshot);
        cr_assert_eq(scratch_reopen(&fixture.scratch), 0, "nothing is left over");
    }
    fixture_fini(&fixture);
}

Test(store_parts, what_is_not_published_goes)
{
    struct fixture fixture;
    struct sta_error err = STA_ERROR_INIT;
    fixture_init(&fixture);
    struct sta_buffer report = write_part(&fixture, 0);
    cr_assert_eq(adopt(&fixture, &report, report.size, &err), STA_OK);
    const unsigned with_part = scratch_file_count(&fixture.scratch);
    sta_writer_abort(fixture.writer);
    cr_assert_lt(scratch_file_count(&fixture.scratch), with_part);
    cr_assert_eq(scratch_reopen(&fixture.scratch), 0);
    sta_buffer_fini(&report);
    fixture_fini(&fixture);
}

Test(store_parts, what_a_dead_process_wrote_goes_at_the_next_start)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct sta_buffer report = write_part(&fixture, 0);
    sta_writer_abort(fixture.writer); /* which has not heard of it */
    cr_assert_gt(scratch_reopen(&fixture.scratch), 0);
    sta_buffer_fini(&report);
    fixture_fini(&fixture);
}

Test(store_parts, reports_that_make_no_sense_are_refused)
{
    struct fixture fixture;
    fixture_init(&fixture);
    struct sta_buffer report = write_part(&fixture, 0);
    for (size_t size = 0; size + 1 < report.size; size += 1 + report.size / 97) {
        struct sta_error err = STA_ERROR_INIT;
        cr_assert_eq(adopt(&fixture, &report, size, &err), STA_ECORRUPT, "%zu bytes", size);
    }
    sta_writer_abort(fixture.writer);
    sta_buffer_fini(&report);
    fixture_fini(&fixture);
}

Test(store_parts, another_version_is_outdated)
{
    struct fixture fixture;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *attached;
    fixture_init(&fixture);
    cr_assert_eq(sta_writer_publish(fixture.writer, &err), STA_OK);
    struct sta_snapshot *snapshot = scratch_snapshot(&fixture.scratch);
    const uint64_t version = sta_snapshot_info(snapshot)->version;
    cr_assert_eq(sta_snapshot_open_version(fixture.attached, fixture.scratch.trace, version, &attached, &err),
                 STA_OK, "%s", err.text);
    cr_assert_str_eq(sta_snapshot_trace(attached), fixture.scratch.trace);
    sta_snapshot_release(attached);
    cr_assert_eq(
        sta_snapshot_open_version(fixture.attached, fixture.scratch.trace, version + 1, &attached, &err),
        STA_EOUTDATED);
    cr_assert_eq(sta_snapshot_open_version(fixture.attached, "../../elsewhere", version, &attached, &err),
                 STA_ENOTFOUND);
    sta_snapshot_release(snapshot);
    fixture_fini(&fixture);
}

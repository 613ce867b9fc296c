/* What a crash leaves of a version that several processes write, and who goes on with it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../sample.h"
#include "common/account.h"
#include "common/buffer.h"
#include "common/files.h"
#include "common/memory.h"

#define SOURCES 6
#define HEAD_ALONE 200 /* bytes in which the first record of a journal can be read, and no other */
#define OF_PART 2      /* the first ones: the others are read by the writer itself */

static int keep_codes(void *context, struct sta_batch *batch, struct sta_error *err)
{
    return STA_OK; /* tables of part and writer are filled alike here */
}

/* *context: path of a source that is not what it was; NULL: none. */
static bool is_same(void *context, const struct sta_source *source, bool range)
{
    const char *changed = *(const char **)context;
    return changed == NULL || strcmp(source->path, changed) != 0;
}

static void write_part(const struct scratch_store *scratch, const struct sample *sample,
                       struct sta_writer *writer)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_store *attached;
    struct sta_writer *part;
    struct sta_buffer report = {0};
    struct sta_tables *tables = sta_tables_create(NULL);
    const struct sta_part_options options = {.workers = 1,
                                             .memory = 1 << 20,
                                             .tables = tables,
                                             .first_file = sta_writer_take_files(writer, 100),
                                             .files = 100,
                                             .translate = keep_codes};
    sample_fill_tables(tables);
    cr_assert_eq(sta_store_attach(scratch->folder, &attached, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_part_begin(attached, scratch->trace, &options, &part, &err), STA_OK, "%s", err.text);
    for (uint32_t i = 0; i < OF_PART; i++)
        cr_assert_eq(
            sta_part_add_source(part, sample->paths[i], sta_writer_source_id(writer, SOURCES - 1 - i)), i);
    sample_write(sample, part, 1, (const bool[SOURCES]){true, true});
    cr_assert_eq(sta_part_seal(part, &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_part_end(part, &report, &err), STA_OK, "%s", err.text);
    const unsigned char *bytes = (const unsigned char *)report.data;
    struct sta_cursor in = {.at = bytes, .end = bytes + report.size};
    cr_assert_eq(sta_writer_adopt(writer, &in, NULL, &err), STA_OK, "%s", err.text);
    sta_buffer_fini(&report);
    sta_tables_destroy(tables);
    sta_store_close(attached);
}

/* A store as it is when the writer dies after a part was adopted.  Return: how many files the next start
 * removed.  @cut: bytes that the journal lacks at its end. */
static unsigned crash(struct scratch_store *left, const struct sample *sample, size_t cut)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    struct stat was;
    unsigned cleaned;
    scratch_open(&scratch);
    struct sta_writer *writer = scratch_begin(&scratch, 1, 1 << 20);
    cr_assert_eq(sta_writer_begin_journal(writer, &err), STA_OK, "%s", err.text);
    sample_fill_tables(sta_writer_tables(writer));
    for (uint32_t i = 0; i < SOURCES; i++)
        sta_writer_add_source(writer,
                              sample->paths[SOURCES - 1 - i]); /* ids that do not ascend in the part */
    write_part(&scratch, sample, writer);
    *left = scratch;
    snprintf(left->folder, sizeof left->folder, "/tmp/strata-store-XXXXXX");
    cr_assert_not_null(mkdtemp(left->folder));
    char *copy = sta_sprintf("cp -r %s/. %s", scratch.folder, left->folder);
    cr_assert_eq(system(copy), 0);
    free(copy);
    sta_writer_abort(writer);
    cr_assert_eq(scratch_reopen(&scratch), 0, "who gives up leaves nothing");
    scratch_close(&scratch);
    char *journal = scratch_file(left, ".journal", 0);
    cr_assert_eq(stat(journal, &was), 0);
    cr_assert_eq(truncate(journal, (off_t)(cut < (size_t)was.st_size ? (size_t)was.st_size - cut : 0)), 0);
    free(journal);
    cr_assert_eq(sta_store_open(left->folder, &left->store, &cleaned, &err), STA_OK, "%s", err.text);
    return cleaned;
}

/* Goes on, reads what was not taken, and publishes.  Return: how many sources were taken. */
static uint32_t finish(struct scratch_store *left, const struct sample *sample, const char *changed)
{
    struct sta_error err = STA_ERROR_INIT;
    bool read[SOURCES];
    uint32_t taken = 0, number;
    struct sta_writer *writer = scratch_begin(left, 1, 1 << 20);
    cr_assert_eq(sta_writer_resume(writer, is_same, &changed, &err), STA_OK, "%s", err.text);
    sample_fill_tables(sta_writer_tables(writer));
    for (uint32_t i = 0; i < SOURCES; i++) {
        read[i] = !sta_writer_find_source(writer, sample->paths[i], &number);
        taken += !read[i];
        cr_assert_eq(read[i] ? sta_writer_add_source(writer, sample->paths[i]) : number, i);
    }
    sample_write(sample, writer, 1, read);
    cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
    for (int reopened = 0; reopened < 2; reopened++) {
        struct sta_snapshot *snapshot = scratch_snapshot(left);
        sample_check(sample, snapshot, NULL);
        sta_snapshot_release(snapshot);
        cr_assert_eq(scratch_reopen(left), 0, "nothing is left over");
    }
    return taken;
}

static void sample_of(struct sample *sample)
{
    const struct sample_shape shape = {.seed = 5, .rows = 4000, .sources = SOURCES, .chunk_rows = 300};
    sample_init(sample, &shape);
}

Test(store_journal, what_parts_gave_outlives_a_crash)
{
    struct scratch_store left;
    struct sample sample;
    sample_of(&sample);
    cr_assert_eq(crash(&left, &sample, 0), 0, "the next start keeps what the journal names");
    cr_assert_eq(scratch_reopen(&left), 0, "and so does the one after it");
    cr_assert_eq(finish(&left, &sample, NULL), OF_PART);
    scratch_close(&left);
    sample_fini(&sample);
}

Test(store_journal, a_part_whose_source_changed_is_read_again)
{
    struct scratch_store left;
    struct sample sample;
    sample_of(&sample);
    crash(&left, &sample, 0);
    cr_assert_eq(finish(&left, &sample, sample.paths[1]), 0);
    scratch_close(&left);
    sample_fini(&sample);
}

Test(store_journal, a_journal_that_is_cut_off_is_good_as_far_as_it_goes)
{
    static const size_t cuts[] = {1, 60, 400, 900, 100000};
    struct sample sample;
    sample_of(&sample);
    for (size_t c = 0; c < STA_COUNT_OF(cuts); c++) {
        struct scratch_store left;
        cr_assert_gt(crash(&left, &sample, cuts[c]), 0, "what no record names goes");
        cr_assert_eq(finish(&left, &sample, NULL), 0);
        scratch_close(&left);
    }
    sample_fini(&sample);
}

Test(store_journal, a_part_whose_segment_is_damaged_is_read_again)
{
    struct scratch_store left;
    struct sample sample;
    sample_of(&sample);
    crash(&left, &sample, 0);
    char *segment = scratch_file(&left, ".segment", 0);
    cr_assert_eq(truncate(segment, 100), 0);
    free(segment);
    cr_assert_eq(finish(&left, &sample, NULL), 0);
    scratch_close(&left);
    sample_fini(&sample);
}

Test(store_journal, who_has_no_memory_for_it_leaves_it_to_the_next)
{
    struct scratch_store left;
    struct sample sample;
    struct sta_account account;
    struct sta_writer *writer;
    struct sta_error err = STA_ERROR_INIT;
    const char *changed = NULL;
    sample_of(&sample);
    crash(&left, &sample, 0);
    sta_account_init(&account, 1 << 20, "memory", NULL);
    const struct sta_writer_options options = {.workers = 1, .memory = 1 << 20, .account = &account};
    cr_assert_eq(sta_writer_begin(left.store, left.trace, NULL, NULL, &options, &writer, &err), STA_OK);
    const size_t taken = sta_account_left(&account) - HEAD_ALONE;
    cr_assert_eq(sta_account_charge(&account, taken, "", &err), STA_OK, "%s", err.text);
    cr_assert_eq(sta_writer_resume(writer, is_same, &changed, &err), STA_ELIMIT, "%s", err.text);
    sta_account_release(&account, taken);
    sta_writer_suspend(writer);
    sta_account_fini(&account);
    cr_assert_eq(finish(&left, &sample, NULL), OF_PART);
    scratch_close(&left);
    sample_fini(&sample);
}

Test(store_journal, another_version_makes_it_void)
{
    struct scratch_store left;
    struct sta_error err = STA_ERROR_INIT;
    struct sample sample;
    sample_of(&sample);
    crash(&left, &sample, 0);
    char *journal = scratch_file(&left, ".journal", 0), *saved = sta_sprintf("%s/saved", left.folder);
    cr_assert_eq(link(journal, saved), 0);
    scratch_publish(&left, &sample, 1, 1 << 20); /* by who does not go on with it */
    cr_assert_neq(access(journal, F_OK), 0);
    cr_assert_eq(link(saved, journal), 0);
    const char *changed = NULL;
    struct sta_writer *writer = scratch_begin(&left, 1, 1 << 20);
    uint32_t number;
    cr_assert_eq(sta_writer_resume(writer, is_same, &changed, &err), STA_OK, "%s", err.text);
    cr_assert_not(sta_writer_find_source(writer, sample.paths[0], &number));
    cr_assert_neq(access(journal, F_OK), 0);
    sta_writer_abort(writer);
    cr_assert_eq(link(saved, journal), 0);
    cr_assert_eq(scratch_reopen(&left), 1, "a start removes it too");
    free(journal);
    free(saved);
    scratch_close(&left);
    sample_fini(&sample);
}

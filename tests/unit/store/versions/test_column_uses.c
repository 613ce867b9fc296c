/* Which columns are read is remembered by name, over restarts; what is damaged or of another program counts
 * as nothing; warming fills what space there is and evicts nothing. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/buffer.h"
#include "common/event.h"
#include "common/memory.h"
#include "../sample.h"

#define NAME "columns"
#define ROWS 100000

static const struct sample_shape shape = {.seed = 5, .rows = ROWS, .sources = 2, .chunk_rows = 4000};

struct scene {
    struct scratch_store scratch;
    struct sample sample;
    struct sta_snapshot *snapshot;
    struct sta_column_values values;
};

static void open_scene(struct scene *scene, uint64_t capacity)
{
    struct sta_error err = STA_ERROR_INIT;
    *scene = (struct scene){0};
    scratch_open(&scene->scratch);
    sample_init(&scene->sample, &shape);
    struct sta_writer *writer = scratch_begin(&scene->scratch, 1, 64 << 20);
    sample_write(&scene->sample, writer, 1, NULL);
    cr_assert_eq(sta_writer_publish(writer, &err), STA_OK, "%s", err.text);
    scratch_reopen(&scene->scratch);
    sta_store_keep_columns(scene->scratch.store, capacity);
    scene->snapshot = scratch_snapshot(&scene->scratch);
    scene->values.integers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *scene->values.integers);
    scene->values.numbers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *scene->values.numbers);
    scene->values.codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *scene->values.codes);
    scene->values.kinds = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *scene->values.kinds);
    scene->values.missing = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof *scene->values.missing);
}

static void close_scene(struct scene *scene)
{
    free(scene->values.integers);
    free(scene->values.numbers);
    free(scene->values.codes);
    free(scene->values.kinds);
    free(scene->values.missing);
    sta_snapshot_release(scene->snapshot);
    scratch_close(&scene->scratch);
    sample_fini(&scene->sample);
}

static void reopen(struct scene *scene, uint64_t capacity)
{
    sta_snapshot_release(scene->snapshot);
    scratch_reopen(&scene->scratch);
    sta_store_keep_columns(scene->scratch.store, capacity);
    scene->snapshot = scratch_snapshot(&scene->scratch);
}

static void read_column(struct scene *scene, const char *name)
{
    struct sta_error err = STA_ERROR_INIT;
    uint32_t column;
    cr_assert(sta_snapshot_find_column(scene->snapshot, name, &column), "%s", name);
    for (size_t i = 0; i < sta_snapshot_row_group_count(scene->snapshot); i++)
        cr_assert_eq(sta_row_group_read(scene->snapshot, sta_snapshot_row_group(scene->snapshot, i), column,
                                        &scene->values, &err),
                     STA_OK, "%s", err.text);
}

static void warm_column(struct scene *scene, uint32_t column)
{
    struct sta_error err = STA_ERROR_INIT;
    for (size_t i = 0; i < sta_snapshot_row_group_count(scene->snapshot); i++)
        cr_assert_eq(sta_row_group_warm(scene->snapshot, sta_snapshot_row_group(scene->snapshot, i), column,
                                        &scene->values, &err),
                     STA_OK, "%s", err.text);
}

static struct sta_column_figures figures(const struct scene *scene)
{
    return sta_store_column_figures(scene->scratch.store);
}

static void keep(const struct scene *scene)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_store_keep_column_uses(scene->scratch.store, &err), STA_OK, "%s", err.text);
}

static bool remembers(const struct scene *scene, const char *column)
{
    size_t count;
    bool found = false;
    struct sta_column_use *uses = sta_store_column_uses(scene->scratch.store, &count);
    for (size_t i = 0; i < count; i++)
        found |= strcmp(uses[i].column, column) == 0 && strcmp(uses[i].trace, scene->scratch.trace) == 0;
    sta_column_uses_free(uses, count);
    return found;
}

static size_t count_uses(const struct scene *scene)
{
    size_t count;
    struct sta_column_use *uses = sta_store_column_uses(scene->scratch.store, &count);
    sta_column_uses_free(uses, count);
    return count;
}

static char *first_key(const struct scene *scene)
{
    const struct sta_dictionary *keys = sta_tables_keys(sta_snapshot_tables(scene->snapshot));
    const struct sta_text key = sta_dictionary_text(keys, 0);
    return sta_sprintf("args.%.*s", (int)key.length, key.bytes);
}

Test(column_uses, they_are_remembered_by_name)
{
    struct scene scene;
    open_scene(&scene, 64 << 20);
    char *key = first_key(&scene);
    cr_assert_eq(count_uses(&scene), 0);
    read_column(&scene, "dur");
    read_column(&scene, key);
    keep(&scene);
    reopen(&scene, 64 << 20);
    cr_assert(remembers(&scene, "dur") && remembers(&scene, key));
    cr_assert_eq(count_uses(&scene), 2);

    read_column(&scene, "cat"); /* what this run did not read stays */
    keep(&scene);
    reopen(&scene, 64 << 20);
    cr_assert(remembers(&scene, "cat") && remembers(&scene, "dur") && remembers(&scene, key));
    free(key);
    close_scene(&scene);
}

Test(column_uses, names_are_those_of_columns)
{
    static const char *const names[] = {"ts", "dur", "name", "cat", "file", "thread", "chunk"};
    struct scene scene;
    uint32_t column;
    open_scene(&scene, 64 << 20);
    for (uint32_t i = 0; i < STA_COUNT_OF(names); i++)
        cr_assert(sta_snapshot_find_column(scene.snapshot, names[i], &column) && column == i, "%s", names[i]);
    char *key = first_key(&scene);
    cr_assert(sta_snapshot_find_column(scene.snapshot, key, &column) && column == STA_COLUMN_ARGS);
    cr_assert_not(sta_snapshot_find_column(scene.snapshot, "args.nosuch", &column));
    cr_assert_not(sta_snapshot_find_column(scene.snapshot, key + strlen("args."), &column));
    cr_assert_not(sta_snapshot_find_column(scene.snapshot, "", &column));
    free(key);
    close_scene(&scene);
}

Test(column_uses, what_was_warmed_and_not_read_is_not_a_use)
{
    struct scene scene;
    open_scene(&scene, 64 << 20);
    warm_column(&scene, STA_COLUMN_DUR);
    cr_assert_eq(figures(&scene).warmed, sta_snapshot_row_group_count(scene.snapshot));
    keep(&scene);
    cr_assert_eq(count_uses(&scene), 0);
    read_column(&scene, "dur");
    cr_assert_eq(figures(&scene).decoded, 0, "it was there");
    keep(&scene);
    cr_assert(remembers(&scene, "dur"));
    close_scene(&scene);
}

Test(column_uses, a_trace_that_is_gone_is_forgotten)
{
    struct scene scene;
    struct sta_error err = STA_ERROR_INIT;
    open_scene(&scene, 64 << 20);
    read_column(&scene, "dur");
    keep(&scene);
    cr_assert_eq(sta_store_retire(scene.scratch.store, scene.scratch.trace, &err), STA_OK);
    cr_assert_eq(count_uses(&scene), 0);
    keep(&scene);
    close_scene(&scene);
}

/* ---- what the store may find there */

static void put(const struct scene *scene, const struct sta_buffer *value)
{
    struct sta_error err = STA_ERROR_INIT;
    cr_assert_eq(sta_store_put_kept(scene->scratch.store, NULL, 0, NAME, value->data, value->size, &err),
                 STA_OK);
}

static void put_use(struct sta_buffer *out, const char *trace, const char *column, int64_t used_ms)
{
    sta_put_block(out, trace, strlen(trace));
    sta_put_block(out, column, strlen(column));
    sta_put_signed(out, used_ms);
}

Test(column_uses, other_layouts_and_nonsense_count_as_nothing)
{
    struct scene scene;
    open_scene(&scene, 64 << 20);
    struct sta_buffer whole = {0};
    sta_put_varint(&whole, 1);
    sta_put_varint(&whole, 2);
    put_use(&whole, scene.scratch.trace, "dur", 1000);
    put_use(&whole, scene.scratch.trace, "cat", 1001);
    put(&scene, &whole);
    cr_assert_eq(count_uses(&scene), 2);

    struct sta_buffer other = whole;
    for (other.size = 0; other.size < whole.size; other.size++) { /* cut off anywhere */
        put(&scene, &other);
        cr_assert_eq(count_uses(&scene), 0, "%zu bytes", other.size);
    }
    whole.data[0] = 2;
    put(&scene, &whole);
    cr_assert_eq(count_uses(&scene), 0, "another layout");
    whole.data[0] = 1;
    whole.data[1] = 127;
    put(&scene, &whole);
    cr_assert_eq(count_uses(&scene), 0, "more than there is");
    read_column(&scene, "dur");
    keep(&scene);
    cr_assert(remembers(&scene, "dur"), "it is written anew");
    sta_buffer_fini(&whole);
    close_scene(&scene);
}

Test(column_uses, a_damaged_file_counts_as_nothing)
{
    struct scene scene;
    open_scene(&scene, 64 << 20);
    read_column(&scene, "dur");
    keep(&scene);
    char *pattern = sta_sprintf("%s/kept/kept-*", scene.scratch.folder);
    glob_t found;
    cr_assert(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1);
    FILE *file = fopen(found.gl_pathv[0], "r+");
    cr_assert(file != NULL && fseek(file, 60, SEEK_SET) == 0 && fputs("x", file) >= 0 && fclose(file) == 0);
    globfree(&found);
    free(pattern);
    cr_assert_eq(count_uses(&scene), 0);
    keep(&scene);
    cr_assert(remembers(&scene, "dur"));
    close_scene(&scene);
}

Test(column_uses, old_ones_and_too_many_go)
{
    struct scene scene;
    const int64_t now = time(NULL) * INT64_C(1000), day = 24 * 3600 * 1000;
    open_scene(&scene, 64 << 20);
    struct sta_buffer value = {0};
    sta_put_varint(&value, 1);
    sta_put_varint(&value, 503);
    put_use(&value, scene.scratch.trace, "cat", now - 31 * day);
    put_use(&value, scene.scratch.trace, "dur", now - 29 * day);
    for (int i = 0; i < 500; i++) {
        char name[32];
        snprintf(name, sizeof name, "args.%d", i);
        put_use(&value, scene.scratch.trace, name, now - 28 * day - i);
    }
    put_use(&value, scene.scratch.trace, "ts", now + 1000 * day); /* of a clock that was set back since */
    put(&scene, &value);
    cr_assert_eq(count_uses(&scene), 256);
    cr_assert(remembers(&scene, "ts") && remembers(&scene, "args.0") && remembers(&scene, "args.254"));
    cr_assert_not(remembers(&scene, "args.255") || remembers(&scene, "dur") || remembers(&scene, "cat"));
    sta_buffer_fini(&value);
    close_scene(&scene);
}

/* ---- warming */

Test(column_uses, warming_takes_no_more_than_there_is_space_for)
{
    struct scene scene;
    const uint64_t capacity = 64 * 40000; /* some two row groups in each shard of the cache */
    open_scene(&scene, capacity);
    for (uint32_t column = 0; column < STA_COLUMN_ARGS; column++)
        warm_column(&scene, column);
    const struct sta_column_figures full = figures(&scene);
    cr_assert(full.warmed > 0 && full.warmed_bytes <= capacity);
    for (uint32_t column = 0; column < STA_COLUMN_ARGS; column++)
        warm_column(&scene, column);
    cr_assert_eq(figures(&scene).warmed, full.warmed, "nothing that is there goes, and nothing is put twice");
    close_scene(&scene);
}

static void warm_all_but(struct scene *scene, uint32_t but)
{
    for (uint32_t column = 0; column < STA_COLUMN_ARGS + SAMPLE_KEYS; column++)
        if (column != but)
            warm_column(scene, column);
}

Test(column_uses, what_is_read_evicts_what_was_warmed_and_not_the_other_way_round)
{
    struct scene scene;
    open_scene(&scene, 64 * 40000);
    warm_all_but(&scene, STA_COLUMN_CAT);
    read_column(&scene, "cat");
    cr_assert_eq(figures(&scene).decoded, sta_snapshot_row_group_count(scene.snapshot));
    warm_all_but(&scene, STA_COLUMN_CAT);
    read_column(&scene, "cat");
    cr_assert_eq(figures(&scene).decoded, sta_snapshot_row_group_count(scene.snapshot), "all of it is there");
    close_scene(&scene);
}

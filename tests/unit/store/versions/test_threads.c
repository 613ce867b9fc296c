/* Workers that add at once, readers that read at once: what a thread sanitizer should see. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "common/memory.h"
#include "common/parallel.h"
#include "../sample.h"

enum { THREADS = 4 };

struct writing {
    const struct sample *sample;
    struct sta_writer *writer;
    _Atomic unsigned next;
};

/* Each source by one worker. */
static void write_some(void *context, unsigned thread)
{
    struct writing *writing = context;
    for (unsigned source; (source = atomic_fetch_add(&writing->next, 1)) < writing->sample->source_count;) {
        bool wanted[8] = {false};
        wanted[source] = true;
        sample_write_by(writing->sample, writing->writer, thread, wanted);
    }
}

struct looking {
    const struct sample *sample;
    struct scratch_store *scratch;
    _Atomic unsigned looks;
};

static void look(void *context, unsigned thread)
{
    struct looking *looking = context;
    while (atomic_fetch_add(&looking->looks, 1) < 2 * THREADS) {
        struct sta_snapshot *snapshot = scratch_snapshot(looking->scratch);
        sample_check(looking->sample, snapshot, NULL);
        cr_assert_eq(sta_snapshot_entities(snapshot)->thread_code_count,
                     sta_tables_thread_count(sta_snapshot_tables(snapshot)));
        sta_snapshot_release(snapshot);
    }
}

Test(threads, workers_write_and_readers_read_at_once, .timeout = 800)
{
    struct scratch_store scratch;
    struct sample sample;
    struct sta_error err = STA_ERROR_INIT;
    scratch_open(&scratch);
    sample_init(&sample, &(struct sample_shape){
                             .seed = 9, .rows = 48000, .sources = 8, .chunk_rows = 1500, .wild = true});
    struct writing writing = {.sample = &sample, .writer = scratch_begin(&scratch, THREADS, 4 << 20)};
    sta_parallel_run(THREADS, write_some, &writing);
    cr_assert_eq(sta_writer_publish(writing.writer, &err), STA_OK, "%s", err.text);
    struct looking looking = {.sample = &sample, .scratch = &scratch};
    sta_parallel_run(THREADS, look, &looking);
    scratch_close(&scratch);
    sample_fini(&sample);
}

/* ---- a trace that is added, changed, written, asked and removed at once */

enum { LIVES = 300 };

struct living {
    struct sta_store *store;
    _Atomic unsigned lives; /* times that the trace was added */
    _Atomic bool over;
};

static bool find_one(struct sta_store *store, char id[STA_TRACE_ID_SIZE])
{
    size_t count;
    struct sta_trace_entry *entries = sta_store_list(store, &count);
    cr_assert_leq(count, 1, "one path is one trace");
    if (count == 1) {
        memcpy(id, entries[0].id, STA_TRACE_ID_SIZE);
        sta_trace_entry_fini(&entries[0]);
    }
    free(entries);
    return count == 1;
}

static void add_same(struct living *living)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry = {.path = sta_strdup("/runs/a"), .name = sta_strdup("a")};
    int status = sta_store_add(living->store, &entry, &err);
    cr_assert(status == STA_OK || status == STA_EEXISTS, "%s", err.text);
    if (status == STA_OK && atomic_fetch_add(&living->lives, 1) >= LIVES)
        atomic_store(&living->over, true);
    sta_trace_entry_fini(&entry);
}

static void count_up(void *context, struct sta_trace_entry *entry)
{
    entry->tags = sta_realloc_array(entry->tags, entry->tag_count + 1, sizeof(char *));
    entry->tags[entry->tag_count++] = sta_strdup("again");
}

static void write_version(struct living *living, const char *id)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_writer *writer;
    struct sta_writer_options options = {.workers = 1, .memory = 1 << 20};
    int status = sta_writer_begin(living->store, id, NULL, NULL, &options, &writer, &err);
    if (status == STA_OK)
        status = sta_writer_publish(writer, &err);
    cr_assert(status == STA_OK || status == STA_ENOTFOUND || status == STA_EBUSY, "%s", err.text);
}

static void open_and_keep(struct living *living, const char *id)
{
    struct sta_error err = STA_ERROR_INIT;
    struct sta_snapshot *snapshot;
    int status = sta_snapshot_open(living->store, id, &snapshot, &err);
    if (status != STA_OK) {
        cr_assert_eq(status, STA_ENOTFOUND, "%s", err.text);
        return;
    }
    status =
        sta_store_put_kept(living->store, id, sta_snapshot_info(snapshot)->version, "name", "value", 5, &err);
    cr_assert(status == STA_OK || status == STA_ENOTFOUND, "%s", err.text);
    sta_snapshot_release(snapshot);
}

static void live(void *context, unsigned thread)
{
    struct living *living = context;
    char id[STA_TRACE_ID_SIZE];
    for (unsigned turn = thread; !atomic_load(&living->over); turn++) {
        struct sta_error err = STA_ERROR_INIT;
        int status = STA_OK;
        if (!find_one(living->store, id))
            add_same(living);
        else if (turn % 5 == 0)
            status = sta_store_remove(living->store, id, &err);
        else if (turn % 5 == 1)
            write_version(living, id);
        else if (turn % 5 == 2)
            open_and_keep(living, id);
        else if (turn % 5 == 3)
            add_same(living);
        else
            status = sta_store_update(living->store, id, count_up, NULL, &err);
        cr_assert(status == STA_OK || status == STA_ENOTFOUND || status == STA_EBUSY, "%s", err.text);
    }
}

Test(threads, a_trace_is_removed_while_it_is_changed_written_and_asked, .timeout = 800)
{
    struct scratch_store scratch;
    scratch_open(&scratch);
    struct living living = {.store = scratch.store};
    sta_parallel_run(THREADS, live, &living);
    char before[STA_TRACE_ID_SIZE] = "", after[STA_TRACE_ID_SIZE] = "";
    bool left = find_one(living.store, before);
    cr_assert_eq(scratch_reopen(&scratch), 0, "nothing of those that were removed is left");
    cr_assert_eq(find_one(scratch.store, after), left);
    cr_assert_str_eq(before, after);
    scratch_close(&scratch);
}

struct counting {
    struct scratch_store *scratch;
    unsigned changes;
};

static void change_often(void *context, unsigned thread)
{
    struct counting *counting = context;
    struct sta_error err = STA_ERROR_INIT;
    for (unsigned i = 0; i < counting->changes; i++)
        cr_assert_eq(
            sta_store_update(counting->scratch->store, counting->scratch->trace, count_up, NULL, &err),
            STA_OK);
}

Test(threads, no_change_of_an_entry_is_lost)
{
    struct scratch_store scratch;
    struct sta_error err = STA_ERROR_INIT;
    struct sta_trace_entry entry;
    scratch_open(&scratch);
    struct counting counting = {&scratch, 50};
    sta_parallel_run(THREADS, change_often, &counting);
    scratch_reopen(&scratch);
    cr_assert_eq(sta_store_find(scratch.store, scratch.trace, &entry, &err), STA_OK);
    cr_assert_eq(entry.tag_count, 50 * THREADS);
    sta_trace_entry_fini(&entry);
    scratch_close(&scratch);
}

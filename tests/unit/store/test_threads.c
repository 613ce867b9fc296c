/* Workers that add at once, readers that read at once: what a thread sanitizer should see. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include "common/parallel.h"
#include "sample.h"

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

Test(threads, workers_write_and_readers_read_at_once, .timeout = 200)
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

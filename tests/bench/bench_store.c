/* bench_store.c - what the store makes of a DFTracer-like trace: bytes per event and decode time of every
 * column, encode time.
 *
 *     bench_store [million events] [folder]
 *
 * Ranks with four reader threads each open, seek, read and close files; sizes are few, offsets are multiples,
 * durations are log-normal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/files.h"
#include "common/memory.h"
#include "store/versions/private.h"

enum { RANKS = 8, THREADS = 5, NAMES = 9, FILES = 1344, CHUNK = 16384, WORKERS = 2, ROUNDS = 3 };

/* X(key) */
#define KEY_LIST(X)                                                                                          \
    X(ret) X(offset) X(count) X(fd) X(level) X(p_idx) X(epoch) X(step) X(image_idx) X(image_size)
enum key {
#define X(key) KEY_##key,
    KEY_LIST(X)
#undef X
        KEYS
};
static const char *const key_names[] = {
#define X(key) #key,
    KEY_LIST(X)
#undef X
};

static const struct {
    const char *name, *cat;
} calls[NAMES] = {{"open64", "posix"},
                  {"lseek64", "posix"},
                  {"read", "posix"},
                  {"close", "posix"},
                  {"NPZReader.read_index", "reader"},
                  {"FormatReader.preprocess", "reader"},
                  {"TorchDataset.__getitem__", "data_loader"},
                  {"__xstat64", "posix"},
                  {"pread", "posix"}};

static uint64_t state = 42;

static uint64_t random_bits(void)
{
    uint64_t x = state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static double uniform(void)
{
    return ((double)(random_bits() >> 11) + 0.5) / 9007199254740992.0;
}

static int64_t log_normal(double median, double sigma)
{
    double normal = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
    return (int64_t)(median * exp(sigma * normal));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void die(const struct sta_error *err)
{
    fprintf(stderr, "bench_store: %s\n", err->text);
    exit(1);
}

/* ---- the trace */

struct reader {
    int64_t now;
    unsigned at, reads_left, file, fd;
    int64_t offset, image;
};

static void set(struct sta_batch *batch, enum key key, int64_t value)
{
    struct sta_args_column *column = &batch->args[key];
    if (column->count == column->capacity) {
        column->capacity = column->capacity ? column->capacity * 2 : CHUNK;
        column->rows = sta_realloc_array(column->rows, column->capacity, sizeof *column->rows);
        column->kinds = sta_realloc_array(column->kinds, column->capacity, sizeof *column->kinds);
        column->values = sta_realloc_array(column->values, column->capacity, sizeof *column->values);
    }
    column->rows[column->count] = batch->count;
    column->kinds[column->count] = STA_VALUE_INT;
    column->values[column->count++].integer = value;
}

static void call(struct sta_batch *batch, struct reader *reader, unsigned name, uint32_t thread, int64_t dur,
                 int64_t *p_idx)
{
    uint32_t at = batch->count;
    bool posix = strcmp(calls[name].cat, "posix") == 0;
    batch->ts[at] = reader->now;
    batch->dur[at] = dur;
    batch->name[at] = name;
    batch->cat[at] = posix ? 0 : name == 6 ? 2 : 1;
    batch->file[at] = posix ? reader->file : STA_NO_CODE;
    batch->thread[at] = thread;
    set(batch, KEY_p_idx, (*p_idx)++);
    set(batch, KEY_level, posix ? 5 : 3 + (name == 6));
    if (!posix) {
        set(batch, KEY_epoch, 1 + reader->image / 168);
        set(batch, KEY_step, reader->image / 4);
        set(batch, KEY_image_idx, reader->image % 168);
        set(batch, KEY_image_size, 146600628);
    }
    batch->count++;
    reader->now += dur + log_normal(8, 0.7);
}

/* One step of a reader thread. */
static void step(struct sta_batch *batch, struct reader *reader, uint32_t thread, int64_t *p_idx)
{
    if (reader->reads_left == 0) {
        if (reader->at++ % 2 == 0) {
            call(batch, reader, 6, thread, log_normal(90000, 0.4), p_idx);
            reader->image++;
            reader->file = (unsigned)(random_bits() % FILES);
            reader->fd = 20 + (unsigned)(random_bits() % 12);
            set(batch, KEY_ret, reader->fd);
            call(batch, reader, 0, thread, log_normal(900, 0.6), p_idx);
            reader->reads_left = 20 + (unsigned)(random_bits() % 60);
            reader->offset = 0;
            return;
        }
        set(batch, KEY_ret, 0);
        set(batch, KEY_fd, reader->fd);
        call(batch, reader, 3, thread, log_normal(30, 0.5), p_idx);
        call(batch, reader, 5, thread, log_normal(12, 0.5), p_idx);
        return;
    }
    bool seek = random_bits() % 4 == 0;
    int64_t size = random_bits() % 10 ? 262144 : 4194304;
    set(batch, KEY_fd, reader->fd);
    set(batch, KEY_offset, reader->offset);
    set(batch, KEY_ret, seek ? reader->offset : size);
    if (!seek) {
        set(batch, KEY_count, size);
        reader->offset += size;
        reader->reads_left--;
    }
    call(batch, reader, seek ? 1 : 2, thread,
         seek ? 1 + (int64_t)(random_bits() % 3) : log_normal((double)size / 900, 0.8), p_idx);
}

static void intern(struct sta_tables *tables)
{
    for (unsigned n = 0; n < NAMES; n++)
        sta_dictionary_intern(sta_tables_names(tables), calls[n].name, strlen(calls[n].name));
    for (unsigned c = 0; c < 3; c++)
        sta_dictionary_intern(sta_tables_cats(tables),
                              calls[c == 0   ? 0
                                    : c == 1 ? 4
                                             : 6]
                                  .cat,
                              strlen(calls[c == 0   ? 0
                                           : c == 1 ? 4
                                                    : 6]
                                         .cat));
    for (unsigned f = 0; f < FILES; f++) {
        char text[80];
        int length = snprintf(text, sizeof text, "n/p/lustre/dlio/unet3d/train/img_%04u_of_%d.npz", f, FILES);
        sta_dictionary_intern(sta_tables_file_refs(tables), text, (size_t)length);
    }
    for (unsigned k = 0; k < KEYS; k++)
        sta_tables_intern_key(tables, key_names[k], strlen(key_names[k]));
    for (unsigned t = 0; t < RANKS * THREADS; t++)
        sta_tables_intern_thread(
            tables, (struct sta_thread){.pid = 1000 + t / THREADS, .tid = 5000 + t, .host = STA_NO_CODE});
}

static void init_batch(struct sta_batch *batch)
{
    sta_batch_reserve(batch, CHUNK + 4);
    for (unsigned k = batch->args_count; k < KEYS; k++) {
        STA_GROW(batch->args, batch->args_capacity, k + 1);
        batch->args[k] = (struct sta_args_column){.key = k};
        batch->args_count++;
    }
}

/* Writes the trace chunk by chunk, half of the ranks by each worker.  Return: seconds spent in the store. */
static double write_trace(struct sta_writer *writer, size_t events, double *publish)
{
    struct reader readers[RANKS][THREADS] = {0};
    int64_t p_idx[RANKS] = {0};
    struct sta_batch batches[WORKERS] = {0};
    struct sta_error err = STA_ERROR_INIT;
    double spent = 0;
    uint64_t line = 1;
    intern(sta_writer_tables(writer));
    for (unsigned r = 0; r < RANKS; r++) {
        char path[32];
        snprintf(path, sizeof path, "trace-%u-of-%d.pfw.gz", r, RANKS);
        sta_writer_add_source(writer, path);
        for (unsigned t = 0; t < THREADS; t++)
            readers[r][t] = (struct reader){
                .now = INT64_C(1744611914284009) + (int64_t)(random_bits() % 100000), .at = 0};
    }
    for (size_t made = 0; made < events; line += CHUNK)
        for (unsigned r = 0; r < RANKS; r++) {
            struct sta_batch *batch = &batches[r % WORKERS];
            init_batch(batch);
            while (batch->count < CHUNK) {
                unsigned next = 0;
                for (unsigned t = 1; t < THREADS; t++)
                    next = readers[r][t].now < readers[r][next].now ? t : next;
                step(batch, &readers[r][next], r * THREADS + next, &p_idx[r]);
            }
            made += batch->count;
            batch->first_line = line;
            double start = seconds();
            if (sta_writer_add(writer, r % WORKERS, r, batch, &err) != STA_OK)
                die(&err);
            spent += seconds() - start;
            sta_batch_clear(batch);
        }
    for (unsigned w = 0; w < WORKERS; w++)
        sta_batch_fini(&batches[w]);
    double start = seconds();
    if (sta_writer_publish(writer, &err) != STA_OK)
        die(&err);
    *publish = seconds() - start;
    return spent;
}

/* ---- the figures */

static const char *const column_names[] = {"ts", "dur", "name", "cat", "file", "thread", "chunk"};

static void report_column(const struct sta_snapshot *snapshot, uint32_t column, double spent)
{
    size_t bytes = 0, row_groups = sta_snapshot_row_group_count(snapshot);
    unsigned transforms[8] = {0}, layouts[4] = {0};
    for (size_t b = 0; b < row_groups; b++) {
        const struct sta_row_group *row_group = sta_snapshot_row_group(snapshot, b);
        const struct sta_segment *segment = &snapshot->segments[row_group->segment].segment;
        const struct sta_disk_column_chunk *column_chunk =
            sta_segment_column_chunk(segment, row_group->index, column);
        if (column_chunk == NULL)
            continue;
        bytes += column_chunk->payload_size;
        const unsigned char *payload = segment->bytes + column_chunk->payload_at;
        if (payload[0] == STA_VALIDITY_ALL) {
            transforms[payload[1] & 7]++;
            layouts[payload[2] & 3]++;
        }
    }
    double events = (double)sta_snapshot_info(snapshot)->events;
    printf("%-12s %8.3f B/event %8.2f ns/value  constant %u plain %u delta %u dictionary %u name %u thread "
           "%u; packed %u planes %u zstd %u\n",
           column < STA_COLUMN_ARGS ? column_names[column] : key_names[column - STA_COLUMN_ARGS],
           (double)bytes / events, spent / events * 1e9, transforms[0], transforms[1], transforms[2],
           transforms[3], transforms[4], transforms[5], layouts[0], layouts[1], layouts[2]);
}

static void report(const struct sta_snapshot *snapshot)
{
    struct sta_column_values values = {.integers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(int64_t)),
                                       .numbers = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(double)),
                                       .codes = sta_alloc_array(STA_ROW_GROUP_ROWS, sizeof(uint32_t)),
                                       .kinds = sta_alloc(STA_ROW_GROUP_ROWS),
                                       .missing = sta_alloc(STA_ROW_GROUP_ROWS)};
    struct sta_error err = STA_ERROR_INIT;
    double spent[STA_COLUMN_ARGS + KEYS] = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (size_t b = 0; b < sta_snapshot_row_group_count(snapshot); b++)
            for (uint32_t column = 0; column < STA_COLUMN_ARGS + KEYS; column++) {
                double start = seconds();
                if (sta_row_group_read(snapshot, sta_snapshot_row_group(snapshot, b), column, &values,
                                       &err) != STA_OK)
                    die(&err);
                spent[column] += (seconds() - start) / ROUNDS;
            }
    for (uint32_t column = 0; column < STA_COLUMN_ARGS + KEYS; column++)
        report_column(snapshot, column, spent[column]);
    free(values.integers);
    free(values.numbers);
    free(values.codes);
    free(values.kinds);
    free(values.missing);
}

int main(int argc, char **argv)
{
    size_t events = (size_t)((argc > 1 ? atof(argv[1]) : 2) * 1e6);
    char folder[256];
    struct sta_error err = STA_ERROR_INIT;
    struct sta_store *store;
    struct sta_writer *writer = NULL;
    struct sta_snapshot *snapshot = NULL;
    char path[] = "/bench", name[] = "bench";
    struct sta_trace_entry entry = {.path = path, .name = name};
    unsigned cleaned;
    snprintf(folder, sizeof folder, "%s/bench-store-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if (mkdtemp(folder) == NULL)
        return 1;
    struct sta_writer_options options = {.workers = WORKERS, .memory = (size_t)1 << 30};
    if (sta_store_open(folder, &store, &cleaned, &err) != STA_OK ||
        sta_store_add(store, &entry, &err) != STA_OK ||
        sta_writer_begin(store, entry.id, NULL, NULL, &options, &writer, &err) != STA_OK)
        die(&err);
    double publish, spent = write_trace(writer, events, &publish);
    double start = seconds();
    if (sta_snapshot_open(store, entry.id, &snapshot, &err) != STA_OK)
        die(&err);
    double opened = seconds() - start;
    double count = (double)sta_snapshot_info(snapshot)->events;
    printf("%.0f events, %zu blocks in %u segments\n", count, sta_snapshot_row_group_count(snapshot),
           snapshot->segment_count);
    printf("add %.1f ns/event on one core, publish %.1f ms, open %.2f ms, %.3f B/event on disk\n",
           spent / count * 1e9, publish * 1e3, opened * 1e3,
           (double)sta_snapshot_info(snapshot)->store_bytes / count);
    report(snapshot);
    sta_snapshot_release(snapshot);
    sta_store_close(store);
    return sta_tree_remove(folder, &err) == STA_OK ? 0 : 1;
}

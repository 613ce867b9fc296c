/* generator.h - strata-generate: traces as a DLIO benchmark on DFTracer would write them, with known totals.
 *
 * It shares no code with the daemon, so that its totals are a second opinion.  Everything it does follows
 * from the options: the same options give the same bytes, whatever the number of threads.
 *
 *   options.c   the command line
 *   kinds.c     every kind of event: name, category, args in the order of the real tracer, layers
 *   output.c    one trace file: buffer, gzip
 *   process.c   one traced process: writes its events, adds them to the totals
 *   workload.c  which ranks and files make a task; the order of things
 *   rank.c      a rank and its readers
 *   steps.c, sample.c, calls.c: what they do, how a file is read, how a call is written
 *   faults.c    lines that are wrong or unusual in a known way
 *   intervals.c unions of intervals, for busy and exposed time
 *   totals.c    what was written: sums, and their JSON */
#ifndef STRATA_GENERATOR_H
#define STRATA_GENERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- options.c */

enum dialect { DIALECT_HASHED, DIALECT_PLAIN, DIALECT_MIXED };
enum shape { SHAPE_DLIO, SHAPE_AI };
enum gzip_mode { GZIP_NONE, GZIP_ONE, GZIP_MANY };

/* X(id, name, what it is) */
#define FAULT_LIST(X)                                                                                        \
    X(CUT, "cut", "an object cut off inside a value: malformed")                                             \
    X(BAD_ESCAPE, "bad-escape", "an escape that JSON does not know: malformed")                              \
    X(NOT_OBJECT, "not-object", "a line that is no object: malformed")                                       \
    X(WRONG_TYPE, "wrong-type", "a ts that is no number: malformed")                                         \
    X(DEEP, "deep", "a value nested 5,000 deep: left out")                                                   \
    X(LONG, "long", "a line of more than 16 MiB: malformed")                                                 \
    X(CONTROL, "control", "a raw control character in a string: repaired")                                   \
    X(BAD_UTF8, "bad-utf8", "bytes that are not UTF-8 in a string: repaired")                                \
    X(GLUED, "glued", "two objects on one line: two lines, two events")                                      \
    X(BLANK, "blank", "a line of blanks")                                                                    \
    X(UNKNOWN_PH, "unknown-ph", "an object of another ph: other")                                            \
    X(COUNTER, "counter", "a counter record")                                                                \
    X(ODD, "odd", "an event in unusual spelling: key order, blanks, escapes, numbers as text, a comma")      \
    X(UNRESOLVED, "unresolved", "an event whose file hash no line defines")

enum fault {
#define X(id, name, help) FAULT_##id,
    FAULT_LIST(X)
#undef X
        FAULTS
};

struct options {
    const char *folder;
    uint64_t events, seed;
    unsigned hosts, ranks, workers, epochs, files, output_files, threads;
    int level; /* of gzip */
    enum dialect dialect;
    enum shape shape;
    enum gzip_mode gzip;
    double overlap; /* negative: as it comes */
    uint64_t faults[FAULTS];
    bool truncate; /* leave the last gzip file without its end */
    bool together; /* ranks end their steps together */
};

/** Reads the command line; prints what is wrong and exits with 2. */
void options_read(struct options *options, int argc, char **argv);

/* ---- random numbers: splitmix64 */

struct random {
    uint64_t state;
};

static inline uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t random_next(struct random *random)
{
    return mix64(random->state += UINT64_C(0x9e3779b97f4a7c15));
}

/** A number in [0, bound). */
static inline uint64_t random_below(struct random *random, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)random_next(random) * bound) >> 64);
}

/** A duration around @typical microseconds, with the long tail that I/O has. */
int64_t random_duration(struct random *random, int64_t typical);

/* ---- kinds.c */

enum dlio_layer {
    DLIO_APP,
    DLIO_TRAINING,
    DLIO_COMPUTE,
    DLIO_FETCH_DATA,
    DLIO_DATA_LOADER,
    DLIO_DATA_LOADER_FORK,
    DLIO_READER,
    DLIO_READER_POSIX_LUSTRE,
    DLIO_CHECKPOINT,
    DLIO_CHECKPOINT_POSIX_LUSTRE,
    DLIO_CHECKPOINT_POSIX_SSD,
    DLIO_OTHER_POSIX,
    DLIO_LAYERS
};
enum ai_layer {
    AI_APP,
    AI_TRAINING,
    AI_EPOCH,
    AI_COMPUTE,
    AI_FETCH_DATA,
    AI_CHECKPOINT,
    AI_COMM,
    AI_DEVICE,
    AI_DATA_LOADER,
    AI_DATA_LOADER_FORK,
    AI_READER,
    AI_READER_POSIX,
    AI_CHECKPOINT_POSIX,
    AI_POSIX,
    AI_LAYERS
};
#define LAYERS_LIMIT 14

struct shape_layers {
    unsigned count, compute;
    uint32_t above_compute; /* layers that hold compute: no exposed time */
    const char *names[LAYERS_LIMIT];
    uint32_t by_file_class[6]; /* layers of a posix event, by enum file_class */
    uint32_t fork;             /* layers of a fork on top */
};
extern const struct shape_layers shape_layers[2];

/* Where a file lies decides how the presets refine an event's category. */
enum file_class {
    FILE_NONE,
    FILE_DATA,
    FILE_DATA_FOLDER,
    FILE_CHECKPOINT_LUSTRE,
    FILE_CHECKPOINT_SSD,
    FILE_SYSTEM
};

/* A file is named by its class and a number within it. */
static inline uint64_t file_id(enum file_class class, uint64_t number)
{
    return (uint64_t) class << 56 | number;
}
static inline enum file_class file_class_of(uint64_t id)
{
    return (enum file_class)(id >> 56);
}

/* X(id, letter, key, in quotes when hashed, in quotes when plain): the letters make the templates of
 * kinds.c */
// clang-format off
#define ARG_LIST(X) \
    X(PARENT, 'p', "p_idx", 0, 0) X(LEVEL, 'l', "level", 0, 0) X(RET, 'r', "ret", 0, 1) \
    X(COUNT, 'c', "count", 0, 1) X(OFFSET, 'o', "offset", 0, 1) X(FD, 'd', "fd", 0, 0) \
    X(FLAGS, 'g', "flags", 0, 0) X(MODE, 'm', "mode", 0, 0) X(WHENCE, 'w', "whence", 0, 0) \
    X(EPOCH, 'e', "epoch", 1, 0) X(STEP, 's', "step", 1, 0) X(IMAGE, 'i', "image_idx", 1, 0) \
    X(IMAGE_SIZE, 'z', "image_size", 1, 0) X(PPID, 'P', "ppid", 0, 0) \
    X(NUM_EVENTS, 'n', "num_events", 0, 0) X(VERSION, 'v', "version", 0, 0) \
    X(CMD_HASH, 'C', "cmd_hash", 0, 0) X(EXEC_HASH, 'E', "exec_hash", 0, 0)
// clang-format on

enum arg {
#define X(id, letter, key, hashed, plain) ARG_##id,
    ARG_LIST(X)
#undef X
        ARGS
};

#define KIND_POSIX 1u   /* io: its file decides the layers */
#define KIND_SIZED 2u   /* a read or write: args.ret is its size */
#define KIND_DROPPED 4u /* the presets' function filter drops it */

/* Ids of all kinds; kinds.c holds what they are, in this order. */
// clang-format off
#define KIND_LIST(X) \
    X(START) X(END) X(BENCHMARK_INIT) X(INITIALIZE) X(DERIVE) X(GET_URI) X(WALK_NODE) X(GET_NODE) \
    X(OPENDIR) X(XSTAT64) X(RUN) X(TRAIN) X(LOADER_READ) X(LOADER_NEXT) X(LOADER_FINALIZE) \
    X(RECONFIGURE) X(FORK) X(WORKER_INIT) X(LOOP_ITER) X(LOOP_YIELD) X(TRACE_OBJECT) X(COMPUTE) \
    X(GETITEM) X(READ_INDEX) X(READER_OPEN) X(GET_SAMPLE) X(PREPROCESS) X(READER_CLOSE) X(OPEN) \
    X(FXSTAT) X(LXSTAT) X(PREAD) X(CLOSE) X(OPEN64) X(FXSTAT64) X(LSEEK64) X(READ) X(WRITE) X(FSYNC) \
    X(MKDIR) X(SAVE_CHECKPOINT) X(SAVE_STATE) X(AI_ROOT) X(AI_TRAIN) X(AI_EPOCH) X(AI_FETCH) \
    X(AI_TRANSFER) X(AI_COMPUTE) X(AI_FORWARD) X(AI_BACKWARD) X(AI_ALL_REDUCE) X(AI_STEP) X(AI_ITEM) \
    X(AI_PREPROCESS) X(AI_READER_OPEN) X(AI_GET_SAMPLE) X(AI_CAPTURE) X(FAULT_EVENT)
// clang-format on

enum kind {
#define X(id) KIND_##id,
    KIND_LIST(X)
#undef X
        KINDS
};

struct kind_info {
    const char *name, *cat;
    const char *hashed, *plain; /* templates of args: letters of ARG_LIST, F for the file, T for
                                   "epoch":"train", D for the start event's date */
    unsigned flags;
    uint32_t layers; /* of its own shape */
};
extern const struct kind_info kind_infos[KINDS];

/* ---- intervals.c */

struct interval {
    int64_t start, end;
};
struct intervals {
    struct interval *items, *spare;
    size_t count, capacity;
};
void intervals_add(struct intervals *set, int64_t start, int64_t end); /* an empty one is left out */
/** Sorts, and joins what overlaps or touches. */
void intervals_unite(struct intervals *set);
/** Of united sets. */
int64_t intervals_measure(const struct intervals *set);
int64_t intervals_measure_minus(const struct intervals *set, const struct intervals *minus);
void intervals_fini(struct intervals *set);

/* ---- totals.c */

// clang-format off
#define LEDGER_LIST(X) \
    X(bytes) X(json_bytes) X(lines) X(events) X(metadata) X(counters) X(other) X(framing) X(blank) \
    X(malformed) X(repaired)
// clang-format on

/* Further counts that are plain sums. */
// clang-format off
#define COUNT_LIST(X) \
    X(dropped_by_file) X(dropped_by_function) X(unmatched) X(multiple) X(unresolved) X(processes) \
    X(threads) X(truncated)
// clang-format on

struct sums {
    uint64_t count;
    int64_t time, size;
};

struct layer_totals {
    struct sums sums;
    int64_t busy_group_sum, exposed_group_sum, exposed_group_max;
};

/* A set of file ids. */
struct idset {
    uint64_t *slots;
    size_t count, capacity;
};
/** Return: whether @id was new. */
bool idset_add(struct idset *set, uint64_t id);
void idset_fini(struct idset *set);

struct totals {
#define X(name) uint64_t name;
    LEDGER_LIST(X)
    COUNT_LIST(X)
#undef X
    struct sums kinds[KINDS];
    struct layer_totals layers[LAYERS_LIMIT];
    uint64_t faults[FAULTS];
    int64_t first_ts, last_te;
    struct idset files;
};
void totals_init(struct totals *totals);
void totals_add(struct totals *sum, const struct totals *part);
void totals_print(const struct totals *totals, const struct options *options, unsigned hosts,
                  unsigned outputs);
void totals_fini(struct totals *totals);

/* ---- output.c */

struct output;
struct output *output_open(const struct options *options, unsigned index, unsigned count);
/** Space for @size more bytes of the current line.  Return: where to write. */
char *output_reserve(struct output *output, size_t size);
/** Ends a line at @end, a pointer into what was reserved; adds the newline. */
void output_end_line(struct output *output, char *end);
uint64_t output_lines(const struct output *output);
/** Ends the file; adds its bytes to @totals.  @whole: false leaves a gzip file without its end, at a line's
 * end. */
void output_close(struct output *output, bool whole, struct totals *totals);

/* ---- process.c */

struct rank;
struct fault_plan;

struct process {
    const struct options *options;
    struct output *output;
    struct fault_plan *plan; /* of the output */
    struct totals *totals;
    struct rank *rank;
    enum dialect dialect;
    unsigned host;
    bool hexadecimal; /* hashes as strings of hexadecimal digits */
    int64_t pid, tid;
    uint64_t next_id;
    struct random random;
    struct idset defined; /* files with a metadata line */
    char *middles;        /* per kind: from "name" to "ts": */
    uint16_t middle_sizes[KINDS];
    char head[160]; /* from after dur to the host */
    size_t head_size;
};

struct call {
    enum kind kind;
    int64_t ts, dur;
    uint64_t id;
    uint64_t file; /* 0: none */
    int64_t args[ARGS];
};

void process_init(struct process *process);
void process_fini(struct process *process);
/** The metadata lines that a tracer begins with (hashed dialect). */
void process_introduce(struct process *process);
/** Writes one event. */
void process_call(struct process *process, const struct call *call);
/** Writes a line as it is, without counting it. */
void process_line(struct process *process, const char *text, size_t size);
/** Name of a file; @text holds at least 160 bytes. */
size_t file_name(const struct options *options, uint64_t id, char *text);
uint64_t file_hash(const struct options *options, uint64_t id);
char *put_number(char *at, int64_t value);

/* ---- faults.c */

/* Which faults one output still has to show, and when. */
struct fault_plan {
    uint64_t left[FAULTS], total, next_line, every;
};
void fault_plan_init(struct fault_plan *plan, const struct options *options, unsigned output,
                     unsigned outputs, uint64_t expected_lines);
/** Writes the faults that are due, as lines of @process. */
void fault_plan_run(struct fault_plan *plan, struct process *process, bool all);

/* ---- workload.c */

/** How many tasks there are: a task is one file with its ranks, or one rank with its files. */
unsigned workload_tasks(const struct options *options);
unsigned workload_outputs(const struct options *options);
/** Everything that the ranks of one task do: writes their files, adds to @totals. */
void workload_run(const struct options *options, unsigned task, struct totals *totals);
/** Adds an event's interval to its layers in the rank's current window. */
void rank_note(struct rank *rank, uint32_t layers, int64_t ts, int64_t dur);

#endif

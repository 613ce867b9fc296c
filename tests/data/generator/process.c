/* process.c - one traced process: renders its events as lines and adds them to the totals.
 *
 * What is the same for all events of a kind in a process is rendered once ("middles"), so that a line is a
 * few copies and numbers. */
#include "generator.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIDDLE_SIZE = 160, LINE_CAPACITY = 2048, NAME_SIZE = 160 };

int64_t random_duration(struct random *random, int64_t typical)
{
    uint64_t bits = random_next(random);
    int64_t value = typical - typical / 4 + (int64_t)((bits & 0xffff) * (uint64_t)typical >> 17);
    if ((bits >> 16 & 63) == 0)
        value += (int64_t)((bits >> 22 & 0xff) * (uint64_t)typical >> 4);
    return value > 0 ? value : 1;
}

/* ---- names and hashes */

size_t file_name(const struct options *options, uint64_t id, char *text)
{
    uint64_t number = id & UINT64_C(0xffffffffffffff);
    switch (file_class_of(id)) {
    case FILE_DATA:
        return (size_t)snprintf(
            text, NAME_SIZE, "/p/lustre3/lab/dlio-benchmark/unet3d_h5/data/train/img_%0*" PRIu64 "_of_%u.h5",
            options->files < 1000 ? 3 : 6, number, options->files);
    case FILE_DATA_FOLDER:
        return (size_t)snprintf(text, NAME_SIZE, "/p/lustre3/lab/dlio-benchmark/unet3d_h5/data/%s",
                                number ? "valid" : "train");
    case FILE_CHECKPOINT_LUSTRE:
        return (size_t)snprintf(text, NAME_SIZE,
                                "/p/lustre3/lab/dlio-benchmark/unet3d_h5/checkpoint/global_epoch%" PRIu64
                                "_step%" PRIu64 "/layer-%" PRIu64 ".pt",
                                number >> 40, number >> 16 & 0xffffff, number & 0xffff);
    case FILE_CHECKPOINT_SSD:
        return (size_t)snprintf(text, NAME_SIZE,
                                "/l/ssd/lab/dlio/checkpoint/global_epoch%" PRIu64 "_step%" PRIu64
                                "/rank-%" PRIu64 ".pt",
                                number >> 40, number >> 16 & 0xffffff, number & 0xffff);
    case FILE_SYSTEM:
        return (size_t)snprintf(text, NAME_SIZE, "/usr/lib64/python3.11/lib-dynload/module%" PRIu64 ".so",
                                number);
    default:
        return 0;
    }
}

uint64_t file_hash(const struct options *options, uint64_t id)
{
    return mix64(id ^ mix64(options->seed + 77));
}

char *put_number(char *at, int64_t value)
{
    char digits[24];
    int count = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[count++] = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *at++ = '-';
    while (count)
        *at++ = digits[--count];
    return at;
}

static char *put_bytes(char *at, const char *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static char *put_text(char *at, const char *text)
{
    return put_bytes(at, text, strlen(text));
}

static char *put_unsigned(char *at, uint64_t value)
{
    if (value <= INT64_MAX)
        return put_number(at, (int64_t)value);
    at = put_number(at, (int64_t)(value / 10));
    *at++ = (char)('0' + value % 10);
    return at;
}

static char *put_hash(const struct process *process, char *at, uint64_t hash)
{
    if (!process->hexadecimal)
        return put_unsigned(at, hash);
    return at + sprintf(at, "\"%016" PRIx64 "\"", hash);
}

static uint64_t host_hash(const struct process *process)
{
    return mix64(process->host + mix64(process->options->seed + 5));
}

/* ---- lines that are no events */

static void metadata(struct process *process, const char *name, const char *text, uint64_t hash,
                     const char *value)
{
    char *at = output_reserve(process->output, LINE_CAPACITY);
    at += sprintf(at,
                  "{\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"dftracer\",\"pid\":%" PRId64
                  ",\"tid\":%" PRId64 ",\"ph\":\"M\",\"args\":{\"hhash\":",
                  process->next_id++, name, process->pid, process->tid);
    at = put_hash(process, at, host_hash(process));
    at += sprintf(at, ",\"name\":\"%s\",\"value\":", text);
    at = value ? at + sprintf(at, "\"%s\"", value) : put_hash(process, at, hash);
    at = put_text(at, "}}");
    output_end_line(process->output, at);
    process->totals->metadata++;
}

static void host_text(const struct process *process, char *text)
{
    sprintf(text, "corona%03u", process->host + 1);
}

static void render_middles(struct process *process)
{
    process->middles = malloc((size_t)KINDS * MIDDLE_SIZE);
    if (!process->middles)
        abort();
    const char *quote = process->dialect == DIALECT_PLAIN ? "\"" : "";
    for (int i = 0; i < KINDS; i++)
        process->middle_sizes[i] = (uint16_t)snprintf(process->middles + (size_t)i * MIDDLE_SIZE, MIDDLE_SIZE,
                                                      "%s,\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%s%" PRId64
                                                      "%s,\"tid\":%s%" PRId64 "%s,\"ts\":%s",
                                                      quote, kind_infos[i].name, kind_infos[i].cat, quote,
                                                      process->pid, quote, quote, process->tid, quote, quote);
}

void process_init(struct process *process)
{
    char host[32];
    host_text(process, host);
    if (process->dialect == DIALECT_PLAIN) {
        process->head_size =
            (size_t)sprintf(process->head, "\",\"ph\":\"X\",\"args\":{\"hostname\":\"%s\"", host);
    } else {
        char *at = put_text(process->head, ",\"ph\":\"X\",\"args\":{\"hhash\":");
        process->head_size = (size_t)(put_hash(process, at, host_hash(process)) - process->head);
    }
    render_middles(process);
    process->next_id = process->dialect == DIALECT_PLAIN ? 0 : 1;
}

void process_fini(struct process *process)
{
    free(process->middles);
    idset_fini(&process->defined);
}

void process_introduce(struct process *process)
{
    char host[32], tid[32];
    host_text(process, host);
    sprintf(tid, "%" PRId64, process->tid);
    metadata(process, "HH", host, host_hash(process), NULL);
    metadata(process, "thread_name", tid, 0, "thread_name");
    metadata(process, "SH",
             "/lab/venv/bin/python;/lab/venv/bin/"
             "dlio_benchmark;workload=unet3d_v100;++workload.dataset.format=hdf5",
             UINT64_C(17868160079272185648), NULL);
    metadata(process, "SH", "dlio_benchmark", UINT64_C(15997048988198709261), NULL);
    metadata(process, "PR", "core_affinity", 0, "0-47");
}

void process_line(struct process *process, const char *text, size_t size)
{
    char *at = output_reserve(process->output, size + 1);
    output_end_line(process->output, put_bytes(at, text, size));
}

/* ---- events */

static const struct {
    const char *key;
    bool quoted[2]; /* by enum dialect */
} arg_infos[ARGS] = {
#define X(id, letter, key, hashed, plain) [ARG_##id] = {",\"" key "\":", {hashed, plain}},
    ARG_LIST(X)
#undef X
};

static const unsigned char arg_of_letter[128] = {
#define X(id, letter, key, hashed, plain) [letter] = ARG_##id,
    ARG_LIST(X)
#undef X
};

static char *put_arg(const struct process *process, char *at, enum arg arg, int64_t value)
{
    bool quoted = arg_infos[arg].quoted[process->dialect];
    at = put_text(at, arg_infos[arg].key);
    if (quoted)
        *at++ = '"';
    at = arg == ARG_CMD_HASH || arg == ARG_EXEC_HASH ? put_unsigned(at, (uint64_t)value)
                                                     : put_number(at, value);
    if (quoted)
        *at++ = '"';
    return at;
}

static char *put_file(const struct process *process, char *at, uint64_t file)
{
    if (process->dialect == DIALECT_HASHED) {
        at = put_text(at, ",\"fhash\":");
        return put_hash(process, at, file_hash(process->options, file));
    }
    at = put_text(at, ",\"fname\":\"");
    at += file_name(process->options, file, at);
    *at++ = '"';
    return at;
}

static char *put_args(const struct process *process, char *at, const struct call *call)
{
    const struct kind_info *info = &kind_infos[call->kind];
    for (const char *c = process->dialect == DIALECT_PLAIN ? info->plain : info->hashed; *c; c++) {
        if (*c == 'F')
            at = put_file(process, at, call->file);
        else if (*c == 'T')
            at = put_text(at, ",\"epoch\":\"train\"");
        else if (*c == 'D')
            at = put_text(at, ",\"date\":\"Sun Apr 13 23:25:12 2025\"");
        else
            at = put_arg(process, at, arg_of_letter[(unsigned char)*c],
                         call->args[arg_of_letter[(unsigned char)*c]]);
    }
    return at;
}

static void count_layers(struct process *process, const struct call *call, int64_t size)
{
    const struct kind_info *info = &kind_infos[call->kind];
    const struct shape_layers *shape = &shape_layers[process->options->shape];
    uint32_t layers = info->layers;
    if (file_class_of(call->file) == FILE_SYSTEM) {
        process->totals->dropped_by_file++;
        return;
    }
    if (info->flags & KIND_DROPPED) {
        process->totals->dropped_by_function++;
        return;
    }
    if (info->flags & KIND_POSIX)
        layers |=
            shape->by_file_class[file_class_of(call->file)] | (call->kind == KIND_FORK ? shape->fork : 0);
    process->totals->unmatched += !layers;
    process->totals->multiple += (layers & (layers - 1)) != 0;
    for (uint32_t left = layers; left; left &= left - 1) {
        struct sums *sums = &process->totals->layers[__builtin_ctz(left)].sums;
        sums->count++;
        sums->time += call->dur;
        sums->size += size;
    }
    if (layers)
        rank_note(process->rank, layers, call->ts, call->dur);
}

static void count(struct process *process, const struct call *call)
{
    struct totals *totals = process->totals;
    struct sums *sums = &totals->kinds[call->kind];
    int64_t size =
        kind_infos[call->kind].flags & KIND_SIZED && call->args[ARG_RET] > 0 ? call->args[ARG_RET] : 0;
    sums->count++;
    sums->time += call->dur;
    sums->size += size;
    totals->events++;
    if (call->ts < totals->first_ts)
        totals->first_ts = call->ts;
    if (call->ts + call->dur > totals->last_te)
        totals->last_te = call->ts + call->dur;
    if (call->file)
        idset_add(&totals->files, call->file);
    count_layers(process, call, size);
}

void process_call(struct process *process, const struct call *call)
{
    if (call->file && process->dialect == DIALECT_HASHED && idset_add(&process->defined, call->file)) {
        char name[NAME_SIZE];
        file_name(process->options, call->file, name);
        metadata(process, "FH", name, file_hash(process->options, call->file), NULL);
    }
    char *at = output_reserve(process->output, LINE_CAPACITY);
    at = put_text(at, process->dialect == DIALECT_PLAIN ? "{\"id\":\"" : "{\"id\":");
    at = put_number(at, (int64_t)call->id);
    at =
        put_bytes(at, process->middles + (size_t)call->kind * MIDDLE_SIZE, process->middle_sizes[call->kind]);
    at = put_number(at, call->ts);
    at = put_text(at, process->dialect == DIALECT_PLAIN ? "\",\"dur\":\"" : ",\"dur\":");
    at = put_number(at, call->dur);
    at = put_bytes(at, process->head, process->head_size);
    at = put_args(process, at, call);
    at = put_text(at, "}}");
    output_end_line(process->output, at);
    count(process, call);
}

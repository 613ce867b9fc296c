/* sample.c - one file of the dataset, opened, read and closed by a reader: the calls nest as in the
 * benchmark. */
#include "rank.h"

struct sample {
    uint64_t file;
    int64_t image, size;
    unsigned step, epoch, reads;
    int level;
};

static void set_sample_args(struct call *call, const struct sample *sample, int64_t image_size)
{
    call->args[ARG_IMAGE] = sample->image;
    call->args[ARG_IMAGE_SIZE] = image_size;
    call->args[ARG_STEP] = sample->step;
    call->args[ARG_EPOCH] = sample->epoch;
}

static void open_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    bool plain = process->dialect == DIALECT_PLAIN;
    struct call call = file_call(plain ? KIND_OPEN64 : KIND_OPEN, sample->file, 19);
    call.args[ARG_RET] = 19;
    call.args[ARG_FLAGS] = plain ? 524288 : 0;
    simple(process, call, now, 556, parent, sample->level + 2);
    simple(process, file_call(plain ? KIND_FXSTAT64 : KIND_FXSTAT, sample->file, 19), now, 180, parent,
           sample->level + 2);
    if (!plain)
        simple(process, file_call(KIND_LXSTAT, sample->file, 19), now, 38, parent, sample->level + 2);
}

/* Small reads of headers and the index, then the bulk in one or more. */
static void read_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    static const int64_t heads[] = {8, 8, 16, 96, 512, 328, 272, 512, 2048, 120, 544, 1024};
    bool plain = process->dialect == DIALECT_PLAIN;
    int64_t offset = 0, bulk = sample->reads > 9 ? 3 : 1;
    for (unsigned i = 0; i < sample->reads; i++) {
        int64_t after = (int64_t)(sample->reads - i);
        int64_t size = after > bulk ? heads[i % 12] : (sample->size - offset) / after;
        struct call call = file_call(plain ? KIND_READ : KIND_PREAD, sample->file, 19);
        if (plain) {
            struct call seek = file_call(KIND_LSEEK64, sample->file, 19);
            seek.args[ARG_RET] = seek.args[ARG_OFFSET] = offset;
            simple(process, seek, now, 3, parent, sample->level + 2);
        }
        call.args[ARG_RET] = call.args[ARG_COUNT] = size;
        call.args[ARG_OFFSET] = offset;
        simple(process, call, now, size < 4096 ? 24 : size / 1500 + 40, parent, sample->level + 2);
        offset += size;
    }
}

static void close_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    simple(process, file_call(KIND_CLOSE, sample->file, 19), now, 680, parent, sample->level + 2);
}

static void read_and_close_sample(struct process *process, const struct sample *sample, int64_t *now,
                                  uint64_t parent)
{
    read_sample(process, sample, now, parent);
    close_sample(process, sample, now, parent);
}

typedef void body(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent);

/* A call of the reader that holds the POSIX calls of @inside. */
static void around(struct process *process, enum kind kind, body *inside, const struct sample *sample,
                   int64_t *now, uint64_t parent, int level)
{
    struct call call = call_at(process, kind, *now += 60 + (int64_t)random_below(&process->random, 70));
    inside(process, sample, now, call.id);
    set_sample_args(&call, sample, inside == open_sample ? 25 : sample->size);
    finish(process, &call, *now, parent, level);
}

static void preprocess(struct process *process, enum kind kind, const struct sample *sample, int64_t *now,
                       int64_t typical, uint64_t parent, int level)
{
    struct call call = {.kind = kind};
    set_sample_args(&call, sample, 0);
    simple(process, call, now, typical, parent, level);
}

static void dlio_item(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    int level = sample->level + 2;
    struct call index =
        call_at(process, KIND_READ_INDEX, *now += 80 + (int64_t)random_below(&process->random, 60));
    around(process, KIND_READER_OPEN, open_sample, sample, now, index.id, level);
    around(process, KIND_GET_SAMPLE, read_sample, sample, now, index.id, level);
    preprocess(process, KIND_PREPROCESS, sample, now, 20, index.id, level);
    around(process, KIND_READER_CLOSE, close_sample, sample, now, index.id, level);
    set_sample_args(&index, sample, sample->size);
    finish(process, &index, *now += 8, parent, level - 1);
}

static void ai_item(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    int level = sample->level + 1;
    around(process, KIND_AI_READER_OPEN, open_sample, sample, now, parent, level);
    around(process, KIND_AI_GET_SAMPLE, read_and_close_sample, sample, now, parent, level);
    preprocess(process, KIND_AI_PREPROCESS, sample, now, 2400, parent, level);
}

void fetch_sample(struct rank *rank, struct process *process, int64_t *now, uint64_t parent)
{
    uint64_t image = random_below(&process->random, rank->options->files);
    uint64_t traits = mix64(image ^ rank->options->seed);
    struct sample sample = {.file = file_id(FILE_DATA, image),
                            .image = (int64_t)image,
                            .size = 96000000 + (int64_t)(traits % 100000000),
                            .step = rank->step,
                            .epoch = rank->epoch + 1,
                            .reads = 5 + (unsigned)(traits >> 40) % (PREADS_MOST - 4),
                            .level = 8};
    bool ai = rank->options->shape == SHAPE_AI;
    struct call item = call_at(process, ai ? KIND_AI_ITEM : KIND_GETITEM, *now);
    (ai ? ai_item : dlio_item)(process, &sample, now, item.id);
    set_sample_args(&item, &sample, 0);
    finish(process, &item, *now += 9, parent, sample.level);
    *now += 30 + (int64_t)random_below(&process->random, 200);
}

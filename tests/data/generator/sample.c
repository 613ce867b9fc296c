/* sample.c - one file of the dataset, opened, read and closed by a reader: the calls nest as in the benchmark. */
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

static void dlio_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    int level = sample->level;
    struct call item = call_at(process, KIND_GETITEM, *now);
    struct call index =
        call_at(process, KIND_READ_INDEX, *now += 80 + (int64_t)random_below(&process->random, 60));
    struct call open =
        call_at(process, KIND_READER_OPEN, *now += 90 + (int64_t)random_below(&process->random, 70));
    open_sample(process, sample, now, open.id);
    set_sample_args(&open, sample, 25);
    finish(process, &open, *now, index.id, level + 2);
    struct call get = call_at(process, KIND_GET_SAMPLE, *now += 60);
    read_sample(process, sample, now, get.id);
    set_sample_args(&get, sample, sample->size);
    finish(process, &get, *now, index.id, level + 2);
    *now += 15;
    struct call preprocess = {.kind = KIND_PREPROCESS};
    set_sample_args(&preprocess, sample, 0);
    simple(process, preprocess, now, 20, index.id, level + 2);
    struct call closing = call_at(process, KIND_READER_CLOSE, *now += 25);
    close_sample(process, sample, now, closing.id);
    set_sample_args(&closing, sample, sample->size);
    finish(process, &closing, *now, index.id, level + 2);
    set_sample_args(&index, sample, sample->size);
    finish(process, &index, *now += 8, item.id, level + 1);
    set_sample_args(&item, sample, 0);
    finish(process, &item, *now += 9, parent, level);
    *now += 30 + (int64_t)random_below(&process->random, 200);
}

static void ai_sample(struct process *process, const struct sample *sample, int64_t *now, uint64_t parent)
{
    int level = sample->level;
    struct call item = call_at(process, KIND_AI_ITEM, *now);
    struct call open =
        call_at(process, KIND_AI_READER_OPEN, *now += 90 + (int64_t)random_below(&process->random, 70));
    open_sample(process, sample, now, open.id);
    set_sample_args(&open, sample, 25);
    finish(process, &open, *now, item.id, level + 1);
    struct call get = call_at(process, KIND_AI_GET_SAMPLE, *now += 60);
    read_sample(process, sample, now, get.id);
    close_sample(process, sample, now, get.id);
    set_sample_args(&get, sample, sample->size);
    finish(process, &get, *now, item.id, level + 1);
    struct call preprocess = {.kind = KIND_AI_PREPROCESS};
    set_sample_args(&preprocess, sample, 0);
    simple(process, preprocess, now, 2400, item.id, level + 1);
    set_sample_args(&item, sample, 0);
    finish(process, &item, *now += 9, parent, level);
    *now += 30 + (int64_t)random_below(&process->random, 200);
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
    (rank->options->shape == SHAPE_AI ? ai_sample : dlio_sample)(process, &sample, now, parent);
}

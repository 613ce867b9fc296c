/* kinds.c - every kind of event that the generator writes, after real traces of DLIO Profiler and DFTracer.
 *
 * The order of the args of a kind is the tracer's (it follows from its hash map, so it is the same for all
 * events of a kind). */
#include "generator.h"

#define D(layer) (1u << DLIO_##layer)
#define A(layer) (1u << AI_##layer)

const struct shape_layers shape_layers[2] =
    {
        [SHAPE_DLIO] =
            {
                .count = DLIO_LAYERS,
                .compute = DLIO_COMPUTE,
                .above_compute = D(APP) | D(TRAINING),
                .names = {"app", "training", "compute", "fetch_data", "data_loader", "data_loader_fork",
                          "reader", "reader_posix_lustre", "checkpoint", "checkpoint_posix_lustre",
                          "checkpoint_posix_ssd", "other_posix"},
                .by_file_class = {[FILE_NONE] = D(OTHER_POSIX),
                                  [FILE_DATA] = D(READER_POSIX_LUSTRE),
                                  [FILE_DATA_FOLDER] = D(READER_POSIX_LUSTRE),
                                  [FILE_CHECKPOINT_LUSTRE] = D(CHECKPOINT_POSIX_LUSTRE),
                                  [FILE_CHECKPOINT_SSD] = D(CHECKPOINT_POSIX_SSD)},
                .fork = D(DATA_LOADER_FORK),
            },
        [SHAPE_AI] =
            {
                .count = AI_LAYERS,
                .compute = AI_COMPUTE,
                .above_compute = A(APP) | A(TRAINING) | A(EPOCH),
                .names = {"app", "training", "epoch", "compute", "fetch_data", "checkpoint", "comm", "device",
                          "data_loader", "data_loader_fork", "reader", "reader_posix", "checkpoint_posix",
                          "posix"},
                .by_file_class = {[FILE_NONE] = A(POSIX),
                                  [FILE_DATA] = A(POSIX) | A(READER_POSIX),
                                  [FILE_DATA_FOLDER] = A(POSIX) | A(READER_POSIX),
                                  [FILE_CHECKPOINT_LUSTRE] = A(POSIX) | A(CHECKPOINT_POSIX),
                                  [FILE_CHECKPOINT_SSD] = A(POSIX) | A(CHECKPOINT_POSIX)},
                .fork = A(DATA_LOADER_FORK),
            },
};

#define POSIX(kind_name, hashed_args, plain_args, more)                                                      \
    {                                                                                                        \
        .name = kind_name, .cat = "POSIX", .hashed = hashed_args, .plain = plain_args,                       \
        .flags = KIND_POSIX | (more)                                                                         \
    }
#define CALL(kind_name, kind_cat, hashed_args, plain_args, in_layers)                                        \
    {                                                                                                        \
        .name = kind_name, .cat = kind_cat, .hashed = hashed_args, .plain = plain_args, .layers = in_layers  \
    }
#define HIDDEN(kind_name, kind_cat, hashed_args, plain_args)                                                 \
    {                                                                                                        \
        .name = kind_name, .cat = kind_cat, .hashed = hashed_args, .plain = plain_args,                      \
        .flags = KIND_DROPPED                                                                                \
    }

const struct kind_info kind_infos[KINDS] = {
    [KIND_START] = CALL("start", "dftracer", "pCElvDP", "", 0),
    [KIND_END] = CALL("end", "dftracer", "pnl", "", 0),
    [KIND_BENCHMARK_INIT] = HIDDEN("DLIOBenchmark.__init__", "dlio_benchmark", "pl", ""),
    [KIND_INITIALIZE] = HIDDEN("DLIOBenchmark.initialize", "dlio_benchmark", "pl", ""),
    [KIND_DERIVE] = CALL("ConfigArguments.derive_configurations", "config", "pl", "", 0),
    [KIND_GET_URI] = CALL("FileStorage.get_uri", "storage", "pl", "", 0),
    [KIND_WALK_NODE] = CALL("FileStorage.walk_node", "storage", "pl", "", 0),
    [KIND_GET_NODE] = CALL("FileStorage.get_node", "storage", "pl", "", 0),
    [KIND_OPENDIR] = POSIX("opendir", "pFl", "F", 0),
    [KIND_XSTAT64] = POSIX("__xstat64", "pFl", "F", 0),
    [KIND_RUN] = CALL("DLIOBenchmark.run", "dlio_benchmark", "pel", "s", D(APP)),
    [KIND_TRAIN] = CALL("DLIOBenchmark._train", "dlio_benchmark", "pel", "s", D(TRAINING)),
    [KIND_LOADER_READ] = HIDDEN("TorchDataLoader.read", "data_loader", "pTl", "e"),
    [KIND_LOADER_NEXT] = HIDDEN("TorchDataLoader.next", "data_loader", "lpsi", "e"),
    [KIND_LOADER_FINALIZE] = HIDDEN("TorchDataLoader.finalize", "data_loader", "lpsi", "e"),
    [KIND_RECONFIGURE] = CALL("ConfigArguments.reconfigure", "config", "pl", "", 0),
    [KIND_FORK] = POSIX("fork", "prl", "r", 0),
    [KIND_WORKER_INIT] = CALL("TorchDataset.worker_init", "data_loader", "pTl", "e", D(DATA_LOADER)),
    [KIND_LOOP_ITER] = CALL("loop.iter", "data_loader", "lpsi", "e", D(FETCH_DATA)),
    [KIND_LOOP_YIELD] = CALL("loop.yield", "data_loader", "lpsi", "e", 0),
    [KIND_TRACE_OBJECT] = HIDDEN("TorchFramework.trace_object", "ai_framework", "plze", ""),
    [KIND_COMPUTE] = CALL("TorchFramework.compute", "ai_framework", "plze", "", D(COMPUTE)),
    [KIND_GETITEM] = CALL("TorchDataset.__getitem__", "data_loader", "lpsi", "e", D(DATA_LOADER)),
    [KIND_READ_INDEX] = CALL("HDF5Reader.read_index", "reader", "lezpis", "ezis", D(READER)),
    [KIND_READER_OPEN] = CALL("HDF5Reader.open", "reader", "lezpis", "ezis", D(READER)),
    [KIND_GET_SAMPLE] = CALL("HDF5Reader.get_sample", "reader", "lezpis", "ezis", D(READER)),
    [KIND_PREPROCESS] = CALL("FormatReader.preprocess", "reader", "lpis", "esi", D(READER)),
    [KIND_READER_CLOSE] = CALL("HDF5Reader.close", "reader", "lezpis", "ezis", D(READER)),
    [KIND_OPEN] = POSIX("open", "plrFg", "rFg", 0),
    [KIND_FXSTAT] = POSIX("__fxstat", "plFd", "dF", 0),
    [KIND_LXSTAT] = POSIX("__lxstat", "pFl", "F", 0),
    [KIND_PREAD] = POSIX("pread", "pdFrcol", "rcoFd", KIND_SIZED),
    [KIND_CLOSE] = POSIX("close", "plrFd", "rFd", 0),
    [KIND_OPEN64] = POSIX("open64", "lgrFpm", "rFg", 0),
    [KIND_FXSTAT64] = POSIX("__fxstat64", "plFd", "dF", 0),
    [KIND_LSEEK64] = POSIX("lseek64", "pdFrwol", "rwoFd", 0),
    [KIND_READ] = POSIX("read", "plcrFd", "rcFd", KIND_SIZED),
    [KIND_WRITE] = POSIX("write", "plcrFd", "rcFd", KIND_SIZED),
    [KIND_FSYNC] = POSIX("fsync", "prFdl", "rFd", 0),
    [KIND_MKDIR] = POSIX("mkdir", "lFpm", "Fm", 0),
    [KIND_SAVE_CHECKPOINT] =
        CALL("PyTorchCheckpointing.save_checkpoint", "checkpoint", "pel", "e", D(CHECKPOINT)),
    [KIND_SAVE_STATE] = HIDDEN("PyTorchCheckpointing.save_state", "checkpoint", "pel", "e"),
    [KIND_AI_ROOT] = CALL("ai_root", "ai_root", "pl", "", A(APP)),
    [KIND_AI_TRAIN] = CALL("train", "pipeline", "pl", "", A(TRAINING)),
    [KIND_AI_EPOCH] = CALL("epoch.block", "pipeline", "pel", "e", A(EPOCH)),
    [KIND_AI_FETCH] = CALL("fetch.iter", "dataloader", "pels", "es", A(FETCH_DATA) | A(DATA_LOADER)),
    [KIND_AI_TRANSFER] = CALL("transfer", "device", "pels", "es", A(DEVICE)),
    [KIND_AI_COMPUTE] = CALL("compute", "compute", "pels", "es", A(COMPUTE)),
    [KIND_AI_FORWARD] = CALL("forward", "compute", "pels", "es", A(COMPUTE)),
    [KIND_AI_BACKWARD] = CALL("backward", "compute", "pels", "es", A(COMPUTE)),
    [KIND_AI_ALL_REDUCE] = CALL("all_reduce", "comm", "pels", "es", A(COMM)),
    [KIND_AI_STEP] = CALL("step", "compute", "pels", "es", A(COMPUTE)),
    [KIND_AI_ITEM] = CALL("item", "data", "lpsi", "esi", A(DATA_LOADER)),
    [KIND_AI_PREPROCESS] = CALL("preprocess", "data", "lpis", "esi", A(DATA_LOADER) | A(READER)),
    [KIND_AI_READER_OPEN] = CALL("NPZReader.open", "reader", "lezpis", "ezis", A(READER)),
    [KIND_AI_GET_SAMPLE] = CALL("NPZReader.get_sample", "reader", "lezpis", "ezis", A(READER)),
    [KIND_AI_CAPTURE] = CALL("capture", "checkpoint", "pel", "e", A(CHECKPOINT)),
    [KIND_FAULT_EVENT] = CALL("planted", "fault", "", "", 0),
};

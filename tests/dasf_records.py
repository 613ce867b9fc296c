"""Record files of a Dask computation of any size, as DASF's recorders write them: a Compute record for each task, and as many samples, half of them of
memory, half of resources. Standard library only; a million tasks take half a minute.

    write(folder, 1000000)
"""
import random
import struct

NAMES = ("load", "normalize", "gradient", "envelope", "store")
HOSTS, GPUS, BEGIN = 4, 2, 81234.5


def text(value):
    data = value.encode()
    return (bytes([0xa0 | len(data)]) if len(data) < 32 else b"\xd9" + bytes([len(data)])) + data


def number(value):
    return b"\xcb" + struct.pack(">d", value)


def integer(value):
    return bytes([value]) if value < 0x80 else b"\xcf" + struct.pack(">Q", value)


def array(items):
    return bytes([0x90 | len(items)]) + b"".join(items)


def record(name, stamp, members, args):
    """@members, @args: packed keys and values; members without name, timestamp and args"""
    count = len(members) // 2 + 3
    packed = bytes([0x80 | count]) + text("name") + text(name) + text("timestamp") + number(stamp) + b"".join(members) + text("args") + bytes([0x80 | len(args) // 2]) + b"".join(args)
    return struct.pack(">Q", len(packed)) + packed


def inputs_of(key, function, chunk):
    if function == 0:
        return [text("original-from-zarr-5eaf00d5eaf00d")]
    if function == 2:
        return [key(1, near) for near in (chunk - 1, chunk) if near >= 0]
    return [key(function - 1, chunk)] + ([key(1, chunk)] if function == 3 else [])


def write(folder, tasks, seed=5):
    """Returns the number of records."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    hashes = [f"{rng.getrandbits(128):032x}" for _ in NAMES]
    hosts = [f"node{h}" for h in range(HOSTS)]
    plugins = [open(folder / f"default-TracePlugin-{host}.msgpack", "wb") for host in hosts]
    monitors = [open(folder / f"default-ResourceMonitor-{host}.msgpack", "wb") for host in hosts]
    clocks = [BEGIN] * (HOSTS * GPUS)

    def key(function, chunk):
        return text(f"('{NAMES[function]}-{hashes[function]}', {chunk}, 0)")

    for task in range(tasks):
        chunk, function = divmod(task, len(NAMES))
        worker = (chunk + function) % len(clocks) if rng.random() < 0.8 else rng.randrange(len(clocks))
        host, duration = worker // GPUS, rng.uniform(0.002, 0.02)
        clocks[worker] = max(clocks[worker], max(clocks) - 0.1) + duration + 0.0005
        who = [text("process_id"), text(hosts[host]), text("thread_id"), text(f"worker-{hosts[host]}-{worker % GPUS}")]
        args = [text("key"), key(function, chunk), text("state"), text("memory")]
        users = [key(function + 1, chunk)] if function + 1 < len(NAMES) else []
        plugins[host].write(record("Compute", clocks[worker], [text("duration"), number(duration), text("phase"), text("X"), *who],
            [*args, text("name"), text(NAMES[function]), text("size"), integer(33554432 - 4096 * (task % 64)), text("shape"), array([integer(512), integer(64), integer(64)]),
             text("dtype"), text("float32"), text("type"), text("<class 'cupy.ndarray'>"), text("dependencies"), array(inputs_of(key, function, chunk)), text("dependents"), array(users)]))
        if task % 2 == 0:
            plugins[host].write(record("Managed Memory", clocks[worker], [text("phase"), text("I"), text("scope"), text("g"), *who],
                [*args, text("size"), integer(task % 50 * 33554432), text("tasks"), integer(task % 50)]))
    span, samples = max(clocks) - BEGIN, tasks // 2
    for sample in range(samples):
        host = sample % HOSTS
        monitors[host].write(record("Resource Usage", BEGIN + span * sample / samples, [text("phase"), text("I"), text("scope"), text("g"), text("process_id"), text(hosts[host]), text("thread_id"), b"\xc0"],
            [text("cpu"), number(round(rng.uniform(20, 390), 1)), text("memory"), integer(3221225472 + sample * 7919 % (1 << 30)), text("num_fds"), integer(90 + sample % 30),
             text("gpu_utilization"), integer(sample % 100), text("gpu_memory_used"), integer(9 * (1 << 30) + sample * 104729 % (1 << 34))]))
    for file in plugins + monitors:
        file.close()
    return tasks + (tasks + 1) // 2 + samples

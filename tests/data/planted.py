"""Training traces with planted causes of slowness, or none: a DLIO-like job written as DFTracer does, so that what a rule finds can be held against what
was planted. In each rank a worker process reads a sample ahead, another stages what was read on the node; the ranks end each compute together."""
import json
import random
import typing

T0, MS, MIB = 1_700_000_000_000_000, 1000, 1 << 20
PER_BYTE = 12 * MS / (8 * MIB)  # what each transfer takes, in microseconds


class Plant(typing.NamedTuple):
    kind: str  # plants of one kind change the same part of the job: two of them are no pair
    must: frozenset  # rules that find it
    may: frozenset = frozenset()  # rules that it may satisfy as well, by its strength


def plant(kind, must, may=""):
    return Plant(kind, frozenset(must.split()), frozenset(may.split()))


WAIT = "input_bound au bottleneck"
PLANTS = {
    # what a step waits for before it computes
    "waiting": plant("input", WAIT),
    "decode_bound": plant("input", f"decode_bound {WAIT}"),
    "slow_storage": plant("input", f"storage_bound {WAIT}", "bandwidth"),
    "few_workers": plant("input", "synchronous_loading input_bound", "storage_bound au bottleneck"),
    "worker_startup": plant("input", "worker_startup input_bound bottleneck"),
    "slow_metadata": plant("input", "metadata_time metadata_share"),
    # what stops the loop behind compute
    "communication": plant("loop", "comm_bound untraced_stall au"),  # the preset's chain has no cause of communication
    "untraced": plant("loop", "untraced_stall au"),
    "slow_loop": plant("loop", "loop_overhead au"),
    "checkpoint_stall": plant("loop", "checkpoint_stall", "au bottleneck size_mix"),
    "late_rank": plant("loop", "slowest_rank", "loop_overhead au"),
    # how samples are read
    "small_reads": plant("reads", "small_reads", "ops_mix"),
    "small_shared_reads": plant("reads", "small_shared_reads small_reads", "ops_mix"),
    "random_reads": plant("reads", "random_reads", "ops_mix size_mix"),
    "repeated_reads": plant("reads", "redundant_reads", "random_reads ops_mix size_mix"),
    "stdio": plant("reads", "stdio"),
    "open_per_sample": plant("reads", "open_per_sample"),
    "metadata_storm": plant("reads", "metadata_share"),
    # how they are staged
    "small_writes": plant("writes", "small_writes", "ops_mix"),
    "small_shared_writes": plant("writes", "small_shared_writes small_writes", "ops_mix"),
    "random_writes": plant("writes", "random_writes", "ops_mix size_mix"),
    "repeated_writes": plant("writes", "redundant_writes", "random_writes ops_mix size_mix"),
    "many_writes": plant("writes", "ops_mix"),
    "less_written": plant("writes", "size_mix"),
    "uneven_writes": plant("writes", "uneven_writes"),
    # who is slow
    "slow_host": plant("balance", "slow_host", f"slow_rank slow_process slow_file shared_time {WAIT}"),
    "slow_rank": plant("balance", "slow_rank", WAIT),
    "slow_process": plant("balance", "slow_process", f"slow_rank slow_host slow_file shared_time {WAIT}"),
    "slow_file": plant("balance", "slow_file", "slow_rank slow_process slow_host"),
    "cold_epoch": plant("balance", "cold_cache", f"slow_rank {WAIT}"),  # a cold sample takes about a compute: how long ranks wait is the noise of their reads
    "shared_size": plant("balance", "shared_size shared_time uneven_reads", "slow_rank slow_process size_mix"),
    "shared_time": plant("balance", "shared_time", "slow_rank slow_process slow_host slow_file bandwidth"),
    "uneven_reads": plant("balance", "uneven_reads"),
    "patchy_storage": plant("balance", "bandwidth"),
    # what is wrong with the trace
    "forked_buffer": plant("trace", "repeated_events"),
    "broken_lines": plant("trace", "lost_lines"),
    "new_function": plant("trace", "unclassified"),
    "unnamed_file": plant("trace", "unresolved"),
    "other_folder": plant("trace", "unmatched"),
    "clock_offset": plant("trace", "host_clocks", "slowest_rank"),
    "clock_jump": plant("trace", "clock_jumps"),
    "lost_buffer": plant("trace", "silence", "uneven_reads uneven_writes"),
}
def apart(first, others, why):
    return {frozenset((first, other)): why for other in others.split()}


APART = {  # two plants of which one hides the other
    **apart("decode_bound", "communication untraced slow_loop", "samples load while the loop waits, so it waits for input"),
    **apart("slow_storage", "communication untraced slow_loop", "samples load while the loop waits, so it waits for input"),
    **apart("slow_storage", "metadata_storm", "reads take most of the time in file system calls"),
    **apart("repeated_reads", "many_writes", "there are as many reads as writes again"),
    **apart("slow_rank", "late_rank", "the other ranks wait for the late one behind compute as long as the slow one does before it"),
    **apart("slow_process", "lost_buffer", "of three or four processes one reads longer and one less: none is the usual one"),
    **apart("cold_epoch", "lost_buffer broken_lines forked_buffer", "a file whose fast reads are lost, or whose slow ones are there twice, is slower than the others"),
}
RULES = sorted(frozenset().union(*(p.must for p in PLANTS.values())))


class Job:
    """One job of a size of its own, drawn from the seed alone: with and without plants the same seed gives the same job but for them."""

    def __init__(self, plants, seed, **sizes):
        self.plants, rng = frozenset(plants), random.Random(f"size {seed}")
        size = {"hosts": rng.randint(3, 5), "ranks": rng.randint(1, 3), "epochs": rng.randint(3, 4), "steps": rng.randint(8, 12), **sizes}
        self.hosts, self.ranks, self.epochs, self.steps = (size[key] for key in ("hosts", "ranks", "epochs", "steps"))
        self.count = self.hosts * self.ranks
        self.samples = self.count * self.epochs * self.steps
        self.spread = rng.uniform(0, 0.05)  # how much transfers of a size differ: from 5.2 % on a file of few reads may be an outlier that nobody planted
        self.sick_rank = rng.randrange(self.count)
        self.sick_host, self.lost_rank = self.sick_rank // self.ranks, (self.sick_rank + 1) % self.count
        self.chance, self.luck = random.Random(f"noise {seed}"), random.Random(f"{sorted(self.plants)} {seed}")
        self.strength = {name: self.luck.uniform(0.15, 0.4) for name in sorted(self.plants)}
        self.factor, self.files, self.drawn, self.epoch = self.luck.uniform(2, 4), {}, {}, 0
        self.compute = max(150 * MS, 40_000 * MS // (self.epochs * self.steps)) if "slow_metadata" in self.plants else 150 * MS

    def has(self, name):
        return name in self.plants

    def add(self, rank, process, cat, name, ts, dur, **args):
        """an event of the rank's main process (0), its worker (1) or its stager (2)"""
        if self.has("lost_buffer") and rank == self.lost_rank and self.epoch == 2:
            return
        host, pid = rank // self.ranks, 100 + rank + 1000 * process
        lines = self.files.setdefault(f"n{host}", [])
        lines.append({"id": len(lines), "name": name, "cat": cat, "pid": pid, "tid": pid, "ts": int(ts), "dur": int(dur), "ph": "X", "args": {"hostname": f"n{host}", **args}})

    def noise(self, value, spread):
        return int(value * self.chance.uniform(1 - spread, 1 + spread))

    def transfer(self, rank, process, name, at, size, slow=1.0, cat="POSIX", **args):
        """one call that moves `size` bytes; when it ends"""
        took = max(1, int(self.noise(size * PER_BYTE, self.spread) * slow))
        if self.has("patchy_storage") and size >= MIB and self.fast(rank, process, size):
            took //= 8
        self.add(rank, process, cat, name, at, took, ret=size, **args)
        return at + took

    def fast(self, rank, process, size):
        """one of each seven transfers of a process of a size, which one is chance: all processes have as many"""
        left = self.drawn.setdefault((rank, process, size), [])
        if not left:
            left += self.luck.sample([True] + [False] * 6, 7)
        return left.pop()

    def load(self, rank, process, step, at):
        """a sample: look-ups, open, its bytes, decoding; when it ends"""
        begin, name = at, f"/lustre/{'train' if self.has('other_folder') else 'data'}/{rank}-{step}.npz"
        if self.has("metadata_storm") or self.has("slow_metadata"):
            calls, each = (9, self.compute // 10) if self.has("slow_metadata") else (self.luck.randint(250, 350), 300)
            for _ in range(calls):
                self.add(rank, process, "POSIX", "__xstat", at, each, fname=name, ret=0)
                at += each
        opens = 1 if self.epoch == 1 or self.has("open_per_sample") else 0
        for _ in range(opens):
            self.add(rank, process, "POSIX", "open", at, 400, fname=name, ret=10 + step, flags=0)
            at += 400
        self.add(rank, process, "POSIX", "lseek", at, 2, fname=name, ret=0, fd=10 + step, offset=0, whence=0)
        at = self.read(rank, process, step, name, at + 2)
        if opens and self.has("open_per_sample"):
            self.add(rank, process, "POSIX", "close", at, 300, fname=name, ret=0, fd=10 + step)
            at += 300
        at += self.noise(5 * MS, 0.07)
        if self.has("decode_bound"):
            at += int(self.compute * (1.2 + 2 * self.strength["decode_bound"]))
        for cat, what in (("reader", "NPZReader.get_sample"), ("data_loader", "TorchDataset.__getitem__")):
            self.add(rank, process, cat, what, begin, at - begin, epoch=self.epoch)
        return at

    def slowness(self, rank, step):
        """how much longer this sample's reads take"""
        slow = (self.has("slow_host") and rank // self.ranks == self.sick_host or self.has("cold_epoch") and self.epoch == 1
                or self.has("slow_process") and rank == self.sick_rank or self.has("slow_file") and (rank, step) == (self.sick_rank, 3))
        return self.factor if slow else 1.0

    def read(self, rank, process, step, name, at):
        """the sample's bytes and its part of a file that all ranks read; when they are there"""
        slow, size, call = self.slowness(rank, step) * self.storage(), 8 * MIB, {"fname": name, "fd": 10 + step}
        if self.has("small_reads"):
            for _ in range(32):
                at = self.transfer(rank, process, "read", at, size // 32, slow, **call)
        elif self.has("random_reads"):
            pieces = max(8, 1600 // self.samples + 1)
            for piece in reversed(range(pieces)):
                at = self.transfer(rank, process, "pread", at, MIB, slow, offset=piece * MIB, **call)
        elif self.has("stdio"):
            at = self.transfer(rank, process, "fread", at, size, slow, cat="STDIO", fname=name)
        else:
            for _ in range(3 if self.has("repeated_reads") else 1):
                at = self.transfer(rank, process, "pread", at, size, slow, offset=0, **call)
        sick = rank == self.sick_rank
        size = 2 * MIB
        if sick and self.has("shared_size"):
            size *= self.count // 2 + 2
        elif sick and self.has("uneven_reads"):
            size = int(size * 0.65)
        elif sick and self.has("shared_time"):
            slow *= self.count // 2 + 2
        return self.shared(rank, process, step, "pread", at, size, 32 if self.has("small_shared_reads") else 1, slow, fname="/lustre/data/shared.bin", fd=8)

    def storage(self):
        """how much slower all reads are: a sample takes longer than a compute"""
        return (1.2 + 2 * self.strength["slow_storage"]) * self.compute / (10 * MIB * PER_BYTE) if self.has("slow_storage") else 1.0

    def shared(self, rank, process, step, name, at, size, pieces, slow, **call):
        """the rank's own part of a file that all ranks use"""
        offset = ((self.epoch * self.steps + step) * self.count + rank) * 64 * MIB
        for piece in range(pieces):
            at = self.transfer(rank, process, name, at, size // pieces, slow, offset=offset + piece * (size // pieces), **call)
        return at

    def stage(self, rank, step, at):
        """writes what was read to the node, and a part of a file of all ranks"""
        call, size = {"fname": f"/tmp/cache/{rank}-{self.epoch}-{step}.npz", "fd": 20}, 8 * MIB
        if self.has("random_writes"):
            for piece in reversed(range(max(8, 1600 // self.samples + 1))):
                at = self.transfer(rank, 2, "pwrite", at, MIB, offset=piece * MIB, **call)
        elif self.has("small_writes") or self.has("many_writes"):
            pieces = 32 if self.has("small_writes") else 4
            for piece in range(pieces):
                at = self.transfer(rank, 2, "pwrite", at, size // pieces, offset=piece * (size // pieces), **call)
        else:
            for _ in range(3 if self.has("repeated_writes") else 1):
                at = self.transfer(rank, 2, "pwrite", at, 3 * MIB if self.has("less_written") else size, offset=0, **call)
        size = int(2 * MIB * (0.65 if self.has("uneven_writes") and rank == self.sick_rank else 1))
        self.shared(rank, 2, step, "pwrite", at, size, 32 if self.has("small_shared_writes") else 1, 1.0, fname="/scratch/out/all.bin", fd=21)

    def before_compute(self, rank, step, begin, loaded):
        """waits for the sample; when the rank can compute"""
        if self.has("few_workers"):
            t = self.load(rank, 0, step, begin + 10)
        else:
            t = max(begin + 200, loaded)
        if self.has("waiting"):
            t += int(self.compute * self.strength["waiting"])
        if self.has("worker_startup") and step == 1:
            t += int(self.steps * self.compute * (0.2 + self.strength["worker_startup"]))
        if self.has("slow_rank") and rank == self.sick_rank:
            t += int(self.compute * self.strength["slow_rank"])
        self.add(rank, 0, "data_loader", "loop.iter", begin, t - begin, step=step)
        return t

    def behind_compute(self, rank, step, t):
        """what the rank does between two steps; when it has been done"""
        if self.has("communication"):
            wait = int(self.compute * (1 + self.strength["communication"]))
            self.add(rank, 0, "comm", "all_reduce", t, wait, step=step)
            return t + wait
        self.add(rank, 0, "comm", "all_reduce", t, 200, step=step)
        t += 200
        if self.has("untraced"):
            return t + int(self.compute * self.strength["untraced"])
        if self.has("slow_loop"):
            wait = int(self.compute * self.strength["slow_loop"])
            self.add(rank, 0, "data_loader", "loop.yield", t, wait, step=step)
            return t + wait
        return t

    def mistraced(self, rank, step, t):
        """what is wrong with the trace around the end of a compute"""
        if self.has("new_function"):
            self.add(rank, 0, "POSIX", "frobnicate", t - 20, 20, fname=f"/scratch/log/{rank}.txt", ret=0)
        if self.has("unnamed_file"):
            self.add(rank, 0, "POSIX", "fstat", t - 20, 20, fhash=f"{rank:08x}", ret=0)
        if self.has("clock_jump") and step == 2:
            self.add(rank, 0, "other", "timer", t - self.compute // 2, self.compute)

    def save(self, rank, start, t):
        """a checkpoint; when it is written"""
        took = int((t - start) * self.strength["checkpoint_stall"]) if self.has("checkpoint_stall") else 5 * MS
        self.add(rank, 0, "checkpoint", "PyTorchCheckpointing.save_checkpoint", t, took, epoch=self.epoch)
        self.add(rank, 0, "POSIX", "write", t, took - 100, fname=f"/lustre/checkpoint/{rank}-{self.epoch}.pt", ret=int((took - 100) / PER_BYTE), fd=22)
        return t + took

    def step(self, step, at, loaded):
        """one step of all ranks, which compute together; when each has ended it"""
        ready = [self.before_compute(rank, step, at[rank], loaded[rank]) for rank in range(self.count)]
        own = [t + self.noise(self.compute, 0.015) for t in ready]
        late = self.has("late_rank")
        if late:
            own[self.sick_rank] += int(self.compute * self.strength["late_rank"])
        ends = own if late else [max(own)] * self.count
        for rank in range(self.count):
            self.add(rank, 0, "ai_framework", "TorchFramework.compute", ready[rank], ends[rank] - ready[rank], step=step, epoch=self.epoch)
            self.mistraced(rank, step, ends[rank])
            if not self.has("few_workers"):
                loaded[rank] = self.load(rank, 1, step, max(ready) + 10)  # when all have begun
            self.stage(rank, step, ready[rank] + 20)
            if late and ends[rank] < max(own):
                self.add(rank, 0, "data_loader", "loop.yield", ends[rank], max(own) - ends[rank], step=step)
        return [self.behind_compute(rank, step, max(ends)) for rank in range(self.count)]

    def start(self, rank):
        """the processes and what they look at before training"""
        for process in range(3):
            self.add(rank, process, "dftracer", "start", 0, 0, **({"ppid": 100 + rank} if process else {}))
        at = [100, 100]
        for number in range(self.chance.randint(0, 3)):
            for kind, (process, name) in enumerate(((0 if self.has("few_workers") else 1, "read"), (2, "write"))):
                at[kind] = 10 + self.transfer(rank, process, name, at[kind], 4096, fname=f"/home/user/{name}-{rank}-{number}.yaml", fd=30)

    def run(self):
        at, loaded = [10 * MS] * self.count, [10 * MS] * self.count
        for rank in range(self.count):
            self.start(rank)
        for self.epoch in range(1, self.epochs + 1):
            begin = list(at)
            for step in range(1, self.steps + 1):
                at = self.step(step, at, loaded)
            for rank in range(self.count):
                at[rank] = self.save(rank, begin[rank], at[rank])
                self.add(rank, 0, "dlio_benchmark", "DLIOBenchmark._train", begin[rank], at[rank] - begin[rank], epoch=str(self.epoch))
                at[rank] += MS
        self.epoch = 0
        for rank in range(self.count):
            if not (self.has("lost_buffer") and rank == self.lost_rank):  # it would span the time without events
                self.add(rank, 0, "dlio_benchmark", "DLIOBenchmark.run", 10 * MS, at[rank] - 10 * MS)
        return max(at)

    def write(self, folder):
        folder.mkdir(parents=True)
        length = self.run()
        for number, (host, events) in enumerate(self.files.items()):
            offset = T0 + (int(length * self.strength["clock_offset"]) if self.has("clock_offset") and number == self.sick_host else 0)
            lines = [json.dumps({**event, "ts": event["ts"] + offset}, separators=(",", ":")) for event in events]
            if self.has("forked_buffer"):
                lines += self.luck.sample(lines, max(1, int(len(lines) * self.strength["forked_buffer"] / 10)))
            if self.has("broken_lines"):
                calls = [at for at, line in enumerate(lines) if '"POSIX"' in line]  # a lost compute event would be a stall
                for at in self.luck.sample(calls, max(2, int(len(calls) * self.strength["broken_lines"] / 10))):
                    lines[at] = lines[at][:len(lines[at]) // 2]
            (folder / f"{host}.pfw").write_text("[\n" + "\n".join(lines) + "\n]\n")


def write(plants, seed, folder):
    Job(plants, seed).write(folder)


def pairs():
    """every two plants that change different parts of the job"""
    names = list(PLANTS)
    return [(a, b) for at, a in enumerate(names) for b in names[at + 1:] if PLANTS[a].kind != PLANTS[b].kind and frozenset((a, b)) not in APART]

"""Training traces with one planted cause of slowness, or none: a DLIO-like job whose workers load while the ranks compute. Written as DFTracer does, so that
what a rule finds can be held against what was planted."""
import json
import random

T0, MS, MIB = 1_700_000_000_000_000, 1000, 1 << 20
# plant: (the rule that must find it, rules that may follow from it)
PLANTS = {
    "slow_host": ("slow_host", {"slow_rank", "slow_process", "slow_file", "cold_cache", "host_clocks"}),
    "slow_rank": ("slow_rank", {"host_clocks"}),
    "slow_process": ("slow_process", {"slow_rank", "slow_host", "slow_file", "host_clocks"}),
    "slow_file": ("slow_file", {"slow_process", "slow_rank", "slow_host"}),
    "small_reads": ("small_reads", set()),
    "small_writes": ("small_writes", set()),
    "random_reads": ("random_reads", set()),
    "repeated_reads": ("redundant_reads", set()),
    "stdio": ("stdio", set()),
    "cold_epoch": ("cold_cache", set()),
    "decode_bound": ("decode_bound", {"worker_startup"}),
    "slow_storage": ("storage_bound", {"worker_startup"}),
    "few_workers": ("synchronous_loading", {"storage_bound"}),
    "worker_startup": ("worker_startup", set()),
    "communication": ("comm_bound", {"untraced_stall"}),
    "untraced": ("untraced_stall", set()),
    "slow_loop": ("loop_overhead", set()),
    "metadata_storm": ("metadata_share", set()),
    "checkpoint_stall": ("checkpoint_stall", set()),
    "forked_buffer": ("repeated_events", set()),
    "broken_lines": ("lost_lines", set()),
    "new_function": ("unclassified", set()),
    "unnamed_file": ("unresolved", set()),
    "clock_offset": ("host_clocks", set()),
    "clock_jump": ("clock_jumps", set()),
    "lost_buffer": ("silence", {"host_clocks"}),
    "none": (None, set()),
}
RULES = [rule for rule, _ in PLANTS.values() if rule]


class Job:
    def __init__(self, plant, rng, hosts=4, ranks=2, epochs=3, steps=8):
        self.plant, self.rng, self.hosts, self.ranks, self.epochs, self.steps = plant, rng, hosts, ranks, epochs, steps
        self.files = {}
        self.sick_host, self.sick_rank = rng.randrange(hosts), rng.randrange(hosts * ranks)
        self.factor = rng.uniform(2, 8)
        self.strength = rng.uniform(0.1, 0.4)

    def add(self, host, pid, cat, name, ts, dur, **args):
        lines = self.files.setdefault(f"n{host}", [])
        if self.plant == "clock_offset" and host == self.sick_host:
            ts += 10_000 * MS * self.strength
        lines.append(json.dumps({"id": len(lines), "name": name, "cat": cat, "pid": pid, "tid": pid, "ts": T0 + int(ts), "dur": int(dur), "ph": "X",
                                 "args": {"hostname": f"n{host}", **args}}, separators=(",", ":")))

    def noise(self, value):
        return int(value * self.rng.uniform(0.93, 1.07))

    def load(self, host, pid, rank, epoch, step, at):
        """a sample: look-ups, open, reads, close, decoding; when it ends"""
        begin, name = at, f"/lustre/data/{rank}-{step}.npz"
        for _ in range(self.rng.randint(250, 350) if self.plant == "metadata_storm" else 0):
            self.add(host, pid, "POSIX", "__xstat", at, 300, fname=name, ret=0)
            at += 300
        self.add(host, pid, "POSIX", "open", at, 400, fname=name, ret=9, flags=0)
        at += 400
        took = self.noise(12 * MS)
        slow = {"slow_host": host == self.sick_host, "cold_epoch": epoch == 1, "slow_process": rank == self.sick_rank,
                "slow_file": (rank, step) == (self.sick_rank, 3)}.get(self.plant, False)
        if slow or self.plant == "slow_storage":
            took = int(took * self.factor * (12 if self.plant == "slow_storage" else 1))
        at = self.read(host, pid, name, at, took)
        self.add(host, pid, "POSIX", "close", at, 300, fname=name, ret=0, fd=9)
        at += 300 + self.noise(250 * MS if self.plant == "decode_bound" else 5 * MS)
        self.add(host, pid, "reader", "NPZReader.get_sample", begin, at - begin, epoch=epoch)
        self.add(host, pid, "data_loader", "TorchDataset.__getitem__", begin, at - begin, epoch=epoch)
        return at

    def read(self, host, pid, name, at, took):
        """the sample's bytes; when they are there"""
        pieces = {"small_reads": 32, "random_reads": 8, "repeated_reads": 3}.get(self.plant, 1)
        for piece in range(pieces):
            if self.plant in ("random_reads", "repeated_reads"):
                offset, size = (0, 8 * MIB) if self.plant == "repeated_reads" else ((pieces - piece) * MIB, MIB)
                self.add(host, pid, "POSIX", "pread", at, took // pieces, fname=name, ret=size, fd=9, offset=offset)
            elif self.plant == "stdio":
                self.add(host, pid, "STDIO", "fread", at, took, fname=name, ret=8 * MIB)
            else:
                self.add(host, pid, "POSIX", "read", at, took // pieces, fname=name, ret=8 * MIB // pieces, fd=9)
            at += took // pieces
        return at

    def behind_compute(self, host, pid, t, step, length):
        """what the plant does between two steps; when it has been done"""
        wait = int(length * self.strength)
        if self.plant == "communication":
            self.add(host, pid, "comm", "all_reduce", t, wait + length, step=step)
            return t + wait + length
        if self.plant == "untraced":
            return t + wait
        if self.plant == "slow_loop":
            self.add(host, pid, "data_loader", "loop.yield", t, wait, step=step)
            return t + wait
        if self.plant == "small_writes":
            for _ in range(8):
                self.add(host, pid, "POSIX", "write", t, 20, fname=f"/lustre/log/{pid}.txt", ret=100, fd=30)
                t += 20
        if self.plant == "new_function":
            self.add(host, pid, "POSIX", "frobnicate", t, 20, fname=f"/lustre/log/{pid}.txt", ret=0)
        if self.plant == "unnamed_file":
            self.add(host, pid, "POSIX", "write", t, 20, fhash=f"{pid:08x}", ret=100, fd=30)
        if self.plant == "clock_jump" and step == 2:
            self.add(host, pid, "other", "timer", t - length // 2, length)
        return t

    def rank(self, number):
        host, pid = number // self.ranks, 100 + number
        worker, t = pid + 1000, 10 * MS
        lost = self.plant == "lost_buffer" and number == self.sick_rank
        self.add(host, pid, "dftracer", "start", 0, 0)
        self.add(host, worker, "dftracer", "start", 0, 0, ppid=pid)
        for epoch in range(1, self.epochs + 1):
            start, loaded = t, t
            for step in range(1, self.steps + 1):
                begin = t
                if self.plant == "few_workers":
                    t = self.load(host, pid, number, epoch, step, t + 10)
                else:  # the worker is a sample ahead
                    if step == 1:
                        loaded = t
                    t = max(t + 200, loaded)
                    if self.plant == "worker_startup" and step == 1:
                        t += int(2000 * MS * self.strength)
                    loaded = self.load(host, worker, number, epoch, step, max(loaded, begin) + 10)
                    if self.plant in ("decode_bound", "slow_storage"):
                        t = max(t, loaded)
                if self.plant == "slow_rank" and number == self.sick_rank:
                    t += int(100 * MS * self.strength)
                self.add(host, pid, "data_loader", "loop.iter", begin, t - begin, step=step)
                compute = self.noise(150 * MS)
                self.add(host, pid, "ai_framework", "TorchFramework.compute", t, compute, step=step)
                t = self.behind_compute(host, pid, t + compute, step, compute)
            if self.plant == "checkpoint_stall":
                save = int((t - start) * self.strength)
                self.add(host, pid, "checkpoint", "PyTorchCheckpointing.save_checkpoint", t, save, epoch=epoch)
                self.add(host, pid, "POSIX", "write", t, save - 100, fname=f"/lustre/checkpoint/{number}-{epoch}.pt", ret=save * 800, fd=20)
                t += save
            self.add(host, pid, "dlio_benchmark", "DLIOBenchmark._train", start, t - start, epoch=str(epoch))
            t += MS
            if lost and epoch == 2:
                t += int(20_000 * MS * self.strength)
        if not lost:  # it would span the time without events
            self.add(host, pid, "dlio_benchmark", "DLIOBenchmark.run", 10 * MS, t - 10 * MS)

    def write(self, folder):
        folder.mkdir(parents=True)
        for number in range(self.hosts * self.ranks):
            self.rank(number)
        for host, lines in self.files.items():
            if self.plant == "forked_buffer":
                lines += self.rng.sample(lines, max(1, int(len(lines) * self.strength / 10)))
            if self.plant == "broken_lines":
                calls = [number for number, line in enumerate(lines) if '"POSIX"' in line]  # a lost compute event would be a stall
                for number in self.rng.sample(calls, max(2, int(len(calls) * self.strength / 10))):
                    lines[number] = lines[number][:len(lines[number]) // 2]
            (folder / f"{host}.pfw").write_text("[\n" + "\n".join(lines) + "\n]\n")


def write(plant, seed, folder):
    Job(plant, random.Random(f"{plant} {seed}")).write(folder)

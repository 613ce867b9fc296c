"""Training traces with one planted cause of slowness, or none: a DLIO-like job whose workers load while the ranks compute. Written as DFTracer does, so that
what a rule finds can be held against what was planted."""
import json
import random

T0, MS, MIB = 1_700_000_000_000_000, 1000, 1 << 20
# plant: (the rule that must find it, rules that may follow from it)
PLANTS = {
    "slow_host": ("slow_host", {"slow_rank", "cold_cache"}),
    "slow_rank": ("slow_rank", set()),
    "small_reads": ("small_reads", set()),
    "cold_epoch": ("cold_cache", set()),
    "decode_bound": ("decode_bound", set()),
    "few_workers": ("synchronous_loading", set()),
    "metadata_storm": ("metadata_share", set()),
    "checkpoint_stall": ("checkpoint_stall", set()),
    "none": (None, set()),
}
RULES = [rule for rule, _ in PLANTS.values() if rule]


class Job:
    def __init__(self, plant, rng, hosts=4, ranks=2, epochs=3, steps=8):
        self.plant, self.rng, self.hosts, self.ranks, self.epochs, self.steps = plant, rng, hosts, ranks, epochs, steps
        self.files = {}
        self.sick_host, self.sick_rank = rng.randrange(hosts), rng.randrange(hosts * ranks)
        self.factor = rng.uniform(4, 8)
        self.strength = rng.uniform(0.15, 0.4)

    def add(self, host, pid, cat, name, ts, dur, **args):
        lines = self.files.setdefault(f"n{host}", [])
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
        if (self.plant == "slow_host" and host == self.sick_host) or (self.plant == "cold_epoch" and epoch == 1):
            took = int(took * self.factor)
        pieces = 32 if self.plant == "small_reads" else 1
        for _ in range(pieces):
            self.add(host, pid, "POSIX", "read", at, took // pieces, fname=name, ret=8 * MIB // pieces, fd=9)
            at += took // pieces
        self.add(host, pid, "POSIX", "close", at, 300, fname=name, ret=0, fd=9)
        at += 300 + self.noise(250 * MS if self.plant == "decode_bound" else 5 * MS)
        self.add(host, pid, "reader", "NPZReader.get_sample", begin, at - begin, epoch=epoch)
        self.add(host, pid, "data_loader", "TorchDataset.__getitem__", begin, at - begin, epoch=epoch)
        return at

    def rank(self, number):
        host, pid = number // self.ranks, 100 + number
        worker, t = pid + 1000, 10 * MS
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
                    loaded = self.load(host, worker, number, epoch, step, max(loaded, begin) + 10)
                    if self.plant == "decode_bound":
                        t = max(t, loaded)
                if self.plant == "slow_rank" and number == self.sick_rank:
                    t += int(100 * MS * self.strength)
                self.add(host, pid, "data_loader", "loop.iter", begin, t - begin, step=step)
                compute = self.noise(150 * MS)
                self.add(host, pid, "ai_framework", "TorchFramework.compute", t, compute, step=step)
                t += compute
            if self.plant == "checkpoint_stall":
                save = int((t - start) * self.strength)
                self.add(host, pid, "checkpoint", "PyTorchCheckpointing.save_checkpoint", t, save, epoch=epoch)
                self.add(host, pid, "POSIX", "write", t, save - 100, fname=f"/lustre/checkpoint/{number}-{epoch}.pt", ret=save * 800, fd=20)
                t += save
            self.add(host, pid, "dlio_benchmark", "DLIOBenchmark._train", start, t - start, epoch=str(epoch))
            t += MS
        self.add(host, pid, "dlio_benchmark", "DLIOBenchmark.run", 10 * MS, t - 10 * MS)

    def write(self, folder):
        folder.mkdir(parents=True)
        for number in range(self.hosts * self.ranks):
            self.rank(number)
        for host, lines in self.files.items():
            (folder / f"{host}.pfw").write_text("[\n" + "\n".join(lines) + "\n]\n")


def write(plant, seed, folder):
    Job(plant, random.Random(f"{plant} {seed}")).write(folder)

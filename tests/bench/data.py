"""The traces that are measured, generated once."""
import json
import shutil
import subprocess
import sys
from daemon import SHARED, generate


class Trace:
    def __init__(self, path, totals):
        self.path, self.totals = path, totals
        self.files = sorted(path.glob("*.pfw*"))
        self.packed = sum(f.stat().st_size for f in self.files)


class Data:
    def __init__(self, folder, quick):
        self.folder, self.quick = folder, quick
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, name, **options):
        """the trace of these options; made again when they changed"""
        path, note = self.folder / name, self.folder / (name + ".json")
        wanted = json.dumps(options, sort_keys=True)
        known = json.loads(note.read_text()) if note.exists() else {}
        if known.get("options") != wanted:
            shutil.rmtree(path, ignore_errors=True)
            known = {"options": wanted, "totals": generate(path, **options)}
            note.write_text(json.dumps(known))
        return Trace(path, known["totals"])

    @property
    def events(self):
        return 400000 if self.quick else 4000000

    def four_files(self):
        return self.get(f"{self.events}-four", events=self.events, ranks=4, output_files=4, gzip="one")

    def one_file(self):
        return self.get(f"{self.events}-one", events=self.events, ranks=4, output_files=1, gzip="one")

    def large(self):
        return self.get(f"{self.events * 10}-four", events=self.events * 10, ranks=4, output_files=4, gzip="one")

    def many_processes(self):
        """12,000 of them"""
        ranks = 40 if self.quick else 4000
        return self.get(f"{self.events}-processes", events=self.events, ranks=ranks, output_files=4, gzip="one")

    def tiny(self):
        return self.get("tiny", events=400, ranks=1, workers=0, epochs=1, output_files=1, gzip="one")

    def replicas(self):
        """copies of a real trace, side by side in time and processes: 12,320 threads"""
        copies, source, tool = 22 if self.quick else 220, SHARED / "traces/unet3d-v100", SHARED / "oracles/replicate.py"
        path = self.folder / f"replicas-{copies}"
        manifest = path.with_name(path.name + ".manifest.json")
        if not tool.is_file() or not source.is_dir():
            raise RuntimeError(f"needs shared: {tool} or {source} is not there")
        if not manifest.exists():
            shutil.rmtree(path, ignore_errors=True)
            subprocess.run([sys.executable, str(tool), str(source), str(copies), "4", str(path)], check=True, stdout=subprocess.DEVNULL)
        made = json.loads(manifest.read_text())
        events = sum(file.read_bytes().count(b'"ph":"X"') for file in source.glob("*.pfw"))
        return Trace(path, {"events": events * copies, "ledger": {"json_bytes": made["json_bytes"]}})

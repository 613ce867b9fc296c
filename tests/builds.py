"""The build folders of the test run: each made once, when first asked for or ahead of that."""
import os
import pathlib
import shutil
import threading

from running import ROOT, Count

PROGRAMS = ["server/stratad", "tests/data/strata-generate"]
FUZZ_TARGETS = [f"tests/fuzz/{source.stem}" for source in sorted((ROOT / "tests/fuzz").glob("fuzz_*.c"))]


LITTLE = ["-Ddebug=true", "-Doptimization=1", "-Dc_args=-g1"]


class Builds:
    # kind: options of meson, environment, targets (none: all); asan compiles all with gcc, tsan with clang.  Optimized little, and with lines
    # alone to debug by, they compile in half the time, of which the run takes much.  The fuzz targets trap where behaviour is undefined, which
    # takes two thirds of the time to compile; what they find is replayed with asan, which has the sentence
    KINDS = {
        "asan": (["-Db_sanitize=address,undefined", *LITTLE], {}, []),
        "release": (["--buildtype=release"], {}, [*PROGRAMS, "server/strata", "web/site"]),
        "tsan": (["-Db_sanitize=thread", *LITTLE, "-Ddashboard=disabled"], {"CC": "clang"}, []),
        "fuzz": (["-Db_sanitize=address,undefined", "-Ddebug=true", "-Doptimization=2", "-Dc_args=-g1 -fsanitize-trap=undefined", "-Dfuzz=true",
                  "-Ddashboard=disabled"], {"CC": "clang"}, FUZZ_TARGETS),
    }
    CACHED = {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}  # what another clone has compiled is found again

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.made, self.locks, self.building = {}, {kind: threading.Lock() for kind in self.KINDS}, threading.Lock()

    def get(self, kind):
        """the folder, or None if it does not build; waits for whoever builds it"""
        with self.locks[kind]:
            if kind not in self.made:
                with self.building:  # two at once would only wait for each other
                    self.made[kind] = self.make(kind)
            return self.made[kind]

    def start(self, kinds):
        """makes them in this order, while parts run"""
        threading.Thread(target=lambda: [self.get(kind) for kind in kinds], daemon=True).start()

    def make(self, kind):
        folder, (options, env, targets) = self.folder / kind, self.KINDS[kind]
        common = ["-Dwerror=true", "-Db_lundef=false", "-Dtests=true", *(["-Dc_link_args=-fuse-ld=mold"] if shutil.which("mold") else [])]
        count = Count()
        count.say(f"-- building {kind}")
        if not (folder / "build.ninja").exists():
            status, _ = count.run(["meson", "setup", folder, ROOT, *common, *options], env={**env, **self.CACHED}, quiet=True)
            if status:
                shutil.rmtree(folder, ignore_errors=True)
                return None
        status, _ = count.run(["ninja", "-C", folder, *targets], env=self.CACHED, quiet=True, nice=10)
        count.end()
        count.say(f"-- building {kind}: {'failed' if status else 'done'} ({count.took:.0f} s, {count.processor:.0f} s of processor)")
        return None if status else folder

    def tools(self, kind):
        """environment in which runners find the programs of a build"""
        folder = self.get(kind)
        return folder and {"STRATAD": str(folder / "server/stratad"), "STRATA_BUILD": str(folder),
                           "STRATA_GENERATE": str(folder / "tests/data/strata-generate"),
                           "STRATA_SHARED": os.environ.get("STRATA_SHARED", str(ROOT.parent / "shared"))}

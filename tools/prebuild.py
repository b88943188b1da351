"""Make the archives of compiled code that a wheel brings along, before it is built.

``python tools/prebuild.py`` runs the primitives on small graphs, as ``frontier warm`` does, and collects what was
compiled for :data:`frontier.native.host.LEVEL`. ``--backend cuda``, which needs a GPU, collects PTX. Run it with each
version of Python; names of primitives make a smaller archive. See :mod:`frontier.native.prebuilt` for how it is used.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from frontier import registry
from frontier.backends.cuda import compiler, plain_kernels
from frontier.cli.warm import warmed
from frontier.native import host, prebuilt
from frontier.native.cache import keep, kept

#: How numba compiles for the usual processor instead of this one.
USUAL = {"NUMBA_CPU_NAME": host.LEVEL[0], "NUMBA_CPU_FEATURES": ",".join(f"+{each}" for each in host.LEVEL[1])}


def main(given: list[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("primitives", nargs="*", metavar="PRIMITIVE", help="which (default: all)")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes at a time")
    options = parser.parse_args(given)
    names = options.primitives or [*registry.primitives()]
    with tempfile.TemporaryDirectory() as folder:
        (for_processors if options.backend == "cpu" else for_gpus)(names, options.jobs, Path(folder))
    return 0


def for_processors(names: list[str], jobs: int, folder: Path) -> None:
    """Machine code: the cache of ``frontier warm`` in an empty folder."""
    prebuilt.archive_of("cpu").unlink(missing_ok=True)  # or it would be used
    command = [sys.executable, "-m", "frontier", "warm", "--backend", "cpu", "--jobs", str(jobs), *names]
    subprocess.run(command, env={**os.environ, **USUAL, "FRONTIER_CACHE_DIR": str(folder)}, check=True)
    write("cpu", [*folder.glob("cpu/*.code"), *folder.glob("effects/*.json")])


def for_gpus(names: list[str], jobs: int, folder: Path) -> None:
    """PTX of all kernels that the primitives compile."""
    prebuilt.archive_of("cuda").unlink(missing_ok=True)
    os.environ["FRONTIER_CACHE_DIR"] = str(folder)
    found = warmed(names, "cuda", jobs, partial(record, folder / "ptx"))
    for each in found:
        print(f"{each.primitive:24} {each.error or f'{each.compile_seconds:.1f} s'}", flush=True)
    write("cuda", [*folder.glob("ptx/*.ptx"), *folder.glob("effects/*.json")])
    if any(each.error for each in found):
        raise SystemExit(1)


def record(folder: Path) -> None:
    """From now on compile for the oldest GPU, and keep the PTX in a folder."""
    os.environ["FRONTIER_QUIET"] = "1"
    folder.mkdir(exist_ok=True)
    make = compiler.machine_code

    def recorded(
        name: str, title: str, capability: tuple[int, int], ptx: Callable[[tuple[int, int]], str]
    ) -> bytes:
        def oldest(capability: tuple[int, int]) -> str:
            made = ptx(compiler.OLDEST)
            keep(folder / f"{name}.ptx", made.encode())
            return made

        return make(name, title, capability, oldest)

    compiler.machine_code = plain_kernels.machine_code = recorded


def write(target: str, files: Iterable[Path]) -> None:
    """The archive of some files, each by the part of its name that does not depend on the machine."""
    archive = prebuilt.archive_of(target)
    archive.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive, "w") as made:
        for path in sorted(files, key=lambda path: path.name):
            if (content := kept(path)) is not None:
                made.writestr(zipfile.ZipInfo(path.name.partition(".")[0]), content, zipfile.ZIP_DEFLATED, 9)
    print(f"{archive.name}: {len(made.namelist())} files, {archive.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    sys.exit(main())

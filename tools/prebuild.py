"""Make the archives of compiled code that a wheel brings along, before it is built.

``python tools/prebuild.py`` runs the primitives on small graphs, as ``frontier warm`` does, and collects what was
compiled for :data:`frontier.native.host.LEVEL`. ``--backend cuda``, which needs a GPU, collects PTX. Names of
primitives make smaller archives. Run it on Linux on x86-64, with the version of Python that a wheel is for, in a
checkout without archives of other versions and commits. See :mod:`frontier.native.prebuilt` for how they are used.
"""

from __future__ import annotations

import argparse
import os
import platform
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
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--folder", type=Path, default=prebuilt.FOLDER, help="of the archives (default: the package's)")
    options = parser.parse_args(given)
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        parser.error("archives are made on Linux on x86-64")
    if unknown := {*options.primitives} - {*registry.primitives()}:
        parser.error(f"no primitives: {', '.join(sorted(unknown))}")
    names, target, archives = options.primitives or [*registry.primitives()], options.backend, options.folder.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ptx").mkdir()
        set_environment(folder, USUAL if target == "cpu" else {})
        found = warmed(names, target, options.jobs, partial(record, folder / "ptx"))
        for each in found:
            print(f"{each.primitive:24} {each.error or f'{each.compile_seconds:.1f} s'}")
        if any(each.error for each in found):
            return 1
        archives.mkdir(parents=True, exist_ok=True)
        write(archives / prebuilt.archive_of(target).name, [*folder.glob("cpu/*.code"), *folder.glob("ptx/*")])
        write(archives / prebuilt.archive_of("effects").name, folder.glob("effects/*.json"))
        os.chdir(archives)  # a folder in which one is cannot be removed everywhere
    return 0


def set_environment(folder: Path, more: dict[str, str]) -> None:
    """Let processes that are started use an empty cache, and no settings but these."""
    if "numba" in sys.modules:
        raise RuntimeError("numba has read its settings already")
    for name in [each for each in os.environ if each.startswith(("NUMBA_", "FRONTIER_"))]:
        del os.environ[name]
    os.environ |= {**more, "FRONTIER_CACHE_DIR": str(folder)}
    os.chdir(folder)  # where there is no file of settings


def record(folder: Path) -> None:
    """From now on compile kernels for the oldest GPU, and keep their PTX in a folder."""
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


def write(archive: Path, files: Iterable[Path]) -> None:
    """Add files to an archive, each by the part of its name that does not depend on the machine."""
    content = {path.name.partition(".")[0]: kept(path) for path in files}
    if archive.exists():
        with zipfile.ZipFile(archive) as before:
            content = {name: before.read(name) for name in before.namelist()} | content
    with zipfile.ZipFile(archive, "w") as made:
        for name, each in sorted(content.items()):
            if each is not None:
                made.writestr(zipfile.ZipInfo(name), each, zipfile.ZIP_DEFLATED, 9)
    print(f"{archive.name}: {len(content)} files, {archive.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    sys.exit(main())

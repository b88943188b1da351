"""``frontier doctor``: what is installed, what works, what is missing and how to get it."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from frontier.cli import several
from frontier.cli.common import Commands, Stopwatch, dump_json, print_table
from frontier.errors import FrontierError
from frontier.memory import nvidia
from frontier.memory.placement import backend_named, backend_names
from frontier.native import host, prebuilt
from frontier.native.cache import place

__all__ = ["add"]

OPTIONAL = ("scipy", "networkx", "pandas", "matplotlib", "pyarrow")
#: Backends without which an installation is broken; others may be absent.
NEEDED = ("cpu", "python")
CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``broken`` says that Frontier does not work without it."""

    what: str
    state: str
    note: str = ""
    broken: bool = False


def add(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "doctor", help="what is installed, what works, what is missing", description=__doc__
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.set_defaults(command=doctor)


def doctor(arguments: argparse.Namespace) -> int:
    """Print the report; the exit status is 1 if something that is needed does not work."""
    findings = [*_basics(), *_optional(), *_cuda(), *_several(), *_backends()]
    if not several.speaks():
        pass  # another process of this host says the same
    elif arguments.json:
        dump_json(findings)
    else:
        print_table(("what", "state", "note"), [(x.what, x.state, x.note) for x in findings])
    return 1 if any(x.broken for x in findings) else 0


def version_of(distribution: str) -> str:
    """The installed version of a distribution, or an empty text."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _basics() -> Iterator[Finding]:
    import frontier
    from frontier.lowering.phases import checking
    from frontier.native import threads

    yield Finding("frontier", frontier.__version__, str(Path(frontier.__file__).parent))
    system = f"{platform.system()} {platform.machine()}"
    yield Finding("python", platform.python_version(), f"{sys.executable}, {system}")
    for name in ("numpy", "numba", "llvmlite"):
        version = version_of(name)
        note = "" if version else f"needed: pip install {name}"
        yield Finding(name, version or "missing", note, broken=not version)
    kept = place()
    yield Finding("cache", kept.state, f"{kept.path}{f' ({kept.why})' if kept.why else ''}: generated code")
    yield from _brought()
    count = f"of {os.cpu_count()} processors; FRONTIER_NUM_THREADS or --threads sets it"
    yield Finding("threads", str(threads.num_threads()), count)
    yield Finding("checks", "on" if checking() else "off", "of indices in compiled code; FRONTIER_CHECK=1 sets them on")


def _brought() -> Iterator[Finding]:
    for target, what in (("cpu", "machine code"), ("cuda", "PTX")):
        state, note = "none", f"of the primitives, in this installation: {what}"
        if prebuilt.archive_of(target).exists():
            state = "there"
            try:
                if target == "cpu" and not host.is_usual():
                    state, note = "not used", f"{note}; for {host.LEVEL[0]}, and without settings of numba"
            except (ImportError, FrontierError) as error:
                state, note = "not used", f"{note}: {error}"
        yield Finding(f"code for {target}", state, note)


def _optional() -> Iterator[Finding]:
    for name in OPTIONAL:
        version = version_of(name)
        yield Finding(name, version or "missing", "" if version else f"pip install {name}")


def _cuda() -> Iterator[Finding]:
    driver = nvidia.find()
    if driver.cuda:
        yield Finding("driver", "CUDA {}.{}".format(*driver.cuda))
    for gpu in driver.gpus:
        size = f"{gpu.memory / 2**30:.0f} GiB, compute capability {'.'.join(map(str, gpu.capability))}"
        yield Finding("gpu", gpu.name, size + ": too old" * bool(nvidia.too_old(gpu)))
    for line in several.reach(len(driver.gpus)):
        yield Finding(*line)
    if driver.problem:
        yield Finding("gpu", "none", driver.problem)
    hint = driver.install if driver.gpus else "only of use with a GPU"
    cupy = next(filter(version_of, CUPY), "")
    yield Finding("cupy", version_of(cupy) if cupy else "missing", cupy or hint)
    version = version_of("numba-cuda")
    yield Finding("numba-cuda", version or "missing", "" if version else hint)
    nvvm = next(filter(None, map(version_of, nvidia.NVVM)), "")
    if nvvm:  # a toolkit that pip has not installed says nothing of itself
        yield Finding("cuda-toolkit", nvvm, _newer(nvvm, driver))


def _several() -> Iterator[Finding]:
    for line in (*several.mpi(), *several.ranks()):
        yield Finding(*line)


def _newer(nvvm: str, driver: nvidia.Driver) -> str:
    """What it means where the toolkit writes newer PTX than the driver reads."""
    if driver.cuda is None or _number(nvvm) <= driver.cuda:
        return ""
    linker = next(filter(None, map(version_of, nvidia.NVJITLINK)), "")
    if not linker:
        return nvidia.too_new(driver, "the PTX", "it is not installed")
    if _number(linker)[0] > driver.cuda[0]:
        return nvidia.too_new(driver, "the PTX", f"that of CUDA {linker} makes code for newer drivers")
    return f"newer than the driver: kernels are linked by nvJitLink {linker}"


def _number(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _backends() -> Iterator[Finding]:
    for name in backend_names():
        missing = backend_named(name).missing()
        if missing:
            yield Finding(f"backend {name}", "absent", missing)
        else:
            yield _try_backend(name)


def _try_backend(name: str) -> Finding:
    """Run a small breadth-first search, verified."""
    import frontier

    watch = Stopwatch()
    try:
        graph = frontier.karate().to(name)
        frontier.verify.bfs(graph, frontier.bfs(graph, 0)).raise_if_failed()
    except Exception as error:  # whatever it is, this is the place to show it
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return Finding(f"backend {name}", "fails", text, broken=name in NEEDED)
    count = graph.placement.backend.processes()
    by = f" by {count} processes" if count > 1 else ""
    return Finding(f"backend {name}", "works", f"a verified bfs in {watch.seconds:.2f} s{by}")

"""What all tests share: backends to run on, graphs from files, how hypothesis searches."""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import os
import signal
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import compare
import deep
import mpi
import numpy as np
import on_parts
import pytest
import strict_cupy
import together
from hypothesis import HealthCheck, Phase, settings

import frontier as fr
from frontier.backends.cpu import code
from frontier.distributed.partition import cuts
from frontier.graph import copies
from frontier.graph.packed import packed_ids
from frontier.io import _parse, formats
from frontier.memory import detection, placement
from frontier.native import notice
from frontier.operators.shared.reductions import REDUCTIONS
from frontier.program import registered
from frontier.system.plugins import import_all

# Compiling makes many objects that stay: looking for cycles among them as often as usual takes an eighth of all time.
gc.set_threshold(200_000, 20, 100)

# Compiling takes longer than hypothesis allows an example, hence no deadline.
settings.register_profile("dev", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, max_examples=20)
# Planted faults are found with so many, too: tools/mutants.py.
settings.register_profile("short", settings.get_profile("ci"), max_examples=10)
# The simulator takes up to a second for an example.
settings.register_profile("simulator", settings.get_profile("ci"), max_examples=2, phases=[Phase.generate])
# Parts are tested beside backends that have had all examples.
settings.register_profile("parts", settings.get_profile("ci"), max_examples=5, phases=[Phase.explicit, Phase.generate])

#: Backends to take instead of the usual ones: FRONTIER_TEST_BACKENDS="ranks:2 ranks:3,python"; see on_parts.
CHOSEN = os.environ.get("FRONTIER_TEST_BACKENDS", "").split()

#: The placement on real GPUs that tests of several take; FRONTIER_TEST_GPUS="cuda:0,1,2,3" makes it four.
GPUS = os.environ.get("FRONTIER_TEST_GPUS", "cuda:0,1")
COUNT = len(GPUS.split(","))

#: Whether kernels run in the simulator; `detection.simulated()` says no where a double of CuPy stands in for arrays.
SIMULATED = detection.simulated()

#: FRONTIER_TEST_LISTS=compressed: all graphs that are made get compressed lists.
COMPRESSED = os.environ.get("FRONTIER_TEST_LISTS") == "compressed"

#: FRONTIER_TEST_EDGES=disk or host: backends under test read edges there. Only modules of :mod:`on_parts` run then.
EDGES = os.environ.get("FRONTIER_TEST_EDGES")

#: FRONTIER_TEST_WORDS=1: of small graphs, too, ranks own whole words of bitmaps, so that GPUs exchange inside kernels.
if os.environ.get("FRONTIER_TEST_WORDS") == "1":
    cuts.WORDS_FROM = 0

#: FRONTIER_TEST_SHARE="2/3": the second of three shares of the tests, each of which is in one; see .ci/run.
SHARE, SHARES = map(int, os.environ.get("FRONTIER_TEST_SHARE", "1/1").split("/"))

#: The default of -m.
SHORT = "not deep"

#: The backend cuda as a parameter: on a GPU, or with NUMBA_ENABLE_CUDASIM=1 in the simulator of kernels.
CUDA = pytest.param("cuda", marks=pytest.mark.gpu)


#: Programs that the short suite compiles; a test whose program is one of the pool's adds none.
BUDGET = 1100


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", "error::frontier.FrontierWarning")
    short = config.getoption("markexpr") == SHORT
    # A third of the time; .ci/run lets it run optimized code. Kernels for GPUs are not compiled so.
    if short and importlib.util.find_spec("numba_cuda") is None:
        os.environ.setdefault("NUMBA_OPT", "0")
    usual = "short" if short else "ci" if os.environ.get("CI") else "dev"
    settings.load_profile("simulator" if SIMULATED else "parts" if CHOSEN else usual)
    if comm := together.ranks(CHOSEN):
        config.pluginmanager.register(together.Together(comm))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as for jobs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """With chosen backends or edges elsewhere: only the modules for these."""
    name = collection_path.name
    left_out = (CHOSEN or EDGES) and name.startswith("test_") and name[5:].removesuffix(".py") not in on_parts.MODULES
    return True if left_out else None


def _unit(test: str) -> str:
    """What stays in one share: the cases of a test, which share programs, except in test_ptx."""
    return test if "test_ptx" in test else test.partition("[")[0]


@pytest.hookimpl(tryfirst=True)  # before pytest looks at -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is deep; skip what this machine cannot run, and say why."""
    elsewhere = CHOSEN or EDGES or COMPRESSED  # where .ci/run runs these tests once more, but the deep ones
    sampling = [] if elsewhere else [item for item in items if not item.get_closest_marker("gpu")]
    cases = Counter(_unit(item.nodeid) for item in sampling)
    sampled = {item for item in sampling if deep.sampled_out(item.nodeid, cases[_unit(item.nodeid)])}
    for item in items:
        if item in sampled or deep.caught_by(item.nodeid):
            item.add_marker(pytest.mark.deep)
    others = [item for item in items if zlib.crc32(_unit(item.nodeid).encode()) % SHARES != SHARE - 1]
    if others:
        items[0].config.hook.pytest_deselected(items=others)
        left_out = {*others}
        items[:] = [item for item in items if item not in left_out]
    problem = detection.missing()
    if CHOSEN:
        items[:] = [item for item in items if any(each in item.name for each in CHOSEN)]
        for item in items:
            if why := on_parts.reason(item.nodeid):
                item.add_marker(pytest.mark.skip(reason=why))
    no_processes = pytest.mark.skip(reason=mpi.missing()) if mpi.missing() else None
    for item in items:
        if no_processes and item.get_closest_marker("processes"):
            item.add_marker(no_processes)
        if not item.get_closest_marker("gpu") and not any("cuda" in each for each in CHOSEN):
            continue
        if problem:
            item.add_marker(pytest.mark.skip(reason=f"the backend 'cuda' is not there: {problem}"))
        elif detection.simulated() and (mark := item.get_closest_marker("unsimulated")):
            item.add_marker(pytest.mark.skip(reason=f"not in the simulator of kernels: {mark.args[0]}"))


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end."""
    gc.freeze()


#: What each process of the run has compiled: the names of programs, and seconds.
COMPILED: list[tuple[list[str], float]] = []


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Count the programs; a worker of xdist hands them to the process that reports. A share may be empty."""
    if SHARES > 1 and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
    found = list(code._made), notice.seconds()
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["compiled"] = found
    else:
        COMPILED.append(found)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of xdist has counted; one that crashed has not."""
    if found := getattr(node, "workeroutput", {}).get("compiled"):
        COMPILED.append(found)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what compiling took."""
    programs = {name for names, _ in COMPILED for name in names}
    budget = f" (budget of the short suite: {BUDGET})" if config.getoption("markexpr") == SHORT else ""
    seconds = sum(each for _, each in COMPILED)
    terminalreporter.write_line(f"{len(programs)} programs for the CPU{budget}; compiling and loading: {seconds:.0f} s")


import_all(registered.SHIPPED)  # else what it registers would be gone after the first test that needs it


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """What a test, or a page that it runs, registers is gone after it: messages list what is registered."""
    tables: list[dict[Any, Any]] = [
        placement.BACKENDS, formats.FORMATS, registered._balances, registered._switches, REDUCTIONS,
    ]  # fmt: skip
    with ExitStack() as stack:
        for table in tables:
            stack.enter_context(mock.patch.dict(table))
        yield


@pytest.fixture(autouse=bool(CHOSEN))
def parts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Parts of random sizes that come late, for some tests."""
    with pytest.MonkeyPatch.context() as patch:
        on_parts.disturbed(request.node.nodeid, patch)
        yield


@pytest.fixture(autouse=COMPRESSED, scope="session")
def compressed_lists() -> Iterator[None]:
    """Making a graph of NumPy's arrays compresses its lists."""
    plainly = fr.Graph.__init__

    def make(self: fr.Graph, offsets: Any, targets: Any, *args: Any, **options: Any) -> None:
        if isinstance(targets, np.ndarray):
            targets = packed_ids(targets, offsets.dtype)
        plainly(self, offsets, targets, *args, **options)

    def plain(*args: Any, **options: Any) -> fr.Graph:
        made = fr.Graph.__new__(fr.Graph)
        plainly(made, *args, **options)
        return made

    # copies of a graph, for many sources, are plain in any case
    with mock.patch.object(fr.Graph, "__init__", make), mock.patch.object(copies, "Graph", plain):
        yield


def _there(name: str) -> AbstractContextManager[None]:
    """What a backend needs around a test: simulated kernels run on arrays of a strict double of CuPy."""
    return strict_cupy.simulated() if "cuda" in name and detection.simulated() else nullcontext()


@dataclass(frozen=True)
class Backend:
    """A backend under test; call it to move a graph there."""

    name: str

    def __call__(self, graph: fr.Graph) -> fr.Graph:
        return graph.to(self.where)

    @property
    def where(self) -> str:
        """The placement."""
        return f"{self.name}, edges='{EDGES}'" if EDGES else self.name


@pytest.fixture(params=CHOSEN or ["python", "cpu", CUDA], scope="module")  # not per test, for hypothesis
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Each backend in turn: ``backend(graph)`` gives the graph there, ``backend.name`` its name."""
    with _there(request.param):
        yield Backend(request.param)


@pytest.fixture(params=[each for each in CHOSEN if "python" not in each] or ["cpu", CUDA], scope="module")
def compiled(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """Each backend that compiles, in turn; as ``backend``."""
    with _there(request.param):
        yield Backend(request.param)


@pytest.fixture(scope="module")
def agree(compiled: Backend) -> Callable[..., tuple[Any, Any]]:
    """:func:`compare.agree` of each backend that compiles with python."""
    return functools.partial(compare.agree, compiled.where)


@pytest.fixture(scope="module", params=[CUDA])
def cuda(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """The backend cuda alone; as ``backend``."""
    with _there(request.param):
        yield Backend(request.param)


@pytest.fixture(scope="module", params=["double", pytest.param("device", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    """CuPy, or in its place its double, which is strict about what lies where."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "double":
            patch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
            patch.setattr(detection, "_ready", True)
            patch.setattr(detection, "cupy", lambda: strict_cupy.module)
            yield strict_cupy.module
        elif detection.simulated() or not detection.available():
            pytest.skip(f"no GPU: {detection.missing() or 'numba simulates one'}")
        else:
            yield importlib.import_module("cupy")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real graphs: FRONTIER_TEST_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("FRONTIER_TEST_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no folder of real graphs at {folder}; FRONTIER_TEST_DATA names another")
    return folder


@pytest.fixture(scope="session")
def real_graph(data_dir: Path) -> Any:
    """``real_graph("road-rome99")`` gives a graph of the data folder, each loaded once."""
    loaded: dict[str, fr.Graph] = {}

    def load(name: str) -> fr.Graph:
        if name not in loaded:
            loaded[name] = load_npz(data_dir / f"{name}.npz")
        return loaded[name]

    return load


def load_npz(path: str | Path) -> fr.Graph:
    """Give the graph of a file with src, dst, n, directed and perhaps weights."""
    with np.load(path) as file:
        return fr.from_edges(
            file["src"],
            file["dst"],
            file.get("weights"),
            num_vertices=int(file["n"]),
            duplicates="first",
            directed=bool(file["directed"]),
        )


@pytest.fixture(scope="module", params=["plain", "kernels"])
def reading(request: pytest.FixtureRequest) -> Iterator[None]:
    """How text files are read: short ones without compiled kernels, then these too by them, as long ones are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_parse, "sparing", lambda count, module: request.param == "plain")
        yield

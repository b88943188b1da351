"""Linking PTX where the driver is older than the toolkit; what the names of compiled kernels depend on."""

from __future__ import annotations

import ast
import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier.backends.cuda import compiler, launch
from frontier.backends.cuda.compile import environment, linker
from frontier.backends.cuda.program import Build, CudaProgram
from frontier.lowering.loops import lower
from frontier.memory import detection, nvidia
from frontier.native.cache import kept
from frontier.program.layout import Layout

DRIVER = nvidia.Driver((13, 0), (nvidia.Gpu("H100", 1 << 36, (9, 0)),))


def twice(p, v):
    p.value[v] = p.value[v] * p.factor


class DriverError(RuntimeError):
    """As CuPy's CUDADriverError, which cannot be made without a driver."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


UNSUPPORTED = DriverError(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with ...")


class Refusing:
    """In the place of CuPy's LinkState: a driver that does not link."""

    error: DriverError
    asked: int

    def add_ptr_data(self, data: bytes, name: str) -> None:
        assert data.endswith(b"\0")
        type(self).asked += 1
        raise self.error


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> type[Refusing]:
    """The driver's linker refuses; by default, the version of PTX."""
    double = type("Refusing", (Refusing,), {"error": UNSUPPORTED, "asked": 0})
    try:
        monkeypatch.setattr(importlib.import_module("cupy.cuda.function"), "LinkState", double)
    except ImportError:  # no CuPy
        module = types.ModuleType("cupy.cuda.function")
        module.__dict__["LinkState"] = double
        monkeypatch.setitem(sys.modules, "cupy.cuda.function", module)
    return double


@pytest.fixture
def old_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "find", lambda: DRIVER)


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(compiler, "cache_folder", lambda target: tmp_path)
    monkeypatch.setattr(compiler, "_binaries", {})
    return tmp_path


@pytest.fixture
def afresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is known of the environment is asked again, before and after."""
    forget()
    yield
    monkeypatch.undo()
    forget()


def forget() -> None:
    environment.package.cache_clear()
    environment.toolchain.cache_clear()


def problem(dtype: str = "int64") -> fr.Problem:
    return fr.Problem(fr.path(5), value=fr.vertex("int64", 3), factor=fr.scalar(dtype, 2))


def program(dtype: str = "int64") -> CudaProgram:
    made = lower(fr.Compute(twice), Layout.of(problem(dtype)), fr.Schedule(), "vertex",
                 lambda layout, schedule: CudaProgram(layout, schedule, Build(low_degree=True)))  # fmt: skip
    assert isinstance(made, CudaProgram)
    return made


def blame() -> None:
    raise AssertionError("nothing is wrong with the functor")


def needs_nvjitlink() -> None:
    """Skip where there is none: it is found when first called."""
    nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink", reason="cuda.bindings is not installed")
    try:
        nvjitlink.version()
    except Exception as error:
        pytest.skip(f"nvJitLink is not installed: {nvidia.last_line(error)}")


# -- linking ---------------------------------------------------------------------------------------------


def test_nvjitlink_links_what_the_driver_does_not_read(
    refusing: Any, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    needs_nvjitlink()
    if detection.simulated():
        pytest.skip("numba compiles nothing while it simulates")
    newest = nvidia.Driver((99, 0), DRIVER.gpus)  # whichever nvJitLink is installed
    monkeypatch.setattr(nvidia, "find", lambda: newest)
    made = compiler.binary(program(), (9, 0), launch.LOW_DEGREE, blame)
    assert refusing.asked == 1
    assert made[:4] == b"\x7fELF"
    assert int.from_bytes(made[18:20], "little") == 190  # of machines: CUDA
    assert 90 in (made[48], made[49])  # sm_90, at either place where toolkits write it
    assert compiler.ENTRY.encode() in made
    assert [kept(path) for path in empty_cache.glob("*.cubin")] == [made]
    assert compiler.binary(program(), (9, 0), launch.LOW_DEGREE, blame) is made


def test_the_driver_is_the_first_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    class LinkState:
        def add_ptr_data(self, data: bytes, name: str) -> None:
            self.data = data

        def complete(self) -> bytes:
            return b"by the driver: " + self.data

    module = types.ModuleType("cupy.cuda.function")
    module.__dict__["LinkState"] = LinkState
    monkeypatch.setitem(sys.modules, "cupy.cuda.function", module)
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", None)
    assert linker.linked("code", (9, 0)) == b"by the driver: code\0"


def nvjitlink_of(version: tuple[int, int], log: str = "") -> Any:
    """A double that links nothing, and says why."""

    class nvJitLinkError(Exception):
        pass

    def complete(handle: int) -> None:
        raise nvJitLinkError("ERROR_PTX_COMPILE (4)")

    def get_error_log(handle: int, into: bytearray) -> None:
        into[:] = log.encode() + b"\0"

    made = types.ModuleType("cuda.bindings.nvjitlink")
    made.__dict__.update(
        version=lambda: version, create=lambda count, options: 1, add_data=lambda *_: None, complete=complete,
        destroy=lambda handle: None, get_error_log_size=lambda handle: len(log) + 1, get_error_log=get_error_log,
        nvJitLinkError=nvJitLinkError, InputType=types.SimpleNamespace(PTX=1),
    )  # fmt: skip
    return made


@pytest.mark.parametrize(
    ("nvjitlink", "reason"),
    [
        (None, "import of cuda.bindings.nvjitlink halted"),
        (nvjitlink_of((14, 0)), r"that of CUDA 14\.0 makes code for newer drivers"),
        (nvjitlink_of((13, 0), "error\nptxas fatal: Unsupported .version 9.5"), "ptxas fatal: Unsupported"),
        (nvjitlink_of((13, 0)), "ERROR_PTX_COMPILE"),
    ],
)
def test_neither_links(
    refusing: Any, old_driver: None, empty_cache: Path, monkeypatch: pytest.MonkeyPatch, nvjitlink: Any, reason: str
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", nvjitlink)
    monkeypatch.setattr(compiler, "ptx_of", lambda *_: "//\n.version 9.5\n.target sm_90\n")
    message = (
        rf"driver runs CUDA 13\.0 and does not read PTX 9\.5.*nvJitLink does not help \({reason}.*"
        r'pip install "cupy-cuda13x>=.* "cuda-toolkit<13\.1", or update the driver'
    )
    with pytest.raises(fr.BackendUnavailableError, match=message):
        compiler.binary(program(), (9, 0), launch.LOW_DEGREE, blame)
    assert not list(empty_cache.glob("*.cubin"))


def test_other_errors_of_the_driver(refusing: Any, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing.error = DriverError(218, "CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed")
    monkeypatch.setattr(compiler, "ptx_of", lambda *_: ".version 9.0")
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", None)  # not asked
    with pytest.raises(fr.FrontierError, match=r"cannot link Compute.*: CUDA_ERROR_INVALID_PTX"):
        compiler.binary(program(), (9, 0), launch.LOW_DEGREE, blame)


@pytest.mark.gpu
@pytest.mark.unsimulated("nothing is linked there")
def test_kernels_linked_by_nvjitlink_run(refusing: Any, empty_cache: Path) -> None:
    needs_nvjitlink()
    p = fr.Problem(fr.grid(7, 8).to("cuda"), value=fr.vertex("int64", 3), factor=fr.scalar("int64", 2))
    fr.Compute(twice)(p, fr.Frontier.all(p.graph))
    assert refusing.asked == 1
    assert p.value.tolist() == [6] * 56
    result = fr.bfs(p.graph, 0)
    fr.verify.bfs(p.graph, result).raise_if_failed()
    assert len(list(empty_cache.glob("*.cubin"))) >= 1


# -- names of files --------------------------------------------------------------------------------------


def key(made: CudaProgram, capability: tuple[int, int] = (9, 0), bounds: tuple[int, int] = (256, 1)) -> str:
    forget()
    return compiler._path_of(compiler.name_of(made, bounds), capability).name


def test_what_kernels_are_named_by(afresh: None, old_driver: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = program()
    first = key(made)
    assert key(program()) == first
    names = {first, key(made, (8, 0)), key(made, bounds=(256, 2)), key(program("float32")), key(program("float64"))}
    changes: tuple[tuple[Any, str, Any], ...] = (
        (fr, "__version__", "other"),
        (np, "__version__", "9.9.9"),
        (nvidia, "find", lambda: nvidia.Driver((12, 0))),
        (environment, "_toolkits", lambda: [("/usr/local/cuda", 1)]),
    )
    for where, name, value in changes:
        with monkeypatch.context() as patch:
            patch.setattr(where, name, value)
            names.add(key(made))
    for distribution in environment._COMPILERS:
        with monkeypatch.context() as patch:
            patch.setattr(environment, "version_of", lambda name, other=distribution: "9.9" if name == other else "1.0")
            names.add(key(made))
    assert len(names) == 5 + len(changes) + len(environment._COMPILERS)
    assert {"numba", "numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink"} <= {*environment._COMPILERS}


def test_every_source_counts(afresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    read, changed = Path.read_bytes, Path()
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path == changed))
    made = program()
    names = {key(made)}
    for changed in environment.sources():  # noqa: B007 - read_bytes looks at it
        names.add(key(made))
    assert len(names) == 1 + len(environment.sources())


def test_toolkits_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    before = environment._toolkits()
    file = tmp_path / "nvvm" / "libdevice" / "libdevice.10.bc"
    file.parent.mkdir(parents=True)
    file.touch()
    assert [found for found in environment._toolkits() if found not in before] == [
        (str(file.resolve()), file.stat().st_mtime_ns)
    ]


def imported_by(file: Path) -> Iterator[str]:
    """Names that a file imports, which may be modules."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def file_of(module: str) -> Path | None:
    """Where a module of ours lies; None for what is none. (Importing some of them would import numba-cuda.)"""
    place = Path(fr.__file__).parent.joinpath(*module.split(".")[1:])
    files = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return next((file for file in files if file.exists()), None)


def test_no_source_is_forgotten() -> None:
    """What the text of kernels imports, and all that this imports, is part of the name."""
    waiting = {line.split()[1] for line in compiler.text(program()).splitlines() if line.startswith("from frontier")}
    waiting.add("frontier.compile.functors.copies")  # makes of functors what is compiled
    known, seen = set(environment.sources()), set[str]()
    while waiting:
        name = waiting.pop()
        file = file_of(name) if name.startswith("frontier.") and name not in seen else None
        seen.add(name)
        if file is not None:
            assert file in known, f"{name} is missing"
            waiting |= {*imported_by(file)} if file.name != "__init__.py" else set()  # that starts executions
    wanted = {"frontier.backends.cuda.compile.numba_compat", "frontier.compile.elements", "frontier.functors.numbers"}
    assert wanted <= seen

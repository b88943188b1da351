"""Every public function and class has an example in its docstring, and all examples of docstrings run."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr

#: Packages that an example imports: without one of them its test is skipped.
OPTIONAL = ("graphblas", "igraph", "networkit", "networkx", "pandas", "polars", "pyarrow", "rustworkx", "scipy")
#: Conversions whose method names the package only.
NEEDS = {
    "to_arrow": "pyarrow",
    "to_networkx": "networkx",
    "to_pandas": "pandas",
    "to_polars": "polars",
    "to_scipy": "scipy",
}
#: Examples that are shown but not run here, with the reason.
SHOWN = {
    "from_graph_tool": "graph-tool is not on package indexes",
    "from_pyg": "PyTorch Geometric takes seconds to import; tests/test_pyg.py converts",
    "to_pyg": "as from_pyg",
    **dict.fromkeys(("cluster", "Cluster", "Cluster.run"), "starts workers of Dask; docs/cluster.md does, in a test"),
    "register_balance": "a balance stays registered; tests/test_balances.py adds one",
}


def _public() -> Iterator[tuple[str, Any]]:
    """Names and objects: functions and classes of the package, its public modules, and methods of classes."""
    for module, prefix in ((fr, ""), (fr.verify, "verify."), (fr.datasets, "datasets."), (fr.plot, "plot.")):
        for name in getattr(module, "__all__", None) or dir(module):
            found = getattr(module, name)
            ours = getattr(found, "__module__", "").split(".")[0] in ("frontier", "operators", "primitives")
            if name.startswith("_") or inspect.ismodule(found) or not callable(found) or not ours:
                continue
            yield prefix + name, found
            if isinstance(found, type):
                yield from ((f"{prefix}{name}.{key}", value) for key, value in _members(found) if key[0] != "_")


def _members(found: type) -> Iterator[tuple[str, Any]]:
    """What a class has of its own, and of bases that are there for it alone: Graph's, one for each concern."""
    own = [base for base in found.__mro__ if base is found or set(base.__subclasses__()) <= set(found.__mro__)]
    return ((name, value) for base in own for name, value in vars(base).items())


def _example_of(found: Any) -> str:
    if isinstance(found, (classmethod, staticmethod)):
        found = found.__func__
    return inspect.getdoc(found) or "" if callable(found) or isinstance(found, property) else ""


WITH = {name: found for name, found in _public() if ">>>" in _example_of(found)}


def test_public_functions_have_examples() -> None:
    without = [
        name
        for name, found in _public()
        if name.count(".") == (1 if name.split(".")[0] in ("verify", "datasets", "plot") else 0)
        and not (isinstance(found, type) and issubclass(found, BaseException))
        and name not in WITH
    ]
    assert not without


def _needed(name: str, text: str) -> list[str]:
    needed = [package for package in OPTIONAL if f"import {package}" in text]
    drawn = ["matplotlib"] if "plot" in name else []
    return needed + drawn + [package for end, package in NEEDS.items() if end in text or name.endswith(end)]


@pytest.mark.parametrize("name", WITH)
def test_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _example_of(WITH[name])
    missing = [package for package in _needed(name, text) if importlib.util.find_spec(package) is None]
    if missing:
        pytest.skip(f"without {', '.join(missing)}")
    if np.__version__.startswith("1."):
        pytest.skip("NumPy 1 prints scalars in another way")
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(text, {"fr": fr, "np": np}, name, name, 0)
    if name in SHOWN:
        assert all(doctest.SKIP in one.options for one in example.examples)
        pytest.skip(SHOWN[name])
    assert not any(doctest.SKIP in one.options for one in example.examples)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(example, out=said.append)
    assert not said, "".join(said)

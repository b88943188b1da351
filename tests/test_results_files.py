"""Measurements in benchmarks/results are as they should be, and the documentation shows what they say."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pages import PAGES, ROOT, blocks

from benchmarks import measurement
from benchmarks.measurement import RESULTS, Measurement

FILES = sorted(path.name for path in RESULTS.glob("*"))
#: How a page names a file.
NAMED = re.compile(r"\{results(?:-plot)?\} ([\w-]+)")
GOOD: dict[str, Any] = {
    "subject": "Searches, milliseconds",
    "command": "python -m benchmarks.run",
    "machine": "one processor",
    "date": "2026-11-22",
    "commit": "95d8af8",
    "note": "Of two sources.",
    "columns": ["call", "system", "small", "large"],
    "rows": [
        ["BFS", "Frontier", 1, 20.5],
        ["BFS", "other", 30, None],
        ["SSSP", "Frontier", 400, 5000],
        ["SSSP", "other", 3, 2],
    ],
}


def made(**changes: Any) -> Measurement:
    return Measurement(**{**GOOD, **changes})


@pytest.fixture
def extension() -> ModuleType:
    """The directives of docs/_ext, under a name of their own."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install -e .[docs]")
    spec = importlib.util.spec_from_file_location("docs_results", ROOT / "docs" / "_ext" / "results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    assert name.endswith(".json")
    Measurement.read(RESULTS / name)


@pytest.mark.parametrize("name", FILES)
def test_programs_of_commands_exist(name: str) -> None:
    found = re.match(r"(?:mpirun -n \d+ )?python -m (benchmarks\.\w+)", Measurement.read(RESULTS / name).command or "")
    assert found is None or importlib.util.find_spec(found[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"machine": " "}, "machine must be text"),
        ({"subject": None}, "subject must be text"),
        ({"command": ""}, "command must be null"),
        ({"date": "22 November"}, "isoformat"),
        ({"commit": "before 95d8af8"}, "commit must be"),
        ({"note": None}, "note must be text"),
        ({"columns": ["call", "call", "small", "large"]}, "each once"),
        ({"columns": ["call", "small", "large"]}, "4 cells for 3 columns"),
        ({"rows": []}, "no rows"),
        ({"rows": [["BFS", "Frontier", [1], 2]]}, "neither a number"),
        ({"rows": [["BFS", "Frontier", float("nan"), 2]]}, "write null"),
        ({"unit": "ms"}, "missing or unknown"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**GOOD, **changes}), "utf-8")
    with pytest.raises(ValueError, match=rf"wrong\.json: .*{message}"):
        Measurement.read(path)


def test_a_file_without_a_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({name: value for name, value in GOOD.items() if name != "note"}), "utf-8")
    with pytest.raises(ValueError, match="missing or unknown"):
        Measurement.read(path)


def test_what_is_written_is_read_with_a_line_for_each_row(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    made().write(path)
    assert Measurement.read(path) == made()
    assert path.read_text("utf-8").count('["') == 1 + len(GOOD["rows"])  # one for the columns


def test_rows_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["run.py", "--graphs", "rmat:8", "--json", "x.json", "--resume", "--journal=y.json", "--only", "a b"]
    monkeypatch.setattr(sys, "argv", words)
    m = Measurement.now("Times", [{"call": "BFS", "ms": 1.23456}, {"call": "CC", "ms": float("nan"), "right": True}])
    assert (m.columns, m.rows) == (["call", "ms", "right"], [["BFS", 1.235, None], ["CC", None, True]])
    assert m.command == "python -m benchmarks.run --graphs rmat:8 --only 'a b'"
    assert m.machine == measurement.machine()
    assert measurement.machine("a GPU") == f"a GPU; {m.machine}"


# -- choosing ------------------------------------------------------------------------------------------------------


def test_choosing() -> None:
    m = made().chosen(["large", "call"], [("system", "Frontier")], "-large")
    assert (m.columns, m.rows) == (["large", "call"], [[5000, "SSSP"], [20.5, "BFS"]])
    either = made().chosen(["small"], [("call", "BFS"), ("system", "other"), ("call", "SSSP")])
    assert either.cells("small") == [30, 3]
    assert made().chosen(sort="large").cells("large") == [2, 20.5, 5000, None]  # what is not known comes last
    assert made().chosen(sort="-large").cells("large") == [5000, 20.5, 2, None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["medium"]}, "no column 'medium', but call, system"),
        ({"where": [("call", "CC")]}, "no row is left where call = CC"),
        ({"where": [("medium", "1")]}, "no column 'medium'"),
        ({"sort": "-medium"}, "no column 'medium'"),
    ],
)
def test_what_is_not_there_cannot_be_chosen(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made().chosen(**options)


# -- the documentation ---------------------------------------------------------------------------------------------


def test_pages_show_files_that_exist() -> None:
    shown = {found[1] for page in PAGES for block in blocks(page) if (found := NAMED.fullmatch(block.language))}
    assert shown
    assert {f"{name}.json" for name in shown} <= set(FILES)


def test_tables(extension: ModuleType) -> None:
    table = extension.table(made())
    title, group = table.children
    caption = "Searches, milliseconds. One processor, 2026-11-22, commit 95d8af8: python -m benchmarks.run"
    assert title.astext() == caption
    rows = [[entry.astext() for entry in row] for row in (*group[4], *group[5])]
    assert rows == [
        ["call", "system", "small", "large"],
        ["BFS", "Frontier", "1", "20.5"],
        ["BFS", "other", "30", "\N{EN DASH}"],
        ["SSSP", "Frontier", "400", "5,000"],
        ["SSSP", "other", "3", "2"],
    ]
    assert [entry["classes"] for entry in group[5][0]] == [[], [], ["text-right"], ["text-right"]]


def test_captions_leave_out_what_is_not_known(extension: ModuleType) -> None:
    title = extension.table(made(date=None, commit=None, command=None))[0]
    assert title.astext() == "Searches, milliseconds. One processor"


def test_missing_text_and_truth(extension: ModuleType) -> None:
    table = extension.table(made(columns=["call", "kept"], rows=[["BFS", True], [None, False]]))
    assert [[entry.astext() for entry in row] for row in table[1][3]] == [["BFS", "yes"], ["", "no"]]


def test_bars(extension: ModuleType) -> None:
    long = {"BFS": {"Frontier": 20.5}, "SSSP": {"Frontier": 5000.0, "other": 2.0}}
    assert extension.bars(made(), "call", "system", ["large"]) == long
    ours = made().chosen(where=[("system", "Frontier")])
    wide = {"BFS": {"small": 1.0, "large": 20.5}, "SSSP": {"small": 400.0, "large": 5000.0}}
    assert extension.bars(ours, "call", "", ["small", "large"]) == wide


@pytest.mark.parametrize(
    ("series", "values", "message"),
    [
        ("", ["small"], "several rows are BFS, small"),
        ("", ["system"], "system is not a column of numbers"),
        ("system", ["small", "large"], "names the one column"),
    ],
)
def test_bars_that_are_not_clear(extension: ModuleType, series: str, values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extension.bars(made(), "call", series, values)


@pytest.mark.parametrize("log", [False, True])
def test_plots(extension: ModuleType, log: bool) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e .[docs]")
    found = extension.bars(made(), "call", "system", ["large"])
    svg = extension.drawn(found, "milliseconds", log)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"BFS", "SSSP", "Frontier", "other", "20.5", "5,000", "2", "milliseconds"} <= set(texts)
    assert svg.startswith("<svg ")
    assert "currentColor" in svg  # text has the colour of the page, light or dark
    assert extension.INK not in svg
    assert extension.FRONTIER in svg
    assert svg == extension.drawn(found, "milliseconds", log)  # the same each time


PAGE = """
# A page

```{results} cpu
:columns: call; Frontier
:rows: graph=road-NE; call=connected components
:sort: -Frontier
```

```{results-plot} cpu
:rows: graph=road-NE
:group: call
:columns: Frontier; igraph
:log:
```
"""


def built(folder: Path, page: str, *, plots: bool = True) -> tuple[int, str, str]:
    """The exit status of Sphinx, what it said, and the page that it made."""
    (folder / "index.md").write_text(page, "utf-8")
    blocked = "" if plots else "sys.modules['matplotlib'] = None\n"
    (folder / "conf.py").write_text(
        f"import sys\n{blocked}sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'docs' / '_ext')!r}]\n"
        "extensions = ['myst_parser', 'results']\nhtml_theme = 'basic'\n",
        "utf-8",
    )
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "-E", "-b", "html", str(folder), str(folder / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    made_page = folder / "out" / "index.html"
    return done.returncode, done.stderr, made_page.read_text("utf-8") if made_page.exists() else ""


@pytest.mark.parametrize("plots", [True, False])
def test_a_page(tmp_path: Path, plots: bool) -> None:
    for name in ("sphinx", "myst_parser", *["matplotlib"] * plots):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install -e .[docs]")
    code, said, page = built(tmp_path, PAGE, plots=plots)
    assert (code, said) == (0, "")
    assert page.count("<table") == (1 if plots else 2)  # without matplotlib the plot is a table
    assert page.count('<svg role="img"') == int(plots)
    assert page.count("benchmarks.run<") == 2
    assert Measurement.read(RESULTS / "cpu.json").note.split(".")[0] in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{results} cpu", "{results} cpus", "cpus"),
        ("call; Frontier", "call; Frontiers", "there is no column 'Frontiers'"),
        ("call=connected components", "connected components", "rows are chosen by column=value"),
        ("graph=road-NE\n:group", "call=CC\n:group", "no row is left"),
    ],
)
def test_a_wrong_page_is_an_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    for name in ("sphinx", "myst_parser"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install -e .[docs]")
    assert old in PAGE
    code, said, _ = built(tmp_path, PAGE.replace(old, new))
    assert code != 0
    assert message in said

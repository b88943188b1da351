"""What tools/sanitize.py forgives: the races that are meant, by their statements, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools"


@pytest.fixture
def races(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    import races

    return races


def told(races: ModuleType, *accesses: tuple[str, str, int]) -> str:
    """A report as of racecheck: kinds, files, lines."""
    places = [f"{kind} access at frontier_loop+0x{line:x}0 in {file}:{line}" for kind, file, line in accesses]
    rest = "".join(f"=========     and {place} [{i + 4} hazards]\n" for i, place in enumerate(places[1:]))
    return f"========= Error: Race reported between {places[0]}\n{rest}========= \n"


def places(races: ModuleType, name: str) -> dict[str, tuple[str, str, int]]:
    benign = next(each for each in races.BENIGN if each.name == name)
    return {kind: (kind, file, line) for kind, file, line in benign.places()}


def name_of(races: ModuleType, text: str) -> str:
    (finding,) = races.findings(text)
    benign = races.explained(finding)
    return benign.name if benign else ""


def test_races_that_are_meant(races: ModuleType) -> None:
    history, table = places(races, "culled"), places(races, "fill_hubs")
    read, write = history["Read"], history["Write"]
    assert set(table) == {"Write"}
    assert name_of(races, told(races, write, write)) == "culled"
    assert name_of(races, told(races, read, write)) == "culled"
    assert name_of(races, told(races, write, read, write)) == "culled"
    assert name_of(races, told(races, table["Write"], table["Write"])) == "fill_hubs"


def test_other_races(races: ModuleType) -> None:
    history, table = places(races, "culled"), places(races, "fill_hubs")
    write, hubs = history["Write"], table["Write"]
    pull = ("Read", "cuda_loop_0123.py", 120)
    emptied = (hubs[0], hubs[1], hubs[2] - 7)
    for accesses in [(hubs, pull), (pull, hubs), (hubs, hubs, pull), (hubs, emptied), (write, hubs), (pull, pull)]:
        assert name_of(races, told(races, *accesses)) == ""
    assert name_of(races, told(races, ("Read", *hubs[1:]), hubs)) == ""
    assert name_of(races, told(races, write)) == ""  # with whom?


def test_other_findings(races: ModuleType) -> None:
    line = places(races, "culled")["Write"][2]
    unknown = "========= Warning: Race reported between Read access at frontier_loop+0x260\n"
    unknown += "=========     and Write access at frontier_loop+0x200 [12 hazards]\n"
    assert name_of(races, unknown) == ""
    assert name_of(races, f"========= Invalid __shared__ write at culled in cull.py:{line}\n") == ""
    assert name_of(races, "========= Warning: Maximum number of hazards reached.\n") == ""
    assert races.findings("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n") == []


def test_statements_are_found_anew(races: ModuleType) -> None:
    gone = races.Benign("culled", races.BENIGN[0].file, (("Write", "history[place] = vertex"),), "")
    with pytest.raises(LookupError, match=r"culled has 'history\[place\] = vertex' 0 times"):
        gone.places()


def test_report(races: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    import sanitize

    write = places(races, "culled")["Write"]
    meant = f"@@ culling@R-MAT\n{told(races, write, write)}"
    assert sanitize.report("racecheck", f"{meant}@@ end\n")
    assert "culling@R-MAT: 1 in culled: a block's history" in capsys.readouterr().out
    assert not sanitize.report("memcheck", f"{meant}@@ end\n")
    assert not sanitize.report("racecheck", meant)
    assert not sanitize.report("racecheck", f"{meant}{told(races, ('Read', *write[1:]), ('Read', 'x.py', 1))}@@ end\n")
    assert "culling@R-MAT: 1 NOT EXPLAINED, as\n    Error: Race reported" in capsys.readouterr().out
    assert not sanitize.report("racecheck", "========= Error: no device\n@@ end\n")


#: Compiles a loop that culls, for a GPU that need not be there, and prints its PTX.
PROGRAM = """
import sys
sys.path[:0] = [{tools!r}, {tests!r}]
import sanitize
sanitize.with_lines()
import test_ptx
from pytest import MonkeyPatch
from frontier.backends.cuda import launch
from frontier.backends.cuda import compiler
test_ptx.RUNS["culling"] = sanitize.PROGRAMS["culling"]
with MonkeyPatch.context() as patch:
    program = test_ptx.program_of("culling", "full", patch)
code = compiler.ptx_of(program, (9, 0), launch.FULL)
sys.stdout.write(code)
"""


@pytest.mark.deep
@pytest.mark.xfail(strict=True, reason="kernels that are translated have no line numbers yet")
def test_kernels_know_their_lines(races: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba_cuda", reason='numba-cuda is not installed: pip install "numba-cuda[cu12]"')
    monkeypatch.setenv("FRONTIER_CACHE_DIR", str(tmp_path))
    text = PROGRAM.format(tools=str(TOOLS), tests=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", text], text=True, capture_output=True, cwd=TOOLS.parent, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    number = next(line.split()[1] for line in lines if ".file" in line and "cull.py" in line)
    _, _, row = places(races, "culled")["Write"]
    at = next(i for i, line in enumerate(lines) if line.split()[:3] == [".loc", number, str(row)])
    assert any("st.shared" in line for line in lines[at + 1 : at + 4])

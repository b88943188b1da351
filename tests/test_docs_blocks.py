"""Every block of code of the README and of docs/ works as pasted, in order, page by page, and prints what is shown."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pages import PAGES, ROOT, Block, blocks, commands

from frontier import cli
from frontier.memory import detection

RUN = ("python", "pycon", "console", "sh")
#: What is not run: directives of Sphinx, settings, and text that nothing is run to get.
OTHER = ("{layers}", "text", "toml", "{eval-rst}", "{toctree}", "{include} ../CHANGELOG.md")
#: Tables and plots of measurements; tests/test_results_files.py reads the files.
MEASURED = re.compile(r"\{results(-plot)?\} [\w-]+")
#: Code for other tools, which stands beside ours in docs/coming-from.
THEIRS = ("{code-block} python", "{code-block} cpp")
#: Those that run it, each with the module that it needs.
TOOLS = {"networkx": "networkx", "igraph": "igraph", "graphblas": "graphblas"}
#: Pages that need a library that the short suite lacks, and their extra.
NEEDED = {"docs/cluster.md": ("distributed", "dask"), "docs/plots.md": ("matplotlib", "plot")}
#: Tutorials, whose blocks together are an example.
PROGRAMS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
#: Pages that show parts of examples besides.
PARTS = {"reuse": "docs/reuse.md", "kcore": "docs/functors.md", "triangles": "docs/operators.md"}
#: Commands that a test cannot run, or that another runs, and the file that each needs.
ELSEWHERE = (
    r"python (examples/\w+\.py)( --backend \w+)?",  # tests/test_examples.py
    r"python (tools/\w+\.py)",
    r"python -m (benchmarks[.\w]*)( .*)?",
    r"NUMBA_ENABLE_CUDASIM=1 python -m pytest -m gpu",  # .ci/run
    r"python -m venv \.venv( && .*)?",  # .ci/run
    r"\.venv/bin/pip install .*",
    r"\.venv/bin/frontier doctor",
)


def needing(gpu: bool) -> list[str]:
    """Pages with something to run: those with blocks that need a GPU, or those with others."""
    return [page for page in PAGES if any((block.gpus > 0) == gpu for block in blocks(page, *RUN))]


class Reader:
    """Someone who pastes a page into one Python, block by block."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.parser = doctest.DocTestParser()
        self.runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        self.printed = ""  # by the blocks so far
        self.last = ""  # by the block before

    def paste(self, block: Block) -> None:
        """Run a block, or compare what it shows with what the block before has printed."""
        if block.language == "text" and block.follows:
            assert block.text == self.last, f"{self.page}:{block.line}"
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile("\n" * block.line + block.text, self.page, "exec"), self.names)
            self.last = out.getvalue()
            self.printed += self.last
        elif block.language == "pycon":
            test = self.parser.get_doctest(block.text, {}, self.page, self.page, block.line)
            test.globs = self.names
            failures: list[str] = []
            self.runner.run(test, out=failures.append, clear_globs=False)
            assert not failures, "".join(failures)
        elif block.language in ("console", "sh"):
            for command, shown in commands(block):
                self.run(command, shown)

    def run(self, command: str, shown: str) -> None:
        """Run ``frontier ...``; of other commands, see that they are ones that are known."""
        parsed = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
        assert parsed.returncode == 0, parsed.stderr
        if command.startswith("frontier "):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                assert cli.main(shlex.split(command)[1:]) == 0, f"{self.page}: {command}"
            assert shown in ("", out.getvalue()), f"{self.page}: {command}"
            return
        match = next((found for x in ELSEWHERE if (found := re.fullmatch(x, command))), None)
        assert match, f"{self.page}: say how this is tested: {command}"
        if match.re.groups and (name := match[1]) and not name.startswith(" "):
            path = ROOT / (name if name.endswith(".py") else name.replace(".", "/"))
            assert path.exists() or path.with_suffix(".py").exists(), f"{self.page}: {command}"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages write files, so they are read in a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", needing(gpu=False))
def test_blocks(page: str) -> None:
    if page in NEEDED:
        library, extra = NEEDED[page]
        pytest.importorskip(library, reason=f"{library} is not installed: pip install -e .[{extra}]")
    reader = Reader(page)
    for block in blocks(page):
        if not block.gpus:
            reader.paste(block)
    if ROOT / page in PROGRAMS:
        example = f"python examples/{Path(page).stem}.py"
        shown = [text for block in blocks(page, "console") for command, text in commands(block) if command == example]
        assert shown == [reader.printed]


@pytest.mark.gpu
@pytest.mark.unsimulated("pages speak of real devices")
@pytest.mark.parametrize("page", needing(gpu=True))
def test_blocks_that_need_a_gpu(page: str) -> None:
    reader = Reader(page)
    for block in blocks(page):
        if block.gpus > len(detection.every()):
            pytest.skip(f"{page}:{block.line} needs {block.gpus} GPUs")
        reader.paste(block)


@pytest.mark.parametrize("tool", sorted(path.stem for path in (ROOT / "docs" / "coming-from").glob("*.md")))
def test_both_sides_print_the_same(tool: str) -> None:
    """Every block for another tool is followed by ours; where that tool is installed, both run and are compared."""
    page = f"docs/coming-from/{tool}.md"
    pairs = list(blocks(page))
    theirs, ours = pairs[::2], pairs[1::2]
    assert theirs
    assert len(theirs) == len(ours)
    assert all(block.language in THEIRS for block in theirs)
    assert all(block.language == "python" for block in ours)
    for block in theirs:
        if block.language == "{code-block} python":
            compile(block.text, page, "exec")
    if tool not in TOOLS:
        return  # needs a GPU and a compiler, or their package; its code is read, not run
    pytest.importorskip(TOOLS[tool], reason=f"{TOOLS[tool]} is not installed")
    readers = Reader(page), Reader(page)
    for pair in zip(theirs, ours, strict=True):
        for reader, block in zip(readers, pair, strict=True):
            reader.paste(Block("python", block.text, block.line, block.follows))
        assert readers[0].last == readers[1].last != "", f"{page}:{pair[0].line}"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_of_a_known_kind(page: str) -> None:
    for block in blocks(page):
        kinds = (*RUN, *OTHER, *THEIRS) if page.startswith("docs/coming-from/") else (*RUN, *OTHER)
        assert block.language in kinds or MEASURED.fullmatch(block.language), f"{page}:{block.line}"
    fences = re.findall(r"^ *```", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(list(blocks(page)))


@pytest.mark.parametrize(
    ("example", "page"),
    [*((path.stem, f"docs/tutorials/{path.name}") for path in PROGRAMS), *PARTS.items()],
)
def test_pages_show_what_the_examples_do(example: str, page: str) -> None:
    """Each part of an example between ``# begin NAME`` and ``# end NAME`` is a block of its page."""
    text = (ROOT / "examples" / f"{example}.py").read_text("utf-8")
    shown = [block.text for block in blocks(page, "python")]
    parts = re.findall(r"^ *# begin (\w+)\n(.*?)^ *# end \1$", text, re.MULTILINE | re.DOTALL)
    assert parts
    for name, part in parts:
        code = textwrap.dedent(part)
        assert any(code in block for block in shown), f"{page} lacks '{name}' of {example}.py:\n\n{code}"


@pytest.mark.parametrize("page", ["docs/index.md", "docs/quickstart.md"])
def test_the_program_of_the_readme_is_shown(page: str) -> None:
    *_, program = (block.text for block in blocks("README.md", "python"))
    assert program in [block.text for block in blocks(page, "python")]


@pytest.mark.parametrize("page", PAGES)
def test_extras_exist(page: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for found in re.findall(r"\.\[([\w,]+)\]", (ROOT / page).read_text("utf-8")):
        assert set(found.split(",")) <= set(extras)

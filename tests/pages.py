"""The pages of the documentation as their readers see them: blocks of code, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: README.md and all pages of docs/, by their paths from the repository's root.
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if "_build" not in path.parts
)


@dataclass(frozen=True)
class Block:
    """A block between two fences."""

    language: str
    text: str
    line: int
    follows: bool  # nothing stands between the block before and this one

    @property
    def gpus(self) -> int:
        """How many GPUs the block needs, as it says in its first line."""
        first = self.text.partition("\n")[0]
        return {"# needs a GPU": 1, "# needs two GPUs": 2}.get(first, 0)


def blocks(page: str, *languages: str) -> Iterator[Block]:
    """The blocks of a page; of some languages, or all."""
    text = (ROOT / page).read_text(encoding="utf-8")
    end = 0
    for found in re.finditer(r"^(```+)([^`\n]*)\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL):
        follows = not text[end : found.start()].strip()
        end = found.end()
        if not languages or found[2] in languages:
            yield Block(found[2], found[3], text.count("\n", 0, found.start()) + 1, follows)


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a block and what it shows of their output."""
    if block.language == "sh":
        for line in block.text.splitlines():
            yield line, ""
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown

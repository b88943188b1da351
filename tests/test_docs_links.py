"""Links between pages of the documentation lead to a page, a section and a picture that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import PAGES, ROOT, blocks

DOCS = ROOT / "docs"
#: Made by sphinx-gallery from the scripts in docs/gallery, when the docs are built.
MADE = DOCS / "auto_gallery"


def links(text: str) -> list[str]:
    """Targets of Markdown links and pictures, and those of options of directives, unless they leave the docs."""
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    found += re.findall(r"^:(?:img-top|file): (\S+)$", text, re.MULTILINE)
    found += [f"{target}.md" for target in re.findall(r"^:link: (\S+)\n:link-type: doc$", text, re.MULTILINE)]
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def sections(page: Path) -> set[str]:
    """The anchors that a page has: its headings up to the third level, as GitHub and MyST name them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def made_of(path: Path) -> Path:
    """The file in the repository from which a page or picture of the gallery is made."""
    if path.parent.name in ("images", "thumb"):
        name = re.sub(r"^sphx_glr_|_(\d+|thumb)\.png$", "", path.name)
    else:
        name = path.stem
    return DOCS / "gallery" / ("GALLERY_HEADER.rst" if name == "index" else f"{name}.py")


def without_code(page: str) -> str:
    """The text of a page without its blocks of code, which may have brackets and parentheses as well."""
    text = (ROOT / page).read_text("utf-8")
    for block in blocks(page, "python", "pycon", "console", "sh", "text"):
        text = text.replace(block.text, "")
    return re.sub(r"`[^`\n]*`(?!\])", "", text)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in links(without_code(page)):
        name, _, section = target.partition("#")
        path = ((ROOT / page).parent / name).resolve() if name else ROOT / page
        if path.suffix == "" and path.with_suffix(".rst").parent == MADE:
            path = path.with_suffix(".rst")
        if path.name.endswith(".md") and path.with_suffix("").parent == MADE:
            path = path.with_suffix(".rst")
        there = made_of(path) if path.is_relative_to(MADE) else path
        assert there.exists(), f"{page}: {target}"
        if section:
            assert section in sections(path), f"{page}: {target}"


def test_missing_targets_are_found() -> None:
    text = "[a](b.md#c) ![d](e.png)\n:img-top: f.png\n:link: g/h\n:link-type: doc\n[i](https://j)"
    assert links(text) == ["b.md#c", "e.png", "f.png", "g/h.md"]
    assert not made_of(MADE / "images" / "thumb" / "sphx_glr_plot_nothing_thumb.png").exists()
    assert made_of(MADE / "images" / "sphx_glr_plot_maze_001.png") == DOCS / "gallery" / "plot_maze.py"
    assert "products-over-a-semiring" in sections(DOCS / "operators.md")


def test_the_gallery_is_in_order() -> None:
    """Every script is in the list by which the gallery is sorted."""
    text = (DOCS / "_ext" / "gallery_order.py").read_text("utf-8")
    listed = re.findall(r'"(\w+)"', text.partition("PAGES = [")[2].partition("]")[0])
    assert sorted(f"plot_{name}" for name in listed) == sorted(path.stem for path in (DOCS / "gallery").glob("*.py"))

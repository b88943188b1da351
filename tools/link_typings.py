"""Make ``typings/frontier/``: links to the modules under the names they are imported by.

Type checkers follow folders, not import hooks, so they cannot see that ``operators/`` is
``frontier.operators``. ``python tools/link_typings.py`` makes a folder that looks like the
installed package, for ``mypy_path`` and ``extraPaths`` in pyproject.toml. It holds no files of its
own, git ignores it, and it may be made again at any time. Where links are not allowed (Windows
without developer mode) the modules are copied.
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def link(root: Path = ROOT) -> Path:
    """Make the folder anew; return its path."""
    target = root / "typings" / "frontier"
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    sources = [x for x in (root / "frontier").iterdir() if x.name != "__pycache__"]
    for source in [*sources, root / "operators", root / "primitives"]:
        _link_or_copy(source, target / source.name)
    return target


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source, target_is_directory=source.is_dir())
    except OSError:
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)


if __name__ == "__main__":
    print(link())

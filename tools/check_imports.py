"""Check that imports go one way, room by room: a room may import those that stand before it in ``LAYERS``.

A room is a folder of modules, or a module that stands alone in ``frontier/``. ``python tools/check_imports.py [ROOT]``
prints one line for every import that goes back, and ends with status 1 if there is any. Imports inside functions, below
``TYPE_CHECKING`` and by ``import_module("name")`` count too.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

# The rooms of each layer, from the one that needs nothing up to what users call. Names are those below "frontier.".
LAYERS = {
    "base": (
        "errors checkout system display tracing"
    ),
    "functors": "functors",
    "machine": "memory native",
    "graph": "graph charts results generators distributed.partition",
    "program": "program",
    "lowering": "lowering",
    "compile": "compile compile.functors compile.fields compile.translation",
    "backends": (
        "backends backends.run backends.python backends.cpu backends.cuda.compile backends.cuda.simulator "
        "backends.cuda.device backends.cuda"
    ),
    "distributed": "distributed distributed.transport distributed.ranks distributed.devices",
    "tools": "verify io datasets registry batched_sources distributed.clusters plot",
    "operators": (
        "operators.shared operators.elementwise operators.advance operators.advance.cpu operators.advance.cuda "
        "operators.advance.ablations operators.fields operators.gather operators.intersect operators.scan "
        "operators.buckets operators.order operators"
    ),
    "primitives": "primitives",
    "commands": "graph500 nx_backend cli __main__",
}
ORDER = [f"frontier.{room}" for rooms in LAYERS.values() for room in rooms.split()]

# Where each part of the package lies in the repository.
FOLDERS = {"frontier": "frontier", "frontier.operators": "operators", "frontier.primitives": "primitives"}
# It hands users the names of the layers above it, when asked.
REEXPORTS = ("frontier",)
# The folders' own names work from the repository's root only, and load every module twice.
BARE = ("operators", "primitives")


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Every module of the three folders with the name by which it is imported."""
    for layer, name in FOLDERS.items():
        folder = root / name
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join((layer, *parts)).removesuffix(".__init__"), path


def imported(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that a module imports, relative imports resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join((*parts, base) if base else parts)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call):
            yield from _imported_by_call(node)


def _imported_by_call(node: ast.Call) -> Iterator[tuple[int, str]]:
    """``import_module("name")`` with a name that can be read off."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in ("import_module", "__import__") and node.args:
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield node.lineno, first.value


def room_of(module: str, is_package: bool = False) -> str:
    """The room that a module stands in."""
    parent = module.rpartition(".")[0]
    return module if is_package or parent in ("", "frontier") else parent


Arrows = Mapping[tuple[str, str], list[str]]


def arrows(root: Path) -> Arrows:
    """(importing room, imported room) -> ``file:line: imports name`` of each import between two rooms."""
    known = dict(modules(root))
    packages = {module for module, path in known.items() if path.name == "__init__.py"}
    packages.update(module.rpartition(".")[0] for module in ORDER)  # also where a tree lacks their files
    rooms = {*ORDER, *(room_of(module, module in packages) for module in known)}
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module, path in known.items():
        if module in REEXPORTS:
            continue
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        here = room_of(module, module in packages)
        for line, name in imported(_parsed(path), package):
            target = name
            while target and target not in rooms and target not in known:
                target = target.rpartition(".")[0]
            there = target if target in rooms else room_of(target, target in packages)
            if there not in ("", "frontier", here):
                found[here, there].append(f"{path.relative_to(root).as_posix()}:{line}: imports {name}")
    return found


def backward(found: Arrows) -> dict[tuple[str, str], list[str]]:
    """The arrows from a room to one that stands after it."""
    place = {room: i for i, room in enumerate(ORDER)}
    return {
        (here, there): lines
        for (here, there), lines in found.items()
        if here in place and there in place and place[there] > place[here]
    }


def floors(found: Arrows) -> int:
    """How many rooms the longest chain of arrows passes that go the right way."""
    back = backward(found)
    height: dict[str, int] = defaultdict(lambda: 1)
    for room in ORDER:
        below = [height[there] for here, there in found if here == room and (here, there) not in back]
        height[room] = 1 + max(below, default=0)
    return max(height.values())


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def _inside(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def problems(root: Path) -> list[str]:
    """One line for every import that goes back, and every module whose room has no place."""
    lines = []
    for module, path in modules(root):
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        where = path.relative_to(root).as_posix()
        for line, name in imported(_parsed(path), package):
            if any(_inside(name, x) for x in BARE):
                lines.append(f"{where}:{line}: imports {name}; its name is frontier.{name}")
        room = room_of(module, path.name == "__init__.py")
        if room not in (*ORDER, *REEXPORTS):
            lines.append(f"{where}: {room} has no place in LAYERS of tools/check_imports.py: give it one")
    for (here, there), found in sorted(backward(arrows(root)).items()):
        lines.extend(f"{line}; {there} stands above {here}" for line in found)
    return lines


def main() -> int:
    """Print what is wrong; the exit status."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = problems(root)
    print("\n".join(found) or "imports go one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

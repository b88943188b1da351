"""Check that imports go one way: primitives, then operators, then frontier.

``python tools/check_imports.py [ROOT]`` prints one line for every import that goes back and ends
with status 1 if there is any. Imports inside functions and below ``TYPE_CHECKING`` count too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

# What a module of the layer may not import.
FORBIDDEN = {
    "frontier": ("frontier.operators", "frontier.primitives"),
    "frontier.operators": ("frontier.primitives",),
    "frontier.primitives": (),
}
# These two hand users the names of the layers above them, when asked.
REEXPORTS = {"frontier/__init__.py", "frontier/registry.py"}
# The folders' own names work from the repository's root only, and load every module twice.
BARE = ("operators", "primitives")


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Every module of the three folders with the name by which it is imported."""
    for layer in FORBIDDEN:
        folder = root / layer.removeprefix("frontier.")
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


def layer_of(module: str) -> str:
    """The layer that a module belongs to: the longest of the three that fits."""
    return max((x for x in FORBIDDEN if _inside(module, x)), key=len)


def _inside(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def problems(root: Path) -> list[str]:
    """One line for every import that goes the wrong way."""
    found = []
    for module, path in modules(root):
        where = path.relative_to(root).as_posix()
        forbidden = () if where in REEXPORTS else FORBIDDEN[layer_of(module)]
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for line, name in imported(ast.parse(path.read_text("utf-8"), str(path)), package):
            if any(_inside(name, x) for x in BARE):
                found.append(f"{where}:{line}: imports {name}; its name is frontier.{name}")
            elif any(_inside(name, x) for x in forbidden):
                found.append(f"{where}:{line}: imports {name}, which stands above {module}")
    return found


def main() -> int:
    """Print what is wrong; the exit status."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    found = problems(root)
    print("\n".join(found) or "imports go one way: primitives, operators, frontier")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

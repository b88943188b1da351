"""Write ``frontier/__init__.pyi``: the public names and where they come from, for type checkers and editors.

``python tools/make_stub.py`` takes them from the tables in ``frontier/__init__.py``, which imports a name when it is
first used and so tells a type checker nothing. ``--print`` writes to standard output; a test compares.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STUB = ROOT / "frontier" / "__init__.pyi"

HEAD = '''\
"""The public names of Frontier. Written by tools/make_stub.py from the table in ``__init__.py``."""

'''


def tables(source: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The two tables of ``frontier/__init__.py``: names by module, and modules."""
    found = {}
    for node in ast.parse(source).body:
        name = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(name, ast.Name) and name.id in ("_NAMES", "_MODULES"):
            found[name.id] = ast.literal_eval(node.value)
    return found["_NAMES"], found["_MODULES"]


def stub(root: Path = ROOT) -> str:
    """The text of the stub."""
    names, modules = tables((root / "frontier" / "__init__.py").read_text("utf-8"))
    wanted = {"frontier": " ".join(modules), **names}
    parts = [_statement(module, sorted(wanted[module].split())) for module in sorted(wanted)]
    return HEAD + "".join(parts) + "\n__version__: str\n"


def _statement(module: str, names: list[str]) -> str:
    # "as" says that a stub hands a name on
    lines = "".join(f"    {name} as {name},\n" for name in names)
    return f"from {module} import (\n{lines})\n"


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(stub(), end="")
    else:
        STUB.write_text(stub(), "utf-8")

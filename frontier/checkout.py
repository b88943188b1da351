"""Make ``frontier.operators`` and ``frontier.primitives`` importable from a checkout.

The repository keeps these two packages beside ``frontier/``; an installed wheel holds them
inside it, and then this module does nothing.
"""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_SIBLINGS = {f"frontier.{name}": _HERE.parent / name for name in ("operators", "primitives")}


class _SiblingFinder:
    """Finds the two packages in the folders beside this one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        folder = _SIBLINGS.get(name)
        if folder is None:
            return None
        return spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


if not (_HERE / "operators").exists() and _SIBLINGS["frontier.operators"].is_dir():
    sys.meta_path.append(_SiblingFinder)

"""How Frontier is built: as setuptools builds it, but ``pip install -e .`` works beside the checkout too.

setuptools finds an editable package by a hook that is asked last. A script in the folder that holds the
checkout has that folder on its path, where Python takes ``frontier/``, the checkout itself, for a package
without ``__init__.py`` and asks no hook. So the editable wheel gets a hook of ours instead, asked first:
a package ``frontier`` on the path goes before it, as before every installed one, and a mere folder does not.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (
    build_sdist as build_sdist,
)
from setuptools.build_meta import (
    build_wheel as build_wheel,
)
from setuptools.build_meta import (
    get_requires_for_build_editable as get_requires_for_build_editable,
)
from setuptools.build_meta import (
    get_requires_for_build_sdist as get_requires_for_build_sdist,
)
from setuptools.build_meta import (
    get_requires_for_build_wheel as get_requires_for_build_wheel,
)
from setuptools.build_meta import (
    prepare_metadata_for_build_editable as prepare_metadata_for_build_editable,
)
from setuptools.build_meta import (
    prepare_metadata_for_build_wheel as prepare_metadata_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[1]

HOOK = '''\
"""Finds the package frontier in a checkout, where it was installed by pip install -e."""

import os
import sys
from importlib.machinery import PathFinder

INIT = {init!r}


class CheckoutFinder:
    """Asked before the path; what is a package there, not a mere folder, is taken."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "frontier":
            return None
        found = PathFinder.find_spec(name)
        if found is not None and found.origin is not None or not os.path.exists(INIT):
            return found
        from importlib.util import spec_from_file_location

        return spec_from_file_location(name, INIT, submodule_search_locations=[os.path.dirname(INIT)])


sys.meta_path.insert(0, CheckoutFinder)
'''
NAME = "_frontier_gpu_checkout"


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, str | list[str] | None] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """The wheel that ``pip install -e`` installs: setuptools' without its hook, with ours."""
    name = build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    path = Path(wheel_directory, name)
    with zipfile.ZipFile(path) as wheel:
        files = {x: wheel.read(x) for x in wheel.namelist() if not x.startswith("__editable__")}
    (record,) = (x for x in files if x.endswith(".dist-info/RECORD"))
    del files[record]
    files[f"{NAME}.py"] = HOOK.format(init=os.fspath(ROOT / "frontier" / "__init__.py")).encode()
    files[f"{NAME}.pth"] = f"import {NAME}\n".encode()
    lines = [f"{x},sha256={_digest(content)},{len(content)}\n" for x, content in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for x, content in files.items():
            wheel.writestr(x, content)
    return name


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

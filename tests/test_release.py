"""What a release consists of besides the package: its files agree with each other and with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from pages import ROOT
from test_docs_links import links

import frontier as fr

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
#: Names that conda-forge and the package index have for the same: that of the index -> that of conda-forge.
NAMES = {
    "matplotlib": "matplotlib-base", "torch": "pytorch", "ray[data]": "ray-data", "cupy-cuda12x": "cupy",
    "cupy-cuda13x": "cupy",
}  # fmt: skip
#: Pages beside the README.
COMMUNITY = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")


def test_the_changelog_begins_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first = re.search(r"^## \[(.+?)\] - (unreleased|\d{4}-\d\d-\d\d)$", text, re.MULTILINE)
    assert first is not None
    assert first[1] == fr.__version__


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == fr.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert {"cff-version", "message", "title"} <= set(citation)


def conda(requirements):
    """Requirements as conda writes them, without markers, extras, and what excludes newer versions."""
    found = set()
    for text in requirements:
        name, least = re.fullmatch(r"([^<>=]+)>=([\d.]+)(?:;.*)?", text).groups()
        found.add(f"{NAMES.get(name, name.partition('[')[0])} >={least}")
    return found


def test_the_conda_recipe_is_that_of_pyproject():
    assert RECIPE["package"]["name"] == PROJECT["name"]
    assert RECIPE["context"] == {"version": fr.__version__, "python_min": PROJECT["requires-python"].removeprefix(">=")}
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    assert RECIPE["about"]["license"] == PROJECT["license"]
    assert RECIPE["about"]["license_file"] in PROJECT["license-files"]
    commands = [f"{name} = {function}" for name, function in PROJECT["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == commands
    needed = RECIPE["requirements"]
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    assert set(needed["host"]) - {"python ${{ python_min }}.*", "pip"} == conda(backend)
    assert set(needed["run"]) - {"python >=${{ python_min }}"} == conda(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    users = [text for name in extras if name not in ("test", "docs", "dev") for text in extras[name]]
    users = [text for text in users if not re.match(r"frontier-gpu|mpich|numpy<", text)]
    assert set(needed["run_constraints"]) == conda(users)


def test_messages_advise_what_an_extra_installs():
    """So that versions and names are kept in one place; tools/try_wheels.sh installs the extras."""
    extras = [text for texts in PROJECT["optional-dependencies"].values() for text in texts]
    known = {re.match(r"[\w-]+", text)[0] for text in [*extras, *PROJECT["dependencies"]]} - {PROJECT["name"]}
    advised = set()
    for folder in ("frontier", "primitives", "operators"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            for words in re.findall(r"pip install ([a-z][\w-]*(?: [a-z][\w-]*)*)", text):
                advised.update(words.split())
            advised |= {name.partition(".")[0] for name in re.findall(r'\blibrary\("([\w.]+)", "', text)}
    assert len(advised) > 8
    # for those who have graphs of PyTorch Geometric, or several GPUs; the name of the latter ends in cu12 or cu13
    assert advised - known == {"torch_geometric", "nvidia-nccl-cu"}


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_forms_of_issues(name):
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text("utf-8"))
    assert {"name", "description", "body"} <= set(form)
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)
    assert all(field["type"] == "textarea" and field["attributes"]["label"] for field in form["body"])


@pytest.mark.parametrize("page", COMMUNITY)
def test_links_of_the_other_pages(page):
    found = links((ROOT / page).read_text("utf-8"))
    assert all((ROOT / target.partition("#")[0]).exists() for target in found), found
    assert found or page == "CODE_OF_CONDUCT.md"


def test_files_that_pages_name_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:\.ci|docs|frontier|primitives|tests|tools|benchmarks)/[\w./]+)`", text)
    assert len(named) > 8
    missing = [name for name in named if "NAME" not in name and not Path(ROOT, name).exists()]
    assert not missing

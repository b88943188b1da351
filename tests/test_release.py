"""What a release consists of besides the package: its files agree with each other and with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from pages import ROOT
from test_docs_links import links

import frontier as fr

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
#: Pages beside the README.
COMMUNITY = ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")


def test_the_changelog_begins_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first = re.search(r"^## \[(.+?)\] - (unreleased|\d{4}-\d\d-\d\d)$", text, re.MULTILINE)
    assert first is not None
    assert first[1] == fr.__version__


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    values = dict(re.findall(r"^([\w-]+): (.+)$", text, re.MULTILINE))
    assert values["version"] == fr.__version__
    assert values["license"] == PROJECT["license"]
    assert f"- name: {PROJECT['authors'][0]['name']}\n" in text


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

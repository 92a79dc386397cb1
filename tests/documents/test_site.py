"""The site's navigation names every page once, and the site builds without warnings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from pages import ROOT

CONFIGURATION = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
DOCS = ROOT / "docs"
KINDS = ["Tutorials", "How-to", "Explanation", "Reference"]


def named(entry: str | list | dict) -> list[str]:
    """The pages that a part of the navigation names."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [page for part in parts for page in named(part)]


def test_the_navigation_names_every_page_once() -> None:
    pages = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))
    assert sorted(named(CONFIGURATION["nav"])) == pages


def test_the_navigation_has_the_four_kinds() -> None:
    kinds = {kind: named(part) for entry in CONFIGURATION["nav"] for kind, part in entry.items()}
    assert list(kinds) == ["By question", *KINDS]
    for kind, folder in {"Tutorials": "tutorials", "Explanation": "explanation"}.items():
        there = {str(page.relative_to(DOCS)) for page in (DOCS / folder).glob("*.md")}
        assert there <= set(kinds[kind])
    index = (DOCS / "README.md").read_text()
    assert all(f"| **{kind}** |" in index for kind in KINDS)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    here = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def test_links_out_of_the_documentation_lead_to_pages_of_the_site(site: Path) -> None:
    """`mkdocs --strict` checks the links in Markdown; this test checks those in the built pages."""
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(list(DOCS.rglob("*.md")))
    counted = Counter()
    for page in pages:
        if page.name == "404.html":
            continue
        for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text()):
            if "://" in link or link.startswith(("data:", "mailto:", "javascript:")):
                continue
            target = (page.parent / link).resolve()
            assert target.exists(), f"{page.relative_to(site)}: {link}"
            counted["repository" in target.parts] += 1
    assert counted[True] > 50


def test_pages_load_nothing_from_the_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link)\b[^>]*(?:src|href)="?(https?:[^"> ]+)', page.read_text()
        )
        assert loaded == [], page.relative_to(site)
    assert not re.search(r"url\(\"?https?:", "".join(f.read_text() for f in site.rglob("*.css")))


def test_anchors_are_those_of_github(site: Path) -> None:
    """Headings that other pages link to have the same anchors on the site."""
    page = (site / "frameworks" / "django.html").read_text()
    assert 'id="django-6-djangotasks"' in page

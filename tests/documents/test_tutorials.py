"""Tutorials: each command prints what the page says, and the index leads to every page."""

from __future__ import annotations

import pytest
from pages import ROOT, answers

DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_commands_print_what_the_tutorial_says(page, tmp_path):
    found = answers(page.read_text(), tmp_path)
    assert len(found) >= 2
    for block, printed in found:
        assert block.group(2) == printed


def test_the_index_leads_to_every_tutorial_and_explanation():
    index = (DOCS / "README.md").read_text()
    pages = [*TUTORIALS, *(DOCS / "explanation").glob("*.md")]
    assert len(pages) == 10
    for page in pages:
        assert f"]({page.relative_to(DOCS)})" in index, page

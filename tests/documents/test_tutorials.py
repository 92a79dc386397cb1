"""Tutorials and explanations show the real output of their commands, which leave nothing behind."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT
from tutorials import answers, pages

TUTORIALS = [
    "first_answer.md",
    "lanes.md",
    "simulation.md",
    "spread.md",
    "stages.md",
    "two_kinds.md",
]


@pytest.mark.parametrize("page", pages(), ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    for block, printed in answers(page.read_text(), tmp_path):
        assert block.group(2) == printed
    assert list(tmp_path.iterdir()) == []


def test_every_tutorial_is_tested_and_begins_with_its_end() -> None:
    tutorials = [page for page in pages() if page.parent.name == "tutorials"]
    assert [page.name for page in tutorials] == TUTORIALS
    for page in tutorials:
        text = page.read_text()
        assert "\n\nAt the end of this tutorial you " in text
        assert text.count("```sh\n") >= 5


def test_the_picture_of_reciprocal_slots_is_what_its_program_draws() -> None:
    program = ROOT / "site" / "reciprocal_slots.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    picture = ROOT / "docs" / "images" / "reciprocal_slots.svg"
    assert picture.read_text() == done.stdout, f"draw it again: {program.name} >{picture}"
    (label,) = re.findall(r'aria-label="([^"]*)"', done.stdout)
    page = (ROOT / "docs" / "explanation" / "reciprocal_slots.md").read_text()
    assert f"![{label}](../images/{picture.name})" in " ".join(page.split())

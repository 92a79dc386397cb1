"""The guide by question shows the real output of its commands."""

from __future__ import annotations

from pages import ROOT, answers


def test_commands_print_what_the_guide_says(tmp_path):
    found = answers((ROOT / "docs" / "README.md").read_text(), tmp_path)
    assert len(found) == 6
    for block, printed in found:
        assert block.group(2) == printed

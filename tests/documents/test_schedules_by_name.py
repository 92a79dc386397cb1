"""The pages on schedules by name, reciprocals and kinds show the real output of their commands."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))


@pytest.mark.parametrize("page", ["kinds.md", "schedules/names.md", "schedules/reciprocals.md"])
def test_commands_print_what_the_page_says(page, tmp_path):
    text = (ROOT / "docs" / page).read_text()
    shown = re.findall(r"```sh\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert len(shown) == text.count("```sh\n") >= 2
    for command, printed in shown:
        command = command.replace("target/release/offbeat", str(BINARY))
        run = ["bash", "-euc", command]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout == printed


def test_the_refusal_of_the_page(tmp_path):
    text = (ROOT / "docs" / "schedules" / "names.md").read_text()
    (refusal,) = re.findall(r"```\n(schedules\.toml:.*?)```", text, re.DOTALL)
    table = '[[schedule]]\nname = "bank-sync"\nversion = 1\nperiod = "8h"\nslot_count = 7\n'
    (tmp_path / "schedules.toml").write_text(table)
    command = [BINARY, "schedules", "check", "schedules.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, f"offbeat: {refusal}")

"""Pages that show commands, each followed by its output.

`python tests/documents/pages.py PAGE…` updates the output in the pages.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BINARY = Path(os.environ.get("OFFBEAT_BIN", ROOT / "target" / "release" / "offbeat"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def answer(language: str, text: str, folder: Path) -> str:
    """Run a command of a page, or a query on the most recent output file."""
    if language == "sql":
        newest = max(folder.glob("*.sqlite"), key=lambda file: file.stat().st_mtime_ns)
        rows = sqlite3.connect(newest).execute(text).fetchall()
        return "".join("|".join(map(str, row)) + "\n" for row in rows)
    here = text.replace("target/release/offbeat", str(BINARY))
    here = re.sub(r"\b(\w+\.(?:sqlite|csv))", rf"{folder}/\1", here)
    command = ["bash", "-euo", "pipefail", "-c", here]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def answers(page: str, folder: Path) -> list[tuple[re.Match, str]]:
    """Run all commands and queries in order; yield each block of output with its new text."""
    found, last = [], ""
    for block in BLOCK.finditer(page):
        language, text = block.groups()
        if language in ("sh", "sql"):
            last = answer(language, text, folder)
        elif not language:
            found.append((block, last))
    return found


def rewrite(path: Path) -> None:
    page = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        for block, printed in reversed(answers(page, Path(folder))):
            page = page[: block.start(2)] + printed + page[block.end(2) :]
    path.write_text(page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))

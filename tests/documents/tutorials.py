"""Tutorials and explanations, which a reader follows in one shell.

All commands of a page run in one shell and one folder, as the reader's do. `python
tests/documents/tutorials.py PAGE…` updates the output in the pages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import BINARY, BLOCK, ROOT

# It also runs as a program, without the path of pytest.ini.
sys.path.insert(0, str(Path(__file__).parents[1]))

from support.ports import free_port

BETWEEN = "=== the end of a block of the page ==="
#: The default address, at which the reader, unlike a test, has a server.
DEFAULT = "127.0.0.1:2328"


def answers(page: str, folder: Path) -> list[tuple[re.Match, str]]:
    """Run all commands of a page in a folder; yield each block of output with its new text."""
    commands, outputs = [], []
    for block in BLOCK.finditer(page):
        language, text = block.groups()
        if language == "sh":
            commands.append(text.replace("target/release/offbeat", str(BINARY)))
        elif not language:
            outputs.append((block, len(commands) - 1))
    if not commands:
        return []
    script = f"echo '{BETWEEN}'\n".join(commands)
    address = f"127.0.0.1:{free_port()}"
    here = {name: value for name, value in os.environ.items() if "OFFBEAT" not in name}
    here |= {"OFFBEAT_LISTEN": address, "OFFBEAT_ADDRESS": address, "OFFBEAT_ADMIN_LISTEN": "off"}
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\nset -e\n{script}"],
        cwd=folder,
        env=here,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    printed = done.stdout.replace(address, DEFAULT).split(f"{BETWEEN}\n")
    assert len(printed) == len(commands)
    return [(block, printed[last]) for block, last in outputs]


def rewrite(path: Path) -> None:
    page = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        for block, printed in reversed(answers(page, Path(folder))):
            page = page[: block.start(2)] + printed + page[block.end(2) :]
    path.write_text(page)


def pages() -> list[Path]:
    """The pages that are followed in one shell."""
    docs = ROOT / "docs"
    found = [*docs.glob("tutorials/*.md"), *docs.glob("explanation/*.md")]
    return sorted(page for page in found if page.name != "README.md")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))

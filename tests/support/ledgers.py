"""Reads files to which other processes append lines."""

from pathlib import Path


def whole_lines(path: Path) -> list[str]:
    """Return the lines that are written to their end; a reader can see half of a line."""
    if not path.exists():
        return []
    return path.read_text().split("\n")[:-1]

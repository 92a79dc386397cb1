"""The settings of `offbeat serve`, from its help."""

from __future__ import annotations

import re
import subprocess
from functools import cache

from support.server import BINARY, ENVIRONMENT


@cache
def settings() -> list[tuple[str, str, str]]:
    """Every flag of the help that is a setting, with its variable and its default."""
    text = subprocess.run(
        [BINARY, "serve", "--help"],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = []
    for part in re.split(r"\n +(?:-\w, )?(?=--)", text)[1:]:
        words = " ".join(part.split())
        flag = words.split()[0]
        variable = re.search(r"\[env: (\w+)=?\]", words)
        default = re.search(r"\[default: (.*?)\]", words)
        if flag not in {"--help", "--check-config"}:  # no settings
            assert variable, f"{flag} has no variable"
            found.append((flag, variable[1], default[1] if default else "none"))
    return found

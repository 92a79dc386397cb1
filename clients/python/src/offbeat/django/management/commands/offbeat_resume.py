"""Resumes a declaration."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from ._base import OffbeatCommand, declared


class Command(OffbeatCommand):
    """Resumes a declaration."""

    help = "Plan a paused declaration again; runs of the pause are missed runs."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name of the declaration."""
        parser.add_argument("name", help="the declaration")

    def handle(self, *args: Any, **options: Any) -> None:
        """Resume the declaration."""
        chosen, declaration = declared(options["name"])
        chosen.pause(declaration.name, False)
        self.stdout.write(f"{declaration.name} is resumed")

"""Runs one row now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from offbeat.runner.rows import parse_row_id

from ._base import OffbeatCommand, declared


class Command(OffbeatCommand):
    """Plans an extra run of a row, which the next tick publishes."""

    help = "Run one row of a declaration now: the next tick publishes an extra run."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the name of the declaration, and the ID of the row."""
        parser.add_argument("name", help="the declaration")
        parser.add_argument("row_id", help="the ID of the row")

    def handle(self, *args: Any, **options: Any) -> None:
        """Plan the extra run."""
        chosen, declaration = declared(options["name"])
        try:
            row_id = parse_row_id(declaration.rows.id_type, options["row_id"])
        except ValueError as error:
            raise CommandError(f"{options['row_id']!r} is no ID: {error}") from error
        if not declaration.rows.contains(row_id):
            raise CommandError(f"{row_id} is not among the rows of {declaration.name}")
        run = chosen.run_now(declaration, row_id)
        self.stdout.write(f"run {run.run_id} starts with the next tick")

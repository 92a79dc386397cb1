"""What the commands share."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_datetime

from offbeat.errors import OffbeatError
from offbeat.runner import Declaration, Runner

from ...jobs import runner


class OffbeatCommand(BaseCommand):
    """A command that reports errors of Offbeat without a stack trace."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Turn errors of Offbeat into a ``CommandError``."""
        try:
            return super().execute(*args, **options)
        except OffbeatError as error:
            raise CommandError(str(error)) from error


def declared(name: str) -> tuple[Runner, Declaration[Any]]:
    """Return a runner, and its declaration of that name."""
    chosen = runner()
    if name not in chosen.declarations:
        known = ", ".join(sorted(chosen.declarations)) or "none"
        raise CommandError(f"{name} is not declared: there are {known}")
    return chosen, chosen.declarations[name]


def instant(text: str) -> datetime:
    """Parse an instant, in UTC unless the text has an offset."""
    found = parse_datetime(text)
    if found is None:
        raise CommandError(f"{text!r} is no time such as 2026-01-01T00:00:00Z")
    return found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)

"""The configuration of the Django app."""

from __future__ import annotations

from django.apps import AppConfig


class OffbeatConfig(AppConfig):
    """The models of runs and progress, checks and commands."""

    name = "offbeat.django"
    label = "offbeat"
    verbose_name = "Offbeat"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register checks and signals; nothing connects."""
        from . import checks, signals

        checks.register()
        signals.connect()

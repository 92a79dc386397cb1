"""Admin pages of runs and declarations: declarations can be paused, and rows run now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.utils.timezone import localtime

from .jobs import declarations, run_now
from .models import OffbeatProgress, OffbeatRun
from .store import get_store


def _to_second(time: datetime) -> str:
    """Format a local time with seconds, which Django's own formats leave out."""
    return f"{localtime(time):%Y-%m-%d %H:%M:%S}"


class _ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    def has_add_permission(self, request: Any) -> bool:
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False


@admin.register(OffbeatProgress)
class OffbeatProgressAdmin(_ReadOnly):
    """Declarations, and how far they are planned."""

    list_display = (
        "declaration",
        "state",
        "planned_until",
        "planned_count",
        "late_count",
        "dropped_count",
    )
    actions = ("pause", "resume")

    @admin.display(ordering="paused")
    def state(self, row: OffbeatProgress) -> str:
        """Return the state as text: Django would show a red cross for "not paused"."""
        return "paused" if row.paused else "active"

    @admin.display(ordering="watermark_time")
    def planned_until(self, row: OffbeatProgress) -> str:
        """Return the watermark."""
        return _to_second(row.watermark_time)

    @admin.action(description="Pause the selected declarations", permissions=["pause"])
    def pause(self, request: Any, queryset: Any) -> None:
        """Plan nothing until they are resumed."""
        for row in queryset:
            get_store().pause(row.declaration, True)

    @admin.action(description="Resume the selected declarations", permissions=["pause"])
    def resume(self, request: Any, queryset: Any) -> None:
        """Resume planning."""
        for row in queryset:
            get_store().pause(row.declaration, False)

    def has_pause_permission(self, request: Any) -> bool:
        """Require the permission to change declarations."""
        return bool(request.user.has_perm("offbeat.change_offbeatprogress"))


@admin.register(OffbeatRun)
class OffbeatRunAdmin(_ReadOnly):
    """Runs, by state and start."""

    list_display = ("start", "state", "declaration", "kind", "row_id")
    list_filter = ("state", "declaration", "kind")
    search_fields = ("row_id", "run_id")
    ordering = ("-start_time",)
    show_full_result_count = False
    actions = ("run_again",)

    @admin.display(ordering="start_time")
    def start(self, run: OffbeatRun) -> str:
        """Return when the run starts or started."""
        return _to_second(run.start_time)

    @admin.action(description="Run the selected rows now", permissions=["run"])
    def run_again(self, request: Any, queryset: Any) -> None:
        """Plan an extra run of each row."""
        declared = declarations()
        for run in queryset:
            if run.declaration not in declared:
                self.message_user(request, f"{run.declaration} is not declared", messages.ERROR)
                continue
            run_now(run.declaration, run.row_id)

    def has_run_permission(self, request: Any) -> bool:
        """Require the permission to add runs."""
        return bool(request.user.has_perm("offbeat.add_offbeatrun"))

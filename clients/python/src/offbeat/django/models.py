"""Runs, and how far declarations are planned."""

from __future__ import annotations

from django.db import models

from ..runner import Counts, Pass, Progress, RunState, StoredRun


class OffbeatRun(models.Model):
    """A run of a row."""

    run_id = models.CharField(primary_key=True, max_length=32)
    declaration = models.CharField(max_length=200)
    schedule = models.CharField(max_length=200, blank=True)
    row_id = models.CharField(max_length=255)
    kind = models.CharField(max_length=64)
    scheduled_time = models.DateTimeField()
    start_time = models.DateTimeField()
    state = models.CharField(
        max_length=16, choices=[(state.value, state.value) for state in RunState]
    )
    publication = models.IntegerField(default=0)
    next_action_time = models.DateTimeField()

    class Meta:
        db_table = "offbeat_run"
        verbose_name = "run"
        indexes = [
            # For runs that are due, that are overdue, and that may be pruned.
            models.Index(fields=["state", "next_action_time"], name="offbeat_run_action"),
            models.Index(fields=["declaration", "start_time"], name="offbeat_run_start"),
            models.Index(fields=["row_id", "start_time"], name="offbeat_run_row"),
        ]

    def __str__(self) -> str:
        return f"{self.declaration} {self.row_id} {self.start_time:%Y-%m-%d %H:%M:%S}"

    def record(self) -> StoredRun:
        """Return the run as the runner knows it."""
        return StoredRun(
            run_id=self.run_id,
            declaration=self.declaration,
            schedule=self.schedule,
            row_id=self.row_id,
            kind=self.kind,
            scheduled_time=self.scheduled_time,
            start_time=self.start_time,
            state=RunState(self.state),
            publication=self.publication,
            next_action_time=self.next_action_time,
        )

    @classmethod
    def of(cls, run: StoredRun) -> OffbeatRun:
        """Return the row of a run."""
        return cls(
            run_id=run.run_id,
            declaration=run.declaration,
            schedule=run.schedule,
            row_id=run.row_id,
            kind=run.kind,
            scheduled_time=run.scheduled_time,
            start_time=run.start_time,
            state=run.state.value,
            publication=run.publication,
            next_action_time=run.action_time,
        )


class OffbeatProgress(models.Model):
    """How far a declaration is planned."""

    declaration = models.CharField(primary_key=True, max_length=200)
    schedule = models.CharField(max_length=200)
    watermark_time = models.DateTimeField()
    paused = models.BooleanField(default=False)
    pass_now = models.DateTimeField(null=True)
    pass_end_time = models.DateTimeField(null=True)
    pass_cursor = models.CharField(max_length=300, blank=True, default="")
    next_schedule = models.CharField(max_length=200, blank=True, default="")
    cutover_time = models.DateTimeField(null=True)
    planned_count = models.BigIntegerField(default=0)
    late_count = models.BigIntegerField(default=0)
    dropped_count = models.BigIntegerField(default=0)
    superseded_count = models.BigIntegerField(default=0)
    skipped_count = models.BigIntegerField(default=0)

    class Meta:
        db_table = "offbeat_progress"
        verbose_name = "declaration"

    def __str__(self) -> str:
        return self.declaration

    def record(self) -> Progress:
        """Return the progress as the runner knows it."""
        open_pass = None
        if self.pass_now is not None and self.pass_end_time is not None:
            open_pass = Pass(self.pass_now, self.pass_end_time, self.pass_cursor)
        return Progress(
            declaration=self.declaration,
            schedule=self.schedule,
            watermark_time=self.watermark_time,
            paused=self.paused,
            open_pass=open_pass,
            next_schedule=self.next_schedule,
            cutover_time=self.cutover_time,
            counts=Counts(
                planned=self.planned_count,
                late=self.late_count,
                dropped=self.dropped_count,
                superseded=self.superseded_count,
                skipped=self.skipped_count,
            ),
        )

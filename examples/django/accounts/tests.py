"""Tests without a sidecar, a queue or a clock."""

from datetime import datetime, timedelta, timezone

from django.test import TestCase
from offbeat.django.testing import override_offbeat

from .models import Account


class DueTest(TestCase):
    def test_a_tick_plans_what_is_due(self):
        """All accounts run within a cycle of one minute."""
        from offbeat.django.jobs import runner
        from offbeat.django.models import OffbeatRun

        with override_offbeat(now=datetime(2026, 1, 1, tzinfo=timezone.utc)) as client:
            Account.objects.bulk_create([Account() for _ in range(10)])
            for _ in range(13):
                for declaration in runner().declarations.values():
                    runner().plan(declaration)
                client.clock.travel(timedelta(seconds=5))
        runs = OffbeatRun.objects.filter(kind="balance")
        self.assertEqual(runs.values("row_id").distinct().count(), 10)

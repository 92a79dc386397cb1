"""Django without Celery: 200,000 rows, querysets, new rows."""

from __future__ import annotations

from harness import Bank

MANY = """
import time, uuid
from datetime import timedelta
from django.db import connection
from django.test.utils import CaptureQueriesContext
from offbeat.django import jobs
Account.objects.bulk_create([Account() for _ in range(200_000)], batch_size=5_000)
with connection.cursor() as cursor:
    cursor.execute("ANALYZE")
runner = jobs.runner()
declaration = runner.declarations["bank.tasks.transactions"]
runner.plan(declaration)
time.sleep(4)
started = time.monotonic()
with CaptureQueriesContext(connection) as queries:
    planned = runner.plan(declaration)
seconds = time.monotonic() - started
(select,) = [one["sql"] for one in queries if 'FROM "bank_account"' in one["sql"]]
with connection.cursor() as cursor:
    cursor.execute("EXPLAIN " + select)
    plan = " ".join(row[0] for row in cursor.fetchall())
print(json.dumps([planned, seconds, len(queries), plan]))
"""

QUERYSETS = """
from datetime import datetime, timedelta, timezone
start = datetime(2026, 1, 1, tzinfo=timezone.utc)
Account.objects.bulk_create([Account(active=number % 2 == 0) for number in range(1_000)])
def ids(rows):
    return {str(pk) for pk in rows.values_list("pk", flat=True)}
seconds = [
    ids(Account.objects.due("bank", kind="balance", start=start + timedelta(seconds=n),
                            end=start + timedelta(seconds=n + 1)))
    for n in range(8 * 3_600) if n % 240 == 0
]
end = start + timedelta(hours=8)
whole = ids(Account.objects.due("bank", kind="balance", start=start, end=end))
active = ids(
    Account.objects.filter(active=True).due("bank", kind="balance", start=start, end=end)
)
slots = [ids(Account.objects.in_slot("bank", index, kind="balance")) for index in range(30)]
print(json.dumps([len(whole), len(active), sum(map(len, slots)), len(set().union(*slots)),
                  sum(map(len, seconds))]))
"""

NEW = """
from django.db import transaction
from offbeat.django import get_client, get_schedule
client, schedule = get_client(), get_schedule("bank")
created = []
for _ in range(200):
    with transaction.atomic():
        row = Account.objects.create()
    now = OffbeatRun.objects.filter(row_id=str(row.pk)).count()
    soon = 0
    for kind in ("balance", "transactions"):
        run = client.assign_slot(schedule, row.pk, kind=kind).next_run
        soon += (run.start_time - run.start_time.now(run.start_time.tzinfo)).total_seconds() < 8.5
    created.append([now, soon])
with transaction.atomic():
    gone = Account.objects.create()
    transaction.set_rollback(True)
print(json.dumps([created, OffbeatRun.objects.filter(row_id=str(gone.pk)).count()]))
"""


def test_a_tick_reads_what_is_due_of_200_000_rows(bank: Bank) -> None:
    bank.environment["CYCLE"] = "8h"
    planned, seconds, query_count, plan = bank.shell(MANY)
    assert 5 <= planned <= 80  # 200,000 in 8 hours, for 4 seconds and a bit
    assert "offbeat_hash_" in plan, plan
    assert query_count < 20
    assert seconds < 1


def test_querysets_compose(bank: Bank) -> None:
    bank.environment["CYCLE"] = "8h"
    whole, active, in_slots, different, _ = bank.shell(QUERYSETS)
    assert (whole, active) == (1_000, 500)
    assert (in_slots, different) == (1_000, 1_000)


def test_the_first_run_of_a_new_row_is_planned_in_its_transaction(bank: Bank) -> None:
    created, gone = bank.shell(NEW)
    assert gone == 0
    # Of a cycle of 30 s, some start before the tick after the next. A second lies between clocks.
    assert sum(abs(now - soon) for now, soon in created) <= 40
    assert 40 < sum(now for now, _ in created) < 200

"""Messages that come early, twice, or too late, and a process that dies in a job."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from harness import Bank
from support.waiting import wait_until

#: Plans runs of one account, publishes them, and sends their messages without an eta.
SEND = """
import app
from datetime import timedelta
from bank import tasks
from offbeat.runner import RunMessage, StoredRun
store = app.integration.runner.store
account = Account.objects.create()
def send(run, publication=None, count=1):
    fields = {{**RunMessage.of(run).to_json()}}
    fields["publication"] = run.publication if publication is None else publication
    for _ in range(count):
        tasks.transactions.apply_async((account.pk,), headers={{"offbeat_run": fields}})
runs = []
for number, delay in enumerate({delays}):
    start = store.now() + timedelta(seconds=delay)
    runs.append(StoredRun(f"{{number:032x}}", "bank.tasks.transactions", "", str(account.pk),
                          "transactions", start, start))
OffbeatRun.objects.all().delete()
store.add(runs)
published = store.publish(store.now() + timedelta(hours=1),
                          {{"bank.tasks.transactions": timedelta(hours=1)}}, 100)
published.sort(key=lambda run: run.run_id)
{then}
print(json.dumps([run.start_time.isoformat() for run in published]))
"""


def states(bank: Bank) -> list[list[str]]:
    rows = 'OffbeatRun.objects.order_by("run_id").values_list("run_id", "state", "publication")'
    return bank.shell(f"print(json.dumps([list(row) for row in {rows}]))")


def test_early_double_and_obsolete_messages(bank: Bank) -> None:
    bank.worker("-c", "2")
    then = "send(published[0]); send(published[1], count=5); send(published[2], publication=2)"
    early, _, _ = bank.shell(SEND.format(delays=[6, -1, -1], then=then))
    wait_until(40, lambda: len(bank.ledger()) == 2)
    time.sleep(2)
    lines = {line["run"][-1]: datetime.fromisoformat(line["time"]) for line in bank.ledger()}
    assert sorted(lines) == ["0", "1"]
    assert len(bank.ledger()) == 2
    late = lines["0"] - datetime.fromisoformat(early)
    assert timedelta(0) <= late < timedelta(seconds=3)
    assert [row[1] for row in states(bank)] == ["done", "done", "published"]


def test_a_process_that_dies_in_a_job_has_its_run_published_by_the_next_tick(bank: Bank) -> None:
    kill = bank.folder / "kill"
    kill.touch()
    bank.environment["KILL"] = str(kill)
    bank.worker("-c", "1")
    bank.shell(SEND.format(delays=[-1], then="send(published[0])"))
    wait_until(40, lambda: not kill.exists())
    wait_until(20, lambda: states(bank)[0][1] == "published")
    tick = "import app; app.integration.runner.tick(); print(1)"
    bank.shell(tick)
    wait_until(20, lambda: states(bank)[0][1] == "done")
    assert states(bank)[0][2] == 2
    # The tick plans the account's next runs as well, and one of them may start by now.
    assert [line["run"] for line in bank.ledger()].count("0" * 32) == 1


def test_a_row_that_was_deleted_ends_its_run(bank: Bank) -> None:
    bank.worker("-c", "1")
    bank.shell(
        SEND.format(
            delays=[-1], then="account.delete(); account.pk = runs[0].row_id; send(published[0])"
        )
    )
    wait_until(40, lambda: states(bank)[0][1] == "skipped")
    assert not bank.ledger()

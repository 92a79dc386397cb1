"""The pages about frameworks: their files equal those of the examples, which run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import django
import pytest
from offbeat.testing import FakeClient

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in sorted((ROOT / "docs" / "frameworks").glob("*.md"))
    if "<!-- " in page.read_text()
]
CREATE = (
    "from accounts.models import Account; "
    "Account.objects.bulk_create([Account() for _ in range({count})])"
)
COUNT = (
    "from accounts.models import Account; "
    "print(Account.objects.exclude(balance_time=None).count(),"
    " Account.objects.exclude(transactions_time=None).count())"
)

STATEMENTS = (
    "from accounts.models import Account; from accounts.tasks import send_statement; "
    "[send_statement.enqueue(account.pk) for account in Account.objects.all()]"
)
#: How many statements were sent, and whether over most of a cycle.
SENT = (
    "from accounts.models import Account; from datetime import timedelta; "
    "times = sorted(account.statement_time for account in Account.objects.all()"
    " if account.statement_time); "
    "print(len(times), times[-1] - times[0] > timedelta(seconds=15))"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_of_a_page_are_those_of_its_example(page: Path) -> None:
    assert len(PAGES) >= 5
    files = re.findall(r"<!-- (\S+) -->\n```\w+\n(.*?)```", page.read_text(), re.DOTALL)
    assert files
    for path, text in files:
        assert (ROOT / path).read_text() == text, path


def run(example: str, environment: dict[str, str], *command: str, seconds: float = 60) -> str:
    """Run a command of an example until it ends or its time is up."""
    process = subprocess.Popen(
        command,
        cwd=ROOT / "examples" / example,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        printed, _ = process.communicate(timeout=30)
    assert process.returncode == 0, printed
    return printed


def prepared(example: str, folder: Path) -> dict[str, str]:
    environment = {"DATABASE": str(folder / "bank.sqlite3"), "BROKER": str(folder / "broker")}
    (folder / "broker").mkdir()
    manage = [sys.executable, "manage.py"]
    run(example, environment, *manage, "migrate", "-v0")
    run(example, environment, *manage, "shell", "-v0", "-c", CREATE.format(count=40))
    assert "no issues" in run(example, environment, *manage, "check", "--database", "default")
    return environment


def synced(example: str, environment: dict[str, str]) -> list[int]:
    """Return how many accounts have each time."""
    manage = [sys.executable, "manage.py"]
    counts = run(example, environment, *manage, "shell", "-v0", "-c", COUNT)
    return [int(count) for count in counts.split()]


def test_the_page_on_django(tmp_path: Path) -> None:
    environment = prepared("django", tmp_path)
    manage = [sys.executable, "manage.py"]
    assert "OK" in run("django", environment, *manage, "test", "accounts")
    planned = run("django", environment, *manage, "offbeat_plan", "--hours", "0.1")
    assert "accounts.tasks.sync_balance" in planned
    printed = run("django", environment, *manage, "offbeat_run", "--seconds", "70", seconds=100)
    assert "accounts.tasks.sync_transactions runs" in printed
    assert synced("django", environment) == [40, 40]
    account = run(
        "django",
        environment,
        *[*manage, "shell", "-v0", "-c"],
        "from accounts.models import Account; print(Account.objects.first().pk)",
    ).strip()
    name = "accounts.tasks.sync_balance"
    assert "is paused" in run("django", environment, *manage, "offbeat_pause", name)
    assert f"{name}: paused" in run("django", environment, *manage, "offbeat_due", "--dry-run")
    assert "is resumed" in run("django", environment, *manage, "offbeat_resume", name)
    due = run("django", environment, *manage, "offbeat_due", "--dry-run")
    assert "runs would be planned" in due
    assert "starts with the next tick" in run(
        "django", environment, *manage, "offbeat_run_now", name, account
    )
    assert "runs are deleted" in run("django", environment, *manage, "offbeat_prune")


@pytest.mark.skipif(django.VERSION < (6,), reason="django.tasks comes with Django 6")
def test_the_page_on_django_tasks(tmp_path: Path) -> None:
    example, manage = "django_tasks", [sys.executable, "manage.py"]
    environment = prepared(example, tmp_path)
    worker = subprocess.Popen(
        [*manage, "db_worker", "-v0"],
        cwd=ROOT / "examples" / example,
        env={**os.environ, **environment},
    )
    try:
        run(example, environment, *manage, "shell", "-v0", "-c", STATEMENTS)
        printed = run(example, environment, *manage, "offbeat_run", "--seconds", "40")
        assert "accounts.tasks.sync_transactions runs" in printed
        assert synced(example, environment) == [40, 40]
        sent = run(example, environment, *manage, "shell", "-v0", "-c", SENT)
        assert sent.split() == ["40", "True"]
    finally:
        worker.terminate()
        worker.wait(timeout=30)


def test_the_page_on_celery(tmp_path: Path) -> None:
    environment = prepared("celery", tmp_path)
    celery = [str(Path(sys.executable).with_name("celery")), "-A", "bank", "worker"]
    options = ["-P", "solo", "-B", "-s", str(tmp_path / "beat")]
    try:
        run("celery", environment, *celery, *options, seconds=75)
    except AssertionError as error:
        # kombu's file transport sometimes reads a message that is not written yet, and the worker
        # ends. The page says so; the runs are in the database, and the next worker does them.
        if "transport/filesystem.py" not in str(error) or "JSONDecodeError" not in str(error):
            raise
        run("celery", environment, *celery, *options, seconds=75)
    assert synced("celery", environment) == [40, 40]


def test_the_page_on_fastapi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "fastapi"))
    monkeypatch.setenv("OFFBEAT_ADDRESS", "127.0.0.1:1")  # where nothing listens
    from app import EVERY_8_HOURS, app
    from fastapi.testclient import TestClient

    with TestClient(app) as web:
        answer = web.get("/accounts/acme/next-run").json()
    next_run = FakeClient().assign_slot(EVERY_8_HOURS, "acme").next_run.start_time
    assert answer == {"next_run": next_run.isoformat(), "decided_by": "local"}

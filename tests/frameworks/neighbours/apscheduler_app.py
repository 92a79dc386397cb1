"""An application on APScheduler, with a job for each row."""

from datetime import timedelta

from apscheduler.schedulers.background import BackgroundScheduler
from offbeat import Schedule
from offbeat.apscheduler import OffbeatTrigger

EVERY_8_HOURS = Schedule(timedelta(hours=8))
ACCOUNT_IDS = range(1, 101)


def sync(account_id: int) -> None:
    """Sync an account."""


scheduler = BackgroundScheduler()
for account in ACCOUNT_IDS:
    trigger = OffbeatTrigger(EVERY_8_HOURS, account)
    scheduler.add_job(sync, trigger, args=[account], id=str(account))

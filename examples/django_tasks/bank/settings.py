"""Settings of the example: SQLite, and workers that take tasks from it."""

import os
from pathlib import Path

SECRET_KEY = "of an example"
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django_tasks_db",
    "offbeat.django",
    "accounts",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("DATABASE", Path(__file__).parents[1] / "bank.sqlite3"),
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 30},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

OFFBEAT = {
    "SCHEDULES": {
        # Half a minute, so that there is something to see; in production rather 8 hours.
        "bank": {"period": "30s", "slot_count": 30, "kinds": ["balance", "transactions"]},
    },
    "INTERVAL": "5s",
}

TASKS = {
    "default": {"BACKEND": "django_tasks_db.DatabaseBackend"},
    "with_balance": {
        "BACKEND": "offbeat.django.tasks.OffbeatBackend",
        "OPTIONS": {"wraps": "default", "schedule": "bank", "kind": "balance"},
    },
}

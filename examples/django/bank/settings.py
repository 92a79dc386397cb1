"""Settings of the example: SQLite, no sidecar, no queue."""

import os
from pathlib import Path

SECRET_KEY = "of an example"
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "offbeat.django",
    "accounts",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("DATABASE", Path(__file__).parents[1] / "bank.sqlite3"),
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

OFFBEAT = {
    "SCHEDULES": {
        # A minute, so that there is something to see; in production rather 8 hours.
        "bank": {"period": "60s", "slot_count": 60, "kinds": ["balance", "transactions"]},
    },
    "INTERVAL": "5s",
}

"""Settings of the example: SQLite, no sidecar, and files as a broker."""

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

# A broker in files suits only a first try on one machine: kombu may read a file before it is
# written, and the worker ends.
BROKER = os.environ.get("BROKER", "/tmp/bank-broker")
CELERY_BROKER_URL = "filesystem://"
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "data_folder_in": BROKER,
    "data_folder_out": BROKER,
    "control_folder": f"{BROKER}/control",
}

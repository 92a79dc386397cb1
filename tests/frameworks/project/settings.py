"""A project on PostgreSQL and Redis, with a short cycle."""

import os

SECRET_KEY = "of the tests"
USE_TZ = True
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "offbeat.django",
    "bank",
]
if os.environ.get("BEAT") == "django_celery_beat":
    INSTALLED_APPS.append("django_celery_beat")
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["PGHOST"],
        "USER": "postgres",
        "NAME": "bank",
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
OFFBEAT = {
    "MODE": os.environ.get("MODE", "local"),
    "SCHEDULES": {
        "bank": {
            "period": os.environ.get("CYCLE", "30s"),
            "slot_count": int(os.environ.get("SLOT_COUNT", "30")),
            "kinds": ["balance", "transactions"],
        }
    },
    "INTERVAL": os.environ.get("INTERVAL", "3s"),
}
CELERY_BROKER_URL = os.environ["BROKER"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": float(os.environ.get("VISIBILITY_TIMEOUT", "3600"))
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_MAX_LOOP_INTERVAL = 1
CELERY_REDBEAT_REDIS_URL = CELERY_BROKER_URL
CELERY_REDBEAT_REDIS_OPTIONS = {}
CELERY_REDBEAT_LOCK_TIMEOUT = 10

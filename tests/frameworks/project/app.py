"""The app of Celery."""

import os

import offbeat.celery
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")

app = Celery("bank")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
integration = offbeat.celery.setup(app)

"""A Django app, which contains the tasks of the Celery app."""

from app import app as celery_app

__all__ = ["celery_app"]

"""Modules whose library is missing, or wants a project, have no doctests to collect."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = ["offbeat/django/*"]
if importlib.util.find_spec("celery") is None:
    collect_ignore_glob.append("offbeat/celery/*")

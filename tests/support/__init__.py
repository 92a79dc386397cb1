"""Shared by several suites: servers as processes, callers, raw connections and requests."""

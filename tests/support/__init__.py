"""Shared by several suites: servers and databases as processes, callers, connections, waiting."""

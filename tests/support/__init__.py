"""Shared by several suites: a server as a process, and a caller beside it."""

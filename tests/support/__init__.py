"""What several suites need: a server as a process, a caller beside it, and HTTP as text."""

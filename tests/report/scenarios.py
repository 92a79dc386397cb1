"""Scenarios for the simulator, each for another feature of its page."""

from __future__ import annotations

OVERLOAD = """
name = "More than the workers can do"
duration = "4d"
workers = 2
[users]
count = 1000
cycle = "24h"
[[kinds]]
name = "sync"
run_time = "4m"
[[strategies]]
kind = "at_once"
[[strategies]]
kind = "slots"
"""

# While B is down, its customers keep all workers busy, so A's customers wait too.
OUTAGE = """
name = "B is down"
duration = "4d"
workers = 4
[users]
count = 8640
cycle = "24h"
[[kinds]]
name = "sync"
run_time = "20s"
[[kinds]]
name = "report"
run_time = "1s"
[[kinds]]
name = "export"
placement = "same"
run_time = "1s"
[[partners]]
name = "A"
share = 0.6
[[partners]]
name = "B"
share = 0.4
max_per_second = 5
outages = [{ from = "25h", to = "31h" }]
outage_time = "2m"
[producer]
outages = [{ from = "60h", to = "64h" }]
[[strategies]]
kind = "slots"
[[strategies]]
kind = "slots"
name = "anywhere"
other_kinds = "independent"
[[strategies]]
kind = "random_smear"
"""

LANES = """
name = "Lanes for the same jobs"
duration = "1d"
workers = 4
seeds = [1, 2]
[users]
count = 4000
cycle = "2h"
[[kinds]]
name = "job"
run_time = { quantiles = [[0.9, "500ms"], [0.91, "18s"], [1, "20s"]] }
[[strategies]]
kind = "random_smear"
name = "one queue"
[[strategies]]
kind = "random_smear"
name = "two lanes"
lanes = [{ workers = 1, timeout = "600ms" }, { workers = 3 }]
"""

WINDOWS = """
name = "Only at night"
duration = "2d"
workers = 4
[users]
count = 2000
cycle = "24h"
active_windows = ["22:00-06:00"]
[[kinds]]
name = "sync"
run_time = "1s"
[[kinds]]
name = "refresh"
run_time = "1s"
[[kinds]]
name = "weekly"
run_time = "1s"
cycle = "48h"
[[strategies]]
kind = "slots"
"""

# Two weeks of many users, a partner that is down twice, and kinds in every placement.
NIGHTLY = """
name = "Nightly sync"
duration = "14d"
workers = 2
[users]
count = 2000
cycle = "24h"
[[kinds]]
name = "sync"
run_time = { p50 = "20s", p90 = "60s" }
[[kinds]]
name = "weekly report of all accounts"
run_time = "1s"
[[kinds]]
name = "export"
placement = "same"
run_time = "1s"
[[partners]]
name = "A"
share = 0.6
outages = [{ from = "29h", to = "31h" }]
[[partners]]
name = "B"
share = 0.4
max_per_second = 1
outages = [{ from = "25h", to = "28h" }, { from = "9d", to = "10d" }]
outage_time = "2m"
[[strategies]]
kind = "at_once"
[[strategies]]
kind = "self_rescheduling"
[[strategies]]
kind = "slots"
[[strategies]]
kind = "slots"
name = "slots, other kinds anywhere"
other_kinds = "independent"
[[strategies]]
kind = "spread"
"""

"""Sets the clock of a Python process wrong, by ``CLOCK_OFFSET`` seconds, before it imports more."""

import os
from datetime import datetime, timedelta, timezone

import time_machine

_now = datetime.now(timezone.utc) + timedelta(seconds=float(os.environ["CLOCK_OFFSET"]))
time_machine.travel(_now, tick=True).start()

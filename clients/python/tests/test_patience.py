"""Which errors clients of named spreads retry, and which they do not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from offbeat import ResourceExhausted, Unavailable
from offbeat.named._steps import Sleep, patiently


def attempts_until(errors):
    """Run a call that fails with these errors in order; return how often the client slept."""
    rest = iter(errors)

    def attempt():
        yield from ()
        error = next(rest, None)
        if error is not None:
            raise error
        return "done"

    steps = list(patiently(60, attempt))
    assert all(isinstance(step, Sleep) for step in steps)
    return len(steps)


def test_a_refusal_is_tried_again_only_if_it_names_a_delay():
    full = ResourceExhausted("full", retry_delay=timedelta(milliseconds=5))
    assert attempts_until([full, Unavailable("restarts"), full]) == 3
    with pytest.raises(ResourceExhausted, match="too large"):
        attempts_until([ResourceExhausted("too large")])

"""Slow peers, which start beside the stalled readers, and are checked here."""

from __future__ import annotations

import pytest
from slow import FORMS, TIMES, SlowPeers


def test_beside_slow_peers(slow: SlowPeers) -> None:
    slow.join(300)
    assert not slow.is_alive(), "it has not come to its end"
    if slow.failure is not None:
        raise slow.failure


@pytest.mark.parametrize("form", FORMS)
def test_slow_peers(slow: SlowPeers, form: str) -> None:
    slow.join(300)
    assert form in slow.lives, f"it did not come to its end: {slow.failure!r}"
    limit = FORMS[form].seconds
    late = [life for life in slow.lives[form] if life is None or life > limit]
    assert not late, f"{form}: {len(late)} of {TIMES} were not cut off within {limit} s: {late[:3]}"

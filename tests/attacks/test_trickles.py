"""Slowloris: begun beside the stalled readers, judged here."""

from __future__ import annotations

import pytest
from slow import FORMS, TIMES, Slowloris


def test_beside_slowloris(slow: Slowloris) -> None:
    slow.join(300)
    assert not slow.is_alive(), "it has not come to its end"
    if slow.failure is not None:
        raise slow.failure


@pytest.mark.parametrize("form", FORMS)
def test_slowloris(slow: Slowloris, form: str) -> None:
    slow.join(300)
    assert form in slow.lives, f"it did not come to its end: {slow.failure!r}"
    limit = FORMS[form].seconds
    late = [life for life in slow.lives[form] if life is None or life > limit]
    assert not late, f"{form}: {len(late)} of {TIMES} were not cut off within {limit} s: {late[:3]}"

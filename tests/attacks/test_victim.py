"""Which of the victim's calls are judged."""

from __future__ import annotations

from victim import Lap


def test_calls_during_which_the_machine_stood_still_are_left_out() -> None:
    begun_before, within, ended_after = (1.0, 1.3), (1.35, 1.4), (1.45, 1.6)
    lap = Lap([(0.5, 0.6), begun_before, within, ended_after, (2.0, 2.1)], ["a failure"])
    judged = lap.without([(1.2, 1.5)])
    assert judged.calls == [(0.5, 0.6), (2.0, 2.1)]
    assert judged.stolen == 3
    assert judged.failures == ["a failure"], "who fails has failed"


def test_so_are_those_that_waited_behind_them() -> None:
    behind, behind_that, later = (1.2, 1.5), (1.4, 1.6), (1.6, 1.7)
    judged = Lap([(1.0, 1.3), behind, behind_that, later]).without([(0.9, 1.1)])
    assert judged.calls == [later]


def test_slow_calls_while_the_machine_ran_are_judged() -> None:
    slow = (1.0, 9.0)
    assert Lap([slow]).without([(0.5, 1.0), (9.0, 9.5)]).calls == [slow]
    assert Lap([slow]).without([]).worst == 8.0

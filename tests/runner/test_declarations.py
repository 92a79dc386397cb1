"""Values that a declaration refuses, by name and range."""

from __future__ import annotations

from datetime import timedelta

import pytest
from declarations import declared
from offbeat import InvalidArgument

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("min_gap", -DAY),
        ("run_time_limit", timedelta(0)),
        ("republish_after", 367 * DAY),
        ("max_publication_count", 0),
        ("keep", timedelta(0)),
        ("keep", -DAY),
        ("keep", 3_661 * DAY),
        ("keep", 86_400),
    ],
)
def test_values_out_of_range_are_refused(field: str, value: object) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        declared(**{field: value})
    assert (refusal.value.field, refusal.value.allowed[:8]) == (field, "must be ")


@pytest.mark.parametrize("keep", [None, timedelta(seconds=1), 3_660 * DAY])
def test_runs_are_kept_for_a_second_to_ten_years(keep: timedelta | None) -> None:
    assert declared(keep=keep).keep == keep

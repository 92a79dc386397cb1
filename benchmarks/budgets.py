"""The budgets that these figures can keep or miss: docs/decisions/0021-budgets.md."""

from __future__ import annotations

from dataclasses import dataclass

from figures import figures, find, significant


@dataclass(frozen=True)
class Budget:
    """A bound of a figure, or of one figure over another."""

    what: str
    section: str
    figure: str
    bound: float
    unit: str = ""
    over: str = ""
    is_upper: bool = False

    def row(self, results: dict[str, dict]) -> list[str] | None:
        """Return what it is, the bound, what was measured and the verdict; None if nothing was."""
        found = figures(results.get(self.section, {"lines": []})["lines"])
        value = find(found, self.figure)
        if value is None:
            return None
        if self.over:
            peer = find(found, self.over)
            if not peer:
                return None
            value /= peer
        is_kept = value <= self.bound if self.is_upper else value >= self.bound
        gap = f"{value / self.bound - 1:+.0%}".replace("-", "−")
        verdict = "kept" if is_kept else f"**missed** ({gap})"
        bound = f"{'at most' if self.is_upper else 'at least'} {significant(self.bound)}"
        return [self.what, f"{bound} {self.unit}".strip(), significant(value), verdict]


KERNEL = "TWISTER, Ruby, 63 bits"
CALLS = [
    Budget(
        f"`AssignSlot` with {placement}, 8 × 32 calls in flight, beside "
        f"{peer} that decides nothing",
        "unary",
        f"Offbeat, {placement}, 8 × 32 streams",
        bound,
        "of its calls/s",
        over=f"{name}, empty, {placement}, 8 × 32 streams",
    )
    for placement in ("HASH", "TWISTER")
    for peer, name, bound in (
        ("a stock tonic service", "stock tonic", 0.7),
        ("a C++ gRPC service", "C++ gRPC", 1),
    )
]
BUDGETS = [
    *CALLS,
    Budget(
        "p99 of `AssignSlot` at 1,000 calls/s beside a busy loop on the same core",
        "busy",
        ".*, p99",
        5,
        "ms",
        is_upper=True,
    ),
    Budget(
        "TWISTER with AVX-512, beside `rand_mt`",
        "kernels",
        f"{KERNEL}, AVX-512",
        60,
        "times",
        over=f"{KERNEL}, rand_mt",
    ),
    Budget(
        "TWISTER with AVX2, beside `rand_mt`",
        "kernels",
        f"{KERNEL}, AVX2",
        45,
        "times",
        over=f"{KERNEL}, rand_mt",
    ),
    Budget(
        "the simulator, a week of slots",
        "simulator",
        "Offbeat, in process: slots, times real time.*",
        8e6,
        "times real time",
    ),
    Budget(
        "named spreads in Redis, pulled and settled",
        "store",
        "in Redis, jobs/s of three consumers, 256 a call",
        20_000,
        "jobs/s",
    ),
    Budget(
        "a pull beside 100,000 open groups in Redis, beside one at 100",
        "store",
        "in Redis, a pull of 16 beside 100,000 open groups, in µs",
        2,
        "times as long",
        over="in Redis, a pull of 16 beside 100 open groups, in µs",
        is_upper=True,
    ),
]

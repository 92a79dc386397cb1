//! Spans of plans, which are simulated in microseconds.

use offbeat_core::Span;

pub(super) fn micros(micros: u64) -> Span {
    Span::from_nanos(micros.saturating_mul(1_000))
}

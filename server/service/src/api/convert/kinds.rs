//! The kinds of a schedule, in both directions.

use offbeat_core::reciprocal::Spacing;
use offbeat_core::schedule::Kind;
use offbeat_core::{KindSpec, Rejection, Schedule};

use super::scalars::{count, duration, optional_span, timestamp, unknown_enum_value};
use offbeat_proto as proto;

pub(super) fn of_schedule(messages: Vec<proto::Kind>) -> Result<Vec<KindSpec>, Rejection> {
    let kind = |(index, message)| {
        let proto::Kind { name, run_time } = message;
        let run_time = optional_span("run_time", run_time)
            .map_err(|refused| refused.under(&format!("kinds[{index}]")))?;
        Ok(KindSpec { name, run_time })
    };
    messages.into_iter().enumerate().map(kind).collect()
}

pub(super) fn pairs(messages: Vec<proto::KindConflict>) -> Vec<(String, String)> {
    let pair = |proto::KindConflict { first_kind, second_kind }| (first_kind, second_kind);
    messages.into_iter().map(pair).collect()
}

pub(super) fn spacing(field: &str, number: i32) -> Result<Spacing, Rejection> {
    match proto::KindSpacing::try_from(number) {
        Ok(proto::KindSpacing::Unspecified | proto::KindSpacing::Even) => Ok(Spacing::Even),
        Ok(proto::KindSpacing::Stable) => Ok(Spacing::Stable),
        Err(_) => Err(unknown_enum_value(field, number, "0 to 2, a value of KindSpacing")),
    }
}

/// The fields about kinds of a spec with every default filled in.
pub(super) struct ResolvedKinds {
    pub(super) kinds: Vec<proto::Kind>,
    pub(super) spacing: proto::KindSpacing,
    pub(super) conflicts: Vec<proto::KindConflict>,
    pub(super) catch_up_span: Option<prost_types::Duration>,
}

pub(super) fn resolved(schedule: &Schedule) -> ResolvedKinds {
    let Some(kinds) = schedule.kinds() else {
        let (kinds, conflicts) = (Vec::new(), Vec::new());
        let spacing = proto::KindSpacing::Unspecified;
        return ResolvedKinds { kinds, spacing, conflicts, catch_up_span: None };
    };
    let kind = |kind: &Kind| proto::Kind {
        name: kind.name.clone(),
        run_time: kind.run_time.map(duration),
    };
    let pair = |(first, second): (&str, &str)| proto::KindConflict {
        first_kind: first.to_owned(),
        second_kind: second.to_owned(),
    };
    ResolvedKinds {
        kinds: kinds.as_slice().iter().map(kind).collect(),
        spacing: match kinds.spacing() {
            Spacing::Even => proto::KindSpacing::Even,
            Spacing::Stable => proto::KindSpacing::Stable,
        },
        conflicts: kinds.conflicts().map(pair).collect(),
        catch_up_span: Some(duration(kinds.catch_up_span())),
    }
}

/// The kinds of a schedule, with their offsets, gaps and run budgets.
pub(in crate::api) fn described_kinds(schedule: &Schedule) -> Vec<proto::DescribedKind> {
    let slots = |slots: u32| duration(schedule.span(u64::from(slots) * schedule.slot_ticks()));
    let kind = |kind: &Kind| proto::DescribedKind {
        name: kind.name.clone(),
        offset_slot_count: count(kind.offset),
        offset: Some(slots(kind.offset)),
        gap_slot_count: count(kind.gap),
        run_budget: Some(duration(kind.gap_time)),
        worst_cycle_start_time: kind.shortest_cycle_start.map(timestamp),
        run_time: kind.run_time.map(duration),
    };
    schedule.kinds().map_or_else(Vec::new, |kinds| kinds.as_slice().iter().map(kind).collect())
}

//! The time zones that IDs live in.

use offbeat_core::limits::{Limit, TIME_ZONES, ZONE_GAPS};
use offbeat_core::{Reason, Rejection, Schedule};

/// The zones of a column of IDs.
#[derive(Debug, Default)]
pub(in crate::api) struct ZoneColumn {
    names: Vec<String>,
    /// The zone of each ID, as an index of `names`; −1 is that of the schedule. Empty if all IDs
    /// are in the schedule's own zone.
    indexes: Vec<i32>,
}

impl ZoneColumn {
    /// Checks the zones of `id_count` IDs.
    pub(super) fn try_new(
        names: Vec<String>,
        indexes: Vec<i32>,
        id_count: usize,
    ) -> Result<Self, Rejection> {
        const FIELD: &str = "ids.time_zone_indexes";
        if indexes.is_empty() && !names.is_empty() {
            let allowed = "must be one for each ID";
            return Err(Rejection::new(Reason::FieldMissing, FIELD, "nothing", allowed));
        }
        if !indexes.is_empty() && indexes.len() != id_count {
            let value = format_args!("{} for {id_count} IDs", indexes.len());
            let allowed = "must be one for each ID, or none";
            return Err(Rejection::new(Reason::Contradictory, FIELD, value, allowed));
        }
        let count = i32::try_from(names.len()).unwrap_or(i32::MAX);
        if let Some(row) = indexes.iter().position(|index| !(-1..count).contains(index)) {
            let value = indexes.get(row).copied().unwrap_or_default();
            let allowed = format!("must be -1 to {}, one of time_zones", count - 1);
            let field = format!("{FIELD}[{row}]");
            return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
        }
        Ok(Self { names, indexes })
    }

    /// The schedule in each of the zones.
    pub(in crate::api) fn schedules(
        &self,
        schedule: &Schedule,
    ) -> Result<Vec<Schedule>, Rejection> {
        zones("ids.time_zones", schedule, &self.names, TIME_ZONES)
    }

    /// The index in [`schedules`](Self::schedules) for the ID in `row`; `None` for the schedule
    /// itself.
    pub(in crate::api) fn of(&self, row: usize) -> Option<usize> {
        self.indexes.get(row).and_then(|index| usize::try_from(*index).ok())
    }

    /// Whether all IDs live in the zone of the schedule.
    pub(in crate::api) const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The schedule in each of the zones. Refuses a zone that is named twice.
pub(in crate::api) fn zones<'n>(
    field: &str,
    schedule: &Schedule,
    names: &'n [String],
    limit: Limit,
) -> Result<Vec<Schedule>, Rejection> {
    if !limit.allows(names.len() as i128) {
        let value = format_args!("{} zones", names.len());
        let allowed = format!("must be {limit}");
        return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
    }
    let gaps = schedule.kinds().map_or(0, |kinds| names.len() * kinds.gap_count());
    if !ZONE_GAPS.allows(gaps as i128) {
        let value = format_args!("{} zones", names.len());
        let allowed = format!("must have {ZONE_GAPS} together: take fewer zones at once");
        return Err(Rejection::new(Reason::OutOfRange, field, value, allowed));
    }
    let mut known = std::collections::BTreeSet::new();
    let mut zone = |(index, name): (usize, &'n String)| {
        let at = |refused: Rejection| Rejection { field: format!("{field}[{index}]"), ..refused };
        if !known.insert(name) {
            let allowed = "must be there once";
            return Err(at(Rejection::new(Reason::Contradictory, "", name, allowed)));
        }
        schedule.in_zone(name).map_err(at)
    };
    names.iter().enumerate().map(&mut zone).collect()
}

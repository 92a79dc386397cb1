//! A migration as statements: what to enqueue around the cutover, span by span.
//!
//! The steps begin one old period before the cutover: in it, every ID has its last old run. They
//! end one new period and the minimum gap after the cutover: by then, every ID has had its first
//! new run. Each step selects the rows that start in its span.
//!
//! Whether the minimum gap leaves a run out depends on both places of the ID. If one key decides
//! both places, a step selects ranges of that key. If not, each tick of the new schedule has a step
//! of its own, since each has its own latest time for the last old run.

use core::ops::Range;

use super::Migration;
use crate::limits::{MIGRATION_RANGES, MIGRATION_STEPS, PREDICATE_BYTES};
use crate::placement::Placement;
use crate::rejection::{Reason, Rejection};
use crate::runs::intersection;
use crate::schedule::Schedule;
use crate::sql::{ColumnSpec, ColumnType, Index, Membership, Predicate};
use crate::time::{Moment, Span};

/// A step covers one slot. In a cycle with more slots than this, it covers several.
const STEPS_A_CYCLE: u32 = 1_024;

/// What to enqueue in [start, end): the rows that the predicate selects, once.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Start of the span, inclusive.
    pub start: Moment,
    /// End of the span, exclusive.
    pub end: Moment,
    /// Whether the new schedule runs these rows; if not, the old one does.
    pub by_new: bool,
    /// Which rows run in the step.
    pub predicate: Predicate,
}

impl Migration<'_> {
    /// The steps over a column of IDs, in order of time, and the indexes that serve them. Steps
    /// without rows are left out.
    ///
    /// # Errors
    /// When the database cannot decide the schedules over the column, or exact steps would be too
    /// many, or need too many ranges or bytes. The rejection names a field of [`ColumnSpec`], or
    /// none.
    pub fn steps(&self, column: &ColumnSpec) -> Result<(Vec<Step>, Vec<Index>), Rejection> {
        let mut writer = Writer::try_new(self, column)?;
        writer.old_steps()?;
        writer.first_new_steps()?;
        writer.further_new_steps()?;
        let mut indexes = vec![writer.old.index().clone()];
        if writer.new.index() != writer.old.index() {
            indexes.push(writer.new.index().clone());
        }
        Ok((writer.steps, indexes))
    }

    /// Whether the minimum gap can leave out a run of any ID.
    fn leaves_out(&self) -> bool {
        self.min_gap > 0
    }

    fn gap_end(&self) -> i64 {
        self.cutover + self.min_gap
    }
}

struct Writer<'a> {
    migration: &'a Migration<'a>,
    old: Membership<'a>,
    new: Membership<'a>,
    steps: Vec<Step>,
    bytes: usize,
}

impl<'a> Writer<'a> {
    fn try_new(migration: &'a Migration<'a>, column: &ColumnSpec) -> Result<Self, Rejection> {
        for (schedule, field) in [(migration.old, "old_schedule"), (migration.new, "new_schedule")]
        {
            if let Some(part) = schedule.irregular_field() {
                let allowed = format!(
                    "must not be set with {part} of {field}: statements are written of schedules with \
                     plain periods (give the IDs instead, or list the windows of each schedule)"
                );
                return Err(Rejection::new(Reason::Contradictory, "", "a column", allowed));
            }
            if matches!(schedule.placement(), Placement::Twister { .. }) {
                let allowed = format!(
                    "must not be set with the TWISTER of {field}: no database computes its offsets \
                     (give the IDs instead)"
                );
                return Err(Rejection::new(Reason::Contradictory, "", "a column", allowed));
            }
        }
        if column.column_type == ColumnType::HashDigits && !migration.share_keys() {
            let allowed = "must hold the IDs themselves: the schedules differ in their salts, and hashes \
                           are of one salt";
            return Err(Rejection::new(
                Reason::Contradictory,
                "column_type",
                "HASH_DIGITS",
                allowed,
            ));
        }
        Ok(Self {
            migration,
            old: Membership::try_new(migration.old, column)?,
            new: Membership::try_new(migration.new, column)?,
            steps: Vec::new(),
            bytes: 0,
        })
    }

    /// One old period up to the cutover.
    fn old_steps(&mut self) -> Result<(), Rejection> {
        let Migration { old, cutover, .. } = *self.migration;
        let from = cutover - old.period_millis().cast_signed();
        for span in slots_between(old, from..cutover) {
            let (start, end) = moments(&span)?;
            let keys = keys_running_in(old, start, end)?;
            self.push((start, end), false, &keys, Membership::keys)?;
        }
        Ok(())
    }

    /// From the cutover to the end of the minimum gap, where runs are left out.
    fn first_new_steps(&mut self) -> Result<(), Rejection> {
        let migration = self.migration;
        let span = migration.cutover..migration.gap_end();
        if !migration.leaves_out() {
            return Ok(());
        }
        if !migration.share_keys() {
            return self.steps_by_tick(span);
        }
        let Some(kept) = migration.keys_not_left_out(MIGRATION_RANGES.max_size()) else {
            return Err(self.too_fine("the periods are nearly equal"));
        };
        for span in slots_between(migration.new, span) {
            let (start, end) = moments(&span)?;
            let keys = intersection(&keys_running_in(migration.new, start, end)?, &kept);
            if keys.len() > MIGRATION_RANGES.max_size() {
                return Err(self.too_fine("the periods are nearly equal"));
            }
            self.push((start, end), true, &keys, Membership::keys)?;
        }
        Ok(())
    }

    /// A step for each tick of the new schedule. It selects the rows that run at the tick, and
    /// whose last old run was at least the minimum gap before.
    fn steps_by_tick(&mut self, span: Range<i64>) -> Result<(), Rejection> {
        let Migration { old, new, cutover, min_gap, .. } = *self.migration;
        let tick = new.tick_millis().cast_signed();
        let ticks = (span.end - span.start) / tick;
        if !MIGRATION_STEPS.allows(ticks.into()) {
            return Err(self.too_fine("the schedules place IDs independently"));
        }
        let old_start = cutover - old.period_millis().cast_signed();
        for span in cut(span, new.anchor_millis(), tick) {
            let (start, end) = moments(&span)?;
            let run_at = first_tick(new, span.start); // of all rows of the span, if it holds a tick
            let behind_old = (run_at - min_gap + 1).clamp(old_start, cutover);
            let (old_from, old_to) = moments(&(old_start..behind_old))?;
            let ran = keys_running_in(old, old_from, old_to)?;
            if ran.is_empty() {
                continue;
            }
            let members = self.old.clone();
            let keys = keys_running_in(new, start, end)?;
            self.push((start, end), true, &keys, |new, keys| {
                let mut predicate = new.keys(keys);
                let ran = members.after(&predicate).keys(&ran);
                predicate.sql = format!("({} AND {})", predicate.sql, ran.sql);
                predicate.parameters.extend(ran.parameters);
                predicate
            })?;
        }
        Ok(())
    }

    /// From the end of the minimum gap on: all runs of the new schedule.
    fn further_new_steps(&mut self) -> Result<(), Rejection> {
        let Migration { new, cutover, min_gap, .. } = *self.migration;
        let from = self.migration.gap_end();
        let end = cutover + new.period_millis().cast_signed() + min_gap;
        for span in slots_between(new, from..end) {
            let (start, end) = moments(&span)?;
            let keys = keys_running_in(new, start, end)?;
            self.push((start, end), true, &keys, Membership::keys)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        (start, end): (Moment, Moment),
        by_new: bool,
        keys: &[Range<u128>],
        write: impl FnOnce(&Membership<'a>, &[Range<u128>]) -> Predicate,
    ) -> Result<(), Rejection> {
        if keys.is_empty() {
            return Ok(());
        }
        let predicate = write(if by_new { &self.new } else { &self.old }, keys);
        self.bytes += predicate.sql.len();
        self.steps.push(Step { start, end, by_new, predicate });
        if self.steps.len() > MIGRATION_STEPS.max_size() {
            return Err(self.too_fine("there are many slots"));
        }
        if self.bytes > PREDICATE_BYTES.max_size() {
            let allowed = format!("its predicates must be {PREDICATE_BYTES}: take fewer slots");
            return Err(Rejection::new(Reason::OutOfRange, "", "a column", allowed));
        }
        Ok(())
    }

    fn too_fine(&self, why: &str) -> Rejection {
        let gap = Span::from_millis(self.migration.min_gap.unsigned_abs());
        let value = format_args!("a column, with a min_gap of {gap}");
        let allowed = format!(
            "must not be set where statements cannot be exact: {why}, and {MIGRATION_STEPS} of \
             {MIGRATION_RANGES} do not tell the IDs apart (take a shorter min_gap, or give the IDs)"
        );
        Rejection::new(Reason::OutOfRange, "", value, allowed)
    }
}

/// The keys that a schedule runs in [`start`, `end`): none, one or two ranges.
fn keys_running_in(
    schedule: &Schedule,
    start: Moment,
    end: Moment,
) -> Result<Vec<Range<u128>>, Rejection> {
    let mut ranges = schedule.key_ranges_in(start, end)?;
    ranges.retain(|keys| !keys.is_empty());
    Ok(ranges)
}

/// `span`, cut where slots start.
fn slots_between(schedule: &Schedule, span: Range<i64>) -> impl Iterator<Item = Range<i64>> {
    let slots = schedule.slot_count().div_ceil(STEPS_A_CYCLE);
    let length = schedule.slot_ticks() * schedule.tick_millis() * u64::from(slots);
    cut(span, schedule.anchor_millis(), length.cast_signed())
}

/// `span`, cut at `anchor` and every `length` from there.
fn cut(span: Range<i64>, anchor: i64, length: i64) -> impl Iterator<Item = Range<i64>> {
    let mut start = span.start;
    core::iter::from_fn(move || {
        if start >= span.end {
            return None;
        }
        let next = anchor + ((start - anchor).div_euclid(length) + 1) * length;
        let part = start..next.min(span.end);
        start = part.end;
        Some(part)
    })
}

/// The first tick of a schedule at or after `millis`.
fn first_tick(schedule: &Schedule, millis: i64) -> i64 {
    let tick = schedule.tick_millis().cast_signed();
    millis + (schedule.anchor_millis() - millis).rem_euclid(tick)
}

fn moments(span: &Range<i64>) -> Result<(Moment, Moment), Rejection> {
    let moment = |millis: i64| {
        Moment::from_unix_millis(millis).ok_or_else(|| {
            let allowed = "must leave room for a cycle before and after in the years 1 to 9999";
            Rejection::new(Reason::OutOfRange, "cutover_time", millis, allowed)
        })
    };
    Ok((moment(span.start)?, moment(span.end)?))
}

//! Which rows a slot or a window holds.

use core::ops::Range;

use crate::limits::{PREDICATE_BYTES, PREDICATE_ZONES};
use crate::placement::{PlacementKind, hash_bound, smallest_fraction};
use crate::rejection::{Reason, Rejection};
use crate::runs::{KeyRanges, Slot};
use crate::schedule::Schedule;
use crate::sql::column::{ColumnSpec, Dialect, ParameterStyle};
use crate::sql::index::Index;
use crate::sql::key::{self, Key, KeyKind};
use crate::sql::predicate::{Predicate, Value};
use crate::sql::text::{self, Binder};
use crate::time::Moment;

/// A schedule over a column: which rows a slot or a window holds.
///
/// ```
/// use offbeat_core::sql::{ColumnSpec, ColumnType, Dialect, Membership, ParameterStyle};
/// use offbeat_core::{PlacementKind, Schedule, ScheduleSpec, Span};
///
/// let schedule = Schedule::try_new(&ScheduleSpec {
///     slot_count: Some(2),
///     placement: PlacementKind::Fraction,
///     ..ScheduleSpec::every(Span::from_seconds(3_600))
/// })?;
/// let column = ColumnSpec {
///     dialect: Dialect::PostgreSql,
///     schema: String::new(),
///     table: "users".to_owned(),
///     column: "share".to_owned(),
///     column_type: ColumnType::Fraction,
///     table_alias: String::new(),
///     parameter_style: ParameterStyle::Dollar,
///     first_parameter_number: None,
///     time_zone_column: String::new(),
/// };
/// let second_slot = Membership::try_new(&schedule, &column)?.slot(1, 0);
/// assert_eq!(second_slot.sql, r#"("share" >= $1)"#);
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[derive(Debug, Clone)]
pub struct Membership<'a> {
    schedule: &'a Schedule,
    dialect: Dialect,
    kind: KeyKind,
    /// The operand of predicates: the key, or the generated column that holds it.
    compared: String,
    index: Index,
    style: ParameterStyle,
    first_number: i32,
    /// The column of time zones.
    time_zone: String,
}

impl<'a> Membership<'a> {
    /// Checks that the database can decide this schedule over the column.
    ///
    /// # Errors
    /// When a name cannot be, the placement does not take such a column, or the
    /// database cannot compute what decides; the field is named as in [`ColumnSpec`](super::ColumnSpec), `column_type` as `type`.
    pub fn try_new(schedule: &'a Schedule, column: &ColumnSpec) -> Result<Self, Rejection> {
        let ColumnSpec { dialect, column: name, column_type, table_alias, parameter_style, .. } =
            column;
        column.check_names()?;
        let first_number = column.first_number()?;
        let quoted = |name: &str| text::name(*dialect, name);
        let qualified = |name: &str| match table_alias.as_str() {
            "" => quoted(name),
            alias => format!("{}.{}", quoted(alias), quoted(name)),
        };
        let index = Index::of(column, &key::key(schedule, *dialect, *column_type, &quoted(name))?);
        let Key { expression, kind, generated } =
            key::key(schedule, *dialect, *column_type, &qualified(name))?;
        let compared = if generated.is_some() { qualified(&index.name) } else { expression };
        Ok(Self {
            schedule,
            dialect: *dialect,
            kind,
            compared,
            index,
            style: *parameter_style,
            first_number,
            time_zone: match column.time_zone_column.as_str() {
                "" => String::new(),
                name => qualified(name),
            },
        })
    }

    /// The index that serves the predicates; in MySQL and MariaDB also the generated column
    /// that they name.
    #[must_use]
    pub const fn index(&self) -> &Index {
        &self.index
    }

    /// Which rows belong to a slot in a cycle. Slots from `slot_count` on have none.
    #[must_use]
    pub fn slot(&self, slot: u32, cycle_index: i64) -> Predicate {
        let slot = u64::from(self.schedule.grid().unrotated_slot(slot));
        let range = match self.kind {
            KeyKind::BucketDigits(count) => {
                let buckets = self.buckets(slot, count);
                self.text_bounds(buckets.start.into(), buckets.end.into(), count.into())
            }
            KeyKind::Bucket(count) => {
                let buckets = self.buckets(slot, count);
                let is_last = buckets.end == u64::from(count);
                let bucket = |bucket: u64| Value::Integer(bucket.cast_signed()); // up to 65,536
                (bucket(buckets.start), (!is_last).then(|| bucket(buckets.end)))
            }
            KeyKind::HashDigits | KeyKind::Fraction => {
                let of = self.schedule.active_ticks_of(cycle_index);
                let length = of / u64::from(self.schedule.slot_count());
                let (first, behind) = (length * slot, length * (slot + 1));
                if self.kind == KeyKind::Fraction {
                    fraction_bounds(&(smallest_fraction(first, of)..smallest_fraction(behind, of)))
                } else {
                    self.text_bounds(hash_bound(first, of), hash_bound(behind, of), 1 << 64)
                }
            }
        };
        self.predicate(vec![range])
    }

    /// Which rows belong to each of these slots.
    ///
    /// # Errors
    /// When their text would be longer than an answer may be, naming `end_time`.
    pub fn slots(&self, slots: &[Slot]) -> Result<Vec<Predicate>, Rejection> {
        let mut bytes = 0;
        slots
            .iter()
            .map(|slot| {
                let predicate = self.slot(slot.index, slot.cycle_index);
                bytes += predicate.sql.len();
                if bytes > PREDICATE_BYTES.max_size() {
                    let value = format_args!("a window of {} slots", slots.len());
                    let allowed =
                        format!("their predicates must be {PREDICATE_BYTES}: end it earlier");
                    return Err(Rejection::new(Reason::OutOfRange, "end_time", value, allowed));
                }
                Ok(predicate)
            })
            .collect()
    }

    /// Which rows run in [`start`, `end`).
    ///
    /// # Errors
    /// When `end` is before `start` or more than a period after it, or the placement
    /// is `TWISTER`, whose offsets no database can compute.
    pub fn window(&self, start: Moment, end: Moment) -> Result<Predicate, Rejection> {
        if self.schedule.placement().kind() == PlacementKind::Twister {
            let allowed = "must be HASH or FRACTION: no database computes the offsets of a twister \
                           (list the slots instead, and assign their rows)";
            let field = "schedule.spec.placement";
            return Err(Rejection::new(Reason::Contradictory, field, "TWISTER", allowed));
        }
        Ok(self.predicate(self.bounds_in(self.schedule, start, end)?))
    }

    /// Which rows run in [`start`, `end`) that live in one of these zones, by the names that the rows
    /// have, each with the schedule there.
    ///
    /// # Errors
    /// As [`window`](Self::window); when there are too many zones or none, naming `time_zones`; or when
    /// no column of zones is named, naming `sql_target.time_zone_column`.
    pub fn window_in_zones(
        &self,
        zones: &[(&str, Schedule)],
        start: Moment,
        end: Moment,
    ) -> Result<Predicate, Rejection> {
        if self.time_zone.is_empty() {
            let (field, allowed) = ("sql_target.time_zone_column", "must be set with time_zones");
            return Err(Rejection::new(Reason::FieldMissing, field, "nothing", allowed));
        }
        if !PREDICATE_ZONES.allows(zones.len() as i128) {
            let value = format_args!("{} zones", zones.len());
            let allowed = format!("must be {PREDICATE_ZONES}");
            return Err(Rejection::new(Reason::OutOfRange, "time_zones", value, allowed));
        }
        let mut binder = Binder::new(self.dialect, self.style, self.first_number);
        let column = binder.text(&self.time_zone);
        let mut conditions = Vec::with_capacity(zones.len());
        for (name, schedule) in zones {
            let bounds = self.bounds_in(schedule, start, end)?;
            if bounds.is_empty() {
                continue;
            }
            let zone = format!("{column} = {}", binder.bind(Value::Text((*name).to_owned())));
            let within = self.conditions(&mut binder, bounds.into_iter());
            conditions.push(format!("({zone} AND {within})"));
        }
        let sql = match conditions.as_slice() {
            [] => "(1 = 0)".to_owned(),
            [only] => only.clone(),
            several => format!("({})", several.join(" OR ")),
        };
        if sql.len() > PREDICATE_BYTES.max_size() {
            let value = format_args!("{} zones", zones.len());
            let allowed = format!("must make a predicate of {PREDICATE_BYTES}: take fewer");
            return Err(Rejection::new(Reason::OutOfRange, "time_zones", value, allowed));
        }
        Ok(Predicate { sql, parameters: binder.into_parameters() })
    }

    /// The bounds of the keys that run in a window.
    fn bounds_in(
        &self,
        schedule: &Schedule,
        start: Moment,
        end: Moment,
    ) -> Result<Vec<(Value, Option<Value>)>, Rejection> {
        Ok(match schedule.keys_running_in(start, end)? {
            KeyRanges::Hashes(ranges) => {
                let bounds =
                    |range: &Range<u128>| self.text_bounds(range.start, range.end, 1 << 64);
                ranges.iter().map(bounds).collect()
            }
            KeyRanges::Fractions(ranges) => ranges.iter().map(fraction_bounds).collect(),
        })
    }

    /// The buckets of a slot, from the smallest b with ⌊b·n / bucket count⌋ ≥ slot.
    fn buckets(&self, slot: u64, bucket_count: u32) -> Range<u64> {
        let slots = u64::from(self.schedule.slot_count());
        let first = |slot: u64| (slot * u64::from(bucket_count)).div_ceil(slots);
        first(slot)..first(slot + 1)
    }

    /// The rows whose keys lie in one of the ranges: hashes, or the bits of fractions. Not for
    /// buckets, whose windows no database knows.
    pub(crate) fn keys(&self, ranges: &[Range<u128>]) -> Predicate {
        let end = self.schedule.key_end();
        let digits = self.kind.digits();
        let value = |key: u128| match self.kind {
            KeyKind::Fraction => {
                Value::Real(f64::from_bits(u64::try_from(key).unwrap_or_default()))
            }
            _ => Value::Text(format!("{key:0digits$x}")),
        };
        let bounds = ranges
            .iter()
            .map(|range| (value(range.start), (range.end < end).then(|| value(range.end))));
        self.within(bounds)
    }

    /// The same over the same column, with placeholders that go on after those of `predicate`.
    #[must_use]
    pub(crate) fn after(&self, predicate: &Predicate) -> Self {
        let bound = i32::try_from(predicate.parameters.len()).unwrap_or_default();
        Self { first_number: self.first_number.saturating_add(bound), ..self.clone() }
    }

    /// The rows whose keys lie between these bounds; none, if there are none. A range to the end
    /// of the cycle is open: nothing lies behind it.
    fn predicate(&self, bounds: Vec<(Value, Option<Value>)>) -> Predicate {
        self.within(bounds.into_iter())
    }

    /// The rows between the bounds of one of the ranges; one without an upper bound is open.
    fn within(&self, ranges: impl Iterator<Item = (Value, Option<Value>)>) -> Predicate {
        let mut binder = Binder::new(self.dialect, self.style, self.first_number);
        let sql = self.conditions(&mut binder, ranges);
        Predicate { sql, parameters: binder.into_parameters() }
    }

    /// The same as a condition among others.
    fn conditions(
        &self,
        binder: &mut Binder,
        ranges: impl Iterator<Item = (Value, Option<Value>)>,
    ) -> String {
        let compared = binder.text(&self.compared);
        let mut condition = |(low, high): (Value, Option<Value>)| {
            let low = format!("{compared} >= {}", binder.bind(low));
            match high {
                Some(high) => format!("{low} AND {compared} < {}", binder.bind(high)),
                None => low,
            }
        };
        let mut conditions: Vec<String> = ranges.map(&mut condition).collect();
        match (conditions.pop(), conditions.is_empty()) {
            (None, _) => "(1 = 0)".to_owned(),
            (Some(only), true) => format!("({only})"),
            (Some(last), false) => format!("(({}) OR ({last}))", conditions.join(") OR (")),
        }
    }

    /// Bounds as hexadecimal digits; open at the end of `all`.
    fn text_bounds(&self, low: u128, high: u128, all: u128) -> (Value, Option<Value>) {
        let digits = self.kind.digits();
        let text = |number: u128| Value::Text(format!("{number:0digits$x}"));
        (text(low), (high < all).then(|| text(high)))
    }
}

fn fraction_bounds(range: &Range<f64>) -> (Value, Option<Value>) {
    (Value::Real(range.start), (range.end < 1.0).then_some(Value::Real(range.end)))
}

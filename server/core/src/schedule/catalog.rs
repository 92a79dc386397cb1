//! Schedules by name and version, and what keeps a version from changing its meaning.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::{Schedule, ScheduleName};
use crate::limits::{NAMED_SCHEDULES, REMEMBERED_SCHEDULES};
use crate::rejection::{Reason, Rejection};

/// Names that a refusal lists at most.
const SHOWN: usize = 8;

/// Schedules by name and version.
///
/// ```
/// use offbeat_core::{Catalog, Reason, Schedule, ScheduleName, ScheduleSpec, Span};
///
/// let mut catalog = Catalog::default();
/// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
/// catalog.add(ScheduleName::try_new("bank-sync", 1)?, daily)?;
/// let refused = catalog.get(&ScheduleName::try_new("bank-sync", 2)?).unwrap_err();
/// assert_eq!(refused.reason, Reason::UnknownSchedule);
/// assert!(refused.allowed.ends_with("bank-sync/1"), "{refused}");
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalog(BTreeMap<ScheduleName, Arc<Schedule>>);

impl Catalog {
    /// Adds a schedule under its name and version.
    ///
    /// # Errors
    /// When there is already a schedule of this name and version, or there are too many schedules.
    pub fn add(&mut self, name: ScheduleName, schedule: Schedule) -> Result<(), Rejection> {
        let count = self.0.len() + 1;
        if count > NAMED_SCHEDULES.max_size() {
            let value = format_args!("{count} or more schedules");
            let allowed = format!("must be {NAMED_SCHEDULES}");
            return Err(Rejection::new(Reason::OutOfRange, "schedule", value, allowed));
        }
        match self.0.entry(name) {
            Entry::Vacant(entry) => {
                let schedule = schedule.with_name(entry.key());
                entry.insert(Arc::new(schedule));
                Ok(())
            }
            Entry::Occupied(entry) => {
                let allowed = "must be there once: another schedule has this name and version";
                let version = entry.key().version();
                Err(Rejection::new(Reason::Contradictory, "version", version, allowed))
            }
        }
    }

    /// The schedule of a name and version.
    ///
    /// # Errors
    /// When there is none ([`Reason::UnknownSchedule`]); the refusal lists versions or names that
    /// exist.
    pub fn get(&self, name: &ScheduleName) -> Result<&Arc<Schedule>, Rejection> {
        self.0.get(name).ok_or_else(|| {
            Rejection::new(Reason::UnknownSchedule, "", name, self.what_there_is(name.name()))
        })
    }

    /// All schedules, in the order of names and versions.
    pub fn iter(&self) -> impl Iterator<Item = (&ScheduleName, &Arc<Schedule>)> {
        self.0.iter()
    }

    /// The number of schedules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no schedules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The versions of a name; if it has none, all names.
    fn what_there_is(&self, name: &str) -> String {
        if self.is_empty() {
            return "no schedules are loaded: start the server with --schedules".to_owned();
        }
        let of_name: Vec<_> = self.0.keys().filter(|key| key.name() == name).collect();
        let known = if of_name.is_empty() { self.0.keys().collect() } else { of_name };
        let shown: Vec<_> = known.iter().take(SHOWN).map(ToString::to_string).collect();
        let more = known.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("must be one that is loaded: {}{more}", shown.join(", "))
    }
}

/// The fingerprint of each name and version that a server has ever loaded. Versions that are no
/// longer loaded stay, so that they cannot come back with another meaning.
///
/// ```
/// use offbeat_core::{Catalog, Meanings, Schedule, ScheduleName, ScheduleSpec, Span};
///
/// let catalog_of = |seconds| {
///     let mut catalog = Catalog::default();
///     let schedule = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(seconds)))?;
///     catalog.add(ScheduleName::try_new("bank-sync", 1)?, schedule)?;
///     Ok::<_, offbeat_core::Rejection>(catalog)
/// };
/// let mut meanings = Meanings::default();
/// meanings.learn(&catalog_of(3_600)?)?;
/// assert!(meanings.learn(&catalog_of(7_200)?).is_err(), "one version has one meaning");
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Meanings(BTreeMap<ScheduleName, String>);

impl Meanings {
    /// Learns the meanings of a catalog; all of them or, if it is refused, none.
    ///
    /// # Errors
    /// When it gives a known name and version another meaning ([`Reason::Contradictory`], naming
    /// the first and the number of others), or there would be too many to remember.
    pub fn learn(&mut self, catalog: &Catalog) -> Result<(), Rejection> {
        let mut unknown = Vec::new();
        let mut changed = Vec::new();
        for (name, schedule) in catalog.iter() {
            let fingerprint = schedule.fingerprint();
            match self.0.get(name) {
                None => unknown.push((name.clone(), fingerprint)),
                Some(known) if *known != fingerprint => changed.push((name, known, fingerprint)),
                Some(_) => {}
            }
        }
        if let Some((name, known, fingerprint)) = changed.first() {
            let also: Vec<_> = changed.iter().skip(1).map(|(name, ..)| name.to_string()).collect();
            let also = match also.as_slice() {
                [] => String::new(),
                [first] => format!("; {first} too"),
                [first, rest @ ..] => format!("; {first} and {} more too", rest.len()),
            };
            let allowed = format!(
                "must be {known}, what this version has meant so far: give what has changed \
                 another version{also}"
            );
            let field = format!("{name}: fingerprint");
            return Err(Rejection::new(Reason::Contradictory, field, fingerprint, allowed));
        }
        let count = self.0.len() + unknown.len();
        if count > REMEMBERED_SCHEDULES.max_size() {
            let value = format_args!("{count} names and versions since the start");
            let allowed =
                format!("must be {REMEMBERED_SCHEDULES}: it forgets them when it is restarted");
            return Err(Rejection::new(Reason::OutOfRange, "schedule", value, allowed));
        }
        self.0.extend(unknown);
        Ok(())
    }
}

//! What a schedule is known by: its canonical text and fingerprint, its name, and the head of its run keys.

use sha2::{Digest, Sha256};

use super::{Schedule, ScheduleName, canonical};
use crate::ids::{check_part, hexadecimal};
use crate::limits::KIND_NAME;
use crate::rejection::Rejection;

/// The identity of a schedule in a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// `name/version`.
    text: String,
    /// Computed once, since it is asked for with every answer.
    fingerprint: String,
}

impl Schedule {
    /// The same schedule, known by name: its run keys begin with `name/version`. Nothing else
    /// changes, the fingerprint least of all.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleName, ScheduleSpec, Span};
    ///
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let named = daily.clone().with_name(&ScheduleName::try_new("bank-sync", 1)?);
    /// assert_eq!(named.run_key_prefix("import")?, "bank-sync/1/import");
    /// assert_eq!(named.fingerprint(), daily.fingerprint());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn with_name(self, name: &ScheduleName) -> Self {
        let named = Some(Named { text: name.to_string(), fingerprint: self.fingerprint() });
        Self { named, ..self }
    }

    /// What the fingerprint is taken of: a line for the format, then a line
    /// `name=value` for each field that decides, defaults filled in, joined by
    /// line feeds. `weight_quantum=…` stands there only if it is set. The salt comes
    /// last and ends the text as it is.
    ///
    /// ```text
    /// offbeat.v1.Schedule
    /// period=28800s
    /// resolution=1s
    /// anchor_time=1970-01-01T00:00:00Z
    /// slot_count=128
    /// placement=HASH
    /// salt=
    /// ```
    ///
    /// With a calendar, `cycle=DAY` (`WEEK`, `MONTH`) and `time_zone=Europe/Berlin` (the name in
    /// the case of the database; an alias is another name) stand for the period, and there is no
    /// anchor. Behind the slot count come a line for each active window, in order, and for each
    /// exclusion, sorted, each once; a window over the whole cycle is none.
    ///
    /// ```text
    /// active_window=3600s..18000s
    /// exclusion=DEFER 2026-12-24T00:00:00Z..2026-12-27T00:00:00Z
    /// exclusion=SKIP DAY Europe/Berlin 79200s..82800s
    /// ```
    #[must_use]
    pub fn canonical_text(&self) -> String {
        canonical::text(self)
    }

    /// SHA-256 of the canonical text, in hexadecimal: equal for callers who mean the same.
    ///
    /// ```
    /// use offbeat_core::{Schedule, ScheduleSpec, Span};
    ///
    /// // What is left out and what is said as its default are the same schedule.
    /// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
    /// let said = ScheduleSpec {
    ///     resolution: Some(Span::from_seconds(1)),
    ///     ..ScheduleSpec::every(Span::from_seconds(86_400))
    /// };
    /// assert_eq!(daily.fingerprint(), Schedule::try_new(&said)?.fingerprint());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> String {
        match &self.named {
            Some(named) => named.fingerprint.clone(),
            None => hexadecimal(&Sha256::digest(self.canonical_text())),
        }
    }

    /// What stands for the schedule at the head of its run keys: `name/version`, or the
    /// fingerprint of one without a name.
    #[must_use]
    pub fn run_key_root(&self) -> String {
        self.named.as_ref().map_or_else(|| self.fingerprint(), |named| named.text.clone())
    }

    /// What the run keys of a kind of job begin with: [`run_key_root`](Self::run_key_root)
    /// and `/kind`. The key of a run is equal for two attempts to enqueue it; see [`Run::key`](crate::Run::key).
    ///
    /// # Errors
    /// When the name is empty, longer than 64 characters, or has others than
    /// letters, digits, `.`, `_` and `-` (of ASCII).
    pub fn run_key_prefix(&self, kind: &str) -> Result<String, Rejection> {
        check_part("kind", kind, KIND_NAME)?;
        Ok(format!("{}/{kind}", self.run_key_root()))
    }
}

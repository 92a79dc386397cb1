//! What identifies a schedule: its canonical text and fingerprint, its name, and the prefix of its
//! run keys.

use sha2::{Digest, Sha256};

use super::{Schedule, ScheduleName, canonical};
use crate::ids::{check_part, hexadecimal};
use crate::limits::KIND_NAME;
use crate::rejection::Rejection;

/// The identity of a schedule in a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CatalogIdentity {
    /// `name/version`.
    text: String,
    /// Computed once, since every answer needs it.
    fingerprint: String,
}

impl Schedule {
    /// The same schedule under a name: its run keys begin with `name/version`. Nothing else
    /// changes, and the fingerprint stays the same.
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
        let named =
            Some(CatalogIdentity { text: name.to_string(), fingerprint: self.fingerprint() });
        Self { named, ..self }
    }

    /// The text that is hashed to the fingerprint: a line for the format, then a line `name=value`
    /// for each field that matters, defaults filled in, joined by line feeds. `weight_quantum=…` is
    /// there only if it is set. The salt comes last, and ends the text as it is.
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
    /// the case of the database; an alias is another name) replace the period, and there is no
    /// anchor. After the slot count come a line for each active window, in order, and one for each
    /// exclusion, sorted, each once. A window over the whole cycle is left out. With kinds, the
    /// lines `kind_spacing`, `kind`, `kind_conflict` and `catch_up_span` follow.
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

    /// SHA-256 of the canonical text, in hexadecimal: equal for schedules with the same meaning.
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

    /// The part of run keys that stands for the schedule: `name/version`, or the fingerprint of a
    /// schedule without a name.
    #[must_use]
    pub fn run_key_root(&self) -> String {
        self.named.as_ref().map_or_else(|| self.fingerprint(), |named| named.text.clone())
    }

    /// The prefix of the run keys of a kind of job: [`run_key_root`](Self::run_key_root) and
    /// `/kind`. Two attempts to enqueue a run have the same key; see [`Run::key`](crate::Run::key).
    ///
    /// # Errors
    /// When the name is empty, longer than 64 characters, or has others than
    /// letters, digits, `.`, `_` and `-` (of ASCII).
    pub fn run_key_prefix(&self, kind: &str) -> Result<String, Rejection> {
        check_part("kind", kind, KIND_NAME)?;
        Ok(format!("{}/{kind}", self.run_key_root()))
    }
}

//! Names of schedules.

use core::fmt;

use crate::ids::check_part;
use crate::limits::{SCHEDULE_NAME, SCHEDULE_VERSION};
use crate::rejection::{Reason, Rejection};

/// Reference to a schedule: a name and a version, `bank-sync/1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScheduleName {
    name: String,
    version: u32,
}

impl ScheduleName {
    /// Checks a name and a version.
    ///
    /// # Errors
    /// When one is out of range, naming `name` or `version`. A version of 0 is refused as missing:
    /// callers that leave it out send 0.
    pub fn try_new(name: &str, version: i64) -> Result<Self, Rejection> {
        check_part("name", name, SCHEDULE_NAME)?;
        if version == 0 {
            let allowed = format!("must be {SCHEDULE_VERSION}; the newest is not the default");
            return Err(Rejection::new(Reason::FieldMissing, "version", version, allowed));
        }
        let checked =
            u32::try_from(version).ok().filter(|_| SCHEDULE_VERSION.allows(version.into()));
        let version = checked.ok_or_else(|| {
            let allowed = format!("must be {SCHEDULE_VERSION}");
            Rejection::new(Reason::OutOfRange, "version", version, allowed)
        })?;
        Ok(Self { name: name.to_owned(), version })
    }

    /// Reads `name/version`.
    ///
    /// # Errors
    /// When it is not of that form, or a part is out of range.
    ///
    /// ```
    /// use offbeat_core::ScheduleName;
    ///
    /// let name = ScheduleName::parse("bank-sync/2")?;
    /// assert_eq!((name.name(), name.version()), ("bank-sync", 2));
    /// assert!(ScheduleName::parse("bank-sync/02").is_err());
    /// # Ok::<(), offbeat_core::Rejection>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let malformed = || {
            let allowed = "must be a name, '/' and a version, such as bank-sync/1";
            Rejection::new(Reason::Malformed, "", format_args!("{text:?}"), allowed)
        };
        let (name, version) = text.split_once('/').ok_or_else(malformed)?;
        let plain = !version.starts_with(['+', '0']) && version.len() <= 7;
        let number = version.parse().ok().filter(|_| plain).ok_or_else(malformed)?;
        Self::try_new(name, number)
    }

    /// The name alone, which its versions share.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version, 1 to 1,000,000.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }
}

impl fmt::Display for ScheduleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.version)
    }
}

//! Refusals: what was wrong, where, and what would be right.

use core::fmt;

use crate::limits::Limit;

/// The kind of a refusal; `error_reason.proto` documents the same list for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A field without which there is no answer is not set.
    FieldMissing,
    /// A number, span, instant, length or enum value outside its range.
    OutOfRange,
    /// Text or bytes that cannot be read as what the field holds.
    Malformed,
    /// Fields that do not go together.
    Contradictory,
    /// The slot count does not divide the period in ticks.
    SlotCountDoesNotDivide,
    /// The placement does not take IDs of this type.
    IdTypeUnsuitable,
    /// Exclusions skip every run for 1,000 cycles.
    NoRun,
    /// The kinds leave no gap between one another on so few slots.
    KindsDoNotFit,
    /// No schedule of this name and version is loaded.
    UnknownSchedule,
    /// There is no spread of this name.
    UnknownSpread,
    /// The spread is open with other parameters.
    SpreadDiffers,
    /// The group was submitted before, with another content.
    GroupDiffers,
    /// The spread takes no groups any more.
    SpreadClosing,
    /// The groups are not those of the resume token.
    OrderDiffers,
    /// There is no such time zone.
    UnknownTimeZone,
    /// As many are held as may be; there is room again later.
    LimitReached,
    /// The store of named spreads cannot be reached.
    StoreUnavailable,
}

/// A refusal of a question, naming the field, its value and what is allowed.
///
/// Its text is one line without a full stop:
/// `schedule.spec.slot_count: 7 is refused: must divide 28800 ticks of 1s (nearest: 6 and 8 slots)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The kind of refusal.
    pub reason: Reason,
    /// The path of the field, `schedule.spec.slot_count`.
    pub field: String,
    /// The value as it was understood, shortened if long.
    pub value: String,
    /// The allowed values with their unit; follows the words "must be" or stands alone.
    pub allowed: String,
}

/// Longer values are cut: a refusal must not echo a whole payload.
const MAX_VALUE_CHARS: usize = 80;

impl Rejection {
    /// A refusal of `field`, which held `value`, where `allowed` says what would be right.
    ///
    /// ```
    /// use offbeat_core::{Reason, Rejection};
    ///
    /// let refused = Rejection::new(Reason::OutOfRange, "slot_count", 0, "must be 1 to 1048576 slots");
    /// assert_eq!(refused.to_string(), "slot_count: 0 is refused: must be 1 to 1048576 slots");
    /// ```
    #[must_use]
    pub fn new(
        reason: Reason,
        field: impl Into<String>,
        value: impl fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        // Keys of JSON and names of lanes are the caller's words, too.
        Self {
            reason,
            field: printable(field.into()),
            value: shorten(&value.to_string()),
            allowed: printable(allowed.into()),
        }
    }

    /// The same refusal, seen from the message that holds the field as `parent`.
    ///
    /// ```
    /// use offbeat_core::{Reason, Rejection};
    ///
    /// let refused = Rejection::new(Reason::Malformed, "[3]", "x", "must be a UUID");
    /// assert_eq!(refused.under("uuids").under("ids").field, "ids.uuids[3]");
    /// ```
    #[must_use]
    pub fn under(mut self, parent: &str) -> Self {
        self.field = if self.field.is_empty() {
            parent.to_owned()
        } else if self.field.starts_with('[') {
            format!("{parent}{}", self.field)
        } else {
            format!("{parent}.{}", self.field)
        };
        self
    }
}

/// `value`, if it is within its limit; no limit of ours begins below zero.
pub(crate) fn in_range(field: &str, value: i64, limit: Limit) -> Result<u64, Rejection> {
    let checked = u64::try_from(value).ok().filter(|_| limit.allows(value.into()));
    checked
        .ok_or_else(|| Rejection::new(Reason::OutOfRange, field, value, format!("must be {limit}")))
}

/// `value`, cut to what a refusal may show; control characters are escaped.
///
/// ```
/// use offbeat_core::rejection::shorten;
///
/// assert_eq!(shorten("a\nb"), "a\\nb");
/// assert_eq!(shorten(&"x".repeat(1_000)).chars().count(), 81); // 80, and an ellipsis
/// ```
#[must_use]
pub fn shorten(value: &str) -> String {
    let mut shown: String = value.chars().take(MAX_VALUE_CHARS).flat_map(escape_control).collect();
    if value.chars().nth(MAX_VALUE_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// `text`, with its control characters escaped.
fn printable(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    text.chars().flat_map(escape_control).collect()
}

fn escape_control(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control();
    let kept = (!escaped).then_some(c);
    c.escape_default().filter(move |_| escaped).chain(kept)
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reason == Reason::FieldMissing {
            return write!(f, "{}: is missing: {}", self.field, self.allowed);
        }
        write!(f, "{}: {} is refused: {}", self.field, self.value, self.allowed)
    }
}

impl core::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_grow_from_the_inside() {
        let rejection = Rejection::new(Reason::OutOfRange, "[3]", 7, "must be 1 to 2 slots");
        assert_eq!(rejection.under("texts").under("ids").field, "ids.texts[3]");
    }

    #[test]
    fn quoted_input_is_always_one_line() {
        let rejection =
            Rejection::new(Reason::Malformed, "sche\ndule", "\u{7f}", "must be \u{1}, b");
        let text = "sche\\ndule: \\u{7f} is refused: must be \\u{1}, b";
        assert_eq!(rejection.to_string(), text);
    }

    #[test]
    fn long_values_are_cut_and_control_characters_shown() {
        assert_eq!(shorten("a\nb"), "a\\nb");
        assert_eq!(shorten(&"x".repeat(81)), format!("{}…", "x".repeat(80)));
        assert_eq!(shorten(&"x".repeat(80)), "x".repeat(80));
    }
}

//! Names that tell the members of a list apart.

use std::collections::BTreeMap;

use crate::limits::{Limit, MEMBER_NAME};
use crate::rejection::{Reason, Rejection};

/// Checks the names of a list's members: their length, and that no two are the same.
///
/// # Errors
/// When one is out of range or a repetition; the field is `[3].name`.
///
/// ```
/// use offbeat_core::ids::check_names;
///
/// let refused = check_names(["import", "export", "import"]).unwrap_err();
/// assert_eq!(refused.field, "[2].name");
/// ```
pub fn check_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), Rejection> {
    let mut places = BTreeMap::new();
    for (place, name) in names.into_iter().enumerate() {
        let field = || format!("[{place}].name");
        if !MEMBER_NAME.allows(name.len() as i128) {
            let allowed = format!("must be {MEMBER_NAME}");
            return Err(Rejection::new(Reason::OutOfRange, field(), format!("{name:?}"), allowed));
        }
        if let Some(other) = places.insert(name, place) {
            let allowed = format!("must not be the name of [{other}] too");
            return Err(Rejection::new(
                Reason::Contradictory,
                field(),
                format!("{name:?}"),
                allowed,
            ));
        }
    }
    Ok(())
}

/// Checks a name that is part of a run key: its length, and that it has no other characters than
/// letters, digits, `.`, `_` and `-` (of ASCII).
///
/// # Errors
/// When not, naming `field`.
///
/// ```
/// use offbeat_core::ids::check_part;
/// use offbeat_core::limits::KIND_NAME;
///
/// assert!(check_part("kind", "bank-sync.v2", KIND_NAME).is_ok());
/// assert!(check_part("kind", "bank/sync", KIND_NAME).is_err());
/// ```
pub fn check_part(field: &str, name: &str, limit: Limit) -> Result<(), Rejection> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if limit.allows(name.len() as i128) && name.bytes().all(is_plain) {
        return Ok(());
    }
    let value = format_args!("{name:?}");
    Err(Rejection::new(Reason::OutOfRange, field, value, format!("must be {limit}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_no_two_are_the_same() {
        assert_eq!(check_names(["a", "b"]), Ok(()));
        for (names, field) in [(["a", ""], "[1].name"), (["a", "a"], "[1].name")] {
            assert_eq!(check_names(names).map_err(|refused| refused.field), Err(field.to_owned()));
        }
        assert!(check_names(["x".repeat(129).as_str()]).is_err());
    }
}

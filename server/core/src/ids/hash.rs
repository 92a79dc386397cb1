//! The hash of an ID, and what smears it.

use md5::{Digest, Md5};

use super::Id;

/// The first 8 bytes, big-endian, of MD5(salt ‖ canonical text of the ID).
///
/// MD5 (RFC 1321) because every database has it; it guards nothing.
///
/// ```
/// use offbeat_core::{Id, ids};
///
/// // As `md5sum` has it: printf 'saltacme' | md5sum
/// let hash = ids::hash("salt", &Id::text("acme")?);
/// assert_eq!(hash, ids::hash("", &Id::text("saltacme")?));
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[must_use]
pub fn hash(salt: &str, id: &Id<'_>) -> u64 {
    (digest(salt, id) >> 64) as u64
}

/// MD5(salt ‖ canonical text of the ID), read as one big-endian integer.
pub(crate) fn digest(salt: &str, id: &Id<'_>) -> u128 {
    let mut md5 = Md5::new_with_prefix(salt);
    match id {
        Id::Text(text) => md5.update(text.get()),
        Id::Uuid(uuid) => {
            let mut buffer = uuid::Uuid::encode_buffer();
            let text = uuid::Uuid::from_u128(*uuid).as_hyphenated().encode_lower(&mut buffer);
            md5.update(text);
        }
        Id::Integer(_) | Id::Fraction(_) => md5.update(id.to_string()),
    }
    let digest: [u8; 16] = md5.finalize().into();
    u128::from_be_bytes(digest)
}

//! Bytes as hexadecimal digits.

use core::fmt::Write as _;

/// Two digits for each byte, in lower case.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}"); // writing to a String cannot fail
        digits
    })
}

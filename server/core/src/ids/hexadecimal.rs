//! Bytes as hexadecimal digits.

/// Two digits for each byte, in lower case. (Every answer carries a fingerprint, which formatting
/// byte by byte made the dearest part of.)
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit =
        |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble });
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        digits.push(digit(byte >> 4));
        digits.push(digit(byte & 0xf));
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::hexadecimal;

    #[test]
    fn every_byte_is_written_as_format_does() {
        let bytes: Vec<u8> = (0..=255).collect();
        let formatted: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hexadecimal(&bytes), formatted);
        assert_eq!(hexadecimal(&[]), "");
    }
}

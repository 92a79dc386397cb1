//! Opaque tokens of pages, and of places in a spread. A token holds everything that the server
//! needs to continue, so the server keeps no state for it.
//!
//! A token consists of the number of its form, four bytes of a digest that catch typing errors, and
//! the content.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use offbeat_core::{Reason, Rejection};
use sha2::{Digest, Sha256};

const CHECK_BYTES: usize = 4;

/// Makes a token of a form.
pub(super) fn seal(form: u8, content: &[u8]) -> Vec<u8> {
    let mut token = vec![form];
    token.extend(check(form, content));
    token.extend(content);
    token
}

/// The content of a token of a form. A refusal names `field`, and `origin`, the response field that
/// tokens come from.
pub(super) fn open<'a>(
    form: u8,
    token: &'a [u8],
    field: &str,
    origin: &str,
) -> Result<&'a [u8], Rejection> {
    let content = token
        .strip_prefix(&[form])
        .and_then(|rest| rest.split_first_chunk::<CHECK_BYTES>())
        .and_then(|(sent, content)| (*sent == check(form, content)).then_some(content));
    content.ok_or_else(|| malformed(token.len(), field, origin))
}

/// Makes the token of a page, as text.
pub(super) fn seal_page(form: u8, content: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(seal(form, content))
}

/// The content of the token of a page; `None` for the first page, whose token is empty.
pub(super) fn open_page(form: u8, token: &str) -> Result<Option<Vec<u8>>, Rejection> {
    if token.is_empty() {
        return Ok(None);
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| malformed_page(token))?;
    let content = open(form, &bytes, "page_token", "next_page_token")?;
    Ok(Some(content.to_vec()))
}

/// The refusal of a malformed token of a page.
pub(super) fn malformed_page(token: &str) -> Rejection {
    malformed(token.len(), "page_token", "next_page_token")
}

/// The refusal of a token that was issued for another request.
pub(super) fn of_another(request: &str) -> Rejection {
    let allowed = format!("must come with {request} that it was answered to");
    Rejection::new(Reason::Contradictory, "page_token", "a token", allowed)
}

/// The refusal of a malformed token of `length` bytes.
pub(super) fn malformed(length: usize, field: &str, origin: &str) -> Rejection {
    let allowed = format!("must be {origin} of an answer, unchanged");
    Rejection::new(Reason::Malformed, field, format_args!("{length} bytes"), allowed)
}

fn check(form: u8, content: &[u8]) -> [u8; CHECK_BYTES] {
    let digest = Sha256::new_with_prefix([form]).chain_update(content).finalize();
    digest.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_was_changed_is_refused() {
        let token = seal(3, b"content");
        assert_eq!(open(3, &token, "f", "o").unwrap(), b"content");
        assert!(open(4, &token, "f", "o").is_err());
        for place in 0..token.len() {
            let mut other = token.clone();
            other[place] ^= 1;
            assert_eq!(open(3, &other, "f", "o").unwrap_err().reason, Reason::Malformed, "{place}");
            assert!(open(3, &token[..place], "f", "o").is_err());
        }
        let page = seal_page(1, b"next");
        assert_eq!(open_page(1, &page).unwrap().unwrap(), b"next");
        assert!(open_page(1, &page[1..]).is_err());
        assert!(open_page(1, "é").is_err());
        assert_eq!(open_page(1, "").unwrap(), None);
    }
}

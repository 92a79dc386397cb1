//! Pages of spreads and dead letters. A token names the last one of its page.

use offbeat_core::Rejection;

use crate::api::tokens;

/// The form of a token: the name of a spread.
const SPREAD: u8 = 3;

/// The form of a token: the number of a dead letter, big-endian, and the name of its spread.
const DEAD_LETTER: u8 = 4;

/// The token of the page after a spread.
pub(super) fn after_spread(name: &str) -> String {
    tokens::seal_page(SPREAD, name.as_bytes())
}

/// The spread that a page comes after; empty before the first.
pub(super) fn spread(token: &str) -> Result<String, Rejection> {
    let Some(content) = tokens::open_page(SPREAD, token)? else { return Ok(String::new()) };
    String::from_utf8(content).map_err(|_| tokens::malformed_page(token))
}

/// The token of the page after a dead letter of a spread.
pub(super) fn after_dead_letter(number: u64, spread: &str) -> String {
    let mut content = number.to_be_bytes().to_vec();
    content.extend(spread.as_bytes());
    tokens::seal_page(DEAD_LETTER, &content)
}

/// The dead letter that a page comes after; none before the first.
pub(super) fn dead_letter(token: &str, spread: &str) -> Result<Option<u64>, Rejection> {
    let Some(content) = tokens::open_page(DEAD_LETTER, token)? else { return Ok(None) };
    let parts = content.split_first_chunk::<8>();
    let (number, of) = parts.ok_or_else(|| tokens::malformed_page(token))?;
    if of != spread.as_bytes() {
        return Err(tokens::of_another("the spread_name"));
    }
    Ok(Some(u64::from_be_bytes(*number)))
}

//! Pages of spreads and dead letters. A token names the last item of its page.

use offbeat_core::Rejection;

use crate::api::tokens;

/// The form of a token: the name of a spread.
const SPREAD: u8 = 3;

/// The form of a token: the epoch of a spread and the number of a dead letter, each as 8 bytes,
/// big-endian, and the name of the spread.
const DEAD_LETTER: u8 = 5;

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
pub(super) fn after_dead_letter(epoch: u64, number: u64, spread: &str) -> String {
    let mut content = epoch.to_be_bytes().to_vec();
    content.extend(number.to_be_bytes());
    content.extend(spread.as_bytes());
    tokens::seal_page(DEAD_LETTER, &content)
}

/// The epoch and the dead letter that a page comes after; none before the first.
pub(super) fn dead_letter(token: &str, spread: &str) -> Result<Option<(u64, u64)>, Rejection> {
    let Some(content) = tokens::open_page(DEAD_LETTER, token)? else { return Ok(None) };
    let parts = content.split_first_chunk::<8>().and_then(|(epoch, rest)| {
        let (number, of) = rest.split_first_chunk::<8>()?;
        Some((u64::from_be_bytes(*epoch), u64::from_be_bytes(*number), of))
    });
    let (epoch, number, of) = parts.ok_or_else(|| tokens::malformed_page(token))?;
    if of != spread.as_bytes() {
        return Err(tokens::of_another("the spread_name"));
    }
    Ok(Some((epoch, number)))
}

//! Bearer tokens (RFC 6750): every call must carry one of the configured ones.

use std::sync::{Arc, PoisonError, RwLock};

use http::HeaderMap;
use http::header::AUTHORIZATION;
use offbeat_core::limits::Limit;
use offbeat_proto::status;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use tonic::Status;

use super::{Call, Stack};
use crate::limits::{TOKEN_BYTES, TOKENS};

/// Refuses requests without a required token, and all requests of users who may not call.
pub(super) fn check(stack: &Stack, call: &Call, headers: &HeaderMap) -> Result<(), Status> {
    if call.method.open {
        return Ok(());
    }
    if !call.peer.allowed {
        return Err(status::user_not_allowed());
    }
    match stack.credentials.allow(headers) {
        true => Ok(()),
        false => Err(status::unauthenticated()),
    }
}

/// The tokens of a server, replaced when their file changes; without a file none is required.
#[derive(Debug, Clone, Default)]
pub struct Credentials(Option<Arc<RwLock<Tokens>>>);

/// Tokens, as digests: of equal length, and useless to readers of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens(Vec<[u8; 32]>);

impl Tokens {
    /// Reads tokens, one a line; blank lines are skipped.
    ///
    /// # Errors
    /// When there is none, or one is malformed. The refusal does not show it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
        let mut tokens = Vec::new();
        for (index, line) in lines {
            let (number, length) = (index + 1, line.len());
            if !allows(TOKEN_BYTES, length) {
                return Err(format!(
                    "line {number}: a token of {length} bytes is refused: must be {TOKEN_BYTES}"
                ));
            }
            let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
            if !line.bytes().all(known) {
                return Err(format!("line {number}: must be letters, digits and -._~+/= alone"));
            }
            tokens.push(Sha256::digest(line).into());
        }
        if !allows(TOKENS, tokens.len()) {
            return Err(format!("{} tokens are refused: must be {TOKENS}", tokens.len()));
        }
        Ok(Self(tokens))
    }

    /// Compares with all tokens, in constant time.
    fn contain(&self, token: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let fold = |found: Choice, known: &[u8; 32]| found | known.ct_eq(&digest);
        self.0.iter().fold(Choice::from(0), fold).into()
    }
}

fn allows(limit: Limit, count: usize) -> bool {
    limit.allows(i128::try_from(count).unwrap_or(i128::MAX))
}

impl Credentials {
    /// Requires one of these tokens.
    #[must_use]
    pub fn new(tokens: Tokens) -> Self {
        Self(Some(Arc::new(RwLock::new(tokens))))
    }

    /// Requires one of these tokens from now on.
    pub fn replace(&self, tokens: Tokens) {
        if let Some(held) = &self.0 {
            *held.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        }
    }

    /// Whether a call has a valid token, if one is required.
    pub(crate) fn allow(&self, headers: &HeaderMap) -> bool {
        let Some(tokens) = &self.0 else { return true };
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let token = match (given.next(), given.next()) {
            (Some(value), None) => value.to_str().ok().and_then(bearer),
            _ => None, // none, or several, which is ambiguous
        };
        let tokens = tokens.read().unwrap_or_else(PoisonError::into_inner);
        token.is_some_and(|token| tokens.contain(token))
    }
}

/// The token of `Bearer TOKEN`; the scheme in any case (RFC 9110, 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "an-old-token-0123456789";
    const NEW: &str = "a-new-token-0123456789";

    fn allows(credentials: &Credentials, values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        credentials.allow(&headers)
    }

    #[test]
    fn any_token_of_the_file_will_do_and_nothing_else() {
        let credentials = Credentials::new(Tokens::parse(&format!("{OLD}\n\n{NEW}\r\n")).unwrap());
        for token in [OLD, NEW] {
            assert!(allows(&credentials, &[&format!("Bearer {token}")]));
            assert!(allows(&credentials, &[&format!("bearer  {token}")]));
        }
        let twice = format!("Bearer {NEW}");
        let nearly = format!("Bearer {}", &NEW[..NEW.len() - 1]);
        let more = format!("Bearer {NEW}0");
        let basic = format!("Basic {NEW}");
        for values in [
            &[][..],
            &["Bearer"],
            &["Bearer "],
            &[NEW],
            &[&nearly],
            &[&more],
            &[&basic],
            &[&twice, &twice],
        ] {
            assert!(!allows(&credentials, values), "{values:?}");
        }
        credentials.replace(Tokens::parse(NEW).unwrap());
        assert!(!allows(&credentials, &[&format!("Bearer {OLD}")]));
        assert!(allows(&credentials, &[&twice]));
        assert!(allows(&Credentials::default(), &[]), "none is asked for");
    }

    #[test]
    fn invalid_token_files_are_refused_without_showing_their_content() {
        let long = "x".repeat(4_097);
        let many = format!("{NEW}\n").repeat(65);
        for bad in [
            "",
            "\n\n",
            "short",
            "with a space in the midst",
            "with-ümlaut-0123456789",
            &long,
            &many,
        ] {
            let refusal = Tokens::parse(bad).unwrap_err();
            assert!(bad.trim().is_empty() || !refusal.contains(bad.trim()), "{refusal}");
        }
        assert!(!format!("{:?}", Tokens::parse(NEW).unwrap()).contains(NEW));
    }
}

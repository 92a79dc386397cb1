//! What holds for every refusal, whatever the request was.

use offbeat_core::Rejection;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

/// The longest value that a refusal shows: 80 characters, each of which may be escaped.
const VALUE_BYTES: usize = 1_000;
/// The longest path of a field, and the longest text on what is allowed, which may list names.
const WORDS_BYTES: usize = 8_192;
/// The whole message must fit into the headers of a response.
const MESSAGE_BYTES: usize = 16_384;

fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// A refusal names a field, its shortened value, and what is allowed.
pub fn check(rejection: &Rejection) {
    let Rejection { reason: _, field, value, allowed } = rejection;
    assert!(!field.is_empty() && !allowed.is_empty(), "{rejection:?}");
    words(field, value, allowed);
    assert!(is_plain(&rejection.to_string()), "{rejection:?}");
}

/// The same for an ID on its own: the caller adds the position.
pub fn check_bare(rejection: Rejection) {
    check(&rejection.under("id"));
}

fn words(field: &str, value: &str, allowed: &str) {
    assert!(field.len() <= WORDS_BYTES, "a path of {} bytes: {field:?}", field.len());
    assert!(value.len() <= VALUE_BYTES, "a value of {} bytes: {value:?}", value.len());
    assert!(allowed.len() <= WORDS_BYTES, "{} bytes are allowed: {allowed:?}", allowed.len());
}

/// A status other than OK blames the caller, or a limit, in details that can be read.
pub fn check_status(status: &Status) {
    assert!(status.message().len() <= MESSAGE_BYTES, "{status:?}");
    assert!(status.details().len() <= 2 * MESSAGE_BYTES, "{status:?}");
    let details = status.get_error_details();
    match status.code() {
        Code::InvalidArgument
        | Code::NotFound
        | Code::FailedPrecondition
        | Code::ResourceExhausted
        | Code::Unimplemented
        | Code::DeadlineExceeded
        | Code::Unavailable
        | Code::Unauthenticated => {}
        Code::Internal if status.message().starts_with("message flag: 1 ") => {}
        // The transport refuses malformed frames of a stream.
        Code::Internal | Code::OutOfRange
            if details.error_info().is_none() && is_of_frames(status.message()) =>
        {
            return;
        }
        _ => panic!("{status:?}"),
    }
    let info = details.error_info();
    let info = info.unwrap_or_else(|| panic!("{status:?} has no reason"));
    assert_eq!(info.domain, "offbeat");
    assert!(info.reason.starts_with("ERROR_REASON_"), "{status:?}");
    if status.code() == Code::InvalidArgument {
        let [field, value, allowed] =
            ["field", "value", "allowed"].map(|name| info.metadata[name].as_str());
        assert!(!field.is_empty() && !allowed.is_empty(), "{status:?}");
        words(field, value, allowed);
        assert!(is_plain(status.message()), "{status:?}");
    }
}

fn is_of_frames(message: &str) -> bool {
    // Messages that tonic itself writes.
    let known = [
        "Missing request message",
        "Unexpected EOF",
        "message with compressed-flag",
        "message with invalid compression flag",
        "decoded message length too large",
    ];
    known.iter().any(|words| message.contains(words))
}

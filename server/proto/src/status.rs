//! The one place where a refusal becomes a gRPC status.

use std::time::Duration;

use bytes::Bytes;
use offbeat_core::limits::Limit;
use offbeat_core::{Reason, Rejection};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::ErrorReason;

/// The domain of every `ErrorInfo`.
pub const ERROR_DOMAIN: &str = "offbeat";

/// When to try again at a full server.
const OVERLOADED_RETRY: Duration = Duration::from_millis(50);
/// When to try again to hand over what does not fit: consumers must settle something.
const LIMIT_RETRY: Duration = Duration::from_millis(100);
/// When to try again if a server or its store shuts down, until a successor has started; or if
/// simulations are busy.
const SHUTDOWN_RETRY: Duration = Duration::from_secs(1);

impl From<Reason> for ErrorReason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::FieldMissing => Self::FieldMissing,
            Reason::OutOfRange => Self::OutOfRange,
            Reason::Malformed => Self::Malformed,
            Reason::Contradictory => Self::Contradictory,
            Reason::SlotCountDoesNotDivide => Self::SlotCountDoesNotDivide,
            Reason::IdTypeUnsuitable => Self::IdTypeUnsuitable,
            Reason::KindsDoNotFit => Self::KindsDoNotFit,
            Reason::UnknownSchedule => Self::UnknownSchedule,
            Reason::UnknownSpread => Self::UnknownSpread,
            Reason::SpreadDiffers => Self::SpreadDiffers,
            Reason::GroupDiffers => Self::GroupDiffers,
            Reason::SpreadClosing => Self::SpreadClosing,
            Reason::OrderDiffers => Self::OrderDiffers,
            Reason::LimitReached => Self::LimitReached,
            Reason::UnknownTimeZone => Self::UnknownTimeZone,
            Reason::NoRun => Self::NoRun,
            Reason::StoreUnavailable => Self::StoreUnavailable,
        }
    }
}

/// The code of a refusal.
const fn code_of(reason: Reason) -> Code {
    match reason {
        Reason::FieldMissing
        | Reason::OutOfRange
        | Reason::Malformed
        | Reason::Contradictory
        | Reason::SlotCountDoesNotDivide
        | Reason::IdTypeUnsuitable
        | Reason::UnknownTimeZone
        | Reason::NoRun
        | Reason::KindsDoNotFit => Code::InvalidArgument,
        Reason::UnknownSchedule | Reason::UnknownSpread => Code::NotFound,
        Reason::SpreadDiffers
        | Reason::GroupDiffers
        | Reason::SpreadClosing
        | Reason::OrderDiffers => Code::FailedPrecondition,
        Reason::LimitReached => Code::ResourceExhausted,
        Reason::StoreUnavailable => Code::Unavailable,
    }
}

/// INVALID_ARGUMENT, or another code for some reasons, with the field's path, its value and what is
/// allowed.
#[must_use]
pub fn refused(rejection: Rejection) -> Status {
    let message = rejection.to_string();
    let Rejection { reason, field, value, allowed } = rejection;
    let mut details = reason_of(
        ErrorReason::from(reason),
        [("field", field.as_str()), ("value", &value), ("allowed", &allowed)],
    );
    let code = code_of(reason);
    match code {
        Code::InvalidArgument => {
            details.add_bad_request_violation(field, format!("{value}: {allowed}"));
        }
        Code::ResourceExhausted => {
            details.add_quota_failure_violation(field, allowed);
            details.set_retry_info(Some(LIMIT_RETRY));
        }
        Code::Unavailable => {
            details.set_retry_info(Some(SHUTDOWN_RETRY));
        }
        _ => {}
    }
    Status::with_error_details(code, message, details)
}

/// INVALID_ARGUMENT: bytes that are no message of the method.
#[must_use]
pub fn malformed_message(error: &prost::DecodeError) -> Status {
    refused(Rejection::new(Reason::Malformed, "message", error, "must be a message of the method"))
}

/// INVALID_ARGUMENT: a message with an unknown flag. INTERNAL for the flag of compression, as [gRPC
/// requires](https://grpc.github.io/grpc/core/md_doc_compression.html) if no compression was named;
/// calls that name one are refused before.
#[must_use]
pub fn flagged(flag: u8) -> Status {
    let allowed = "must be 0: messages are not compressed";
    let refused = refused(Rejection::new(Reason::Malformed, "message flag", flag, allowed));
    match flag {
        1 => {
            let details = Bytes::copy_from_slice(refused.details());
            Status::with_details(Code::Internal, refused.message(), details)
        }
        _ => refused,
    }
}

/// INVALID_ARGUMENT: a unary call whose body is not one whole message.
#[must_use]
pub fn not_one_message() -> Status {
    let allowed = "must be one whole message: the method is unary";
    refused(Rejection::new(Reason::Malformed, "message", "a part, or several", allowed))
}

/// The status that tonic gives to the frames of a stream, with a reason: a message that is too long
/// is RESOURCE_EXHAUSTED, and malformed frames are INVALID_ARGUMENT.
#[must_use]
pub fn of_frames(status: Status) -> Status {
    match status.code() {
        Code::OutOfRange => {
            let details = reason_of(ErrorReason::MessageTooLarge, []);
            Status::with_error_details(Code::ResourceExhausted, status.message(), details)
        }
        Code::Internal if status.details().is_empty() => {
            let allowed = "must be frames of gRPC, whole, and not compressed";
            refused(Rejection::new(Reason::Malformed, "messages", status.message(), allowed))
        }
        _ => status,
    }
}

/// RESOURCE_EXHAUSTED: a message of `length` bytes, above its limit.
#[must_use]
pub fn message_too_large(length: usize, limit: Limit) -> Status {
    let (value, allowed) = (format!("{length} bytes"), format!("must be {limit}"));
    let message = format!("message: {value} is refused: {allowed}");
    let fields = [("field", "message"), ("value", value.as_str()), ("allowed", &allowed)];
    let details = reason_of(ErrorReason::MessageTooLarge, fields);
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// RESOURCE_EXHAUSTED: a message that holds `count` of what its limit counts.
#[must_use]
pub fn message_holds_too_much(count: usize, limit: Limit) -> Status {
    let (value, allowed) = (format!("{count} {}", limit.unit), format!("must be {limit}"));
    let message = format!("message: {value} are refused: {allowed}");
    let fields = [("field", "message"), ("value", value.as_str()), ("allowed", &allowed)];
    let details = reason_of(ErrorReason::MessageTooLarge, fields);
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// RESOURCE_EXHAUSTED: as many requests in flight as the server takes.
#[must_use]
pub fn overloaded(limit: usize) -> Status {
    let message = format!("{limit} requests are in flight, as many as the server takes");
    let mut details = reason_of(ErrorReason::Overloaded, []);
    details.add_quota_failure_violation("requests in flight", &message);
    details.set_retry_info(Some(OVERLOADED_RETRY));
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// RESOURCE_EXHAUSTED: as many bytes of messages in flight as the server takes.
#[must_use]
pub fn no_room() -> Status {
    let message = "there is no room for the message: others in flight take all bytes that the \
                   server takes";
    let mut details = reason_of(ErrorReason::Overloaded, []);
    details.add_quota_failure_violation("bytes of messages in flight", message);
    details.set_retry_info(Some(LIMIT_RETRY));
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// RESOURCE_EXHAUSTED: as many simulations in flight as the server takes.
#[must_use]
pub fn simulations_busy(limit: usize) -> Status {
    let message = format!("{limit} simulations are in flight, as many as the server takes");
    let mut details = reason_of(ErrorReason::Overloaded, []);
    details.add_quota_failure_violation("simulations at once", &message);
    details.set_retry_info(Some(SHUTDOWN_RETRY));
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// RESOURCE_EXHAUSTED: an answer above its limit.
#[must_use]
pub fn answer_too_large(length: usize, limit: Limit) -> Status {
    let message = format!("an answer of {length} bytes is refused: must be {limit}: ask for less");
    let details = reason_of(ErrorReason::AnswerTooLarge, []);
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// UNAUTHENTICATED: no valid token. The status does not show how close the token was.
#[must_use]
pub fn unauthenticated() -> Status {
    let details = reason_of(ErrorReason::Unauthenticated, []);
    let message = "authorization is refused: must be Bearer and a token of the server";
    Status::with_error_details(Code::Unauthenticated, message, details)
}

/// PERMISSION_DENIED: a user of a Unix socket who may not call.
#[must_use]
pub fn user_not_allowed() -> Status {
    let details = reason_of(ErrorReason::UserNotAllowed, []);
    let message = "the caller's user is refused: must be one of --socket-uids";
    Status::with_error_details(Code::PermissionDenied, message, details)
}

/// DEADLINE_EXCEEDED.
#[must_use]
pub fn deadline_exceeded() -> Status {
    let details = reason_of(ErrorReason::DeadlineExceeded, []);
    let message = "the deadline passed before the answer was complete";
    Status::with_error_details(Code::DeadlineExceeded, message, details)
}

/// UNAVAILABLE: the server is about to stop.
#[must_use]
pub fn shutting_down() -> Status {
    let mut details = reason_of(ErrorReason::ShuttingDown, []);
    details.set_retry_info(Some(SHUTDOWN_RETRY));
    Status::with_error_details(Code::Unavailable, "the server is shutting down", details)
}

/// UNIMPLEMENTED: no such method, or not to be called this way.
#[must_use]
pub fn unknown_method(message: String) -> Status {
    let details = reason_of(ErrorReason::UnknownMethod, []);
    Status::with_error_details(Code::Unimplemented, message, details)
}

/// INTERNAL: a bug of ours.
#[must_use]
pub fn internal(message: &str) -> Status {
    Status::internal(message)
}

/// The documented reason in the details of a refusal.
#[must_use]
pub fn reason_in(status: &Status) -> Option<String> {
    status.get_error_details().error_info().map(|info| info.reason.clone())
}

fn reason_of<const N: usize>(reason: ErrorReason, metadata: [(&str, &str); N]) -> ErrorDetails {
    let metadata = metadata.map(|(name, value)| (name.to_owned(), value.to_owned()));
    // The order of a map on the wire means nothing.
    ErrorDetails::with_error_info(reason.as_str_name(), ERROR_DOMAIN, metadata)
}

//! Errors as JSON: `{"code": …, "message": …, "details": […]}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use prost::Message as _;
use serde::Serialize;
use tonic::body::Body;
use tonic::{Code, Status};

use super::descriptors::Descriptors;
use super::{JSON, http_status, response};

/// A status on its way to a JSON caller.
#[derive(Debug)]
pub(super) struct JsonError {
    status: Status,
    http_status: StatusCode,
    header: Option<(HeaderName, HeaderValue)>,
}

impl From<Status> for JsonError {
    fn from(status: Status) -> Self {
        Self { http_status: http_status(status.code()), status, header: None }
    }
}

impl JsonError {
    pub(super) fn with_http_status(self, http_status: StatusCode) -> Self {
        Self { http_status, ..self }
    }

    pub(super) fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let mut text = serde_json::to_vec(&ErrorBody::of(&self.status)).unwrap_or_default();
        text.push(b'\n');
        let mut response = Response::new(Body::new(Full::<bytes::Bytes>::from(text)));
        *response.status_mut() = self.http_status;
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        response.extensions_mut().insert(self.status.code()); // for who records it
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// A status as JSON.
pub(super) fn error_value(status: &Status) -> serde_json::Value {
    serde_json::to_value(ErrorBody::of(status)).unwrap_or_default()
}

impl<'a> ErrorBody<'a> {
    fn of(status: &'a Status) -> Self {
        Self { code: code_name(status.code()), message: status.message(), details: details(status) }
    }
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail>,
}

/// A detail as bytes for programs, and readable for people.
#[derive(Serialize)]
struct Detail {
    r#type: String,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    debug: Option<serde_json::Value>,
}

fn details(status: &Status) -> Vec<Detail> {
    let carried = tonic_types::Status::decode(status.details()).unwrap_or_default();
    carried
        .details
        .into_iter()
        .map(|any| {
            let name = any.type_url.rsplit('/').next().unwrap_or_default();
            let descriptor = Descriptors::get().message(name);
            Detail {
                r#type: name.to_owned(),
                value: STANDARD_NO_PAD.encode(&any.value),
                debug: descriptor.and_then(|descriptor| response::to_value(descriptor, &any.value)),
            }
        })
        .collect()
}

/// A code's name in the Connect protocol.
const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "ok",
        Code::Cancelled => "canceled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid_argument",
        Code::DeadlineExceeded => "deadline_exceeded",
        Code::NotFound => "not_found",
        Code::AlreadyExists => "already_exists",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out_of_range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data_loss",
        Code::Unauthenticated => "unauthenticated",
    }
}

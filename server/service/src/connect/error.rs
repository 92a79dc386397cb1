//! Errors as JSON: `{"code": …, "message": …, "details": […]}`.

use axum::body::Body;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, StatusCode};
use offbeat_proto::{descriptors, json};
use prost::Message as _;
use serde::Serialize;
use tonic::{Code, Status};

use super::JSON;

/// The response to a refused request.
pub(crate) fn response(status: Status) -> Response {
    ConnectError::from(status).into_response()
}

/// A refusal as a JSON response.
#[derive(Debug)]
pub(crate) struct ConnectError {
    status: Status,
    http_status: StatusCode,
    header: Option<(HeaderName, HeaderValue)>,
}

impl From<Status> for ConnectError {
    fn from(status: Status) -> Self {
        Self { http_status: http_status(status.code()), status, header: None }
    }
}

impl ConnectError {
    pub(crate) fn with_http_status(self, http_status: StatusCode) -> Self {
        Self { http_status, ..self }
    }

    pub(crate) fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    pub(crate) fn into_status(self) -> Status {
        self.status
    }

    pub(crate) fn into_response(self) -> Response {
        let mut text = serde_json::to_vec(&ErrorBody::of(&self.status)).unwrap_or_default();
        text.push(b'\n');
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = self.http_status;
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// A status as JSON.
pub(crate) fn error_value(status: &Status) -> serde_json::Value {
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

/// A detail: its bytes for programs, and its JSON for people.
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
            let descriptor = descriptors::message(name);
            Detail {
                r#type: name.to_owned(),
                value: STANDARD_NO_PAD.encode(&any.value),
                debug: descriptor.and_then(|descriptor| json::to_value(descriptor, &any.value)),
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

/// The HTTP status of a gRPC code, as Connect maps them.
const fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::Cancelled => match StatusCode::from_u16(499) {
            Ok(status) => status,
            Err(_) => StatusCode::BAD_REQUEST,
        },
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

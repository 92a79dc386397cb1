//! Unary calls to a server by the Connect protocol, with messages as protobuf.
//! Specification: <https://connectrpc.com/docs/protocol>.

use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, fs};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD_INDIFFERENT;
use bytes::Bytes;
use clap::Args;
use http::{HeaderValue, Request, Response, StatusCode};
use offbeat_service::config::DEFAULT_ADDRESS;
use prost::Message;
use serde::Deserialize;
use tonic_types::pb::{ErrorInfo, RetryInfo};

use super::Failure;
use super::http_client::Connection;
use super::server_address::{ServerAddress, TlsArgs};

/// How long an answer may take, beyond what the call itself waits.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// The server that a command calls.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(super) struct ServerArgs {
    /// The server: HOST:PORT, or unix:PATH
    #[arg(long, env = "OFFBEAT_ADDRESS", value_name = "ADDRESS", default_value = DEFAULT_ADDRESS)]
    address: ServerAddress,

    #[command(flatten)]
    tls: TlsArgs,

    /// A file whose first line is the bearer token of every call
    #[arg(long, env = "OFFBEAT_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl ServerArgs {
    /// A client, which connects at its first call.
    pub(super) fn client(&self) -> Result<Client, Failure> {
        let token = self.token_file.as_ref().map(|_| self.token()).transpose()?;
        let host = self.address.authority();
        Ok(Client {
            connection: Connection::new(self.tls.peer(&self.address)?),
            host: HeaderValue::try_from(host).map_err(|error| Failure::Usage(error.to_string()))?,
            address: self.address.to_string(),
            token,
        })
    }

    fn token(&self) -> Result<HeaderValue, Failure> {
        let refused = |why: &str| Failure::Usage(format!("--token-file: {why}"));
        if self.tls.tls_ca.is_none() && !self.address.is_local() {
            let why = "a token must not go to another machine without TLS: --tls-ca";
            return Err(refused(why));
        }
        let path = self.token_file.as_deref().unwrap_or_else(|| "".as_ref());
        let text = fs::read_to_string(path)
            .map_err(|error| refused(&format!("{}: {error}", path.display())))?;
        let token = text.lines().next().unwrap_or_default().trim();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if token.is_empty() || !token.bytes().all(is_token) {
            let allowed = "its first line must be a token of letters, digits and -._~+/= alone";
            return Err(refused(allowed));
        }
        let mut header = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|error| refused(&error.to_string()))?;
        header.set_sensitive(true);
        Ok(header)
    }
}

/// The request of a unary method.
pub(super) trait Unary: Message {
    /// The path of the method.
    const PATH: &'static str;
    /// The answer.
    type Answer: Message + Default;
}

/// Declares the methods that take requests, and their answers.
macro_rules! unary {
    ($service:literal: $($request:ident => $method:literal => $answer:ident;)+) => {
        $(
            impl $crate::connect::Unary for offbeat_proto::$request {
                const PATH: &'static str = concat!("/", $service, "/", $method);
                type Answer = offbeat_proto::$answer;
            }
        )+
    };
}
pub(super) use unary;

/// Calls a server, one call at a time.
pub(super) struct Client {
    connection: Connection,
    address: String,
    host: HeaderValue,
    token: Option<HeaderValue>,
}

impl Client {
    /// The server, as the flag names it.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Calls a method that may wait for `wait` before it answers.
    pub(super) async fn call<R: Unary>(
        &mut self,
        request: &R,
        wait: Duration,
    ) -> Result<R::Answer, CallError> {
        let timeout = wait + ANSWER_TIME;
        let mut http = Request::post(R::PATH)
            .header("host", &self.host)
            .header("content-type", "application/proto")
            .header("connect-protocol-version", "1")
            .header("connect-timeout-ms", timeout.as_millis().to_string());
        if let Some(token) = &self.token {
            http = http.header("authorization", token);
        }
        let body = Bytes::from(request.encode_to_vec());
        let http = http.body(body).map_err(|error| CallError::no_answer(error.to_string()))?;
        let answered = self.connection.send(http, timeout).await;
        let response = answered.map_err(|error| CallError {
            is_permanent: error.is_permanent(),
            ..CallError::no_answer(error.to_string())
        })?;
        if response.status() != StatusCode::OK {
            return Err(CallError::from_response(&response));
        }
        R::Answer::decode(response.into_body()).map_err(|error| CallError {
            code: "internal".to_owned(),
            message: format!("its answer is no message of the method: {error}"),
            ..CallError::default()
        })
    }
}

/// The reason that a call has no answer.
#[derive(Debug, Default)]
pub(super) struct CallError {
    /// The code, as Connect names it; empty if the server has not answered.
    pub(super) code: String,
    /// A name of `offbeat.v1.ErrorReason`, if the server gave one.
    pub(super) reason: String,
    /// The path of the field that was refused, if one was.
    pub(super) field: String,
    message: String,
    /// Whether the server's certificate was refused.
    is_permanent: bool,
    /// After how long to try again, if the server says so.
    pub(super) retry_delay: Option<Duration>,
}

/// An error as Connect writes it.
#[derive(Deserialize)]
struct ErrorBody {
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Vec<Detail>,
}

#[derive(Deserialize)]
struct Detail {
    r#type: String,
    value: String,
}

impl Detail {
    fn decode<M: Message + Default>(&self) -> M {
        let bytes = STANDARD_NO_PAD_INDIFFERENT.decode(&self.value).unwrap_or_default();
        M::decode(bytes.as_slice()).unwrap_or_default()
    }
}

impl CallError {
    fn no_answer(message: String) -> Self {
        Self { message, ..Self::default() }
    }

    fn from_response(response: &Response<Bytes>) -> Self {
        let Ok(body) = serde_json::from_slice::<ErrorBody>(response.body()) else {
            // The answer of a proxy, or of another kind of server.
            let code = code_of(response.status()).to_owned();
            let message = format!("it answered {}", response.status());
            return Self { code, message, ..Self::default() };
        };
        let mut error = Self { code: body.code, message: body.message, ..Self::default() };
        for detail in &body.details {
            match detail.r#type.as_str() {
                "google.rpc.ErrorInfo" => {
                    let ErrorInfo { reason, mut metadata, .. } = detail.decode();
                    error.reason = reason;
                    error.field = metadata.remove("field").unwrap_or_default();
                }
                "google.rpc.RetryInfo" => {
                    let RetryInfo { retry_delay } = detail.decode();
                    error.retry_delay = retry_delay.and_then(|delay| delay.try_into().ok());
                }
                _ => {}
            }
        }
        error
    }

    /// Whether the same call may succeed later. A call that was refused because a limit was reached
    /// may, if the server says when.
    pub(super) fn is_transient(&self) -> bool {
        match self.code.as_str() {
            "" => !self.is_permanent,
            "unavailable" | "deadline_exceeded" => true,
            "resource_exhausted" => self.retry_delay.is_some(),
            _ => false,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() { f.write_str(&self.code) } else { f.write_str(&self.message) }
    }
}

/// The code of an answer without an error of Connect, as its specification maps HTTP statuses.
fn code_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "internal",
        StatusCode::UNAUTHORIZED => "unauthenticated",
        StatusCode::FORBIDDEN => "permission_denied",
        StatusCode::NOT_FOUND => "unimplemented",
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => "unavailable",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &'static str) -> CallError {
        let response = Response::builder().status(status).body(Bytes::from(body)).unwrap();
        CallError::from_response(&response)
    }

    #[test]
    fn details_of_a_refusal_are_read() {
        // A google.rpc.RetryInfo with retry_delay 0.1 s, and a google.rpc.ErrorInfo.
        let full = error(
            429,
            r#"{"code": "resource_exhausted", "message": "full", "details": [
                {"type": "google.rpc.ErrorInfo", "value": "CgFSGgoKBWZpZWxkEgFm"},
                {"type": "google.rpc.RetryInfo", "value": "CgUQgMLXLw"},
                {"type": "google.rpc.Unheard", "value": "CgUQgMLXLw"}]}"#,
        );
        assert_eq!((full.reason.as_str(), full.field.as_str()), ("R", "f"));
        assert_eq!(full.retry_delay, Some(Duration::from_millis(100)));
        assert!(full.is_transient());
        assert!(!error(429, r#"{"code": "resource_exhausted"}"#).is_transient());
        assert!(!error(400, r#"{"code": "invalid_argument", "message": "no"}"#).is_transient());
        assert!(error(503, r#"{"code": "unavailable"}"#).is_transient());
    }

    #[test]
    fn answers_of_a_proxy_are_told_by_their_status() {
        assert!(error(503, "<html>busy</html>").is_transient());
        assert!(error(502, "").is_transient());
        let missing = error(404, "nothing here");
        assert!(!missing.is_transient());
        assert_eq!(missing.to_string(), "it answered 404 Not Found");
    }
}

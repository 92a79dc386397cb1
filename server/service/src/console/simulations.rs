//! `POST /console/simulate`: a scenario in TOML, which SimulationService runs. Each message of its
//! answer becomes a line of JSON, since pages cannot read gRPC; a failure is the last line.

use std::convert::Infallible;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use bytes::{Buf as _, BytesMut};
use futures_util::stream::unfold;
use http::{HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use offbeat_proto::v1beta1::SimulateRequest;
use offbeat_proto::{json, status};
use prost::Message as _;
use prost_reflect::MessageDescriptor;
use tonic::{Code, Status};
use tower::ServiceExt as _;

use crate::connect::error::{error_value, response};
use crate::limits::SCENARIO_BYTES;
use crate::message_frame::{NO_FLAGS, PREFIX, framed, read_prefix};
use crate::method::Method;
use crate::work::offload;

const METHOD: &str = "/offbeat.v1beta1.SimulationService/Simulate";

pub(super) fn router(services: Router) -> Router {
    Router::new().route("/console/simulate", post(simulate)).with_state(services)
}

async fn simulate(State(services): State<Router>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let Ok(scenario) = to_bytes(body, SCENARIO_BYTES.max_size()).await else {
        let refused = format!("scenario: must be {SCENARIO_BYTES}\n");
        return (StatusCode::PAYLOAD_TOO_LARGE, refused).into_response();
    };
    let Ok(scenario) = String::from_utf8(scenario.into()) else {
        return (StatusCode::BAD_REQUEST, "scenario: must be UTF-8\n").into_response();
    };
    // The other headers stay, so that the layers see the same caller and page.
    head.uri = http::Uri::from_static(METHOD);
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    let message = SimulateRequest { scenario, include_json: true }.encode_to_vec();
    let message = framed(NO_FLAGS, &message);
    let called = services.oneshot(Request::from_parts(head, Body::from(message))).await;
    let answer = called.unwrap_or_else(|never: Infallible| match never {});
    if answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_none_or(|content| content != "application/grpc")
    {
        return answer; // refused before it was a call
    }
    match Status::from_header_map(answer.headers()) {
        Some(refused) if refused.code() != Code::Ok => response(refused),
        _ => lines(answer.into_body()),
    }
}

/// The messages of an answer as lines of JSON.
fn lines(body: Body) -> Response {
    let Some(method) = &Method::at(METHOD).descriptor else {
        return response(status::internal("there is no simulation service"));
    };
    let answer = Answer { body: Some(body), read: BytesMut::new(), message: method.output() };
    let lines = unfold(answer, async |mut answer| {
        let line = answer.line().await?;
        Some((Ok::<_, Infallible>(line), answer))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(Box::pin(lines)))
        .into_response()
}

/// An answer that is being read.
struct Answer {
    /// None once it has ended.
    body: Option<Body>,
    read: BytesMut,
    message: MessageDescriptor,
}

impl Answer {
    /// The next line; none after the end.
    async fn line(&mut self) -> Option<Bytes> {
        loop {
            if let Some(message) = self.next_message() {
                let descriptor = self.message.clone();
                let write = move || json::from_protobuf(descriptor, &message);
                let line = offload(true, None, write).await.map_err(Status::from);
                return Some(match line.and_then(|line| line) {
                    Ok(line) => line,
                    Err(failed) => self.end(&failed),
                });
            }
            let frame = self.body.as_mut()?.frame().await;
            match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.read.extend_from_slice(&data),
                    Err(trailers) => {
                        let status = trailers.trailers_ref().and_then(Status::from_header_map);
                        match status.filter(|status| status.code() != Code::Ok) {
                            Some(failed) => return Some(self.end(&failed)),
                            None => self.body = None,
                        }
                    }
                },
                Some(Err(_)) => return Some(self.end(&status::internal("an answer has no end"))),
                None => self.body = None,
            }
        }
    }

    fn next_message(&mut self) -> Option<Bytes> {
        let (_, length) = read_prefix(&self.read)?;
        if self.read.len() < PREFIX + length {
            return None;
        }
        self.read.advance(PREFIX);
        Some(self.read.split_to(length).freeze())
    }

    /// Ends the answer; the last line shows the error.
    fn end(&mut self, failed: &Status) -> Bytes {
        self.body = None;
        self.read.clear();
        format!("{}\n", serde_json::json!({ "error": error_value(failed) })).into()
    }
}

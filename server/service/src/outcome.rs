//! The final status of a request, in every protocol: the first that is set counts.

use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use offbeat_proto::status;
use tonic::{Code, Status};

/// The final status of a request; later ones are ignored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome(Arc<OnceLock<FinalStatus>>);

/// The parts of a final status that are recorded.
#[derive(Debug)]
pub(crate) struct FinalStatus {
    pub(crate) code: Code,
    pub(crate) reason: Option<String>,
}

impl Outcome {
    pub(crate) fn set(&self, status: &Status) {
        let ended = || FinalStatus { code: status.code(), reason: status::reason_in(status) };
        self.0.get_or_init(ended);
    }

    pub(crate) fn set_ok(&self) {
        self.0.get_or_init(|| FinalStatus { code: Code::Ok, reason: None });
    }

    /// Takes the status from gRPC's headers or trailers, if they have one.
    pub(crate) fn set_from(&self, headers: &HeaderMap) {
        match headers.get(Status::GRPC_STATUS).map(|code| Code::from_bytes(code.as_bytes())) {
            None => {}
            Some(Code::Ok) => self.set_ok(),
            Some(_) => {
                if let Some(status) = Status::from_header_map(headers) {
                    self.set(&status);
                }
            }
        }
    }

    /// The status, once there is one.
    pub(crate) fn status(&self) -> Option<&FinalStatus> {
        self.0.get()
    }

    pub(crate) fn was_refused_credentials(&self) -> bool {
        let is_refused = |code| matches!(code, Code::Unauthenticated | Code::PermissionDenied);
        self.status().is_some_and(|ended| is_refused(ended.code))
    }
}

//! `LatenessService`: the lateness that callers report for their runs, for the metrics.

use std::sync::Arc;

use offbeat_core::ids::check_part;
use offbeat_core::limits::{KIND_NAME, SCHEDULE_NAME};
use offbeat_core::{Reason, Rejection};
use tonic::{Request, Response, Status};

use super::convert::kind_or_default;
use crate::limits::{LATENESS_MILLIS, LATENESSES};
use crate::metrics::Metrics;
use crate::work::offload;
use offbeat_proto::status;
use offbeat_proto::v1beta1::{self, lateness_service_server::LatenessService};

/// Requests with more runs are recorded off the event loop.
const INLINE_RUNS: usize = 1_024;

/// Answers `LatenessService`. Its only state is the metrics.
#[derive(Debug, Clone)]
pub struct LatenessHandlers {
    metrics: Arc<Metrics>,
}

impl LatenessHandlers {
    /// Handlers that record in `metrics`.
    #[must_use]
    pub const fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics }
    }
}

#[tonic::async_trait]
impl LatenessService for LatenessHandlers {
    async fn record_lateness(
        &self,
        request: Request<v1beta1::RecordLatenessRequest>,
    ) -> Result<Response<v1beta1::RecordLatenessResponse>, Status> {
        let permit = request.extensions().get().cloned();
        let request = request.into_inner();
        check(&request).map_err(status::refused)?;
        let v1beta1::RecordLatenessRequest { schedule_name, kind, lateness_millis } = request;
        let (metrics, long) = (Arc::clone(&self.metrics), lateness_millis.len() > INLINE_RUNS);
        let record = move || {
            metrics.record_lateness(&schedule_name, kind_or_default(&kind), &lateness_millis)
        };
        let has_own_series = offload(long, permit, record).await?;
        Ok(Response::new(v1beta1::RecordLatenessResponse { has_own_series }))
    }
}

fn check(request: &v1beta1::RecordLatenessRequest) -> Result<(), Rejection> {
    let v1beta1::RecordLatenessRequest { schedule_name, kind, lateness_millis } = request;
    check_part("schedule_name", schedule_name, SCHEDULE_NAME)?;
    check_part("kind", kind_or_default(kind), KIND_NAME)?;
    let count = lateness_millis.len();
    if count == 0 {
        let allowed = format!("must be {LATENESSES}");
        return Err(Rejection::new(Reason::FieldMissing, "lateness_millis", "nothing", allowed));
    }
    if count > LATENESSES.max_size() {
        let value = format_args!("{count} runs");
        let allowed = format!("must be {LATENESSES}");
        return Err(Rejection::new(Reason::OutOfRange, "lateness_millis", value, allowed));
    }
    let strange = |late: &i64| !LATENESS_MILLIS.allows((*late).into());
    match lateness_millis.iter().enumerate().find(|(_, late)| strange(late)) {
        None => Ok(()),
        Some((index, late)) => {
            let field = format!("lateness_millis[{index}]");
            let allowed = format!("must be {LATENESS_MILLIS}");
            Err(Rejection::new(Reason::OutOfRange, field, late, allowed))
        }
    }
}

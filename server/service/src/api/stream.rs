//! `StreamSlotAssignments`: batches in, their assignments out.

use futures_util::Stream;
use futures_util::stream;
use offbeat_core::{Moment, Reason, Rejection};
use tonic::{Status, Streaming};

use super::batch::{Batch, Opening};
use crate::schedules::LoadedSchedules;
use crate::work::Permit;
use offbeat_proto as proto;
use offbeat_proto::status;

/// State of a stream; it does not grow.
struct Conversation {
    requests: Streaming<proto::StreamSlotAssignmentsRequest>,
    now: fn() -> Moment,
    schedules: LoadedSchedules,
    permit: Option<Permit>,
    batch: Option<Batch>,
    answered: bool,
    next_index: i64,
}

/// Answers each message that carries IDs; ends with the requests, or with the first refusal.
pub(super) fn assignments(
    requests: Streaming<proto::StreamSlotAssignmentsRequest>,
    now: fn() -> Moment,
    schedules: LoadedSchedules,
    permit: Option<Permit>,
) -> impl Stream<Item = Result<proto::StreamSlotAssignmentsResponse, Status>> {
    let start = Conversation {
        requests,
        now,
        schedules,
        permit,
        batch: None,
        answered: false,
        next_index: 0,
    };
    stream::try_unfold(start, async |mut conversation| {
        let response = conversation.next().await?;
        Ok(response.map(|response| (response, conversation)))
    })
}

impl Conversation {
    async fn next(&mut self) -> Result<Option<proto::StreamSlotAssignmentsResponse>, Status> {
        while let Some(request) = self.requests.message().await.map_err(status::of_frames)? {
            if let Some(permit) = &self.permit {
                permit.release_request();
            }
            let first = self.batch.is_none();
            let (ids, weights) = self.open_or_go_on(request).await?;
            let Some(batch) = &self.batch else { continue };
            if first && ids.is_none() && weights.is_empty() {
                continue; // the schedule alone
            }
            // Boxed, so that a stream that waits for its next message stays small.
            let (count, assignments) = Box::pin(batch.assign(ids, weights)).await?;
            let identity = (!self.answered).then(|| batch.identity());
            self.answered = true;
            let first_id_index = self.next_index;
            self.next_index += i64::try_from(count).unwrap_or_default();
            return Ok(Some(proto::StreamSlotAssignmentsResponse {
                identity,
                first_id_index,
                assignments: Some(assignments),
            }));
        }
        Ok(None)
    }

    /// Takes the fields that apply to all IDs from the first message; refuses them in later ones.
    async fn open_or_go_on(
        &mut self,
        request: proto::StreamSlotAssignmentsRequest,
    ) -> Result<(Option<proto::IdBatch>, Vec<i64>), Status> {
        let proto::StreamSlotAssignmentsRequest {
            schedule,
            from_time,
            kind,
            ids,
            weights,
            read_mask,
        } = request;
        if self.batch.is_none() {
            // The stream keeps this schedule, even if others are loaded meanwhile.
            let (catalog, permit) = (self.schedules.snapshot(), self.permit.clone());
            let opening = Opening { schedule, from_time, kind, read_mask };
            self.batch = Some(Batch::open(opening, self.now, catalog, permit).await?);
            return Ok((ids, weights));
        }
        let named = [
            ("schedule", schedule.is_some()),
            ("from_time", from_time.is_some()),
            ("kind", !kind.is_empty()),
            ("read_mask", read_mask.is_some()),
        ];
        if let Some((field, _)) = named.iter().find(|(_, is_set)| *is_set) {
            let allowed = "must be set only in the first message";
            let (reason, value) = (Reason::Contradictory, "a later message's");
            return Err(status::refused(Rejection::new(reason, *field, value, allowed)));
        }
        Ok((ids, weights))
    }
}

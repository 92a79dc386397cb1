//! `SpreadService`: groups in, turns out.

mod inputs;
mod spec;

use std::collections::VecDeque;
use std::pin::Pin;

use futures_util::Stream;
use futures_util::stream;
use offbeat_core::spread::{Certificate, OrderDigest, Place, Spread, Turn};
use offbeat_core::{Reason, Rejection};
use prost::Message as _;
use tonic::{Request, Response, Status, Streaming};

use self::inputs::Inputs;
pub(super) use self::spec::order_of;
use super::convert::wide;
use crate::work::Permit;
use offbeat_proto as proto;
use offbeat_proto::spread_request::Message as RequestMessage;
use offbeat_proto::spread_response::Message as Answer;
use offbeat_proto::spread_service_server::SpreadService;
use offbeat_proto::status;

/// Maximum number of turns in one message. A message has fewer if no more turns are ready.
const TURNS: usize = 4_096;

/// Bytes of a group in all the lists that contain it.
const GROUP_MEMORY: usize = 136;

/// Answers `SpreadService`.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpreadHandlers;

#[tonic::async_trait]
impl SpreadService for SpreadHandlers {
    type SpreadStream = Pin<Box<dyn Stream<Item = Result<proto::SpreadResponse, Status>> + Send>>;

    async fn spread(
        &self,
        request: Request<Streaming<proto::SpreadRequest>>,
    ) -> Result<Response<Self::SpreadStream>, Status> {
        let permit = request.extensions().get().cloned();
        let requests = request.into_inner();
        let start = Conversation { requests, permit, active: None, ended: false };
        Ok(Response::new(Box::pin(stream::try_unfold(start, async |mut conversation| {
            let answer = conversation.next().await?;
            let answer = answer.map(|message| proto::SpreadResponse { message: Some(message) });
            Ok(answer.map(|answer| (answer, conversation)))
        }))))
    }
}

/// State of a stream. It grows only with the number of open groups.
struct Conversation {
    requests: Streaming<proto::SpreadRequest>,
    permit: Option<Permit>,
    active: Option<ActiveSpread>,
    ended: bool,
}

impl Conversation {
    /// The next message for the client. Reads a request only if there is nothing to send.
    async fn next(&mut self) -> Result<Option<Answer>, Status> {
        if self.ended {
            return Ok(None);
        }
        loop {
            let answer = self.active.as_mut().map_or(Ok(None), ActiveSpread::answer);
            if let Some(answer) = answer.map_err(status::refused)? {
                self.ended = matches!(answer, Answer::Certificate(_));
                return Ok(Some(answer));
            }
            let message = self.requests.message().await.map_err(status::of_frames)?;
            self.count_memory(message.as_ref())?;
            self.take(message).map_err(status::refused)?;
        }
    }

    /// Counts the memory that the stream holds after `request`, instead of that of earlier
    /// messages.
    fn count_memory(&self, request: Option<&proto::SpreadRequest>) -> Result<(), Status> {
        let Some(permit) = &self.permit else { return Ok(()) };
        permit.release_request();
        let held = self.active.as_ref().map_or(0, |active| active.inputs.group_count());
        let more = match request.and_then(|request| request.message.as_ref()) {
            Some(RequestMessage::Input(input)) => {
                input.groups.len() + input.whole_group_sizes.len()
            }
            _ => 0,
        };
        match permit.take_request((held + more) * GROUP_MEMORY) {
            true => Ok(()),
            false => Err(status::no_room()),
        }
    }

    fn take(&mut self, request: Option<proto::SpreadRequest>) -> Result<(), Rejection> {
        let Some(proto::SpreadRequest { message }) = request else {
            let active = self.active.as_ref();
            return Err(active.map_or_else(
                || missing("spec", "it, or resume, must be set in the first message"),
                |active| active.inputs.what_is_missing(),
            ));
        };
        match (message, &mut self.active) {
            (Some(RequestMessage::Spec(spec)), active @ None) => {
                let begun = ActiveSpread::new(spec, None);
                *active = Some(begun.map_err(|refused| refused.under("spec"))?);
                Ok(())
            }
            (Some(RequestMessage::Resume(resume)), active @ None) => {
                let resumed = spec::place(resume).and_then(|(spec, place)| {
                    ActiveSpread::new(spec, Some(place)).map_err(|refused| refused.under("spec"))
                });
                *active = Some(resumed.map_err(|refused| refused.under("resume"))?);
                Ok(())
            }
            (Some(RequestMessage::Input(input)), Some(active)) => active.inputs.take(input),
            (Some(late @ (RequestMessage::Spec(_) | RequestMessage::Resume(_))), Some(_)) => {
                let field = if matches!(late, RequestMessage::Spec(_)) { "spec" } else { "resume" };
                let allowed = "must be set only in the first message";
                Err(Rejection::new(Reason::Contradictory, field, "a later message's", allowed))
            }
            (Some(RequestMessage::Input(_)), None) => {
                Err(missing("spec", "it, or resume, must be set in the first message"))
            }
            (None, _) => Err(missing("input", "spec or input must be set")),
        }
    }
}

fn missing(field: &str, allowed: &str) -> Rejection {
    Rejection::new(Reason::FieldMissing, field, "nothing", allowed)
}

/// A spread in progress, and answers that are not sent yet.
struct ActiveSpread {
    spread: Spread<usize>,
    inputs: Inputs,
    /// The encoded spec, for tokens.
    begun: Vec<u8>,
    answers: VecDeque<Answer>,
    sequence: u64,
    /// Digest of the turns before `sequence`.
    digest: OrderDigest,
    /// The place that a resumed spread must reach.
    place: Option<Place>,
}

impl ActiveSpread {
    fn new(spec: proto::SpreadSpec, place: Option<Place>) -> Result<Self, Rejection> {
        let begun = spec.encode_to_vec();
        let (spread, inputs) = spec::begin(spec)?;
        let (answers, digest) = (VecDeque::new(), OrderDigest::default());
        Ok(Self { spread, inputs, begun, answers, sequence: 0, digest, place })
    }

    /// The next answer, if there is one without further input.
    fn answer(&mut self) -> Result<Option<Answer>, Rejection> {
        if self.answers.is_empty() {
            self.deal()?;
        }
        Ok(self.answers.pop_front())
    }

    /// Maximum number of turns in the next message: it ends where a resumed spread is checked.
    fn room(&self) -> usize {
        let check = self.place.as_ref().and_then(|place| place.turns_to_check(self.sequence));
        check.and_then(|turns| usize::try_from(turns).ok()).map_or(TURNS, |turns| turns.min(TURNS))
    }

    /// Deals up to one message of turns; then requests more input.
    fn deal(&mut self) -> Result<(), Rejection> {
        let mut group_indexes = Vec::new();
        let mut ended = false;
        let room = self.room();
        self.spread.turns(&mut self.inputs, room, |turn| match turn {
            Turn::Job(dealt) => group_indexes.push(wide(dealt.group)),
            Turn::Idle { .. } => group_indexes.push(-1),
            Turn::Pending => {}
            Turn::End => ended = true,
        });
        if !group_indexes.is_empty() {
            if let Some(place) = &self.place {
                place.check(self.sequence, self.digest, &group_indexes)?;
            }
            let first_turn_index = wide(self.sequence);
            let resume_token = spec::token(self.sequence, self.digest, &self.begun).into();
            self.sequence += group_indexes.len() as u64;
            self.digest.extend(&group_indexes);
            let turns = proto::SpreadTurns { first_turn_index, group_indexes, resume_token };
            self.answers.push_back(Answer::Turns(turns));
        }
        if let (true, Some(place)) = (ended, &self.place) {
            place.check_end(self.sequence)?;
        }
        if ended {
            self.answers.push_back(Answer::Certificate(certificate(&self.spread.certificate())));
        } else if let Some(demand) = self.inputs.demand(self.spread.vacancies()) {
            self.answers.push_back(Answer::Demand(demand));
        }
        Ok(())
    }
}

pub(super) fn certificate(certificate: &Certificate) -> proto::SpreadCertificate {
    let Certificate {
        job_count,
        group_count,
        min_gap_turns,
        best_min_gap_turns,
        close_pair_count,
        close_pair_lower_bound,
        widest_span_turns,
    } = *certificate;
    proto::SpreadCertificate {
        job_count: wide(job_count),
        group_count: wide(group_count),
        min_gap_turns: min_gap_turns.map(wide),
        best_min_gap_turns: best_min_gap_turns.map(wide),
        close_pair_count: wide(close_pair_count),
        close_pair_lower_bound: wide(close_pair_lower_bound),
        widest_span_turns: wide(widest_span_turns),
    }
}

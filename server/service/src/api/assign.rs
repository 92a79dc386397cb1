//! `AssignSlot`: one ID, in one piece or in several.

use offbeat_core::limits::{ANSWER_PIECES, ANSWER_RUNS};
use offbeat_core::runs::{FirstRun, FirstRunPolicy, NewId, NewIdSpec};
use offbeat_core::runs::{Runs, check_run_count};
use offbeat_core::{Catalog, Id, Moment, Place, Reason, Rejection, Schedule, WorkBudgetExhausted};

use super::convert;
use offbeat_proto as proto;

pub(super) fn assign(
    request: proto::AssignSlotRequest,
    now: fn() -> Moment,
    catalog: &Catalog,
) -> Result<proto::AssignSlotResponse, Rejection> {
    let proto::AssignSlotRequest {
        schedule,
        id,
        from_time,
        next_run_count,
        kind,
        weight,
        new_id,
        time_zone,
    } = request;
    let whole = convert::schedule_of_kind(schedule, &kind, catalog)?;
    // Run keys and the fingerprint are those of the schedule, wherever the ID lives.
    let moved = Some(time_zone).filter(|zone| !zone.is_empty());
    let moved = moved.map(|zone| whole.in_zone(&zone)).transpose()?;
    let schedule = moved.as_ref().unwrap_or(&whole);
    let id = convert::required("id", id, "it must be set")?;
    let id = convert::id(&id)?;
    let run_count = check_run_count(next_run_count.unwrap_or(1).into())?;
    let from = convert::moment_or_now("from_time", from_time, now)?;
    let runs = schedule.runs_from(from, run_count)?;
    let prefix = convert::run_key_prefix(&whole, &kind)?;
    let place = schedule.place(&id).map_err(|rejection| rejection.under("id"))?;
    let piece_count = piece_count(schedule, weight, run_count)?;
    let new_id = new_id
        .map(|new_id| new_id_of(schedule, new_id, from))
        .transpose()
        .map_err(|rejection| rejection.under("new_id"))?;
    let query = AssignmentQuery { schedule, id, run_count, runs, prefix, new_id };
    let pieces =
        (0..piece_count).map(|piece| query.piece(&place, piece)).collect::<Result<_, _>>()?;
    Ok(proto::AssignSlotResponse {
        identity: Some(convert::identity(&whole)),
        pieces,
        explanation: Some(convert::placement_explanation(&place, &query.id)),
    })
}

/// Values that all pieces share.
struct AssignmentQuery<'a> {
    schedule: &'a Schedule,
    id: Id<'a>,
    run_count: usize,
    runs: Runs<'a>,
    prefix: String,
    new_id: Option<NewId<'a>>,
}

impl AssignmentQuery<'_> {
    fn piece(&self, place: &Place, piece: u32) -> Result<proto::Piece, WorkBudgetExhausted> {
        let place = self.schedule.piece(place, piece);
        // At least one run is found, even if none is requested: it gives the cycle.
        let next = self.runs.next_runs(&place).take(self.run_count.max(1));
        let next = next.collect::<Result<Vec<_>, _>>()?;
        let cycle = next.first().map_or_else(|| self.runs.cycle(), |run| run.cycle_index);
        let last = self.runs.last_run(&place)?;
        let run = |run| convert::run_of_piece(run, &self.prefix, piece, &self.id);
        let first = match &self.new_id {
            Some(new_id) => new_id.first_run(&self.id, &place, piece)?,
            None => None,
        };
        let place = self.schedule.place_in(&place, cycle);
        Ok(proto::Piece {
            piece_index: convert::count(piece),
            slot_index: convert::count(place.slot),
            slot_offset: Some(convert::duration(self.schedule.span(place.slot_offset))),
            cycle_offset: Some(convert::duration(self.schedule.span(place.cycle_offset))),
            last_run: last.map(run),
            next_runs: next.into_iter().take(self.run_count).map(run).collect(),
            first_run: first.map(|FirstRun { run: first, regular_unix_millis }| proto::Run {
                nominal_time: regular_unix_millis
                    .and_then(Moment::from_unix_millis)
                    .map(convert::timestamp),
                ..run(first)
            }),
        })
    }
}

/// The number of pieces of the ID. Refused if their runs do not fit in one answer.
fn piece_count(
    schedule: &Schedule,
    weight: Option<i64>,
    run_count: usize,
) -> Result<u32, Rejection> {
    let Some(weight) = weight else { return Ok(1) };
    let pieces = schedule.piece_count(weight)?;
    if !ANSWER_PIECES.allows(pieces.into()) {
        let value = format_args!("{weight}, which is {pieces} pieces,");
        let allowed = format!("must be {ANSWER_PIECES}: AssignSlots takes more");
        return Err(Rejection::new(Reason::OutOfRange, "weight", value, allowed));
    }
    let runs = usize::try_from(pieces).unwrap_or(usize::MAX).saturating_mul(run_count);
    if runs > ANSWER_RUNS.max_size() {
        let value = format_args!("{run_count} runs of {pieces} pieces each");
        let allowed = format!("must be {ANSWER_RUNS} of all pieces together");
        return Err(Rejection::new(Reason::OutOfRange, "next_run_count", value, allowed));
    }
    Ok(pieces)
}

fn new_id_of(
    schedule: &Schedule,
    message: proto::NewId,
    from: Moment,
) -> Result<NewId<'_>, Rejection> {
    use proto::FirstRunPolicy as Wire;
    let proto::NewId { create_time, policy, smear_span, max_clock_skew } = message;
    let created = convert::required("create_time", create_time, "it must be set")?;
    let policy = match Wire::try_from(policy) {
        Ok(Wire::Unspecified | Wire::NextCycle) => FirstRunPolicy::NextCycle,
        Ok(Wire::NowSmeared) => FirstRunPolicy::NowSmeared,
        Err(_) => {
            let allowed = "0 to 2, a value of FirstRunPolicy";
            return Err(convert::unknown_enum_value("policy", policy, allowed));
        }
    };
    let spec = NewIdSpec {
        create_time: convert::moment("create_time", created)?,
        policy,
        smear_span: convert::optional_span("smear_span", smear_span)?,
        max_clock_skew: convert::optional_span("max_clock_skew", max_clock_skew)?,
    };
    NewId::try_new(schedule, &spec, from)
}

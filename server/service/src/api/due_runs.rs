//! `ListDueRuns`: what is due, and what was missed.

use std::sync::Arc;

use offbeat_core::limits::DEFAULT_DUE_RUNS;
use offbeat_core::runs::{Due, DueRuns, DueSpec, MissedRunPolicy};
use offbeat_core::{Catalog, Moment, Reason, Rejection};
use tonic::Status;

use super::columns::IdErrors;
use super::convert::{self, Column};
use super::pages::Page;
use super::weights::{Pieces, check_count};
use crate::work::{Permit, offload};
use offbeat_proto as proto;
use offbeat_proto::status;

/// Requests with more IDs are decided off the event loop.
const INLINE_IDS: usize = 64;
/// Bytes of a run in an answer: its columns.
const ROW_BYTES: usize = 32;

pub(super) async fn list(
    mut request: proto::ListDueRunsRequest,
    now: fn() -> Moment,
    catalog: Arc<Catalog>,
    permit: Option<Permit>,
) -> Result<proto::ListDueRunsResponse, Status> {
    let refused = status::refused;
    let column = convert::checked_column(request.ids.take()).map_err(refused)?;
    let page = Page::of(&mut request, column.len()).map_err(refused)?;
    let searched = convert::has_exclusions(request.schedule.as_ref(), &catalog);
    let many = column.len() > INLINE_IDS || page.first_row > 0 || !column.zones.is_empty();
    let searched = searched || convert::takes_long(request.schedule.as_ref());
    let long = many || !request.weights.is_empty() || searched;
    let decide = move || decide(request, &column, page, now, &catalog);
    let decided = offload(long, permit.clone(), decide).await?;
    let answer = decided.map_err(refused)?;
    let rows = answer.runs.as_ref().map_or(0, |runs| runs.cycle_indexes.len());
    match permit {
        Some(permit) if !permit.take_answer(rows * ROW_BYTES) => Err(status::no_room()),
        _ => Ok(answer),
    }
}

fn decide(
    mut request: proto::ListDueRunsRequest,
    column: &Column,
    page: Page,
    now: fn() -> Moment,
    catalog: &Catalog,
) -> Result<proto::ListDueRunsResponse, Rejection> {
    let now_time = page.now(request.now_time.take(), now)?;
    let proto::ListDueRunsRequest {
        schedule,
        ids: _, // taken above, as `column`
        weights,
        kind,
        watermark_time,
        watermark_unix_millis,
        now_time: _, // taken above
        catch_up_policy,
        max_clock_skew,
        look_ahead,
        page_size,
        page_token: _, // taken above, by `page`
    } = request;
    let schedule = convert::schedule_of_kind(schedule, &kind, catalog)?;
    let spec = DueSpec {
        max_clock_skew: convert::optional_span("max_clock_skew", max_clock_skew)?,
        look_ahead: convert::optional_span("look_ahead", look_ahead)?,
        ..catch_up(catch_up_policy.unwrap_or_default(), now_time).map_err(in_policy)?
    };
    let due = Due::try_new(&schedule, &spec).map_err(in_policy)?;
    let zones = column.zones.schedules(&schedule)?;
    let zoned = zones.iter().map(|schedule| Due::try_new(schedule, &spec).map_err(in_policy));
    let zoned = zoned.collect::<Result<Vec<_>, _>>()?;
    let watermarks =
        Watermarks::try_new(&due, watermark_time, &watermark_unix_millis, column.len())?;
    let pieces = Pieces::try_new(&schedule, &weights, column.len())?;
    let run_key_prefix = convert::run_key_prefix(&schedule, &kind)?;
    let mut errors = IdErrors::new(column);
    let page_size = if page_size == 0 { DEFAULT_DUE_RUNS } else { page_size.into() };
    let mut rows = DueRuns::page(page.first_row, page_size)?;
    let mut row = 0;
    column.place_all(&schedule, &mut |place| {
        match place.and_then(|place| Ok((column.id(row)?, place))) {
            Ok((id, place)) => {
                let index = u32::try_from(row).unwrap_or(u32::MAX); // of a batch
                let watermark = watermarks.of(row);
                let due = column.zones.of(row).and_then(|zone| zoned.get(zone)).unwrap_or(&due);
                for piece in 0..pieces.of(row) {
                    let place = schedule.piece(&place, piece);
                    due.add(&mut rows, (index, piece), &id, &place, watermark);
                }
            }
            Err(rejection) => errors.push(row, rejection),
        }
        row += 1;
    });
    let rows = rows.complete()?;
    if let Some(next_row) = rows.next_row() {
        return Ok(proto::ListDueRunsResponse {
            identity: Some(convert::identity(&schedule)),
            runs: Some(due_runs(rows, run_key_prefix, errors)),
            next_page_token: page.next(now_time, next_row),
            ..Default::default()
        });
    }
    let next_watermark = due.next_watermark(watermarks.shared());
    let wide = |count: u128| i64::try_from(count).unwrap_or(i64::MAX);
    Ok(proto::ListDueRunsResponse {
        identity: Some(convert::identity(&schedule)),
        late_run_count: wide(rows.late),
        dropped_run_count: wide(rows.dropped),
        superseded_run_count: wide(rows.superseded),
        skipped_run_count: wide(rows.skipped),
        next_due_time: rows.next_due.and_then(Moment::from_unix_millis).map(convert::timestamp),
        runs: Some(due_runs(rows, run_key_prefix, errors)),
        next_watermark_time: Moment::from_unix_millis(next_watermark).map(convert::timestamp),
        next_page_token: String::new(),
    })
}

/// The spec of a policy, with defaults for everything else.
fn catch_up(message: proto::CatchUpPolicy, now_time: Moment) -> Result<DueSpec, Rejection> {
    let proto::CatchUpPolicy { missed_run_policy, on_time_tolerance, horizon, smear_span, min_gap } =
        message;
    Ok(DueSpec {
        missed_run_policy: policy(missed_run_policy)?,
        on_time_tolerance: convert::optional_span("on_time_tolerance", on_time_tolerance)?,
        horizon: convert::optional_span("horizon", horizon)?,
        smear_span: convert::optional_span("smear_span", smear_span)?,
        min_gap: convert::optional_span("min_gap", min_gap)?,
        ..DueSpec::until(now_time)
    })
}

/// Puts the fields of the policy under `catch_up_policy`.
fn in_policy(refused: Rejection) -> Rejection {
    match refused.field.as_str() {
        "missed_run_policy" | "on_time_tolerance" | "horizon" | "smear_span" | "min_gap" => {
            refused.under("catch_up_policy")
        }
        _ => refused,
    }
}

fn due_runs(rows: DueRuns, run_key_prefix: String, errors: IdErrors<'_>) -> proto::DueRuns {
    let counts = |column: Vec<u32>| column.into_iter().map(convert::count).collect();
    proto::DueRuns {
        id_indexes: counts(rows.id_indexes),
        piece_indexes: counts(rows.piece_indexes),
        cycle_indexes: rows.cycle_indexes,
        scheduled_unix_millis: rows.scheduled_unix_millis,
        start_unix_millis: rows.start_unix_millis,
        run_key_prefix,
        errors: errors.into_vec(),
    }
}

fn policy(number: i32) -> Result<MissedRunPolicy, Rejection> {
    use proto::MissedRunPolicy as Wire;
    match Wire::try_from(number) {
        Ok(Wire::Unspecified | Wire::RunOnce) => Ok(MissedRunPolicy::RunOnce),
        Ok(Wire::Drop) => Ok(MissedRunPolicy::Drop),
        Ok(Wire::RunAll) => Ok(MissedRunPolicy::RunAll),
        Err(_) => {
            let allowed = "0 to 3, a value of MissedRunPolicy";
            Err(convert::unknown_enum_value("missed_run_policy", number, allowed))
        }
    }
}

/// Watermarks, up to which runs were listed before, in milliseconds since the Unix epoch.
enum Watermarks<'a> {
    OfAll(i64),
    OfEach(&'a [i64]),
}

impl<'a> Watermarks<'a> {
    fn try_new(
        due: &Due<'_>,
        of_all: Option<prost_types::Timestamp>,
        of_each: &'a [i64],
        id_count: usize,
    ) -> Result<Self, Rejection> {
        const FIELD: &str = "watermark_time";
        match (of_all, of_each) {
            (None, []) => {
                let allowed = "must be set, but for IDs with watermarks of their own";
                Err(Rejection::new(Reason::FieldMissing, FIELD, "nothing", allowed))
            }
            (Some(time), []) => {
                let millis = convert::moment(FIELD, time)?.unix_millis_ceil();
                due.check_watermark(millis).map(Self::OfAll).map_err(|refused| refused.under(FIELD))
            }
            (Some(time), _) => {
                let allowed = "must not be set together with watermark_unix_millis";
                let time = convert::moment(FIELD, time)?;
                Err(Rejection::new(Reason::Contradictory, FIELD, time, allowed))
            }
            (None, each) => {
                const FIELD: &str = "watermark_unix_millis";
                check_count(FIELD, each.len(), id_count)?;
                for (row, millis) in each.iter().enumerate() {
                    due.check_watermark(*millis)
                        .map_err(|refused| refused.under(&format!("{FIELD}[{row}]")))?;
                }
                Ok(Self::OfEach(each))
            }
        }
    }

    fn of(&self, row: usize) -> i64 {
        match self {
            Self::OfAll(watermark) => *watermark,
            Self::OfEach(watermarks) => watermarks.get(row).copied().unwrap_or(i64::MAX),
        }
    }

    /// The watermark that all IDs share; `i64::MIN` if each ID has its own.
    const fn shared(&self) -> i64 {
        match self {
            Self::OfAll(watermark) => *watermark,
            Self::OfEach(_) => i64::MIN,
        }
    }
}

//! `PlanMigration`: from one schedule to another.

use std::sync::Arc;

use offbeat_core::migration::{Crossing, Migration, NoCrossing, Path, Step};
use offbeat_core::sql::Index;
use offbeat_core::{Catalog, Moment, Place, Reason, Rejection, Schedule, Span};
use tonic::Status;

use super::columns::{IdErrors, REFUSED};
use super::convert::{self, Column};
use crate::work::{Permit, offload};
use offbeat_proto as proto;
use offbeat_proto::status;

/// Bytes of an ID in an answer: its columns.
const ROW_BYTES: usize = 32;

pub(super) async fn plan(
    mut request: proto::PlanMigrationRequest,
    now: fn() -> Moment,
    catalog: Arc<Catalog>,
    permit: Option<Permit>,
) -> Result<proto::PlanMigrationResponse, Status> {
    let refused = status::refused;
    let ids = request.ids.take();
    let column =
        ids.map(|ids| convert::column_of_one_zone(Some(ids))).transpose().map_err(refused)?;
    let rows = column.as_ref().map_or(0, Column::len);
    if let Some(permit) = &permit
        && !permit.take_answer(rows * ROW_BYTES)
    {
        return Err(status::no_room());
    }
    // The bounds, and thousands of statements, take long even without IDs.
    let decided =
        offload(true, permit, move || decide(request, column.as_ref(), now, &catalog)).await?;
    decided.map_err(refused)
}

fn decide(
    request: proto::PlanMigrationRequest,
    column: Option<&Column>,
    now: fn() -> Moment,
    catalog: &Catalog,
) -> Result<proto::PlanMigrationResponse, Rejection> {
    let proto::PlanMigrationRequest {
        old_schedule,
        new_schedule,
        cutover_time,
        min_gap,
        ids: _, // taken above, as `column`
        kind,
        sql_target,
    } = request;
    let of_kind =
        |field, schedule| convert::of_kind(convert::schedule_at(field, schedule, catalog)?, &kind);
    let old = of_kind("old_schedule", old_schedule)?;
    let new = of_kind("new_schedule", new_schedule)?;
    let cutover = match cutover_time {
        Some(time) => convert::moment("cutover_time", time)?,
        None => next_cycle(&old, now())?,
    };
    let min_gap = convert::optional_span("min_gap", min_gap)?;
    convert::without_zones(sql_target.as_ref())?;
    let migration = Migration::try_new(&old, &new, cutover, min_gap)?;
    let prefixes = [convert::run_key_prefix(&old, &kind)?, convert::run_key_prefix(&new, &kind)?];
    let (steps, indexes) = match sql_target {
        Some(column) => migration
            .steps(&convert::sql_target(column).map_err(|refused| refused.under("sql_target"))?)
            .map_err(|refused| refused.under("sql_target"))?,
        None => Default::default(),
    };
    let ids = column.map(|column| Ids::cross(&migration, (&old, &new), column, prefixes));
    let ids = ids.transpose()?;
    Ok(proto::PlanMigrationResponse {
        old_identity: Some(convert::identity(&old)),
        new_identity: Some(convert::identity(&new)),
        cutover_time: Some(convert::timestamp(cutover)),
        path: path(migration.path()).into(),
        advice: migration.advice(),
        max_gap_bound: migration.longest_gap().map(convert::duration),
        ids,
        steps: steps.into_iter().map(step).collect(),
        sql_indexes: indexes.iter().map(|index: &Index| convert::sql_index(index)).collect(),
    })
}

fn next_cycle(old: &Schedule, now: Moment) -> Result<Moment, Rejection> {
    old.cycle_start_after(now).ok_or_else(|| {
        let allowed = "must be set: the old schedule's next cycle starts after the year 9999";
        Rejection::new(Reason::FieldMissing, "cutover_time", "nothing", allowed)
    })
}

const fn path(path: Path) -> proto::MigrationPath {
    match path {
        Path::Unchanged => proto::MigrationPath::Unchanged,
        Path::SameTimes => proto::MigrationPath::SameTimes,
        Path::SameOrder => proto::MigrationPath::SameOrder,
        Path::NewPlaces => proto::MigrationPath::NewPlaces,
    }
}

fn step(step: Step) -> proto::MigrationStep {
    let Step { start, end, by_new, predicate } = step;
    proto::MigrationStep {
        start_time: Some(convert::timestamp(start)),
        end_time: Some(convert::timestamp(end)),
        by_new_schedule: by_new,
        predicate: Some(convert::predicate(predicate)),
    }
}

/// The columns as they grow, a row for each ID.
struct Ids<'a> {
    columns: proto::MigratedIds,
    errors: IdErrors<'a>,
    crossed: i64,
    gaps: Option<(Span, Span)>,
}

impl<'a> Ids<'a> {
    fn cross(
        migration: &Migration<'_>,
        (old, new): (&Schedule, &Schedule),
        column: &'a Column,
        [old_run_key_prefix, new_run_key_prefix]: [String; 2],
    ) -> Result<proto::MigratedIds, Rejection> {
        let columns = proto::MigratedIds {
            old_run_key_prefix,
            new_run_key_prefix,
            ..proto::MigratedIds::default()
        };
        let mut ids = Self { columns, errors: IdErrors::new(column), crossed: 0, gaps: None };
        let mut new_places: Vec<Result<Place, Rejection>> = Vec::with_capacity(column.len());
        column.place_all(new, &mut |place| new_places.push(place));
        let mut new_places = new_places.into_iter().enumerate();
        let mut exhausted = None;
        column.place_all(old, &mut |old_place| {
            let Some((row, new_place)) = new_places.next() else { return };
            let crossing = match (old_place, new_place) {
                (Ok(_), Ok(_)) if exhausted.is_some() => return,
                (Ok(old), Ok(new)) => match migration.crossing(&old, &new) {
                    Err(cause @ NoCrossing::Exhausted(_)) => return exhausted = Some(cause),
                    crossing => crossing.map_err(Rejection::from),
                },
                (Err(refused), _) | (_, Err(refused)) => Err(refused),
            };
            ids.push(row, crossing);
        });
        exhausted.map_or_else(|| Ok(ids.finish()), |cause| Err(cause.into()))
    }

    fn push(&mut self, row: usize, crossing: Result<Crossing, Rejection>) {
        let columns = &mut self.columns;
        let crossing = match crossing {
            Ok(crossing) => crossing,
            Err(rejection) => {
                columns.last_old_unix_millis.push(REFUSED);
                columns.last_old_cycle_indexes.push(REFUSED);
                columns.first_new_unix_millis.push(REFUSED);
                columns.first_new_cycle_indexes.push(REFUSED);
                return self.errors.push(row, rejection);
            }
        };
        let Crossing { last_old, first_new, left_out, moved } = crossing;
        columns.last_old_unix_millis.push(last_old.unix_millis);
        columns.last_old_cycle_indexes.push(last_old.cycle_index);
        columns.first_new_unix_millis.push(first_new.unix_millis);
        columns.first_new_cycle_indexes.push(first_new.cycle_index);
        columns.moved_id_count += i64::from(moved);
        columns.left_out_run_count += convert::wide(left_out);
        let gap = crossing.gap();
        let (shortest, longest) = self.gaps.unwrap_or((gap, gap));
        self.gaps = Some((shortest.min(gap), longest.max(gap)));
        self.crossed += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 65,536 IDs")]
    fn finish(self) -> proto::MigratedIds {
        let moved = self.columns.moved_id_count;
        let moved_ratio = if self.crossed == 0 { 0.0 } else { moved as f64 / self.crossed as f64 };
        proto::MigratedIds {
            moved_ratio,
            observed_min_gap: self.gaps.map(|(shortest, _)| convert::duration(shortest)),
            observed_max_gap: self.gaps.map(|(_, longest)| convert::duration(longest)),
            errors: self.errors.into_vec(),
            ..self.columns
        }
    }
}

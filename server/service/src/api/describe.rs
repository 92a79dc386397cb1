//! `DescribeSchedule`: the resolved schedule, its cycle and slot at an instant, and its loads.

use offbeat_core::{Catalog, Moment, Rejection};

use super::convert;
use offbeat_proto as proto;

pub(super) fn describe(
    request: proto::DescribeScheduleRequest,
    now: fn() -> Moment,
    catalog: &Catalog,
) -> Result<proto::DescribeScheduleResponse, Rejection> {
    let proto::DescribeScheduleRequest { schedule, at_time, population } = request;
    let schedule = convert::schedule(schedule, catalog)?;
    let at = convert::moment_or_now("at_time", at_time, now)?;
    let slot = schedule.slot_at(at)?;
    let population = convert::population(population)?;
    let cycle = schedule.cycle_at(at);
    let shares = schedule.cycle_shares(cycle);
    let slot_ticks = shares.active_ticks / u64::from(schedule.slot_count());
    Ok(proto::DescribeScheduleResponse {
        identity: Some(convert::identity(&schedule)),
        spec: Some(convert::resolved_spec(&schedule)),
        canonical_text: schedule.canonical_text(),
        slot_duration: Some(convert::duration(schedule.span(slot_ticks))),
        slot: slot.map(|slot| convert::slot(&slot)),
        cycle_start_time: schedule.cycle_start(cycle).map(convert::timestamp),
        bucket_share: convert::bucket_share(&schedule),
        slot_load: population.map(|ids| convert::expected_load(schedule.slot_load(ids))),
        second_load: population
            .and_then(|ids| schedule.second_load(ids))
            .map(convert::expected_load),
        cycle_end_time: schedule.cycle_start(cycle + 1).map(convert::timestamp),
        active_duration: Some(convert::duration(schedule.span(shares.active_ticks))),
        skipped_ratio: shares.skipped(),
        deferred_ratio: shares.deferred(),
        kinds: convert::described_kinds(&schedule),
        max_cycle_duration: Some(convert::duration(schedule.period())),
    })
}

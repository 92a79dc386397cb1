//! How near two places of an ID come to one another when clocks change.

use super::axis::Axis;
use super::map::CycleMap;
use super::plan::CyclePlan;
use crate::limits::WORST_CHANGE_YEARS;

const SECONDS_PER_DAY: i64 = 86_400;

/// The shortest time, in ticks, from a place to the one that stands `gap` slots of active time later,
/// and the cycle of the change that makes it so: of all places and all cycles in which clocks are put forward, or months
/// differ, in the years that are looked at. `None` without a calendar. It is below 0 where the later
/// place comes first: the clock skips the earlier.
pub(crate) fn shortest_distance(plan: &CyclePlan, slot_count: u32, gap: u32) -> Option<(i64, i64)> {
    let shortest = |(cycle, of): (i64, i64)| {
        in_cycle(plan, cycle, slot_count, gap, true).map(move |distance| (distance, of))
    };
    changing_cycles(plan).into_iter().flat_map(shortest).min()
}

/// The shortest times, in ticks, from a run to the next of another job whose places stand `gap` slots of
/// active time later, and from a run of that job to the next of the first: of all places and cycles as
/// above, and of cycles without a change. Unlike [`shortest_distance`] these count the time between
/// active windows, and a run that a change of the clocks puts before another is the earlier of both.
///
/// `is_rounded` says that a place may be a tick off in months of another length.
pub(crate) fn shortest_both_ways(
    plan: &CyclePlan,
    slot_count: u32,
    gap: u32,
    is_rounded: bool,
) -> (i64, i64) {
    let changing = changing_cycles(plan);
    let usual = changing.first().map_or(0, |(cycle, _)| cycle - 2);
    let cycles: Vec<i64> = changing.into_iter().map(|(cycle, _)| cycle).chain([usual]).collect();
    let distances = |gap: u32| -> Vec<i64> {
        let of = |cycle: &i64| in_cycle(plan, *cycle, slot_count, gap, is_rounded);
        cycles.iter().flat_map(of).collect()
    };
    let (ahead, behind) = (distances(gap), distances(slot_count - gap));
    // Between places at which months pass into one another distances grow evenly: from before to behind
    // another run they pass it.
    let is_even = plan.axis.shortest() != plan.axis.longest();
    let next = |own: &[i64], others: &[i64]| {
        let before = others.iter().filter(|distance| **distance <= 0);
        let before = before.map(|distance| if is_even { 0 } else { -distance });
        own.iter().copied().filter(|distance| *distance >= 0).chain(before).min().unwrap_or(0)
    };
    (next(&ahead, &behind), next(&behind, &ahead))
}

/// By how many ticks clocks are put forward at most, in the years that are looked at. 0 without a
/// calendar.
pub(crate) fn longest_skip(plan: &CyclePlan) -> u64 {
    let Axis::Calendar { rate, .. } = plan.axis else { return 0 };
    let skips = forward_changes(plan, SECONDS_PER_DAY * rate).into_iter();
    skips.map(|(_, skipped)| skipped).max().unwrap_or(0)
}

/// When clocks are put forward in the years that are looked at, and by how much.
fn forward_changes(plan: &CyclePlan, day: i64) -> Vec<(i64, u64)> {
    let (from, to) =
        (first_day(WORST_CHANGE_YEARS.minimum), first_day(WORST_CHANGE_YEARS.maximum + 1));
    let offsets = plan.axis.offsets(from * day, to * day);
    let forward = offsets.windows(2).filter_map(|pair| match pair {
        [(_, before), (since, after)] => {
            let skipped = u64::try_from(after.0 - before.0).ok()?;
            (skipped > 0).then_some((*since, skipped))
        }
        _ => None,
    });
    forward.collect()
}

/// The cycles in which clocks are put forward, and those beside them, each with that of the change; all
/// cycles where months differ. Of the years that are looked at, and none without a calendar.
fn changing_cycles(plan: &CyclePlan) -> Vec<(i64, i64)> {
    let Axis::Calendar { rate, .. } = plan.axis else { return Vec::new() };
    let day = SECONDS_PER_DAY * rate;
    let (from, to) =
        (first_day(WORST_CHANGE_YEARS.minimum), first_day(WORST_CHANGE_YEARS.maximum + 1));
    if plan.axis.shortest() == plan.axis.longest() {
        let forward = forward_changes(plan, day).into_iter().map(|(since, _)| plan.axis.at(since));
        forward.flat_map(|of| (of - 1..=of + 1).map(move |cycle| (cycle, of))).collect()
    } else {
        (plan.axis.at(from * day)..plan.axis.at(to * day)).map(|cycle| (cycle, cycle)).collect()
    }
}

/// The days from 1 January 1970 to the first of a year, since when leap years are every fourth.
const fn first_day(year: i64) -> i64 {
    (year - 1970) * 365 + (year - 1969) / 4
}

/// The distances from the places of a cycle. Between two of these places both times pass alike.
fn in_cycle(
    plan: &CyclePlan,
    cycle: i64,
    slot_count: u32,
    gap: u32,
    is_rounded: bool,
) -> impl Iterator<Item = i64> + use<> {
    let (map, next) = (plan.map(cycle), plan.map(cycle + 1));
    let ahead = u128::from(map.active_ticks) * u128::from(gap) / u128::from(slot_count);
    let ahead = u64::try_from(ahead).unwrap_or(u64::MAX);
    let starts =
        |map: &CycleMap| map.segments.iter().map(|segment| segment.offset).collect::<Vec<_>>();
    // Where the earlier place passes into another segment, and where the later one does.
    let later = starts(&map).into_iter().filter_map(move |offset| offset.checked_sub(ahead));
    let (of, of_next) = (u128::from(map.active_ticks), u128::from(next.active_ticks));
    let following = starts(&next).into_iter().filter_map(move |offset| {
        let share = (u128::from(offset) * of).div_ceil(of_next.max(1));
        (u64::try_from(share).ok()? + map_ticks(of)).checked_sub(ahead)
    });
    let mut earlier: Vec<u64> = starts(&map).into_iter().chain(later).chain(following).collect();
    // A place may be rounded to either side of where it passes.
    let beside = earlier
        .iter()
        .flat_map(|offset| [offset.saturating_sub(1), offset + 1])
        .collect::<Vec<_>>();
    earlier.extend(beside);
    earlier.retain(|offset| u128::from(*offset) < of);
    earlier.into_iter().filter_map(move |offset| {
        let target = u128::from(offset + ahead);
        let arrival = if target < of {
            map.instant_of(u64::try_from(target).ok()?)?
        } else {
            let share = (target - of) * of_next / of.max(1);
            // Months: their places may be rounded apart.
            let rounded = u64::from(is_rounded && of != of_next);
            next.instant_of(u64::try_from(share).ok()?)? - rounded.cast_signed()
        };
        Some(arrival - map.instant_of(offset)?)
    })
}

fn map_ticks(of: u128) -> u64 {
    u64::try_from(of).unwrap_or(u64::MAX)
}

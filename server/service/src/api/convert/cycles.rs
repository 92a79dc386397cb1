//! Calendars, active windows and exclusions, in both directions.

use offbeat_core::{
    CalendarSpec, CalendarUnit, CycleSpec, CycleWindow, ExclusionPolicy, ExclusionSpec,
    ExclusionTimes, Rejection, Schedule,
};

use super::scalars::{duration, moment, required, span, timestamp, unknown_enum_value};
use offbeat_proto as proto;

pub(super) fn cycle(message: proto::schedule_spec::Cycle) -> Result<CycleSpec, Rejection> {
    match message {
        proto::schedule_spec::Cycle::Period(period) => {
            Ok(CycleSpec::Period(span("period", period)?))
        }
        proto::schedule_spec::Cycle::Calendar(message) => {
            calendar("calendar", message).map(CycleSpec::Calendar)
        }
    }
}

fn calendar(field: &str, message: proto::CalendarCycle) -> Result<CalendarSpec, Rejection> {
    let proto::CalendarCycle { unit, time_zone } = message;
    const ALLOWED: &str = "1 to 3, a value of CalendarUnit";
    let unit = match proto::CalendarUnit::try_from(unit) {
        Ok(proto::CalendarUnit::Unspecified) => {
            required("unit", None, &format!("must be {ALLOWED}"))
        }
        Ok(proto::CalendarUnit::Day) => Ok(CalendarUnit::Day),
        Ok(proto::CalendarUnit::Week) => Ok(CalendarUnit::Week),
        Ok(proto::CalendarUnit::Month) => Ok(CalendarUnit::Month),
        Err(_) => Err(unknown_enum_value("unit", unit, ALLOWED)),
    };
    let unit = unit.map_err(|rejection| rejection.under(field))?;
    Ok(CalendarSpec { unit, time_zone })
}

fn window(message: proto::CycleWindow) -> Result<CycleWindow, Rejection> {
    let proto::CycleWindow { start_offset, end_offset } = message;
    let start = span("start_offset", start_offset.unwrap_or_default())?;
    let end = required("end_offset", end_offset, "it must be set, after start_offset")?;
    Ok(CycleWindow { start, end: span("end_offset", end)? })
}

pub(super) fn windows(messages: Vec<proto::CycleWindow>) -> Result<Vec<CycleWindow>, Rejection> {
    let at = |(index, message)| {
        window(message)
            .map_err(|rejection: Rejection| rejection.under(&format!("active_windows[{index}]")))
    };
    messages.into_iter().enumerate().map(at).collect()
}

pub(super) fn exclusions(messages: Vec<proto::Exclusion>) -> Result<Vec<ExclusionSpec>, Rejection> {
    let at = |(index, message)| {
        exclusion(message)
            .map_err(|rejection: Rejection| rejection.under(&format!("exclusions[{index}]")))
    };
    messages.into_iter().enumerate().map(at).collect()
}

fn exclusion(message: proto::Exclusion) -> Result<ExclusionSpec, Rejection> {
    use proto::exclusion::Times;
    let proto::Exclusion { times, policy } = message;
    let times = match required("times", times, "dated or recurring must be set")? {
        Times::Dated(dated) => {
            let proto::DatedExclusion { start_time, end_time } = dated;
            let instant = |field: &str, time| {
                required(field, time, "it must be set")
                    .and_then(|time| moment(field, time))
                    .map_err(|rejection| rejection.under("dated"))
            };
            let (start, end) = (instant("start_time", start_time)?, instant("end_time", end_time)?);
            ExclusionTimes::Dated { start, end }
        }
        Times::Recurring(recurring) => {
            let proto::RecurringExclusion { calendar: unit, window: part } = recurring;
            let of = |rejection: Rejection| rejection.under("recurring");
            let unit = required("calendar", unit, "it must be set").map_err(of)?;
            let part = required("window", part, "it must be set").map_err(of)?;
            let window = window(part).map_err(|rejection| of(rejection.under("window")))?;
            ExclusionTimes::Recurring { calendar: calendar("calendar", unit).map_err(of)?, window }
        }
    };
    let policy = match proto::ExclusionPolicy::try_from(policy) {
        Ok(proto::ExclusionPolicy::Unspecified | proto::ExclusionPolicy::Defer) => {
            ExclusionPolicy::Defer
        }
        Ok(proto::ExclusionPolicy::Skip) => ExclusionPolicy::Skip,
        Err(_) => {
            let allowed = "0 to 2, a value of ExclusionPolicy";
            return Err(unknown_enum_value("policy", policy, allowed));
        }
    };
    Ok(ExclusionSpec { times, policy })
}

/// The cycle of a checked schedule.
pub(super) fn resolved_cycle(schedule: &Schedule) -> proto::schedule_spec::Cycle {
    match schedule.calendar() {
        Some((unit, zone)) => {
            proto::schedule_spec::Cycle::Calendar(calendar_message(unit, zone.to_owned()))
        }
        None => proto::schedule_spec::Cycle::Period(duration(schedule.period())),
    }
}

fn calendar_message(unit: CalendarUnit, time_zone: String) -> proto::CalendarCycle {
    let unit = match unit {
        CalendarUnit::Day => proto::CalendarUnit::Day,
        CalendarUnit::Week => proto::CalendarUnit::Week,
        CalendarUnit::Month => proto::CalendarUnit::Month,
    };
    proto::CalendarCycle { unit: unit.into(), time_zone }
}

fn window_message(window: CycleWindow) -> proto::CycleWindow {
    let CycleWindow { start, end } = window;
    proto::CycleWindow { start_offset: Some(duration(start)), end_offset: Some(duration(end)) }
}

pub(super) fn resolved_windows(schedule: &Schedule) -> Vec<proto::CycleWindow> {
    schedule.active_windows().into_iter().map(window_message).collect()
}

pub(super) fn resolved_exclusions(schedule: &Schedule) -> Vec<proto::Exclusion> {
    schedule.exclusions().into_iter().map(exclusion_message).collect()
}

fn exclusion_message(exclusion: ExclusionSpec) -> proto::Exclusion {
    use proto::exclusion::Times;
    let ExclusionSpec { times, policy } = exclusion;
    let times = match times {
        ExclusionTimes::Dated { start, end } => {
            let (start_time, end_time) = (Some(timestamp(start)), Some(timestamp(end)));
            Times::Dated(proto::DatedExclusion { start_time, end_time })
        }
        ExclusionTimes::Recurring { calendar: CalendarSpec { unit, time_zone }, window } => {
            let calendar = Some(calendar_message(unit, time_zone));
            let window = Some(window_message(window));
            Times::Recurring(proto::RecurringExclusion { calendar, window })
        }
    };
    let policy = match policy {
        ExclusionPolicy::Skip => proto::ExclusionPolicy::Skip,
        ExclusionPolicy::Defer => proto::ExclusionPolicy::Defer,
    };
    proto::Exclusion { times: Some(times), policy: policy.into() }
}

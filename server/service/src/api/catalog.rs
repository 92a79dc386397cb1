//! `ListSchedules`: the schedules that are loaded, in pages. A token names the last schedule of its
//! page, so that nothing is remembered, and a file that is exchanged between two pages does no harm.

use offbeat_core::limits::LISTED_SCHEDULES;
use offbeat_core::{Catalog, Reason, Rejection, Schedule, ScheduleName};

use super::convert;
use offbeat_proto as proto;

/// The form of a token: this number, then the name and version as text.
const FORM: u8 = 1;
const DEFAULT_SIZE: usize = 100;

pub(super) fn listed(
    request: proto::ListSchedulesRequest,
    catalog: &Catalog,
) -> Result<proto::ListSchedulesResponse, Rejection> {
    let proto::ListSchedulesRequest { name, page_size, page_token } = request;
    if !name.is_empty() {
        ScheduleName::try_new(&name, 1)?;
    }
    let size = match page_size {
        0 => DEFAULT_SIZE,
        size if LISTED_SCHEDULES.allows(size.into()) => usize::try_from(size).unwrap_or_default(),
        size => {
            let allowed = format!("must be {LISTED_SCHEDULES}, or 0 for {DEFAULT_SIZE}");
            return Err(Rejection::new(Reason::OutOfRange, "page_size", size, allowed));
        }
    };
    let after = last_of(&page_token, &name)?;
    let is_listed = |key: &ScheduleName| {
        (name.is_empty() || key.name() == name) && after.as_ref().is_none_or(|after| key > after)
    };
    let mut left = catalog.iter().filter(|(key, _)| is_listed(key)).peekable();
    let page: Vec<_> = left.by_ref().take(size).collect();
    let last = page.last().filter(|_| left.peek().is_some());
    Ok(proto::ListSchedulesResponse {
        next_page_token: last.map(|(key, _)| token(key)).unwrap_or_default().into(),
        schedules: page.into_iter().map(|(key, schedule)| message(key, schedule)).collect(),
    })
}

fn message(key: &ScheduleName, schedule: &Schedule) -> proto::ListedSchedule {
    let version = i32::try_from(key.version()).unwrap_or(i32::MAX);
    proto::ListedSchedule {
        version: Some(proto::ScheduleVersion { name: key.name().to_owned(), version }),
        identity: Some(convert::identity(schedule)),
        spec: Some(convert::resolved_spec(schedule)),
    }
}

fn token(key: &ScheduleName) -> Vec<u8> {
    let mut token = vec![FORM];
    token.extend(key.to_string().bytes());
    token
}

/// The last schedule of the page before; `None` before the first.
fn last_of(token: &[u8], name: &str) -> Result<Option<ScheduleName>, Rejection> {
    const FIELD: &str = "page_token";
    let Some((form, text)) = token.split_first() else { return Ok(None) };
    let text = std::str::from_utf8(text).ok().filter(|_| *form == FORM);
    let Some(key) = text.and_then(|text| ScheduleName::parse(text).ok()) else {
        let value = format_args!("{} bytes", token.len());
        let allowed = "must be next_page_token of an answer, as it is";
        return Err(Rejection::new(Reason::Malformed, FIELD, value, allowed));
    };
    if !name.is_empty() && key.name() != name {
        let allowed = "must come with the name that it was answered to";
        return Err(Rejection::new(Reason::Contradictory, FIELD, "a token", allowed));
    }
    Ok(Some(key))
}

//! `ListSchedules`: the loaded schedules, in pages. A token names the last schedule of its page, so
//! the server keeps no state between pages, and the file may be replaced between two of them.

use offbeat_core::limits::LISTED_SCHEDULES;
use offbeat_core::{Catalog, Reason, Rejection, Schedule, ScheduleName};

use super::{convert, tokens};
use offbeat_proto as proto;

/// The form of a token: the name and version as text.
const FORM: u8 = 2;
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
        next_page_token: last
            .map(|(key, _)| tokens::seal_page(FORM, key.to_string().as_bytes()))
            .unwrap_or_default(),
        schedules: page.into_iter().map(|(key, schedule)| message(key, schedule)).collect(),
    })
}

/// All schedules of a catalog as one answer of `ListSchedules`, without pages.
#[must_use]
pub fn all_listed(catalog: &Catalog) -> proto::ListSchedulesResponse {
    proto::ListSchedulesResponse {
        schedules: catalog.iter().map(|(key, schedule)| message(key, schedule)).collect(),
        next_page_token: String::new(),
    }
}

fn message(key: &ScheduleName, schedule: &Schedule) -> proto::ListedSchedule {
    let version = i32::try_from(key.version()).unwrap_or(i32::MAX);
    proto::ListedSchedule {
        reference: Some(proto::ScheduleReference { name: key.name().to_owned(), version }),
        identity: Some(convert::identity(schedule)),
        spec: Some(convert::resolved_spec(schedule)),
    }
}

/// The last schedule of the previous page; `None` for the first page.
fn last_of(token: &str, name: &str) -> Result<Option<ScheduleName>, Rejection> {
    let Some(content) = tokens::open_page(FORM, token)? else { return Ok(None) };
    let key = std::str::from_utf8(&content).ok().and_then(|text| ScheduleName::parse(text).ok());
    let key = key.ok_or_else(|| tokens::malformed_page(token))?;
    if !name.is_empty() && key.name() != name {
        return Err(tokens::of_another("the name"));
    }
    Ok(Some(key))
}

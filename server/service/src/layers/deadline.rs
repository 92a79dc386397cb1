//! The deadline of a request, which covers the whole response: stock tonic bounds only the head of
//! a response.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use offbeat_core::{Reason, Rejection};
use tokio::time::{Instant, Sleep};

use crate::method::Method;

/// The headers that carry a caller's deadline: gRPC's, and the Connect protocol's.
const GRPC_TIMEOUT: &str = "grpc-timeout";
const CONNECT_TIMEOUT: &str = "connect-timeout-ms";

/// When an answer must be complete; `None` without a deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(pub(super) Option<Instant>);

impl Deadline {
    /// The caller's deadline, or that of unary calls, whichever is earlier.
    pub(super) fn of(
        headers: &HeaderMap,
        method: &Method,
        unary_time: Duration,
        started: Instant,
    ) -> Result<Self, Rejection> {
        let grpc = headers.get(GRPC_TIMEOUT).map(parse_timeout).transpose()?;
        let connect = headers.get(CONNECT_TIMEOUT).map(parse_millis).transpose()?;
        let ours = (!method.streaming).then_some(unary_time);
        let shortest = grpc.into_iter().chain(connect).chain(ours).min();
        Ok(Self(shortest.and_then(|time| started.checked_add(time))))
    }

    /// The output of `future`, if it comes in time. A future that is ready at once needs no timer.
    pub(super) async fn bound<F: Future>(self, future: F) -> Option<F::Output> {
        let (mut future, mut late) = (pin!(future), None);
        poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
            match late.get_or_insert_with(|| self.sleep()) {
                Some(late) => late.as_mut().poll(cx).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Ready when the deadline has passed; `None` without one.
    pub(super) fn sleep(self) -> Option<Pin<Box<Sleep>>> {
        self.0.map(|instant| Box::pin(tokio::time::sleep_until(instant)))
    }
}

/// Reads a timeout as gRPC writes it: up to eight digits and a unit.
fn parse_timeout(value: &HeaderValue) -> Result<Duration, Rejection> {
    let parsed = value.to_str().ok().and_then(|text| {
        let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        if !(1..=8).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let amount: u64 = digits.parse().ok()?;
        match unit {
            "H" => Some(Duration::from_secs(amount * 3_600)),
            "M" => Some(Duration::from_secs(amount * 60)),
            "S" => Some(Duration::from_secs(amount)),
            "m" => Some(Duration::from_millis(amount)),
            "u" => Some(Duration::from_micros(amount)),
            "n" => Some(Duration::from_nanos(amount)),
            _ => None,
        }
    });
    parsed.ok_or_else(|| {
        let shown = String::from_utf8_lossy(value.as_bytes());
        let allowed = "must be 1 to 8 digits and a unit of H, M, S, m, u or n";
        Rejection::new(Reason::Malformed, GRPC_TIMEOUT, shown, allowed)
    })
}

/// Reads a timeout as the Connect protocol writes it: up to ten digits, milliseconds.
fn parse_millis(value: &HeaderValue) -> Result<Duration, Rejection> {
    let digits = value.to_str().ok().filter(|text| {
        (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    });
    let millis = digits.and_then(|digits| digits.parse().ok()).map(Duration::from_millis);
    millis.ok_or_else(|| {
        let shown = String::from_utf8_lossy(value.as_bytes());
        let allowed = "must be 1 to 10 digits, milliseconds";
        Rejection::new(Reason::Malformed, CONNECT_TIMEOUT, shown, allowed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_read_as_grpc_writes_them() {
        for (text, millis) in [("2H", 7_200_000), ("3M", 180_000), ("4S", 4_000), ("00000005m", 5)]
        {
            let timeout = parse_timeout(&HeaderValue::from_static(text)).unwrap();
            assert_eq!(timeout, Duration::from_millis(millis), "{text}");
        }
        assert_eq!(parse_timeout(&HeaderValue::from_static("7u")).unwrap().as_nanos(), 7_000);
        assert_eq!(parse_timeout(&HeaderValue::from_static("8n")).unwrap().as_nanos(), 8);
        for bad in ["", "S", "5", "5s", "-5S", "123456789S", "1.5S", " 1S", "1µ"] {
            let value = HeaderValue::from_bytes(bad.as_bytes()).unwrap();
            let refused = parse_timeout(&value).unwrap_err();
            assert_eq!(refused.reason, Reason::Malformed, "{bad}");
        }
    }
}

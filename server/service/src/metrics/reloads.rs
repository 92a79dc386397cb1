//! Files that are read again: how often, whether they are refused, and when they were accepted last.

use std::fmt;

use offbeat_core::Moment;
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::encode;

/// Labels of the files that the server polls.
pub const RELOADED: [&str; 3] = [CERTIFICATES, TOKENS, SCHEDULES];
/// Certificates and keys of TLS.
pub const CERTIFICATES: &str = "certificates";
/// Bearer tokens of callers.
pub const TOKENS: &str = "tokens";
/// Schedules that callers name.
pub const SCHEDULES: &str = "schedules";

/// A family by what is read.
type ByFile<M> = Family<[(&'static str, &'static str); 1], M>;

#[derive(Debug)]
pub(super) struct Reloads {
    count: Family<Labels, Counter>,
    stale: ByFile<Gauge>,
    last_success: ByFile<Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Labels {
    what: &'static str,
    result: &'static str,
}

impl EncodeLabelSet for Labels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        encode(encoder, &[("what", self.what), ("result", self.result)])
    }
}

impl Reloads {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let count: Family<Labels, Counter> = Family::default();
        let (stale, last_success) = <(ByFile<Gauge>, ByFile<Gauge>)>::default();
        for what in RELOADED {
            for result in ["ok", "refused"] {
                drop(count.get_or_create(&Labels { what, result }));
            }
            drop(stale.get_or_create(&[("what", what)]));
        }
        let help = "Files of certificates, tokens and schedules read again after a change";
        registry.register("reloads", help, count.clone());
        let help = "Whether such files are refused as they are: 1 until they are mended, or 0";
        registry.register("reload_stale", help, stale.clone());
        let help = "When such files were last accepted, at the start or after a change";
        let name = "reload_last_success_timestamp_seconds";
        registry.register(name, help, last_success.clone());
        Self { count, stale, last_success }
    }

    /// Files were read at the start, or read again.
    pub(super) fn record(&self, what: &'static str, is_reload: bool, accepted: Option<Moment>) {
        if is_reload {
            let result = if accepted.is_some() { "ok" } else { "refused" };
            self.count.get_or_create(&Labels { what, result }).inc();
        }
        self.stale.get_or_create(&[("what", what)]).set(i64::from(accepted.is_none()));
        if let Some(time) = accepted {
            self.last_success.get_or_create(&[("what", what)]).set(time.parts().0);
        }
    }
}

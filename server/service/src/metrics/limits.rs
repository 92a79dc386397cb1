//! The limits that a deployment may choose, so that alerts need not know them.

use offbeat_core::limits::Limit;
use prometheus_client::registry::Registry;

use super::series::Gauges;
use crate::config::Config;
use crate::limits::{
    BULK_MESSAGE_BYTES, BYTES_IN_FLIGHT, CONNECTION_AGE_SECONDS, CONNECTIONS, DRAIN_DELAY_SECONDS,
    GRACE_SECONDS, NAMED_SPREAD_BYTES, NAMED_SPREADS, REQUESTS, SIMULATIONS, UNARY_SECONDS, id,
};

/// Registers the limits of a server, each under its ID in the table of limits.
pub(super) fn register(registry: &mut Registry, config: &Config) {
    let limits = &config.limits;
    let connection_age = limits.connection_age.map(|age| (CONNECTION_AGE_SECONDS, age.as_secs()));
    let values = [
        (CONNECTIONS, limits.connections as u64),
        (REQUESTS, limits.requests as u64),
        (BULK_MESSAGE_BYTES, limits.bulk_message.max_size() as u64),
        (BYTES_IN_FLIGHT, limits.bytes_in_flight as u64),
        (NAMED_SPREADS, NAMED_SPREADS.max_size() as u64),
        (NAMED_SPREAD_BYTES, limits.spread_bytes),
        (SIMULATIONS, limits.simulations as u64),
        (UNARY_SECONDS, limits.unary_time.as_secs()),
        (DRAIN_DELAY_SECONDS, config.drain_delay.as_secs()),
        (GRACE_SECONDS, config.grace_period.as_secs()),
    ];
    let series = values.into_iter().chain(connection_age);
    let series = series.map(|(limit, value): (Limit, u64)| ([("limit", id(&limit))], value));
    registry.register("limit", "The limits in force, by their IDs", Gauges(series.collect()));
}

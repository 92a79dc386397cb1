//! The limits that a deployment may choose, each within the table of limits.

use std::time::Duration;

use clap::Args;
use offbeat_core::limits::Limit;

use super::within;
use crate::limits::{
    ANSWER_BYTES, BULK_MESSAGE_BYTES, BYTES_IN_FLIGHT, CONNECTION_AGE_SECONDS, CONNECTIONS,
    MESSAGE_BYTES, NAMED_SPREAD_BYTES, REQUESTS, SIMULATED_JOBS, SIMULATED_SECONDS,
    SIMULATION_BYTES, SIMULATIONS, UNARY_SECONDS,
};

/// Flags of `offbeat serve` that set limits; each has a variable.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Connections at once of each listener
    #[arg(long, env = "OFFBEAT_MAX_CONNECTIONS", default_value_t = 1024, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(CONNECTIONS))]
    pub max_connections: i64,

    /// Age at which a connection is asked to end, in seconds, so that clients spread over new
    /// replicas [default: none]
    #[arg(long, env = "OFFBEAT_MAX_CONNECTION_AGE", value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(CONNECTION_AGE_SECONDS))]
    pub max_connection_age: Option<i64>,

    /// Requests in flight at once, streams included
    #[arg(long, env = "OFFBEAT_MAX_REQUESTS", default_value_t = 512, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(REQUESTS))]
    pub max_requests: i64,

    /// Bytes of a request message of a bulk method
    #[arg(long, env = "OFFBEAT_MAX_BULK_MESSAGE_BYTES", default_value_t = 4 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(BULK_MESSAGE_BYTES))]
    pub max_bulk_message_bytes: i64,

    /// Bytes of the larger messages of all requests in flight, and of their answers until they are taken
    #[arg(long, env = "OFFBEAT_MAX_BYTES_IN_FLIGHT", default_value_t = 20 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(BYTES_IN_FLIGHT))]
    pub max_bytes_in_flight: i64,

    /// Bytes of all named spreads
    #[arg(long, env = "OFFBEAT_MAX_SPREAD_BYTES", default_value_t = 256 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(NAMED_SPREAD_BYTES))]
    pub max_spread_bytes: i64,

    /// Simulations at once
    #[arg(long, env = "OFFBEAT_MAX_SIMULATIONS", default_value_t = 1, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(SIMULATIONS))]
    pub max_simulations: i64,

    /// How long a unary call may take, in seconds
    #[arg(long, env = "OFFBEAT_UNARY_TIMEOUT", default_value_t = 30, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(UNARY_SECONDS))]
    pub unary_timeout: i64,
}

/// Limits of a server, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once of each listener.
    pub connections: usize,
    /// Age at which a connection is asked to end.
    pub connection_age: Option<Duration>,
    /// Requests in flight at once.
    pub requests: usize,
    /// Bytes of a request message of a method that is not bulk.
    pub message: Limit,
    /// Bytes of a request message of a bulk method.
    pub bulk_message: Limit,
    /// Bytes of an answer message.
    pub answer: Limit,
    /// Bytes of larger messages in flight.
    pub bytes_in_flight: usize,
    /// Bytes of all named spreads.
    pub spread_bytes: u64,
    /// Jobs of a scenario in a call.
    pub simulated_jobs: Limit,
    /// Seconds of all runs of a scenario in a call.
    pub simulated_seconds: Limit,
    /// Estimated memory of a simulation, in bytes.
    pub simulation_bytes: Limit,
    /// Simulations at once.
    pub simulations: usize,
    /// Time for a unary call.
    pub unary_time: Duration,
}

impl Limits {
    /// Checks the limits that depend on each other.
    pub(super) fn try_new(args: &LimitArgs) -> Result<Self, String> {
        let (bulk, in_flight) = (args.max_bulk_message_bytes, args.max_bytes_in_flight);
        if bulk > in_flight {
            return Err(format!(
                "--max-bytes-in-flight: {in_flight} is refused: must be at least \
                 --max-bulk-message-bytes, {bulk}, or no such message could be read"
            ));
        }
        let bulk_message = Limit { minimum: 0, maximum: bulk, ..BULK_MESSAGE_BYTES };
        Ok(Self {
            connections: size(args.max_connections),
            connection_age: args.max_connection_age.map(seconds),
            requests: size(args.max_requests),
            message: Limit { maximum: bulk.min(MESSAGE_BYTES.maximum), ..MESSAGE_BYTES },
            bulk_message,
            answer: ANSWER_BYTES,
            bytes_in_flight: size(in_flight),
            spread_bytes: args.max_spread_bytes.unsigned_abs(),
            simulated_jobs: SIMULATED_JOBS,
            simulated_seconds: SIMULATED_SECONDS,
            simulation_bytes: SIMULATION_BYTES,
            simulations: size(args.max_simulations),
            unary_time: seconds(args.unary_timeout),
        })
    }
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(number.unsigned_abs())
}

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

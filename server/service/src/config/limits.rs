//! The limits that a deployment may choose, each within the table of limits.

use std::time::Duration;

use clap::Args;
use offbeat_core::limits::Limit;

use super::within;
use crate::limits::{
    ANSWER_BYTES, BULK_MESSAGE_BYTES, BYTES_UNDER_WAY, CONNECTION_WINDOW_BYTES, CONNECTIONS,
    EARLY_RESETS, FIRST_BYTE_SECONDS, HEADER_BYTES, HTTP1_IDLE_SECONDS, KEEPALIVE_SECONDS,
    LOCAL_ERROR_RESETS, MESSAGE_BYTES, NAMED_SPREAD_BYTES, REQUESTS, SEND_BUFFER_BYTES,
    SIMULATED_JOBS, SIMULATED_SECONDS, SIMULATION_BYTES, SIMULATIONS, STREAM_WINDOW_BYTES,
    STREAMS_PER_CONNECTION, UNARY_SECONDS, WRITE_STALL_SECONDS,
};

/// Flags of `offbeat serve` that set limits; each has a variable.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Connections at once
    #[arg(long, env = "OFFBEAT_MAX_CONNECTIONS", default_value_t = 1024, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(CONNECTIONS))]
    pub max_connections: i64,

    /// Streams at once of one HTTP/2 connection
    #[arg(long, env = "OFFBEAT_MAX_STREAMS", default_value_t = 128, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(STREAMS_PER_CONNECTION))]
    pub max_streams: i64,

    /// Requests under way at once, streams included
    #[arg(long, env = "OFFBEAT_MAX_REQUESTS", default_value_t = 512, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(REQUESTS))]
    pub max_requests: i64,

    /// Bytes of a request message, but for bulk methods
    #[arg(long, env = "OFFBEAT_MAX_MESSAGE_BYTES", default_value_t = 256 << 10, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(MESSAGE_BYTES))]
    pub max_message_bytes: i64,

    /// Bytes of a request message of a bulk method
    #[arg(long, env = "OFFBEAT_MAX_BULK_MESSAGE_BYTES", default_value_t = 4 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(BULK_MESSAGE_BYTES))]
    pub max_bulk_message_bytes: i64,

    /// Bytes of an answer message
    #[arg(long, env = "OFFBEAT_MAX_ANSWER_BYTES", default_value_t = 64 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(ANSWER_BYTES))]
    pub max_answer_bytes: i64,

    /// Bytes of the larger messages of all requests under way, and of their answers until they are taken
    #[arg(long, env = "OFFBEAT_MAX_BYTES_UNDER_WAY", default_value_t = 32 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(BYTES_UNDER_WAY))]
    pub max_bytes_under_way: i64,

    /// Bytes of the jobs of all named spreads
    #[arg(long, env = "OFFBEAT_MAX_SPREAD_BYTES", default_value_t = 256 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(NAMED_SPREAD_BYTES))]
    pub max_spread_bytes: i64,

    /// Jobs of a scenario in a call of Simulate
    #[arg(long, env = "OFFBEAT_MAX_SIMULATED_JOBS", default_value_t = 4_000_000, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(SIMULATED_JOBS))]
    pub max_simulated_jobs: i64,

    /// Seconds of all runs of a scenario in a call of Simulate
    #[arg(long, env = "OFFBEAT_MAX_SIMULATED_SECONDS", default_value_t = 4_000_000, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(SIMULATED_SECONDS))]
    pub max_simulated_seconds: i64,

    /// Memory that a call of Simulate may take, as it is estimated from its scenario, in bytes
    #[arg(long, env = "OFFBEAT_MAX_SIMULATION_BYTES", default_value_t = 64 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(SIMULATION_BYTES))]
    pub max_simulation_bytes: i64,

    /// Simulations at once
    #[arg(long, env = "OFFBEAT_MAX_SIMULATIONS", default_value_t = 1, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(SIMULATIONS))]
    pub max_simulations: i64,

    /// How long a unary call may take, in seconds
    #[arg(long, env = "OFFBEAT_UNARY_TIMEOUT", default_value_t = 30, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(UNARY_SECONDS))]
    pub unary_timeout: i64,

    /// How long a connection may take to say which protocol it speaks, TLS included, in seconds
    #[arg(long, env = "OFFBEAT_FIRST_BYTE_TIMEOUT", default_value_t = 3, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(FIRST_BYTE_SECONDS))]
    pub first_byte_timeout: i64,

    /// How long an HTTP/1.1 connection may take until the end of its next headers, in seconds
    #[arg(long, env = "OFFBEAT_HTTP1_IDLE_TIMEOUT", default_value_t = 60, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(HTTP1_IDLE_SECONDS))]
    pub http1_idle_timeout: i64,

    /// How long a peer may take nothing of what is written to it, in seconds
    #[arg(long, env = "OFFBEAT_WRITE_STALL_TIMEOUT", default_value_t = 10, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(WRITE_STALL_SECONDS))]
    pub write_stall_timeout: i64,

    /// How long an HTTP/2 peer may be silent before it is pinged, in seconds
    #[arg(long, env = "OFFBEAT_KEEPALIVE", default_value_t = 20, value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(KEEPALIVE_SECONDS))]
    pub keepalive: i64,

    /// Resets that errors of the peer cause on one connection, before it is closed
    #[arg(long, env = "OFFBEAT_MAX_ERROR_RESETS", default_value_t = 1024, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(LOCAL_ERROR_RESETS))]
    pub max_error_resets: i64,

    /// Streams of one connection that the peer reset before they were looked at, before it is closed
    #[arg(long, env = "OFFBEAT_MAX_EARLY_RESETS", default_value_t = 20, value_name = "COUNT", allow_negative_numbers = true, value_parser = within(EARLY_RESETS))]
    pub max_early_resets: i64,

    /// Bytes of the headers of a request
    #[arg(long, env = "OFFBEAT_MAX_HEADER_BYTES", default_value_t = 16 << 10, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(HEADER_BYTES))]
    pub max_header_bytes: i64,

    /// Bytes a peer may send on one stream before they are read
    #[arg(long, env = "OFFBEAT_STREAM_WINDOW", default_value_t = 256 << 10, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(STREAM_WINDOW_BYTES))]
    pub stream_window: i64,

    /// Bytes a peer may send on one connection before they are read
    #[arg(long, env = "OFFBEAT_CONNECTION_WINDOW", default_value_t = 1 << 20, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(CONNECTION_WINDOW_BYTES))]
    pub connection_window: i64,

    /// Bytes of an answer that wait for a slow reader on one stream
    #[arg(long, env = "OFFBEAT_SEND_BUFFER", default_value_t = 64 << 10, value_name = "BYTES", allow_negative_numbers = true, value_parser = within(SEND_BUFFER_BYTES))]
    pub send_buffer: i64,
}

/// Limits of a server, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Streams of one HTTP/2 connection.
    pub streams: u32,
    /// Requests under way at once.
    pub requests: usize,
    /// A request message of a method that is not bulk.
    pub message: Limit,
    /// A request message of a bulk method.
    pub bulk_message: Limit,
    /// An answer message.
    pub answer: Limit,
    /// Bytes of larger messages under way.
    pub bytes_under_way: usize,
    /// Bytes of the jobs of all named spreads.
    pub spread_bytes: u64,
    /// Jobs of a scenario in a call.
    pub simulated_jobs: Limit,
    /// Seconds of all runs of a scenario in a call.
    pub simulated_seconds: Limit,
    /// Memory of a simulation, as it is estimated.
    pub simulation_bytes: Limit,
    /// Simulations at once.
    pub simulations: usize,
    /// Time for a unary call.
    pub unary_time: Duration,
    /// Time to the first bytes of a connection.
    pub first_bytes: Duration,
    /// Time to the end of the next headers, on HTTP/1.1.
    pub http1_idle: Duration,
    /// Time in which a peer takes nothing of its answer.
    pub write_stall: Duration,
    /// Silence before an HTTP/2 peer is pinged.
    pub keepalive: Duration,
    /// Resets caused by errors, of one connection.
    pub error_resets: usize,
    /// Resets by the peer of streams that nobody has looked at, of one connection.
    pub early_resets: usize,
    /// Bytes of the headers of a request.
    pub header_bytes: u32,
    /// HTTP/2 window of a stream.
    pub stream_window: u32,
    /// HTTP/2 window of a connection.
    pub connection_window: u32,
    /// Bytes of an answer that wait for a slow reader.
    pub send_buffer: usize,
}

impl Limits {
    /// Checks what single flags cannot.
    pub(super) fn try_new(args: &LimitArgs) -> Result<Self, String> {
        let (bulk, under_way) = (args.max_bulk_message_bytes, args.max_bytes_under_way);
        if bulk > under_way {
            return Err(format!(
                "--max-bytes-under-way: {under_way} is refused: must be at least \
                 --max-bulk-message-bytes, {bulk}, or no such message could be read"
            ));
        }
        if args.max_message_bytes > bulk {
            return Err(format!(
                "--max-message-bytes: {} is refused: must be at most --max-bulk-message-bytes, {bulk}",
                args.max_message_bytes
            ));
        }
        Ok(Self {
            connections: size(args.max_connections),
            streams: small(args.max_streams),
            requests: size(args.max_requests),
            message: up_to(MESSAGE_BYTES, args.max_message_bytes),
            bulk_message: up_to(BULK_MESSAGE_BYTES, bulk),
            answer: up_to(ANSWER_BYTES, args.max_answer_bytes),
            bytes_under_way: size(under_way),
            spread_bytes: args.max_spread_bytes.unsigned_abs(),
            simulated_jobs: up_to(SIMULATED_JOBS, args.max_simulated_jobs),
            simulated_seconds: up_to(SIMULATED_SECONDS, args.max_simulated_seconds),
            simulation_bytes: up_to(SIMULATION_BYTES, args.max_simulation_bytes),
            simulations: size(args.max_simulations),
            unary_time: seconds(args.unary_timeout),
            first_bytes: seconds(args.first_byte_timeout),
            http1_idle: seconds(args.http1_idle_timeout),
            write_stall: seconds(args.write_stall_timeout),
            keepalive: seconds(args.keepalive),
            error_resets: size(args.max_error_resets),
            early_resets: size(args.max_early_resets),
            header_bytes: small(args.max_header_bytes),
            stream_window: small(args.stream_window),
            connection_window: small(args.connection_window),
            send_buffer: size(args.send_buffer),
        })
    }
}

/// `limit`, no higher than was chosen; messages sizes start at 0 whatever can be chosen.
fn up_to(limit: Limit, chosen: i64) -> Limit {
    Limit { minimum: 0, maximum: chosen, ..limit }
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(number.unsigned_abs())
}

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

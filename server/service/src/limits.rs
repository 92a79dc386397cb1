//! The limits of the server; with those of the decisions they are the one
//! table of limits, which `offbeat limits` prints and `docs/limits.md` shows.

use offbeat_core::limits::{DECISION_LIMITS, Limit};
use offbeat_proto::limits::MESSAGE_LIMITS;
use offbeat_sim::limits::SCENARIO_LIMITS;


pub use offbeat_sim::limits::SCENARIO_BYTES;
pub use offbeat_text::INPUT_LINE_BYTES;

/// Connections at once of each listener.
pub const CONNECTIONS: Limit = Limit {
    name: "connections of each listener",
    minimum: 1,
    maximum: 65_536,
    unit: "connections",
    note: "settable, 1024 by default; further ones wait in the listen queue",
};

/// Requests in flight at once, streams included.
pub const REQUESTS: Limit = Limit {
    name: "requests in flight",
    minimum: 1,
    maximum: 65_536,
    unit: "requests",
    note: "settable, 512 by default; beyond it RESOURCE_EXHAUSTED with a retry delay; health checks are exempt",
};

/// Time that a unary call may take.
pub const UNARY_SECONDS: Limit = Limit {
    name: "time for a unary call",
    minimum: 1,
    maximum: 3_600,
    unit: "s",
    note: "settable, 30 s by default; the caller's own deadline holds if it is shorter, in streams too",
};

/// Time between the signal to stop and the end.
pub const GRACE_SECONDS: Limit = Limit {
    name: "grace period",
    minimum: 0,
    maximum: 3_600,
    unit: "s",
    note: "settable, 10 s by default; requests still under way after it are cut",
};

/// Size of a request message, except for the bulk methods.
pub const MESSAGE_BYTES: Limit = Limit {
    name: "request message",
    minimum: 0,
    maximum: 256 << 10,
    unit: "bytes",
    note: "protobuf or JSON; beyond it RESOURCE_EXHAUSTED",
};

/// Size of a request message of the bulk methods.
pub const BULK_MESSAGE_BYTES: Limit = Limit {
    name: "request message of AssignSlots, StreamSlotAssignments, ListDueRuns, PlanMigration, AuditIds, Spread, SubmitGroups, WaitForGroups, AllocateWorkers, NextStage, DispatchJobs, PlanLanes, RecordLateness, Simulate",
    minimum: 1 << 10,
    maximum: 16 << 20,
    unit: "bytes",
    note: "settable, 4 MiB by default; protobuf or JSON; beyond it RESOURCE_EXHAUSTED",
};

/// Size of an answer message.
pub const ANSWER_BYTES: Limit = Limit {
    name: "answer message",
    minimum: 0,
    maximum: 64 << 20,
    unit: "bytes",
    note: "beyond it RESOURCE_EXHAUSTED: ask for less at once",
};

/// Jobs that are submitted together.
pub const SUBMITTED_JOBS: Limit = Limit {
    name: "jobs in a call of SubmitGroups",
    minimum: 0,
    maximum: 400_000,
    unit: "jobs",
    note: "of all groups together; the message is limited too",
};

/// Bytes of all larger messages.
pub const BYTES_IN_FLIGHT: Limit = Limit {
    name: "bytes of messages in flight, requests and answers",
    minimum: 1 << 20,
    maximum: 1 << 40,
    unit: "bytes",
    note: "settable, 32 MiB by default; messages above 16 KiB count, until their answers are taken; beyond it RESOURCE_EXHAUSTED with a retry delay",
};

/// Named spreads.
pub const NAMED_SPREADS: Limit = Limit {
    name: "named spreads at once",
    minimum: 0,
    maximum: 1_024,
    unit: "spreads",
    note: "closed ones included until they are discarded or opened anew; beyond it RESOURCE_EXHAUSTED",
};

/// Bytes of all named spreads.
pub const NAMED_SPREAD_BYTES: Limit = Limit {
    name: "bytes of all named spreads",
    minimum: 1,
    maximum: 1 << 40,
    unit: "bytes",
    note: "settable, 256 MiB by default; jobs, groups and leases, and the groups that are remembered when settled; beyond it RESOURCE_EXHAUSTED with a retry delay",
};

/// Time for which a call waits.
pub const WAIT_MILLIS: Limit = Limit {
    name: "wait for jobs, or for groups to be settled",
    minimum: 0,
    maximum: 20_000,
    unit: "ms",
    note: "and no longer than two thirds of the time for a unary call: then the answer is empty",
};

/// Jobs that a stream may ask for ahead.
pub const STREAM_CREDIT: Limit = Limit {
    name: "jobs granted and not sent on a stream",
    minimum: 1,
    maximum: 65_536,
    unit: "jobs",
    note: "StreamJobs",
};

/// HTTP/2 streams of one connection.
pub const STREAMS_PER_CONNECTION: Limit = Limit {
    name: "streams of one connection",
    minimum: 1,
    maximum: 128,
    unit: "streams",
    note: "announced: well-behaved clients wait",
};

/// Resets that the server itself causes on one connection.
pub const ERROR_RESETS: Limit = Limit {
    name: "resets caused by errors on one connection",
    minimum: 1,
    maximum: 1_024,
    unit: "resets",
    note: "then the connection is closed",
};

/// Resets by the peer of streams before anybody looked at them (rapid reset, CVE-2023-44487).
pub const EARLY_RESETS: Limit = Limit {
    name: "streams reset before they were looked at, on one connection",
    minimum: 1,
    maximum: 20,
    unit: "resets",
    note: "then the connection is closed",
};

/// Control frames that a connection may send at once.
pub const CONTROL_FRAMES: Limit = Limit {
    name: "HTTP/2 frames that carry neither headers nor data, on one connection",
    minimum: 0,
    maximum: 10_000,
    unit: "frames",
    note: "pings, settings, window updates and such; then the connection is closed",
};

/// And so many more a second.
pub const CONTROL_FRAMES_PER_SECOND: Limit = Limit {
    name: "more of such frames",
    minimum: 0,
    maximum: 2_000,
    unit: "frames/s",
    note: "see above",
};

/// Requests that stream.
pub const STREAMING_SHARE: Limit = Limit {
    name: "share of the requests under way that may stream",
    minimum: 0,
    maximum: 75,
    unit: "%",
    note: "so that streams leave places to unary calls",
};

/// Size of a request's headers.
pub const HEADER_BYTES: Limit = Limit {
    name: "headers of a request",
    minimum: 1,
    maximum: 16 << 10,
    unit: "bytes",
    note: "beyond it 431, or a reset",
};

/// Bytes a peer may send on one stream before the server has read them.
pub const STREAM_WINDOW_BYTES: Limit = Limit {
    name: "window of a stream",
    minimum: 1,
    maximum: 256 << 10,
    unit: "bytes",
    note: "HTTP/2 flow control",
};

/// Bytes a peer may send on one connection before the server has read them.
pub const CONNECTION_WINDOW_BYTES: Limit = Limit {
    name: "window of a connection",
    minimum: 1,
    maximum: 1 << 20,
    unit: "bytes",
    note: "HTTP/2 flow control",
};

/// Bytes of answers that wait for a slow reader, on one stream.
pub const SEND_BUFFER_BYTES: Limit = Limit {
    name: "send buffer of a stream",
    minimum: 1,
    maximum: 64 << 10,
    unit: "bytes",
    note: "beyond it the handler waits",
};

/// Time for a new connection to say which protocol it speaks.
pub const FIRST_BYTE_SECONDS: Limit = Limit {
    name: "time to the first bytes of a connection",
    minimum: 0,
    maximum: 3,
    unit: "s",
    note: "with TLS once for its handshake and once behind it; then the connection is closed",
};

/// Time without a request.
pub const IDLE_SECONDS: Limit = Limit {
    name: "time to the first request of a connection, and on HTTP/1.1 to the end of the next headers",
    minimum: 0,
    maximum: 60,
    unit: "s",
    note: "then the connection is closed; pools should keep theirs for less",
};

/// Time for which a peer may take nothing of what is written to it.
pub const WRITE_STALL_SECONDS: Limit = Limit {
    name: "time in which a peer takes nothing of its answer",
    minimum: 0,
    maximum: 10,
    unit: "s",
    note: "then the connection is closed; one second if the answer refuses its credentials",
};

/// Silence of an HTTP/2 peer until it is pinged.
pub const KEEPALIVE_SECONDS: Limit = Limit {
    name: "silence of an HTTP/2 peer before it is pinged",
    minimum: 0,
    maximum: 20,
    unit: "s",
    note: "no answer within 10 s closes the connection",
};

/// Listeners.
pub const LISTENERS: Limit = Limit {
    name: "listeners",
    minimum: 1,
    maximum: 16,
    unit: "listeners",
    note: "settable, one by default",
};

/// Jobs of a scenario over the network.
pub const SIMULATED_JOBS: Limit = Limit {
    name: "jobs of a scenario in a call",
    minimum: 1,
    maximum: 4_000_000,
    unit: "jobs",
    note: "Simulate; larger scenarios run on the command line",
};

/// Seconds of a scenario over the network.
pub const SIMULATED_SECONDS: Limit = Limit {
    name: "seconds of all runs of a scenario in a call",
    minimum: 1,
    maximum: 4_000_000,
    unit: "s",
    note: "Simulate; each takes 32 bytes of the server's memory until the call ends, each job 24",
};

/// Memory of a simulation over the network.
pub const SIMULATION_BYTES: Limit = Limit {
    name: "memory of a simulation, as it is estimated from its jobs and users",
    minimum: 0,
    maximum: 64 << 20,
    unit: "bytes",
    note: "Simulate; larger scenarios run on the command line",
};

/// Simulations at once.
pub const SIMULATIONS: Limit = Limit {
    name: "simulations at once",
    minimum: 0,
    maximum: 64,
    unit: "calls",
    note: "settable, one by default; Simulate; beyond it RESOURCE_EXHAUSTED with a retry delay",
};

/// Bearer tokens.
pub const TOKENS: Limit =
    Limit { name: "bearer tokens", minimum: 1, maximum: 64, unit: "tokens", note: "one a line" };

/// Length of a bearer token.
pub const TOKEN_BYTES: Limit = Limit {
    name: "bearer token",
    minimum: 16,
    maximum: 4_096,
    unit: "bytes",
    note: "letters, digits and -._~+/= (RFC 6750)",
};

/// Size of a file with certificates, a key or tokens.
pub const SECRET_FILE_BYTES: Limit = Limit {
    name: "file of certificates, a key or tokens",
    minimum: 1,
    maximum: 1 << 20,
    unit: "bytes",
    note: "looked at again every 5 s, and at SIGHUP",
};

/// Users who may call over a Unix socket.
pub const SOCKET_UIDS: Limit = Limit {
    name: "users named for Unix sockets",
    minimum: 0,
    maximum: 64,
    unit: "users",
    note: "settable, none by default: whoever can open the socket may call",
};

/// Connections at once of the admin port.
pub const ADMIN_CONNECTIONS: Limit = Limit {
    name: "connections of the admin port",
    minimum: 1,
    maximum: 1_024,
    unit: "connections",
    note: "further ones wait in the listen queue",
};

/// A file of schedules.
pub const SCHEDULE_FILE_BYTES: Limit = Limit {
    name: "file of schedules",
    minimum: 1,
    maximum: 1 << 20,
    unit: "bytes",
    note: "as much as a ConfigMap of Kubernetes holds",
};

/// Runs whose lateness is recorded together.
pub const LATENESSES: Limit = Limit {
    name: "runs in a call of RecordLateness",
    minimum: 1,
    maximum: 65_536,
    unit: "runs",
    note: "call again for more",
};

/// How late a run may be said to be.
pub const LATENESS_MILLIS: Limit = Limit {
    name: "lateness of a run",
    minimum: -366 * 86_400_000,
    maximum: 366 * 86_400_000,
    unit: "ms",
    note: "366 days; what started early counts as on time",
};

/// Series of the histogram of lateness.
pub const LATENESS_SERIES: Limit = Limit {
    name: "schedules and kinds with a lateness of their own",
    minimum: 0,
    maximum: 100,
    unit: "pairs",
    note: "since the start of the server; further ones are counted together, as \"other\"",
};

/// Columns that a read mask names.
pub const MASK_PATHS: Limit = Limit {
    name: "paths of a read mask",
    minimum: 0,
    maximum: 16,
    unit: "paths",
    note: "AssignSlots, StreamSlotAssignments; there are five columns",
};

/// Standard input that is read as a whole.
pub const INPUT_BYTES: Limit = Limit {
    name: "standard input of offbeat stages",
    minimum: 0,
    maximum: 64 << 20,
    unit: "bytes",
    note: "100000 stages are some 10 MB of JSON",
};

/// Length of a line that `offbeat spread` reads a group from.
pub const GROUP_LINE_BYTES: Limit = Limit {
    name: "group on a line of input to offbeat spread",
    minimum: 0,
    maximum: 64 << 20,
    unit: "bytes",
    note: "a longer one ends the spread",
};

/// Health checks in flight of one connection.
pub const PROBES: Limit = Limit {
    name: "health checks in flight of one connection",
    minimum: 0,
    maximum: 4,
    unit: "calls",
    note: "Health/Check; beyond it RESOURCE_EXHAUSTED",
};

/// Size of the message of a health check.
pub const PROBE_BYTES: Limit = Limit {
    name: "message of a health check",
    minimum: 0,
    maximum: 1 << 10,
    unit: "bytes",
    note: "Health/Check, which is answered without credentials, within 2 s",
};

/// Time for a request on the admin port.
pub const ADMIN_IDLE_SECONDS: Limit = Limit {
    name: "time to the request of a connection of the admin port",
    minimum: 0,
    maximum: 2,
    unit: "s",
    note: "then the connection is closed; one that serves is closed after 10 s",
};

/// Age at which a connection is asked to end.
pub const CONNECTION_AGE_SECONDS: Limit = Limit {
    name: "age of a connection",
    minimum: 1,
    maximum: 86_400,
    unit: "s",
    note: "settable, none by default; then it is asked to end (GOAWAY), some up to a tenth earlier",
};

/// What is read of a request that was refused.
pub const DRAINED_BYTES: Limit = Limit {
    name: "rest of a refused request that is read and dropped, on HTTP/1.1",
    minimum: 0,
    maximum: 8 << 20,
    unit: "bytes",
    note: "within 2 s, so that the client gets the refusal",
};

/// Host names that callers on loopback may use.
pub const ALLOWED_HOSTS: Limit = Limit {
    name: "names of --allowed-host",
    minimum: 0,
    maximum: 64,
    unit: "names",
    note: "settable, none by default: localhost and addresses are always allowed",
};

/// Every limit of the server, in the order of the documentation.
pub const SERVER_LIMITS: &[Limit] = &[
    LISTENERS,
    CONNECTIONS,
    STREAMS_PER_CONNECTION,
    REQUESTS,
    STREAMING_SHARE,
    ADMIN_CONNECTIONS,
    ADMIN_IDLE_SECONDS,
    PROBES,
    PROBE_BYTES,
    CONNECTION_AGE_SECONDS,
    DRAINED_BYTES,
    ALLOWED_HOSTS,
    UNARY_SECONDS,
    GRACE_SECONDS,
    MESSAGE_BYTES,
    BULK_MESSAGE_BYTES,
    ANSWER_BYTES,
    BYTES_IN_FLIGHT,
    SUBMITTED_JOBS,
    HEADER_BYTES,
    NAMED_SPREADS,
    NAMED_SPREAD_BYTES,
    WAIT_MILLIS,
    STREAM_CREDIT,
    STREAM_WINDOW_BYTES,
    CONNECTION_WINDOW_BYTES,
    SEND_BUFFER_BYTES,
    FIRST_BYTE_SECONDS,
    IDLE_SECONDS,
    WRITE_STALL_SECONDS,
    KEEPALIVE_SECONDS,
    ERROR_RESETS,
    EARLY_RESETS,
    CONTROL_FRAMES,
    CONTROL_FRAMES_PER_SECOND,
    TOKENS,
    TOKEN_BYTES,
    SECRET_FILE_BYTES,
    SCHEDULE_FILE_BYTES,
    MASK_PATHS,
    LATENESSES,
    LATENESS_MILLIS,
    LATENESS_SERIES,
    SOCKET_UIDS,
    INPUT_LINE_BYTES,
    GROUP_LINE_BYTES,
    INPUT_BYTES,
    SCENARIO_BYTES,
    SIMULATED_JOBS,
    SIMULATED_SECONDS,
    SIMULATION_BYTES,
    SIMULATIONS,
];

/// The one table of limits, as Markdown.
#[must_use]
pub fn markdown_table() -> String {
    let all = DECISION_LIMITS.iter().chain(SCENARIO_LIMITS).chain(MESSAGE_LIMITS).chain(SERVER_LIMITS);
    let rows = all.map(|limit| {
        let Limit { name, minimum, maximum, unit, note } = limit;
        format!("| {name} | {minimum} | {maximum} | {unit} | {note} |\n")
    });
    let head = "| what | minimum | maximum | unit | note |\n|---|---|---|---|---|\n".to_owned();
    std::iter::once(head).chain(rows).collect()
}

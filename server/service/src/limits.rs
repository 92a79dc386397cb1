//! The limits of the server; with those of the decisions they are the one
//! table of limits, which `offbeat limits` prints and `docs/limits.md` shows.

use offbeat_core::limits;
use offbeat_core::limits::{DECISION_LIMITS, Limit};
use offbeat_proto::limits::MESSAGE_LIMITS;
use offbeat_sim::limits::SCENARIO_LIMITS;

pub use offbeat_sim::limits::SCENARIO_BYTES;
pub use offbeat_text::INPUT_LINE_BYTES;

limits! {
    /// Every limit of the server, in the order of the documentation.
    SERVER_LIMITS:

    LISTENERS = 1..=16, "listeners", "listeners",
        "settable, one by default";
    CONNECTIONS = 1..=65_536, "connections", "connections of each listener",
        "settable, 1024 by default; further ones wait in the listen queue";
    STREAMS_PER_CONNECTION = 1..=128, "streams", "streams of one connection",
        "announced: well-behaved clients wait";
    REQUESTS = 1..=65_536, "requests", "requests in flight",
        "settable, 512 by default; beyond it RESOURCE_EXHAUSTED with a retry delay; health checks are exempt";
    STREAMING_SHARE = 0..=75, "%", "share of the requests in flight that may stream",
        "so that streams leave places to unary calls";
    ADMIN_CONNECTIONS = 1..=1_024, "connections", "connections of the admin port",
        "further ones wait in the listen queue";
    ADMIN_IDLE_SECONDS = 0..=2, "s", "time to the request of a connection of the admin port",
        "then the connection is closed; one that serves is closed after 10 s";
    CONSOLE_CALLS = 0..=64, "calls", "calls of the console in flight",
        "so that they leave connections of the admin port to probes; beyond it 503";
    PROBES = 0..=4, "calls", "health checks in flight of one connection",
        "Health/Check; beyond it RESOURCE_EXHAUSTED";
    PROBE_BYTES = 0..=1 << 10, "bytes", "message of a health check",
        "Health/Check, which is answered without credentials, within 2 s";
    CONNECTION_AGE_SECONDS = 1..=86_400, "s", "age of a connection",
        "settable, none by default; then it is asked to end (GOAWAY), some up to a tenth earlier";
    DRAINED_BYTES = 0..=8 << 20, "bytes", "rest of a refused request that is read and dropped, on HTTP/1.1",
        "within 2 s, so that the client gets the refusal";
    ALLOWED_HOSTS = 0..=64, "names", "names of --allowed-host",
        "settable, none by default: addresses, and names without a dot, are always allowed";
    UNARY_SECONDS = 1..=3_600, "s", "time for a unary call",
        "settable, 30 s by default; the caller's own deadline holds if it is shorter, in streams too";
    DRAIN_DELAY_SECONDS = 0..=3_600, "s", "time to serve on after the signal to stop",
        "settable, 0 by default; /readyz says 503 meanwhile, and then the grace period begins";
    GRACE_SECONDS = 0..=3_600, "s", "grace period",
        "settable, 10 s by default; requests still in flight after it are cut";
    MESSAGE_BYTES = 0..=256 << 10, "bytes", "request message",
        "protobuf or JSON; beyond it RESOURCE_EXHAUSTED";
    BULK_MESSAGE_BYTES = 1 << 10..=16 << 20, "bytes", "request message of AssignSlots, StreamSlotAssignments, ListDueRuns, PlanMigration, AuditIds, Spread, SubmitGroups, WaitForGroups, AllocateWorkers, ChooseStage, DispatchJobs, PlanLanes, RecordLateness, Simulate",
        "settable, 4 MiB by default; protobuf or JSON; beyond it RESOURCE_EXHAUSTED";
    ANSWER_BYTES = 0..=64 << 20, "bytes", "answer message",
        "beyond it RESOURCE_EXHAUSTED: ask for less at once";
    BYTES_IN_FLIGHT = 1 << 20..=1 << 40, "bytes", "bytes of messages in flight, requests and answers",
        "settable, 20 MiB by default; messages above 16 KiB count, until their answers are taken; beyond it RESOURCE_EXHAUSTED with a retry delay";
    SUBMITTED_JOBS = 0..=400_000, "jobs", "jobs in a call of SubmitGroups",
        "of all groups together; the message is limited too";
    HEADER_BYTES = 1..=16 << 10, "bytes", "headers of a request",
        "beyond it 431, or a reset";
    NAMED_SPREADS = 0..=1_024, "spreads", "named spreads at once",
        "closed ones included until they are discarded or opened again; beyond it RESOURCE_EXHAUSTED";
    NAMED_SPREAD_BYTES = 1..=1 << 40, "bytes", "bytes of all named spreads",
        "settable, 256 MiB by default; jobs, groups and leases, and the groups that are remembered when settled; beyond it RESOURCE_EXHAUSTED with a retry delay";
    STORE_REPLICAS = 0..=16, "replicas", "replicas of the store of named spreads that may take over",
        "settable, 0 by default";
    WAIT_MILLIS = 0..=20_000, "ms", "wait for jobs, or for groups to be settled",
        "and no longer than two thirds of the time for a unary call: then the answer is empty";
    STREAM_CREDIT = 1..=65_536, "jobs", "jobs granted and not sent on a stream",
        "StreamJobs";
    STREAM_WINDOW_BYTES = 1..=128 << 10, "bytes", "window of a stream",
        "HTTP/2 flow control; what comes of a request before it is read takes memory that is not counted";
    CONNECTION_WINDOW_BYTES = 1..=16 << 20, "bytes", "window of a connection",
        "HTTP/2 flow control; room for every stream, so that none that is not read blocks others; h2 closes the connection when small frames that are not read take half as much memory";
    SEND_BUFFER_BYTES = 1..=64 << 10, "bytes", "send buffer of a stream",
        "beyond it the handler waits";
    FIRST_BYTE_SECONDS = 0..=3, "s", "time to the first bytes of a connection",
        "with TLS once for its handshake and once behind it; then the connection is closed";
    IDLE_SECONDS = 0..=60, "s", "time to the first request of a connection, and on HTTP/1.1 to the end of the next headers",
        "then the connection is closed; pools should keep theirs for less";
    WRITE_STALL_SECONDS = 0..=10, "s", "time in which a peer takes nothing of its answer",
        "then the connection is closed; a quarter of a second if the answer refuses its credentials";
    KEEPALIVE_SECONDS = 0..=20, "s", "silence of an HTTP/2 peer before it is pinged",
        "no answer within 10 s closes the connection";
    ERROR_RESETS = 1..=1_024, "resets", "resets caused by errors on one connection",
        "then the connection is closed";
    EARLY_RESETS = 1..=20, "resets", "streams reset before they were looked at, on one connection",
        "then the connection is closed";
    CONTROL_FRAMES = 0..=10_000, "frames", "HTTP/2 frames that carry neither headers nor data, on one connection",
        "pings, settings, window updates and such; then the connection is closed";
    CONTROL_FRAMES_PER_SECOND = 0..=2_000, "frames/s", "more of such frames",
        "see above";
    TOKENS = 1..=64, "tokens", "bearer tokens",
        "one a line";
    TOKEN_BYTES = 16..=4_096, "bytes", "bearer token",
        "letters, digits and -._~+/= (RFC 6750)";
    SECRET_FILE_BYTES = 1..=1 << 20, "bytes", "file of certificates, a key or tokens",
        "looked at again every 5 s, and at SIGHUP";
    SCHEDULE_FILE_BYTES = 1..=1 << 20, "bytes", "file of schedules",
        "as much as a ConfigMap of Kubernetes holds";
    MASK_PATHS = 0..=16, "paths", "paths of a read mask",
        "AssignSlots, StreamSlotAssignments; there are six columns";
    LATENESSES = 1..=65_536, "runs", "runs in a call of RecordLateness",
        "call again for more";
    LATENESS_MILLIS = -366 * 86_400_000..=366 * 86_400_000, "ms", "lateness of a run",
        "366 days; what started early counts as on time";
    LATENESS_SERIES = 0..=100, "pairs", "schedules and kinds with a lateness of their own",
        "since the start of the server; further ones are counted together, as \"other\"";
    SPREAD_SERIES = 0..=100, "spreads", "named spreads with metrics of their own",
        "those that have been open longest; further ones are added up, as \"other\"";
    SCHEDULE_SERIES = 0..=100, "schedules", "schedules in the metrics",
        "the first ones by name and version, 20 in the log of the start; ListSchedules lists all";
    SOCKET_UIDS = 0..=64, "users", "users named for Unix sockets",
        "settable, none by default: everybody who can open the socket may call";
    GROUP_LINE_BYTES = 0..=64 << 20, "bytes", "group on a line of input to offbeat spread",
        "a longer one ends the spread";
    SPREAD_INPUT_BYTES = 0..=1 << 30, "bytes", "groups that offbeat spread holds in memory",
        "TSV, which is collected by group; spread submit holds groups until they are settled, and waits beyond it";
    REMEMBERED_NAMES = 0..=1 << 20, "names", "names of groups that offbeat spread remembers",
        "a line of JSON with one of them is refused; an older one that comes again is taken for a new group";
    RETRY_MILLIS = 0..=86_400_000, "ms", "time for which offbeat spread submit and work try a call again",
        "settable, 60 s by default; longer if the spread is not open yet";
    INPUT_BYTES = 0..=64 << 20, "bytes", "standard input of offbeat stages",
        "100000 stages are some 10 MB of JSON";
    TIMELINE_ROWS = 1..=1_000_000, "rows", "stages of a timeline, times its times",
        "offbeat stages timeline: each is an allocation of one stage";
    RUN_TIME_CSV_BYTES = 0..=256 << 20, "bytes", "standard input of offbeat lanes plan as CSV",
        "leave out columns that are not named";
    SIMULATED_JOBS = 1..=4_000_000, "jobs", "jobs of a scenario in a call",
        "Simulate; larger scenarios run on the command line";
    SIMULATED_SECONDS = 1..=4_000_000, "s", "seconds of all runs of a scenario in a call",
        "Simulate; each takes 32 bytes of the server's memory until the call ends, each job 24";
    SIMULATION_BYTES = 0..=64 << 20, "bytes", "memory of a simulation, as it is estimated from its jobs and users",
        "Simulate; larger scenarios run on the command line";
    SIMULATIONS = 0..=64, "calls", "simulations at once",
        "settable, one by default; Simulate; beyond it RESOURCE_EXHAUSTED with a retry delay";
}

/// The one table of limits.
pub fn all() -> impl Iterator<Item = &'static Limit> {
    DECISION_LIMITS
        .iter()
        .chain(SCENARIO_LIMITS)
        .chain(MESSAGE_LIMITS)
        .chain(SERVER_LIMITS)
        .chain([&INPUT_LINE_BYTES])
}

/// The ID of a limit, for programs; it never changes.
#[must_use]
pub fn id(limit: &Limit) -> String {
    limit.id.to_ascii_lowercase()
}

/// The table of limits as Markdown.
#[must_use]
pub fn markdown_table() -> String {
    let rows = all().map(|limit| {
        let Limit { id: _, name, minimum, maximum, unit, note } = limit;
        format!("| {} | {name} | {minimum} | {maximum} | {unit} | {note} |\n", id(limit))
    });
    let head = "| id | what | minimum | maximum | unit | note |\n|---|---|---|---|---|---|\n";
    std::iter::once(head.to_owned()).chain(rows).collect()
}

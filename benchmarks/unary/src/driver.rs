//! Calls over several connections of one thread: a constant number in flight, or begun at a rate.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use prost::Message as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::LocalSet;
use tokio::time::sleep_until;

use crate::frames::{Event, Wire};
use crate::proto;

pub const PATH: &str = "/offbeat.v1.SlotService/AssignSlot";
/// Different requests, sent in turn.
const REQUESTS: u64 = 4_096;

/// A request for the given schedule: `HASH`, `TWISTER`, or `NAME/VERSION` of a loaded one.
pub fn request(schedule: &str, number: u64) -> proto::AssignSlotRequest {
    use proto::schedule::Schedule;
    let spec = |placement: proto::Placement| {
        Schedule::Spec(proto::ScheduleSpec {
            cycle: Some(proto::schedule_spec::Cycle::Period(prost_types::Duration {
                seconds: 28_800,
                nanos: 0,
            })),
            placement: placement.into(),
            ..Default::default()
        })
    };
    let schedule = match (schedule, schedule.split_once('/')) {
        (_, Some((name, version))) => Schedule::Reference(proto::ScheduleReference {
            name: name.to_owned(),
            version: version.parse().unwrap_or_default(),
        }),
        ("TWISTER", None) => spec(proto::Placement::Twister),
        _ => spec(proto::Placement::Hash),
    };
    // Scatters the IDs; the factor is that of splitmix64.
    let bits =
        u128::from(number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15_bf58_476d_1ce4_e5b9);
    let digits = format!("{bits:032x}");
    let uuid = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    proto::AssignSlotRequest {
        schedule: Some(proto::Schedule { schedule: Some(schedule) }),
        id: Some(proto::Id { id: Some(proto::id::Id::Uuid(uuid.join("-"))) }),
        ..Default::default()
    }
}

fn requests(schedule: &str) -> Vec<Vec<u8>> {
    let encoded = |number| {
        let message = request(schedule, number).encode_to_vec();
        let mut framed = vec![0];
        framed.extend((message.len() as u32).to_be_bytes());
        framed.extend(message);
        framed
    };
    (0..REQUESTS).map(encoded).collect()
}

/// The server to drive, and the load.
#[derive(Debug, Clone)]
pub struct Load {
    pub address: String,
    pub connections: usize,
    /// Calls in flight on each connection.
    pub streams: usize,
    /// Calls begun per second on all connections together, instead of a number in flight.
    pub rate: Option<f64>,
    pub warm_up: Duration,
    pub time: Duration,
    pub schedule: String,
    /// The deadline of each call, in gRPC's notation.
    pub timeout: Option<String>,
}

/// The result of driving a server.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub calls: u64,
    pub seconds: f64,
    /// Latencies of the calls that ended, sorted.
    pub latencies: Vec<Duration>,
}

impl Outcome {
    pub fn rate(&self) -> f64 {
        self.calls as f64 / self.seconds
    }

    pub fn percentile(&self, percent: f64) -> Duration {
        let at = (self.latencies.len() as f64 * percent / 100.0) as usize;
        self.latencies.get(at).or(self.latencies.last()).copied().unwrap_or_default()
    }
}

struct Shared {
    load: Load,
    bodies: Vec<Vec<u8>>,
    begin: Instant,
    end: Instant,
    calls: Cell<u64>,
    latencies: RefCell<Vec<Duration>>,
}

/// Drives a server for the warm-up and the measured time.
///
/// # Errors
/// If a call fails: times of refusals must not enter the figures.
pub fn drive(load: Load) -> io::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let begin = Instant::now() + load.warm_up;
    let shared = Rc::new(Shared {
        bodies: requests(&load.schedule),
        begin,
        end: begin + load.time,
        load,
        calls: Cell::new(0),
        latencies: RefCell::new(Vec::with_capacity(1 << 20)),
    });
    let local = LocalSet::new();
    let connections = shared.load.connections;
    local.block_on(&runtime, async {
        let tasks: Vec<_> = (0..connections)
            .map(|number| {
                let shared = Rc::clone(&shared);
                match shared.load.rate {
                    Some(rate) => tokio::task::spawn_local(paced(shared, number, rate)),
                    None => tokio::task::spawn_local(connection(shared, number)),
                }
            })
            .collect();
        for task in tasks {
            task.await.map_err(io::Error::other)??;
        }
        io::Result::Ok(())
    })?;
    let mut latencies = shared.latencies.take();
    latencies.sort_unstable();
    Ok(Outcome { calls: shared.calls.get(), seconds: shared.load.time.as_secs_f64(), latencies })
}

impl Shared {
    /// Counts a call if it ended within the measured time.
    fn ended(&self, since: Instant, now: Instant) {
        if now >= self.begin && now < self.end {
            self.calls.set(self.calls.get() + 1);
            self.latencies.borrow_mut().push(now - since);
        }
    }
}

fn refused() -> io::Error {
    io::Error::other("a call was refused, or broken off")
}

/// Begins calls at the given rate, however many are in flight.
async fn paced(shared: Rc<Shared>, number: usize, rate: f64) -> io::Result<()> {
    let load = &shared.load;
    let interval = Duration::from_secs_f64(load.connections as f64 / rate);
    let socket = TcpStream::connect(&load.address).await?;
    socket.set_nodelay(true)?;
    let (mut reader, mut writer) = socket.into_split();
    let mut wire = Wire::default();
    let mut begun: HashMap<u32, Instant> = HashMap::new();
    let mut due = Instant::now() + interval.mul_f64(number as f64 / load.connections as f64);
    let mut next = number * 512;
    let mut out = Vec::new();
    let mut incoming = Vec::with_capacity(64 << 10);
    let mut broken = false;
    while Instant::now() < shared.end {
        tokio::select! {
            () = sleep_until(due.into()) => {
                let body = &shared.bodies[next % shared.bodies.len()];
                let stream = wire.call(PATH, load.timeout.as_deref(), body);
                begun.insert(stream, Instant::now());
                next += 1;
                due += interval;
            }
            read = reader.read_buf(&mut incoming) => {
                if read? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                wire.buffer().append(&mut incoming);
                let now = Instant::now();
                wire.events(|event| match event {
                    Event::Ended(stream, true) => match begun.remove(&stream) {
                        Some(since) => shared.ended(since, now),
                        None => broken = true,
                    },
                    Event::Ended(_, false) | Event::Broken => broken = true,
                });
            }
        }
        if broken {
            return Err(refused());
        }
        wire.take_out(&mut out);
        writer.write_all(&out).await?;
    }
    Ok(())
}

/// Keeps the given number of calls in flight.
async fn connection(shared: Rc<Shared>, number: usize) -> io::Result<()> {
    let load = &shared.load;
    let mut socket = TcpStream::connect(&load.address).await?;
    socket.set_nodelay(true)?;
    let mut wire = Wire::default();
    let mut begun: VecDeque<(u32, Instant)> = VecDeque::with_capacity(load.streams);
    let mut next = number * 512; // not all the same at the same time
    let mut out = Vec::new();
    let mut broken = false;
    let mut free = load.streams;
    loop {
        let now = Instant::now();
        if now >= shared.end {
            return Ok(());
        }
        while free > 0 {
            let body = &shared.bodies[next % shared.bodies.len()];
            if !wire.has_room(body.len()) {
                break;
            }
            let stream = wire.call(PATH, load.timeout.as_deref(), body);
            begun.push_back((stream, now));
            next += 1;
            free -= 1;
        }
        wire.take_out(&mut out);
        if !out.is_empty() {
            socket.write_all(&out).await?;
        }
        wire.buffer().reserve(64 << 10);
        if socket.read_buf(wire.buffer()).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let now = Instant::now();
        wire.events(|event| match event {
            Event::Ended(stream, true) => {
                free += 1;
                let at = begun.iter().position(|(known, _)| *known == stream);
                let Some((_, since)) = at.and_then(|at| begun.remove(at)) else {
                    broken = true;
                    return;
                };
                shared.ended(since, now);
            }
            Event::Ended(_, false) | Event::Broken => broken = true,
        });
        if broken {
            return Err(refused());
        }
    }
}

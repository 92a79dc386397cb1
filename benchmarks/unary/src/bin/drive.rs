//! Compares servers: `drive [--connections C] [--streams S] [--rate R] [--seconds T] [--warm-up T]
//! [--rounds R] [--schedule HASH|TWISTER|NAME/VERSION] [--timeout 5S] NAME=ADDRESS[,PID]…`
//!
//! Each round drives each server once, in turn; the figures are medians of the rounds. Prints a
//! line for each server: its name, calls per second, and p50, p99 and, with a PID, processor time
//! per call, in microseconds; then the ratios to the first server. With `--rate`, calls begin at
//! that rate, whether or not earlier calls are answered.

use std::time::Duration;

use unary::driver::{Load, Outcome, drive};

struct Server {
    name: String,
    address: String,
    pid: Option<String>,
    rates: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    cpu: Vec<f64>,
}

impl Server {
    fn parse(argument: &str) -> Option<Self> {
        let (name, rest) = argument.split_once('=')?;
        let (address, pid) = match rest.split_once(',') {
            Some((address, pid)) => (address, Some(pid.to_owned())),
            None => (rest, None),
        };
        Some(Self {
            name: name.to_owned(),
            address: address.to_owned(),
            pid,
            rates: Vec::new(),
            p50: Vec::new(),
            p99: Vec::new(),
            cpu: Vec::new(),
        })
    }
}

/// Processor time of a process in ticks, 100 per second.
fn ticks(pid: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut load = Load {
        address: String::new(),
        connections: 8,
        streams: 32,
        rate: None,
        warm_up: Duration::from_millis(300),
        time: Duration::from_secs(2),
        schedule: "HASH".to_owned(),
        timeout: None,
    };
    let mut rounds = 5;
    let mut servers = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument}: a value?"));
        match argument.as_str() {
            "--connections" => load.connections = value()?.parse()?,
            "--streams" => load.streams = value()?.parse()?,
            "--rate" => load.rate = Some(value()?.parse()?),
            "--seconds" => load.time = Duration::from_secs_f64(value()?.parse()?),
            "--warm-up" => load.warm_up = Duration::from_secs_f64(value()?.parse()?),
            "--rounds" => rounds = value()?.parse()?,
            "--schedule" => load.schedule = value()?,
            "--timeout" => load.timeout = Some(value()?),
            _ => servers.push(Server::parse(&argument).ok_or("NAME=ADDRESS?")?),
        }
    }
    for _ in 0..rounds {
        for server in &mut servers {
            let before = server.pid.as_deref().and_then(ticks);
            let outcome: Outcome = drive(Load { address: server.address.clone(), ..load.clone() })
                .map_err(|error| format!("{}: {error}", server.name))?;
            let after = server.pid.as_deref().and_then(ticks);
            server.rates.push(outcome.rate());
            server.p50.push(outcome.percentile(50.0).as_secs_f64() * 1e6);
            server.p99.push(outcome.percentile(99.0).as_secs_f64() * 1e6);
            if let (Some(before), Some(after)) = (before, after) {
                let whole = load.warm_up + load.time;
                let calls = outcome.rate() * whole.as_secs_f64();
                server.cpu.push((after - before) as f64 * 1e4 / calls);
            }
        }
    }
    let shape = match load.rate {
        Some(rate) => format!("{} at {rate} calls/s", load.schedule),
        None => format!("{}, {} × {} streams", load.schedule, load.connections, load.streams),
    };
    for server in &servers {
        println!(
            "{}, {shape}\t{:.0}\t{:.0}\t{:.0}\t{:.1}",
            server.name,
            median(&server.rates),
            median(&server.p50),
            median(&server.p99),
            median(&server.cpu),
        );
    }
    let [first, others @ ..] = &servers[..] else { return Ok(()) };
    for server in others {
        println!(
            "{shape}: {} / {}: {:.2} of the calls/s, {:.2} of p50, {:.2} of p99",
            server.name,
            first.name,
            median(&server.rates) / median(&first.rates),
            median(&server.p50) / median(&first.p50),
            median(&server.p99) / median(&first.p99),
        );
    }
    Ok(())
}

//! Compares servers: `drive [--connections C] [--streams S] [--seconds T] [--warm-up T] [--rounds R]
//! [--schedule HASH|TWISTER|NAME/VERSION] [--timeout 5S] NAME=ADDRESS[,PID]…`
//!
//! Each round drives each server once, in turn; the table has the medians, and the ratios to the
//! first. With a PID the processor time of a call is told too.

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

/// Ticks of the processor that a process has taken, 100 a second.
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
            "--seconds" => load.time = Duration::from_secs_f64(value()?.parse()?),
            "--warm-up" => load.warm_up = Duration::from_secs_f64(value()?.parse()?),
            "--rounds" => rounds = value()?.parse()?,
            "--schedule" => load.schedule = value()?,
            "--timeout" => load.timeout = Some(value()?),
            _ => {
                let (name, rest) = argument.split_once('=').ok_or("NAME=ADDRESS?")?;
                let (address, pid) = match rest.split_once(',') {
                    Some((address, pid)) => (address, Some(pid.to_owned())),
                    None => (rest, None),
                };
                servers.push(Server {
                    name: name.to_owned(),
                    address: address.to_owned(),
                    pid,
                    rates: Vec::new(),
                    p50: Vec::new(),
                    p99: Vec::new(),
                    cpu: Vec::new(),
                });
            }
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
    println!(
        "{} connections × {} calls, {}, median of {rounds} rounds of {:?}",
        load.connections, load.streams, load.schedule, load.time
    );
    let [first, ..] = &servers[..] else { return Ok(()) };
    let (rate, p50, p99) = (median(&first.rates), median(&first.p50), median(&first.p99));
    for server in &servers {
        let of = |values: &[f64], unit: f64| (median(values), median(values) / unit);
        let (calls, share) = of(&server.rates, rate);
        let (half, half_share) = of(&server.p50, p50);
        let (late, late_share) = of(&server.p99, p99);
        println!(
            "{:12} {calls:9.0}/s {share:5.3}×   p50 {half:8.1} µs {half_share:5.3}×   p99 {late:8.1} µs \
             {late_share:5.3}×   {:6.2} µs of processor",
            server.name,
            median(&server.cpu),
        );
    }
    Ok(())
}

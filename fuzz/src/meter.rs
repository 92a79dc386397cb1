//! The meter of HTTP/2 frames: what passes on a connection, cut anywhere, with time between.

use std::time::Duration;

use offbeat::limits::{FRAME_CREDIT, FRAMES_PER_SECOND};
use offbeat::net::FrameMeter;
use tokio::time::Instant;

use super::choices::Choices;
use super::port;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The most steps of one input, and the most bytes of a step.
const STEPS: usize = 48;
const STEP_BYTES: usize = 96 << 10;

/// Kinds of frames (RFC 9113, 6): data, headers, resets, pings, window updates, and others.
const KINDS: [u8; 8] = [6, 0, 1, 3, 8, 9, 4, 200];

#[derive(Debug)]
enum Step {
    In(Vec<u8>),
    Out(Vec<u8>),
    Pass(Duration),
}

/// Choices: how many resets, how bytes are cut, then frames many times, bytes, and time.
pub fn meter(data: &[u8]) {
    let mut choices = Choices::new(data);
    let resets = choices.one_of(&[0, 3, 200]);
    let cut = 1 + choices.below(64);
    let mut steps = Vec::new();
    if !choices.flip() {
        steps.push(Step::In(PREFACE.to_vec()));
    }
    while !choices.is_empty() && steps.len() < STEPS {
        steps.push(step(&mut choices));
    }
    let (whole, elapsed) = pass(&steps, resets, usize::MAX);
    let (pieces, _) = pass(&steps, resets, cut);
    assert_eq!(pieces, whole, "cut at {cut}");
    check(&steps, resets, whole.as_ref(), elapsed);
}

fn step(choices: &mut Choices<'_>) -> Step {
    let bytes = match choices.below(4) {
        0 => {
            let millis = choices.one_of(&[1, 499, 500, 999, 1_000, 7_000]);
            return Step::Pass(Duration::from_millis(millis));
        }
        1 => choices.piece().to_vec(),
        _ => {
            let kind = choices.one_of(&KINDS);
            let length = choices.one_of(&[0, 1, 4, 8, 255, 17_000]);
            let [_, length_bytes @ ..] = u32::to_be_bytes(length);
            let head = [&length_bytes[..], &[kind, 0, 0, 0, 0, choices.byte()]].concat();
            let frame = [head, vec![choices.byte() % 12; length as usize]].concat();
            let most = STEP_BYTES / frame.len();
            frame.repeat(1 + choices.below(most))
        }
    };
    if choices.flip() { Step::Out(bytes) } else { Step::In(bytes) }
}

/// At which step a meter refuses to go on, in which words; and the time that has passed then.
fn pass(steps: &[Step], resets: usize, cut: usize) -> (Option<(usize, String)>, Duration) {
    let passed = async {
        let started = Instant::now();
        let mut meter = FrameMeter::new(resets);
        for (number, step) in steps.iter().enumerate() {
            let passed = match step {
                Step::Pass(time) => {
                    tokio::time::sleep(*time).await;
                    Ok(())
                }
                Step::In(bytes) => {
                    bytes.chunks(cut).try_for_each(|chunk| meter.pass_in(chunk, 10).map(drop))
                }
                Step::Out(bytes) => bytes.chunks(cut).try_for_each(|chunk| meter.pass_out(chunk)),
            };
            if let Err(error) = passed {
                return (Some((number, error.to_string())), started.elapsed());
            }
        }
        (None, started.elapsed())
    };
    port::with(|port| port.block_on(passed))
}

/// Kinds and payloads of the whole frames in `bytes`.
fn frames(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut frames = Vec::new();
    while let Some(([a, b, c, kind, _, _, _, _, _], rest)) = bytes.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let Some((payload, behind)) = rest.split_at_checked(length) else { break };
        frames.push((*kind, payload));
        bytes = behind;
    }
    frames
}

/// Who is cut off has sent more than the credit, or has been reset too often; who is not has
/// earned what it sent. Who speaks no HTTP/2 is not looked at.
fn check(steps: &[Step], resets: usize, refused: Option<&(usize, String)>, elapsed: Duration) {
    let seen = &steps[..refused.map_or(steps.len(), |(number, _)| number + 1)];
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for step in seen {
        match step {
            Step::In(bytes) => read.extend_from_slice(bytes),
            Step::Out(bytes) => written.extend_from_slice(bytes),
            Step::Pass(_) => {}
        }
    }
    let begun = read.len().min(PREFACE.len());
    if read[..begun] != PREFACE[..begun] {
        let is_of_written = refused.is_some_and(|(_, said)| said.contains("reset"));
        assert!(refused.is_none() || is_of_written, "{refused:?}");
        return;
    }
    let (mut useless, mut earned) = (0_u128, written.len() as u128 / 256);
    for (kind, payload) in frames(&read[begun..]) {
        match kind {
            0 if payload.len() >= 7 => earned += 2,
            0 if payload.is_empty() => {}
            1 => earned += 8,
            9 => {}
            _ => useless += 1,
        }
    }
    earned += elapsed.as_millis() * FRAMES_PER_SECOND.maximum.unsigned_abs() as u128 / 1_000;
    let blamed = |(kind, payload): &(u8, &[u8])| {
        *kind == 3 && payload.get(3).is_some_and(|code| ![0, 2, 7, 8].contains(code))
    };
    let caused = frames(&written).iter().filter(|frame| blamed(frame)).count();
    let credit = FRAME_CREDIT.maximum.unsigned_abs() as u128;
    match refused.map(|(_, said)| said.as_str()) {
        None => {
            assert!(useless <= credit + earned, "{useless} frames, {earned} earned");
            assert!(caused <= resets, "{caused} resets");
        }
        Some("a flood of frames that carry nothing") => assert!(useless > credit, "{useless}"),
        Some("a flood of errors that reset streams") => assert!(caused > resets, "{caused}"),
        Some(other) => panic!("{other}"),
    }
}

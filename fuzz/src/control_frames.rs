//! HTTP/2 control frames: a connection that sends more of them than its credit allows is closed,
//! and no other connection is.

use std::time::Duration;

use offbeat::limits::{CONTROL_FRAMES, CONTROL_FRAMES_PER_SECOND};
use offbeat::net::ControlFrames;

use super::choices::Choices;
use super::port;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The most steps of one input, and the most bytes of a step.
const STEPS: usize = 48;
const STEP_BYTES: usize = 96 << 10;

/// Frame types (RFC 9113, section 6): PING, DATA, HEADERS, RST_STREAM, WINDOW_UPDATE,
/// CONTINUATION, SETTINGS, and an unknown one.
const KINDS: [u8; 8] = [6, 0, 1, 3, 8, 9, 4, 200];

/// The credit, in control frames, that a DATA, HEADERS or CONTINUATION frame earns.
const EARNED: i64 = 4;

#[derive(Debug)]
enum Step {
    Read(Vec<u8>),
    Pass(Duration),
}

/// Input: the chunk size, whether the preface comes first, then the steps: repeated frames, raw
/// bytes or a pause.
pub fn control_frames(data: &[u8]) {
    let mut choices = Choices::new(data);
    let cut = 1 + choices.below(64);
    let mut steps = Vec::new();
    if !choices.flip() {
        steps.push(Step::Read(PREFACE.to_vec()));
    }
    while !choices.is_empty() && steps.len() < STEPS {
        steps.push(step(&mut choices));
    }
    let whole = refused_at(&steps, usize::MAX);
    assert_eq!(refused_at(&steps, cut), whole, "cut at {cut}");
    // Fractions of a frame are rounded, so the credit may be off by one.
    let credit = CONTROL_FRAMES.maximum;
    let never = |refused: Option<usize>| refused.unwrap_or(usize::MAX);
    let allowed = never(overdrawn_at(&steps, credit - 1))..=never(overdrawn_at(&steps, credit + 1));
    assert!(allowed.contains(&never(whole)), "{whole:?}, must be in {allowed:?}");
}

fn step(choices: &mut Choices<'_>) -> Step {
    match choices.below(4) {
        0 => {
            let millis = choices.one_of(&[1, 499, 500, 999, 1_000, 7_000]);
            Step::Pass(Duration::from_millis(millis))
        }
        1 => Step::Read(choices.piece().to_vec()),
        _ => {
            let kind = choices.one_of(&KINDS);
            let length = choices.one_of(&[0, 1, 4, 8, 255, 17_000]);
            let [_, length_bytes @ ..] = u32::to_be_bytes(length);
            let head = [&length_bytes[..], &[kind, 0, 0, 0, 0, 1]].concat();
            let frame = [head, vec![0; length as usize]].concat();
            let most = STEP_BYTES / frame.len();
            Step::Read(frame.repeat(1 + choices.below(most)))
        }
    }
}

/// The step at which the connection is closed.
fn refused_at(steps: &[Step], cut: usize) -> Option<usize> {
    let refused = async {
        let mut frames = ControlFrames::default();
        for (number, step) in steps.iter().enumerate() {
            let read = match step {
                Step::Pass(time) => {
                    tokio::time::advance(*time).await;
                    Ok(())
                }
                Step::Read(bytes) => bytes.chunks(cut).try_for_each(|chunk| frames.read(chunk)),
            };
            if read.is_err() {
                return Some(number);
            }
        }
        None
    };
    port::with(|port| port.block_on(refused))
}

/// The step at which the frames exceed a credit of `most`, which refills over time up to `most`.
fn overdrawn_at(steps: &[Step], most: i64) -> Option<usize> {
    let bytes: Vec<u8> = steps.iter().flat_map(Step::bytes).copied().collect();
    let mut heads = heads_of_frames(&bytes).into_iter().peekable();
    let thousandths = |frames: i64| frames * 1_000;
    let (mut read, mut credit) = (0, thousandths(most));
    for (number, step) in steps.iter().enumerate() {
        if let Step::Pass(time) = step {
            let millis = i64::try_from(time.as_millis()).unwrap();
            let earned = millis * CONTROL_FRAMES_PER_SECOND.maximum;
            credit = (credit + earned).min(thousandths(most));
        }
        read += step.bytes().len();
        while let Some((_, is_control)) = heads.next_if(|(end, _)| *end <= read) {
            credit = match is_control {
                true => credit - thousandths(1),
                false => (credit + thousandths(EARNED)).min(thousandths(most)),
            };
            if credit < 0 {
                return Some(number);
            }
        }
    }
    None
}

impl Step {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Pass(_) => &[],
        }
    }
}

/// The offset at which each frame header ends, and whether the frame is a control frame. Empty if
/// the bytes are not HTTP/2.
fn heads_of_frames(bytes: &[u8]) -> Vec<(usize, bool)> {
    let mut heads = Vec::new();
    if !bytes.starts_with(PREFACE) {
        return heads;
    }
    let mut start = PREFACE.len();
    while let Some([a, b, c, kind, _, _, _, _, _]) =
        bytes.get(start..).and_then(|rest| rest.first_chunk::<9>())
    {
        heads.push((start + 9, ![0, 1, 9].contains(kind)));
        start += 9 + u32::from_be_bytes([0, *a, *b, *c]) as usize;
    }
    heads
}

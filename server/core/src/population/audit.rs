//! Audits: how evenly a sample of IDs fills the slots, and what is wrong if it does not.

use core::fmt;

use super::chi_square;
use crate::calendar::WorkBudgetExhausted;
use crate::ids::{Id, digest};
use crate::limits::SEARCHED_CYCLES;
use crate::placement::{Place, Placement, greatest_common_divisor};
use crate::rejection::Rejection;
use crate::runs::Runs;
use crate::schedule::Schedule;
use crate::time::Moment;

/// Fewer IDs a slot say nothing about evenness.
const MIN_MEAN: u64 = 5;
/// As uneven by chance once in a thousand samples: then it is not chance.
const UNLIKELY: f64 = 0.001;
/// So many IDs have a common divisor by chance once in half a million samples.
const MIN_INTEGERS: usize = 20;

/// Problems of a sample, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// IDs whose runs are all skipped by exclusions.
    NeverRun,
    /// Time-based UUIDs under `TWISTER`: they end in the machine's address.
    TimeBasedUuids,
    /// Integers with a common divisor under `TWISTER`: buckets stay empty.
    SparseIntegers,
    /// The slots differ by more than chance explains.
    Uneven,
    /// One ID alone outweighs a slot.
    HeavyId,
    /// IDs that come more than once.
    Duplicates,
}

/// A problem of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The kind of problem, for programs.
    pub finding: Finding,
    /// The problem in a sentence, for people.
    pub message: String,
}

/// A sample of IDs as it is counted.
///
/// ```
/// use offbeat_core::population::{Audit, Finding};
/// use offbeat_core::{Id, Moment, Schedule, ScheduleSpec, Span};
///
/// let daily = Schedule::try_new(&ScheduleSpec::every(Span::from_seconds(86_400)))?;
/// let mut audit = Audit::try_new(&daily, Moment::UNIX_EPOCH)?;
/// for text in ["acme", "globex", "acme"] {
///     let id = Id::text(text)?;
///     audit.add(&id, &daily.place(&id)?, None)?;
/// }
/// let report = audit.report()?;
/// assert_eq!(report.warnings[0].finding, Finding::Duplicates);
/// # Ok::<(), offbeat_core::Rejection>(())
/// ```
#[derive(Debug)]
pub struct Audit<'a> {
    schedule: &'a Schedule,
    runs: Runs<'a>,
    /// Places that exclusions might skip forever, with the number of their ID.
    searched: Vec<(u64, Place)>,
    /// Load of each slot: IDs, or the weight of pieces.
    loads: Vec<f64>,
    /// IDs by the slot of their first piece.
    counts: Vec<u64>,
    id_count: u64,
    uuid_count: u64,
    time_based_count: u64,
    /// The buckets of integers.
    buckets: Vec<u32>,
    /// What tells IDs apart.
    digests: Vec<u128>,
    /// The largest weight of a piece that could be cut further, and its ID.
    heaviest: Option<(f64, String)>,
}

/// How evenly a sample fills the slots.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditReport {
    /// IDs that have a place.
    pub id_count: u64,
    /// Load of each slot: IDs, or the weight of pieces.
    pub slot_loads: Vec<f64>,
    /// The fullest slot; the first of several.
    pub fullest_slot: u32,
    /// Load of the fullest slot: IDs, or the weight of pieces.
    pub fullest_load: f64,
    /// How many times the mean that is; 0 if the slots hold nothing.
    pub fullest_to_mean_ratio: f64,
    /// Slots that hold nothing.
    pub empty_slot_count: u32,
    /// Pearson's chi-square of the IDs, by their first pieces, in the slots.
    pub chi_square: f64,
    /// How likely as uneven is by chance; none with fewer than five IDs a slot.
    pub p_value: Option<f64>,
    /// The problems, worst first.
    pub warnings: Vec<Warning>,
}

impl<'a> Audit<'a> {
    /// A sample without IDs, which may run from `from` on.
    ///
    /// # Errors
    /// When a run around `from` might lie outside the years 1 to 9999, naming `from_time`.
    pub fn try_new(schedule: &'a Schedule, from: Moment) -> Result<Self, Rejection> {
        let slots = usize::try_from(schedule.slot_count()).unwrap_or_default();
        Ok(Self {
            schedule,
            runs: schedule.runs_from(from, 1)?,
            searched: Vec::new(),
            loads: vec![0.0; slots],
            counts: vec![0; slots],
            id_count: 0,
            uuid_count: 0,
            time_based_count: 0,
            buckets: Vec::new(),
            digests: Vec::new(),
            heaviest: None,
        })
    }

    /// Adds an ID that stands at `place`, with a weight if the sample has weights.
    ///
    /// # Errors
    /// When the weight is refused, naming `weight`; the ID is not counted then.
    pub fn add(
        &mut self,
        id: &Id<'_>,
        place: &Place,
        weight: Option<i64>,
    ) -> Result<(), Rejection> {
        match weight {
            None => self.add_piece(*place, 1.0),
            Some(weight) => self.add_pieces(id, place, weight)?,
        }
        let count = usize::try_from(place.slot).ok().and_then(|slot| self.counts.get_mut(slot));
        count.into_iter().for_each(|count| *count += 1);
        self.id_count += 1;
        if !matches!(id, Id::Fraction(_)) {
            self.digests.push(digest("", id)); // two rows may hold the same fraction
        }
        let Placement::Twister { bucket_count, .. } = self.schedule.placement() else {
            return Ok(());
        };
        match id {
            Id::Uuid(uuid) => {
                self.uuid_count += 1;
                self.time_based_count += u64::from(is_time_based(*uuid));
            }
            Id::Integer(integer) => {
                let bucket = integer.rem_euclid(u64::from(*bucket_count));
                self.buckets.push(u32::try_from(bucket).unwrap_or_default());
            }
            Id::Text(_) | Id::Fraction(_) => {}
        }
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "weights are at most 2^53")]
    fn add_pieces(&mut self, id: &Id<'_>, place: &Place, weight: i64) -> Result<(), Rejection> {
        let pieces = self.schedule.piece_count(weight)?;
        let each = weight as f64 / f64::from(pieces);
        for piece in 0..pieces {
            self.add_piece(self.schedule.piece(place, piece), each);
        }
        let can_be_cut = pieces < self.schedule.slot_count();
        if can_be_cut && self.heaviest.as_ref().is_none_or(|(weight, _)| each > *weight) {
            self.heaviest = Some((each, id.to_string()));
        }
        Ok(())
    }

    fn add_piece(&mut self, place: Place, load: f64) {
        if self.schedule.has_exclusions() {
            self.searched.push((self.id_count, place));
        }
        let held = usize::try_from(place.slot).ok().and_then(|slot| self.loads.get_mut(slot));
        held.into_iter().for_each(|held| *held += load);
    }

    /// The results of the sample.
    ///
    /// # Errors
    /// When too many cycles and excluded spans were needed to look for runs; naming `schedule`.
    pub fn report(mut self) -> Result<AuditReport, Rejection> {
        let slots = self.schedule.slot_count();
        let total: f64 = self.loads.iter().sum();
        let mean = total / f64::from(slots);
        let (fullest_slot, fullest_load) = self.fullest();
        let empty = self.loads.iter().filter(|load| **load == 0.0).count();
        let shares = self.schedule.shares_in_order();
        let chi_square =
            chi_square::statistic(self.counts.iter().copied().zip(shares), self.id_count);
        let p_value = (self.id_count >= MIN_MEAN * u64::from(slots))
            .then(|| chi_square::p_value(chi_square, slots - 1));
        let warnings = self.warnings(mean, p_value)?;
        Ok(AuditReport {
            id_count: self.id_count,
            fullest_slot,
            fullest_load,
            fullest_to_mean_ratio: if mean > 0.0 { fullest_load / mean } else { 0.0 },
            empty_slot_count: u32::try_from(empty).unwrap_or(u32::MAX),
            chi_square,
            p_value,
            warnings,
            slot_loads: self.loads,
        })
    }

    fn fullest(&self) -> (u32, f64) {
        let held = (0..).zip(self.loads.iter().copied());
        held.fold(
            (0, 0.0),
            |fullest, (slot, load)| if load > fullest.1 { (slot, load) } else { fullest },
        )
    }

    fn warnings(
        &mut self,
        mean: f64,
        p_value: Option<f64>,
    ) -> Result<Vec<Warning>, WorkBudgetExhausted> {
        let found = [
            (Finding::NeverRun, self.never_run()?),
            (Finding::TimeBasedUuids, self.time_based()),
            (Finding::SparseIntegers, self.sparse()),
            (Finding::Uneven, p_value.filter(|p| *p < UNLIKELY).map(uneven)),
            (Finding::HeavyId, self.heavy(mean)),
            (Finding::Duplicates, self.duplicates()),
        ];
        let warning = |(finding, message): (_, Option<_>)| {
            message.map(|message| Warning { finding, message })
        };
        Ok(found.into_iter().filter_map(warning).collect())
    }

    fn never_run(&self) -> Result<Option<String>, WorkBudgetExhausted> {
        let places: Vec<Place> = self.searched.iter().map(|(_, place)| *place).collect();
        let runs = self.runs.next_run_of_each(&places)?;
        let mut ids: Vec<u64> = self
            .searched
            .iter()
            .zip(runs)
            .filter_map(|((id, _), run)| run.is_none().then_some(*id))
            .collect();
        ids.dedup(); // the pieces of an ID stand together
        let (some, all, cycles) = (ids.len(), self.id_count, SEARCHED_CYCLES.maximum);
        Ok((some > 0).then(|| {
            format!(
                "{some} of {all} IDs, or a piece of each, never run: exclusions skip every run in \
                 {cycles} cycles: take exclusions that defer, or active windows that leave these \
                 times out"
            )
        }))
    }

    /// Bytes at random look like a time-based UUID once in 32; more than one in ten are some.
    fn time_based(&self) -> Option<String> {
        (self.time_based_count * 10 > self.uuid_count).then(|| {
            format!(
                "{} of {} UUIDs are time-based (version 1 or 6) and end in the address of a \
                 machine, so that TWISTER puts nearly all into a few slots: take PLACEMENT_HASH",
                self.time_based_count, self.uuid_count
            )
        })
    }

    fn sparse(&self) -> Option<String> {
        let Placement::Twister { bucket_count, .. } = *self.schedule.placement() else {
            return None;
        };
        let first = *self.buckets.first()?;
        let step = self.buckets.iter().fold(bucket_count.into(), |step, bucket| {
            greatest_common_divisor(step, bucket.abs_diff(first).into())
        });
        (step > 1 && self.buckets.len() >= MIN_INTEGERS).then(|| {
            let used = u64::from(bucket_count) / step;
            format!(
                "all {} integers are {} modulo {step}, so that they fall into {used} of \
                 {bucket_count} buckets: take PLACEMENT_HASH",
                self.buckets.len(),
                u64::from(first) % step,
            )
        })
    }

    fn heavy(&self, mean: f64) -> Option<String> {
        let (weight, id) = self.heaviest.as_ref()?;
        let quantum = self.schedule.weight_quantum()?;
        (*weight > mean && self.id_count >= u64::from(self.schedule.slot_count())).then(|| {
            let shown = crate::rejection::shorten(id);
            format!(
                "a piece of {shown:?} weighs {weight:.0}, {:.1} times what a slot holds on average: \
                 a smaller weight_quantum than {quantum} cuts it",
                weight / mean
            )
        })
    }

    fn duplicates(&mut self) -> Option<String> {
        self.digests.sort_unstable();
        let repeated = self.digests.windows(2).filter(|pair| pair.first() == pair.last()).count();
        (repeated > 0).then(|| {
            let of = self.digests.len();
            format!("{repeated} of {of} IDs came before in the sample: it should have each once")
        })
    }
}

fn uneven(p: f64) -> String {
    let shown = Probability(p);
    format!(
        "the slots differ by more than chance explains (p = {shown}): look whether the IDs are a fair \
         sample, and what their ends have in common"
    )
}

struct Probability(f64);

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1e-12 { f.write_str("0") } else { write!(f, "{:.1e}", self.0) }
    }
}

/// A UUID of RFC 9562 with version 1 or 6: it ends in a node, and is the same for all of a machine.
const fn is_time_based(uuid: u128) -> bool {
    let (version, variant) = ((uuid >> 76) & 0xf, (uuid >> 62) & 0b11);
    (version == 1 || version == 6) && variant == 0b10
}

//! Time zones: the offsets of a wall clock from UTC.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use super::wall::{UtcOffset, Wall};

const SECONDS_PER_DAY: i64 = 86_400;
/// No wall clock differs more from UTC, in seconds.
const MAX_UTC_OFFSET: UtcOffset = UtcOffset(26 * 3_600);

/// A time zone of the IANA database that is built in: no file of the machine is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// The zone of this name, in any case; an alias keeps its own name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let rules = TimeZoneDatabase::bundled().get(name).ok()?;
        let name = rules.iana_name().filter(|_| !rules.is_unknown())?.to_owned();
        Some(Self { name, rules })
    }

    /// Its name, as the database writes it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The days that the wall clock never shows, counted from 1 January 1970, rising: of a few
    /// islands, one.
    pub(crate) fn skipped_days(&self) -> Vec<i64> {
        // Rules for years to come skip no days.
        let (from, to) = (-5_000_000_000, 3_000_000_000); // 1811 to 2065
        let offsets = self.offsets(from, to);
        let days = offsets.windows(2).flat_map(|pair| match pair {
            [(_, before), (since, after)] => {
                let (Wall(shown), Wall(next)) = (*since + *before, *since + *after);
                -(-shown).div_euclid(SECONDS_PER_DAY)..next.div_euclid(SECONDS_PER_DAY)
            }
            _ => 0..0,
        });
        days.collect()
    }

    /// The offsets in force in [`from`, `to`), in seconds since the Unix epoch: since when, and
    /// how many seconds the wall clock is ahead of UTC. The first begins at `from`.
    pub(crate) fn offsets(&self, from: i64, to: i64) -> Vec<(i64, UtcOffset)> {
        let start = timestamp(from);
        let seconds = |offset: Offset| UtcOffset(offset.seconds().into());
        let mut offset = seconds(self.rules.to_offset(start));
        let mut offsets = vec![(from, offset)];
        for transition in self.rules.following(start) {
            let (since, next) = (transition.timestamp().as_second(), seconds(transition.offset()));
            if since >= to {
                break;
            }
            if next != offset && since > from {
                offsets.push((since, next));
                offset = next;
            }
        }
        offsets
    }

    /// The offsets by which the wall-clock times in [`from`, `to`), in seconds as if the clock
    /// showed UTC, become instants: since which wall-clock time, and the offset.
    ///
    /// A time that a change skips keeps the offset before the change, and so becomes an
    /// instant later by what is skipped; a time that comes twice means the first. Either way
    /// the new offset counts from the later of the two times that the clock shows at the change.
    pub(crate) fn wall_offsets(&self, from: Wall, to: Wall) -> Vec<(Wall, UtcOffset)> {
        let all = self.offsets(from - MAX_UTC_OFFSET, to - UtcOffset(-MAX_UTC_OFFSET.0));
        let mut offsets: Vec<(Wall, UtcOffset)> = Vec::new();
        let mut before: Option<UtcOffset> = None;
        for (since, offset) in all {
            let wall = before.map_or(from, |before| since + before.max(offset)).max(from);
            before = Some(offset);
            if wall >= to {
                break;
            }
            while offsets.last().is_some_and(|(last, _)| *last >= wall) {
                offsets.pop();
            }
            offsets.push((wall, offset));
        }
        offsets
    }
}

/// The nearest instant that the library knows: the years −9999 to 9999.
fn timestamp(seconds: i64) -> Timestamp {
    let seconds = seconds.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use jiff::civil::DateTime;

    use super::*;

    /// How jiff's own "compatible" rule reads a wall-clock time.
    fn compatible(zone: &Zone, wall: i64) -> i64 {
        let civil = DateTime::constant(1970, 1, 1, 0, 0, 0, 0)
            .checked_add(jiff::SignedDuration::from_secs(wall))
            .unwrap();
        zone.rules.to_ambiguous_timestamp(civil).compatible().unwrap().as_second()
    }

    #[test]
    fn around_every_change_of_every_zone_wall_clocks_read_as_the_library_reads_them() {
        let (first, last) = (-3_000_000_000, 2_500_000_000); // 1874 to 2049
        let mut changes = 0;
        for name in TimeZoneDatabase::bundled().available() {
            let Some(zone) = Zone::named(name.as_str()) else { continue };
            for pair in zone.offsets(first, last).windows(2) {
                let [(_, before), (at, after)] = *pair else { continue };
                changes += 1;
                let low = at + before.min(after) + -100_000;
                let walls = zone.wall_offsets(low, low + 300_000);
                for edge in [at + before, at + after] {
                    for ticks in [-1, 0, 1, -1_800, 1_800] {
                        let wall = edge + ticks;
                        let (_, offset) =
                            walls.iter().rev().find(|(since, _)| *since <= wall).unwrap();
                        assert_eq!(wall - *offset, compatible(&zone, wall.0), "{name} {wall:?}");
                    }
                }
            }
        }
        assert!(changes > 20_000, "{changes}");
    }

    #[test]
    fn names_are_taken_in_any_case_and_aliases_kept() {
        let name = |name| Zone::named(name).map(|zone| zone.name().to_owned());
        assert_eq!(name("europe/berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(name("Asia/Calcutta").as_deref(), Some("Asia/Calcutta"));
        assert_eq!(name("utc").as_deref(), Some("UTC"));
        for unknown in ["", "Europe/Atlantis", "Etc/Unknown", "../etc/passwd", "+01:00", "CEST"] {
            assert_eq!(name(unknown), None, "{unknown}");
        }
    }
}

//! Named spreads as gauges. Callers choose the names, so the number of series is bounded.

use prometheus_client::registry::Registry;

use super::OTHER;
use super::series::{Gauges, Labels, set};
use crate::limits::SPREAD_SERIES;
use crate::spreads::SpreadFigures;

/// Registers gauges of `spreads`, each series labelled with their store.
pub(super) fn register(registry: &mut Registry, store: &'static str, spreads: Vec<SpreadFigures>) {
    let registry = registry.sub_registry_with_label(("store".into(), store.into()));
    let count = spreads.len() as u64;
    set(registry, "spreads", "Named spreads that are not discarded", count);
    let spreads = labelled(spreads);
    let mut register = |name: &str, help: &str, value: fn(&SpreadFigures) -> u64| {
        let series = spreads.iter().map(|held| (label(held), value(held))).collect();
        registry.register(name, help, Gauges(series));
    };
    register("spread_groups", "Groups that are not settled", |held| held.groups);
    register("spread_consumers", "Consumers that hold jobs", |held| held.consumers);
    register("spread_bytes", "Bytes of the jobs of named spreads", |held| held.bytes);
    #[expect(clippy::cast_precision_loss, reason = "an age in milliseconds is below 2^53")]
    let age = |held: &SpreadFigures| held.oldest_millis as f64 / 1e3;
    let ages = spreads.iter().map(|held| (label(held), age(held))).collect();
    let help = "Age of the oldest group that is not settled, in seconds";
    registry.register("spread_oldest_group_age_seconds", help, Gauges(ages));
    let jobs = spreads.iter().flat_map(|held| {
        let by_state = [
            ("ready", held.ready_jobs),
            ("leased", held.leased_jobs),
            ("settled", held.settled_jobs),
            ("dead", held.dead_letters),
        ];
        by_state.map(|(state, count)| {
            ([("spread", held.name.clone()), ("state", state.to_owned())], count)
        })
    });
    registry.register("spread_jobs", "Jobs of named spreads, by state", Gauges(jobs.collect()));
}

fn label(held: &SpreadFigures) -> Labels<1> {
    [("spread", held.name.clone())]
}

/// The spreads that have series of their own, and the sum of all others, which exists even if it is
/// 0. The spreads that have been open longest come first: newer ones cannot displace them, and a
/// spread that is stuck is an old one. Spreads that have nothing left to do come last.
fn labelled(mut spreads: Vec<SpreadFigures>) -> Vec<SpreadFigures> {
    spreads.sort_by_key(|held| (held.is_spent, held.epoch));
    let mut others = SpreadFigures { name: OTHER.to_owned(), ..SpreadFigures::default() };
    let mut own = Vec::new();
    for held in spreads {
        if own.len() < SPREAD_SERIES.max_size() && held.name != OTHER {
            own.push(held);
        } else {
            others.add(&held);
        }
    }
    own.push(others);
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(name: &str, epoch: u64, is_spent: bool, ready_jobs: u64) -> SpreadFigures {
        let name = name.to_owned();
        let (oldest_millis, bytes) = (1_000 * epoch, 8 * ready_jobs);
        SpreadFigures {
            name,
            epoch,
            is_spent,
            ready_jobs,
            oldest_millis,
            bytes,
            ..Default::default()
        }
    }

    #[test]
    fn a_hundred_spreads_have_series_of_their_own_and_those_open_longest_keep_them() {
        let mut spreads = vec![spread("spent", 1, true, 0), spread("stuck", 2, false, 7)];
        // Other spreads open later, under names that sort first.
        spreads.extend((0..120).map(|n| spread(&format!("a-{n:03}"), 10 + n, false, 1)));
        let shown = labelled(spreads);
        assert_eq!(shown.len(), 101);
        assert_eq!(shown[0].name, "stuck");
        assert_eq!(shown[99].name, "a-098");
        assert!(shown.iter().all(|held| held.name != "spent"), "it has nothing left to do");
        let others = &shown[100];
        let found = (others.name.as_str(), others.ready_jobs, others.bytes, others.oldest_millis);
        assert_eq!(found, ("other", 21, 8 * 21, 129_000), "sums, and the age of the oldest");
        assert_eq!(shown.iter().map(|held| held.ready_jobs).sum::<u64>(), 127);
    }

    #[test]
    fn the_series_of_others_is_always_there_and_takes_those_of_its_name() {
        assert_eq!(labelled(Vec::new()).len(), 1);
        let shown = labelled(vec![spread("other", 1, false, 3), spread("mine", 2, false, 1)]);
        let found: Vec<_> = shown.iter().map(|held| (&*held.name, held.ready_jobs)).collect();
        assert_eq!(found, [("mine", 1), ("other", 3)]);
    }

    #[test]
    fn names_are_escaped() {
        let mut registry = Registry::default();
        register(&mut registry, "memory", vec![spread("a \"b\"\n{} 1", 1, false, 2)]);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let series =
            "spread_jobs{store=\"memory\",spread=\"a \\\"b\\\"\\n{} 1\",state=\"ready\"} 2\n";
        assert!(text.contains(series), "{text}");
    }
}

//! Formulas of queueing theory for a queue with several workers.

/// The mean wait in M/M/c for work of mean 1 and a load of `load` workers: Erlang's C over the
/// spare capacity. Infinite if there is no spare capacity.
///
/// Erlang's B is built up worker by worker, which neither overflows nor underflows.
#[must_use]
pub fn mmc_wait(workers: u32, load: f64) -> f64 {
    let count = f64::from(workers);
    if load >= count {
        return f64::INFINITY;
    }
    let mut blocking = 1.0;
    for worker in 1..=workers {
        blocking = load * blocking / (f64::from(worker) + load * blocking);
    }
    let waits = blocking / (1.0 - (load / count) * (1.0 - blocking));
    waits / (count - load)
}

/// The mean wait in M/G/c, approximately: that of M/M/c, times (1 + C²)/2 (A. M. Lee and P. A.
/// Longton, 1959). With one worker it is exact: the formula of Pollaczek and Khinchine. `rate` is
/// in jobs per second, `mean` in seconds and `mean_square` in seconds².
#[must_use]
pub fn mgc_wait(workers: u32, rate: f64, mean: f64, mean_square: f64) -> f64 {
    if rate <= 0.0 || mean <= 0.0 {
        return 0.0;
    }
    mmc_wait(workers, rate * mean) * mean * (mean_square / (mean * mean)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(figure: f64, expected: f64) {
        assert!((figure - expected).abs() < 1e-6 * expected, "{figure} for {expected}");
    }

    /// Published figures for work of mean 1.
    #[test]
    fn waits_of_textbooks() {
        close(mmc_wait(1, 0.5), 1.0);
        close(mmc_wait(2, 1.5), 9.0 / 7.0);
        close(mmc_wait(4, 3.2), 0.745_541);
        close(mmc_wait(15, 13.5), 0.401_753);
        close(mmc_wait(20, 19.0), 0.755_401);
        assert!(mmc_wait(3, 3.0).is_infinite());
        assert!(mmc_wait(1_000, 900.0) > 0.0);
    }

    #[test]
    fn constant_work_waits_half_as_long() {
        // M/D/1: ρ / (2(1−ρ)).
        close(mgc_wait(1, 0.8, 1.0, 1.0), 0.8 / 0.4);
        close(mgc_wait(4, 3.2, 1.0, 2.0), mmc_wait(4, 3.2));
    }
}

//! Who goes first on a core: the thread that serves, before those that take long.

use std::io;
use std::time::Duration;

/// The shortest there is; Linux gives threads 0.7 ms on one core to 2.8 ms on many by itself.
const SHORT_SLICE: Duration = Duration::from_micros(100);

/// What Linux gives by itself.
const USUAL_SLICE: Duration = Duration::ZERO;

/// How much more patient the threads are that decide what takes long (`nice(2)`).
const PATIENCE: i32 = 5;

/// The calling thread goes before others as soon as something comes: who asks for a shorter slice
/// need not wait for the end of theirs. Where it may not, or Linux is older than 6.12, all are equal.
pub(super) fn of_serving_thread() {
    let _ = ask_for(SHORT_SLICE);
}

/// The calling thread gives way to the one that serves, whose slice it has inherited.
pub(super) fn of_pool_thread() {
    let _ = rustix::process::nice(PATIENCE);
    let _ = ask_for(USUAL_SLICE);
}

/// Asks for a slice, for the calling thread.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a system call that no library makes for ordinary threads")]
fn ask_for(slice: Duration) -> io::Result<()> {
    /// `struct sched_attr`, in its first version (`sched_setattr(2)`).
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        /// Of an ordinary thread the slice, in nanoseconds.
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    /// Whatever the policy is that somebody has chosen for the process.
    const KEEP_POLICY: u64 = 0x08;

    let attributes = Attributes {
        size: size_of::<Attributes>().try_into().unwrap_or_default(),
        policy: 0,
        flags: KEEP_POLICY,
        nice: rustix::process::getpriority_process(None)?,
        priority: 0,
        runtime: slice.as_nanos().try_into().unwrap_or(u64::MAX),
        deadline: 0,
        period: 0,
    };
    // SAFETY: thread 0 is the calling one; the kernel reads `size` bytes of the attributes, which are
    // laid out as it expects them and live until it returns, and writes nothing there.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(target_os = "linux"))]
fn ask_for(_: Duration) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    /// What Linux says of the calling thread; nothing where slices cannot be asked for.
    fn slice() -> Option<Duration> {
        let told = fs::read_to_string("/proc/thread-self/sched").ok()?;
        let line = told.lines().find(|line| line.starts_with("se.slice"))?;
        Some(Duration::from_nanos(line.rsplit(' ').next()?.parse().unwrap()))
    }

    fn nice() -> i32 {
        rustix::process::getpriority_process(None).unwrap()
    }

    #[test]
    fn who_serves_has_a_shorter_slice_than_the_threads_it_makes() {
        let usual = (slice(), nice());
        thread::spawn(move || {
            of_serving_thread();
            let serving = (slice(), nice());
            let pool = thread::spawn(|| {
                of_pool_thread();
                (slice(), nice())
            });
            let pool = pool.join().unwrap();
            assert_eq!(serving.1, usual.1);
            assert_eq!(pool.1, (usual.1 + PATIENCE).min(19));
            let (Some(usual), Some(serving), Some(pool)) = (usual.0, serving.0, pool.0) else {
                println!("left out: this Linux tells no slices");
                return;
            };
            assert_eq!(serving, SHORT_SLICE);
            assert_eq!(pool, usual);
            assert!(serving < pool);
        })
        .join()
        .unwrap();
    }
}

//! Memory that is kept between calls, and what is let go after the start.

use std::hint::black_box;
use std::ops::Range;

/// The largest block that is taken from the heap, in bytes; what is kept of it is twice as much.
const BLOCK: usize = 1 << 20;

/// Keeps up to 2 MiB of a heap that is free, where the allocator is glibc's.
///
/// It begins by giving everything back that is more than 128 KiB, and what a batch of 20,000 IDs
/// takes would be had from the kernel, page by page, in each call: a tenth of the time of a caller.
/// Both thresholds follow the largest block that has been given back (mallopt(3), `M_MMAP_THRESHOLD`),
/// so here is one. Nobody writes into it, so that it takes no memory. (`docs/decisions/0019`)
pub(super) fn keep_what_batches_take() {
    drop(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// Lets go of the pages of the program and of libraries that were needed to start, half of what an
/// idle process has mapped. Linux has them in its cache, and maps again what is asked for.
/// (`docs/decisions/0020`)
pub(super) fn let_go_of_the_start() {
    let Ok(mappings) = std::fs::read_to_string("/proc/self/smaps") else { return };
    unchanged_files(&mappings).into_iter().for_each(let_go);
}

/// Of `smaps` (proc_pid_smaps(5)), the private mappings of files that nobody may write to, and
/// without a page that differs from the file.
fn unchanged_files(mappings: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut candidate = None;
    for line in mappings.lines() {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("Anonymous:"), Some(kilobytes)) => {
                found.extend(candidate.take().filter(|_| kilobytes == "0"));
            }
            (Some(field), _) if field.ends_with(':') => {}
            // A new mapping: where, for what, from which place of which device's file.
            (Some(range), permissions) => {
                let is_constant = matches!(permissions, Some("r-xp" | "r--p"));
                let is_file = words.nth(3).is_some_and(|path| path.starts_with('/'));
                candidate = addresses(range).filter(|_| is_constant && is_file);
            }
            _ => {}
        }
    }
    found
}

fn addresses(range: &str) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no library knows which mappings can be let go")]
fn let_go(range: Range<usize>) {
    use rustix::mm::{Advice, madvise};

    let start = std::ptr::without_provenance_mut(range.start);
    // SAFETY: the mapping is private and of a file, nobody may write to it, and no page of it differs
    // from the file: whoever reads there next reads the file, which is what was there.
    let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn let_go(_: Range<usize>) {}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPINGS: &str = "\
55d0c8a00000-55d0c8c00000 r--p 00000000 fe:00 1 /bin/offbeat
Size:               2048 kB
Anonymous:             0 kB
VmFlags: rd mr mw me sd
55d0c8c00000-55d0c9000000 r-xp 00200000 fe:00 1 /bin/offbeat (deleted)
Rss:                3752 kB
Anonymous:             0 kB
55d0c9000000-55d0c9030000 r--p 00600000 fe:00 1 /bin/offbeat
Anonymous:           192 kB
55d0c9030000-55d0c9031000 rw-p 00630000 fe:00 1 /bin/offbeat
Anonymous:             0 kB
7f0000000000-7f0000001000 r--s 00000000 fe:00 2 /run/shared
Anonymous:             0 kB
7f0000002000-7f0000003000 r--p 00000000 00:00 0
Anonymous:             0 kB
7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
7f0000004000-7f0000005000 r--p 00000000 fe:00 3 /usr/lib/of an older Linux
Rss:                   4 kB
";

    #[test]
    fn what_is_let_go_is_the_same_in_a_file() {
        let pages = [0x55d0_c8a0_0000..0x55d0_c8c0_0000, 0x55d0_c8c0_0000..0x55d0_c900_0000];
        assert_eq!(unchanged_files(MAPPINGS), pages);
        assert!(unchanged_files("").is_empty());
        assert!(unchanged_files("- r-xp 0 0 0 /\nAnonymous: 0 kB\nAnonymous: 0 kB").is_empty());
    }

    /// What of files is in memory, in kB.
    #[cfg(target_os = "linux")]
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssFile:")).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_goes_on_without_the_pages_of_its_start() {
        let before = resident();
        let_go_of_the_start();
        let after = resident();
        assert!(after < before, "{before} kB, then {after} kB");
        assert_eq!(unchanged_files(MAPPINGS).len(), 2); // text and code are there
    }
}

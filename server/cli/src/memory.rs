//! Memory that is kept between calls.

use std::hint::black_box;

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

//! Many IDs at once.
//!
//! The cost of a decision is a chain of dependent steps: 1,247 to seed a twister, 64 for an MD5. A
//! single ID waits for each of them. Many IDs are computed side by side: one in each lane of the
//! machine's vectors, and several vectors in turn, so that no vector waits for its own last step.
//! Everything is written once, over the vectors of `fearless_simd`, and compiled for each
//! instruction set. The answers are, bit for bit, those of one ID after the other
//! ([`Twister`](crate::placement::Twister), [`hash`](crate::ids::hash)); tests compare them for
//! every kernel of their machine.

mod characters;
mod digits;
mod draw;
mod hash;
mod input;
mod lanes;
mod md5;
mod messages;
mod one;
mod places;
mod salt;
mod seeding;
mod text;
mod twister;

use fearless_simd::Level;

pub use self::hash::hashes;
pub use self::one::draw;
pub use self::twister::draws;

/// The instructions that decide many IDs. A kernel exists only for instructions that the machine
/// has.
#[derive(Debug, Clone, Copy)]
pub struct Kernel(Option<Level>);

impl Kernel {
    /// One ID after the other.
    pub const PLAIN: Self = Self(None);

    /// The fastest kernel of this machine, which is looked up once.
    #[must_use]
    pub fn best() -> Self {
        Self(Some(Level::new()))
    }

    /// All kernels of this machine, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let detected = {
            use fearless_simd::Simd;
            let best = Level::new();
            let (sse4_2, avx2, avx512) = (best.as_sse4_2(), best.as_avx2(), best.as_avx512());
            [sse4_2.map(Simd::level), avx2.map(Simd::level), avx512.map(Simd::level)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let detected = [];
        let levels = [Some(Level::baseline())].into_iter().chain(detected).flatten();
        core::iter::once(Self::PLAIN).chain(levels.map(|level| Self(Some(level))))
    }

    /// The name of the instruction set; `plain` for [`PLAIN`](Self::PLAIN).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            None => "plain",
            #[cfg(target_arch = "x86_64")]
            Some(Level::Sse4_2(_)) => "SSE4.2",
            #[cfg(target_arch = "x86_64")]
            Some(Level::Avx2(_)) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Some(Level::Avx512(_)) => "AVX-512",
            Some(_) => "baseline",
        }
    }
}

//! Many IDs at once.
//!
//! What a decision costs is a chain of dependent steps: 1,247 to seed a twister,
//! 64 for an MD5. One ID alone has to walk it; many walk side by side, one in
//! each lane of the machine's vectors, and several vectors in turn, so that none
//! waits for its own last step. Everything is written once, over an instruction set (`Isa`), and
//! compiled for each. The answers are, bit for bit, those of one ID after the
//! other ([`Twister`](crate::placement::Twister), [`hash`](crate::ids::hash)),
//! which the tests hold against every kernel of their machine.

mod characters;
mod digits;
mod draw;
mod hash;
mod isa;
mod md5;
mod messages;
mod one;
mod places;
mod salt;
mod seeding;
mod taken;
mod text;
mod twister;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

pub use self::hash::hashes;
pub use self::one::draw;
pub use self::twister::draws;

/// Instructions that many IDs are decided with; only those that the machine has can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Level);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// One ID after the other.
    Plain,
    /// What every machine of the architecture has: NEON, SSE2.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

impl Kernel {
    /// One ID after the other.
    pub const PLAIN: Self = Self(Level::Plain);

    /// The fastest that this machine has; looked up once.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| Self::available().last().unwrap_or(Self::PLAIN))
    }

    /// All that this machine has, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        let everywhere = [Level::Plain, Level::Baseline];
        #[cfg(target_arch = "x86_64")]
        let detected =
            [x86::Avx2::detect().map(Level::Avx2), x86::Avx512::detect().map(Level::Avx512)];
        #[cfg(not(target_arch = "x86_64"))]
        let detected: [Option<Level>; 0] = [];
        everywhere.into_iter().chain(detected.into_iter().flatten()).map(Self)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Level::Plain => "plain",
            Level::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => "AVX-512",
        }
    }
}

//! What the kernels ask of an instruction set.

/// Vectors of `L` words of 32 bits. A value of the type is the proof that the machine has them.
pub(super) trait Isa<const L: usize>: Copy {
    /// A vector.
    type Vector: Copy;

    /// Runs `task` where the compiler may use the instructions.
    fn run<T: Task<L>>(self, task: T);

    fn splat(self, word: u32) -> Self::Vector;
    fn load(self, words: &[u32; L]) -> Self::Vector;
    fn store(self, vector: Self::Vector, words: &mut [u32; L]);
    fn add(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    fn subtract(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    /// The low halves of the products.
    fn multiply(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    fn and(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    fn or(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    fn xor(self, left: Self::Vector, right: Self::Vector) -> Self::Vector;
    fn shift_right(self, vector: Self::Vector, by: u32) -> Self::Vector;
    fn shift_left(self, vector: Self::Vector, by: u32) -> Self::Vector;

    /// Each lane by its own number of bits; nothing is left of one that moves by 32.
    fn shift_right_each(self, vector: Self::Vector, by: Self::Vector) -> Self::Vector;
    fn shift_left_each(self, vector: Self::Vector, by: Self::Vector) -> Self::Vector;
    /// Word i of each piece, little-endian, in vector i.
    fn transpose(self, pieces: [&Piece; L]) -> [Self::Vector; 4];

    #[inline(always)]
    fn rotate_left(self, vector: Self::Vector, by: u32) -> Self::Vector {
        self.or(self.shift_left(vector, by), self.shift_right(vector, 32 - by))
    }
}

/// Work for vectors; its parts must be `inline(always)`, or they are compiled without them.
pub(super) trait Task<const L: usize> {
    fn run<I: Isa<L>>(self, isa: I);
}

/// Rows of lanes: `K` vectors of `L` words.
pub(super) type Row<const L: usize, const K: usize> = [[u32; L]; K];

/// Four words of one lane, as they are written before they become lanes.
pub(super) type Piece = [u8; 16];

/// On the boundary of a cache line, so that no vector lies across one.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) T);

/// Arrays, of which compilers make whatever vectors the architecture has at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Baseline;

#[inline(always)]
fn each(left: [u32; 4], right: [u32; 4], operation: impl Fn(u32, u32) -> u32) -> [u32; 4] {
    let ([a, b, c, d], [e, f, g, h]) = (left, right);
    [operation(a, e), operation(b, f), operation(c, g), operation(d, h)]
}

#[inline(always)]
fn words(piece: &Piece) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(piece.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

impl Isa<4> for Baseline {
    type Vector = [u32; 4];

    fn run<T: Task<4>>(self, task: T) {
        task.run(self);
    }

    #[inline(always)]
    fn splat(self, word: u32) -> [u32; 4] {
        [word; 4]
    }

    #[inline(always)]
    fn load(self, words: &[u32; 4]) -> [u32; 4] {
        *words
    }

    #[inline(always)]
    fn store(self, vector: [u32; 4], words: &mut [u32; 4]) {
        *words = vector;
    }

    #[inline(always)]
    fn add(self, left: [u32; 4], right: [u32; 4]) -> [u32; 4] {
        each(left, right, u32::wrapping_add)
    }

    #[inline(always)]
    fn subtract(self, left: [u32; 4], right: [u32; 4]) -> [u32; 4] {
        each(left, right, u32::wrapping_sub)
    }

    #[inline(always)]
    fn multiply(self, left: [u32; 4], right: [u32; 4]) -> [u32; 4] {
        each(left, right, u32::wrapping_mul)
    }

    #[inline(always)]
    fn and(self, left: [u32; 4], right: [u32; 4]) -> [u32; 4] {
        each(left, right, |left, right| left & right)
    }

    #[inline(always)]
    fn or(self, left: [u32; 4], right: [u32; 4]) -> [u32; 4] {
        each(left, right, |left, right| left | right)
    }

    #[inline(always)]
    fn xor(self, left: [u32; 4], right: [u32; 4]) -> [u32; 4] {
        each(left, right, |left, right| left ^ right)
    }

    #[inline(always)]
    fn shift_right(self, vector: [u32; 4], by: u32) -> [u32; 4] {
        vector.map(|word| word >> by)
    }

    #[inline(always)]
    fn shift_left(self, vector: [u32; 4], by: u32) -> [u32; 4] {
        vector.map(|word| word << by)
    }

    #[inline(always)]
    fn shift_right_each(self, vector: [u32; 4], by: [u32; 4]) -> [u32; 4] {
        each(vector, by, u32::unbounded_shr)
    }

    #[inline(always)]
    fn shift_left_each(self, vector: [u32; 4], by: [u32; 4]) -> [u32; 4] {
        each(vector, by, u32::unbounded_shl)
    }

    #[inline(always)]
    fn transpose(self, pieces: [&Piece; 4]) -> [[u32; 4]; 4] {
        let [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]] = pieces.map(words);
        [[a, e, i, m], [b, f, j, n], [c, g, k, o], [d, h, l, p]]
    }
}

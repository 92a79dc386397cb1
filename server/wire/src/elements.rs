//! Elements of protobuf messages, counted before anything is built of them: two bytes on the wire
//! can become a hundred in memory.

/// Numbers of the fields that lead to elements are smaller.
const NUMBERS: u32 = 16;

/// A repeated field.
#[derive(Debug, Clone, Copy)]
pub struct Repeated {
    /// The numbers of the fields that lead to it, its own the last.
    path: &'static [u32],
    most: usize,
    packed: bool,
}

impl Repeated {
    /// A field of which at most so many elements are let through: in the message as a whole, if
    /// it is within another repeated field.
    ///
    /// # Panics
    /// Of a path without numbers, or with one above 15: where it is a constant, the compiler does.
    #[must_use]
    pub const fn new(path: &'static [u32], most: usize) -> Self {
        assert!(!path.is_empty(), "a path has numbers");
        let mut rest = path;
        while let [number, others @ ..] = rest {
            assert!(*number < NUMBERS, "numbers of fields are small");
            rest = others;
        }
        Self { path, most, packed: false }
    }

    /// Its elements are integers that may be packed.
    #[must_use]
    pub const fn packed(self) -> Self {
        Self { packed: true, ..self }
    }

    /// At most so many.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.most
    }
}

/// Which of the fields, by its index, has more elements than are let through, as soon as one has.
/// What is malformed is left to who decodes it.
#[must_use]
pub fn first_over<'a>(
    message: &[u8],
    fields: impl IntoIterator<Item = &'a Repeated>,
) -> Option<usize> {
    let fields: Vec<Repeated> = fields.into_iter().copied().collect();
    let mut left: Vec<usize> = fields.iter().map(Repeated::most).collect();
    Paths::new(&fields).count(message, 0, &mut left).err()
}

/// What the numbers of fields mean in a message: a tree of all paths, made once, as a message may
/// hold millions of others.
struct Paths<'a> {
    fields: &'a [Repeated],
    /// The first is the message as a whole.
    messages: Vec<[Step; NUMBERS as usize]>,
}

#[derive(Clone, Copy, Default)]
struct Step {
    /// The field whose path ends here.
    leaf: Option<usize>,
    /// The message in which paths go on.
    inner: Option<usize>,
}

impl<'a> Paths<'a> {
    fn new(fields: &'a [Repeated]) -> Self {
        let mut paths = Self { fields, messages: vec![Default::default()] };
        for (at, field) in fields.iter().enumerate() {
            let Some((last, way)) = field.path.split_last() else { continue };
            let message = way.iter().fold(0, |message, number| paths.inner(message, *number));
            if let Some(step) = paths.step(message, *last) {
                step.leaf = Some(at);
            }
        }
        paths
    }

    fn step(&mut self, message: usize, number: u32) -> Option<&mut Step> {
        self.messages.get_mut(message)?.get_mut(number as usize)
    }

    /// The message that a field of a message holds.
    fn inner(&mut self, message: usize, number: u32) -> usize {
        let next = self.messages.len();
        let Some(step) = self.step(message, number) else { return message };
        let inner = *step.inner.get_or_insert(next);
        if inner == next {
            self.messages.push(Default::default());
        }
        inner
    }

    /// Takes the elements of a message from how many of each field may still come.
    fn count(&self, mut bytes: &[u8], message: usize, left: &mut [usize]) -> Result<(), usize> {
        let Some(steps) = self.messages.get(message) else { return Ok(()) };
        while let Some((number, payload)) = next_field(&mut bytes) {
            let Some(step) = steps.get(number as usize) else { continue };
            if let Some(at) = step.leaf {
                let packed = payload.filter(|_| self.fields.get(at).is_some_and(|it| it.packed));
                let left = left.get_mut(at).ok_or(at)?;
                *left = left.checked_sub(packed.map_or(1, integers)).ok_or(at)?;
            }
            if let (Some(inner), Some(payload)) = (step.inner, payload) {
                self.count(payload, inner, left)?;
            }
        }
        Ok(())
    }
}

/// Packed integers: each ends with the one byte that has no high bit.
fn integers(packed: &[u8]) -> usize {
    packed.iter().filter(|byte| **byte < 0x80).count()
}

/// The number of the next field, and its bytes if it has a length; `None` at the end, or where
/// the message is malformed.
#[inline(always)]
fn next_field<'a>(message: &mut &'a [u8]) -> Option<(u32, Option<&'a [u8]>)> {
    let key = varint(message)?;
    let number = u32::try_from(key >> 3).ok()?;
    let length = match key & 7 {
        0 => {
            varint(message)?;
            return Some((number, None));
        }
        1 => 8,
        2 => usize::try_from(varint(message)?).ok()?,
        5 => 4,
        3 | 4 => 0, // groups: their fields follow, and count as if they were here
        _ => return None,
    };
    let (payload, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some((number, (key & 7 == 2).then_some(payload)))
}

#[inline(always)]
fn varint(message: &mut &[u8]) -> Option<u64> {
    let (first, rest) = message.split_first()?;
    if *first < 0x80 {
        *message = rest;
        return Some(u64::from(*first));
    }
    long_varint(message)
}

#[cold]
fn long_varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One within another, one beside them, and packed integers within another.
    const FIELDS: [Repeated; 6] = [
        Repeated::new(&[2], 3),
        Repeated::new(&[2, 3], 5),
        Repeated::new(&[1], 2),
        Repeated::new(&[4, 15], 6).packed(),
        Repeated::new(&[4, 1], 2),
        Repeated::new(&[6, 7, 8], 2),
    ];

    fn with(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).unwrap();
        [&[number << 3 | 2, length][..], content].concat()
    }

    fn first_over(message: &[u8]) -> Option<usize> {
        super::first_over(message, &FIELDS)
    }

    #[test]
    fn as_many_as_are_let_through_and_one_more() {
        for (at, element, most) in [
            (0, with(2, b""), 3),
            (2, with(1, b"text"), 2),
            (2, vec![8, 0xff, 1], 2), // an integer, of two bytes
            (2, vec![9, 1, 2, 3, 4, 5, 6, 7, 8], 2),
            (2, vec![13, 1, 2, 3, 4], 2),
            (3, with(4, &with(15, &[0x80, 1])), 6),
            (3, with(4, &with(15, &[7])), 6),
            (3, with(4, &[15 << 3, 0xff, 0x7f]), 6),
            (3, with(4, &with(15, &[1, 2])), 3),
            (4, with(4, &with(1, b"")), 2),
            (5, with(6, &with(7, &with(8, b""))), 2),
        ] {
            let mut message = with(9, b"other");
            message.extend(element.repeat(most));
            assert_eq!(first_over(&message), None, "{element:?}");
            message.extend(&element);
            assert_eq!(first_over(&message), Some(at), "{element:?}");
        }
    }

    #[test]
    fn elements_of_elements_are_counted_in_the_message_as_a_whole() {
        let two = with(2, &with(3, b"a").repeat(2));
        let one = with(2, &with(3, b""));
        assert_eq!(first_over(&[two.clone(), two.clone(), one.clone()].concat()), None);
        assert_eq!(first_over(&[two.clone(), two.clone(), two].concat()), Some(1));
        assert_eq!(first_over(&one.repeat(4)), Some(0));
        // Of a field that is no message, the bytes are not looked into.
        assert_eq!(first_over(&with(1, &with(3, b"a").repeat(6))), None);
        assert_eq!(first_over(&with(5, &with(3, b"a").repeat(6))), None);
        assert_eq!(first_over(&with(3, b"a").repeat(6)), None);
        // Nor is what one message holds looked for in another.
        assert_eq!(first_over(&with(2, &with(15, &[7; 7]))), None);
        assert_eq!(first_over(&with(4, &with(3, b"a").repeat(6))), None);
        assert_eq!(first_over(&with(7, &with(8, b"").repeat(3))), None);
    }

    #[test]
    fn lengths_may_have_several_bytes() {
        let long = [&[0x0a, 0x80, 0x80, 1][..], &[0; 1 << 14]].concat();
        assert_eq!(first_over(&long.repeat(2)), None);
        assert_eq!(first_over(&long.repeat(3)), Some(2));
    }

    #[test]
    fn what_a_group_holds_counts_as_if_it_were_beside_it() {
        let group = |content: &[u8]| [&[0xa3, 6][..], content, &[0xa4, 6]].concat();
        assert_eq!(first_over(&group(&with(2, b"").repeat(3))), None);
        assert_eq!(first_over(&group(&with(2, b"").repeat(4))), Some(0));
    }

    #[test]
    fn what_is_malformed_ends_it() {
        let over = with(2, b"").repeat(4);
        for bad in [
            &[0xff; 12][..],
            &[0x0e],
            &[0x0f],
            &[0x0a, 0x7f],
            &[0x0a],
            &[0x08],
            &[9, 1],
            &[13],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            &[0xfa, 0xff, 0xff, 0xff, 0xff, 1, 0], // a number of more than 32 bits
        ] {
            assert_eq!(first_over(&[bad, &over].concat()), None, "{bad:?}");
        }
        assert_eq!(first_over(&over), Some(0));
    }
}

//! [`SameShape`]: pseudonyms that look like the values that they replace.

use fixwire_transform::rules::Pseudonym;

/// Rounds of the Feistel network in each direction.
const ROUNDS: u8 = 4;

/// Replaces each digit by a digit, each upper or lower case letter by a letter of the same case, and other letters by
/// letters of their alphabet. All other characters stay. Within one shape, different values get different pseudonyms,
/// and no value is its own pseudonym.
///
/// The method is a Feistel network over the characters of a value, each as a digit in the base of its alphabet. The
/// round function is the keyed hash that gateway rules use. The network alone may map a value to itself. Therefore the
/// network is applied, then all digits are moved, and then the network is reversed.
pub(crate) struct SameShape {
    pseudonym: Pseudonym,
}

/// The first byte and the size of the alphabet to which a byte belongs; `None` for a byte that stays.
fn alphabet(byte: u8) -> Option<(u8, u16)> {
    match byte {
        b'0'..=b'9' => Some((b'0', 10)),
        b'A'..=b'Z' => Some((b'A', 26)),
        b'a'..=b'z' => Some((b'a', 26)),
        0x80.. => Some((0x80, 128)),
        _ => None,
    }
}

/// A character of a value, as a digit in the base of its alphabet.
#[derive(Clone, Copy)]
struct Digit {
    value: u16,
    size: u16,
}

impl SameShape {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self {
            pseudonym: Pseudonym::new(Some(key)),
        }
    }

    /// The pseudonym of a value, of the same length.
    pub(crate) fn replace(&self, value: &[u8]) -> Vec<u8> {
        let found = value.iter().filter_map(|byte| {
            let (first, size) = alphabet(*byte)?;
            let value = u16::from(byte - first);
            Some(Digit { value, size })
        });
        let mut digits: Vec<Digit> = found.collect();
        // All values of one shape use the same key, so different values stay different.
        let shape: Vec<u8> = value
            .iter()
            .map(|byte| alphabet(*byte).map_or(*byte, |(first, _)| first))
            .collect();
        for round in 0..ROUNDS {
            self.round(&mut digits, &shape, round, false);
        }
        self.shift(&mut digits, &shape);
        for round in (0..ROUNDS).rev() {
            self.round(&mut digits, &shape, round, true);
        }
        let mut digits = digits.into_iter();
        let mut replaced = value.to_vec();
        for byte in &mut replaced {
            if let Some((first, _)) = alphabet(*byte)
                && let Some(digit) = digits.next()
            {
                // A digit is smaller than the size of its alphabet.
                *byte = first + digit.value as u8;
            }
        }
        replaced
    }

    /// Adds a hash of one half to the other half; with `undo`, subtracts it.
    fn round(&self, digits: &mut [Digit], shape: &[u8], round: u8, undo: bool) {
        let (left, right) = digits.split_at_mut(digits.len() / 2);
        let (changed, other) = match round % 2 {
            0 => (left, right),
            _ => (right, left),
        };
        let mut input = vec![b'r', round];
        input.extend_from_slice(&(shape.len() as u64).to_be_bytes());
        input.extend_from_slice(shape);
        input.extend(other.iter().map(|digit| digit.value as u8));
        for (digit, random) in changed.iter_mut().zip(self.numbers(input)) {
            let added = random % digit.size;
            let added = if undo { digit.size - added } else { added };
            digit.value = (digit.value + added) % digit.size;
        }
    }

    /// Moves every digit. The first digit moves by an amount that is not a multiple of its alphabet's size.
    fn shift(&self, digits: &mut [Digit], shape: &[u8]) {
        let input = [b"s", shape].concat();
        for (at, (digit, random)) in digits.iter_mut().zip(self.numbers(input)).enumerate() {
            let added = match at {
                0 => 1 + random % (digit.size - 1),
                _ => random % digit.size,
            };
            digit.value = (digit.value + added) % digit.size;
        }
    }

    /// A sequence of pseudo-random numbers that an input determines.
    fn numbers(&self, input: Vec<u8>) -> impl Iterator<Item = u16> {
        (0_u64..).flat_map(move |count| {
            let block = [&count.to_be_bytes()[..], &input].concat();
            let hash = self.pseudonym.hash(&block);
            let pairs = hash.chunks_exact(2);
            let numbers = pairs.map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            numbers.collect::<Vec<_>>()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_value_of_a_shape_has_another_value_of_that_shape() {
        let shapes = SameShape::new(b"a key of the test");
        for (first, size) in [(b'0', 10_u8), (b'a', 26)] {
            let all: Vec<Vec<u8>> = (0..size)
                .flat_map(|one| (0..10).map(move |other| vec![first + one, b'-', b'0' + other]))
                .collect();
            let replaced: BTreeSet<Vec<u8>> =
                all.iter().map(|value| shapes.replace(value)).collect();
            assert_eq!(replaced, all.iter().cloned().collect());
            assert!(all.iter().all(|value| shapes.replace(value) != *value));
        }
        let single: BTreeSet<Vec<u8>> = (b'A'..=b'Z').map(|it| shapes.replace(&[it])).collect();
        assert_eq!(single.len(), 26);
        assert!((b'A'..=b'Z').all(|it| shapes.replace(&[it]) != [it]));
    }

    #[test]
    fn the_shape_stays_and_the_key_decides() {
        let value = "Desk-7/ORDER_0042 \u{e9}".as_bytes();
        let one = SameShape::new(b"one").replace(value);
        let other = SameShape::new(b"other").replace(value);
        assert_eq!(one, SameShape::new(b"one").replace(value));
        assert_ne!(one, other);
        let kinds = |text: &[u8]| text.iter().map(|it| alphabet(*it)).collect::<Vec<_>>();
        assert_eq!(kinds(&one), kinds(value));
        assert_eq!((one[4], one[6], one[17]), (b'-', b'/', b' '));
        assert_eq!(SameShape::new(b"one").replace(b""), b"");
        assert_eq!(SameShape::new(b"one").replace(b"-/"), b"-/");
    }
}

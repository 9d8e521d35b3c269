//! The book of the venue, and chance.

use fixwire_harness::Random;

/// A generator of random numbers.
#[derive(Debug)]
pub struct Dice(Random);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Random::xorshift(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        ))
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.0.below(most)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let count = from.len() as u64;
        (count > 0).then(|| from[self.below(count) as usize])
    }
}

/// A fill as the venue has it; the price in hundredths.
#[derive(Clone, Copy, Debug)]
pub struct TrueFill {
    pub exec: u64,
    pub quantity: u64,
    pub price: u64,
}

/// An order as the venue has it.
#[derive(Clone, Debug)]
pub struct TrueOrder {
    /// Its newest ClOrdID(11).
    pub id: String,
    pub is_buy: bool,
    pub quantity: u64,
    /// In hundredths.
    pub price: u64,
    pub fills: Vec<TrueFill>,
    /// OrdStatus(39) of an order that has ended before it was filled.
    pub ended: Option<char>,
}

impl TrueOrder {
    pub fn filled(&self) -> u64 {
        self.fills.iter().map(|fill| fill.quantity).sum()
    }

    pub fn status(&self) -> char {
        let filled = self.filled();
        match self.ended {
            Some(status) => status,
            None if filled >= self.quantity => '2',
            None if filled > 0 => '1',
            None => '0',
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self.status(), '0' | '1')
    }

    pub fn leaves(&self) -> u64 {
        match self.is_open() {
            true => self.quantity - self.filled(),
            false => 0,
        }
    }
}

/// What becomes of a report on its way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    Arrives,
    Lost,
    Twice,
    /// Once more, as another execution.
    AgainAsNew,
    /// With one field that is not as the venue has it.
    Changed,
}

/// The value of a field in a body with `|` for SOH.
pub fn field<'a>(body: &'a str, tag: &str) -> Option<&'a str> {
    let mut fields = body.split('|').filter_map(|it| it.split_once('='));
    fields
        .find(|(other, _)| *other == tag)
        .map(|(_, value)| value)
}

/// The body with another field instead of its own.
pub fn with_field(body: &str, tag: &str, new: &str) -> String {
    let fields = body
        .split_terminator('|')
        .map(|it| match it.split_once('=') {
            Some((other, _)) if other == tag => new.to_owned(),
            _ => format!("{it}|"),
        });
    fields.collect()
}

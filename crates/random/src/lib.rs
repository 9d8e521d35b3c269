//! Random numbers from a seed, so that a failure can be reproduced.
//!
//! Tests, simulations and random faults take their numbers from [`Random`]. Nothing else in the workspace generates
//! random numbers.
#![no_std]
#![forbid(unsafe_code)]

/// A generator of random numbers: SplitMix64, which is good enough to choose times and sizes. The same seed gives the
/// same numbers.
///
/// # Source
///
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Random {
    state: u64,
    kind: Kind,
}

/// The algorithm. A recorded simulation keeps its algorithm, because another one would give another simulation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    SplitMix,
    Xorshift,
    XorshiftStar,
    Congruential,
}

impl Random {
    /// A generator for every new use.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self::of(seed, Kind::SplitMix)
    }

    /// Xorshift64, which converts the messages of the gateway's recorded simulations. The seed must not be 0.
    #[must_use]
    pub const fn xorshift(seed: u64) -> Self {
        Self::of(seed, Kind::Xorshift)
    }

    /// Xorshift64*, for the recorded simulations of the OMS. The seed must not be 0.
    #[must_use]
    pub const fn xorshift_star(seed: u64) -> Self {
        Self::of(seed, Kind::XorshiftStar)
    }

    /// Knuth's linear congruential generator, for the recorded simulations of the exchange.
    #[must_use]
    pub const fn congruential(seed: u64) -> Self {
        Self::of(seed, Kind::Congruential)
    }

    /// The state from which the next numbers follow, to be shown.
    #[must_use]
    pub const fn state(&self) -> u64 {
        self.state
    }

    const fn of(state: u64, kind: Kind) -> Self {
        Self { state, kind }
    }

    /// The next number. The generators of recorded simulations give fewer than 64 bits.
    pub fn number(&mut self) -> u64 {
        let mut z = self.state;
        match self.kind {
            Kind::SplitMix => {
                self.state = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
                z = self.state;
                z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                z ^ (z >> 31)
            }
            Kind::Xorshift => {
                z ^= z << 13;
                z ^= z >> 7;
                z ^= z << 17;
                self.state = z;
                z >> 11
            }
            Kind::XorshiftStar => {
                z ^= z >> 12;
                z ^= z << 25;
                z ^= z >> 27;
                self.state = z;
                z.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
            }
            Kind::Congruential => {
                self.state = z.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                self.state >> 33
            }
        }
    }

    /// A number below `limit`; zero when the limit is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.number().checked_rem(limit).unwrap_or(0)
    }

    /// True in one of `times` cases on average.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// An index in a list of `len` entries; zero for an empty list.
    pub fn place(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [(); 8].map(|()| random.below(1_000))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn numbers_are_the_published_ones() {
        // The first of SplitMix64 for the seed 1234567.
        assert_eq!(Random::new(1_234_567).number(), 6_457_827_717_110_365_317);
        // The first of xorshift64 and xorshift64* for the seed 1.
        assert_eq!(Random::xorshift(1).number(), 1_082_269_761 >> 11);
        let star = 5_180_492_295_206_395_165_u64;
        assert_eq!(Random::xorshift_star(1).number(), star >> 33);
    }

    #[test]
    fn nothing_is_below_zero() {
        assert_eq!((Random::new(1).below(0), Random::new(1).place(0)), (0, 0));
    }
}

//! Random numbers from a seed, so that a failure can be reproduced.

/// Random numbers from a seed. SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`; zero when the limit is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)).checked_rem(limit).unwrap_or(0)
    }
}

//! Random numbers from a seed, so that a failure can be reproduced.

/// SplitMix64: small, and good enough to choose moments and sizes.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
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

/// The seed of a run: the variable `FIXWIRE_SEED`, otherwise the clock.
pub fn seed() -> u64 {
    let chosen = std::env::var("FIXWIRE_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    chosen.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |since| since.as_nanos() as u64)
    })
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let draw = |seed| {
        let mut random = Random::new(seed);
        [(); 8].map(|()| random.below(1_000))
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}

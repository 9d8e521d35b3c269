//! Random numbers from a seed, so that a failure can be reproduced.

pub use fixwire_random::Random;

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

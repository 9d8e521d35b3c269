//! Worlds that are played at the same time.

use crate::random::Random;

/// A way to play a world: its name, the world, its number of kills, its random numbers.
type Play<'p, W, P> = &'p (dyn Fn(&str, W, u64, Random) -> Result<P, String> + Sync);

/// Plays all worlds at the same time, which share the kills; returns what was played, in the order of the worlds.
///
/// # Errors
///
/// The faults of all worlds, with the seed that repeats them.
pub fn at_once<W, P>(
    worlds: &[W],
    kills: u64,
    seed: u64,
    play: Play<'_, W, P>,
) -> Result<Vec<P>, String>
where
    W: Copy + Send,
    P: Send,
{
    let number = worlds.len() as u64;
    let share = |at: u64| kills / number + u64::from(at < kills % number);
    let played: Vec<Result<P, String>> = std::thread::scope(|scope| {
        let worlds = (0..).zip(worlds.iter().copied()).map(|(at, world)| {
            let play = move || {
                play(
                    &format!("world{at}"),
                    world,
                    share(at),
                    Random::new(seed ^ at),
                )
            };
            scope.spawn(play)
        });
        let worlds: Vec<_> = worlds.collect();
        let joined = worlds.into_iter().map(|world| world.join());
        joined
            .map(|end| end.unwrap_or_else(|_| Err("a world panicked".into())))
            .collect()
    });
    let faults = played.iter().filter_map(|it| it.as_ref().err());
    let faults: Vec<&str> = faults.map(String::as_str).collect();
    if !faults.is_empty() {
        return Err(format!("FIXWIRE_SEED={seed}: {}", faults.join("\n")));
    }
    Ok(played.into_iter().flatten().collect())
}

/// The number of kills: the variable `OMS_KILLS`, otherwise `usual`.
#[must_use]
pub fn kills(usual: u64) -> u64 {
    let text = std::env::var("OMS_KILLS").ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

//! Does a gateway lose, double or mix up anything when its process is killed?
//!
//! The finished binary runs between two clients and two venues, with orders, replacements and cancels that do not wait
//! for their answers, ids that both clients use, a remembered value, orders that are held for an absent venue, and
//! rules that change. SIGKILL ends it at random moments, also during its start. The judgement is as in the suite
//! `gateway_simulation`.
//!
//! `GATEWAY_KILLS` is the number of kills (40), `FIXWIRE_SEED` repeats the moments.

use fixwire_rigs::random::seed;
use fixwire_rigs::simulation::gateway::market::trade;

#[test]
fn a_killed_gateway_loses_and_doubles_nothing() -> Result<(), String> {
    let text = std::env::var("GATEWAY_KILLS").ok();
    let kills = text.and_then(|text| text.parse().ok()).unwrap_or(40);
    let seed = seed();
    let deaths = trade(kills, seed).map_err(|fault| format!("FIXWIRE_SEED={seed}: {fault}"))?;
    println!("{deaths:?}, nothing lost, doubled or mixed up; seed {seed}");
    Ok(())
}

//! Does a gateway lose, double or mix up anything when it dies at any point of a simulated world?
//!
//! Judged only by the messages that its clients and venues have seen. The choice of worlds, `SIM_CASES` and `SIM_SEED`
//! are as in the suite `simulation`.

use std::time::Duration;

use fixwire_rigs::simulation::gateway::world;
use fixwire_rigs::simulation::rig::Rig;

/// Faults are planted for the whole process, so that the two parts must not run at the same time.
#[test]
fn a_crash_of_a_gateway_loses_no_request_and_planted_faults_are_found() -> Result<(), String> {
    let rig = Rig {
        name: "gateway_simulation",
        play: world::play,
        fixed: include_str!("../worlds/gateway_simulation.txt"),
        cases: 1_500,
        fresh: Duration::from_secs(20),
    };
    rig.run()?;
    #[cfg(feature = "canary")]
    planted_faults_are_found(rig)?;
    Ok(())
}

/// Steps that an engine may leave out so that its gateway forgets a message, or sends one twice.
#[cfg(feature = "canary")]
fn planted_faults_are_found(rig: Rig) -> Result<(), String> {
    use fixwire::canary::PlantedFault;
    rig.finds(&[
        (PlantedFault::SkipCommit, &["A2:", "G1:", "G2:"]),
        (PlantedFault::SkipSync, &["A2:", "A3:", "G1:", "G2:"]),
        (
            PlantedFault::EffectWithoutCause,
            &["G1:", "G2: an answer twice", "G3:"],
        ),
        (PlantedFault::ForgetInbound, &["G1:", "G2:", "G3:"]),
        (
            PlantedFault::ForgetNotes,
            &["G1:", "G2:", "G3:", "G4:", "G5:"],
        ),
        (PlantedFault::FoldShort, &["G5:"]),
    ])
}

//! Is anything lost, doubled or changed when an engine dies at any point of a simulated world?
//!
//! Each run plays the worlds that once showed a fault, the worlds from seed 1 on, and then worlds that
//! are new. `SIM_CASES` is the number of crash points, `SIM_SEED` the first seed; with one of
//! them only those worlds are played. Each planted fault must be found, by its own message.

use std::time::Duration;

use fixwire_rigs::simulation::rig::Rig;
use fixwire_rigs::simulation::world;

/// Faults are planted for the whole process, so that the two parts must not run at the same time.
#[test]
fn a_crash_at_any_point_loses_nothing_and_planted_faults_are_found() -> Result<(), String> {
    let rig = Rig {
        name: "simulation",
        play: world::play,
        fixed: include_str!("../worlds/simulation.txt"),
        cases: 20_000,
        fresh: Duration::from_secs(20),
    };
    rig.run()?;
    #[cfg(feature = "canary")]
    planted_faults_are_found(rig)?;
    Ok(())
}

/// Steps that a simulated disk, and an engine with a simple application, may leave out.
#[cfg(feature = "canary")]
fn planted_faults_are_found(rig: Rig) -> Result<(), String> {
    use fixwire::canary::PlantedFault;
    rig.finds(&[
        // Notes whose record was left out are a gap before the notes of the next one.
        (
            PlantedFault::SkipCommit,
            &["A1:", "A2:", "A4:", "expected note"],
        ),
        (PlantedFault::SkipSync, &["A1:"]),
        (PlantedFault::SkipCrc, &["A7:", "A8:", "A9:"]),
        (PlantedFault::ReuseNumber, &["A2:"]),
        (PlantedFault::SkipResend, &["A3:"]),
        (
            PlantedFault::SkipDirectorySync,
            &[
                "A1:",
                "expected this segment, which the file `newest` names",
            ],
        ),
        (
            PlantedFault::SkipBaseSync,
            &["expected this segment, found no such file"],
        ),
        (
            PlantedFault::SkipStoreAgain,
            &["A1:", "expected zeros behind the last record"],
        ),
        // The bytes of the record are there, its length is not.
        (
            PlantedFault::ReleaseBeforeCommit,
            &["A1:", "expected zeros behind the last record"],
        ),
        (PlantedFault::SkipBacklogSync, &["A1:"]),
        (PlantedFault::SkipFarewellSync, &["A1:"]),
        // A record that names the place of a message that was left out finds another message there.
        (
            PlantedFault::EffectWithoutCause,
            &[
                "A4:",
                "expected the place of an earlier record, found another body",
            ],
        ),
        (
            PlantedFault::ForgetReset,
            &["A2:", "A3: a reset was not answered"],
        ),
        (PlantedFault::ForgetInbound, &["A3:", "A4: twice"]),
        (
            PlantedFault::ForgetNotes,
            &["A4: the application got other notes"],
        ),
    ])
}

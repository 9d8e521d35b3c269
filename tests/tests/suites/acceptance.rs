//! Does the binary answer as the acceptance scripts of the QuickFIX family expect?
//!
//! The scripts are in a package from a registry; if `FIXWIRE_DEFS` names a folder with more scripts, these are played
//! too. Each is played twice: on a new journal, and on the journal after a SIGKILL.
//!
//! `FIXWIRE_SCRIPTS=fix44/4b` plays only the scripts with this text in their name.

use fixwire_rigs::def::suite::{Exception, Lane, Stage, exceptions, lanes};
use fixwire_rigs::packages::folder;
use fixwire_rigs::server::{binary, scratch};
use std::collections::BTreeMap;
use std::path::Path;

/// The number of engines that play each version at the same time.
const LANES: usize = 2;

#[test]
fn the_scripts_pass_and_pass_again_after_a_kill() -> Result<(), String> {
    let listed = exceptions(include_str!("acceptance-exceptions.txt"))?;
    let package = folder("quickfix-tokio")?.join("acceptance");
    let found = lanes(
        &package.join("definitions"),
        Some(&package.join("spec")),
        LANES,
    )?;
    judge("registry", found, &listed)?;
    match std::env::var_os("FIXWIRE_DEFS") {
        Some(root) => judge("further", lanes(Path::new(&root), None, LANES)?, &listed),
        None => Ok(()),
    }
}

/// Plays all lanes at the same time, twice, and compares the failures with the list.
fn judge(name: &str, lanes: Vec<Lane>, listed: &[Exception]) -> Result<(), String> {
    let binary = binary()?;
    let wanted = std::env::var("FIXWIRE_SCRIPTS").unwrap_or_default();
    let mut stages = Vec::new();
    for mut lane in lanes {
        lane.scripts
            .retain(|script| script.name.contains(wanted.as_str()));
        if lane.scripts.is_empty() {
            continue;
        }
        let folder = scratch(&format!("acceptance-{name}-{}", lane.name));
        let folder = folder.map_err(|error| format!("{}: {error}", lane.name))?;
        stages.push(Stage::set_up(lane, &binary, &folder)?);
    }
    let total: usize = stages.iter().map(|stage| stage.lane.scripts.len()).sum();
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = stages
            .iter()
            .map(|stage| scope.spawn(|| play_twice(stage)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| "a lane panicked".to_owned())
    })?;
    let mut failed: BTreeMap<String, String> = BTreeMap::new();
    for result in results {
        failed.extend(result?);
    }
    for exception in listed {
        if failed.remove(&exception.script).is_some() {
            println!("as listed: {}: {}", exception.script, exception.reason);
        } else if name == "registry"
            && stages
                .iter()
                .any(|s| s.lane.scripts.iter().any(|s| s.name == exception.script))
        {
            failed.insert(
                exception.script.clone(),
                "passes: take it off the list".to_owned(),
            );
        }
    }
    for (script, failure) in &failed {
        println!("FAIL {script} {failure}");
    }
    println!(
        "{} of {total} scripts pass, each twice",
        total - failed.len().min(total)
    );
    if total == 0 {
        Err(format!("no script has {wanted:?} in its name"))
    } else if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {total} scripts fail", failed.len()))
    }
}

/// The failures of both passes, by script.
fn play_twice(stage: &Stage) -> Result<BTreeMap<String, String>, String> {
    let mut failed = BTreeMap::new();
    for pass in ["new journal", "recovered journal"] {
        let server = stage.start()?;
        for (script, failure) in stage.play(&server) {
            failed
                .entry(script)
                .or_insert_with(|| format!("({pass}) {failure}"));
        }
        server.kill()?;
    }
    Ok(failed)
}
